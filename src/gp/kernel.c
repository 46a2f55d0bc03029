/* SPDX-License-Identifier: Apache-2.0 */
/* kernel.c - covariance functions: creation, values, rows, matrices.
 * Ring: pure. Source: Rasmussen & Williams 2006, section 4.2 (Matérn of half-integer order, eq. 4.16); additive groups
 * after Duvenaud et al. 2011, first order only. Differs: groups are averaged, so that k(x, x) = signal_var still.
 * Cost: d multiplications and one exponential for a value; rows run in blocks that stay in cache, with the exponential
 * of vexp.h, so that a row costs about as much as reading its points. k(x, y) = k(y, x) and |k(x, y)| <= signal_var
 * hold bit for bit (SE, Matérn), and every entry point gives the same bits. */
#include "gp/kernel_internal.h"

#include "core/fail.h"
#include "gp/linalg.h"
#include "core/memory.h"
#include "gp/vexp.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const double SYMMETRY_SLACK = 1e-8;    /* of a precomputed matrix, relative to its largest entry */
static const double EIGENVALUE_SLACK = 1e-10; /* negative eigenvalues of rounding, relative to the largest one */
static const double MATERN_FAR = 1000;        /* beyond it e^-s is 0; keeps the polynomial finite */

/* --- values ------------------------------------------------------------------------------------------------------ */

enum { TOGETHER = 8 }; /* coordinates read side by side */

/* r2[j] = (fresh ? 0 : r2[j]) + sum over k < count of ((from[k][j] - x[k]) inv[k])^2, in the order of k. `count` is a
 * constant wherever this is inlined, so the sum of one point stays in a register. */
TACET__INLINE void squares_of(double *restrict r2, const double *const *from, const double *x, const double *inv,
                              size_t n, size_t count, bool fresh) {
    for (size_t j = 0; j < n; j++) {
        double sum = fresh ? 0 : r2[j];
        for (size_t k = 0; k < count; k++) {
            const double t = (from[k][j] - x[k]) * inv[k];
            sum += t * t;
        }
        r2[j] = sum;
    }
}

/* The first `count` coordinates, 1 to TOGETHER. */
TACET__CLONES
static void squares_first(double *restrict r2, const double *const *from, const double *x, const double *inv, size_t n,
                          size_t count) {
    switch (count) {
    case 1:
        squares_of(r2, from, x, inv, n, 1, true);
        break;
    case 2:
        squares_of(r2, from, x, inv, n, 2, true);
        break;
    case 3:
        squares_of(r2, from, x, inv, n, 3, true);
        break;
    case 4:
        squares_of(r2, from, x, inv, n, 4, true);
        break;
    case 5:
        squares_of(r2, from, x, inv, n, 5, true);
        break;
    case 6:
        squares_of(r2, from, x, inv, n, 6, true);
        break;
    case 7:
        squares_of(r2, from, x, inv, n, 7, true);
        break;
    default:
        squares_of(r2, from, x, inv, n, TOGETHER, true);
        break;
    }
}

/* Further ones: TOGETHER of them, or one. */
TACET__CLONES
static void squares_more(double *restrict r2, const double *const *from, const double *x, const double *inv, size_t n,
                         size_t count) {
    if (count == TOGETHER) {
        squares_of(r2, from, x, inv, n, TOGETHER, false);
    } else {
        squares_of(r2, from, x, inv, n, 1, false);
    }
}

static void add_strided(double *restrict r2, const double *restrict X, size_t stride, size_t n, double x, double inv) {
    for (size_t j = 0; j < n; j++) {
        const double t = (X[j * stride] - x) * inv;
        r2[j] += t * t;
    }
}

TACET__CLONES
static void add_products(double *restrict sum, const double *restrict X, size_t stride, size_t n, double x,
                         double inv) {
    const double scaled = x * inv;
    for (size_t j = 0; j < n; j++) {
        sum[j] += (X[j * stride] * inv) * scaled;
    }
}

