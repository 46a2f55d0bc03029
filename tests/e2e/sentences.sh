#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# sentences.sh - what help, README, FAQ and manuals say in words or numbers is what the program does: each sentence is read
# where it stands and compared with what the program prints.
. "${TACET_SOURCE:?}/tests/support/e2e.sh"
cd "$TACET_SOURCE" || fail "no sources"
says() { # says FILE WORDS: over the ends of lines
    tr -s ' \n' '  ' <"$1" | grep -qF -- "$2" || fail "$1 does not say: $2"
}
field() { # field NAME FILE: of JSON, the first of that name
    python3 - "$1" "$2" <<'P'
import json, sys
def find(node):
    if isinstance(node, dict):
        if sys.argv[1] in node:
            return node[sys.argv[1]]
        node = list(node.values())
    for part in node if isinstance(node, list) else []:
        found = find(part)
        if found is not None:
            return found
print(find(json.load(open(sys.argv[2]))))
P
}

# A central study is charged as its batches end: nothing when it is created, something after enough rounds.
"$tacet" study create --store "$work/st" --name trial --trust central --sets 0:1 --lengthscale 0.3 --eps 100 --yes --delta 1e-5 --rounds 200 >/dev/null || fail "no study"
entries() { "$tacet" ledger show --ledger "$work/st/ledger-trial.db" --json >"$work/account" && field entries "$work/account"; }
[ "$(entries)" = 0 ] || fail "creating a study is charged $(entries) times"
printf '0.1\n0.5\n0.9\n' >"$work/arms.csv"
for _ in $(seq 15); do
    "$tacet" study suggest --store "$work/st" --study trial --decision-set "$work/arms.csv" --json >"$work/s" 2>/dev/null || fail "no suggestion"
    "$tacet" study observe --store "$work/st" --study trial --ticket "$(field ticket "$work/s")" --value 0.5 >/dev/null 2>&1 || fail "no report"
done
[ "$(entries)" -ge 1 ] || fail "fifteen rounds ended no batch"
"$tacet" study create --help-all >"$work/help"
says "$work/help" "charged as its batches end"
says docs/tutorials/service.md "charged as its batches end"
says docs/service.md "charged as its batches end"
for file in "$work/help" docs/*.md docs/tutorials/*.md README.md src/central/README.md web/src/*.ts src/service/*/*/*.c; do
    ! tr -s ' \n' '  ' <"$file" | grep -qiE "charged now, once|charge was made when the study was created|charged before the first|charged once for" || fail "$file: a study is charged when it is created"
done

# What rounds of one person cost, as status prints it.
"$tacet" study create --store "$work/st" --name one --trust central --sets 0:1 --lengthscale 0.3 --eps 1 --delta 1e-5 --rounds 200 >/dev/null || fail "no study"
"$tacet" study status --store "$work/st" --study one --json >"$work/status"
says docs/service.md "eps $(printf '%.6g' "$(field 2 "$work/status")") for 2 rounds and eps $(printf '%.6g' "$(field 50 "$work/status")") for 50"
"$tacet" ledger show --ledger "$work/st/ledger-one.db" | grep -q '^budget for a person behind k records or rounds, by group privacy alone: k = 2: eps 2, delta ' ||
    fail "the ledger's own bound"

# Up to how many numbers l2 noise is taken in a batch.
few=$(sed -n 's/.*TACET__FEW_MOST = \([0-9]*\).*/\1/p' src/central/open/shape.h)
says src/central/README.md "Up to $few numbers"

# Which mechanism a release gets by itself, what it would have had, and what the manifest names.
table() { # table D: D columns
    awk -v d="$1" 'BEGIN { for (j = 1; j <= d; j++) printf("%sc%d", (j > 1 ? "," : ""), j); print ""; for (i = 0; i < 20; i++) { for (j = 1; j <= d; j++) printf("%s%d", (j > 1 ? "," : ""), (i * j) % 7); print "" } }' >"$work/t$1.csv"
    inputs=$(head -1 "$work/t$1.csv")
    bounds=$(echo "$inputs" | sed 's/,/=0:7,/g; s/$/=0:7/')
    units=$(echo "$inputs" | sed 's/,/=1,/g; s/$/=1/')
}
drawn() { # drawn D MORE...: the JSON of a dry run into $work/drawn
    local d=$1
    shift
    table "$d"
    "$tacet" curate --data "$work/t$d.csv" --inputs "$inputs" --bounds "$bounds" --unit "$units" --eps 1 "$@" --dry-run --json \
        --ledger "$work/t$d.db" --out "$work/r" >"$work/drawn" 2>/dev/null || fail "no dry run of $d columns"
}
for d in 3 50; do
    drawn $d
    [ "$(field mechanism "$work/drawn")" = laplace ] || fail "without a delta $d columns get $(field mechanism "$work/drawn")"
    pure=$(printf '%.3g' "$(field sigma "$work/drawn")")
    drawn $d --delta 1e-5
    [ "$(field mechanism "$work/drawn")" = l2 ] || fail "with a delta $d columns get $(field mechanism "$work/drawn")"
    says docs/faq.md "$(printf '%.3g' "$(field sigma "$work/drawn")") $([ $d = 3 ] && echo "per column ")instead of $pure in $([ $d = 3 ] && echo three || echo fifty)"
done
says docs/faq.md 'Without `--delta` that is `laplace`'
says docs/faq.md 'With `--delta` it is `l2`'
table 3
for delta in "" "--delta 1e-5"; do
    # shellcheck disable=SC2086
    "$tacet" curate --values-unprotected --data "$work/t3.csv" --inputs "$inputs" --bounds "$bounds" --unit "$units" --eps 1 $delta --new-budget "a test" \
        --ledger "$work/m${delta:+d}.db" --out "$work/m${delta:+d}" >/dev/null 2>&1 || fail "no release"
done
! grep -q '"considered"' "$work/m/manifest.json" && grep -q '"considered"' "$work/md/manifest.json" || fail "what a manifest names"
says README.md 'with `--delta` several are considered, and the manifest names the others'
says docs/tutorials/your-own-table.md 'with `--delta` the manifest says what the others would have had (`considered`)'

# Defaults of a study: kernel and candidates, in the API's table, in Python, and in what is stored.
echo '{"columns":[{"name":"x","kind":"real","bounds":[0,1]}]}' >"$work/space.json"
"$tacet" study create --store "$work/st" --name space --trust central --space "$work/space.json" --eps 1 --delta 1e-5 --rounds 20 >/dev/null || fail "no study over a space"
"$tacet" study status --store "$work/st" --study space --json >"$work/over_space"
says docs/API.md "\`kernel\` (\`$(field kernel "$work/over_space")\` over a space, else \`$(field kernel "$work/status")\`)"
says docs/API.md "\`candidates\` ($(field candidates "$work/over_space"))"
says python/tacet-trusted/tacet/trusted/studies.py "candidates: int | None = None" # the program's own default
echo "sentences: help, README, FAQ, tutorials, service and API say what the program does"
