/* SPDX-License-Identifier: Apache-2.0 */
/* log_internal.h - the inside of a log, between log.c and log_release.c. Ring: trusted. */
#ifndef TACET_SRC_CONTEXTUAL_TRUSTED_LOG_INTERNAL_H
#define TACET_SRC_CONTEXTUAL_TRUSTED_LOG_INTERNAL_H

#include "contextual/trusted/internal.h"
#include "io/csv/persons.h"

#include <tacet/contextual/trusted/log.h>
#include <tacet/dp/ledger.h>

struct tacet_contextual_log {
    char *path;
    tacet_space space;
    size_t action_columns, dims, action_dims;
    char reward[TACET_SPACE_NAME], propensity[TACET_SPACE_NAME];
    char person[TACET_SPACE_NAME];
    tacet__persons *persons; /* chooses rows while they are read; NULL: all are taken */
    size_t rows_per_person;  /* 0: rows count by themselves */
    tacet_contextual_settings settings;
    double lower[TACET_CONTEXTUAL_COORDINATES_MOST], upper[TACET_CONTEXTUAL_COORDINATES_MOST];
    double lengthscales[TACET_CONTEXTUAL_COORDINATES_MOST];
    size_t groups[TACET_CONTEXTUAL_COORDINATES_MOST];
    bool lists; /* actions and contexts are lists of points: there are categories */
    double *actions, *contexts;
    size_t action_count, context_count;
    tacet_contextual_basis *basis;
    tacet_contextual_learner *learner;
    double *rows; /* width numbers each, secret: the columns, NaN for no level; reward; propensity */
    size_t count, width;
    unsigned char hash[TACET_HASH_BYTES]; /* of the rows in their order: as private as they are */
};

#endif
