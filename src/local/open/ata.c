/* SPDX-License-Identifier: Apache-2.0 */
/* ata.c - LDP-ATA-GP-UCB: truncation in feature space, of all the past at the current level.
 * Ring: open. Source: Zhou and Tan 2020, Algorithm 1 (Chowdhury and Gopalan 2019, Algorithm 2). Differs: b_t for all of
 * the history (erratum 3). u depends on the arm only, so the reports of an arm are kept sorted by size with their
 * prefix sums, and a row of the estimate is one search per arm. Features, roots and sums are rebuilt when det V has
 * grown by half or a new arm is played; in between V^-1 follows by rank-one updates and a new report is truncated with
 * the roots of the last rebuild; with `eager` all of it is done at every report, as printed. Cost: O(n^2) a round and
 * at most n + 2 gamma_T/ln 1.5 rebuilds of O(n^3 + T); 48 bytes a round; no allocation after create. */
#include "local/open/internal.h"

#include "core/fail.h"
#include "gp/linalg.h"
#include "core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double GROWTH = 0.40546510810816438; /* ln 1.5 */

typedef struct engine {
    tacet__embedded base;
    size_t observed;
    uint64_t rebuilds;
    double growth; /* ln det V since the last rebuild */
    double level;  /* b */
    /* Reports by arm, each run sorted by size; those since the last rebuild are in `fresh`. */
    double *run, *other; /* horizon */
    double *prefix;      /* horizon: sum of the run up to here */
    size_t *start;       /* n + 1: of each arm's run */
    double *fresh;       /* horizon */
    size_t *fresh_arm;   /* horizon */
    size_t *fresh_next;  /* horizon: chains of one arm's fresh reports */
    size_t *fresh_first; /* n */
    size_t fresh_count;
    double *Q, *root, *scaled; /* n x n: eigenvectors of V, V^1/2, scratch */
    double *U, *W;             /* m x n, leading dimension n: V^-1/2 Phi of the last rebuild; V^-1 Phi */
    double *w, *g, *d, *u;     /* n */
} engine;

/* --- sorted runs -------------------------------------------------------------------------------------------------- */

/* Merges the sorted halves of each width into the other array, doubling; the result is in a. */
static void sort_by_size(double *a, double *scratch, size_t count) {
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t at = 0; at < count; at += 2 * width) {
            const size_t middle = at + width < count ? at + width : count;
            const size_t end = at + 2 * width < count ? at + 2 * width : count;
            size_t i = at;
            size_t j = middle;
            for (size_t k = at; k < end; k++) {
                scratch[k] = i < middle && (j == end || fabs(a[i]) <= fabs(a[j])) ? a[i++] : a[j++];
            }
        }
        memcpy(a, scratch, count * sizeof *a);
    }
}

/* The arm's fresh reports go into its run. */
static size_t merge_arm(engine *e, size_t arm, size_t at) {
    size_t count = 0;
    for (size_t k = e->fresh_first[arm]; k != SIZE_MAX; k = e->fresh_next[k]) {
        e->prefix[at + count++] = e->fresh[k];
    }
    sort_by_size(e->prefix + at, e->other + at, count);
    size_t i = e->start[arm];
    const size_t end = e->start[arm + 1];
    const size_t total = end - i + count;
    size_t j = 0;
    /* prefix[at …] holds the fresh ones; other[at …] becomes the merged run. */
    for (size_t k = 0; k < total; k++) {
        e->other[at + k] =
            i < end && (j == count || fabs(e->run[i]) <= fabs(e->prefix[at + j])) ? e->run[i++] : e->prefix[at + j++];
    }
    return total;
}

static void sum_runs(engine *e) {
    for (size_t arm = 0; arm < e->base.p->n; arm++) {
        double sum = 0;
        for (size_t k = e->start[arm]; k < e->start[arm + 1]; k++) {
            sum += e->run[k];
            e->prefix[k] = sum;
        }
    }
}

