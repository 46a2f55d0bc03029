/* SPDX-License-Identifier: Apache-2.0 */
/* outsourced_problem.c - the 100 x 100 grid with functions from the prior, Branin, and any table.
 * Ring: programs. Source: Kharkovskii, Dai, Low (2020), section 4 and appendix A. A function on the grid is L E L' with
 * L the Cholesky factor of the one-dimensional covariance: the SE kernel factors over the axes, so that drawing on
 * 10,000 points costs two products of 100 x 100 matrices. */
#include "outsourced_problem.h"

#include "core/fail.h"
#include "gp/linalg.h"
#include "core/memory.h"
#include "common/cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/core/simrng.h>
#include <tacet/io/csv.h>
#include "outsourced/trusted/published.h"

static tacet_status no_memory(tacet_error *err) {
    return tacet__fail(err, TACET_NO_MEMORY, "out of memory for the problem");
}

/* side x side points on a square whose corners have norm `radius`. */
static tacet_status square(lab_problem *p, size_t side, double radius, tacet_error *err) {
    p->d = 2;
    p->side = side;
    p->n = side * side;
    p->X = TACET__ZALLOC(double, 2 * p->n);
    if (p->X == NULL) {
        return no_memory(err);
    }
    const double half = radius * M_SQRT1_2;
    for (size_t i = 0; i < p->n; i++) {
        const size_t row = i / side;
        p->X[2 * i] = half * (2 * (double)(i % side) / (double)(side - 1) - 1);
        p->X[2 * i + 1] = half * (2 * (double)row / (double)(side - 1) - 1);
    }
    for (size_t a = 0; a < 2; a++) {
        p->low[a] = -half;
        p->high[a] = half;
    }
    return TACET_OK;
}

static tacet_status grid(lab_problem *p, double radius, double true_lengthscale, tacet_error *err) {
    enum { SIDE = 100 };
    TACET_OR_RETURN(square(p, SIDE, radius, err));
    p->factor = TACET__ZALLOC(double, (size_t)SIDE *SIDE);
    double *work = TACET__ZALLOC(double, (size_t)SIDE *SIDE);
    if (p->factor == NULL || work == NULL) {
        free(work);
        return no_memory(err);
    }
    const double step = (p->high[0] - p->low[0]) / (SIDE - 1);
    for (size_t j = 0; j < SIDE; j++) {
        for (size_t i = 0; i < SIDE; i++) {
            const double u = step * ((double)i - (double)j) / true_lengthscale;
            p->factor[j * SIDE + i] = exp(-0.5 * u * u) + (i == j ? 1e-10 : 0);
        }
    }
    tacet_status status = tacet__cholesky(p->factor, SIDE, SIDE, work, NULL, err);
    free(work);
    return status;
}

/* The paper's: 31 x 31, the logarithm of the negated function's distance, to be maximized. */
static tacet_status branin(lab_problem *p, double radius, tacet_error *err) {
    enum { SIDE = 31 };
    TACET_OR_RETURN(square(p, SIDE, radius, err));
    p->fixed = TACET__ZALLOC(double, p->n);
    if (p->fixed == NULL) {
        return no_memory(err);
    }
    const double pi = 3.14159265358979323846;
    for (size_t i = 0; i < p->n; i++) {
        const double u = -5 + 15 * (double)(i % SIDE) / (SIDE - 1);
        const size_t row = i / SIDE;
        const double v = 15 * (double)row / (SIDE - 1);
        const double a = v - 5.1 / (4 * pi * pi) * u * u + 5 / pi * u - 6;
        p->fixed[i] = -log(a * a + 10 * (1 - 1 / (8 * pi)) * cos(u) + 10);
    }
    return TACET_OK;
}

