/* worker.c - one study at work: a queue, a thread, batches, replay, long polls.
 * Ring: service. The order of a batch is fixed (engine.h); no answer leaves before the commit it rests on. Replay:
 * what a policy suggests is a function of the events before it, so each replayed suggestion must come out as it was
 * stored, and a study where it does not is stopped. Cost: one transaction a batch, O(policy) a job. */
#include "service/engine_internal.h"
#include "service/round.h"

#include "base/fail.h"
#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    BATCH_MOST = 64,
    QUEUE_MOST = 4096,
    SNAPSHOT_BYTES = 64, /* of snapshots an event, on average: a policy of 256 KiB costs that at
                            TACET__SNAPSHOT_EVENTS, a larger one is saved less often */
    STOP_SNAPSHOT = 256, /* a worker that stops saves its policy when a replay would have more events than this */
    PROJECT_BATCHES = 32 /* the open store may lag by that many batches while there is work */
};
static const double POLL_SECONDS = 0.25; /* how often the log is read for others' observations while someone waits */

struct tacet__worker {
    const tacet__engine_settings *settings;
    char name[TACET__STUDY_NAME_MOST + 1];
    pthread_t thread;
    tacet__worker *next;
    bool joined;

    pthread_mutex_t lock; /* of the next four */
    pthread_cond_t wake;
    tacet__job *first, *last;
    size_t queued;
    bool stop;

    /* The thread's own. */
    tacet__studies *store;
    tacet__study study;
    tacet__definition def;
    const tacet__policy_kind *kind;
    tacet__learner learner;
    bool loaded;
    bool damaged;     /* CORRUPT was seen: nothing is served until a person looked */
    uint64_t applied; /* seq up to which the policy in memory has the log */
    uint64_t saved;   /* seq of the newest snapshot */
    size_t saved_size;
    unsigned unprojected;
    tacet__job *waiting; /* long polls */
};

