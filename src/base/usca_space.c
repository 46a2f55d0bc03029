/* usca_space.c - actions and contexts in a box, and the Mercer features of their law by quadrature.
 * Ring: base. Source: Pavlovic, Salgia, Zhao 2025 (USCA), section 2; Lam = E phi phi' by Gauss–Legendre nodes instead
 * of their random approximating set, which only adds noise of the order of the estimation error
 * (docs/algorithms/usca.md). Cost: the eigenproblem of the nodes, O(q^3), once; q = 64, 576, 1331, 1296 for 1 … 4
 * coordinates. */
#include "base/usca_internal.h"

#include "base/fail.h"
#include "base/linalg.h"
#include "base/memory.h"
#include "base/quadrature.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NODES_MOST = 4000 };
static const double UNIT[2][TACET_USCA_DIM_MOST] = {{0, 0, 0, 0}, {1, 1, 1, 1}};

void tacet_usca_space_defaults(tacet_usca_space *space) {
    static const double LENGTHSCALE = 0.3;
    *space = (tacet_usca_space){.action_dim = 1,
                                .context_dim = 1,
                                .lower = UNIT[0],
                                .upper = UNIT[1],
                                .kind = TACET_KERNEL_SE,
                                .matern_p = 2,
                                .lengthscales = &LENGTHSCALE,
                                .lengthscale_count = 1};
}

static tacet_status check(const tacet_usca_space *s, tacet_error *err) {
    if (s->action_dim == 0 || s->action_dim > TACET_USCA_DIM_MOST ||
        s->context_dim > TACET_USCA_DIM_MOST - s->action_dim) {
        return tacet__fail(err, TACET_INVALID,
                           "%zu action and %zu context coordinates: at least 1 action, at most %d in all",
                           s->action_dim, s->context_dim, (int)TACET_USCA_DIM_MOST);
    }
    const size_t d = s->action_dim + s->context_dim;
    if (s->kind != TACET_KERNEL_SE && !(s->kind == TACET_KERNEL_MATERN && (s->matern_p == 1 || s->matern_p == 2))) {
        return tacet__fail(err, TACET_UNSUPPORTED,
                           "the kernel must be se, matern32 or matern52: suprema are certified for these");
    }
    if (s->lengthscale_count != 1 && s->lengthscale_count != d) {
        return tacet__fail(err, TACET_INVALID, "%zu lengthscales for %zu coordinates: one, or one for each",
                           s->lengthscale_count, d);
    }
    for (size_t i = 0; i < d; i++) {
        if (!(isfinite(s->lower[i]) && isfinite(s->upper[i]) && s->lower[i] < s->upper[i] &&
              isfinite(s->upper[i] - s->lower[i]))) {
            return tacet__fail(err, TACET_INVALID, "bounds of coordinate %zu: finite, the lower below the upper",
                               i + 1);
        }
        const double l = s->lengthscales[s->lengthscale_count == 1 ? 0 : i];
        if (!(l > 0 && isfinite(l))) {
            return tacet__fail(err, TACET_INVALID, "lengthscale of coordinate %zu must be finite and > 0", i + 1);
        }
    }
    if (s->density != NULL && s->contexts != NULL) {
        return tacet__fail(err, TACET_INVALID, "the law of contexts is a density or a sample, not both");
    }
    if (s->contexts != NULL && (s->context_dim == 0 || s->context_count == 0)) {
        return tacet__fail(err, TACET_INVALID, "a sample of contexts needs contexts");
    }
    return TACET_OK;
}

static size_t power(size_t n, size_t d) {
    size_t p = 1;
    for (size_t i = 0; i < d; i++) {
        p = p > NODES_MOST ? p : p * n; /* above the limit is enough to know */
    }
    return p;
}

static size_t default_order(size_t d) {
    static const size_t ORDER[TACET_USCA_DIM_MOST + 1] = {1, 64, 24, 11, 6};
    return ORDER[d];
}

