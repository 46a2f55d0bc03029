/* SPDX-License-Identifier: Apache-2.0 */
/* fit.c - hyper-parameters by maximum marginal likelihood, from several starts.
 * Ring: pure. Source: L-BFGS (Nocedal 1980) as in NLopt, over the logarithms of the parameters, within bounds.
 * Differs: the best point ever evaluated is kept, so a search that ends in rounding still counts; parameters on a
 * bound, jitter and singular evaluations are reported. The starts are a function of the seed. Cost: starts x
 * evaluations, each O(n^3 + n^2 d). */
#include "likelihood.h"

#include "core/fail.h"
#include "core/memory.h"

#include <math.h>
#include <nlopt.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/core/simrng.h>

static const double FTOL = 1e-10; /* relative change of the likelihood at which a start has converged */
static const double EDGE = 1e-6;  /* of a bound, in the logarithm: a parameter this close lies on it */

void lab_fit_settings_defaults(lab_fit_settings *settings) {
    *settings = (lab_fit_settings){.noise_var = 0.1, .starts = 8, .seed = 1, .most_evaluations = 200};
    tacet_kernel_spec_defaults(&settings->kernel);
}

/* One parameter: its bounds and the narrower range starts are drawn from, all as logarithms. */
typedef struct coordinate {
    double low, high;
    double start_low, start_high;
    double first;
    bool fixed;
} coordinate;

typedef struct search {
    lab_likelihood *likelihood;
    coordinate *coordinates; /* params */
    double *params;          /* all of them, fixed ones included */
    double *grad;
    double *best;
    double *free; /* those that move */
    double *low;
    double *high;
    size_t count;  /* all */
    size_t moving; /* free ones */
    lab_likelihood_value value;
    bool found;
    size_t start;
    lab_fit_result result;
    tacet_status fatal;
    tacet_error *err;
} search;

static bool bad_range(lab_fit_range r) {
    const bool from_data = r.low == 0 && r.high == 0;
    return !from_data && !(r.low > 0 && r.high >= r.low && isfinite(r.high));
}

static tacet_status check(const lab_fit_settings *s, const double *X, size_t ldx, size_t n, const double *y,
                          tacet_error *err) {
    if (n < 2) {
        return tacet__fail(err, TACET_INVALID, "%zu values are too few to fit a kernel", n);
    }
    if (s->starts == 0 || s->most_evaluations == 0 || bad_range(s->lengthscale) || bad_range(s->signal_var) ||
        bad_range(s->noise_var_range)) {
        return tacet__fail(err, TACET_INVALID, "fitting needs a start, evaluations, and ranges with 0 < low <= high");
    }
    if (!(s->noise_var >= 0 && isfinite(s->noise_var)) || (s->noise_var == 0 && !s->fix_noise_var)) {
        return tacet__fail(err, TACET_INVALID, "the noise variance to start from must be finite and greater than 0");
    }
    if (s->fix_mean && !isfinite(s->mean)) {
        return tacet__fail(err, TACET_INVALID, "the mean is not finite");
    }
    if (s->input_sd != NULL && s->kernel.kind != TACET_KERNEL_SE && s->kernel.kind != TACET_KERNEL_MATERN) {
        return tacet__fail(err, TACET_UNSUPPORTED, "input noise is known for SE and Matérn kernels only");
    }
    bool constant = true;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(y[i])) {
            return tacet__fail(err, TACET_INVALID, "value %zu is not finite", i);
        }
        constant = constant && y[i] == y[0];
        for (size_t c = 0; c < s->kernel.d; c++) {
            if (!isfinite(X[i * ldx + c])) {
                return tacet__fail(err, TACET_INVALID, "coordinate %zu of point %zu is not finite", c, i);
            }
        }
    }
    if (constant) {
        return tacet__fail(err, TACET_INVALID, "all %zu values are equal: nothing to fit", n);
    }
    return TACET_OK;
}

static double variance(const double *y, size_t n) {
    double mean = 0;
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        mean += y[i] / (double)n;
    }
    for (size_t i = 0; i < n; i++) {
        sum += (y[i] - mean) * (y[i] - mean);
    }
    return sum / (double)n;
}