TACET__CLONES
static void se_of_r2(double *v, size_t n, double scale) {
    for (size_t j = 0; j < n; j++) {
        v[j] = tacet__vexp(-0.5 * v[j]) * scale;
    }
}

/* e^-s sum_j c_j s^j, s = sqrt(scale2 r2). Rounding could lift it above 1 near s = 0. */
TACET__CLONES
static void matern_of_r2(double *v, size_t n, double scale2, const double *c, unsigned p) {
    double s[TACET__KERNEL_BLOCK];
    for (size_t j = 0; j < n; j++) {
        const double root = sqrt(scale2 * v[j]);
        s[j] = MATERN_FAR < root ? MATERN_FAR : root;
        v[j] = c[p];
    }
    for (unsigned i = p; i > 0; i--) {
        const double lower = c[i - 1];
        for (size_t j = 0; j < n; j++) {
            v[j] = v[j] * s[j] + lower;
        }
    }
    for (size_t j = 0; j < n; j++) {
        const double value = v[j] * tacet__vexp(-s[j]);
        v[j] = 1.0 < value ? 1.0 : value;
    }
}

/* Divides before scaling: a sum of `count` ones then gives signal_var exactly. */
TACET__CLONES
static void finish(double *v, size_t n, double count, double signal_var) {
    if (count > 1) {
        for (size_t j = 0; j < n; j++) {
            v[j] /= count;
        }
    }
    for (size_t j = 0; j < n; j++) {
        v[j] *= signal_var;
    }
}

/* In place: r^2 becomes the group's correlation, 1 at 0. */
static void correlate(const tacet_kernel *kernel, double *r2, size_t n) {
    if (kernel->spec.kind == TACET_KERNEL_SE) {
        se_of_r2(r2, n, 1);
    } else {
        matern_of_r2(r2, n, kernel->matern_scale2, kernel->matern, kernel->spec.matern_p);
    }
}

void tacet__kernel_r2(const tacet_kernel *kernel, double *r2, size_t g, const double *X, size_t point,
                      size_t coordinate, size_t n, const double *x) {
    const size_t *own = kernel->coordinates + kernel->starts[g];
    const size_t count = kernel->starts[g + 1] - kernel->starts[g];
    if (point != 1 || count == 0) {
        memset(r2, 0, n * sizeof *r2);
        for (size_t k = 0; k < count; k++) {
            add_strided(r2, X + own[k] * coordinate, point, n, x[own[k]], kernel->inverse[own[k]]);
        }
        return;
    }
    /* Coordinate by coordinate in the same order, but several side by side. */
    for (size_t k = 0; k < count;) {
        const double *from[TOGETHER] = {NULL};
        double xs[TOGETHER] = {0};
        double inv[TOGETHER] = {0};
        const size_t left = count - k;
        const size_t together = left >= TOGETHER ? TOGETHER : k == 0 ? left : 1;
        for (size_t i = 0; i < together; i++) {
            const size_t c = own[k + i];
            from[i] = X + c * coordinate;
            xs[i] = x[c];
            inv[i] = kernel->inverse[c];
        }
        (k == 0 ? squares_first : squares_more)(r2, from, xs, inv, n, together);
        k += together;
    }
}

/* The number of a point of a precomputed kernel; `order` when it is none. */
static size_t index_of(const tacet_kernel *kernel, double x) {
    return x >= 0 && x < (double)kernel->spec.order && x == floor(x) ? (size_t)x : kernel->spec.order;
}

static void precomputed_block(const tacet_kernel *kernel, double *out, const double *X, size_t point, size_t n,
                              const double *x) {
    const size_t order = kernel->spec.order;
    const size_t column = index_of(kernel, x[0]);
    for (size_t j = 0; j < n; j++) {
        const size_t row = index_of(kernel, X[j * point]);
        out[j] = row < order && column < order ? kernel->spec.signal_var * kernel->matrix[column * order + row] : NAN;
    }
}

