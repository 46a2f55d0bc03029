#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# start.sh - tacet start, by a person at a terminal and by a script: a table of categories, dates and holes is released,
# served and searched with no refusal; a log becomes a model. Nothing from the table is proposed as a bound.
. "${TACET_SOURCE:?}/tests/support/e2e.sh"
need python3
cd "$work"
PATH="$bin:$PATH"
export TACET_STATE="$work/state"
person() { # TRANSCRIPT ANSWERS COMMAND...
    python3 "$TACET_SOURCE/tests/support/terminal.py" "$@" 2>"$work/err" || fail "the terminal ended with $?: $(tail -n 30 "$1" 2>/dev/null)"
}
# Eight columns; the largest age is 87, which must not show up as a bound.
awk 'BEGIN { srand(3); print "name,age,bmi,sex,income,visit,centre,response"
    for (i = 0; i < 300; i++) { age = 19 + int(rand() * 69); dose = int(rand() * 3)
        printf "P%d,%s,%s,%s,%d,2022-%02d-%02d,%s,%.3f\n", i, i % 17 ? age : "", i % 13 ? sprintf("%.1f", 18 + rand() * 20) : "NA",
            i % 11 ? (rand() < 0.5 ? "female" : "male") : "?", 2000 * exp(2 * rand()), 1 + int(rand() * 12), 1 + int(rand() * 28),
            dose == 0 ? "north" : dose == 1 ? "south" : "east", 10 * exp(-((age - 50) / 20) ^ 2) + dose } }' >clinic.csv
printf '%s\t%s\n' 'is the outcome' response 'Kind:' skip 'Kind:' '' 'Least and largest' 0:120 'Unit' 10 'Kind:' '' \
    'Least and largest' '120:0' 'two numbers with LO below HI' 10:70 'Unit' '' 'Kind:' '' 'Levels' '' 'Kind:' log 'Least and largest' 500:500000 \
    'Unit' '' 'Kind:' '' 'Earliest and latest' 2022-01-01:2022-12-31 'Unit' '2 weeks' 'Kind:' '' 'Levels' 'north|south|east' \
    'Which eps' 2 'How many outcomes' 20 'Release it' 4 'Release it' yes >typed
person said typed "$bin/tacet" start clinic.csv
[ "$(grep -c '^  > ' said)" -le $((3 * 8 + 4)) ] || fail "$(grep -c '^  > ' said) questions for eight columns"
# Presets: the public one of ages, the tenth of given bounds; of the other bounds none, and no value of the table.
grep -q 'Public: ages of people. \[0:120\]' said || fail "no public bounds of ages"
[ "$(grep -c 'Least and largest.*\[' said)" -le 3 ] && ! grep -q 'LO:HI? \[' said || fail "a bound is proposed: $(grep 'Least and' said)"
! grep -q '87\]\|:87\|north.*\[' said || fail "a value of the table is proposed"
grep -q 'only at eps = ' said && grep -q 'noise in the columns' said || fail "no preview"
# The plan ends in an answer: a verdict, or a band of what there is to gain.
[ "$(grep -c '\(Worth it\|Not worth it\|Not clearly worth it\): at eps = [24] a search ends at [0-9]* ± [0-9]* % of the regret\|A small gain, if any: without privacy 20 queries end between [0-9]* and [0-9]* %\|Even without privacy 20 queries gain less than a tenth' said)" = 2 ] ||
    fail "no plan for each eps: $(grep -A2 'made-up functions under' said)"
# The second eps counts, everywhere.
grep -q -e '--eps 4' clinic-study/commands.sh && ! grep -q -e '--eps 2' clinic-study/commands.sh || fail "commands.sh: $(cat clinic-study/commands.sh)"
grep -q '^eps = 4$' clinic-study/answers.txt || fail "answers.txt: $(cat clinic-study/answers.txt)"
tacet ledger show --ledger clinic.csv.ledger.db --json >ledger && [ "$(number eps ledger)" = 4.0 ] || fail "the ledger: $(cat ledger)"
# What it printed for each party runs as it stands, on another port.
serve=$(sed -n 's/^#   \(tacet curator serve .*\)/\1/p' clinic-study/commands.sh)
search=$(sed -n 's/^#   \(tacet modeler run .*\)/\1/p' clinic-study/commands.sh)
grep -qF "  $serve" said && grep -qF "  $search" said || fail "what is printed is not what is written"
sh -c "exec $serve --listen 127.0.0.1:0 --ready-file address" >server.log 2>&1 &
server=$!
await address
sh -c "$(echo "$search" | sed "s,https://localhost:8443,$url,") --json" >result || fail "the search: $(cat result)"
[ "$(number best_row result)" -ge 0 ] || fail "no best row: $(cat result)"
kill "$server"

