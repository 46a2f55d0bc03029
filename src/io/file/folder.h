/* SPDX-License-Identifier: Apache-2.0 */
/* folder.h - files that appear whole or not at all. Ring: io. */
#pragma once

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>
#include <tacet/core/status.h>

enum { TACET__PATH = 4096 };

/* folder/name into out. INVALID: too long. */
tacet_status tacet__path(char out[TACET__PATH], const char *folder, const char *name, tacet_error *err);
/* The folder of a path: what is before the last slash, "." where there is none. INVALID: too long. */
tacet_status tacet__folder_of(char out[TACET__PATH], const char *path, tacet_error *err);
/* Makes the folder when it is missing (its parent must exist); *made (NULL: not asked) says whether it was. DENIED, IO.
 */
tacet_status tacet__folder_make(bool *made, const char *folder, tacet_error *err);
/* The bytes [from, to) may go to the disk meanwhile, so that the sync at the end has less to wait for. */
void tacet__file_hurry(FILE *file, size_t from, size_t to);
/* Syncs and closes the file, whatever happens. IO. */
tacet_status tacet__file_finish(FILE *file, const char *path, tacet_error *err);
/* The names in the folder survive a crash of the machine. */
tacet_status tacet__folder_sync(const char *folder, tacet_error *err);
/* Renames, then syncs the folder, so that the new name survives a crash. Copies where that cannot be renamed. */
tacet_status tacet__file_publish(const char *from, const char *to, const char *folder, tacet_error *err);
/* The next name in the folder; NULL at its end, or (*wrong = errno, otherwise 0) where it cannot be read on: what is
 * not read must not pass for what is not there. */
const char *tacet__folder_next(DIR *folder, int *wrong);
/* Writes text beside `path` and renames it there; what cannot be is not left beside it. `mode` as in chmod. */
tacet_status tacet__file_write(const char *path, const char *folder, const char *text, mode_t mode, tacet_error *err);
/* The whole file as NUL-terminated text, from malloc. NOT_FOUND, IO; PARSE above `most` bytes. */
tacet_status tacet__file_read(char **out, size_t *length, const char *path, size_t most, tacet_error *err);
