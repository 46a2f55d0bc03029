/* SPDX-License-Identifier: Apache-2.0 */
/* engine.c - the studies in use, and what is asked outside of them: tokens, lists, new studies.
 * Ring: open. Cost: a lock and a short list walk a job; a token is looked up in the store every few seconds. */
#include "service/open/engine/engine.h"

#include "core/fail.h"
#include "core/memory.h"
#include "service/open/engine/internal.h"

#include <math.h>
#include <stdatomic.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TOKEN_SLOTS = 256, NAME_SLOTS = 1024, LOADED_MOST = 1024, THREADS_MOST = 256 };
static const double OPEN_SECONDS = 1;  /* between two tries to open a store that is not there */
static const double READY_SECONDS = 1; /* a probe is good for so long */
static const double TOKEN_SECONDS = 5; /* a dropped token is good for so long at the most */

typedef struct known_token {
    tacet__token token;
    double until; /* 0: empty */
} known_token;

struct tacet__engine {
    tacet__engine_settings settings;
    pthread_mutex_t lock; /* of the next six */
    tacet__worker *workers[NAME_SLOTS];
    tacet__thread *threads;
    tacet__thread *shared; /* the one of the local studies of a folder: two would read each other's pages again, at 1.3
                            times the processor time. NULL: not started yet */
    tacet__thread *turn;   /* whose studies the next one joins, once there are THREADS_MOST */
    size_t thread_count;
    bool stop;
    pthread_mutex_t reader_lock; /* of the next two; held while the store is asked */
    tacet__studies *reader;
    bool opened; /* it was, once: from then on nothing is made */
    pthread_mutex_t token_lock;
    known_token tokens[TOKEN_SLOTS];
    tacet__errands *desks[TACET__DESKS];
    tacet__watchdog *watchdog;
    tacet__studies *probed;                /* the probe's own */
    tacet__studies *makers[TACET__MAKERS]; /* kept open for those that make studies; under the engine's lock */
    atomic_size_t made;                    /* requests for new studies, which the makers take in turn */
    pthread_mutex_t ready_lock;            /* of the next two */
    double ready_at;                       /* when it was tried; 0: never */
    bool ready;
    const char *unready; /* why not, for who asks */
};

tacet__job *tacet__job_create(tacet__job_kind kind) {
    tacet__job *job = TACET__ZALLOC(tacet__job, 1);
    if (job != NULL) {
        job->kind = kind;
        job->index = TACET__NO_INDEX;
        job->y = UINT64_MAX;
    }
    return job;
}

void tacet__job_free(tacet__job *job) {
    if (job != NULL) {
        if (job->points != NULL) {
            sodium_memzero(job->points, job->d * job->count * sizeof(double));
            free(job->points);
        }
        if (job->context != NULL) {
            sodium_memzero(job->context, job->context_dim * sizeof(double));
            free(job->context);
        }
        json_decref(job->named);
        json_decref(job->reports);
        json_decref(job->body);
        json_decref(job->point);
        sodium_memzero(job, sizeof *job);
        free(job);
    }
}

/* A store that failed is opened anew, and one that was never opened is made where it is missing; the caller has the
 * reader's lock.
 */
static tacet_status reader(tacet__engine *e, tacet_error *err) {
    tacet__studies_settings s = e->settings.store;
    s.create = s.create && !e->opened;
    const tacet_status status = e->reader != NULL ? TACET_OK : tacet__studies_open(&e->reader, &s, err);
    e->opened = e->opened || status == TACET_OK;
    return status;
}

static void drop_reader_on(tacet__engine *e, tacet_status status) {
    if (status == TACET_OK) {
        tacet__metrics_moved(e->settings.metrics);
    }
    if (status == TACET_IO || status == TACET_REPLACED || status == TACET_CORRUPT) {
        tacet__studies_close(e->reader);
        e->reader = NULL;
    }
}

