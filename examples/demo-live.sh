#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# demo-live.sh [FOLDER] - the demo's two parties, kept running so that you can watch the search: the curator's desk in a
# browser, and the modeler's page. Everything goes to FOLDER (demo-out/live). Ctrl-C ends it.
# DEMO_PAUSE=S: seconds a measurement takes (1). DEMO_QUERIES=N: how many (40). DEMO_ONCE=1: end with the search.
set -eu
umask 077
cd "$(dirname "$0")/.."
root=$PWD
tacet=${TACET_BIN:-$root/build/bin}/tacet
out=${1:-demo-out/live}
pause=${DEMO_PAUSE:-1}
queries=${DEMO_QUERIES:-40}
[ -x "$tacet" ] || { echo "demo-live: $tacet is not there; 'make all' builds it" >&2; exit 1; }
rm -rf "$out"
mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$out"
TACET_STATE=$PWD/state
export TACET_STATE
served=
finish() {
    code=$?
    trap - EXIT
    [ -z "$served" ] || kill "$served" 2>/dev/null || true
    [ -z "$served" ] || wait "$served" 2>/dev/null || true
    exit "$code"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

awk -v n=2000 -f "$root/examples/patients.awk" >patients.csv
"$tacet" curate --values-unprotected --data patients.csv --inputs age,bmi,dose --bounds age=18:90,bmi=16:46,dose=5:200 --unit age=5,bmi=2,dose=10 \
    --eps 3 --queries "$queries" --out release >curate.log 2>&1 || { cat curate.log >&2; exit 1; }
"$tacet" curator init --dir keys >>curate.log
# A measurement takes a moment, as measurements do: the record comes in as CSV, its response goes out.
"$tacet" curator serve --release release --keys keys --data patients.csv --evaluate "sleep $pause; tail -n 1 | cut -d, -f4" \
    --patience 5 --listen 127.0.0.1:0 --desk 127.0.0.1:0 --ready-file ready >curator.log 2>&1 &
served=$!
tries=0
while [ ! -s ready ]; do
    kill -0 "$served" 2>/dev/null || { cat curator.log >&2; exit 1; }
    tries=$((tries + 1))
    [ "$tries" -lt 300 ] || { echo "demo-live: the curator does not answer" >&2; exit 1; }
    sleep 0.1
done
desk=$(sed -n 's/^the desk is at \(https:[^ ]*\) .*/\1/p' curator.log)
echo "The hospital's desk:      $desk   (a certificate of its own: your browser asks once)"
echo "  log in with the token:  $(cat keys/desk.token)"
echo "The consultant's search:  $out/search.html   (open it in a browser; it follows the search)"
echo
"$tacet" modeler run --url "$(cat ready)" --keys keys/modeler --state search --queries "$queries" --page search.html
[ -z "${DEMO_ONCE:-}" ] || exit 0
echo
echo "The search is over; the desk stays until Ctrl-C."
wait "$served"
