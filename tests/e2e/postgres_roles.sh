#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# postgres_roles.sh - the commands of docs/deployment.md on PostgreSQL: an administrator makes schemas and roles, a server
# runs under both, a collector under the open one alone, which can read nothing that is trusted.
if [ "${1:-}" != inside ]; then exec "${TACET_SOURCE:?}/tests/support/pgcluster.sh" run "$0" inside; fi
. "${TACET_SOURCE:?}/tests/support/e2e.sh"
admin=$TACET_TEST_POSTGRES
trusted=${admin/user=postgres/user=tacet_trusted}
open=${admin/user=postgres/user=tacet_open}
psql=
for folder in /usr/lib/postgresql/*/bin; do psql=$folder/psql; done

"$tacet" study status --store "$admin" >/dev/null 2>&1 && fail "a store before it was made"
"$tacet" store init --store "$admin" >/dev/null
"$psql" -qc "ALTER ROLE tacet_trusted LOGIN; ALTER ROLE tacet_open LOGIN" "$admin"
"$tacet" study create --store "$trusted,$open" --name dose --trust central --eps 1 --delta 1e-6 --sets 0:1,0:1 \
    --lengthscale 0.3 >/dev/null
printf 'x\n0\n0.5\n1\n' >"$work/places.csv"
"$tacet" study create --store "open:$open" --name light --trust local --eps 1 --points "$work/places.csv" --inputs x \
    --lengthscale 0.3 --range 0:10 >/dev/null
"$tacet" study token --store "$trusted,$open" --role device >"$work/token"
"$tacet" server init --dir "$work/keys" >/dev/null
"$tacet" server --store "$trusted,$open" --keys "$work/keys" --listen 127.0.0.1:0 --ready-file "$work/server" \
    >"$work/server.log" 2>&1 &
pids="$pids $!"
"$tacet" collector --store "$open" --keys "$work/keys" --listen 127.0.0.1:0 --ready-file "$work/collector" >"$work/collector.log" 2>&1 &
pids="$pids $!"
await "$work/server"
await "$work/collector"
ask() { # ask PROGRAM STUDY BODY: the status
    curl -sS --cacert "$work/keys/ca.pem" -H "Authorization: Bearer $(cat "$work/token")" -o "$work/out" -w '%{http_code}' \
        --data "$3" "$(cat "$work/$1")/v1/studies/$2/suggestions"
}
[ "$(ask server dose '{"decision_set":[[0.1,0.2],[0.7,0.4]]}')" = 201 ] || fail "the server has no central study: $(cat "$work/out")"
[ "$(ask server light '{}')" = 201 ] || fail "the server has no local study: $(cat "$work/out")"
[ "$(ask collector light '{}')" = 201 ] || fail "the collector has no local study: $(cat "$work/out")"
code=$(ask collector dose '{"decision_set":[[0.1,0.2],[0.7,0.4]]}')
[ "$code" -ge 400 ] || fail "the collector serves a central study: $code"
"$tacet" store check --store "$trusted,$open"
"$tacet" store check --store "$open" >/dev/null 2>"$work/err" && fail "the open role reads the trusted schema"
grep -q 'not for this role' "$work/err" || fail "does not say why"
"$tacet" ledger show --ledger "$trusted#tacet_ledger_dose" >/dev/null || fail "no ledger"
"$tacet" ledger show --ledger "$open#tacet_ledger_dose" >/dev/null 2>&1 && fail "the open role reads a ledger"
echo "postgres_roles: two roles, a server and a collector"
