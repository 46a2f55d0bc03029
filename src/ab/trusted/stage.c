/* SPDX-License-Identifier: Apache-2.0 */
/* stage.c - what a row adds to each pass over a log, and the tally of a pass, whoever added it up.
 * Ring: trusted. Source: src/ab/README.md, "What is released", "Elsewhere". Cost: a hash and a few additions a row. */
#include "tally/gate.h"
#include "ab/shared/plan.h"
#include "ab/trusted/internal.h"
#include "core/fail.h"
#include "core/stop.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Behind the numbers of a pass: the rows that were dealt to it, then 128 bits that stand for all rows in their places,
 * as two sums of hashes: a log that changes between two passes is no log, and sums do not mind who added them up. */
enum { DEALT, KNOWN, WORDS = 3, SHARES = 8 };
enum { STOP_ROWS = 4096 }; /* how often a pass asks whether it should end */
static const uint64_t CUT_PER_100 = 8;

bool tacet__ab_dealt(const unsigned char key[TACET_AB_DEAL_KEY], uint64_t number) {
    unsigned char in[8], out[crypto_shorthash_BYTES];
    uint64_t hash = 0;
    for (size_t i = 0; i < sizeof in; i++) {
        in[i] = (unsigned char)(number >> (8 * i));
    }
    (void)crypto_shorthash(out, in, sizeof in, key);
    for (size_t i = 0; i < sizeof hash; i++) {
        hash = hash << 8 | out[i];
    }
    return hash % 100 < CUT_PER_100;
}

size_t tacet__ab_table_shares(size_t *at, int64_t *steps, const tacet_ab_plan *plan, double top, const double *row) {
    const size_t cell = tacet_ab_plan_context(plan, row) * plan->actions + tacet_ab_plan_action(plan, row);
    const int64_t up = tacet_tally_steps(row[plan->action_columns + plan->columns], plan->lo, top);
    return tacet__ab_cell_shares(at, steps, plan, cell, up);
}

size_t tacet__ab_cell_shares(size_t *at, int64_t *steps, const tacet_ab_plan *plan, size_t cell, int64_t up) {
    const size_t a = cell % plan->actions;
    /* What a row adds to a cell, and to a total, is 1 in all, exactly: that is the proof's sensitivity. */
    const int64_t down = TACET_TALLY_ONE - up;
    const size_t groups = plan->totals ? 4 : 2;
    const size_t to[4] = {cell, plan->cells + cell, 2 * plan->cells + a, 2 * plan->cells + plan->actions + a};
    const int64_t by[4] = {up, down, up, down};
    memcpy(at, to, sizeof to);
    memcpy(steps, by, sizeof by);
    at[groups] = plan->numbers - 1;
    /* s (1 - s) is at most 1/4; it is rounded down, so that what is added is at most the part that is charged. */
    steps[groups] = up * down / (TACET_TALLY_ONE * (TACET_AB_SPREAD_PARTS / 4));
    return groups + (plan->spread ? 1 : 0);
}

/* What a row adds to the law of rewards: two neighbouring knots, 1 in all. */
static size_t knot_shares(size_t *at, int64_t *steps, const tacet_ab_plan *plan, const double *row) {
    const double y = row[plan->action_columns + plan->columns];
    size_t k = 0;
    while (k + 2 < TACET_AB_KNOTS && y >= tacet_ab_knot(plan, k + 1)) {
        k++;
    }
    at[0] = k;
    at[1] = k + 1;
    steps[1] = tacet_tally_steps(y, tacet_ab_knot(plan, k), tacet_ab_knot(plan, k + 1));
    steps[0] = TACET_TALLY_ONE - steps[1];
    return 2;
}

size_t tacet__ab_numbers(const tacet_ab_plan *plan, tacet_ab_pass pass) {
    return pass == TACET_AB_TABLE ? plan->numbers : pass == TACET_AB_LAW ? TACET_AB_KNOTS : 0;
}

