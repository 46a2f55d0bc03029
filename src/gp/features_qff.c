/* SPDX-License-Identifier: Apache-2.0 */
/* features_qff.c - quadrature Fourier features of the squared exponential kernel, plain and additive, and of Matérn
 * kernels of one coordinate, of a sum over single coordinates, or of a product of such.
 * Ring: pure. Source: Mutny & Krause 2018; Dubey 2021, Definition 4 and Theorem 2. Differs: the FULL Cartesian grid of
 * Gauss–Hermite nodes, one of each pair ±omega kept with twice the weight (they give the same two functions). Keeping
 * the positive orthant, as published code does, is another kernel for d >= 2. Definition 4 is misprinted (m for the
 * order, H not squared); nodes and weights come from quadrature.c instead.
 *   k(x, y) = signal_var E cos(sum_c w_c (x_c - y_c)/l_c), w ~ N(0, I): the rule replaces the expectation. Weights sum
 *   to 1, so |phi(x)|^2 = signal_var (cos^2 + sin^2 summed) for every x.
 * Cost: order*d sines and O(m) products a point, as the complex exponential of a sum is a product. */
#include "gp/features_internal.h"

#include "core/fail.h"
#include "gp/kernel_internal.h"
#include "core/memory.h"
#include "gp/quadrature.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { ORDER_MOST = 64 };
static const size_t FEATURES_MOST = (size_t)1 << 26; /* half a gigabyte of amplitudes and of every feature vector */

/* Frequencies of a Matérn kernel of smoothness nu = p + 1/2 in one coordinate: its spectral law is Student's t with 2
 * nu degrees of freedom, w = sqrt(2 nu) t with density proportional to (1 + t^2)^-(p + 1). With t = REACH tan(a) that
 * is a smooth function on a circle, and the midpoint rule takes `order` equal steps of it (features.md, section 1b). */
static void matern_rule(double *nodes, double *weights, size_t order, unsigned p) {
    static const double PI = 3.14159265358979323846;
    static const double REACH = 1.5;
    double sum = 0;
    for (size_t i = 0; i < order; i++) {
        const size_t half = i < order / 2 ? i : order - 1 - i; /* so that nodes are opposites to the last bit */
        const double t = 2 * half + 1 == order ? 0 : REACH * tan(PI * ((double)half + 0.5) / (double)order - PI / 2);
        nodes[i] = (i == half ? 1 : -1) * sqrt(2 * (double)p + 1) * t;
        weights[i] = pow(1 + t * t, -(double)p - 1) * (1 + t * t / (REACH * REACH));
        sum += weights[i];
    }
    for (size_t i = 0; i < order; i++) {
        weights[i] /= sum;
    }
}

/* Fills block for group g; order^d features. */
static tacet_status create_block(tacet__feature_block *block, const tacet_kernel *kernel, size_t g, size_t order,
                                 const double *nodes, const double *weights, tacet_error *err) {
    const size_t *coordinates = kernel->coordinates + kernel->starts[g];
    const size_t d = kernel->starts[g + 1] - kernel->starts[g];
    size_t m = 1;
    for (size_t c = 0; c < d; c++) {
        if (!tacet__size_mul(&m, m, order) || m > FEATURES_MOST) {
            return tacet__fail(err, TACET_OVERFLOW, "order %zu in %zu coordinates gives more than %zu features", order,
                               d, FEATURES_MOST);
        }
    }
    block->m = m;
    block->d = d;
    block->order = order;
    block->pairs = m / 2;
    block->frequency = TACET__ZALLOC(double, order *d);
    block->amplitude = TACET__ALIGNED(double, block->pairs + 1);
    block->coordinates = kernel->group_count > 1 ? TACET__ZALLOC(size_t, d) : NULL;
    if (block->frequency == NULL || block->amplitude == NULL ||
        (kernel->group_count > 1 && block->coordinates == NULL)) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu Fourier features", m);
    }
    if (block->coordinates != NULL) {
        memcpy(block->coordinates, coordinates, d * sizeof *coordinates);
    }
    for (size_t c = 0; c < d; c++) {
        for (size_t i = 0; i < order; i++) {
            block->frequency[c * order + i] = nodes[i] * kernel->inverse[coordinates[c]];
        }
    }
    const double share = kernel->spec.signal_var / (double)kernel->group_count;
    for (size_t node = 0; node < block->pairs + m % 2; node++) {
        double weight = 1;
        for (size_t c = 0, rest = node; c < d; c++, rest /= order) {
            weight *= weights[rest % order];
        }
        block->amplitude[node] = sqrt((node < block->pairs ? 2 : 1) * weight * share);
    }
    return TACET_OK;
}

