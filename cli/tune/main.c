/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - tacet-tune: settings chosen on private records, evaluated by a program of yours.
 * Ring: programs (trusted). */
#include "common/cli.h"
#include "common/space.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/tune/trusted/tune.h>

static volatile bool stopped;

static void stop(int signal_number) {
    (void)signal_number;
    stopped = true;
}

typedef struct job {
    cli_space columns;
    tacet_space space;
    tacet_tune_settings s;
    tacet_tune_evaluator e;
    tacet_tune_ask ask;
    cli_span range;
    cli_names reference;
    const char *ledger;
    double budget;
    uint64_t noise_seed;
    bool dry;
} job;

/* The setting as an object, by its line of JSON. */
static json_t *setting_json(const tacet_space *space, const double *record) {
    char *text = NULL;
    return tacet_tune_setting_text(&text, space, record, NULL) == TACET_OK ? cli_loads(text) : NULL;
}

static void show_progress(const tacet_tune_progress *progress, void *user) {
    (void)user;
    cli_progress((double)progress->told / (double)progress->planned, "round %zu of %zu, %zu of %zu evaluated",
                 progress->round, progress->rounds, progress->told, progress->planned);
}

static int tell_plan(const job *j, const tacet_tune_plan *plan) {
    json_t *rounds = json_array();
    for (size_t k = 0; k < plan->rounds; k++) {
        (void)json_array_append_new(rounds,
                                    cli_object("round settings eps", J(k + 1), J(plan->settings[k]), J(plan->eps[k])));
    }
    return cli_tell(
        cli_object("dry_run eps evaluations records searched kept strength margin score_sd rounds", JB(true),
                   J(j->s.eps), J(j->s.evaluations), J(j->s.records), J(plan->searched), J(plan->kept),
                   J(plan->strength), J(plan->margin), J(plan->kept > 0 ? plan->score_sd : (double)NAN), J(rounds)),
        "nothing was evaluated, charged or written; a run would cost eps {eps:.6g} for each of {records} records\n"
        "{*rounds|round {round}: {settings} settings, eps {eps:.4g}\n}"
        "a setting whose mean is {margin:.3g} below the best loses to it with e^2 to 1 in the last round\n"
        "{?score_sd|score from {kept} kept records: noise of standard deviation {score_sd:.3g}\n}");
}

static json_t *score_json(const tacet_tune *tune) {
    tacet_tune_score score;
    if (tacet_tune_score_get(tune, &score, NULL) != TACET_OK) {
        return NULL;
    }
    return cli_object("value lower upper level records noise_sd entry", J(score.value), J(score.lower), J(score.upper),
                      J(score.level), J(score.records), J(score.noise_sd), J((size_t)score.receipt.entry));
}

/* The space, so that a reader of the result knows what the settings are. */
static json_t *space_json(const tacet_space *space) {
    char *text = NULL;
    json_t *made = tacet_space_encode(space, &text, NULL) == TACET_OK ? json_loads(text, 0, NULL) : NULL;
    free(text);
    return made;
}

static int tell_result(const job *j, const tacet_tune *tune, const cli_command *self) {
    json_t *winners = json_array();
    json_t *best = NULL;
    bool is_private = true;
    for (size_t k = 0; k < tacet_tune_winners(tune); k++) {
        double record[TACET_SPACE_COLUMNS];
        tacet_receipt receipt;
        if (tacet_tune_winner(tune, k, record, &receipt, NULL) != TACET_OK) {
            break;
        }
        json_decref(best);
        best = setting_json(&j->space, record);
        is_private = is_private && receipt.is_private;
        (void)json_array_append_new(winners, cli_object("round setting eps entry", J(k + 1), J(json_incref(best)),
                                                        J(receipt.eps), J((size_t)receipt.entry)));
    }
    if (!is_private) {
        cli_say(self, "NOT PRIVATE: the noise is seeded");
    }
    return cli_tell(
        cli_object("private eps evaluations records best score? winners space ledger?", JB(is_private), J(j->s.eps),
                   J(j->s.evaluations), J(j->s.records), J(best), J(score_json(tune)), J(winners),
                   J(space_json(&j->space)), J(j->ledger)),
        "chosen with eps {eps:.6g} for each of {records} records:\n{*best|  {@}: {.}\n}"
        "{?score|score {score.value:.4g}, {score.lower:.4g} to {score.upper:.4g} with probability {score.level:.3g} "
        "(from {score.records} records that the search did not see)\n}");
}