/* Nodes of the box weighted by the density; nodes of weight 0 are left out. */
static tacet_status box_nodes(const tacet_usca_basis *b, const tacet_usca_space *s, double *X, double *weights,
                              size_t *count, size_t order, tacet_error *err) {
    const size_t all = power(order, b->d);
    tacet_status status = tacet__quadrature_box(X, weights, b->d, order, UNIT[0], UNIT[1], err);
    *count = all;
    if (status != TACET_OK || s->density == NULL) {
        return status;
    }
    size_t kept = 0;
    for (size_t j = 0; j < all; j++) {
        double context[TACET_USCA_DIM_MOST] = {0};
        for (size_t c = s->action_dim; c < b->d; c++) {
            context[c - s->action_dim] = b->lower[c] + X[j * b->d + c] * (b->upper[c] - b->lower[c]);
        }
        const double density = s->density(context, s->user);
        if (!(density >= 0 && isfinite(density))) {
            return tacet__fail(err, TACET_INVALID, "the density of contexts must be finite and >= 0 everywhere");
        }
        if (density > 0) {
            weights[kept] = weights[j] * density;
            memmove(X + kept * b->d, X + j * b->d, b->d * sizeof *X);
            kept++;
        }
    }
    *count = kept;
    return kept > 0 ? TACET_OK : tacet__fail(err, TACET_INVALID, "the density of contexts is zero on all nodes");
}

/* Gauss–Legendre actions times the points of a public sample. */
static tacet_status sample_nodes(const tacet_usca_basis *b, const tacet_usca_space *s, double *X, double *weights,
                                 size_t order, tacet_error *err) {
    const size_t a = s->action_dim;
    const size_t actions = power(order, a);
    double *A = TACET__ZALLOC(double, actions *a);
    double *q = TACET__ZALLOC(double, actions);
    tacet_status status = A == NULL || q == NULL
                              ? tacet__fail(err, TACET_NO_MEMORY, "out of memory for quadrature nodes")
                              : tacet__quadrature_box(A, q, a, order, UNIT[0], UNIT[1], err);
    for (size_t k = 0; status == TACET_OK && k < s->context_count; k++) {
        for (size_t i = 0; i < actions; i++) {
            double *x = X + (k * actions + i) * b->d;
            memcpy(x, A + i * a, a * sizeof *x);
            for (size_t c = a; c < b->d; c++) {
                const double at = s->contexts[k * s->context_dim + c - a];
                if (!(at >= b->lower[c] && at <= b->upper[c])) {
                    status = tacet__fail(err, TACET_INVALID, "context %zu of the public sample lies outside the bounds",
                                         k + 1);
                }
                x[c] = (at - b->lower[c]) / (b->upper[c] - b->lower[c]);
            }
            weights[k * actions + i] = q[i];
        }
    }
    free(A);
    free(q);
    return status;
}

