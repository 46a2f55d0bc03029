/* SPDX-License-Identifier: Apache-2.0 */
/* sketch.c - bottom-k sketches of the rows of a table.
 * Ring: trusted. Source: Broder, "On the resemblance and containment of documents" (1997), section 4; Cohen, Kaplan,
 * "Summarizing data using bottom-k sketches" (2007). Differs: of the rows that both sketches can speak of (hashes up to
 * the smaller of their two largest), counts what they share, so that tables of different sizes can be compared.
 * Hashes are keyed (SipHash-2-4). The table as a whole is known by the number of its rows and the sums of their hashes
 * and of the squares of these, whatever their order: so several threads each take a part of it, and no byte is hashed
 * twice. Cost: one pass, O(k) memory a thread. */
#include "registry/sketch.h"

#include "core/fail.h"
#include "core/memory.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { READ_BYTES = 1 << 16, ROOM = 2 * TACET__SKETCH_MOST, THREADS_MOST = 8, PART_BYTES = 1 << 20 };

/* A part of the table, and what one thread knows of it. */
struct tacet__sketching {
    unsigned char row_key[crypto_shorthash_KEYBYTES];
    uint64_t found[ROOM]; /* hashes up to `limit`, in no order, some twice */
    size_t count;
    uint64_t limit;
    uint64_t rows, sum, squares; /* of all hashes; modulo 2^64 */
    bool full;
    char *line; /* the row that is being read, its blanks and quotes left out */
    size_t length, capacity;
    bool header; /* it is the first one */
    int fd;
    size_t begin, end;        /* the rows that begin there: places in the file, or numbers of rows in memory */
    const tacet__rows *table; /* of numbers */
    int wrong;                /* errno, or 0 */
    pthread_t thread;
    bool started;
};
typedef struct tacet__sketching sketching;