static int run(job *j, const cli_command *self) {
    tacet_tune *tune = NULL;
    tacet_ledger *ledger = NULL;
    tacet_error err = {0};
    tacet_tune_evaluator e = j->e;
    char errors[4096];
    int code = CLI_EXIT_OK;
    const bool seeded = j->noise_seed != UINT64_MAX;
    if (seeded) {
        j->ledger = NULL;
        if (tacet_noise_open_seeded(&j->ask.noise, j->noise_seed, 0, &err) != TACET_OK) {
            return cli_fail(self, &err);
        }
    } else if (tacet_tune_ledger_open(&ledger, j->ledger, j->budget > 0 ? j->budget : j->s.eps, &err) != TACET_OK) {
        return cli_fail(self, &err);
    }
    (void)snprintf(errors, sizeof errors, "%s.log", j->ask.state);
    e.errors = errors;
    e.progress = show_progress;
    e.stop = &stopped;
    j->ask.ledger = ledger;
    (void)signal(SIGINT, stop);
    (void)signal(SIGTERM, stop);
    tacet_status status = tacet_tune_open(&tune, &j->s, &j->ask, &err);
    TACET_THEN(status, tacet_tune_evaluate(tune, &e, &err));
    cli_progress_end();
    code = status == TACET_OK ? tell_result(j, tune, self) : cli_fail(self, &err);
    tacet_tune_close(tune);
    tacet_ledger_close(ledger);
    tacet_noise_close(j->ask.noise);
    return code;
}

/* --reference name=value,…: one value a column. */
static int read_reference(job *j, double *record, const cli_command *self) {
    for (size_t k = 0; k < j->space.count; k++) {
        const tacet_space_column *c = &j->space.columns[k];
        const size_t length = strlen(c->name);
        bool found = false;
        for (size_t i = 0; i < j->reference.count; i++) {
            const char *item = j->reference.at[i];
            if (strncmp(item, c->name, length) == 0 && item[length] == '=') {
                tacet_error err = {0};
                const char *text = item + length + 1;
                if (tacet_space_cell(c, &record[k], NULL, text, strlen(text), &err) != TACET_OK) {
                    return cli_usage(self, "--reference: %s", err.message);
                }
                found = true;
            }
        }
        if (!found) {
            return cli_usage(self, "--reference has no value for column %s: --reference name=value,…", c->name);
        }
    }
    j->s.reference = record;
    return CLI_EXIT_OK;
}

/* A run in which the worst setting there can be hardly loses to the best is no choice. */
static bool sure(const cli_command *self, bool yes, const tacet_tune_plan *plan, double range) {
    char why[200];
    (void)snprintf(
        why, sizeof why,
        "too few records for this eps: only settings %.3g below the best lose to it clearly, and the range is "
        "%g. The winner would be a setting at random",
        plan->margin, range);
    return plan->margin < range || cli_sure(self, yes, why);
}

