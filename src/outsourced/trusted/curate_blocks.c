/* SPDX-License-Identifier: Apache-2.0 */
/* curate_blocks.c - a table through several threads, its order kept.
 * Ring: trusted. In: CSV files of raw records, or numbers. Out: lines of released numbers. Each thread takes the
 * next block of whole records; the first pass checks and counts them, the second, which so knows where each block's
 * records begin, draws and prints them. Finished text waits in a few slots for its turn, and whoever finishes the next
 * block in order writes all that are ready: no thread waits for another unless it is that far ahead. Buffers stay with
 * the thread that made them, and so with its processor's cache. The noise of a record depends on its number, not on
 * thread or block. A private release is of the very bytes that the first pass saw: each block's keyed hash is compared.
 * Memory: about a megabyte a thread, and 8 bytes for each 64 KiB of the table. Cost: a pass over the text; with noise,
 * d exact draws and d numbers of text a record. */
#include "io/csv/internal.h"
#include "outsourced/trusted/curate_job.h"

#include "io/csv/block.h"
#include "core/decimal.h"
#include "core/fail.h"
#include "core/memory.h"
#include "dp/bound_internal.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif
#include <pthread.h>
#include <sched.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS_MOST = 8, SLOTS_A_THREAD = 4, LOOKS = 4000, HURRY_BYTES = 4 << 20 };

/* The lines of a block that was drawn. When they are written, the buffer goes back to the thread it came from. */
typedef struct lines {
    char *text;
    size_t room, size; /* bytes */
    struct lines *next;
    struct worker *owner;
} lines;

/* What all threads share. */
typedef struct line {
    tacet__curate *job;
    tacet_table *table; /* NULL: count and check only */
    FILE *file;
    tacet_csv **csv;         /* of each file of text; open once its turn has come, until the end: blocks refer to it */
    size_t *columns;         /* of each file: where the inputs are */
    pthread_mutex_t reading; /* csv, reached, taken */
    size_t reached;          /* the file that is being read */
    size_t taken;
    pthread_mutex_t turns; /* all below, and the threads' spare buffers */
    pthread_cond_t turned;
    size_t capacity, tag_capacity, people_capacity; /* of job->found.starts, tags and people */
    size_t written;                                 /* blocks */
    bool writing;
    size_t size, hurried; /* bytes written, and those of them on their way to the disk: whoever writes */
    lines *slots[THREADS_MOST * SLOTS_A_THREAD]; /* of block k: slots[k % slot_count]; NULL: not there yet */
    size_t slot_count;
    size_t failed; /* the first block that did; SIZE_MAX */
    tacet_status status;
    tacet_error err;
} line;

/* What one of them has. */
typedef struct worker {
    line *shared;
    pthread_t thread;
    bool started;
    tacet_csv *block;
    size_t file;                        /* of text: whose block it is */
    size_t first, count;                /* of a table of numbers: the records of the block */
    unsigned char tag[TACET__MINT_TAG]; /* of the block, where the job is keyed */
    tacet_raw *raw;                     /* what is released of the records of a block */
    double *records;                    /* where they are not made in place: the records */
    double *released;                   /* and what becomes of them */
    size_t room;                        /* records */
    lines *spare;                       /* buffers that hold nothing */
    uint64_t *people;                   /* whose the records are, when checking */
    size_t people_room;
} worker;

static void drop_buffers(worker *w) {
    const tacet__curate *job = w->shared->job;
    tacet_raw_free(w->raw);
    if (w->records != NULL) {
        sodium_memzero(w->records, w->room * job->shape.d * sizeof *w->records);
    }
    free(w->records);
    free(w->released);
    w->raw = NULL;
    w->records = w->released = NULL;
    w->room = 0;
}

