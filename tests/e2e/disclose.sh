#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# disclose.sh - the registry's entry and the label of a release; a signed receipt that one changed bit of any part breaks;
# a proof of one entry; keys that rotate and are revoked.
. "${TACET_SOURCE:?}/tests/support/e2e.sh"
ledger=$TACET_BIN/tacet-ledger
refused() { # refused WORDS COMMAND...: fails, saying so
    local words=$1
    shift
    if "$@" >"$work/out" 2>&1; then fail "accepted: $*"; fi
    grep -q "$words" "$work/out" || fail "says '$(cat "$work/out")', not '$words'"
}
flip() { # flip FILE BYTE BIT
    python3 - "$1" "$2" "$3" <<'P'
import sys
path, at, bit = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
data = bytearray(open(path, "rb").read())
data[at] ^= 1 << bit
open(path, "wb").write(data)
P
}
awk 'BEGIN { print "age,bmi"; for (i = 0; i < 50; i++) print 20 + i "," 18 + i % 20 }' >"$work/t.csv"
"$TACET_BIN/tacet-curator" init --dir "$work/keys" >/dev/null
"$TACET_BIN/tacet-curator" curate --values-unprotected --data "$work/t.csv" --inputs age,bmi --bounds age=0:100,bmi=10:60 --unit age=5,bmi=2 --eps 1 \
    --mechanism laplace --out "$work/r" --ledger "$work/r/ledger.db" >/dev/null 2>&1 || fail "no release"

# The registry's entry is valid by the registry's own schema, which is not ours to keep a copy of: its path is
# TACET_REGISTRY_SCHEMA. What nobody said is said to be not stated.
schema=${TACET_REGISTRY_SCHEMA:-$TACET_SOURCE/../shared/data/registry/deployments-schema.yaml}
checker=no
[ -r "$schema" ] && python3 -c 'import jsonschema, yaml' 2>/dev/null && checker=yes
[ $checker = yes ] || echo "disclose.sh: entries are not validated: TACET_REGISTRY_SCHEMA, python3-jsonschema or python3-yaml is missing"
valid() { # valid FILE: by the schema; true where that cannot be told
    [ $checker = no ] || python3 - "$schema" "$1" <<'P'
import sys, jsonschema, yaml
schema, entry = (yaml.safe_load(open(p, encoding="utf-8")) for p in sys.argv[1:])
found = sorted(str(e.message) for e in jsonschema.Draft7Validator(schema, format_checker=jsonschema.FormatChecker()).iter_errors(entry))
sys.exit("\n".join(found) if found else 0)
P
}
echo '{"name":"Ward \"7\"","data_curators":"Example Hospital; Example University","data_product_sector":"Healthcare"}' >"$work/facts.json"
"$tacet" disclose "$work/r" --format registry --facts "$work/facts.json" >"$work/entry.yaml" || fail "no entry"
valid "$work/entry.yaml" || fail "the entry of a release is not valid"
grep -q '^url_slug: "ward-7"$' "$work/entry.yaml" || fail "the slug: $(grep slug "$work/entry.yaml")"
grep -q '^    name: "Ward \\"7\\""$' "$work/entry.yaml" || fail "the name: $(grep name: "$work/entry.yaml")"
grep -q '^    data_curators: \["Example Hospital", "Example University"\]$' "$work/entry.yaml" || fail "the curators"
grep -q '^    variant_name: "Pure DP"$' "$work/entry.yaml" || fail "the variant"
grep -q '^    data_product_region: "not stated"$' "$work/entry.yaml" || fail "the region"
grep -q 'Spent by the ledger: epsilon 1, of ' "$work/entry.yaml" || fail "what was spent"
if [ $checker = yes ]; then # the validator can fail
    for wrong in '/^    name:/d' 's/^    variant_name: .*/    variant_name: "perfect"/' 's/^tier: .*/tier: "two"/' 's/^deployment:/guarantee: {}\ndeployment:/'; do
        sed "$wrong" "$work/entry.yaml" >"$work/wrong.yaml"
        ! valid "$work/wrong.yaml" 2>/dev/null || fail "valid after '$wrong'"
    done
