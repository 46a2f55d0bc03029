#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# study_delete.sh - a study that has released nothing is deleted by one of two servers on PostgreSQL: the other, which has
# it in memory, does not serve it any more, and serves another of its name, which begins anew.
if [ -z "${TACET_TEST_CLUSTER:-}" ]; then exec "${TACET_SOURCE:?}/tests/support/pgcluster.sh" run "$0"; fi
. "${TACET_SOURCE:?}/tests/support/e2e.sh"
store=$TACET_TEST_POSTGRES
mkdir -m 0700 "$work/state"
export TACET_STATE="$work/state"
tacet server init --dir "$work/keys" --host 127.0.0.1 >/dev/null
create() { tacet study create --store "$store" --name dose --trust central --eps "$1" --delta 1e-6 --sets 0:1 --lengthscale 0.3 >/dev/null; }
create 1
owner=$(tacet study token --store "$store" --role owner)
tacet study token --store "$store" --role device --study dose >/dev/null
for i in 1 2; do
    "$TACET_BIN/tacet-server" server --store "$store" --keys "$work/keys" --listen 127.0.0.1:0 --ready-file "$work/ready$i" 2>>"$work/log" &
    pids="$pids $!"
    await "$work/ready$i"
    eval "server$i=$url"
done
ask() { curl -s --max-time 20 --cacert "$work/keys/ca.pem" -H "Authorization: Bearer $owner" -X "$2" "$1$3" ${4:+-d "$4"}; }
suggest() { ask "$1" POST /v1/studies/dose/suggestions '{"decision_set":[[0.1],[0.5]]}'; }
# shellcheck disable=SC2154 # both are set above
for s in "$server1" "$server2"; do suggest "$s" | grep -q ticket || fail "no suggestion"; done
ask "$server1" DELETE /v1/studies/dose | grep -q '"deleted"' || fail "it is not deleted"
suggest "$server2" | grep -q '"status":404' || fail "the other server still serves it"
tacet study token --store "$store" --list | grep -q dose && fail "its tokens are still there"
create 2
for s in "$server2" "$server1"; do suggest "$s" | grep -q ticket || fail "another of its name is not served"; done
ask "$server2" GET /v1/studies/dose | grep -q '"suggested":2' || fail "it does not begin anew"
ask "$server2" GET /v1/studies/dose/ledger | grep -q '"budget_eps":2.0' || fail "it has the ledger of the first one"
tacet store check --store "$store" >/dev/null || fail "the store does not hold together"
tacet store audit --store "$store" | grep -q 'DELETE /v1/studies/dose' || fail "the deletion is not in the audit trail"
echo "deleted by one server, gone for the other, made again"
