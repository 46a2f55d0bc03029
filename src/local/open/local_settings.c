/* SPDX-License-Identifier: Apache-2.0 */
/* local_settings.c - the settings of the learners of the local model: their names, defaults and limits, and what
 * follows from them and from the law of the reports before the first round.
 * Ring: open. Source: Zhou and Tan 2020; src/local/README.md says where each constant is from. Cost: constant. */
#include "gp/kernel_internal.h"
#include <tacet/local/open/local.h>

#include "core/fail.h"
#include "local/open/internal.h"

#include <math.h>
#include <string.h>

static const char *const ALGORITHMS[] = {"ucb", "tgp", "ata", "moma"};
static const char *const PARAMETERS[] = {"literal", "tight", "orderwise", "tuned"};

void tacet_local_settings_defaults(tacet_local_settings *settings) {
    *settings = (tacet_local_settings){.algorithm = TACET_LOCAL_UCB,
                                       .parameters = TACET_LOCAL_TIGHT,
                                       .noise_var = (double)NAN,
                                       .delta = 0.1,
                                       .accuracy = 0.1,
                                       .moment = 1,
                                       .tail_a = 1,
                                       .tail_b = 1};
}

static tacet_status parse(size_t *out, const char *const *names, const char *what, const char *name, tacet_error *err) {
    for (size_t i = 0; i < 4; i++) {
        if (strcmp(names[i], name) == 0) {
            *out = i;
            return TACET_OK;
        }
    }
    return tacet__fail(err, TACET_INVALID, "no %s '%.40s'; there are %s, %s, %s, %s", what, name, names[0], names[1],
                       names[2], names[3]);
}

tacet_status tacet_local_algorithm_parse(tacet_local_algorithm *out, const char *name, tacet_error *err) {
    size_t k = 0;
    const tacet_status status = parse(&k, ALGORITHMS, "algorithm", name, err);
    *out = (tacet_local_algorithm)k;
    return status;
}

tacet_status tacet_local_parameters_parse(tacet_local_parameters *out, const char *name, tacet_error *err) {
    size_t k = 0;
    const tacet_status status = parse(&k, PARAMETERS, "choice of parameters", name, err);
    *out = (tacet_local_parameters)k;
    return status;
}

const char *tacet_local_algorithm_name(tacet_local_algorithm algorithm) {
    return (size_t)algorithm < 4 ? ALGORITHMS[algorithm] : "unknown";
}

const char *tacet_local_parameters_name(tacet_local_parameters parameters) {
    return (size_t)parameters < 4 ? PARAMETERS[parameters] : "unknown";
}

tacet_status tacet__local_check(const tacet_local_settings *s, tacet_error *err) {
    if ((size_t)s->algorithm >= 4 || (size_t)s->parameters >= 4) {
        return tacet__fail(err, TACET_INVALID, "no such algorithm or choice of parameters");
    }
    if (s->algorithm == TACET_LOCAL_UCB && s->parameters != TACET_LOCAL_TIGHT && s->parameters != TACET_LOCAL_TUNED) {
        return tacet__fail(err, TACET_INVALID,
                           "ucb has tight or tuned parameters; literal and orderwise ones are of tgp, ata and moma");
    }
    if (!(s->bound > 0 && s->bound <= TACET__LOCAL_LARGEST) ||
        !(s->noise_bound >= 0 && s->noise_bound <= TACET__LOCAL_LARGEST) ||
        !(isnan(s->noise_var) || (s->noise_var >= 0 && s->noise_var <= TACET__LOCAL_LARGEST))) {
        return tacet__fail(err, TACET_INVALID,
                           "the bound on f must be greater than 0, those on the noise not less, and all finite");
    }
    if (!(s->delta > 0 && s->delta < 1) || !(s->accuracy > 0 && s->accuracy < 1)) {
        return tacet__fail(err, TACET_INVALID, "delta and accuracy must lie between 0 and 1");
    }
    if (!(s->lambda >= 0 && isfinite(s->lambda)) || !isfinite(s->mean)) {
        return tacet__fail(err, TACET_INVALID, "lambda, the factor on widths and the mean must be finite numbers");
    }
    if (s->ladder > 1 && s->ladder != TACET_LOCAL_LADDER) {
        return tacet__fail(err, TACET_INVALID, "no such ladder");
    }
    if (!(s->moment > 0 && s->moment <= 1) || (s->moment < 1 && (s->ldp != NULL || s->algorithm != TACET_LOCAL_MOMA))) {
        return tacet__fail(err, TACET_INVALID,
                           "moments are between 1 and 2; below 2 only moma has a width, for rewards "
                           "that are not randomised");
    }
    if (!(s->theta >= 0 && isfinite(s->theta)) || !(s->tail_a > 0 && isfinite(s->tail_a)) ||
        !(s->tail_b > 0 && isfinite(s->tail_b)) ||
        (s->theta > 0 && (s->ldp != NULL || s->algorithm != TACET_LOCAL_TGP))) {
        return tacet__fail(err, TACET_INVALID,
                           "tails of the noise are for tgp without a randomiser; theta, a and b must be > 0");
    }
    const bool proven = s->parameters == TACET_LOCAL_LITERAL || s->parameters == TACET_LOCAL_TIGHT;
    if (s->earlier_count > 0 &&
        (proven || s->algorithm == TACET_LOCAL_ATA || s->algorithm == TACET_LOCAL_MOMA || s->earlier == NULL)) {
        return tacet__fail(
            err, TACET_INVALID,
            "earlier values need ucb or tgp without a regret bound (tuned, orderwise): proven widths rest on "
            "the study's own reports");
    }
    if (s->horizon == 0 || s->lanes > s->horizon) {
        return tacet__fail(err, TACET_INVALID, "a horizon of %zu rounds for %zu lanes", s->horizon, s->lanes);
    }
    return TACET_OK;
}

