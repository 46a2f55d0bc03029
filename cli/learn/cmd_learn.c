/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_learn.c - tacet learn: a log in, a released model out.
 * Ring: programs (trusted). The model leaves through the gate; the file is written beside its final name and then
 * moved, so that a reader never sees half of one. Asking again under the same ticket writes the same model again, and
 * costs nothing. */
#include "learn/commands.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double NOT_UNIFORM = 1e-6; /* p-value below which actions were plainly not drawn uniformly */

static tacet_status io_error(tacet_error *err, const char *path, const char *what) {
    err->status = TACET_IO;
    (void)snprintf(err->message, sizeof err->message, "%.100s %s", path, what);
    return TACET_IO;
}

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
        status = io_error(err, path, "cannot be written; the release is in the ledger, and the same ticket repeats it");
    }
    free(text);
    return status;
}

/* Before anything is spent. */
static tacet_status try_path(const char *path, tacet_error *err) {
    char temporary[4096];
    const int length = snprintf(temporary, sizeof temporary, "%s.part", path);
    FILE *file = length > 0 && (size_t)length < sizeof temporary ? fopen(temporary, "w") : NULL;
    if (file == NULL) {
        return io_error(err, path, "cannot be written");
    }
    (void)fclose(file);
    (void)remove(temporary);
    return TACET_OK;
}

/* --- what is said ------------------------------------------------------------------------------------------------ */

static json_t *value_json(const tacet_contextual_value *v) {
    return json_pack("{so so so}", "estimate", cli_real(v->estimate), "lower", cli_real(v->lower), "upper",
                     cli_real(v->upper));
}

/* Whether the difference of the two values excludes 0: both intervals are independent, from disjoint rows. */
static const char *compare(const tacet_contextual_parts *p) {
    const double difference = p->recommended.estimate - p->logged.estimate;
    const double half =
        hypot(0.5 * (p->recommended.upper - p->recommended.lower), 0.5 * (p->logged.upper - p->logged.lower));
    return difference > half ? "better" : difference < -half ? "worse" : "not told apart";
}

static const char *protection_of(const tacet_contextual_parts *p) {
    return !p->is_private ? "none: seeded noise"
           : p->delta > 0 ? "(eps, delta)-DP for one record's context and reward; any number of predictions"
                          : "eps-DP for one record's context and reward; any number of predictions";
}

/* What is spent, and what is said to be at most so much, is rounded up; the lower end of an interval down. */
static void print_report(const tacet_contextual_parts *p, const char *out) {
    char a[32], b[32], c[32], d[32];
    printf("%s: learnt from %llu records, eps = %s, delta = %s\n", out, (unsigned long long)p->rounds,
           cli_safe(a, p->eps, 6, false), cli_safe(b, p->delta, 6, false));
    if (p->measured) {
        printf("error of the mean reward: about %.3g, likely at most %s (root mean square)\n", p->predicted_error,
               cli_safe(a, TACET_CONTEXTUAL_LIKELY * p->predicted_error, 3, false));
        printf("outcomes differ from predictions by %.3g, with probability 95 %% at most %s: measured on rows that "
               "were held out\n",
               p->outcome_error, cli_safe(a, p->outcome_bound, 3, false));
    } else {
        printf("error of the mean reward: %.4g (root mean square), if law, noise and prior are as believed\n",
               p->predicted_error);
    }
    if (p->recommended.there) {
        printf("the recommended rule is worth %.4g (95 %%: %s to %s), the logged one %.4g (%s to %s): %s\n",
               p->recommended.estimate, cli_safe(a, p->recommended.lower, 4, true),
               cli_safe(b, p->recommended.upper, 4, false), p->logged.estimate, cli_safe(c, p->logged.lower, 4, true),
               cli_safe(d, p->logged.upper, 4, false), compare(p));
    }
    printf("protection: %s\n", protection_of(p));
    printf("not protected: that a row is in the log, its action, the number of rows\n");
}

