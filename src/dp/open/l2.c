/* SPDX-License-Identifier: Apache-2.0 */
/* l2.c - delta of noise with density proportional to exp(-|v|/scale) in R^dims, as a certified upper bound.
 * Ring: pure. Source: the l2 mechanism of arXiv 2502.15929 (2025). Differs: both masses of the hockey stick are
 * integrals over the radius of a Gamma density times a cap of the sphere, enclosed cell by cell with outward rounding;
 * nothing is sampled and no accuracy of the C library's functions is assumed. Proof: l2.md. Cost: 3 us a cell; some 0.2
 * s a calibration, the first time; no allocation. */
#include <tacet/dp/open/calibrate.h>

#include <pthread.h>
#include <stdbool.h>

#include "core/fail.h"
#include "dp/open/interval.h"
#include "dp/open/laws.h"
#include "dp/open/sphere.h"

enum {
    FEW_CELLS = 512,    /* to find the neighbourhood */
    CELLS = 4096,       /* to certify */
    CELLS_EDGED = 16384 /* below three coordinates, where the caps have an edge and bounds converge slowly */
};
static const double TINY = 1e-5;    /* of delta: what the cut-off ends of the radius may weigh, each */
static const double ROUGHLY = 1e-4; /* the first search stops here, relative to the shift */
static const double CLOSELY = 2e-5; /* and the second here */
static const double MOST_SHIFT = 1e4, LEAST_EPS = 1e-6, MOST_EPS = 500, LEAST_DELTA = 1e-15;

typedef struct l2_law {
    sphere sphere;
    interval log_gamma; /* ln (dims - 1)! */
} l2_law;

static void l2_init(l2_law *law, size_t dims) {
    tacet__sphere_init(&law->sphere, dims);
    law->log_gamma = interval_of(0);
    for (size_t k = 2; k < dims; k++) {
        law->log_gamma = interval_add(law->log_gamma, tacet__interval_log(interval_of((double)k)));
    }
}

/* x^(d-1) e^-x / (d-1)!, x > 0. */
static interval gamma_density(const l2_law *law, double x) {
    const interval log_x = tacet__interval_log(interval_of(x));
    const interval power = interval_mul(interval_of((double)law->sphere.dims - 1), log_x);
    return tacet__interval_exp(interval_sub(interval_sub(power, interval_of(x)), law->log_gamma));
}

/* What the two integrals are made of at one radius x: the density of the radius, and the shares of the sphere. */
typedef struct node {
    double x;
    interval density; /* gamma(x) */
    interval s[2];    /* a/x - c and -a/x - c */
    interval share[2];
} node;

typedef struct l2_shift {
    const l2_law *law;
    interval a, c; /* (t^2 - eps^2) / 2t, eps / t */
    double peak;   /* the density's largest value */
} l2_shift;

static void l2_node(node *out, const l2_shift *k, double x) {
    const interval ax = interval_div(k->a, interval_of(x));
    out->x = x;
    out->density = gamma_density(k->law, x);
    out->s[0] = interval_sub(ax, k->c);
    out->s[1] = interval_sub(interval_sub(interval_of(0), ax), k->c);
    for (int i = 0; i < 2; i++) {
        out->share[i] = tacet__sphere_below(&k->law->sphere, out->s[i]);
    }
}

/* Bounds of the integral of density x share[side] over a cell: from the largest and the least value, and from the
 * trapezoid with the range of the second derivative. */
static interval cell_integral(const l2_shift *k, const node *l, const node *r, int side) {
    const double d = (double)k->law->sphere.dims;
    const interval width = {interval_down(r->x - l->x), interval_up(r->x - l->x)};
    const interval x = {l->x, r->x};
    interval f = interval_hull(l->density, r->density); /* it rises to its mode and falls from there */
    if (l->x <= d - 1 && d - 1 <= r->x) {
        f.hi = interval_most(f.hi, k->peak);
    }
    const interval share = interval_hull(l->share[side], r->share[side]);
    interval out = interval_mul(interval_mul(f, share), width);
    out.lo = interval_most(0, out.lo);
    interval h, slope;
    if (!tacet__sphere_density(&h, &slope, &k->law->sphere, interval_hull(l->s[side], r->s[side]))) {
        return out;
    }
    /* share' = h s', share'' = h'(s) s'^2 + h s''; density' = density q, q = (d-1)/x - 1. */
    const interval ax = interval_div(k->a, x);
    const interval axx = interval_div(ax, x);
    const interval sign = interval_of(side == 0 ? 1 : -1);
    const interval first = interval_mul(interval_sub(interval_of(0), interval_mul(sign, axx)), h);
    const interval bend = interval_mul(interval_mul(interval_of(2), sign), interval_div(axx, x));
    const interval second = interval_add(interval_mul(slope, interval_mul(axx, axx)), interval_mul(h, bend));
    const interval over = interval_div(interval_of(d - 1), x);
    const interval q = interval_sub(over, interval_of(1));
    const interval qq = interval_sub(interval_mul(q, q), interval_div(over, x));
    interval bent = interval_add(interval_mul(qq, share), interval_mul(interval_mul(interval_of(2), q), first));
    bent = interval_mul(f, interval_add(bent, second));
    const interval cube = interval_div(interval_mul(interval_mul(width, width), width), interval_of(12));
    const interval ends =
        interval_add(interval_mul(l->density, l->share[side]), interval_mul(r->density, r->share[side]));
    const interval flat = interval_mul(interval_mul(ends, interval_of(0.5)), width);
    const interval better = interval_sub(flat, interval_mul(cube, bent));
    return (interval){interval_most(out.lo, better.lo), interval_least(out.hi, better.hi)};
}

