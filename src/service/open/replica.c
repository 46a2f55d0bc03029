/* SPDX-License-Identifier: Apache-2.0 */
/* replica.c - a study in memory: its policy as of some event of the log, and what jobs do to it.
 * Ring: open. Replay: a suggestion is repeated as it was stored, so that machines which round otherwise go on alike; a
 * policy that cannot have made it is stopped. Cost: O(policy) a job or an event. */
#include "service/open/replica.h"
#include "service/open/waiting.h"

#include "core/fail.h"
#include "core/json_text.h"
#include "core/memory.h"
#include "service/open/person.h"
#include "service/open/space_domain.h"
#include "service/open/round.h"

#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/contextual/open/model.h>
#include <time.h>

/* --- the policy in memory ----------------------------------------------------------------------------------------- */

void tacet__replica_unload(tacet__replica *r) {
    if (r->loaded) {
        atomic_fetch_sub_explicit(&r->settings->metrics->studies, 1, memory_order_relaxed);
    }
    tacet__learner_free(r->kind, &r->learner);
    tacet__definition_clear(&r->def);
    r->loaded = false;
    r->fence = 0;
}

static tacet_status connect_store(tacet__replica *r, tacet_error *err) {
    if (r->store != NULL) {
        return TACET_OK;
    }
    tacet__studies_settings s = r->settings->store;
    s.create = false;
    return tacet__studies_open(&r->store, &s, err);
}

tacet_status tacet__replica_find(tacet__replica *r, tacet_error *err) {
    const tacet_status status = connect_store(r, err);
    return status != TACET_OK ? status : tacet__studies_get(r->store, &r->study, r->name, err);
}

void tacet__replica_leave(tacet__replica *r) {
    tacet__replica_unload(r);
    tacet__studies_close(r->store);
    r->store = NULL;
}

/* The policy as of the newest snapshot; begin then reads what came after. */
static tacet_status load(tacet__replica *r, tacet_error *err) {
    tacet_blob snapshot;
    tacet_blob ledger;
    uint64_t seq = 0;
    tacet_blob_init(&snapshot);
    tacet_blob_init(&ledger);
    tacet_status status = tacet__replica_find(r, err);
    if (status == TACET_OK) {
        status =
            tacet__definition_decode(&r->def, (const char *)r->study.definition.data, r->study.definition.size, err);
    }
    if (status == TACET_OK && r->study.rounds > r->def.rounds) {
        r->def.rounds = r->study.rounds;
    }
    if (status == TACET_OK && (r->kind = tacet__policy_find(r->settings->kinds, &r->def)) == NULL) {
        status = tacet__fail(err, TACET_NOT_FOUND, "this server does not serve studies of this kind");
    }
    const bool central = status == TACET_OK && r->def.trust == TACET_TRUST_CENTRAL;
    if (central) {
        /* A trusted store that was put back to an older state is found here, before anything is drawn from it. */
        status = tacet__studies_project(r->store, &r->study, err);
        status = status != TACET_OK ? status : tacet__studies_ledger(r->store, &ledger, r->name, err);
    }
    if (status == TACET_OK) {
        tacet_error none = {0};
        status = tacet__studies_get_snapshot(r->store, &r->study, &snapshot, &seq, &none);
        if (status == TACET_NOT_FOUND && !central && !r->kind->stored_first) {
            seq = 0;
            status = TACET_OK;
        } else if (status == TACET_NOT_FOUND) {
            status = tacet__fail(err, TACET_STATE, "the study was not created to its end: create it again");
        } else if (status != TACET_OK) {
            status = tacet__fail(err, status, "%s", none.message);
        }
    }
    if (status == TACET_OK) {
        status = tacet__policy_create(r->kind, &r->learner, &r->def, central ? (const char *)ledger.data : NULL,
                                      snapshot.data, snapshot.size, err);
        if (status == TACET_CORRUPT && !central && r->study.rounds > 0 && snapshot.size > 0) {
            /* Perhaps saved before there were more rounds, on which widths depend: the log has all of it. */
            tacet_error_clear(err);
            seq = 0;
            snapshot.size = 0;
            status = tacet__policy_create(r->kind, &r->learner, &r->def, NULL, NULL, 0, err);
        }
    }
    const size_t snapshot_size = snapshot.size;
    tacet_blob_clear(&snapshot);
    tacet_blob_clear(&ledger);
    if (status != TACET_OK) {
        tacet__definition_clear(&r->def);
        return status;
    }
    r->loaded = true;
    r->unsettled = true;
    r->settled = r->next_due = 0;
    r->applied = r->saved = seq;
    r->saved_size = snapshot_size;
    tacet__metrics_add(&r->settings->metrics->rebuilds, 1);
    tacet__metrics_add(&r->settings->metrics->studies, 1);
    return TACET_OK;
}

