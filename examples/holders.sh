#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# holders.sh [FOLDER] - one search over three hospitals, on made-up patients: each curates and serves its own third of them,
# with its own keys, eps and ledger, in a process of its own. The third one is stopped in the middle. Beside it: the same
# search over one table that has all of them. Everything goes to FOLDER (holders-out). Prints only what this run measured.
set -eu
umask 077
cd "$(dirname "$0")/.."
root=$PWD
tacet=${TACET_BIN:-$root/build/bin}/tacet
out=${1:-holders-out}
[ -x "$tacet" ] || { echo "holders: $tacet is not there; 'make all' builds it" >&2; exit 1; }
[ ! -e "$out" ] || { echo "holders: $out is there already; name another folder" >&2; exit 1; }
mkdir -p "$out"
cd "$out"
TACET_STATE=$PWD/state
export TACET_STATE
pids=
trap 'kill $pids 2>/dev/null || true' EXIT

awk -v n=1500 -f "$root/examples/patients.awk" >all.csv
open_hospital() { # NAME EPS: curates NAME.csv and serves it; its address is in NAME.url
    "$tacet" curate --values-unprotected --data "$1.csv" --inputs age,bmi,dose --bounds age=18:90,bmi=16:46,dose=5:200 --unit age=5,bmi=2,dose=10 \
        --eps "$2" --queries 40 --out "$1" >"$1.log" 2>&1
    "$tacet" curator init --dir "$1-keys" >>"$1.log"
    "$tacet" curator serve --release "$1" --keys "$1-keys" --data "$1.csv" --target response --listen 127.0.0.1:0 \
        --ready-file "$1.url" >>"$1.log" 2>&1 &
    pids="$pids $!"
    while [ ! -s "$1.url" ]; do sleep 0.1; done
}
for k in 1 2 3; do awk -v k=$k 'NR == 1 || NR % 3 == k - 1' all.csv >hospital$k.csv; done
open_hospital hospital1 3
open_hospital hospital2 3
open_hospital hospital3 3
third=${pids##* }
"$tacet" modeler run --url "$(cat hospital1.url)" --keys hospital1-keys/modeler --url "$(cat hospital2.url)" --keys hospital2-keys/modeler \
    --url "$(cat hospital3.url)" --keys hospital3-keys/modeler --state search --patience 1 --queries 40 >search.txt 2>search.log &
modeler=$!
until [ "$(grep -c '"value":{' search/journal.jsonl 2>/dev/null || true)" -ge 20 ] 2>/dev/null; do sleep 0.05; done
kill -9 "$third"
wait "$modeler"
echo "Three hospitals, 40 questions in all; the third was killed after 20:"
cat search.txt
TACET_STATE=$PWD/state-pooled # as if these patients had not been released before
open_hospital all 3
"$tacet" modeler run --url "$(cat all.url)" --keys all-keys/modeler --state pooled --queries 40 >pooled.txt 2>pooled.log
echo
awk -F, 'NR > 1 { v[NR] = $4; if (NR == 2 || $4 > top) top = $4 } END { n = NR - 1; for (i in v) { above = 0
    for (j in v) above += v[j] > v[i]; none = 1; for (t = 0; t < 40; t++) none *= (n - above - 1 - t) / (n - t)
    some = 1; for (t = 0; t < 40; t++) some *= (n - above - t) / (n - t); mean += (top - v[i]) * (some - none) }
    print top, mean }' all.csv >chance
regret() { awk -v b="$(sed -n 's/.*"best_value":\([-0-9.e+]*\).*/\1/p' "$1/result.json")" '{ printf "%.2f (%.0f %% of that of 40 random patients)\n", $1 - b, 100 * ($1 - b) / $2 }' chance; }
echo "regret, three hospitals, one killed   $(regret search)"
echo "regret, one table of all patients     $(regret pooled)"
