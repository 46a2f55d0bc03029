/* SPDX-License-Identifier: Apache-2.0 */
/* statistics.c - the server's half of local joint DP: adds noisy reports up, keeps the public model.
 * Ring: open. Source: Dubey (AISTATS 2021), Algorithm 3, SERVER. Differs: two vectors a report, in growing batches of
 * which the model is told the sum, as in the central model; the noise of t reports has variance t noise_var. Cost: O(r)
 * a report, a refresh as in central/open/learner.c. */
#include <tacet/local/open/statistics.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/codec.h"
#include "core/fail.h"
#include "core/memory.h"

static const char STATE_NAME[] = "local-statistics";
enum { STATE_VERSION = 1 };

struct tacet_local_statistics {
    tacet_central_learner *learner;
    double *sums;  /* of the reports that the model was not told of yet */
    double *spare; /* what a state is read into before it is believed */
    size_t dim;
    double noise_var, growth, first;
    uint64_t count, learnt; /* reports; of these the model was told */
    double next;            /* number of reports at which the model is refreshed */
};

tacet_status tacet_local_statistics_create(tacet_local_statistics **out, const tacet_central_map *map,
                                           const tacet_central_learner_settings *settings, double noise_var,
                                           uint64_t first, double growth, tacet_error *err) {
    if (out == NULL || map == NULL) {
        return tacet__fail(err, TACET_INVALID, "a server needs a map");
    }
    *out = NULL;
    if (!(noise_var > 0 && isfinite(noise_var)) || !(growth > 1 && isfinite(growth)) || first == 0) {
        return tacet__fail(err, TACET_INVALID, "noise_var must be above 0, growth above 1, first at least 1");
    }
    tacet_local_statistics *s = TACET__ZALLOC(tacet_local_statistics, 1);
    if (s == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "no memory for a server");
    }
    s->dim = tacet_central_map_dim(map);
    s->noise_var = noise_var;
    s->growth = growth;
    s->next = s->first = (double)first;
    s->sums = TACET__ZALLOC(double, s->dim);
    s->spare = TACET__ZALLOC(double, s->dim);
    tacet_status status = s->sums == NULL || s->spare == NULL
                              ? tacet__fail(err, TACET_NO_MEMORY, "no memory for a server")
                              : tacet_central_learner_create(&s->learner, map, settings, err);
    if (status != TACET_OK) {
        tacet_local_statistics_free(s);
        return status;
    }
    *out = s;
    return TACET_OK;
}

void tacet_local_statistics_free(tacet_local_statistics *s) {
    if (s != NULL) {
        tacet_central_learner_free(s->learner);
        free(s->sums);
        free(s->spare);
        free(s);
    }
}

tacet_status tacet_local_statistics_take(tacet_local_statistics *s, const double *report, size_t count,
                                         tacet_error *err) {
    if (count != s->dim) {
        return tacet__fail(err, TACET_INVALID, "a report has %zu numbers, this one %zu", s->dim, count);
    }
    for (size_t i = 0; i < count; i++) {
        if (!(fabs(report[i]) < 1e100)) {
            return tacet__fail(err, TACET_INVALID, "number %zu of the report is not finite, or too large", i);
        }
    }
    for (size_t i = 0; i < count; i++) {
        s->sums[i] += report[i];
    }
    s->count++;
    tacet_central_learner_played(s->learner);
    if ((double)s->count >= s->next) {
        /* a sum that can't be decoded leaves the model as it was: the report is counted all the same */
        const uint64_t fresh = s->count - s->learnt;
        (void)tacet_central_learner_update(s->learner, s->sums, s->noise_var * (double)fresh, fresh, NULL);
        s->learnt = s->count;
        memset(s->sums, 0, s->dim * sizeof(double));
        s->next = fmax(s->next * s->growth, (double)s->count + 1);
    }
    return TACET_OK;
}

tacet_status tacet_local_statistics_save(const tacet_local_statistics *s, tacet_blob *out, tacet_error *err) {
    tacet_blob learner;
    tacet_blob_init(&learner);
    tacet_status status = tacet_central_learner_save(s->learner, &learner, err);
    if (status == TACET_OK) {
        tacet__writer w;
        tacet__write_begin(&w, out, STATE_NAME, STATE_VERSION);
        tacet__write_size(&w, s->dim);
        tacet__write_f64(&w, s->noise_var);
        tacet__write_f64(&w, s->growth);
        tacet__write_f64(&w, s->first);
        tacet__write_u64(&w, s->count);
        tacet__write_u64(&w, s->learnt);
        tacet__write_f64(&w, s->next);
        tacet__write_f64s(&w, s->sums, s->dim);
        tacet__write_bytes(&w, learner.data, learner.size);
        status = tacet__write_end(&w, err);
    }
    tacet_blob_clear(&learner);
    return status;
}

tacet_status tacet_local_statistics_load(tacet_local_statistics *s, const void *bytes, size_t size, tacet_error *err) {
    tacet__reader r;
    tacet_status status = tacet__read_begin(&r, bytes, size, STATE_NAME, STATE_VERSION, err);
    if (status != TACET_OK) {
        return status;
    }
    if (tacet__read_u64(&r) != s->dim || tacet__read_f64(&r) != s->noise_var || tacet__read_f64(&r) != s->growth ||
        tacet__read_f64(&r) != s->first) {
        return tacet__fail(err, TACET_CORRUPT, "the state is of another server: its map, noise or plan differs");
    }
    const uint64_t count = tacet__read_u64(&r), learnt = tacet__read_u64(&r);
    const double next = tacet__read_f64(&r);
    tacet__read_f64s(&r, s->spare, s->dim);
    const unsigned char *learner = NULL;
    const size_t learner_size = tacet__read_bytes(&r, &learner);
    status = tacet__read_end(&r, err);
    if (status != TACET_OK) {
        return status;
    }
    /* Each report is below 1e100, and the next refresh is ahead. */
    bool good = next >= s->first && next > (double)count && isfinite(next) && (next == s->first || count > 0) &&
                learnt <= count;
    for (size_t i = 0; i < s->dim; i++) {
        good = good && fabs(s->spare[i]) <= 1e100 * (double)(count - (learnt <= count ? learnt : count));
    }
    if (!good) {
        return tacet__fail(err, TACET_CORRUPT, "the state holds impossible numbers");
    }
    status = tacet_central_learner_load(s->learner, learner, learner_size, err); /* all or nothing */
    if (status != TACET_OK) {
        return status;
    }
    memcpy(s->sums, s->spare, s->dim * sizeof(double));
    s->count = count;
    s->learnt = learnt;
    s->next = next;
    return TACET_OK;
}

uint64_t tacet_local_statistics_count(const tacet_local_statistics *s) {
    return s->count;
}

tacet_central_learner *tacet_local_statistics_model(tacet_local_statistics *s) {
    return s->learner;
}
