#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# postgres_store.sh - the tests of the store of studies, once more, against PostgreSQL.
set -eu
bin=${TACET_BIN:?}
source=${TACET_SOURCE:?}
if [ "${1:-}" != inside ]; then exec "$source/tests/support/pgcluster.sh" run "$0" inside; fi
for part in store store_expire store_schema store_race; do
    "$source/tools/run-test" "$bin/test_service_$part"
done
