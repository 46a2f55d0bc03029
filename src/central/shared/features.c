/* SPDX-License-Identifier: Apache-2.0 */
/* features.c - the features of a box for the central map: functions of public things alone.
 * Ring: shared. By quadrature where a grid is small, by points spread over the box elsewhere. Where every point is
 * known (columns with levels alone), features of another kernel: the mean of "the same value in column c", over the
 * columns, and the given one. Columns' effects often add up, and of a product of many columns each effect is a small
 * part: what is released would be mostly noise (README.md, "Columns with levels"). Source: ours; the sum is the first
 * order of Duvenaud et al. 2011. Cost: an eigenvalue problem of at most 400 points. */
#include "gp/kernel_internal.h"
#include "central/shared/features.h"

#include "core/fail.h"
#include "core/memory.h"
#include "gp/domain.h"
#include "gp/features_internal.h"
#include "gp/linalg.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

enum { GRID_ORDER_1 = 64, GRID_ORDER_2 = 14, SPREAD_POINTS = 400 };
static const double CUT_OFF = 1e-9; /* of eigenvalues, relative to the largest */

/* Mercer features of the mean of effects and kernel under the even law of all n points, as a span of the kernel. */
static tacet_status effects(tacet_features **out, const tacet_kernel *kernel, const tacet_domain *domain,
                            const double *X, size_t n, size_t most, tacet_error *err) {
    size_t square = 0, m = 0;
    double *M = tacet__size_mul(&square, n, n) ? TACET__ALIGNED(double, square) : NULL;
    double *F = TACET__ZALLOC(double, square);
    double *lam = TACET__ZALLOC(double, n);
    double *kept = TACET__ZALLOC(double, n);
    tacet_status status = M != NULL && F != NULL && lam != NULL && kept != NULL
                              ? TACET_OK
                              : tacet__fail(err, TACET_NO_MEMORY, "out of memory for the features");
    for (size_t j = 0; status == TACET_OK && j < n; j++) {
        tacet_kernel_row(kernel, M + j * n, X, domain->d, n, X + j * domain->d);
        for (size_t i = 0; i < n; i++) {
            size_t columns = 0;
            const size_t same = tacet__domain_agree(domain, X + i * domain->d, X + j * domain->d, &columns);
            M[i + j * n] = (M[i + j * n] + (double)same) / (double)(columns + 1);
        }
    }
    TACET_THEN(status, tacet__eigh(M, n, n, lam, err));
    for (; status == TACET_OK && m < n && (most == 0 || m < most) && lam[n - 1 - m] > CUT_OFF * lam[n - 1]; m++) {
        kept[m] = lam[n - 1 - m] / (double)n;
        for (size_t i = 0; i < n; i++) {
            F[i + m * n] = sqrt(lam[n - 1 - m]) * M[i + (n - 1 - m) * n];
        }
    }
    TACET_THEN(status, tacet__features_create_values(out, kernel, X, n, F, kept, m, err));
    free(M);
    free(F);
    free(lam);
    free(kept);
    return status;
}

tacet_status tacet__central_features(tacet_features **out, const tacet_kernel *kernel, const tacet_domain *domain,
                                     size_t most, tacet_error *err) {
    const size_t d = domain->d, all = tacet__domain_levels(domain);
    const bool finite = all > 0 && all <= SPREAD_POINTS;
    const size_t points = finite ? all : SPREAD_POINTS;
    *out = NULL;
    if (d <= 2 && domain->levels == NULL && domain->choice == NULL) {
        return tacet_features_create_mercer(out, kernel, domain, d == 1 ? GRID_ORDER_1 : GRID_ORDER_2, most, err);
    }
    double *X = TACET__ZALLOC(double, d *points);
    if (X == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for the features");
    }
    tacet__domain_spread(domain, X, points);
    const tacet_status status = finite
                                    ? effects(out, kernel, domain, X, points, most, err)
                                    : tacet_features_create_mercer_points(out, kernel, X, d, NULL, points, most, err);
    free(X);
    return status;
}
