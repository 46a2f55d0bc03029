#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# postgres_replaced.sh - a primary that was replaced by its standby comes back and takes writes again. The servers name it
# and go on with the one that replaced it, also after a restart; alone it is not used, and readiness says why.
. "${TACET_SOURCE:?}/tests/support/e2e.sh"
chmod 0711 "$work"
cluster() { "$TACET_SOURCE/tests/support/pgcluster.sh" "$@"; }
code=0
store=$(cluster pair "$work") || code=$?
[ "$code" != 77 ] || { echo "skipped: PostgreSQL is not installed"; exit 77; }
[ "$code" = 0 ] || fail "no pair of databases"
ended() { cluster stop "$work" >/dev/null 2>&1 || true; end; }
trap ended EXIT
keys=$work/keys
tacet server init --dir "$keys" --host 127.0.0.1 >/dev/null
tacet study create --store "$store" --name dose --trust central --eps 1 --delta 1e-6 --sets 0:1 --lengthscale 0.3 >/dev/null
owner=$(tacet study token --store "$store" --role owner)
serve() { up "$bin/tacet-server" server --store "$store" --keys "$keys" --listen 127.0.0.1:0; }
ask() { curl -s --max-time 15 --cacert "$keys/ca.pem" -H "Authorization: Bearer $owner" "$url$1" ${2:+-d "$2"}; }
pairs() { # N: so many rounds, each asked again until it is stored
    i=0
    while [ "$i" -lt "$1" ]; do
        i=$((i + 1)) tries=0 ticket=
        until [ -n "$ticket" ]; do
            tries=$((tries + 1))
            [ "$tries" -lt 60 ] || fail "no suggestion: $(ask /v1/ready)"
            ticket=$(ask /v1/studies/dose/suggestions "{\"key\":\"$2$i\",\"decision_set\":[[0.1],[0.9]]}" | sed -n 's/.*"ticket":"\([^"]*\)".*/\1/p')
            [ -n "$ticket" ] || sleep 0.5
        done
        tries=0
        until ask /v1/studies/dose/observations "{\"ticket\":\"$ticket\",\"value\":0.5}" | grep -q observed; do
            tries=$((tries + 1))
            [ "$tries" -lt 60 ] || fail "no observation"
            sleep 0.5
        done
    done
}
serve
pairs 3 a
cluster failover "$work" >/dev/null
pairs 3 b
cluster again "$work" # the old primary: first in the list, and it takes writes
pairs 3 c
kill "$server" && wait "$server" || true
serve
pairs 3 d
ask /v1/studies/dose | grep -q '"suggested":12' || fail "not every round is there: $(ask /v1/studies/dose)"

# The one that replaced it is away: nothing is written to the old one, and everybody is told why.
cluster cut "$work"
tries=0
until ask /v1/ready | grep -q 'was replaced by another'; do
    tries=$((tries + 1))
    [ "$tries" -lt 60 ] || fail "ready on a database that was replaced"
    sleep 0.5
done
kill "$server" && wait "$server" || true
serve
tries=0
until grep -q 'timeline 2 of the same system was seen' "$work/log"; do
    tries=$((tries + 1))
    [ "$tries" -lt 60 ] || fail "the log does not name the database that was replaced"
    sleep 0.5
done
ask /v1/studies/dose/suggestions '{"key":"e","decision_set":[[0.1],[0.9]]}' | grep -q '"status":503' || fail "the old primary is written to"
cluster mend "$work"
pairs 3 f
ask /v1/studies/dose | grep -q '"suggested":15' || fail "not every round is there at the end"
echo "replaced: the old primary was named and not used, 15 rounds of 15"