void tacet__engine_say(const tacet__engine *e, const char *what, const tacet_error *err) {
    char line[sizeof((tacet_error *)NULL)->message + 80];
    if (e->settings.log != NULL) {
        (void)snprintf(line, sizeof line, "%s%s%s", what, err != NULL ? ": " : "", err != NULL ? err->message : "");
        e->settings.log(e->settings.log_user, line);
    }
}

/* An errand of the desk's own: until the store can be opened. */
typedef struct opening {
    tacet__errand errand;
    tacet__engine *engine;
} opening;

static void open_again(tacet__errand *errand, bool stopping) {
    opening *o = (opening *)errand;
    tacet__engine *e = o->engine;
    tacet_error err = {0};
    if (stopping) {
        free(o);
        return;
    }
    (void)pthread_mutex_lock(&e->reader_lock);
    const tacet_status status = reader(e, &err);
    (void)pthread_mutex_unlock(&e->reader_lock);
    if (status == TACET_OK) {
        tacet__engine_say(e, "the store is there", NULL);
        free(o);
        return;
    }
    tacet__engine_say(e, "waiting for the store", &err);
    const double until = tacet__service_now() + OPEN_SECONDS;
    bool stop = false;
    while (!stop && tacet__service_now() < until) {
        const struct timespec wait = {.tv_nsec = 50000000};
        (void)nanosleep(&wait, NULL);
        (void)pthread_mutex_lock(&e->lock);
        stop = e->stop;
        (void)pthread_mutex_unlock(&e->lock);
    }
    tacet__errands_send(e->desks[TACET__DESK], errand);
}

static tacet_status wait_for_store(tacet__engine *e, tacet_error *err) {
    opening *o = TACET__ZALLOC(opening, 1);
    if (o == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory starting the service");
    }
    *o = (opening){.errand = {.run = open_again}, .engine = e};
    tacet__engine_say(e, "the store cannot be reached yet; not ready", err);
    tacet_error_clear(err);
    tacet__errands_send(e->desks[TACET__DESK], &o->errand);
    return TACET_OK;
}

tacet_status tacet__engine_open(tacet__engine **out, const tacet__engine_settings *settings, tacet_error *err) {
    tacet_error failure = {0};
    *out = NULL;
    tacet__engine *e = TACET__ZALLOC(tacet__engine, 1);
    if (e == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory starting the service");
    }
    e->settings = *settings;
    (void)pthread_mutex_init(&e->lock, NULL);
    (void)pthread_mutex_init(&e->reader_lock, NULL);
    (void)pthread_mutex_init(&e->token_lock, NULL);
    (void)pthread_mutex_init(&e->ready_lock, NULL);
    tacet_status status = TACET_OK;
    for (size_t i = 0; i < TACET__DESKS; i++) {
        TACET_THEN(status, tacet__errands_open(&e->desks[i], &failure));
    }
    TACET_THEN(status, tacet__watchdog_open(&e->watchdog, &failure));
    TACET_THEN(status, reader(e, &failure));
    if (settings->patient && e->watchdog != NULL &&
        (status == TACET_IO || status == TACET_REPLACED || status == TACET_BUSY)) {
        status = wait_for_store(e, &failure);
    }
    if (status != TACET_OK) {
        tacet__engine_close(e);
        return tacet__fail(err, status, "%s", failure.message);
    }
    *out = e;
    return TACET_OK;
}

void tacet__engine_stop(tacet__engine *e) {
    (void)pthread_mutex_lock(&e->lock);
    e->stop = true;
    for (tacet__thread *l = e->threads; l != NULL; l = *tacet__thread_next(l)) {
        tacet__thread_stop(l);
    }
    (void)pthread_mutex_unlock(&e->lock);
    for (size_t i = 0; i < TACET__DESKS && e->desks[i] != NULL; i++) {
        tacet__errands_stop(e->desks[i]);
    }
}