static int ascending(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a;
    const uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The smallest ones, once each. */
static void squeeze(sketching *s) {
    qsort(s->found, s->count, sizeof *s->found, ascending);
    size_t kept = 0;
    for (size_t i = 0; i < s->count; i++) {
        if (kept == 0 || s->found[kept - 1] != s->found[i]) {
            s->found[kept++] = s->found[i];
        }
    }
    if (kept > TACET__SKETCH_MOST) {
        kept = TACET__SKETCH_MOST;
        s->full = true;
        s->limit = s->found[kept - 1];
    }
    s->count = kept;
}

static void add_row(sketching *s, const void *row, size_t size) {
    unsigned char bytes[crypto_shorthash_BYTES];
    uint64_t hash = 0;
    (void)crypto_shorthash(bytes, row, size, s->row_key);
    memcpy(&hash, bytes, sizeof hash);
    s->rows++;
    s->sum += hash;
    s->squares += hash * hash;
    if (hash <= s->limit) {
        s->found[s->count++] = hash;
        if (s->count == ROOM) {
            squeeze(s);
        }
    }
}

static void end_row(sketching *s) {
    if (s->length > 0 && !s->header) {
        add_row(s, s->line, s->length);
    }
    s->header = s->header && s->length == 0;
    s->length = 0;
}

/* Whether blanks or quotes are among the bytes. */
static bool has_others(const char *bytes, size_t count) {
    static const char OTHERS[] = {' ', '\t', '\r', '"'};
    for (size_t i = 0; i < sizeof OTHERS; i++) {
        if (memchr(bytes, OTHERS[i], count) != NULL) {
            return true;
        }
    }
    return false;
}

static bool add_bytes(sketching *s, const char *bytes, size_t count) {
    if (!tacet__grow((void **)&s->line, &s->capacity, s->length + count, 1)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        const char c = bytes[i];
        if (c != ' ' && c != '\t' && c != '\r' && c != '"') {
            s->line[s->length++] = c;
        }
    }
    return true;
}

/* Rows of the bytes at place `at` of the file; *done when one begins behind the part. A row that is plain is hashed
 * where it lies. */
static bool take_bytes(sketching *s, size_t at, const char *bytes, size_t count, bool *begun, bool *done) {
    const bool plain = !has_others(bytes, count);
    for (size_t i = 0; i < count;) {
        const char *feed = memchr(bytes + i, '\n', count - i);
        const size_t size = feed != NULL ? (size_t)(feed - bytes) - i : count - i;
        if (!*begun && at + i >= s->end) {
            *done = true;
            return true;
        }
        *begun = true;
        if (feed != NULL && plain && s->length == 0 && size > 0 && !s->header) {
            add_row(s, bytes + i, size);
        } else if (!add_bytes(s, bytes + i, size)) {
            return false;
        } else if (feed != NULL) {
            end_row(s);
        }
        *begun = feed == NULL;
        i += size + (feed != NULL);
    }
    return true;
}

/* The bytes of a part, from the first row that begins in it. */
static void *read_part(void *user) {
    sketching *s = user;
    char *bytes = TACET__ZALLOC(char, READ_BYTES);
    size_t at = s->begin > 0 ? s->begin - 1 : 0;
    bool skipping = s->begin > 0; /* to behind the first line feed: the row before is another part's */
    bool begun = false;
    bool done = false;
    s->wrong = bytes == NULL ? ENOMEM : 0;
    while (s->wrong == 0 && !done) {
        const ssize_t got = pread(s->fd, bytes, READ_BYTES, (off_t)at);
        if (got <= 0) {
            s->wrong = got < 0 && errno != EINTR ? errno : 0;
            done = got == 0;
            continue;
        }
        const char *feed = skipping ? memchr(bytes, '\n', (size_t)got) : NULL;
        const size_t skip = !skipping ? 0 : feed != NULL ? (size_t)(feed - bytes) + 1 : (size_t)got;
        skipping = skipping && feed == NULL;
        if (!take_bytes(s, at + skip, bytes + skip, (size_t)got - skip, &begun, &done)) {
            s->wrong = ENOMEM;
        }
        at += (size_t)got;
    }
    end_row(s);
    squeeze(s);
    if (bytes != NULL) {
        sodium_memzero(bytes, READ_BYTES);
    }
    free(bytes);
    return NULL;
}

static void *hash_rows(void *user) {
    sketching *s = user;
    const tacet__rows *t = s->table;
    double *some = t->numbers == NULL ? TACET__ALIGNED(double, t->step * t->width) : NULL;
    s->wrong = t->numbers == NULL && some == NULL ? ENOMEM : 0;
    const size_t step = t->numbers == NULL ? t->step : s->end - s->begin;
    for (size_t at = s->begin; at < s->end && s->wrong == 0; at += step) {
        const size_t now = s->end - at < step ? s->end - at : step;
        const double *rows = t->numbers != NULL ? t->numbers + at * t->width : some;
        if (t->numbers == NULL && t->read(t->user, some, at, now, NULL) != TACET_OK) {
            s->wrong = EIO;
        }
        for (size_t i = 0; i < now && s->wrong == 0; i++) {
            add_row(s, rows + i * t->width, t->width * sizeof *rows);
        }
    }
    if (some != NULL) {
        sodium_memzero(some, t->step * t->width * sizeof *some);
    }
    free(some);
    squeeze(s);
    return NULL;
}

static void drop_parts(sketching *s, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (s[i].line != NULL) {
            sodium_memzero(s[i].line, s[i].capacity);
        }
        free(s[i].line);
    }
    sodium_memzero(s, count * sizeof *s);
    free(s);
}

static void set_row_key(sketching *s, const unsigned char key[TACET__SKETCH_KEY]) {
    static const unsigned char ROWS[] = "rows";
    (void)crypto_generichash(s->row_key, sizeof s->row_key, ROWS, sizeof ROWS, key, TACET__SKETCH_KEY);
}

/* `threads` parts of equal size, each like `first`; with 0 as many as there are processors and megabytes. */
static sketching *divide(size_t *count, const sketching *first, size_t size, size_t bytes, size_t threads,
                         const unsigned char key[TACET__SKETCH_KEY]) {
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    const size_t whole = bytes / PART_BYTES;
    const size_t useful = whole > 0 ? whole : 1;
    size_t parts = threads > 0 ? threads : processors < 1 ? 1 : (size_t)processors;
    parts = threads == 0 && useful < parts ? useful : parts;
    parts = parts < THREADS_MOST ? parts : THREADS_MOST;
    sketching *s = TACET__ZALLOC(sketching, parts);
    const size_t step = first->table != NULL && first->table->numbers == NULL ? first->table->step : 1;
    const size_t each = size / parts / step * step; /* parts of what is read begin where a run does */
    for (size_t i = 0; i < parts && s != NULL; i++) {
        s[i] = *first;
        s[i].limit = UINT64_MAX;
        s[i].begin = i * each;
        s[i].end = i + 1 < parts ? (i + 1) * each : size;
        s[i].header = i == 0;
        set_row_key(&s[i], key);
    }
    *count = parts;
    return s;
}

