/* SPDX-License-Identifier: Apache-2.0 */
/* privatizer.c - raw epoch sums in, noisy prefix sums out through the gate.
 * Ring: trusted. Source: the PRIVATIZER of Dubey (AISTATS 2021), Algorithms 1 and 2. Differs: one step of the stream is
 * a whole epoch, so the noise pays for the number of epochs (some thirty) instead of the number of rounds; any
 * factorisation of the stream; calibrated as one Gaussian mechanism (src/central/README.md).
 * Records are rounded to multiples of 2^-30 before they are added, so that sums are exact and do not depend on the
 * order of the records; the rounding is charged. Cost: O(dim) a record, a step of the stream an epoch. */
#include "central/trusted/privatizer.h"

#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/central/trusted/policy.h>

#include "core/codec.h"
#include "core/fail.h"
#include "core/memory.h"
#include "dp/streams/again.h"

static const char STATE_NAME[] = "privatizer";
enum { STATE_VERSION = 1, FIRST_SEGMENT = 16 };
static const double QUANTUM = 0x1p-30;
static const uint64_t LONGEST_EPOCH = (uint64_t)1 << 16; /* so that sums stay exact, and fit the gate's grid */
static const uint64_t MOST_ROUNDS = (uint64_t)1 << 40;

struct tacet__privatizer {
    tacet__privatizer_plan plan;
    tacet_ask ask; /* its texts point into `texts` */
    char *texts;
    tacet_bound *wide, *bound;
    tacet_raw *raw;
    tacet_bounded *bounded;
    tacet_stream *stream;
    double *sum;         /* of the current epoch: private */
    double *scratch;     /* dim */
    double *sd;          /* dim */
    uint64_t count;      /* records so far */
    uint64_t epoch_end;  /* count at which the current epoch ends */
    double epoch_length; /* before rounding up */
    bool due;
};

static uint64_t next_end(uint64_t from, double length, uint64_t rounds) {
    const double whole = fmin(ceil(length), (double)LONGEST_EPOCH);
    const uint64_t end = from + (uint64_t)whole;
    return rounds > 0 && end > rounds ? rounds : end;
}

size_t tacet_central_epochs(uint64_t *ends, size_t most, uint64_t rounds, double first_length, double growth) {
    size_t k = 0;
    double length = first_length;
    for (uint64_t at = 0; at < rounds; k++) {
        at = next_end(at, length, rounds);
        length = fmin(length * growth, (double)LONGEST_EPOCH);
        if (k < most && ends != NULL) {
            ends[k] = at;
        }
    }
    return k;
}

/* The longest epoch there can be. */
static double longest(const tacet__privatizer_plan *plan) {
    double length = plan->first_length;
    uint64_t at = 0;
    while (plan->rounds > 0 && at < plan->rounds && plan->growth > 1 && length < (double)LONGEST_EPOCH) {
        at = next_end(at, length, plan->rounds);
        length = fmin(length * plan->growth, (double)LONGEST_EPOCH);
    }
    return ceil(plan->rounds == 0 && plan->growth > 1 ? (double)LONGEST_EPOCH : length);
}

static tacet_status check(const tacet__privatizer_plan *plan, tacet_error *err) {
    if (!(plan->eps > 0 && isfinite(plan->eps))) {
        return tacet__fail(err, TACET_INVALID, "eps must be finite and above 0");
    }
    if (!(plan->delta > 0 && plan->delta < 1)) {
        return tacet__fail(err, TACET_INVALID, "delta must be between 0 and 1: the noise is Gaussian");
    }
    if (!(plan->first_length >= 1 && plan->first_length <= (double)LONGEST_EPOCH)) {
        return tacet__fail(err, TACET_INVALID, "the first epoch must have between 1 and 2^16 rounds");
    }
    if (!(plan->growth >= 1 && plan->growth <= 100)) {
        return tacet__fail(err, TACET_INVALID, "growth must be at least 1 and at most 100");
    }
    if (plan->rounds > MOST_ROUNDS) {
        return tacet__fail(err, TACET_INVALID, "at most 2^40 rounds");
    }
    return TACET_OK;
}

