/* SPDX-License-Identifier: Apache-2.0 */
/* coordinates.h - released rows as a modeler sees them: from released numbers and levels to coordinates of the true
 * record, with the spread of what was added.
 *
 * A release has one number for each numeric column of its space, in scaled units with the noise of the manifest, and
 * then one index for each category and each missing flag, by randomised response. Model coordinates are those of the
 * embedding (tacet/space/space.h) in another order: all numeric columns, then the simplex of each category and flag. In
 * them every released row is the true one plus noise of mean 0: a released level r is the vertex v_r divided by keep -
 * other, whose mean given the true level is that level's vertex. A mechanism that projects releases images of the
 * scaled records, and these are its model coordinates. Everything here is public. */
#pragma once

#include <tacet/outsourced/shared/manifest.h>

/* One column of released levels. */
typedef struct tacet_manifest_level {
    size_t column; /* of the space */
    bool flag;     /* the missing flag of a numeric column: level 0 is there, 1 is missing */
    size_t levels;
    double keep, other; /* probabilities that a level stays, and becomes one certain other */
} tacet_manifest_level;

/* Copies the space into the manifest, and sets its columns (numeric ones, on the scale where distances are measured)
 * and, unless its mechanism projects, dims (released numbers and levels). INVALID: a column that breaks a rule, or a
 * number without a unit. NO_MEMORY. */
tacet_status tacet_manifest_describe(tacet_manifest *manifest, const tacet_space *space, tacet_error *err);
/* Whether the released coordinates are images of the records, not their columns. */
bool tacet_manifest_projects(const tacet_manifest *manifest);

/* Level column i < tacet_space_categories, under eps for a change of level. */
void tacet_manifest_level_of(tacet_manifest_level *out, const tacet_space *space, size_t i, double eps);

size_t tacet_manifest_coordinates(const tacet_manifest *manifest);
/* A released row of manifest->dims numbers into model coordinates, unbiased for those of the true record. */
void tacet_manifest_row(const tacet_manifest *manifest, double *x, const double *released);
/* The standard deviation of each coordinate about the true one (of levels: when all are equally likely), and the box
 * the true ones lie in, infinite where it is not known. Any of them may be NULL. */
void tacet_manifest_spread(const tacet_manifest *manifest, double *sd, double *low, double *high);
