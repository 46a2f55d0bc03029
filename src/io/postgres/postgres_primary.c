/* SPDX-License-Identifier: Apache-2.0 */
/* postgres_primary.c - tells the database that is served from one that was replaced and came back. Ring: io.
 * After a failover the old primary may start again, take connections and writes, and lack what was committed since.
 * Each promotion begins a new timeline of the same system: the newest one that was seen is noted in the state folder, a
 * file a system, and a database of an older one is not used. Cost: one query a connection. */
#include "io/postgres/postgres_link.h"

#include "core/fail.h"
#include "io/file/state.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A standby that is read has no timeline of its own yet. */
static const char WHO[] = "SELECT (pg_control_system()).system_identifier, CASE WHEN pg_is_in_recovery() THEN '0' ELSE "
                          "substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END";
enum { TIMELINE_BYTES = 32 };

tacet_status tacet__pg_primary(tacet__pg_store *db, tacet_error *err) {
    char folder[TACET__PATH], path[TACET__PATH], text[TIMELINE_BYTES];
    char *seen = NULL;
    size_t length = 0;
    PGresult *result = tacet__pg_result(db, PQsendQuery(db->connection, WHO));
    const bool told = tacet__pg_good(result) && PQntuples(result) == 1;
    const uintmax_t system = told ? strtoumax(PQgetvalue(result, 0, 0), NULL, 10) : 0;
    const unsigned long timeline = told ? strtoul(PQgetvalue(result, 0, 1), NULL, 16) : 0;
    PQclear(result);
    if (timeline == 0 || tacet__state_path(folder, "databases", NULL) != TACET_OK) {
        return TACET_OK; /* a server that does not say, or nowhere to note it */
    }
    char name[32];
    (void)snprintf(name, sizeof name, "%ju", system);
    if (tacet__path(path, folder, name, err) != TACET_OK) {
        return TACET_INVALID;
    }
    tacet_status status = tacet__file_read(&seen, &length, path, TIMELINE_BYTES, err);
    if (status != TACET_OK && status != TACET_NOT_FOUND) {
        return status; /* what was noted may be that this one was replaced */
    }
    const unsigned long newest = status == TACET_OK ? strtoul(seen, NULL, 10) : 0;
    free(seen);
    tacet_error_clear(err);
    if (newest > timeline) {
        return tacet__fail(err, TACET_REPLACED,
                           "the database at %.80s is of timeline %lu, and timeline %lu of the same system was seen: it "
                           "was replaced, and is not used",
                           PQhost(db->connection), timeline, newest);
    }
    if (newest < timeline && tacet__folders_make(folder)) {
        (void)snprintf(text, sizeof text, "%lu\n", timeline);
        status = tacet__file_write(path, folder, text, 0600, NULL);
    }
    return status == TACET_NO_MEMORY ? status : TACET_OK; /* what was not written is noted at the next connection */
}
