/* SPDX-License-Identifier: Apache-2.0 */
/* earning.c - choices that earn while they learn. Ring: trusted. Source: src/ab/README.md, "Earning": epochs of
 * disjoint tickets, Thompson draws from the posterior between them. Private: which cell an open ticket is in, and the
 * sums of epochs that are not released. Cost: O(1) a suggestion; the end of an epoch, and the first recommendation
 * after a load, one posterior of the table. */
#include "ab/trusted/earning.h"

#include "ab/open/internal.h"
#include "ab/shared/plan.h"
#include "ab/trusted/epochs.h"
#include "ab/trusted/internal.h"
#include "core/fail.h"
#include "core/memory.h"
#include "space/internal.h"

#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#define NAME "ab-earning"
enum { DRAWS = 64, PRINT = 32, EPOCHS = TACET_AB_EPOCHS_MOST, SHARES = 8, COLUMNS = TACET_AB_AXES_MOST };
/* A longer list of actions over numbers counts as so many places a bin, fewer where these were more than the most. */
enum { LISTED_MOST = 128, PLACES_A_BIN = 4, PLACES_MOST = 256 };
static const char PROOF[] = "src/ab/README.md, Earning";
static const double FIRST_TICKETS = 200; /* over eps */
static const double FIRST_LEAST = 100, FIRST_MOST = 1000;
static const double WIDTH = 0.6; /* draws are so many posterior standard deviations wide */

typedef struct earning {
    tacet_ab_earning_settings settings;
    tacet_space space, contexts; /* all columns; those of contexts */
    double *actions;
    unsigned char problem[PRINT];
    size_t planned; /* the horizon that the table was planned for: it stays as it is when the study gets more rounds */
    tacet_ab_plan plan;
    tacet__ab_epochs e;   /* a ticket is about its cell, until it is reported or released */
    uint64_t *now, *next; /* numbers of the table, in steps: of the current epoch, and of tickets after its end */
    /* What was released. */
    double *released, tickets[EPOCHS];
    tacet_receipt receipts[EPOCHS];
    /* What follows from it. */
    bool numbers;         /* a column is one: the posterior is of a function, and not of cells */
    size_t points;        /* actions that the posterior tells apart: of the list, or of the table */
    size_t learnt;        /* epochs that draws and means are of: made again after a load, when they are asked for */
    double *draws, *mean; /* DRAWS x contexts x points, contexts x points */
    double *share;        /* of each context */
    size_t *bin, *at;     /* of each action: which of the table's, and which point */
    double *place;        /* with numbers: points x action columns: places of numbers, levels */
    /* After epochs, contexts x DRAWS: the best action, which is played. With numbers after each of them, since what was
     * shown tells what a table is of; else after the last. Saved, so that whoever goes on plays what was played, and
     * learns from it but once. Public: it follows from releases. Whoever forges it chooses actions, and no more. */
    uint32_t *chosen;
    size_t known; /* epochs after which actions were chosen */
} earning;

static void clear_table(earning *u) {
    double *const numbers[] = {u->released, u->draws, u->mean, u->share, u->place};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        free(numbers[i]);
    }
    if (u->now != NULL && u->next != NULL) {
        sodium_memzero(u->now, u->plan.numbers * sizeof *u->now);
        sodium_memzero(u->next, u->plan.numbers * sizeof *u->next);
    }
    free(u->now);
    free(u->next);
    free(u->bin);
    free(u->at);
    free(u->chosen);
    u->released = u->draws = u->mean = u->share = u->place = NULL;
    u->now = u->next = NULL;
    u->bin = u->at = NULL;
    u->chosen = NULL;
}

static void earning_free(void *self) {
    earning *u = self;
    if (u != NULL) {
        clear_table(u);
        free(u->actions);
        tacet_space_clear(&u->space);
        tacet_space_clear(&u->contexts);
        tacet__ab_epochs_clear(&u->e);
        free(u);
    }
}

/* --- the table --------------------------------------------------------------------------------------------------- */

/* Where an action lies on a grid of so many places a bin: a number for each combination. */
static size_t place_on(const tacet_ab_plan *plan, const double *place, size_t places) {
    size_t at = 0;
    for (size_t j = plan->action_columns; j-- > 0;) {
        const size_t levels = plan->levels[j] * (plan->number[j] ? places : 1);
        const double level = plan->number[j] ? floor(place[j] * (double)levels) : place[j];
        at = at * levels + (size_t)fmin(level, (double)levels - 1);
    }
    return at;
}