void tacet__engine_drain(tacet__engine *e) {
    for (size_t i = 0; i < TACET__DESKS && e->desks[i] != NULL; i++) {
        tacet__errands_join(e->desks[i]); /* it may be starting a worker */
    }
    for (tacet__thread *l = e->threads; l != NULL; l = *tacet__thread_next(l)) {
        tacet__thread_join(l);
    }
}

void tacet__engine_close(tacet__engine *e) {
    if (e == NULL) {
        return;
    }
    tacet__engine_stop(e);
    tacet__engine_drain(e);
    while (e->threads != NULL) {
        tacet__thread *l = e->threads;
        e->threads = *tacet__thread_next(l);
        tacet__thread_free(l);
    }
    for (size_t i = 0; i < TACET__DESKS; i++) {
        tacet__errands_close(e->desks[i]);
    }
    tacet__watchdog_close(e->watchdog);
    tacet__studies_close(e->reader);
    tacet__studies_close(e->probed);
    for (size_t i = 0; i < TACET__MAKERS; i++) {
        tacet__studies_close(e->makers[i]);
    }
    (void)pthread_mutex_destroy(&e->lock);
    (void)pthread_mutex_destroy(&e->reader_lock);
    (void)pthread_mutex_destroy(&e->token_lock);
    (void)pthread_mutex_destroy(&e->ready_lock);
    sodium_memzero(e->tokens, sizeof e->tokens);
    free(e);
}

typedef struct wanted_study {
    const char *name;
    tacet__study study;
} wanted_study;

static tacet_status get_study(tacet__studies *store, void *user, tacet_error *err) {
    wanted_study *w = user;
    return tacet__studies_get(store, &w->study, w->name, err);
}

static size_t slot_of(const char *name) {
    size_t hash = 5381;
    for (; *name != '\0'; name++) {
        hash = hash * 33 + (unsigned char)*name;
    }
    return hash % NAME_SLOTS;
}

static tacet__worker *find(const tacet__engine *e, const char *name) {
    tacet__worker *w = e->workers[slot_of(name)];
    while (w != NULL && strcmp(w->r.name, name) != 0) {
        w = w->next;
    }
    return w;
}

/* A thread for one more study. Those that do not gather share what may be in memory evenly. */
static tacet_status thread_for(tacet__engine *e, tacet__thread **out, tacet__study_model model, tacet_error *err) {
    const size_t loaded = e->settings.loaded_most > 0 ? e->settings.loaded_most : LOADED_MOST;
    const size_t threads = loaded < THREADS_MOST ? loaded : THREADS_MOST;
    const bool shares = model == TACET__STUDY_LOCAL && tacet__studies_can_gather(&e->settings.store);
    *out = shares ? e->shared : NULL;
    if (!shares && e->thread_count >= threads) {
        do {
            e->turn =
                e->turn != NULL && *tacet__thread_next(e->turn) != NULL ? *tacet__thread_next(e->turn) : e->threads;
        } while (e->turn == e->shared);
        *out = e->turn;
    }
    if (*out != NULL) {
        return TACET_OK;
    }
    const tacet_status status = tacet__thread_start(out, &e->settings, shares, shares ? loaded : loaded / threads, err);
    if (status == TACET_OK) {
        *tacet__thread_next(*out) = e->threads;
        e->threads = *out;
        e->thread_count += !shares;
        e->shared = shares ? *out : e->shared;
    }
    return status;
}

/* Under the engine's lock. */
static tacet_status start(tacet__engine *e, tacet__worker **out, const char *name, tacet__study_model model,
                          tacet_error *err) {
    tacet__thread *thread = NULL;
    tacet_status status = thread_for(e, &thread, model, err);
    TACET_THEN(status, tacet__thread_add(thread, out, name, err));
    if (status == TACET_OK) {
        tacet__worker **slot = &e->workers[slot_of(name)];
        (*out)->next = *slot;
        *slot = *out;
    }
    return status;
}

