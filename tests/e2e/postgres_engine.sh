#!/bin/sh
# postgres_engine.sh - the tests of the engine and of its routes, once more, against PostgreSQL.
set -eu
bin=${TACET_BIN:?}
source=${TACET_SOURCE:?}
if [ "${1:-}" != inside ]; then exec "$source/tests/support/pgcluster.sh" run "$0" inside; fi
for part in engine routes; do
    "$source/tools/run-test" "$bin/test_service_$part"
done
