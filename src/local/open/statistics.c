/* SPDX-License-Identifier: Apache-2.0 */
/* statistics.c - the server's half of local joint DP: adds noisy reports up, keeps the public model.
 * Ring: open. Source: Dubey (AISTATS 2021), Algorithm 3, SERVER. Differs: two vectors a report, in growing batches of
 * which the model is told the sum, as in the central model; the noise of t reports has variance t noise_var. Cost: O(r)
 * a report, a refresh as in central/open/learner.c. */
#include "local/open/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "central/open/learner_batches.h"
#include "core/fail.h"
#include "core/memory.h"
#include "local/open/statistics_internal.h"

static const double LARGEST = 1e100; /* number of a report */

struct tacet_local_statistics {
    tacet_central_learner *learner;
    double *sums; /* of the reports that the model was not told of yet */
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
    tacet_status status = s->sums == NULL ? tacet__fail(err, TACET_NO_MEMORY, "no memory for a server")
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
        free(s);
    }
}

tacet_status tacet_local_statistics_take(tacet_local_statistics *s, const double *report, size_t count,
                                         tacet_error *err) {
    if (count != s->dim) {
        return tacet__fail(err, TACET_INVALID, "a report has %zu numbers, this one %zu", s->dim, count);
    }
    for (size_t i = 0; i < count; i++) {
        if (!(fabs(report[i]) < LARGEST)) {
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

void tacet__local_statistics_state(void *server, tacet__state *s) {
    tacet_local_statistics *t = server;
    const double plan[] = {(double)t->dim, t->noise_var, t->growth, t->first};
    tacet__state_same(s, "plan", plan, sizeof plan);
    tacet__state_u64(s, "reports", &t->count, UINT64_MAX);
    tacet__state_u64(s, "learnt", &t->learnt, t->count);
    tacet__state_f64(s, "next", &t->next, t->first, LARGEST);
    tacet__state_f64s(s, "sums", t->sums, t->dim);
    /* Each report is below LARGEST, and the next refresh is ahead. */
    tacet__state_require(s, "next", t->next > (double)t->count && (t->next == t->first || t->count > 0));
    for (size_t i = 0; i < t->dim && tacet__state_taking(s); i++) {
        tacet__state_require(s, "sums", fabs(t->sums[i]) <= LARGEST * (double)(t->count - t->learnt));
    }
    tacet__central_learner_state(t->learner, s);
}

uint64_t tacet_local_statistics_count(const tacet_local_statistics *s) {
    return s->count;
}

tacet_central_learner *tacet_local_statistics_model(tacet_local_statistics *s) {
    return s->learner;
}
