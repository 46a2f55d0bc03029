/* SPDX-License-Identifier: Apache-2.0 */
/* sample.c - the samplers by name, for whoever looks at what they draw (`tacet-lab noise`). Ring: gate.
 * Reads no data; a source that samples makes no release. Cost: that of the sampler. */
#include "dp/noise/sampler.h"

#include "core/fail.h"

#include <math.h>
#include <string.h>

typedef tacet_status draw_function(tacet_noise *noise, double *out, size_t count, double scale, int grid_exponent,
                                   tacet_error *err);

/* Coins of exp(-scale); the grid is 1. The scale is m 2^-s exactly. */
static tacet_status draw_bits(tacet_noise *noise, double *out, size_t count, double scale, int grid_exponent,
                              tacet_error *err) {
    int exponent = 0;
    const uint64_t m = (uint64_t)ldexp(frexp(scale, &exponent), 53);
    (void)grid_exponent;
    (void)err;
    for (size_t i = 0; i < count; i++) {
        out[i] = tacet__bernoulli_exp(noise, m, UINT64_C(1) << (53 - exponent)) ? 1 : 0;
    }
    return TACET_OK;
}

static const struct kind {
    const char *name;
    draw_function *draw;
    size_t bits_most;
} KINDS[] = {
    {"gaussian", tacet__draw_gaussian, 40},
    {"laplace", tacet__draw_laplace, 40},
    {"discrete-laplace", tacet__draw_discrete_laplace, 40},
    {"knorm", tacet__draw_knorm, 29},
    {"bit", draw_bits, 40},
};

static const struct kind *find_kind(const char *name) {
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++) {
        if (strcmp(KINDS[i].name, name) == 0) {
            return &KINDS[i];
        }
    }
    return NULL;
}

tacet_status tacet_sampler_init(tacet_sampler *out, const char *name, double scale, size_t grid_bits,
                                tacet_error *err) {
    const struct kind *kind = find_kind(name);
    *out = (tacet_sampler){0};
    if (kind == NULL) {
        return tacet__fail(err, TACET_INVALID, "say what to draw: gaussian, laplace, discrete-laplace, knorm or bit");
    }
    if (!(scale > 0 && scale <= 0x1p1023)) {
        return tacet__fail(err, TACET_INVALID, "the scale must be > 0");
    }
    if (kind->draw == draw_bits && !(scale >= 0x1p-10 && scale <= 1024)) {
        return tacet__fail(err, TACET_INVALID,
                           "the scale of a bit, -ln of its probability, must be between 2^-10 and 1024");
    }
    if (grid_bits > kind->bits_most) {
        return tacet__fail(err, TACET_INVALID, "the grid of %s has at most %zu bits", kind->name, kind->bits_most);
    }
    *out = (tacet_sampler){
        .name = kind->name,
        .scale = scale,
        .grid_exponent = kind->draw == draw_bits ? 0 : tacet__grid_exponent(scale, (unsigned)grid_bits),
        .one_vector = kind->draw == tacet__draw_knorm,
    };
    return TACET_OK;
}

tacet_status tacet_sampler_draw(const tacet_sampler *sampler, tacet_noise *noise, double *out, size_t count,
                                tacet_error *err) {
    const struct kind *kind = find_kind(sampler->name);
    if (kind == NULL) {
        return tacet__fail(err, TACET_INVALID, "no such sampler");
    }
    if (sampler->one_vector && (count == 0 || count > TACET_SAMPLER_VECTOR_MOST)) {
        return tacet__fail(err, TACET_INVALID, "%s noise has 1 to 2^20 coordinates", kind->name);
    }
    return kind->draw(noise, out, count, sampler->scale, sampler->grid_exponent, err);
}