/* The stream is loaded under the ticket it was opened with, perhaps long after the caller's texts are gone. */
static tacet_status copy_ask(tacet__privatizer *p, const tacet_ask *ask, tacet_error *err) {
    p->ask = *ask;
    const char **texts[] = {
        &p->ask.ticket,          &p->ask.what,  &p->ask.to_whom, &p->ask.covered_fields, &p->ask.uncovered_fields,
        &p->ask.covered_records, &p->ask.group, &p->ask.part};
    const size_t count = sizeof texts / sizeof texts[0];
    size_t total = 1;
    for (size_t i = 0; i < count; i++) {
        total += *texts[i] == NULL ? 0 : strlen(*texts[i]) + 1;
    }
    char *at = p->texts = TACET__ZALLOC(char, total);
    if (at == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "no memory for a privatizer");
    }
    for (size_t i = 0; i < count; i++) {
        if (*texts[i] != NULL) {
            const size_t length = strlen(*texts[i]) + 1;
            memcpy(at, *texts[i], length);
            *texts[i] = at;
            at += length;
        }
    }
    return TACET_OK;
}

static tacet_stream_settings stream_settings(const tacet__privatizer_plan *plan) {
    tacet_stream_settings set;
    tacet_stream_settings_defaults(&set);
    set.factorization = plan->factorization;
    set.doubling = plan->rounds == 0;
    set.most =
        set.doubling ? FIRST_SEGMENT : tacet_central_epochs(NULL, 0, plan->rounds, plan->first_length, plan->growth);
    set.eps = plan->eps;
    set.delta = plan->delta;
    set.neighbours.relation = TACET_RELATION_REPLACE;
    return set;
}

/* That the stream in a state is the one the plan would open: its length decides how much is allocated for it. */
static tacet_status check_stream(const tacet__privatizer *p, const void *bytes, size_t size, tacet_error *err) {
    const tacet_stream_settings want = stream_settings(&p->plan);
    tacet_stream_settings is;
    const tacet_status status = tacet_stream_describe(&is, p->bound, bytes, size, err);
    if (status == TACET_OK &&
        (is.factorization != want.factorization || is.doubling != want.doubling || is.most != want.most ||
         is.eps != want.eps || is.delta != want.delta || is.neighbours.relation != want.neighbours.relation)) {
        return tacet__fail(err, TACET_CORRUPT, "the state is of another study: its stream differs");
    }
    return status == TACET_INVALID ? TACET_CORRUPT : status;
}

static tacet_status open_stream(tacet__privatizer *p, tacet_error *err) {
    const tacet_stream_settings set = stream_settings(&p->plan);
    return tacet_stream_open(&p->stream, &set, p->bound, &p->ask, err);
}

tacet_status tacet__privatizer_create(tacet__privatizer **out, const tacet__privatizer_plan *plan, const tacet_ask *ask,
                                      bool open, tacet_error *err) {
    *out = NULL;
    tacet_status status = check(plan, err);
    if (status != TACET_OK) {
        return status;
    }
    tacet__privatizer *p = TACET__ZALLOC(tacet__privatizer, 1);
    if (p == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "no memory for a privatizer");
    }
    p->plan = *plan;
    p->sum = TACET__ZALLOC(double, plan->dim);
    p->scratch = TACET__ZALLOC(double, plan->dim);
    p->sd = TACET__ZALLOC(double, plan->dim);
    if (p->sum == NULL || p->scratch == NULL || p->sd == NULL) {
        status = tacet__fail(err, TACET_NO_MEMORY, "no memory for sums of %zu numbers", plan->dim);
        goto done;
    }
    /* an epoch's sum: clipping at the longest epoch never acts; one record moves it by the distance of two records,
     * each rounded by at most half a quantum in every number */
    const double rounding = sqrt((double)plan->dim) * QUANTUM;
    status = tacet_bound_norm(&p->wide, plan->dim, (longest(plan) + 1) * (plan->radius + rounding), err);
    if (status == TACET_OK) {
        status = tacet_bound_narrow(&p->bound, p->wide, plan->sensitivity + rounding, plan->proof, err);
    }
    if (status == TACET_OK) {
        status = tacet_raw_create(&p->raw, plan->dim, err);
    }
    if (status == TACET_OK) {
        status = tacet_bounded_create(&p->bounded, p->bound, err);
    }
    if (status == TACET_OK) {
        status = copy_ask(p, ask, err);
    }
    if (status == TACET_OK && open) {
        status = open_stream(p, err);
    }
    p->epoch_length = plan->first_length;
    p->epoch_end = next_end(0, p->epoch_length, plan->rounds);
