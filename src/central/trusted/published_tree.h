/* SPDX-License-Identifier: Apache-2.0 */
/* published_tree.h - prefix sums through a binary tree of noise: Algorithm 2 of the paper. Ring: trusted. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tacet/core/status.h>
#include <tacet/dp/noise.h>

typedef struct tacet__tree tacet__tree;

/* How far one vector of unit length moves all nodes that are ever released together: the root of the number of nodes
 * that contain the first of `steps` vectors; 1 where the leaves alone are noisy, since everything follows from them. */
double tacet__tree_factor(uint64_t steps, bool leaves);
/* For vectors of `dim` numbers; each node has fresh noise of standard deviation sd in each number. leaves: as the paper
 * prints it, the leaves alone, and each parent is the sum of its children. NO_MEMORY. */
tacet_status tacet__tree_create(tacet__tree **out, size_t dim, double sd, bool leaves, tacet_error *err);
void tacet__tree_free(tacet__tree *tree); /* wipes; NULL is allowed */
/* Vector t = 1, 2, 3, … comes in; `estimate` (dim) becomes the noisy sum of all so far, *var the variance of its noise.
 * Draws the noise of one node. */
tacet_status tacet__tree_step(tacet__tree *tree, double *estimate, double *var, const double *x, tacet_noise *noise,
                              tacet_error *err);
