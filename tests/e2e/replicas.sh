#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# replicas.sh - three servers on one PostgreSQL store: one keeps a study, the others hand its requests to it over TLS that
# both sides authenticate; whoever shows no certificate of a server is refused. Then the keeper is stopped, cut off from
# the database, and killed, under load: the others go on, and nothing acknowledged is lost, doubled or charged twice.
if [ -z "${TACET_TEST_CLUSTER:-}" ]; then exec "${TACET_SOURCE:?}/tests/support/pgcluster.sh" run "$0"; fi
. "${TACET_SOURCE:?}/tests/support/e2e.sh"
chmod 0711 "$work"
pid1="" pid2="" pid3="" pid4=""
store=$TACET_TEST_POSTGRES
tacet server init --dir "$work/keys" --host 127.0.0.1 >/dev/null
tacet study create --store "$store" --name dose --trust central --eps 1 --delta 1e-6 --bounds 0:1 --lengthscale 0.3 >/dev/null
device=$(tacet study token --store "$store" --role owner)
keys=$work/keys
start() { # N
    "$TACET_BIN/tacet-server" server --store "$store" --keys "$keys" --listen 127.0.0.1:0 --peers 127.0.0.1:0 --json \
        --ready-file "$work/ready$1" >"$work/out$1" 2>"$work/log$1" &
    eval "pid$1=\$!"
    pids="$pids $!"
    await "$work/ready$1"
}
ask() { # N METHOD PATH [BODY]
    curl -s --max-time 10 --cacert "$keys/ca.pem" -H "Authorization: Bearer $device" -X "$2" \
        "$(cat "$work/ready$1")$3" ${4:+-d "$4"}
}
metric() { ask "$1" GET /v1/metrics | sed -n "s/^$2 //p"; }
for n in 1 2 3; do start $n; done

# One study, asked at all three: the first to be asked keeps it.
set='"decision_set":[[0.1],[0.5],[0.9]]'
for i in 1 2 3 4 5 6; do
    ticket=$(ask $((i % 3 + 1)) POST /v1/studies/dose/suggestions "{\"key\":\"k$i\",$set}" | sed 's/.*"ticket":"\([^"]*\)".*/\1/')
    [ -n "$ticket" ] || fail "no ticket"
    ask $(((i + 1) % 3 + 1)) POST /v1/studies/dose/observations "{\"ticket\":\"$ticket\",\"value\":0.5}" | grep -q observed ||
        fail "an observation by way of another server was not taken"
done
[ "$(metric 1 tacet_relayed_total)" -gt 0 ] && [ "$(metric 2 tacet_relayed_total)" = 0 ] && [ "$(metric 3 tacet_relayed_total)" -gt 0 ] ||
    fail "not server 2 alone keeps the study"
ask 3 POST /v1/studies/dose/suggestions "{\"key\":\"k1\",$set}" | grep -q ticket || fail "a repeated key is not answered"
ask 3 GET "/v1/studies/dose/suggestions/$ticket?wait=5" | grep -q '"state":"observed"' || fail "a look is not relayed"
ask 1 GET /v1/studies/dose | grep -q '"suggested":6' || fail "the status is not relayed"
ask 1 GET /v1/studies/none | grep -q '"status":404' || fail "a study that is not there is found"

# A long poll at one server sees the observation that another one relays.
ticket=$(ask 1 POST /v1/studies/dose/suggestions "{\"key\":\"poll\",$set}" | sed 's/.*"ticket":"\([^"]*\)".*/\1/')
ask 3 GET "/v1/studies/dose/suggestions/$ticket?wait=20" >"$work/poll" &
poll=$!
sleep 0.5
ask 1 POST /v1/studies/dose/observations "{\"ticket\":\"$ticket\",\"value\":0.25}" >/dev/null
wait "$poll"
grep -q '"state":"observed"' "$work/poll" || fail "a long poll by way of another server is not answered"

# The wire between servers.
peers=$(sed 's/.*"peers": *"\([^"]*\)".*/\1/' "$work/out2")
refused() { # WHAT CURL-OPTIONS...
    what=$1
    shift
    status=$(curl -s -o "$work/body" -w '%{http_code}' --cacert "$work/keys/ca.pem" "$@" -d x "$peers/v1/jobs" || true)
    [ "$status" = 403 ] || fail "$what: $status, not 403"
}
refused "no certificate"
refused "a certificate of a client port" --cert "$work/keys/server.pem" --key "$work/keys/server.key"
tacet server init --dir "$work/other" --host 127.0.0.1 >/dev/null
refused "a peer of another authority" --cert "$work/other/peer.pem" --key "$work/other/peer.key"
status=$(curl -s -o "$work/body" -w '%{http_code}' --cacert "$work/keys/ca.pem" --cert "$work/keys/peer.pem" --key "$work/keys/peer.key" -d x "$peers/v1/jobs")
[ "$status" = 400 ] || fail "bytes that are no jobs: $status, not 400"

