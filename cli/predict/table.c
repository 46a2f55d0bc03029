/* SPDX-License-Identifier: Apache-2.0 */
/* table.c - the best action in a context, from a released table. Ring: programs (open). */
#include "predict/table.h"

#include "predict/rows.h"

#include <string.h>

/* A record's action, or the best one in its context, and what it earns. */
static json_t *one_json(const tacet_ab_model *model, const double *record, bool best, tacet_error *err) {
    const tacet_ab_facts *f = tacet_ab_model_facts(model);
    double action[TACET_AB_ACTION_COLUMNS_MOST], mean = 0, sd = 0;
    memcpy(action, record, f->plan.action_columns * sizeof *action);
    if (tacet_ab_model_predict(model, &mean, &sd, best ? action : NULL, record, 1, err) != TACET_OK) {
        return NULL;
    }
    json_t *list = json_array();
    for (size_t j = 0; j < f->plan.action_columns; j++) {
        char text[TACET_SPACE_NAME];
        const bool named = !f->plan.number[j] || tacet_space_traits_of(&f->space->columns[j])->text;
        tacet_space_text(&f->space->columns[j], text, action[j]);
        (void)json_array_append_new(list, named ? J(text) : J(action[j]));
    }
    return cli_object("action mean sd", J(list), J(mean), J(sd));
}

static const char *protection_of(const tacet_ab_facts *f) {
    return f->is_private ? "post-processing of a private release: costs nothing"
                         : "none: the model was made with seeded noise";
}

/* What is in a context: the best action, or every one. */
static json_t *in_context(const void *user, const double *context, bool all, tacet_error *err) {
    const tacet_ab_model *model = user;
    const tacet_ab_facts *f = tacet_ab_model_facts(model);
    const size_t actions = all ? tacet_ab_model_posterior(model)->actions : 1;
    double record[TACET_AB_AXES_MOST] = {0};
    json_t *list = json_array();
    memcpy(record + f->plan.action_columns, context, f->plan.columns * sizeof *record);
    for (size_t a = 0; a < actions && list != NULL; a++) {
        for (size_t j = 0; all && j < f->plan.action_columns; j++) {
            record[j] = tacet_ab_plan_value(&f->plan, a, j);
        }
        json_t *one = one_json(model, record, !all, err);
        if (one == NULL) {
            json_decref(list);
            return NULL;
        }
        (void)json_array_append_new(list, one);
    }
    return list;
}

int predict_table(const tacet_ab_model *model, const char *context_text, const char *data, bool all,
                  const cli_command *self) {
    const tacet_ab_facts *f = tacet_ab_model_facts(model);
    const tacet_space_column *contexts = f->space->columns + f->plan.action_columns;
    double record[TACET_AB_AXES_MOST] = {0};
    double *values = record + f->plan.action_columns;
    char words[512];
    tacet_error err = {0};
    if (data != NULL && context_text != NULL) {
        return cli_usage(self, "--data or --context");
    }
    if (data != NULL) {
        const predicting p = {f->space->columns, contexts, f->plan.action_columns, f->plan.columns, all,
                              in_context,        model};
        return predict_rows(&p, data, cli_object("protection", J(protection_of(f))), self);
    }
    if (!cli_space_values(values, contexts, f->plan.columns, context_text, &err)) {
        return cli_usage(self, "--context is %s%s%s", cli_space_expects(words, contexts, f->plan.columns),
                         err.message[0] != '\0' ? ": " : "", err.message);
    }
    json_t *object = one_json(model, record, true, &err);
    if (object == NULL) {
        return cli_fail(self, &err);
    }
    cli_add(object, "eps delta private protection", J(f->plan.eps), J(0.0), J(f->is_private), J(protection_of(f)));
    if (all) {
        cli_add(object, "all", J(in_context(model, values, true, &err)));
    }
    return cli_tell(object, "best action{*action| {.}}, predicted reward {mean:.6g} (it errs by about {sd:.2g})\n"
                            "protection: {protection} (eps = {eps:^6}, delta = 0)\n"
                            "{*all|{*action|{.},}{mean:.10g}\n}");
}