static void report(const tacet_contextual_log *log, const tacet_contextual_model *model, const char *out,
                   double seconds) {
    const tacet_contextual_parts *p = tacet_contextual_model_parts(model);
    const char *column = NULL;
    if (!cli_json_wanted()) {
        print_report(p, out);
    }
    json_t *object =
        json_pack("{ss sI sI so so so sb ss so sI so}", "model", out, "rounds", (json_int_t)p->rounds, "parts",
                  (json_int_t)p->receipt_count, "eps", cli_real(p->eps), "delta", cli_real(p->delta), "predicted_error",
                  cli_real(p->predicted_error), "private", (int)p->is_private, "protection", protection_of(p),
                  "actions_uniform_p", cli_real(tacet_contextual_log_uniform_p(log, &column)), "ledger_entry",
                  (json_int_t)p->receipts[0].entry, "seconds", cli_real(seconds));
    if (object != NULL && p->measured) {
        (void)json_object_set_new(object, "errors",
                                  json_pack("{so so so so}", "model", cli_real(p->predicted_error), "likely_at_most",
                                            cli_real(TACET_CONTEXTUAL_LIKELY * p->predicted_error), "outcome",
                                            cli_real(p->outcome_error), "outcome_at_most", cli_real(p->outcome_bound)));
    }
    if (object != NULL && p->recommended.there) {
        (void)json_object_set_new(object, "values",
                                  json_pack("{so so ss}", "recommended", value_json(&p->recommended), "logged",
                                            value_json(&p->logged), "recommended_is", compare(p)));
    }
    cli_json_print(object);
}

/* --- a dry run --------------------------------------------------------------------------------------------------- */

/* An action by its number, from 1: by its level, where it is one. */
static const char *action_name(char out[TACET_SPACE_NAME], const tacet_contextual_question *q, size_t number) {
    if (q->action_columns == 1 && q->space->columns[0].kind == TACET_SPACE_CATEGORY) {
        tacet_space_text(&q->space->columns[0], out, (double)(number - 1));
    } else {
        (void)snprintf(out, TACET_SPACE_NAME, "number %zu", number);
    }
    return out;
}

static void say_finding(const cli_command *self, const tacet_contextual_finding *f, size_t rows,
                        const tacet_contextual_question *q) {
    char name[TACET_SPACE_NAME];
    switch (f->oddity) {
    case TACET_CONTEXTUAL_OUTSIDE:
        cli_say(self, "%s: %zu of %zu rows lie outside, the first is row %zu; they count as the nearest bound",
                f->column, f->rows, rows, f->first);
        break;
    case TACET_CONTEXTUAL_NO_LEVEL:
        cli_say(self, "%s: %zu of %zu rows have no level, the first is row %zu; they count as the first level",
                f->column, f->rows, rows, f->first);
        break;
    case TACET_CONTEXTUAL_UNTRIED:
        cli_say(self, "%s: %zu actions were never tried, the first is %s: nothing is learnt of them", f->column,
                f->rows, action_name(name, q, f->first));
        break;
    case TACET_CONTEXTUAL_UNTRIED_IN:
        cli_say(self, "%s: %zu pairs of action and context were never seen", f->column, f->rows);
        break;
    case TACET_CONTEXTUAL_PROPENSITY:
        cli_say(self, "%s: %zu of %zu rows are no probability or below the least, which they count as", f->column,
                f->rows, rows);
        break;
    case TACET_CONTEXTUAL_MISMATCH:
        cli_say(self,
                "%s: %zu actions were taken plainly more or less often than this column says, the first is %s: the "
                "model will be biased",
                f->column, f->rows, action_name(name, q, f->first));
        break;
    }
}