/* Everything that decides what a row adds. */
tacet_status tacet__ab_stage_plan(tacet_tally_plan *out, const tacet_ab_log *l, const tacet_ab_stage *stage,
                                  tacet_error *err) {
    static const char *const passes[] = {"known", "law", "table"};
    char *text = NULL;
    char numbers[256];
    crypto_generichash_state state;
    const tacet_status status = tacet_space_encode(&l->space, &text, err);
    if (status != TACET_OK) {
        return status;
    }
    (void)snprintf(numbers, sizeof numbers, "tacet-ab-1 %s %zu %d %a %a %a ", passes[stage->pass],
                   l->plan.action_columns, (int)l->plan.totals, l->plan.lo, l->plan.hi, stage->top);
    for (size_t i = 0; i < l->space.count; i++) {
        const size_t used = strlen(numbers);
        (void)snprintf(numbers + used, sizeof numbers - used, "%zu,", l->plan.levels[i]);
    }
    (void)crypto_generichash_init(&state, NULL, 0, sizeof out->hash);
    (void)crypto_generichash_update(&state, (const unsigned char *)numbers, strlen(numbers) + 1);
    (void)crypto_generichash_update(&state, stage->key, sizeof stage->key);
    (void)crypto_generichash_update(&state, (const unsigned char *)l->reward, strlen(l->reward) + 1);
    (void)crypto_generichash_update(&state, (const unsigned char *)text, strlen(text));
    (void)crypto_generichash_final(&state, out->hash, sizeof out->hash);
    out->numbers = tacet__ab_numbers(&l->plan, stage->pass) + WORDS;
    free(text);
    return TACET_OK;
}

typedef struct adding {
    const tacet_ab_log *log;
    const tacet_ab_stage *stage;
    tacet_tally *tally;
    size_t numbers;
    uint64_t first;
} adding;

static bool taken(const adding *a, uint64_t number) {
    const bool dealt = a->log->plan.money && tacet__ab_dealt(a->stage->key, number);
    return a->stage->pass == TACET_AB_LAW ? dealt : a->stage->pass == TACET_AB_TABLE && !dealt;
}

static tacet_status add_row(void *user, const double *row, uint64_t i, tacet_error *err) {
    static const unsigned char key[crypto_shorthash_siphashx24_KEYBYTES] = "rows of a log";
    const adding *a = user;
    const uint64_t number = a->first + i;
    if (i % STOP_ROWS == 0 && tacet__stopped(a->log->stop, err) != TACET_OK) {
        return TACET_STATE;
    }
    const size_t width = a->log->space.count + 1;
    double numbered[TACET_AB_COLUMNS_MOST + TACET_AB_ACTION_COLUMNS_MOST + 2];
    size_t at[SHARES + WORDS];
    int64_t steps[SHARES + WORDS];
    size_t n = 0;
    memcpy(numbered, row, width * sizeof *row);
    memcpy(&numbered[width], &number, sizeof number);
    if (taken(a, number)) {
        n = a->stage->pass == TACET_AB_LAW ? knot_shares(at, steps, &a->log->plan, row)
                                           : tacet__ab_table_shares(at, steps, &a->log->plan, a->stage->top, row);
        at[n] = a->numbers + DEALT;
        steps[n++] = TACET_TALLY_ONE;
    }
    at[n] = a->numbers + KNOWN;
    at[n + 1] = a->numbers + KNOWN + 1;
    (void)crypto_shorthash_siphashx24((unsigned char *)&steps[n], (const unsigned char *)numbered,
                                      (width + 1) * sizeof *numbered, key);
    const tacet_status status = tacet_tally_add(a->tally, 1, at, steps, n + 2, err);
    sodium_memzero(numbered, sizeof numbered);
    return status;
}

/* The rows that this process holds, the first of which is number `first` of the log. */
static tacet_status add_up(const tacet_ab_log *l, tacet_tally **out, const tacet_ab_stage *stage, uint64_t first,
                           tacet_error *err) {
    tacet_tally_plan plan;
    char part[64];
    (void)snprintf(part, sizeof part, "rows from %llu on", (unsigned long long)first);
    tacet_status status = tacet__ab_stage_plan(&plan, l, stage, err);
    TACET_THEN(status, tacet_tally_create(out, &plan, part, err));
    if (status == TACET_OK) {
        adding a = {.log = l, .stage = stage, .tally = *out, .numbers = plan.numbers - WORDS, .first = first};
        status = tacet__ab_visit(l, add_row, &a, err);
    }
    return status;
}

