/* SPDX-License-Identifier: Apache-2.0 */
/* tally.c - scores of candidates over the same records, added up in whole steps.
 * Ring: gate. In: values, one for each record. Out: tacet_release, by permute-and-flip or Laplace noise.
 * Source: sensitivity of a sum of clipped values; McKenna, Sheldon 2020 for the choice. Differs: values are rounded
 * before they are added, not after, so that the sensitivity is a whole number and exact. Proof: tally.md.
 * Cost: O(records) a candidate; a choice is one pass over the candidates. */
#include <tacet/dp/tally.h>

#include "core/fail.h"
#include "core/memory.h"
#include "dp/mechanisms/table.h"
#include "dp/tally_internal.h"

#include <math.h>
#include <sodium.h>
#include <stdlib.h>

static const double MOST = 1e100;
static const size_t RECORDS_MOST = (size_t)1 << 32;
static const char *const PROOF = "src/dp/tally.md";
static const tacet_neighbours REPLACE = {.relation = TACET_RELATION_REPLACE};

struct tacet_tally {
    size_t records;
    double lower, upper;
    int64_t *sums; /* private */
    size_t count, capacity;
};

tacet_status tacet_tally_create(tacet_tally **out, size_t records, double lower, double upper, tacet_error *err) {
    *out = NULL;
    if (!(records > 0 && records <= RECORDS_MOST)) {
        return tacet__fail(err, TACET_INVALID, "a tally needs 1 to 2^32 records");
    }
    if (!(lower >= -MOST && lower < upper && upper <= MOST)) {
        return tacet__fail(err, TACET_INVALID, "the range of a value must be lower < upper, both finite");
    }
    tacet_tally *tally = TACET__ZALLOC(tacet_tally, 1);
    if (tally == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a tally");
    }
    tally->records = records;
    tally->lower = lower;
    tally->upper = upper;
    *out = tally;
    return TACET_OK;
}

void tacet_tally_free(tacet_tally *tally) {
    if (tally != NULL) {
        if (tally->sums != NULL) {
            sodium_memzero(tally->sums, tally->count * sizeof *tally->sums);
        }
        free(tally->sums);
        free(tally);
    }
}

size_t tacet_tally_candidates(const tacet_tally *tally) {
    return tally->count;
}

int64_t tacet__tally_sum(const tacet_tally *tally, size_t candidate) {
    return tally->sums[candidate];
}

/* Growing copies by hand: what realloc leaves behind would not be wiped. */
static tacet_status append_sum(tacet_tally *tally, int64_t sum, tacet_error *err) {
    if (tally->count == tally->capacity) {
        const size_t capacity = tally->capacity > 0 ? 2 * tally->capacity : 64;
        int64_t *sums = TACET__ZALLOC(int64_t, capacity);
        if (sums == NULL) {
            return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu candidates", capacity);
        }
        for (size_t i = 0; i < tally->count; i++) {
            sums[i] = tally->sums[i];
        }
        if (tally->sums != NULL) {
            sodium_memzero(tally->sums, tally->count * sizeof *tally->sums);
        }
        free(tally->sums);
        tally->sums = sums;
        tally->capacity = capacity;
    }
    tally->sums[tally->count++] = sum;
    return TACET_OK;
}

tacet_status tacet__tally_put(tacet_tally *tally, int64_t sum, tacet_error *err) {
    if (!(sum >= 0 && (uint64_t)sum <= (uint64_t)tally->records * TACET_TALLY_STEPS)) {
        return tacet__fail(err, TACET_INVALID, "no sum of %zu records", tally->records);
    }
    return append_sum(tally, sum, err);
}

/* Whole steps above the lowest, 0 … TACET_TALLY_STEPS whatever the value is. The first comparison is false for what is
 * not a number, the second stops what lies above, before the quotient is made. */
static int64_t steps_of(double value, double lower, double upper) {
    if (!(value > lower)) {
        return 0;
    }
    if (value >= upper) {
        return TACET_TALLY_STEPS;
    }
    const double share = (value - lower) / (upper - lower); /* in (0, 1] */
    return (int64_t)nearbyint(share * TACET_TALLY_STEPS);
}

