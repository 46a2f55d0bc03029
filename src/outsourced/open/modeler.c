/* SPDX-License-Identifier: Apache-2.0 */
/* modeler.c - one door to the modelers of the outsourced model. Ring: open. */
#include <tacet/outsourced/open/modeler.h>

#include "core/fail.h"
#include "outsourced/open/modeler_internal.h"

#include <math.h>
#include <string.h>

void tacet_modeler_settings_defaults(tacet_modeler_settings *s) {
    memset(s, 0, sizeof *s);
    s->noise_var = 1e-5;
    s->horizon = 50;
    s->random_first = 10;
    s->seed = 1;
    s->delta_ucb = 0.05;
    s->beta_scale = 1;
}

tacet_status tacet__modeler_check_noise(const tacet_modeler_settings *s, tacet_error *err) {
    for (size_t i = 0; i < (s->holders > 1 ? s->holders : 1) * s->d && s->spread != NULL; i++) {
        if (!(s->spread[i] >= 0 && isfinite(s->spread[i]))) {
            return tacet__fail(err, TACET_INVALID, "the noise of coordinate %zu is negative or not finite", i % s->d);
        }
    }
    return TACET_OK;
}

tacet_status tacet__modeler_check_law(const tacet_law *law, tacet_error *err) {
    switch (law != NULL ? law->density : TACET_DENSITY_NORMAL) {
    case TACET_DENSITY_NORMAL:
    case TACET_DENSITY_EUCLIDEAN: /* taken for the Gaussian law of its standard deviation */
        return TACET_OK;
    case TACET_DENSITY_NONE:
    case TACET_DENSITY_LAPLACE:
        break;
    }
    return tacet__fail(err, TACET_INVALID, "the modelers do not know this law of noise");
}

void tacet__modeler_guarantee(tacet_guarantee *out, const tacet_modeler_settings *s) {
    *out = (tacet_guarantee){.trust = TACET_TRUST_OUTSOURCED,
                             .proven = false,
                             .eps = INFINITY,
                             .delta = 1,
                             .protects = "nothing that the release does not protect already",
                             .statement =
                                 "The release states no guarantee; choosing rows is post-processing and adds none.",
                             .proof = "src/outsourced/open/README.md"};
    if (s->guarantee != NULL) {
        *out = *s->guarantee;
    }
}

tacet_status tacet_modeler_create(tacet_policy **out, const tacet_modeler_settings *settings, tacet_error *err) {
    return settings->kernel != NULL ? tacet__modeler_eiv(out, settings, err)
                                    : tacet__modeler_averaging(out, settings, false, err);
}

const char *tacet_modeler_words(double log_bayes_factor) {
    return log_bayes_factor > 10  ? "strong signal: the inputs inform about the value"
           : log_bayes_factor > 3 ? "the inputs inform about the value"
           : log_bayes_factor > 1 ? "weak signs that the inputs inform about the value"
                                  : "cannot be told from values unrelated to the inputs: expect about what random rows "
                                    "would give";
}
