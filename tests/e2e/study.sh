#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# study.sh - a study without a server: every policy goes on from where another kind of processor left it, by its
# snapshot and by its log; models released by a study are read by `tacet predict`; what is refused.
. "${TACET_SOURCE:?}/tests/support/e2e.sh"
store=$work/studies
study() { expect 0 "$bin/tacet" study "$@" --store "$store" --json; }
# 9 arms of a grid without a header, best at (0.8, 0.5); some of them twice, so that scores tie.
awk 'BEGIN { for (k = 0; k < 2; k++) for (i = 0; i < 3; i++) for (j = 0; j < 3; j++) print 0.2 + 0.3 * i "," 0.2 + 0.3 * j }' >"$work/arms.csv"
awk 'BEGIN { print "x,y"; for (i = 0; i < 4; i++) for (j = 0; j < 4; j++) print i / 3 "," j / 3 }' >"$work/points.csv"

study create --name sets --trust central --eps 300 --yes --delta 0.1 --sets 0:1,0:1 --lengthscale 0.5 --rounds 60
study create --name levels --trust central --eps 300 --yes --delta 0.1 --sets 0:1,0:1,0:1 --field domain.levels=[2,2,0] --lengthscale 0.7 --rounds 60
study create --name list --trust central --policy fixed --eps 10 --delta 0.1 --points "$work/points.csv" --inputs x,y --lengthscale 0.5 --rounds 100
study create --name least --trust central --eps 300 --yes --delta 0.1 --sets 0:1,0:1 --lengthscale 0.5 --rounds 60 --minimize
study create --name device --trust local --eps 4 --points "$work/points.csv" --inputs x,y --lengthscale 0.5 --rounds 60
study create --name proven --trust local --eps 4 --points "$work/points.csv" --inputs x,y --lengthscale 0.5 --rounds 60 --field prior.bound=2
grep -q 'heavy tails' "$work/err" || fail "a proven width, and no word on heavy tails"
for policy in tgp ata moma; do
    study create --name "$policy" --trust local --policy "$policy" --eps 4 --points "$work/points.csv" --inputs x,y --lengthscale 0.5 --rounds 400
done
study create --name visits --trust central --policy contextual --eps 30 --yes --points "$work/points.csv" --inputs x,y --bounds age=0:1 --contexts age --rounds 100
study create --name own --trust local --policy statistics --eps 4 --sets 0:1,0:1 --lengthscale 0.5 --rounds 100
# A field is put where the definition has it, and what a definition does not have is refused.
"$bin/tacet" study create --store "$store" --name fields --trust central --eps 300 --yes --delta 0.1 --sets 0:1 --lengthscale 0.7 --field options.ticket_seconds=7 \
    --field description=plain --field prior.typical_reward=.25 --json >"$work/fields"
python3 - "$work/fields" <<'END'
import json, sys
made = json.load(open(sys.argv[1]))["created"]
assert made["options"]["ticket_seconds"] == 7 and made["description"] == "plain" and made["prior"]["typical_reward"] == .25, made
END
for field in nonsense options.nonsense=1 nowhere.eps=1 options.ticket_seconds=soon; do
    expect 2 "$bin/tacet" study create --store "$store" --name no --trust central --eps 300 --yes --delta 0.1 --sets 0:1 --lengthscale 0.7 \
        --field "$field"
done
expect 2 "$bin/tacet" study create --store "$store" --name no --trust local --eps 4 --points "$work/points.csv" --inputs x,y --lengthscale 0.5 --field options.parameters=tight
grep -q 'bound' "$work/err" || fail "a proven width without a bound"

# What the action returned: 1 less the distance from (0.8, 0.5); devices of local studies report an end of the range.
round() { # NAME OPTIONS...
    name=$1
    shift
    study suggest --study "$name" "$@"
    ticket=$(text ticket)
    reward=$(sed -n 's/.*"action": *\[\([^]]*\)\].*/\1/p' "$work/out" | awk -F, '{ a = $1 - 0.8; b = $2 - 0.5; print 1 - sqrt(a * a + b * b) }')
    case $name in
    device | tgp | ata | moma | proven) reward=$("$bin/tacet" device report --ledger "$work/device.db" --budget-eps 100000 --ticket "$ticket" --eps 4 --range 0:1 --mechanism hybrid --value "$reward" --json 2>/dev/null | sed -n 's/.*"report": *\([-0-9.e+]*\).*/\1/p') ;;
    esac
    [ "$name" != own ] || reward=$((i * 40)) # one of 256 directions: its decision set stays on the device
    study observe --study "$name" --ticket "$ticket" --value "$reward"
}
cores="Haswell Nehalem Zen"
i=0
while [ $i -lt 6 ]; do
    for OPENBLAS_CORETYPE in $cores; do
        export OPENBLAS_CORETYPE
        round sets --decision-set "$work/arms.csv"
        [ $((i % 2)) -ne 0 ] || round least --decision-set "$work/arms.csv"
        round list
        round list
        round visits --context "0.$i"
        round own
        [ $i -ne 0 ] || for name in device proven tgp ata moma; do round "$name"; done
    done
    i=$((i + 1))
