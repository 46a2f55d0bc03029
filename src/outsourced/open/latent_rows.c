/* SPDX-License-Identifier: Apache-2.0 */
/* latent_rows.c - where a released row may truly lie: p(x | z) on a box, expectations under it, draws from it.
 * Ring: open. In: released rows, public box, public noise law.
 * Method: uniform prior on the public box; the noise is a scale mixture of Gaussians (one component for the Gaussian
 * mechanism; for the Laplace law in d dimensions the variance is Gamma((d+1)/2, 2 b^2), cut into six equally probable
 * bins), so densities factor over axes within a component. A function on the fine grid is averaged over positions for
 * every possible z at once: one small matrix product per axis and component gives E[A(x) | z] on a grid of z, which
 * is smooth on the scale of the noise; each row then reads it by cubic interpolation.
 * Cost: O(components * grid^(d+1)) plus 4^d per row; nothing grows with the product of rows and grid. */
#include "outsourced/open/latent_state.h"
#include "outsourced/open/modeler_internal.h"

#include "core/fail.h"
#include "gp/linalg.h"
#include "core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Grid nodes per lengthscale for f, for the acquisition per noise sd, and the largest grids per dimension. */
static const double COARSE_PER_LENGTH[TACET__AXES] = {8, 4, 2};
static const size_t COARSE_MOST[TACET__AXES] = {512, 72, 20};
static const size_t FINE_MOST[TACET__AXES] = {2048, 160, 32};
static const size_t WIDE_MOST[TACET__AXES] = {4096, 256, 48};
static const double FINE_PER_SD = 1.35;
static const double WIDE_PER_SD = 1.6;
/* The trapezoid's weights at its ends, corrected to third order: the density does not vanish at the box's edge. */
static const double GREGORY[3] = {3.0 / 8, 7.0 / 6, 23.0 / 24};
static const double REACH = 4.5; /* standard deviations beyond the box that the wide grid covers */

static double upper_tail(double x) {
    return 0.5 * erfc(x * M_SQRT1_2);
}

/* P(low < N(0,1) < high) without cancellation in the tails. */
static double interval(double low, double high) {
    if (low > 0) {
        return upper_tail(low) - upper_tail(high);
    }
    if (high < 0) {
        return upper_tail(-high) - upper_tail(-low);
    }
    return 1 - upper_tail(high) - upper_tail(-low);
}

/* Means of Gamma(shape, 1) over `bins` equally probable bins, by a midpoint sum: E V per bin keeps the total variance
 * of the noise exact. */
static void gamma_bins(double *mean, size_t bins, double shape) {
    enum { STEPS = 40000 };
    const double top = shape + 12 * sqrt(shape) + 12;
    const double h = top / STEPS;
    double total = 0;
    for (size_t s = 0; s < STEPS; s++) {
        const double v = ((double)s + 0.5) * h;
        total += exp((shape - 1) * log(v) - v);
    }
    memset(mean, 0, bins * sizeof *mean);
    double below = 0;
    for (size_t s = 0; s < STEPS; s++) {
        const double v = ((double)s + 0.5) * h;
        const double p = exp((shape - 1) * log(v) - v) / total;
        size_t b = (size_t)((below + 0.5 * p) * (double)bins);
        b = b < bins ? b : bins - 1;
        mean[b] += p * v * (double)bins;
        below += p;
    }
}

static size_t clamp_nodes(double wanted, size_t least, size_t most) {
    if (!(wanted < (double)most)) {
        return most;
    }
    return wanted < (double)least ? least : (size_t)ceil(wanted);
}

/* Cubic Lagrange weights on four equally spaced nodes, u in [-1, 2] counted from the second. */
static void cubic(double w[4], double u) {
    w[0] = -u * (u - 1) * (u - 2) / 6;
    w[1] = (u + 1) * (u - 1) * (u - 2) / 2;
    w[2] = -(u + 1) * u * (u - 2) / 2;
    w[3] = (u + 1) * u * (u - 1) / 6;
}

/* First node of the stencil for a coordinate counted in steps, and the weights. Needs nodes >= 4. */
static size_t stencil_at(double w[4], double steps, size_t nodes) {
    const double last = (double)(nodes - 1);
    const double c = steps < 0 ? 0 : steps > last ? last : steps;
    size_t first = (size_t)c;
    first = first < 1 ? 0 : first - 1;
    first = first + 4 > nodes ? nodes - 4 : first;
    cubic(w, c - (double)first - 1);
    return first;
}

