#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# service.sh - a server from nothing to a first observation, by the commands a person types; then the collector, which
# serves a local study and no central one.
. "${TACET_SOURCE:?}/tests/support/e2e.sh"
need curl
cd "$work"
{
    "$tacet" server init --dir keys
    "$tacet" study create --store studies --name dose --trust central --eps 1 --delta 1e-6 \
        --sets 0:1,0:1 --lengthscale 0.3
    "$tacet" study token --store studies --study dose --role owner > token
    "$tacet" server --store studies --keys keys --listen 127.0.0.1:0 --ready-file address >/dev/null 2>&1 &
    server=$!
    await address

    ask() { curl -sS --cacert keys/ca.pem -H "Authorization: Bearer $(cat token)" "$@"; echo; }
    study=$(cat address)/v1/studies/dose
    ask "$study/suggestions" -d '{"key": "patient-1", "decision_set": [[0.2, 0.4], [0.9, 0.1]]}' | tee suggestion
    ticket=$(sed 's/.*"ticket":"\([^"]*\)".*/\1/' suggestion)
    ask "$study/observations" -d "{\"ticket\": \"$ticket\", \"value\": 0.7}"
    ask "$study"
    ask "$study/ledger"
    kill $server
    wait $server || true
} >output
says() { grep -q "$1" output || { cat output >&2; fail "the output has no '$1'"; }; }
says '"ticket":"'
says '"state":"observed"'
says '"suggested":1[,}]'
says '"observed":1[,}]'
says '"spent_eps":0' # the first batch has not ended
if grep 'urn:tacet:problem' output; then fail "a request was refused"; fi

# A store that was used holds what was acknowledged, whoever opens it next; the ledger is whole.
"$TACET_BIN/tacet" study show --store studies --study dose | grep -q '1 suggested, 1 observed' || fail "the observation is not stored"
"$TACET_BIN/tacet" ledger verify --ledger studies/ledger-dose.db >/dev/null || fail "the ledger does not hold"
# The server was stopped in order, so there is nothing left to replay.
"$TACET_BIN/tacet" study snapshot --store studies | grep -q '^study dose: saved after event 2, 0 of them replayed$' ||
    fail "an orderly stop left events to replay"
if "$TACET_BIN/tacet" study snapshot --store studies --study nosuch 2>/dev/null; then fail "a study that is not there was saved"; fi
# Repeating the creation is harmless, another study of the name is refused.
create="$TACET_BIN/tacet study create --store studies --name dose --trust central --eps 1 --delta 1e-6 --lengthscale 0.3"
$create --sets 0:1,0:1 >/dev/null || fail "a retry of create is refused"
if $create --sets 0:1,0:2 >/dev/null 2>&1; then fail "another study of the same name is taken"; fi
"$TACET_BIN/tacet" ledger show --ledger studies/ledger-dose.db | grep -q '^entries 0,' || fail "charged before a batch has ended"

# The collector: the local study of the same store, and not the central one.
printf 'x\n0\n0.5\n1\n' >arms.csv
# What a policy cannot do is refused before the name is taken.
if "$TACET_BIN/tacet" study create --store studies --name menu --trust central --policy fixed --eps 1 --delta 1e-6 \
    --points arms.csv --inputs x --lengthscale 0.3 --rounds 5000000 >/dev/null 2>&1; then fail "5,000,000 rounds are taken"; fi
if "$TACET_BIN/tacet" study status --store studies | grep -q menu; then fail "a study that was refused has its name"; fi
"$TACET_BIN/tacet" study create --store studies --name slides --trust local --eps 1 --points arms.csv --inputs x \
    --lengthscale 0.3 --minimize >/dev/null
"$TACET_BIN/tacet" study token --store studies --role owner >token2
up "$TACET_BIN/tacet-collector" collector --store studies --keys keys --listen 127.0.0.1:0
ask() { curl -sS --cacert keys/ca.pem -H "Authorization: Bearer $(cat token2)" "$@"; }
ask "$url/v1/studies/slides/suggestions" -d '{}' >suggestion
grep -q '"action":\[' suggestion || fail "the collector suggests nothing: $(cat suggestion)"
ticket=$(sed 's/.*"ticket":"\([^"]*\)".*/\1/' suggestion)
# A bare reward is not what a randomiser sends.
ask "$url/v1/studies/slides/observations" -d "{\"ticket\":\"$ticket\",\"value\":0.5}" | grep -q 'urn:tacet:problem:invalid' ||
    fail "the collector took a report that no device sends"
report=$("$TACET_BIN/tacet" device report --ticket "$ticket" --value 0.5 --range 0:1 --eps 1 --ledger phone.db --budget-eps 10)
ask "$url/v1/studies/slides/observations" -d "{\"ticket\":\"$ticket\",\"value\":$report}" | grep -q '"observed"' ||
    fail "the collector refused a device's report"
ask "$url/v1/studies/dose/suggestions" -d '{"decision_set":[[0,0]]}' | grep -q 'urn:tacet:problem' || fail "the collector serves a central study"
# A token that leaked is renewed while the server runs: the new text is good at once, the old one within seconds no more.
number=$("$TACET_BIN/tacet" study token --store studies --list | awk '/owner/ { n = $1 } END { print n }')
code() { curl -sS --cacert keys/ca.pem -H "Authorization: Bearer $(cat "$1")" -o /dev/null -w '%{http_code}' "$url/v1/studies/slides"; }
"$TACET_BIN/tacet" study token --store studies --renew "$number" --days 90 >token3
[ "$(code token3)" = 200 ] || fail "a renewed token is not taken"
for _ in $(seq 80); do [ "$(code token2)" != 401 ] || break; sleep 0.1; done
[ "$(code token2)" = 401 ] || fail "the old text is still taken"
"$TACET_BIN/tacet" study token --store studies --list | grep -Eq "^ *$number +owner .*[0-9]T[0-9:]*Z" || fail "the list has no end of the token"
"$TACET_BIN/tacet" study show --store studies --study slides | grep -q '1 suggested, 1 observed' || fail "the study changed with the token"
if "$TACET_BIN/tacet" study token --store studies --renew 999 2>/dev/null; then fail "a token that is not there was renewed"; fi
kill "$server"
wait "$server" || fail "the collector did not stop well"
echo "the README's commands, and the collector"
