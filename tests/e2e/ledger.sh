#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# ledger.sh - a ledger as a person sees it: filled until the budget refuses (exit code 3), shown, verified, exported,
# tampered with. The chain is recomputed from the export by another program's BLAKE2b, where there is one.
. "${TACET_SOURCE:?}/tests/support/e2e.sh"

ledger=$work/study.ledger
expect 0 "$TACET_BIN/bench_ledger" --ledger "$ledger" --entries 3 --charge 0.3
expect 0 "$tacet" ledger verify --ledger "$ledger" --json
head=$(sed 's/.*"head":"\([0-9a-f]*\)".*/\1/' "$work/out")
grep -q '"verdict":"intact"' "$work/out" || fail "not intact"
grep -q '"entries":3' "$work/out" || fail "not three entries"
# The tickets of the first run again: answered from the ledger, nothing charged; the fourth does not fit.
expect 0 "$TACET_BIN/bench_ledger" --ledger "$ledger" --entries 3 --charge 0.3
expect 3 "$TACET_BIN/bench_ledger" --ledger "$ledger" --entries 4 --charge 0.3
grep -q 'eps 0.3 asked, 0.9 of 1 spent' "$work/err" || fail "the refusal does not say why"
expect 0 "$tacet" ledger verify --ledger "$ledger" --head "$head"
grep -q "$head" "$work/out" || fail "the head changed although nothing was written"

expect 0 "$tacet" ledger show --ledger "$ledger"
[ "$(grep -c 'answered$' "$work/out")" = 3 ] || fail "show does not list three entries"
grep -q 'spent   eps 0.9 of 1' "$work/out" || fail "show does not say what was spent"
# What is printed of a budget is never less than it.
printf 'x\n1\n2\n3\n' >"$work/odd.csv"
expect 0 "$tacet" curate --values-unprotected --data "$work/odd.csv" --inputs x --bounds x=0:4 --unit x=1 --eps 0.3 --mechanism laplace \
    --budget-eps 1.0000001 --ledger "$work/odd.ledger" --out "$work/odd"
expect 0 "$tacet" ledger show --ledger "$work/odd.ledger"
grep -q '^that is eps 0.3, delta 0 of eps 1.00001, delta' "$work/out" || fail "a budget is rounded down: $(cat "$work/out")"
# A pure eps has a price for everybody, however large it is.
expect 0 "$tacet" device report --ticket r1 --value 0.5 --range 0:1 --eps 1 --ledger "$work/large.ledger" --budget-eps 100
expect 0 "$tacet" ledger show --ledger "$work/large.ledger"
grep -q 'k = 50: eps 5000' "$work/out" || fail "no price for fifty records: $(cat "$work/out")"
# Nor of a delta.
expect 0 "$tacet" curate --values-unprotected --data "$work/odd.csv" --inputs x --bounds x=0:4 --unit x=1 --eps 0.3 --delta 1.2345e-5 \
    --ledger "$work/delta.ledger" --new-budget "another delta" --out "$work/delta"
expect 0 "$tacet" ledger show --ledger "$work/delta.ledger"
grep -q '^that is eps 0.* of eps 0.3, delta 1.24e-05' "$work/out" || fail "a delta is rounded down: $(cat "$work/out")"
expect 0 "$tacet" ledger verify --ledger "$work/odd.ledger"
grep -q 'of eps 1.00001 at delta' "$work/out" || fail "a budget is rounded down by verify: $(cat "$work/out")"
expect 0 "$tacet" ledger show --ledger "$ledger" --json
grep -q '"list":\[{"seq":1,"kind":"reserve"' "$work/out" || fail "show --json has no list"

expect 0 "$tacet" ledger export --ledger "$ledger"
[ "$(wc -l <"$work/out")" = 7 ] || fail "export does not have seven records"
if command -v python3 >/dev/null; then
    python3 - "$work/out" "$head" <<'PY' || fail "the exported chain does not hold"
import hashlib, json, sys
previous = bytes(32)
for number, line in enumerate(open(sys.argv[1])):
    record = json.loads(line)
    assert record["seq"] == number and record["previous"] == previous.hex()
    previous = hashlib.blake2b(previous + bytes.fromhex(record["body"]), digest_size=32).digest()
    assert record["hash"] == previous.hex()
assert previous.hex() == sys.argv[2]
PY
fi

# Usage errors are 2, refusals 1, with a reason.
expect 2 "$tacet" ledger verify
expect 2 "$tacet" ledger verify --ledger "$ledger" --head abc
expect 1 "$tacet" ledger show --ledger "$work/missing"
expect 1 "$tacet" ledger verify --ledger "$ledger" --head "$(echo "$head" | tr '0-9a-f' '1-9a-f0')"
grep -q 'no record has the hash' "$work/err" || fail "a wrong head is not named"
printf 'x' | dd of="$ledger" bs=1 seek=20 conv=notrunc 2>/dev/null
size=$(wc -c <"$ledger")
dd if="$ledger" of="$work/cut" bs=1 count=$((size - 5000)) 2>/dev/null
expect 1 "$tacet" ledger verify --ledger "$work/cut" --json
grep -q '"status":"CORRUPT"' "$work/out" || fail "a cut file is not called corrupt"
expect 1 "$tacet" ledger show --ledger "$TACET_BIN/tacet"
echo "ok"
