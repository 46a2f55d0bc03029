#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# postgres_backup.sh - backup.sh on PostgreSQL: pg_dump and pg_restore instead of copies of files.
set -eu
exec "${TACET_SOURCE:?}/tests/support/pgcluster.sh" run "$TACET_SOURCE/tests/e2e/backup.sh"
