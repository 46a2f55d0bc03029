/* SPDX-License-Identifier: Apache-2.0 */
/* select.c - what it costs to show the best of K private runs, K random.
 * Ring: shared. Source: Liu, Talwar 2019; Papernot, Steinke 2022, Corollary 3 (pure) and Theorem 2 (Renyi).
 * Differs: orders are searched on a grid; any order is a valid price, so the search needs no error bound.
 * Cost: a few hundred evaluations. */
#include <tacet/dp/open/calibrate.h>

#include "core/fail.h"

#include <math.h>

static const double MOST_RUNS = 1e9, MOST_ETA = 10, ROUNDING = 1 + 1e-12;

/* Mean of K: eta (1 - g) / (g (1 - g^eta)), and (1/g - 1) / ln(1/g) for eta = 0. */
static double mean_runs(double eta, double gamma) {
    if (eta == 0) {
        return (1 / gamma - 1) / -log(gamma);
    }
    return eta * (1 - gamma) / (gamma * -expm1(eta * log(gamma)));
}

tacet_status tacet_select_law(tacet_select *out, double eta, double runs, tacet_error *err) {
    if (!(eta >= 0 && eta <= MOST_ETA && runs > 1 && runs <= MOST_RUNS)) {
        return tacet__fail(err, TACET_INVALID,
                           "eta must be from 0 to 10, the mean number of runs above 1 and at most 1e9");
    }
    double low = -60, high = -1e-12; /* ln gamma; the mean falls as gamma rises */
    for (int i = 0; i < 200; i++) {
        const double middle = 0.5 * (low + high);
        if (mean_runs(eta, exp(middle)) > runs) {
            low = middle;
        } else {
            high = middle;
        }
    }
    const double gamma = exp(0.5 * (low + high));
    *out = (tacet_select){.eta = eta, .gamma = gamma, .runs = mean_runs(eta, gamma)};
    return TACET_OK;
}

tacet_status tacet_select_pure(tacet_select *law, double eps, tacet_error *err) {
    if (!(eps > 0 && eps <= 1e6)) {
        return tacet__fail(err, TACET_INVALID, "eps must be above 0, at most 1e6");
    }
    law->eps = (2 + law->eta) * eps * ROUNDING;
    law->delta = 0;
    return TACET_OK;
}

/* Theorem 2 with order lambda for the loss and hat for the number of runs: eps'(lambda) = rho lambda + (1 + eta)(rho
 * (hat
 * - 1) + ln(1/gamma)/hat) + ln E K / (lambda - 1); then to (eps, delta) as in Canonne, Kamath, Steinke 2020, Prop. 12.
 */
tacet_status tacet_select_zcdp(tacet_select *law, double rho, double delta, tacet_error *err) {
    if (!(rho > 0 && rho <= 1e6 && delta > 0 && delta < 1)) {
        return tacet__fail(err, TACET_INVALID, "rho must be above 0, delta between 0 and 1");
    }
    const double many = -log(law->gamma);
    const double hat = fmax(1, sqrt(many / rho));
    const double extra = (1 + law->eta) * (rho * (hat - 1) + many / hat);
    double best = INFINITY;
    /* NOLINTNEXTLINE(cert-flp30-c,clang-analyzer-security.FloatLoopCounter): every lambda gives a bound */
    for (double t = -8; t <= 14; t += 0.01) {
        const double over = exp(t); /* lambda - 1 */
        const double lambda = 1 + over;
        const double renyi = rho * lambda + extra + log(law->runs) / over;
        best = fmin(best, renyi + log(over / lambda) - (log(delta) + log(lambda)) / over);
    }
    law->eps = fmax(best, 0) * ROUNDING;
    law->delta = delta;
    return TACET_OK;
}
