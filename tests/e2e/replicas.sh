#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# replicas.sh - three servers on one PostgreSQL store, which know nothing of each other: any of them takes any request of
# a study, in turn. Then behind HAProxy as docs/deployment.md configures it: a study stays with one server, and goes on
# when that one is stopped or killed. Then under load with a server stopped, cut off from the database, and killed:
# nothing acknowledged is lost, doubled or charged twice.
if [ -z "${TACET_TEST_CLUSTER:-}" ]; then exec "${TACET_SOURCE:?}/tests/support/pgcluster.sh" run "$0"; fi
. "${TACET_SOURCE:?}/tests/support/e2e.sh"
chmod 0711 "$work"
store=$TACET_TEST_POSTGRES
keys=$work/keys
tacet server init --dir "$keys" --host 127.0.0.1 >/dev/null
tacet study create --store "$store" --name dose --trust central --eps 1 --delta 1e-6 --sets 0:1 --lengthscale 0.3 >/dev/null
owner=$(tacet study token --store "$store" --role owner)
start() { # N
    "$TACET_BIN/tacet-server" server --store "$store" --keys "$keys" --listen 127.0.0.1:0 --ready-file "$work/ready$1" \
        >"$work/out$1" 2>"$work/log$1" &
    eval "pid$1=\$!"
    pids="$pids $!"
    await "$work/ready$1"
}
ask() { # URL METHOD PATH [BODY]
    curl -s --max-time 15 --cacert "$keys/ca.pem" -H "Authorization: Bearer $owner" -X "$2" "$1$3" ${4:+-d "$4"}
}
at() { cat "$work/ready$1"; }
metric() { ask "$(at "$1")" GET /v1/metrics | sed -n "s/^$2 //p"; }
ticket_of() { sed 's/.*"ticket":"\([^"]*\)".*/\1/'; }
for n in 1 2 3; do start $n; done

# One study, asked at all three: suggested here, observed there, looked at elsewhere.
set='"decision_set":[[0.1],[0.5],[0.9]]'
for i in 1 2 3 4 5 6; do
    ticket=$(ask "$(at $((i % 3 + 1)))" POST /v1/studies/dose/suggestions "{\"key\":\"k$i\",$set}" | ticket_of)
    [ -n "$ticket" ] || fail "no ticket"
    ask "$(at $(((i + 1) % 3 + 1)))" POST /v1/studies/dose/observations "{\"ticket\":\"$ticket\",\"value\":0.5}" |
        grep -q observed || fail "an observation at another server was not taken"
done
[ "$(ask "$(at 3)" POST /v1/studies/dose/suggestions "{\"key\":\"k6\",$set}" | ticket_of)" = "$ticket" ] ||
    fail "a repeated key gets another ticket at another server"
ask "$(at 2)" GET /v1/studies/dose | grep -q '"suggested":6' || fail "a server does not see what the others did"

# A long poll at one server sees the observation that another one takes.
ticket=$(ask "$(at 1)" POST /v1/studies/dose/suggestions "{\"key\":\"poll\",$set}" | ticket_of)
ask "$(at 3)" GET "/v1/studies/dose/suggestions/$ticket?wait=20" >"$work/poll" &
poll=$!
sleep 0.5
ask "$(at 1)" POST /v1/studies/dose/observations "{\"ticket\":\"$ticket\",\"value\":0.25}" >/dev/null
wait "$poll"
grep -q '"state":"observed"' "$work/poll" || fail "a long poll at another server is not answered"

# Behind a balancer, with the configuration of the documents but for addresses and files.
if command -v haproxy >/dev/null; then
    port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    # shellcheck disable=SC2046
    TACET_FRONT=127.0.0.1:$port "$TACET_SOURCE/tests/support/haproxy.sh" "$keys" $(for n in 1 2 3; do at $n | sed 's#https://##'; done) \
        >"$work/haproxy.cfg"
    haproxy -c -f "$work/haproxy.cfg" >"$work/haproxy.log" 2>&1 || fail "the documented configuration is refused"
    haproxy -db -f "$work/haproxy.cfg" >>"$work/haproxy.log" 2>&1 &
    pids="$pids $!"
    front=https://127.0.0.1:$port
    tries=0
    until ask "$front" GET /v1/studies/dose 2>/dev/null | grep -q suggested; do
        sleep 0.1
        tries=$((tries + 1))
        [ "$tries" -lt 300 ] || fail "nothing comes through the balancer"
    done
    batches() { echo "$(metric 1 tacet_batches_total) $(metric 2 tacet_batches_total) $(metric 3 tacet_batches_total)"; }
    round() { # KEY: until it is acknowledged
        tries=0
        until ask "$front" POST /v1/studies/dose/suggestions "{\"key\":\"$1\",$set}" >"$work/got" 2>/dev/null && grep -q ticket "$work/got"; do
            sleep 0.1
            tries=$((tries + 1))
            [ "$tries" -lt 300 ] || fail "$1: no suggestion through the balancer"
        done
    }
    before=$(batches)
    for i in 1 2 3 4 5 6; do round "b$i"; done
    after=$(batches)
    keeper=$(echo "$before $after" | awk '{ for (i = 1; i <= 3; i++) if ($(i + 3) > $i) { n++; at = i } print n == 1 ? at : 0 }')
    [ "$keeper" != 0 ] || fail "requests of one study went to several servers: $before, then $after"
    eval "kill -9 \$pid$keeper"
    for i in 1 2 3; do round "killed$i"; done
    start "$keeper" # another port: the balancer goes on with the other two
    other=$((keeper % 3 + 1))
    eval "kill \$pid$other"
    eval "wait \$pid$other" || fail "a server did not end in order"
    for i in 1 2 3; do round "stopped$i"; done
    ask "$front" GET /v1/studies/dose | grep -q '"suggested":19' || fail "not each key has one suggestion"
    echo "behind HAProxy a study stayed with server $keeper, and went on when that was killed and another one stopped"
else
    echo "HAProxy is not installed: not tried"
fi
# shellcheck disable=SC2086
kill $pids 2>/dev/null || true
# shellcheck disable=SC2086
wait $pids 2>/dev/null || true
pids=""
tacet store check --store "$store" >/dev/null || fail "the store does not hold together"

# Under load, with everything that was acknowledged looked for afterwards.
psql_drop="DO \$\$ DECLARE s text; BEGIN FOR s IN SELECT nspname FROM pg_namespace WHERE nspname LIKE 'tacet%' LOOP EXECUTE format('DROP SCHEMA %I CASCADE', s); END LOOP; END \$\$"
psql -q "$store" -c "SET client_min_messages=warning; $psql_drop" >/dev/null
mkdir "$work/soak"
chmod 0711 "$work/soak"
"$TACET_BIN/soak" --bin "$TACET_BIN" --work "$work/soak" --store "$store" --servers 3 --seconds 5 --away 14 --gap 13 \
    --cluster "$TACET_SOURCE/tests/support/pgcluster.sh $TACET_TEST_CLUSTER" || { tail -n 5 "$work"/soak/server*.log >&2; fail "the soak failed"; }