fi
echo '{"eps":"0.1"}' >"$work/bad.json" # what the program knows is not people's to say
refused "no field that people fill in" "$tacet" disclose "$work/r" --format registry --facts "$work/bad.json"
echo '{"tier":"4"}' >"$work/bad.json"
refused "one of" "$tacet" disclose "$work/r" --format registry --facts "$work/bad.json"

# The label: odds of a pure eps of 1 are e/(1+e).
"$tacet" disclose "$work/r" --format label >"$work/label" || fail "no label"
grep -q 'at most 73.2 times in 100' "$work/label" || fail "the odds: $(cat "$work/label")"
grep -q 'by one unit .* at eps = 1, .* becoming any other, only at eps = [0-9.]*[1-9]\.' "$work/label" || fail "the label has one eps only"
"$tacet" disclose "$work/r" --format html >"$work/label.html" || fail "no page"
# The bar is as long as the sentence says; sections are closed.
said=$(sed -n 's/.*at most \([0-9.]*\) times in 100.*/\1/p' "$work/label.html")
grep -q "aria-label=\"$said of 100\".*width=\"$(awk "BEGIN { printf \"%.1f\", 6 * $said }")\" y=\"3\"" "$work/label.html" || fail "the bar does not show $said"
[ "$(grep -o '<section>' "$work/label.html" | wc -l)" = "$(grep -o '</section>' "$work/label.html" | wc -l)" ] || fail "sections"
grep -q '<h1>Privacy label</h1>' "$work/label.html" || fail "no HTML"

# A release over a space names its columns in their own units; a study has the same two pages, from what its status says.
awk 'BEGIN { print "income,seen,sex"; for (i = 0; i < 60; i++) print 2000 + 9 * i ",2021-0" 1 + i % 9 "," (i % 2 ? "f" : "m") }' >"$work/s.csv"
cat >"$work/typed.json" <<'JSON'
{"columns":[{"name":"income","kind":"log","bounds":[1000,60000],"unit":"10%"},{"name":"seen","kind":"date","bounds":["2021-01","2021-12"],"unit":"30 days"},
{"name":"sex","kind":"category","levels":["f","m"]}]}
JSON
"$TACET_BIN/tacet-curator" curate --values-unprotected --data "$work/s.csv" --space "$work/typed.json" \
    --eps 1 --out "$work/typed" >/dev/null 2>&1 || fail "no typed release"
"$tacet" disclose "$work/typed" --format registry >"$work/typed.yaml" || fail "no entry of a typed release"
valid "$work/typed.yaml" || fail "the entry of a typed release is not valid"
grep -q 'income 1000 to 60000, seen 2021-01-01 to 2021-12-01, sex f|m"$' "$work/typed.yaml" || fail "columns: $(grep domain: "$work/typed.yaml")"
grep -q 'mechanisms: .* sex kept with probability' "$work/typed.yaml" || fail "the levels' mechanism: $(grep mechanisms: "$work/typed.yaml")"
for trust in central local; do
    more=$([ $trust = local ] || echo "--delta 1e-6")
    # shellcheck disable=SC2086
    "$tacet" study create --store "$work/st" --name $trust --trust $trust --eps 1.2345678 $more --bounds x=0:10 --rounds 50 >/dev/null || fail "no study"
    "$tacet" study status --store "$work/st" --study $trust --json >"$work/status" || fail "no status"
    "$tacet" disclose "$work/status" --format registry >"$work/study.yaml" || fail "no entry of a $trust study"
    valid "$work/study.yaml" || fail "the entry of a $trust study is not valid"
    grep -q "^    model_name_details: \"$trust: " "$work/study.yaml" && grep -q 'columns: x 0 to 10"$' "$work/study.yaml" || fail "the entry: $(cat "$work/study.yaml")"
    "$tacet" disclose "$work/status" >"$work/label" || fail "no label of a $trust study"
    grep -q 'at most 77.5 times in 100 with it (eps = 1.23457,' "$work/label" || fail "the odds of a $trust study: $(cat "$work/label")"
    [ $trust = central ] || grep -q 'A cleared browser is a new device' "$work/label" || fail "no word of cleared browsers"