/* One event of the log into the policy. */
static tacet_status replay(const tacet__event *e, void *user, tacet_error *err) {
    tacet__replica *r = user;
    tacet_error inner = {0};
    tacet_status status = TACET_OK;
    if (e->kind == TACET__EVENT_SUGGEST) {
        tacet__round round;
        const tacet_suggestion made = {.index = (size_t)e->index, .ticket = e->number};
        status = tacet__round_decode(&round, e->body, e->body_size, &inner);
        status = status != TACET_OK ? status
                                    : tacet_policy_repeat(r->learner.policy, &made,
                                                          round.numbers != NULL ? &round.round : NULL, &inner);
        tacet__round_clear(&round);
    } else if (e->kind == TACET__EVENT_OBSERVE && e->null) {
        status = tacet_policy_drop(r->learner.policy, e->number, &inner);
        tacet__waiting_notice(r, e->of, false);
    } else if (e->kind == TACET__EVENT_OBSERVE) {
        status =
            tacet_policy_observe(r->learner.policy, e->number, tacet__definition_towards(&r->def, e->value), &inner);
        tacet__waiting_notice(r, e->of, false);
    } else if (e->kind == TACET__EVENT_EXPIRE) {
        status = tacet_policy_drop(r->learner.policy, e->number, &inner);
        tacet__waiting_notice(r, e->of, true);
    }
    if (status == TACET_NO_MEMORY || status == TACET_IO || status == TACET_BUSY) {
        return tacet__fail(err, status, "%s", inner.message);
    }
    if (status != TACET_OK) {
        return tacet__fail(err, TACET_CORRUPT, "event %llu cannot be replayed: %s", (unsigned long long)e->seq,
                           inner.message);
    }
    r->applied = e->seq;
    return TACET_OK;
}

static tacet_status lock(tacet__replica *r, tacet_error *err) {
    tacet_status status = r->loaded ? TACET_OK : load(r, err);
    if (status == TACET_CONFLICT || status == TACET_INVALID || status == TACET_PARSE) {
        status = TACET_CORRUPT; /* what is stored does not fit itself or the ledger */
    }
    return status != TACET_OK ? status : tacet__studies_begin(r->store, &r->study, err);
}

/* Lock, and the policy up to the head of the log. */
tacet_status tacet__replica_begin(tacet__replica *r, tacet_error *err) {
    tacet_status status = lock(r, err);
    if (status == TACET_OK && r->study.rounds > r->def.rounds) { /* it was given more of them since it was loaded */
        tacet__studies_rollback(r->store);
        tacet__replica_unload(r);
        status = lock(r, err);
    }
    if (status != TACET_OK) {
        return status;
    }
    /* Of servers that reach each other one writes; whoever has no address writes as it comes. */
    r->elsewhere = r->settings->self != NULL && !r->take && r->study.keeper[0] != '\0' &&
                   strcmp(r->study.keeper, r->settings->self) != 0;
    if (r->elsewhere) {
        tacet__studies_rollback(r->store);
        return tacet__fail(err, TACET_BUSY, "another server keeps the study");
    }
    if (r->study.head < r->applied) {
        status = tacet__fail(err, TACET_CORRUPT, "the store has fewer events than were committed to it");
    } else if (r->study.head > r->applied) {
        r->unsettled = true;
        status = tacet__studies_read(r->store, &r->study, r->applied + 1, replay, r, err);
    }
    if (status != TACET_OK) {
        tacet__studies_rollback(r->store);
        tacet__replica_unload(r);
    }
    return status;
}

/* --- jobs --------------------------------------------------------------------------------------------------------- */

static tacet_status append(tacet__replica *r, tacet__batch *b, tacet__event *event) {
    const tacet_status status = tacet__studies_append(r->store, &r->study, event, &b->err);
    b->broken = status != TACET_OK;
    b->wrote = true;
    return status;
}

/* Before anything is written: the study is this replica's from this transaction on, and its ledger from now on. Whoever
 * had it before, and stood still meanwhile, finds another fence: in the study's row at its next begin, and in the
 * ledger's own transaction should it wake up in the middle of a batch. */
static tacet_status keep(tacet__replica *r, tacet__batch *b) {
    if (r->fence != 0 && r->study.fence == r->fence) {
        return TACET_OK;
    }
    const char *self = r->settings->self != NULL ? r->settings->self : "";
    tacet_status status = r->kind->take != NULL ? r->kind->take(&r->learner, &b->err) : TACET_OK;
    status = status != TACET_OK ? status : tacet__studies_keep(r->store, &r->study, self, &b->err);
    b->broken = status != TACET_OK;
    b->wrote = true;
    r->fence = r->study.fence;
    r->take = false;
    return status;
}

tacet_status tacet__replica_yield(tacet__replica *r, tacet_error *err) {
    const char *self = r->settings->self;
    if (!r->loaded || self == NULL || r->fence == 0) {
        return TACET_OK;
    }
    tacet_status status = tacet__studies_begin(r->store, &r->study, err);
    if (status == TACET_OK && r->study.fence == r->fence) {
        status = tacet__studies_keep(r->store, &r->study, "", err);
        status = status != TACET_OK ? status : tacet__studies_commit(r->store, err);
    }
    tacet__studies_rollback(r->store);
    r->fence = 0;
    return status;
}

