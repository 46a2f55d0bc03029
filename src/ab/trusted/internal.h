/* SPDX-License-Identifier: Apache-2.0 */
/* internal.h - the inside of a log of categories, between log.c and release.c. Ring: trusted. */
#ifndef TACET_SRC_AB_TRUSTED_INTERNAL_H
#define TACET_SRC_AB_TRUSTED_INTERNAL_H

#include <tacet/ab/trusted/log.h>

#include <sodium.h>

struct tacet_ab_log {
    char *path; /* NULL: from memory */
    double *rows;
    tacet_space space;
    char reward[TACET_SPACE_NAME];
    tacet_ab_plan plan;
    char person[TACET_SPACE_NAME];        /* column of the file */
    size_t rows_per_person;               /* 0: rows count by themselves */
    unsigned char hash[TACET_HASH_BYTES]; /* of the rows in their order: as private as they are */
};

/* A row as levels, then the reward; its number from 0. */
typedef tacet_status (*tacet__ab_visitor)(void *user, const double *row, uint64_t number, tacet_error *err);
tacet_status tacet__ab_visit(const tacet_ab_log *log, tacet__ab_visitor visit, void *user, tacet_error *err);

/* What a row adds to the law of rewards: two neighbouring knots, 1 in all. */
tacet_status tacet__ab_knots_add(tacet_tally *tally, const tacet_ab_plan *plan, const double *row,
                                 tacet_error *err);
tacet_status tacet__ab_knots_plan(tacet_tally_plan *out, const tacet_ab_log *log, tacet_error *err);

/* Which rows tell where to cut: about 8 of 100, by a keyed hash of the row's number. */
enum { TACET__AB_DEAL_KEY = crypto_shorthash_KEYBYTES };
bool tacet__ab_dealt(const unsigned char key[TACET__AB_DEAL_KEY], uint64_t number);

#endif
