#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# packaged.sh - a central study on PostgreSQL in the environment of the packaged unit, and no other: no home, and a folder
# for its state. It releases. Without that folder the server says what is missing, is not ready, and no study is created;
# with another key than the store was served with it is not ready either. What fails is logged and counted.
if [ -z "${TACET_TEST_CLUSTER:-}" ]; then exec "${TACET_SOURCE:?}/tests/support/pgcluster.sh" run "$0"; fi
. "${TACET_SOURCE:?}/tests/support/e2e.sh"
chmod 0711 "$work"
store=$TACET_TEST_POSTGRES
unit=$TACET_SOURCE/packaging/tacet-server.service
keys=$work/keys
tacet server init --dir "$keys" --host 127.0.0.1 >/dev/null
mkdir -m 0700 "$work/state" "$work/other"
watcher=a-token-for-metrics-alone
echo "$watcher" >"$keys/metrics.token"
# The variables that the unit sets, with its state folder here.
given() { # FOLDER: as words for env
    sed -n 's/^Environment=//p' "$unit" | tr ' ' '\n' | grep -v -e TACET_STORE -e TACET_LISTEN | sed "s#/var/lib/tacet#$1#"
}
given "$work/state" | grep -q "$work/state" || fail "the unit gives no folder for the key"
unprivileged="env -i PATH=$PATH HOME=/proc/nowhere OPENBLAS_NUM_THREADS=1"
start() { # N [VARIABLE...]
    n=$1
    shift
    rm -f "$work/ready"
    # shellcheck disable=SC2086
    $unprivileged "$@" "$TACET_BIN/tacet-server" server --store "$store" --keys "$keys" --listen 127.0.0.1:0 \
        --ready-file "$work/ready" >"$work/out" 2>"$work/log$n" &
    server=$!
    await "$work/ready"
}
halt() { kill "$server" && wait "$server" || fail "the server did not end in order"; server=""; }
ask() { curl -s --max-time 10 --cacert "$keys/ca.pem" -H "authorization: bearer $owner" -X "$1" "$url$2" ${3:+-d "$3"}; }
again() { # METHOD PATH BODY WORD: as a client does, until it is acknowledged
    tries=0
    until ask "$1" "$2" "$3" >"$work/body" && grep -q "$4" "$work/body"; do
        sleep 0.2
        tries=$((tries + 1))
        [ "$tries" -lt 150 ] || fail "$2 is refused for ever"
    done
}
create="study create --store $store --name dose --trust central --eps 1 --delta 1e-6 --sets 0:1 --lengthscale 0.3"
# shellcheck disable=SC2046,SC2086
$unprivileged "$TACET_BIN/tacet-server" $create >"$work/out" 2>"$work/err" && fail "a study is created without a key"
grep -q 'key file' "$work/err" || fail "it is not said that the key is missing"
# shellcheck disable=SC2046,SC2086
$unprivileged $(given "$work/state") "$TACET_BIN/tacet-server" $create >/dev/null || fail "no study with the unit's folder"
[ -f "$work/state/ledger.key" ] || fail "the key is not where the unit has it"
owner=$(tacet study token --store "$store" --role owner)

# shellcheck disable=SC2046
start 1 $(given "$work/state")
ask GET /v1/ready | grep -q '"ready"' || fail "not ready in the unit's environment"
curl -s -D "$work/head" -o /dev/null --cacert "$keys/ca.pem" "$url/v1/live"
grep -qi '^strict-transport-security: max-age=' "$work/head" || fail "no HSTS"
i=0
while [ "$i" -lt 60 ]; do
    i=$((i + 1))
    again POST /v1/studies/dose/suggestions "{\"key\":\"k$i\",\"decision_set\":[[0.1],[0.5],[0.9]]}" ticket
    ticket=$(sed -n 's/.*"ticket":"\([^"]*\)".*/\1/p' "$work/body")
    again POST /v1/studies/dose/observations "{\"ticket\":\"$ticket\",\"value\":0.5}" observed
    case $(ask GET /v1/studies/dose/ledger) in *'"entries":0'*) ;; *) break ;; esac