static void show_action(const tacet__replica *r, tacet__job *job) {
    const double *from = r->def.count > 0 ? r->def.points : job->points;
    const size_t available = r->def.count > 0 ? r->def.count : job->count;
    job->action_size = 0;
    if (from != NULL && job->index < available) {
        memcpy(job->action, from + job->index * r->def.d, r->def.d * sizeof(double));
        job->action_size = r->def.d;
    }
    json_decref(job->point);
    job->point = tacet__space_domain_point(&r->def, (size_t)job->index);
}

typedef struct body_check {
    const tacet_blob *body;
    bool same;
} body_check;

static bool same_bytes(const tacet_blob *body, const void *bytes, size_t size) {
    return size == body->size && (size == 0 || memcmp(bytes, body->data, size) == 0);
}

static tacet_status compare_body(const tacet__event *e, void *user, tacet_error *err) {
    body_check *c = user;
    c->same = same_bytes(c->body, e->body, e->body_size);
    if (!c->same && e->body_size > 0) {
        /* It may be the same in the bytes of an older version. */
        tacet__round round;
        tacet_blob again;
        tacet_blob_init(&again);
        tacet_status status = tacet__round_decode(&round, e->body, e->body_size, err);
        status = status != TACET_OK ? status : tacet__round_encode(&again, &round.round, err);
        c->same = status == TACET_OK && same_bytes(c->body, again.data, again.size);
        tacet__round_clear(&round);
        tacet_blob_clear(&again);
        if (status != TACET_OK) {
            return status;
        }
    }
    return TACET_STATE; /* one event is enough */
}

static bool same_person(const tacet__replica *r, const tacet__job *job, const tacet__event *old) {
    unsigned char hash[TACET__HOLDER_BYTES];
    if (job->person[0] == '\0' || !old->has_person) {
        return (job->person[0] != '\0') == old->has_person;
    }
    tacet__holder_hash(hash, &r->study, TACET__HOLDER_PERSON, job->person, strlen(job->person));
    return memcmp(hash, old->person, sizeof hash) == 0;
}

/* A key that was used before gets the answer it had, provided it asks for the same. */
static tacet_status repeat(tacet__replica *r, tacet__job *job, const tacet_blob *body, const tacet__suggestion *old) {
    body_check c = {.body = body};
    const tacet_status status = tacet__studies_read(r->store, &r->study, old->event.seq, compare_body, &c, &job->err);
    if (status != TACET_STATE) {
        return status != TACET_OK ? status
                                  : tacet__fail(&job->err, TACET_CORRUPT, "a suggestion is missing in the log");
    }
    tacet_error_clear(&job->err);
    if (!c.same || !same_person(r, job, &old->event)) {
        return tacet__fail(&job->err, TACET_CONFLICT,
                           "the key was used before with another decision set, context or person");
    }
    job->seq = old->event.seq;
    job->index = old->event.index;
    job->repeated = true;
    return TACET_OK;
}

/* Arms outside the bounds would be played as they are and learnt from as if they lay inside. */
static tacet_status check_arms(const tacet__definition *def, const tacet__job *job, tacet_error *err) {
    for (size_t i = 0; i < job->count; i++) {
        for (size_t c = 0; c < def->d; c++) {
            const double x = job->points[i * job->d + c];
            if (!(x >= def->lower[c] && x <= def->upper[c])) {
                return tacet__fail(err, TACET_INVALID, "arm %zu, coordinate %zu lies outside the bounds %g to %g", i, c,
                                   def->lower[c], def->upper[c]);
            }
        }
    }
    return TACET_OK;
}

static tacet_status check_round(const tacet__replica *r, const tacet__job *job, tacet_error *err) {
    if (!r->kind->sets && job->points != NULL) {
        return tacet__fail(err, TACET_INVALID, "the study has a fixed domain: a decision set is not taken");
    }
    if (r->kind->sets && job->points == NULL) {
        return tacet__fail(err, TACET_INVALID, "the study needs a decision set each round");
    }
    if (!r->kind->contextual && job->context != NULL) {
        return tacet__fail(err, TACET_INVALID, "the study takes no context");
    }
    if (r->kind->contextual && (job->context == NULL || job->context_dim != r->def.context_dim)) {
        return tacet__fail(err, TACET_INVALID, "the study needs a context of %zu numbers each round",
                           r->def.context_dim);
    }
    if (r->kind->sets && job->count > r->def.set_most) {
        return tacet__fail(err, TACET_INVALID, "a decision set may have at most %zu arms", r->def.set_most);
    }
    return r->kind->sets && r->def.lower != NULL && job->d == r->def.d ? check_arms(&r->def, job, err) : TACET_OK;
}

/* How many tickets a token may have open: a share of what the study may, so that no token ends it. */
static uint64_t open_share(const tacet__replica *r, const tacet__job *job) {
    const uint64_t all = r->def.trust == TACET_TRUST_CENTRAL ? r->def.open_most : UINT64_MAX;
    return job->open_most > 0 ? job->open_most : all == UINT64_MAX ? all : all - all / 4;
}

