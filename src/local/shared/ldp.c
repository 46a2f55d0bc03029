/* SPDX-License-Identifier: Apache-2.0 */
/* ldp.c - the public design of the bounded scalar randomisers, and their moments.
 * Ring: shared. Sources: Duchi, Jordan, Wainwright (2018); Wang, Xiao, Yang, Zhao, Hoi, Shin, Yu, "Collecting and
 * analyzing multidimensional data with local differential privacy" (2019). Differs: every mechanism is a finite (or
 * lattice) one whose likelihood ratio is a rational number at most e^eps; the published ones are its limits
 * (src/dp/mechanisms/randomizers.md).
 * Cost: init is microseconds; tacet_ldp_proxy some milliseconds. */
#include "local/shared/ldp.h"

#include <math.h>
#include <string.h>

#include "core/fail.h"

__extension__ typedef unsigned __int128 u128;

enum { FIXED = 62, RATIO_BITS = 47, CELLS = 1 << 16, STEPS = 1 << 15, DIRECTIONS = 256 };

static const double PI = 3.14159265358979323846;
static const char *const NAMES[] = {[TACET_LDP_LAPLACE] = "laplace",
                                    [TACET_LDP_HYBRID] = "hybrid",
                                    [TACET_LDP_DUCHI] = "duchi",
                                    [TACET_LDP_PIECEWISE] = "piecewise",
                                    [TACET_LDP_SPHERE] = "sphere"};
enum { SHIPPED = 2 }; /* so many of them a study or a device may be asked for; hybrid is made of the next two */

tacet_status tacet_ldp_parse(tacet_ldp_kind *out, const char *name, tacet_error *err) {
    for (size_t i = 0; i < SHIPPED; i++) {
        if (strcmp(name, NAMES[i]) == 0) {
            *out = (tacet_ldp_kind)i;
            return TACET_OK;
        }
    }
    return tacet__fail(err, TACET_INVALID, "no randomiser '%.40s'; there are hybrid and laplace", name);
}

const char *tacet_ldp_name(tacet_ldp_kind kind) {
    return (size_t)kind < sizeof NAMES / sizeof *NAMES ? NAMES[kind] : "unknown";
}

/* The design is made without the C library's transcendental functions, which differ in their last bits from one machine
 * to the next: a browser, a phone and the collector have the same cells. */

/* At least e^-eps, in units of 2^-62, by whole numbers alone: e^(-eps/64) from its alternating series, ended after a
 * positive term, positive terms rounded up and negative ones down; then six squarings, rounded up. */
static uint64_t exp_above(double eps) {
    const uint64_t one = UINT64_C(1) << FIXED;
    const uint64_t y = (uint64_t)ldexp(eps, FIXED - 6); /* eps/64 rounded down, so that the power is rounded up */
    uint64_t above = one;
    uint64_t below = one;
    uint64_t sum = one;
    for (uint64_t k = 1; k <= 20; k++) {
        const u128 divisor = (u128)k << FIXED;
        above = (uint64_t)(((u128)above * y + divisor - 1) / divisor);
        below = (uint64_t)((u128)below * y / divisor);
        sum = k % 2 == 0 ? sum + above : sum - below;
    }
    for (int i = 0; i < 6; i++) {
        sum = (uint64_t)(((u128)sum * sum + one - 1) >> FIXED);
    }
    return sum;
}

static double exp_of(double minus) {
    return ldexp((double)exp_above(minus), -FIXED);
}

double tacet_ldp_duchi_constant(double eps) {
    return 1 + 2 / expm1(eps);
}

/* How many of the directions to make likely: the share q = P(Z > z) of a normal Z for which the mean of what is chosen,
 * density(z) (r - 1)/(q r + 1 - q) along the record, is largest; r = e^eps. For utility alone. */
static uint32_t sphere_window(double r) {
    const double step = 0.01;
    double best = 0, share = 0, q = 0;
    for (int i = 500; i >= 0; i--) {
        const double z = i * step, density = exp_of(z * z / 2);
        q += step * density / sqrt(2 * PI);
        const double gain = density * (r - 1) / (q * r + 1 - q);
        share = gain > best ? q : share;
        best = fmax(best, gain);
    }
    return (uint32_t)fmax(rint(share * DIRECTIONS), 1);
}