/* n <= TACET__KERNEL_BLOCK. The order of operations for one point does not depend on n or on the layout. */
static void block(const tacet_kernel *kernel, double *out, const double *X, size_t point, size_t coordinate, size_t n,
                  const double *x) {
    if (kernel->spec.kind == TACET_KERNEL_PRECOMPUTED) {
        precomputed_block(kernel, out, X, point, n, x);
        return;
    }
    if (kernel->spec.kind == TACET_KERNEL_LINEAR) {
        memset(out, 0, n * sizeof *out);
        for (size_t c = 0; c < kernel->spec.d; c++) {
            add_products(out, X + c * coordinate, point, n, x[c], kernel->inverse[c]);
        }
    } else {
        tacet__kernel_r2(kernel, out, 0, X, point, coordinate, n, x);
        if (kernel->spec.kind == TACET_KERNEL_SE && kernel->group_count == 1) {
            se_of_r2(out, n, kernel->spec.signal_var);
            return;
        }
        correlate(kernel, out, n);
        for (size_t g = 1; g < kernel->group_count; g++) {
            double v[TACET__KERNEL_BLOCK];
            tacet__kernel_r2(kernel, v, g, X, point, coordinate, n, x);
            correlate(kernel, v, n);
            for (size_t j = 0; j < n; j++) {
                out[j] += v[j];
            }
        }
    }
    finish(out, n, (double)kernel->group_count, kernel->spec.signal_var);
}

static void row(const tacet_kernel *kernel, double *out, const double *X, size_t point, size_t coordinate, size_t n,
                const double *x) {
    for (size_t at = 0; at < n; at += TACET__KERNEL_BLOCK) {
        const size_t left = n - at;
        block(kernel, out + at, X + at * point, point, coordinate,
              left < TACET__KERNEL_BLOCK ? left : TACET__KERNEL_BLOCK, x);
    }
}

void tacet_kernel_row(const tacet_kernel *kernel, double *out, const double *X, size_t ldx, size_t n, const double *x) {
    row(kernel, out, X, ldx, 1, n, x);
}

void tacet__kernel_row_soa(const tacet_kernel *kernel, double *out, const double *Xt, size_t ldt, size_t n,
                           const double *x) {
    row(kernel, out, Xt, 1, ldt, n, x);
}

double tacet_kernel_eval(const tacet_kernel *kernel, const double *x, const double *y) {
    double value = 0;
    block(kernel, &value, y, kernel->spec.d, 1, 1, x);
    return value;
}

void tacet_kernel_matrix(const tacet_kernel *kernel, double *out, size_t ldo, const double *X, size_t ldx, size_t n,
                         const double *Y, size_t ldy, size_t m) {
    for (size_t j = 0; j < m; j++) {
        row(kernel, out + j * ldo, X, ldx, 1, n, Y + j * ldy);
    }
}

void tacet_kernel_diag(const tacet_kernel *kernel, double *out, const double *X, size_t ldx, size_t n) {
    for (size_t j = 0; j < n; j++) {
        const bool stationary = kernel->spec.kind == TACET_KERNEL_SE || kernel->spec.kind == TACET_KERNEL_MATERN;
        out[j] = stationary ? kernel->spec.signal_var : tacet_kernel_eval(kernel, X + j * ldx, X + j * ldx);
    }
}

size_t tacet_kernel_dim(const tacet_kernel *kernel) {
    return kernel->spec.d;
}

const tacet_kernel_spec *tacet_kernel_describe(const tacet_kernel *kernel) {
    return &kernel->spec;
}

/* --- creation ---------------------------------------------------------------------------------------------------- */

void tacet_kernel_spec_defaults(tacet_kernel_spec *spec) {
    static const double unit = 1;
    *spec = (tacet_kernel_spec){
        .kind = TACET_KERNEL_SE, .d = 1, .signal_var = 1, .lengthscales = &unit, .lengthscale_count = 1};
}