static void gather(sketching *to, const sketching *from) {
    memcpy(to->found + to->count, from->found, from->count * sizeof *to->found);
    to->count += from->count; /* each has at most half of the room */
    to->full = to->full || from->full;
    to->rows += from->rows;
    to->sum += from->sum;
    to->squares += from->squares;
    squeeze(to);
}

/* Runs the parts, and gathers them in the first. */
static int run_parts(sketching *s, size_t count, void *(*part)(void *)) {
    int wrong = 0;
    for (size_t i = 1; i < count; i++) {
        s[i].started = pthread_create(&s[i].thread, NULL, part, &s[i]) == 0;
    }
    (void)part(&s[0]);
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && s[i].started) {
            (void)pthread_join(s[i].thread, NULL);
        } else if (i > 0) {
            (void)part(&s[i]); /* a thread that cannot be had is done without */
        }
        wrong = wrong != 0 ? wrong : s[i].wrong;
    }
    for (size_t i = 1; i < count; i++) {
        gather(s, &s[i]);
    }
    return wrong;
}

static void keep_sketch(tacet__sketch *out, const sketching *s, const unsigned char key[TACET__SKETCH_KEY]) {
    const uint64_t whole[] = {htole64(s->rows), htole64(s->sum), htole64(s->squares)};
    (void)crypto_generichash(out->bytes, sizeof out->bytes, (const unsigned char *)whole, sizeof whole, key,
                             TACET__SKETCH_KEY);
    out->count = s->count;
    out->full = s->full;
    memcpy(out->rows, s->found, s->count * sizeof *out->rows);
}

static tacet_status fail(int wrong, const char *path, tacet_error *err) {
    return wrong == ENOMEM ? tacet__fail(err, TACET_NO_MEMORY, "out of memory for a sketch")
           : wrong == ESPIPE
               ? tacet__fail(err, TACET_INVALID, "%s: the table is read twice, so it must be a file", path)
           : wrong == ENOENT ? tacet__fail(err, TACET_NOT_FOUND, "%s: cannot be read: %s", path, strerror(wrong))
                             : tacet__fail(err, TACET_IO, "%s: cannot be read: %s", path, strerror(wrong));
}

/* One file's parts, added to `total`; errno, or 0. Of a pipe the rows are gone once they were read: its sketch would be
 * that of no table, which is known to nobody. */
