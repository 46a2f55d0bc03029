/* cmd_release.c - tacet release-model: what a study learnt, as a file for anyone.
 * Ring: programs (trusted: it reads the state; what it writes is post-processing of what was released and charged). */
#include "joint/commands.h"

#include "core/fail.h"
#include "io/file/folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tacet_status write_model(const tacet_contextual_model *model, const char *path, tacet_error *err) {
    char folder[TACET__PATH];
    char *text = NULL;
    if (strlen(path) >= sizeof folder) {
        return tacet__fail(err, TACET_INVALID, "the name of the output is too long");
    }
    tacet_status status = tacet__folder_of(folder, path, err);
    status = status != TACET_OK ? status : tacet_contextual_model_encode(model, &text, err);
    status = status != TACET_OK ? status : tacet__file_write(path, folder, text, 0644, err);
    free(text);
    return status;
}

static void report(const tacet_contextual_model *model, const char *out) {
    const tacet_contextual_parts *p = tacet_contextual_model_parts(model);
    if (!cli_json_wanted()) {
        printf("%s: learnt from %llu rounds, eps = %g, delta = %g, ledger entry %llu\n", out,
               (unsigned long long)p->rounds, p->eps, p->delta, (unsigned long long)p->receipts[0].entry);
        printf("the model's own estimate of its error: %.4g\n", p->predicted_error);
        printf(
            "protection: post-processing of what was released; charged when the study was made, costs nothing now\n");
    }
    cli_json_print(json_pack("{ss sI so so so sb sI}", "model", out, "rounds", (json_int_t)p->rounds, "eps",
                             cli_real(p->eps), "delta", cli_real(p->delta), "predicted_error",
                             cli_real(p->predicted_error), "private", (int)p->is_private, "ledger_entry",
                             (json_int_t)p->receipts[0].entry));
}

int joint_release(int argc, char **argv, const cli_command *self) {
    const char *folder = NULL, *out = NULL;
    const cli_option options[] = {{"study", CLI_STRING, &folder, "DIR", "The study, made by 'tacet joint init'.", true},
                                  {"out", CLI_STRING, &out, "FILE", "Receives the model.", true},
                                  {NULL, CLI_FLAG, NULL, NULL, NULL, false}};
    int code = CLI_EXIT_OK;
    tacet_error err = {0};
    joint_study study;
    tacet_contextual_model *model = NULL;
    if (!cli_parse(self, options, argc, argv, NULL, NULL, &code)) {
        return code;
    }
    tacet_status status = joint_study_open(&study, folder, &err);
    status = status != TACET_OK ? status
                                : tacet_central_model(&model, study.map, &study.settings, &study.ask, study.state.data,
                                                      study.state.size, &err);
    status = status != TACET_OK ? status : write_model(model, out, &err);
    if (status == TACET_OK) {
        report(model, out);
    } else {
        err.status = status;
        code = cli_fail(self, &err);
    }
    tacet_contextual_model_free(model);
    joint_study_close(&study);
    return code;
}