done:
    if (status != TACET_OK) {
        tacet__privatizer_free(p);
        return status;
    }
    *out = p;
    return TACET_OK;
}

void tacet__privatizer_free(tacet__privatizer *p) {
    if (p == NULL) {
        return;
    }
    tacet_stream_close(p->stream);
    tacet_bounded_free(p->bounded);
    tacet_raw_free(p->raw);
    tacet_bound_free(p->bound);
    tacet_bound_free(p->wide);
    if (p->sum != NULL) {
        sodium_memzero(p->sum, p->plan.dim * sizeof(double));
    }
    if (p->scratch != NULL) {
        sodium_memzero(p->scratch, p->plan.dim * sizeof(double));
    }
    free(p->sum);
    free(p->scratch);
    free(p->sd);
    free(p->texts);
    free(p);
}

bool tacet__privatizer_due(const tacet__privatizer *p) {
    return p->due;
}

uint64_t tacet__privatizer_ended(const tacet__privatizer *p) {
    double length = p->plan.first_length;
    uint64_t at = 0;
    for (size_t k = tacet_stream_steps(p->stream); k > 0; k--) {
        at = next_end(at, length, p->plan.rounds);
        length = fmin(length * p->plan.growth, (double)LONGEST_EPOCH);
    }
    return at;
}

bool tacet__privatizer_is_private(const tacet__privatizer *p) {
    return p->stream != NULL && tacet_stream_is_private(p->stream);
}

tacet_stream *tacet__privatizer_stream(tacet__privatizer *p) {
    return p->stream;
}

tacet_status tacet__privatizer_add(tacet__privatizer *p, const double *record, tacet_error *err) {
    const size_t dim = p->plan.dim;
    if (p->plan.rounds > 0 && p->count >= p->plan.rounds) {
        return tacet__fail(err, TACET_STATE, "all rounds of the horizon were reported");
    }
    for (size_t i = 0; i < dim; i++) {
        p->scratch[i] = p->sum[i] + QUANTUM * rint(record[i] / QUANTUM);
    }
    const bool last = p->count + 1 == p->epoch_end;
    if (last) {
        tacet_status status = tacet_raw_set(p->raw, p->scratch, dim, err);
        if (status == TACET_OK) {
            status = tacet_bounded_set(p->bounded, p->raw, err);
        }
        if (status == TACET_OK) {
            status = tacet_stream_step(p->stream, p->bounded, err);
        }
        if (status != TACET_OK) {
            return status;
        }
        sodium_memzero(p->sum, dim * sizeof(double));
        p->epoch_length = fmin(p->epoch_length * p->plan.growth, (double)LONGEST_EPOCH);
        p->epoch_end = next_end(p->count + 1, p->epoch_length, p->plan.rounds);
        p->due = true;
    } else {
        memcpy(p->sum, p->scratch, dim * sizeof(double));
    }
    p->count++;
    return TACET_OK;
}

tacet_status tacet__privatizer_release(tacet__privatizer *p, double *sums, double *var, uint64_t *count,
                                       tacet_error *err) {
    if (!p->due) {
        return tacet__fail(err, TACET_STATE, "no epoch has ended since the last release");
    }
    tacet_status status = tacet_stream_read(p->stream, sums, p->sd, err);
    if (status != TACET_OK) {
        return status;
    }
    *var = p->sd[0] * p->sd[0];
    *count = p->count;
    p->due = false;
    return TACET_OK;
}

tacet_status tacet__privatizer_again(tacet__privatizer *p, tacet_noise *noise, tacet_error *err) {
    tacet_status status = tacet__stream_again(p->stream, noise, err);
    if (status != TACET_OK) {
        return status;
    }
    sodium_memzero(p->sum, p->plan.dim * sizeof(double));
    p->count = 0;
    p->due = false;
    p->epoch_length = p->plan.first_length;
    p->epoch_end = next_end(0, p->epoch_length, p->plan.rounds);
    return TACET_OK;
}

