#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# operations.sh - types every block of docs/operations.md, as it stands there, and looks after each whether it did what
# the page says: begin, watch, wire alerts, audit, back up, restore here and elsewhere, upgrade, rotate, share, renew.
. "${TACET_SOURCE:?}/tests/support/e2e.sh"
page=${TACET_SOURCE:?}/docs/operations.md
unset -f tacet # so that $! is the server, as it is for who types the page
PATH=$TACET_BIN:$PATH
export TACET_STATE=$work/state
cd "$work"
STUDIES=$work/studies KEYS=$work/keys LISTEN=127.0.0.1:0 URL="" RULES=$TACET_SOURCE/packaging/prometheus-rules.yml
command -v promtool >/dev/null || promtool() { echo "promtool is not installed: the alerts are not checked" >&2; }
typed=0
block() { # the next block that is marked sh
    typed=$((typed + 1))
    rm -f ready
    awk -v n="$typed" '/^```sh$/ { k++; on = 1; next } /^```$/ { on = 0 } on && k == n' "$page" >block
    [ -s block ] || fail "the page has no block $typed"
    # shellcheck disable=SC1091
    . ./block >said || fail "block $typed fails: $(cat block)"
    if grep -q 'ready-file' block; then
        await "$work/ready"
        URL=$url
        server=$(cat server.pid)
    fi
}
ask() { # TOKEN METHOD PATH [BODY]
    curl -s --max-time 20 --cacert "$KEYS/ca.pem" -H "Authorization: Bearer $1" -X "$2" "$URL$3" ${4:+-d "$4"}
}
set='"decision_set":[[0.1],[0.5],[0.9]]'
ticket() { sed -n 's/.*"ticket":"\([^"]*\)".*/\1/p'; }
text() { grep -o 'tacet_[A-Za-z0-9_-]*' "$1" | head -n 1; }
pair() { # TOKEN KEY
    t=$(ask "$1" POST /v1/studies/dose/suggestions "{\"key\":\"$2\",$set}" | ticket)
    [ -n "$t" ] || fail "no suggestion"
    ask "$1" POST /v1/studies/dose/observations "{\"ticket\":\"$t\",\"value\":0.5}" | grep -q observed || fail "no observation"
}

block # begin
device=$(text device.token)
pair "$device" one

block # watch: every metric that the page, the rules and the board name is there
grep -q '"live"' said && grep -q '"ready"' said || fail "the probes say $(cat said)"
for metric in $( (tr '\140' '\n' <"$page" | grep -oE '^(tacet|process)_[a-z_]+'; cd "$TACET_SOURCE/packaging" &&
    grep -ohE '(tacet|process)_[a-z_]+[a-z]' prometheus-rules.yml grafana-dashboard.json) | sed 's/_bucket$//' | sort -u); do
    grep -q "^# TYPE $metric " metrics || fail "no metric $metric"
done
for line in 'tacet_study_tickets{study="dose"} 1' 'tacet_study_failures_total{study="dose"} 0' \
    'tacet_study_budget_eps{study="dose"} 1' 'tacet_study_budget_left_eps{study="dose"} 1' 'tacet_queued 0'; do
    grep -qxF "$line" metrics || fail "the metrics lack '$line'"
done
grep -q "^tacet_build_info{version=\"$("$TACET_BIN/tacet" --version | grep -oE '[0-9.]+' | head -n 1)" metrics || fail "no build"
[ "$(sed -n 's/^tacet_commit_seconds_count //p' metrics)" -ge 2 ] || fail "commits have no times"

block # alerts: Prometheus itself, where it is installed, scrapes the server and loads every rule
if command -v prometheus >/dev/null; then
    at=127.0.0.1:$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    prometheus --config.file=prometheus.yml --storage.tsdb.path=series --web.listen-address="$at" --log.level=error &
    pids="$pids $!"
    watcher=$!
    for ((i = 0; i < 100; i++)); do
        if curl -s "http://$at/api/v1/query?query=up%7Bjob=%22tacet%22%7D" | grep -q '"1"\]'; then break; fi
        sleep 0.2
    done
    [ "$i" -lt 100 ] || fail "Prometheus does not scrape the server: $(curl -s "http://$at/api/v1/targets")"
    [ "$(curl -s "http://$at/api/v1/rules" | grep -o '"type":"alerting"' | wc -l)" = "$(grep -c 'alert:' "$RULES")" ] || fail "not every rule is loaded"
    kill "$watcher" && wait "$watcher" || true
fi

block # audit
grep -q 'study token --role owner' trail || fail "the audit trail lacks a token"

block # back up, while it runs
pair "$device" two

block # restore
server=""
[ -d lost ] || fail "nothing was put away"
chmod o+w "$STUDIES"
expect 1 tacet store check --store "$STUDIES"
grep -q 'others may write' "$work/err" || fail "a folder that others may write to is taken"
chmod o-w "$STUDIES"

block # restore elsewhere: another folder, and nothing of this machine's state
TACET_STATE=$work/state-elsewhere tacet server --store elsewhere --keys "$KEYS" --listen "$LISTEN" --ready-file ready 2>>elsewhere.log &
server=$!
await "$work/ready"
URL=$url
pair "$device" elsewhere
kill "$server" && wait "$server" || fail "the server elsewhere did not end in order"
server=""

block # upgrade
pair "$device" three
block # rotate tokens
year=$(date -u -d '365 days' +%Y-%m-)
grep -q "device .*$year" said || fail "tokens do not end after a year"
pair "$(text newer.token)" four
pair "$device" five
# A token with one open ticket gets no second, until what it holds is given up.
tacet study token --store "$STUDIES" --role device --study dose --open-most 1 >little.token
little=$(text little.token)
ask "$little" POST /v1/studies/dose/suggestions "{\"key\":\"a\",$set}" | grep -q ticket || fail "no suggestion for a small share"
ask "$little" POST /v1/studies/dose/suggestions "{\"key\":\"b\",$set}" | grep -q '"status":409' || fail "a share is no limit"
block # shares
grep -qi open said || fail "show does not say who holds what"
sleep 5.2
ask "$(text small.token)" GET /v1/studies/dose | grep -q '"status":401' || fail "a token that was dropped is good"

block # renew certificates
for ((i = 0; i < 100; i++)); do
    if curl -s --cacert newer/ca.pem "$URL/v1/live" >/dev/null; then break; fi
    sleep 0.1
done
[ "$i" -lt 100 ] || fail "SIGHUP did not bring the new certificate"
[ "$(grep -c '^```sh$' "$page")" = "$typed" ] || fail "the page has blocks that nobody typed"
kill "$server" && wait "$server" || fail "it did not end in order"
server=""
tacet store check --store "$STUDIES" >/dev/null || fail "check at the end"
echo "$typed blocks of the page typed: begun, watched, wired, audited, backed up, restored twice, upgraded, rotated, shared, renewed"
