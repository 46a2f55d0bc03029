/* SPDX-License-Identifier: Apache-2.0 */
/* mechanism.h - bounded numbers in, a release out; the order is fixed: budget, reservation, draw, commit.
 *
 * A tacet_mechanism is a calibrated recipe, made from public things only: a bound, who counts as neighbours, and a
 * budget. It is immutable, so any number of threads may run it. Running it
 *   1. reserves its charge durably in the ledger under a ticket (BUDGET when that would be too much: nothing is drawn);
 *   2. draws, unless the ticket was answered before: then the stored answer is handed out again;
 *   3. commits the answer durably, and only then returns it.
 * A run that is interrupted between 1 and 3 and repeated with the same data makes the same release; with other data it
 * is refused. Without a ledger only a seeded noise source is accepted, and the release says it is not private. */
#pragma once

#include <tacet/dp/open/law.h>
#include <tacet/dp/open/release.h>
#include "dp/bound.h"
#include <tacet/dp/ledger.h>
#include <tacet/dp/mint.h>
#include <tacet/dp/noise.h>

/* A mechanism has its entry tacet__kind_<name> in src/dp/mechanisms, or the library does not link. From 1 on. */
#define TACET_MECHANISMS(X)                                                                                            \
    X(GAUSSIAN, gaussian)                 /* (eps, delta): rounded Gaussian noise on each number */                    \
    X(LAPLACE, laplace)                   /* eps: rounded Laplace noise on each number, L1 sensitivity */              \
    X(KNORM, knorm)                       /* eps: one vector with density exp(-|v|_2/theta), L2 sensitivity */         \
    X(PERMUTE_AND_FLIP, permute_and_flip) /* eps: the number of a candidate with a high score */                       \
    X(EXPONENTIAL, exponential)           /* eps: likewise, by the exponential mechanism */                            \
    X(L2, l2)                             /* (eps, delta): KNORM with a smaller scale, tacet/dp/open/calibrate.h */
#define TACET_MECHANISM_ENUMERATOR(kind, name) TACET_MECHANISM_##kind,
typedef enum tacet_mechanism_kind { /* 0: none */
                                    TACET_MECHANISM_NONE,
                                    TACET_MECHANISMS(TACET_MECHANISM_ENUMERATOR)
} tacet_mechanism_kind;

typedef struct tacet_mechanism tacet_mechanism;

/* The scale of the noise for `count` numbers of this sensitivity (L1 for LAPLACE, L2 otherwise), rounded to the private
 * side. INVALID: eps, delta, sensitivity; a kind that does not exist or adds no noise. */
tacet_status tacet_mechanism_scale_for(double *out, tacet_mechanism_kind kind, double eps, double delta,
                                       double sensitivity, size_t count, tacet_error *err);
/* The mechanism of a law (tacet/dp/open/law.h). INVALID: none has it. */
tacet_status tacet_mechanism_of_law(tacet_mechanism_kind *out, const tacet_law *law, tacet_error *err);

/* delta is used by GAUSSIAN and L2; those whose law is pure take no notice of it. The bound must outlive the mechanism.
 * Choices take scores: their neighbours are REPLACE, their sensitivity the largest change of one coordinate. INVALID:
 * eps, delta, neighbours; a bound so wide against its sensitivity that grid numbers do not fit a double. NO_MEMORY. */
tacet_status tacet_mechanism_create(tacet_mechanism **out, tacet_mechanism_kind kind, const tacet_bound *bound,
                                    const tacet_neighbours *neighbours, double eps, double delta, tacet_error *err);
/* Levels beside the numbers of a row: exact k-ary randomised response with the mechanism's eps on each of `count`
 * columns, of levels[i] >= 2 levels. For noise by L2 sensitivity between neighbours that MOVE: a neighbour then either
 * moves in its numbers, or changes one level. A row is its numbers, then the indices of its levels; many rows at once
 * are all numbers, row after row, then all levels, row after row. Only tables (tacet_table_rows) have levels. Proof:
 * src/dp/mechanisms/levels.md. INVALID, NO_MEMORY. */
tacet_status tacet_mechanism_add_levels(tacet_mechanism *mechanism, const size_t *levels, size_t count,
                                        tacet_error *err);
/* The same for rows that have no numbers at all. */
tacet_status tacet_mechanism_response(tacet_mechanism **out, const size_t *levels, size_t count, double eps,
                                      tacet_error *err);
void tacet_mechanism_free(tacet_mechanism *mechanism);                /* NULL is allowed */
double tacet_mechanism_scale(const tacet_mechanism *mechanism);       /* sigma, b, theta; 0 for choices */
double tacet_mechanism_sensitivity(const tacet_mechanism *mechanism); /* rounding included */
int tacet_mechanism_grid_exponent(const tacet_mechanism *mechanism);

