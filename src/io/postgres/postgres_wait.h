/* SPDX-License-Identifier: Apache-2.0 */
/* postgres_wait.h - waiting for PostgreSQL, but not for ever. Ring: io, internal.
 *
 * libpq's own calls wait as long as it takes for a server that does not answer (a machine that hangs, a network that
 * swallows packets). Here every wait has an end; the connection is then given up. Connections are in non-blocking
 * mode. */
#pragma once

#include <libpq-fe.h>
#include <stdbool.h>
#include <stdint.h>

uint64_t tacet__pg_now(void); /* monotonic milliseconds */
/* As PQconnectdbParams with expand_dbname. One that is not CONNECTION_OK nor CONNECTION_BAD did not come in time. NULL:
 * out of memory. */
PGconn *tacet__pg_connect(const char *const *keys, const char *const *values, uint64_t ms);
/* As PQgetResult. *late: the time was up, and the connection is of no more use. */
PGresult *tacet__pg_next(PGconn *connection, uint64_t until, bool *late);
/* What PQexec would have returned for the commands that were sent (`sent` is what the PQsend… call returned). */
PGresult *tacet__pg_take(PGconn *connection, int sent, uint64_t until, bool *late);