# A host that the certificate does not name, and a certificate of another authority: refused at the start.
unfit() { # WHAT KEYS HOST MESSAGE
    code=0
    timeout 20 "$TACET_BIN/tacet-server" server --store "$store" --keys "$2" --listen 127.0.0.1:0 --peers "$3:0" >"$work/log-unfit" 2>&1 || code=$?
    [ "$code" != 0 ] && [ "$code" != 124 ] || fail "$1: exit code $code"
    grep -q "$4" "$work/log-unfit" || fail "$1: not said"
}
unfit "a name that is not in the certificate" "$work/keys" localhost 'peer.pem: it does not name the host localhost'
unfit "every address" "$work/keys" 0.0.0.0 'it does not name the host 0.0.0.0'
mkdir -m 0700 "$work/mixed"
cp -p "$work/keys"/* "$work/mixed"
cp -p "$work/other"/peer.* "$work/mixed"
unfit "another authority" "$work/mixed" 127.0.0.1 'it is not signed by the authority'

# Servers that were set up apart do not trust each other: nothing is relayed or taken over, the one that was asked says
# so and is not ready, and the keeper goes on.
keys=$work/other
start 4
ask 4 POST /v1/studies/dose/suggestions "{\"key\":\"apart\",$set}" | grep -q '"status":503' || fail "a server that is not trusted gets an answer, or takes over"
[ "$(metric 4 tacet_distrusted_total)" -gt 0 ] && [ "$(metric 4 tacet_taken_over_total)" = 0 ] || fail "distrust is not counted, or the study was taken over"
grep -q "do not trust each other's certificates" "$work/log4" || fail "distrust is not in the log"
sleep 1.2 # how long a look is good for
ask 4 GET /v1/ready | grep -q '"status":503' || fail "a server that another one does not trust is ready"
keys=$work/keys
ask 1 POST /v1/studies/dose/suggestions "{\"key\":\"goes-on\",$set}" | grep -q ticket || fail "the keeper does not go on"
[ "$(metric 1 tacet_taken_over_total)" = 0 ] || fail "the keeper lost the study"
kill "$pid4"
wait "$pid4" || fail "the server that was not trusted did not end in order"

# Stopped in order, the keeper gives the study back; killed, it is taken over from.
kill "$pid2"
wait "$pid2" || fail "the keeper did not end in order"
ask 1 POST /v1/studies/dose/suggestions "{\"key\":\"after\",$set}" | grep -q ticket || fail "nobody goes on"
[ "$(metric 1 tacet_taken_over_total)" = 0 ] || fail "a study that was given back was taken over by force"
kill -9 "$pid1"
before=$(date +%s)
until ask 3 POST /v1/studies/dose/suggestions "{\"key\":\"killed\",$set}" | grep -q ticket; do
    [ $(($(date +%s) - before)) -lt 30 ] || fail "nobody goes on after a kill"
done
[ "$(metric 3 tacet_taken_over_total)" = 1 ] || fail "the study was not taken over"
kill "$pid3"
wait "$pid3" || fail "the last server did not end in order"
pids=""
tacet store check --store "$store" >/dev/null || fail "the store does not hold together"

# Under load, with everything that was acknowledged looked for afterwards.
psql_drop="DO \$\$ DECLARE s text; BEGIN FOR s IN SELECT nspname FROM pg_namespace WHERE nspname LIKE 'tacet%' LOOP EXECUTE format('DROP SCHEMA %I CASCADE', s); END LOOP; END \$\$"
psql -q "$store" -c "SET client_min_messages=warning; $psql_drop" >/dev/null
mkdir "$work/soak"
chmod 0711 "$work/soak"
"$TACET_BIN/soak" --bin "$TACET_BIN" --work "$work/soak" --store "$store" --servers 3 --seconds 5 --away 14 --gap 13 \
    --cluster "$TACET_SOURCE/tests/support/pgcluster.sh $TACET_TEST_CLUSTER" || { tail -n 5 "$work"/soak/server*.log >&2; fail "the soak failed"; }
echo "one keeper at a time; requests reach it by way of any server; who takes it away is survived"
