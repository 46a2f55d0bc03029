#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# postgres_service.sh - a store that is named by a service of libpq, or by a URL with a password file: no password on a
# command line. One in the URL is warned of.
if [ -z "${TACET_TEST_CLUSTER:-}" ]; then exec "${TACET_SOURCE:?}/tests/support/pgcluster.sh" run "$0"; fi
. "${TACET_SOURCE:?}/tests/support/e2e.sh"
printf '[tacet]\nhost=%s/pg\nuser=postgres\ndbname=postgres\n' "$TACET_TEST_CLUSTER" >"$work/services"
printf '*:*:*:postgres:secret\n' >"$work/passwords"
chmod 600 "$work/passwords"
export PGSERVICEFILE="$work/services"
tacet store init --store 'postgresql:///?service=tacet' >/dev/null || fail "a service is not accepted"
tacet study status --store "postgresql:///postgres?host=$TACET_TEST_CLUSTER/pg&user=postgres&passfile=$work/passwords" >/dev/null ||
    fail "a password file is not accepted"
tacet server init --dir "$work/keys" --host 127.0.0.1 >/dev/null
start() { # STORE
    up "$bin/tacet-server" server --store "$1" --keys "$work/keys" --listen 127.0.0.1:0
    [ "$(curl -s -o /dev/null -w '%{http_code}' --cacert "$work/keys/ca.pem" "$(cat "$work/ready")/v1/ready")" = 200 ] || fail "not ready"
    down
}
start 'postgresql:///?service=tacet'
! grep -q password "$work/log" || fail "a password is warned of that is not there"
start "postgresql:///postgres?host=$TACET_TEST_CLUSTER/pg&user=postgres&password=secret"
grep -q 'has a password in it' "$work/log" || fail "a password on the command line is not warned of"
! grep -q secret "$work/log" || fail "the log shows the password"
echo "a service and a password file are accepted, a password on the command line is warned of"