/* Actions of the list that lie in one place are one point, that of the first; how many points there are. A list that
 * is short, or `places` of 0: every action is its own. */
static size_t join_actions(earning *u, const double *all, size_t places) {
    const size_t columns = u->plan.action_columns;
    size_t points = 0;
    for (size_t i = 0; i < u->settings.count; i++) {
        size_t before = 0;
        while (places > 0 && before < i &&
               place_on(&u->plan, all + before * columns, places) != place_on(&u->plan, all + i * columns, places)) {
            before++;
        }
        const bool fresh = places == 0 || before == i;
        u->at[i] = fresh ? points++ : u->at[before];
        if (fresh) {
            memcpy(u->place + u->at[i] * columns, all + i * columns, columns * sizeof *all);
        }
    }
    return points;
}

/* Where the actions of the list lie among the table's, and which of them the posterior tells apart. */
static tacet_status place_actions(earning *u, tacet_error *err) {
    const tacet_ab_plan *plan = &u->plan;
    const size_t columns = plan->action_columns, count = u->settings.count;
    double *all = TACET__ZALLOC(double, count *columns);
    if (all == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu actions", count);
    }
    for (size_t i = 0; i < count; i++) {
        const double *record = u->actions + i * columns;
        u->bin[i] = u->at[i] = tacet_ab_plan_action(plan, record);
        for (size_t j = 0; j < columns; j++) {
            all[i * columns + j] = plan->number[j] ? tacet_ab_plan_place(plan, j, record[j]) : record[j];
        }
    }
    u->points = plan->actions;
    if (u->numbers) {
        size_t places = count > LISTED_MOST ? PLACES_A_BIN : 0;
        u->points = join_actions(u, all, places);
        while (places > 1 && u->points > PLACES_MOST) {
            u->points = join_actions(u, all, --places);
        }
    }
    free(all);
    return TACET_OK;
}

/* The table for a horizon, empty. */
static tacet_status make_table(earning *u, size_t planned, tacet_error *err) {
    const tacet_ab_earning_settings *s = &u->settings;
    tacet_ab_plan plan;
    tacet_status status =
        tacet_ab_plan_study(&plan, &u->space, s->action_columns, s->lower, s->upper, s->eps, planned, err);
    if (status != TACET_OK) {
        return status;
    }
    clear_table(u);
    u->plan = plan;
    u->planned = planned;
    u->learnt = u->known = 0;
    u->numbers = false;
    for (size_t j = 0; j < plan.action_columns + plan.columns; j++) {
        u->numbers = u->numbers || plan.number[j];
    }
    u->bin = TACET__ZALLOC(size_t, s->count);
    u->at = TACET__ZALLOC(size_t, s->count);
    u->place = TACET__ZALLOC(double, s->count *plan.action_columns);
    u->now = TACET__ZALLOC(uint64_t, plan.numbers);
    u->next = TACET__ZALLOC(uint64_t, plan.numbers);
    u->chosen = TACET__ZALLOC(uint32_t, (u->numbers ? EPOCHS : 1) * plan.contexts * DRAWS);
    bool good =
        u->bin != NULL && u->at != NULL && u->place != NULL && u->now != NULL && u->next != NULL && u->chosen != NULL;
    if (good) {
        status = place_actions(u, err);
        const tacet__array arrays[] = {{&u->released, plan.numbers, EPOCHS},
                                       {&u->draws, plan.contexts * u->points, DRAWS},
                                       {&u->mean, plan.contexts, u->points},
                                       {&u->share, plan.contexts, 1}};
        good = tacet__zalloc_arrays(arrays, sizeof arrays / sizeof *arrays);
    }
    return good ? status : tacet__fail(err, TACET_NO_MEMORY, "out of memory for a table of %zu cells", plan.cells);
}

