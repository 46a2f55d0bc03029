#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# device_sets.sh - a study whose decision sets stay on the devices, against a real collector: devices choose, report one
# direction each, once per ticket, charged; the study learns; a study that asks for more than the device gives gets nothing.
. "${TACET_SOURCE:?}/tests/support/e2e.sh"
serve() { up "$tacet" collector --store "$work/studies" --keys "$work/keys" --listen "$1"; }
field() { sed -n "s/.*\"$1\":\"\{0,1\}\([^\",}]*\).*/\1/p" "$work/out"; }
expect 2 "$tacet" study create --store "open:$work/studies" --name routes --trust local --policy statistics --eps 4 \
    --points /dev/null --inputs x --lengthscale 0.4
expect 2 "$tacet" study create --store "open:$work/studies" --name routes --trust local --policy statistics --eps 4 \
    --sets 0:1 --lengthscale 0.4 --field options.randomizer=hybrid
grep -q "'sphere'" "$work/err" || fail "does not say which randomizer"
expect 0 "$tacet" study create --store "open:$work/studies" --name routes --trust local --policy statistics --eps 4 \
    --sets 0:1,0:1 --lengthscale 0.4 --range 0:1 --rounds 100
"$tacet" study token --store "open:$work/studies" --role device --study routes >"$work/routes.token"
"$tacet" study token --store "open:$work/studies" --role owner >"$work/owner"
"$tacet" server init --dir "$work/keys" >/dev/null
cp "$work/routes.token" "$work/keys/token"
serve 127.0.0.1:0
wire="--study routes --keys $work/keys"
# shellcheck disable=SC2086
{
    printf 'x,y\n0.2,0.2\n0.7,0.6\n0.9,0.1\n' >"$work/arms.csv"
    expect 1 "$tacet" device suggest --server "$url" $wire --decision-set "$work/arms.csv" --inputs x
    expect 0 "$tacet" device suggest --server "$url" $wire --decision-set "$work/arms.csv" --inputs x,y --key k --json
    ticket=$(field ticket)
    chosen=$(field chosen)
    case $chosen in 0 | 1 | 2) ;; *) fail "chose '$chosen' of three arms" ;; esac
    report() { "$tacet" device report --server "$url" $wire --range 0:1 --eps 4 "$@"; }
    expect 2 "$tacet" device report --range 0:1 --eps 4 --ledger "$work/l" --budget-eps 8 --ticket "$ticket" --point 0.2,0.2 --value 1
    expect 1 "$tacet" device report --server "$url" $wire --range 0:1 --eps 3 --ledger "$work/l" --budget-eps 8 --ticket "$ticket" \
        --point 0.2,0.2 --value 1
    [ ! -e "$work/l" ] || fail "something was charged"
    expect 2 report --ledger "$work/l" --budget-eps 8 --ticket "$ticket" --point 0.2 --value 1
    expect 0 report --ledger "$work/l" --budget-eps 8 --ticket "$ticket" --point 0.2,0.2 --value 1 --json
    first=$(field report)
    cell=${first%.0}
    [ "$(field mechanism)" = sphere ] && [ "$cell" -ge 0 ] && [ "$cell" -lt 256 ] || fail "a report of $first"
    expect 0 report --ledger "$work/l" --ticket "$ticket" --point 0.9,0.9 --value 0 --json
    [ "$(field report)" = "$first" ] || fail "a retry sent other bits"
    expect 0 "$tacet" ledger show --ledger "$work/l" --json
    grep -q 'decision set,action,reward' "$work/out" || fail "the ledger does not say what is covered"
    # The server is killed and comes back: it goes on with the features and sums it had.
    kill -9 "$server"
    wait "$server" 2>/dev/null || true
    serve "127.0.0.1:${url##*:}"
    for device in $(seq 1 24); do
        expect 0 "$tacet" device suggest --server "$url" $wire --decision-set "$work/arms.csv" --inputs x,y --json
        ticket=$(field ticket)
        point=$(sed -n 's/.*"action":\[\([^]]*\)\].*/\1/p' "$work/out")
        reward=$(echo "$point" | awk -F, '{ print ($1 > 0.5 && $2 > 0.5) }')
        expect 0 report --ledger "$work/ledger-$device" --budget-eps 4 --ticket "$ticket" --point "$point" --value "$reward"
    done
}
expect 0 "$tacet" study status --store "open:$work/studies"
grep -q '25 observed' "$work/out" || { cat "$work/out"; fail "not 25 reports"; }
down
expect 0 "$tacet" study release --store "open:$work/studies" --study routes --out "$work/best.json" --json
grep -q best "$work/best.json" || { cat "$work/best.json"; fail "no release"; }
echo "25 devices, one byte each"
