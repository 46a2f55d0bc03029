/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - tacet-predict: the best action in a context, or in every context of a file, from a released model.
 * Ring: open; it never saw the data, and links nothing that could. */
#include "common/space.h"
#include "predict/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/contextual/open/model.h>
#include <tacet/io/file.h>

static const size_t MODEL_MOST = 16 << 20; /* bytes */

/* What a prediction from a model of a study needs. */
typedef struct asking {
    tacet_contextual_model *model;
    const tacet_contextual_parts *parts;
    tacet_contextual_candidates actions;
    double *means;
} asking;

/* Levels and dates are texts; `texts`: so is all that is no real number, as people read it. */
static json_t *action_json(const asking *q, size_t action, bool texts) {
    json_t *list = json_array();
    for (size_t c = 0; c < q->actions.columns; c++) {
        const double at = q->actions.records[action * q->actions.columns + c];
        const tacet_space_column *column = q->parts->space != NULL ? &q->parts->space->columns[c] : NULL;
        const tacet_space_traits *kind = column != NULL ? tacet_space_traits_of(column) : NULL;
        char text[TACET_SPACE_NAME];
        if (kind != NULL && (kind->text || (texts && (kind->whole || kind->factor)))) {
            tacet_space_text(column, text, at);
            (void)json_array_append_new(list, J(text));
        } else {
            (void)json_array_append_new(list, J(at));
        }
    }
    return list;
}

static json_t *one_json(const asking *q, size_t action) {
    json_t *one = cli_object("action mean", J(action_json(q, action, false)), J(q->means[action]));
    if (!cli_json_wanted()) {
        cli_add(one, "_action", J(action_json(q, action, true)));
    }
    return one;
}

static const char *protection_of(const tacet_contextual_parts *p) {
    return p->is_private ? "post-processing of a private release: costs nothing"
                         : "none: the model was made with seeded noise";
}

static int report(const asking *q, size_t best, bool all, double seconds) {
    const tacet_contextual_parts *p = q->parts;
    json_t *object = one_json(q, best);
    cli_add(object, "predicted_error eps delta private protection seconds", J(p->predicted_error), J(p->eps),
            J(p->delta), J(p->is_private), J(protection_of(p)), J(seconds));
    if (all) {
        json_t *list = json_array();
        for (size_t i = 0; i < q->actions.count; i++) {
            (void)json_array_append_new(list, one_json(q, i));
        }
        cli_add(object, "all", J(list));
    }
    return cli_tell(object, "best action{*_action| {.:.10g}}, predicted reward {mean:.6g} (the model errs by about "
                            "{predicted_error:.2g})\n"
                            "protection: {protection} (eps = {eps:^6}, delta = {delta:^6})\n"
                            "{*all|{*_action|{.:.10g},}{mean:.10g}\n}");
}

/* A model of either kind; the other is NULL. */
static tacet_status load(tacet_contextual_model **out, tacet_ab_model **table, const char *path, tacet_error *err) {
    char *text = NULL;
    size_t size = 0;
    tacet_error detail = {0};
    tacet_status status = tacet_file_read(&text, &size, path, MODEL_MOST, err);
    if (status == TACET_OK) {
        status = tacet_ab_model_is(text, size) ? tacet_ab_model_decode(table, text, size, &detail)
                                               : tacet_contextual_model_decode(out, text, size, &detail);
        if (status != TACET_OK) {
            (void)tacet_error_set(err, status, "%.100s: %.130s", path, detail.message);
        }
    }
    free(text);
    return status;
}

/* Equispaced actions a numeric column: 40,000 in all at the most. */
static size_t usual_grid(size_t dims) {
    size_t n = dims == 1 ? 101 : 33;
    while (dims > 3 && n > 2 && pow((double)n, (double)dims) > 40000) {
        n--;
    }
    return n;
}

static int cmd_predict(int argc, char **argv, const cli_command *self) {
    const char *path = NULL;
    const char *context_text = NULL;
    const char *data = NULL;
    bool all = false;
    const cli_option options[] = {
        CLI_NEED("model", &path, "FILE", "The released model."),
        CLI_OPT("context", &context_text, "A=V,…", "A value of each context column of the model; V,… in their order."),
        CLI_OPT("data", &data, "FILE",
                "Instead: CSV with the context columns; it is printed again, the prediction after each row."),
        CLI_OPT("all", &all, NULL, "Print the predicted reward of every action looked at, in each context."),
        {0}};
    int code = CLI_EXIT_OK;
    tacet_error err = {0};
    asking q = {0};
    size_t best = 0;
    CLI_PARSE_OR_RETURN(options, NULL, NULL);
    tacet_ab_model *table = NULL;
    tacet_status status = load(&q.model, &table, path, &err);
    if (status != TACET_OK) {
        return cli_fail(self, &err);
    }
    if (table != NULL) {
        code = predict_table(table, context_text, data, all, self);
        tacet_ab_model_free(table);
        return code;
    }
    q.parts = tacet_contextual_model_parts(q.model);
    if (data != NULL || context_text != NULL) {
        code = cli_usage(self, "this model has no contexts: --context and --data are for models of a log");
        goto done;
    }
    status = tacet_contextual_candidates_make(&q.actions, q.model, usual_grid(q.parts->action_dim), &err);
    q.means = status == TACET_OK ? calloc(q.actions.count, sizeof *q.means) : NULL;
    if (q.means == NULL) {
        code = cli_fail(self, &(tacet_error){.status = TACET_NO_MEMORY, .message = "out of memory"});
        goto done;
    }
    const double begin = cli_seconds();
    status = tacet_contextual_predict(q.model, &best, q.means, q.actions.points, q.actions.count, &err);
    code = status == TACET_OK ? report(&q, best, all, cli_seconds() - begin) : cli_fail(self, &err);
done:
    free(q.means);
    tacet_contextual_candidates_clear(&q.actions);
    tacet_contextual_model_free(q.model);
    return code;
}

static const cli_command COMMANDS[] = {
    {"predict", "the best action in a context, from a released model", "--model FILE --context V [options]",
     "Reads a model that 'tacet learn' or a study released and prints the action with the largest predicted reward, "
     "and how far off the model likely is. Predictions are post-processing "
     "of the release: any number of them, for anybody, costs no privacy.\n\n"
     "Only declared levels and points within the bounds are recommended. --data predicts for every row of a file.",
     "tacet predict --model model.json --context 44\n"
     "tacet predict --model model.json --context age=44,device=phone --all --json\n"
     "tacet predict --model model.json --data visitors.csv",
     cmd_predict},
    {0},
};

const cli_program PROGRAM = {
    .name = "tacet-predict",
    .summary = "Predictions from released models.",
    .ring = "open",
    .commands = COMMANDS,
};
