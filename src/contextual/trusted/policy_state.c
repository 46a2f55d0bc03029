/* SPDX-License-Identifier: Apache-2.0 */
/* policy_state.c - the policy of contextual choices as bytes, and back.
 * Ring: trusted. Private bytes until the release; after it they hold the model and no raw record. Source: none.
 * Cost: O(rounds so far). */
#include "contextual/trusted/policy_internal.h"

#include "core/codec.h"
#include "core/fail.h"
#include "core/memory.h"

#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

enum { STATE_VERSION = 2 }; /* 1: without the order of the reports */
static const char NAME[] = TACET__CONTEXTUAL_POLICY_NAME;
typedef tacet__contextual_policy explorer;

tacet_status tacet__contextual_policy_save(const void *self, tacet_blob *out, tacet_error *err) {
    const explorer *u = self;
    char *text = NULL;
    tacet__writer w;
    if (u->model != NULL) {
        const tacet_status status = tacet_contextual_model_encode(u->model, &text, err);
        if (status != TACET_OK) {
            return status;
        }
    }
    tacet__write_begin(&w, out, NAME, STATE_VERSION);
    tacet__write_bytes(&w, u->problem, sizeof u->problem);
    tacet__write_size(&w, u->suggested);
    tacet__write_bytes(&w, u->reported, u->suggested);
    tacet__write_bytes(&w, text, text != NULL ? strlen(text) : 0);
    if (u->model == NULL) {
        tacet__write_f64s(&w, u->context, u->suggested * u->contexts);
        for (size_t k = 0; k < u->suggested; k++) {
            if (u->reported[k]) {
                tacet__write_f64(&w, u->rewards[k]);
                tacet__write_u64(&w, u->order[k]);
            }
        }
    }
    free(text);
    return tacet__write_end(&w, err);
}

/* What a saved state says, before it is believed. */
typedef struct loaded {
    size_t suggested, reports;
    bool *reported;
    uint32_t *order;
    double *rewards, *context, *average;
    tacet_contextual_model *model;
} loaded;

static void loaded_clear(loaded *s, const explorer *u) {
    if (s->rewards != NULL) {
        sodium_memzero(s->rewards, u->settings.learn * sizeof *s->rewards);
    }
    if (s->context != NULL) {
        sodium_memzero(s->context, u->settings.learn * u->contexts * sizeof *s->context);
    }
    free(s->reported);
    free(s->order);
    free(s->rewards);
    free(s->context);
    free(s->average);
    tacet_contextual_model_free(s->model);
}

/* A released model of this very problem. */
static tacet_status read_model(loaded *s, const explorer *u, const unsigned char *text, size_t length,
                               tacet_error *err) {
    tacet_status status = tacet_contextual_model_decode(&s->model, (const char *)text, length, NULL);
    if (status == TACET_OK) {
        const tacet_contextual_parts *p = tacet_contextual_model_parts(s->model);
        bool same = p->action_dim == u->a && p->context_dim == u->contexts;
        for (size_t i = 0; i < u->basis->d && same; i++) {
            same = p->lower[i] == u->basis->lower[i] && p->upper[i] == u->basis->upper[i];
        }
        status = same ? tacet__contextual_policy_quicken(u, s->model, NULL) : TACET_CORRUPT;
        status = status == TACET_OK ? tacet__contextual_policy_average(u, s->average, s->model, NULL) : status;
    }
    if (status == TACET_NO_MEMORY) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory loading a state of %s", NAME);
    }
    return status == TACET_OK
               ? TACET_OK
               : tacet__fail(err, TACET_CORRUPT, "saved state of %s holds no model of this problem", NAME);
}

/* 1, 2, … in some order, each once. `seen` has a place for each. */
static bool orders_possible(const loaded *s, bool *seen) {
    bool good = true;
    for (size_t k = 0; k < s->suggested && good; k++) {
        if (s->reported[k]) {
            good = s->order[k] >= 1 && s->order[k] <= s->reports && !seen[s->order[k] - 1];
            if (good) {
                seen[s->order[k] - 1] = true;
            }
        }
    }
    return good;
}