done
awk 'BEGIN { for (i = 0; i < 8; i++) print i % 2 "," int(i / 2) % 2 "," 0.1 * i }' >"$work/mixed.csv"
for OPENBLAS_CORETYPE in $cores; do
    export OPENBLAS_CORETYPE
    round levels --decision-set "$work/mixed.csv"
    for name in sets visits own; do
        study status --study "$name"
        reports=18
        [ "$name" != visits ] || reports= # who reported in a contextual study is shown to nobody
        [ "$(number suggested)" = 18 ] && [ "$(number observed)" = "$reports" ] || fail "$name: $(number suggested) suggested, $(number observed) observed"
    done
    study status --study sets
    [ "$(number reports_left)" -le "$(number rounds)" ] || fail "a batch that lacks more reports than it has"
    [ "$(number eps)" = 300.0 ] || [ "$(number eps)" = 300 ] || fail "eps $(number eps)"
    # Models: of the three, the same prediction.
    for name in sets least list; do
        study release --study "$name" --out "$work/$name.json"
        expect 0 "$bin/tacet" predict --model "$work/$name.json" --json
        sed -n 's/.*"action": *\(\[[^]]*\]\).*/\1/p' "$work/out" >"$work/$name.$OPENBLAS_CORETYPE"
        cmp -s "$work/$name.$OPENBLAS_CORETYPE" "$work/$name.Haswell" || fail "$name predicts otherwise on $OPENBLAS_CORETYPE"
    done
    study snapshot
done
unset OPENBLAS_CORETYPE
sed 's/[][]//g' "$work/sets.Zen" | awk -F, '{ a = $1 - 0.8; b = $2 - 0.5; exit !(a * a + b * b < 0.2) }' || fail "the model's best is $(cat "$work/sets.Zen")"
sed 's/[][]//g' "$work/least.Zen" | awk -F, '{ a = $1 - 0.8; b = $2 - 0.5; exit !(a * a + b * b > 0.2) }' || fail "the least is $(cat "$work/least.Zen")"
# Refused: a ticket with another value, a file with a header, a set for a list, an unknown study.
expect 1 "$bin/tacet" study observe --store "$store" --study sets --ticket "$ticket" --value 0.123
expect 2 "$bin/tacet" study suggest --store "$store" --study sets --decision-set "$work/points.csv"
grep -q 'no header' "$work/err" || fail "a header was taken for an arm"
expect 2 "$bin/tacet" study suggest --store "$store" --study list --decision-set "$work/arms.csv"
expect 2 "$bin/tacet" study suggest --store "$store" --study sets
expect 1 "$bin/tacet" study status --store "$store" --study nobody
expect 0 "$bin/tacet" store check --store "$store"
# A ledger that was put back to before a release that the log rests on: nothing is drawn a second time.
unset OPENBLAS_CORETYPE
awk 'BEGIN { print "x"; for (i = 0; i < 8; i++) print i / 8 }' >"$work/fixed.csv"
store=$work/back
expect 0 "$bin/tacet" study create --store "$store" --name fixed --trust central --policy fixed --eps 1 --delta 1e-5 --rounds 60 --points "$work/fixed.csv" --inputs x --lengthscale 0.2
cp "$store/ledger-fixed.db" "$work/older.db"
i=0
until "$bin/tacet" study release --store "$store" --study fixed --out "$work/first.json" >/dev/null 2>&1; do
    [ "$i" -lt 60 ] || fail "no batch was released"
    expect 0 "$bin/tacet" study suggest --store "$store" --study fixed --json
    echo 0.5 | "$bin/tacet" study observe --store "$store" --study fixed --ticket "$(sed 's/.*"ticket":"\([^"]*\)".*/\1/' "$work/out")" --value - >/dev/null || fail "a value from stdin"
    i=$((i + 1))
done
cp "$store/ledger-fixed.db" "$work/newer.db"
cp "$work/older.db" "$store/ledger-fixed.db"
expect 1 "$bin/tacet" store check --store "$store"
grep -q 'put back' "$work/err" || fail "a ledger that was put back is not found: $(cat "$work/err")"
expect 1 "$bin/tacet" study release --store "$store" --study fixed --out "$work/second.json"
expect 1 "$bin/tacet" study suggest --store "$store" --study fixed
cmp -s "$work/older.db" "$store/ledger-fixed.db" || fail "something was drawn again"
cp "$work/newer.db" "$store/ledger-fixed.db"
expect 0 "$bin/tacet" study release --store "$store" --study fixed --out "$work/second.json"
cmp -s "$work/first.json" "$work/second.json" || fail "another model"
echo "study: ok"
