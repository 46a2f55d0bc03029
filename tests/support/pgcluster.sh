#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# pgcluster.sh - a throw-away PostgreSQL cluster: in a temporary folder, run by an unprivileged user, reached by a unix
# socket in that folder and by nothing else.
# Usage: pgcluster.sh run COMMAND…   makes one, runs the command with TACET_TEST_POSTGRES=postgresql://…, removes it
#        pgcluster.sh start FOLDER   makes one in FOLDER/pg (FOLDER exists), prints its URL
#        pgcluster.sh again FOLDER   starts it again after kill or halt
#        pgcluster.sh kill FOLDER    SIGKILL, as a crash
#        pgcluster.sh pair FOLDER    a primary in FOLDER/pg and a synchronous standby in FOLDER/pg2, prints their URL
#        pgcluster.sh failover FOLDER  SIGKILL of the primary, then the standby is promoted; prints the seconds it took
#        pgcluster.sh cut FOLDER     the standby is stopped: commits of the primary wait for it
#        pgcluster.sh cancel FOLDER  cancels those waits: the commits stand on one machine alone; prints how many
#        pgcluster.sh mend FOLDER    the standby is started again
#        pgcluster.sh halt FOLDER    stops it; its data stay
#        pgcluster.sh stop FOLDER    stops it and removes FOLDER/pg
# Exit 77 with a reason where PostgreSQL is not installed; a failure instead when TACET_CI is set: there it must run.
# TACET_PG_FSYNC=on makes its commits durable (for measuring); a test that kills processes does not need it.
set -eu

fail() { echo "pgcluster: $1" >&2; exit 1; }
bin=""
for folder in /usr/lib/postgresql/*/bin /usr/pgsql-*/bin /usr/local/pgsql/bin; do
    [ ! -x "$folder/initdb" ] || bin=$folder
done
if [ -z "$bin" ] && command -v initdb >/dev/null 2>&1; then bin=$(dirname "$(command -v initdb)"); fi
if [ -z "$bin" ]; then
    [ -z "${TACET_CI:-}" ] || fail "PostgreSQL is not installed, and TACET_CI is set: run tools/setup --with-tests"
    echo "skipped: PostgreSQL is not installed (package postgresql)"
    exit 77
fi

# The server refuses to run as root.
user=""
if [ "$(id -u)" -eq 0 ]; then
    user=nobody
    ! id postgres >/dev/null 2>&1 || user=postgres
fi
as_user() {
    if [ -n "$user" ]; then
        setpriv --reuid="$user" --regid="$(id -g "$user")" --clear-groups "$@"
    else
        "$@"
    fi
}
url_of() { echo "postgresql:///postgres?host=$1/pg&user=postgres"; }

boot() { # FOLDER: start and wait
    as_user env LC_ALL=C "$bin/pg_ctl" -D "$1/pg/data" -l "$1/pg/log" -w -t 60 -s start >/dev/null 2>&1
}
make() { # FOLDER
    mkdir "$1/pg"
    [ -z "$user" ] || chown "$user" "$1/pg"
    chmod 0711 "$1/pg"
    as_user env LC_ALL=C "$bin/initdb" -D "$1/pg/data" -U postgres -A trust -E UTF8 --locale=C --no-sync \
        >"$1/initdb.log" 2>&1 || { cat "$1/initdb.log" >&2; fail "initdb failed"; }
    as_user tee -a "$1/pg/data/postgresql.conf" >/dev/null <<CONF
listen_addresses = ''
unix_socket_directories = '$1/pg'
fsync = ${TACET_PG_FSYNC:-off}
shared_buffers = 32MB
max_connections = 600
autovacuum_naptime = 10min
CONF
    boot "$1" || { cat "$1/pg/log" >&2; fail "the server does not start"; }
}
halt() { # FOLDER
    as_user env LC_ALL=C "$bin/pg_ctl" -D "$1/pg/data" -m immediate -w -s stop >/dev/null 2>&1 || true
}

sql() { # FOLDER SQL
    as_user env LC_ALL=C "$bin/psql" -h "$1" -U postgres -qAtc "$2" postgres
}
pair() { # FOLDER
    make "$1"
    mkdir "$1/pg2"
    [ -z "$user" ] || chown "$user" "$1/pg2"
    chmod 0711 "$1/pg2"
    as_user env LC_ALL=C "$bin/pg_basebackup" -d "host=$1/pg user=postgres application_name=standby" -D "$1/pg2/data" -R -X stream \
        --checkpoint=fast --no-sync >"$1/backup.log" 2>&1 || { cat "$1/backup.log" >&2; fail "pg_basebackup failed"; }
    echo "unix_socket_directories = '$1/pg2'" | as_user tee -a "$1/pg2/data/postgresql.conf" >/dev/null
    standby "$1" start
    sql "$1/pg" "ALTER SYSTEM SET synchronous_standby_names = '*'"
    sql "$1/pg" "SELECT pg_reload_conf()" >/dev/null
    tries=0
    until [ "$(sql "$1/pg" "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'")" = 1 ]; do
        tries=$((tries + 1))
        [ "$tries" -lt 100 ] || fail "the standby does not become synchronous"
        sleep 0.1
    done
}
standby() { # FOLDER start|stop
    as_user env LC_ALL=C "$bin/pg_ctl" -D "$1/pg2/data" -l "$1/pg2/log" -m immediate -w -t 60 -s "$2" >/dev/null 2>&1
}
pair_url() { echo "postgresql:///postgres?host=$1/pg,$1/pg2&user=postgres&target_session_attrs=read-write"; }

verb=${1:-}
[ -n "$verb" ] || fail "usage: run COMMAND… | start|pair|again|kill|failover|cut|cancel|mend|halt|stop FOLDER"
shift
case "$verb" in
run)
    folder=$(mktemp -d "${TMPDIR:-/tmp}/tacet-pg-XXXXXX")
    chmod 0755 "$folder"
    trap 'halt "$folder"; rm -rf "$folder"' EXIT
    trap 'exit 1' INT TERM HUP
    make "$folder"
    status=0
    TACET_TEST_POSTGRES=$(url_of "$folder") TACET_TEST_CLUSTER=$folder "$@" || status=$?
    exit "$status"
    ;;
start) make "$1"; url_of "$1" ;;
again)
    # Processes of a killed server let go of its memory a little later.
    tries=0
    until boot "$1"; do
        tries=$((tries + 1))
        [ "$tries" -lt 50 ] || { cat "$1/pg/log" >&2; fail "the server does not start again"; }
        sleep 0.2
    done
    ;;
pair) pair "$1"; pair_url "$1" ;;
failover)
    begin=$(date +%s%N)
    kill -9 "$(head -n 1 "$1/pg/data/postmaster.pid")"
    as_user env LC_ALL=C "$bin/pg_ctl" -D "$1/pg2/data" -w -t 60 -s promote >/dev/null 2>&1 || fail "the standby cannot be promoted"
    awk "BEGIN { printf \"%.1f\\n\", ($(date +%s%N) - $begin) / 1e9 }"
    ;;
cut) standby "$1" stop ;;
mend) standby "$1" start ;;
cancel) sql "$1/pg" "SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE wait_event = 'SyncRep'" ;;
kill) kill -9 "$(head -n 1 "$1/pg/data/postmaster.pid")" ;;
halt) halt "$1" ;;
stop)
    halt "$1"
    [ ! -d "$1/pg2" ] || standby "$1" stop || true
    rm -rf "$1/pg" "$1/pg2" "$1/initdb.log" "$1/backup.log"
    ;;
*) fail "no such verb: $verb" ;;
esac
