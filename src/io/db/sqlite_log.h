/* SPDX-License-Identifier: Apache-2.0 */
/* sqlite_log.h - a door to SQLite's write-ahead log that writes many pages with one call.
 * Ring: io, internal.
 *
 * SQLite writes each page of a transaction with two calls, and a transaction of many studies has many pages. Here what
 * is appended waits in memory until the frame that commits: until then nobody else is told of it. That frame, and all
 * before it, are handed to the system before SQLite hears that it was written, and so before any other connection does;
 * a failure is reported by that very call. Syncs are SQLite's and the group's, and empty the memory first. */
#ifndef TACET_SRC_IO_DB_SQLITE_LOG_H
#define TACET_SRC_IO_DB_SQLITE_LOG_H

/* The name of a VFS that does so over the one named (NULL: SQLite's own); the same one where that cannot be had. */
const char *tacet__sqlite_log_vfs(const char *vfs);

#endif
