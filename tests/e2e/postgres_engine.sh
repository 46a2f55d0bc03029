#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# postgres_engine.sh - the tests of the engine, of its routes and of its central policies, once more, against PostgreSQL.
set -eu
bin=${TACET_BIN:?}
source=${TACET_SOURCE:?}
if [ "${1:-}" != inside ]; then exec "$source/tests/support/pgcluster.sh" run "$0" inside; fi
for part in service_engine service_engine_expire service_race service_routes service_central; do
    "$source/tools/run-test" "$bin/test_$part"
done