/* Whose suggestion it will be: refused where the token has its share; a null record where the person has. Looks at who
 * took which round, and at nothing that was reported. */
static tacet_status hold(tacet__replica *r, const tacet__job *job, tacet__event *event, tacet_error *err) {
    tacet__held held;
    tacet_status status = TACET_OK;
    if (job->owned) {
        event->has_owner = true;
        tacet__holder_hash(event->owner, &r->study, TACET__HOLDER_TOKEN, job->owner, sizeof job->owner);
        status = tacet__studies_held(r->store, &r->study, &held, event->owner, err);
        if (status == TACET_OK && held.open >= open_share(r, job)) {
            return tacet__fail(err, TACET_STATE, "this token has %llu open tickets, as many as it may: report them",
                               (unsigned long long)held.open);
        }
        if (status == TACET_OK && job->rounds_most > 0 && held.rounds >= job->rounds_most) {
            return tacet__fail(err, TACET_STATE, "this token has taken its %llu rounds of the study",
                               (unsigned long long)job->rounds_most);
        }
    }
    if (status == TACET_OK && job->person[0] != '\0') {
        event->has_person = true;
        tacet__holder_hash(event->person, &r->study, TACET__HOLDER_PERSON, job->person, strlen(job->person));
        status = tacet__studies_held(r->store, &r->study, &held, event->person, err);
        event->null = status == TACET_OK && held.rounds >= r->def.person_rounds;
    }
    return status;
}

/* The best of this round's actions by what was released: post-processing, so it may be asked for ever. */
static tacet_status best_by_model(tacet__replica *r, tacet__job *job) {
    json_t *release = NULL;
    tacet_contextual_model *model = NULL;
    const double *actions = r->def.count > 0 ? r->def.points : job->points;
    const size_t n = r->def.count > 0 ? r->def.count : job->count;
    size_t best = 0;
    tacet_status status = r->kind->release(&r->learner, &r->def, &release, &job->err);
    char *text = status == TACET_OK ? json_dumps(json_object_get(release, "model"), JSON_REAL_PRECISION(17)) : NULL;
    double *means = TACET__ZALLOC(double, n + 1);
    if (status == TACET_OK && (text == NULL || means == NULL)) {
        status = tacet__fail(&job->err, TACET_STATE, "the rounds are over, and the study released no model");
    }
    status = status != TACET_OK ? status : tacet_contextual_model_decode(&model, text, strlen(text), &job->err);
    status = status != TACET_OK ? status
                                : tacet_contextual_predict(model, &best, means, actions, n, job->context, &job->err);
    job->index = best;
    tacet_contextual_model_free(model);
    json_decref(release);
    free(text);
    free(means);
    return status;
}

/* The rounds are over: no ticket, no record, nothing to report. */
static tacet_status suggest_last(tacet__replica *r, tacet__job *job) {
    tacet_recommendation best = {0};
    tacet_status status = TACET_OK;
    if (r->kind->own_sets) {
        return tacet__fail(&job->err, TACET_STATE, "the study has given out its rounds: devices choose by its model");
    }
    if (r->kind->sets || r->kind->contextual) {
        status = best_by_model(r, job);
    } else {
        status = tacet_policy_recommend(r->learner.policy, &best, &job->err);
        job->index = best.index;
    }
    job->last = status == TACET_OK;
    job->ticket[0] = '\0';
    if (status == TACET_OK) {
        show_action(r, job);
    }
    return status;
}

/* A context by the names of its columns becomes one of numbers; asked again after a failed commit, it has. */
static tacet_status place_context(const tacet__replica *r, tacet__job *job, tacet_error *err) {
    if (job->named == NULL || job->context != NULL) {
        return TACET_OK;
    }
    if (!r->kind->contextual) {
        return tacet__fail(err, TACET_INVALID, "the study takes no context");
    }
    job->context = TACET__ZALLOC(double, r->def.context_dim);
    if (job->context == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a context");
    }
    job->context_dim = r->def.context_dim;
    const tacet_status status = tacet__space_context_point(&r->def, job->context, job->named, err);
    if (status != TACET_OK) {
        free(job->context);
        job->context = NULL;
        job->context_dim = 0;
    }
    return status;
}