static int tune_tune(int argc, char **argv, const cli_command *self) {
    job j = {.ledger = "tune.ledger.db", .noise_seed = UINT64_MAX, .ask = {.state = "tune.state", .ticket = "tune"}};
    double reference[TACET_SPACE_COLUMNS];
    tacet_error err = {0};
    tacet_tune_plan plan;
    tacet_tune_settings_defaults(&j.s);
    tacet_tune_evaluator_defaults(&j.e);
    bool yes = false;
    const cli_option options[] = {
        CLI_HEADING("What is tuned"),
        CLI_SPACE_FILE(j.columns),
        CLI_SPACE_SHORT(j.columns),
        CLI_OPT("evaluate", &j.e.command, "CMD",
                "Reads one setting as a line of JSON and prints one value for each record, in their order. A command "
                "for the shell."),
        CLI_NEED("records", &j.s.records, "N", "How many records there are. Public."),
        CLI_NEED("range", &j.range, "LO:HI", "Range of one record's value; values outside count as the nearest end."),
        CLI_OPT("minimize", &j.s.minimize, NULL, "Values are losses."),
        CLI_MORE,
        CLI_OPT("contrast", &j.s.contrast, "C",
                "For real values over a wide range: count differences to the reference's values, clipped to C. A fifth "
                "of the range is a good C; never read off these records. Default 0: the values themselves."),
        CLI_OPT("reference", &j.reference, "A=V,…", "The reference setting. Default: the middle of the space."),
        CLI_HEADING("What it costs"),
        CLI_OPT("eps", &j.s.eps, "E", "Privacy budget of the run, for each record. Default 1."),
        CLI_OPT("evaluations", &j.s.evaluations, "N", "How many settings are tried, at most. Default 100."),
        CLI_OPT("dry-run", &j.dry, NULL, "Say what would be done and what it would cost; evaluate and charge nothing."),
        CLI_MORE,
        CLI_OPT("kept", &j.s.kept, "SHARE",
                "Share of the records kept out of the search for the score; 0: no score. Default 0.2."),
        CLI_OPT("seed", &j.s.seed, "S", "Of the settings tried and of the split. Public. Default 1."),
        CLI_YES(&yes),
        CLI_HEADING("How it is run"),
        CLI_OPT("workers", &j.e.workers, "W", "Programs at a time. Default 1."),
        CLI_OPT("ledger", &j.ledger, "FILE", "The ledger of the records; made when missing. Default tune.ledger.db."),
        CLI_OPT("budget-eps", &j.budget, "E", "Total eps of a ledger that is made. Default: this run's."),
        CLI_MORE,
        CLI_OPT("timeout", &j.e.seconds, "S", "For one evaluation. Default 3600."),
        CLI_OPT("state", &j.ask.state, "FILE",
                "What was evaluated so far: private, mode 0600. The same command goes on from it. FILE.log gets what "
                "programs say on standard error. Default tune.state."),
        CLI_OPT("ticket", &j.ask.ticket, "NAME", "Names the run in the ledger. Default tune."),
        CLI_OPT("noise-seed", &j.noise_seed, "S", "Seeded noise and no ledger: NOT PRIVATE, for tests."),
        {0},
    };
    tacet_space_init(&j.space);
    CLI_PARSE_OR_RETURN(options, NULL, NULL);
    int code = cli_space_read(&j.space, &j.columns, self);
    if (code == CLI_EXIT_OK && j.reference.at != NULL) {
        code = j.s.contrast > 0 ? read_reference(&j, reference, self)
                                : cli_usage(self, "--reference goes with --contrast");
    }
    if (code == CLI_EXIT_OK && !cli_sure_of_eps(self, yes || j.dry, j.s.eps)) {
        code = CLI_EXIT_USAGE;
    }
    if (code == CLI_EXIT_OK && !j.dry && j.e.command == NULL) {
        code = cli_usage(self, "--evaluate CMD evaluates the settings; without it only --dry-run");
    }
    if (code == CLI_EXIT_OK) {
        j.s.space = &j.space;
        j.s.lower = j.range.lo;
        j.s.upper = j.range.hi;
        code = tacet_tune_plan_get(&plan, &j.s, &err) != TACET_OK ? cli_refuse(self, &err)
               : j.dry                                            ? tell_plan(&j, &plan)
               : !sure(self, yes, &plan, j.range.hi - j.range.lo) ? CLI_EXIT_USAGE
                                                                  : run(&j, self);
    }
    tacet_space_clear(&j.space);
    return code;
}

static const cli_command COMMANDS[] = {
    {"tune", "settings chosen on private records: eps for each record, whatever the number of settings",
     "--space FILE --evaluate CMD --records N --range LO:HI [options]",
     "Tries settings of a model on private validation records and tells the best one. The choice is "
     "eps-differentially private in each record; scores, their order and failures are told to nobody.\n\n"
     "For each setting CMD is started once. It reads the setting as one line of JSON ({\"rate\":0.01}) on its "
     "standard input and prints one value for each record, in the order of the records: 1 where the model is right and "
     "0 where it is wrong, say. Each value is clipped to the range, so a mean will not do. A record that cannot be "
     "scored is printed as nan and counts as the worst; a program that fails or takes too long is started again, and "
     "then counts as the worst for all records.\n\n"
     "The promise rests on one thing that only you can see to: the value of a record must not depend on any other of "
     "the records. Train on other data. No cross-validation among them, no early stopping, threshold or scaling fitted "
     "on them, nothing in a record that could make CMD fail as a whole. One person with k records has k times "
     "eps.\n\n"
     "A few rounds: settings spread over the space, then new ones around each winner; how many rounds follows from "
     "records times eps, and --dry-run says it. A fifth of the records is kept for the score of the winner and its "
     "interval, at no further cost. A run that was killed goes on when the same command is given again: nothing is "
     "evaluated, drawn or charged twice.",
     "tacet tune --space tune.json --evaluate ./score.py --records 1000 --range 0:1 --dry-run\n"
     "tacet tune --space tune.json --evaluate ./score.py --records 1000 --range 0:1 --eps 1 "
     "--evaluations 100 --workers 4\n"
     "tacet tune --space tune.json --evaluate ./losses.py --records 5000 --range 0:320 --minimize --contrast 64",
     tune_tune},
    {0},
};

const cli_program PROGRAM = {
    .name = "tacet-tune", .summary = "Settings chosen on private records.", .ring = "trusted", .commands = COMMANDS};
