/* SPDX-License-Identifier: Apache-2.0 */
/* typed.h - a release of typed columns, as a modeler sees it: from released numbers and levels to coordinates of the
 * true record, with the law of what was added.
 *
 * A typed release has one released number for each numeric column of its space, in scaled units with the noise of the
 * manifest, and then one index for each category and each missing flag, by randomised response. Model coordinates are
 * those of the embedding (tacet/space/space.h) in another order: all numeric columns, then the simplex of each category
 * and flag. In them every released row is the true one plus noise of mean 0: a released level r is the vertex v_r
 * divided by keep - other, whose mean given the true level is that level's vertex. Everything here is public. */
#ifndef TACET_SRC_OUTSOURCED_SHARED_TYPED_H
#define TACET_SRC_OUTSOURCED_SHARED_TYPED_H

#include <tacet/outsourced/shared/manifest.h>

/* One column of released levels. */
typedef struct tacet_typed_level {
    size_t column; /* of the space */
    bool flag;     /* the missing flag of a numeric column: level 0 is there, 1 is missing */
    size_t levels;
    double keep, other; /* probabilities that a level stays, and becomes one certain other */
} tacet_typed_level;

/* Copies the space into the manifest, and sets its columns (numeric ones, on the scale where distances are measured)
 * and dims (released numbers and levels). INVALID: a numeric column without a unit. NO_MEMORY. */
tacet_status tacet_typed_describe(tacet_manifest *manifest, const tacet_space *space, tacet_error *err);

size_t tacet_typed_numbers(const tacet_space *space); /* released numbers */
size_t tacet_typed_levels(const tacet_space *space);  /* released levels */
/* Level column i < tacet_typed_levels, under eps for a change of level. */
void tacet_typed_level_of(tacet_typed_level *out, const tacet_space *space, size_t i, double eps);
/* A record as what is to be released: scaled numbers, then indices of levels. Total, as embedding is. */
void tacet_typed_split(const tacet_space *space, double *numbers, double *levels, const double *record);

/* Model coordinates; for a release without a space, its released coordinates themselves. */
size_t tacet_typed_coordinates(const tacet_manifest *manifest);
/* A released row of manifest->dims numbers into model coordinates, unbiased for those of the true record. */
void tacet_typed_row(const tacet_manifest *manifest, double *x, const double *released);
/* The standard deviation of each coordinate about the true one (of levels: when all are equally likely), and the box
 * the true ones lie in. Any of them may be NULL. */
void tacet_typed_law(const tacet_manifest *manifest, double *sd, double *low, double *high);

#endif
