#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# bad_input.sh - what people get wrong, over all programs: each gives one line on stderr that names the fault (and, for wrong
# usage, a second one that points to --help), the exit code of the front door's list, nothing on stdout, and leaves no file.
. "${TACET_SOURCE:?}/tests/support/e2e.sh"
mkdir "$work/in"
cd "$work/in"
awk -f "${TACET_SOURCE:?}/examples/patients.awk" >people.csv
: >empty.csv
head -n 1 people.csv >header.csv
printf 'age,bmi,dose,response\n30,20,x,4\n' >letters.csv
printf 'age,bmi,dose,response\n30,20,3\n' >short.csv
printf 'age,age,dose,response\n30,20,3,4\n' >twice.csv
printf 'dose,age,outcome\n1,20,0.5\n2,30,0.6\n' >log.csv
echo '{' >broken.json
echo '[1, 2]' >array.json
mkdir folder

# wrong CODE WORDS ARGS...: exits with CODE, says WORDS.
count=0
wrong() {
    want=$1
    words=$2
    shift 2
    code=0
    ls -A >"$work/before"
    front=$tacet
    case $1 in simulate | repro | noise | gp-ucb) front=$tacet-lab ;; esac
    timeout 60 "$front" "$@" >"$work/out" 2>"$work/err" </dev/null || code=$?
    ls -A >"$work/after"
    [ "$code" -eq "$want" ] || fail "'$*' exited with $code, expected $want"
    [ ! -s "$work/out" ] || fail "'$*' wrote to stdout"
    cmp -s "$work/before" "$work/after" || fail "'$*' left something behind"
    grep -v "explains the options" "$work/err" >"$work/said" || true
    [ "$(grep -c . "$work/said")" -eq 1 ] || fail "'$*' did not say one line"
    head -n 1 "$work/err" | grep -q '^tacet' || fail "'$*' does not say who speaks"
    head -n 1 "$work/err" | grep -qF -- "$words" || fail "'$*' does not say '$words'"
    count=$((count + 1))
}

wrong 2 "no command 'frobnicate'" frobnicate
wrong 2 'which one? show, verify, export' ledger
wrong 2 "no command 'foo'" simulate foo
wrong 2 '--data FILE,… is required' curate

# shellcheck disable=SC2086
curate() {
    want=$1
    words=$2
    table=$3
    shift 3
    wrong "$want" "$words" curate --values-unprotected --data "$table" --inputs age,bmi,dose --bounds age=18:90,bmi=16:46,dose=5:200 "$@"
}
unit="--unit age=5,bmi=2,dose=10"
# shellcheck disable=SC2086
{
    curate 1 'No such file' none.csv $unit --eps 3 --out r
    curate 1 'empty' empty.csv $unit --eps 3 --out r
    curate 1 'no records' header.csv $unit --eps 3 --out r
    curate 2 'must be a file' folder $unit --eps 3 --out r
    curate 1 "column 'dose': not a number" letters.csv $unit --eps 3 --out r
    curate 1 '3 fields' short.csv $unit --eps 3 --out r
    curate 1 "two columns are called 'age'" twice.csv $unit --eps 3 --out r
    curate 2 'eps must be above 0' people.csv $unit --eps 0 --out r
    curate 2 "'nan' is not" people.csv $unit --eps nan --out r
    curate 2 "'1e400' is not" people.csv $unit --eps 1e400 --out r
    curate 2 'from 1e-100 to 1e100' people.csv $unit --eps 1e300 --out r
    curate 2 'delta must be above 0 and below 1' people.csv $unit --eps 3 --delta 1 --mechanism gaussian --out r
    curate 2 'delta must be at least 0 and below 1' people.csv $unit --eps 3 --delta 2 --out r
    curate 2 'here it is --eps' people.csv $unit --sigma 3 --out r
    curate 2 "'0,5' is not a finite number" people.csv $unit --eps 0,5 --out r
    curate 2 'pure eps, so there is none to give' people.csv $unit --eps 3 --mechanism laplace --delta 1e-5 --out r
    curate 2 'is none of auto, gaussian, laplace' people.csv $unit --eps 3 --mechanism Laplace --out r
    curate 2 'is none of auto, gaussian, laplace' people.csv $unit --eps 3 --mechanism projection --out r
    curate 2 '--eps is given twice' people.csv $unit --eps 3 --eps 4 --out r
    curate 2 "'99999999999999999999' is not" people.csv $unit --eps 3 --queries 99999999999999999999 --out r
    curate 1 'cannot make the folder' people.csv $unit --eps 3 --out people.csv
    curate 2 'unknown option --bogus' people.csv $unit --eps 3 --out r --bogus
    curate 2 'names no column of the space' people.csv --unit weight=5 --eps 3 --out r
    curate 2 'every column needs a unit' people.csv --eps 3 --out r
    curate 1 'not differentially private' people.csv $unit --eps 3 --out r --mechanism published --dims 2
}
age="--inputs age --unit age=5 --eps 3 --out r"
# shellcheck disable=SC2086
{
    wrong 2 'a file is given by --data' curate people.csv $age --bounds age=18:90
    wrong 2 "'age=17' is not NAME=LOWER:UPPER (numbers, with a decimal point" curate --values-unprotected --data people.csv $age --bounds age=17,5:90
    wrong 2 'a category has --levels' curate --values-unprotected --data people.csv $age --bounds age=young:old
    wrong 2 "'old' is not NAME=LEVEL|LEVEL" curate --values-unprotected --data people.csv $age --levels age=young,old
}
wrong 1 "no column is called 'weight'" curate --values-unprotected --data people.csv --inputs weight --bounds weight=1:2 --unit weight=1 --eps 3 --out r
wrong 2 "'age' is named twice" curate --values-unprotected --data people.csv --inputs age,age --bounds age=18:90 --unit age=5 --eps 3 --out r
wrong 2 'lower below the upper' curate --values-unprotected --data people.csv --inputs age --bounds age=90:18 --unit age=5 --eps 3 --out r

