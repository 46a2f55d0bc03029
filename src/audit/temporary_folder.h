/* SPDX-License-Identifier: Apache-2.0 */
/* temporary_folder.h - folders that an audit works in: made-up records only, gone afterwards. Ring: audit. */
#pragma once

#include "io/file/folder.h"

#include <stdbool.h>

/* A new folder in $TMPDIR, else on a memory disk that has `bytes` to spare, else in /tmp. IO. */
tacet_status tacet__scratch_make(char folder[TACET__PATH], size_t bytes, tacet_error *err);
void tacet__scratch_remove(const char *folder); /* with all that is in it; nothing where there is none */
/* What is in it goes, the folder stays. IO. */
tacet_status tacet__scratch_empty(const char *folder, tacet_error *err);
/* A copy of all files, links and folders, as a machine that lost its power would have them. `to` must not exist. IO. */
tacet_status tacet__scratch_copy(const char *to, const char *from, tacet_error *err);
/* Runs it in a child that dies, as by kill -9, when a transaction on the database of this path is about to commit for
 * the `commits`-th time, counted from 0. Whether it died; a run that failed by itself counts as well. */
bool tacet__scratch_killed(const char *database, size_t commits, tacet_status (*run)(void *user, tacet_error *err),
                           void *user);
