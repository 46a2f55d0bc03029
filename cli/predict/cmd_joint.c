/* cmd_joint.c - tacet joint predict: the arms of a decision set, by a released model. Ring: programs (open). */
#include "predict/commands.h"

#include "core/fail.h"
#include "core/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <tacet/io/csvfile.h>

static void report(const tacet_contextual_model *model, const tacet_csv_table *arms, const double *means, size_t best) {
    const tacet_contextual_parts *p = tacet_contextual_model_parts(model);
    const char *protection = p->is_private ? "post-processing of a private release: costs nothing"
                                           : "none: the model was made with seeded noise";
    json_t *list = json_array();
    for (size_t i = 0; i < arms->n; i++) {
        (void)json_array_append_new(list, cli_real(means[i]));
    }
    if (!cli_json_wanted()) {
        printf("best of %zu arms: row %zu", arms->n, best + 1);
        for (size_t c = 0; c < arms->d; c++) {
            printf("%s%.10g", c > 0 ? ", " : ": ", arms->values[best * arms->d + c]);
        }
        printf("; predicted reward %.6g (error of the model about %.2g)\n", means[best], p->predicted_error);
        printf("protection: %s (eps = %g, delta = %g)\n", protection, p->eps, p->delta);
    }
    cli_json_print(json_pack("{sI so so so so so sb ss}", "index", (json_int_t)best, "mean", cli_real(means[best]),
                             "means", list, "predicted_error", cli_real(p->predicted_error), "eps", cli_real(p->eps),
                             "delta", cli_real(p->delta), "private", (int)p->is_private, "protection", protection));
}

int predict_joint(int argc, char **argv, const cli_command *self) {
    const char *path = NULL, *set = NULL, *columns = NULL;
    const cli_option options[] = {
        {"model", CLI_STRING, &path, "FILE", "The released model.", true},
        {"set", CLI_STRING, &set, "FILE", "CSV with a header: arms, one a row; - is stdin.", true},
        {"arms", CLI_STRING, &columns, "A,B", "The columns that are the coordinates of an arm, in the study's order.",
         true},
        {NULL, CLI_FLAG, NULL, NULL, NULL, false}};
    int code = CLI_EXIT_OK;
    tacet_error err = {0};
    tacet_contextual_model *model = NULL;
    tacet_csv_table table = {0};
    char **names = NULL;
    double *means = NULL;
    size_t d = 0, best = 0;
    if (!cli_parse(self, options, argc, argv, NULL, NULL, &code)) {
        return code;
    }
    tacet_status status = predict_load(&model, path, &err);
    if (status != TACET_OK) {
        return cli_fail(self, &err);
    }
    const tacet_contextual_parts *p = tacet_contextual_model_parts(model);
    if (p->context_dim != 0 || !cli_split(&names, &d, columns) || d != p->action_dim) {
        code = cli_usage(self, "--arms is %zu column names, for a model without contexts", p->action_dim);
        goto done;
    }
    const tacet_csv_wanted wanted = {.columns = (const char *const *)names, .d = d};
    status = tacet_csv_load_file(&table, set, &wanted, &err);
    if (status == TACET_OK) {
        means = TACET__ZALLOC(double, table.n);
        status = means != NULL ? tacet_contextual_predict(model, &best, means, table.values, table.n, NULL, &err)
                               : tacet__fail(&err, TACET_NO_MEMORY, "out of memory for %zu arms", table.n);
    }
    if (status == TACET_OK) {
        report(model, &table, means, best);
    } else {
        code = cli_fail(self, &err);
    }
done:
    free(names);
    free(means);
    tacet_csv_table_clear(&table);
    tacet_contextual_model_free(model);
    return code;
}
