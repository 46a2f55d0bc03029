#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# space_study.sh - studies over a space: the server proposes points of it, by name and in the columns' own units; arms
# outside the bounds of a decision set are refused with the reason.
. "${TACET_SOURCE:?}/tests/support/e2e.sh"
need curl
cd "$work"
cat >tune.json <<'JSON'
{"columns":[{"name":"rate","kind":"log","bounds":[1e-5,1]},{"name":"layers","kind":"integer","bounds":[1,8]},
{"name":"optimizer","kind":"category","levels":["sgd","adam","lion"]}]}
JSON
create() { "$bin/tacet" study create --store st "$@"; }
create --name tune --trust central --eps 10 --delta 1e-6 --space tune.json --rounds 200 --json >made || fail "no study"
grep -q '"space"' made && grep -q '"candidates": *1024' made || fail "the definition has no space: $(cat made)"
create --name short --trust local --eps 10 --bounds x=0:10 --bounds y=-1:1 --rounds 200 >/dev/null || fail "no local study"
create --name arms --trust central --eps 1 --delta 1e-6 --lengthscale 0.3 --sets 0:1,0:1 >/dev/null || fail "no study of decision sets"
refuse() { # WORD OPTION…
    word=$1; shift
    code=0; create --name bad --eps 1 --delta 1e-6 --trust central "$@" >/dev/null 2>err || code=$?
    [ $code -eq 2 ] && grep -q -e "$word" err || fail "'$*' gave $code: $(cat err)"
}
refuse "'w'" --bounds w=1:0 --levels 'a=x|y'
refuse "twice" --levels 'a=x|y|x'
refuse "one of three" --space tune.json --points tune.json
printf '{"name":"bad","trust":"central","budget":{"eps":1,"delta":1e-6},"prior":{"reward":[0,1]},"domain":{"space":{"columns":[{"name":"a","bounds":[2,1]}]}}}' >bad.json
refuse "'a'" --definition bad.json
if "$bin/tacet" study status --store st | grep -q bad; then fail "a study that was refused has its name"; fi

"$bin/tacet" server init --dir keys --host 127.0.0.1,localhost >/dev/null
"$bin/tacet" study token --store st --role owner >token
up "$bin/tacet-server" server --store st --keys keys --listen 127.0.0.1:0
ask() { path=$1; shift; curl -sS --retry 20 --retry-delay 1 --cacert keys/ca.pem -H "Authorization: Bearer $(cat token)" "$url/v1/studies/$path" "$@"; }
for _ in 1 2 3 4 5; do
    ask tune/suggestions -d '{}' >suggestion
    grep -q '"point":{"rate":[0-9.e-]*,"layers":[1-8],"optimizer":"[a-z]*"}' suggestion || fail "no point: $(cat suggestion)"
    ticket=$(sed 's/.*"ticket":"\([^"]*\)".*/\1/' suggestion)
    ask tune/observations -d "{\"ticket\":\"$ticket\",\"value\":0.5}" | grep -q observed || fail "no observation"
done
# A failed evaluation has no value, and its round counts all the same.
ask tune/suggestions -d '{}' >suggestion
ticket=$(sed 's/.*"ticket":"\([^"]*\)".*/\1/' suggestion)
ask tune/observations -d "{\"ticket\":\"$ticket\",\"failed\":true,\"value\":1}" | grep -q "there is no 'value'" || fail "failed with a value passes"
ask tune/observations -d "{\"ticket\":\"$ticket\",\"failed\":true}" | grep -q observed || fail "a failure is refused"
ask tune/observations -d "{\"ticket\":\"$ticket\",\"failed\":true}" | grep -q observed || fail "a repeated failure is refused"
ask tune -X GET | grep -q '"observed":6' || fail "the round does not count: $(ask tune -X GET)"
ask short/suggestions -d '{}' | grep -q '"point":{"x":' || fail "the local study proposes nothing"
ask arms/suggestions -d '{"decision_set":[[0.1,0.2],[0.5,1.5]]}' >refusal
grep -q 'arm 1, coordinate 1 lies outside the bounds 0 to 1' refusal || fail "an arm outside is played: $(cat refusal)"
ask arms/suggestions -d '{"decision_set":[[0.1,0.2],[0.5,1]]}' | grep -q '"ticket"' || fail "arms inside are refused"
kill "$server"
echo "studies over a space propose points, and arms outside the bounds are refused"