tacet_status tacet_kernel_parse(tacet_kernel_spec *spec, const char *name, tacet_error *err) {
    if (spec != NULL && name != NULL) {
        if (strcmp(name, "se") == 0) {
            spec->kind = TACET_KERNEL_SE;
            return TACET_OK;
        }
        if (strcmp(name, "linear") == 0) {
            spec->kind = TACET_KERNEL_LINEAR;
            return TACET_OK;
        }
        /* "matern" and the digits of nu = (2p+1)/2 without the stroke */
        const size_t length = strlen(name);
        if (strncmp(name, "matern", 6) == 0 && (length == 8 || length == 9) && name[length - 1] == '2' &&
            name[6] >= '1' && name[6] <= '9' && name[length - 2] >= '0' && name[length - 2] <= '9') {
            const int tens = length == 9 ? name[6] - '0' : 0;
            const int twice_nu = 10 * tens + (name[length - 2] - '0');
            if (twice_nu % 2 == 1 && twice_nu <= 2 * TACET__MATERN_MOST + 1) {
                spec->kind = TACET_KERNEL_MATERN;
                spec->matern_p = (unsigned)(twice_nu - 1) / 2;
                return TACET_OK;
            }
        }
    }
    return tacet__fail(err, TACET_INVALID,
                       "unknown kernel '%.40s': se, linear, matern12, matern32, matern52, … up to matern212",
                       name == NULL ? "" : name);
}

static tacet_status check_matrix(const tacet_kernel_spec *spec, tacet_error *err) {
    if (spec->matrix == NULL || spec->order == 0 || spec->ld_matrix < spec->order) {
        return tacet__fail(err, TACET_INVALID,
                           "a precomputed kernel needs a matrix of order >= 1 and its leading "
                           "dimension >= the order");
    }
    if (spec->d != 1 || spec->groups != NULL) {
        return tacet__fail(err, TACET_INVALID, "a precomputed kernel has d = 1 and no groups");
    }
    double largest = 0;
    for (size_t j = 0; j < spec->order; j++) {
        for (size_t i = 0; i < spec->order; i++) {
            const double a = spec->matrix[j * spec->ld_matrix + i];
            if (!isfinite(a)) {
                return tacet__fail(err, TACET_NUMERIC, "entry (%zu, %zu) of the precomputed kernel is not finite", i,
                                   j);
            }
            largest = fmax(largest, fabs(a));
        }
    }
    for (size_t j = 0; j < spec->order; j++) {
        for (size_t i = 0; i < j; i++) {
            const double gap = spec->matrix[j * spec->ld_matrix + i] - spec->matrix[i * spec->ld_matrix + j];
            if (!(fabs(gap) <= SYMMETRY_SLACK * largest)) {
                return tacet__fail(err, TACET_NUMERIC,
                                   "the precomputed kernel is not symmetric: entries (%zu, %zu) and (%zu, %zu) differ",
                                   i, j, j, i);
            }
        }
    }
    return TACET_OK;
}