/* Room for all records a block can have; for checking alone, one will do. */
static tacet_status make_room(worker *w, tacet_error *err) {
    const tacet__curate *job = w->shared->job;
    const bool drawing = w->shared->table != NULL;
    const bool memory = job->source.numbers;
    const size_t numbers = memory    ? job->source.block
                           : drawing ? tacet__csv_block_most(w->block, job->shape.d) / job->shape.d
                                     : 1;
    /* Where cells may be empty a record is up to half as long. */
    const size_t room = drawing && !memory && !job->shape.bare ? 2 * numbers + 2 : numbers;
    if (room <= w->room) {
        return TACET_OK;
    }
    drop_buffers(w);
    tacet_status status = TACET_OK;
    bool lacking = false;
    w->room = room; /* a block is far smaller than the address space over 256 columns: no product overflows */
    if (!drawing || !job->shape.bare) {
        w->records = TACET__ALIGNED(double, room * job->shape.d);
        lacking = w->records == NULL;
    }
    if (drawing) {
        const size_t values = room * job->shape.dims;
        status = tacet_raw_create(&w->raw, values, err);
        w->released = TACET__ALIGNED(double, values);
        lacking = lacking || w->released == NULL;
    }
    return status == TACET_OK && lacking ? tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu records", room)
                                         : status;
}

/* Of several blocks that fail, the first counts: all before it were taken before it, and are finished. */
static void fail_block(line *l, size_t k, tacet_status status, const tacet_error *err) {
    (void)pthread_mutex_lock(&l->turns);
    if (k < l->failed) {
        l->failed = k;
        l->status = status;
        l->err = *err;
    }
    (void)pthread_cond_broadcast(&l->turned);
    (void)pthread_mutex_unlock(&l->turns);
}

static bool may_go_on(line *l) {
    const volatile bool *stop = l->job->settings->stop;
    (void)pthread_mutex_lock(&l->turns);
    const bool yes = l->failed == SIZE_MAX;
    (void)pthread_mutex_unlock(&l->turns);
    if (yes && stop != NULL && __atomic_load_n(stop, __ATOMIC_RELAXED)) {
        fail_block(l, SIZE_MAX - 1, TACET_STATE, &(tacet_error){.message = "stopped, as it was told to"});
        return false;
    }
    return yes;
}

/* Keeps the count of block k; counts become starts when all are known. */
static tacet_status keep_count(worker *w, size_t k, size_t records, tacet_error *err) {
    line *l = w->shared;
    (void)pthread_mutex_lock(&l->turns);
    bool kept = tacet__grow((void **)&l->job->found.starts, &l->capacity, k + 1, sizeof *l->job->found.starts);
    if (kept) {
        l->job->found.starts[k] = records;
    }
    if (kept && l->job->keyed) {
        kept = tacet__grow((void **)&l->job->found.tags, &l->tag_capacity, k + 1, sizeof *l->job->found.tags);
    }
    if (kept && l->job->keyed) {
        memcpy(l->job->found.tags[k], w->tag, sizeof w->tag);
    }
    if (kept && l->job->found.persons != NULL) {
        const size_t before = l->people_capacity;
        kept = tacet__grow((void **)&l->job->found.people, &l->people_capacity, k + 1, sizeof *l->job->found.people);
        for (size_t i = before; i < l->people_capacity && kept; i++) {
            l->job->found.people[i] = NULL;
        }
        l->job->found.people_blocks = l->people_capacity;
        if (kept) { /* the array becomes the job's */
            l->job->found.people[k] = w->people;
            w->people = NULL;
            w->people_room = 0;
        }
    }
    (void)pthread_mutex_unlock(&l->turns);
    return kept ? TACET_OK : tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu blocks", k + 1);
}

/* A buffer for the lines of block k, once it is not too far ahead of what is written. An empty one, or NULL with OK:
 * the run has failed. */
static tacet_status await_lines(lines **out, worker *w, size_t k, tacet_error *err) {
    line *l = w->shared;
    const size_t need = w->room * tacet__curate_line_bytes(&l->job->shape);
    *out = NULL;
    (void)pthread_mutex_lock(&l->turns);
    while (k - l->written >= l->slot_count && l->failed == SIZE_MAX) {
        (void)pthread_cond_wait(&l->turned, &l->turns);
    }
    const bool on = l->failed == SIZE_MAX;
    lines *s = on ? w->spare : NULL;
    if (s != NULL) {
        w->spare = s->next;
        s->next = NULL;
    }
    (void)pthread_mutex_unlock(&l->turns);
    if (s != NULL && s->room < need) {
        free(s->text);
        free(s);
        s = NULL;
    }
    if (on && s == NULL) {
        s = TACET__ZALLOC(lines, 1);
        char *text = TACET__ALIGNED(char, need);
        if (s == NULL || text == NULL) {
            free(s);
            free(text);
            return tacet__fail(err, TACET_NO_MEMORY, "out of memory for the lines of %zu records", w->room);
        }
        *s = (lines){.text = text, .room = need, .owner = w};
    }
    *out = s;
    return TACET_OK;
}