static tacet_status make_features(tacet_usca_basis *b, const tacet_usca_space *s, size_t most, tacet_error *err) {
    const bool sample = s->contexts != NULL;
    const size_t order = s->order != 0 ? s->order : default_order(sample ? s->action_dim : b->d);
    size_t count = power(order, sample ? s->action_dim : b->d);
    if (order > TACET__QUADRATURE_MOST || count > NODES_MOST || (sample && s->context_count > NODES_MOST / count)) {
        return tacet__fail(err, TACET_INVALID, "too many quadrature nodes: at most %d%s", (int)NODES_MOST,
                           sample ? ", the actions' times the sample's" : "");
    }
    count *= sample ? s->context_count : 1;
    tacet_kernel *kernel = NULL;
    const tacet_kernel_spec spec = {.kind = s->kind,
                                    .d = b->d,
                                    .matern_p = s->kind == TACET_KERNEL_MATERN ? s->matern_p : 0,
                                    .signal_var = 1,
                                    .lengthscales = b->unit_lengthscale,
                                    .lengthscale_count = b->d};
    double *X = TACET__ZALLOC(double, count * b->d);
    b->weights = TACET__ZALLOC(double, count);
    tacet_status status = X == NULL || b->weights == NULL
                              ? tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu quadrature nodes", count)
                              : tacet_kernel_create(&kernel, &spec, err);
    if (status == TACET_OK) {
        status =
            sample ? sample_nodes(b, s, X, b->weights, order, err) : box_nodes(b, s, X, b->weights, &count, order, err);
    }
    if (status == TACET_OK) {
        double total = 0;
        for (size_t j = 0; j < count; j++) {
            total += b->weights[j];
        }
        for (size_t j = 0; j < count; j++) {
            b->weights[j] /= total;
        }
        const size_t limit = most == 0 || most > TACET_USCA_FEATURES_MOST ? TACET_USCA_FEATURES_MOST : most;
        status = tacet_features_create_mercer_points(&b->features, kernel, X, b->d, b->weights, count, limit, err);
    }
    free(X);
    tacet_kernel_free(kernel);
    return status;
}

tacet_status tacet_usca_basis_create(tacet_usca_basis **out, const tacet_usca_space *space, size_t most,
                                     tacet_error *err) {
    *out = NULL;
    tacet_status status = check(space, err);
    if (status != TACET_OK) {
        return status;
    }
    tacet_usca_basis *b = TACET__ZALLOC(tacet_usca_basis, 1);
    if (b == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a space");
    }
    b->action_dim = space->action_dim;
    b->d = space->action_dim + space->context_dim;
    for (size_t i = 0; i < b->d; i++) {
        b->lower[i] = space->lower[i];
        b->upper[i] = space->upper[i];
        b->unit_lengthscale[i] =
            space->lengthscales[space->lengthscale_count == 1 ? 0 : i] / (space->upper[i] - space->lower[i]);
    }
    status = make_features(b, space, most, err);
    if (status != TACET_OK) {
        tacet_usca_basis_free(b);
        return status;
    }
    b->tail = 1;
    for (size_t j = 0; j < b->features->m; j++) {
        b->tail -= b->features->eigenvalues[j];
    }
    b->tail = fmax(b->tail, 0);
    *out = b;
    return TACET_OK;
}

void tacet_usca_basis_free(tacet_usca_basis *basis) {
    if (basis != NULL) {
        tacet_features_free(basis->features);
        free(basis->weights);
        free(basis);
    }
}

size_t tacet_usca_basis_dim(const tacet_usca_basis *basis) {
    return basis->features->m;
}

const double *tacet_usca_basis_eigenvalues(const tacet_usca_basis *basis) {
    return basis->features->eigenvalues;
}

size_t tacet_usca_basis_outside(const tacet_usca_basis *basis, const double *w) {
    for (size_t i = 0; i < basis->d; i++) {
        if (!(w[i] >= basis->lower[i] && w[i] <= basis->upper[i])) {
            return i + 1;
        }
    }
    return 0;
}

void tacet__usca_unit(const tacet_usca_basis *basis, double *out, const double *w) {
    for (size_t i = 0; i < basis->d; i++) {
        const double x = (w[i] - basis->lower[i]) / (basis->upper[i] - basis->lower[i]);
        out[i] = isnan(x) ? 0.5 : fmin(fmax(x, 0), 1);
    }
}

void tacet__usca_view_init(tacet__usca_view *view, const tacet_usca_basis *basis, size_t m) {
    view->features = *basis->features;
    view->block = basis->features->blocks[0];
    view->block.m = m;
    view->features.m = m;
    view->features.blocks = &view->block;
}

double tacet__usca_gain(const tacet_usca_basis *basis, double rounds, double tau) {
    double gamma = 0;
    for (size_t j = 0; j < basis->features->m; j++) {
        gamma += 0.5 * log1p(rounds * basis->features->eigenvalues[j] / tau);
    }
    return gamma;
}
