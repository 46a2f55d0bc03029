/* SPDX-License-Identifier: Apache-2.0 */
/* replica_report.c - reports of devices that chose their arm by themselves: a suggestion and its observation in one.
 * Ring: open. Each is under a key, that of a grant or of its token, and taken once: a second report under it is the
 * same bits, or refused. In the log it is a suggestion and an observation like any other, so that a replay needs
 * nothing new. Cost: O(policy) a report. */
#include "local/shared/ldp.h"
#include "service/open/engine/replica.h"

#include "core/fail.h"
#include "core/memory.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/local/open/statistics_model.h>
#include <time.h>

static uint64_t seconds_now(const tacet__replica *r) {
    return r->settings->clock != NULL ? r->settings->clock() : (uint64_t)time(NULL);
}

/* Grants and reports are of studies of the local model, over fixed arms or with sets that stay on the devices, that
 * still take them. */
static tacet_status check_study(const tacet__replica *r, tacet_error *err) {
    if (r->kind->weights == NULL && r->kind->model == NULL) {
        return tacet__fail(err, TACET_NOT_FOUND, "devices of this study do not choose by themselves");
    }
    return r->study.state == TACET__STUDY_ARCHIVED ? tacet__fail(err, TACET_STATE, "the study is archived") : TACET_OK;
}

tacet_status tacet__replica_grants(tacet__replica *r, tacet__job *job) {
    unsigned char key[TACET__STUDY_SECRET_BYTES], lasting[TACET__STUDY_SECRET_BYTES];
    const uint64_t expires = seconds_now(r) + TACET__GRANT_SECONDS;
    TACET_OR_RETURN(check_study(r, &job->err));
    json_t *grants = json_array();
    tacet__studies_ticket_key(key, &r->study, r->study.head + 1);
    tacet__studies_ticket_key(lasting, &r->study, 0);
    for (size_t i = 0; grants != NULL && i < job->many; i++) {
        char text[TACET__GRANT_TEXT];
        tacet__grant_make(text, expires, key, job->key[0] != '\0' ? job->key : NULL, lasting);
        (void)json_array_append_new(grants, json_string(text));
    }
    sodium_memzero(key, sizeof key);
    sodium_memzero(lasting, sizeof lasting);
    job->body = json_pack("{so sI}", "grants", grants, "expires", (json_int_t)expires);
    return job->body != NULL ? TACET_OK : tacet__fail(&job->err, TACET_NO_MEMORY, "out of memory for grants");
}

/* What a device needs before it chooses: the settings it compares with its own, and the weights or the card. */
tacet_status tacet__replica_weights(tacet__replica *r, tacet__job *job) {
    json_t *state = NULL, *own = NULL;
    tacet_status status = check_study(r, &job->err);
    if (status == TACET_OK || status == TACET_STATE) { /* an archived one says that it has no rounds left */
        status = r->kind->weights != NULL ? r->kind->weights(&r->learner, &own, &job->err)
                                          : r->kind->model(&r->learner, &state, &job->err);
    }
    if (status != TACET_OK) {
        return status;
    }
    const bool over = r->def.rounds <= r->study.suggested || r->study.state == TACET__STUDY_ARCHIVED;
    own = own != NULL ? own : json_incref(json_object_get(state, "model"));
    json_decref(state);
    job->body = json_pack("{ss sf s[ff] ss sI so}", "study", r->name, "eps", r->def.eps, "range", r->def.reward_lo,
                          r->def.reward_hi, "randomizer", r->def.randomizer, "rounds_left",
                          (json_int_t)(over ? 0 : r->def.rounds - r->study.suggested),
                          r->kind->weights != NULL ? "weights" : "model", own);
    return job->body != NULL ? TACET_OK : tacet__fail(&job->err, TACET_NO_MEMORY, "out of memory making an answer");
}

/* The key of a report: a grant's own, or what its token calls it. NULL, or why there is none. */
static const char *key_of(const tacet__replica *r, char out[TACET__EVENT_KEY_MOST + 1], const tacet__job *job,
                          const json_t *report) {
    const char *grant = json_string_value(json_object_get(report, "grant"));
    const char *key = json_string_value(json_object_get(report, "key"));
    char id[TACET__GRANT_ID];
    uint64_t expires = 0;
    bool good = false;
    if (grant == NULL) { /* the route has seen to it that the key is one, and whose */
        (void)snprintf(out, TACET__EVENT_KEY_MOST + 1, "%s%s", job->key, key != NULL ? key : "");
        return key != NULL ? NULL : "a report needs a key";
    }
    for (size_t i = 0; i <= r->study.salt_count && !good; i++) { /* as tickets: by any key there was */
        unsigned char secret[TACET__STUDY_SECRET_BYTES];
        tacet__studies_ticket_key(secret, &r->study, i == 0 ? 0 : r->study.salts[i - 1].after + 1);
        good = tacet__grant_read(id, &expires, grant, secret);
        sodium_memzero(secret, sizeof secret);
    }
    if (!good) {
        return "this is no grant of this study";
    }
    (void)snprintf(out, TACET__EVENT_KEY_MOST + 1, "grant/%s", id);
    return expires > seconds_now(r) ? NULL : "the grant has expired";
}

