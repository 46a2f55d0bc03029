#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# postgres_hung.sh - a database that hangs, and one that is not there: the server answers 503 within two seconds, goes on
# when it is back, ends within five seconds of SIGTERM, and waits at its start for a database that is down.
if [ -z "${TACET_TEST_CLUSTER:-}" ]; then exec "${TACET_SOURCE:?}/tests/support/pgcluster.sh" run "$0"; fi
. "${TACET_SOURCE:?}/tests/support/e2e.sh"
frozen=""
cluster=$TACET_TEST_CLUSTER
thaw() { for pid in $frozen; do kill -CONT "$pid" 2>/dev/null || true; done; frozen=""; }
trap 'thaw; end' EXIT
store=$TACET_TEST_POSTGRES
tacet server init --dir "$work/keys" --host 127.0.0.1 >/dev/null
printf 'x\n0\n0.25\n0.5\n0.75\n1\n' >"$work/arms.csv"
tacet store init --store "$store" >/dev/null
tacet study create --store "$store" --name slides --trust local --eps 1 --points "$work/arms.csv" --inputs x --lengthscale 0.3 >/dev/null
token=$(tacet study token --store "$store" --role owner)
echo a-token-for-metrics-alone >"$work/keys/metrics.token"
start() { up "$bin/tacet-server" server --store "$store" --keys "$work/keys" --listen 127.0.0.1:0; }
# PATH [curl options]: status and seconds.
ask() {
    path=$1
    shift
    curl -s -o "$work/body" -D "$work/head" -w '%{http_code} %{time_total}' --max-time 20 --cacert "$work/keys/ca.pem" "$@" "$url$path" || true
}
suggest() { ask /v1/studies/slides/suggestions -H "Authorization: Bearer $token" -d '{}'; }
answers() { # STATUS SECONDS WHAT: what was just asked is in $got
    case $got in "$1 "*) ;; *) fail "$3: $got, not $1" ;; esac
    awk "BEGIN { exit !(${got#* } <= $2) }" || fail "$3 took ${got#* } s, more than $2"
    echo "$3: $got s"
}
# Every process of the cluster, as a machine that hangs.
freeze() {
    main=$(head -n 1 "$cluster/pg/data/postmaster.pid")
    frozen="$main $(pgrep -P "$main" | tr '\n' ' ')"
    for pid in $frozen; do kill -STOP "$pid"; done
}

start
got=$(suggest)
answers 201 2 "a suggestion"
got=$(ask /v1/ready)
answers 200 2 "ready"
freeze
sleep 1.2
for what in suggestions "" ready; do
    case $what in
    suggestions) got=$(suggest) ;;
    ready) got=$(ask /v1/ready) ;;
    *) got=$(ask /v1/studies -H "Authorization: Bearer $token") ;;
    esac
    answers 503 2.3 "database hangs, /$what"
    grep -qi '^retry-after:' "$work/head" || fail "no Retry-After"
done
sleep 5 # the token is no longer known from memory
got=$(suggest)
answers 503 2.3 "database hangs, token not in memory"
got=$(ask /v1/live)
answers 200 1 "database hangs, /live"
got=$(ask /v1/metrics -H "Authorization: Bearer a-token-for-metrics-alone")
answers 200 1 "database hangs, /metrics by its own credential"
grep -q '^tacet_study_tickets{study="slides"} [1-9]' "$work/body" || fail "the metrics do not tell of the study in memory"
thaw
tries=0
until got=$(suggest) && [ "${got%% *}" = 201 ]; do
    tries=$((tries + 1))
    [ "$tries" -lt 20 ] || fail "no suggestion after the database is back: $got"
    sleep 1
done
echo "database back: $got s after $tries tries"
freeze
got=$(suggest)
begin=$(date +%s%N)
kill -TERM "$server"
wait "$server" 2>/dev/null || true
took=$((($(date +%s%N) - begin) / 1000000))
[ "$took" -le 5200 ] || fail "SIGTERM took $took ms while the database hangs"
echo "database hangs, SIGTERM: ended in $took ms"
thaw

# A database that is down at the start.
server=""
"$TACET_SOURCE/tests/support/pgcluster.sh" kill "$cluster"
sleep 0.3
start
got=$(ask /v1/live)
answers 200 1 "database down at the start, /live"
got=$(ask /v1/ready)
answers 503 2.3 "database down at the start, /ready"
"$TACET_SOURCE/tests/support/pgcluster.sh" again "$cluster"
tries=0
until got=$(suggest) && [ "${got%% *}" = 201 ]; do
    tries=$((tries + 1))
    [ "$tries" -lt 20 ] || fail "no suggestion after the database is up: $got"
    sleep 0.5
done
grep -q 'waiting for the store\|cannot be reached yet' "$work/log" || fail "the log does not say what is waited for"
down