/* What the first epochs released. */
static tacet_ab_facts facts_of(const earning *u, size_t epochs) {
    tacet_ab_facts f = {.space = &u->space,
                        .plan = u->plan,
                        .reward = "reward",
                        .top = u->plan.hi,
                        .variance_share = 1,
                        .scale = u->e.epoch > 0 ? u->receipts[0].scale : 0,
                        .is_private = tacet_ask_is_private(&u->e.ask),
                        .released = u->released,
                        .receipt_count = epochs,
                        .epochs = epochs,
                        .tickets = u->tickets,
                        .minimize = u->settings.minimize,
                        .actions = u->actions,
                        .action_count = u->settings.count};
    memcpy(f.receipts, u->receipts, epochs * sizeof *f.receipts);
    for (size_t i = 0; i < epochs; i++) {
        f.table_rows += (size_t)u->tickets[i];
    }
    return f;
}

static size_t best_in(const earning *u, const double *means, size_t context);

static uint32_t *chosen_after(const earning *u, size_t epochs) {
    return u->chosen + (u->numbers ? epochs - 1 : 0) * u->plan.contexts * DRAWS;
}

/* Of a table of categories. */
static tacet_status learn_cells(earning *u, const tacet_ab_facts *f, tacet_simrng *rng, tacet_error *err) {
    const size_t K = u->plan.cells;
    tacet__ab_data data;
    tacet__ab_draws draws = {0};
    tacet_ab_table table;
    tacet_status status = tacet__ab_data_of(&data, &table, f, err); /* the table points into the facts */
    if (status != TACET_OK) {
        return status;
    }
    status = tacet__ab_draw(&draws, &data, rng, err);
    for (size_t i = 0; i < DRAWS * K && status == TACET_OK; i++) {
        u->draws[i] = (double)draws.means[i / K * draws.count / DRAWS * K + i % K];
    }
    if (status == TACET_OK) {
        memcpy(u->mean, draws.mean, K * sizeof *u->mean);
        memcpy(u->share, data.q, data.C * sizeof *u->share);
    }
    tacet__ab_draws_clear(&draws);
    tacet__ab_data_clear(&data);
    return status;
}

static tacet_status learn_field(earning *u, const tacet_ab_facts *f, tacet_simrng *rng, tacet_error *err) {
    const tacet__ab_shown shown = {.count = u->settings.count,
                                   .points = u->points,
                                   .draws = DRAWS,
                                   .bin = u->bin,
                                   .at = u->at,
                                   .place = u->place,
                                   .chosen = u->chosen,
                                   .late = u->e.late};
    return tacet__ab_field(u->mean, u->draws, u->share, &shown, f, rng, err);
}

/* Means, draws and the contexts' shares by the first epochs: post-processing, a function of their releases. */
static tacet_status learn_from(earning *u, size_t epochs, tacet_error *err) {
    const size_t count = u->plan.contexts * u->points;
    tacet_simrng rng;
    tacet_ab_facts *f = TACET__ZALLOC(tacet_ab_facts, 1);
    if (f == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a posterior");
    }
    *f = facts_of(u, epochs);
    tacet_simrng_init(&rng, u->settings.coin_seed, epochs);
    const tacet_status status = u->numbers ? learn_field(u, f, &rng, err) : learn_cells(u, f, &rng, err);
    free(f);
    if (status != TACET_OK) {
        return status;
    }
    for (size_t i = 0; i < DRAWS * count; i++) {
        u->draws[i] = u->mean[i % count] + WIDTH * (u->draws[i] - u->mean[i % count]);
    }
    for (size_t i = 0; i < u->plan.contexts * DRAWS && epochs > u->known; i++) {
        chosen_after(u, epochs)[i] = (uint32_t)best_in(u, u->draws + i % DRAWS * count, i / DRAWS);
    }
    u->known = epochs > u->known ? epochs : u->known;
    u->learnt = epochs;
    return TACET_OK;
}

/* The same by all releases so far, until `*of` (known, or learnt) is all of them. What a function of numbers earns is
 * learnt from which actions each epoch showed: where that is not known, from one epoch after the other. */
static tacet_status learn(earning *u, const size_t *of, tacet_error *err) {
    tacet_status status = TACET_OK;
    while (*of < u->e.epoch && status == TACET_OK) {
        status = learn_from(u, u->numbers && u->known < u->e.epoch ? u->known + 1 : u->e.epoch, err);
    }
    return status;
}

/* --- epochs ------------------------------------------------------------------------------------------------------ */

/* Every epoch after the first has as many tickets as all before it. */
static tacet_status plan_epoch(earning *u, tacet_error *err) {
    return tacet__ab_epochs_plan(&u->e, u->e.begin == 0 ? u->e.first : u->e.begin, err);
}

