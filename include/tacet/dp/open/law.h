/* SPDX-License-Identifier: Apache-2.0 */
/* law.h - what anyone may know of a mechanism: its name, the law of its noise, how far that spreads, what it promises.
 *
 * One entry for each mechanism of the gate (src/dp/mechanism.h), under the same name: open code reads manifests and
 * receipts with it and links nothing of the gate. A name that is not here is an error to whoever meets it; nothing is
 * ever taken for another law. */
#ifndef TACET_DP_OPEN_LAW_H
#define TACET_DP_OPEN_LAW_H

#include <stdbool.h>
#include <stddef.h>
#include <tacet/core/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tacet_density {
    TACET_DENSITY_NONE,     /* a choice among candidates: no noise is added */
    TACET_DENSITY_NORMAL,   /* independent numbers, density proportional to exp(-x^2 / (2 scale^2)) */
    TACET_DENSITY_LAPLACE,  /* independent numbers, density proportional to exp(-|x| / scale) */
    TACET_DENSITY_EUCLIDEAN /* one vector, density proportional to exp(-|v|_2 / scale) */
} tacet_density;

typedef struct tacet_law {
    const char *name;  /* in charges and receipts: "gaussian", "laplace", "k-norm", … */
    const char *words; /* what it does, in half a sentence */
    tacet_density density;
    bool pure; /* promises eps alone: its delta is 0 */
    /* Standard deviation of one of `count` coordinates; NULL for choices. */
    double (*spread)(double scale, size_t count);
} tacet_law;

/* NULL: no mechanism has this name. */
TACET_API const tacet_law *tacet_law_find(const char *name);
/* The i-th of them, from 0; NULL past the last. */
TACET_API const tacet_law *tacet_law_at(size_t i);

#ifdef __cplusplus
}
#endif
#endif
