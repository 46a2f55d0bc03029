/* SPDX-License-Identifier: Apache-2.0 */
/* certify.c - suprema that no point exceeds: branch and bound over the unit box.
 * Ring: shared. Source: src/contextual/README.md, section 4. On a cell with centre c and half widths h, u(w) is its
 * linear part at c and a rest, whose norm is at most z^-1/2 that of k(., w) - k(., c) - (w - c)'grad k(., c) in the
 * kernel's space (features are a projection, and Z >= z I): a known function of the distance. The norm of the linear
 * part is convex, so its largest value is at a corner. A maximum over sampled points is no bound: it is 0.2 to 0.9 of
 * the supremum. Cost: a cell is d + 1 feature vectors; some hundred cells for 1 % in two coordinates. */
#include "contextual/shared/internal.h"

#include "core/fail.h"
#include "gp/kernel_internal.h"
#include "gp/linalg.h"
#include "core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 8 }; /* cells halved at once: a matrix product reads the features once for all */

typedef struct cell {
    double centre[TACET_CONTEXTUAL_DIM_MOST], half[TACET_CONTEXTUAL_DIM_MOST];
    double upper;
    unsigned corner; /* where the linear part is largest: bit i set means + in coordinate i */
} cell;

typedef struct search {
    const tacet__lever *lever;
    size_t m, d;
    double root;    /* of the least eigenvalue of Z, or of tau */
    unsigned half;  /* 0: SE; 1, 2: Matérn 3/2, 5/2 */
    double *kernel; /* nodes x (1 + d) a cell, of 2 BATCH: kernel values and slopes */
    double *u;      /* m x (1 + d) a cell: u and its derivatives at its centre */
    double *corner; /* m */
    cell *heap;
    size_t count, capacity;
    double found;
} search;

void tacet__lever_apply(const tacet__lever *lever, double *phi, size_t n) {
    const size_t m = lever->features->m;
    if (lever->inverse_root == NULL) {
        tacet__trsm(false, m, n, lever->L, m, phi, m);
        return;
    }
    for (size_t j = 0; j < n; j++) {
        for (size_t i = 0; i < m; i++) {
            phi[j * m + i] *= lever->inverse_root[i];
        }
    }
}

/* The value at a point of the box. */
static double value_at(search *s, const double *w) {
    tacet_features_eval(s->lever->features, s->u, w, s->d, 1);
    tacet__lever_apply(s->lever, s->u, 1);
    return tacet__norm2(s->u, s->m);
}

double tacet__contextual_remainder(unsigned half, double r) {
    /* |k(., w) - k(., c) - (w - c)'grad k(., c)|^2 = 2 - k''(0) r^2 - 2 k(r) + 2 r k'(r), which grows with r. */
    const double t = half == 0 ? r : sqrt(2.0 * half + 1) * r;
    const double t2 = t * t;
    double square = 0;
    double leading = 0; /* the first term of its expansion, an upper bound where r is small and the rest cancels */
    if (half == 0) {
        square = 2 + t2 - 2 * (1 + t2) * exp(-t2 / 2);
        leading = 0.75 * t2 * t2;
    } else if (half == 1) {
        square = 2 + t2 - 2 * (1 + t + t2) * exp(-t);
        leading = 4.0 / 3 * t2 * t;
    } else {
        square = 2 + t2 / 3 - 2 * (1 + t + t2 / 3 + t2 * (1 + t) / 3) * exp(-t);
        leading = 0.25 * t2 * t2;
    }
    return sqrt(fmin(fmax(square, 0) + 4e-15, leading));
}

/* How far |u(w)| can lie above its linear part: at a corner of the cell, in lengthscales. */
static double rest(const search *s, const double *half) {
    double sum = 0;
    for (size_t i = 0; i < s->d; i++) {
        const double h = half[i] / s->lever->lengthscale[i];
        sum += h * h;
    }
    return tacet__contextual_remainder(s->half, sqrt(sum)) / s->root;
}

