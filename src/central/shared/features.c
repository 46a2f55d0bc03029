/* SPDX-License-Identifier: Apache-2.0 */
/* features.c - the features of a box for the central map: functions of public things alone.
 * Ring: shared. By quadrature where a grid is small, by points spread over the box elsewhere. Cost: an eigenvalue
 * problem of at most 400 points. */
#include "central/shared/features.h"

#include "core/fail.h"
#include "core/memory.h"
#include "gp/domain.h"

#include <stdlib.h>

enum { GRID_ORDER_1 = 64, GRID_ORDER_2 = 14, SPREAD_POINTS = 400 };

tacet_status tacet__central_features(tacet_features **out, const tacet_kernel *kernel, const tacet_domain *domain,
                                     size_t most, tacet_error *err) {
    const size_t d = domain->d, all = tacet__domain_levels(domain);
    const size_t points = all > 0 && all < SPREAD_POINTS ? all : SPREAD_POINTS;
    if (d <= 2 && domain->levels == NULL) {
        return tacet_features_create_mercer(out, kernel, domain, d == 1 ? GRID_ORDER_1 : GRID_ORDER_2, most, err);
    }
    double *X = TACET__ZALLOC(double, d *points);
    if (X == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for the features");
    }
    tacet__domain_spread(domain, X, points);
    const tacet_status status = tacet_features_create_mercer_points(out, kernel, X, d, NULL, points, most, err);
    free(X);
    return status;
}