static void merge_runs(engine *e) {
    const size_t n = e->base.p->n;
    for (size_t i = 0; i < n; i++) {
        e->fresh_first[i] = SIZE_MAX;
    }
    for (size_t k = e->fresh_count; k-- > 0;) {
        e->fresh_next[k] = e->fresh_first[e->fresh_arm[k]];
        e->fresh_first[e->fresh_arm[k]] = k;
    }
    size_t at = 0;
    for (size_t arm = 0; arm < n; arm++) {
        const size_t total = merge_arm(e, arm, at);
        e->start[arm] = at;
        at += total;
    }
    /* start[arm + 1] was still the old end while its arm was merged: the last one follows here. */
    e->start[n] = at;
    double *kept = e->run;
    e->run = e->other;
    e->other = kept;
    sum_runs(e);
    e->fresh_count = 0;
}

/* Sum of the arm's reports of size at most `most`. */
static double truncated_sum(const engine *e, size_t arm, double most) {
    size_t lo = e->start[arm];
    size_t hi = e->start[arm + 1];
    if (lo == hi || fabs(e->run[hi - 1]) <= most) {
        return lo == hi ? 0 : e->prefix[hi - 1];
    }
    const size_t first = lo;
    while (lo < hi) {
        const size_t middle = lo + (hi - lo) / 2;
        if (fabs(e->run[middle]) <= most) {
            lo = middle + 1;
        } else {
            hi = middle;
        }
    }
    return lo == first ? 0 : e->prefix[lo - 1];
}

/* --- estimates ---------------------------------------------------------------------------------------------------- */

/* out (m x n, ld n) = Q diag(w^power) Q' Phi. */
static void apply_power(engine *e, double *out, double power) {
    const size_t n = e->base.p->n;
    const size_t m = e->base.ny.m;
    for (size_t i = 0; i < m; i++) {
        const double factor = pow(e->w[i], power);
        for (size_t k = 0; k < m; k++) {
            e->scaled[i * m + k] = factor * e->Q[i * m + k];
        }
    }
    /* root is free here: it is formed last. */
    tacet__gemm(false, true, m, m, m, 1, e->scaled, m, e->Q, m, 0, e->root, m);
    if (out != NULL) {
        tacet__gemm(false, false, m, n, m, 1, e->root, m, e->base.ny.features, n, 0, out, n);
    }
}

static tacet_status factor(engine *e, tacet_error *err) {
    const size_t m = e->base.ny.m;
    tacet__embedded_design(&e->base, e->Q, e->scaled);
    const tacet_status status = tacet__eigh_in(e->Q, m, m, e->w, e->base.ny.scratch, err);
    for (size_t i = 0; i < m && status == TACET_OK; i++) {
        e->w[i] = fmax(e->w[i], e->base.p->s.lambda); /* V >= lambda I, whatever rounding says */
    }
    return status;
}

static tacet_status rebuild(engine *e, tacet_error *err) {
    const size_t n = e->base.p->n;
    bool changed = false;
    tacet_status status = tacet__nystrom_update(&e->base.ny, &changed, e->base.plays, e->base.var, e->rebuilds, err);
    if (status == TACET_OK && e->base.ny.m > 0) {
        status = factor(e, err);
    }
    if (status != TACET_OK) {
        return status;
    }
    const size_t m = e->base.ny.m;
    merge_runs(e);
    e->rebuilds++;
    e->growth = 0;
    e->level = tacet__local_level_ata(e->base.p, m);
    if (m > 0) {
        apply_power(e, e->U, -0.5);
        apply_power(e, e->W, -1);
        apply_power(e, NULL, 0.5);
    }
    for (size_t i = 0; i < m; i++) {
        double r = 0;
        for (size_t j = 0; j < n; j++) {
            const double u = e->U[j * n + i];
            if (e->base.plays[j] > 0 && u != 0) {
                r += u * truncated_sum(e, j, e->level / fabs(u));
            }
        }
        e->d[i] = r;
    }
    for (size_t j = 0; j < n; j++) {
        const double *u = e->U + j * n;
        e->base.mean[j] = m > 0 ? tacet__dot(u, e->d, m) : 0;
        e->base.var[j] = e->base.ny.residual[j] + (m > 0 ? e->base.p->s.lambda * tacet__dot(u, u, m) : 0);
    }
    return TACET_OK;
}

