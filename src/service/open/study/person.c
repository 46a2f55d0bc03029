/* SPDX-License-Identifier: Apache-2.0 */
/* person.c - group privacy in a study. Ring: open. Source: Dong, Roth, Su 2022 (mu-GDP), group privacy of a Gaussian
 * mechanism is exact: k records move its mean by at most k sensitivities. Mixed noise: src/central/README.md, "Several
 * rounds of one person". Cost: a bisection. */
#include "service/open/study/person.h"

#include "dp/open/ledger_view.h"

#include <math.h>
#include <stdbool.h>

/* The mu whose eps at delta is eps, rounded towards less: what may be spent; or towards more: what was. */
static double mu_of(double eps, double delta, bool less) {
    double lo = 0;
    double hi = 1;
    while (hi < 1e4 && tacet__ledger_gaussian_eps(hi, delta) <= eps) {
        hi *= 2;
    }
    for (int i = 0; i < 80; i++) {
        const double middle = lo + (hi - lo) / 2;
        if (tacet__ledger_gaussian_eps(middle, delta) <= eps) {
            lo = middle;
        } else {
            hi = middle;
        }
    }
    return less ? lo : hi;
}

double tacet__eps_of_rounds(double eps, double delta, double k) {
    if (!(delta > 0) || k == 1) {
        return k * eps;
    }
    return isfinite(eps) ? tacet__ledger_gaussian_eps(k * mu_of(eps, delta, k < 1), delta) : (double)INFINITY;
}

double tacet__eps_of_mixed_rounds(double eps, double delta, double pure, unsigned k) {
    double most = 0;
    if (!(pure > 0) || !(delta > 0) || k == 1) {
        return tacet__eps_of_rounds(eps, delta, k);
    }
    if (!isfinite(eps)) {
        return (double)INFINITY;
    }
    /* j, how many of them get l2 noise, may be decided by what was released before. So the event is cut into those of
     * each j, and each of the k that have Gaussian noise in them is given a share of delta (the proof's sum over j). */
    const double mu = mu_of(eps, delta, false);
    for (unsigned j = 0; j <= k; j++) {
        const double rest = j == k ? 0 : tacet__ledger_gaussian_eps((k - j) * mu, delta / k);
        most = fmax(most, j * pure + rest);
    }
    return most;
}
