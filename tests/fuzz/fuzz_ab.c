/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_ab.c - a released table from anyone: read or refused, never a crash; what is read can be asked, checked against
 * a planned split and written again. */
#include "fuzz.h"

#include <math.h>
#include <tacet/ab/open/model.h>

enum { CELLS = 64 }; /* a posterior of more takes longer than it tells */

static void ask(const tacet_ab_model *model) {
    const tacet_ab_facts *f = tacet_ab_model_facts(model);
    const tacet_ab_posterior *p = tacet_ab_model_posterior(model);
    double record[TACET_SPACE_COLUMNS] = {0}, best[TACET_AB_ACTION_COLUMNS_MOST] = {0};
    double weights[CELLS], shown[CELLS], mean = 0, sd = 0, chance = 0;
    for (size_t j = 0; j < f->space->count; j++) {
        record[j] = tacet_ab_plan_value(&f->plan, 0, j);
    }
    for (size_t a = 0; a < p->actions; a++) {
        weights[a] = 1;
    }
    must(tacet_ab_model_predict(model, &mean, &sd, best, record, 1, NULL) == TACET_OK && isfinite(mean) && sd >= 0);
    must(tacet_ab_model_split(model, shown, &chance, weights, NULL) == TACET_OK && chance > 0 && chance <= 1);
    for (size_t c = 0; c < p->contexts; c++) {
        must(p->rule[c] < p->actions);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    tacet_ab_model *model = NULL, *again = NULL;
    tacet_error err = {0};
    char *text = NULL;
    if (tacet_ab_model_decode(&model, (const char *)data, size, &err) != TACET_OK) {
        return fuzz_refused(model, &err);
    }
    if (tacet_ab_model_facts(model)->plan.cells <= CELLS) {
        ask(model);
        must(tacet_ab_model_encode(model, &text, NULL) == TACET_OK &&
             tacet_ab_model_decode(&again, text, strlen(text), NULL) == TACET_OK);
    }
    tacet_ab_model_free(again);
    tacet_ab_model_free(model);
    free(text);
    return 0;
}