double tacet__service_now(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void tacet__job_fail(tacet__job *job, tacet_status status, const char *message) {
    tacet_error_clear(&job->err);
    job->status = tacet__fail(&job->err, status, "%s", message);
    job->done(job);
}

static void count(_Atomic uint64_t *what) {
    atomic_fetch_add_explicit(what, 1, memory_order_relaxed);
}

static void log_failure(const tacet__worker *w, const char *what, const tacet_error *err) {
    char line[sizeof err->message + TACET__STUDY_NAME_MOST + 64];
    if (w->settings->log != NULL) {
        (void)snprintf(line, sizeof line, "study %s: %s: %s", w->name, what, err->message);
        w->settings->log(w->settings->log_user, line);
    }
}

/* --- the policy in memory ----------------------------------------------------------------------------------------- */

static void unload(tacet__worker *w) {
    if (w->loaded) {
        atomic_fetch_sub_explicit(&w->settings->metrics->studies, 1, memory_order_relaxed);
    }
    tacet__learner_free(w->kind, &w->learner);
    tacet__definition_clear(&w->def);
    w->loaded = false;
}

static tacet_status connect_store(tacet__worker *w, tacet_error *err) {
    if (w->store != NULL) {
        return TACET_OK;
    }
    tacet__studies_settings s = w->settings->store;
    s.create = false;
    return tacet__studies_open(&w->store, &s, err);
}

/* The policy as of the newest snapshot; begin then reads what came after. */
static tacet_status load(tacet__worker *w, tacet_error *err) {
    tacet_blob snapshot;
    tacet_blob ledger;
    uint64_t seq = 0;
    tacet_blob_init(&snapshot);
    tacet_blob_init(&ledger);
    tacet_status status = connect_store(w, err);
    status = status != TACET_OK ? status : tacet__studies_get(w->store, &w->study, w->name, err);
    if (status == TACET_OK) {
        status =
            tacet__definition_decode(&w->def, (const char *)w->study.definition.data, w->study.definition.size, err);
    }
    if (status == TACET_OK && (w->kind = tacet__policy_find(w->settings->kinds, &w->def)) == NULL) {
        status = tacet__fail(err, TACET_NOT_FOUND, "this server does not serve studies of this kind");
    }
    const bool central = status == TACET_OK && w->def.trust == TACET_TRUST_CENTRAL;
    if (central) {
        /* A trusted store that was put back to an older state is found here, before anything is drawn from it. */
        status = tacet__studies_project(w->store, &w->study, err);
        status = status != TACET_OK ? status : tacet__studies_ledger(w->store, &ledger, w->name, err);
    }
    if (status == TACET_OK) {
        tacet_error none = {0};
        status = tacet__studies_get_snapshot(w->store, &w->study, &snapshot, &seq, &none);
        if (status == TACET_NOT_FOUND && !central) {
            seq = 0;
            status = TACET_OK;
        } else if (status == TACET_NOT_FOUND) {
            status = tacet__fail(err, TACET_STATE, "the study was not created to its end: create it again");
        } else if (status != TACET_OK) {
            status = tacet__fail(err, status, "%s", none.message);
        }
    }
    if (status == TACET_OK) {
        status = w->kind->create(&w->learner, &w->def, central ? (const char *)ledger.data : NULL, snapshot.data,
                                 snapshot.size, err);
    }
    const size_t size = snapshot.size;
    tacet_blob_clear(&snapshot);
    tacet_blob_clear(&ledger);
    if (status != TACET_OK) {
        tacet__definition_clear(&w->def);
        return status;
    }
    w->loaded = true;
    w->applied = w->saved = seq;
    w->saved_size = size;
    count(&w->settings->metrics->rebuilds);
    count(&w->settings->metrics->studies);
    return TACET_OK;
}

/* Long polls of a suggestion that was observed are answered at the end of the batch. */
static void notice(tacet__worker *w, uint64_t suggestion) {
    for (tacet__job *job = w->waiting; job != NULL; job = job->next) {
        if (job->seq == suggestion) {
            job->observed = true;
        }
    }
}

/* One event of the log into the policy. */
static tacet_status replay(const tacet__event *e, void *user, tacet_error *err) {
    tacet__worker *w = user;
    tacet_error inner = {0};
    tacet_status status = TACET_OK;
    if (e->kind == TACET__EVENT_SUGGEST) {
        tacet__round round;
        tacet_suggestion s = {0};
        status = tacet__round_decode(&round, e->body, e->body_size, &inner);
        status = status != TACET_OK
                     ? status
                     : tacet_policy_suggest(w->learner.policy, &s, round.points != NULL ? &round.round : NULL, &inner);
        tacet__round_clear(&round);
        if (status == TACET_OK && (s.ticket != e->number || s.index != e->index)) {
            return tacet__fail(err, TACET_CORRUPT, "event %llu: the policy does not suggest what was suggested",
                               (unsigned long long)e->seq);
        }
    } else if (e->kind == TACET__EVENT_OBSERVE) {
        status =
            tacet_policy_observe(w->learner.policy, e->number, tacet__definition_towards(&w->def, e->value), &inner);
        notice(w, e->of);
    }
    if (status == TACET_NO_MEMORY || status == TACET_IO || status == TACET_BUSY) {
        return tacet__fail(err, status, "%s", inner.message);
    }
    if (status != TACET_OK) {
        return tacet__fail(err, TACET_CORRUPT, "event %llu cannot be replayed: %s", (unsigned long long)e->seq,
                           inner.message);
    }
    w->applied = e->seq;
    return TACET_OK;
}

/* Lock, and the policy up to the head of the log. */
static tacet_status begin(tacet__worker *w, tacet_error *err) {
    tacet_status status = w->loaded ? TACET_OK : load(w, err);
    status = status != TACET_OK ? status : tacet__studies_begin(w->store, &w->study, err);
    if (status != TACET_OK) {
        return status;
    }
    if (w->study.head < w->applied) {
        status = tacet__fail(err, TACET_CORRUPT, "the store has fewer events than were committed to it");
    } else if (w->study.head > w->applied) {
        status = tacet__studies_read(w->store, &w->study, w->applied + 1, replay, w, err);
    }
    if (status != TACET_OK) {
        tacet__studies_rollback(w->store);
        unload(w);
    }
    return status;
}

/* --- jobs --------------------------------------------------------------------------------------------------------- */

/* Anything else than OK from a job is its own answer; `broken` is the batch's end: memory and store no longer agree. */
typedef struct batch {
    bool broken;
    bool wrote;
    tacet_error err;
} batch;

static tacet_status append(tacet__worker *w, batch *b, tacet__event *event) {
    const tacet_status status = tacet__studies_append(w->store, &w->study, event, &b->err);
    b->broken = status != TACET_OK;
    b->wrote = true;
    return status;
}

static void show_action(const tacet__worker *w, tacet__job *job) {
    const double *from = w->def.count > 0 ? w->def.points : job->points;
    const size_t available = w->def.count > 0 ? w->def.count : job->count;
    job->action_size = 0;
    if (from != NULL && job->index < available) {
        memcpy(job->action, from + job->index * w->def.d, w->def.d * sizeof(double));
        job->action_size = w->def.d;
    }
}

typedef struct body_check {
    const tacet_blob *body;
    bool same;
} body_check;

static tacet_status compare_body(const tacet__event *e, void *user, tacet_error *err) {
    body_check *c = user;
    (void)err;
    c->same = e->body_size == c->body->size && (e->body_size == 0 || memcmp(e->body, c->body->data, e->body_size) == 0);
    return TACET_STATE; /* one event is enough */
}

/* A key that was used before gets the answer it had, provided it asks for the same. */
static tacet_status repeat(tacet__worker *w, tacet__job *job, const tacet_blob *body, const tacet__suggestion *old) {
    body_check c = {.body = body};
    const tacet_status status = tacet__studies_read(w->store, &w->study, old->event.seq, compare_body, &c, &job->err);
    if (status != TACET_STATE) {
        return status != TACET_OK ? status
                                  : tacet__fail(&job->err, TACET_CORRUPT, "a suggestion is missing in the log");
    }
    tacet_error_clear(&job->err);
    if (!c.same) {
        return tacet__fail(&job->err, TACET_CONFLICT, "the key was used before with another decision set");
    }
    job->seq = old->event.seq;
    job->index = old->event.index;
    job->repeated = true;
    return TACET_OK;
}

static tacet_status check_round(const tacet__worker *w, const tacet__job *job, tacet_error *err) {
    if (!w->kind->sets && job->points != NULL) {
        return tacet__fail(err, TACET_INVALID, "the study has a fixed domain: a decision set is not taken");
    }
    if (w->kind->sets && job->points == NULL) {
        return tacet__fail(err, TACET_INVALID, "the study needs a decision set each round");
    }
    if (w->kind->sets && job->count > w->def.set_most) {
        return tacet__fail(err, TACET_INVALID, "a decision set may have at most %zu arms", w->def.set_most);
    }
    return TACET_OK;
}

static tacet_status suggest(tacet__worker *w, batch *b, tacet__job *job) {
    tacet_blob body;
    tacet__suggestion old;
    tacet_blob_init(&body);
    const tacet_round round = {.points = job->points, .ld = job->d, .d = job->d, .count = job->count};
    tacet_status status = check_round(w, job, &job->err);
    if (status == TACET_OK && job->points != NULL) {
        status = tacet__round_encode(&body, &round, &job->err);
    }
    if (status == TACET_OK && job->key[0] != '\0') {
        tacet_error none = {0};
        status = tacet__studies_by_key(w->store, &w->study, &old, job->key, strlen(job->key), &none);
        if (status == TACET_OK) {
            status = repeat(w, job, &body, &old);
            goto done;
        }
        status = status == TACET_NOT_FOUND ? TACET_OK : tacet__fail(&job->err, status, "%s", none.message);
    }
    if (status == TACET_OK && w->study.state == TACET__STUDY_ARCHIVED) {
        status = tacet__fail(&job->err, TACET_STATE, "the study is archived");
    }
    if (status != TACET_OK) {
        goto done;
    }
    tacet_suggestion s = {0};
    status = tacet_policy_suggest(w->learner.policy, &s, job->points != NULL ? &round : NULL, &job->err);
    if (status == TACET_OK) {
        tacet__event event = {.kind = TACET__EVENT_SUGGEST,
                              .number = s.ticket,
                              .index = s.index,
                              .key = job->key[0] != '\0' ? job->key : NULL,
                              .key_size = strlen(job->key),
                              .body = body.data,
                              .body_size = body.size};
        status = append(w, b, &event);
        job->seq = event.seq;
        job->index = s.index;
    }
done:
    if (status == TACET_OK) {
        tacet__ticket_make(job->ticket, job->seq, w->study.secret);
        show_action(w, job);
    }
    tacet_blob_clear(&body);
    return status;
}

static tacet_status find(tacet__worker *w, tacet__job *job, tacet__suggestion *out) {
    if (!tacet__ticket_read(&job->seq, job->ticket, w->study.secret)) {
        return tacet__fail(&job->err, TACET_NOT_FOUND, "no such ticket in this study");
    }
    return tacet__studies_suggestion(w->store, &w->study, out, job->seq, &job->err);
}

static tacet_status observe(tacet__worker *w, batch *b, tacet__job *job) {
    tacet__suggestion s;
    tacet_status status = find(w, job, &s);
    if (status != TACET_OK) {
        return status;
    }
    job->clipped =
        w->def.trust == TACET_TRUST_CENTRAL && !(job->value >= w->def.reward_lo && job->value <= w->def.reward_hi);
    if (s.observed) {
        /* Bit for bit: a retry sends the same text. */
        if (memcmp(&s.value, &job->value, sizeof s.value) != 0) {
            return tacet__fail(&job->err, TACET_CONFLICT, "the ticket was observed before, with another value");
        }
        job->repeated = true;
        return TACET_OK;
    }
    if (w->study.state == TACET__STUDY_ARCHIVED) {
        return tacet__fail(&job->err, TACET_STATE, "the study is archived");
    }
    status = tacet_policy_observe(w->learner.policy, s.event.number, tacet__definition_towards(&w->def, job->value),
                                  &job->err);
    if (status == TACET_OK) {
        tacet__event event = {.kind = TACET__EVENT_OBSERVE,
                              .of = job->seq,
                              .number = s.event.number,
                              .index = TACET__NO_INDEX,
                              .value = job->value};
        status = append(w, b, &event);
        notice(w, job->seq);
    }
    return status;
}

static tacet_status look(tacet__worker *w, tacet__job *job) {
    tacet__suggestion s;
    const tacet_status status = find(w, job, &s);
    if (status == TACET_OK) {
        job->index = s.event.index;
        job->observed = s.observed;
        show_action(w, job);
    }
    return status;
}

static tacet_status tell(tacet__worker *w, tacet__job *job) {
    tacet_guarantee g;
    tacet_policy_guarantee(w->learner.policy, &g);
    json_t *definition = json_loadb((const char *)w->study.definition.data, w->study.definition.size, 0, NULL);
    const bool archived = w->study.state == TACET__STUDY_ARCHIVED;
    job->body = json_pack(
        "{ss ss so sI sI sI sI sI s{sb so so ss ss ss}}", "name", w->name, "state", archived ? "archived" : "active",
        "definition", definition, "created", (json_int_t)w->study.created, "suggested", (json_int_t)w->study.suggested,
        "observed", (json_int_t)w->study.observed, "released", (json_int_t)w->study.released, "rounds_left",
        (json_int_t)(w->def.rounds > w->study.suggested ? w->def.rounds - w->study.suggested : 0), "guarantee",
        "proven", (int)g.proven, "eps", isfinite(g.eps) ? json_real(g.eps) : json_null(), "delta", json_real(g.delta),
        "protects", g.protects, "statement", g.statement, "proof", g.proof != NULL ? g.proof : "");
    return job->body != NULL ? TACET_OK : tacet__fail(&job->err, TACET_NO_MEMORY, "out of memory making an answer");
}

static tacet_status release(tacet__worker *w, batch *b, tacet__job *job) {
    if (w->study.state == TACET__STUDY_ARCHIVED) {
        return tacet__fail(&job->err, TACET_STATE, "the study is archived");
    }
    tacet_status status = w->kind->release(&w->learner, &w->def, &job->body, &job->err);
    if (status != TACET_OK) {
        return status;
    }
    char *text = json_dumps(job->body, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(17));
    if (text == NULL) {
        return tacet__fail(&job->err, TACET_NO_MEMORY, "out of memory making a release");
    }
    tacet__event event = {
        .kind = TACET__EVENT_RELEASE, .index = TACET__NO_INDEX, .body = text, .body_size = strlen(text)};
    status = append(w, b, &event);
    job->number = event.number;
    free(text);
    return status;
}

static tacet_status get_release(tacet__worker *w, tacet__job *job) {
    tacet_blob body;
    tacet_blob_init(&body);
    tacet_status status = tacet__studies_get_release(w->store, &w->study, &body, job->number, &job->err);
    if (status == TACET_OK) {
        job->body = json_loadb((const char *)body.data, body.size, 0, NULL);
        status = job->body != NULL ? TACET_OK : tacet__fail(&job->err, TACET_CORRUPT, "a release cannot be read");
    }
    tacet_blob_clear(&body);
    return status;
}

static tacet_status act(tacet__worker *w, batch *b, tacet__job *job) {
    switch (job->kind) {
    case TACET__JOB_SUGGEST:
        return suggest(w, b, job);
    case TACET__JOB_OBSERVE:
        return observe(w, b, job);
    case TACET__JOB_LOOK:
        return look(w, job);
    case TACET__JOB_STATUS:
        return tell(w, job);
    case TACET__JOB_RELEASE:
        return release(w, b, job);
    case TACET__JOB_GET_RELEASE:
        return get_release(w, job);
    case TACET__JOB_LEDGER:
        return w->kind->spent(&w->learner, &w->def, &job->body, &job->err);
    case TACET__JOB_ARCHIVE:
        return TACET_OK; /* after the transaction */
    }
    return tacet__fail(&job->err, TACET_INVALID, "no such job");
}

/* --- batches ------------------------------------------------------------------------------------------------------ */

/* So that a replay is short and writing snapshots costs O(1) an event, whatever the size of the policy. */
static bool snapshot_due(const tacet__worker *w) {
    const uint64_t last = w->study.snapshot > w->saved ? w->study.snapshot : w->saved; /* another process's, too */
    const uint64_t due = w->saved_size / SNAPSHOT_BYTES;
    return w->study.head - last >= (due > TACET__SNAPSHOT_EVENTS ? due : TACET__SNAPSHOT_EVENTS);
}

static void put_snapshot(tacet__worker *w, batch *b) {
    tacet_blob bytes;
    tacet_blob_init(&bytes);
    tacet_status status = tacet_policy_save(w->learner.policy, &bytes, &b->err);
    status =
        status != TACET_OK ? status : tacet__studies_put_snapshot(w->store, &w->study, bytes.data, bytes.size, &b->err);
    w->saved_size = bytes.size;
    tacet_blob_clear(&bytes);
    b->broken = status != TACET_OK;
    if (status == TACET_OK) {
        w->saved = w->study.head;
        count(&w->settings->metrics->snapshots);
    }
}

static void settle(tacet__worker *w, tacet__job *job, const tacet_error *failure) {
    if (failure != NULL) {
        /* Also what was refused: the refusal may rest on an event of this batch. */
        json_decref(job->body);
        job->body = NULL;
        tacet_error_clear(&job->err);
        job->status = tacet__fail(&job->err, failure->status, "%s", failure->message);
    }
    if (job->kind == TACET__JOB_ARCHIVE && job->status == TACET_OK) {
        job->status = tacet__studies_archive(w->store, w->name, &job->err);
    }
    job->done(job);
}

/* Commits when something was written. *failure is what befell the whole batch. */
static bool finish(tacet__worker *w, batch *b, tacet_error *failure) {
    tacet__metrics *metrics = w->settings->metrics;
    if (!b->broken && b->wrote && snapshot_due(w)) {
        put_snapshot(w, b);
    }
    if (!b->broken && b->wrote) {
        b->broken = tacet__studies_commit(w->store, &b->err) != TACET_OK;
    } else {
        tacet__studies_rollback(w->store);
    }
    if (!b->broken) {
        w->applied = b->wrote ? w->study.head : w->applied;
        if (b->wrote) {
            count(&metrics->batches);
            w->unprojected++;
        }
        return true;
    }
    /* Whether it was stored or not, the store knows; what is in memory may be ahead of it. */
    tacet__studies_rollback(w->store);
    unload(w);
    count(&metrics->failures);
    log_failure(w, "a batch was not stored", &b->err);
    *failure = b->err;
    if (failure->status == TACET_OK || failure->status == TACET_CONFLICT || failure->status == TACET_STATE ||
        failure->status == TACET_INVALID || failure->status == TACET_NOT_FOUND) {
        failure->status = TACET_IO; /* no fault of the client's */
    }
    return false;
}

static void project(tacet__worker *w, bool idle) {
    tacet_error err = {0};
    if (w->unprojected == 0 || !w->loaded || (!idle && w->unprojected < PROJECT_BATCHES)) {
        return;
    }
    w->unprojected = 0;
    if (w->def.trust == TACET_TRUST_CENTRAL && tacet__studies_project(w->store, &w->study, &err) != TACET_OK) {
        count(&w->settings->metrics->failures);
        log_failure(w, "the open store lags", &err);
        w->damaged = w->damaged || err.status == TACET_CORRUPT;
    }
}

/* Long polls that are over: observed, timed out, or the end. The others stay. */
static void answer_waiting(tacet__worker *w, bool end) {
    const double now = tacet__service_now();
    tacet__job *keep = NULL;
    tacet__job *job = w->waiting;
    while (job != NULL) {
        tacet__job *next = job->next;
        if (job->observed || end || now >= job->deadline) {
            atomic_fetch_sub_explicit(&w->settings->metrics->waiting, 1, memory_order_relaxed);
            job->done(job);
        } else {
            job->next = keep;
            keep = job;
        }
        job = next;
    }
    w->waiting = keep;
}

static void fail_all(tacet__worker *w, tacet__job *jobs, const tacet_error *err) {
    const tacet_status status = w->damaged ? TACET_CORRUPT : err->status != TACET_OK ? err->status : TACET_IO;
    while (jobs != NULL) {
        tacet__job *next = jobs->next;
        tacet__job_fail(jobs, status,
                        w->damaged ? "the study's stored history does not hold together; it is not served"
                                   : err->message);
        jobs = next;
    }
}

static void run(tacet__worker *w, tacet__job *jobs) {
    batch b = {0};
    tacet_error failure = {0};
    tacet_status status = w->damaged ? TACET_CORRUPT : begin(w, &b.err);
    if (status != TACET_OK) {
        if (status != TACET_NOT_FOUND && status != TACET_STATE && !w->damaged) {
            count(&w->settings->metrics->failures);
            log_failure(w, "cannot begin", &b.err);
        }
        w->damaged = w->damaged || status == TACET_CORRUPT;
        fail_all(w, jobs, &b.err);
        return;
    }
    uint64_t done = 0;
    for (tacet__job *job = jobs; job != NULL && !b.broken; job = job->next) {
        job->status = act(w, &b, job);
        job->settled = true;
        done += job->status == TACET_OK;
    }
    const bool kept = finish(w, &b, &failure);
    if (kept && b.wrote) {
        atomic_fetch_add_explicit(&w->settings->metrics->batched, done, memory_order_relaxed);
    }
    while (jobs != NULL) {
        tacet__job *job = jobs;
        jobs = job->next;
        if (kept && job->kind == TACET__JOB_LOOK && job->status == TACET_OK && !job->observed && job->wait > 0) {
            job->deadline = tacet__service_now() + job->wait;
            job->next = w->waiting;
            w->waiting = job;
            atomic_fetch_add_explicit(&w->settings->metrics->waiting, 1, memory_order_relaxed);
            continue;
        }
        settle(w, job, kept ? NULL : &failure);
    }
    answer_waiting(w, false);
}

/* --- the thread --------------------------------------------------------------------------------------------------- */

/* Up to a batch of jobs, in the order they came; NULL: the time is up, or the worker stops. */
static tacet__job *take(tacet__worker *w, bool *stop, bool *idle) {
    const size_t most = w->settings->batch_most > 0 ? w->settings->batch_most : BATCH_MOST;
    struct timespec until;
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += (long)(POLL_SECONDS * 1e9);
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    (void)pthread_mutex_lock(&w->lock);
    int code = 0;
    while (w->first == NULL && !w->stop && code == 0) {
        code = w->waiting != NULL ? pthread_cond_timedwait(&w->wake, &w->lock, &until)
                                  : pthread_cond_wait(&w->wake, &w->lock);
    }
    tacet__job *jobs = w->first;
    tacet__job *end = jobs;
    size_t taken = jobs != NULL ? 1 : 0;
    while (taken < most && end != NULL && end->next != NULL) {
        end = end->next;
        taken++;
    }
    if (end != NULL) {
        w->first = end->next;
        w->last = w->first != NULL ? w->last : NULL;
        end->next = NULL;
    }
    w->queued -= taken;
    *stop = w->stop;
    *idle = w->first == NULL;
    (void)pthread_mutex_unlock(&w->lock);
    return jobs;
}

/* Nothing came in: someone waits, so look what other processes appended. */
static void poll_log(tacet__worker *w) {
    tacet_error err = {0};
    if (w->waiting != NULL && !w->damaged) {
        const tacet_status status = begin(w, &err);
        if (status == TACET_OK) {
            tacet__studies_rollback(w->store);
        }
        w->damaged = status == TACET_CORRUPT;
    }
    answer_waiting(w, w->damaged);
}

/* A replay at the next start is to be short. */
static void save_at_end(tacet__worker *w) {
    batch b = {0};
    if (!w->loaded || w->damaged || w->applied < w->saved + STOP_SNAPSHOT) {
        return;
    }
    if (begin(w, &b.err) == TACET_OK) {
        put_snapshot(w, &b);
        if (b.broken || tacet__studies_commit(w->store, &b.err) != TACET_OK) {
            tacet__studies_rollback(w->store);
            log_failure(w, "no snapshot at the end", &b.err);
        }
    }
}

static void *work(void *user) {
    tacet__worker *w = user;
    const tacet_error stopping = {.status = TACET_BUSY, .message = "the server is stopping"};
    bool stop = false;
    bool idle = false;
    while (!stop) {
        tacet__job *jobs = take(w, &stop, &idle);
        if (stop) {
            fail_all(w, jobs, &stopping);
        } else if (jobs != NULL) {
            run(w, jobs);
            project(w, idle);
        } else {
            poll_log(w);
        }
    }
    for (tacet__job *jobs = take(w, &stop, &idle); jobs != NULL; jobs = take(w, &stop, &idle)) {
        fail_all(w, jobs, &stopping);
    }
    answer_waiting(w, true);
    save_at_end(w);
    project(w, true);
    unload(w);
    tacet__study_clear(&w->study);
    tacet__studies_close(w->store);
    return NULL;
}

tacet_status tacet__worker_start(tacet__worker **out, const tacet__engine_settings *settings, const char *name,
                                 tacet_error *err) {
    tacet__worker *w = TACET__ZALLOC(tacet__worker, 1);
    pthread_condattr_t attributes;
    *out = NULL;
    if (w == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a study");
    }
    w->settings = settings;
    (void)snprintf(w->name, sizeof w->name, "%s", name);
    tacet__study_init(&w->study);
    (void)pthread_mutex_init(&w->lock, NULL);
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&w->wake, &attributes);
    (void)pthread_condattr_destroy(&attributes);
    if (pthread_create(&w->thread, NULL, work, w) != 0) {
        (void)pthread_cond_destroy(&w->wake);
        (void)pthread_mutex_destroy(&w->lock);
        free(w);
        return tacet__fail(err, TACET_BUSY, "no thread can be started for the study");
    }
    *out = w;
    return TACET_OK;
}

