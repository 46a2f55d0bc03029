/* SPDX-License-Identifier: Apache-2.0 */
/* central_tune.c - made-up tuning problems over a space. Ring: programs; made-up data. */
#include "central_tune.h"

#include <math.h>
#include <string.h>
#include <tacet/core/simrng.h>
#include <tacet/space/space.h>

static const char SPACE[] = "{\"columns\":[{\"name\":\"rate\",\"kind\":\"log\",\"bounds\":[1e-5,1]},"
                            "{\"name\":\"layers\",\"kind\":\"integer\",\"bounds\":[1,8]},"
                            "{\"name\":\"optimizer\",\"kind\":\"category\",\"levels\":[\"sgd\",\"adam\",\"lion\"]}]}";
/* as src/service/open/study/space_domain.c takes them */
static const double SCALES[CENTRAL_TUNE_COLUMNS] = {0.5, 1.5, 2};
static const double BEST = 0.9, NARROW = 0.4;

tacet_status central_tune_points(double *records, double *coordinates, double *lengthscales, size_t *dim, size_t *count,
                                 tacet_error *err) {
    tacet_space space;
    tacet_status status = tacet_space_decode(&space, SPACE, strlen(SPACE), err);
    if (status != TACET_OK) {
        return status;
    }
    size_t at = 0;
    for (size_t i = 0; i < space.count; i++) {
        space.columns[i].unit = tacet_space_traits_of(&space.columns[i])->levels ? 1 : 0;
        for (size_t j = 0; j < tacet_space_column_dims(&space.columns[i]); j++) {
            lengthscales[at++] = SCALES[i];
        }
    }
    *dim = tacet_space_dims(&space);
    status = tacet_space_spread(&space, records, count, CENTRAL_TUNE_POINTS, err);
    for (size_t i = 0; status == TACET_OK && i < *count; i++) {
        tacet_space_embed(&space, coordinates + i * *dim, records + i * space.count);
    }
    tacet_space_clear(&space);
    return status;
}

void central_tune_draw(central_tune *out, central_tune_kind kind, uint64_t seed, uint64_t trial) {
    tacet_simrng rng;
    tacet_simrng_init(&rng, seed ^ 0x74756e65, trial);
    out->kind = kind;
    const double decade = -4 + 3 * tacet_simrng_uniform(&rng);
    out->rate = pow(10, decade);
    out->layers = 1 + (double)tacet_simrng_below(&rng, 8);
    out->optimizer = (double)tacet_simrng_below(&rng, 3);
    out->other = pow(10, decade < -2.5 ? decade + 2 : decade - 2);
}

static double dip(const central_tune *t, double rate, double best) {
    const double d = log10(rate / best);
    return t->kind == CENTRAL_TUNE_WIDE ? 0.2 * d * d : 0.5 * (1 - exp(-0.5 * d * d / (NARROW * NARROW)));
}

double central_tune_mean(const central_tune *t, const double *record) {
    const double l = record[1] - t->layers;
    double lost = dip(t, record[0], t->rate);
    if (t->kind == CENTRAL_TUNE_PEAKS) {
        lost = fmin(lost, 0.25 + 0.5 * dip(t, record[0], t->other));
    }
    return fmin(fmax(BEST - lost - 0.01 * l * l - (record[2] != t->optimizer ? 0.25 : 0), 0), 1);
}

double central_tune_top(const central_tune *t) {
    (void)t;
    return BEST;
}

bool central_tune_right(const central_tune *t, const double *record) {
    const double factor = record[0] / t->rate;
    return record[2] == t->optimizer && factor >= 0.5 && factor <= 2;
}
