/* SPDX-License-Identifier: Apache-2.0 */
/* test_field.c - what a study over numbers believes of its function: draws that agree with what was seen, cells as
 * averages over the actions that were shown in them, and epochs that are joined. Seeds are fixed. */
#include "ab/open/internal.h"
#include "ab/shared/plan.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 21, DRAWS = 64, CONTEXTS = 3, BINS = 5 };

typedef struct world {
    tacet_space space;
    tacet_ab_plan plan;
    double place[POINTS];
    size_t bin[POINTS], at[POINTS];
} world;

static void world_init(world *w) {
    const tacet_space_options options = {.bounds = "dose=0:1,age=0:1"};
    memset(w, 0, sizeof *w);
    assert_ok(tacet_space_short(&w->space, &options, NULL));
    assert_ok(tacet_ab_plan_study(&w->plan, &w->space, 1, 0, 1, 1, 10000, NULL));
    assert_true(w->plan.levels[0] == BINS && w->plan.levels[1] == CONTEXTS);
    for (size_t i = 0; i < POINTS; i++) {
        w->place[i] = (double)i / (POINTS - 1);
        w->bin[i] = tacet_ab_plan_action(&w->plan, &w->place[i]);
        w->at[i] = i;
    }
}

static double truth(double dose, double age) {
    const double off = dose - 0.2 - 0.5 * age;
    return 0.7 - off * off;
}

static double average(const double *weights, const double *points, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += weights[i] * points[i];
    }
    return sum;
}

/* Averages over neighbours in two of three contexts, without noise to speak of: draws and mean agree with them; the
 * mean goes on smoothly to what was not seen, and draws are wider there. */
TEST(draws_agree_with_what_was_seen) {
    enum { SEEN = 2 * 7 };
    world w;
    double weights[SEEN * POINTS] = {0}, n[SEEN], z[SEEN], noise[SEEN];
    double mean[CONTEXTS * POINTS], draws[DRAWS * CONTEXTS * POINTS];
    size_t context[SEEN];
    world_init(&w);
    for (size_t i = 0; i < SEEN; i++) {
        context[i] = i / 7;
        n[i] = 1e6;
        noise[i] = 1;
        z[i] = 0;
        for (size_t k = 3 * (i % 7); k < 3 * (i % 7) + 3; k++) {
            weights[i * POINTS + k] = 1.0 / 3;
            z[i] += n[i] / 3 * (truth(w.place[k], ((double)context[i] + 0.5) / CONTEXTS) - 0.5);
        }
    }
    const tacet__ab_seen seen = {.plan = &w.plan,
                                 .place = w.place,
                                 .points = POINTS,
                                 .count = SEEN,
                                 .context = context,
                                 .weights = weights,
                                 .n = n,
                                 .z = z,
                                 .noise = noise,
                                 .p = 0.5,
                                 .spread = 0.04};
    tacet_simrng rng = test_rng(81, 1);
    assert_ok(tacet__ab_process(mean, draws, DRAWS, &seen, &rng, NULL));
    double sd[CONTEXTS] = {0};
    for (size_t i = 0; i < SEEN; i++) {
        assert_close(average(weights + i * POINTS, mean + context[i] * POINTS, POINTS), z[i] / n[i], 2e-3);
        for (size_t k = 0; k < DRAWS; k++) {
            const double *row = draws + (k * CONTEXTS + context[i]) * POINTS;
            assert_close(average(weights + i * POINTS, row, POINTS), z[i] / n[i], 5e-3);
        }
    }
    for (size_t c = 0; c < CONTEXTS; c++) {
        for (size_t i = 0; i < POINTS; i++) {
            const double *m = mean + c * POINTS + i;
            double drawn = 0;
            for (size_t k = 0; k < DRAWS; k++) {
                const double off = draws[(k * CONTEXTS + c) * POINTS + i] - *m;
                sd[c] += off * off / (DRAWS * POINTS);
                drawn += off / DRAWS;
            }
            assert_close(drawn, 0, c < 2 ? 0.01 : 0.1); /* the mean is that of the draws */
            assert_close(*m, truth(w.place[i], ((double)c + 0.5) / CONTEXTS) - 0.5, c < 2 ? 0.02 : 0.15);
        }
    }
    assert_true(sd[2] > 10 * sd[0] && sd[2] > 10 * sd[1]);
    tacet_space_clear(&w.space);
}

/* Two epochs of hardly any noise: an even one, then one that showed a single action, the first of its tickets as late
 * as they may be. */
