/* SPDX-License-Identifier: Apache-2.0 */
/* internal.h - the inside of a released model, between its files. Ring: open. */
#pragma once

#include <tacet/contextual/open/model.h>

struct tacet_contextual_model {
    tacet_contextual_parts parts;                        /* pointers go to the copies below */
    double bounds[3][TACET_CONTEXTUAL_COORDINATES_MOST]; /* lower, upper, lengthscales */
    double *nodes, *weights;
    double *by_coordinate; /* count x action_dim */
    double *listed;        /* action_dim x parts.listed_count; NULL: none */
    tacet_receipt receipts[TACET_CONTEXTUAL_RECEIPTS_MOST];
    tacet_space space;    /* a copy; count 0: none */
    tacet_kernel *kernel; /* of the unit box */
};

/* The mean at a point of the unit box, from kernel values. */
double tacet__contextual_mean(const tacet_contextual_model *model, const double *unit);

/* INVALID names the rule: dimensions, bounds, numbers that are not finite. NO_MEMORY. */
tacet_status tacet_contextual_model_create(tacet_contextual_model **out, const tacet_contextual_parts *parts,
                                           tacet_error *err);
/* As JSON text that ends with a newline, freed by the caller with free(). NO_MEMORY. */
tacet_status tacet_contextual_model_encode(const tacet_contextual_model *model, char **text, tacet_error *err);