static tacet_status check(const tacet_kernel_spec *spec, tacet_error *err) {
    if (!(isfinite(spec->signal_var) && spec->signal_var > 0)) {
        return tacet__fail(err, TACET_INVALID, "signal variance must be finite and > 0");
    }
    if (spec->kind == TACET_KERNEL_PRECOMPUTED) {
        return check_matrix(spec, err);
    }
    if (spec->kind != TACET_KERNEL_SE && spec->kind != TACET_KERNEL_MATERN && spec->kind != TACET_KERNEL_LINEAR) {
        return tacet__fail(err, TACET_INVALID, "unknown kind of kernel");
    }
    if (spec->d == 0) {
        return tacet__fail(err, TACET_INVALID, "a kernel needs at least one coordinate");
    }
    if (spec->kind == TACET_KERNEL_MATERN && spec->matern_p > TACET__MATERN_MOST) {
        return tacet__fail(err, TACET_INVALID, "Matérn order p = %u, the largest is %d", spec->matern_p,
                           (int)TACET__MATERN_MOST);
    }
    if (spec->lengthscales == NULL || (spec->lengthscale_count != 1 && spec->lengthscale_count != spec->d)) {
        return tacet__fail(err, TACET_INVALID, "1 or %zu lengthscales expected, %zu given", spec->d,
                           spec->lengthscale_count);
    }
    for (size_t i = 0; i < spec->lengthscale_count; i++) {
        const double l = spec->lengthscales[i];
        /* The reciprocal must be finite too: it is what is used. */
        if (!(isfinite(l) && l > 0 && isfinite(1 / l) && 1 / l > 0)) {
            return tacet__fail(err, TACET_INVALID, "lengthscale %zu must be finite and > 0", i);
        }
    }
    if (spec->groups == NULL) {
        return TACET_OK;
    }
    if (spec->group_count == 0 || spec->group_count > spec->d) {
        return tacet__fail(err, TACET_INVALID, "%zu groups for %zu coordinates", spec->group_count, spec->d);
    }
    for (size_t g = 0; g < spec->group_count; g++) {
        bool found = false;
        for (size_t c = 0; c < spec->d; c++) {
            if (spec->groups[c] >= spec->group_count) {
                return tacet__fail(err, TACET_INVALID, "coordinate %zu is in group %zu of %zu", c, spec->groups[c],
                                   spec->group_count);
            }
            found = found || spec->groups[c] == g;
        }
        if (!found) {
            return tacet__fail(err, TACET_INVALID, "group %zu is empty", g);
        }
    }
    return TACET_OK;
}

/* c_j of s^j: p!/(2p)! (2p-j)!/((p-j)! j!) 2^j, by the ratio c_j/c_(j-1) = 2(p-j+1)/(j(2p-j+1)). */
static void matern_coefficients(double *c, unsigned p) {
    c[0] = 1;
    for (unsigned j = 1; j <= p; j++) {
        c[j] = c[j - 1] * (2.0 * (p - j + 1)) / (j * (2.0 * p - j + 1));
    }
}

/* Keeps the symmetric part. A Cholesky factor proves positive definiteness; only without one are eigenvalues needed. */
static tacet_status copy_matrix(tacet_kernel *kernel, const tacet_kernel_spec *spec, tacet_error *err) {
    const size_t n = spec->order;
    size_t size = 0;
    if (!tacet__size_mul(&size, n, n)) {
        return tacet__fail(err, TACET_OVERFLOW, "a precomputed kernel of order %zu", n);
    }
    tacet_status status = TACET_OK;
    double *work = TACET__ALIGNED(double, size);
    double *w = TACET__ALIGNED(double, n);
    kernel->matrix = TACET__ALIGNED(double, size);
    if (work == NULL || w == NULL || kernel->matrix == NULL) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory for a precomputed kernel of order %zu", n);
        goto done;
    }
    for (size_t j = 0; j < n; j++) {
        for (size_t i = 0; i < n; i++) {
            kernel->matrix[j * n + i] =
                0.5 * spec->matrix[j * spec->ld_matrix + i] + 0.5 * spec->matrix[i * spec->ld_matrix + j];
        }
    }
    memcpy(work, kernel->matrix, size * sizeof *work);
    if (tacet__cholesky(work, n, n, NULL, NULL, NULL) == TACET_OK) {
        goto done;
    }
    memcpy(work, kernel->matrix, size * sizeof *work);
    status = tacet__eigh(work, n, n, w, err);
    if (status == TACET_OK && !(w[0] >= -EIGENVALUE_SLACK * fabs(w[n - 1]))) {
        status = tacet__fail(err, TACET_NUMERIC,
                             "the precomputed kernel is not positive semidefinite: smallest eigenvalue %g, largest %g",
                             w[0], w[n - 1]);
    }
done:
    free(work);
    free(w);
    return status;
}

