/* SPDX-License-Identifier: Apache-2.0 */
/* gp.c - Gaussian process posterior on a finite domain, one observation at a time.
 * Ring: pure. Source: Rasmussen and Williams, "Gaussian Processes for Machine Learning" (2006), section 2.2, with the
 * factor of K + noise I grown by a row per observation; only V = L^-1 K(observed, all) is kept, never L itself.
 * Differs: the row of L is read off V (its entries at the observed candidate), so nothing is solved; kernel row,
 * product with V, and the update of mean and variance run block by block, so that V is streamed once and everything
 * else stays in cache. The product is written out instead of handed to BLAS: each candidate is summed in the order of
 * the observations whatever its place, so equal candidates keep equal bits and ties are ties.
 * Cost: O(n t) per observation, 8 n T bytes; no allocation in observe. */
#include "gp/gp.h"

#include "gp/cov_internal.h"
#include "gp/gp_internal.h"
#include "core/fail.h"
#include "core/memory.h"
#include "gp/vexp.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Candidates per block: 32 KiB of kernel row, and stretches of V long enough for the prefetcher. */
enum { BLOCK = 4096 };
enum { STEP = 128 };   /* candidates whose kernel values are worked out between two looks ahead, … */
enum { AHEAD = 8 };    /* … and the columns of V that are fetched meanwhile: more would push each other out */
enum { LINE = 64 };    /* bytes of a cache line */
enum { FETCHED = 32 }; /* candidates whose entries of V are fetched at a time, … */
enum { SOON = 128 };   /* … this many before they are summed */
enum { MOVED = 256 };  /* candidates moved before they are looked at, still in the nearest cache */

static const double PIVOT_FLOOR = 1e-10;  /* relative to the prior variance: below it the matrix counts as singular */
static const double JITTER_FIRST = 1e-12; /* the schedule of the Cholesky factorisation: each step ten times the last */

struct tacet_gp {
    const tacet_cov *cov;
    size_t n;
    double prior_mean;
    double noise_var;
    size_t capacity; /* columns of V there is room for */
    size_t ldv;
    double *V; /* n x capacity: column s is row s of L^-1 K(observed, all) */
    double *mean;
    double *var;
    double *block;            /* scratch: BLOCK doubles */
    size_t d;                 /* coordinates of a point */
    double *pivot;            /* scratch: the point of the candidate observed, then its row of L; d + capacity */
    tacet__gp_watch_fn watch; /* NULL, or sees mean and variance of each block as it is moved */
    void *watcher;
    tacet_gp_report report;
};

void tacet_gp_reset(tacet_gp *gp) {
    memset(&gp->report, 0, sizeof gp->report);
    for (size_t j = 0; j < gp->n; j++) {
        gp->mean[j] = gp->prior_mean;
    }
    tacet_cov_diag(gp->cov, gp->var, 0, gp->n);
}

static tacet_status check_settings(const tacet_gp_settings *settings, tacet_error *err) {
    if (!isfinite(settings->mean)) {
        return tacet__fail(err, TACET_INVALID, "the prior mean is not finite");
    }
    if (!(settings->noise_var >= 0 && isfinite(settings->noise_var))) {
        return tacet__fail(err, TACET_INVALID, "the noise variance must be finite and not negative");
    }
    return TACET_OK;
}

tacet_status tacet_gp_create(tacet_gp **out, const tacet_gp_settings *settings, const tacet_cov *cov,
                             tacet_error *err) {
    *out = NULL;
    tacet_status status = check_settings(settings, err);
    if (status != TACET_OK) {
        return status;
    }
    tacet_gp *gp = TACET__ZALLOC(tacet_gp, 1);
    if (gp == NULL) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory creating a GP");
        goto done;
    }
    gp->cov = cov;
    gp->n = tacet_cov_size(cov);
    gp->d = tacet__cov_dim(cov);
    gp->prior_mean = settings->mean;
    gp->noise_var = settings->noise_var;
    gp->ldv = (gp->n + 7) / 8 * 8;
    if (gp->ldv % 64 == 0) {
        gp->ldv += 8; /* columns a multiple of 512 bytes apart would fight for the same cache sets */
    }
    gp->capacity = settings->horizon;
    size_t cells = 0;
    size_t needs = 0;
    if (!tacet__size_mul(&cells, gp->ldv, gp->capacity) || !tacet__size_add(&needs, gp->capacity, gp->d)) {
        status = tacet__fail(err, TACET_OVERFLOW, "%zu observations of %zu candidates do not fit a size", gp->capacity,
                             gp->n);
        goto done;
    }
    gp->V = TACET__ALIGNED(double, cells);
    gp->pivot = TACET__ALIGNED(double, needs);
    gp->mean = TACET__ALIGNED(double, gp->n);
    gp->var = TACET__ALIGNED(double, gp->n);
    gp->block = TACET__ALIGNED(double, BLOCK);
    if (gp->V == NULL || gp->pivot == NULL || gp->mean == NULL || gp->var == NULL || gp->block == NULL) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu observations of %zu candidates", gp->capacity,
                             gp->n);
        goto done;
    }
    tacet_gp_reset(gp);
    *out = gp;
    gp = NULL;