/* Largest minus smallest of coordinate c; 1 when it does not vary. */
static double span(const double *X, size_t ldx, size_t n, size_t c) {
    double low = X[c];
    double high = X[c];
    for (size_t i = 1; i < n; i++) {
        low = fmin(low, X[i * ldx + c]);
        high = fmax(high, X[i * ldx + c]);
    }
    return high > low ? high - low : 1;
}

/* Bounds `given` or scale * [low, high]; starts within scale * [start_low, start_high]. */
static coordinate make(lab_fit_range given, double scale, double low, double high, double start_low, double start_high,
                       double first, bool fixed) {
    const bool from_data = given.low == 0 && given.high == 0;
    coordinate c = {.low = log(from_data ? scale * low : given.low),
                    .high = log(from_data ? scale * high : given.high),
                    .first = log(first),
                    .fixed = fixed};
    c.start_low = fmin(fmax(log(scale * start_low), c.low), c.high);
    c.start_high = fmin(fmax(log(scale * start_high), c.low), c.high);
    if (!fixed) {
        c.first = fmin(fmax(c.first, c.low), c.high);
    }
    return c;
}

static void lay_out(search *s, const lab_fit_settings *settings, const double *X, size_t ldx, size_t n,
                    const double *y) {
    const size_t lengthscales = s->count - 2;
    const double power = variance(y, n);
    for (size_t p = 0; p < lengthscales; p++) {
        double width = 0;
        for (size_t c = 0; c < settings->kernel.d; c++) {
            if (lengthscales == 1 || c == p) {
                width = fmax(width, span(X, ldx, n, c));
            }
        }
        s->coordinates[p] = make(settings->lengthscale, width, 0.01, 100, 0.03, 3, settings->kernel.lengthscales[p],
                                 settings->fix_lengthscales);
    }
    s->coordinates[lengthscales] =
        make(settings->signal_var, power, 1e-3, 1e3, 0.1, 10, settings->kernel.signal_var, settings->fix_signal_var);
    s->coordinates[lengthscales + 1] =
        make(settings->noise_var_range, power, 1e-8, 10, 1e-5, 1, settings->noise_var, settings->fix_noise_var);
}

/* NLopt's objective: minus the log-likelihood over the parameters that move. */
static double objective(unsigned dimension, const double *x, double *grad, void *user) {
    search *s = user;
    (void)dimension;
    for (size_t p = 0, f = 0; p < s->count; p++) {
        s->params[p] = s->coordinates[p].fixed ? s->coordinates[p].first : x[f++];
    }
    lab_likelihood_value value = {0};
    const tacet_status status =
        lab_likelihood_eval(s->likelihood, &value, grad != NULL ? s->grad : NULL, s->params, NULL);
    s->result.evaluations++;
    if (status != TACET_OK) {
        if (status == TACET_NUMERIC) {
            s->result.singular++;
        } else {
            s->fatal = status;
        }
        for (size_t f = 0; grad != NULL && f < s->moving; f++) {
            grad[f] = 0;
        }
        return HUGE_VAL;
    }
    if (!s->found || value.log_likelihood > s->value.log_likelihood) {
        s->found = true;
        s->value = value;
        s->result.best_start = s->start;
        memcpy(s->best, s->params, s->count * sizeof *s->best);
    }
    for (size_t p = 0, f = 0; grad != NULL && p < s->count; p++) {
        if (!s->coordinates[p].fixed) {
            grad[f++] = -s->grad[p];
        }
    }
    return -value.log_likelihood;
}

