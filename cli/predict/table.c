/* SPDX-License-Identifier: Apache-2.0 */
/* table.c - the best action in a context, from a released table of categories. Ring: programs (open). */
#include "predict/table.h"

#include <stdio.h>
#include <string.h>
#include <tacet/io/csv.h>

static json_t *one_json(const tacet_ab_model *model, size_t context, size_t action) {
    const tacet_ab_facts *f = tacet_ab_model_facts(model);
    const tacet_ab_posterior *p = tacet_ab_model_posterior(model);
    const size_t cell = context * p->actions + action;
    json_t *list = json_array();
    for (size_t j = 0; j < f->plan.action_columns; j++) {
        char text[TACET_SPACE_NAME];
        tacet_space_text(&f->space->columns[j], text, (double)tacet_ab_plan_level(&f->plan, action, j));
        (void)json_array_append_new(list, J(text));
    }
    return cli_object("action mean sd", J(list), J(p->mean[cell]), J(p->sd[cell]));
}

static const char *protection_of(const tacet_ab_facts *f) {
    return f->is_private ? "post-processing of a private release: costs nothing"
                         : "none: the model was made with seeded noise";
}

/* values: the levels of the context columns. */
static size_t context_of(const tacet_ab_facts *f, const double *values) {
    double row[TACET_AB_COLUMNS_MOST + TACET_AB_ACTION_COLUMNS_MOST] = {0};
    memcpy(row + f->plan.action_columns, values, f->plan.columns * sizeof *row);
    return tacet_ab_plan_context(&f->plan, row);
}

static int predict_file(const tacet_ab_model *model, const char *path, const cli_command *self) {
    const tacet_ab_facts *f = tacet_ab_model_facts(model);
    const tacet_ab_posterior *p = tacet_ab_model_posterior(model);
    const tacet_space_column *contexts = f->space->columns + f->plan.action_columns;
    size_t columns[TACET_AB_COLUMNS_MOST];
    double values[TACET_AB_COLUMNS_MOST] = {0};
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
        const size_t context = context_of(f, values);
        json_t *one = one_json(model, context, p->rule[context]);
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
    double values[TACET_AB_COLUMNS_MOST] = {0};
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
    const size_t context = context_of(f, values);
    json_t *object = one_json(model, context, p->rule[context]);
    cli_add(object, "eps delta private protection", J(f->plan.eps), J(0.0), J(f->is_private), J(protection_of(f)));
    if (all) {
        json_t *list = json_array();
        for (size_t a = 0; a < p->actions; a++) {
            (void)json_array_append_new(list, one_json(model, context, a));
        }
        cli_add(object, "all", J(list));
    }
    return cli_tell(object, "best action{*action| {.}}, predicted reward {mean:.6g} (it errs by about {sd:.2g})\n"
                            "protection: {protection} (eps = {eps:^6}, delta = 0)\n"
                            "{*all|{*action|{.},}{mean:.10g}\n}");
}
