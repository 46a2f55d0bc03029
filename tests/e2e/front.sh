#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# front.sh - the front door as a newcomer meets it: help, exit codes, wrong commands; every command of every program has a
# help that names its options and can be typed as its usage line says; manual pages are there and clean.
. "${TACET_SOURCE:?}/tests/support/e2e.sh"

quiet_out() { [ ! -s "$work/out" ] || fail "$1 wrote to stdout"; }
quiet_err() { [ ! -s "$work/err" ] || fail "$1 wrote to stderr"; }

expect 0 "$bin/tacet" --help
quiet_err "tacet --help"
grep -q '^usage: tacet COMMAND' "$work/out" || fail "no usage line in the help"
grep -q 'Exit codes: 0 done, 1 failed, 2 wrong usage, 3 refused' "$work/out" || fail "the help does not say the exit codes"
cp "$work/out" "$work/help"
for same in help -h; do
    expect 0 "$bin/tacet" "$same"
    cmp -s "$work/out" "$work/help" || fail "tacet $same differs from tacet --help"
done
expect 0 "$bin/tacet" --version
grep -Eq '^tacet [0-9]+\.[0-9]+\.[0-9]+$' "$work/out" || fail "tacet --version"
expect 2 "$bin/tacet"
quiet_out "tacet without a command"
expect 2 "$bin/tacet" no-such-command
quiet_out "an unknown command"
grep -q "no command 'no-such-command'" "$work/err" || fail "an unknown command is not named"
expect 2 "$bin/tacet" help no-such-command
! grep -q 'did you mean' "$work/err" || fail "a name is offered that nobody would have meant"
for word in simulate repro noise gp-ucb; do
    expect 2 "$bin/tacet" "$word" --help
    grep -q "'$word' is in tacet-lab" "$work/err" || fail "tacet $word does not say where it is"
    "$bin/tacet-lab" --commands | grep -q "^$word" || fail "tacet-lab has no $word"
done
expect 2 "$bin/tacet" calibarte
grep -q "did you mean 'calibrate'" "$work/err" || fail "the nearest command is not offered"
expect 2 "$bin/tacet" ledger shwo
grep -q "did you mean 'show'" "$work/err" || fail "the nearest second word is not offered"
expect 2 "$bin/tacet" ledger show --ledgr x
grep -q 'did you mean --ledger' "$work/err" || fail "the nearest option is not offered"
# Words of other tools: what they are here; and never the opposite of what was meant.
expect 2 "$bin/tacet" curate --epsilon 1
grep -q 'here it is --eps$' "$work/err" || fail "--epsilon: $(cat "$work/err")"
expect 2 "$bin/tacet" study create --n-trials 9
grep -q 'here it is --rounds$' "$work/err" || fail "--n-trials: $(cat "$work/err")"
expect 2 "$bin/tacet" modeler run --maximise
! grep -q 'minimize' "$work/err" && grep -q 'the largest value is looked for' "$work/err" || fail "--maximise: $(cat "$work/err")"

# Output that cannot be written is a failure, not silence.
if [ -w /dev/full ]; then
    code=0
    "$bin/tacet" --help >/dev/full 2>/dev/null || code=$?
    [ "$code" -eq 1 ] || fail "writing the help to a full disk exited with $code"
fi

