#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# stopping.sh - the test that may be looked at all the time, through a server as it ships: 8 studies of 1,000 tickets of
# each of three publics, where no arm is better. At a true share of 5 % more than 5 false claims of 24 come in one of
# 1,000 of these runs; it is about 1 %. Arms in turns, or tickets that count only when they are reported, would make all
# of a kind wrong. TACET_STOPPING=STUDIES,TICKETS: the long form.
. "${TACET_SOURCE:?}/tests/support/e2e.sh"
need python3
cd "$work"
form=${TACET_STOPPING:-8,1000}
studies=${form%,*} tickets=${form#*,}
expect 0 "$tacet" server init --dir keys --host 127.0.0.1
up "$bin/tacet-server" server --store studies --keys keys --listen 127.0.0.1:0 --token-rate 1000000 --address-rate 1000000
"$tacet" study token --store studies --role owner >token
expect 0 python3 "$TACET_SOURCE/tests/e2e/stopping.py" "$url" keys/ca.pem "$(cat token)" "$studies" "$tickets"
cat out
released=$(number released)
below $((studies * 3 * tickets / 2)) "$released" "tickets that releases are of"
sed 's/.*"wrong": \[\([^]]*\)\].*/\1/' out | awk -F, -v n="$studies" '{ m = 3 * n * .05; exit !($1 + $2 + $3 <= m + 4 * sqrt(.95 * m)) }' ||
    fail "arms that earn the same are called different in too many of $studies studies a kind: $(cat out)"