static tacet_status axis_init(tacet__axis *axis, size_t d, size_t components, const double *sd, tacet_error *err) {
    const size_t k = d - 1;
    double smallest = INFINITY;
    double largest = 0;
    axis->coarse = clamp_nodes(COARSE_PER_LENGTH[k] * axis->side + 1, 6, COARSE_MOST[k]);
    for (size_t c = 0; c < components; c++) {
        smallest = fmin(smallest, sd[c]);
    }
    axis->fine = clamp_nodes(FINE_PER_SD * axis->side / smallest + 1, axis->coarse,
                             axis->coarse > FINE_MOST[k] ? axis->coarse : FINE_MOST[k]);
    const double step = axis->side / (double)(axis->fine - 1);
    smallest = INFINITY;
    for (size_t c = 0; c < components; c++) {
        /* A cloud narrower than the finest grid allowed is widened to it: the quadrature would miss it. */
        axis->sd[c] = fmax(sd[c], step / FINE_PER_SD);
        smallest = fmin(smallest, axis->sd[c]);
        largest = fmax(largest, axis->sd[c]);
    }
    const double reach = REACH * largest;
    axis->wide = clamp_nodes(WIDE_PER_SD * (axis->side + 2 * reach) / smallest + 1, 6, WIDE_MOST[k]);
    axis->wide_low = -reach;
    axis->wide_step = (axis->side + 2 * reach) / (double)(axis->wide - 1);
    for (size_t c = 0; c < components; c++) {
        axis->spread[c] = TACET__ALIGNED(double, axis->wide * axis->fine);
        if (axis->spread[c] == NULL) {
            return tacet__fail(err, TACET_NO_MEMORY, "out of memory for the position grids");
        }
        for (size_t j = 0; j < axis->fine; j++) {
            const size_t inside = j < axis->fine - 1 - j ? j : axis->fine - 1 - j;
            const double end = inside < 3 ? GREGORY[inside] : 1.0;
            for (size_t i = 0; i < axis->wide; i++) {
                const double u = (axis->wide_low + axis->wide_step * (double)i - step * (double)j) / axis->sd[c];
                axis->spread[c][j * axis->wide + i] = end * exp(-0.5 * u * u) / axis->sd[c];
            }
        }
    }
    axis->refine = TACET__ZALLOC(double, axis->fine * axis->coarse);
    if (axis->refine == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for the position grids");
    }
    for (size_t i = 0; i < axis->fine; i++) {
        double w[4];
        const double at = (double)i * (double)(axis->coarse - 1) / (double)(axis->fine - 1);
        const size_t first = stencil_at(w, at, axis->coarse);
        for (size_t s = 0; s < 4; s++) {
            axis->refine[(first + s) * axis->fine + i] = w[s];
        }
    }
    return TACET_OK;
}

/* out = (M_d x … x M_1) in, each M_a of size to[a] x from[a]: one product per axis, the axes rotating so that after
 * the last one they are in order again. Both work arrays hold the largest intermediate. */
static double *apply_axes(tacet__rows *rows, const double *in, double *const M[TACET__AXES],
                          const size_t from[TACET__AXES], const size_t to[TACET__AXES]) {
    size_t rest = 1;
    for (size_t a = 1; a < rows->d; a++) {
        rest *= from[a];
    }
    const double *source = in;
    double *target = rows->work[0];
    for (size_t a = 0; a < rows->d; a++) {
        /* source is from[a] x rest; target becomes rest x to[a], whose first axis is a+1. */
        tacet__gemm(true, true, rest, to[a], from[a], 1.0, source, from[a], M[a], to[a], 0.0, target, rest);
        if (a + 1 < rows->d) {
            rest = rest / from[a + 1] * to[a];
        }
        source = target;
        target = target == rows->work[0] ? rows->work[1] : rows->work[0];
    }
    return target == rows->work[0] ? rows->work[1] : rows->work[0];
}

