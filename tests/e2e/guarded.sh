#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# guarded.sh - what a program that holds records shows of them while it runs: the value it was given on standard input is
# not in the list of processes, its memory leaves no image, nobody of its user may trace it, and it is not swapped out
# where the system allows that.
. "${TACET_SOURCE:?}/tests/support/e2e.sh"
[ -z "${TACET_SANITIZE:-}" ] || { echo "skipped: a program under a sanitizer is not guarded"; exit 77; }
chmod 777 "$work"
mkfifo -m 666 "$work/value"
as=
[ "$(id -u)" != 0 ] || as="setpriv --reuid 65534 --regid 65534 --clear-groups"
# The build tree may lie in a folder that the other user cannot enter.
mkdir -m 755 "$work/bin"
cp "$TACET_BIN/tacet" "$TACET_BIN/tacet-device" "$work/bin"
TACET_BIN=$work/bin
# As another user than root, who owns all of /proc anyway; a program whose memory is closed belongs to root there.
# shellcheck disable=SC2086
HOME=$work TACET_STATE=$work/state $as "$TACET_BIN/tacet" device report --ticket t --value - --range 0:1 --eps 1 --ledger "$work/phone.db" \
    --budget-eps 5 --json <"$work/value" >"$work/out" 2>"$work/err" &
server=$!
exec 3>"$work/value"
for _ in $(seq 100); do
    [ "$(readlink "/proc/$server/exe" 2>/dev/null | sed 's/.*-//')" != device ] || break
    sleep 0.1
done
sleep 0.5
grep -q '^Max core file size *0 *0' "/proc/$server/limits" || fail "core dumps: $(grep core "/proc/$server/limits")"
owner=$(stat -c %u "/proc/$server/environ")
[ "$(id -u)" != 0 ] || [ "$owner" = 0 ] || fail "its own user may trace it"
echo 0.62 >&3
! tr '\0' ' ' <"/proc/$server/cmdline" | grep -q 0.62 || fail "the value is in the list of processes"
exec 3>&-
wait "$server" || fail "it failed"
server=""
grep -q '"report":' "$work/out" || fail "no report: $(cat "$work/out" "$work/err")"
may=$(sed -n 's/^CapEff:[^0-9a-f]*//p' /proc/self/status)
if [ $((0x$may >> 14 & 1)) = 1 ]; then # CAP_IPC_LOCK
    mkfifo "$work/more"
    TACET_STATE=$work/state2 "$TACET_BIN/tacet" device report --ticket t --value - --range 0:1 --eps 1 --ledger "$work/root.db" --budget-eps 5 <"$work/more" >/dev/null 2>&1 &
    server=$!
    exec 3>"$work/more"
    for _ in $(seq 100); do
        [ "$(readlink "/proc/$server/exe" 2>/dev/null | sed 's/.*-//')" != device ] || break
        sleep 0.1
    done
    sleep 0.5
    locked=$(sed -n 's/^VmLck:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$server/status")
    [ "$locked" -gt 0 ] || fail "nothing is locked into memory, and it may be"
    echo 0.5 >&3
    exec 3>&-
    wait "$server" || fail "a report with its memory locked failed"
    server=""
fi
