/* SPDX-License-Identifier: Apache-2.0 */
/* curate_source.c - tables that do not fit into memory, or do not lie in one file.
 * Ring: trusted. Source: none; README.md, "Where records come from". .npy files are mapped; curate_database.c reads
 * what lies in a database. */
#include "outsourced/trusted/curate_source.h"

#include "core/fail.h"
#include "core/memory.h"
#include "io/csv/block.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

/* --- .npy --------------------------------------------------------------------------------------------------------- */

static tacet_status open_npy(tacet__source *s, const char *const *columns, tacet_error *err) {
    s->npy = TACET__ZALLOC(tacet_npy, s->file_count);
    s->column_at = TACET__ZALLOC(size_t, s->file_count * s->width);
    s->first = TACET__ZALLOC(size_t, s->file_count + 1);
    if (s->npy == NULL || s->column_at == NULL || s->first == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu files", s->file_count);
    }
    tacet_status status = TACET_OK;
    for (size_t f = 0; f < s->file_count && status == TACET_OK; f++) {
        status = tacet_npy_open(&s->npy[f], s->files[f], err);
        for (size_t i = 0; i < s->width && status == TACET_OK; i++) {
            status = tacet__npy_column(&s->column_at[f * s->width + i], &s->npy[f], columns[i], s->files[f], err);
        }
        s->first[f + 1] = s->first[f] + s->npy[f].rows;
    }
    s->count = s->first[s->file_count];
    return status;
}

static void read_npy(const tacet__source *s, double *out, size_t first, size_t count) {
    size_t f = 0;
    for (size_t j = 0; j < count; j++) {
        while (first + j >= s->first[f + 1]) {
            f++;
        }
        const tacet_npy *npy = &s->npy[f];
        const size_t at = (first + j - s->first[f]) * npy->row_step;
        for (size_t i = 0; i < s->width; i++) {
            const size_t cell = at + s->column_at[f * s->width + i];
            out[j * s->width + i] =
                npy->single ? (double)((const float *)npy->data)[cell] : ((const double *)npy->data)[cell];
        }
    }
}

/* --- all of them -------------------------------------------------------------------------------------------------- */

static tacet_status open_files(tacet__source *s, const tacet_curate_settings *settings, const char *const *columns,
                               tacet_error *err) {
    tacet_status status = tacet__file_names(&s->files, &s->file_count, settings->data, err);
    size_t npy = 0;
    for (size_t f = 0; f < s->file_count && status == TACET_OK; f++) {
        status = check_file(s->files[f], &s->bytes, err);
        npy += tacet__is_npy(s->files[f]);
    }
    if (status == TACET_OK && npy > 0 && npy < s->file_count) {
        status = tacet__fail(err, TACET_INVALID, "the files of a table are all .npy or all CSV");
    }
    s->numbers = npy > 0;
    return status == TACET_OK && npy > 0 ? open_npy(s, columns, err) : status;
}

tacet_status tacet__source_open(tacet__source *out, const tacet_curate_settings *settings, const char *const *columns,
                                size_t width, tacet__source_seen seen, void *user, tacet_error *err) {
    *out = (tacet__source){.spool = -1, .width = width, .numbers = true};
    out->block = TACET__CSV_BLOCK / sizeof(double) / width + 1;
    tacet_status status = TACET_OK;
    if (settings->records != NULL) {
        out->records = settings->records;
        out->count = settings->record_count;
    } else if (settings->table != NULL) {
        status = tacet__source_database(out, settings, columns, seen, user, err);
    } else {
        status = open_files(out, settings, columns, err);
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
    for (size_t f = 0; f < s->file_count && s->npy != NULL; f++) {
        tacet_npy_close(&s->npy[f]);
    }
    if (s->width > 0 && s->spool >= 0) {
        (void)close(s->spool);
    }
    tacet__file_names_free(s->files, s->file_count);
    free(s->npy);
    free(s->column_at);
    free(s->first);
    sodium_memzero(s, sizeof *s);
    s->spool = -1;
}

tacet_status tacet__source_read(const void *source, double *out, size_t first, size_t count, tacet_error *err) {
    const tacet__source *s = source;
    if (s->records != NULL) {
        memcpy(out, s->records + first * s->width, count * s->width * sizeof *out);
        return TACET_OK;
    }
    if (s->npy != NULL) {
        read_npy(s, out, first, count);
        return TACET_OK;
    }
    return tacet__spool_read(s, out, first, count, err);
}

tacet__rows tacet__source_rows(const tacet__source *s) {
    return (tacet__rows){.width = s->width, .count = s->count, .step = s->block, .read = tacet__source_read, .user = s};
}