/* Where the radius is cut off: both ends weigh at most `tiny`, which is added to the bound.
 * P(X < x) <= f(x) (x/d) / (1 - x/(d+1)) and, beyond the mode, P(X > x) <= f(x) / (1 - (d-1)/x). */
static double cut_off(const l2_law *law, double tiny, double *from, double *to) {
    const double d = (double)law->sphere.dims;
    double head = 1, tail = 1;
    *from = d;
    while (head > tiny) {
        *from *= 0.95;
        const interval rest = interval_sub(interval_of(1), interval_div(interval_of(*from), interval_of(d + 1)));
        const interval f = interval_mul(gamma_density(law, *from), interval_div(interval_of(*from), interval_of(d)));
        head = interval_div(f, rest).hi;
    }
    *to = d;
    while (tail > tiny) {
        *to *= 1.05;
        const interval rest = interval_sub(interval_of(1), interval_div(interval_of(d - 1), interval_of(*to)));
        tail = interval_div(gamma_density(law, *to), rest).hi;
    }
    return interval_up(head + tail);
}

/* Upper bound of delta at eps for a shift by t (in units of the scale), eps < t, with n cells. */
static double delta_bound(const l2_law *law, double t, double eps, size_t n, double tiny) {
    const interval ti = interval_of(t), ei = interval_of(eps);
    const interval product = interval_mul(interval_sub(ti, ei), interval_add(ti, ei));
    const l2_shift k = {.law = law,
                        .a = interval_div(product, interval_mul(interval_of(2), ti)),
                        .c = interval_div(ei, ti),
                        .peak = gamma_density(law, (double)law->sphere.dims - 1).hi};
    const double grow = tacet__interval_exp(ei).lo;
    double from, to;
    double first = cut_off(law, tiny, &from, &to), second = 0;
    node l, r;
    l2_node(&l, &k, from);
    for (size_t i = 0; i < n; i++) {
        l2_node(&r, &k, i + 1 == n ? to : from + (to - from) * ((double)(i + 1) / (double)n));
        first = interval_up(first + cell_integral(&k, &l, &r, 0).hi);
        second = interval_down(second + cell_integral(&k, &l, &r, 1).lo);
        l = r;
    }
    return interval_up(first - interval_down(grow * second));
}

/* In one dimension the noise is Laplace's: delta = 1 - exp((eps - t)/2). */
static double line_bound(double t, double eps) {
    const double half = interval_down(0.5 * interval_down(eps - t));
    return interval_up(1 - tacet__interval_exp(interval_of(half)).lo);
}

/* The bound with n cells for a shift by t: 0 where eps alone covers it. `target` is the delta that matters. */
static double bound(const l2_law *law, double t, double eps, size_t n, double target) {
    if (t <= eps) {
        return 0;
    }
    const double upper = law->sphere.dims == 1 ? line_bound(t, eps) : delta_bound(law, t, eps, n, TINY * target);
    return upper < 1 ? interval_most(0, upper) : 1;
}

static size_t cells(size_t dims) {
    return dims < 3 ? CELLS_EDGED : CELLS;
}

static bool fine_arguments(double eps, double delta, double sensitivity, size_t dims) {
    return eps >= LEAST_EPS && eps <= MOST_EPS && delta >= LEAST_DELTA && delta < 1 && sensitivity >= 1e-100 &&
           sensitivity <= 1e100 && dims >= 1 && dims <= TACET_L2_MAX_DIMS;
}

static tacet_status bad_arguments(tacet_error *err) {
    return tacet__fail(err, TACET_INVALID,
                       "l2 noise needs eps in [1e-6, 500], delta in [1e-15, 1), a sensitivity in [1e-100, 1e100] and 1 "
                       "to %d dimensions",
                       TACET_L2_MAX_DIMS);
}

