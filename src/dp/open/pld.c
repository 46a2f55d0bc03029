/* SPDX-License-Identifier: Apache-2.0 */
/* pld.c - composition by privacy-loss distributions, rounded to the private side.
 * Ring: shared. Source: Meiser, Mohammadi 2018; Koskela, Jälkö, Honkela 2020; Doroshenko, Ghazi, Kamath, Kumar,
 * Manurangsi, "Connect the dots" (2022). Differs: convolutions are sums of positive products without a Fourier
 * transform, so that their error is relative and counted; what is cut off above counts as certain loss, below as the
 * least loss kept. Proof: pld.md. Cost: steps^2 for each convolution, 2 log2(times) of them. */
#include <tacet/dp/open/pld.h>

#include "core/fail.h"
#include "core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/dp/open/calibrate.h>
#include <tacet/dp/open/l2.h>

enum { DEFAULT_STEPS = 4000, MOST_STEPS = 40000, L2_POINTS = 400 };
static const double UNIT = 0x1p-52;

struct tacet_pld {
    size_t steps; /* losses i h, i = -steps … steps, at place i + steps */
    double h;
    double *mass;   /* 2 steps + 1 */
    double certain; /* probability of infinite loss */
    double error;   /* relative, of all masses so far */
};

static size_t places(const tacet_pld *p) {
    return 2 * p->steps + 1;
}

tacet_status tacet_pld_create(tacet_pld **out, double most, size_t steps, tacet_error *err) {
    *out = NULL;
    steps = steps == 0 ? DEFAULT_STEPS : steps;
    if (!(most > 0 && most <= 500) || steps < 10 || steps > MOST_STEPS) {
        return tacet__fail(err, TACET_INVALID, "losses up to 500 in 10 to %d steps can be added up", MOST_STEPS);
    }
    tacet_pld *p = TACET__ZALLOC(tacet_pld, 1);
    double *mass = TACET__ZALLOC(double, 2 * steps + 1);
    if (p == NULL || mass == NULL) {
        free(p);
        free(mass);
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu losses", steps);
    }
    *p = (tacet_pld){.steps = steps, .h = most / (double)steps, .mass = mass};
    mass[steps] = 1;
    *out = p;
    return TACET_OK;
}

void tacet_pld_free(tacet_pld *p) {
    if (p != NULL) {
        free(p->mass);
        free(p);
    }
}

/* c = a * b: losses add. Above the grid is certain loss; below it the least loss of the grid. */
static void convolve(double *c, double *certain, const double *a, double a_certain, const double *b, double b_certain,
                     size_t steps) {
    const size_t n = 2 * steps + 1;
    double above = 0;
    memset(c, 0, n * sizeof *c);
    for (size_t i = 0; i < n; i++) {
        if (a[i] == 0) {
            continue;
        }
        /* loss i + j - steps */
        const size_t first = i < steps ? steps - i : 0;      /* below: j < first */
        const size_t last = i > steps ? n - (i - steps) : n; /* above: j >= last */
        double low = 0, high = 0;
        for (size_t j = 0; j < first; j++) {
            low += b[j];
        }
        for (size_t j = last; j < n; j++) {
            high += b[j];
        }
        c[0] += a[i] * low;
        above += a[i] * high;
        for (size_t j = first; j < last; j++) {
            c[i + j - steps] += a[i] * b[j];
        }
    }
    /* One of them at least: a + b - a b, which grows with both up to 1, so that upper bounds give one. */
    const double one = fmin(a_certain, 1), other = fmin(b_certain, 1);
    *certain = above + one + other * (1 - one);
}