/* What the records say goes to stderr; stdout has what depends on their number alone. */
static int dry_run(const tacet_contextual_log *log, const tacet_contextual_question *q, const cli_command *self) {
    const tacet_contextual_learner *learner = tacet_contextual_log_learner(log);
    const size_t rows = tacet_contextual_learner_count(learner);
    tacet_contextual_finding findings[TACET_CONTEXTUAL_FINDINGS_MOST];
    tacet_contextual_outlook outlook;
    tacet_error err = {0};
    size_t count = 0;
    tacet_status status = tacet_contextual_outlook_get(&outlook, learner, rows > 0 ? rows : 1, &err);
    if (status == TACET_OK) {
        status = tacet_contextual_log_findings(log, findings, &count, &err);
    }
    if (status != TACET_OK) {
        return cli_fail(self, &err);
    }
    cli_say(self, "what follows DEPENDS ON THE RECORDS: it is for whoever holds them, and changes nothing");
    for (size_t i = 0; i < count; i++) {
        say_finding(self, &findings[i], rows, q);
    }
    if (count == 0) {
        cli_say(self, "all %zu rows lie within", rows);
    }
    if (!cli_json_wanted()) {
        printf("%zu rows; nothing was charged, drawn or written\n", rows);
        printf("%s\n", outlook.refused ? "too few: a release would be refused" : "enough for a release");
        printf("error of the mean reward: about %.3g, if contexts and rewards are as assumed (%.3g without learning)\n",
               outlook.predicted_error, outlook.prior_sd);
    }
    cli_json_print(json_pack("{sb sI sb so so sI sI}", "dry_run", 1, "rows", (json_int_t)rows, "refused",
                             (int)outlook.refused, "predicted_error", cli_real(outlook.predicted_error), "prior_sd",
                             cli_real(outlook.prior_sd), "features", (json_int_t)outlook.features, "stages",
                             (json_int_t)outlook.stages));
    return CLI_EXIT_OK;
}

/* --- the command ------------------------------------------------------------------------------------------------- */

static bool check_words(learn_job *job, const char *algorithm, const char *mechanism, const char *rewards,
                        const cli_command *self, int *code) {
    tacet_contextual_settings *s = &job->question.settings;
    const bool robust = strcmp(algorithm, "robust") == 0;
    s->euclidean = strcmp(mechanism, "l2") == 0;
    s->gaussian = s->euclidean || strcmp(mechanism, "gaussian") == 0;
    s->rewards = strcmp(rewards, "symmetric") == 0 ? TACET_CONTEXTUAL_SYMMETRIC : TACET_CONTEXTUAL_SKEWED;
    s->method = robust ? TACET_CONTEXTUAL_ROBUST : TACET_CONTEXTUAL_STAGED;
    if ((!s->gaussian && strcmp(mechanism, "k-norm") != 0) ||
        (!robust && strcmp(algorithm, "staged") != 0 && strcmp(algorithm, "release") != 0) ||
        (strcmp(rewards, "symmetric") != 0 && strcmp(rewards, "skewed") != 0)) {
        *code = cli_usage(self, "--algorithm is robust, staged or release, --mechanism is k-norm, l2 or gaussian, "
                                "--rewards is skewed or symmetric");
        return false;
    }
    if (!(s->delta > 0 && s->delta < 1) || !(s->noise_sd >= 0) || !(s->prior_sd >= 0) ||
        !(s->prior_decay >= -1 && s->prior_decay <= 2) || !(s->propensity_least >= 0 && s->propensity_least < 1)) {
        *code = cli_usage(self, "--delta and --least-propensity must lie between 0 and 1, --noise-sd and --prior-sd "
                                "must not be negative, --prior-decay lies between 0 and 2");
        return false;
    }
    s->stages_most = strcmp(algorithm, "release") == 0 ? 1 : s->stages_most;
    return true;
}

/* Actions are public, and so is this warning. */
static void warn(const tacet_contextual_log *log, const cli_command *self) {
    const char *column = NULL;
    const double p = tacet_contextual_log_uniform_p(log, &column);
    if (p < NOT_UNIFORM) {
        cli_say(self,
                "WARNING: column %s was plainly not drawn uniformly within its bounds (p = %.1e): the model will be "
                "biased, and if actions depended on earlier contexts or rewards, those are not protected",
                column, p);
    }
}

