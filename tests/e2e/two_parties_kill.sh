#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# two_parties_kill.sh - curator and modeler as two processes over TLS; 50 times one of them, by a seeded choice and at a
# seeded moment, is ended with kill -9 and started again. The run must end as an undisturbed one does: the same rows asked
# in the same order, the same values, one ledger entry for each, and a chain that verifies. The undisturbed curator reads
# its values from the column, the other one from a command, so that kills also fall into a running evaluation.
queries=50
kills=50
RANDOM=7
. "${TACET_SOURCE:?}/tests/support/e2e.sh"

awk 'BEGIN { print "a,b,y"; for (i = 0; i < 225; i++) { a = i % 15; b = int(i / 15)
    printf "%d,%d,%.6f\n", a, b, exp(-((a - 10) ^ 2 + (b - 4) ^ 2) / 30) } }' >"$work/data.csv"
"$TACET_BIN/tacet-curator" curate --values-unprotected --data "$work/data.csv" --inputs a,b --bounds a=0:14,b=0:14 --unit a=2,b=2 --eps 3 \
    --queries $queries --out "$work/release" --ledger "$work/release/ledger.db" >/dev/null
"$TACET_BIN/tacet-curator" init --dir "$work/keys" >/dev/null
cp -r "$work/release" "$work/calm"
cp -r "$work/release" "$work/wild"

serve() { # serve NAME LISTEN OPTIONS...
    local name=$1 listen=$2
    shift 2
    rm -f "$work/ready"
    # Two copies of one ledger that both go on are a fork, which a machine notices: here they are two machines.
    TACET_STATE=$work/state-$name "$TACET_BIN/tacet-curator" serve --release "$work/$name" --keys "$work/keys" --data "$work/data.csv" --listen "$listen" \
        --ready-file "$work/ready" "$@" >/dev/null 2>>"$work/curator.err" &
    server=$!
}
model() { # model NAME
    "$TACET_BIN/tacet-modeler" run --url "$url" --keys "$work/keys/modeler" --state "$work/$1.state" --queries $queries \
        --lengthscale 2 --seed 5 --json >"$work/$1.json" 2>>"$work/modeler.err" &
    modeler=$!
    pids=$modeler
}
field() { # field NAME FILE: an array or number of a one-line JSON object
    sed -n "s/.*\"$1\":\(\[[^]]*\]\|[^,}]*\).*/\1/p" "$2"
}

serve calm 127.0.0.1:0 --target y
await "$work/ready"
model calm
wait "$modeler" || fail "the undisturbed run failed"
kill -9 "$server"
wait "$server" 2>/dev/null || true

command='sleep 0.25; awk -F, "NR == 2 { print \$3 }"'
serve wild 127.0.0.1:0 --evaluate "$command"
await "$work/ready"
listen=${url#https://}
model wild
during=0
for ((k = 0; k < kills; k++)); do
    sleep "0.$((RANDOM % 30 + 10))"
    kill -0 "$modeler" 2>/dev/null && during=$((during + 1))
    if ((RANDOM % 2)); then
        # Another program may have been given the port in between; nothing else may have ended the curator.
        kill -9 "$server" 2>/dev/null || tail -n 1 "$work/curator.err" | grep -q 'the port is taken' || fail "the curator ended by itself"
        wait "$server" 2>/dev/null || true
        serve wild "$listen" --evaluate "$command"
    else
        kill -9 "$modeler" 2>/dev/null || true
        wait "$modeler" 2>/dev/null || true
        model wild
    fi
done
while kill -0 "$modeler" 2>/dev/null; do
    kill -0 "$server" 2>/dev/null || serve wild "$listen" --evaluate "$command" # the port, as above
    sleep 0.1
done
wait "$modeler" || fail "the disturbed run failed"
modeler=
[ "$during" -ge $((kills / 2)) ] || fail "only $during of $kills kills fell into the run: it is too short to show anything"

for name in rows values; do
    [ -n "$(field $name "$work/calm.json")" ] || fail "no $name in the answer"
    [ "$(field $name "$work/calm.json")" = "$(field $name "$work/wild.json")" ] || fail "the $name differ from the undisturbed run"
done
[ "$(field rows "$work/calm.json" | tr ',' '\n' | wc -l)" = $queries ] || fail "not $queries rows"
for name in calm wild; do
    "$TACET_BIN/tacet-ledger" ledger verify --ledger "$work/$name/ledger.db" >/dev/null || fail "$name: the ledger does not verify"
    "$TACET_BIN/tacet-ledger" ledger show --ledger "$work/$name/ledger.db" --json >"$work/$name.ledger"
    [ "$(field entries "$work/$name.ledger")" = $((queries + 1)) ] || fail "$name: not one entry for each query and the release"
    [ "$(field uncovered "$work/$name.ledger")" = $queries ] || fail "$name: not $queries values disclosed"
    grep -o 'measured value of row [0-9]*' "$work/$name.ledger" | sort >"$work/$name.asked"
    [ "$(sort -u "$work/$name.asked" | wc -l)" = $queries ] || fail "$name: a row was charged twice"
done
cmp -s "$work/calm.asked" "$work/wild.asked" || fail "the ledgers name different rows"
[ "$(field eps "$work/calm.ledger")" = "$(field eps "$work/wild.ledger")" ] || fail "the totals differ"
echo "$kills kills, $during of them during the run; $queries rows, the same as undisturbed"