done:
    tacet_gp_free(gp);
    return status;
}

void tacet_gp_free(tacet_gp *gp) {
    if (gp != NULL) {
        free(gp->V);
        free(gp->mean);
        free(gp->var);
        free(gp->block);
        free(gp->pivot);
        free(gp);
    }
}

/* Has bytes brought into cache. They may lie behind the end of an array: nothing is read. */
TACET__INLINE void fetch(uintptr_t from, size_t bytes) {
    for (size_t b = 0; b < bytes; b += LINE) {
        __builtin_prefetch((const void *)(from + b)); /* NOLINT(performance-no-int-to-ptr) */
    }
}

/* w[j] -= sum over s < count of V(j, s) c[s]. Inlined with a constant count, so that the sum of one candidate stays in
 * a register. What comes next in each column is fetched: left to itself, the processor sees so many columns coming too
 * late. */
TACET__INLINE void subtract_few(double *restrict w, const double *restrict V, size_t ldv, size_t m,
                                const double *restrict c, size_t count) {
    for (size_t at = 0; at < m; at += FETCHED) {
        const size_t end = m - at < FETCHED ? m : at + FETCHED;
        for (size_t s = 0; s < count; s++) {
            fetch((uintptr_t)(V + s * ldv) + (at + SOON) * sizeof *V, (end - at) * sizeof *V);
        }
        for (size_t j = at; j < end; j++) {
            double sum = w[j];
            for (size_t s = 0; s < count; s++) {
                sum -= V[s * ldv + j] * c[s];
            }
            w[j] = sum;
        }
    }
}

/* The same for all t, s ascending, for every j alike. Eight columns at a time, then what is left: w is read and written
 * once per eight reads of V. */
TACET__CLONES
static void subtract(double *restrict w, const double *restrict V, size_t ldv, size_t m, const double *restrict c,
                     size_t t) {
    size_t s = 0;
    for (; s + 8 <= t; s += 8) {
        subtract_few(w, V + s * ldv, ldv, m, c + s, 8);
    }
    if (t - s >= 4) {
        subtract_few(w, V + s * ldv, ldv, m, c + s, 4);
        s += 4;
    }
    if (t - s == 3) {
        subtract_few(w, V + s * ldv, ldv, m, c + s, 3);
    } else if (t - s == 2) {
        subtract_few(w, V + s * ldv, ldv, m, c + s, 2);
    } else if (t - s == 1) {
        subtract_few(w, V + s * ldv, ldv, m, c + s, 1);
    }
}

/* The row of L for candidate i: the entries of V at i. */
static void gather(const tacet_gp *gp, double *coef, size_t i) {
    for (size_t s = 0; s < gp->report.count; s++) {
        coef[s] = gp->V[s * gp->ldv + i];
    }
}

/* Smallest step of the schedule that lifts the pivot over the floor; 0 when it stands there already. */
static double jitter_for(double pivot, double prior) {
    const double scale = prior > 0 ? prior : 1; /* a candidate known from the start still needs a pivot */
    double jitter = 0;
    while (!(pivot + jitter >= PIVOT_FLOOR * scale)) {
        jitter = jitter == 0 ? JITTER_FIRST * scale : jitter * 10;
    }
    return jitter;
}

/* The new column, and mean and variance moved by it. */
TACET__CLONES
static void move(double *restrict mean, double *restrict var, double *restrict column, const double *restrict w,
                 double inverse, double innovation, size_t m) {
    for (size_t j = 0; j < m; j++) {
        const double v = w[j] * inverse;
        const double left = var[j] - v * v;
        column[j] = v;
        mean[j] += v * innovation;
        var[j] = left > 0 ? left : 0;
    }
}