checked=0
for program in "$bin"/tacet-*; do
    [ -x "$program" ] || continue
    name=$(basename "$program")
    front=tacet
    [ "$name" != tacet-lab ] || front="tacet-lab" # its commands are typed after its own name
    expect 2 "$program"
    quiet_out "$name without a command"
    expect 2 "$program" no-such-command
    grep -q 'no-such-command' "$work/err" || fail "$name: an unknown command is not named"
    expect 0 "$program" --version
    expect 0 "$program" --help
    cp "$work/out" "$work/help"
    grep -q '^Ring: ' "$work/help" || fail "$name --help does not say its ring"
    expect 0 "$program" --commands
    cp "$work/out" "$work/commands"
    [ -s "$work/commands" ] || fail "$name has no commands"
    while read -r command; do
        grep -q "^  $command  *[^ ]" "$work/help" || fail "$name --help does not list '$command' with a summary"
        # shellcheck disable=SC2086
        expect 0 "$program" $command --help
        quiet_err "$name $command --help"
        cp "$work/out" "$work/direct"
        [ "$(wc -l <"$work/out")" -le 24 ] || fail "the first screen of '$command --help' has more than 24 lines"
        head -n 1 "$work/direct" | grep -q "^usage: $front $command " || fail "the usage line of '$command' is not '$front $command …'"
        # What the usage line says can be typed.
        # shellcheck disable=SC2086
        expect 0 "$bin/$front" $command --help
        cmp -s "$work/out" "$work/direct" || fail "'$front $command --help' is not the help of $name $command"
        # shellcheck disable=SC2086
        [ "$front" != tacet ] || expect 0 "$bin/tacet" help $command
        cmp -s "$work/out" "$work/direct" || fail "'tacet help $command' is not its help"
        # Every option has words, in the help and in the manual.
        awk '/^  --/ { if (NF < 2 + ($2 ~ /^[A-Z]/)) { getline; if ($0 !~ /^ +[^ ]/) exit 1 } }' "$work/direct" ||
            fail "an option of '$command' has no explanation"
        page="$(dirname "$bin")/man/$front-$(echo "$command" | tr ' ' '-').1"
        [ -s "$page" ] || fail "no manual page for '$command'"
        sed -n 's/^  --\([a-z0-9-]*\).*/\1/p' "$work/direct" | grep -v '^help$' | sed 's/-/\\-/g' | while read -r option; do
            grep -qF "\\-\\-$option" "$page" || fail "the manual page of '$command' lacks --$option"
        done
        # What --help leaves out is counted there and shown by --help-all; that leaves out nothing.
        # shellcheck disable=SC2086
        expect 0 "$program" $command --help-all
        cp "$work/out" "$work/all"
        left=$(sed -n 's/^\([0-9]*\) more options.*/\1/p' "$work/direct")
        [ $(($(grep -c '^  --' "$work/all") - $(grep -c '^  --' "$work/direct"))) -le "${left:-0}" ] ||
            fail "'$command --help' leaves out more than it says"
        # shellcheck disable=SC2086
        "$program" $command --options | cut -f1 | while read -r option; do
            grep -q -- "--$option\b" "$work/all" || [ "$option" = help ] || fail "'$command --help-all' does not show --$option"
        done
        # A wrong option is a usage error, and nothing else happens.
        # shellcheck disable=SC2086
        expect 2 "$program" $command --no-such-option
        quiet_out "$name $command --no-such-option"
        grep -q 'unknown option --no-such-option' "$work/err" || fail "'$command' does not name a wrong option"
        checked=$((checked + 1))
    done <"$work/commands"
done

if command -v groff >/dev/null 2>&1; then
    for page in "$(dirname "$bin")"/man/*.1; do
        groff -Kutf8 -man -Tutf8 -ww -P-bcu "$page" >"$work/rendered" 2>"$work/err" || fail "groff cannot render $page"
        [ ! -s "$work/err" ] || { cat "$work/err"; fail "groff warns of $page"; }
        grep -q 'NAME' "$work/rendered" || fail "$page has no NAME"
    done
else
    echo "groff is not installed: manual pages were not rendered"
fi
echo "$checked commands have a help that works"
expect 0 "$bin/tacet" server --help
grep -q 'more options.*--help-all' "$work/out" || fail "tacet server --help does not say that there is more"
! grep -q -- '--address-rate' "$work/out" || fail "tacet server --help shows what few people need"
expect 0 "$bin/tacet" server --help-all
grep -q -- '--address-rate' "$work/out" || fail "tacet server --help-all does not show everything"

# Options from a file; the command line counts more; what is wrong there is named with its line.
printf '# noise of a release\nsensitivity = 33\neps=2\n' >"$work/options"
expect 0 "$bin/tacet" calibrate gaussian --config "$work/options" --delta 1e-5 --json
grep -q '"sensitivity":33' "$work/out" && grep -q '"eps":2' "$work/out" || fail "options of a file are not taken"
expect 0 "$bin/tacet" calibrate gaussian --config "$work/options" --sensitivity 44 --delta 1e-5 --json
grep -q '"sensitivity":44' "$work/out" || fail "the command line does not count more than a file"
printf 'eps = 2\nsensitivty = 33\n' >"$work/options"
expect 2 "$bin/tacet" calibrate gaussian --config "$work/options" --delta 1e-5
grep -q 'did you mean --sensitivity' "$work/err" && grep -q 'line 2' "$work/err" || fail "a wrong option of a file is not named"
expect 2 "$bin/tacet" calibrate gaussian --config "$work/none"

# Completion, made from the same tables.
completions() { bash -c '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _tacet; echo "${COMPREPLY[@]}"' bash "${TACET_BUILD:?}/completion/tacet.bash" "$@"; }
[ "$(completions tacet calib)" = calibrate ] || fail "a command is not completed: $(completions tacet calib)"
completions tacet study crea | grep -qx create || fail "a second word is not completed: $(completions tacet study crea)"
completions tacet study create --roun | grep -qx -- --rounds || fail "an option is not completed: $(completions tacet study create --roun)"
