/* usca_internal.h - the inside of a released model, between its files. Ring: open. */
#ifndef TACET_SRC_OPEN_USCA_INTERNAL_H
#define TACET_SRC_OPEN_USCA_INTERNAL_H

#include <tacet/open/usca.h>

/* The mean at the points of a grid that reaches beyond the unit box, for local interpolation. */
typedef struct tacet__usca_table {
    size_t cells[TACET_USCA_DIM_MOST];    /* of [0, 1], a coordinate */
    size_t points[TACET_USCA_DIM_MOST];   /* cells + 7 */
    size_t action_points, context_points; /* their products: actions fastest */
    double *values;
} tacet__usca_table;

struct tacet_usca_model {
    tacet_usca_parts parts; /* pointers go to the copies below */
    size_t d;
    double bounds[3][TACET_USCA_DIM_MOST]; /* lower, upper, lengthscales */
    double *nodes, *weights;
    double *by_coordinate; /* count x d */
    tacet_receipt receipts[TACET_USCA_RECEIPTS_MOST];
    tacet_kernel *kernel; /* of the unit box */
    /* SE: k is a product over coordinates, so nodes with the same action share a factor. */
    tacet_kernel *parts_of[2]; /* of actions, of contexts (NULL without) */
    size_t group_count;        /* distinct actions among the nodes; 0: not SE */
    size_t *group_of;          /* count */
    double *group_action;      /* group_count x action_dim: by coordinate */
    tacet__usca_table table;   /* values == NULL: none */
};

/* The mean at a point of the unit box, from kernel values. */
double tacet__usca_mean(const tacet_usca_model *model, const double *unit);
/* What is left of the table in this context: action_points numbers, in `room` or in the table itself. */
const double *tacet__usca_table_at(const tacet_usca_model *model, double *room, const double *unit);
/* The mean of an action by what tacet__usca_table_at gave. */
double tacet__usca_table_mean(const tacet_usca_model *model, const double *values, const double *unit);
enum { TACET__USCA_ACTION_POINTS = 1 << 15 }; /* of a table, at most, where there are contexts */

#endif