static tacet_status suggest_one(tacet__replica *r, tacet__batch *b, tacet__job *job) {
    const tacet_status placed = place_context(r, job, &job->err);
    if (placed != TACET_OK) {
        return placed;
    }
    tacet_blob body;
    tacet__suggestion old;
    tacet__event event = {.kind = TACET__EVENT_SUGGEST};
    tacet_blob_init(&body);
    const tacet_round round = {.points = job->points,
                               .ld = job->d,
                               .d = job->d,
                               .count = job->count,
                               .context = job->context,
                               .context_dim = job->context_dim};
    const bool brings = job->points != NULL || job->context != NULL;
    tacet_status status = check_round(r, job, &job->err);
    if (status == TACET_OK && brings) {
        status = tacet__round_encode(&body, &round, &job->err);
    }
    if (status == TACET_OK && job->key[0] != '\0') {
        tacet_error none = {0};
        status = tacet__studies_by_key(r->store, &r->study, &old, job->key, strlen(job->key), &none);
        if (status == TACET_OK) {
            status = repeat(r, job, &body, &old);
            goto done;
        }
        status = status == TACET_NOT_FOUND ? TACET_OK : tacet__fail(&job->err, status, "%s", none.message);
    }
    if (status == TACET_OK && r->study.state == TACET__STUDY_ARCHIVED) {
        status = tacet__fail(&job->err, TACET_STATE, "the study is archived");
    }
    if (status == TACET_OK && r->study.suggested >= r->def.rounds) {
        status = suggest_last(r, job);
        tacet_blob_clear(&body);
        return status;
    }
    status = status != TACET_OK ? status : hold(r, job, &event, &job->err);
    if (status != TACET_OK) {
        goto done;
    }
    tacet_suggestion s = {0};
    status = tacet_policy_suggest(r->learner.policy, &s, brings ? &round : NULL, &job->err);
    if (status == TACET_CONFLICT) {
        /* The ledger knows of a release that this history did not make: not the client's conflict. */
        status = TACET_CORRUPT;
    }
    if (status == TACET_OK) {
        event.number = s.ticket;
        event.index = s.index;
        event.key = job->key[0] != '\0' ? job->key : NULL;
        event.key_size = strlen(job->key);
        event.body = body.data;
        event.body_size = body.size;
        status = append(r, b, &event);
        job->seq = event.seq;
        job->index = s.index;
    }
done:
    if (status == TACET_OK) {
        unsigned char key[TACET__STUDY_SECRET_BYTES];
        tacet__studies_ticket_key(key, &r->study, job->seq);
        tacet__ticket_make(job->ticket, job->seq, key);
        sodium_memzero(key, sizeof key);
        show_action(r, job);
    }
    tacet_blob_clear(&body);
    return status;
}

json_t *tacet__job_suggestion(const tacet__job *job) {
    json_t *one = job->last ? json_pack("{sb}", "last", 1) : json_pack("{ss}", "ticket", job->ticket);
    if (one != NULL) {
        (void)json_object_set_new(one, "index", json_integer((json_int_t)job->index));
        (void)json_object_set_new(one, "action", tacet__reals_json(job->action, job->action_size));
    }
    if (one != NULL && job->point != NULL) {
        (void)json_object_set(one, "point", job->point);
    }
    return one;
}

/* Several at once, each under a key of its own, so that asking again gives the same ones and goes on with the rest. */
static tacet_status suggest(tacet__replica *r, tacet__batch *b, tacet__job *job) {
    char key[sizeof job->key];
    tacet_status status = TACET_OK;
    bool repeated = true;
    if (job->many == 0) {
        return suggest_one(r, b, job);
    }
    memcpy(key, job->key, sizeof key);
    job->body = json_array();
    for (size_t i = 0; i < job->many && status == TACET_OK && !job->last; i++) {
        char named[sizeof key + 24];
        const int length = snprintf(named, sizeof named, "%s#%zu", key, i);
        if (length < 0 || (size_t)length >= sizeof job->key) {
            return tacet__fail(&job->err, TACET_INVALID, "the key is too long for several suggestions");
        }
        if (key[0] != '\0') {
            memcpy(job->key, named, (size_t)length + 1);
        }
        job->repeated = false;
        status = suggest_one(r, b, job);
        repeated = repeated && job->repeated;
        if (status == TACET_OK && json_array_append_new(job->body, tacet__job_suggestion(job)) != 0) {
            status = tacet__fail(&job->err, TACET_NO_MEMORY, "out of memory for suggestions");
        }
    }
    job->repeated = repeated;
    /* Fewer than asked for is an answer, too: those that were made wait for their outcomes. */
    if (status == TACET_STATE && json_array_size(job->body) > 0) {
        tacet_error_clear(&job->err);
        return TACET_OK;
    }
    return status;
}

static tacet_status find(tacet__replica *r, tacet__job *job, tacet__suggestion *out) {
    unsigned char key[TACET__STUDY_SECRET_BYTES];
    tacet__studies_ticket_key(key, &r->study, tacet__ticket_seq(job->ticket));
    const bool good = tacet__ticket_read(&job->seq, job->ticket, key);
    sodium_memzero(key, sizeof key);
    if (!good) {
        return tacet__fail(&job->err, TACET_NOT_FOUND, "no such ticket in this study");
    }
    return tacet__studies_suggestion(r->store, &r->study, out, job->seq, &job->err);
}

/* What an observation or the end of a ticket says of its suggestion. */
static tacet__event settled_event(tacet__event_kind kind, const tacet__suggestion *s) {
    tacet__event event = {.kind = kind,
                          .of = s->event.seq,
                          .number = s->event.number,
                          .index = TACET__NO_INDEX,
                          .has_owner = s->event.has_owner,
                          .has_person = s->event.has_person};
    memcpy(event.owner, s->event.owner, sizeof event.owner);
    memcpy(event.person, s->event.person, sizeof event.person);
    return event;
}

