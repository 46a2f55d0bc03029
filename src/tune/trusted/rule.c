/* SPDX-License-Identifier: Apache-2.0 */
/* rule.c - how many rounds, of how many settings, with which share of eps: a table over n eps / R; and the interval of
 * a score. Ring: trusted; public arithmetic, nothing private comes here. Source: README.md, "The search" and "The
 * winner's score"; Chernoff 1952, Hoeffding 1963 for the interval. Cost: none to speak of. */
#include "tune/trusted/internal.h"

#include "core/fail.h"

#include <math.h>
#include <string.h>

typedef struct rule {
    double from; /* n eps / R: this row, from here on */
    size_t rounds;
    double first; /* share of the settings in round 1 */
    double shares[TACET_TUNE_ROUNDS_MOST];
} rule;

static const rule TABLE[] = {
    {0, 1, 1, {1}},
    {300, 2, .85, {.1, .9}},
    {600, 3, .7, {.08, .08, .84}},
    {3000, 4, .3, {.1, .12, .18, .6}},
    {10000, 8, .3, {.6 / 7, .6 / 7, .6 / 7, .6 / 7, .6 / 7, .6 / 7, .6 / 7, .4}},
};
static const double EPS_LEAST = 1e-4, EPS_MOST = 1e6;
static const size_t EACH_LEAST = 2; /* settings of a later round */

void tacet_tune_settings_defaults(tacet_tune_settings *settings) {
    *settings = (tacet_tune_settings){
        .lower = 0, .upper = 1, .eps = 1, .evaluations = 100, .kept = .2, .level = .95, .seed = 1};
}

static tacet_status check(const tacet_tune_settings *s, tacet_error *err) {
    if (s->space == NULL || s->space->count == 0) {
        return tacet__fail(err, TACET_INVALID, "tuning needs a space with at least one column");
    }
    if (!(s->records >= 2 && s->records <= (size_t)1 << 31)) {
        return tacet__fail(err, TACET_INVALID, "records must be from 2 to 2^31: how many values a setting has");
    }
    if (!(s->lower >= -1e100 && s->lower < s->upper && s->upper <= 1e100)) {
        return tacet__fail(err, TACET_INVALID, "the range of a record's value must be lo < hi, both finite");
    }
    if (!(s->eps >= EPS_LEAST && s->eps <= EPS_MOST)) {
        return tacet__fail(err, TACET_INVALID, "eps must be from %g to %g", EPS_LEAST, EPS_MOST);
    }
    if (!(s->evaluations >= 1 && s->evaluations <= TACET_TUNE_EVALUATIONS_MOST)) {
        return tacet__fail(err, TACET_INVALID, "evaluations must be from 1 to %d", TACET_TUNE_EVALUATIONS_MOST);
    }
    if (!(s->kept >= 0 && s->kept <= .9) || !(s->level > 0 && s->level < 1)) {
        return tacet__fail(err, TACET_INVALID, "kept must be from 0 to 0.9, level between 0 and 1");
    }
    if (!(s->contrast >= 0 && s->contrast <= s->upper - s->lower)) {
        return tacet__fail(err, TACET_INVALID, "contrast must be from 0 (none) to the length of the range");
    }
    return TACET_OK;
}

/* The last row that this strength reaches and whose later rounds have something to try. */
static const rule *rule_for(double strength, size_t evaluations, bool flat) {
    const rule *found = &TABLE[0];
    for (size_t i = 1; !flat && i < sizeof TABLE / sizeof *TABLE; i++) {
        const size_t first = (size_t)ceil(TABLE[i].first * (double)evaluations);
        if (strength >= TABLE[i].from && evaluations - first >= EACH_LEAST * (TABLE[i].rounds - 1)) {
            found = &TABLE[i];
        }
    }
    return found;
}

tacet_status tacet_tune_plan_get(tacet_tune_plan *out, const tacet_tune_settings *s, tacet_error *err) {
    memset(out, 0, sizeof *out);
    TACET_OR_RETURN(check(s, err));
    const double kept = nearbyint(s->kept * (double)s->records);
    out->kept = s->kept > 0 && kept < 1 ? 1 : (size_t)fmin(kept, (double)(s->records - 1)); /* one is searched */
    out->searched = s->records - out->kept;
    const double width = s->contrast > 0 ? 2 * s->contrast : s->upper - s->lower;
    /* In units of the range's length: what is compared with the table has no unit. */
    out->strength = (double)out->searched * s->eps * ((s->upper - s->lower) / width);
    const rule *r = rule_for(out->strength, s->evaluations, s->flat);
    out->rounds = r->rounds;
    out->settings[0] = (size_t)ceil(r->first * (double)s->evaluations);
    double left = s->eps;
    for (size_t k = 0; k < r->rounds; k++) {
        if (k > 0) { /* the rest in even parts, larger ones first */
            const size_t later = s->evaluations - out->settings[0], rounds = r->rounds - 1;
            out->settings[k] = later / rounds + (k - 1 < later % rounds ? 1 : 0);
        }
        /* The last round gets what is left, a little less: the sum is never above eps. */
        out->eps[k] = k + 1 < r->rounds ? r->shares[k] * s->eps : left * (1 - 0x1p-50);
        left -= out->eps[k];
    }
    out->margin = 4 * width / ((double)out->searched * out->eps[r->rounds - 1]);
    out->score_sd = out->kept > 0 ? sqrt(2) * (s->upper - s->lower) / ((double)out->kept * s->eps) : 0;
    return TACET_OK;
}

/* Relative entropy of Bernoulli laws; infinite where it is. */
static double divergence(double p, double q) {
    const double yes = p > 0 ? p * log(p / q) : 0;
    const double no = p < 1 ? (1 - p) * log((1 - p) / (1 - q)) : 0;
    return yes + no;
}

/* The q furthest from p towards `end` (0 or 1) with divergence(p, q) <= most, rounded towards the end. */
static double furthest(double p, double end, double most) {
    double inside = p, outside = end;
    for (int i = 0; i < 100; i++) {
        const double q = 0.5 * (inside + outside);
        if (divergence(p, q) <= most) {
            inside = q;
        } else {
            outside = q;
        }
    }
    return outside;
}

void tacet_tune_interval(double *lower, double *upper, double m, double t, size_t n, double alpha) {
    const double most = log(4 / alpha) / (double)n;
    *lower = furthest(fmin(fmax(m - t, 0), 1), 0, most);
    *upper = furthest(fmin(fmax(m + t, 0), 1), 1, most);
}