tacet_status tacet_ldp_init(tacet_ldp *out, tacet_ldp_kind kind, double eps, double lo, double hi, tacet_error *err) {
    memset(out, 0, sizeof *out);
    if ((size_t)kind >= sizeof NAMES / sizeof *NAMES) {
        return tacet__fail(err, TACET_INVALID, "no such randomiser");
    }
    if (!(eps >= 0x1p-10 && eps <= 32)) {
        return tacet__fail(err, TACET_INVALID, "eps must be between 2^-10 and 32");
    }
    if (!(lo >= -0x1p500 && hi <= 0x1p500 && lo < hi)) { /* squares of reports must not overflow */
        return tacet__fail(err, TACET_INVALID, "the range of the value must have lo < hi, both within 2^500 of zero");
    }
    if (!(hi - lo >= 0x1p-30 * fmax(fabs(lo), fabs(hi)))) { /* or doubles could not tell the outputs apart */
        return tacet__fail(err, TACET_INVALID, "the range of the value is narrower than 2^-30 of its ends");
    }
    out->kind = kind;
    out->eps = eps;
    out->lo = lo;
    out->hi = hi;
    out->ratio_num = UINT64_C(1) << RATIO_BITS;
    const unsigned drop = FIXED - RATIO_BITS;
    out->ratio_den = (exp_above(eps) + (UINT64_C(1) << drop) - 1) >> drop;
    const double a = (double)out->ratio_num;
    const double b = (double)out->ratio_den;
    const double half = (hi - lo) / 2;
    out->duchi = half * ((a + b) / (a - b));
    switch (kind) { /* no default: a kind that is not named here does not compile */
    case TACET_LDP_SPHERE:
        out->duchi = 0;
        out->cells = DIRECTIONS;
        out->window = sphere_window(a / b);
        out->step = 1;
        return TACET_OK;
    case TACET_LDP_LAPLACE:
        out->steps = STEPS;
        out->laplace_scale = nextafter(STEPS / eps, INFINITY); /* above the quotient, however it was rounded */
        out->step = (hi - lo) / STEPS;
        return TACET_OK;
    case TACET_LDP_HYBRID:
    case TACET_LDP_DUCHI:
    case TACET_LDP_PIECEWISE:
        break;
    }
    const double root = exp_of(eps / 2); /* e^(-eps/2) */
    const double window = fmax(rint(CELLS * root / (1 + root)), 1);
    out->cells = CELLS;
    out->window = (uint32_t)window;
    const double outside = (double)(out->cells - out->window);
    const double gain = (a - b) * out->window / (out->window * a + outside * b);
    out->step = 2 * half / (gain * outside);
    if (kind == TACET_LDP_HYBRID && eps > 0.61) {
        out->piecewise_share = (uint32_t)ldexp(1 - root, 32);
    }
    return TACET_OK;
}

static double middle(const tacet_ldp *ldp) {
    return ldp->lo + (ldp->hi - ldp->lo) / 2;
}

double tacet_ldp_cell(const tacet_ldp *ldp, uint32_t k) {
    return middle(ldp) + ((double)k - (ldp->cells - 1) / 2.0) * ldp->step;
}

double tacet_ldp_place(const tacet_ldp *ldp, int64_t n) {
    return ldp->lo + (double)n * ldp->step;
}

double tacet_ldp_bit(const tacet_ldp *ldp, bool up) {
    return up ? middle(ldp) + ldp->duchi : middle(ldp) - ldp->duchi;
}

/* Of which outputs a report is one: hybrid sends Duchi's bit always (share 0) or sometimes, piecewise never. */
static void outputs_of(const tacet_ldp *ldp, bool *bits, bool *cells) {
    *bits = *cells = false;
    switch (ldp->kind) { /* no default: as in tacet_ldp_init */
    case TACET_LDP_HYBRID:
        *bits = true;
        *cells = ldp->piecewise_share > 0;
        break;
    case TACET_LDP_DUCHI:
        *bits = true;
        break;
    case TACET_LDP_PIECEWISE:
        *cells = true;
        break;
    case TACET_LDP_LAPLACE:
    case TACET_LDP_SPHERE: /* neither */
        break;
    }
}

double tacet_ldp_bound(const tacet_ldp *ldp) {
    bool bits = false, cells = false;
    if (ldp->kind == TACET_LDP_SPHERE) {
        return NAN;
    }
    if (ldp->steps > 0) {
        return INFINITY;
    }
    outputs_of(ldp, &bits, &cells);
    const double furthest = cells ? (ldp->cells - 1) / 2.0 * ldp->step : 0;
    return bits ? fmax(ldp->duchi, furthest) : furthest;
}

bool tacet_ldp_possible(const tacet_ldp *ldp, double report) {
    bool bits = false, cells = false;
    if (ldp->kind == TACET_LDP_SPHERE) {
        return report >= 0 && report < ldp->cells && report == floor(report);
    }
    if (ldp->steps > 0) {
        const double n = rint((report - ldp->lo) / ldp->step);
        return fabs(n) <= 0x1p53 && tacet_ldp_place(ldp, (int64_t)n) == report;
    }
    outputs_of(ldp, &bits, &cells);
    if (bits && (report == tacet_ldp_bit(ldp, false) || report == tacet_ldp_bit(ldp, true))) {
        return true;
    }
    if (!cells) {
        return false;
    }
    const double k = rint((report - middle(ldp)) / ldp->step + (ldp->cells - 1) / 2.0);
    return k >= 0 && k < ldp->cells && tacet_ldp_cell(ldp, (uint32_t)k) == report;
}
