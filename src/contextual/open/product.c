/* SPDX-License-Identifier: Apache-2.0 */
/* product.c - a released model as a sum of products over coordinates, for predictions over many actions.
 * Ring: open. Nodes are all actions times all contexts, as learning makes them. A squared-exponential kernel is a
 * product over coordinates. A Matérn kernel is a mixture of such,
 *     k(r) = 1/Gamma(nu) int_0^inf u^(nu-1) e^-u e^(-nu r^2/(2u)) du,
 * and the trapezoidal rule in ln u is a mixture of some tens of them that differs from it by less than 4e-12 at every
 * distance (src/contextual/README.md, section 8, has the proof). In each term the contexts are summed once for all
 * actions; what is left is a small tensor over the actions' own coordinates. Exponents grow geometrically, so most
 * exponentials are powers of earlier ones. Source: Abramowitz & Stegun 9.6.24 for the mixture; Trefethen & Weideman
 * 2014 for the rule's error. Cost: terms x (nodes + actions x tensor) multiplications, with 1 (SE), at most 79 (Matérn
 * 3/2) or 52 (5/2) terms; nothing is allocated. */
#include "contextual/open/internal.h"

#include "gp/linalg.h"
#include "gp/vexp.h"

#include <math.h>
#include <string.h>

/* Five terms for two octaves: a term is the fourth power of the fifth before it. */
enum {
    CHAINS = TACET__CONTEXTUAL_CHAINS,
    OCTAVES = 2,
    LANES = 4,
    TILE = 16,
    BATCH = 8,
    CONTEXTS_MOST = 1024,
    TYPICAL_ACTIONS = 101
};
static const double LARGEST_U = 32;         /* what is left out above it weighs below 1e-13 */
static const double TAIL = 1e-12;           /* what may be left out at small u */
static const double NEGLIGIBLE = 1e-14;     /* a term that is nowhere larger is left out, with all after it */
static const double FLUSHED = 1e-70;        /* a smaller factor is 0: products of four stay normal numbers */
static const double KERNEL_VALUE = 24;      /* multiply-adds that take as long as a kernel value does */
static const unsigned SMOOTHEST_MATERN = 2; /* beyond it the rule's error is above 1e-11 */

/* LANES actions; the compiler makes the processor's vectors of it. */
typedef double wide __attribute__((vector_size(LANES * sizeof(double))));

/* --- the mixture ------------------------------------------------------------------------------------------------- */

static void mixture(tacet__contextual_product *p, tacet_kernel_kind kind, unsigned matern_p) {
    if (kind == TACET_KERNEL_SE) {
        p->terms = 1;
        p->weight[0] = 1;
        p->rate[0] = 0.5;
        return;
    }
    const double nu = matern_p + 0.5;
    const double step = OCTAVES * log(2) / CHAINS;
    const double gamma = tgamma(nu);
    const double beyond = step / (gamma * expm1(nu * step)); /* times u^nu: the weight of all smaller u */
    double u[CHAINS];
    for (size_t k = 0; k < CHAINS; k++) {
        u[k] = LARGEST_U * exp(-step * (double)k);
        p->rate[k] = nu / (2 * u[k]);
    }
    p->terms = 0;
    for (double last = INFINITY; p->terms < TACET__CONTEXTUAL_TERMS_MOST && beyond * pow(last, nu) > TAIL; p->terms++) {
        last = ldexp(u[p->terms % CHAINS], -OCTAVES * (int)(p->terms / CHAINS));
        p->weight[p->terms] = step * pow(last, nu) * exp(-last) / gamma;
    }
}

/* --- the structure of the nodes ---------------------------------------------------------------------------------- */

static bool same(const double *x, const double *y, size_t from, size_t to) {
    return memcmp(x + from, y + from, (to - from) * sizeof *x) == 0;
}

/* The nodes are all (coordinates below `e`) times all (the others), the first fastest: how many of the first there are;
 * 0: they are not. */
static size_t period(const tacet_contextual_model *m, size_t e) {
    const size_t count = m->parts.count;
    size_t n = 1;
    while (n < count && same(m->nodes, m->nodes + n * m->d, e, m->d)) {
        n++;
    }
    for (size_t j = 0; j < count; j++) {
        const double *x = m->nodes + j * m->d;
        if (!same(x, m->nodes + j % n * m->d, 0, e) || !same(x, m->nodes + (j - j % n) * m->d, e, m->d)) {
            return 0;
        }
    }
    return count % n == 0 ? n : 0;
}