/* Narrows [lo, hi], lo known to pass, to the relative width `close`; returns lo. *upper: its bound, where it moved. */
static double narrow(const l2_law *law, double lo, double *hi, double *upper, double eps, double delta, size_t n,
                     double close) {
    while (*hi - lo > close * lo) {
        const double mid = lo + 0.5 * (*hi - lo);
        const double at = bound(law, mid, eps, n, delta);
        if (at <= delta) {
            lo = mid;
            *upper = at;
        } else {
            *hi = mid;
        }
    }
    return lo;
}

typedef struct covered {
    double eps, delta;
    size_t dims;         /* 0: not used yet */
    double shift, upper; /* the largest shift, in units of the scale, that is found to be covered, and its delta */
} covered;

static void find_shift(covered *out) {
    l2_law law;
    const double eps = out->eps, delta = out->delta;
    l2_init(&law, out->dims);
    /* Any shift that passes is a certificate, so that the search needs no monotony of the bound. */
    double lo = eps, hi = 2 * eps + 1, upper = 0;
    while (bound(&law, hi, eps, FEW_CELLS, delta) <=
           delta) { /* ends: delta < 1, and so much as 1 is the bound far out */
        lo = hi;
        hi *= 2;
    }
    lo = narrow(&law, lo, &hi, &upper, eps, delta, FEW_CELLS, ROUGHLY);
    const size_t n = cells(out->dims);
    double step = 4 * ROUGHLY; /* more cells give a smaller bound, and so a larger shift */
    hi = lo * (1 + step);
    upper = NAN;
    double at;
    while ((at = bound(&law, hi, eps, n, delta)) <= delta) {
        lo = hi;
        upper = at;
        step *= 4;
        hi = lo * (1 + step);
    }
    out->shift = narrow(&law, lo, &hi, &upper, eps, delta, n, CLOSELY);
    out->upper = isnan(upper) ? bound(&law, out->shift, eps, n, delta) : upper;
}

/* Shifts that were asked for before, the last MEMO of them: studies ask for the same few again and again. */
enum { MEMO = 512 };
static covered memo[MEMO];
static size_t memo_next;
static pthread_mutex_t memo_lock = PTHREAD_MUTEX_INITIALIZER;

static bool recall(covered *c) {
    bool found = false;
    (void)pthread_mutex_lock(&memo_lock);
    for (size_t i = 0; i < MEMO && !found; i++) {
        found = memo[i].dims == c->dims && memo[i].eps == c->eps && memo[i].delta == c->delta;
        *c = found ? memo[i] : *c;
    }
    (void)pthread_mutex_unlock(&memo_lock);
    return found;
}

static void remember(const covered *c) {
    (void)pthread_mutex_lock(&memo_lock);
    memo[memo_next++ % MEMO] = *c;
    (void)pthread_mutex_unlock(&memo_lock);
}

size_t tacet__l2_searches(void) {
    (void)pthread_mutex_lock(&memo_lock);
    const size_t searches = memo_next;
    (void)pthread_mutex_unlock(&memo_lock);
    return searches;
}

tacet_status tacet_calibrate_l2(tacet_l2 *out, double eps, double delta, double sensitivity, size_t dims,
                                tacet_error *err) {
    covered c = {.eps = eps, .delta = delta, .dims = dims};
    if (!fine_arguments(eps, delta, sensitivity, dims)) {
        return bad_arguments(err);
    }
    if (!recall(&c)) {
        find_shift(&c);
        remember(&c);
    }
    double scale = interval_up(sensitivity / c.shift);
    while (interval_up(sensitivity / scale) > c.shift) {
        scale = interval_up(scale);
    }
    *out = (tacet_l2){.scale = scale,
                      .rms = scale * sqrt((double)dims + 1),
                      .pure_eps = interval_up(sensitivity / scale),
                      .delta_upper = c.upper};
    return TACET_OK;
}

tacet_status tacet_l2_delta(double *delta, double scale, double eps, double sensitivity, size_t dims,
                            tacet_error *err) {
    const double shift = interval_up(sensitivity / scale);
    if (!fine_arguments(eps, 0.5, sensitivity, dims) || !(scale > 0 && shift <= MOST_SHIFT)) {
        return bad_arguments(err);
    }
    l2_law law;
    l2_init(&law, dims);
    /* What the ends may weigh follows from a first look, so that they do not hide a small delta. */
    const double look = bound(&law, shift, eps, FEW_CELLS, LEAST_DELTA);
    *delta = bound(&law, shift, eps, cells(dims), look > LEAST_DELTA ? look : LEAST_DELTA);
    return TACET_OK;
}