static tacet_status write_lines(line *l, const lines *s, size_t k, tacet_error *err) {
    const tacet_curate_settings *settings = l->job->settings;
    tacet_table_give(l->table, s->text, s->size);
    if (fwrite(s->text, 1, s->size, l->file) != s->size) {
        return tacet__fail(err, TACET_IO, "%s: cannot be written", l->job->place.unfinished);
    }
    l->size += s->size;
    if (l->size - l->hurried >= HURRY_BYTES) {
        tacet__file_hurry(l->file, l->hurried, l->size);
        l->hurried = l->size;
    }
    if (settings->progress != NULL) {
        settings->progress((double)l->job->found.starts[k] / (double)l->job->found.rows, settings->user);
    }
    return TACET_OK;
}

/* The lines of block k are there. If their turn has come, and nobody writes, they and all that wait behind them are
 * written. */
static void deliver(line *l, lines *s, size_t k) {
    tacet_error err = {0};
    tacet_status status = TACET_OK;
    (void)pthread_mutex_lock(&l->turns);
    l->slots[k % l->slot_count] = s;
    if (!l->writing) {
        l->writing = true;
        lines **next = &l->slots[l->written % l->slot_count];
        while (status == TACET_OK && *next != NULL) {
            lines *due = *next;
            const size_t number = l->written;
            (void)pthread_mutex_unlock(&l->turns); /* nobody else writes */
            status = write_lines(l, due, number, &err);
            (void)pthread_mutex_lock(&l->turns);
            *next = NULL;
            due->next = due->owner->spare;
            due->owner->spare = due;
            l->written++;
            (void)pthread_cond_broadcast(&l->turned);
            next = &l->slots[l->written % l->slot_count];
        }
        l->writing = false;
    }
    const size_t written = l->written;
    (void)pthread_mutex_unlock(&l->turns);
    if (status != TACET_OK) {
        fail_block(l, written - 1, status, &err);
    }
}

/* A block is read in a few microseconds; to sleep, and to be woken, would take longer. A reader that was interrupted is
 * not waited for that way. */
static void lock_soon(pthread_mutex_t *lock) {
    for (int i = 0; i < LOOKS; i++) {
        if (pthread_mutex_trylock(lock) == 0) {
            return;
        }
#ifdef __SSE2__
        _mm_pause();
#endif
    }
    (void)pthread_mutex_lock(lock);
}

/* The next block of text, of the file that is being read or the next one. */
static tacet_status take_text(worker *w, bool *found, tacet_error *err) {
    line *l = w->shared;
    const tacet__curate *job = l->job;
    tacet_status status = TACET_OK;
    *found = false;
    for (; l->reached < job->source.file_count; l->reached++) {
        tacet_csv **csv = &l->csv[l->reached];
        if (*csv == NULL) {
            status = tacet__curate_open(csv, l->columns + l->reached * (job->shape.d + 1), job, l->reached, err);
        }
        if (status == TACET_OK && (w->block == NULL || w->file != l->reached)) {
            tacet_csv_close(w->block);
            w->file = l->reached;
            status = tacet__csv_block_open(&w->block, *csv, err);
        }
        TACET_THEN(status, tacet__csv_block_take(w->block, *csv, found, err));
        if (status != TACET_OK || *found) {
            break;
        }
    }
    return status;
}

static tacet_status take_block(worker *w, size_t *k, bool *found, tacet_error *err) {
    line *l = w->shared;
    const tacet__curate *job = l->job;
    tacet_status status = TACET_OK;
    lock_soon(&l->reading);
    if (job->source.numbers) {
        const size_t all = job->source.count;
        const size_t block = job->source.block;
        w->first = l->taken * block;
        *found = w->first < all;
        w->count = !*found ? 0 : all - w->first < block ? all - w->first : block;
    } else {
        status = take_text(w, found, err);
    }
    *k = l->taken;
    l->taken += *found || status != TACET_OK; /* a block that could not be read has its place too */
    (void)pthread_mutex_unlock(&l->reading);
    return status;
}

