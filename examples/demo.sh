#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# demo.sh [FOLDER] - the main job, end to end, on made-up patients: a hospital (curator) and a consultant (modeler) as two
# processes that speak TLS, what it cost, how it compares, and what an attacker gets. Everything goes to FOLDER (demo-out).
# Programs are taken from $TACET_BIN (build/bin). Prints only what this run measured.
set -eu
umask 077
cd "$(dirname "$0")/.."
root=$PWD
bin=${TACET_BIN:-$root/build/bin}
tacet=$bin/tacet
out=${1:-demo-out}
records=2000
queries=40
eps=3
delta=1e-5                                 # of the comparisons; our release has pure eps
known=4                                    # records the attacker knows: one more than there are columns
many=200                                   # and a far better informed one
inputs=age,bmi,dose
bounds=age=18:90,bmi=16:46,dose=5:200      # public: what the clinic treats
units=age=5,bmi=2,dose=10                  # a change of this much is what eps protects
# What the search without protection is told: values spread around 8 by about 8, over 25 years, 10 BMI points and 50 mg.
# The private ones are told nothing.
prior="--mean 8 --signal-var 60 --noise-var 0.2"
lengthscales=25,10,50

served=
stop() {
    [ -z "$served" ] || kill "$served" 2>/dev/null || true
    [ -z "$served" ] || wait "$served" 2>/dev/null || true
    served=
}
finish() {
    code=$?
    stop
    [ "$code" = 0 ] || echo "demo: failed (exit code $code); logs are in $out/log" >&2
    exit "$code"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

[ -x "$tacet" ] || { echo "demo: $tacet is not there; 'make all' builds it" >&2; exit 1; }
if [ -e "$out" ] && [ ! -e "$out/.tacet-demo" ] && [ -n "$(ls -A "$out" 2>/dev/null)" ]; then
    echo "demo: $out has other things in it; name an empty folder" >&2
    exit 1
fi
rm -rf "$out"
mkdir -p "$out/log"
: >"$out/.tacet-demo"
out=$(cd "$out" && pwd)
cd "$out"
if [ -t 1 ]; then
    bold=$(printf '\033[1m')
    plain=$(printf '\033[0m')
else
    bold=
    plain=
fi
step() { printf '\n%s%s%s\n' "$bold" "$1" "$plain"; }
# field FILE NAME, list FILE NAME: the first number or word, or list of numbers, of that name in a result.
field() { grep -o "\"$2\":\"\{0,1\}[^],\"}]*" "$1" | sed -n '1s/^[^:]*:"\{0,1\}//p'; }
list() { grep -o "\"$2\":\[[^]]*" "$1" | sed -n '1s/^[^[]*\[//p'; }
short() { awk -v v="$1" 'BEGIN { printf "%.4g", v }'; }

serve() { # serve RELEASE: sets $url; keys/ must be there
    rm -f ready
    "$tacet" curator serve --release "$1" --keys keys --data patients.csv --target response --listen 127.0.0.1:0 \
        --ready-file ready >>log/curator.log 2>&1 &
    served=$!
    tries=0
    while [ ! -s ready ]; do
        kill -0 "$served" 2>/dev/null || { cat log/curator.log >&2; exit 1; }
        tries=$((tries + 1))
        [ "$tries" -lt 300 ] || { echo "demo: the curator does not answer" >&2; exit 1; }
        sleep 0.1
    done
    url=$(cat ready)
}
run_modeler() { # run_modeler NAME OPTIONS...: messages stay on a terminal, where the progress line is
    name=$1
    shift
    if [ -t 2 ]; then
        "$tacet" modeler run --url "$url" --keys keys/modeler --state "state-$name" --queries "$queries" --json "$@" >"$name.json"
    else
        "$tacet" modeler run --url "$url" --keys keys/modeler --state "state-$name" --queries "$queries" --json "$@" \
            >"$name.json" 2>"log/$name.log" || { cat "log/$name.log" >&2; exit 1; }
    fi
}
TACET_STATE=$PWD/state # what was released on this machine: here, a place of the demo's own
export TACET_STATE
curate() { # curate FOLDER OPTIONS...
    folder=$1
    shift
    "$tacet" curate --values-unprotected --data patients.csv --inputs $inputs --bounds $bounds --unit $units --eps $eps \
        --queries $queries --out "$folder" --json "$@" >"log/$folder.json" 2>>log/curate.log || { cat log/curate.log >&2; exit 1; }
}

step "1. The hospital: $records made-up patients, and a private version of them"
awk -v n=$records -f "$root/examples/patients.awk" >patients.csv
best=$(awk -F, 'NR > 1 && (NR == 2 || $4 > best) { best = $4; row = NR - 2 } END { print row, best }' patients.csv)
best_row=${best% *}
best_value=${best#* }
curate release
sigma=$(field log/release.json sigma)
awk -v s="$sigma" 'BEGIN { printf "Noise of every released number: %.1f years, %.1f BMI points, %.0f mg (standard deviation).\n", 5 * s, 2 * s, 10 * s }'
protects=$(sed -n 's/^  "protects": \(".*"\),$/\1/p' release/manifest.json)
uncovered=$(sed -n 's/^  "uncovered": \(".*"\),$/\1/p' release/manifest.json)
echo "Protected: $protects" | tr -d '"'
echo "Not protected: $uncovered" | tr -d '"'
"$tacet" curator init --dir keys >>log/curate.log

step "2. The consultant: $queries questions over TLS, row numbers out, measured values back"
serve release
echo "The curator, process $served, listens on $url."
run_modeler ours --page search.html
stop
ours=$(field ours.json best_value)
echo "Best patient found: row $(field ours.json best_row), response $(short "$ours"). Best of all $records: row $best_row, $best_value."

step "3. What was spent"
"$tacet" ledger verify --ledger release/ledger.db
"$tacet" ledger show --ledger release/ledger.db --json >ledger.json
echo "eps $(short "$(field ledger.json eps)") of $(short "$(field ledger.json budget_eps)"); answers without protection, as agreed: $(field ledger.json uncovered)."

step "4. The same search over Gaussian noise, without protection, by chance, and over the published mechanism"
# shellcheck disable=SC2086
"$tacet-lab" gp-ucb --data patients.csv --inputs $inputs --target response --queries $queries --lengthscale $lengthscales $prior \
    --beta-scale 0.2 --json >nonprivate.json 2>log/nonprivate.log || { cat log/nonprivate.log >&2; exit 1; }
# For comparison only, so these are not charged to the table: its budget is spent. A hospital decides for one of the two
# private releases, beforehand (tacet curate --dry-run).
curate release-gaussian --mechanism gaussian --delta $delta --new-budget "a comparison, on made-up patients" --ledger release-gaussian/ledger.db
serve release-gaussian
run_modeler gaussian
stop
curate release-published --delta $delta --mechanism published --dims 10 --i-know-this-is-not-private --ledger release-published/ledger.db
serve release-published
run_modeler published
stop
# 500 searches by chance: after each query the mean regret, and the range of the middle eight of ten.
awk -F, -v queries=$queries -v top="$best_value" '
    function uniform() { state = (state * 16807) % 2147483647; return state / 2147483647 }
    NR > 1 { value[n++] = $4 }
    END {
        state = 11; runs = 500
        for (k = 0; k < runs; k++) {
            least = 1e300
            for (t = 1; t <= queries; t++) {
                r = top - value[int(n * uniform())]
                if (r < least) least = r
                sum[t] += least; all[t, k] = least
            }
        }
        for (t = 1; t <= queries; t++) {
            for (k = 0; k < runs; k++) sorted[k] = all[t, k]
            for (i = 1; i < runs; i++) {
                v = sorted[i]
                for (j = i - 1; j >= 0 && sorted[j] > v; j--) sorted[j + 1] = sorted[j]
                sorted[j + 1] = v
            }
            m = m (t > 1 ? "," : "") sprintf("%.4g", sum[t] / runs)
            l = l (t > 1 ? "," : "") sprintf("%.4g", sorted[int(0.1 * runs)])
            u = u (t > 1 ? "," : "") sprintf("%.4g", sorted[int(0.9 * runs)])
        }
        printf "{\"mean\":[%s],\"lower\":[%s],\"upper\":[%s]}\n", m, l, u
    }' patients.csv >random.json
regret() { # regret NAME: of the best measured value after each query
    list "$1.json" values | tr ',' '\n' | awk -v top="$best_value" '
        NR == 1 || top - $1 < r { r = top - $1 } { printf "%s%.4g", (NR > 1 ? "," : ""), (r < 0 ? 0 : r) }'
}
regret_ours=$(regret ours)
regret_gaussian=$(regret gaussian)
regret_nonprivate=$(regret nonprivate)
regret_published=$(regret published)
regret_random=$(list random.json mean)
last() { echo "${1##*,}"; }
printf 'Regret after %s questions (points of response; the best patient has %s):\n' "$queries" "$best_value"
printf '  %-34s %8s   %s\n' "without protection" "$(last "$regret_nonprivate")" "the consultant sees every record" \
    "ours, eps $eps" "$(last "$regret_ours")" "differentially private, delta 0" \
    "ours, eps $eps, Gaussian noise" "$(last "$regret_gaussian")" "differentially private, delta $delta" \
    "published mechanism" "$(last "$regret_published")" "NOT DIFFERENTIALLY PRIVATE" \
    "by chance, mean of 500" "$(last "$regret_random")" "needs no records"
awk -v ours="$(last "$regret_ours")" -v low="$(last "$(list random.json lower)")" -v high="$(last "$(list random.json upper)")" 'BEGIN {
    printf "The band of chance, eight of ten such searches: %s to %s. Ours ended %s it.\n", low, high,
        ours + 0 < low + 0 ? "below" : ours + 0 <= high + 0 ? "inside" : "above" }'
sed -n 's/.*"words":"\([^"]*\)".*/What the consultant says of the values: \1./p' ours.json

step "5. The attack: whoever knows a few patients tries to compute all others from the release"
attack() { # attack NAME RELEASE KNOWN: a release that claims privacy and was read all the same ends the demo
    "$tacet" audit outsourced --release "$2" --data patients.csv --known "$3" --json >"attack-$1.json" 2>>log/attack.log ||
        { cat log/attack.log >&2; exit 1; }
    awk -v which="$2, $3 known" -v yes="$(field "attack-$1.json" succeeded)" -v part="$(field "attack-$1.json" recovered)" \
        -v rms="$(field "attack-$1.json" rms)" -v blind="$(field "attack-$1.json" blind)" 'BEGIN {
        printf "  %-28s %5.1f %% of records read; error %.3g units, %.0f %% of a guess without the release (%.3g)%s\n", which ":",
            100 * part, rms, 100 * rms / blind, blind, (yes == "true" ? ": EVERYTHING IS READ" : "") }'
}
attack published release-published $known
attack ours release $known
attack gaussian release-gaussian $known
attack informed release $many
awk -v s="$sigma" 'BEGIN { printf "  For comparison, the noise alone is an error of %.3g units: about there a patient can be located, and no record is read.\n", s * sqrt(3) }'

step "6. The report"
# shellcheck source=/dev/null
. "$root/examples/demo-report.sh" >report.json
"$tacet" report --in report.json --out report.html --svg figures >/dev/null
echo "$out/report.html          look at it in a browser; its charts are in figures/"
echo "$out/search.html          the consultant's view of the search; 'make demo-live' lets you watch one, with the hospital's desk"
echo "$out/ledger.json          what was spent; 'tacet ledger show --ledger $out/release/ledger.db'"
echo
echo "Next: docs/tutorials/your-own-table.md, with a table of your own."
