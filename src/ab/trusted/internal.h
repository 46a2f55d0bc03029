/* SPDX-License-Identifier: Apache-2.0 */
/* internal.h - the inside of a log, between log.c, stage.c and release.c. Ring: trusted. */
#ifndef TACET_SRC_AB_TRUSTED_INTERNAL_H
#define TACET_SRC_AB_TRUSTED_INTERNAL_H

#include <tacet/ab/trusted/log.h>

#include <sodium.h>
#include <tacet/io/csv.h>

struct tacet_ab_log {
    char *path;        /* NULL: from memory */
    char *url, *table; /* of a database, or NULL */
    double *rows;
    tacet_space space;
    char reward[TACET_SPACE_NAME];
    tacet_ab_plan plan;
    char person[TACET_SPACE_NAME]; /* column of the file */
    size_t rows_per_person;        /* 0: rows count by themselves */
    const volatile bool *stop;     /* may be NULL */
    size_t count;                  /* rows in memory */
    tacet_ab_engine engine;        /* NULL: this process reads the rows */
    void *user;
    bool known;                           /* the hash is there */
    unsigned char hash[TACET_HASH_BYTES]; /* stands for the rows in their places: as private as they are */
};

/* A log that is not passed over yet; without path and rows, of none. */
tacet_status tacet__ab_log_make(tacet_ab_log **out, const char *path, const double *rows, size_t count,
                                const tacet_ab_question *q, tacet_error *err);
/* A record of the space, then the reward; its number from 0. */
typedef tacet_status (*tacet__ab_visitor)(void *user, const double *row, uint64_t number, tacet_error *err);
tacet_status tacet__ab_visit(const tacet_ab_log *log, tacet__ab_visitor visit, void *user, tacet_error *err);

/* The tally of a pass. CONFLICT: it has other rows than the log. */
tacet_status tacet__ab_pass(const tacet_ab_log *log, tacet_tally **out, const tacet_ab_stage *stage, tacet_error *err);
/* Of a tally: how many of its numbers go to the gate, what stands for the rows, and how many rows were dealt to it. */
size_t tacet__ab_numbers(const tacet_ab_plan *plan, tacet_ab_pass pass);
void tacet__ab_identity(unsigned char out[TACET_HASH_BYTES], const tacet_ab_plan *plan, const tacet_tally *tally,
                        tacet_ab_pass pass);
double tacet__ab_taken(const tacet_ab_plan *plan, const tacet_tally *tally, tacet_ab_pass pass);
/* One cell of a record, as a file has it. INVALID: of an action, and none. */
tacet_status tacet__ab_read_cell(const tacet_ab_log *log, const tacet_csv *csv, double *out, size_t i, size_t column,
                                 tacet_error *err);
/* What a tally of that pass is of. */
tacet_status tacet__ab_stage_plan(tacet_tally_plan *out, const tacet_ab_log *log, const tacet_ab_stage *stage,
                                  tacet_error *err);
/* A database as the engine of a log, which is `user`; and how many rows it has. */
tacet_status tacet__ab_count_groups(void *user, tacet_tally **out, const tacet_ab_stage *stage, tacet_error *err);
tacet_status tacet__ab_count_rows(const tacet_ab_log *log, uint64_t *rows, tacet_error *err);
/* Persons cannot be counted where their rows lie in several places. */
tacet_status tacet__ab_no_persons(tacet_error *err);
/* What a row adds to the table: steps[i] to number at[i]; how many. */
size_t tacet__ab_cell_shares(size_t *at, int64_t *steps, const tacet_ab_plan *plan, size_t cell, int64_t up);
size_t tacet__ab_table_shares(size_t *at, int64_t *steps, const tacet_ab_plan *plan, double top, const double *row);
/* Which rows tell where to cut: about 8 of 100, by a keyed hash of the row's number. */
bool tacet__ab_dealt(const unsigned char key[TACET_AB_DEAL_KEY], uint64_t number);

#endif
