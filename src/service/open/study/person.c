/* SPDX-License-Identifier: Apache-2.0 */
/* person.c - group privacy in a study. Ring: open. Source: Dong, Roth, Su 2022 (mu-GDP), group privacy of a Gaussian
 * mechanism is exact: k records move its mean by at most k sensitivities. Mixed noise: src/central/README.md, "Several
 * rounds of one person". Cost: a bisection. */
#include "service/open/study/person.h"

#include "dp/open/ledger_view.h"

#include <math.h>
#include <tacet/dp/open/calibrate.h>

static const double ROUNDING = 1e-9; /* of solving for an eps, and back */

/* The mu whose eps at delta is eps, rounded towards more. */
static double mu_of(double eps, double delta) {
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
    return hi;
}

double tacet__eps_of_rounds(double eps, double delta, double k) {
    if (!(delta > 0) || k == 1) {
        return k * eps;
    }
    return isfinite(eps) ? tacet__ledger_gaussian_eps(k * mu_of(eps, delta), delta) : (double)INFINITY;
}

double tacet__eps_of_a_round(double eps, double delta, double k) {
    double mu = 0, round = 0;
    if (!(delta > 0) || k == 1) {
        return eps / k;
    }
    /* 0 where the round's share of mu has no more than delta at any eps: calibrated to an eps it would have more mu. */
    return tacet_gdp_mu(&mu, eps, delta, NULL) == TACET_OK &&
                   tacet_gdp_eps(&round, mu / k * (1 - ROUNDING), delta, NULL) == TACET_OK
               ? round
               : 0;
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
    const double mu = mu_of(eps, delta);
    for (unsigned j = 0; j <= k; j++) {
        const double rest = j == k ? 0 : tacet__ledger_gaussian_eps((k - j) * mu, delta / k);
        most = fmax(most, j * pure + rest);
    }
    return most;
}