static void spread(tacet__rows *rows, double *out, const double *A) {
    size_t from[TACET__AXES];
    size_t to[TACET__AXES];
    double *M[TACET__AXES];
    memset(out, 0, rows->wide * sizeof *out);
    for (size_t c = 0; c < rows->components; c++) {
        for (size_t a = 0; a < rows->d; a++) {
            from[a] = rows->axis[a].fine;
            to[a] = rows->axis[a].wide;
            M[a] = rows->axis[a].spread[c];
        }
        tacet__axpy(out, rows->weight[c], apply_axes(rows, A, M, from, to), rows->wide);
    }
}

void tacet__rows_refine(tacet__rows *rows, double *fine, const double *coarse) {
    size_t from[TACET__AXES];
    size_t to[TACET__AXES];
    double *M[TACET__AXES];
    if (rows->fine == rows->coarse) {
        memcpy(fine, coarse, rows->fine * sizeof *fine);
        return;
    }
    for (size_t a = 0; a < rows->d; a++) {
        from[a] = rows->axis[a].coarse;
        to[a] = rows->axis[a].fine;
        M[a] = rows->axis[a].refine;
    }
    memcpy(fine, apply_axes(rows, coarse, M, from, to), rows->fine * sizeof *fine);
}

void tacet__rows_expect(tacet__rows *rows, double *out, const double *A) {
    spread(rows, rows->expected, A);
    for (size_t i = 0; i < rows->wide; i++) {
        rows->expected[i] /= rows->mass[i];
    }
    const double *e = rows->expected;
    const size_t n1 = rows->axis[0].wide;
    const size_t n2 = n1 * (rows->d > 1 ? rows->axis[1].wide : 1);
    const size_t planes = rows->d > 2 ? 4 : 1;
    const size_t lines = rows->d > 1 ? 4 : 1;
    for (size_t i = 0; i < rows->n; i++) {
        const double *w = rows->stencil + i * 4 * rows->d;
        double sum = 0;
        for (size_t p = 0; p < planes; p++) {
            const double wp = rows->d > 2 ? w[8 + p] : 1;
            for (size_t l = 0; l < lines; l++) {
                const double *g = e + rows->cell[i] + p * n2 + l * n1;
                const double line = w[0] * g[0] + w[1] * g[1] + w[2] * g[2] + w[3] * g[3];
                sum += line * (rows->d > 1 ? w[4 + l] : 1) * wp;
            }
        }
        out[i] = sum;
    }
}

/* Standard normal on [low, high] (Robert 1995): plain rejection where the interval holds enough mass, an exponential
 * or uniform envelope otherwise. */
static double truncated_normal(tacet_simrng *rng, double low, double high) {
    if (high < 0) {
        return -truncated_normal(rng, -high, -low);
    }
    if (low <= 0 && high - low > 1.5) {
        for (;;) {
            const double x = tacet_simrng_normal(rng);
            if (x >= low && x <= high) {
                return x;
            }
        }
    }
    const double nearest = low > 0 ? low : 0;
    if (low > 0 && (high - low) * low > 1) {
        const double rate = 0.5 * (low + sqrt(low * low + 4));
        for (;;) {
            const double x = low + tacet_simrng_exponential(rng) / rate;
            const double u = x - rate;
            if (x <= high && tacet_simrng_uniform(rng) <= exp(-0.5 * u * u)) {
                return x;
            }
        }
    }
    for (;;) {
        const double x = low + (high - low) * tacet_simrng_uniform(rng);
        if (tacet_simrng_uniform(rng) <= exp(0.5 * (nearest * nearest - x * x))) {
            return x;
        }
    }
}

void tacet__rows_draw(const tacet__rows *rows, tacet_simrng *rng, size_t i, double *x) {
    const double *z = rows->z + i * rows->d;
    size_t c = 0;
    if (rows->components > 1) {
        double share[TACET__CLOUDS];
        double total = 0;
        for (size_t k = 0; k < rows->components; k++) {
            share[k] = rows->weight[k];
            for (size_t a = 0; a < rows->d; a++) {
                const tacet__axis *axis = &rows->axis[a];
                share[k] *= interval(-z[a] / axis->sd[k], (axis->side - z[a]) / axis->sd[k]);
            }
            total += share[k];
        }
        double u = total * tacet_simrng_uniform(rng);
        for (c = 0; c + 1 < rows->components && u >= share[c]; c++) {
            u -= share[c];
        }
    }
    for (size_t a = 0; a < rows->d; a++) {
        const tacet__axis *axis = &rows->axis[a];
        const double s = axis->sd[c];
        const double at = z[a] + s * truncated_normal(rng, -z[a] / s, (axis->side - z[a]) / s);
        x[a] = at < 0 ? 0 : at > axis->side ? axis->side : at;
    }
}

