/* SPDX-License-Identifier: Apache-2.0 */
/* repro_contextual.c - the rate of Pavlovic, Salgia and Zhao, "Differentially Private Kernelized Contextual Bandits"
 * (2025): a theorem, no experiment. Ring: programs. */
#include "repro.h"

#include "core/fail.h"

#include <math.h>
#include <string.h>

enum { FULL = 40, QUICK = 10, ROUND_COUNT = 3, EPS_COUNT = 3, DRAWS = 8 };
static const size_t ROUNDS[ROUND_COUNT] = {1000, 10000, 100000};
static const double EPS[EPS_COUNT] = {0.1, 1, 10};
static const char *const ALGORITHM[] = {"published", "table"};

static tacet_status cell_for(size_t *out, repro_plan *plan, const repro_options *o, const char *algorithm,
                             size_t rounds, double eps, tacet_error *err) {
    const lab_request request = {.model = LAB_CONTEXTUAL,
                                 .trials = repro_trials(o, FULL, QUICK),
                                 .seed = o->seed,
                                 .of.contextual = {.algorithm = algorithm,
                                                   .kernel = "se",
                                                   .lengthscale = 0.3,
                                                   .noise = 0.1,
                                                   .eps = eps,
                                                   .dim_action = 1,
                                                   .dim_context = 1,
                                                   .rounds = rounds,
                                                   .draws = DRAWS}};
    return repro_cell_add(out, plan, &request, 0.05 + 6e-6 * (double)rounds, err);
}

static tacet_status build(repro_plan *plan, const repro_options *o, tacet_error *err) {
    tacet_status status = TACET_OK;
    plan->paper_trials = 1;
    repro_column_add(plan, "as published", "pure eps-joint DP, for one choice; tau = 1");
    repro_column_add(plan, "as shipped", "pure eps-joint DP, any number of choices");
    (void)snprintf(plan->quantity, sizeof plan->quantity, "expected error of a choice");
    for (size_t e = 0; e < EPS_COUNT && status == TACET_OK; e++) {
        char group[32];
        (void)snprintf(group, sizeof group, "eps = %g", EPS[e]);
        for (size_t t = 0; t < ROUND_COUNT && status == TACET_OK; t++) {
            const lab_contextual_request world = {
                .kernel = "se", .lengthscale = 0.3, .dim_action = 1, .dim_context = 1, .rounds = ROUNDS[t]};
            char label[32];
            double gain = 0;
            (void)snprintf(label, sizeof label, "T = %zu", ROUNDS[t]);
            repro_row *row = repro_row_add(plan, group, label);
            status = lab_contextual_gain(&gain, &world, err);
            row->value = sqrt(gain / (double)ROUNDS[t]) + gain / (EPS[e] * (double)ROUNDS[t]);
            (void)snprintf(row->paper, sizeof row->paper, "O(%.3g)", row->value);
            for (size_t c = 0; c < 2 && status == TACET_OK; c++) {
                status = cell_for(&row->cell[c], plan, o, ALGORITHM[c], ROUNDS[t], EPS[e], err);
            }
        }
    }
    static const char *const REFERENCES[][2] = {{"nonprivate", "non-private ridge, T = 10000"},
                                                {"uniform", "uniform actions"}};
    for (size_t i = 0; i < 2 && status == TACET_OK; i++) {
        repro_row *row = repro_row_add(plan, "references", REFERENCES[i][1]);
        row->reference = true;
        status = cell_for(&row->cell[0], plan, o, REFERENCES[i][0], ROUNDS[1], 1, err);
    }
    return status;
}

/* The slope of log error over log T between the two longest logs. */
static void conclude(repro_plan *plan) {
    const double from = (double)ROUNDS[ROUND_COUNT - 2], to = (double)ROUNDS[ROUND_COUNT - 1];
    for (size_t last = ROUND_COUNT - 1; last < ROUND_COUNT * (size_t)EPS_COUNT; last += ROUND_COUNT) {
        double slope[2], mean[2] = {0}, se = 0;
        size_t trials = 0;
        for (size_t c = 0; c < 2; c++) {
            (void)repro_result(plan, last - 1, c, &mean[0], &se, &trials);
            (void)repro_result(plan, last, c, &mean[1], &se, &trials);
            slope[c] = log(mean[1] / mean[0]) / log(to / from);
        }
        repro_finding(plan, "%s, T = %.0f to %.0f: T^%.2f as published, T^%.2f as shipped, T^%.2f the theorem's bound.",
                      plan->row[last].group, from, to, slope[0], slope[1],
                      log(plan->row[last].value / plan->row[last - 1].value) / log(to / from));
    }
}

static const char SETTING[] =
    "One action and one context coordinate in [0, 1], squared-exponential kernel with lengthscale 0.3, functions of "
    "norm 1, reward noise 0.1, contexts uniform. The paper proves a rate and measures nothing: its column is "
    "sqrt(gamma_T/T) + gamma_T/(eps T) with all constants set to 1: compare slopes, not levels.";
static const char WHY[] =
    "Once T is large the published mechanism falls as the rate's second term. The non-private part falls faster "
    "than the first term: the loss is second order in the error of the estimate. What ships has the same "
    "guarantee and a smaller constant (src/contextual/README.md).";

static const repro_entry ENTRIES[] = {
    {"contextual-rate", "error against T and eps", SETTING, WHY, false, NULL, build, conclude}};

const repro_paper REPRO_CONTEXTUAL = {
    "Pavlovic, Salgia, Zhao: Differentially Private Kernelized Contextual Bandits, 2025", ENTRIES, 1};