static tacet_status end_epoch(earning *u, tacet_error *err) {
    const size_t e = u->e.epoch, numbers = u->plan.numbers;
    const tacet__tally_sums sums = {
        .count = numbers, .sensitivity = u->plan.sensitivity, .eps = u->settings.eps, .proof = PROOF};
    tacet_release *release = NULL;
    if (e == EPOCHS) {
        return tacet__fail(err, TACET_STATE, "the study has had its %d epochs", (int)EPOCHS);
    }
    const tacet_status status = tacet__ab_epochs_release(&u->e, &release, u->now, sums, "earning", err);
    if (status != TACET_OK) {
        return status;
    }
    memcpy(u->released + e * numbers, tacet_release_values(release), numbers * sizeof *u->released);
    u->receipts[e] = *tacet_release_receipt(release);
    u->tickets[e] = (double)u->e.size;
    tacet_release_free(release);
    memcpy(u->now, u->next, numbers * sizeof *u->now);
    sodium_memzero(u->next, numbers * sizeof *u->next);
    tacet__ab_epochs_next(&u->e);
    return plan_epoch(u, err);
}

/* --- the policy -------------------------------------------------------------------------------------------------- */

/* Which context of the table a round has. Total: whatever the numbers are. */
static size_t context_of(const earning *u, const double *context) {
    const size_t a = u->settings.action_columns;
    double record[COLUMNS] = {0};
    if (u->settings.embedded) {
        tacet_space_invert(&u->contexts, record + a, context);
    } else {
        memcpy(record + a, context, u->contexts.count * sizeof *record);
    }
    const size_t at = tacet_ab_plan_context(&u->plan, record);
    sodium_memzero(record, sizeof record);
    return at;
}

/* The action of the largest mean in a context of the table; in a tie the first. */
static size_t best_in(const earning *u, const double *means, size_t context) {
    const double *row = means + context * u->points;
    size_t best = 0;
    for (size_t i = 1; i < u->settings.count; i++) {
        best = row[u->at[i]] > row[u->at[best]] ? i : best;
    }
    return best;
}

static tacet_status check_round(const earning *u, const tacet_round *round, tacet_error *err) {
    const size_t dims = u->settings.embedded ? tacet_space_dims(&u->contexts) : u->contexts.count;
    bool good = round->points == NULL && round->context_dim == dims;
    for (size_t i = 0; i < dims && good; i++) {
        good = isfinite(round->context[i]);
    }
    return good ? TACET_OK
                : tacet__fail(err, TACET_INVALID,
                              "%s has a fixed list of actions, and a context of %zu numbers a round", NAME, dims);
}

/* made: what was suggested before, to be repeated; SIZE_MAX: nothing. */
static tacet_status give(earning *u, tacet_suggestion *out, const tacet_round *round, size_t made, tacet_error *err) {
    tacet_simrng rng;
    size_t index = made;
    tacet_status status = check_round(u, round, err);
    TACET_THEN(status, tacet__tickets_left(&u->e.t, err));
    if (status == TACET_OK && tacet__ab_epochs_due(&u->e)) {
        status = end_epoch(u, err);
    }
    if (status != TACET_OK) {
        return status;
    }
    tacet_simrng_init(&rng, u->settings.coin_seed, u->e.t.given + 1);
    const double coin = tacet_simrng_uniform(&rng);
    const size_t context = context_of(u, round->context);
    if (made == SIZE_MAX && u->e.epoch == 0) {
        index = (size_t)(coin * (double)u->settings.count);
    } else if (made == SIZE_MAX) {
        status = learn(u, &u->known, err);
        index = chosen_after(u, u->e.epoch)[context * DRAWS + (size_t)(coin * DRAWS)];
    }
    if (status == TACET_OK) {
        const size_t cell = context * u->plan.actions + u->bin[index];
        *out = (tacet_suggestion){.index = index, .ticket = tacet__tickets_give(&u->e.t, cell)};
    }
    return status;
}

static tacet_status suggest(void *self, tacet_suggestion *out, const tacet_round *round, tacet_error *err) {
    return give(self, out, round, SIZE_MAX, err);
}

