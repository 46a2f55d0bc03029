/* SPDX-License-Identifier: Apache-2.0 */
/* eiv.c - GP-UCB under the errors-in-variables covariance, as a policy over a release.
 * Ring: open. In: released rows z = x + noise and measured values. Out: row numbers.
 * The covariance of f at two rows, their noise averaged out, is a kernel of z: for SE
 * (l^2/(l^2 + 2 sigma^2))^(d/2) exp(-|z - z'|^2 / (2 (l^2 + 2 sigma^2))), and the prior variance on the diagonal
 * (tacet/gp/cov.h). Everything else is gp_ucb.c. Differs for the Laplace law: its standard deviation stands in for
 * the Gaussian's. Cost: O(n t) a measurement. */
#include "outsourced/open/modeler_internal.h"

#include "core/fail.h"
#include "core/memory.h"
#include "core/policy_internal.h"

#include <math.h>
#include <stdlib.h>
#include "gp/gp_ucb.h"

typedef struct eiv {
    tacet_kernel *kernel; /* borrowed by the policy */
    tacet_policy *policy;
} eiv;

static void eiv_free(void *self) {
    eiv *m = self;
    if (m != NULL) {
        tacet_policy_free(m->policy);
        tacet_kernel_free(m->kernel);
        free(m);
    }
}

static tacet_status eiv_suggest(void *self, tacet_suggestion *out, const tacet_round *round, tacet_error *err) {
    return tacet_policy_suggest(((eiv *)self)->policy, out, round, err);
}

static tacet_status eiv_observe(void *self, uint64_t ticket, double value, tacet_error *err) {
    return tacet_policy_observe(((eiv *)self)->policy, ticket, value, err);
}

static tacet_status eiv_recommend(void *self, tacet_recommendation *out, tacet_error *err) {
    return tacet_policy_recommend(((eiv *)self)->policy, out, err);
}

static void eiv_guarantee(const void *self, tacet_guarantee *out) {
    tacet_policy_guarantee(((const eiv *)self)->policy, out);
}

static void eiv_state(void *self, tacet__state *s) {
    tacet__policy_state(((eiv *)self)->policy, s);
}

static const tacet__policy_ops OPS = {.name = "eiv",
                                      .suggest = eiv_suggest,
                                      .observe = eiv_observe,
                                      .recommend = eiv_recommend,
                                      .guarantee = eiv_guarantee,
                                      .state = eiv_state,
                                      .free = eiv_free};

tacet_status tacet__modeler_eiv(tacet_policy **out, const tacet_modeler_settings *s, tacet_error *err) {
    *out = NULL;
    if (s->kernel == NULL || s->rows == NULL || s->kernel->d != s->d || s->ld < s->d) {
        return tacet__fail(err, TACET_INVALID, "the modeler needs rows and a kernel of their dimension");
    }
    if (s->holders > 1) {
        return tacet__fail(err, TACET_UNSUPPORTED, "a known kernel takes the rows of one holder: leave it out");
    }
    const tacet_status known = tacet__modeler_check_noise(s, err);
    if (known != TACET_OK) {
        return known;
    }
    eiv *m = TACET__ZALLOC(eiv, 1);
    if (m == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory creating the modeler");
    }
    const double none = 0;
    tacet_guarantee guarantee;
    tacet__modeler_guarantee(&guarantee, s);
    tacet_gp_ucb_settings ucb;
    tacet_gp_ucb_settings_defaults(&ucb);
    ucb.mean = s->mean;
    ucb.noise_var = s->noise_var;
    ucb.delta_ucb = s->delta_ucb;
    ucb.beta_scale = s->beta_scale;
    ucb.horizon = s->horizon;
    ucb.initial = s->initial;
    ucb.initial_count = s->initial_count;
    ucb.guarantee = &guarantee;
    tacet_status status = tacet_kernel_create(&m->kernel, s->kernel, err);
    if (status == TACET_OK) {
        const tacet_cov_spec cov = {.kernel = m->kernel,
                                    .input_sd = s->spread != NULL ? s->spread : &none,
                                    .input_sd_count = s->spread != NULL ? s->d : 1};
        status = tacet_gp_ucb_create(&m->policy, &ucb, &cov, s->rows, s->ld, s->n, err);
    }
    if (status != TACET_OK) {
        eiv_free(m);
        return status;
    }
    return tacet__policy_wrap(out, &OPS, m, err);
}