static tacet_status rows_tables(tacet__rows *rows, tacet_error *err) {
    const size_t d = rows->d;
    size_t most = 1;
    rows->coarse = rows->fine = rows->wide = 1;
    for (size_t a = 0; a < d; a++) {
        const tacet__axis *axis = &rows->axis[a];
        rows->coarse *= axis->coarse;
        rows->fine *= axis->fine;
        rows->wide *= axis->wide;
        most *= axis->fine > axis->wide ? axis->fine : axis->wide;
    }
    rows->mass = TACET__ALIGNED(double, rows->wide);
    rows->expected = TACET__ALIGNED(double, rows->wide);
    rows->work[0] = TACET__ALIGNED(double, most);
    rows->work[1] = TACET__ALIGNED(double, most);
    rows->cell = TACET__ZALLOC(size_t, rows->n);
    rows->stencil = TACET__ALIGNED(double, rows->n * 4 * d);
    double *ones = TACET__ALIGNED(double, rows->fine);
    if (rows->mass == NULL || rows->expected == NULL || rows->work[0] == NULL || rows->work[1] == NULL ||
        rows->cell == NULL || rows->stencil == NULL || ones == NULL) {
        free(ones);
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for the position grids");
    }
    for (size_t i = 0; i < rows->fine; i++) {
        ones[i] = 1;
    }
    spread(rows, rows->mass, ones);
    free(ones);
    for (size_t i = 0; i < rows->n; i++) {
        size_t stride = 1;
        for (size_t a = 0; a < d; a++) {
            const tacet__axis *axis = &rows->axis[a];
            const double steps = (rows->z[i * d + a] - axis->wide_low) / axis->wide_step;
            rows->cell[i] += stride * stencil_at(rows->stencil + i * 4 * d + 4 * a, steps, axis->wide);
            stride *= axis->wide;
        }
    }
    return TACET_OK;
}

tacet_status tacet__rows_init(tacet__rows *rows, const tacet_modeler_settings *s, tacet_error *err) {
    memset(rows, 0, sizeof *rows);
    rows->d = s->d;
    rows->n = s->n;
    const bool euclidean = tacet__modeler_density(s) == TACET_DENSITY_EUCLIDEAN; /* else normal, or none: checked */
    rows->components = euclidean ? TACET__CLOUDS : 1;
    double variance[TACET__CLOUDS] = {1};
    if (euclidean) {
        gamma_bins(variance, TACET__CLOUDS, ((double)s->d + 1) / 2);
        for (size_t c = 0; c < TACET__CLOUDS; c++) {
            variance[c] *= 2;
        }
    }
    rows->z = TACET__ALIGNED(double, s->d * s->n);
    if (rows->z == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu rows", s->n);
    }
    for (size_t a = 0; a < s->d; a++) {
        const double l = s->kernel->lengthscales[s->kernel->lengthscale_count == 1 ? 0 : a];
        double sd[TACET__CLOUDS] = {0};
        for (size_t c = 0; c < rows->components; c++) {
            rows->weight[c] = 1.0 / (double)rows->components;
            sd[c] = s->scale * sqrt(variance[c]) / l;
        }
        rows->axis[a].side = (s->high[a] - s->low[a]) / l;
        for (size_t i = 0; i < s->n; i++) {
            rows->z[i * s->d + a] = (s->rows[i * s->ld + a] - s->low[a]) / l;
        }
        const tacet_status status = axis_init(&rows->axis[a], s->d, rows->components, sd, err);
        if (status != TACET_OK) {
            return status;
        }
    }
    return rows_tables(rows, err);
}

void tacet__rows_clear(tacet__rows *rows) {
    for (size_t a = 0; a < TACET__AXES; a++) {
        for (size_t c = 0; c < TACET__CLOUDS; c++) {
            free(rows->axis[a].spread[c]);
        }
        free(rows->axis[a].refine);
    }
    free(rows->z);
    free(rows->mass);
    free(rows->expected);
    free(rows->work[0]);
    free(rows->work[1]);
    free(rows->cell);
    free(rows->stencil);
    memset(rows, 0, sizeof *rows);
}