/* Axes of the actions: as few coordinates each as the nodes allow. False: actions and contexts are no product. */
static bool find_axes(tacet__contextual_product *p, const tacet_contextual_model *m) {
    const size_t a = m->parts.action_dim;
    size_t before = 1;
    size_t first = 0;
    for (size_t e = 1; e <= a; e++) {
        const size_t n = e == m->d ? m->parts.count : period(m, e);
        if (n > 0 && n % before == 0) {
            p->axes[p->axis_count++] =
                (tacet__contextual_axis){.first = first, .dim = e - first, .count = n / before, .stride = before};
            before = n;
            first = e;
        } else if (e == a) {
            return false;
        }
    }
    for (size_t k = p->axis_count; k < TACET_CONTEXTUAL_DIM_MOST; k++) {
        p->axes[k] = (tacet__contextual_axis){.count = 1}; /* no coordinate: distance 0, factor 1 */
    }
    p->actions = before;
    p->contexts = m->parts.count / before;
    return true;
}

/* Multiply-adds of one action in one term, and the numbers its factors need. */
static double nest_cost(const tacet__contextual_product *p, size_t *factors) {
    double cost = 0;
    double points = 1;
    *factors = TACET_CONTEXTUAL_DIM_MOST - p->axis_count; /* of axes that are not there */
    for (size_t k = p->axis_count; k-- > 0;) {
        points *= (double)p->axes[k].count;
        cost += points + (double)p->axes[k].count; /* the second for powers */
        *factors += p->axes[k].count;
    }
    return cost;
}

void tacet__contextual_product_init(tacet__contextual_product *p, const tacet_contextual_model *m) {
    const tacet_contextual_parts *parts = &m->parts;
    const bool mixed = parts->kind == TACET_KERNEL_MATERN;
    size_t factors = 0;
    bool good = !mixed || (parts->matern_p >= 1 && parts->matern_p <= SMOOTHEST_MATERN);
    *p = (tacet__contextual_product){0};
    if (m->d > TACET_CONTEXTUAL_DIM_MOST || parts->groups != NULL) {
        return;
    }
    for (size_t c = 0; c < m->d; c++) {
        p->inverse[c] = (m->bounds[1][c] - m->bounds[0][c]) / m->bounds[2][c];
        good = good && isfinite(p->inverse[c]);
    }
    if (!good || !find_axes(p, m)) {
        return;
    }
    mixture(p, parts->kind, parts->matern_p);
    const double cost = (double)p->terms * ((double)parts->count + TYPICAL_ACTIONS * nest_cost(p, &factors));
    if ((mixed && cost > TYPICAL_ACTIONS * KERNEL_VALUE * (double)parts->count) || p->contexts > CONTEXTS_MOST ||
        factors > TACET__CONTEXTUAL_FACTORS_MOST || p->actions * p->terms > TACET__CONTEXTUAL_ACTION_POINTS) {
        p->terms = 0;
    }
}

/* --- a prediction ------------------------------------------------------------------------------------------------ */

TACET__CLONES
static void powers(double *restrict out, const double *restrict r2, double rate, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const double e = tacet__vexp(-rate * r2[i]);
        out[i] = e < FLUSHED ? 0 : e;
    }
}

/* Fourth powers: the next term of a chain. */
TACET__CLONES
static void advance(double *restrict v, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const double e = v[i] * v[i];
        const double next = e * e;
        v[i] = next < FLUSHED ? 0 : next;
    }
}

/* Factors of `batch` terms from the first-th on, at all contexts: what the chains hold is squared on the way. */
static void context_factors(const tacet__contextual_product *p, double *F, double *chains, const double *r2,
                            size_t first, size_t batch) {
    const size_t n = p->contexts;
    for (size_t q = first; q < first + batch; q++) {
        double *chain = chains + q % CHAINS * n;
        if (q < CHAINS) {
            powers(chain, r2, p->rate[q], n);
        } else {
            advance(chain, n);
        }
        double *out = F + (q - first) * n;
        for (size_t k = 0; k < n; k++) {
            out[k] = p->weight[q] * chain[k];
        }
    }
}

size_t tacet__contextual_product_at(const tacet_contextual_model *m, double *tensors, const double *unit) {
    const tacet__contextual_product *p = &m->product;
    const size_t a = m->parts.action_dim;
    double r2[CONTEXTS_MOST];
    double chains[CHAINS * CONTEXTS_MOST];
    double F[BATCH * CONTEXTS_MOST];
    double nearest = INFINITY;
    size_t terms = 1;
    for (size_t k = 0; k < p->contexts; k++) {
        r2[k] = 0;
        for (size_t c = a; c < m->d; c++) {
            const double t = (m->nodes[k * p->actions * m->d + c] - unit[c]) * p->inverse[c];
            r2[k] += t * t;
        }
        nearest = fmin(nearest, r2[k]);
    }
    while (terms < p->terms &&
           p->weight[terms] * exp(-ldexp(p->rate[terms % CHAINS], OCTAVES * (int)(terms / CHAINS)) * nearest) >
               NEGLIGIBLE) {
        terms++;
    }
    for (size_t at = 0; at < terms; at += BATCH) {
        const size_t n = terms - at < BATCH ? terms - at : BATCH;
        context_factors(p, F, chains, r2, at, n);
        tacet__gemm(false, false, p->actions, n, p->contexts, 1, m->weights, p->actions, F, p->contexts, 0,
                    tensors + at * p->actions, p->actions);
    }
    return terms;
}