tacet_status tacet__local_derive(tacet__local *p, tacet_error *err) {
    tacet_local_settings *s = &p->s;
    const double R = s->noise_bound;
    s->noise_var = isnan(s->noise_var) ? R * R : s->noise_var;
    p->c = s->noise_var;
    p->proxy = R * R; /* Hoeffding's lemma: noise within R is R-sub-Gaussian */
    p->reach = (double)INFINITY;
    if (s->ldp != NULL) {
        const double half = (p->ldp.hi - p->ldp.lo) / 2;
        const double own = tacet_ldp_proxy(&p->ldp);
        const bool duchi = p->ldp.kind == TACET_LDP_DUCHI;
        /* A reward in [lo, hi] is half-sub-Gaussian about its mean whatever R is claimed to be. */
        p->proxy = duchi ? own : own + fmin(R * R, half * half);
        p->c += tacet_ldp_variance(&p->ldp);
        p->tail = isinf(own) ? (p->ldp.hi - p->ldp.lo) / p->ldp.eps : 0;
        p->reach = tacet_ldp_bound(&p->ldp) + fabs(p->ldp.lo + half - s->mean);
    } else if (!(R > 0)) {
        p->proxy = s->noise_var; /* taken for Gaussian */
    }
    p->v = s->bound * s->bound + p->c;
    if (s->algorithm == TACET_LOCAL_UCB && s->parameters == TACET_LOCAL_TIGHT && !isfinite(p->proxy)) {
        return tacet__fail(err, TACET_INVALID,
                           "%s reports have no sub-Gaussian width: use hybrid, or tgp, ata, moma, or parameters "
                           "without a regret bound",
                           tacet_ldp_name(p->ldp.kind));
    }
    s->lambda = tacet__local_lambda(p);
    s->lanes = tacet__local_lanes(p);
    if (s->lanes > s->horizon) {
        return tacet__fail(err, TACET_INVALID, "%zu lanes need at least as many rounds: the horizon is %zu", s->lanes,
                           s->horizon);
    }
    return TACET_OK;
}

void tacet__local_choose(tacet_local_settings *s, const tacet_cov_spec *spec) {
    const tacet_kernel_spec *kernel = spec != NULL && spec->kernel != NULL ? tacet_kernel_describe(spec->kernel) : NULL;
    const bool scales = kernel != NULL && (kernel->kind == TACET_KERNEL_SE || kernel->kind == TACET_KERNEL_MATERN);
    const size_t usual = s->parameters == TACET_LOCAL_TUNED ? TACET_LOCAL_LADDER : 1;
    s->ladder = s->ladder == 0 ? usual : s->ladder;
    s->ladder = s->algorithm == TACET_LOCAL_UCB && scales ? s->ladder : 1;
}
