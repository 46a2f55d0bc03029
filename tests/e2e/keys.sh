#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# keys.sh - the keys that the two servers make for themselves: who may read which, never replaced once in use, made anew
# where an attempt was interrupted.
. "${TACET_SOURCE:?}/tests/support/e2e.sh"
modes() { (cd "$1" && find . -type f -exec stat -c '%a %n' {} + | LC_ALL=C sort -k 2); }
umask 022

"$tacet" server init --dir "$work/server" >/dev/null
"$tacet" curator init --dir "$work/curator" --days 2 --host example.org,10.1.2.3 >/dev/null
modes "$work/server" >"$work/got"
printf '%s\n' '600 ./ca.key' '644 ./ca.pem' '600 ./server.key' '644 ./server.pem' >"$work/want"
cmp -s "$work/got" "$work/want" || fail "files of the server: $(cat "$work/got")"
modes "$work/curator" >"$work/got"
printf '%s\n' '600 ./ca.key' '644 ./ca.pem' '644 ./modeler/ca.pem' '600 ./modeler/client.key' '644 ./modeler/client.pem' \
    '600 ./modeler/token' '600 ./receipt.key' '644 ./receipt.ring' '600 ./server.key' '644 ./server.pem' '600 ./token.hash' >"$work/want"
cmp -s "$work/got" "$work/want" || fail "files of the curator: $(cat "$work/got")"

for program in server curator; do
    dir=$work/$program
    cp -r "$dir" "$work/before"
    code=0
    "$tacet" $program init --dir "$dir" >/dev/null 2>"$work/err" || code=$?
    { [ "$code" -eq 1 ] && grep -q 'keys in use are not replaced' "$work/err"; } || fail "$program: keys in use are made anew"
    diff -r "$dir" "$work/before" || fail "$program: keys in use were changed"
    # Interrupted: the other file cannot be written, so that ca.key, the last, is not there.
    other=$dir/server.key
    [ $program = server ] || other=$dir/modeler/token
    rm "$dir/ca.key" "$other"
    mkdir "$other"
    ! "$tacet" $program init --dir "$dir" >/dev/null 2>&1 || fail "$program: a key that cannot be written is not missed"
    [ ! -e "$dir/ca.key" ] || fail "$program: keys that are not whole count as in use"
    rmdir "$other"
    "$tacet" $program init --dir "$dir" >/dev/null || fail "$program: an interrupted attempt cannot be repeated"
    [ -s "$dir/ca.key" ] || fail "$program: no ca.key"
    for file in ca.pem server.pem server.key; do
        cmp -s "$dir/$file" "$work/before/$file" && fail "$program: $file is of the interrupted attempt"
    done
    for words in '--days 0' '--days 36501' '--host a,,b'; do
        code=0
        # shellcheck disable=SC2086
        "$tacet" $program init --dir "$work/none" $words >/dev/null 2>&1 || code=$?
        { [ "$code" -eq 2 ] && [ ! -e "$work/none" ]; } || fail "$program: '$words' is not refused"
    done
    rm -r "$work/before"
done
echo "keys are made, kept and not replaced"
