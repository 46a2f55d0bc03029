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
#include <tacet/io/file.h>

enum { WORDS_MOST = 256 };
static const double NOT_UNIFORM = 1e-6; /* p-value below which actions were plainly not drawn uniformly */

static tacet_status write_model(const tacet_contextual_model *model, const char *path, tacet_error *err) {
    char *text = NULL;
    tacet_status status = tacet_contextual_model_encode(model, &text, err);
    if (status == TACET_OK && tacet_file_write(path, text, false, NULL) != TACET_OK) {
        status = tacet_error_set(
            err, TACET_IO, "%.100s cannot be written; the release is in the ledger, and the same ticket repeats it",
            path);
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
        return tacet_error_set(err, TACET_IO, "%.100s cannot be written", path);
    }
    (void)fclose(file);
    (void)remove(temporary);
    return TACET_OK;
}

static json_t *value_json(const tacet_contextual_value *v) {
    return cli_object("estimate lower upper", J(v->estimate), J(v->lower), J(v->upper));
}

/* Whether the difference of the two values excludes 0: both intervals are independent, from disjoint rows. */
static const char *compare(const tacet_contextual_parts *p) {
    const double difference = p->recommended.estimate - p->logged.estimate;
    const double half =
        hypot(0.5 * (p->recommended.upper - p->recommended.lower), 0.5 * (p->logged.upper - p->logged.lower));
    return difference > half ? "better" : difference < -half ? "worse" : "not told apart";
}

static const char *protection_of(char out[WORDS_MOST], const tacet_contextual_parts *p) {
    const char *kind = p->delta > 0 ? "(eps, delta)-DP" : "eps-DP";
    if (!p->is_private) {
        return "none: seeded noise";
    }
    if (p->person_rows == 0) {
        (void)snprintf(out, WORDS_MOST, "%s for one row's context and reward; any number of predictions", kind);
    } else {
        (void)snprintf(out, WORDS_MOST,
                       "%s for one row's context and reward; for those of a person, who has at most %zu row%s, eps = "
                       "%.6g, delta = %.6g; any number of predictions",
                       kind, p->person_rows, p->person_rows > 1 ? "s" : "", nextafter(p->person_eps, INFINITY),
                       p->person_delta);
    }
    return out;
}

/* What is spent, and what is said to be at most so much, is rounded up; the lower end of an interval down. */
static const char WORDS[] =
    "{model}: learnt from {rounds} rows, eps = {eps:^6}, delta = {delta:^6}\n"
    "{?errors|error of the mean reward: about {errors.model:.3g}, likely at most {errors.likely_at_most:^3} (root mean "
    "square)\noutcomes differ from predictions by {errors.outcome:.3g}, with probability 95 % at most "
    "{errors.outcome_at_most:^3}: measured on rows that were held out\n}"
    "{!errors|error of the mean reward: {predicted_error:.4g} (root mean square), if law, noise and prior are as "
    "believed\n}"
    "{?values|the recommended rule is worth {values.recommended.estimate:.4g} (95 %: {values.recommended.lower:_4} to "
    "{values.recommended.upper:^4}), the logged one {values.logged.estimate:.4g} ({values.logged.lower:_4} to "
    "{values.logged.upper:^4}): {values.recommended_is}\n}"
    "protection: {protection}\nnot protected: that a row is in the log, its action, the number of rows\n";

static void report(const tacet_contextual_log *log, const tacet_contextual_model *model, const char *out,
                   double seconds) {
    const tacet_contextual_parts *p = tacet_contextual_model_parts(model);
    const char *column = NULL;
    char words[WORDS_MOST];
    json_t *object =
        cli_object("model rounds parts eps delta predicted_error private protection actions_uniform_p ledger_entry "
                   "seconds",
                   J(out), J(p->rounds), J(p->receipt_count), J(p->eps), J(p->delta), J(p->predicted_error),
                   J(p->is_private), J(protection_of(words, p)), J(tacet_contextual_log_uniform_p(log, &column)),
                   J(p->receipts[0].entry), J(seconds));
    if (p->person_rows > 0) {
        cli_add(object, "person",
                J(cli_object("rows eps delta", J(p->person_rows), J(p->person_eps), J(p->person_delta))));
    }
    if (p->measured) {
        cli_add(
            object, "errors",
            J(cli_object("model likely_at_most outcome outcome_at_most", J(p->predicted_error),
                         J(TACET_CONTEXTUAL_LIKELY * p->predicted_error), J(p->outcome_error), J(p->outcome_bound))));
    }
    if (p->recommended.there) {
        cli_add(object, "values",
                J(cli_object("recommended logged recommended_is", J(value_json(&p->recommended)),
                             J(value_json(&p->logged)), J(compare(p)))));
    }
    (void)cli_tell(object, WORDS);
}