# The same by a script, and by the commands it wrote: each on a machine of its own.
mkdir other third
cp clinic.csv other; cp clinic.csv third
(cd other && TACET_STATE="$work/other/state" tacet start clinic.csv --answers ../clinic-study/answers.txt --yes >said) || fail "--yes"
cmp clinic-study/commands.sh other/clinic-study/commands.sh && cmp clinic-study/space.json other/clinic-study/space.json || fail "another space or script"
mkdir third/clinic-study && cp clinic-study/space.json third/clinic-study
(cd third && TACET_STATE="$work/third/state" sh ../clinic-study/commands.sh >said 2>err) || fail "commands.sh does not run: $(cat third/err)"
[ -s third/clinic-study/release/release.csv ] && [ -s third/clinic-study/keys/modeler/token ] || fail "commands.sh made no release"

# A table without outcomes: a person measures, and what is printed is a command all the same.
mkdir fourth && cp clinic.csv fourth
sed 's/^target = .*/target = none/' clinic-study/answers.txt >none.txt && echo 'response.kind = skip' >>none.txt
(cd fourth && TACET_STATE="$work/fourth/state" tacet start clinic.csv --answers ../none.txt --yes >said) || fail "no outcomes"
serve=$(sed -n 's/^#   \(tacet curator serve .*\)/\1/p' fourth/clinic-study/commands.sh)
sh -c "$serve --options" >out 2>err || fail "$serve: $(cat err)"

# Without a terminal it says what to give; missing answers, and cells that cannot be read, are told all at once.
expect 2 "$bin/tacet" start clinic.csv --out none
grep -q -e '--yes' err || fail "no way without a terminal: $(cat err)"
grep -v '^eps\|^sex.levels\|^age.bounds' clinic-study/answers.txt >some
expect 2 "$bin/tacet" start clinic.csv --out none --answers some --yes
grep -q 'age.bounds, sex.levels, eps' err || fail "missing answers: $(cat err)"
awk -F, 'BEGIN { OFS = "," } NR == 5 { $2 = "old" } NR == 9 { $6 = "May" } NR == 20 { $8 = "high" } { print }' clinic.csv >bad.csv
expect 1 "$bin/tacet" start bad.csv --answers clinic-study/answers.txt --yes
grep -q "line 5, column 'age'" err && grep -q "line 9, column 'visit'" err && grep -q "line 20, column 'response'" err && grep -q '^tacet start: 3 cells' err ||
    fail "bad cells: $(cat err)"
! grep -q 'old\|May' err || fail "a value is in the message"
expect 1 "$bin/tacet" curate --values-unprotected --data bad.csv --space clinic-study/space.json --eps 1 --out none
grep -q "line 5, column 'age'" err && grep -q "line 9, column 'visit'" err && grep -q '^tacet curate: 2 cells' err || fail "curate, bad cells: $(cat err)"
[ ! -e bad.csv.ledger.db ] || fail "something was charged"
expect 2 "$bin/tacet" start clinic.csv --answers clinic-study/answers.txt --yes
grep -q 'is there already' err || fail "a release is overwritten: $(cat err)"

# A person who is interrupted goes on: what was said stands in brackets. What fits nothing is told, and never the value.
awk -F, 'BEGIN { OFS = "," } { print NR == 1 ? "" : NR, $2, NR == 1 ? $4 : $4 == "male" ? "Male" : "Female", $8 }' clinic.csv >again.csv
printf '%s\t%b\n' 'is the outcome' nosuch 'There are: .age. .sex. .response.' response 'Kind:' '' 'Least and' 0:120 'Unit' 7 'Kind:' '\003' | tr . "'" >typed
! python3 "$TACET_SOURCE/tests/support/terminal.py" said typed "$bin/tacet" start again.csv || fail "not interrupted"
grep -q '1 of 4 has no name, and is left out' said || fail "a column without a name: $(cat said)"
printf '%s\t%s\n' 'is the outcome' '' 'Kind:' '' 'Least and' '' 'Unit' '' 'Kind:' '' 'Levels' '' 'Which eps' 1 'How many' 301 \
    'from 1 to 300' 20 'Release it' no >typed
! python3 "$TACET_SOURCE/tests/support/terminal.py" said typed "$bin/tacet" start again.csv || fail "no is yes"
grep -q 'age.unit = 7' again-study/answers.txt && grep -q 'must stay hidden? \[7\]' said && ! grep -q '^go' again-study/answers.txt ||
    fail "what was said is lost: $(cat said again-study/answers.txt)"
