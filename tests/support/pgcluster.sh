#!/bin/sh
# pgcluster.sh - a throw-away PostgreSQL cluster: in a temporary folder, run by an unprivileged user, reached by a unix
# socket in that folder and by nothing else.
# Usage: pgcluster.sh run COMMAND…   makes one, runs the command with TACET_TEST_POSTGRES=postgresql://…, removes it
#        pgcluster.sh start FOLDER   makes one in FOLDER/pg (FOLDER exists), prints its URL
#        pgcluster.sh again FOLDER   starts it again after kill or halt
#        pgcluster.sh kill FOLDER    SIGKILL, as a crash
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
    [ -z "${TACET_CI:-}" ] || fail "PostgreSQL is not installed, and TACET_CI is set: run tools/setup"
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
max_connections = 100
autovacuum_naptime = 10min
CONF
    boot "$1" || { cat "$1/pg/log" >&2; fail "the server does not start"; }
}
halt() { # FOLDER
    as_user env LC_ALL=C "$bin/pg_ctl" -D "$1/pg/data" -m immediate -w -s stop >/dev/null 2>&1 || true
}

verb=${1:-}
[ -n "$verb" ] || fail "usage: run COMMAND… | start|again|kill|halt|stop FOLDER"
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
kill) kill -9 "$(head -n 1 "$1/pg/data/postmaster.pid")" ;;
halt) halt "$1" ;;
stop) halt "$1"; rm -rf "$1/pg" "$1/initdb.log" ;;
*) fail "no such verb: $verb" ;;
esac
