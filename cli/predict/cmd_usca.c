/* cmd_usca.c - tacet usca predict. Ring: programs (open). */
#include "predict/commands.h"

#include "core/fail.h"
#include "core/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ACTIONS_MOST = 1000000 };

static bool read_context(double *context, const char *text, size_t count) {
    char **items = NULL;
    size_t n = 0;
    if (count == 0) {
        return text == NULL;
    }
    bool good = text != NULL && cli_split(&items, &n, text) && n == count;
    for (size_t i = 0; i < n && good; i++) {
        good = cli_number(&context[i], items[i]);
    }
    free(items);
    return good;
}

static json_t *point(const double *x, size_t n) {
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++) {
        (void)json_array_append_new(list, cli_real(x[i]));
    }
    return list;
}

static void report(const tacet_contextual_model *model, const double *actions, const double *means, size_t count,
                   size_t best, bool all, double seconds) {
    const tacet_contextual_parts *p = tacet_contextual_model_parts(model);
    const size_t a = p->action_dim;
    const char *protection = p->is_private ? "post-processing of a private release: costs nothing"
                                           : "none: the model was made with seeded noise";
    if (!cli_json_wanted()) {
        printf("best action");
        for (size_t c = 0; c < a; c++) {
            printf(" %.10g", actions[best * a + c]);
        }
        printf(", predicted reward %.6g (error of the model about %.2g)\n", means[best], p->predicted_error);
        printf("protection: %s (eps = %g, delta = %g)\n", protection, p->eps, p->delta);
        for (size_t i = 0; all && i < count; i++) {
            for (size_t c = 0; c < a; c++) {
                printf("%.10g,", actions[i * a + c]);
            }
            printf("%.10g\n", means[i]);
        }
    }
    json_t *object =
        json_pack("{so so so so so sb ss so}", "action", point(actions + best * a, a), "mean", cli_real(means[best]),
                  "predicted_error", cli_real(p->predicted_error), "eps", cli_real(p->eps), "delta", cli_real(p->delta),
                  "private", (int)p->is_private, "protection", protection, "seconds", cli_real(seconds));
    if (all && object != NULL) {
        json_t *list = json_array();
        for (size_t i = 0; i < count; i++) {
            (void)json_array_append_new(
                list, json_pack("{so so}", "action", point(actions + i * a, a), "mean", cli_real(means[i])));
        }
        (void)json_object_set_new(object, "all", list);
    }
    cli_json_print(object);
}

int predict_usca(int argc, char **argv, const cli_command *self) {
    const char *path = NULL;
    const char *context_text = NULL;
    size_t grid = 0;
    bool all = false;
    const cli_option options[] = {
        {"model", CLI_STRING, &path, "FILE", "The released model.", true},
        {"context", CLI_STRING, &context_text, "V[,V…]", "One number for each context coordinate of the model.", false},
        {"grid", CLI_SIZE, &grid, "N",
         "Actions looked at: N equispaced a coordinate. Default 101 for one, 33 for more.", false},
        {"all", CLI_FLAG, &all, NULL, "Print the predicted reward of every action looked at.", false},
        {NULL, CLI_FLAG, NULL, NULL, NULL, false}};
    int code = CLI_EXIT_OK;
    tacet_error err = {0};
    tacet_contextual_model *model = NULL;
    double context[TACET_CONTEXTUAL_DIM_MOST] = {0};
    double *actions = NULL;
    double *means = NULL;
    if (!cli_parse(self, options, argc, argv, NULL, NULL, &code)) {
        return code;
    }
    tacet_status status = predict_load(&model, path, &err);
    if (status != TACET_OK) {
        return cli_fail(self, &err);
    }
    const tacet_contextual_parts *p = tacet_contextual_model_parts(model);
    grid = grid != 0 ? grid : p->action_dim == 1 ? 101 : 33;
    if (!read_context(context, context_text, p->context_dim)) {
        code = cli_usage(self, "--context is %zu numbers, as the model has context coordinates", p->context_dim);
        goto done;
    }
    if (grid < 2 || pow((double)grid, (double)p->action_dim) > ACTIONS_MOST) {
        code = cli_usage(self, "--grid is at least 2, and at most %d actions in all", (int)ACTIONS_MOST);
        goto done;
    }
    const size_t count = (size_t)llround(pow((double)grid, (double)p->action_dim));
    size_t best = 0;
    actions = TACET__ZALLOC(double, count * p->action_dim);
    means = TACET__ZALLOC(double, count);
    if (actions == NULL || means == NULL) {
        status = tacet__fail(&err, TACET_NO_MEMORY, "out of memory for %zu actions", count);
    }
    const double begin = cli_seconds();
    if (status == TACET_OK) {
        tacet_contextual_action_grid(model, actions, grid);
        status = tacet_contextual_predict(model, &best, means, actions, count, context, &err);
    }
    if (status == TACET_OK) {
        report(model, actions, means, count, best, all, cli_seconds() - begin);
    } else {
        code = cli_fail(self, &err);
    }
done:
    free(actions);
    free(means);
    tacet_contextual_model_free(model);
    return code;
}