/* Has the first columns of V of candidates at … at + m - 1 brought into cache. */
static void look_ahead(const tacet_gp *gp, size_t at, size_t m) {
    const size_t count = gp->report.count < AHEAD ? gp->report.count : AHEAD;
    for (size_t s = 0; s < count; s++) {
        fetch((uintptr_t)(gp->V + s * gp->ldv + at), m * sizeof *gp->V);
    }
}

/* The prior's row. Its arithmetic leaves the memory idle, so the start of V comes meanwhile. */
static void prior_row(const tacet_gp *gp, double *w, size_t at, size_t m, const double *x, size_t i) {
    for (size_t done = 0; done < m; done += STEP) {
        const size_t step = m - done < STEP ? m - done : STEP;
        look_ahead(gp, at + done, step);
        tacet__cov_row_at(gp->cov, w + done, at + done, step, x, i);
    }
}

/* Streams V once: new column, and mean and variance moved by it. x is the point of candidate i. */
static void advance(tacet_gp *gp, const double *x, const double *coef, size_t i, double pivot_sd, double innovation) {
    const size_t t = gp->report.count;
    const double inverse = 1 / pivot_sd;
    double *restrict w = gp->block;
    for (size_t at = 0; at < gp->n; at += BLOCK) {
        const size_t m = gp->n - at < BLOCK ? gp->n - at : BLOCK;
        prior_row(gp, w, at, m, x, i);
        subtract(w, gp->V + at, gp->ldv, m, coef, t);
        for (size_t done = 0; done < m; done += MOVED) {
            const size_t part = m - done < MOVED ? m - done : MOVED;
            const size_t to = at + done;
            move(gp->mean + to, gp->var + to, gp->V + t * gp->ldv + to, w + done, inverse, innovation, part);
            if (gp->watch != NULL) {
                gp->watch(gp->watcher, gp->mean + to, gp->var + to, to, part);
            }
        }
    }
}

void tacet__gp_watch(tacet_gp *gp, tacet__gp_watch_fn watch, void *watcher) {
    gp->watch = watch;
    gp->watcher = watcher;
}

static tacet_status may_observe(const tacet_gp *gp, size_t candidate, double y, tacet_error *err) {
    if (candidate >= gp->n) {
        return tacet__fail(err, TACET_INVALID, "candidate %zu does not exist: there are %zu", candidate, gp->n);
    }
    if (!isfinite(y)) {
        return tacet__fail(err, TACET_INVALID, "the value observed at candidate %zu is not finite", candidate);
    }
    if (gp->report.count == gp->capacity) {
        return tacet__fail(err, TACET_STATE, "no room for observation %zu: it is beyond the horizon", gp->capacity + 1);
    }
    return TACET_OK;
}

tacet_status tacet_gp_observe(tacet_gp *gp, size_t candidate, double y, tacet_error *err) {
    TACET_OR_RETURN(may_observe(gp, candidate, y, err));
    double prior = 0;
    tacet_cov_diag(gp->cov, &prior, candidate, 1);
    const double before = gp->var[candidate];
    const double jitter = jitter_for(before + gp->noise_var, prior);
    const double square = before + gp->noise_var + jitter;
    const double innovation = (y - gp->mean[candidate]) / sqrt(square);
    if (!isfinite(innovation * innovation)) {
        return tacet__fail(err, TACET_INVALID, "the value observed at candidate %zu is too far from the model",
                           candidate);
    }
    double *coef = gp->pivot + gp->d;
    tacet__cov_point(gp->cov, gp->pivot, candidate);
    gather(gp, coef, candidate);
    advance(gp, gp->pivot, coef, candidate, sqrt(square), innovation);
    const double two_pi = 6.283185307179586476925;
    gp->report.count++;
    gp->report.log_likelihood -= 0.5 * (innovation * innovation + log(two_pi * square));
    if (jitter > 0) {
        gp->report.jittered++;
        gp->report.largest_jitter = fmax(gp->report.largest_jitter, jitter);
    }
    return TACET_OK;
}

size_t tacet_gp_count(const tacet_gp *gp) {
    return gp->report.count;
}

const double *tacet_gp_mean(const tacet_gp *gp) {
    return gp->mean;
}

const double *tacet_gp_var(const tacet_gp *gp) {
    return gp->var;
}

void tacet_gp_report_get(const tacet_gp *gp, tacet_gp_report *out) {
    *out = gp->report;
}