/* V += phi phi', and the report truncated as the last rebuild would have. */
static void follow(engine *e, size_t arm, double y) {
    const size_t n = e->base.p->n;
    const size_t m = e->base.ny.m;
    const double *phi = e->base.ny.features + arm * n;
    double *wa = e->u;
    memcpy(wa, e->W + arm * n, m * sizeof *wa);
    tacet__gemv(true, m, n, 1, e->base.ny.features, n, wa, 0, e->g);
    const double inflate = 1 + e->g[arm];
    const double old = e->base.mean[arm];
    for (size_t j = 0; j < n; j++) {
        const double share = e->g[j] / inflate;
        e->base.mean[j] -= share * old;
        e->base.var[j] = fmax(e->base.var[j] - e->base.p->s.lambda * share * e->g[j], 0);
        tacet__axpy(e->W + j * n, -share, wa, m);
    }
    e->growth += log(inflate);
    /* d = V_old^1/2 trunc(u y); without truncation that is phi y. */
    const double *u = e->U + arm * n;
    bool cut = false;
    for (size_t i = 0; i < m; i++) {
        const double term = u[i] * y;
        const bool keep = fabs(term) <= e->level;
        cut = cut || !keep;
        e->u[i] = keep ? term : 0;
    }
    if (cut) {
        tacet__gemv(false, m, m, 1, e->root, m, e->u, 0, e->d);
    } else {
        for (size_t i = 0; i < m; i++) {
            e->d[i] = phi[i] * y;
        }
    }
    tacet__gemv(true, m, n, 1, e->W, n, e->d, 1, e->base.mean);
}

static tacet_status observe(void *self, size_t arm, double y, tacet_error *err) {
    engine *e = self;
    const bool first = e->base.plays[arm] == 0;
    e->base.plays[arm]++;
    e->fresh[e->fresh_count] = y;
    e->fresh_arm[e->fresh_count++] = arm;
    tacet_status status = TACET_OK;
    if (first || e->growth > GROWTH || e->base.p->s.eager) {
        status = rebuild(e, err);
    } else {
        follow(e, arm, y);
    }
    if (status != TACET_OK) {
        e->base.plays[arm]--;
        e->fresh_count--;
        return status;
    }
    e->observed++;
    return TACET_OK;
}

static double width(const void *self, size_t t) {
    const engine *e = self;
    (void)t;
    /* beta_1: nothing is embedded yet, |f| <= B sigma_0. */
    return e->observed == 0 ? e->base.p->s.bound : tacet__local_beta_ata(e->base.p, e->base.ny.m);
}

static void bounds(void *self, double *out, size_t t) {
    const engine *e = self;
    tacet__embedded_bounds(&e->base, out, width(e, t));
}

static void reset(void *self) {
    engine *e = self;
    const size_t n = e->base.p->n;
    tacet__embedded_reset(&e->base);
    memset(e->start, 0, (n + 1) * sizeof *e->start);
    e->observed = e->fresh_count = 0;
    e->rebuilds = 0;
    e->growth = 0;
}