static tacet_status repeat(void *self, const tacet_suggestion *made, const tacet_round *round, tacet_error *err) {
    earning *u = self;
    tacet_suggestion again;
    if (made->index >= u->settings.count || made->ticket != u->e.t.given + 1) {
        return tacet__fail(err, TACET_CORRUPT, "%s cannot have made this suggestion", NAME);
    }
    return give(u, &again, round, made->index, err);
}

static tacet_status observe(void *self, uint64_t ticket, double value, tacet_error *err) {
    earning *u = self;
    size_t at[SHARES], cell = 0;
    int64_t steps[SHARES];
    const tacet_status status = tacet__tickets_find(&u->e.t, &cell, ticket, err);
    if (status != TACET_OK) {
        return status;
    }
    const tacet__ab_when when = tacet__ab_epochs_report(&u->e, ticket);
    if (when != TACET__AB_PAST) {
        uint64_t *table = when == TACET__AB_NOW ? u->now : u->next;
        const int64_t up = tacet_tally_steps(value, u->plan.lo, u->plan.hi);
        const size_t count = tacet__ab_cell_shares(at, steps, &u->plan, cell, up);
        for (size_t i = 0; i < count; i++) {
            table[at[i]] += (uint64_t)steps[i];
        }
    }
    sodium_memzero(steps, sizeof steps);
    return TACET_OK;
}

/* Nothing waits for a report: the ticket adds nothing unless it comes. */
static tacet_status drop(void *self, uint64_t ticket, tacet_error *err) {
    size_t cell = 0;
    return tacet__tickets_find(&((const earning *)self)->e.t, &cell, ticket, err);
}

static tacet_status nothing_yet(const earning *u, tacet_error *err) {
    return u->e.epoch > 0 ? TACET_OK
                          : tacet__fail(err, TACET_STATE, "nothing has been released yet: the study is still learning");
}

static tacet_status recommend(void *self, tacet_recommendation *out, tacet_error *err) {
    earning *u = self;
    const double width = u->plan.hi - u->plan.lo;
    const size_t A = u->points;
    double top = -INFINITY;
    tacet_status status = nothing_yet(u, err);
    TACET_THEN(status, learn(u, &u->learnt, err));
    for (size_t i = 0; i < u->settings.count && status == TACET_OK; i++) {
        double value = 0;
        for (size_t c = 0; c < u->plan.contexts; c++) {
            value += u->share[c] * u->mean[c * A + u->at[i]];
        }
        if (value > top) {
            double square = 0;
            for (size_t k = 0; k < DRAWS; k++) {
                double draw = 0;
                for (size_t c = 0; c < u->plan.contexts; c++) {
                    draw += u->share[c] * u->draws[(k * u->plan.contexts + c) * A + u->at[i]];
                }
                square += (draw - value) * (draw - value) / DRAWS;
            }
            top = value;
            *out = (tacet_recommendation){.index = i,
                                          .mean = u->plan.lo + width * value,
                                          .sd = width * sqrt(square) / WIDTH,
                                          .measured = SIZE_MAX};
        }
    }
    return status;
}

static void guarantee(const void *self, tacet_guarantee *out) {
    const earning *u = self;
    tacet__ab_epochs_guarantee(
        &u->e, out, u->settings.eps,
        "the context and reward of one round, and whether it was reported, towards all other rounds",
        "What anyone but the round itself sees hardly changes when its context and reward become any others, or its "
        "report is left out.");
}

static size_t learnt(const void *self) {
    return ((const earning *)self)->known;
}

/* --- what it remembers ------------------------------------------------------------------------------------------- */

static void visit_receipt(const earning *u, tacet__state *s, tacet_receipt *r) {
    uint64_t entry = r->entry;
    size_t grid = (size_t)r->grid_exponent + 2000;
    tacet__state_f64(s, "scale", &r->scale, 0, 1e300);
    tacet__state_f64(s, "sensitivity", &r->sensitivity, u->plan.sensitivity, 1e300);
    tacet__state_size(s, "grid", &grid, 4000);
    tacet__state_u64(s, "entry", &entry, UINT64_MAX);
    tacet__state_bytes(s, "entry hash", r->entry_hash, sizeof r->entry_hash);
    if (tacet__state_taking(s)) {
        (void)strncpy(r->mechanism, "laplace", sizeof r->mechanism - 1);
        r->is_private = r->in_ledger = tacet_ask_is_private(&u->e.ask);
        r->eps = u->settings.eps;
        r->rows = 1;
        r->count = u->plan.numbers;
        r->grid_exponent = (int)grid - 2000;
        r->entry = entry;
    }
}