/* The worker of a study in use; NULL: it is not. */
static tacet_status worker_in_use(tacet__engine *e, tacet__worker **out, const char *name, tacet_error *err) {
    (void)pthread_mutex_lock(&e->lock);
    *out = find(e, name);
    const bool stop = e->stop;
    (void)pthread_mutex_unlock(&e->lock);
    if (stop) {
        return tacet__fail(err, TACET_BUSY, "the server is stopping");
    }
    return *out != NULL || tacet__definition_name_valid(name) ? TACET_OK
                                                              : tacet__fail(err, TACET_NOT_FOUND, "no such study");
}

/* The worker of a study, started when it is the first to be asked. On the desk. */
static tacet_status worker_of(tacet__engine *e, tacet__worker **out, const char *name, tacet_error *err) {
    tacet_status status = worker_in_use(e, out, name, err);
    if (status != TACET_OK || *out != NULL) {
        return status;
    }
    wanted_study wanted = {.name = name};
    tacet__study_init(&wanted.study);
    status = tacet__engine_with_store(e, get_study, &wanted, err);
    if (status == TACET_OK) {
        (void)pthread_mutex_lock(&e->lock);
        *out = find(e, name);
        if (e->stop) {
            status = tacet__fail(err, TACET_BUSY, "the server is stopping");
        } else if (*out == NULL) {
            status = start(e, out, name, wanted.study.model, err);
        }
        (void)pthread_mutex_unlock(&e->lock);
    }
    if (status == TACET_OK && e->settings.ahead) {
        tacet__study_ahead(e->desks[TACET__AHEAD], &e->settings, (const char *)wanted.study.definition.data,
                           wanted.study.definition.size);
    }
    tacet__study_clear(&wanted.study);
    return status;
}

static void hand_over(tacet_status status, tacet__worker *w, tacet__job *job, const tacet_error *err) {
    if (status == TACET_OK && w != NULL) {
        tacet__worker_submit(w, job);
    } else {
        tacet__job_fail(job, status, status == TACET_NOT_FOUND ? "no such study" : err->message);
    }
}

/* A job for a study that is not in use yet. */
typedef struct first_job {
    tacet__errand errand;
    tacet__engine *engine;
    tacet__job *job;
    char study[TACET__STUDY_NAME_MOST + 1];
} first_job;

static void begin_study(tacet__errand *errand, bool stopping) {
    first_job *f = (first_job *)errand;
    tacet__worker *w = NULL;
    tacet_error err = {0};
    const tacet_status status =
        stopping ? tacet__fail(&err, TACET_BUSY, "the server is stopping") : worker_of(f->engine, &w, f->study, &err);
    hand_over(status, w, f->job, &err);
    free(f);
}

void tacet__engine_submit(tacet__engine *e, const char *study, tacet__job *job) {
    tacet__worker *w = NULL;
    tacet_error err = {0};
    tacet_status status = worker_in_use(e, &w, study, &err);
    if (status == TACET_OK && w == NULL) {
        first_job *f = TACET__ZALLOC(first_job, 1);
        if (f != NULL) {
            *f = (first_job){.errand = {.run = begin_study}, .engine = e, .job = job};
            (void)snprintf(f->study, sizeof f->study, "%s", study);
            tacet__errands_send(e->desks[TACET__DESK], &f->errand);
            return;
        }
        status = tacet__fail(&err, TACET_NO_MEMORY, "out of memory for a study");
    }
    hand_over(status, w, job, &err);
}

/* --- tokens, lists, whether it is ready --------------------------------------------------------------------------- */

void tacet__engine_errand(tacet__engine *e, tacet__errand *errand, tacet__desk desk) {
    const size_t turn = desk == TACET__MAKER ? atomic_fetch_add(&e->made, 1) % TACET__MAKERS : 0;
    tacet__errands_send(e->desks[(size_t)desk + turn], errand);
}

