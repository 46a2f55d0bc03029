#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tutorials.sh - every ```sh and ```python block of docs/tutorials, as a reader copies it, one document in one shell, in a
# folder that looks like the clone. Each must end well, and the refusals they speak of must be refusals.
. "${TACET_SOURCE:?}/tests/support/e2e.sh"
need curl
export PYTHONPATH="$TACET_BIN/../python" MPLBACKEND=Agg
python=yes
/usr/bin/python3 -c 'import tacet.trusted, pandas, matplotlib' 2>/dev/null || { python=; echo "Python is left out: it needs make python, pandas and matplotlib"; }
count=0
for document in "$TACET_SOURCE"/docs/tutorials/*.md; do
    name=$(basename "$document" .md)
    if grep -q sklearn "$document" && ! /usr/bin/python3 -c 'import sklearn' 2>/dev/null; then
        echo "$name is left out: it needs scikit-learn"
        continue
    fi
    mkdir -p "$work/$name/build"
    ln -s "$TACET_SOURCE/examples" "$work/$name/examples"
    ln -s "$TACET_BIN" "$work/$name/build/bin"
    {
        # What a failed tutorial leaves running ends with it.
        # shellcheck disable=SC2016
        echo 'trap '\''kill $(jobs -p) 2>/dev/null || true'\'' EXIT'
        awk -v python=$python '
            /^```python$/ { if (python) { on = 2; print "/usr/bin/python3 - <<\47TUTORIAL\47" } next }
            /^```sh$/ { on = 1; next }
            /^```/ { if (on == 2) print "TUTORIAL"; on = 0 }
            on' "$document"
    } >"$work/$name/commands"
    grep -q tacet "$work/$name/commands" || fail "$name has no commands: the check is blind"
    (cd "$work/$name" && timeout 300 bash -eu commands >output 2>&1) || { cat "$work/$name/output" >&2; fail "$name: a command failed"; }
    count=$((count + 1))
    [ ! -e "$TACET_SOURCE/.git" ] || ! command -v git >/dev/null || git -C "$TACET_SOURCE" check-ignore --quiet --no-index "$name-tutorial/" ||
        fail ".gitignore does not have '$name-tutorial'"
    [ -d "$work/$name/$name-tutorial" ] || fail "$name leaves its files elsewhere than in $name-tutorial"
done
says() { grep -q "$2" "$work/$1/output" || { cat "$work/$1/output" >&2; fail "$1: the output has no '$2'"; }; }
if [ -e "$work/tuning/output" ]; then
    says tuning 'the same again'
    says tuning 'refused with exit code 3'
    says tuning 'printed 1 value for 1000 records'
    says tuning '"point":{"rate":'
    says tuning '^{"kind":"best".*"point":{"rate":[0-9.e-]*,"layers":[1-8],"optimizer":"[a-z]*"},"spent_eps":10'
fi
says service '20 suggested, 20 observed'
says service '"state":"observed"'
says service 'best action'
says service '<title>'
says devices 'refused with exit code 3'
says devices 'refused with exit code 1'
says devices '32 observed'
says devices '"kind":"best"'
says devices 'routes .*25 observed'
says devices '"weights":\['
says devices '"state":"observed"'
says devices 'no device that follows the rules'
says devices 'used before, for another report'
says devices 'may not report to this study'
says your-own-table 'DEPENDS ON THE RECORDS'
says your-own-table '100 % in the lowest 3 %.*crowded'
says your-own-table 'best measured   row'
says your-own-table 'refused with exit code 1'
says your-own-table 'refused with exit code 3'
pictures="your-own-table/report.html several-sites/search.html ab-log/decision.html service/account.html devices/light.svg"
[ ! -e "$work/tuning/output" ] || pictures="$pictures tuning/rate.svg"
for picture in $pictures; do # one chart each
    grep -q '<svg' "$work/${picture%/*}/${picture%/*}-tutorial/${picture#*/}" || fail "$picture has no chart"
done
[ -z "$python" ] || { [ -s "$work/ab-log/ab-log-tutorial/tablet.png" ] && [ -s "$work/your-own-table/your-own-table-tutorial/search.png" ]; } ||
    fail "Python drew nothing"
says your-own-table 'intact: '
says several-sites 'in the tables of several holders, is hidden less'
says several-sites 'holder 3 .*left out: no answer'
[ "$(grep -c '^asked           [24]0 rows' "$work/several-sites/output")" = 2 ] || fail "several-sites: not 20 and 40 rows"
says ab-log 'one table of 12 cells'
says ab-log 'refused with exit code 3'
[ "$(grep -c '^[BCD],0\.' "$work/ab-log/output")" -ge 3 ] || fail "ab-log: not three predictions"
for line in '^B,0' '^D,0' '^C,0'; do says ab-log "$line"; done
[ "$(grep -c '^best action [0-9]' "$work/ab-log/output")" = 3 ] || fail "ab-log: not three predictions of doses"
says ab-log 'intact: '
[ "$count" -ge 4 ] || fail "fewer than four tutorials"
echo "$count tutorials"