static tacet_status run(search *s, const lab_fit_settings *settings, tacet_error *err) {
    tacet_simrng rng;
    tacet_simrng_init(&rng, settings->seed, 0);
    nlopt_opt opt = s->moving > 0 ? nlopt_create(NLOPT_LD_LBFGS, (unsigned)s->moving) : NULL;
    if (s->moving == 0) {
        (void)objective(0, NULL, NULL, s);
        s->result.converged = 1;
        return s->fatal;
    }
    if (opt == NULL || nlopt_set_min_objective(opt, objective, s) < 0 || nlopt_set_lower_bounds(opt, s->low) < 0 ||
        nlopt_set_upper_bounds(opt, s->high) < 0 || nlopt_set_ftol_rel(opt, FTOL) < 0 ||
        nlopt_set_maxeval(opt, (int)(settings->most_evaluations < 1000000 ? settings->most_evaluations : 1000000)) <
            0) {
        nlopt_destroy(opt);
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory setting up the search");
    }
    for (s->start = 0; s->start < settings->starts && s->fatal == TACET_OK; s->start++) {
        for (size_t p = 0, f = 0; p < s->count; p++) {
            const coordinate *c = &s->coordinates[p];
            if (!c->fixed) {
                const double u = tacet_simrng_uniform(&rng);
                s->free[f++] = s->start == 0 ? c->first : c->start_low + u * (c->start_high - c->start_low);
            }
        }
        double least = 0;
        const nlopt_result code = nlopt_optimize(opt, s->free, &least);
        if (code == NLOPT_OUT_OF_MEMORY) {
            s->fatal = TACET_NO_MEMORY;
        }
        s->result.converged += code == NLOPT_SUCCESS || code == NLOPT_FTOL_REACHED || code == NLOPT_XTOL_REACHED;
    }
    nlopt_destroy(opt);
    return s->fatal == TACET_OK ? TACET_OK : tacet__fail(err, s->fatal, "the search could not evaluate the likelihood");
}

static void finish(search *s, lab_fit_result *out, double *lengthscales) {
    const size_t count = s->count - 2;
    for (size_t p = 0; p < s->count; p++) {
        const coordinate *c = &s->coordinates[p];
        s->result.at_bound += !c->fixed && (s->best[p] - c->low < EDGE || c->high - s->best[p] < EDGE);
    }
    for (size_t p = 0; p < count; p++) {
        lengthscales[p] = exp(s->best[p]);
    }
    s->result.signal_var = exp(s->best[count]);
    s->result.noise_var = exp(s->best[count + 1]);
    s->result.mean = s->value.mean;
    s->result.log_likelihood = s->value.log_likelihood;
    s->result.jitter = s->value.jitter;
    *out = s->result;
}

static bool allocate(search *s) {
    s->coordinates = TACET__ZALLOC(coordinate, s->count);
    s->params = TACET__ZALLOC(double, s->count);
    s->grad = TACET__ZALLOC(double, s->count);
    s->best = TACET__ZALLOC(double, s->count);
    s->free = TACET__ZALLOC(double, s->count);
    s->low = TACET__ZALLOC(double, s->count);
    s->high = TACET__ZALLOC(double, s->count);
    return s->coordinates != NULL && s->params != NULL && s->grad != NULL && s->best != NULL && s->free != NULL &&
           s->low != NULL && s->high != NULL;
}

tacet_status lab_fit(lab_fit_result *out, double *lengthscales, const lab_fit_settings *settings, const double *X,
                     size_t ldx, size_t n, const double *y, tacet_error *err) {
    search s = {0};
    tacet_kernel *kernel = NULL; /* made once, so that a bad specification is named before the search */
    tacet_status status = check(settings, X, ldx, n, y, err);
    if (status == TACET_OK) {
        status = tacet_kernel_create(&kernel, &settings->kernel, err);
    }
    if (status == TACET_OK) {
        status = lab_likelihood_create(&s.likelihood, settings, X, ldx, n, y, err);
    }
    if (status != TACET_OK) {
        goto done;
    }
    s.count = lab_likelihood_params(s.likelihood);
    if (!allocate(&s)) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory fitting %zu parameters", s.count);
        goto done;
    }
    lay_out(&s, settings, X, ldx, n, y);
    for (size_t p = 0; p < s.count; p++) {
        if (!s.coordinates[p].fixed) {
            s.low[s.moving] = s.coordinates[p].low;
            s.high[s.moving++] = s.coordinates[p].high;
        }
    }
    status = run(&s, settings, err);
    if (status == TACET_OK && !s.found) {
        status = tacet__fail(err, TACET_NUMERIC, "the covariance is singular at every parameter tried (%zu of them)",
                             s.result.evaluations);
    }
    if (status == TACET_OK) {
        finish(&s, out, lengthscales);
    }
done:
    lab_likelihood_free(s.likelihood);
    tacet_kernel_free(kernel);
    free(s.coordinates);
    free(s.params);
    free(s.grad);
    free(s.best);
    free(s.free);
    free(s.low);
    free(s.high);
    return status;
}