done
grep -q 'From everybody, the collector' "$work/label" || fail "from whom: $(cat "$work/label")"
"$tacet" study status --store "$work/st" --study central --json >"$work/status"
"$tacet" disclose "$work/status" --ledger "$work/st/ledger-central.db" | grep -q 'The ledger has 0 entries' || fail "no ledger of a study"
# Above eps 7 a tenth of a time does not tell the odds from certainty.
sed 's/"eps":1.2345678[0-9]*/"eps":10.0/g' "$work/status" >"$work/weak"
"$tacet" disclose "$work/weak" | grep -q 'and at most 99.996 times in 100 with it (eps = 10,' || fail "the odds of eps 10"
sed 's/"eps":1.2345678[0-9]*/"eps":80.0/g' "$work/status" >"$work/weak"
"$tacet" disclose "$work/weak" | grep -q 'and may be right every time with it (eps = 80,' || fail "the odds of eps 80"
sed 's/"proven":true/"proven":false/' "$work/status" >"$work/unproven"
refused "no proven guarantee" "$tacet" disclose "$work/unproven"
refused "study status" "$tacet" disclose "$work/r/manifest.json"
refused "unexpected argument" "$tacet" disclose "$work/status" "$work/r"

# A model that was learnt from a log: both pages from its file; its releases must be in the ledger.
awk 'BEGIN { print "dose,age,effect"; srand(7); for (i = 0; i < 3000; i++) { d = rand(); a = rand(); print d "," a "," 0.2 + 0.5 * d * a } }' >"$work/log.csv"
for name in one two; do
    "$tacet" learn --data "$work/log.csv" --actions dose --contexts age --reward effect --bounds 0:1,0:1 --range 0:1 --eps 1 \
        --out "$work/$name.json" --ledger "$work/$name.db" --new-budget "a test" >/dev/null || fail "no model"
done
"$tacet" disclose "$work/one.json" --ledger "$work/one.db" --format registry >"$work/model.yaml" || fail "no entry of a model"
valid "$work/model.yaml" || fail "the entry of a model is not valid"
grep -q '^    variant_name: "Pure DP"$' "$work/model.yaml" || fail "the entry: $(cat "$work/model.yaml")"
"$tacet" disclose "$work/one.json" --ledger "$work/one.db" >"$work/label" || fail "no label of a model"
grep -q 'at most 73.2 times in 100' "$work/label" && grep -q 'action' "$work/label" && grep -q 'The ledger has 1 entr' "$work/label" ||
    fail "the label: $(cat "$work/label")"
refused "another ledger" "$tacet" disclose "$work/one.json" --ledger "$work/two.db"
refused "unexpected argument" "$tacet" disclose "$work/one.json" "$work/status"

# A receipt holds, and one changed bit of any part breaks it.
"$ledger" ledger sign --ledger "$work/r/ledger.db" --keys "$work/keys" --release "$work/r" \
    --out "$work/r/receipt.json" || fail "no receipt"
verify() { "$ledger" ledger verify --receipt "$work/r/receipt.json" --ring "$work/keys/receipt.ring" "$@"; }
verify --json >"$work/out" || fail "the receipt does not hold: $(cat "$work/out")"
grep -q '"verdict":"intact","key":"[0-9a-f]*","key_known":true,' "$work/out" || fail "verify says $(cat "$work/out")"
grep -q '"manifest_checked":true,"release_checked":true,"ledger_checked":true' "$work/out" || fail "not all was checked: $(cat "$work/out")"
size=$(wc -c <"$work/r/receipt.json")
cp "$work/r/receipt.json" "$work/receipt.kept"
for ((at = 0; at < size; at += 23)); do
    flip "$work/r/receipt.json" "$at" $((at % 8))
    if verify >/dev/null 2>&1; then fail "bit $((at % 8)) of byte $at of the receipt does not matter"; fi
    cp "$work/receipt.kept" "$work/r/receipt.json"
