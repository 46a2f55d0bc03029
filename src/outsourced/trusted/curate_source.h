/* SPDX-License-Identifier: Apache-2.0 */
/* curate_source.h - where the records of a release come from: CSV files, a database, or memory.
 * Ring: trusted. What is in files or a database comes as the text of a CSV; memory as numbers, a run of records at a
 * time, in any order and as often as wanted. */
#pragma once

#include "io/file/names.h"
#include "registry/registry.h"

#include <tacet/io/csv.h>
#include <tacet/outsourced/trusted/curate.h>

enum { TACET__SPOOL_KEY = 32 };

typedef struct tacet__source {
    bool numbers; /* records come as numbers; otherwise as the text of the files */
    char **files; /* of a database the table's name; owned */
    size_t file_count;
    int spool; /* what was read from a database, enciphered, in a file without a name; -1: none */
    unsigned char key[TACET__SPOOL_KEY];
    size_t width, count; /* where numbers: of a record; records */
    size_t block;        /* records a block: what is read at once begins at a multiple of it */
    size_t bytes;        /* of the table, about */
    const double *records;
} tacet__source;

/* Opens the table that the settings name; one in a database is read, once, beside the folder of the release. `columns`
 * has `width` names, the released ones first. INVALID: not a file that can be read twice. PARSE, NOT_FOUND, IO, DENIED:
 * names table and column. STATE: it was told to stop. */
tacet_status tacet__source_open(tacet__source *out, const tacet_curate_settings *settings, const char *const *columns,
                                size_t width, tacet_error *err);
/* Of a table in a database: reads it; and opens the text that was kept of it, as often as wanted. */
tacet_status tacet__source_database(tacet__source *source, const tacet_curate_settings *settings,
                                    const char *const *columns, size_t width, tacet_error *err);
tacet_status tacet__spool_open(tacet_csv **out, const tacet__source *source, tacet_error *err);
/* Closes, and wipes. */
void tacet__source_close(tacet__source *source);
/* One of its files of text, from its beginning. */
tacet_status tacet__source_csv(tacet_csv **out, const void *source, size_t file, tacet_error *err);
