#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# serving.sh - what an operator sees of a service: one process a port, keys that only the owner reads, certificates that
# are warned of and renewed by SIGHUP, a log of whole lines in text or JSON, probes, a full disk.
. "${TACET_SOURCE:?}/tests/support/e2e.sh"
get() { curl -s -o "$work/body" -w '%{http_code}' --max-time 5 --cacert "$work/keys/ca.pem" "$@"; }
tacet server init --dir "$work/keys" --host 127.0.0.1 --days 20 >/dev/null
"$TACET_BIN/tacet-server" server --store "$work/store" --keys "$work/keys" --listen 127.0.0.1:0 --json --ready-file "$work/ready" >"$work/out" 2>"$work/log" &
first=$!
pids=$first
await "$work/ready"
[ "$(get "$url/v1/live")" = 200 ] || fail "not live"
[ "$(get "$url/v1/ready")" = 200 ] || fail "not ready"
grep -q '^{"time":"20[0-9-]*T[0-9:.]*Z","level":"warning","message":"the certificate ends in [12][0-9] days' "$work/log" || fail "a certificate that ends is not warned of"

# A second one on the port is refused, with the address.
if "$TACET_BIN/tacet-collector" collector --store "$work/store" --keys "$work/keys" --listen "${url#https://}" >/dev/null 2>"$work/second"; then
    fail "two servers share a port"
fi
grep -q "${url#https://}" "$work/second" || fail "the address is not named: $(cat "$work/second")"
[ "$(get "$url/v1/live")" = 200 ] || fail "the first is gone"

# A key that everybody reads.
cp -r "$work/keys" "$work/open-keys"
chmod 644 "$work/open-keys/server.key"
if "$TACET_BIN/tacet-server" server --store "$work/store" --keys "$work/open-keys" --listen 127.0.0.1:0 >/dev/null 2>"$work/second"; then
    fail "a key that everybody reads is accepted"
fi
grep -q 'server.key can be read by everybody' "$work/second" || fail "the key is not named: $(cat "$work/second")"

# Renewed without a stop. The metric says when the certificate ends.
token=$(tacet study token --store "$work/store" --role owner)
ends() { get "$url/v1/metrics" -H "Authorization: Bearer $token" >/dev/null; sed -n 's/^tacet_certificate_expires_seconds //p' "$work/body"; }
old=$(ends)
[ -n "$old" ] || fail "no metric of the certificate's end"
mkdir "$work/old" && mv "$work/keys/server.pem" "$work/keys/server.key" "$work/old"
kill -HUP "$first"
tries=0
until grep -q 'the old one stays' "$work/log"; do
    sleep 0.05
    tries=$((tries + 1))
    [ "$tries" -lt 100 ] || fail "a certificate that is missing is not said"
done
[ "$(get "$url/v1/live")" = 200 ] || fail "the old certificate did not stay"
tacet server init --dir "$work/new" --host 127.0.0.1 --days 400 >/dev/null
cp "$work/new/ca.pem" "$work/new/server.pem" "$work/new/server.key" "$work/keys"
kill -HUP "$first"
tries=0
until [ "$(get "$url/v1/live" || true)" = 200 ]; do
    sleep 0.05
    tries=$((tries + 1))
    [ "$tries" -lt 100 ] || fail "the new certificate is not used"
done
new=$(ends)
[ "$new" -gt "$old" ] || fail "the metric did not move: $old, $new"
grep -q '^tacet_refused_total{status="429"} 0$' "$work/body" || fail "429 is not counted"
kill -TERM "$first"
wait "$first" || fail "the server did not end in order"

# Not ready, but alive, where nothing can be written (files may not grow: as on a full disk).
rm "$work/ready"
tacet study create --store "$work/store" --name dose --trust central --eps 1 --delta 1e-6 --sets 0:1 --lengthscale 0.3 >/dev/null
(
    trap '' XFSZ # a write beyond the limit then fails
    ulimit -f 80
    exec "$TACET_BIN/tacet-server" server --store "$work/store" --keys "$work/keys" --listen 127.0.0.1:0 --ready-file "$work/ready" >"$work/out" 2>"$work/log2"
) &
pids=$!
await "$work/ready"
[ "$(get "$url/v1/ready")" = 200 ] || fail "not ready while there is room"
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do # without the limit; the log of the database grows beyond what the server may
    tacet study token --store "$work/store" --role device --label "$i" >/dev/null
done
sleep 1.1
[ "$(get "$url/v1/ready")" = 503 ] || fail "ready although nothing can be written"
[ "$(get "$url/v1/live")" = 200 ] || fail "not live on a full disk"
for path in studies studies/dose studies/dose/ledger metrics tokens; do
    [ "$(get "$url/v1/$path" -H "Authorization: Bearer $token")" = 200 ] || fail "/$path is not read on a full disk: $(cat "$work/body")"
done
kill -TERM "$pids"
wait "$pids" || fail "the server did not end in order on a full disk"
pids=""
grep -q ' warning not ready: ' "$work/log2" || fail "the log does not say why it is not ready"
if grep -v '^20[0-9-]*T[0-9:.]*Z [a-z]* ' "$work/log2"; then fail "a line of the log without time and level"; fi

# A ledger that is missing is damage, and an answer names no path.
mv "$work/store/ledger-dose.db" "$work/away.db"
up "$bin/tacet-server" server --store "$work/store" --keys "$work/keys" --listen 127.0.0.1:0
[ "$(get "$url/v1/studies/dose" -H "Authorization: Bearer $token")" = 500 ] || fail "a study without its ledger: $(cat "$work/body")"
grep -q "$work\|ledger-dose" "$work/body" && fail "an answer names a path: $(cat "$work/body")"
down

# The collector has the same probes and the same log, and ends as soon.
rm "$work/log"
up "$bin/tacet-collector" collector --store "$work/store" --keys "$work/keys" --listen 127.0.0.1:0 --json
[ "$(get "$url/v1/live")" = 200 ] || fail "the collector is not live"
[ "$(get "$url/v1/ready")" = 200 ] || fail "the collector is not ready"
[ "$(get -H 'Content-Length: 1' -H 'Transfer-Encoding: chunked' -d x "$url/v1/studies")" = 400 ] || fail "the collector takes a length beside a transfer encoding"
down
if grep -v '^{"time":"20[0-9-]*T[0-9:.]*Z","level":"[a-z]*","message":".*"}$' "$work/log"; then fail "a line of the collector's log that is no JSON"; fi
echo "serving: all as promised"
