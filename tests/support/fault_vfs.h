/* SPDX-License-Identifier: Apache-2.0 */
/* fault_vfs.h - a SQLite VFS named "fault" over the ordinary one: the n-th operation fails, or the process dies in it,
 * or the power goes and everything not yet synced is lost. For tests; one thread at a time while a fault is armed. */
#pragma once

enum { /* which operations count */
       FAULT_WRITE = 1,
       FAULT_SYNC = 2,
       FAULT_TRUNCATE = 4,
       FAULT_READ = 8,
       FAULT_OPEN = 16,
       FAULT_SHM = 32, /* locks and barriers of the log's index */
       FAULT_CHANGE = FAULT_WRITE | FAULT_SYNC | FAULT_TRUNCATE,
};

typedef enum fault_action {
    FAULT_ERROR,      /* input or output error */
    FAULT_FULL,       /* disk full, and it stays full: every later write too */
    FAULT_SHORT,      /* half is written, then an error */
    FAULT_KILL,       /* SIGKILL before it */
    FAULT_TORN_KILL,  /* half is written, then SIGKILL */
    FAULT_POWER,      /* everything unsynced is undone, then SIGKILL */
    FAULT_POWER_HALF, /* the later half of what is unsynced is undone, then SIGKILL */
} fault_action;

void fault_vfs_register(void);
/* The n-th counted operation from now (1 = the next); 0 switches off. */
void fault_vfs_arm(long n, int operations, fault_action action);
int fault_vfs_hit(void);
int fault_vfs_end(void); /* the same, and nothing fails any more */