void tacet__worker_submit(tacet__worker *w, tacet__job *job) {
    job->next = NULL;
    (void)pthread_mutex_lock(&w->lock);
    const bool refused = w->stop || w->queued >= QUEUE_MOST;
    if (!refused) {
        *(w->last != NULL ? &w->last->next : &w->first) = job;
        w->last = job;
        w->queued++;
        (void)pthread_cond_signal(&w->wake);
    }
    (void)pthread_mutex_unlock(&w->lock);
    if (refused) {
        tacet__job_fail(job, TACET_BUSY, "too many requests wait, or the server is stopping");
    }
}

void tacet__worker_stop(tacet__worker *w) {
    (void)pthread_mutex_lock(&w->lock);
    w->stop = true;
    (void)pthread_cond_signal(&w->wake);
    (void)pthread_mutex_unlock(&w->lock);
}

void tacet__worker_join(tacet__worker *w) {
    if (!w->joined) {
        (void)pthread_join(w->thread, NULL);
        w->joined = true;
    }
}

void tacet__worker_free(tacet__worker *w) {
    (void)pthread_cond_destroy(&w->wake);
    (void)pthread_mutex_destroy(&w->lock);
    free(w);
}

const char *tacet__worker_name(const tacet__worker *w) {
    return w->name;
}

tacet__worker **tacet__worker_next(tacet__worker *w) {
    return &w->next;
}
