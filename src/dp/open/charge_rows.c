/* SPDX-License-Identifier: Apache-2.0 */
/* charge_rows.c - from the price of one row to that of all rows of a person.
 * Ring: shared. Source: Dwork, Roth 2014, theorems 2.2 and 3.16 (groups and composition); Vadhan 2017, lemma 2.2
 * (groups with a delta); Dong, Roth, Su 2022, theorem 2.14 and corollary 3.3 (Gaussian); Bun, Steinke 2016,
 * proposition 1.9 (zCDP). src/dp/persons.md has the steps. Cost: nothing. */
#include "dp/open/charge_rows.h"

#include "core/fail.h"

#include <math.h>
#include <tacet/dp/open/calibrate.h>

/* Each operation below is off by a few parts in 2^53; a price is never rounded down. */
static const double UP = 1 + 0x1p-48;
/* A probability of failing above this is no claim worth printing. */
static const double DELTA_MOST = 1e-3;

/* k x, not below it: exact where the product is a double, as it is for the eps that people ask for. */
static double times(double k, double x) {
    const double product = k * x;
    return fma(k, x, -product) > 0 ? nextafter(product, INFINITY) : product;
}

/* The delta of k rows of (eps, delta) each: added up, or delta (1 + e^eps + … + e^((k - 1) eps)) of a group. */
static double delta_of(double k, double eps, double delta, bool apart) {
    return apart ? times(k, delta) : delta * (expm1(times(k, eps)) / expm1(eps)) * UP;
}

/* mu holds as a curve, and eps with delta besides (of an l2 mechanism they say more than its mu does): both prices are
 * true, and the smaller eps is told, unless its delta is of no more use. */
static tacet_status charge_gaussian(tacet_charge *c, double k, bool apart, tacet_error *err) {
    const double mu = (apart ? sqrt(k) : k) * c->mu * UP;
    const double delta = c->delta < 1 ? delta_of(k, c->eps, c->delta, apart) : 1;
    const double eps = delta <= DELTA_MOST ? times(k, c->eps) : INFINITY;
    double curve = INFINITY;
    const tacet_status status = c->delta < 1 ? tacet_gdp_eps(&curve, mu, c->delta, err) : TACET_OK;
    if (eps < curve) {
        tacet_charge_gaussian(c, mu, eps, delta);
        return TACET_OK;
    }
    tacet_charge_gaussian(c, mu, curve, c->delta);
    return status;
}

tacet_status tacet__charge_rows(tacet_charge *c, size_t rows, bool apart, tacet_error *err) {
    const double k = (double)rows;
    if (rows <= 1) {
        return TACET_OK;
    }
    switch (c->claim) {
    case TACET_CLAIM_UNCOVERED:
        return TACET_OK;
    case TACET_CLAIM_PURE:
        tacet_charge_pure(c, times(k, c->eps));
        return TACET_OK;
    case TACET_CLAIM_ZCDP:
        tacet_charge_zcdp(c, (apart ? k : k * k) * c->rho * UP, INFINITY, 1);
        return TACET_OK;
    case TACET_CLAIM_GAUSSIAN:
        return charge_gaussian(c, k, apart, err);
    case TACET_CLAIM_APPROX:
        break;
    }
    const double delta = delta_of(k, c->eps, c->delta, apart);
    if (!(delta <= DELTA_MOST)) {
        return tacet__fail(err, TACET_INVALID,
                           "%zu rows a person at eps %.6g each: their delta would be above %g; take a mechanism of "
                           "pure eps, a smaller delta, or fewer rows",
                           rows, c->eps, DELTA_MOST);
    }
    tacet_charge_approx(c, times(k, c->eps), delta);
    return TACET_OK;
}