/* Largest value of the linear part over the corners of the cell. */
static double linear_part(search *s, cell *c, const double *base) {
    double best = -1;
    for (unsigned corner = 0; corner < 1U << s->d; corner++) {
        memcpy(s->corner, base, s->m * sizeof *base);
        for (size_t i = 0; i < s->d; i++) {
            tacet__axpy(s->corner, (corner >> i & 1U) != 0 ? c->half[i] : -c->half[i], base + (i + 1) * s->m, s->m);
        }
        const double value = tacet__norm2(s->corner, s->m);
        if (value > best) {
            best = value;
            c->corner = corner;
        }
    }
    return best;
}

/* u and its derivatives at the centres of n <= 2 BATCH cells, by one matrix product. */
static void levers_at(search *s, const cell *cells, size_t n) {
    const tacet_features *features = s->lever->features;
    const tacet__feature_block *block = &features->blocks[0];
    const size_t q = block->count;
    const size_t columns = 1 + s->d;
    for (size_t i = 0; i < n; i++) {
        double *K = s->kernel + i * columns * q;
        tacet__kernel_row_soa(features->kernel, K, block->Zt, q, q, cells[i].centre);
        tacet__kernel_row_dx(features->kernel, K + q, q, block->Z, s->d, q, cells[i].centre);
    }
    tacet__gemm(true, false, s->m, n * columns, q, 1, block->A, q, s->kernel, q, 0, s->u, s->m);
    tacet__lever_apply(s->lever, s->u, n * columns);
}

static void bound_cells(search *s, cell *cells, size_t n) {
    levers_at(s, cells, n);
    for (size_t i = 0; i < n; i++) {
        const double *base = s->u + i * (1 + s->d) * s->m;
        s->found = fmax(s->found, tacet__norm2(base, s->m));
        cells[i].corner = 0;
        cells[i].upper = linear_part(s, &cells[i], base) + rest(s, cells[i].half);
    }
}

static tacet_status push(search *s, const cell *c, tacet_error *err) {
    if (!tacet__grow((void **)&s->heap, &s->capacity, s->count + 1, sizeof *s->heap)) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu cells", s->count + 1);
    }
    size_t at = s->count++;
    while (at > 0 && s->heap[(at - 1) / 2].upper < c->upper) {
        s->heap[at] = s->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    s->heap[at] = *c;
    return TACET_OK;
}

static cell pop(search *s) {
    const cell top = s->heap[0];
    const cell last = s->heap[--s->count];
    size_t at = 0;
    for (size_t child = 1; child < s->count; child = 2 * at + 1) {
        if (child + 1 < s->count && s->heap[child + 1].upper > s->heap[child].upper) {
            child++;
        }
        if (s->heap[child].upper <= last.upper) {
            break;
        }
        s->heap[at] = s->heap[child];
        at = child;
    }
    s->heap[at] = last;
    return top;
}

/* Halves a cell across the side that is longest in lengthscales. */
static void halve(const search *s, cell *parts, const cell *c) {
    size_t longest = 0;
    for (size_t i = 1; i < s->d; i++) {
        if (c->half[i] / s->lever->lengthscale[i] > c->half[longest] / s->lever->lengthscale[longest]) {
            longest = i;
        }
    }
    for (size_t i = 0; i < 2; i++) {
        parts[i] = *c;
        parts[i].half[longest] *= 0.5;
        parts[i].centre[longest] += (i == 0 ? -1 : 1) * parts[i].half[longest];
    }
}

/* A look at where the popped cell's linear part was largest: raises `found`, which is what ends the search. */
static void probe_peak(search *s, const cell *c) {
    double w[TACET_CONTEXTUAL_DIM_MOST] = {0};
    for (size_t i = 0; i < s->d; i++) {
        w[i] = c->centre[i] + ((c->corner >> i & 1U) != 0 ? c->half[i] : -c->half[i]);
    }
    s->found = fmax(s->found, value_at(s, w));
}

