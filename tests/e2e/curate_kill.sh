#!/bin/bash
# curate_kill.sh - `tacet curate` ended with kill -9 at seeded moments, and started again each time with the same command.
# However often: one entry in the ledger, charged once, and a release that is whole; at no moment
# is there a release.csv that is not.
set -eu
RANDOM=3
rows=100000
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
    echo "curate_kill.sh: $1" >&2
    exit 1
}
awk -v n=$rows -v OFS=, 'BEGIN { print "a,b,c"; for (i = 0; i < n; i++) print i % 97, i % 13, i % 7 }' >"$work/data.csv"
curate() {
    exec "$TACET_BIN/tacet-curator" curate --data "$work/data.csv" --inputs a,b,c --bounds a=0:97,b=0:13,c=0:7 --radius 9 --eps 2 \
        --out "$work/out" --ledger "$work/out/ledger.db" --json
}
whole() { # whole: what lies there is a complete release
    [ "$(wc -l <"$work/out/release.csv")" = $((rows + 1)) ] || fail "a release that is not whole"
    [ -e "$work/out/manifest.json" ] || fail "a release without its manifest"
}
killed=0
for ((k = 0; k < 60 && killed < 30; k++)); do
    (curate) >"$work/json" 2>"$work/err" &
    pid=$!
    sleep "0.$((RANDOM % 2))$((RANDOM % 10))"
    kill -9 "$pid" 2>/dev/null || true
    code=0
    wait "$pid" 2>/dev/null || code=$?
    case $code in
        137) killed=$((killed + 1)) ;;
        0) [ -e "$work/out/release.csv" ] || fail "no release" ;;
        *) fail "exit code $code: $(cat "$work/err")" ;;
    esac
    if [ -e "$work/out/release.csv" ]; then # came through before its kill: from the beginning
        whole
        rm -r "$work/out"
    fi
done
[ "$killed" -ge 5 ] || fail "only $killed kills came in time"
(curate) >"$work/json" 2>"$work/err" || fail "the last run: $(cat "$work/err")"
whole
code=0
(curate) >/dev/null 2>"$work/err" || code=$?
[ "$code" = 1 ] && grep -q 'drawn already' "$work/err" || fail "it can be drawn twice: exit code $code"
"$TACET_BIN/tacet-ledger" ledger verify --ledger "$work/out/ledger.db" --json >"$work/json" || fail "the ledger does not verify"
grep -q '"entries":1[,}]' "$work/json" || fail "not one entry: $(cat "$work/json")"
echo "came through after $killed kills"
