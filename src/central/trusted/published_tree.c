/* SPDX-License-Identifier: Apache-2.0 */
/* published_tree.c - prefix sums through a binary tree of noise.
 * Ring: trusted. Source: Dubey (AISTATS 2021), Algorithm 2, after Chan, Shi and Song (2011) and Dwork and others
 * (2010). Node (level, i) holds the sum of vectors i 2^level + 1 to (i + 1) 2^level, with noise of its own; a prefix of
 * t vectors is the sum of the nodes of the ones in t's binary form. Differs: fresh noise in every node, where the paper
 * puts noise into leaves alone, whose sums grow as sqrt(t); that form is `leaves`. Step t ends exactly one node that is
 * ever read, that of t's lowest one, so only that one is drawn. Cost: O(dim log t) a step, dim numbers of noise. */
#include "central/trusted/published_tree.h"

#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "core/fail.h"
#include "core/memory.h"
#include "gp/linalg.h"

enum { LEVELS = 25, GRID_BITS = 40 };

struct tacet__tree {
    size_t dim;
    double sd;
    bool leaves;
    uint64_t steps;
    double *exact; /* dim x LEVELS: private: sums of the nodes that are not ended yet */
    double *noisy; /* dim x LEVELS: the last node of each level that was released */
    double *draw;  /* dim */
    tacet_sampler sampler;
};

double tacet__tree_factor(uint64_t steps, bool leaves) {
    /* The first vector is in node (level, 0) of every level that is ended within `steps`. */
    double nodes = 0;
    if (leaves) {
        return 1;
    }
    for (uint64_t length = 1; length <= steps; length *= 2) {
        nodes++;
    }
    return sqrt(nodes);
}

tacet_status tacet__tree_create(tacet__tree **out, size_t dim, double sd, bool leaves, tacet_error *err) {
    *out = NULL;
    tacet__tree *tree = TACET__ZALLOC(tacet__tree, 1);
    if (tree == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "no memory for a tree");
    }
    tree->dim = dim;
    tree->sd = sd;
    tree->leaves = leaves;
    const tacet__array arrays[] = {{&tree->exact, dim, LEVELS}, {&tree->noisy, dim, LEVELS}, {&tree->draw, dim, 1}};
    tacet_status status = tacet__zalloc_arrays(arrays, sizeof arrays / sizeof arrays[0])
                              ? tacet_sampler_init(&tree->sampler, "gaussian", sd, GRID_BITS, err)
                              : tacet__fail(err, TACET_NO_MEMORY, "no memory for a tree of %zu numbers", dim);
    if (status != TACET_OK) {
        tacet__tree_free(tree);
        return status;
    }
    *out = tree;
    return TACET_OK;
}

void tacet__tree_free(tacet__tree *tree) {
    if (tree == NULL) {
        return;
    }
    if (tree->exact != NULL) {
        sodium_memzero(tree->exact, tree->dim * LEVELS * sizeof(double));
    }
    free(tree->exact);
    free(tree->noisy);
    free(tree->draw);
    free(tree);
}

tacet_status tacet__tree_step(tacet__tree *tree, double *estimate, double *var, const double *x, tacet_noise *noise,
                              tacet_error *err) {
    const size_t dim = tree->dim;
    const uint64_t t = tree->steps + 1;
    size_t lowest = 0;
    while (((t >> lowest) & 1) == 0) {
        lowest++;
    }
    if (lowest >= LEVELS || t >> LEVELS != 0) {
        return tacet__fail(err, TACET_STATE, "the tree is full");
    }
    TACET_OR_RETURN(tacet_sampler_draw(&tree->sampler, noise, tree->draw, dim, err));
    tree->steps = t;
    if (tree->leaves) { /* the sum of all leaves, whichever nodes they are read from */
        tacet__axpy(tree->noisy, 1, x, dim);
        tacet__axpy(tree->noisy, 1, tree->draw, dim);
        memcpy(estimate, tree->noisy, dim * sizeof(double));
        *var = tree->sd * tree->sd * (double)t;
        return TACET_OK;
    }
    for (size_t level = 0; level < LEVELS; level++) {
        tacet__axpy(tree->exact + level * dim, 1, x, dim);
    }
    double *node = tree->noisy + lowest * dim;
    memcpy(node, tree->exact + lowest * dim, dim * sizeof(double));
    tacet__axpy(node, 1, tree->draw, dim);
    for (size_t level = 0; level <= lowest; level++) { /* nodes of these levels end here */
        memset(tree->exact + level * dim, 0, dim * sizeof(double));
    }
    memset(estimate, 0, dim * sizeof(double));
    *var = 0;
    for (size_t level = lowest; t >> level != 0; level++) {
        if (((t >> level) & 1) != 0) {
            tacet__axpy(estimate, 1, tree->noisy + level * dim, dim);
            *var += tree->sd * tree->sd;
        }
    }
    return TACET_OK;
}
