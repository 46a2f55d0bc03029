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
    size_t action_columns;
    char reward[TACET_SPACE_NAME];
    char person[TACET_SPACE_NAME];
    tacet__persons *persons; /* chooses rows while they are read; NULL: all are taken */
    size_t rows_per_person;  /* 0: rows count by themselves */
    tacet_contextual_settings settings;
    double lower[TACET_CONTEXTUAL_COORDINATES_MOST], upper[TACET_CONTEXTUAL_COORDINATES_MOST];
    double lengthscales[TACET_CONTEXTUAL_COORDINATES_MOST];
    tacet_contextual_basis *basis;
    tacet_contextual_learner *learner;
    double *rows; /* width numbers each, secret: the columns, then the reward */
    size_t count, width;
};

#endif