static tacet_status copy_coordinates(tacet_kernel *kernel, const tacet_kernel_spec *spec, tacet_error *err) {
    const size_t d = spec->d;
    kernel->group_count = spec->groups == NULL ? 1 : spec->group_count;
    kernel->inverse = TACET__ZALLOC(double, d);
    kernel->lengthscales = TACET__ZALLOC(double, spec->lengthscale_count);
    kernel->coordinates = TACET__ZALLOC(size_t, d);
    kernel->starts = TACET__ZALLOC(size_t, kernel->group_count + 1);
    kernel->groups = spec->groups == NULL ? NULL : TACET__ZALLOC(size_t, d);
    if (kernel->inverse == NULL || kernel->lengthscales == NULL || kernel->coordinates == NULL ||
        kernel->starts == NULL || (spec->groups != NULL && kernel->groups == NULL)) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a kernel of %zu coordinates", d);
    }
    memcpy(kernel->lengthscales, spec->lengthscales, spec->lengthscale_count * sizeof *kernel->lengthscales);
    for (size_t c = 0; c < d; c++) {
        kernel->inverse[c] = 1 / spec->lengthscales[spec->lengthscale_count == 1 ? 0 : c];
    }
    size_t used = 0;
    for (size_t g = 0; g < kernel->group_count; g++) {
        for (size_t c = 0; c < d; c++) {
            if (spec->groups == NULL || spec->groups[c] == g) {
                kernel->coordinates[used++] = c;
            }
        }
        kernel->starts[g + 1] = used;
    }
    if (spec->groups != NULL) {
        memcpy(kernel->groups, spec->groups, d * sizeof *kernel->groups);
    }
    return TACET_OK;
}

tacet_status tacet_kernel_create(tacet_kernel **out, const tacet_kernel_spec *spec, tacet_error *err) {
    if (out == NULL) {
        return tacet__fail(err, TACET_INVALID, "no place for the kernel");
    }
    *out = NULL;
    if (spec == NULL) {
        return tacet__fail(err, TACET_INVALID, "a kernel needs a specification");
    }
    tacet_status status = check(spec, err);
    if (status != TACET_OK) {
        return status;
    }
    tacet_kernel *kernel = TACET__ZALLOC(tacet_kernel, 1);
    if (kernel == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a kernel");
    }
    kernel->spec = *spec;
    if (spec->kind == TACET_KERNEL_PRECOMPUTED) {
        kernel->group_count = 1;
        kernel->spec.lengthscale_count = 0;
        kernel->spec.ld_matrix = spec->order;
        status = copy_matrix(kernel, spec, err);
    } else {
        kernel->spec.order = 0;
        kernel->spec.ld_matrix = 0;
        status = copy_coordinates(kernel, spec, err);
    }
    if (status != TACET_OK) {
        tacet_kernel_free(kernel);
        return status;
    }
    kernel->spec.lengthscales = kernel->lengthscales;
    kernel->spec.groups = kernel->groups;
    kernel->spec.group_count = kernel->groups == NULL ? 0 : kernel->group_count;
    kernel->spec.matrix = kernel->matrix;
    if (spec->kind == TACET_KERNEL_MATERN) {
        const unsigned p = spec->matern_p;
        kernel->matern_scale2 = 2.0 * p + 1;
        matern_coefficients(kernel->matern, p);
        if (p > 0) {
            matern_coefficients(kernel->matern_slope, p - 1);
            for (unsigned j = 0; j < p; j++) {
                kernel->matern_slope[j] /= 2.0 * p - 1;
            }
        }
    }
    *out = kernel;
    return TACET_OK;
}

void tacet_kernel_free(tacet_kernel *kernel) {
    if (kernel != NULL) {
        free(kernel->inverse);
        free(kernel->lengthscales);
        free(kernel->groups);
        free(kernel->coordinates);
        free(kernel->starts);
        free(kernel->matrix);
        free(kernel);
    }
}
