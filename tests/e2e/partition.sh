#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# partition.sh - three servers that see the database and their clients, and not each other: in a network namespace of
# their own, the addresses by which they know each other lead nowhere from one moment to the next, and nobody is told.
# Somebody goes on with each study, and nothing acknowledged is lost, doubled or charged twice.
if [ "${1:-}" = cut ] || [ "${1:-}" = mend ]; then # by the soak, inside
    cat "$TACET_SPLIT_WORK"/server*.log 2>/dev/null | grep -c 'taking over what cannot be reached' >"$TACET_SPLIT_WORK/at-$1" || true
    for n in 1 2 3; do ip addr "$([ "$1" = cut ] && echo del || echo add)" "10.99.0.$n/32" dev lo; done
    exit
fi
if [ -z "${TACET_TEST_SPLIT:-}" ]; then
    if ! command -v ip >/dev/null || ! unshare -n sh -c 'ip link set lo up && ip link add v0 type veth peer name v1' 2>/dev/null; then
        echo "skipped: no network namespace can be made here"
        exit 77
    fi
    for attempt in 1 2 3; do
        code=0
        TACET_TEST_SPLIT=yes unshare -n "$0" || code=$?
        [ "$code" = 3 ] || exit "$code"
        echo "attempt $attempt: no server needed another one while they were cut off"
    done
    exit 1
fi
if [ -z "${TACET_TEST_CLUSTER:-}" ]; then exec "${TACET_SOURCE:?}/tests/support/pgcluster.sh" run "$0"; fi
. "${TACET_SOURCE:?}/tests/support/e2e.sh"
chmod 0711 "$work"
export TACET_SPLIT_WORK="$work"
ip link set lo up
ip link add v0 type veth peer name v1
ip link set v0 up
ip link set v1 up
ip route add 10.99.0.0/24 dev v0
for n in 1 2 3; do ip neigh add "10.99.0.$n" lladdr 02:00:00:00:00:09 dev v0; done # nobody has it
"$0" mend
"${TACET_BIN:?}/soak" --bin "$TACET_BIN" --work "$work" --store "$TACET_TEST_POSTGRES" --servers 3 --seconds 4 --away 12 --gap 30 \
    --split "$0" --cluster "$TACET_SOURCE/tests/support/pgcluster.sh $TACET_TEST_CLUSTER" >"$work/said" 2>&1 ||
    { cat "$work/said"; tail -n 5 "$work"/server*.log; exit 1; }
grep -E 'cut off|taken away|lost|acknowledged,' "$work/said"
taken=$(($(cat "$work/at-mend") - $(cat "$work/at-cut")))
echo "  taken over $taken times"
if [ "$taken" -lt 1 ]; then # then they were not cut off, or each had its studies: that shows nothing
    tail -n 5 "$work"/server*.log
    exit 3
fi
