/* SPDX-License-Identifier: Apache-2.0 */
/* session_model.c - the policy of a session: which method, from what was measured so far.
 * Ring: open. Source: Kharkovskii, Dai, Low 2020, Algorithm 2, with the modelers of README.md. Shift and scale
 * come from the rows that were measured before the model chose for the first time, so that a session that goes on makes
 * the model it had. Where a row cannot be measured, the model is made anew over the others. */
#include "outsourced/shared/release_text.h"
#include "outsourced/open/modeler_internal.h"
#include "outsourced/open/session_internal.h"

#include "core/fail.h"
#include "core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double USUAL_NOISE = 1e-4; /* variance of a measurement, for eiv: of values of variance 1 */

double tacet__session_target(const tacet__session *r, double value) {
    const double z = (value - r->shift) / r->scale;
    return r->s->minimize ? -z : z;
}

tacet_status tacet__session_method(tacet__session *r, tacet_error *err) {
    const tacet_session_settings *s = r->s;
    r->averaging = !(s->lengthscale > 0);
    if (!(s->lengthscale >= 0 && isfinite(s->lengthscale)) || !(s->signal_var >= 0 && isfinite(s->signal_var)) ||
        !(isnan(s->noise_var) || (s->noise_var >= 0 && isfinite(s->noise_var)))) {
        return tacet__fail(err, TACET_INVALID,
                           "a lengthscale above 0, signal and noise variances of at least 0 are needed");
    }
    return TACET_OK;
}

/* Shift and scale of the target from the first values, where no prior says what they are about. */
static void standardize(tacet__session *r, size_t count) {
    r->shift = 0;
    r->scale = 1;
    if (count == 0 || r->averaging || r->s->signal_var > 0) { /* averaging does so by itself */
        return;
    }
    double sum = 0;
    double squares = 0;
    for (size_t i = 0; i < count; i++) {
        sum += r->raw[i];
        squares += r->raw[i] * r->raw[i];
    }
    const double mean = sum / (double)count;
    const double variance = squares / (double)count - mean * mean;
    r->shift = mean;
    r->scale = variance > 0 ? sqrt(variance) : 1; /* one value, or all alike */
}

static void kernel_of(tacet_kernel_spec *spec, const tacet__session *r) {
    tacet_kernel_spec_defaults(spec);
    spec->d = r->d;
    spec->signal_var = r->s->signal_var > 0 ? r->s->signal_var : 1;
    spec->lengthscales = &r->lengthscale;
    spec->lengthscale_count = 1;
}

/* What the model is made from. */
static void reset_parameters(tacet__session *r) {
    r->lengthscale = r->s->lengthscale > 0 ? r->s->lengthscale : 1;
    r->noise_var = !isnan(r->s->noise_var) ? r->s->noise_var : r->averaging ? 0 : USUAL_NOISE * r->scale * r->scale;
}

/* In the model's units. Private outputs come with noise of their own, and how much is public. */
static double noise_of(const tacet__session *r, size_t h) {
    const tacet_manifest *m = r->holders[h].manifest;
    return (r->noise_var + (m->outputs_private ? tacet_ldp_variance(&m->outputs) : 0)) / (r->scale * r->scale);
}

/* Rows that cannot be measured, by anyone or now, are not rows to the model. */
static tacet_status keep_measurable(tacet__session *r, tacet_error *err) {
    const size_t d = r->d;
    free(r->map);
    free(r->kept);
    r->map = NULL;
    r->kept = NULL;
    r->kept_count = r->n;
    bool all = r->failed_count == 0;
    for (size_t h = 0; h < r->holder_count; h++) {
        r->kept_rows[h] = r->start[h + 1] - r->start[h];
        all = all && r->absent[h].why.status == TACET_OK;
    }
    const bool none = tacet__session_left(r) == 0; /* then all are told of, whoever would answer */
    if (all || (none && r->failed_count == 0)) {
        return TACET_OK;
    }
    bool *out = TACET__ZALLOC(bool, r->n);
    r->map = TACET__ZALLOC(size_t, r->n);
    r->kept = TACET__ALIGNED(double, r->n *d);
    if (out == NULL || r->map == NULL || r->kept == NULL) {
        free(out);
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu rows", r->n);
    }
    for (size_t i = 0; i < r->failed_count; i++) {
        out[r->failed[i]] = true;
    }
    r->kept_count = 0;
    for (size_t h = 0; h < r->holder_count; h++) {
        const size_t before = r->kept_count;
        for (size_t i = r->start[h]; i < r->start[h + 1]; i++) {
            if (!out[i] && (none || r->taken[i] || r->absent[h].why.status == TACET_OK)) { /* what was measured stays */
                memcpy(r->kept + r->kept_count * d, r->rows + i * d, d * sizeof *r->kept);
                r->map[r->kept_count++] = i;
            }
        }
        r->kept_rows[h] = r->kept_count - before;
    }
    free(out);
    return TACET_OK;
}

