/* SPDX-License-Identifier: Apache-2.0 */
/* pld.c - composition by privacy-loss distributions, rounded to the private side.
 * Ring: shared. Source: Meiser, Mohammadi 2018; Koskela, Jälkö, Honkela 2020; Doroshenko, Ghazi, Kamath, Kumar,
 * Manurangsi, "Connect the dots" (2022). Differs: convolutions are sums of positive products without a Fourier
 * transform, so that their error is relative and counted; what is cut off above counts as certain loss, below as the
 * least loss kept. Proof: pld.md. Cost: steps^2 for each convolution, 2 log2(times) of them. */
#include "dp/open/pld_internal.h"

#include "core/fail.h"
#include "core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/dp/open/calibrate.h>
#include <tacet/dp/open/l2.h>

enum { DEFAULT_STEPS = 4000, MOST_STEPS = 40000, L2_POINTS = 400 };
static const double UNIT = 0x1p-52;
static const double MOST_EPS = 500;
static const double L2_LEAST = 1e-6; /* the least eps that the certified curve is made for */

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
    }
    for (size_t k = 0; k < count; k++) {
        sum += delta[hull[k]];
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

size_t tacet__pld_points(const tacet_pld *p) {
    return p->steps + 1;
}

tacet_status tacet__pld_add(tacet_pld *p, const double *delta, uint64_t times, tacet_error *err) {
    tacet_pld *one = NULL;
    size_t *hull = TACET__ZALLOC(size_t, p->steps + 1);
    tacet_status status = hull == NULL ? tacet__fail(err, TACET_NO_MEMORY, "out of memory for a curve")
                                       : tacet_pld_create(&one, p->h * (double)p->steps, p->steps, err);
    if (status == TACET_OK) {
        one->h = p->h;
        join_points(one, delta, hull);
        status = compose(p, one, times, err);
    }
    free(hull);
    tacet_pld_free(one);
    return status;
}

static double gaussian_curve(const tacet__loss *loss, double eps) {
    double delta = 1;
    (void)tacet_gdp_delta(&delta, loss->mu, eps, NULL);
    return delta;
}

/* Laplace noise of pure eps0 on a number: 1 - exp((eps - eps0)/2). */
static double laplace_curve(const tacet__loss *loss, double eps) {
    return eps >= loss->eps ? 0 : -expm1(0.5 * (eps - loss->eps)) * (1 + 4 * UNIT);
}

/* All that is (eps0, delta0)-DP: randomised response of eps0, and everything with probability delta0. */
static double approx_curve(const tacet__loss *loss, double eps) {
    const double eps0 = loss->eps;
    const double rest = eps >= eps0 ? 0 : exp(eps) * expm1(eps0 - eps) / (1 + exp(eps0));
    return (loss->delta + (1 - loss->delta) * rest) * (1 + 16 * UNIT);
}

static void raise_point(double *delta, double to) {
    *delta = fmax(*delta, fmin(1, fmax(0, to)));
}

/* Euclidean noise: the certified curve at every stride-th place below the pure eps. The curve falls, so that it is
 * nowhere above the last of them. */
static tacet_status raise_euclidean(const tacet_pld *p, double *delta, const tacet__loss *loss, tacet_error *err) {
    const size_t stride = 1 + (size_t)(fmin(loss->eps / p->h, (double)p->steps) / L2_POINTS);
    double last = 1;
    for (size_t i = 0; i <= p->steps; i++) {
        const double eps = (double)i * p->h;
        if (eps >= loss->eps) {
            last = 0;
        } else if (i % stride == 0) {
            const tacet_status status = tacet_l2_delta(&last, 1, fmax(eps, L2_LEAST), loss->eps, loss->dims, err);
            if (status != TACET_OK) {
                return status;
            }
            last += eps < L2_LEAST ? 2 * L2_LEAST : 0; /* the slope in e^eps is above -1 */
        }
        raise_point(&delta[i], last);
    }
    return TACET_OK;
}

static tacet_status check_loss(const tacet__loss *loss, tacet_error *err) {
    double check = 0;
    if (loss->dims == 0 && loss->mu != 0) {
        return tacet_gdp_delta(&check, loss->mu, 1, err);
    }
    return loss->eps > 0 && loss->eps < MOST_EPS && loss->delta >= 0 && loss->delta < 1
               ? TACET_OK
               : tacet__fail(err, TACET_INVALID, "eps must be above 0 and below 500, delta from 0 to below 1");
}

tacet_status tacet__pld_raise(const tacet_pld *p, double *delta, const tacet__loss *loss, tacet_error *err) {
    double (*const curve)(const tacet__loss *, double) = loss->dims == 1 ? laplace_curve
                                                         : loss->mu != 0 ? gaussian_curve
                                                                         : approx_curve;
    const tacet_status status = check_loss(loss, err);
    if (status != TACET_OK || loss->dims > 1) {
        return status != TACET_OK ? status : raise_euclidean(p, delta, loss, err);
    }
    for (size_t i = 0; i <= p->steps; i++) {
        raise_point(&delta[i], curve(loss, (double)i * p->h));
    }
    return TACET_OK;
}

static tacet_status add_one(tacet_pld *p, tacet__loss loss, uint64_t times, tacet_error *err) {
    double *delta = TACET__ZALLOC(double, p->steps + 1);
    if (delta == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a curve");
    }
    tacet_status status = tacet__pld_raise(p, delta, &loss, err);
    status = status == TACET_OK ? tacet__pld_add(p, delta, times, err) : status;
    free(delta);
    return status;
}

tacet_status tacet_pld_gaussian(tacet_pld *p, double mu, uint64_t times, tacet_error *err) {
    return mu > 0 ? add_one(p, (tacet__loss){.mu = mu}, times, err)
                  : tacet__fail(err, TACET_INVALID, "mu must be above 0");
}

tacet_status tacet_pld_laplace(tacet_pld *p, double eps, uint64_t times, tacet_error *err) {
    return add_one(p, (tacet__loss){.dims = 1, .eps = eps}, times, err);
}

tacet_status tacet_pld_approx(tacet_pld *p, double eps, double delta, uint64_t times, tacet_error *err) {
    return add_one(p, (tacet__loss){.eps = eps, .delta = delta}, times, err);
}

tacet_status tacet_pld_l2(tacet_pld *p, double scale, double sensitivity, size_t dims, uint64_t times,
                          tacet_error *err) {
    const double pure = sensitivity / scale * (1 + UNIT);
    return scale > 0 && dims > 0 ? add_one(p, (tacet__loss){.dims = dims, .eps = pure}, times, err)
                                 : tacet__fail(err, TACET_INVALID, "noise needs a scale above 0 and a coordinate");
}

double tacet_pld_delta(const tacet_pld *p, double eps) {
    double sum = 0;
    for (size_t i = places(p); i-- > 0;) {
        const double rounded = ((double)i - (double)p->steps) * p->h;
        const double loss = rounded + UNIT * fabs(rounded);
        if (loss <= eps) {
            break;
        }
        sum += p->mass[i] * -expm1(eps - loss);
    }
    return fmin(1, (p->certain + sum) * exp(p->error + 4 * (double)places(p) * UNIT)); /* (1 + a)(1 + b)… < e^(a+b…) */
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
