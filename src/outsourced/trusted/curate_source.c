/* SPDX-License-Identifier: Apache-2.0 */
/* curate_source.c - tables that do not fit into memory, or do not lie in one file.
 * Ring: trusted. Source: none; README.md, "Where records come from"; curate_database.c reads what lies in
 * a database. */
#include "outsourced/trusted/curate_source.h"

#include "core/fail.h"
#include "core/memory.h"
#include "io/csv/block.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tacet/io/csv.h>
#include <unistd.h>

static tacet_status check_file(const char *path, size_t *bytes, tacet_error *err) {
    struct stat st;
    const bool there = stat(path, &st) == 0;
    /* A pipe would be empty the second time, when the budget is spent already. */
    if (strcmp(path, "-") == 0 || (there && !S_ISREG(st.st_mode))) {
        return tacet__fail(err, TACET_INVALID, "%s: the table is read twice, so it must be a file", path);
    }
    *bytes += there ? (size_t)st.st_size : 0;
    return TACET_OK;
}

static tacet_status open_files(tacet__source *s, const tacet_curate_settings *settings, tacet_error *err) {
    tacet_status status = tacet__file_names(&s->files, &s->file_count, settings->data, err);
    for (size_t f = 0; f < s->file_count && status == TACET_OK; f++) {
        status = check_file(s->files[f], &s->bytes, err);
    }
    s->numbers = false;
    return status;
}

tacet_status tacet__source_open(tacet__source *out, const tacet_curate_settings *settings, const char *const *columns,
                                size_t width, tacet_error *err) {
    *out = (tacet__source){.spool = -1, .width = width, .numbers = true};
    out->block = TACET__CSV_BLOCK / sizeof(double) / width + 1;
    tacet_status status = TACET_OK;
    if (settings->records != NULL) {
        out->records = settings->records;
        out->count = settings->record_count;
    } else if (settings->table != NULL) {
        out->numbers = false;
        out->file_count = 1;
        out->files = TACET__ZALLOC(char *, 1);
        const bool named = out->files != NULL && (out->files[0] = strdup(settings->table)) != NULL;
        status = named ? tacet__source_database(out, settings, columns, width + (settings->person != NULL), err)
                       : tacet__fail(err, TACET_NO_MEMORY, "out of memory for a table");
    } else {
        status = open_files(out, settings, err);
    }
    if (status == TACET_OK && out->numbers && !tacet__size_mul(&out->bytes, out->count, width * sizeof(double))) {
        status = tacet__fail(err, TACET_OVERFLOW, "a table of %zu records is too large", out->count);
    }
    if (status != TACET_OK) {
        tacet__source_close(out);
    }
    return status;
}

void tacet__source_close(tacet__source *s) {
    if (s->width > 0 && s->spool >= 0) {
        (void)close(s->spool);
    }
    tacet__file_names_free(s->files, s->file_count);
    sodium_memzero(s, sizeof *s);
    s->spool = -1;
}

tacet_status tacet__source_csv(tacet_csv **out, const void *source, size_t file, tacet_error *err) {
    const tacet__source *s = source;
    return s->spool >= 0 ? tacet__spool_open(out, s, err) : tacet_csv_open_file(out, s->files[file], NULL, err);
}