done
[ "$i" -lt 60 ] || fail "nothing was released in 60 rounds"
echo "released after $i rounds in the unit's environment"
ask GET /v1/studies/dose/releases | grep -q '"released":0' || fail "releases are not listed"
ask POST /v1/studies/dose/releases >/dev/null
ask GET /v1/studies/dose/releases | grep -q '"numbers":\[1\]' || fail "release 1 is not listed"
ask POST /v1/studies/dose/archive '{"archived":true}' | grep -q '"status":400' || fail "archive takes a field that it does not know"
# Each administrative act is in the audit trail before it is done; a token that is none is in the log; what cannot be
# written down is not done.
said=$(ask POST /v1/tokens '{"role":"device","study":"dose","label":"a line\nand another"}')
case $said in *'"status":400'*) ;; *) fail "a label with a line break is taken" ;; esac
ask POST /v1/tokens '{"role":"device","study":"dose"}' | grep -q '"token"' || fail "no token is made"
curl -s --cacert "$keys/ca.pem" -H 'Authorization: Bearer tacet_none' "$url/v1/studies" | grep -q '"status":401' || fail "no token is one"
grep -q 'its token is unknown' "$work/log1" || fail "a refused token is not in the log"
tacet store audit --store "$store" >"$work/trail" || fail "no audit trail"
for line in 'user .* at a shell .*study token --role owner' 'token 1 from 127.0.0.1 .*POST /v1/studies/dose/releases' 'token 1 .*POST /v1/tokens' \
    'the server .*line [0-9]*: answered 201'; do
    grep -q "$line" "$work/trail" || fail "the audit trail lacks '$line'"
done
grep -q tacet_ "$work/trail" && fail "the audit trail has the text of a token"
psql -q "$store" -c "ALTER TABLE tacet_open.audit RENAME TO away"
ask POST /v1/tokens '{"role":"owner"}' | grep -q '"status":503' || fail "a token is made although that cannot be written down"
ask POST /v1/studies/dose/archive | grep -q '"status":503' || fail "a study is archived although that cannot be written down"
psql -q "$store" -c "ALTER TABLE tacet_open.away RENAME TO audit"
for i in 1 2; do
    curl -s --cacert "$keys/ca.pem" -D - -o "$work/body" "$url/v1/live" | sed -n 's/^[Xx]-[Rr]equest-[Ii]d: *\([0-9a-f]\{16\}\).*/\1/p'
done | sort -u >"$work/ids"
[ "$(wc -l <"$work/ids")" = 2 ] || fail "two answers do not have two ids"
grep -Eq 'request [0-9a-f]{16} was answered 503' "$work"/log* || fail "a request that failed is not named in the log"
ask GET /v1/studies/dose | grep -q '"state":"active"' || fail "the study was archived"
psql -q "$store" -c "UPDATE tacet_open.audit SET what = 'nothing' WHERE number = 2"
expect 1 tacet store audit --store "$store"
grep -q 'does not hold together at line 2' "$work/err" || fail "a changed line is not found"
halt

refused() { # WHAT: not ready, said and counted
    ask GET /v1/ready | grep -q 'key file of the ledgers' || fail "$1: ready, or the reason is not given"
    grep -q 'key file' "$work/log2" || fail "$1: not in the log"
    [ "$(ask GET /v1/metrics | sed -n 's/^tacet_store_failures_total //p')" -gt 0 ] || fail "$1: not counted"
    halt
}
start 2
refused "no place for a key"
start 2 "TACET_STATE=$work/other"
refused "another key"
grep -q 'another key file' "$work/log2" || fail "that the key is another one is not said"
chmod 0755 "$work/state/ledger.key"
# shellcheck disable=SC2046
start 2 $(given "$work/state")
refused "a key that others may use"
chmod 0600 "$work/state/ledger.key"

# Metrics have a credential of their own, which reads nothing else, and need no store.
# shellcheck disable=SC2046
start 3 $(given "$work/state")
watch() { curl -s --max-time 10 --cacert "$keys/ca.pem" -H "Authorization: Bearer $watcher" "$url$1"; }
watch /v1/studies | grep -q '"status":401' || fail "the credential for metrics reads studies"
"$TACET_SOURCE/tests/support/pgcluster.sh" kill "$TACET_TEST_CLUSTER" >/dev/null
watch /v1/metrics | grep -q 'tacet_requests_total{route="list",status="401"} 1' || fail "no metrics without the store"
"$TACET_SOURCE/tests/support/pgcluster.sh" again "$TACET_TEST_CLUSTER" >/dev/null
halt

# A history of which somebody took a person's rounds away does not hold together.
tacet store check --store "$store" >/dev/null || fail "the store does not hold together"
psql -q "$store" -c "UPDATE tacet_trusted.study SET suggested = suggested - 1"
expect 1 tacet store check --store "$store"
grep -q 'counts are not those of its log' "$work/err" || fail "suggestions that were taken away are not found"
psql -q "$store" -c "UPDATE tacet_trusted.study SET suggested = suggested + 1" \
    -c "UPDATE tacet_open.token SET label = E'\\x1b[31mred' WHERE id = (SELECT max(id) FROM tacet_open.token)"
tacet study token --store "$store" --list | grep -qF '\x1b[31mred' || fail "a control character is not printed escaped"
tacet store check --store "$store" >/dev/null || fail "the store does not hold together again"
psql -q "$store" -c "UPDATE tacet_trusted.holder SET rounds = 0"
expect 1 tacet store check --store "$store"
grep -q 'rounds of 1 tokens or persons' "$work/err" || fail "rounds that were taken away are not found"
