/* SPDX-License-Identifier: Apache-2.0 */
/* basis.c - actions and contexts in a box, and the Mercer features of their law by quadrature.
 * Ring: shared. Source: Pavlovic, Salgia, Zhao 2025 (USCA), section 2; Lam = E phi phi' by Gauss–Legendre nodes instead
 * of their random approximating set, which only adds noise of the order of the estimation error
 * (src/contextual/README.md). Cost: the eigenproblem of the nodes, O(q^3), once; q = 64, 576, 1331, 1296 for 1 … 4
 * coordinates. */
#include "contextual/shared/internal.h"

#include "core/fail.h"
#include "gp/linalg.h"
#include "core/memory.h"
#include "gp/quadrature.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NODES_MOST = 4000 };
static const double UNIT[2][TACET_CONTEXTUAL_DIM_MOST] = {{0, 0, 0, 0}, {1, 1, 1, 1}};

void tacet_contextual_space_defaults(tacet_contextual_space *space) {
    static const double LENGTHSCALE = 0.3;
    *space = (tacet_contextual_space){.action_dim = 1,
                                      .context_dim = 1,
                                      .lower = UNIT[0],
                                      .upper = UNIT[1],
                                      .kind = TACET_KERNEL_SE,
                                      .matern_p = 2,
                                      .lengthscales = &LENGTHSCALE,
                                      .lengthscale_count = 1};
}

static tacet_status check(const tacet_contextual_space *s, tacet_error *err) {
    const size_t most = TACET_CONTEXTUAL_DIM_MOST;
    if (s->action_dim == 0 || s->action_dim > most || s->context_dim > most - s->action_dim) {
        return tacet__fail(err, TACET_INVALID,
                           "%zu action and %zu context coordinates: at least 1 action, at most %d in all",
                           s->action_dim, s->context_dim, (int)most);
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
    static const size_t ORDER[TACET_CONTEXTUAL_DIM_MOST + 1] = {1, 64, 24, 11, 6};
    return d <= TACET_CONTEXTUAL_DIM_MOST ? ORDER[d] : 1;
}

/* Cut off by number, the features may end within a group of equal eigenvalues: such a group has the symmetry of the
 * space as a whole, or not at all, so it is left out. The first of those left out was made, to know. */
static void end_at_gap(tacet_features *features, size_t limit) {
    const double near = 1e-7;
    size_t m = features->m;
    if (m <= limit) {
        return;
    }
    for (m = limit; m > 1 && !(features->eigenvalues[m] < (1 - near) * features->eigenvalues[m - 1]); m--) {
    }
    features->m = features->blocks[0].m = m;
}

static tacet_status make_features(tacet_contextual_basis *b, const tacet_contextual_space *s, size_t most,
                                  tacet_error *err) {
    const tacet_kernel_spec spec = {.kind = s->kind,
                                    .d = b->d,
                                    .matern_p = s->kind == TACET_KERNEL_MATERN ? s->matern_p : 0,
                                    .signal_var = 1,
                                    .lengthscales = b->unit_lengthscale,
                                    .lengthscale_count = b->d};
    const bool asked = most > 0 && most <= TACET_CONTEXTUAL_FEATURES_MOST;
    const size_t limit = asked ? most : TACET_CONTEXTUAL_FEATURES_MOST;
    tacet_kernel *kernel = NULL;
    const size_t order = s->order != 0 ? s->order : default_order(b->d), count = power(order, b->d);
    if (order > TACET__QUADRATURE_MOST || count > NODES_MOST) {
        return tacet__fail(err, TACET_INVALID, "too many quadrature nodes: at most %d", (int)NODES_MOST);
    }
    double *X = TACET__ZALLOC(double, count * b->d), *weights = TACET__ZALLOC(double, count), total = 0;
    tacet_status status = X == NULL || weights == NULL
                              ? tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu quadrature nodes", count)
                              : tacet_kernel_create(&kernel, &spec, err);
    TACET_THEN(status, tacet__quadrature_box(X, weights, b->d, order, UNIT[0], UNIT[1], err));
    for (size_t j = 0; j < count && status == TACET_OK; j++) {
        total += weights[j];
    }
    for (size_t j = 0; j < count && status == TACET_OK; j++) {
        weights[j] /= total;
    }
    TACET_THEN(status, tacet_features_create_mercer_points(&b->features, kernel, X, b->d, weights, count,
                                                           asked ? limit : limit + 1, err));
    if (status == TACET_OK) {
        end_at_gap(b->features, limit);
    }
    free(X);
    free(weights);
    tacet_kernel_free(kernel);
    return status;
}

tacet_status tacet_contextual_basis_create(tacet_contextual_basis **out, const tacet_contextual_space *space,
                                           size_t most, tacet_error *err) {
    *out = NULL;
    TACET_OR_RETURN(check(space, err));
    tacet_contextual_basis *b = TACET__ZALLOC(tacet_contextual_basis, 1);
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
    tacet_status status = make_features(b, space, most, err);
    if (status != TACET_OK) {
        tacet_contextual_basis_free(b);
        return status;
    }
    *out = b;
    return TACET_OK;
}

void tacet_contextual_basis_free(tacet_contextual_basis *basis) {
    if (basis != NULL) {
        tacet_features_free(basis->features);
        free(basis);
    }
}

size_t tacet_contextual_basis_dim(const tacet_contextual_basis *basis) {
    return basis->features->m;
}

const double *tacet_contextual_basis_eigenvalues(const tacet_contextual_basis *basis) {
    return basis->features->eigenvalues;
}

size_t tacet_contextual_basis_outside(const tacet_contextual_basis *basis, const double *w) {
    for (size_t i = 0; i < basis->d; i++) {
        if (!(w[i] >= basis->lower[i] && w[i] <= basis->upper[i])) {
            return i + 1;
        }
    }
    return 0;
}

void tacet__contextual_unit(const tacet_contextual_basis *basis, double *out, const double *w) {
    for (size_t i = 0; i < basis->d; i++) {
        const double x = (w[i] - basis->lower[i]) / (basis->upper[i] - basis->lower[i]);
        out[i] = isnan(x) ? 0.5 : fmin(fmax(x, 0), 1);
    }
}

void tacet__contextual_view_init(tacet__contextual_view *view, const tacet_contextual_basis *basis, size_t m) {
    view->features = *basis->features;
    view->block = basis->features->blocks[0];
    view->block.m = m;
    view->features.m = m;
    view->features.blocks = &view->block;
}

double tacet__contextual_gain(const tacet_contextual_basis *basis, double rounds, double tau) {
    double gamma = 0;
    for (size_t j = 0; j < basis->features->m; j++) {
        gamma += 0.5 * log1p(rounds * basis->features->eigenvalues[j] / tau);
    }
    return gamma;
}
