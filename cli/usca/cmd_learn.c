/* cmd_learn.c - tacet usca learn: a log in, a released model out.
 * Ring: programs (trusted). The model leaves through the gate; the file is written beside its final name and then
 * moved, so that a reader never sees half of one. Asking again under the same ticket writes the same model again, and
 * costs nothing. */
#include "usca/commands.h"

#include "core/fail.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static tacet_status write_model(const tacet_contextual_model *model, const char *path, tacet_error *err) {
    char *text = NULL;
    char temporary[4096];
    tacet_status status = tacet_contextual_model_encode(model, &text, err);
    if (status != TACET_OK) {
        return status;
    }
    (void)snprintf(temporary, sizeof temporary, "%s.part", path);
    FILE *file = fopen(temporary, "w");
    bool good = file != NULL && fputs(text, file) >= 0 && fflush(file) == 0 && fsync(fileno(file)) == 0;
    if (file != NULL) {
        good = fclose(file) == 0 && good;
    }
    good = good && rename(temporary, path) == 0;
    if (!good) {
        (void)remove(temporary);
        status = tacet__fail(
            err, TACET_IO, "%s cannot be written; the release is in the ledger, and the same ticket repeats it", path);
    }
    free(text);
    return status;
}

/* Before anything is spent. */
static tacet_status try_path(const char *path, tacet_error *err) {
    char temporary[4096];
    if (strlen(path) + 16 > sizeof temporary) {
        return tacet__fail(err, TACET_INVALID, "the name of the output is too long");
    }
    (void)snprintf(temporary, sizeof temporary, "%s.part", path);
    FILE *file = fopen(temporary, "w");
    if (file == NULL) {
        return tacet__fail(err, TACET_IO, "%s cannot be written", path);
    }
    (void)fclose(file);
    (void)remove(temporary);
    return TACET_OK;
}

static void report(const usca_job *job, const tacet_contextual_model *model, const char *out, double seconds) {
    const tacet_contextual_parts *p = tacet_contextual_model_parts(model);
    const char *protection = !p->is_private ? "none: seeded noise"
                             : p->delta > 0
                                 ? "(eps, delta)-DP for one record's context and reward; any number of predictions"
                                 : "eps-DP for one record's context and reward; any number of predictions";
    if (!cli_json_wanted()) {
        printf("%s: learnt from %llu records in %zu stages, eps = %g, delta = %g\n", out, (unsigned long long)p->rounds,
               p->receipt_count, p->eps, p->delta);
        printf("predicted error %.4g of the mean reward (root mean square)\n", p->predicted_error);
        printf("protection: %s\n", protection);
        printf("not protected: that a row is in the log, its action, the number of rows\n");
    }
    cli_json_print(json_pack(
        "{ss sI sI so so so sb ss so sI so}", "model", out, "rounds", (json_int_t)p->rounds, "stages",
        (json_int_t)p->receipt_count, "eps", cli_real(p->eps), "delta", cli_real(p->delta), "predicted_error",
        cli_real(p->predicted_error), "private", (int)p->is_private, "protection", protection, "actions_uniform_p",
        cli_real(job->uniform_p), "ledger_entry", (json_int_t)p->receipts[0].entry, "seconds", cli_real(seconds)));
}

static bool check_words(usca_job *job, const char *algorithm, const char *mechanism, const cli_command *self,
                        int *code) {
    tacet_contextual_settings *s = &job->settings;
    s->gaussian = strcmp(mechanism, "gaussian") == 0;
    if ((!s->gaussian && strcmp(mechanism, "k-norm") != 0) ||
        (strcmp(algorithm, "staged") != 0 && strcmp(algorithm, "release") != 0)) {
        *code = cli_usage(self, "--algorithm is staged or release, --mechanism is k-norm or gaussian");
        return false;
    }
    if (!(s->delta > 0 && s->delta < 1) || !(s->noise_sd >= 0) || !(s->prior_sd >= 0) ||
        !(s->prior_decay >= 0 && s->prior_decay <= 2)) {
        *code = cli_usage(self, "--delta must lie between 0 and 1, --noise-sd and --prior-sd must not be negative, "
                                "--prior-decay lies between 0 and 2");
        return false;
    }
    s->stages_most = strcmp(algorithm, "release") == 0 ? 1 : s->stages_most;
    return true;
}