/* p composed `times` times with `one`, which is used up. */
static tacet_status compose(tacet_pld *p, tacet_pld *one, uint64_t times, tacet_error *err) {
    const size_t n = places(p);
    double *scratch = TACET__ZALLOC(double, n);
    if (scratch == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a convolution");
    }
    const double each = 4 * (double)n * UNIT; /* n products and sums of positive numbers */
    for (; times > 0; times >>= 1) {
        double certain = 0;
        if ((times & 1) != 0) {
            convolve(scratch, &certain, p->mass, p->certain, one->mass, one->certain, p->steps);
            memcpy(p->mass, scratch, n * sizeof *scratch);
            p->certain = certain;
            p->error += one->error + each;
        }
        if (times > 1) {
            convolve(scratch, &certain, one->mass, one->certain, one->mass, one->certain, p->steps);
            memcpy(one->mass, scratch, n * sizeof *scratch);
            one->certain = certain;
            one->error = 2 * one->error + each;
        }
    }
    free(scratch);
    return TACET_OK;
}

static double at_place(const tacet_pld *p, size_t i) {
    return exp((double)i * p->h);
}

/* Slope of the curve in e^eps between two points i < j. */
static double slope(const tacet_pld *p, const double *delta, size_t i, size_t j) {
    return (delta[j] - delta[i]) / (at_place(p, j) - at_place(p, i));
}

/* The symmetric pair whose curve joins the points (e^eps_i, delta_i), i = 0 … steps, which are above the mechanism's:
 * their lower convex hull, which stays above as the mechanism's curve is convex. A bend at e^l is the neighbour's mass
 * of the loss l, and so e^l times as much here; by symmetry the neighbour's mass of l is the mass of -l here. */
static void join_points(tacet_pld *one, const double *delta, size_t *hull) {
    const size_t n = one->steps;
    size_t count = 0;
    double sum = 0, used = 0;
    for (size_t i = 0; i <= n; i++) {
        while (count >= 2 &&
               slope(one, delta, hull[count - 2], hull[count - 1]) >= slope(one, delta, hull[count - 1], i)) {
            count--;
        }
        hull[count++] = i;
        sum += delta[i];
    }
    memset(one->mass, 0, places(one) * sizeof *one->mass);
    /* A mass is a difference of slopes, each off by some units of delta_i / h: counted as certain loss. */
    one->certain = delta[n] + 16 * UNIT * (1 + sum) / one->h;
    for (size_t k = 1; k < count; k++) {
        const double before = slope(one, delta, hull[k - 1], hull[k]);
        const double after = k + 1 < count ? slope(one, delta, hull[k], hull[k + 1]) : 0;
        const double neighbours = fmax(0, after - before);
        one->mass[n - hull[k]] = neighbours;
        one->mass[n + hull[k]] = neighbours * at_place(one, hull[k]);
        used += one->mass[n - hull[k]] + one->mass[n + hull[k]];
    }
    one->mass[n] = fmax(0, 1 - used);
}

typedef double (*curve_fn)(const double *parameters, double eps);

static tacet_status add_curve(tacet_pld *p, curve_fn curve, const double *parameters, uint64_t times,
                              tacet_error *err) {
    tacet_pld *one = NULL;
    double *delta = TACET__ZALLOC(double, p->steps + 1);
    size_t *hull = TACET__ZALLOC(size_t, p->steps + 1);
    tacet_status status = tacet_pld_create(&one, p->h * (double)p->steps, p->steps, err);
    if (status == TACET_OK && (delta == NULL || hull == NULL)) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory for a curve");
    }
    if (status == TACET_OK) {
        one->h = p->h;
        for (size_t i = 0; i <= p->steps; i++) {
            delta[i] = fmin(1, fmax(0, curve(parameters, (double)i * p->h)));
        }
        join_points(one, delta, hull);
        status = compose(p, one, times, err);
    }
    free(delta);
    free(hull);
    tacet_pld_free(one);
    return status;
}

static double gaussian_curve(const double *mu, double eps) {
    double delta = 1;
    (void)tacet_gdp_delta(&delta, *mu, eps, NULL);
    return delta;
}

/* Laplace noise of pure eps0 on a number: 1 - exp((eps - eps0)/2). */
static double laplace_curve(const double *eps0, double eps) {
    return eps >= *eps0 ? 0 : -expm1(0.5 * (eps - *eps0)) * (1 + 4 * UNIT);
}

