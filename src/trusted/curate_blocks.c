/* curate_blocks.c - a table through several threads, its order kept.
 * Ring: trusted. In: a CSV of raw records. Out: lines of released numbers. Each thread takes the next block of whole
 * records, parses it, learns from the blocks before it how many records they had, draws, prints, and writes when its
 * turn comes. Noise: every thread has a source of its own from the operating system; a seeded one is opened anew for
 * each block, by its number, so that what is drawn depends on the seed and the table alone. Memory: about a megabyte a
 * thread, whatever the table's size. Cost: a pass over the text; with noise, d exact draws and d numbers of text a
 * record. */
#include "trusted/curate_blocks.h"

#include "base/csv_block.h"
#include "base/decimal.h"
#include "base/fail.h"
#include "base/linalg.h"
#include "base/memory.h"
#include "gate/bound_internal.h"

#include <pthread.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/db/csvfile.h>
#include <unistd.h>

enum { THREADS_MOST = 8 };

/* What all threads share. */
typedef struct line {
    tacet__curate *job;
    tacet_table *table; /* NULL: count and check only */
    FILE *file;
    tacet_csv *csv;
    size_t *columns;
    pthread_mutex_t reading; /* csv, taken */
    size_t taken;
    pthread_mutex_t turns; /* all below */
    pthread_cond_t turned;
    size_t parsed, written; /* blocks */
    size_t rows;            /* of the blocks parsed */
    tacet_status status;    /* of the first block that failed */
    tacet_error err;
} line;

/* What one of them has. */
typedef struct worker {
    line *shared;
    pthread_t thread;
    bool started;
    tacet_csv *block;
    tacet_noise *noise;
    tacet_raw *raw;   /* the records of a block; with a projection, their images */
    double *records;  /* with a projection, and when checking: the records */
    double *released; /* and what becomes of them */
    char *text;
    size_t room; /* records */
} worker;

static void drop_buffers(worker *w) {
    const tacet__curate *job = w->shared->job;
    tacet_raw_free(w->raw);
    if (w->records != NULL) {
        sodium_memzero(w->records, w->room * job->d * sizeof *w->records);
    }
    free(w->records);
    free(w->released);
    free(w->text);
    w->raw = NULL;
    w->records = w->released = NULL;
    w->text = NULL;
    w->room = 0;
}

/* Room for all records a block can have; for checking, one will do. */
static tacet_status make_room(worker *w, tacet_error *err) {
    const tacet__curate *job = w->shared->job;
    const bool drawing = w->shared->table != NULL;
    const size_t room = drawing ? tacet__csv_block_most(w->block, job->d) / job->d : 1;
    if (room <= w->room) {
        return TACET_OK;
    }
    drop_buffers(w);
    tacet_status status = TACET_OK;
    bool lacking = false;
    w->room = room; /* a block is far smaller than the address space over 256 columns: no product overflows */
    if (!drawing || job->matrix != NULL) {
        w->records = TACET__ALIGNED(double, room * job->d);
        lacking = w->records == NULL;
    }
    if (drawing) {
        const size_t numbers = room * job->dims;
        status = tacet_raw_create(&w->raw, numbers, err);
        w->released = TACET__ALIGNED(double, numbers);
        w->text = TACET__ALIGNED(char, (numbers + room) * (TACET__DECIMAL_BYTES + 1));
        lacking = lacking || w->released == NULL || w->text == NULL;
    }
    return status == TACET_OK && lacking ? tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu records", room)
                                         : status;
}

/* Waits for *turn to be k, with `turns` held; false when a block before k has failed. */
static bool await(line *l, const size_t *turn, size_t k) {
    while (*turn != k && l->status == TACET_OK) {
        (void)pthread_cond_wait(&l->turned, &l->turns);
    }
    return l->status == TACET_OK;
}

static void fail_line(line *l, tacet_status status, const tacet_error *err) {
    l->status = status;
    l->err = *err;
}

/* In turn: this block's records are known. *first becomes the number of the first. */
static bool enter(line *l, size_t k, size_t *first, size_t records, tacet_status status, tacet_error *err) {
    (void)pthread_mutex_lock(&l->turns);
    bool going = await(l, &l->parsed, k);
    *first = l->rows;
    if (going && status == TACET_OK && l->table != NULL && records > l->job->rows - l->rows) {
        status = tacet__fail(err, TACET_STATE, "%s: the table changed while it was read", l->job->settings->data);
    }
    if (going && status != TACET_OK) {
        fail_line(l, status, err);
        going = false;
    }
    l->rows += records;
    l->parsed = k + 1;
    (void)pthread_cond_broadcast(&l->turned);
    (void)pthread_mutex_unlock(&l->turns);
    return going;
}

/* In turn: the block's lines leave. */
static bool leave(line *l, size_t k, const char *text, size_t size, size_t first, tacet_status status,
                  tacet_error *err) {
    (void)pthread_mutex_lock(&l->turns);
    bool going = await(l, &l->written, k);
    (void)pthread_mutex_unlock(&l->turns);
    if (going && status == TACET_OK) { /* nobody else's turn, so no lock is needed */
        tacet_table_give(l->table, text, size);
        if (fwrite(text, 1, size, l->file) != size) {
            status = tacet__fail(err, TACET_IO, "%s: cannot be written", l->job->unfinished);
        }
        if (l->job->settings->progress != NULL) {
            l->job->settings->progress((double)first / (double)l->job->rows, l->job->settings->user);
        }
    }
    (void)pthread_mutex_lock(&l->turns);
    if (going && status != TACET_OK) {
        fail_line(l, status, err);
        going = false;
    }
    l->written = k + 1;
    (void)pthread_cond_broadcast(&l->turned);
    (void)pthread_mutex_unlock(&l->turns);
    return going;
}