/* The largest value at the corners of the box, where suprema usually are. */
static void look_at_corners(search *s, cell *box) {
    for (box->corner = 0; box->corner < 1U << s->d; box->corner++) {
        probe_peak(s, box);
    }
}

static tacet_status begin(search *s, tacet_error *err) {
    const tacet_kernel_spec *spec = tacet_kernel_describe(s->lever->features->kernel);
    const size_t columns = (size_t)2 * BATCH * (1 + s->lever->d);
    s->m = s->lever->features->m;
    s->d = s->lever->d;
    s->half = spec->kind == TACET_KERNEL_SE ? 0 : spec->matern_p;
    s->root = INFINITY;
    for (size_t k = 0; k < s->m && s->lever->inverse_root != NULL; k++) {
        s->root = fmin(s->root, 1 / s->lever->inverse_root[k]);
    }
    s->root = isfinite(s->root) ? s->root : sqrt(s->lever->tau);
    s->u = TACET__ZALLOC(double, s->m *columns);
    s->kernel = TACET__ALIGNED(double, s->lever->features->blocks[0].count *columns);
    s->corner = TACET__ZALLOC(double, s->m);
    if (s->u == NULL || s->corner == NULL || s->kernel == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a certificate");
    }
    cell whole = {.upper = INFINITY};
    for (size_t i = 0; i < s->d; i++) {
        whole.centre[i] = whole.half[i] = 0.5;
    }
    look_at_corners(s, &whole);
    bound_cells(s, &whole, 1);
    return push(s, &whole, err);
}

/* One step: the largest cells that are above `enough` are halved, and their halves bounded. */
static tacet_status step(search *s, double enough, size_t *cells, tacet_error *err) {
    cell parts[2 * BATCH];
    size_t n = 0;
    tacet_status status = TACET_OK;
    for (size_t k = 0; k < BATCH && s->count > 0 && s->heap[0].upper > enough; k++) {
        const cell top = pop(s);
        if (k == 0) {
            probe_peak(s, &top);
        }
        halve(s, parts + n, &top);
        n += 2;
    }
    double before[2 * BATCH];
    for (size_t i = 0; i < n; i++) {
        before[i] = parts[i].upper;
    }
    bound_cells(s, parts, n);
    for (size_t i = 0; i < n && status == TACET_OK; i++) {
        parts[i].upper = fmin(parts[i].upper, before[i]);
        status = push(s, &parts[i], err);
    }
    *cells += n;
    return status;
}

tacet_status tacet__lever_certify(tacet_contextual_certificate *out, const tacet__lever *lever, double tolerance,
                                  size_t most_cells, tacet_error *err) {
    if (lever->d > TACET_CONTEXTUAL_DIM_MOST || tacet_kernel_describe(lever->features->kernel)->groups != NULL) {
        return tacet__fail(err, TACET_UNSUPPORTED, "suprema are certified in at most %d coordinates, without groups",
                           (int)TACET_CONTEXTUAL_DIM_MOST);
    }
    search s = {.lever = lever};
    size_t cells = 1;
    tacet_status status = begin(&s, err);
    while (status == TACET_OK && s.heap[0].upper > (1 + tolerance) * s.found && cells < most_cells) {
        status = step(&s, (1 + tolerance) * s.found, &cells, err);
    }
    if (status == TACET_OK) {
        /* |phi| <= 1 and Z >= root^2 I: true without any search. Rounding: features are good to 1e-9 of their norm at
         * worst (src/contextual/README.md, section 4). */
        const double searched = fmax(s.heap[0].upper, s.found);
        *out =
            (tacet_contextual_certificate){.upper = fmin(searched, 1 / s.root) * (1 + 1e-12) + 1e-8 / sqrt(lever->tau),
                                           .found = s.found,
                                           .cells = cells};
    }
    free(s.u);
    free(s.kernel);
    free(s.corner);
    free(s.heap);
    return status;
}
