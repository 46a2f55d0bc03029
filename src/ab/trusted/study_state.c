/* SPDX-License-Identifier: Apache-2.0 */
/* study_state.c - a running A/B test as bytes, and back.
 * Ring: trusted. Private bytes: they hold the sums of the current epoch. What was released is stored as numbers, and
 * the test is made again from them. Source: none. Cost: O(rounds). */
#include "ab/trusted/study_internal.h"

#include "core/codec.h"
#include "core/fail.h"
#include "core/memory.h"
#include "core/numbers.h"

#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

enum { STATE_VERSION = 1 };
static const char NAME[] = TACET__AB_STUDY_NAME;

static void write_counts(tacet__writer *w, const tacet__ab_counts *c, size_t arms) {
    tacet__write_u64s(w, c->steps, arms);
    tacet__write_u64s(w, c->tickets, arms);
}

tacet_status tacet__ab_study_save(const void *self, tacet_blob *out, tacet_error *err) {
    const tacet__ab_study *u = self;
    const size_t arms = u->settings.arms;
    tacet__writer w;
    tacet__write_begin(&w, out, NAME, STATE_VERSION);
    tacet__write_bytes(&w, u->problem, sizeof u->problem);
    tacet__write_size(&w, u->suggested);
    tacet__write_bytes(&w, u->reported, u->suggested);
    tacet__write_size(&w, u->epoch);
    tacet__write_size(&w, u->begin);
    tacet__write_size(&w, u->size);
    write_counts(&w, &u->now, arms);
    write_counts(&w, &u->next, arms);
    for (size_t e = 0; e < u->epoch; e++) {
        tacet__write_f64s(&w, u->released[e].sums, arms);
        tacet__write_f64s(&w, u->released[e].tickets, arms);
        tacet__write_f64(&w, u->released[e].scale);
        tacet__write_f64(&w, u->released[e].grid);
    }
    return tacet__write_end(&w, err);
}

/* Tickets of an epoch: as many as were given, and no reward above 1. */
static void read_counts(tacet__reader *r, tacet__ab_counts *c, size_t arms, uint64_t tickets) {
    uint64_t sum = 0;
    tacet__read_u64s(r, c->steps, arms);
    tacet__read_u64s(r, c->tickets, arms);
    for (size_t i = 0; i < arms && !r->failed; i++) {
        r->failed = c->tickets[i] > tickets - sum || c->steps[i] > c->tickets[i] * TACET__AB_STUDY_ONE;
        sum += r->failed ? 0 : c->tickets[i];
    }
    r->failed = r->failed || sum != tickets;
}

static void read_epochs(tacet__reader *r, tacet__ab_study *s) {
    const size_t arms = s->settings.arms;
    for (size_t e = 0; e < s->epoch && !r->failed; e++) {
        tacet__ab_released *at = &s->released[e];
        tacet__read_f64s(r, at->sums, arms);
        tacet__read_f64s(r, at->tickets, arms);
        at->scale = tacet__read_f64(r);
        at->grid = tacet__read_f64(r);
    }
}

/* Into *s, which has the settings of this study. */
static tacet_status read_state(tacet__reader *r, tacet__ab_study *s, tacet_error *err) {
    const unsigned char *bytes = NULL;
    size_t length = tacet__read_bytes(r, &bytes);
    r->failed = r->failed || length != sizeof s->problem || memcmp(bytes, s->problem, sizeof s->problem) != 0;
    s->suggested = tacet__read_size(r, s->settings.rounds);
    length = tacet__read_bytes(r, &bytes);
    r->failed = r->failed || length != s->suggested;
    for (size_t k = 0; k < s->suggested && !r->failed; k++) {
        s->reported[k] = bytes[k] == 1;
        r->failed = bytes[k] > 1;
    }
    s->epoch = tacet__read_size(r, TACET__AB_STUDY_EPOCHS);
    s->begin = tacet__read_size(r, s->suggested);
    s->size = tacet__read_size(r, SIZE_MAX / 4);
    if (r->failed || s->suggested - s->begin > s->size + s->settings.late) {
        return tacet__fail(err, TACET_CORRUPT, "saved state of %s is damaged or of another problem", NAME);
    }
    const size_t open = s->suggested - s->begin;
    read_counts(r, &s->now, s->settings.arms, open < s->size ? open : s->size);
    read_counts(r, &s->next, s->settings.arms, open < s->size ? 0 : open - s->size);
    read_epochs(r, s);
    return tacet__read_end(r, err);
}

tacet_status tacet__ab_study_load(void *self, const void *bytes, size_t size, tacet_error *err) {
    tacet__ab_study *u = self;
    tacet__ab_study *s = TACET__ZALLOC(tacet__ab_study, 1);
    bool *reported = TACET__ZALLOC(bool, u->settings.rounds);
    tacet_ab_test *test = NULL;
    tacet__reader r;
    tacet_status status = tacet__read_begin(&r, bytes, size, NAME, STATE_VERSION, err);
    if (status == TACET_OK && (s == NULL || reported == NULL)) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory loading a state of %s", NAME);
    }
    if (status == TACET_OK) {
        *s = *u;
        s->reported = reported;
        status = read_state(&r, s, err);
    }
    if (status == TACET_OK) {
        status = tacet__ab_study_test(&test, s, s->released, s->epoch, err);
        status = status == TACET_INVALID
                     ? tacet__fail(err, TACET_CORRUPT, "saved state of %s is damaged or of another problem", NAME)
                     : status;
    }
    if (status == TACET_OK && s->suggested <= s->begin + s->size) {
        status = tacet__ab_study_plan(s, err); /* the horizon may have grown; an epoch that has ended stays as it is */
    }
    if (status == TACET_OK) {
        s->test = test;
        test = u->test;
        reported = u->reported;
        s->ask.ticket = u->ticket;
        *u = *s;
    }
    tacet_ab_test_free(test);
    free(reported);
    if (s != NULL) {
        sodium_memzero(s, sizeof *s);
    }
    free(s);
    return status;
}
