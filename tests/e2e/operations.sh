#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# operations.sh - every command of docs/operations.md, as it stands there, on a store that is in use: watch, back up,
# restore, rotate tokens, give them shares, renew certificates, upgrade.
. "${TACET_SOURCE:?}/tests/support/e2e.sh"
page=${TACET_SOURCE:?}/docs/operations.md
said() { tr -d '\140' <"$page" | grep -qF -- "$1" || fail "docs/operations.md does not say '$1'"; }
store=$work/studies
serve() {
    rm -f "$work/ready"
    "$TACET_BIN/tacet-server" server --store "$store" --keys "$work/keys" --listen 127.0.0.1:0 --ready-file "$work/ready" >>"$work/server.log" 2>&1 &
    server=$!
    await "$work/ready"
}
halt() { kill "$server"; wait "$server" || fail "it did not end in order"; server=""; }
ask() { # TOKEN METHOD PATH [BODY]
    curl -s --max-time 20 --cacert "$work/keys/ca.pem" -H "Authorization: Bearer $1" -X "$2" "$url$3" ${4:+-d "$4"}
}
tacet server init --dir "$work/keys" --host 127.0.0.1 >/dev/null
tacet study create --store "$store" --name dose --trust central --eps 1 --delta 1e-6 --bounds 0:1 --lengthscale 0.3 >/dev/null
device=$(tacet study token --store "$store" --role device --study dose)
analyst=$(tacet study token --store "$store" --role analyst)
serve
set='"decision_set":[[0.1],[0.5],[0.9]]'
ticket() { sed -n 's/.*"ticket":"\([^"]*\)".*/\1/p'; }
pair() { # KEY
    t=$(ask "$device" POST /v1/studies/dose/suggestions "{\"key\":\"$1\",$set}" | ticket)
    [ -n "$t" ] || fail "no suggestion"
    ask "$device" POST /v1/studies/dose/observations "{\"ticket\":\"$t\",\"value\":0.5}" | grep -q observed || fail "no observation"
}
pair one

# Watch: both probes, and every metric that the page names.
ask "" GET /v1/live | grep -q . || fail "live"
ask "" GET /v1/ready | grep -q ready || fail "ready"
ask "$analyst" GET /v1/metrics >"$work/metrics"
for metric in $(tr '\140' '\n' <"$page" | grep -oE '^tacet_[a-z_]+' | sort -u); do
    grep -q "^# TYPE $metric\|^$metric" "$work/metrics" || fail "no metric $metric"
done

# Back up, while it runs; restore.
said 'tacet store backup --store STUDIES --to COPY'
tacet store backup --store "$store" --to "$work/copy" >/dev/null || fail "backup"
pair two
halt
rm -r "$store"
cp -r "$work/copy" "$store"
said 'tacet store restore --store STUDIES'
said 'tacet store check --store STUDIES'
tacet store restore --store "$store" --nothing-was-answered >/dev/null || fail "restore"
tacet store check --store "$store" >/dev/null || fail "check after a restore"
serve
pair three

# Rotate tokens.
said 'tacet study token --store STUDIES --list, then --renew N --grace 3600'
said '--drop N'
number=$(tacet study token --store "$store" --list | awk '/device/ { print $1 }' | head -n 1)
[ -n "$number" ] || fail "no number in the list of tokens"
new=$(tacet study token --store "$store" --renew "$number" --grace 3600 | grep -o 'tacet_[A-Za-z0-9_-]*' | head -n 1)
old=$device
device=$new pair four
device=$old pair five
# Shares: a token with one open ticket at a time gets no second.
said 'tacet study token … --open-most N --rounds-most N'
little=$(tacet study token --store "$store" --role device --study dose --open-most 1 --rounds-most 5 | grep -o 'tacet_[A-Za-z0-9_-]*' | head -n 1)
ask "$little" POST /v1/studies/dose/suggestions "{\"key\":\"a\",$set}" | grep -q ticket || fail "no suggestion for a small share"
ask "$little" POST /v1/studies/dose/suggestions "{\"key\":\"b\",$set}" | grep -q '"status":409' || fail "a share is no limit"
said 'tacet study show --store STUDIES --study NAME'
said 'tacet study expire --store STUDIES --study NAME --token N'
tacet study show --store "$store" --study dose | grep -qi open || fail "show does not say who holds what"
number=$(tacet study token --store "$store" --list | awk '/device/ { n = $1 } END { print n }')
tacet study expire --store "$store" --study dose --token "$number" | grep -q 1 || fail "nothing expired"
ask "$little" POST /v1/studies/dose/suggestions "{\"key\":\"c\",$set}" | grep -q ticket || fail "an expired ticket still counts"
tacet study token --store "$store" --drop "$number" >/dev/null || fail "drop"

# Renew certificates: another authority, by SIGHUP.
said 'kill -HUP PID'
tacet server init --dir "$work/newer" --host 127.0.0.1 >/dev/null
cp "$work/newer"/* "$work/keys/"
kill -HUP "$server"
for ((i = 0; i < 100; i++)); do
    if curl -s --cacert "$work/newer/ca.pem" "$url/v1/live" >/dev/null; then break; fi
    sleep 0.1
done
[ "$i" -lt 100 ] || fail "SIGHUP did not bring the new certificate"

# Upgrade.
said 'tacet study snapshot'
halt
tacet study snapshot --store "$store" >/dev/null || fail "snapshot"
tacet store backup --store "$store" --to "$work/before" >/dev/null || fail "backup before an upgrade"
serve
device=$new pair six
halt
tacet store check --store "$store" >/dev/null || fail "check at the end"
echo "watched, backed up, restored, rotated, shared, renewed, upgraded: each command of the page"