/* What tickets of an epoch add: at most 1 each, to all cells together. */
static void visit_sums(const earning *u, tacet__state *s, const char *name, uint64_t *sums, size_t tickets) {
    uint64_t sum = 0;
    tacet__state_u64s(s, name, sums, u->plan.numbers, (uint64_t)tickets * (uint64_t)TACET_TALLY_ONE);
    for (size_t i = 0; i < 2 * u->plan.cells && tacet__state_taking(s); i++) {
        sum += sums[i] < UINT64_MAX - sum ? sums[i] : UINT64_MAX - sum;
    }
    tacet__state_require(s, name, !tacet__state_taking(s) || sum <= (uint64_t)tickets * (uint64_t)TACET_TALLY_ONE);
}

static void visit_state(void *self, tacet__state *s) {
    earning *u = self;
    size_t planned = u->planned, now = 0, next = 0;
    tacet__state_same(s, "problem", u->problem, sizeof u->problem);
    tacet__state_size(s, "planned", &planned, TACET__AB_ROUNDS_MOST);
    if (tacet__state_taking(s)) {
        tacet__state_require(s, "planned", planned > 0);
        tacet__state_check(s, "planned", tacet__state_taking(s) ? make_table(u, planned, s->err) : TACET_OK);
    }
    tacet__ab_epochs_state(&u->e, s, EPOCHS, u->plan.cells, &now, &next);
    visit_sums(u, s, "now", u->now, now);
    visit_sums(u, s, "next", u->next, next);
    tacet__state_f64s(s, "released", u->released, u->e.epoch * u->plan.numbers);
    tacet__state_f64s(s, "released tickets", u->tickets, u->e.epoch);
    for (size_t e = 0; e < u->e.epoch; e++) {
        visit_receipt(u, s, &u->receipts[e]);
        tacet__state_require(s, "released tickets", !tacet__state_taking(s) || u->tickets[e] >= 1);
    }
    if (tacet__state_taking(s) && tacet__ab_epochs_open(&u->e)) {
        tacet__state_check(s, "size", plan_epoch(u, s->err));
    }
    tacet__state_size(s, "known", &u->known, u->e.epoch);
    const size_t after = u->numbers || u->known == 0 ? u->known : 1;
    tacet__state_u32s(s, "chosen", u->chosen, after * u->plan.contexts * DRAWS, (uint32_t)u->settings.count - 1);
    u->learnt = tacet__state_taking(s) ? 0 : u->learnt;
}

static const tacet__policy_ops OPS = {.name = NAME,
                                      .suggest = suggest,
                                      .observe = observe,
                                      .recommend = recommend,
                                      .guarantee = guarantee,
                                      .state = visit_state,
                                      .free = earning_free,
                                      .drop = drop,
                                      .repeat = repeat,
                                      .learnt = learnt};

/* --- creation ---------------------------------------------------------------------------------------------------- */

/* Everything a saved state must have been made with; not the horizon, which may grow. */
static tacet_status fingerprint(earning *u, tacet_error *err) {
    const tacet_ab_earning_settings *s = &u->settings;
    const double reals[] = {s->lower, s->upper, s->eps};
    const uint64_t wholes[] = {
        s->count, s->action_columns, u->e.late, u->e.first, s->coin_seed, s->minimize ? 1U : 0U, s->embedded ? 1U : 0U};
    crypto_generichash_state state;
    char *text = NULL;
    const tacet_status status = tacet_space_encode(&u->space, &text, NULL) == TACET_OK
                                    ? TACET_OK
                                    : tacet__fail(err, TACET_NO_MEMORY, "out of memory for a policy");
    if (status == TACET_OK) {
        (void)crypto_generichash_init(&state, NULL, 0, sizeof u->problem);
        (void)crypto_generichash_update(&state, (const unsigned char *)reals, sizeof reals);
        (void)crypto_generichash_update(&state, (const unsigned char *)wholes, sizeof wholes);
        (void)crypto_generichash_update(&state, (const unsigned char *)text, strlen(text) + 1);
        (void)crypto_generichash_update(&state, (const unsigned char *)u->e.ticket, strlen(u->e.ticket));
        (void)crypto_generichash_update(&state, (const unsigned char *)u->actions,
                                        s->count * s->action_columns * sizeof *u->actions);
        (void)crypto_generichash_final(&state, u->problem, sizeof u->problem);
    }
    free(text);
    return status;
}

