/* SPDX-License-Identifier: Apache-2.0 */
/* internal.h - the inside of a released model, between its files. Ring: open. */
#ifndef TACET_SRC_CONTEXTUAL_OPEN_INTERNAL_H
#define TACET_SRC_CONTEXTUAL_OPEN_INTERNAL_H

#include <tacet/contextual/open/model.h>

/* The mean at the points of a grid that reaches beyond the unit box, for local interpolation. */
typedef struct tacet__contextual_table {
    size_t cells[TACET_CONTEXTUAL_DIM_MOST];  /* of [0, 1], a coordinate */
    size_t points[TACET_CONTEXTUAL_DIM_MOST]; /* cells + 7 */
    size_t action_points, context_points;     /* their products: actions fastest */
    double *values;
} tacet__contextual_table;

enum { TACET__CONTEXTUAL_TERMS_MOST = 128, TACET__CONTEXTUAL_FACTORS_MOST = 256, TACET__CONTEXTUAL_CHAINS = 5 };

/* Consecutive coordinates of the actions, whose points occur with all points of the others. */
typedef struct tacet__contextual_axis {
    size_t first, dim;    /* coordinates */
    size_t count, stride; /* point j is that of node j * stride */
} tacet__contextual_axis;

/* The kernel as a mixture of squared exponentials, and what is a product among the nodes (product.c). */
typedef struct tacet__contextual_product {
    size_t terms; /* 0: kernel values take less, or the nodes are no product */
    double weight[TACET__CONTEXTUAL_TERMS_MOST];
    double rate[TACET__CONTEXTUAL_CHAINS]; /* of r^2, in the first terms; four times that of the fifth before, later */
    double inverse[TACET_CONTEXTUAL_DIM_MOST]; /* of the unit box's lengthscales */
    size_t axis_count;                         /* of the actions */
    tacet__contextual_axis axes[TACET_CONTEXTUAL_DIM_MOST];
    size_t actions, contexts; /* distinct ones among the nodes: actions fastest */
} tacet__contextual_product;

struct tacet_contextual_model {
    tacet_contextual_parts parts; /* pointers go to the copies below */
    size_t d;
    double bounds[3][TACET_CONTEXTUAL_COORDINATES_MOST]; /* lower, upper, lengthscales */
    size_t groups[TACET_CONTEXTUAL_COORDINATES_MOST];
    double *nodes, *weights;
    double *by_coordinate; /* count x d */
    double *listed;        /* action_dim x parts.listed_count; NULL: none */
    tacet_receipt receipts[TACET_CONTEXTUAL_RECEIPTS_MOST];
    tacet_space space;    /* a copy; count 0: none */
    tacet_kernel *kernel; /* of the unit box */
    tacet__contextual_product product;
    tacet__contextual_table table; /* values == NULL: none */
};

/* The mean at a point of the unit box, from kernel values. */
double tacet__contextual_mean(const tacet_contextual_model *model, const double *unit);
/* Sets terms = 0 where predictions should take kernel values. */
void tacet__contextual_product_init(tacet__contextual_product *product, const tacet_contextual_model *model);
/* What the nodes weigh in this context, `actions` numbers a term; returns how many terms matter. */
size_t tacet__contextual_product_at(const tacet_contextual_model *model, double *tensors, const double *unit);
/* Means of n actions, as many coordinates of the unit box each as the model has. */
void tacet__contextual_product_means(const tacet_contextual_model *model, double *means, const double *tensors,
                                     size_t terms, const double *units, size_t n);
/* What is left of the table in this context: action_points numbers, in `room` or in the table itself. */
const double *tacet__contextual_table_at(const tacet_contextual_model *model, double *room, const double *unit);
/* The mean of an action by what tacet__contextual_table_at gave. */
double tacet__contextual_table_mean(const tacet_contextual_model *model, const double *values, const double *unit);
/* Of a table where there are contexts, and of the tensors of all terms: at most. */
enum { TACET__CONTEXTUAL_ACTION_POINTS = 1 << 15 };

#endif