int learn_learn(int argc, char **argv, const cli_command *self) {
    learn_job job;
    const char *out = NULL;
    const char *algorithm = "robust";
    const char *mechanism = "k-norm";
    const char *rewards = "skewed";
    bool dry = false;
    cli_option options[JOB_OPTIONS] = {0};
    int code = CLI_EXIT_OK;
    tacet_error err = {0};
    tacet_contextual_model *model = NULL;
    tacet_contextual_log *log = NULL;
    learn_job_init(&job);
    size_t n = learn_job_options(&job, options);
    tacet_contextual_settings *s = &job.question.settings;
    const cli_option own[] = {
        CLI_OPT("out", &out, "FILE", "Receives the model."),
        CLI_OPT("propensity", &job.question.propensity, "P",
                "Column of the probability that each row's action had, where actions are levels."),
        CLI_OPT("least-propensity", &s->propensity_least, "P",
                "Smaller ones count as this. Public. Default: a quarter of an even share."),
        CLI_OPT("rewards", &rewards, "KIND",
                "skewed (anything within the range, 0/1 included) or symmetric (noise as likely above as below). "
                "Default skewed."),
        CLI_OPT("dry-run", &dry, NULL,
                "Charge, draw and write nothing; tell the holder of the log what its rows would be taken as."),
        CLI_OPT("algorithm", &algorithm, "NAME",
                "robust; or staged and release (one stage), which believe --noise-sd, --prior-sd and an even law of "
                "contexts. Default robust."),
        CLI_OPT("mechanism", &mechanism, "NAME",
                "k-norm (pure eps), l2 (the same law with a delta: less noise) or gaussian. Default k-norm. Counts, "
                "scales, held-out errors and values, and the whole table where all columns are categories, have "
                "Laplace noise and pure eps either way."),
        CLI_OPT("delta", &s->delta, "D", "l2, gaussian: default 1e-6."),
        CLI_OPT("noise-sd", &s->noise_sd, "R",
                "Belief: noise of a reward. Not from these records. Default: 1/20 of the range."),
        CLI_OPT(
            "prior-sd", &s->prior_sd, "S",
            "Belief: size of the function. Not from these records. Default: robust fits it, else 0.11 of the range."),
        CLI_OPT("prior-decay", &s->prior_decay, "P",
                "Belief: smoothness, from 0 (rough) to 2. Not from these records. Default 0.25, else 0.5."),
    };
    memcpy(options + n, own, sizeof own);
    if (!cli_parse(self, options, argc, argv, NULL, NULL, &code) || !learn_job_check(&job, self, &code) ||
        !check_words(&job, algorithm, mechanism, rewards, self, &code)) {
        goto done;
    }
    if (!dry && out == NULL) {
        code = cli_usage(self, "--out FILE receives the model; without it only --dry-run");
        goto done;
    }
    const double begin = cli_seconds();
    if (job.entry.seeded && !dry) {
        cli_say(self, "NOT PRIVATE: the noise is seeded");
    }
    tacet_status status = dry ? TACET_OK : try_path(out, &err);
    if (status == TACET_OK) {
        status = tacet_contextual_log_open(&log, job.data, &job.question, &err);
    }
    if (status == TACET_OK) {
        warn(log, self);
    }
    if (status == TACET_OK && dry) {
        code = dry_run(log, &job.question, self);
        goto done;
    }
    job.entry.ticket = job.entry.ticket != NULL ? job.entry.ticket : "model";
    if (status == TACET_OK) {
        status = tacet_contextual_log_release(log, &model, &job.entry, &err);
    }
    if (status == TACET_OK) {
        status = write_model(model, out, &err);
    }
    if (status == TACET_OK) {
        report(log, model, out, cli_seconds() - begin);
    } else {
        err.status = status;
        code = cli_fail(self, &err);
    }
done:
    tacet_contextual_model_free(model);
    tacet_contextual_log_free(log);
    learn_job_clear(&job);
    return code;
}