/* Runs sorted by size, then the reports since; each arm has as many as it was played. */
static void check_reports(engine *e, tacet__state *s) {
    const size_t n = e->base.p->n;
    for (size_t j = 0; j < n; j++) {
        e->fresh_first[j] = e->start[j + 1] - e->start[j]; /* counts here; chains only while runs are merged */
    }
    for (size_t k = 0; k < e->fresh_count; k++) {
        e->fresh_first[e->fresh_arm[k]]++;
    }
    for (size_t j = 0; j < n; j++) {
        tacet__state_require(s, "runs", e->fresh_first[j] == e->base.plays[j]);
        for (size_t k = e->start[j] + 1; k < e->start[j + 1]; k++) {
            tacet__state_require(s, "runs", fabs(e->run[k]) >= fabs(e->run[k - 1]));
        }
    }
}

/* What a round reads of the last: the runs and fresh reports, features, and the matrices that follow them. Prefix sums
 * and the level follow from these; the rest is scratch. */
static void visit_state(void *self, tacet__state *s, size_t observed) {
    engine *e = self;
    const size_t n = e->base.p->n;
    tacet__embedded_state(&e->base, s);
    const size_t m = e->base.ny.m;
    tacet__state_u64(s, "rebuilds", &e->rebuilds, UINT64_MAX);
    tacet__state_f64(s, "growth", &e->growth, -1e300, 1e300);
    tacet__state_matrix(s, "U", e->U, n, m, n);
    tacet__state_matrix(s, "W", e->W, n, m, n);
    tacet__state_matrix(s, "root", e->root, m, m, m);
    tacet__state_sizes(s, "starts", e->start + 1, n, observed);
    for (size_t j = 0; j < n && tacet__state_taking(s); j++) {
        tacet__state_require(s, "starts", e->start[j + 1] >= e->start[j] && e->base.plays[j] <= observed);
    }
    if (tacet__state_taking(s)) {
        e->fresh_count = observed - e->start[n];
    }
    tacet__state_f64s(s, "runs", e->run, e->start[n]);
    tacet__state_f64s(s, "fresh", e->fresh, e->fresh_count);
    tacet__state_sizes(s, "fresh arms", e->fresh_arm, e->fresh_count, n - 1);
    if (tacet__state_taking(s)) {
        check_reports(e, s);
    }
    if (tacet__state_taking(s)) {
        e->observed = observed;
        e->level = tacet__local_level_ata(e->base.p, m);
        sum_runs(e);
    }
}

static bool allocate(void *self) {
    engine *e = self;
    const size_t n = e->base.p->n;
    const size_t T = e->base.p->s.horizon;
    double **const squares[] = {&e->Q, &e->root, &e->scaled, &e->U, &e->W};
    double **const vectors[] = {&e->w, &e->g, &e->d, &e->u};
    double **const rounds[] = {&e->run, &e->other, &e->prefix, &e->fresh};
    for (size_t i = 0; i < sizeof squares / sizeof squares[0]; i++) {
        *squares[i] = TACET__EMBEDDED(&e->base, double, n *n);
    }
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        *vectors[i] = TACET__EMBEDDED(&e->base, double, n);
    }
    for (size_t i = 0; i < sizeof rounds / sizeof rounds[0]; i++) {
        *rounds[i] = TACET__EMBEDDED(&e->base, double, T);
    }
    e->start = TACET__EMBEDDED(&e->base, size_t, n + 1);
    e->fresh_arm = TACET__EMBEDDED(&e->base, size_t, T);
    e->fresh_next = TACET__EMBEDDED(&e->base, size_t, T);
    e->fresh_first = TACET__EMBEDDED(&e->base, size_t, n);
    return true;
}

static const tacet__local_engine ENGINE = {.observe = observe,
                                           .bounds = bounds,
                                           .width = width,
                                           .mean = tacet__embedded_mean,
                                           .var = tacet__embedded_var,
                                           .reset = reset,
                                           .free = tacet__embedded_free,
                                           .state = visit_state};

tacet_status tacet__local_ata(void **out, const tacet__local_engine **ops, const tacet__local *p, tacet_error *err) {
    *ops = &ENGINE;
    return tacet__embedded_create(out, sizeof(engine), &ENGINE, allocate, p, err);
}
