/* SPDX-License-Identifier: Apache-2.0 */
/* curate_source.c - tables that do not fit into memory, or do not lie in one file.
 * Ring: trusted. Source: none; README.md, "Where records come from". A table in a database is read once, by one
 * statement and so in one snapshot, into a file that has no name and is enciphered under a key that never leaves this
 * process: both passes of a release read that file, so that nothing others write, and no server that goes away, can
 * come between them. .npy files are mapped. Cost: a database needs 8 bytes a number on the disk that gets the release;
 * memory is a block. */
#include "outsourced/trusted/curate_source.h"

#include "core/fail.h"
#include "core/memory.h"
#include "io/csv/block.h"
#include "io/db/copy.h"
#include "io/db/db.h"
#include "io/file/folder.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
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

/* --- a database --------------------------------------------------------------------------------------------------- */

static void encipher(const tacet__source *s, double *block, size_t first, size_t count) {
    unsigned char nonce[crypto_stream_chacha20_NONCEBYTES];
    const uint64_t number = htole64((uint64_t)(first / s->block));
    memcpy(nonce, &number, sizeof number);
    (void)crypto_stream_chacha20_xor((unsigned char *)block, (const unsigned char *)block,
                                     count * s->width * sizeof *block, nonce, s->key);
}

static tacet_status transfer(const tacet__source *s, bool writing, double *block, size_t first, size_t count,
                             tacet_error *err) {
    char *bytes = (char *)block;
    size_t left = count * s->width * sizeof *block;
    off_t at = (off_t)(first * s->width * sizeof *block);
    while (left > 0) {
        const ssize_t n = writing ? pwrite(s->spool, bytes, left, at) : pread(s->spool, bytes, left, at);
        if (n <= 0 && !(n < 0 && errno == EINTR)) {
            return tacet__fail(err, TACET_IO, "what was read of the table cannot be kept beside the release: %s",
                               n == 0 ? "it is cut short" : strerror(errno));
        }
        bytes += n > 0 ? n : 0;
        left -= n > 0 ? (size_t)n : 0;
        at += n > 0 ? n : 0;
    }
    return TACET_OK;
}

/* A file without a name on the disk that will get the release: gone with the process, whatever ends it. */
static tacet_status make_spool(tacet__source *s, const char *release, tacet_error *err) {
    char place[TACET__PATH];
    char folder[TACET__PATH];
    (void)snprintf(place, sizeof place, "%s", release);
    for (size_t end = strlen(place); end > 1 && place[end - 1] == '/'; end--) {
        place[end - 1] = '\0';
    }
    tacet_status status = tacet__folder_of(folder, place, err);
    if (status != TACET_OK) {
        return status;
    }
    s->spool = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (s->spool < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) {
        status = tacet__path(place, folder, ".tacet-spool-XXXXXX", err);
        s->spool = status == TACET_OK ? mkostemp(place, O_CLOEXEC) : -1;
        if (s->spool >= 0) {
            (void)unlink(place);
        }
    }
    if (sodium_init() < 0) {
        return tacet__fail(err, TACET_IO, "the operating system gives no entropy");
    }
    randombytes_buf(s->key, sizeof s->key);
    return s->spool >= 0 ? TACET_OK
                         : tacet__fail(err, TACET_IO, "%.150s: the table cannot be kept here while it is released: %s",
                                       folder, strerror(errno));
}

/* A row of the database as a record; stand-ins for what is missing where the space has them. */
static tacet_status settle_row(double *record, const tacet__copy_cell *cells, const tacet_curate_settings *settings,
                               const char *const *columns, size_t width, size_t row, tacet_error *err) {
    for (size_t i = 0; i < width; i++) {
        if (settings->space == NULL && !cells[i].missing) {
            record[i] = cells[i].number;
            continue;
        }
        tacet_error why = {0};
        const tacet_status status =
            settings->space == NULL ? tacet__fail(&why, TACET_PARSE, "column '%s' is missing", columns[i])
                                    : tacet_space_cell(&settings->space->columns[i], &record[i], NULL,
                                                       cells[i].missing ? "" : cells[i].text, cells[i].length, &why);
        if (status != TACET_OK) {
            return tacet__fail(err, status, "%s: row %zu (counted from 0): %s", settings->table, row, why.message);
        }
    }
    return TACET_OK;
}

static tacet_status flush_block(const tacet__source *s, double *block, size_t first, size_t count, tacet_error *err) {
    encipher(s, block, first, count);
    return transfer(s, true, block, first, count, err);
}

static tacet_status read_database(tacet__source *s, const tacet_curate_settings *settings, const char *const *columns,
                                  tacet_error *err) {
    const tacet__copy_wanted wanted = {.url = settings->data,
                                       .table = settings->table,
                                       .order = settings->order,
                                       .columns = columns,
                                       .count = s->width,
                                       .text = settings->space != NULL};
    tacet__copy *copy = NULL;
    tacet__copy_cell *cells = TACET__ZALLOC(tacet__copy_cell, s->width);
    double *block = TACET__ALIGNED(double, s->block * s->width);
    tacet_status status = cells == NULL || block == NULL
                              ? tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu columns", s->width)
                              : make_spool(s, settings->folder, err);
    status = status != TACET_OK ? status : tacet__copy_open(&copy, &wanted, err);
    size_t held = 0;
    for (bool found = true; status == TACET_OK && found;) {
        status = tacet__copy_next(copy, cells, &found, err);
        if (status == TACET_OK && found) {
            status = settle_row(block + held * s->width, cells, settings, columns, s->width, s->count, err);
            held++;
            s->count++;
        }
        if (status == TACET_OK && held > 0 && (held == s->block || !found)) {
            status = flush_block(s, block, s->count - held, held, err);
            held = 0;
            if (settings->stop != NULL && __atomic_load_n(settings->stop, __ATOMIC_RELAXED)) {
                status = tacet__fail(err, TACET_STATE, "stopped, as it was told to");
            }
        }
    }
    tacet__copy_close(copy);
    if (block != NULL) {
        sodium_memzero(block, s->block * s->width * sizeof *block);
    }
    free(block);
    free(cells);
    return status;
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
                                size_t width, tacet_error *err) {
    *out = (tacet__source){.spool = -1, .width = width, .numbers = true};
    out->block = TACET__CSV_BLOCK / sizeof(double) / width + 1;
    tacet_status status = TACET_OK;
    if (settings->records != NULL) {
        out->records = settings->records;
        out->count = settings->record_count;
    } else if (settings->table != NULL) {
        status = read_database(out, settings, columns, err);
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
    const tacet_status status = transfer(s, false, out, first, count, err);
    if (status == TACET_OK) {
        encipher(s, out, first, count); /* the same stream takes it off */
    }
    return status;
}

tacet__rows tacet__source_rows(const tacet__source *s) {
    return (tacet__rows){.width = s->width, .count = s->count, .step = s->block, .read = tacet__source_read, .user = s};
}
