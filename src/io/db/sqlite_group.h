/* SPDX-License-Identifier: Apache-2.0 */
/* sqlite_group.h - connections of one process to one SQLite file: they take turns writing, and share the syncs.
 * Ring: io, internal.
 *
 * SQLite has one writer a file, and a durable commit is one sync, so that many studies of one store would wait for one
 * sync each, one after the other. Here a transaction is written to the log without a sync (synchronous=NORMAL), the
 * turn goes to the next, and the commit returns when a sync that began after it has ended: one sync serves all that
 * were written before it began. What another connection reads may therefore not be durable yet; whoever lets something
 * leave that rests on it settles it first. */
#ifndef TACET_SRC_IO_DB_SQLITE_GROUP_H
#define TACET_SRC_IO_DB_SQLITE_GROUP_H

#include <stdbool.h>
#include <stdint.h>

typedef struct tacet__sqlite_group tacet__sqlite_group;

/* The group of a file that exists; NULL: out of memory, or no such file. */
tacet__sqlite_group *tacet__sqlite_group_join(const char *path);
void tacet__sqlite_group_leave(tacet__sqlite_group *group); /* NULL is allowed */

/* Waits for its turn to write, in the order of asking; false: not within `ms`. */
bool tacet__sqlite_group_enter(tacet__sqlite_group *group, uint64_t ms);
/* The turn ends. `wrote`: something was committed; the number that group_sync takes. */
uint64_t tacet__sqlite_group_exit(tacet__sqlite_group *group, bool wrote);
/* Returns true when everything up to `number` is on the disk. `sync` makes it so, and is called by one at a time; after
 * one failed `repair` is called in its place, until it succeeds. */
bool tacet__sqlite_group_sync(tacet__sqlite_group *group, uint64_t number, bool (*sync)(void *user),
                              bool (*repair)(void *user), void *user);

#endif