/* All that is (eps0, delta0)-DP: randomised response of eps0, and everything with probability delta0. */
static double approx_curve(const double *p, double eps) {
    const double rest = eps >= p[0] ? 0 : (exp(p[0]) - exp(eps)) / (1 + exp(p[0])) * (1 + 16 * UNIT);
    return p[1] + (1 - p[1]) * rest;
}

tacet_status tacet_pld_gaussian(tacet_pld *p, double mu, uint64_t times, tacet_error *err) {
    double check = 0;
    const tacet_status status = tacet_gdp_delta(&check, mu, 1, err);
    return status == TACET_OK ? add_curve(p, gaussian_curve, &mu, times, err) : status;
}

tacet_status tacet_pld_laplace(tacet_pld *p, double eps, uint64_t times, tacet_error *err) {
    return eps > 0 && eps < 500 ? add_curve(p, laplace_curve, &eps, times, err)
                                : tacet__fail(err, TACET_INVALID, "eps must be above 0 and below 500");
}

tacet_status tacet_pld_approx(tacet_pld *p, double eps, double delta, uint64_t times, tacet_error *err) {
    const double both[] = {eps, delta};
    return eps > 0 && eps < 500 && delta >= 0 && delta < 1
               ? add_curve(p, approx_curve, both, times, err)
               : tacet__fail(err, TACET_INVALID, "eps must be above 0 and below 500, delta from 0 to below 1");
}

/* The certified curve at some points up to the pure eps (the first parameter), joined from above between them. */
static double joined(const double *parameters, double eps) {
    const double pure = parameters[0], *points = parameters + 1;
    if (eps >= pure) {
        return 0;
    }
    const double at = eps / pure * L2_POINTS;
    const size_t i = (size_t)at < L2_POINTS ? (size_t)at : L2_POINTS - 1;
    /* convex in e^eps: the chord is above */
    const double a = exp((double)i * pure / L2_POINTS), b = exp((double)(i + 1) * pure / L2_POINTS);
    const double t = fmin(1, fmax(0, (exp(eps) - a) / (b - a)));
    return (points[i] * (1 - t) + points[i + 1] * t) * (1 + 64 * UNIT);
}

tacet_status tacet_pld_l2(tacet_pld *p, double scale, double sensitivity, size_t dims, uint64_t times,
                          tacet_error *err) {
    double c[L2_POINTS + 2] = {sensitivity / scale * (1 + UNIT)};
    tacet_status status = TACET_OK;
    for (size_t i = 0; i <= L2_POINTS && status == TACET_OK; i++) {
        const double eps = fmax(1e-6, (double)i * c[0] / L2_POINTS * (1 - 4 * UNIT)); /* not after the point */
        status = tacet_l2_delta(&c[i + 1], scale, i == 0 ? 1e-6 : eps, sensitivity, dims, err);
        c[i + 1] += i == 0 ? 2e-6 : 0; /* delta at 0 is at most that much more */
    }
    return status == TACET_OK ? add_curve(p, joined, c, times, err) : status;
}

double tacet_pld_delta(const tacet_pld *p, double eps) {
    double sum = 0;
    for (size_t i = places(p); i-- > 0;) {
        const double loss = ((double)i - (double)p->steps) * p->h;
        if (loss <= eps) {
            break;
        }
        sum += p->mass[i] * -expm1(eps - loss);
    }
    return fmin(1, (p->certain + sum) * (1 + p->error + 4 * (double)places(p) * UNIT));
}

double tacet_pld_eps(const tacet_pld *p, double delta) {
    double low = 0, high = p->h * (double)p->steps;
    if (tacet_pld_delta(p, 0) <= delta) {
        return 0;
    }
    if (!(tacet_pld_delta(p, high) <= delta)) {
        return INFINITY;
    }
    for (int i = 0; i < 60; i++) {
        const double middle = 0.5 * (low + high);
        if (tacet_pld_delta(p, middle) <= delta) {
            high = middle;
        } else {
            low = middle;
        }
    }
    return high;
}