/* The number of a row of the release in the model, which has it. */
static size_t number_of(const tacet__session *r, size_t row) {
    if (r->map == NULL) {
        return row;
    }
    size_t from = 0;
    size_t to = r->kept_count;
    while (to - from > 1) {
        const size_t at = from + (to - from) / 2;
        if (r->map[at] <= row) {
            from = at;
        } else {
            to = at;
        }
    }
    return from;
}

/* The weakest of the holders' guarantees; each record has that of its own holder. */
static tacet_guarantee guarantee_of(const tacet__session *r) {
    tacet_guarantee g = {.trust = TACET_TRUST_OUTSOURCED,
                         .proven = true,
                         .protects = "a move of one record by up to distance 1 in the release's units",
                         .statement = "post-processing of the curator's release, which has this guarantee",
                         .proof = "src/outsourced/README.md"};
    for (size_t h = 0; h < r->holder_count; h++) {
        const tacet_manifest *m = r->holders[h].manifest;
        g.proven = g.proven && m->is_private;
        g.eps = fmax(g.eps, m->is_private ? m->eps : INFINITY);
        g.delta = fmax(g.delta, m->is_private ? m->delta : 1);
    }
    if (!g.proven) {
        g.statement = "the release is not differentially private, so neither is this";
    }
    return g;
}

static tacet_status make_policy(tacet__session *r, size_t initial_count, tacet_error *err) {
    tacet_modeler_settings settings;
    tacet_kernel_spec kernel;
    tacet_modeler_settings_defaults(&settings);
    const tacet_guarantee guarantee = guarantee_of(r);
    size_t *initial = TACET__ZALLOC(size_t, initial_count);
    tacet_status status = initial != NULL ? TACET_OK : tacet__fail(err, TACET_NO_MEMORY, "out of memory for the model");
    kernel_of(&kernel, r);
    for (size_t i = 0; status == TACET_OK && i < initial_count; i++) {
        initial[i] = number_of(r, r->order[i]);
    }
    const size_t left = r->s->queries > r->known ? r->s->queries - r->known : 0;
    settings.rows = r->kept != NULL ? r->kept : r->rows;
    settings.ld = r->d;
    settings.d = r->d;
    settings.n = r->kept_count;
    settings.low = r->low;
    settings.high = r->high;
    settings.spread = r->spread;
    settings.holders = r->holder_count;
    settings.holder_rows = r->kept_rows;
    for (size_t h = 0; h < r->holder_count; h++) {
        r->holder_noise[h] = noise_of(r, h);
    }
    settings.holder_noise_var = r->holder_noise;
    settings.kernel = r->averaging ? NULL : &kernel;
    settings.noise_var = settings.known_noise_var = r->holder_noise[0];
    settings.random_first = 0;
    settings.mean = r->s->mean;
    settings.beta_scale = r->s->beta_scale;
    settings.delta_ucb = r->s->delta_ucb;
    settings.horizon = r->known + left < r->kept_count ? r->known + left : r->kept_count;
    settings.horizon = settings.horizon > 0 ? settings.horizon : 1;
    settings.initial = initial;
    settings.initial_count = initial_count;
    settings.guarantee = &guarantee;
    settings.seed = r->s->seed;
    TACET_THEN(status, tacet__modeler_check_law(tacet_manifest_law(r->holders[0].manifest), err));
    TACET_THEN(status, tacet_modeler_create(&r->policy, &settings, err));
    free(initial);
    return status;
}

/* All that was measured. *other: the policy would have asked another row, so that one made here must
 * be told which. */
static tacet_status teach(tacet__session *r, bool *other, tacet_error *err) {
    tacet_status status = TACET_OK;
    *other = false;
    for (size_t i = 0; i < r->known && status == TACET_OK && !*other; i++) {
        tacet_suggestion suggestion;
        status = tacet_policy_suggest(r->policy, &suggestion, NULL, err);
        *other = status == TACET_OK && suggestion.index != number_of(r, r->order[i]);
        if (status == TACET_OK && !*other) {
            status = tacet_policy_observe(r->policy, suggestion.ticket, tacet__session_target(r, r->raw[i]), err);
        }
    }
    return status;
}

void tacet__session_forget(tacet__session *r) {
    tacet_policy_free(r->policy);
    r->policy = NULL;
}

tacet_status tacet__session_model(tacet__session *r, tacet_error *err) {
    bool other = false;
    if (r->policy != NULL) {
        return TACET_OK;
    }
    r->base = r->base == SIZE_MAX ? r->known : r->base;
    standardize(r, r->base);
    reset_parameters(r);
    tacet_status status = keep_measurable(r, err);
    /* First as it was: it then chooses what it chose. Where it would not, because the budget is another or the machine
     * is, the rows are taken as they came. To the averaging modeler it is all one. */
    TACET_THEN(status, make_policy(r, r->averaging ? r->known : r->base, err));
    TACET_THEN(status, teach(r, &other, err));
    if (status == TACET_OK && other) {
        tacet__session_forget(r);
        status = make_policy(r, r->known, err);
        TACET_THEN(status, teach(r, &other, err));
    }
    if (status != TACET_OK) {
        tacet__session_forget(r);
    }
    return status;
}