static void set_facts(tacet_ab_facts *f, const world *w, double *released, const double *tickets, size_t epochs,
                      const size_t *shown, double even) {
    const size_t K = w->plan.cells;
    *f = (tacet_ab_facts){.space = &w->space,
                          .plan = w->plan,
                          .reward = "reward",
                          .top = 1,
                          .variance_share = 1,
                          .scale = 1e-3,
                          .released = released,
                          .epochs = epochs,
                          .tickets = tickets};
    for (size_t e = 0; e < epochs; e++) {
        f->table_rows += (size_t)tickets[e];
        for (size_t i = 0; i < POINTS * CONTEXTS; i++) {
            const size_t x = i % POINTS, c = i / POINTS, cell = c * BINS + w->bin[x];
            const double own = e == 1 ? even : e == 0 ? 1 : 0;
            const double rows = tickets[e] / CONTEXTS * (own / POINTS + (1 - own) * (double)shown[x] / DRAWS);
            const double up = rows * truth(w->place[x], ((double)c + 0.5) / CONTEXTS);
            released[e * w->plan.numbers + cell] += up;
            released[e * w->plan.numbers + K + cell] += rows - up;
        }
    }
}

/* At the end of a bin, and of the next; of two epochs, the second of one action; and of so many, of all actions, that
 * the older ones are joined. */
TEST(a_cell_is_an_average_over_what_was_shown_in_it) {
    enum { EPOCHS = 40 };
    for (size_t k = 0; k < 8; k++) {
        const size_t shown = k % 2 == 0 ? 4 : 7, late = k / 2 % 2, epochs = k / 4 == 0 ? 2 : EPOCHS;
        world w;
        tacet_ab_facts f;
        double mean[CONTEXTS * POINTS], share[CONTEXTS], tickets[EPOCHS];
        world_init(&w);
        double *released = calloc(EPOCHS * w.plan.numbers, sizeof *released);
        double *draws = calloc(DRAWS * CONTEXTS * POINTS, sizeof *draws);
        uint32_t *chosen = calloc((EPOCHS + 1) * CONTEXTS * DRAWS, sizeof *chosen);
        assert_true(released != NULL && draws != NULL && chosen != NULL);
        size_t parts[POINTS] = {0};
        for (size_t i = 0; i < (EPOCHS + 1) * CONTEXTS * DRAWS; i++) {
            const size_t all = epochs > 2 && i % DRAWS < POINTS ? i % DRAWS : shown;
            parts[all] += i < DRAWS ? 1 : 0;
            chosen[i] = (uint32_t)all;
        }
        for (size_t e = 0; e < EPOCHS; e++) {
            tickets[e] = 1e6;
        }
        set_facts(&f, &w, released, tickets, epochs, parts, late > 0 ? 0.5 : 0);
        const tacet__ab_shown s = {.count = POINTS,
                                   .points = POINTS,
                                   .draws = DRAWS,
                                   .bin = w.bin,
                                   .at = w.at,
                                   .place = w.place,
                                   .chosen = chosen,
                                   .late = late * 500000};
        tacet_simrng rng = test_rng(82, k);
        assert_ok(tacet__ab_field(mean, draws, share, &s, &f, &rng, NULL));
        for (size_t i = 0; i < POINTS * CONTEXTS; i++) {
            const double exact = truth(w.place[i % POINTS], ((double)(i / POINTS) + 0.5) / CONTEXTS);
            assert_close(mean[i], exact, i % POINTS == shown ? 3e-3 : 0.02);
        }
        assert_close(share[0], 1.0 / CONTEXTS, 1e-3);
        free(released);
        free(draws);
        free(chosen);
        tacet_space_clear(&w.space);
    }
}

/* Nobody has reported: nothing is known, and it is said so without a fault. */
TEST(nothing_seen_is_no_fault) {
    world w;
    double mean[CONTEXTS * POINTS], *draws = calloc(DRAWS * CONTEXTS * POINTS, sizeof *draws);
    world_init(&w);
    assert_non_null(draws);
    const tacet__ab_seen seen = {.plan = &w.plan, .place = w.place, .points = POINTS, .p = 0.5, .spread = 0.04};
    tacet_simrng rng = test_rng(83, 1);
    assert_ok(tacet__ab_process(mean, draws, DRAWS, &seen, &rng, NULL));
    for (size_t i = 0; i < CONTEXTS * POINTS; i++) {
        assert_true(mean[i] == 0 && isfinite(draws[i]) && draws[i] != 0);
    }
    free(draws);
    tacet_space_clear(&w.space);
}