static int add_file(sketching *total, const char *path, size_t threads, const unsigned char key[TACET__SKETCH_KEY]) {
    struct stat st;
    size_t parts = 0;
    const sketching first = {.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    if (first.fd < 0 || fstat(first.fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        const int wrong = first.fd < 0 ? errno : ESPIPE;
        if (first.fd >= 0) {
            (void)close(first.fd);
        }
        return wrong;
    }
    sketching *s = divide(&parts, &first, (size_t)st.st_size, (size_t)st.st_size, threads, key);
    const int wrong = s == NULL ? ENOMEM : run_parts(s, parts, read_part);
    (void)close(first.fd);
    if (s != NULL) {
        gather(total, s);
        drop_parts(s, parts);
    }
    return wrong;
}

static int begin_sketch(tacet__sketch *out, sketching **total) {
    memset(out, 0, sizeof *out);
    out->rows = TACET__ZALLOC(uint64_t, TACET__SKETCH_MOST);
    *total = TACET__ZALLOC(sketching, 1);
    if (*total != NULL) {
        (*total)->limit = UINT64_MAX;
    }
    return *total == NULL || out->rows == NULL ? ENOMEM : 0;
}

static tacet_status end_sketch(tacet__sketch *out, sketching *total, int wrong, const char *path,
                               const unsigned char key[TACET__SKETCH_KEY], tacet_error *err) {
    if (wrong == 0) {
        keep_sketch(out, total, key);
    } else {
        tacet__sketch_clear(out);
    }
    if (total != NULL) {
        drop_parts(total, 1);
    }
    return wrong == 0 ? TACET_OK : fail(wrong, path, err);
}

tacet_status tacet__sketch_files(tacet__sketch *out, const char *const *paths, size_t count, size_t threads,
                                 const unsigned char key[TACET__SKETCH_KEY], tacet_error *err) {
    sketching *total = NULL;
    const char *path = "";
    int wrong = begin_sketch(out, &total);
    for (size_t i = 0; i < count && wrong == 0; i++) {
        path = paths[i];
        wrong = add_file(total, path, threads, key);
    }
    return end_sketch(out, total, wrong, path, key, err);
}

tacet_status tacet__sketch_rows(tacet__sketch *out, const tacet__rows *rows, size_t threads,
                                const unsigned char key[TACET__SKETCH_KEY], tacet_error *err) {
    size_t parts = 0;
    sketching *total = NULL;
    const sketching first = {.table = rows};
    int wrong = begin_sketch(out, &total);
    sketching *s = wrong == 0
                       ? divide(&parts, &first, rows->count, rows->count * rows->width * sizeof(double), threads, key)
                       : NULL;
    wrong = wrong != 0 ? wrong : s == NULL ? ENOMEM : run_parts(s, parts, hash_rows);
    if (s != NULL) {
        gather(total, s);
        drop_parts(s, parts);
    }
    return end_sketch(out, total, wrong, "a table of numbers", key, err);
}

tacet__sketching *tacet__sketching_begin(const unsigned char key[TACET__SKETCH_KEY]) {
    sketching *s = TACET__ZALLOC(sketching, 1);
    if (s != NULL) {
        s->limit = UINT64_MAX;
        set_row_key(s, key);
    }
    return s;
}

void tacet__sketching_add(tacet__sketching *s, const double *rows, size_t count, size_t width) {
    for (size_t i = 0; i < count; i++) {
        add_row(s, rows + i * width, width * sizeof *rows);
    }
}

void tacet__sketching_gather(tacet__sketching *to, tacet__sketching *from) {
    squeeze(to);
    squeeze(from);
    gather(to, from);
}

tacet_status tacet__sketching_end(tacet__sketch *out, tacet__sketching *s, const unsigned char key[TACET__SKETCH_KEY],
                                  tacet_error *err) {
    memset(out, 0, sizeof *out);
    out->rows = TACET__ZALLOC(uint64_t, TACET__SKETCH_MOST);
    if (out->rows == NULL) {
        return fail(ENOMEM, "", err);
    }
    squeeze(s);
    keep_sketch(out, s, key);
    return TACET_OK;
}

void tacet__sketching_free(tacet__sketching *s) {
    if (s != NULL) {
        drop_parts(s, 1);
    }
}

void tacet__sketch_write(tacet__writer *w, const tacet__sketch *sketch) {
    tacet__write_bytes(w, sketch->bytes, sizeof sketch->bytes);
    tacet__write_u64(w, sketch->full);
    tacet__write_size(w, sketch->count);
    tacet__write_u64s(w, sketch->rows, sketch->count);
}

void tacet__sketch_read(tacet__reader *r, tacet__sketch *sketch) {
    const unsigned char *bytes = NULL;
    if (tacet__read_bytes(r, &bytes) != sizeof sketch->bytes || r->failed) {
        r->failed = true;
        return;
    }
    memcpy(sketch->bytes, bytes, sizeof sketch->bytes);
    sketch->full = tacet__read_u64(r) != 0;
    sketch->count = tacet__read_size(r, TACET__SKETCH_MOST);
    tacet__read_u64s(r, sketch->rows, sketch->count);
}

void tacet__sketch_clear(tacet__sketch *sketch) {
    free(sketch->rows);
    memset(sketch, 0, sizeof *sketch);
}

/* The largest hash of which a sketch can say whether the table has it. */
static uint64_t reach(const tacet__sketch *s) {
    return s->full ? s->rows[s->count - 1] : UINT64_MAX;
}

double tacet__sketch_shared(const tacet__sketch *a, const tacet__sketch *b) {
    const uint64_t end = reach(a) < reach(b) ? reach(a) : reach(b);
    size_t i = 0;
    size_t j = 0;
    size_t both = 0;
    if (memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0) {
        return 1;
    }
    while (i < a->count && j < b->count && a->rows[i] <= end && b->rows[j] <= end) {
        both += a->rows[i] == b->rows[j];
        const bool first = a->rows[i] <= b->rows[j];
        const bool second = b->rows[j] <= a->rows[i];
        i += first;
        j += second;
    }
    while (i < a->count && a->rows[i] <= end) {
        i++;
    }
    while (j < b->count && b->rows[j] <= end) {
        j++;
    }
    const size_t fewer = i < j ? i : j;
    return fewer > 0 ? (double)both / (double)fewer : 0;
}