grep -q "for you alone, column 'sex': nearly all are none of its levels" said || fail "no word of levels that fit nothing: $(cat said)"
# A yes is never taken from a file. Where a person measures, what is printed for the curator runs as it stands.
printf 'go = yes\ntarget = none\nresponse.kind = skip\n' >some
grep -v '^target' again-study/answers.txt >>some
printf 'Release it\tyes\n' >typed
person said typed "$bin/tacet" start again.csv --answers some
sh -c "exec $(sed -n 's/^#   \(tacet curator serve .*\)/\1/p' again-study/commands.sh | sed 's/:8444/:0/') --listen 127.0.0.1:0 --ready-file address-2" >server.log 2>&1 &
server=$!
await address-2
kill "$server"
# Columns whose names a file of answers would misread: what is written is read again.
awk 'BEGIN { print "#id,dose=mg,response"; for (i = 0; i < 60; i++) printf "%d,%d,%d\n", i, i * 7 % 50, i * i % 9 }' >odd.csv
printf '%s\n' '"#id.kind" = skip' '"dose=mg.kind" = number' '"dose=mg.bounds" = 0:50' 'target = response' 'eps = 2' 'queries = 10' >odd
"$bin/tacet" start odd.csv --answers odd --yes >said 2>err || fail "odd names: $(cat err)"
grep -qx '"#id.kind" = skip' odd-study/answers.txt && grep -q '"dose=mg"' odd-study/space.json || fail "odd names: $(cat odd-study/answers.txt)"
cp odd.csv third
(cd third && TACET_STATE="$work/third/state" tacet start odd.csv --answers ../odd-study/answers.txt --yes >said 2>err) || fail "its own answers are not read: $(cat third/err)"
cmp odd-study/space.json third/odd-study/space.json || fail "another space from the same answers"
printf 'a;b\n1;2\n' >semicolons.csv
expect 1 "$bin/tacet" start semicolons.csv --answers some --yes
grep -q 'save the table with commas' err || fail "semicolons: $(cat err)"
mkdir file && : >file/in
expect 1 "$bin/tacet" start again.csv --answers some --yes --out file/in
grep -q 'name another folder' err || fail "a file for a folder: $(cat err)"

# A log.
awk 'BEGIN { srand(4); print "variant,device,click"; for (i = 0; i < 3000; i++) { v = int(rand() * 3); d = rand() < 0.5
    printf "%s,%s,%d\n", substr("ABC", v + 1, 1), d ? "phone" : "desktop", rand() < 0.1 + 0.3 * (v == (d ? 1 : 2)) } }' >visits.csv
printf '%s\t%s\n' 'the action' variant 'the reward' click 'possible reward' 0:1 'Kind:' '' 'All levels' 'A|B|C' 'Kind:' '' 'Levels' 'phone|desktop' \
    'Which eps' 1 'Release it' yes >typed
person said typed "$bin/tacet" start --log visits.csv
tacet predict --model visits-model/model.json --context phone --json >out || fail "no prediction"
grep -q '"B"' out || fail "not variant B: $(cat out)"
tacet predict --model visits-model/model.json --context device=phone --json | sed 's/"seconds.*//' >named
sed 's/"seconds.*//' out | cmp - named || fail "a context by name: $(cat named)"
expect 2 "$bin/tacet" predict --model visits-model/model.json
grep -q '1 value: device (phone | desktop' err || fail "which levels are there: $(cat err)"

# Nothing for good by accident: what speaks against it is said; on a terminal no is no, elsewhere --yes is needed.
head -n 4 visits.csv >few.csv
visits="--data few.csv --levels variant=A|B|C,device=phone|desktop --actions variant --contexts device --reward click --range 0:1"
against() { # WORDS FILE COMMAND...: FILE is what it would have made
    words=$1 made=$2
    shift 2
    ! "$bin/tacet" "$@" >out 2>err </dev/null || fail "$1 was done unasked"
    grep -q "$words" err && grep -q -e 'nothing was done; --yes' err || fail "$1: $(cat err)"
    printf 'all the same\tno\n' >typed
    ! python3 "$TACET_SOURCE/tests/support/terminal.py" said typed "$bin/tacet" "$@" || fail "$1: no is yes"
    grep -q "$words" said && [ ! -e "$made" ] || fail "$1 was done: $(cat said)"
    expect 0 "$bin/tacet" "$@" --yes
    [ -e "$made" ] || fail "$1 --yes made nothing"
}
awk 'BEGIN { print "v"; for (i = 0; i < 90; i++) print i / 90 }' >plain.csv
against 'nothing will be found under it' noisy curate --values-unprotected --data plain.csv --inputs v --bounds v=0:1 --unit v=1 --eps 0.1 --out noisy
# Whoever leaves at the first question is told that, and asked and told nothing more.
printf 'Which column is the outcome\t\004\n' >typed
! python3 "$TACET_SOURCE/tests/support/terminal.py" said typed "$bin/tacet" start plain.csv --out left || fail "an answer was made up"
grep -q 'stopped; nothing was released' said && ! grep -q 'eps says' said || fail "left at once: $(cat said)"
# shellcheck disable=SC2086
against 'nothing will be told apart' few.json learn $visits --eps 0.1 --out few.json
against 'next to nothing' store study create --store store --name faint --trust central --bounds x=0:1 --eps 0.001 --rounds 1000
printf '#!/bin/sh\nread -r x\nprintf "0.5\\n0.25\\n0.75\\n1\\n"\n' >score && chmod +x score
against 'a setting at random' tune.state tune --bounds x=0:1 --evaluate ./score --records 4 --range 0:1 --evaluations 4 --eps 0.1 --kept 0
"$bin/tacet" study best --store store --study faint 2>err && fail "a best point of nothing"
grep -q 'the first sum needs the reports of [0-9]* rounds, of which 0 were suggested' err || fail "how many rounds are needed: $(cat err)"
echo "a person and a script get from a table to a release, and from a log to a model"