tacet_status tacet__privatizer_save(tacet__privatizer *p, tacet_blob *out, tacet_error *err) {
    tacet_blob stream;
    tacet_blob_init(&stream);
    tacet_status status = tacet_stream_save(p->stream, &stream, err);
    if (status == TACET_OK) {
        tacet__writer w;
        tacet__write_begin(&w, out, STATE_NAME, STATE_VERSION);
        tacet__write_size(&w, p->plan.dim);
        tacet__write_f64(&w, p->plan.sensitivity);
        tacet__write_u64(&w, p->plan.rounds);
        tacet__write_f64(&w, p->plan.first_length);
        tacet__write_f64(&w, p->plan.growth);
        tacet__write_f64(&w, p->plan.eps);
        tacet__write_f64(&w, p->plan.delta);
        tacet__write_u64(&w, (uint64_t)p->plan.factorization);
        tacet__write_u64(&w, p->count);
        tacet__write_u64(&w, p->epoch_end);
        tacet__write_f64(&w, p->epoch_length);
        tacet__write_u64(&w, p->due ? 1 : 0);
        tacet__write_f64s(&w, p->sum, p->plan.dim);
        tacet__write_bytes(&w, stream.data, stream.size);
        status = tacet__write_end(&w, err);
    }
    tacet_blob_clear(&stream);
    return status;
}

/* Where `count` records stand follows from how many epochs the stream has. */
static bool place_fits(const tacet__privatizer_plan *plan, size_t steps, uint64_t count, uint64_t end, double length) {
    double expected = plan->first_length;
    uint64_t at = 0;
    for (; steps > 0; steps--) {
        at = next_end(at, expected, plan->rounds);
        expected = fmin(expected * plan->growth, (double)LONGEST_EPOCH);
    }
    const uint64_t next = next_end(at, expected, plan->rounds);
    return length == expected && end == next && count >= at && (count < next || next == at);
}

tacet_status tacet__privatizer_load(tacet__privatizer *p, const void *bytes, size_t size, tacet_error *err) {
    tacet__reader r;
    tacet_status status = tacet__read_begin(&r, bytes, size, STATE_NAME, STATE_VERSION, err);
    if (status != TACET_OK) {
        return status;
    }
    const tacet__privatizer_plan *plan = &p->plan;
    const bool same = tacet__read_u64(&r) == plan->dim && tacet__read_f64(&r) == plan->sensitivity &&
                      tacet__read_u64(&r) == plan->rounds && tacet__read_f64(&r) == plan->first_length &&
                      tacet__read_f64(&r) == plan->growth && tacet__read_f64(&r) == plan->eps &&
                      tacet__read_f64(&r) == plan->delta && tacet__read_u64(&r) == (uint64_t)plan->factorization;
    if (!same) {
        return tacet__fail(err, TACET_CORRUPT, "the state is of another study: its plan differs");
    }
    const uint64_t count = tacet__read_u64(&r), end = tacet__read_u64(&r);
    const double length = tacet__read_f64(&r);
    const uint64_t due = tacet__read_u64(&r);
    tacet__read_f64s(&r, p->scratch, plan->dim);
    const unsigned char *stream_bytes = NULL;
    const size_t stream_size = tacet__read_bytes(&r, &stream_bytes);
    status = tacet__read_end(&r, err);
    if (status != TACET_OK) {
        return status;
    }
    bool good = due <= 1;
    for (size_t i = 0; i < plan->dim; i++) {
        good = good && fabs(p->scratch[i]) <= (double)LONGEST_EPOCH;
    }
    if (!good) {
        return tacet__fail(err, TACET_CORRUPT, "the state holds impossible numbers");
    }
    tacet_stream *stream = NULL;
    status = check_stream(p, stream_bytes, stream_size, err);
    if (status != TACET_OK) {
        return status;
    }
    status = (plan->replay ? tacet_stream_replay : tacet_stream_load)(&stream, p->bound, &p->ask, stream_bytes,
                                                                      stream_size, err);
    if (status != TACET_OK) {
        return status;
    }
    if (!place_fits(plan, tacet_stream_steps(stream), count, end, length) ||
        (due == 1 && tacet_stream_steps(stream) == 0)) {
        tacet_stream_close(stream);
        return tacet__fail(err, TACET_CORRUPT, "the state holds impossible numbers");
    }
    tacet_stream_close(p->stream);
    p->stream = stream;
    memcpy(p->sum, p->scratch, plan->dim * sizeof(double));
    p->count = count;
    p->epoch_end = end;
    p->epoch_length = length;
    p->due = due == 1;
    return TACET_OK;
}