static tacet_status column_scales(double *scale, size_t d, const char *text, const tacet_csv_table *t,
                                  tacet_error *err) {
    if (text == NULL) {
        for (size_t a = 0; a < d; a++) {
            double low = INFINITY;
            double high = -INFINITY;
            for (size_t i = 0; i < t->n; i++) {
                low = fmin(low, t->values[i * t->d + a]);
                high = fmax(high, t->values[i * t->d + a]);
            }
            scale[a] = high > low ? 0.5 * (high - low) : 1;
        }
        return TACET_OK;
    }
    cli_reals given;
    bool good = CLI_READ(&given, text) && given.count == d;
    for (size_t a = 0; good && a < d; a++) {
        scale[a] = given.at[a];
        good = scale[a] > 0;
    }
    return good ? TACET_OK : tacet__fail(err, TACET_INVALID, "--scales needs one positive number per input");
}

static tacet_status take_target(lab_problem *p, const tacet_csv_table *t, const lab_table_options *o,
                                tacet_error *err) {
    double mean = 0;
    double square_sum = 0;
    for (size_t i = 0; i < p->n; i++) {
        double y = t->values[i * t->d + p->d];
        if (o->log_target && !(y > 0)) {
            return tacet__fail(err, TACET_INVALID, "--log needs a positive target in every record");
        }
        y = o->log_target ? log(y) : y;
        y = o->minimize ? -y : y;
        p->fixed[i] = y;
        const double e = y - mean;
        mean += e / (double)(i + 1);
        square_sum += e * (y - mean);
    }
    const double sd = sqrt(square_sum / (double)p->n);
    for (size_t i = 0; o->standardize && sd > 0 && i < p->n; i++) {
        p->fixed[i] = (p->fixed[i] - mean) / sd;
    }
    return TACET_OK;
}

static tacet_status take_inputs(lab_problem *p, const tacet_csv_table *t, const double *scale, double radius) {
    double middle[LAB_MOST_INPUTS];
    for (size_t a = 0; a < p->d; a++) {
        p->low[a] = INFINITY;
        p->high[a] = -INFINITY;
        for (size_t i = 0; i < p->n; i++) {
            const double x = t->values[i * t->d + a] / scale[a];
            p->X[i * p->d + a] = x;
            p->low[a] = fmin(p->low[a], x);
            p->high[a] = fmax(p->high[a], x);
        }
        middle[a] = 0.5 * (p->low[a] + p->high[a]);
    }
    double largest = 0;
    for (size_t i = 0; i < p->n; i++) {
        double norm = 0;
        for (size_t a = 0; a < p->d; a++) {
            p->X[i * p->d + a] -= middle[a];
            norm += p->X[i * p->d + a] * p->X[i * p->d + a];
        }
        largest = fmax(largest, sqrt(norm));
    }
    const double factor = largest > 0 ? radius / largest : 1;
    for (size_t i = 0; i < p->n * p->d; i++) {
        p->X[i] *= factor;
    }
    for (size_t a = 0; a < p->d; a++) {
        p->low[a] = factor * (p->low[a] - middle[a]);
        p->high[a] = factor * (p->high[a] - middle[a]);
    }
    return TACET_OK;
}

/* Replaces inputs by their logarithms where asked. */
static tacet_status take_logs(tacet_csv_table *t, const char *const *names, size_t count, const char *list,
                              tacet_error *err) {
    cli_names words;
    if (!CLI_READ(&words, list)) {
        return tacet__fail(err, TACET_INVALID, "the list of inputs to take logarithms of is wrong");
    }
    tacet_status status = TACET_OK;
    for (size_t a = 0; a < count && status == TACET_OK; a++) {
        bool wanted = false;
        for (size_t w = 0; w < words.count; w++) {
            wanted = wanted || strcmp(words.at[w], names[a]) == 0;
        }
        for (size_t i = 0; wanted && i < t->n && status == TACET_OK; i++) {
            double *x = &t->values[i * t->d + a];
            status = *x > 0 ? TACET_OK : tacet__fail(err, TACET_INVALID, "%.60s is not positive everywhere", names[a]);
            *x = log(*x);
        }
    }
    return status;
}