# shellcheck disable=SC2086
"$tacet" curate --values-unprotected --data people.csv --inputs age --bounds age=18:90 --unit age=5 --eps 1 --out once >/dev/null || fail "no release"
wrong 2 '--eps-output E, or --values-unprotected' curate --data people.csv --inputs age --bounds age=18:90 --unit age=5 --eps 1 --out r
wrong 1 'drawn already' curate --values-unprotected --data people.csv --inputs age --bounds age=18:90 --unit age=5 --eps 1 --out again
wrong 3 'budget' curate --values-unprotected --data people.csv --inputs age --bounds age=18:90 --unit age=5 --eps 1 --out again --ticket again
[ -e once/release.csv ] && [ -e once/ledger.db ] || fail "a refusal took something from an earlier release"

wrong 1 'manifest.json' audit outsourced --release folder --data people.csv --known 5
wrong 2 "no target 'foo'" audit foo
wrong 2 'TICKET' curator answer q abc --release folder
wrong 1 'server.pem' curator serve --release folder --keys none --data people.csv --target response
wrong 1 'ca.pem' modeler run --url https://127.0.0.1:1 --keys folder --state s --queries 3 --lengthscale 1
wrong 2 'scale' calibrate gaussian --eps 1
wrong 2 'delta must be' calibrate gaussian --eps 1 --delta 1
wrong 2 'scale must be' noise gaussian --scale 0 --count 3
wrong 1 'none.db' ledger show --ledger none.db
wrong 1 'not a database' ledger verify --ledger people.csv
wrong 2 'eps must be' device report --ticket a --value 1 --range 0:1 --eps 0 --ledger d --budget-eps 1
wrong 2 'the reward is not a number' device report --ticket a --value nan --range 0:1 --eps 1 --ledger d --budget-eps 1
wrong 2 '--ticket has' device report --ticket '' --value 1 --range 0:1 --eps 1 --ledger d --budget-eps 1
wrong 2 'LO below HI' device report --ticket a --value 1 --range 1:0 --eps 1 --ledger d --budget-eps 1

central="--trust central --delta 1e-6 --sets 0:5,18:90 --lengthscale 1.5,30"
# shellcheck disable=SC2086
{
    wrong 2 'must be above 0' study create --store s --name j $central --eps 0
    wrong 2 "'rounds' must be from 1 to" study create --store s --name j $central --eps 1 --rounds 99999999999999
    wrong 2 "'rounds' must be from 1 to" study create --store s --name j $central --eps 1 --rounds 0
    wrong 2 "policy 'contextual' does" study create --store s --name j --trust central --eps 1 --bounds x=0:1,age=18:90 --contexts age --range 0:1
    wrong 2 'nor does another one of local trust' study create --store s --name j --trust local --eps 1 --bounds x=0:1,age=18:90 --contexts age --range 0:1
    wrong 2 '--trust is required' study create --store s --name j --eps 1 --bounds x=0:1
    wrong 2 '--name NAME is required' study create --store s --trust local --eps 1 --bounds x=0:1
    wrong 2 'at most 1000' study create --store s --name j $central --eps 1e15
}
wrong 2 'people.csv: line 1' study suggest --store none --study none --decision-set people.csv
wrong 1 'none' study status --store none --study none
wrong 1 'broken.json' predict --model broken.json --context 3
wrong 1 'array.json' predict --model array.json --context 3
wrong 2 'here it is --evaluations' tune --bounds x=0:1 --evaluate ./none --records 4 --range 0:1 --n-trials 4
columns="--actions dose --contexts age --reward outcome --range 0:1 --bounds 0:5,18:90"
# shellcheck disable=SC2086
{
    wrong 2 'the largest value is looked for' learn --data log.csv $columns --eps 1 --minimise --out m.json
    wrong 2 '--eps must be above 0' learn --data log.csv $columns --eps 0 --out m.json
    wrong 1 "no column is called 'outcome'" learn --data people.csv $columns --eps 1 --out m.json
}
wrong 1 'none.json' report --in none.json --out r.html
wrong 1 'Is a directory' report --in folder --out r.html
wrong 2 'delta' study create --store s --name ok --trust central --field options.person_rounds=2 --eps 1 --lengthscale 1 --sets 0:1
wrong 2 'at least 2' study create --store s --name ok --trust local --eps 1 --lengthscale 1 --points header.csv --inputs age
wrong 1 'none/open.db' study token --store none --role device
wrong 1 'none/open.db' store check --store none
wrong 1 'none' store backup --store none --out copy
wrong 1 'server.pem' collector --store none --keys none
wrong 2 '--eps is a list' plan outsourced --eps 1,1
wrong 2 "'0' is not" plan outsourced --rows 0
wrong 2 "'0' is not" repro outsourced-table-1 --trials 0
wrong 2 'needs --datasets DIR' repro outsourced-table-4
wrong 2 'eps must be' simulate outsourced --eps 0 --trials 1
wrong 2 '--world is' simulate central --world foo --trials 1
wrong 2 '1 to 32 columns' simulate central --world drawn --category 65 --eps 1 --trials 1
wrong 2 'eps must be' simulate local --eps 0 --trials 1
wrong 2 '--lengthscale' gp-ucb --data people.csv --inputs age --target response --lengthscale 0 --queries 3

# A central study that was refused for its numbers can be made with others.
# shellcheck disable=SC2086
"$tacet" study create --store s --name j $central --eps 1 >"$work/out" || fail "a study cannot be made after a refusal"
echo "$count wrong invocations"
