/* SPDX-License-Identifier: Apache-2.0 */
/* outsourced_release.h - the product's own curator, for simulations: a table on disk, released by tacet_curate_run with
 * seeded noise as often as wanted. Ring: lab. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <tacet/outsourced/shared/manifest.h>
#include <tacet/outsourced/trusted/curate.h>

typedef struct lab_curator {
    char folder[128]; /* temporary; "": none */
    tacet_space_column *columns;
    size_t d, n;
} lab_curator;

typedef struct lab_release {
    tacet_manifest manifest;
    char *text;   /* the manifest as JSON */
    double *rows; /* dims x n, in scaled units */
} lab_release;

/* X: d x n. low, high, unit: d each. IO: no temporary folder. */
tacet_status lab_curator_open(lab_curator *out, const double *X, size_t d, size_t n, const double *low,
                              const double *high, const double *unit, tacet_error *err);
void lab_curator_close(lab_curator *curator);
/* What `tacet curate` would release, its noise drawn from (seed, trial). Several threads may call it. delta: 0 where
 * the mechanism is pure. */
tacet_status lab_curator_release(const lab_curator *curator, lab_release *out, tacet_curate_mechanism mechanism,
                                 double eps, double delta, size_t dims, uint64_t seed, size_t trial, tacet_error *err);
void lab_release_clear(lab_release *release);
