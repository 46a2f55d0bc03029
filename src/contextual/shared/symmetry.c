/* SPDX-License-Identifier: Apache-2.0 */
/* symmetry.c - mirror images and exchanges of coordinates that leave a leverage as it is.
 * Ring: shared. A map g of the box onto itself that keeps the kernel's distances and takes nodes to nodes turns the
 * features phi = A'k_Q, which are orthonormal in the kernel's space, into phi(g w) = O phi(w) + e(w): O is the matrix
 * of inner products, and |e_n(w)| is at most the norm of what is left of a feature beyond the others. So | |u(g w)|^2 -
 * |u(w)|^2 | <= |O'Z^-1 O - Z^-1|_F + 2 E S + E^2,   E^2 = sum_n |e_n|^2/z_n, S^2 what |Z^-1/2 O phi|^2 can be, since
 * |phi| <= 1. What uniform laws and equal lengthscales promise is thus measured, not presumed, and the difference is
 * charged to the certificate; features cut within a group of equal eigenvalues have no symmetry, and fail here. Cost: 2
 * count m^2 a map. */
#include "contextual/shared/internal.h"

#include "core/fail.h"
#include "gp/linalg.h"
#include "core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double SAME_NODE = 1e-14; /* far below the rounding that certificates allow for */
static const double SLACK = 1e-4;      /* of the leverage: a larger difference is no symmetry */

typedef struct maps {
    const tacet__lever *lever;
    const double *Z, *A; /* nodes d x count; count x m */
    size_t d, m, count;
    double *phi;   /* m x count: features at the nodes */
    double *moved; /* count x m: A, its rows permuted */
    double *O, *square;
    size_t *to;
} maps;

/* Coordinate c of the image: mirrored in coordinate `a` when a == b, else a and b exchanged. */
static double image(const double *z, size_t c, size_t a, size_t b) {
    if (a == b) {
        return c == a ? 1 - z[c] : z[c];
    }
    return z[c == a ? b : c == b ? a : c];
}

/* to[j]: the node that is the image of node j; false: some image is none. */
static bool permutation(const maps *s, size_t a, size_t b) {
    for (size_t j = 0; j < s->count; j++) {
        const double *z = s->Z + j * s->d;
        size_t i = 0;
        for (; i < s->count; i++) {
            size_t c = 0;
            while (c < s->d && fabs(s->Z[i * s->d + c] - image(z, c, a, b)) <= SAME_NODE) {
                c++;
            }
            if (c == s->d) {
                break;
            }
        }
        if (i == s->count) {
            return false;
        }
        s->to[j] = i;
    }
    return true;
}

/* How much |u|^2 may change under a map; infinite where nodes do not go to nodes. */
static double defect(const maps *s, size_t a, size_t b) {
    const size_t m = s->m;
    const double *inverse_root = s->lever->inverse_root;
    double outside = 0;
    double turned = 0;
    double largest = 0;
    if (!permutation(s, a, b)) {
        return INFINITY;
    }
    for (size_t n = 0; n < m; n++) {
        for (size_t j = 0; j < s->count; j++) {
            s->moved[n * s->count + j] = s->A[n * s->count + s->to[j]];
        }
    }
    tacet__gemm(true, true, m, m, s->count, 1, s->moved, s->count, s->phi, m, 0, s->O, m);
    tacet__gemm(false, true, s->count, m, m, -1, s->A, s->count, s->O, m, 1, s->moved, s->count);
    for (size_t n = 0; n < m; n++) {
        /* The norm of sum_j x_j k(., node_j) is at most sqrt(count) |x|: kernel values are at most 1. */
        const double left = sqrt((double)s->count) * tacet__norm2(s->moved + n * s->count, s->count) * inverse_root[n];
        outside += left * left;
        largest = fmax(largest, inverse_root[n]);
        for (size_t l = 0; l < m; l++) {
            s->O[l * m + n] *= inverse_root[n];
        }
    }
    tacet__syrk(true, m, m, 1, s->O, m, 0, s->square, m);
    for (size_t l = 0; l < m; l++) {
        for (size_t n = l; n < m; n++) {
            const double e = s->square[l * m + n] - (n == l ? inverse_root[n] * inverse_root[n] : 0);
            turned += (n == l ? 1 : 2) * e * e;
        }
    }
    turned = sqrt(turned);
    return turned + 2 * sqrt(outside) * sqrt(largest * largest + turned) + outside;
}

/* All maps that are symmetries; s has its memory. */
static void measure(const maps *s, tacet__contextual_symmetry *out, double leverage) {
    double worst = 0;
    tacet_features_eval(s->lever->features, s->phi, s->Z, s->d, s->count);
    for (size_t c = 0; c < s->d; c++) {
        const bool alike = c + 1 < s->d && s->lever->lengthscale[c] == s->lever->lengthscale[c + 1];
        const double mirrored = defect(s, c, c);
        const double exchanged = alike ? defect(s, c, c + 1) : INFINITY;
        out->mirror[c] = mirrored <= SLACK * leverage;
        out->exchange[c] = exchanged <= SLACK * leverage;
        worst = fmax(worst, fmax(out->mirror[c] ? mirrored : 0, out->exchange[c] ? exchanged : 0));
    }
    for (size_t c = 0; c + 1 < s->d; c++) {
        /* Where only one of two that are exchanged was mirrored within the slack, a point could need more maps. */
        out->exchange[c] = out->exchange[c] && out->mirror[c] == out->mirror[c + 1];
    }
    /* A point reaches the folded box by at most d mirror images and d (d - 1)/2 exchanges. */
    const size_t most = s->d + s->d * (s->d - 1) / 2;
    out->defect = worst * (double)most;
}

tacet_status tacet__lever_symmetry(tacet__contextual_symmetry *out, const tacet__lever *lever, double leverage,
                                   tacet_error *err) {
    const tacet__feature_block *block = &lever->features->blocks[0];
    maps s = {
        .lever = lever, .Z = block->Z, .A = block->A, .d = lever->d, .m = lever->features->m, .count = block->count};
    tacet_status status = TACET_OK;
    *out = (tacet__contextual_symmetry){0};
    if (lever->inverse_root == NULL) {
        return TACET_OK;
    }
    s.phi = TACET__ALIGNED(double, s.m *s.count);
    s.moved = TACET__ALIGNED(double, s.m *s.count);
    s.O = TACET__ALIGNED(double, s.m *s.m);
    s.square = TACET__ALIGNED(double, s.m *s.m);
    s.to = TACET__ZALLOC(size_t, s.count);
    if (s.phi == NULL || s.moved == NULL || s.O == NULL || s.square == NULL || s.to == NULL) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory for the symmetry of %zu nodes", s.count);
    } else {
        measure(&s, out, leverage);
    }
    free(s.phi);
    free(s.moved);
    free(s.O);
    free(s.square);
    free(s.to);
    return status;
}

bool tacet__contextual_symmetry_keeps(const tacet__contextual_symmetry *s, const double *centre, const double *half,
                                      size_t d) {
    double low = 0; /* the least that the coordinate may be, given those before it */
    for (size_t c = 0; c < d; c++) {
        const double from = centre[c] - half[c];
        low = c > 0 && s->exchange[c - 1] ? fmax(low, from) : from;
        if ((s->mirror[c] && low >= 0.5) || low > centre[c] + half[c]) {
            return false;
        }
    }
    return true;
}