static tacet_status take(worker *w, size_t *k, bool *found, tacet_error *err) {
    line *l = w->shared;
    (void)pthread_mutex_lock(&l->reading);
    tacet_status status = tacet__csv_block_take(w->block, l->csv, found, err);
    *k = l->taken;
    l->taken += *found || status != TACET_OK;
    (void)pthread_mutex_unlock(&l->reading);
    return status;
}

static tacet_status parse(worker *w, size_t *records, tacet_error *err) {
    const tacet__curate *job = w->shared->job;
    *records = 0;
    const tacet_status status = make_room(w, err);
    if (status == TACET_OK && w->shared->table != NULL) {
        return tacet_csv_rows(w->block, w->records != NULL ? w->records : w->raw->values, records, w->shared->columns,
                              job->d, w->room, err);
    }
    return status != TACET_OK ? status
                              : tacet_csv_check(w->block, w->records, records, w->shared->columns, job->d, err);
}

static tacet_status draw(worker *w, size_t k, size_t records, tacet_error *err) {
    const tacet__curate *job = w->shared->job;
    double *scaled = w->records != NULL ? w->records : w->raw->values;
    tacet__curate_scale(job, scaled, records);
    for (size_t j = 0; j < records && job->matrix != NULL; j++) {
        tacet__gemv(false, job->dims, job->d, 1, job->matrix, job->dims, scaled + j * job->d, 0,
                    w->raw->values + j * job->dims);
    }
    tacet_status status = TACET_OK;
    if (job->settings->seeded) {
        tacet_noise_close(w->noise);
        status = tacet_noise_open_seeded(&w->noise, job->settings->noise_seed, k, err);
    } else if (w->noise == NULL) {
        status = tacet_noise_open(&w->noise, err);
    }
    return status != TACET_OK ? status
                              : tacet_table_rows(w->shared->table, w->noise, w->released, w->raw, records, err);
}

static void *work(void *user) {
    worker *w = user;
    line *l = w->shared;
    bool going = true;
    while (going) {
        tacet_error err = {0};
        size_t k = 0;
        size_t records = 0;
        size_t first = 0;
        bool found = false;
        tacet_status status = take(w, &k, &found, &err);
        if (status == TACET_OK && !found) {
            break;
        }
        status = status != TACET_OK ? status : parse(w, &records, &err);
        going = enter(l, k, &first, records, status, &err);
        if (going && l->table != NULL) {
            status = draw(w, k, records, &err);
            const size_t size =
                status == TACET_OK ? tacet__curate_lines(l->job, w->text, first, w->released, records) : 0;
            going = leave(l, k, w->text, size, first, status, &err);
        }
    }
    return NULL;
}

/* No more threads than processors, and none for a table that is a few blocks. */
static size_t thread_count(const tacet__curate *job) {
    if (job->settings->threads > 0) {
        return job->settings->threads < THREADS_MOST ? job->settings->threads : THREADS_MOST;
    }
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    const size_t useful = job->bytes / (4 * (size_t)TACET__CSV_BLOCK) + 1;
    const size_t most = processors < 1 ? 1 : processors > THREADS_MOST ? THREADS_MOST : (size_t)processors;
    return useful < most ? useful : most;
}

static tacet_status run(line *l, tacet_error *err) {
    worker workers[THREADS_MOST] = {{.shared = l}};
    const size_t count = thread_count(l->job);
    tacet_status status = TACET_OK;
    for (size_t i = 0; i < count && status == TACET_OK; i++) {
        workers[i].shared = l;
        status = tacet__csv_block_open(&workers[i].block, l->csv, err);
    }
    if (status == TACET_OK) {
        for (size_t i = 1; i < count; i++) { /* a thread that cannot be had is done without */
            workers[i].started = pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0;
        }
        (void)work(&workers[0]);
        for (size_t i = 1; i < count; i++) {
            if (workers[i].started) {
                (void)pthread_join(workers[i].thread, NULL);
            }
        }
        if (l->status != TACET_OK) {
            status = tacet__fail(err, l->status, "%s", l->err.message);
        }
    }
    for (size_t i = 0; i < count && workers[i].shared != NULL; i++) {
        drop_buffers(&workers[i]);
        tacet_noise_close(workers[i].noise);
        tacet_csv_close(workers[i].block);
    }
    return status;
}

tacet_status tacet__curate_blocks(tacet__curate *job, size_t *rows, tacet_table *table, FILE *file, tacet_error *err) {
    line l = {.job = job,
              .table = table,
              .file = file,
              .reading = PTHREAD_MUTEX_INITIALIZER,
              .turns = PTHREAD_MUTEX_INITIALIZER,
              .turned = PTHREAD_COND_INITIALIZER};
    l.columns = TACET__ZALLOC(size_t, job->d);
    if (l.columns == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu columns", job->d);
    }
    tacet_status status = tacet__curate_open(&l.csv, l.columns, job, err);
    status = status != TACET_OK ? status : run(&l, err);
    *rows = l.rows;
    tacet_csv_close(l.csv);
    free(l.columns);
    return status;
}
