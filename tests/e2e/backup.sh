#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# backup.sh - a store is copied while a server writes to it; then a part of it is put back, and all of it. What is put
# back whole goes on; a trusted store older than the open one is refused, by the check and by the server; an older open
# store is shown again what it lacks. On SQLite; postgres_backup.sh runs it on PostgreSQL.
. "${TACET_SOURCE:?}/tests/support/e2e.sh"
postgres=${TACET_TEST_POSTGRES:-}
store=${postgres:-$work/studies}

serve() {
    rm -f "$work/ready"
    "$tacet" server --store "$store" --keys "$work/keys" --listen 127.0.0.1:0 --ready-file "$work/ready" >>"$work/server.log" 2>&1 &
    server=$!
    for ((i = 0; i < 400; i++)); do
        [ ! -s "$work/ready" ] || { url=$(cat "$work/ready"); return 0; }
        kill -0 "$server" 2>/dev/null || return 1
        sleep 0.05
    done
    return 1
}
halt() { kill "$server"; wait "$server" || true; server=; }
post() { # post PATH BODY: prints the status, the answer is in out
    curl -sS --cacert "$work/keys/ca.pem" -H "Authorization: Bearer $(cat "$work/token")" -o "$work/out" -w '%{http_code}' \
        --data "$2" "$url/v1/studies/dose/$1" 2>>"$work/err"
}
rounds() { # rounds N: suggestions and their outcomes
    local n ticket
    for ((n = 0; n < $1; n++)); do
        [ "$(post suggestions '{"decision_set":[[0.1,0.2],[0.7,0.4],[0.3,0.9]]}')" = 201 ] || fail "no suggestion: $(cat "$work/out")"
        ticket=$(sed -n 's/.*"ticket":"\([^"]*\)".*/\1/p' "$work/out")
        [ "$(post observations "{\"ticket\":\"$ticket\",\"value\":0.5}")" = 200 ] || fail "no observation: $(cat "$work/out")"
    done
}
events() { "$tacet" store check --store "$store" --json | sed -n 's/.*"events":\([0-9]*\).*/\1/p'; }
shown() { "$tacet" store check --store "$store" --json | sed -n 's/.*"shown":\([0-9]*\).*/\1/p'; }
pg() {
    local folder bin=
    for folder in /usr/lib/postgresql/*/bin; do bin=$folder; done
    "$bin/$1" "${@:2}"
}
backup() {
    if [ -n "$postgres" ]; then
        # One snapshot of all schemas: the open store, the trusted one, the ledgers.
        pg pg_dump -Fc -n 'tacet_*' -f "$work/backup" "$store"
    else
        "$tacet" store backup --store "$store" --out "$work/backup" >/dev/null
        [ "$(stat -c %a "$work/backup/trusted.db")" = 600 ] || fail "the copy can be read by others"
    fi
}
put_back() { # put_back trusted|open|all
    local schema
    if [ -n "$postgres" ]; then
        for schema in $(pg psql -Atqc "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'tacet\\_%'" "$store"); do
            case "$1 $schema" in
            "all "* | "trusted tacet_trusted" | "open tacet_open")
                pg psql -qc "SET client_min_messages=warning; DROP SCHEMA $schema CASCADE" "$store"
                pg psql -qc "CREATE SCHEMA $schema" "$store"
                pg pg_restore -n "$schema" -d "$store" "$work/backup"
                ;;
            esac
        done
    elif [ "$1" = all ]; then
        rm -rf "$store"
        cp -a "$work/backup" "$store"
    else
        rm -f "$store/$1.db-wal" "$store/$1.db-shm"
        cp -a "$work/backup/$1.db" "$store/$1.db"
    fi
}

drop_open() {
    if [ -n "$postgres" ]; then
        pg psql -qc "SET client_min_messages=warning; DROP SCHEMA tacet_open CASCADE" "$store"
        "$tacet" store init --store "$store" >/dev/null
    else
        rm -f "$store"/open.db*
        "$tacet" store init --store "$store" >/dev/null
    fi
}

"$tacet" server init --dir "$work/keys" >/dev/null
"$tacet" store init --store "$store" >/dev/null
"$tacet" study create --store "$store" --name dose --trust central --eps 1 --delta 1e-6 --sets 0:1,0:1 --lengthscale 0.3 >/dev/null
"$tacet" study token --store "$store" --role device --study dose >"$work/token"
serve || fail "the server does not come up"
rounds 5
backup # while the server runs
[ "$(post suggestions '{"decision_set":[[0.1,0.2],[0.7,0.4],[0.3,0.9]]}')" = 201 ] || fail "no suggestion"
lost_ticket=$(sed -n 's/.*"ticket":"\([^"]*\)".*/\1/p' "$work/out")
[ "$(post observations "{\"ticket\":\"$lost_ticket\",\"value\":0.5}")" = 200 ] || fail "no observation"
rounds 2
halt
[ "$(events) $(shown)" = "16 16" ] || fail "not all events are there and shown: $(events), $(shown)"

if [ -z "$postgres" ]; then cp -a "$store" "$work/newest"; else pg pg_dump -Fc -n 'tacet_*' -f "$work/newest" "$store"; fi

# The trusted store alone, older than what has been seen of it.
put_back trusted
if "$tacet" store check --store "$store" >"$work/out" 2>"$work/err"; then fail "an older trusted store passes the check"; fi
grep -q 'older state' "$work/err" || fail "the check does not say why"
if serve; then
    code=$(post suggestions '{"decision_set":[[0.1,0.2],[0.7,0.4]]}')
    [ "$code" -ge 500 ] || fail "an older trusted store is served: $code $(cat "$work/out")"
    halt
else
    server=
fi
"$tacet" store check --store "$store" >/dev/null 2>&1 && fail "the refusal was forgotten"

# The open store alone, older than the log: it is shown the rest.
mv "$work/backup" "$work/older"
mv "$work/newest" "$work/backup"
put_back all
mv "$work/backup" "$work/newest"
mv "$work/older" "$work/backup"
[ "$(events)" = 16 ] || fail "the newest copy was not put back"
put_back open
[ "$(shown)" -le 10 ] || fail "the open store was not put back: $(shown)"
serve || fail "the server does not come up with an older open store"
rounds 1
halt
[ "$(events) $(shown)" = "18 18" ] || fail "the open store was not shown the rest: $(events), $(shown)"

# All of it: nothing inside can tell, but the server noted outside how far the study was; `store restore` is what makes it
# safe. Tickets that were given are not given again.
put_back all
if "$tacet" store check --store "$store" >"$work/out" 2>"$work/err"; then fail "a store that was put back passes the check"; fi
grep -q "it has 10 events of study 'dose', this server saw 18" "$work/err" || fail "the check does not say why: $(cat "$work/err")"
serve || fail "the server does not come up with the copy"
code=$(post suggestions '{"decision_set":[[0.1,0.2],[0.7,0.4],[0.3,0.9]]}')
[ "$code" = 500 ] || fail "a store that was put back is served: $code $(cat "$work/out")"
grep -q 'was put back' "$work/server.log" || fail "the log does not say that the store was put back"
halt
"$tacet" store restore --store "$store" --nothing-was-answered --json | grep -q '"state":"active"' || fail "not restored"
serve || fail "the server does not come up with the copy"
[ "$(post suggestions '{"decision_set":[[0.1,0.2],[0.7,0.4],[0.3,0.9]]}')" = 201 ] || fail "no suggestion after the restore"
ticket=$(sed -n 's/.*"ticket":"\([^"]*\)".*/\1/p' "$work/out")
[ "${lost_ticket:?}" != "$ticket" ] || fail "a ticket was given twice"
[ "$(post observations "{\"ticket\":\"$lost_ticket\",\"value\":0.5}")" = 404 ] || fail "a ticket that was lost names another suggestion"
[ "$(post observations "{\"ticket\":\"$ticket\",\"value\":0.5}")" = 200 ] || fail "no observation after the restore"
rounds 1
halt
[ "$(events)" = 14 ] || fail "the copy does not go on"
"$tacet" store check --store "$store"

# The open store lost, and the trusted one put back: what would have told is gone. Refused until it is restored.
put_back all
drop_open
if "$tacet" store check --store "$store" >"$work/out" 2>"$work/err"; then fail "a store without its open half passes the check"; fi
serve || fail "the server does not come up"
code=$(post suggestions '{"decision_set":[[0.1,0.2],[0.7,0.4]]}')
[ "$code" -ge 400 ] || fail "a store without its open half is served: $code"
halt
"$tacet" store restore --store "$store" --json | grep -q '"state":"archived"' || fail "a central study goes on after a restore"
"$tacet" store check --store "$store" >/dev/null || fail "the restored store does not hold together"
echo "backup: put back in part and whole on ${postgres:+PostgreSQL}${postgres:-SQLite}" | sed 's/postgresql:.*//'
