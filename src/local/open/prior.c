/* SPDX-License-Identifier: Apache-2.0 */
/* prior.c - how much smaller than B^2 the prior variance of GP-UCB should be.
 * Ring: open. Source: none; src/local/README.md has the argument. With prior variance c the proven width is
 * proportional to sqrt(B^2/c + 2 (gamma_T(c) + ln(2/delta))) where the data speak, so c is chosen, before any data, to
 * make B^2/c + 2 gamma_T(c) least, gamma_T being that of T plays spread evenly. The width holds for any c fixed
 * beforehand. Cost: one eigendecomposition of order at most 256, when a learner is created. */
#include "local/open/internal.h"

#include "core/fail.h"
#include "gp/linalg.h"
#include "core/memory.h"

#include <math.h>
#include <stdlib.h>

enum { MOST = 256 }; /* more arms than this are taken every so many-th */

tacet_status tacet__local_prior_factor(double *out, const tacet__local *p, double lambda, tacet_error *err) {
    const size_t stride = (p->n + MOST - 1) / MOST;
    const size_t m = (p->n + stride - 1) / stride;
    double *K = TACET__ALIGNED(double, m *m);
    double *w = TACET__ALIGNED(double, m);
    tacet_status status = TACET_OK;
    *out = 1;
    if (K == NULL || w == NULL) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory for the spectrum of %zu arms", m);
        goto done;
    }
    for (size_t j = 0; j < m; j++) {
        for (size_t i = 0; i < m; i++) {
            K[j * m + i] = p->K[j * stride * p->n + i * stride];
        }
    }
    status = tacet__eigh(K, m, m, w, err);
    if (status != TACET_OK) {
        goto done;
    }
    const double plays = (double)p->s.horizon / (double)m;
    double least = (double)INFINITY;
    const size_t steps = 189; /* factors 1.05^k up to 1e4 */
    double factor = 1;
    for (size_t k = 0; k < steps; k++) {
        double cost = factor; /* B^2/c */
        for (size_t i = 0; i < m; i++) {
            cost += log1p(fmax(w[i], 0) * plays / (lambda * factor));
        }
        if (cost < least) {
            least = cost;
            *out = factor;
        }
        factor *= 1.05;
    }
done:
    free(K);
    free(w);
    return status;
}