int usca_learn(int argc, char **argv, const cli_command *self) {
    usca_job job;
    const char *out = NULL;
    const char *algorithm = "staged";
    const char *mechanism = "k-norm";
    cli_option options[USCA_OPTIONS] = {0};
    int code = CLI_EXIT_OK;
    tacet_error err = {0};
    tacet_contextual_model *model = NULL;
    usca_job_init(&job);
    size_t n = usca_job_options(&job, options);
    options[n++] = (cli_option){"out", CLI_STRING, &out, "FILE", "Receives the model.", true};
    options[n++] = (cli_option){
        "algorithm", CLI_STRING, &algorithm, "NAME", "staged or release (one stage). Default staged.", false};
    options[n++] = (cli_option){
        "mechanism", CLI_STRING, &mechanism, "NAME", "k-norm (pure eps) or gaussian. Default k-norm.", false};
    options[n++] = (cli_option){"delta", CLI_DOUBLE, &job.settings.delta, "D", "gaussian: default 1e-6.", false};
    options[n++] = (cli_option){"noise-sd",
                                CLI_DOUBLE,
                                &job.settings.noise_sd,
                                "R",
                                "Belief: noise of a reward. Not from these records. Default: 1/20 of the range.",
                                false};
    options[n++] = (cli_option){"prior-sd",
                                CLI_DOUBLE,
                                &job.settings.prior_sd,
                                "S",
                                "Belief: size of the function. Not from these records. Default: 0.11 of the range.",
                                false};
    options[n++] = (cli_option){"prior-decay",
                                CLI_DOUBLE,
                                &job.settings.prior_decay,
                                "P",
                                "Belief: smoothness, from 0 (rough) to 2. Not from these records. Default 0.5.",
                                false};
    if (!cli_parse(self, options, argc, argv, NULL, NULL, &code) || !usca_job_check(&job, self, &code)) {
        goto done;
    }
    if (!check_words(&job, algorithm, mechanism, self, &code)) {
        goto done;
    }
    const double begin = cli_seconds();
    if (job.seeded) {
        cli_say(self, "NOT PRIVATE: the noise is seeded");
    }
    tacet_status status = try_path(out, &err);
    if (status == TACET_OK) {
        status = usca_job_load(&job, self, &err);
    }
    /* Before a ledger is made: its budget is fixed by the first release, and this would be none. */
    if (status == TACET_OK) {
        status = tacet_contextual_enough(job.learner, &err);
    }
    if (status == TACET_OK) {
        status = usca_job_open(&job, &err);
    }
    const char *ticket = job.ticket != NULL ? job.ticket : "model";
    if (status == TACET_OK) {
        status = usca_job_begin(&job, ticket, &err);
    }
    if (status == TACET_OK) {
        const tacet_ask ask = {.ledger = job.open_ledger,
                               .noise = job.noise,
                               .ticket = ticket,
                               .what = "model of rewards over actions and contexts",
                               .to_whom = job.to_whom,
                               .covered_fields = "contexts,reward",
                               .uncovered_fields = usca_job_uncovered(&job, "actions,number of rows"),
                               .covered_records = "each row: its contexts and reward become any others"};
        status = tacet_contextual_release(job.learner, &model, &ask, &err);
        usca_job_end(&job, ticket, status == TACET_OK);
    }
    if (status == TACET_OK) {
        status = write_model(model, out, &err);
    }
    if (status == TACET_OK) {
        report(&job, model, out, cli_seconds() - begin);
    } else {
        err.status = status;
        code = cli_fail(self, &err);
    }
done:
    tacet_contextual_model_free(model);
    usca_job_clear(&job);
    return code;
}
