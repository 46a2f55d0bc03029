/* SPDX-License-Identifier: Apache-2.0 */
/* epochs_state.c - the policy with epochs as bytes, and back.
 * Ring: trusted. Private bytes: they hold the rounds of the current epoch. What was released is stored as numbers, so a
 * study goes on wherever it is taken. Source: none. Cost: O(rounds of the epoch + M^2). */
#include "contextual/trusted/epochs_internal.h"

#include "core/codec.h"
#include "core/fail.h"
#include "core/memory.h"
#include "core/numbers.h"

#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

enum { STATE_VERSION = 1 };
static const char NAME[] = TACET__EPOCHS_NAME;

tacet_status tacet__epochs_save(const void *self, tacet_blob *out, tacet_error *err) {
    const tacet__epochs *u = self;
    const tacet__belief *b = &u->robust.belief;
    const size_t rounds = u->suggested - u->begin;
    tacet__writer w;
    tacet__write_begin(&w, out, NAME, STATE_VERSION);
    tacet__write_bytes(&w, u->problem, sizeof u->problem);
    tacet__write_size(&w, u->suggested);
    tacet__write_bytes(&w, u->reported, u->suggested);
    tacet__write_size(&w, u->epoch);
    tacet__write_size(&w, u->begin);
    tacet__write_f64s(&w, u->context, rounds * u->contexts);
    for (size_t k = 0; k < rounds; k++) {
        tacet__write_u64(&w, u->action[k]);
        tacet__write_f64(&w, u->rewards[k]);
    }
    tacet__write_f64(&w, u->sketch_var);
    tacet__write_f64(&w, u->sketch_n);
    tacet__write_f64s(&w, u->V, tacet__contextual_law_size(&u->robust.law));
    tacet__write_f64s(&w, b->theta, b->M);
    tacet__write_f64s(&w, b->P, b->M * b->M);
    tacet__write_f64(&w, b->tail);
    tacet__write_f64s(&w, u->draws, b->M * TACET__EPOCHS_DRAWS);
    tacet__write_f64s(&w, u->robust.even, b->N);
    tacet__write_f64s(&w, u->before, u->settings.late > 0 ? b->N : 0);
    return tacet__write_end(&w, err);
}

/* The numbers of a saved state, before they are believed: released ones first. */
typedef struct loaded {
    size_t suggested, epoch, begin, rounds;
    bool *reported;
    uint32_t *action;
    double *context, *rewards;
    double sketch_var, sketch_n, tail;
    double *V, *theta, *P, *draws, *even, *before;
} loaded;

static void loaded_clear(loaded *s, size_t contexts) {
    if (s->context != NULL && s->rewards != NULL) {
        sodium_memzero(s->context, s->rounds * contexts * sizeof *s->context);
        sodium_memzero(s->rewards, s->rounds * sizeof *s->rewards);
    }
    free(s->reported);
    free(s->action);
    free(s->context);
    free(s->rewards);
    free(s->V);
    free(s->theta);
    free(s->P);
    free(s->draws);
    free(s->even);
    free(s->before);
}

/* Where the epoch must have begun at the latest: one before it was shorter if it was the last for a time. */
static size_t begin_of(const tacet__epochs *u, size_t epoch) {
    size_t begin = 0;
    for (size_t e = 0; e < epoch && begin <= u->settings.rounds; e++) {
        begin += tacet__epochs_size(u, e);
    }
    return begin;
}

static void read_rounds(const tacet__epochs *u, loaded *s, tacet__reader *r) {
    tacet__read_f64s(r, s->context, s->rounds * u->contexts);
    r->failed = r->failed || !tacet__all_finite(s->context, s->rounds * u->contexts);
    for (size_t k = 0; k < s->rounds && !r->failed; k++) {
        s->action[k] = (uint32_t)tacet__read_size(r, u->n - 1);
        s->rewards[k] = tacet__read_f64(r);
        r->failed = r->failed || isinf(s->rewards[k]) || s->reported[s->begin + k] == isnan(s->rewards[k]);
    }
}