/* Inputs, then the target, which may come from another file. */
static tacet_status load(tacet_csv_table *t, const lab_table_options *o, const char *const *names, size_t count,
                         tacet_error *err) {
    const bool apart = o->target_data != NULL;
    const tacet_csv_wanted own = {
        .columns = names, .d = apart ? count : count + 1, .least_records = 2, .no_constants = true};
    tacet_status status = tacet_csv_load_file(t, o->data, &own, err);
    if (status == TACET_OK && apart) {
        tacet_csv_table inputs = *t;
        tacet_csv_table target = {0};
        const tacet_csv_wanted other = {.columns = names + count, .d = 1, .least_records = 2, .no_constants = true};
        *t = (tacet_csv_table){0};
        status = tacet_csv_load_file(&target, o->target_data, &other, err);
        if (status == TACET_OK && target.n != inputs.n) {
            status = tacet__fail(err, TACET_INVALID, "inputs have %zu records, targets %zu", inputs.n, target.n);
        }
        double *values = status == TACET_OK ? TACET__ZALLOC(double, inputs.n *(count + 1)) : NULL;
        if (status == TACET_OK && values == NULL) {
            status = no_memory(err);
        }
        for (size_t i = 0; values != NULL && i < inputs.n; i++) {
            memcpy(values + i * (count + 1), inputs.values + i * count, count * sizeof *values);
            values[i * (count + 1) + count] = target.values[i];
        }
        if (status == TACET_OK) {
            *t = (tacet_csv_table){.values = values, .d = count + 1, .n = inputs.n};
        }
        tacet_csv_table_clear(&inputs);
        tacet_csv_table_clear(&target);
    }
    if (status == TACET_OK && o->rows > 0 && o->rows < t->n) {
        t->n = o->rows;
    }
    return status == TACET_OK && o->log_inputs != NULL ? take_logs(t, names, count, o->log_inputs, err) : status;
}

tacet_status lab_table_load(tacet_csv_table *t, const lab_table_options *o, size_t *count, tacet_error *err) {
    cli_names inputs;
    const char *names[LAB_MOST_INPUTS + 1];
    *count = 0;
    if (o->data == NULL || o->inputs == NULL || o->target == NULL) {
        return tacet__fail(err, TACET_INVALID, "a table, --inputs and --target are needed");
    }
    if (!CLI_READ(&inputs, o->inputs) || inputs.count > LAB_MOST_INPUTS) {
        return tacet__fail(err, TACET_INVALID, "--inputs needs 1 to %d column names", LAB_MOST_INPUTS);
    }
    *count = inputs.count;
    memcpy(names, inputs.at, inputs.count * sizeof *names);
    names[*count] = o->target;
    const tacet_status status = load(t, o, names, *count, err);
    if (status != TACET_OK) {
        tacet_csv_table_clear(t);
    }
    return status;
}

static tacet_status table(lab_problem *p, const lab_table_options *o, double radius, tacet_error *err) {
    tacet_csv_table t = {0};
    TACET_OR_RETURN(lab_table_load(&t, o, &p->d, err));
    double scale[LAB_MOST_INPUTS];
    p->n = t.n;
    p->X = TACET__ZALLOC(double, p->d * p->n);
    p->fixed = TACET__ZALLOC(double, p->n);
    tacet_status status =
        p->X == NULL || p->fixed == NULL ? no_memory(err) : column_scales(scale, p->d, o->scales, &t, err);
    TACET_THEN(status, take_inputs(p, &t, scale, radius));
    TACET_THEN(status, take_target(p, &t, o, err));
    tacet_csv_table_clear(&t);
    return status;
}

/* Coordinate `axis` times `share`, then everything to the largest norm `radius` again; records are centred in their
 * box, and stay so. */
static void shrink(lab_problem *p, size_t axis, double share, double radius) {
    double largest = 0;
    for (size_t i = 0; i < p->n; i++) {
        p->X[i * p->d + axis] *= share;
        largest = fmax(largest, tacet__dot(p->X + i * p->d, p->X + i * p->d, p->d));
    }
    const double factor = radius / sqrt(largest);
    for (size_t i = 0; i < p->n * p->d; i++) {
        p->X[i] *= factor;
    }
    for (size_t a = 0; a < p->d; a++) {
        p->low[a] *= factor * (a == axis ? share : 1);
        p->high[a] *= factor * (a == axis ? share : 1);
    }
}

