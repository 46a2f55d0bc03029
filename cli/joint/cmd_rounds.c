/* cmd_rounds.c - tacet joint suggest, observe, status: the rounds of a study. Ring: programs (trusted). */
#include "joint/commands.h"

#include "core/fail.h"

#include <math.h>
#include <stdio.h>
#include <tacet/io/csvfile.h>

static int finish(const cli_command *self, joint_study *study, tacet_status status, tacet_error *err) {
    joint_study_close(study);
    if (status == TACET_OK) {
        return CLI_EXIT_OK;
    }
    err->status = status;
    return cli_fail(self, err);
}

static json_t *point(const double *x, size_t n) {
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++) {
        (void)json_array_append_new(list, cli_real(x[i]));
    }
    return list;
}

static tacet_status load_set(tacet_csv_table *table, const joint_definition *def, const char *path, tacet_error *err) {
    const char *columns[JOINT_DIM_MOST];
    for (size_t i = 0; i < def->d; i++) {
        columns[i] = def->columns[i];
    }
    const tacet_csv_wanted wanted = {.columns = columns, .d = def->d};
    return tacet_csv_load_file(table, path, &wanted, err);
}

int joint_suggest(int argc, char **argv, const cli_command *self) {
    const char *folder = NULL, *set = NULL;
    const cli_option options[] = {
        {"study", CLI_STRING, &folder, "DIR", "The study.", true},
        {"set", CLI_STRING, &set, "FILE", "CSV with a header: the arms of this round, one a row; - is stdin.", true},
        {NULL, CLI_FLAG, NULL, NULL, NULL, false}};
    int code = CLI_EXIT_OK;
    tacet_error err = {0};
    joint_study study;
    tacet_csv_table table = {0};
    tacet_suggestion s = {0};
    if (!cli_parse(self, options, argc, argv, NULL, NULL, &code)) {
        return code;
    }
    tacet_status status = joint_study_open(&study, folder, &err);
    status = status != TACET_OK ? status : load_set(&table, &study.def, set, &err);
    if (status == TACET_OK) {
        const tacet_round round = {.points = table.values, .ld = table.d, .d = table.d, .count = table.n};
        status = tacet_policy_suggest(study.policy, &s, &round, &err);
    }
    status = status != TACET_OK ? status : joint_study_save(&study, &err);
    if (status == TACET_OK) {
        const double *x = table.values + s.index * table.d;
        if (!cli_json_wanted()) {
            printf("ticket %llu: row %zu", (unsigned long long)s.ticket, s.index + 1);
            for (size_t c = 0; c < table.d; c++) {
                printf("%s %s = %.10g", c > 0 ? "," : ":", study.def.columns[c], x[c]);
            }
            printf("\n");
        }
        cli_json_print(json_pack("{sI sI so}", "ticket", (json_int_t)s.ticket, "index", (json_int_t)s.index, "arm",
                                 point(x, table.d)));
    }
    tacet_csv_table_clear(&table);
    return finish(self, &study, status, &err);
}

int joint_observe(int argc, char **argv, const cli_command *self) {
    const char *folder = NULL;
    uint64_t ticket = 0;
    double reward = NAN;
    const cli_option options[] = {{"study", CLI_STRING, &folder, "DIR", "The study.", true},
                                  {"ticket", CLI_U64, &ticket, "N", "Of the suggestion.", true},
                                  {"reward", CLI_DOUBLE, &reward, "Y", "What its arm returned.", true},
                                  {NULL, CLI_FLAG, NULL, NULL, NULL, false}};
    int code = CLI_EXIT_OK;
    tacet_error err = {0};
    joint_study study;
    if (!cli_parse(self, options, argc, argv, NULL, NULL, &code)) {
        return code;
    }
    tacet_status status = joint_study_open(&study, folder, &err);
    status = status != TACET_OK ? status : tacet_policy_observe(study.policy, ticket, reward, &err);
    status = status != TACET_OK ? status : joint_study_save(&study, &err);
    if (status == TACET_OK) {
        if (!cli_json_wanted()) {
            printf("ticket %llu: taken\n", (unsigned long long)ticket);
        }
        cli_json_print(json_pack("{sI sb}", "ticket", (json_int_t)ticket, "taken", 1));
    }
    return finish(self, &study, status, &err);
}

int joint_status(int argc, char **argv, const cli_command *self) {
    const char *folder = NULL;
    const cli_option options[] = {{"study", CLI_STRING, &folder, "DIR", "The study.", true},
                                  {NULL, CLI_FLAG, NULL, NULL, NULL, false}};
    int code = CLI_EXIT_OK;
    tacet_error err = {0};
    joint_study study;
    tacet_ledger_totals totals = {0};
    tacet_guarantee g = {0};
    if (!cli_parse(self, options, argc, argv, NULL, NULL, &code)) {
        return code;
    }
    tacet_status status = joint_study_open(&study, folder, &err);
    status = status != TACET_OK ? status : tacet_ledger_total(study.ledger, &totals, &err);
    if (status == TACET_OK) {
        tacet_policy_guarantee(study.policy, &g);
        /* budget, entry and its answer are records too; what is left are the releases */
        const uint64_t releases = totals.records - 1 - totals.entries - totals.answered;
        if (!cli_json_wanted()) {
            printf("%s\neps = %g, delta = %g for %s\n", g.statement, g.eps, g.delta, g.protects);
            printf("%llu releases so far, eps %.4g of %.4g charged (once, for all of them)\n",
                   (unsigned long long)releases, totals.eps, totals.budget_eps);
        }
        cli_json_print(json_pack("{sb so so sI sI so}", "private", (int)g.proven, "eps", cli_real(g.eps), "delta",
                                 cli_real(g.delta), "releases", (json_int_t)releases, "rounds_most",
                                 (json_int_t)study.def.rounds, "spent_eps", cli_real(totals.eps)));
    }
    return finish(self, &study, status, &err);
}