/* A store that no maker has in hand; NULL: one is to be opened. */
static tacet__studies *take_maker(tacet__engine *e) {
    tacet__studies *store = NULL;
    (void)pthread_mutex_lock(&e->lock);
    for (size_t i = 0; store == NULL && i < TACET__MAKERS; i++) {
        store = e->makers[i];
        e->makers[i] = NULL;
    }
    (void)pthread_mutex_unlock(&e->lock);
    return store;
}

static void put_maker(tacet__engine *e, tacet__studies *store) {
    (void)pthread_mutex_lock(&e->lock);
    for (size_t i = 0; store != NULL && i < TACET__MAKERS; i++) {
        if (e->makers[i] == NULL) {
            e->makers[i] = store;
            store = NULL;
        }
    }
    (void)pthread_mutex_unlock(&e->lock);
    tacet__studies_close(store);
}

tacet_status tacet__engine_create(tacet__engine *e, json_t **out, bool dry, const char *definition, size_t size,
                                  tacet_error *err) {
    tacet__studies *store = take_maker(e);
    const tacet_status status = tacet__study_make(&store, &e->settings, out, dry, definition, size, err);
    put_maker(e, store);
    if (status == TACET_OK && !dry && e->settings.ahead) {
        tacet__study_ahead(e->desks[TACET__AHEAD], &e->settings, definition, size);
    }
    return status;
}

tacet__watchdog *tacet__engine_watchdog(tacet__engine *e) {
    return e->watchdog;
}

bool tacet__engine_token_known(tacet__engine *e, tacet__token *out, const char *text) {
    unsigned char hash[TACET__STUDIES_TOKEN_HASH];
    tacet__studies_token_hash(hash, text, strlen(text));
    (void)pthread_mutex_lock(&e->token_lock);
    const known_token *slot = &e->tokens[hash[0] % TOKEN_SLOTS];
    const bool known = slot->until > tacet__service_now() && sodium_memcmp(slot->token.hash, hash, sizeof hash) == 0;
    if (known) {
        *out = slot->token;
    }
    (void)pthread_mutex_unlock(&e->token_lock);
    return known;
}

typedef struct wanted_token {
    const char *text;
    tacet__token *out;
} wanted_token;

static tacet_status check_token(tacet__studies *store, void *user, tacet_error *err) {
    const wanted_token *w = user;
    return tacet__studies_check_token(store, w->out, w->text, err);
}

tacet_status tacet__engine_token(tacet__engine *e, tacet__token *out, const char *text, tacet_error *err) {
    wanted_token wanted = {text, out};
    if (tacet__engine_token_known(e, out, text)) {
        return TACET_OK;
    }
    const tacet_status status = tacet__engine_with_store(e, check_token, &wanted, err);
    if (status == TACET_OK) {
        (void)pthread_mutex_lock(&e->token_lock);
        e->tokens[out->hash[0] % TOKEN_SLOTS] =
            (known_token){.token = *out, .until = tacet__service_now() + TOKEN_SECONDS};
        (void)pthread_mutex_unlock(&e->token_lock);
    }
    return status;
}

tacet_status tacet__engine_with_store(tacet__engine *e,
                                      tacet_status (*fn)(tacet__studies *store, void *user, tacet_error *err),
                                      void *user, tacet_error *err) {
    (void)pthread_mutex_lock(&e->reader_lock);
    tacet_status status = reader(e, err);
    TACET_THEN(status, fn(e->reader, user, err));
    drop_reader_on(e, status);
    (void)pthread_mutex_unlock(&e->reader_lock);
    return status;
}

typedef struct study_walk {
    tacet__study_fn *fn;
    void *user;
} study_walk;

static tacet_status walk_studies(tacet__studies *store, void *user, tacet_error *err) {
    const study_walk *w = user;
    return tacet__studies_list(store, w->fn, w->user, err);
}

tacet_status tacet__engine_list(tacet__engine *e, tacet__study_fn *fn, void *user, tacet_error *err) {
    study_walk w = {fn, user};
    return tacet__engine_with_store(e, walk_studies, &w, err);
}