/* Who asks for what. Texts as in tacet_charge. */
typedef struct tacet_ask {
    tacet_ledger *ledger; /* NULL: only with a seeded noise source */
    tacet_noise *noise; /* NULL: private, by the key that the reservation mints. Otherwise a seeded source, and whatever
                           is made of it is stamped "not private" */
    const char *ticket; /* names the question; the same ticket gets the same answer */
    const char *what, *to_whom;
    const char *covered_fields, *uncovered_fields, *covered_records;
    const char *group, *part; /* parallel composition, or NULL */
    size_t records;           /* of how many records, where that is part of the question: "records" among the parameters
                                 of the charge, for a mechanism or a table; 0: not said */
    size_t rows_each;         /* how many rows one person may have in the data: the charge is for all of them; 0, 1: one
                                 (src/dp/persons.md) */
    /* Of tables, where the gate does not see all data before the first row is drawn: */
    const unsigned char *data; /* TACET_MINT_BYTES that stand for all rows and all settings that made them; private
                                  tables need it. A repeat with others is a CONFLICT */
    const tacet_mint *mint;    /* the key to reserve a new question with, where `data` was made under it; NULL: any */
} tacet_ask;
bool tacet_ask_is_private(const tacet_ask *ask);
/* Whether anything may be drawn as asked: private with a ledger, or seeded. INVALID: neither; a sample, which makes no
 * release. */
tacet_status tacet_ask_check(const tacet_ask *ask, tacet_error *err);

/* INVALID: the vector has another bound; a ledger missing where it is needed. NUMERIC: the sampler ran out of digits
 * (probability below 2^-400): the ticket is spent. Errors of the ledger as in ledger.h. */
TACET_MUST_CHECK tacet_status tacet_mechanism_run(const tacet_mechanism *mechanism, tacet_release **out,
                                                  const tacet_ask *ask, const tacet_bounded *value, tacet_error *err);

/* A table, each row a mechanism of its own over another record: charged once (parallel composition over the rows, whose
 * places are public). Rows stream through: the caller keeps what is drawn to itself until tacet_table_close has
 * returned OK, then lets it go, as the bytes it named to tacet_table_give. A crash before that leaves a spent entry and
 * nothing released. */
typedef struct tacet_table tacet_table;

/* When the ticket was answered before, *out is NULL and *answered its receipt: the rows exist already, and are not
 * drawn again. Otherwise *answered is NULL. Choices are no tables: INVALID; so is a private table without ask->data.
 * BUSY: another process reserved the ticket with another key than ask->mint while `data` was made. */
TACET_MUST_CHECK tacet_status tacet_table_open(tacet_table **out, tacet_release **answered,
                                               const tacet_mechanism *mechanism, const tacet_ask *ask, size_t rows,
                                               tacet_error *err);
/* For bounds that are boxes: rows first … first + rows - 1 of the table, from the first rows x count
 * numbers of `raw`, row after row, clipped to the box of the mechanism. Several threads may do so at a time, each with
 * a raw vector of its own, in any order: what is released depends on the rows and their numbers alone. STATE: one of
 * them was drawn before, or lies beyond the end, or an earlier call failed. NO_MEMORY. NUMERIC as above. INVALID: the
 * rest. */
TACET_MUST_CHECK tacet_status tacet_table_rows(tacet_table *table, double *values, const tacet_raw *raw, size_t first,
                                               size_t rows, tacet_error *err);
/* Rows first … first + rows - 1 are drawn by another process, of the same trust: it gets the key of the table's noise
 * (TACET_MINT_BYTES), and draws them from a table of its own, any number of times, always the same bits of the same
 * records. Here they count as drawn. Errors as tacet_table_rows. */
TACET_MUST_CHECK tacet_status tacet_table_lend(tacet_table *table, unsigned char *key, size_t first, size_t rows,
                                               tacet_error *err);
/* That process's table: draws rows first … first + rows - 1 by tacet_table_rows, and cannot be closed. INVALID,
 * NO_MEMORY. */
TACET_MUST_CHECK tacet_status tacet_table_borrow(tacet_table **out, const tacet_mechanism *mechanism,
                                                 const unsigned char *key, size_t first, size_t rows, tacet_error *err);
/* The next bytes of what will be let go (the rows as text, say), in their order: the receipt has the BLAKE2b-256 of all
 * of them. One thread at a time. */
void tacet_table_give(tacet_table *table, const void *bytes, size_t size);
/* Commits the receipt, with the hash of all bytes given, durably. STATE: rows are missing. Frees nothing on failure of
 * the ledger, so that it can be tried again. */
TACET_MUST_CHECK tacet_status tacet_table_close(tacet_table *table, tacet_release **out, tacet_error *err);
void tacet_table_free(tacet_table *table); /* also without close; NULL is allowed */
