#!/bin/sh
# joint_study.sh - a joint-DP study from files: rounds, a released model, predictions by a program that never saw the
# rounds; and what is refused: old states, damage, tickets twice.
set -eu
bin=${TACET_BIN:?}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "joint_study: $*"; exit 1; }
run() { # CODE ARGS...
    want=$1
    shift
    code=0
    "$@" >"$tmp/out" 2>"$tmp/err" </dev/null || code=$?
    [ "$code" -eq "$want" ] || { cat "$tmp/out" "$tmp/err"; fail "'$*' exited with $code, expected $want"; }
}
number() { sed -n "s/.*\"$1\":\([-0-9.e+]*\).*/\1/p" "$tmp/out"; }
study=$tmp/study
# 16 arms on a grid, best at (0.8, 0.4).
awk 'BEGIN { print "dose,age"; for (i = 0; i < 4; i++) for (k = 0; k < 4; k++) print 0.2 + 0.2 * i "," 20 + 20 * k }' >"$tmp/arms.csv"
round() { # one round with all arms; the reward is 1 - distance from (0.8, 40)
    run 0 "$bin/tacet" joint suggest --study "$study" --set "$tmp/arms.csv" --json
    ticket=$(number ticket)
    reward=$(awk -F, -v at="$(number index)" 'NR == at + 2 { a = $1 - 0.8; b = ($2 - 40) / 100; print 1 - sqrt(a * a + b * b) }' "$tmp/arms.csv")
    run 0 "$bin/tacet" joint observe --study "$study" --ticket "$ticket" --reward "$reward"
}

run 2 "$bin/tacet" joint init --study "$study" --arms dose,age --bounds 0:1 --lengthscale 0.4,40 --eps 10
run 2 "$bin/tacet" joint init --study "$study" --arms dose,dose --bounds 0:1,0:1 --lengthscale 0.4 --eps 10
run 2 "$bin/tacet" joint init --study "$study" --arms dose --bounds 0:1 --lengthscale 0 --eps 10
run 1 "$bin/tacet" joint suggest --study "$study" --set "$tmp/arms.csv"
[ ! -e "$study" ] || fail "a refused study left a folder"
run 0 "$bin/tacet" joint init --study "$study" --arms dose,age --bounds 0:1,0:100 --lengthscale 0.4,40 --eps 300 --delta 0.1 --rounds 30 --set-size 16 --json
run 1 "$bin/tacet" joint init --study "$study" --arms dose,age --bounds 0:1,0:100 --lengthscale 0.4,40 --eps 300 --delta 0.1
run 1 "$bin/tacet" release-model --study "$study" --out "$tmp/model.json"
[ ! -e "$tmp/model.json" ] || fail "a model before anything was released"
[ "$(stat -c %a "$study/state")" = 600 ] || fail "the state can be read by others"

round
run 1 "$bin/tacet" joint observe --study "$study" --ticket 1 --reward 0.5
grep -q 'already reported' "$tmp/err" || fail "a ticket was taken twice"
run 1 "$bin/tacet" joint observe --study "$study" --ticket 9 --reward 0.5
run 1 "$bin/tacet" joint suggest --study "$study" --set "$tmp/missing.csv"
echo 'dose,weight' >"$tmp/other.csv"
run 1 "$bin/tacet" joint suggest --study "$study" --set "$tmp/other.csv"
cp "$study/state" "$tmp/old"
i=0
while [ $i -lt 20 ]; do
    round
    i=$((i + 1))
done
run 0 "$bin/tacet" joint status --study "$study" --json
[ "$(number releases)" -ge 3 ] || fail "$(number releases) releases"

# A state older than what was released must not go on.
cp "$study/state" "$tmp/newest"
cp "$tmp/old" "$study/state"
run 1 "$bin/tacet" joint suggest --study "$study" --set "$tmp/arms.csv"
grep -q 'older than what was released' "$tmp/err" || fail "an old state went on"
run 1 "$bin/tacet" release-model --study "$study" --out "$tmp/model.json"
head -c 3000 "$tmp/newest" >"$study/state"
run 1 "$bin/tacet" joint suggest --study "$study" --set "$tmp/arms.csv"
cp "$tmp/newest" "$study/state"
# Nor under a changed definition: less noise than was paid for.
sed 's/"eps": 300.0/"eps": 3000.0/' "$study/study.json" >"$tmp/study.json"
cmp -s "$tmp/study.json" "$study/study.json" && fail "the definition was not changed"
cp "$study/study.json" "$tmp/right.json"
cp "$tmp/study.json" "$study/study.json"
run 1 "$bin/tacet" joint suggest --study "$study" --set "$tmp/arms.csv"
cp "$tmp/right.json" "$study/study.json"

# The model: repeatable, free, stamped, and asked by a program that has only the file.
run 0 "$bin/tacet" release-model --study "$study" --out "$tmp/model.json" --json
grep -q '"private":true' "$tmp/out" || fail "the model is not stamped private"
[ "$(number rounds)" -ge 10 ] || fail "the model is of $(number rounds) rounds"
run 0 "$bin/tacet" release-model --study "$study" --out "$tmp/again.json"
cmp -s "$tmp/model.json" "$tmp/again.json" || fail "the same model came out differently"
for file in "$study/study.json" "$tmp/model.json"; do
    [ "$(tail -c 1 "$file" | wc -l)" -eq 1 ] || fail "${file##*/} does not end with a newline"
done
run 0 "$bin/tacet" ledger verify --ledger "$study/ledger.db" --json
run 0 "$bin/tacet" ledger show --ledger "$study/ledger.db" --json
[ "$(number entries)" = 1 ] || fail "the model was charged again"
mkdir "$tmp/elsewhere"
cp "$tmp/model.json" "$tmp/arms.csv" "$tmp/elsewhere"
mv "$study" "$tmp/gone"
run 0 "$bin/tacet" joint predict --model "$tmp/elsewhere/model.json" --set "$tmp/elsewhere/arms.csv" --arms dose,age --json
best=$(number index)
awk -F, -v at="$best" 'NR == at + 2 { a = $1 - 0.8; b = ($2 - 40) / 100; exit !(a * a + b * b < 0.3) }' "$tmp/arms.csv" ||
    fail "the model takes row $best for the best"
run 2 "$bin/tacet" joint predict --model "$tmp/model.json" --set "$tmp/arms.csv" --arms dose
run 1 "$bin/tacet" joint predict --model "$tmp/arms.csv" --set "$tmp/arms.csv" --arms dose,age
mv "$tmp/gone" "$study"
round # and it goes on
echo "joint_study: ok"