static tacet_status copy_settings(earning *u, const tacet_ab_earning_settings *s, tacet_error *err) {
    u->settings = *s;
    tacet_status status = tacet_space_copy(&u->space, s->space, err);
    for (size_t j = s->action_columns; j < s->space->count && status == TACET_OK; j++) {
        status = tacet_space_add(&u->contexts, &s->space->columns[j], err);
    }
    u->actions = TACET__ZALLOC(double, s->count * s->action_columns);
    if (status == TACET_OK && (u->actions == NULL)) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu actions", s->count);
    }
    if (status == TACET_OK) {
        memcpy(u->actions, s->actions, s->count * s->action_columns * sizeof *u->actions);
        u->settings.space = NULL;
        u->settings.actions = NULL;
    }
    return status;
}

static tacet_status check(const tacet_ab_earning_settings *s, tacet_error *err) {
    if (s->count < 1 || s->action_columns < 1 || s->action_columns > s->space->count || s->space->count > COLUMNS) {
        return tacet__fail(err, TACET_INVALID, "a list of actions, and at most %d columns", (int)COLUMNS);
    }
    for (size_t i = 0; i < s->count * s->action_columns; i++) {
        const tacet_space_column *column = &s->space->columns[i % s->action_columns];
        if (!tacet_space_holds(column, s->actions[i])) {
            return tacet__fail(err, TACET_INVALID, "action %zu: column '%s' lies outside its bounds",
                               i / s->action_columns, column->name);
        }
    }
    return TACET_OK;
}

size_t tacet__ab_earning_first(double eps) {
    return (size_t)fmin(fmax(FIRST_TICKETS / eps, FIRST_LEAST), FIRST_MOST);
}

tacet_status tacet_ab_earning_create(tacet_policy **out, const tacet_ab_earning_settings *s, const tacet_ask *ask,
                                     tacet_error *err) {
    *out = NULL;
    tacet_status status = check(s, err);
    earning *u = status == TACET_OK ? TACET__ZALLOC(earning, 1) : NULL;
    if (u == NULL) {
        return status == TACET_OK ? tacet__fail(err, TACET_NO_MEMORY, "out of memory for a policy") : status;
    }
    const size_t first = s->first > 0 ? s->first : tacet__ab_earning_first(s->eps);
    status = tacet__ab_epochs_init(&u->e, s->rounds, first, s->late, ask, err);
    TACET_THEN(status, copy_settings(u, s, err));
    TACET_THEN(status, make_table(u, s->rounds, err));
    TACET_THEN(status, plan_epoch(u, err));
    TACET_THEN(status, fingerprint(u, err));
    if (status != TACET_OK) {
        earning_free(u);
        return status;
    }
    return tacet__policy_wrap(out, &OPS, u, err);
}

tacet_status tacet_ab_earning_model(const tacet_policy *policy, tacet_ab_model **out, tacet_error *err) {
    const earning *u = tacet__policy_self(policy, &OPS);
    *out = NULL;
    tacet_status status = nothing_yet(u, err);
    tacet_ab_facts *f = status == TACET_OK ? TACET__ZALLOC(tacet_ab_facts, 1) : NULL;
    if (f == NULL) {
        return status == TACET_OK ? tacet__fail(err, TACET_NO_MEMORY, "out of memory for a model") : status;
    }
    *f = facts_of(u, u->e.epoch);
    f->plan.rows = u->planned;
    status = tacet_ab_model_create(out, f, err);
    free(f);
    return status;
}

tacet_status tacet_ab_earning_best(tacet_policy *policy, size_t *index, const double *context, size_t count,
                                   tacet_error *err) {
    earning *u = tacet__policy_self(policy, &OPS);
    const tacet_round round = {.context = context, .context_dim = count};
    tacet_status status = nothing_yet(u, err);
    TACET_THEN(status, check_round(u, &round, err));
    TACET_THEN(status, learn(u, &u->learnt, err));
    if (status == TACET_OK) {
        *index = best_in(u, u->mean, context_of(u, context));
    }
    return status;
}