/* Which branch Algorithm 1 takes depends on the smallest singular value alone, and a paper that divides its inputs by
 * lengthscales does not print it; its thresholds do say between which values it lies. */
static tacet_status stretch(lab_problem *p, double sigma_min, double radius, tacet_error *err) {
    enum { STEPS = 40 };
    size_t axis = 0;
    double least = INFINITY;
    for (size_t a = 0; a < p->d; a++) {
        double square_sum = 0;
        for (size_t i = 0; i < p->n; i++) {
            square_sum += p->X[i * p->d + a] * p->X[i * p->d + a];
        }
        axis = square_sum <= least ? a : axis;
        least = fmin(least, square_sum);
    }
    double now = 0;
    double share = 1; /* of the coordinate as it was */
    double low = 0;
    double high = 1;
    tacet_status status = tacet_published_sigma_min(&now, p->X, p->d, p->d, p->n, err);
    if (status == TACET_OK && !(sigma_min > 0 && sigma_min <= now)) {
        status = tacet__fail(err, TACET_INVALID, "a smallest singular value above 0 and up to %g is needed", now);
    }
    for (size_t i = 0; i < STEPS && status == TACET_OK; i++) {
        const double next = 0.5 * (low + high);
        shrink(p, axis, next / share, radius);
        share = next;
        status = tacet_published_sigma_min(&now, p->X, p->d, p->d, p->n, err);
        low = now < sigma_min ? next : low;
        high = now < sigma_min ? high : next;
    }
    return status;
}

tacet_status lab_problem_init(lab_problem *p, const char *scenario, const lab_table_options *o, double radius,
                              double lengthscale, double signal_var, double noise_var, double mean, tacet_error *err) {
    /* The authors' hyper-parameters, lengthscales as a share of the radius. */
    static const struct {
        const char *name;
        double lengthscale, signal_var, noise_var, mean;
    } KNOWN[] = {{"grid", 0.25, 1, 1e-5, 0}, {"branin", 0.265813, 1.049641, 0.1, -4.266113}, {"csv", 0.25, 1, 0.1, 0}};
    memset(p, 0, sizeof *p);
    size_t k = 0;
    while (k < sizeof KNOWN / sizeof *KNOWN && strcmp(KNOWN[k].name, scenario) != 0) {
        k++;
    }
    if (k == sizeof KNOWN / sizeof *KNOWN) {
        return tacet__fail(err, TACET_INVALID, "--world is grid, branin or csv, not '%s'", scenario);
    }
    p->lengthscale = radius * (isnan(lengthscale) ? KNOWN[k].lengthscale : lengthscale);
    p->signal_var = isnan(signal_var) ? KNOWN[k].signal_var : signal_var;
    p->noise_var = isnan(noise_var) ? KNOWN[k].noise_var : noise_var;
    p->mean = isnan(mean) ? KNOWN[k].mean : mean;
    if (!(radius > 0 && p->lengthscale > 0 && p->signal_var > 0 && p->noise_var >= 0)) {
        return tacet__fail(err, TACET_INVALID, "radius, lengthscale and signal variance must be positive");
    }
    tacet_status status = k == 0   ? grid(p, radius, p->lengthscale, err)
                          : k == 1 ? branin(p, radius, err)
                                   : table(p, o, radius, err);
    if (status == TACET_OK && o->sigma_min != 0) {
        status = stretch(p, o->sigma_min, radius, err);
    }
    if (status != TACET_OK) {
        lab_problem_clear(p);
    }
    return status;
}

static const double MIXED_LENGTH = 0.25; /* the middle one of a mixed problem */