done
size=$(wc -c <"$work/r/manifest.json")
cp "$work/r/manifest.json" "$work/manifest.kept"
for ((at = 0; at < size; at += 311)); do
    flip "$work/r/manifest.json" "$at" 0
    if verify >/dev/null 2>&1; then fail "byte $at of the manifest does not matter"; fi
    cp "$work/manifest.kept" "$work/r/manifest.json"
done
size=$(wc -c <"$work/r/release.csv")
cp "$work/r/release.csv" "$work/release.kept"
for ((at = 0; at < size; at += 97)); do
    flip "$work/r/release.csv" "$at" 0
    if verify >/dev/null 2>"$work/err"; then fail "byte $at of the released rows does not matter"; fi
    grep -q "released rows" "$work/err" || fail "the rows are not named: $(cat "$work/err")"
    cp "$work/release.kept" "$work/r/release.csv"
done
python3 - "$work/r/ledger.db" <<'P' # a text of a record
import sys
path = sys.argv[1]
data = bytearray(open(path, "rb").read())
at = data.rindex(b"release of 50 records")
data[at] ^= 1
open(sys.argv[1] + ".flipped", "wb").write(data)
P
refused "record" verify --ledger "$work/r/ledger.db.flipped"
verify >/dev/null || fail "the receipt does not hold after all was put back"

# One entry, and nothing of the others.
"$ledger" ledger prove --ledger "$work/r/ledger.db" --keys "$work/keys" --receipt "$work/r/receipt.json" --entry 1 \
    --out "$work/proof.json" || fail "no proof"
mkdir "$work/away" && cp "$work/r/receipt.json" "$work/away/"
"$ledger" ledger verify --receipt "$work/away/receipt.json" --proof "$work/proof.json" --json >"$work/out" || fail "the proof does not hold"
grep -q '"what":"release of 50 records"' "$work/out" || fail "the proof shows $(cat "$work/out")"
flip "$work/proof.json" 40 1
if "$ledger" ledger verify --receipt "$work/away/receipt.json" --proof "$work/proof.json" >/dev/null 2>&1; then
    fail "a changed proof holds"
fi

# Keys: another ring does not know the key, the next pair is signed by the one before, a revoked key is worth nothing.
"$ledger" ledger keys --dir "$work/others" >/dev/null
refused "not in the ring" "$ledger" ledger verify --receipt "$work/r/receipt.json" --ring "$work/others/receipt.ring"
refused "in use" "$ledger" ledger keys --dir "$work/others"
"$ledger" ledger keys --dir "$work/keys" --rotate >/dev/null || fail "no rotation"
verify >/dev/null || fail "an older receipt is not accepted after a rotation"
"$ledger" ledger sign --ledger "$work/r/ledger.db" --keys "$work/keys" --release "$work/r" \
    --out "$work/r/second.json" || fail "no receipt by the next key"
"$ledger" ledger verify --receipt "$work/r/second.json" --ring "$work/keys/receipt.ring" >/dev/null || fail "the next key is not known"
key=$(sed 's/.*"key":"\([0-9a-f]*\)","made".*/\1/; t; d' "$work/others/receipt.ring")
first=$(grep -o '"key":"[0-9a-f]*"' "$work/keys/receipt.ring" | head -1 | cut -d'"' -f4)
[ "$key" != "$first" ] || fail "two rings have one key"
"$ledger" ledger keys --dir "$work/keys" --revoke "$first" >/dev/null || fail "no revocation"
refused "revoked" "$ledger" ledger verify --receipt "$work/r/receipt.json" --ring "$work/keys/receipt.ring"
