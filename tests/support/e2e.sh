# SPDX-License-Identifier: Apache-2.0
# e2e.sh - read first by the scripts of tests/e2e: a folder $work of their own, programs that end with them, and the words
# in which they fail. For sh and bash.
# shellcheck shell=sh disable=SC2034
set -eu
bin=${TACET_BIN:?}
tacet=$bin/tacet
tacet() { "$bin/tacet" "$@"; }
work=$(mktemp -d)
server="" # what the script has started and not ended: one number here, or any number of them in $pids
url=""
pids=""
end() {
    # shellcheck disable=SC2086 # a list of numbers
    [ -z "$server$pids" ] || kill -9 $server $pids 2>/dev/null || true
    # shellcheck disable=SC2086
    [ -z "$server$pids" ] || wait $server $pids 2>/dev/null || true # what still writes keeps the folder from going
    rm -rf "$work"
}
trap end EXIT
fail() { # WORDS...: what the programs said last, and what was expected
    for said in "$work"/out "$work"/output "$work"/body "$work"/*err "$work"/*log*; do
        [ ! -f "$said" ] || tail -n 20 "$said" >&2
    done
    echo "${0##*/}: $*" >&2
    exit 1
}
need() { # PROGRAM...: the test is skipped where one is not installed
    for program; do command -v "$program" >/dev/null || { echo "skipped: $program is not installed"; exit 77; }; done
}
expect() { # CODE COMMAND...: ends with CODE; its words are in $work/out and $work/err
    wanted=$1
    shift
    code=0
    "$@" >"$work/out" 2>"$work/err" </dev/null || code=$?
    [ "$code" = "$wanted" ] || fail "'$*' exited with $code, expected $wanted"
}
await() { # FILE: waits until a program has written it; $url is then what it says
    tries=0
    until [ -s "$1" ]; do
        sleep 0.05
        tries=$((tries + 1))
        [ "$tries" -lt 600 ] || fail "$1 is not written"
    done
    url=$(cat "$1")
}
up() { # COMMAND...: starts a service, which is $server then, at $url; what it says goes to $work/log
    rm -f "$work/ready"
    "$@" --ready-file "$work/ready" >/dev/null 2>>"$work/log" &
    server=$!
    await "$work/ready"
}
down() { # ends it, in order
    kill "$server"
    wait "$server" || fail "the service did not end in order"
    server=""
}
# Of what is in $work/out: the text or number of a JSON name.
text() { sed -n "s/.*\"$1\": *\"\([^\"]*\)\".*/\1/p" "$work/out"; }
number() { sed -n "s/.*\"$1\": *\([-0-9.e+]*\).*/\1/p" "${2:-$work/out}"; }
below() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a != "" && b != "" && a < b) }' || fail "$3: $1 is not below $2"; }
