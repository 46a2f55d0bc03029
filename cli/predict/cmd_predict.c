/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_predict.c - tacet predict: the best action in a context, or in every context of a file, from a released model.
 * Ring: programs (open). */
#include "predict/commands.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/io/csvfile.h>

/* What a prediction needs, made once for all contexts. */
typedef struct asking {
    tacet_contextual_model *model;
    const tacet_contextual_parts *parts;
    tacet_contextual_candidates actions;
    double *means;
    size_t contexts; /* columns */
} asking;

static const tacet_space_column *context_column(const asking *q, size_t i) {
    return q->parts->space != NULL ? &q->parts->space->columns[q->parts->action_columns + i] : NULL;
}

/* One value of a context: by its column, or a plain number. */
static bool read_value(const asking *q, double *out, size_t i, const char *text, tacet_error *err) {
    const tacet_space_column *c = context_column(q, i);
    return c != NULL ? tacet_space_cell(c, out, NULL, text, strlen(text), err) == TACET_OK : cli_number(out, text);
}

static bool read_context(const asking *q, double *values, const char *text, tacet_error *err) {
    char **items = NULL;
    size_t n = 0;
    if (q->contexts == 0) {
        return text == NULL;
    }
    bool good = text != NULL && cli_split(&items, &n, text) && n == q->contexts;
    for (size_t i = 0; i < n && good; i++) {
        good = read_value(q, &values[i], i, items[i], err);
    }
    free(items);
    return good;
}

static void action_text(const asking *q, char out[TACET_SPACE_NAME], size_t action, size_t c) {
    const double at = q->actions.records[action * q->actions.columns + c];
    if (q->parts->space != NULL && q->parts->space->columns[c].kind != TACET_SPACE_REAL) {
        tacet_space_text(&q->parts->space->columns[c], out, at);
    } else {
        (void)snprintf(out, TACET_SPACE_NAME, "%.10g", at);
    }
}

static json_t *action_json(const asking *q, size_t action) {
    json_t *list = json_array();
    for (size_t c = 0; c < q->actions.columns; c++) {
        const double at = q->actions.records[action * q->actions.columns + c];
        char text[TACET_SPACE_NAME];
        const tacet_space_column *column = q->parts->space != NULL ? &q->parts->space->columns[c] : NULL;
        action_text(q, text, action, c);
        (void)json_array_append_new(
            list, column != NULL && (column->kind == TACET_SPACE_CATEGORY || column->kind == TACET_SPACE_DATE)
                      ? json_string(text)
                      : cli_real(at));
    }
    return list;
}

static const char *protection_of(const tacet_contextual_parts *p) {
    return p->is_private ? "post-processing of a private release: costs nothing"
                         : "none: the model was made with seeded noise";
}

static void print_prediction(const asking *q, size_t best, bool all) {
    const tacet_contextual_parts *p = q->parts;
    char text[TACET_SPACE_NAME];
    printf("best action");
    for (size_t c = 0; c < q->actions.columns; c++) {
        action_text(q, text, best, c);
        printf(" %s", text);
    }
    printf(", predicted reward %.6g (the model errs by about %.2g", q->means[best], p->predicted_error);
    if (p->measured) {
        printf(", likely by at most %.2g; an outcome differs by %.2g, at most %.2g",
               TACET_CONTEXTUAL_LIKELY * p->predicted_error, p->outcome_error, p->outcome_bound);
    }
    printf(")\n");
    char eps[32], delta[32];
    printf("protection: %s (eps = %s, delta = %s)\n", protection_of(p), cli_safe(eps, p->eps, 6, false),
           cli_safe(delta, p->delta, 6, false));
    for (size_t i = 0; all && i < q->actions.count; i++) {
        for (size_t c = 0; c < q->actions.columns; c++) {
            action_text(q, text, i, c);
            printf("%s,", text);
        }
        printf("%.10g\n", q->means[i]);
    }
}

static void report(const asking *q, size_t best, bool all, double seconds) {
    const tacet_contextual_parts *p = q->parts;
    if (!cli_json_wanted()) {
        print_prediction(q, best, all);
    }
    json_t *object =
        json_pack("{so so so so so sb ss so}", "action", action_json(q, best), "mean", cli_real(q->means[best]),
                  "predicted_error", cli_real(p->predicted_error), "eps", cli_real(p->eps), "delta", cli_real(p->delta),
                  "private", (int)p->is_private, "protection", protection_of(p), "seconds", cli_real(seconds));
    if (object != NULL && p->measured) {
        (void)json_object_set_new(object, "likely_error", cli_real(TACET_CONTEXTUAL_LIKELY * p->predicted_error));
        (void)json_object_set_new(object, "outcome_error", cli_real(p->outcome_error));
        (void)json_object_set_new(object, "outcome_at_most", cli_real(p->outcome_bound));
    }
    if (all && object != NULL) {
        json_t *list = json_array();
        for (size_t i = 0; i < q->actions.count; i++) {
            (void)json_array_append_new(
                list, json_pack("{so so}", "action", action_json(q, i), "mean", cli_real(q->means[i])));
        }
        (void)json_object_set_new(object, "all", list);
    }
    cli_json_print(object);
}

static tacet_status ask(const asking *q, size_t *best, const double *values, tacet_error *err) {
    double point[TACET_CONTEXTUAL_COORDINATES_MOST] = {0};
    const tacet_status status = tacet_contextual_context_point(q->model, point, values, err);
    return status == TACET_OK
               ? tacet_contextual_predict(q->model, best, q->means, q->actions.points, q->actions.count, point, err)
               : status;
}

