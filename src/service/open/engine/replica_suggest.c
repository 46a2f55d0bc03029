/* SPDX-License-Identifier: Apache-2.0 */
/* replica_suggest.c - suggestions of a study: whose they are, repeated ones, several at once, those after the last
 * round. Ring: open. Cost: O(policy) a suggestion. */
#include "service/open/engine/replica.h"

#include "core/fail.h"
#include "core/json_text.h"
#include "core/memory.h"
#include "service/open/study/round.h"
#include "service/open/study/space_domain.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/contextual/open/model.h>

void tacet__replica_show(const tacet__replica *r, tacet__job *job) {
    const bool brought = r->def.count == 0 && job->points != NULL && job->index < job->count;
    if (brought) {
        memcpy(job->action, job->points + job->index * r->def.d, r->def.d * sizeof(double));
    }
    job->action_size =
        brought || (r->def.count > 0 && tacet__domain_point(&r->def, job->action, NULL, job->index)) ? r->def.d : 0;
    json_decref(job->point);
    job->point = tacet__space_domain_point(&r->def, job->index);
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
    (void)err;
    c->same = same_bytes(c->body, e->body, e->body_size);
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

/* Whether how much the token has matters. */
static bool is_limited(const tacet__replica *r, const tacet__job *job) {
    return job->owned && (job->rounds_most > 0 || job->open_most > 0 ||
                          (r->def.trust == TACET_TRUST_CENTRAL && !r->study.reports_private));
}

void tacet__replica_foresee(tacet__replica *r, const tacet__job *jobs) {
    unsigned char hash[TACET__HOLDER_BYTES];
    uint64_t seq = 0;
    for (const tacet__job *job = r->loaded ? jobs : NULL; job != NULL; job = job->next) {
        if (job->kind == TACET__JOB_SUGGEST && job->key[0] != '\0' && job->many == 0) {
            tacet__studies_want_key(r->store, &r->study, job->key, strlen(job->key));
        }
        if (job->kind == TACET__JOB_SUGGEST && is_limited(r, job)) {
            tacet__holder_hash(hash, &r->study, TACET__HOLDER_TOKEN, job->owner, sizeof job->owner);
            tacet__studies_want_held(r->store, &r->study, hash);
        }
        if (job->kind == TACET__JOB_SUGGEST && job->person[0] != '\0') {
            tacet__holder_hash(hash, &r->study, TACET__HOLDER_PERSON, job->person, strlen(job->person));
            tacet__studies_want_held(r->store, &r->study, hash);
        }
        if ((job->kind == TACET__JOB_OBSERVE || job->kind == TACET__JOB_LOOK) &&
            tacet__studies_ticket_read(&r->study, &seq, job->ticket)) {
            tacet__studies_want_suggestion(r->store, &r->study, seq);
        }
    }
}

/* Whose suggestion it will be: refused where the token has its share; a null record where the person has. Looks at who
 * took which round, and at nothing that was reported. */
static tacet_status hold(tacet__replica *r, const tacet__job *job, tacet__event *event, tacet_error *err) {
    tacet__held held;
    tacet_status status = TACET_OK;
    if (job->owned) {
        event->has_owner = true;
        tacet__holder_hash(event->owner, &r->study, TACET__HOLDER_TOKEN, job->owner, sizeof job->owner);
    }
    if (is_limited(r, job)) {
        status = tacet__studies_held(r->store, &r->study, &held, event->owner, err);
        /* Nothing waits for reports where they are private, and a refusal would tell of them. */
        if (status == TACET_OK && !r->study.reports_private && held.open >= open_share(r, job)) {
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

/* The best of this round's decision set by what was released: post-processing, so it may be asked for ever. */
static tacet_status best_by_model(tacet__replica *r, tacet__job *job) {
    json_t *release = NULL;
    tacet_contextual_model *model = NULL;
    size_t best = 0;
    tacet_status status = r->kind->release(&r->learner, &r->def, &release, &job->err);
    char *text = status == TACET_OK ? json_dumps(json_object_get(release, "model"), JSON_REAL_PRECISION(17)) : NULL;
    double *means = TACET__ZALLOC(double, job->count + 1);
    if (status == TACET_OK && (text == NULL || means == NULL)) {
        status = tacet__fail(&job->err, TACET_STATE, "the rounds are over, and the study released no model");
    }
    TACET_THEN(status, tacet_contextual_model_decode(&model, text, strlen(text), &job->err));
    TACET_THEN(status, tacet_contextual_predict(model, &best, means, job->points, job->count, &job->err));
    job->index = best;
    tacet_contextual_model_free(model);
    json_decref(release);
    free(text);
    free(means);
    return status;
}

/* The rounds are over: no ticket, no record, nothing to report. */
static tacet_status suggest_last(tacet__replica *r, tacet__job *job) {
    json_t *best = NULL;
    tacet_status status = TACET_OK;
    if (r->kind->own_sets) {
        return tacet__fail(&job->err, TACET_STATE, "the study has given out its rounds: devices choose by its model");
    }
    if (r->kind->contextual) {
        size_t index = 0;
        status = r->kind->choose(&r->learner, &index, job->context, job->context_dim, &job->err);
        job->index = index;
    } else if (r->kind->sets) {
        status = best_by_model(r, job);
    } else {
        status = r->kind->best(&r->learner, &r->def, &best, &job->err);
        job->index = (uint64_t)json_integer_value(json_object_get(best, "index"));
        json_decref(best);
    }
    job->last = status == TACET_OK;
    job->ticket[0] = '\0';
    if (status == TACET_OK) {
        tacet__replica_show(r, job);
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

/* Asks the policy, and appends what it says to the log. body: the round, as events have it. */
static tacet_status suggest_new(tacet__replica *r, tacet__batch *b, tacet__job *job, const tacet_round *round,
                                const tacet_blob *body) {
    tacet__event event = {.kind = TACET__EVENT_SUGGEST};
    tacet_suggestion s = {0};
    tacet_status status = hold(r, job, &event, &job->err);
    if (status != TACET_OK) {
        return status;
    }
    status = tacet_policy_suggest(r->learner.policy, &s, round, &job->err);
    if (status == TACET_CONFLICT) {
        /* The ledger knows of a release that this history did not make: not the client's conflict. */
        status = TACET_CORRUPT;
    }
    if (status == TACET_OK) {
        event.number = s.ticket;
        event.index = s.index;
        event.key = job->key[0] != '\0' ? job->key : NULL;
        event.key_size = strlen(job->key);
        event.body = body->data;
        event.body_size = body->size;
        status = tacet__replica_append(r, b, &event);
        job->seq = event.seq;
        job->index = s.index;
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
    TACET_THEN(status, suggest_new(r, b, job, brings ? &round : NULL, &body));
done:
    if (status == TACET_OK) {
        unsigned char key[TACET__STUDY_SECRET_BYTES];
        tacet__studies_ticket_key(key, &r->study, job->seq);
        tacet__ticket_make(job->ticket, job->seq, key);
        sodium_memzero(key, sizeof key);
        tacet__replica_show(r, job);
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
tacet_status tacet__replica_suggest(tacet__replica *r, tacet__batch *b, tacet__job *job) {
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
