/* SPDX-License-Identifier: Apache-2.0 */
/* rebuild.c - reads records out of a release by an affine least-squares fit.
 * Ring: audit. Why it works against the published projection: src/outsourced/README.md. Differs from plain
 * regression: the least-norm solution is taken, so fewer known rows than released coordinates suffice. Cost: O(k r
 * min(k, r) + n r d). */
#include <tacet/audit/audit.h>

#include "core/fail.h"
#include "gp/linalg.h"
#include "core/memory.h"

#include <math.h>
#include <stdlib.h>

static const double CUTOFF = 1e-11;   /* singular values below count as rounding error of an exact linear dependence */
static const double RECOVERED = 1e-6; /* relative to the spread of the records */

typedef struct buffers {
    double *A;     /* k x (r + 1): released coordinates of the known rows, and a 1 */
    double *B;     /* max(k, r + 1) x d: their records; then the map */
    double *mean;  /* d: of the known rows */
    double *guess; /* d */
    bool *is_known;
} buffers;

static void free_buffers(buffers *b) {
    free(b->A);
    free(b->B);
    free(b->mean);
    free(b->guess);
    free(b->is_known);
}

static void measure(tacet_rebuild *out, double *guesses, const buffers *b, size_t ldb, const double *Z, size_t ldz,
                    size_t r, const double *X, size_t ldx, size_t d, size_t n) {
    double squares = 0;
    double blind = 0;
    size_t unknown = 0;
    for (size_t j = 0; j < n; j++) {
        double error = 0;
        double far = 0;
        for (size_t i = 0; i < d; i++) {
            const double *map = b->B + i * ldb;
            b->guess[i] = tacet__dot(map, Z + j * ldz, r) + map[r];
            error += (b->guess[i] - X[j * ldx + i]) * (b->guess[i] - X[j * ldx + i]);
            far += (b->mean[i] - X[j * ldx + i]) * (b->mean[i] - X[j * ldx + i]);
            if (guesses != NULL) {
                guesses[j * d + i] = b->guess[i];
            }
        }
        if (!b->is_known[j]) {
            unknown++;
            squares += error;
            blind += far;
            out->largest = fmax(out->largest, sqrt(error));
        }
    }
    out->rms = sqrt(squares / (double)unknown);
    out->blind = sqrt(blind / (double)unknown);
}

static double fraction_recovered(const buffers *b, size_t ldb, const double *Z, size_t ldz, size_t r, const double *X,
                                 size_t ldx, size_t d, size_t n, double tolerance) {
    size_t found = 0;
    size_t unknown = 0;
    for (size_t j = 0; j < n; j++) {
        double error = 0;
        for (size_t i = 0; i < d; i++) {
            const double *map = b->B + i * ldb;
            const double e = tacet__dot(map, Z + j * ldz, r) + map[r] - X[j * ldx + i];
            error += e * e;
        }
        unknown += !b->is_known[j];
        found += !b->is_known[j] && sqrt(error) <= tolerance;
    }
    return (double)found / (double)unknown;
}

tacet_status tacet_rebuild_records(tacet_rebuild *out, double *guesses, const double *Z, size_t ldz, size_t r,
                                   const double *X, size_t ldx, size_t d, size_t n, const size_t *known, size_t k,
                                   tacet_error *err) {
    *out = (tacet_rebuild){0};
    if (k == 0 || k >= n || d == 0 || r == 0 || ldz < r || ldx < d) {
        return tacet__fail(err, TACET_INVALID, "the attacker must know at least one record, and not all of them");
    }
    const size_t ldb = k > r + 1 ? k : r + 1; /* B holds the k known records first, then the r + 1 rows of the map */
    buffers b = {.A = TACET__ALIGNED(double, k *(r + 1)),
                 .B = TACET__ALIGNED(double, ldb *d),
                 .mean = TACET__ZALLOC(double, d),
                 .guess = TACET__ZALLOC(double, d),
                 .is_known = TACET__ZALLOC(bool, n)};
    tacet_status status = TACET_OK;
    if (b.A == NULL || b.B == NULL || b.mean == NULL || b.guess == NULL || b.is_known == NULL) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory attacking %zu rows", n);
        goto done;
    }
    for (size_t a = 0; a < k; a++) {
        if (known[a] >= n || b.is_known[known[a]]) {
            status = tacet__fail(err, TACET_INVALID, "known row %zu is out of range or named twice", known[a]);
            goto done;
        }
        b.is_known[known[a]] = true;
        for (size_t c = 0; c < r; c++) {
            b.A[c * k + a] = Z[known[a] * ldz + c];
        }
        b.A[r * k + a] = 1;
        for (size_t i = 0; i < d; i++) {
            b.B[i * ldb + a] = X[known[a] * ldx + i];
            b.mean[i] += X[known[a] * ldx + i] / (double)k;
        }
    }
    status = tacet__least_squares(b.A, k, k, r + 1, b.B, ldb, d, CUTOFF, err);
    if (status != TACET_OK) {
        goto done;
    }
    measure(out, guesses, &b, ldb, Z, ldz, r, X, ldx, d, n);
    out->recovered = fraction_recovered(&b, ldb, Z, ldz, r, X, ldx, d, n, RECOVERED * out->blind);
    out->succeeded = out->recovered == 1;
done:
    free_buffers(&b);
    return status;
}