/* Every row of a file, one line each: its action, then the predicted reward. */
static int predict_file(const asking *q, const char *path, const cli_command *self) {
    tacet_csv *csv = NULL;
    tacet_error err = {0};
    size_t columns[TACET_CONTEXTUAL_COORDINATES_MOST];
    double values[TACET_CONTEXTUAL_COORDINATES_MOST] = {0};
    size_t best = 0;
    bool found = true;
    size_t row = 0;
    json_t *list = json_array();
    tacet_status status = tacet_csv_open_file(&csv, path, NULL, &err);
    for (size_t i = 0; i < q->contexts && status == TACET_OK; i++) {
        status = tacet_csv_find(csv, &columns[i], context_column(q, i)->name, &err);
    }
    for (size_t c = 0; c < q->actions.columns && status == TACET_OK && !cli_json_wanted(); c++) {
        printf("%s,", q->parts->space->columns[c].name);
    }
    if (status == TACET_OK && !cli_json_wanted()) {
        printf("predicted\n");
    }
    while (status == TACET_OK && (status = tacet_csv_next(csv, &found, &err)) == TACET_OK && found) {
        row++;
        for (size_t i = 0; i < q->contexts && status == TACET_OK; i++) {
            status =
                read_value(q, &values[i], i, tacet_csv_field(csv, columns[i], NULL), &err) ? TACET_OK : TACET_PARSE;
        }
        status = status == TACET_OK ? ask(q, &best, values, &err) : status;
        if (status != TACET_OK) {
            const tacet_error why = err;
            (void)snprintf(err.message, sizeof err.message, "%.80s: row %zu: %.120s", path, row, why.message);
        }
        for (size_t c = 0; c < q->actions.columns && status == TACET_OK && !cli_json_wanted(); c++) {
            char text[TACET_SPACE_NAME];
            action_text(q, text, best, c);
            printf("%s,", text);
        }
        if (status == TACET_OK && cli_json_wanted()) {
            (void)json_array_append_new(
                list, json_pack("{so so}", "action", action_json(q, best), "mean", cli_real(q->means[best])));
        } else if (status == TACET_OK) {
            printf("%.10g\n", q->means[best]);
        }
    }
    tacet_csv_close(csv);
    if (status != TACET_OK) {
        json_decref(list);
        err.status = status;
        return cli_fail(self, &err);
    }
    cli_json_print(json_pack("{so so ss}", "predictions", list, "predicted_error", cli_real(q->parts->predicted_error),
                             "protection", protection_of(q->parts)));
    return CLI_EXIT_OK;
}

static size_t usual_grid(size_t dims) {
    size_t n = dims == 1 ? 101 : 33;
    while (dims > 3 && n > 2 && pow((double)n, (double)dims) > 40000) {
        n--;
    }
    return n;
}

int predict_predict(int argc, char **argv, const cli_command *self) {
    const char *path = NULL;
    const char *context_text = NULL;
    const char *data = NULL;
    size_t grid = 0;
    bool all = false;
    const cli_option options[] = {
        CLI_NEED("model", &path, "FILE", "The released model."),
        CLI_OPT("context", &context_text, "V[,V…]", "One value for each context column of the model."),
        CLI_OPT("data", &data, "FILE", "Instead: CSV with the context columns, a prediction for each row."),
        CLI_OPT(
            "grid", &grid, "N",
            "Actions looked at: N equispaced a numeric column. Default 101 for one, 33 for two and three, fewer for "
            "more: at most 40,000 in all."),
        CLI_OPT("all", &all, NULL, "Print the predicted reward of every action looked at."),
        {0}};
    int code = CLI_EXIT_OK;
    tacet_error err = {0};
    asking q = {0};
    double values[TACET_CONTEXTUAL_COORDINATES_MOST] = {0};
    size_t best = 0;
    CLI_PARSE_OR_RETURN(options, NULL, NULL);
    tacet_status status = predict_load(&q.model, path, &err);
    if (status != TACET_OK) {
        return cli_fail(self, &err);
    }
    q.parts = tacet_contextual_model_parts(q.model);
    q.contexts = tacet_contextual_context_columns(q.model);
    grid = grid != 0 ? grid : usual_grid(q.parts->action_dim);
    if (data != NULL && (context_text != NULL || q.parts->space == NULL)) {
        code = cli_usage(self, "--data or --context, and --data needs a model whose columns have names");
        goto done;
    }
    if (data == NULL && !read_context(&q, values, context_text, &err)) {
        code = cli_usage(self, "--context is %zu values, as the model has context columns%s%s", q.contexts,
                         err.message[0] != '\0' ? ": " : "", err.message);
        goto done;
    }
    status = tacet_contextual_candidates_make(&q.actions, q.model, grid, &err);
    if (status == TACET_INVALID) {
        code = cli_usage(self, "--grid: %s", err.message);
        goto done;
    }
    q.means = status == TACET_OK ? calloc(q.actions.count, sizeof *q.means) : NULL;
    if (q.means == NULL) {
        code = cli_fail(self, &(tacet_error){.status = TACET_NO_MEMORY, .message = "out of memory"});
        goto done;
    }
    if (data != NULL) {
        code = predict_file(&q, data, self);
        goto done;
    }
    const double begin = cli_seconds();
    status = ask(&q, &best, values, &err);
    if (status == TACET_OK) {
        report(&q, best, all, cli_seconds() - begin);
    } else {
        code = cli_fail(self, &err);
    }
done:
    free(q.means);
    tacet_contextual_candidates_clear(&q.actions);
    tacet_contextual_model_free(q.model);
    return code;
}