/* What the records say goes to stderr; stdout has what depends on their number alone. */
static int dry_run(const tacet_contextual_log *log, const cli_command *self) {
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
        char words[TACET_CONTEXTUAL_WORDS];
        tacet_contextual_log_words(log, words, &findings[i]);
        cli_say(self, "%s", words);
    }
    if (count == 0) {
        cli_say(self, "all %zu rows lie within", rows);
    }
    return cli_tell(
        cli_object("dry_run rows refused predicted_error prior_sd features stages", JB(true), J(rows),
                   J(outlook.refused), J(outlook.predicted_error), J(outlook.prior_sd), J(outlook.features),
                   J(outlook.stages)),
        "{rows} rows; nothing was charged, drawn or written\n"
        "{?refused|too few: a release would be refused}{!refused|enough for a release}\n"
        "error of the mean reward: about {predicted_error:.3g}, if contexts and rewards are as assumed ({prior_sd:.3g} "
        "without learning)\n");
}

static int check_words(learn_job *job, const char *mechanism, const char *rewards, const cli_command *self) {
    tacet_contextual_settings *s = &job->question.settings;
    s->euclidean = strcmp(mechanism, "l2") == 0;
    s->gaussian = s->euclidean || strcmp(mechanism, "gaussian") == 0;
    s->rewards = strcmp(rewards, "symmetric") == 0 ? TACET_CONTEXTUAL_SYMMETRIC : TACET_CONTEXTUAL_SKEWED;
    if ((!s->gaussian && strcmp(mechanism, "k-norm") != 0) ||
        (strcmp(rewards, "symmetric") != 0 && strcmp(rewards, "skewed") != 0)) {
        return cli_usage(self, "--mechanism is k-norm, l2 or gaussian, --rewards is skewed or symmetric");
    }
    if (!(s->delta > 0 && s->delta < 1) || !(s->propensity_least >= 0 && s->propensity_least < 1)) {
        return cli_usage(self, "--delta and --least-propensity must lie between 0 and 1");
    }
    return CLI_EXIT_OK;
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
    const char *mechanism = "k-norm";
    const char *rewards = "skewed";
    bool dry = false, yes = false;
    cli_option options[JOB_OPTIONS] = {0};
    int code = CLI_EXIT_OK;
    tacet_error err = {0};
    tacet_contextual_model *model = NULL;
    tacet_contextual_log *log = NULL;
    tacet_ab_question table;
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
        CLI_YES(&yes),
        CLI_OPT("mechanism", &mechanism, "NAME",
                "k-norm (pure eps), l2 (the same law with a delta: less noise) or gaussian. Default k-norm. Counts, "
                "scales, held-out errors and values, and the whole table where all columns are categories, have "
                "Laplace noise and pure eps either way."),
        CLI_OPT("delta", &s->delta, "D", "l2, gaussian: default 1e-6."),
    };
    memcpy(options + n, own, sizeof own);
    if (!cli_parse(self, options, argc, argv, NULL, NULL, &code) ||
        (code = learn_job_check(&job, self)) != CLI_EXIT_OK ||
        (code = check_words(&job, mechanism, rewards, self)) != CLI_EXIT_OK) {
        goto done;
    }
    if (!dry && out == NULL) {
        code = cli_usage(self, "--out FILE receives the model; without it only --dry-run");
        goto done;
    }
    if (!job.entry.seeded && !cli_sure_of_eps(self, yes || dry, s->eps)) {
        code = CLI_EXIT_USAGE;
        goto done;
    }
    const double begin = cli_seconds();
    if (job.entry.seeded && !dry) {
        cli_say(self, "NOT PRIVATE: the noise is seeded");
    }
    tacet_status status = dry ? TACET_OK : try_path(out, &err);
    if (status == TACET_OK && !dry && tacet_ab_question_make(&table, &job.question)) {
        code = learn_table(&job, &table, out, self);
        goto done;
    }
    if (status == TACET_OK) {
        status = tacet_contextual_log_open(&log, job.data, &job.question, &err);
    }
    if (status == TACET_OK) {
        warn(log, self);
    }
    if (status == TACET_OK && dry) {
        code = dry_run(log, self);
        goto done;
    }
    bool few = false;
    job.entry.few = &few;
    job.entry.ticket = job.entry.ticket != NULL ? job.entry.ticket : "model";
    if (status == TACET_OK) {
        status = tacet_contextual_log_release(log, &model, &job.entry, &err);
    }
    if (status == TACET_OK) {
        status = write_model(model, out, &err);
    }
    if (status == TACET_OK) {
        report(log, model, out, cli_seconds() - begin);
        if (few) {
            cli_say(self, CLI_FEW_ROWS);
        }
    } else {
        err.status = status;
        code = cli_fail(self, &err);
    }
done:
    tacet_contextual_model_free(model);
    tacet_contextual_log_free(log);
    tacet_space_clear(&job.space);
    return code;
}