static tacet_status observe(tacet__replica *r, tacet__batch *b, tacet__job *job) {
    tacet__suggestion s;
    tacet_status status = find(r, job, &s);
    if (status != TACET_OK) {
        return status;
    }
    if (job->failed && r->def.trust == TACET_TRUST_LOCAL) {
        return tacet__fail(
            &job->err, TACET_INVALID,
            "in a local study the device reports noise about a stand-in: 'tacet device report --failed'");
    }
    if (job->failed) {
        /* A record like any other, of a public value: whether an evaluation failed shows no more than what it gave, and
         * counts and epochs stay as they are. */
        job->value = r->def.reward_lo / 2 + r->def.reward_hi / 2;
    }
    job->clipped =
        r->def.trust == TACET_TRUST_CENTRAL && !(job->value >= r->def.reward_lo && job->value <= r->def.reward_hi);
    if (s.observed) {
        /* Bit for bit: a retry sends the same text. */
        if (memcmp(&s.value, &job->value, sizeof s.value) != 0) {
            return tacet__fail(&job->err, TACET_CONFLICT, "the ticket was observed before, with another value");
        }
        job->repeated = true;
        return TACET_OK;
    }
    if (s.expired) {
        job->expired = true;
        return tacet__fail(&job->err, TACET_STATE, "the ticket has expired: its report is not waited for any more");
    }
    if (r->study.state == TACET__STUDY_ARCHIVED) {
        return tacet__fail(&job->err, TACET_STATE, "the study is archived");
    }
    status = s.event.null ? tacet_policy_drop(r->learner.policy, s.event.number, &job->err)
                          : tacet_policy_observe(r->learner.policy, s.event.number,
                                                 tacet__definition_towards(&r->def, job->value), &job->err);
    if (status == TACET_OK) {
        tacet__event event = settled_event(TACET__EVENT_OBSERVE, &s);
        event.value = job->value;
        event.null = s.event.null;
        status = append(r, b, &event);
        tacet__waiting_notice(r, job->seq, false);
    }
    return status;
}

/* --- tickets that are too old ------------------------------------------------------------------------------------- */

static tacet_status give_up(tacet__replica *r, tacet__batch *b, const tacet__suggestion *s) {
    tacet_status status = keep(r, b);
    if (status != TACET_OK) {
        return status;
    }
    status = tacet_policy_drop(r->learner.policy, s->event.number, &b->err);
    if (status != TACET_OK) {
        return status == TACET_NO_MEMORY ? status : TACET_CORRUPT; /* the log says that it waits */
    }
    tacet__event event = settled_event(TACET__EVENT_EXPIRE, s);
    status = append(r, b, &event);
    tacet__waiting_notice(r, s->event.seq, true);
    return status;
}

/* The suggestions that wait, oldest first, up to the first that is young enough. */
static tacet_status expire_some(tacet__replica *r, tacet__batch *b, uint64_t now, bool *more) {
    enum { MOST = 64 };
    tacet__suggestion s[MOST];
    size_t count = MOST;
    tacet_status status = tacet__studies_waiting(r->store, &r->study, s, &count, r->settled, &b->err);
    *more = count == MOST;
    for (size_t i = 0; status == TACET_OK && i < count; i++) {
        if (now < s[i].event.time || now - s[i].event.time < r->def.ticket_seconds) {
            r->settled = s[i].event.seq - 1;
            r->next_due = s[i].event.time + r->def.ticket_seconds;
            *more = false;
            return TACET_OK;
        }
        status = give_up(r, b, &s[i]);
        r->settled = s[i].event.seq;
    }
    if (status == TACET_OK && !*more) {
        r->settled = r->study.head;
        r->next_due = now + r->def.ticket_seconds; /* whatever is suggested from now on is younger */
    }
    return status;
}

tacet_status tacet__replica_expire(tacet__replica *r, uint64_t now, tacet_error *err) {
    tacet__batch b = {0};
    bool more = true;
    if (r->loaded && (r->def.ticket_seconds == 0 || now < r->next_due)) {
        return TACET_OK;
    }
    tacet_status status = tacet__replica_begin(r, err);
    if (status != TACET_OK) {
        return status;
    }
    if (r->def.ticket_seconds > 0 && r->study.state == TACET__STUDY_ACTIVE) {
        while (status == TACET_OK && more) {
            status = expire_some(r, &b, now, &more);
        }
        if (status == TACET_OK && b.wrote) {
            status = tacet__studies_commit(r->store, &b.err);
        }
    }
    tacet__studies_rollback(r->store);
    if (status != TACET_OK) {
        tacet__replica_unload(r);
        return tacet__fail(
            err, status == TACET_NO_MEMORY || status == TACET_BUSY || status == TACET_CORRUPT ? status : TACET_IO, "%s",
            b.err.message);
    }
    r->applied = b.wrote ? r->study.head : r->applied;
    return TACET_OK;
}