tacet_status lab_problem_init_made_up(lab_problem *p, size_t candidates, size_t dim, double radius, double lengthscale,
                                      double noise, uint64_t seed, tacet_error *err) {
    memset(p, 0, sizeof *p);
    size_t cells = 0;
    if (candidates < 2 || dim == 0 || dim > LAB_MOST_INPUTS || !tacet__size_mul(&cells, candidates, dim) ||
        !(radius > 0 && (isnan(lengthscale) || lengthscale > 0) && noise >= 0)) {
        return tacet__fail(err, TACET_INVALID,
                           "two candidates or more, 1 to %d coordinates, a positive lengthscale, no negative noise",
                           LAB_MOST_INPUTS);
    }
    const double half = radius / sqrt((double)dim);
    *p = (lab_problem){.d = dim,
                       .n = candidates,
                       .lengthscale = 2 * half * (isnan(lengthscale) ? MIXED_LENGTH : lengthscale),
                       .signal_var = 1,
                       .noise_var = noise * noise,
                       .made_up = true,
                       .mixed = isnan(lengthscale)};
    p->X = TACET__ZALLOC(double, cells);
    if (p->X == NULL) {
        return no_memory(err);
    }
    tacet_simrng rng;
    tacet_simrng_init(&rng, seed, UINT64_MAX);
    for (size_t i = 0; i < cells; i++) {
        p->X[i] = half * (2 * tacet_simrng_uniform(&rng) - 1);
    }
    for (size_t a = 0; a < dim; a++) {
        p->low[a] = -half;
        p->high[a] = half;
    }
    return TACET_OK;
}

/* Random Fourier features of the SE kernel. Of a mixed problem every function has one of five lengthscales, and every
 * other one skewed values, of mean 0 and variance 1 as the others. */
static void draw_cosines(const lab_problem *p, double *f, uint64_t seed, uint64_t k) {
    enum { COSINES = 400 };
    const double lengthscale = p->lengthscale * (p->mixed ? ldexp(1, (int)(k % 5) - 2) : 1);
    tacet_simrng rng;
    tacet_simrng_init(&rng, seed, k);
    memset(f, 0, p->n * sizeof *f);
    for (size_t c = 0; c < COSINES; c++) {
        double frequency[LAB_MOST_INPUTS];
        for (size_t a = 0; a < p->d; a++) {
            frequency[a] = tacet_simrng_normal(&rng) / lengthscale;
        }
        const double weight = sqrt(2 * p->signal_var / COSINES) * tacet_simrng_normal(&rng);
        const double phase = 2 * 3.14159265358979323846 * tacet_simrng_uniform(&rng);
        for (size_t i = 0; i < p->n; i++) {
            f[i] += weight * cos(phase + tacet__dot(frequency, p->X + i * p->d, p->d));
        }
    }
    for (size_t i = 0; p->mixed && k % 2 == 1 && i < p->n; i++) {
        f[i] = (exp(f[i]) - exp(0.5)) / sqrt(exp(1) * (exp(1) - 1));
    }
}

void lab_problem_clear(lab_problem *p) {
    free(p->X);
    free(p->fixed);
    free(p->factor);
    memset(p, 0, sizeof *p);
}

tacet_status lab_problem_function(const lab_problem *p, double *f, uint64_t seed, uint64_t k, tacet_error *err) {
    if (p->fixed != NULL) {
        memcpy(f, p->fixed, p->n * sizeof *f);
        return TACET_OK;
    }
    if (p->made_up) {
        draw_cosines(p, f, seed, k);
        return TACET_OK;
    }
    double *work = TACET__ZALLOC(double, 2 * p->n);
    if (work == NULL) {
        return no_memory(err);
    }
    double *e = work + p->n;
    const size_t s = p->side;
    tacet_simrng rng;
    tacet_simrng_init(&rng, seed, k);
    for (size_t i = 0; i < p->n; i++) {
        e[i] = sqrt(p->signal_var) * tacet_simrng_normal(&rng);
    }
    tacet__gemm(false, false, s, s, s, 1, p->factor, s, e, s, 0, work, s);
    tacet__gemm(false, true, s, s, s, 1, work, s, p->factor, s, 0, f, s);
    for (size_t i = 0; i < p->n; i++) {
        f[i] += p->mean;
    }
    free(work);
    return TACET_OK;
}