/* What others may write to is read once a pass: what is hashed is what is drawn. */
static tacet_status copy(worker *w, size_t k, size_t *records, tacet_error *err) {
    const tacet__curate *job = w->shared->job;
    tacet_status status = make_room(w, err);
    double *out = status != TACET_OK ? NULL : w->records != NULL ? w->records : w->raw->values;
    if (status == TACET_OK) {
        const size_t d = job->shape.d;
        memcpy(out, job->source.records + w->first * d, w->count * d * sizeof *out);
    }
    TACET_THEN(status, tacet__curate_settle(&job->shape, out, w->first, w->count, err));
    if (status == TACET_OK && job->keyed) {
        tacet__mint_tag(&job->mint, w->tag, k, (const char *)out, w->count * job->shape.d * sizeof *out);
    }
    for (size_t i = 0; i < w->count && status == TACET_OK && job->found.persons != NULL && w->shared->table == NULL;
         i++) {
        if (!tacet__grow((void **)&w->people, &w->people_room, i + 1, sizeof *w->people)) {
            status = tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu records", w->count);
            break;
        }
        const uint64_t *who = &job->settings->persons[w->first + i];
        w->people[i] = tacet__persons_hash(job->found.persons, who, sizeof *who);
    }
    *records = w->count;
    return status;
}

static tacet_status parse(worker *w, size_t k, size_t *records, tacet_error *err) {
    const tacet__curate *job = w->shared->job;
    *records = 0;
    const size_t *columns = w->shared->columns + w->file * (job->shape.d + 1);
    if (job->source.numbers) {
        return copy(w, k, records, err);
    }
    if (job->keyed) {
        size_t size = 0;
        const char *text = tacet__csv_block_text(w->block, &size);
        tacet__mint_tag(&job->mint, w->tag, k, text, size);
    }
    const tacet_status status = make_room(w, err);
    const bool drawing = w->shared->table != NULL;
    double *out = w->records != NULL || status != TACET_OK ? w->records : w->raw->values;
    return status != TACET_OK ? status
           : job->found.persons != NULL && !drawing
               ? tacet__curate_person_rows(&job->found, &job->shape, w->block, columns, out, &w->people,
                                           &w->people_room, records, err)
               : tacet__curate_text_rows(&job->shape, w->block, columns, out, records, drawing ? w->room : 0, err);
}

static tacet_status draw(worker *w, size_t k, size_t count, tacet_error *err) {
    const tacet__curate *job = w->shared->job;
    tacet__curate_split(&job->shape, w->raw->values, w->records != NULL ? w->records : w->raw->values, count);
    return tacet_table_rows(w->shared->table, w->released, w->raw, job->found.starts[k], count, err);
}

/* Draws block k, prints it into its slot, and hands it in. OK also when another block has failed meanwhile. */
static tacet_status release_block(worker *w, size_t k, size_t records, tacet_error *err) {
    line *l = w->shared;
    const tacet__curate *job = l->job;
    if (k >= job->found.blocks || records != tacet__curate_block_rows(&job->found, k) ||
        (job->keyed && sodium_memcmp(job->found.tags[k], w->tag, sizeof w->tag) != 0)) {
        return tacet__fail(err, TACET_STATE, "%s: the table changed while it was read",
                           tacet__curate_table(job->settings));
    }
    lines *s = NULL;
    if (job->found.kept != NULL) {
        records = tacet__curate_keep_rows(&job->found, job->shape.d, w->records != NULL ? w->records : w->raw->values,
                                          k, records);
    }
    tacet_status status = records > 0 ? draw(w, k, records, err) : TACET_OK;
    TACET_THEN(status, await_lines(&s, w, k, err));
    if (s != NULL) {
        s->size = tacet__curate_lines(&job->shape, s->text, job->found.starts[k], w->released, records);
        deliver(l, s, k);
    }
    return status;
}

