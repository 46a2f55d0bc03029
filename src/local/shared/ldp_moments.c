/* SPDX-License-Identifier: Apache-2.0 */
/* ldp_moments.c - worst-case variance and sub-Gaussian proxy of the bounded scalar randomisers.
 * Ring: shared. Derivations: src/dp/mechanisms/randomizers.md, "Moments". Of the finite mechanisms as they are, not of
 * their published limits. Cost: variance O(1); proxy a search over 40,000 points. */
#include <tacet/local/shared/ldp.h>

#include <math.h>

enum { PROXY_VALUES = 33, PROXY_ARGUMENTS = 600 };
static const double PROXY_MARGIN = 1.002; /* over the search's grid; a test searches ten times as finely */

/* The piecewise mechanism in units of its cells: a value at distance j from the middle window. */
typedef struct pieces {
    double likely, cells, window, outside; /* ratio of likelihoods; counts */
    double each;                           /* probability of a cell outside the window */
    double gain;                           /* mean report = gain j */
} pieces;

static pieces pieces_of(const tacet_ldp *ldp) {
    pieces p = {.likely = (double)ldp->ratio_num / (double)ldp->ratio_den, .cells = ldp->cells, .window = ldp->window};
    p.outside = p.cells - p.window;
    p.each = 1 / (p.window * p.likely + p.outside);
    p.gain = (p.likely - 1) * p.window * p.each;
    return p;
}

static double cells_variance(const pieces *p, double j) {
    const double all = p->cells * (p->cells * p->cells - 1) / 12;
    const double window = p->window * j * j + p->window * (p->window * p->window - 1) / 12;
    return p->each * (all + (p->likely - 1) * window) - p->gain * p->gain * j * j;
}

double tacet_ldp_variance(const tacet_ldp *ldp) {
    const double step = ldp->step * ldp->step, bit = ldp->duchi * ldp->duchi, half = (ldp->hi - ldp->lo) / 2;
    const double q = exp(-1 / ldp->laplace_scale), less = -expm1(-1 / ldp->laplace_scale);
    const double share = ldexp(ldp->piecewise_share, -32);
    const pieces p = pieces_of(ldp); /* of a kind without pieces no number, and not read below */
    const double rounding = p.gain * p.gain / 4;
    const double middle = step * (cells_variance(&p, 0) + rounding);
    const double end = step * (cells_variance(&p, p.outside / 2) + rounding);
    switch (ldp->kind) { /* no default: a kind that is not named here does not compile */
    case TACET_LDP_LAPLACE:
        return step * (2 * q / (less * less) + 0.25);
    case TACET_LDP_DUCHI:
        return bit;
    case TACET_LDP_PIECEWISE:
        return fmax(middle, end);
    case TACET_LDP_HYBRID:
        return fmax(share * middle + (1 - share) * bit, share * end + (1 - share) * (bit - half * half));
    case TACET_LDP_SPHERE: /* of a vector */
        break;
    }
    return NAN;
}

/* log of the sum of exp(u v) over `count` neighbouring cells centred at 0. */
static double log_run(double count, double u) {
    const double x = fabs(u);
    return x * (count - 1) / 2 + log(-expm1(-count * x)) - log(-expm1(-x));
}

/* log E exp(u (report - value)) in units where the half range is 1; value t in [0, 1], u != 0. */
static double log_mgf(const tacet_ldp *ldp, const pieces *p, double share, double t, double u) {
    const double half = (ldp->hi - ldp->lo) / 2;
    const double c = ldp->duchi / half;
    const double cell = u * ldp->step / half; /* u in units of cells */
    const double j = t * p->outside / 2;
    const double logs[4] = {
        log(share * p->each) + log_run(p->cells, cell),
        log(share * p->each * (p->likely - 1)) + log_run(p->window, cell) + cell * j,
        log((1 - share) * (0.5 + t / (2 * c))) + u * c,
        log((1 - share) * (0.5 - t / (2 * c))) - u * c,
    };
    double top = -INFINITY;
    for (int i = 0; i < 4; i++) {
        top = fmax(top, logs[i]);
    }
    double sum = 0;
    for (int i = 0; i < 4; i++) {
        sum += exp(logs[i] - top);
    }
    return top + log(sum) - u * t;
}

static double search_proxy(const tacet_ldp *ldp) {
    const pieces p = pieces_of(ldp);
    const double share = ldp->kind == TACET_LDP_HYBRID ? ldexp(ldp->piecewise_share, -32) : 1;
    const double half = (ldp->hi - ldp->lo) / 2;
    const double unit = half * half;
    const double bound = tacet_ldp_bound(ldp) / half;
    const double variance = tacet_ldp_variance(ldp) / unit;
    /* 2 log E / u^2 tends to the variance as u -> 0, and is below it from u = 2 (bound + 1) / variance on. */
    const double last = 2 * (bound + 1) / variance;
    const double first = fmin(1e-2 / bound, last);
    double most = variance;
    for (int a = 0; a < PROXY_ARGUMENTS; a++) {
        const double u = first * pow(last / first, (double)a / (PROXY_ARGUMENTS - 1));
        for (int b = 0; b < PROXY_VALUES; b++) {
            const double t = (double)b / (PROXY_VALUES - 1);
            most = fmax(most, 2 * log_mgf(ldp, &p, share, t, u) / (u * u));
            most = fmax(most, 2 * log_mgf(ldp, &p, share, t, -u) / (u * u));
        }
    }
    /* Rounding the value to a window is two points at a distance of one cell's gain: Hoeffding again. */
    const double rounding = p.gain * p.gain * ldp->step * ldp->step / 4;
    return fmin(most * PROXY_MARGIN * unit + rounding, bound * bound * unit);
}

double tacet_ldp_proxy(const tacet_ldp *ldp) {
    static _Thread_local struct {
        tacet_ldp_kind kind;
        double eps, lo, hi, proxy;
    } last; /* studies of one kind are made one after the other */
    if (ldp->kind == TACET_LDP_SPHERE) {
        return NAN;
    }
    if (ldp->steps > 0) {
        return INFINITY;
    }
    if (ldp->kind == TACET_LDP_DUCHI || (ldp->kind == TACET_LDP_HYBRID && ldp->piecewise_share == 0)) {
        return ldp->duchi * ldp->duchi; /* Hoeffding's lemma: two points at a distance of 2 duchi */
    }
    if (last.kind != ldp->kind || last.eps != ldp->eps || last.lo != ldp->lo || last.hi != ldp->hi) {
        last.proxy = search_proxy(ldp);
        last.kind = ldp->kind;
        last.eps = ldp->eps;
        last.lo = ldp->lo;
        last.hi = ldp->hi;
    }
    return last.proxy;
}
