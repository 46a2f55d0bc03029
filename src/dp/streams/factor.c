/* SPDX-License-Identifier: Apache-2.0 */
/* factor.c - what the factorisations cost: column norms of C, row norms of B.
 * Ring: gate. No data here. Source: Chan, Shi, Song 2011 (tree); Fichtenberger, Henzinger, Upadhyay 2023 (Toeplitz
 * square root); blt.c. Differs: the tree is the Fenwick one, a square C whose row t sums the last lowbit(t)
 * vectors, so that one node is drawn per step and no unused ones. Proofs: src/dp/streams/README.md. Cost: said at each
 * function. */
#include "dp/streams/factor.h"

#include "core/fail.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const char *const NAMES[] = {"tree", "toeplitz", "blt"};

static bool known(tacet_factorization kind) {
    return (int)kind >= TACET_FACTORIZATION_TREE && (int)kind <= TACET_FACTORIZATION_BLT;
}

const char *tacet_factorization_name(tacet_factorization factorization) {
    return known(factorization) ? NAMES[factorization - 1] : "?";
}

tacet_status tacet_factorization_parse(tacet_factorization *out, const char *name, tacet_error *err) {
    for (int i = 0; i < 3; i++) {
        if (strcmp(name, NAMES[i]) == 0) {
            *out = (tacet_factorization)(i + 1);
            return TACET_OK;
        }
    }
    return tacet__fail(err, TACET_INVALID, "a factorization is tree, toeplitz or blt");
}

tacet_status tacet__factor_check(const tacet__factor *f, tacet_error *err) {
    bool good = known(f->kind) && f->most > 0 && f->most <= TACET__STREAM_MOST && f->buffers <= TACET__BLT_MOST;
    for (size_t i = 0; good && i < f->buffers; i++) {
        const double largest =
            fmax(fmax(fabs(f->theta[i]), fabs(f->theta_inv[i])), fmax(fabs(f->omega[i]), fabs(f->omega_inv[i])));
        const double sum = f->theta[i] + f->theta_inv[i] + f->omega[i] + f->omega_inv[i]; /* fmax drops a NaN */
        good = largest < 1.0 && sum < 4.0;
    }
    return good ? TACET_OK : tacet__fail(err, TACET_CORRUPT, "the factors of a stream are damaged");
}

/* Buffers that come within 1 % of the Toeplitz square root (src/dp/streams/README.md). */
static size_t buffers_for(size_t most) {
    return most < 8 ? 1 : most < 64 ? 2 : most < 512 ? 3 : most < 8192 ? 4 : most < 131072 ? 5 : 6;
}

tacet_status tacet__factor_init(tacet__factor *f, tacet_factorization kind, size_t most, tacet_error *err) {
    memset(f, 0, sizeof *f);
    if (!known(kind)) {
        return tacet__fail(err, TACET_INVALID, "a factorization is tree, toeplitz or blt");
    }
    if (!(most > 0 && most <= TACET__STREAM_MOST)) {
        return tacet__fail(err, TACET_INVALID, "a stream needs 1 to 2^24 steps");
    }
    f->kind = kind;
    f->most = most;
    if (kind != TACET_FACTORIZATION_BLT) {
        return TACET_OK;
    }
    f->buffers = buffers_for(most);
    tacet__blt_fit(f);
    return tacet__factor_check(f, err);
}

static unsigned levels(size_t most) {
    unsigned n = 0;
    for (; most > 0; most >>= 1) {
        n++;
    }
    return n;
}

static unsigned bits_set(size_t t) {
    unsigned n = 0;
    for (; t > 0; t &= t - 1) {
        n++;
    }
    return n;
}

/* Sums over k < count of f_k^2 and of f_k; O(count). */
static void toeplitz_sums(double *squares, double *sum, size_t count) {
    double f = 1.0;
    *squares = 1.0;
    *sum = 1.0;
    for (size_t k = 1; k < count; k++) {
        f *= 1.0 - 0.5 / (double)k;
        *squares += f * f;
        *sum += f;
    }
}

void tacet__toeplitz_reversed(double *out, size_t count) {
    double f = 1.0;
    for (size_t k = 0; k < count; k++) {
        f *= k > 0 ? 1.0 - 0.5 / (double)k : 1.0;
        out[count - 1 - k] = f;
    }
}

double tacet__factor_column(const tacet__factor *f) {
    /* Every sum here has positive terms and a relative error below 2^24 * 8 * 2^-53 < 1.5e-8; 2^-24 covers it. */
    const double more = 1.0 + 0x1p-24;
    if (f->kind == TACET_FACTORIZATION_TREE) {
        return sqrt((double)levels(f->most)) * more;
    }
    if (f->kind == TACET_FACTORIZATION_BLT) {
        return sqrt(tacet__blt_column_sq(f, f->most)) * more;
    }
    double squares = 0.0, sum = 0.0;
    toeplitz_sums(&squares, &sum, f->most);
    return sqrt(squares) * more;
}

double tacet__factor_row_sum(const tacet__factor *f) {
    const double more = 1.0 + 0x1p-24;
    if (f->kind == TACET_FACTORIZATION_TREE) {
        return ldexp(1.0, (int)levels(f->most) - 1);
    }
    if (f->kind == TACET_FACTORIZATION_BLT) {
        double sum = 1.0;
        for (size_t i = 0; i < f->buffers; i++) {
            sum += fabs(f->omega[i]) * fmin((double)f->most, 1.0 / (1.0 - fabs(f->theta[i])));
        }
        return sum * more;
    }
    double squares = 0.0, sum = 0.0;
    toeplitz_sums(&squares, &sum, f->most);
    return sum * more;
}

double tacet__factor_error_sq(const tacet__factor *f, size_t t) {
    if (f->kind == TACET_FACTORIZATION_TREE) {
        return (double)bits_set(t);
    }
    if (f->kind == TACET_FACTORIZATION_BLT) {
        return tacet__blt_error_sq(f, t);
    }
    double squares = 0.0, sum = 0.0;
    toeplitz_sums(&squares, &sum, t);
    return squares;
}

tacet_status tacet_stream_plan(tacet_stream_cost *out, double *sd, tacet_factorization factorization, size_t most,
                               tacet_error *err) {
    tacet__factor f;
    const tacet_status s = tacet__factor_init(&f, factorization, most, err);
    if (s != TACET_OK) {
        return s;
    }
    double largest = 0.0, total = 0.0, square = 0.0, number = 1.0, powers[TACET__BLT_MOST];
    memcpy(powers, f.omega_inv, sizeof powers);
    for (size_t t = 1; t <= most; t++) {
        /* Row t of B holds one number more than row t - 1; the tree's rows have no such order. */
        square = f.kind == TACET_FACTORIZATION_TREE ? (double)bits_set(t) : square + number * number;
        if (f.kind == TACET_FACTORIZATION_TOEPLITZ) {
            number *= 1.0 - 0.5 / (double)t;
        }
        for (size_t i = 0; i < f.buffers; i++) {
            number += powers[i];
            powers[i] *= f.theta_inv[i];
        }
        largest = fmax(largest, square);
        total += square;
        if (sd != NULL) {
            sd[t - 1] = sqrt(square);
        }
    }
    out->sensitivity = tacet__factor_column(&f);
    out->max_sd = out->sensitivity * sqrt(largest);
    out->rms_sd = out->sensitivity * sqrt(total / (double)most);
    out->buffers = f.buffers;
    return TACET_OK;
}