static void *work(void *user) {
    worker *w = user;
    line *l = w->shared;
    while (may_go_on(l)) {
        tacet_error err = {0};
        size_t k = 0;
        size_t records = 0;
        bool found = false;
        tacet_status status = take_block(w, &k, &found, &err);
        if (status == TACET_OK && !found) {
            break;
        }
        TACET_THEN(status, parse(w, k, &records, &err));
        TACET_THEN(status, l->table == NULL ? keep_count(w, k, records, &err) : release_block(w, k, records, &err));
        if (status != TACET_OK) {
            fail_block(l, k, status, &err);
        }
    }
    return NULL;
}

/* No more threads than processors, and none for a table that is a few blocks. */
static size_t thread_count(const tacet__curate *job) {
    if (job->settings->threads > 0) {
        return job->settings->threads < THREADS_MOST ? job->settings->threads : THREADS_MOST;
    }
    cpu_set_t may; /* taskset and containers leave fewer than the machine has */
    const long processors = sched_getaffinity(0, sizeof may, &may) == 0 ? CPU_COUNT(&may) : 1;
    const size_t useful = job->source.bytes / (4 * (size_t)TACET__CSV_BLOCK) + 1;
    const size_t most = processors < 1 ? 1 : processors > THREADS_MOST ? THREADS_MOST : (size_t)processors;
    return useful < most ? useful : most;
}

static void drop_lines(lines *s) {
    while (s != NULL) {
        lines *next = s->next;
        free(s->text);
        free(s);
        s = next;
    }
}

static tacet_status run(line *l, tacet_error *err) {
    worker workers[THREADS_MOST] = {{.shared = l}};
    const size_t count = thread_count(l->job);
    tacet_status status = TACET_OK;
    l->slot_count = count * SLOTS_A_THREAD;
    for (size_t i = 0; i < count; i++) {
        workers[i].shared = l;
    }
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
    for (size_t i = 0; i < l->slot_count; i++) {
        drop_lines(l->slots[i]);
    }
    for (size_t i = 0; i < count; i++) {
        drop_buffers(&workers[i]);
        free(workers[i].people);
        drop_lines(workers[i].spare);
        tacet_csv_close(workers[i].block);
    }
    return status;
}

/* Counts of records into the places of the first ones, and how many there are in all. */
static tacet_status sum_up(line *l, tacet_error *err) {
    tacet__curate *job = l->job;
    job->found.blocks = l->taken;
    job->found.rows = 0;
    if (!tacet__grow((void **)&job->found.starts, &l->capacity, job->found.blocks + 1, sizeof *job->found.starts)) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu blocks", job->found.blocks);
    }
    for (size_t k = 0; k < job->found.blocks; k++) {
        const size_t records = job->found.starts[k];
        job->found.starts[k] = job->found.rows;
        job->found.rows += records;
    }
    job->found.starts[job->found.blocks] = job->found.rows;
    return TACET_OK;
}

tacet_status tacet__curate_blocks(tacet__curate *job, tacet_table *table, FILE *file, tacet_error *err) {
    line l = {.job = job,
              .table = table,
              .file = file,
              .reading = PTHREAD_MUTEX_INITIALIZER,
              .turns = PTHREAD_MUTEX_INITIALIZER,
              .turned = PTHREAD_COND_INITIALIZER,
              .failed = SIZE_MAX};
    const size_t files = job->source.numbers ? 1 : job->source.file_count;
    l.columns = TACET__ZALLOC(size_t, files * (job->shape.d + 1));
    l.csv = TACET__ZALLOC(tacet_csv *, files);
    tacet_status status = TACET_OK;
    if (l.columns == NULL || l.csv == NULL) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu columns", job->shape.d);
    }
    for (size_t i = 0; i < job->shape.d && status == TACET_OK; i++) {
        l.columns[i] = i; /* of numbers */
    }
    TACET_THEN(status, run(&l, err));
    if (status == TACET_OK && table == NULL) {
        free(job->found.column_at);
        job->found.column_at = l.columns;
        l.columns = NULL;
        status = sum_up(&l, err);
    } else if (status == TACET_OK && l.written != job->found.blocks) {
        status = tacet__fail(err, TACET_STATE, "%s: the table changed while it was read",
                             tacet__curate_table(job->settings));
    }
    for (size_t f = 0; f < files && l.csv != NULL; f++) {
        tacet_csv_close(l.csv[f]);
    }
    free(l.csv);
    free(l.columns);
    return status;
}
