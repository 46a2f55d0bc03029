/* SPDX-License-Identifier: Apache-2.0 */
/* table.c - the best action in a context, from a released table. Ring: programs (open). */
#include "predict/table.h"

#include <stdio.h>
#include <string.h>
#include <tacet/io/csv.h>

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

static int predict_file(const tacet_ab_model *model, const char *path, const cli_command *self) {
    const tacet_ab_facts *f = tacet_ab_model_facts(model);
    const tacet_space_column *contexts = f->space->columns + f->plan.action_columns;
    size_t columns[TACET_AB_COLUMNS_MOST];
    double record[TACET_AB_AXES_MOST] = {0};
    double *values = record + f->plan.action_columns;
    tacet_csv *csv = NULL;
    tacet_error err = {0};
    bool found = true;
    json_t *list = json_array();
    tacet_status status = tacet_csv_open_file(&csv, path, NULL, &err);
    for (size_t i = 0; i < f->plan.columns && status == TACET_OK; i++) {
        status = tacet_csv_find(csv, &columns[i], contexts[i].name, &err);
    }
    for (size_t j = 0; j < f->plan.action_columns && status == TACET_OK && !cli_json_wanted(); j++) {
        printf("%s,%s", f->space->columns[j].name, j + 1 == f->plan.action_columns ? "predicted\n" : "");
    }
    for (size_t row = 1; status == TACET_OK && (status = tacet_csv_next(csv, &found, &err)) == TACET_OK && found;
         row++) {
        for (size_t i = 0; i < f->plan.columns && status == TACET_OK; i++) {
            const char *field = tacet_csv_field(csv, columns[i], NULL);
            status = tacet_space_cell(&contexts[i], &values[i], NULL, field, strlen(field), &err);
        }
        if (status != TACET_OK) {
            const tacet_error why = err;
            tacet_error_clear(&err);
            (void)tacet_error_set(&err, TACET_PARSE, "%.80s: row %zu: %.120s", path, row, why.message);
            break;
        }
        json_t *one = one_json(model, record, true, &err);
        if (one == NULL) {
            status = err.status;
            break;
        }
        if (cli_json_wanted()) {
            (void)json_array_append(list, one);
        } else {
            cli_fill(one, "{*action|{.},}{mean:.10g}\n");
        }
        json_decref(one);
    }
    tacet_csv_close(csv);
    if (status != TACET_OK) {
        json_decref(list);
        err.status = status;
        return cli_fail(self, &err);
    }
    return cli_tell(cli_object("predictions protection", J(list), J(protection_of(f))), NULL);
}

int predict_table(const tacet_ab_model *model, const char *context_text, const char *data, bool all,
                  const cli_command *self) {
    const tacet_ab_facts *f = tacet_ab_model_facts(model);
    const tacet_ab_posterior *p = tacet_ab_model_posterior(model);
    double record[TACET_AB_AXES_MOST] = {0};
    double *values = record + f->plan.action_columns;
    tacet_error err = {0};
    if (data != NULL && context_text != NULL) {
        return cli_usage(self, "--data or --context");
    }
    if (data != NULL) {
        return predict_file(model, data, self);
    }
    if (!cli_space_values(values, f->space->columns + f->plan.action_columns, f->plan.columns, context_text, &err)) {
        return cli_usage(self, "--context is %zu values, as the model has context columns%s%s", f->plan.columns,
                         err.message[0] != '\0' ? ": " : "", err.message);
    }
    json_t *object = one_json(model, record, true, &err);
    if (object == NULL) {
        return cli_fail(self, &err);
    }
    cli_add(object, "eps delta private protection", J(f->plan.eps), J(0.0), J(f->is_private), J(protection_of(f)));
    if (all) {
        json_t *list = json_array();
        for (size_t a = 0; a < p->actions; a++) {
            for (size_t j = 0; j < f->plan.action_columns; j++) {
                record[j] = tacet_ab_plan_value(&f->plan, a, j);
            }
            (void)json_array_append_new(list, one_json(model, record, false, &err));
        }
        cli_add(object, "all", J(list));
    }
    return cli_tell(object, "best action{*action| {.}}, predicted reward {mean:.6g} (it errs by about {sd:.2g})\n"
                            "protection: {protection} (eps = {eps:^6}, delta = 0)\n"
                            "{*all|{*action|{.},}{mean:.10g}\n}");
}