/* One family of numbers, of every study that was asked since the start. */
static void family(const tacet__engine *e, FILE *out, const char *name, const char *kind, const char *help,
                   double (*of)(const tacet__worker *worker)) {
    (void)fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind);
    for (size_t i = 0; i < NAME_SLOTS; i++) {
        for (const tacet__worker *w = e->workers[i]; w != NULL; w = w->next) {
            const double value = of(w);
            if (!isnan(value)) {
                (void)fprintf(out, "%s{study=\"%s\"} %.12g\n", name, w->r.name, value);
            }
        }
    }
}

static double issued_of(const tacet__worker *w) {
    return (double)atomic_load_explicit(&w->issued, memory_order_relaxed);
}

static double failures_of(const tacet__worker *w) {
    return (double)atomic_load_explicit(&w->failures, memory_order_relaxed);
}

static double budget_of(const tacet__worker *w) {
    const double eps = atomic_load(&w->budget_eps);
    return eps > 0 ? eps : (double)NAN;
}

static double left_of(const tacet__worker *w) {
    return isnan(budget_of(w)) ? (double)NAN : atomic_load(&w->left_eps);
}

void tacet__engine_tell(FILE *out, void *user) {
    tacet__engine *e = user;
    (void)pthread_mutex_lock(&e->lock);
    family(e, out, "tacet_study_tickets", "gauge", "Tickets that a study has given.", issued_of);
    family(e, out, "tacet_study_failures_total", "counter", "What failed for a study here.", failures_of);
    family(e, out, "tacet_study_budget_eps", "gauge", "The budget of a study's ledger.", budget_of);
    family(e, out, "tacet_study_budget_left_eps", "gauge", "What is left of it.", left_of);
    (void)pthread_mutex_unlock(&e->lock);
}

bool tacet__engine_ready_known(tacet__engine *e, bool *ready) {
    (void)pthread_mutex_lock(&e->ready_lock);
    const bool known = e->ready_at > 0 && tacet__service_now() - e->ready_at < READY_SECONDS;
    *ready = e->ready;
    (void)pthread_mutex_unlock(&e->ready_lock);
    return known;
}

const char *tacet__engine_unready(tacet__engine *e) {
    (void)pthread_mutex_lock(&e->ready_lock);
    const char *why = e->unready;
    (void)pthread_mutex_unlock(&e->ready_lock);
    return why;
}

bool tacet__engine_ready(tacet__engine *e) {
    bool ready = false;
    tacet_error err = {0};
    if (tacet__engine_ready_known(e, &ready)) {
        return ready;
    }
    tacet__studies_settings s = e->settings.store;
    s.create = false;
    tacet_status status = e->probed != NULL ? TACET_OK : tacet__studies_open(&e->probed, &s, &err);
    TACET_THEN(status, tacet__studies_probe(e->probed, &err));
    const char *why = status == TACET_REPLACED
                          ? "the database that answers was replaced by another: the server's log names it"
                          : "the store cannot be written now";
    if (status == TACET_OK) {
        why = "the key file of the ledgers cannot be used: the server's log says why";
        status = tacet__engine_keys(&e->settings, e->probed, &err);
    }
    if (status != TACET_OK) {
        tacet__studies_close(e->probed);
        e->probed = NULL;
        tacet__metrics_add(&e->settings.metrics->failures, 1);
    }
    (void)pthread_mutex_lock(&e->ready_lock);
    const bool changed = e->ready_at > 0 && e->ready != (status == TACET_OK);
    e->ready = status == TACET_OK;
    e->unready = why;
    e->ready_at = tacet__service_now();
    (void)pthread_mutex_unlock(&e->ready_lock);
    if (status != TACET_OK || changed) {
        tacet__engine_say(e, status == TACET_OK ? "ready again" : "not ready", status == TACET_OK ? NULL : &err);
    }
    return status == TACET_OK;
}