/* out = sum over the points of the first axis, for all actions of a tile. */
TACET__INLINE void sum_axis(wide *out, const double *tensor, const double *E, size_t n) {
    const wide *row = (const wide *)E;
    wide s0 = {0};
    wide s1 = {0};
    wide s2 = {0};
    wide s3 = {0};
    for (size_t k = 0; k < n; k++, row += TILE / LANES) {
        s0 += tensor[k] * row[0];
        s1 += tensor[k] * row[1];
        s2 += tensor[k] * row[2];
        s3 += tensor[k] * row[3];
    }
    out[0] = s0;
    out[1] = s1;
    out[2] = s2;
    out[3] = s3;
}

/* The same over the first two axes. */
TACET__INLINE void sum_plane(wide *out, const double *tensor, const double *E0, size_t n0, const double *E1,
                             size_t n1) {
    const wide *row = (const wide *)E1;
    wide inner[TILE / LANES];
    for (size_t i = 0; i < TILE / LANES; i++) {
        out[i] = (wide){0};
    }
    for (size_t k = 0; k < n1; k++, row += TILE / LANES) {
        sum_axis(inner, tensor + k * n0, E0, n0);
        for (size_t i = 0; i < TILE / LANES; i++) {
            out[i] += inner[i] * row[i];
        }
    }
}

/* Over all axes: adds to `sums`. E[k] are the factors of axis k; an axis that is not there has one point and the
 * factor 1, so that two are looked at in one go. */
TACET__CLONES
static void add_term(double *sums, const tacet__contextual_product *p, const double *tensor, const double *const *E) {
    const size_t n0 = p->axes[0].count;
    const size_t n1 = p->axes[1].count;
    wide *total = (wide *)sums;
    wide part[TILE / LANES];
    for (size_t k3 = 0; k3 < p->axes[3].count; k3++) {
        for (size_t k2 = 0; k2 < p->axes[2].count; k2++, tensor += n0 * n1) {
            const wide *row2 = (const wide *)E[2] + k2 * (TILE / LANES);
            const wide *row3 = (const wide *)E[3] + k3 * (TILE / LANES);
            sum_plane(part, tensor, E[0], n0, E[1], n1);
            for (size_t i = 0; i < TILE / LANES; i++) {
                total[i] += part[i] * row2[i] * row3[i];
            }
        }
    }
}

/* Squared distances of a tile's actions from the points of the axes, one axis after the other. */
static size_t distances(const tacet_contextual_model *m, double *r2, const double *unit, size_t n) {
    const tacet__contextual_product *p = &m->product;
    size_t row = 0;
    for (size_t k = 0; k < TACET_CONTEXTUAL_DIM_MOST; k++) {
        const tacet__contextual_axis *axis = &p->axes[k];
        for (size_t j = 0; j < axis->count; j++, row++) {
            const double *node = m->nodes + j * axis->stride * m->d;
            for (size_t i = 0; i < TILE; i++) {
                const double *x = unit + (i < n ? i : 0) * m->d;
                double sum = 0;
                for (size_t c = axis->first; c < axis->first + axis->dim; c++) {
                    const double t = (node[c] - x[c]) * p->inverse[c];
                    sum += t * t;
                }
                r2[row * TILE + i] = sum;
            }
        }
    }
    return row;
}

static void tile_means(const tacet_contextual_model *m, double *means, const double *tensors, size_t terms,
                       const double *unit, size_t n) {
    const tacet__contextual_product *p = &m->product;
    _Alignas(64) double r2[TACET__CONTEXTUAL_FACTORS_MOST * TILE];
    _Alignas(64) double factors[CHAINS][TACET__CONTEXTUAL_FACTORS_MOST * TILE];
    _Alignas(64) double sums[TILE] = {0};
    const size_t rows = distances(m, r2, unit, n);
    for (size_t q = 0; q < terms; q++) {
        double *E = factors[q % CHAINS];
        const double *axes[TACET_CONTEXTUAL_DIM_MOST] = {E};
        if (q < CHAINS) {
            powers(E, r2, p->rate[q], rows * TILE);
        } else {
            advance(E, rows * TILE);
        }
        for (size_t k = 1; k < TACET_CONTEXTUAL_DIM_MOST; k++) {
            axes[k] = axes[k - 1] + p->axes[k - 1].count * TILE;
        }
        add_term(sums, p, tensors + q * p->actions, axes);
    }
    for (size_t i = 0; i < n; i++) {
        means[i] = m->parts.offset + sums[i];
    }
}

void tacet__contextual_product_means(const tacet_contextual_model *m, double *means, const double *tensors,
                                     size_t terms, const double *units, size_t n) {
    for (size_t at = 0; at < n; at += TILE) {
        tile_means(m, means + at, tensors, terms, units + at * m->d, n - at < TILE ? n - at : TILE);
    }
}
