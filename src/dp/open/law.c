/* SPDX-License-Identifier: Apache-2.0 */
/* law.c - the laws of the gate's mechanisms, as a table.
 * Ring: open. Source: none for the names; the spread of the Euclidean law follows from its radius, Gamma(d, scale),
 * whose mean square d (d + 1) scale^2 is shared by d coordinates. Adding a mechanism: docs/extending.md.
 * Cost: a search among a handful. */
#include "dp/open/laws.h"

#include <math.h>
#include <string.h>

static double spread_normal(double scale, size_t count) {
    (void)count;
    return scale;
}

static double spread_laplace(double scale, size_t count) {
    (void)count;
    return scale * sqrt(2.0);
}

static double spread_euclidean(double scale, size_t count) {
    return scale * sqrt((double)count + 1.0);
}

const tacet_law tacet__law_gaussian = {.name = "gaussian",
                                       .words = "independent Gaussian noise on each number",
                                       .density = TACET_DENSITY_NORMAL,
                                       .spread = spread_normal};
const tacet_law tacet__law_laplace = {.name = "laplace",
                                      .words = "independent Laplace noise on each number",
                                      .density = TACET_DENSITY_LAPLACE,
                                      .pure = true,
                                      .spread = spread_laplace};
const tacet_law tacet__law_knorm = {.name = "k-norm",
                                    .words = "one vector of Euclidean Laplace noise",
                                    .density = TACET_DENSITY_EUCLIDEAN,
                                    .pure = true,
                                    .spread = spread_euclidean};
const tacet_law tacet__law_l2 = {.name = "l2",
                                 .words = "one vector of Euclidean Laplace noise, calibrated with a delta",
                                 .density = TACET_DENSITY_EUCLIDEAN,
                                 .spread = spread_euclidean};
const tacet_law tacet__law_permute_and_flip = {.name = "permute-and-flip",
                                               .words = "one of several candidates, those with high scores more likely",
                                               .density = TACET_DENSITY_NONE,
                                               .pure = true};
const tacet_law tacet__law_exponential = {.name = "exponential",
                                          .words = "one of several candidates, by the exponential mechanism",
                                          .density = TACET_DENSITY_NONE,
                                          .pure = true};

static const tacet_law *const LAWS[] = {&tacet__law_gaussian, &tacet__law_laplace,          &tacet__law_knorm,
                                        &tacet__law_l2,       &tacet__law_permute_and_flip, &tacet__law_exponential};

const tacet_law *tacet_law_at(size_t i) {
    return i < sizeof LAWS / sizeof LAWS[0] ? LAWS[i] : NULL;
}

const tacet_law *tacet_law_find(const char *name) {
    size_t i = 0;
    const tacet_law *law = NULL;
    while ((law = tacet_law_at(i)) != NULL && strcmp(law->name, name) != 0) {
        i++;
    }
    return law;
}