tacet_status tacet__ab_pass(const tacet_ab_log *l, tacet_tally **out, const tacet_ab_stage *stage, tacet_error *err) {
    unsigned char found[TACET_HASH_BYTES];
    tacet_tally_plan plan;
    *out = NULL;
    tacet_status status = l->engine != NULL ? l->engine(l->user, out, stage, err) : add_up(l, out, stage, 0, err);
    TACET_THEN(status, tacet__ab_stage_plan(&plan, l, stage, err));
    if (status == TACET_OK && (*out == NULL || !tacet_tally_is_of(*out, &plan))) {
        status = tacet__fail(err, TACET_CONFLICT, "the tally of a pass is of another plan than was asked for");
    }
    if (status == TACET_OK && l->known) {
        tacet__ab_identity(found, &l->plan, *out, stage->pass);
        if (tacet_tally_rows(*out) != l->plan.rows || sodium_memcmp(found, l->hash, sizeof found) != 0) {
            status = tacet__fail(err, TACET_CONFLICT, "the log changed while it was read; a log is a file that stays");
        }
    } else if (status == TACET_OK && l->plan.rows > 0 && tacet_tally_rows(*out) != l->plan.rows) {
        status = tacet__fail(err, TACET_CONFLICT, "a part of the log was left out, or changed while it was read");
    }
    if (status != TACET_OK) {
        tacet_tally_free(*out);
        *out = NULL;
    }
    return status;
}

void tacet__ab_identity(unsigned char out[TACET_HASH_BYTES], const tacet_ab_plan *plan, const tacet_tally *tally,
                        tacet_ab_pass pass) {
    const size_t first = tacet__ab_numbers(plan, pass) + KNOWN;
    tacet_tally_bytes(tally, first, out);
    tacet_tally_bytes(tally, first + 1, out + TACET_HASH_BYTES / 2);
}

double tacet__ab_taken(const tacet_ab_plan *plan, const tacet_tally *tally, tacet_ab_pass pass) {
    return tacet_tally_number(tally, tacet__ab_numbers(plan, pass) + DEALT);
}

tacet_status tacet_ab_stage_plan(tacet_tally_plan *out, const tacet_ab_question *q, const tacet_ab_stage *stage,
                                 tacet_error *err) {
    tacet_ab_log *l = NULL;
    tacet_status status = tacet__ab_log_make(&l, NULL, NULL, 0, q, err);
    TACET_THEN(status, tacet_ab_plan_make(&l->plan, q->space, q->action_columns, q->lo, q->hi, q->eps,
                                          stage->rows > 0 ? stage->rows : 1, err));
    TACET_THEN(status, tacet__ab_stage_plan(out, l, stage, err));
    tacet_ab_log_free(l);
    return status;
}

tacet_status tacet__ab_no_persons(tacet_error *err) {
    return tacet__fail(err, TACET_UNSUPPORTED,
                       "a person may have rows in several parts, and nobody counts them: whose row it is (--person) "
                       "needs a table in one process");
}

tacet_status tacet_ab_part_tally(tacet_tally **out, const tacet_ab_question *q, const tacet_ab_stage *stage,
                                 const double *rows, size_t count, uint64_t first, tacet_error *err) {
    tacet_ab_log *l = NULL;
    *out = NULL;
    if (q->person != NULL || q->persons != NULL) {
        return tacet__ab_no_persons(err);
    }
    tacet_status status = tacet__ab_log_make(&l, NULL, rows, count, q, err);
    TACET_THEN(status, tacet_ab_plan_make(&l->plan, q->space, q->action_columns, q->lo, q->hi, q->eps,
                                          stage->rows > 0 ? stage->rows : 1, err));
    TACET_THEN(status, add_up(l, out, stage, first, err));
    if (status != TACET_OK) {
        tacet_tally_free(*out);
        *out = NULL;
    }
    tacet_ab_log_free(l);
    return status;
}