static tacet_status create(tacet_features **out, const tacet_kernel *kernel, size_t order, bool product,
                           tacet_error *err) {
    if (out == NULL) {
        return tacet__fail(err, TACET_INVALID, "no place for the features");
    }
    *out = NULL;
    if (kernel == NULL || order < 1 || order > ORDER_MOST) {
        return tacet__fail(err, TACET_INVALID, "Fourier features need a kernel and an order from 1 to %d",
                           (int)ORDER_MOST);
    }
    const bool matern = kernel->spec.kind == TACET_KERNEL_MATERN;
    if (kernel->spec.kind != TACET_KERNEL_SE && !matern) {
        return tacet__fail(err, TACET_UNSUPPORTED, "Fourier features by quadrature exist for se and Matérn kernels");
    }
    for (size_t g = 0; g < kernel->group_count && matern && !product; g++) {
        if (kernel->starts[g + 1] - kernel->starts[g] > 1) {
            return tacet__fail(err, TACET_UNSUPPORTED,
                               "Fourier features by quadrature of a Matérn kernel need one coordinate, or a sum of "
                               "kernels of one each: in several it does not factor");
        }
    }
    double nodes[ORDER_MOST];
    double weights[ORDER_MOST];
    tacet_features *features = NULL;
    tacet_status status = TACET_OK;
    if (matern) {
        matern_rule(nodes, weights, order, kernel->spec.matern_p);
    } else {
        status = tacet__gauss_hermite(nodes, weights, order, err);
    }
    TACET_THEN(status, tacet__features_begin(&features, kernel, kernel->group_count, err));
    for (size_t g = 0; status == TACET_OK && g < kernel->group_count; g++) {
        if (kernel->group_count > 1 && kernel->starts[g + 1] - kernel->starts[g] > TACET__FEATURES_GROUP_MOST) {
            status = tacet__fail(err, TACET_INVALID, "group %zu has more than %d coordinates", g,
                                 (int)TACET__FEATURES_GROUP_MOST);
            break;
        }
        status = create_block(features->blocks + g, features->kernel, g, order, nodes, weights, err);
        features->m += features->blocks[g].m;
    }
    if (status != TACET_OK) {
        tacet_features_free(features);
        return status;
    }
    *out = features;
    return TACET_OK;
}

tacet_status tacet_features_create_qff(tacet_features **out, const tacet_kernel *kernel, size_t order,
                                       tacet_error *err) {
    return create(out, kernel, order, false, err);
}

tacet_status tacet_features_create_qff_product(tacet_features **out, const tacet_kernel *kernel, size_t order,
                                               tacet_error *err) {
    return create(out, kernel, order, true, err);
}

/* e^(i omega.x) over the kept nodes, coordinate by coordinate: C and S first hold the grid of the coordinates so far
 * (its size never exceeds `pairs` before the last one), and are multiplied by the factors of the next one from the last
 * digit down to 0, so that what is still to be read is overwritten last. */
void tacet__fourier_eval(const tacet__feature_block *block, double *out, const double *x) {
    double buffer[TACET__FEATURES_GROUP_MOST];
    const double *at = tacet__features_gather(block, buffer, x);
    const size_t order = block->order;
    const size_t pairs = block->pairs;
    double *C = out;
    double *S = out + pairs;
    if (pairs > 0) {
        C[0] = 1;
        S[0] = 0;
    }
    double cosine[ORDER_MOST] = {0};
    double sine[ORDER_MOST] = {0};
    size_t count = 1;
    for (size_t c = 0; pairs > 0 && c < block->d; c++) {
        for (size_t i = 0; i < (order + 1) / 2; i++) {
            const double angle = block->frequency[c * order + i] * at[c];
            cosine[i] = cos(angle);
            sine[i] = sin(angle);
            cosine[order - 1 - i] = cosine[i];
            sine[order - 1 - i] = i == order - 1 - i ? sine[i] : -sine[i];
        }
        for (size_t i = order; i-- > 0;) {
            const size_t start = i * count;
            const size_t room = start < pairs ? pairs - start : 0;
            for (size_t k = 0; k < (room < count ? room : count); k++) {
                const double re = C[k] * cosine[i] - S[k] * sine[i];
                const double im = C[k] * sine[i] + S[k] * cosine[i];
                C[start + k] = re;
                S[start + k] = im;
            }
        }
        count *= order;
    }
    for (size_t k = 0; k < pairs; k++) {
        C[k] *= block->amplitude[k];
        S[k] *= block->amplitude[k];
    }
    if (block->m % 2 == 1) {
        out[block->m - 1] = block->amplitude[pairs];
    }
}