tacet_status tacet_tally_add(tacet_tally *tally, const double *values, size_t count, tacet_error *err) {
    if (count != tally->records) {
        return tacet__fail(err, TACET_INVALID, "%zu values for %zu records: one for each record, not a mean", count,
                           tally->records);
    }
    int64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += steps_of(values[i], tally->lower, tally->upper);
    }
    return append_sum(tally, sum, err);
}

tacet_status tacet_tally_add_lowest(tacet_tally *tally, tacet_error *err) {
    return append_sum(tally, 0, err);
}

/* The mechanism on `count` sums from `first` on. Between neighbours each of them moves by at most TACET_TALLY_STEPS
 * (tally.md); clipping to what a sum can be changes none. */
static tacet_status run_on_sums(const tacet_tally *tally, tacet_release **out, const tacet_ask *ask,
                                tacet_mechanism_kind kind, size_t first, size_t count, double eps, tacet_error *err) {
    const double most = (double)tally->records * TACET_TALLY_STEPS;
    tacet_bound *range = NULL;
    tacet_bound *bound = NULL;
    tacet_mechanism *mechanism = NULL;
    tacet_raw *raw = NULL;
    tacet_bounded *bounded = NULL;
    double *values = TACET__ZALLOC(double, count);
    tacet_status s =
        values != NULL ? TACET_OK : tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu scores", count);
    for (size_t i = 0; s == TACET_OK && i < count; i++) {
        values[i] = (double)tally->sums[first + i];
    }
    s = s != TACET_OK ? s : tacet_bound_range(&range, count, 0, most, err);
    if (s == TACET_OK && tally->records > 1) { /* of one record the range itself is as narrow */
        s = tacet__kind_of(kind)->by_l1 ? tacet_bound_narrow_1(&bound, range, TACET_TALLY_STEPS, PROOF, err)
                                        : tacet_bound_narrow_scores(&bound, range, TACET_TALLY_STEPS, PROOF, err);
    }
    const tacet_bound *used = bound != NULL ? bound : range;
    s = s != TACET_OK ? s : tacet_mechanism_create(&mechanism, kind, used, &REPLACE, eps, 0, err);
    s = s != TACET_OK ? s : tacet_raw_create(&raw, count, err);
    s = s != TACET_OK ? s : tacet_raw_set(raw, values, count, err);
    s = s != TACET_OK ? s : tacet_bounded_create(&bounded, used, err);
    s = s != TACET_OK ? s : tacet_bounded_set(bounded, raw, err);
    s = s != TACET_OK ? s : tacet_mechanism_run(mechanism, out, ask, bounded, err);
    tacet_bounded_free(bounded);
    tacet_raw_free(raw);
    tacet_mechanism_free(mechanism);
    tacet_bound_free(bound);
    tacet_bound_free(range);
    if (values != NULL) {
        sodium_memzero(values, count * sizeof *values);
    }
    free(values);
    return s;
}

tacet_status tacet_tally_choose(const tacet_tally *tally, tacet_release **out, const tacet_ask *ask, double eps,
                                tacet_error *err) {
    *out = NULL;
    if (tally->count == 0) {
        return tacet__fail(err, TACET_STATE, "there is no candidate to choose from");
    }
    return run_on_sums(tally, out, ask, TACET_MECHANISM_PERMUTE_AND_FLIP, 0, tally->count, eps, err);
}

tacet_status tacet_tally_release(const tacet_tally *tally, tacet_release **out, const tacet_ask *ask, size_t candidate,
                                 double eps, tacet_error *err) {
    *out = NULL;
    if (candidate >= tally->count) {
        return tacet__fail(err, TACET_INVALID, "no candidate %zu among %zu", candidate, tally->count);
    }
    return run_on_sums(tally, out, ask, TACET_MECHANISM_LAPLACE, candidate, 1, eps, err);
}