/* One round, whatever its age. One that has expired already is no failure: whoever asks may have asked before. */
static tacet_status expire_one(tacet__replica *r, tacet__batch *b, tacet__job *job) {
    tacet__suggestion s;
    tacet_status status = tacet__studies_suggestion(r->store, &r->study, &s, job->number, &job->err);
    if (status != TACET_OK) {
        return status;
    }
    if (s.observed) {
        return tacet__fail(&job->err, TACET_CONFLICT, "the round was reported: its ticket is not open any more");
    }
    status = s.expired ? TACET_OK : give_up(r, b, &s);
    job->number = status == TACET_OK && !s.expired;
    return status;
}

static tacet_status expire_all(tacet__replica *r, tacet__batch *b, tacet__job *job) {
    enum { MOST = 64 };
    const uint64_t now = r->settings->clock != NULL ? r->settings->clock() : (uint64_t)time(NULL);
    unsigned char holder[TACET__HOLDER_BYTES];
    tacet__suggestion s[MOST];
    size_t count = MOST;
    uint64_t after = 0;
    uint64_t expired = 0;
    tacet_status status = TACET_OK;
    tacet__holder_hash(holder, &r->study, TACET__HOLDER_TOKEN, job->owner, sizeof job->owner);
    while (status == TACET_OK && count == MOST) {
        status = tacet__studies_waiting(r->store, &r->study, s, &count, after, &b->err);
        for (size_t i = 0; status == TACET_OK && i < count; i++) {
            const tacet__event *e = &s[i].event;
            const bool wanted = !job->owned || (e->has_owner && memcmp(e->owner, holder, sizeof holder) == 0);
            after = e->seq;
            if (wanted && now >= e->time && now - e->time >= job->x) {
                status = give_up(r, b, &s[i]);
                expired += status == TACET_OK;
            }
        }
    }
    job->number = status == TACET_OK ? expired : job->number;
    return status;
}

/* Asked for by an owner. Together with what was given up before it failed, the batch is rolled back. */
static tacet_status expire(tacet__replica *r, tacet__batch *b, tacet__job *job) {
    const tacet_status status = job->number > 0 ? expire_one(r, b, job) : expire_all(r, b, job);
    b->broken = b->broken || (status != TACET_OK && b->err.status != TACET_OK);
    return status;
}

static tacet_status look(tacet__replica *r, tacet__job *job) {
    tacet__suggestion s;
    const tacet_status status = find(r, job, &s);
    if (status == TACET_OK) {
        job->index = s.event.index;
        job->observed = s.observed;
        job->expired = s.expired;
        show_action(r, job);
    }
    return status;
}

/* What the eps is of: a round; what k rounds of one person cost; and what a person costs whose name comes with each
 * round, of which the cap counts. In a local study each report was sent, so that no cap helps. */
static bool tell_cost(const tacet__replica *r, const tacet_guarantee *g, json_t *body) {
    static const unsigned TIMES[] = {2, 5, 10, 50};
    json_t *guarantee = json_object_get(body, "guarantee");
    json_t *costs = json_object();
    bool good = costs != NULL;
    for (size_t i = 0; good && i < sizeof TIMES / sizeof TIMES[0]; i++) {
        char name[8];
        const double eps = tacet__eps_of_rounds(g->eps, g->delta, TIMES[i]);
        (void)snprintf(name, sizeof name, "%u", TIMES[i]);
        good = json_object_set_new(costs, name, isfinite(eps) ? json_real(eps) : json_null()) == 0;
    }
    const double person = r->def.trust == TACET_TRUST_CENTRAL
                              ? tacet__eps_of_rounds(g->eps, g->delta, (double)r->def.person_rounds)
                              : (double)INFINITY;
    good = good && json_object_set(guarantee, "eps_of_rounds", costs) == 0 &&
           json_object_set_new(guarantee, "rounds_per_person", json_integer((json_int_t)r->def.person_rounds)) == 0 &&
           json_object_set_new(guarantee, "eps_per_person", isfinite(person) ? json_real(person) : json_null()) == 0;
    json_decref(costs);
    return good;
}

static tacet_status tell(tacet__replica *r, tacet__job *job) {
    tacet_guarantee g;
    tacet_policy_guarantee(r->learner.policy, &g);
    json_t *definition = json_loadb((const char *)r->study.definition.data, r->study.definition.size, 0, NULL);
    const bool archived = r->study.state == TACET__STUDY_ARCHIVED;
    job->body = json_pack(
        "{ss ss so sI sI sI sI sI s{sb so so ss ss ss}}", "name", r->name, "state", archived ? "archived" : "active",
        "definition", definition, "created", (json_int_t)r->study.created, "suggested", (json_int_t)r->study.suggested,
        "observed", (json_int_t)r->study.observed, "released", (json_int_t)r->study.released, "rounds_left",
        (json_int_t)(r->def.rounds > r->study.suggested ? r->def.rounds - r->study.suggested : 0), "guarantee",
        "proven", (int)g.proven, "eps", isfinite(g.eps) ? json_real(g.eps) : json_null(), "delta", json_real(g.delta),
        "protects", g.protects, "statement", g.statement, "proof", g.proof != NULL ? g.proof : "");
    if (job->body == NULL || !tell_cost(r, &g, job->body)) {
        return tacet__fail(&job->err, TACET_NO_MEMORY, "out of memory making an answer");
    }
    return TACET_OK;
}

