#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# device_service.sh - `tacet device` against a real server: suggest, report, the same bits on every retry, also after the
# server was killed; a study that asks for more than the device gives gets nothing.
. "${TACET_SOURCE:?}/tests/support/e2e.sh"
serve() { up "$tacet" server --store "$work/studies" --keys "$work/keys" --listen "$1"; }
field() { sed -n "s/.*\"$1\":\"\{0,1\}\([^\",}]*\).*/\1/p" "$work/out"; }

printf 'x\n0\n0.5\n1\n' >"$work/places.csv"
for study in light other; do
    "$tacet" study create --store "$work/studies" --name $study --trust local --eps 1 --points "$work/places.csv" --inputs x \
        --lengthscale 0.3 --range 0:10 >/dev/null
    "$tacet" study token --store "$work/studies" --role device --study $study >"$work/$study.token"
done
"$tacet" server init --dir "$work/keys" >/dev/null
mkdir "$work/light"
cp "$work/light.token" "$work/light/token"
cp "$work/keys/ca.pem" "$work/light/"
serve 127.0.0.1:0
wire() { # wire URL [STUDY]
    echo --server "$1" --study "${2:-light}" --keys "$work/light"
}
# shellcheck disable=SC2046
{
    expect 0 "$tacet" device suggest $(wire "$url") --key first --json
    ticket=$(field ticket)
    index=$(field index)
    [ -n "$ticket" ] || fail "no ticket"
    expect 0 "$tacet" device suggest $(wire "$url") --key first --json
    [ "$(field ticket)" = "$ticket" ] && [ "$(field index)" = "$index" ] || fail "the same key got another suggestion"
    expect 0 "$tacet" device suggest $(wire "$url")
    grep -q '^action ' "$work/out" || fail "no action in words"
    second=$(sed -n 's/^ticket *//p' "$work/out")
    [ "$second" != "$ticket" ] || fail "another question got the same ticket"

    report() { "$tacet" device report --range 0:10 --eps 1 --ledger "$work/ledger" --budget-eps 5 "$@"; }
    # The server asks for eps 1 on 0:10: nothing else is given, nothing charged, nothing sent.
    expect 1 "$tacet" device report --range 0:10 --eps 2 --ledger "$work/ledger" --budget-eps 5 --ticket "$ticket" --value 3 $(wire "$url")
    grep -q -- '--eps 1' "$work/err" || fail "does not say what the study asks for"
    expect 1 "$tacet" device report --range 0:9 --eps 1 --ledger "$work/ledger" --budget-eps 5 --ticket "$ticket" --value 3 $(wire "$url")
    expect 1 report --mechanism laplace --ticket "$ticket" --value 3 $(wire "$url")
    [ ! -e "$work/ledger" ] || fail "something was charged"
    # The server is away: the report is drawn and kept; the same command sends the same bits later.
    expect 0 report --ticket "$ticket" --value 3 --json $(wire "$url")
    first=$(field report)
    expect 0 report --ticket "$ticket" --value 9 --json $(wire "$url")
    [ "$(field report)" = "$first" ] || fail "a retry sent other bits"
    kill -9 "$server"
    wait "$server" 2>/dev/null || true
    port=${url##*:}
    expect 1 report --ticket "$second" --value 3 --patience 0.2 $(wire "$url")
    serve "127.0.0.1:$port"
    expect 0 report --ticket "$second" --value 9 --json $(wire "$url")
    # A ticket nobody was given, another study, a wrong authority, half an address.
    expect 1 report --ticket "AAAA$ticket" --value 3 $(wire "$url")
    expect 1 "$tacet" device suggest $(wire "$url" other)
    grep -q '403' "$work/err" || fail "a token of another study was taken"
    expect 1 "$tacet" device suggest $(wire "$url" nothing)
    "$tacet" server init --dir "$work/strangers" >/dev/null
    mkdir "$work/stranger"
    cp "$work/strangers/ca.pem" "$work/light/token" "$work/stranger/"
    expect 1 "$tacet" device suggest --server "$url" --study light --keys "$work/stranger" --patience 0
    expect 2 report --ticket x --value 3 --server "$url"
}
"$tacet" study show --store "$work/studies" --study light --json >"$work/out" || fail "study show"
grep -Eq '"observed": ?2' "$work/out" || { cat "$work/out"; fail "the study does not have two observations"; }
expect 0 "$tacet" ledger show --ledger "$work/ledger"
grep -q 'spent   eps 3 of 5' "$work/out" || { cat "$work/out"; fail "the device did not charge one for each ticket"; }