/* A report under a key that was used before: the same, or refused. */
static const char *repeated(const tacet__suggestion *old, uint64_t index, double value) {
    return old->observed && old->event.index == index && memcmp(&old->value, &value, sizeof value) == 0
               ? "observed"
               : "this grant or key was used before, for another report";
}

/* One of them. *word: "observed", or why it was refused. Anything but OK ends the batch. */
static tacet_status take_one(tacet__replica *r, tacet__batch *b, tacet__job *job, const tacet_ldp *ldp,
                             const json_t *report, const char **word) {
    char key[TACET__EVENT_KEY_MOST + 1];
    tacet__suggestion old;
    tacet_error none = {0};
    const uint64_t index = (uint64_t)json_integer_value(json_object_get(report, "index"));
    const double value = json_number_value(json_object_get(report, "value"));
    *word = key_of(r, key, job, report);
    if (*word != NULL) {
        return TACET_OK;
    }
    tacet_status status = tacet__studies_by_key(r->store, &r->study, &old, key, strlen(key), &none);
    if (status == TACET_OK) {
        *word = repeated(&old, index, value);
        return TACET_OK;
    }
    if (status != TACET_NOT_FOUND) {
        return tacet__fail(&job->err, status, "%s", none.message);
    }
    /* An arm's number, or a round that the device named by itself. */
    const bool known = r->kind->weights != NULL ? index < r->def.count
                                                : index >= TACET_STATISTICS_OWN_ROUNDS && index < UINT64_C(1) << 53;
    if (!known || !tacet_ldp_possible(ldp, value)) {
        *word = !known ? "there is no such arm" : "no device that follows the rules can have sent this";
        return TACET_OK;
    }
    if (r->study.suggested >= r->def.rounds) {
        *word = "the study has given out its rounds";
        return TACET_OK;
    }
    /* The policy numbers its rounds as the log does. */
    const tacet_suggestion made = {.index = (size_t)index, .ticket = r->study.suggested + 1};
    status = tacet_policy_repeat(r->learner.policy, &made, NULL, &job->err);
    TACET_THEN(status, tacet_policy_observe(r->learner.policy, made.ticket, tacet__definition_towards(&r->def, value),
                                            &job->err));
    tacet__event event = {
        .kind = TACET__EVENT_SUGGEST, .number = made.ticket, .index = index, .key = key, .key_size = strlen(key)};
    TACET_THEN(status, tacet__replica_append(r, b, &event));
    if (status == TACET_OK) {
        tacet__event seen = {.kind = TACET__EVENT_OBSERVE,
                             .of = event.seq,
                             .number = made.ticket,
                             .index = TACET__NO_INDEX,
                             .value = value};
        status = tacet__replica_append(r, b, &seen);
    }
    if (status != TACET_OK) {
        b->broken = true; /* the policy has what the log has not */
    }
    *word = "observed";
    return status;
}

tacet_status tacet__replica_report(tacet__replica *r, tacet__batch *b, tacet__job *job) {
    tacet_ldp_kind kind;
    tacet_ldp ldp;
    size_t i = 0;
    json_t *report = NULL;
    tacet_status status = check_study(r, &job->err);
    if (r->kind->weights == NULL) {
        kind = TACET_LDP_SPHERE;
    } else {
        TACET_THEN(status, tacet_ldp_parse(&kind, r->def.randomizer, &job->err));
    }
    TACET_THEN(status, tacet_ldp_init(&ldp, kind, r->def.eps, r->def.reward_lo, r->def.reward_hi, &job->err));
    json_t *results = json_array();
    json_array_foreach(job->reports, i, report) {
        const char *word = NULL;
        TACET_THEN(status, take_one(r, b, job, &ldp, report, &word));
        if (status != TACET_OK) {
            break;
        }
        const bool taken = strcmp(word, "observed") == 0;
        (void)json_array_append_new(results, taken ? json_pack("{ss}", "state", word)
                                                   : json_pack("{ss ss}", "state", "refused", "detail", word));
    }
    job->body = status == TACET_OK ? json_pack("{sO}", "results", results) : NULL;
    json_decref(results);
    return status == TACET_OK && job->body == NULL ? tacet__fail(&job->err, TACET_NO_MEMORY, "out of memory") : status;
}