static tacet_status release(tacet__replica *r, tacet__batch *b, tacet__job *job) {
    if (r->study.state == TACET__STUDY_ARCHIVED) {
        return tacet__fail(&job->err, TACET_STATE, "the study is archived");
    }
    tacet_status status = r->kind->release(&r->learner, &r->def, &job->body, &job->err);
    if (status != TACET_OK) {
        return status;
    }
    char *text = json_dumps(job->body, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(17));
    if (text == NULL) {
        return tacet__fail(&job->err, TACET_NO_MEMORY, "out of memory making a release");
    }
    tacet__event event = {
        .kind = TACET__EVENT_RELEASE, .index = TACET__NO_INDEX, .body = text, .body_size = strlen(text)};
    status = append(r, b, &event);
    job->number = event.number;
    free(text);
    return status;
}

static tacet_status get_release(tacet__replica *r, tacet__job *job) {
    tacet_blob body;
    tacet_blob_init(&body);
    tacet_status status = tacet__studies_get_release(r->store, &r->study, &body, job->number, &job->err);
    if (status == TACET_OK) {
        json_error_t where;
        job->body = json_loadb((const char *)body.data, body.size, 0, &where);
        status = job->body != NULL ? TACET_OK
                 : tacet__json_no_memory(&where)
                     ? tacet__fail(&job->err, TACET_NO_MEMORY, "out of memory reading a release")
                     : tacet__fail(&job->err, TACET_CORRUPT, "a release cannot be read");
    }
    tacet_blob_clear(&body);
    return status;
}

/* What the store will then be told. A stream of a central study has one charge for its rounds, so that it can have no
 * more of them; another study can, and may begin with what this one released. */
static tacet_status extend(const tacet__replica *r, tacet__job *job) {
    tacet__definition more = r->def;
    if (r->study.state == TACET__STUDY_ARCHIVED) {
        return tacet__fail(&job->err, TACET_STATE, "the study is archived");
    }
    if (!r->kind->extends || r->def.learn > 0) {
        return r->def.trust == TACET_TRUST_CENTRAL
                   ? tacet__fail(&job->err, TACET_STATE,
                                 "the study was charged once for its rounds and cannot have more: release its model, "
                                 "and begin another with 'tacet study create --from MODEL', charged separately")
                   : tacet__fail(&job->err, TACET_STATE,
                                 "policy '%s' cannot have more rounds: its epochs follow from their number",
                                 r->kind->name);
    }
    if (job->number <= r->def.rounds) {
        return tacet__fail(&job->err, TACET_INVALID, "the study has %llu rounds: more of them must be asked for",
                           (unsigned long long)r->def.rounds);
    }
    more.rounds = job->number;
    const tacet_status status = r->kind->check(&more, &job->err);
    return status != TACET_OK ? status : tacet__policy_try(r->kind, &more, &job->err);
}

tacet_status tacet__replica_act(tacet__replica *r, tacet__batch *b, tacet__job *job) {
    const bool writes = job->kind == TACET__JOB_SUGGEST || job->kind == TACET__JOB_OBSERVE ||
                        job->kind == TACET__JOB_RELEASE || job->kind == TACET__JOB_EXPIRE;
    const tacet_status kept = writes ? keep(r, b) : TACET_OK;
    if (kept != TACET_OK) {
        return tacet__fail(&job->err, kept, "%s", b->err.message);
    }
    switch (job->kind) {
    case TACET__JOB_SUGGEST:
        return suggest(r, b, job);
    case TACET__JOB_OBSERVE:
        return observe(r, b, job);
    case TACET__JOB_LOOK:
        return look(r, job);
    case TACET__JOB_STATUS:
        return tell(r, job);
    case TACET__JOB_RELEASE:
        return release(r, b, job);
    case TACET__JOB_GET_RELEASE:
        return get_release(r, job);
    case TACET__JOB_LEDGER:
        return r->kind->spent(&r->learner, &r->def, &job->body, &job->err);
    case TACET__JOB_MODEL:
        return r->kind->model != NULL ? r->kind->model(&r->learner, &job->body, &job->err)
                                      : tacet__fail(&job->err, TACET_NOT_FOUND, "devices of this study need no model");
    case TACET__JOB_EXTEND:
        return extend(r, job); /* and the store is told after the transaction */
    case TACET__JOB_ARCHIVE:
        return TACET_OK; /* after the transaction */
    case TACET__JOB_EXPIRE:
        return expire(r, b, job);
    case TACET__JOB_EVENTS:
    case TACET__JOB_TICKETS:
    case TACET__JOB_POSTERIOR:
        return tacet__replica_view(r, job);
    }
    return tacet__fail(&job->err, TACET_INVALID, "no such job");
}
