/* SPDX-License-Identifier: Apache-2.0 */
/* numbers.c - see numbers.h. Ring: pure. */
#include "core/numbers.h"

#include "core/fail.h"

#include <math.h>
#include <stdlib.h>

bool tacet__all_finite(const double *x, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(x[i])) {
            return false;
        }
    }
    return true;
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

void tacet__sort(double *x, size_t n) {
    qsort(x, n, sizeof *x, ascending);
}

tacet_status tacet__check_points(const double *X, size_t ld, size_t d, size_t n, const char *what, tacet_error *err) {
    for (size_t i = 0; i < n; i++) {
        for (size_t c = 0; c < d; c++) {
            if (!isfinite(X[i * ld + c])) {
                return tacet__fail(err, TACET_INVALID, "coordinate %zu of %s %zu is not finite", c, what, i);
            }
        }
    }
    return TACET_OK;
}