static tacet_status read_state(const tacet__epochs *u, loaded *s, tacet__reader *r, tacet_error *err) {
    const tacet__belief *b = &u->robust.belief;
    const size_t size = tacet__contextual_law_size(&u->robust.law);
    const unsigned char *bytes = NULL;
    size_t length = tacet__read_bytes(r, &bytes);
    r->failed = r->failed || length != sizeof u->problem || memcmp(bytes, u->problem, sizeof u->problem) != 0;
    s->suggested = tacet__read_size(r, u->settings.rounds);
    length = tacet__read_bytes(r, &bytes);
    r->failed = r->failed || length != s->suggested;
    s->reported = TACET__ZALLOC(bool, u->settings.rounds);
    for (size_t k = 0; k < s->suggested && !r->failed && s->reported != NULL; k++) {
        s->reported[k] = bytes[k] == 1;
        r->failed = bytes[k] > 1;
    }
    s->epoch = tacet__read_size(r, 64);
    s->begin = tacet__read_size(r, s->suggested);
    s->rounds = s->suggested - s->begin;
    r->failed =
        r->failed || s->begin > begin_of(u, s->epoch) || s->rounds > tacet__epochs_size(u, s->epoch) + u->settings.late;
    if (r->failed) {
        return tacet__fail(err, TACET_CORRUPT, "saved state of %s is damaged or of another problem", NAME);
    }
    s->action = TACET__ZALLOC(uint32_t, s->rounds + 1);
    s->context = TACET__ZALLOC(double, s->rounds * u->contexts + 1);
    s->rewards = TACET__ZALLOC(double, s->rounds + 1);
    s->V = TACET__ZALLOC(double, size + 1);
    s->theta = TACET__ZALLOC(double, b->M);
    s->P = TACET__ZALLOC(double, b->M * b->M);
    s->draws = TACET__ZALLOC(double, b->M *TACET__EPOCHS_DRAWS);
    s->even = TACET__ZALLOC(double, b->N);
    s->before = TACET__ZALLOC(double, b->N);
    if (s->reported == NULL || s->action == NULL || s->context == NULL || s->rewards == NULL || s->V == NULL ||
        s->theta == NULL || s->P == NULL || s->draws == NULL || s->even == NULL || s->before == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory loading a state of %s", NAME);
    }
    read_rounds(u, s, r);
    s->sketch_var = tacet__read_f64(r);
    s->sketch_n = tacet__read_f64(r);
    tacet__read_f64s(r, s->V, size);
    tacet__read_f64s(r, s->theta, b->M);
    tacet__read_f64s(r, s->P, b->M * b->M);
    s->tail = tacet__read_f64(r);
    tacet__read_f64s(r, s->draws, b->M * TACET__EPOCHS_DRAWS);
    tacet__read_f64s(r, s->even, b->N);
    tacet__read_f64s(r, s->before, u->settings.late > 0 ? b->N : 0);
    r->failed = r->failed || !(s->sketch_var >= 0 && s->sketch_n >= 0 && s->tail >= 0 && isfinite(s->tail)) ||
                !tacet__all_finite(s->V, size) || !tacet__all_finite(s->theta, b->M) ||
                !tacet__all_finite(s->P, b->M * b->M) || !tacet__all_finite(s->draws, b->M * TACET__EPOCHS_DRAWS) ||
                !tacet__all_finite(s->even, b->N) || !tacet__all_finite(s->before, b->N);
    return tacet__read_end(r, err);
}

tacet_status tacet__epochs_load(void *self, const void *bytes, size_t size, tacet_error *err) {
    tacet__epochs *u = self;
    tacet__belief *b = &u->robust.belief;
    loaded s = {0};
    tacet__reader r;
    tacet_status status = tacet__read_begin(&r, bytes, size, NAME, STATE_VERSION, err);
    status = status == TACET_OK ? read_state(u, &s, &r, err) : status;
    const size_t epoch_size = status == TACET_OK ? tacet__epochs_size(u, s.epoch) + u->settings.late : 0;
    double *context = TACET__ZALLOC(double, epoch_size * u->contexts + 1);
    double *rewards = TACET__ZALLOC(double, epoch_size + 1);
    uint32_t *action = TACET__ZALLOC(uint32_t, epoch_size + 1);
    if (status == TACET_OK && (context == NULL || rewards == NULL || action == NULL)) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory loading a state of %s", NAME);
    }
    if (status != TACET_OK) {
        free(context);
        free(rewards);
        free(action);
        loaded_clear(&s, u->contexts);
        return status;
    }
    memcpy(context, s.context, s.rounds * u->contexts * sizeof *context);
    memcpy(rewards, s.rewards, s.rounds * sizeof *rewards);
    memcpy(action, s.action, s.rounds * sizeof *action);
    sodium_memzero(u->context, u->capacity * u->contexts * sizeof *u->context);
    sodium_memzero(u->rewards, u->capacity * sizeof *u->rewards);
    free(u->context);
    free(u->rewards);
    free(u->action);
    u->context = context;
    u->rewards = rewards;
    u->action = action;
    u->capacity = epoch_size;
    u->suggested = s.suggested;
    u->epoch = s.epoch;
    u->begin = s.begin;
    u->sketch_var = s.sketch_var;
    u->sketch_n = s.sketch_n;
    b->tail = s.tail;
    memcpy(u->reported, s.reported, u->settings.rounds * sizeof *u->reported);
    memcpy(u->V, s.V, tacet__contextual_law_size(&u->robust.law) * sizeof *u->V);
    memcpy(b->theta, s.theta, b->M * sizeof *b->theta);
    memcpy(b->P, s.P, b->M * b->M * sizeof *b->P);
    memcpy(u->draws, s.draws, b->M * TACET__EPOCHS_DRAWS * sizeof *u->draws);
    memcpy(u->robust.even, s.even, b->N * sizeof *u->robust.even);
    memcpy(u->before, s.before, b->N * sizeof *u->before);
    loaded_clear(&s, u->contexts);
    status = tacet__epochs_plan(u, err);
    return status == TACET_OK && u->epoch > 0 ? tacet__epochs_refresh(u, err) : status;
}