static void read_records(loaded *s, const explorer *u, tacet__reader *r, bool ordered) {
    for (size_t k = 0; k < s->suggested; k++) {
        for (size_t c = 0; c < u->contexts; c++) {
            const double at = tacet__read_f64(r);
            r->failed = r->failed || !(at >= u->basis->lower[u->a + c] && at <= u->basis->upper[u->a + c]);
            s->context[k * u->contexts + c] = at;
        }
    }
    for (size_t k = 0; k < s->suggested; k++) {
        if (s->reported[k]) {
            s->rewards[k] = tacet__read_f64(r);
            r->failed = r->failed || !isfinite(s->rewards[k]);
            s->reports++;
            s->order[k] =
                ordered ? (uint32_t)tacet__read_size(r, TACET__CONTEXTUAL_POLICY_ROUNDS) : (uint32_t)s->reports;
        }
    }
}

static tacet_status read_state(loaded *s, const explorer *u, tacet__reader *r, bool ordered, tacet_error *err) {
    const unsigned char *bytes = NULL;
    size_t length = tacet__read_bytes(r, &bytes);
    r->failed = r->failed || length != TACET__CONTEXTUAL_POLICY_PRINT ||
                memcmp(bytes, u->problem, TACET__CONTEXTUAL_POLICY_PRINT) != 0;
    s->suggested = tacet__read_size(r, u->settings.rounds);
    length = tacet__read_bytes(r, &bytes);
    r->failed = r->failed || length != s->suggested;
    for (size_t k = 0; k < s->suggested && !r->failed; k++) {
        s->reported[k] = bytes[k] == 1;
        r->failed = bytes[k] > 1;
    }
    length = tacet__read_bytes(r, &bytes);
    if (!r->failed && length > 0) {
        const tacet_status status = read_model(s, u, bytes, length, err);
        if (status != TACET_OK) {
            return status;
        }
    } else if (s->suggested > u->settings.learn) {
        r->failed = true;
    } else if (!r->failed) {
        read_records(s, u, r, ordered);
    }
    const tacet_status status = tacet__read_end(r, err);
    if (status != TACET_OK || s->model != NULL) {
        return status;
    }
    bool *seen = TACET__ZALLOC(bool, s->suggested + 1);
    if (seen == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory loading a state of %s", NAME);
    }
    const bool good = orders_possible(s, seen);
    free(seen);
    return good ? TACET_OK : tacet__fail(err, TACET_CORRUPT, "saved state of %s has impossible reports", NAME);
}

tacet_status tacet__contextual_policy_load(void *self, const void *bytes, size_t size, tacet_error *err) {
    explorer *u = self;
    loaded s = {0};
    tacet__reader r;
    tacet_error newer = {0};
    tacet_status status = tacet__read_begin(&r, bytes, size, NAME, STATE_VERSION, &newer);
    const bool ordered = status == TACET_OK;
    if (!ordered && tacet__read_begin(&r, bytes, size, NAME, 1, NULL) != TACET_OK) {
        return tacet__fail(err, status, "%s", newer.message);
    }
    s.reported = TACET__ZALLOC(bool, u->settings.rounds);
    s.order = TACET__ZALLOC(uint32_t, u->settings.learn);
    s.rewards = TACET__ZALLOC(double, u->settings.learn);
    s.context = TACET__ZALLOC(double, u->settings.learn * u->contexts + 1);
    s.average = TACET__ZALLOC(double, u->n);
    status = s.reported == NULL || s.order == NULL || s.rewards == NULL || s.context == NULL || s.average == NULL
                 ? tacet__fail(err, TACET_NO_MEMORY, "out of memory loading a state of %s", NAME)
                 : read_state(&s, u, &r, ordered, err);
    if (status == TACET_OK) {
        const loaded old = {.suggested = u->suggested,
                            .reported = u->reported,
                            .order = u->order,
                            .rewards = u->rewards,
                            .context = u->context,
                            .average = u->average,
                            .model = u->model};
        u->suggested = s.suggested;
        u->reports = s.reports;
        u->reported = s.reported;
        u->order = s.order;
        u->rewards = s.rewards;
        u->context = s.context;
        u->average = s.average;
        u->model = s.model;
        s = old;
    }
    loaded_clear(&s, u);
    return status;
}
