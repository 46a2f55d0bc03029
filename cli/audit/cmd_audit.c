/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_audit.c - tacet audit TARGET.
 * Ring: audit. */
#include "commands.h"

#include <tacet/audit/audit.h>
#include <tacet/audit/bundle.h>

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { RUNS = 1000000 };

static void progress(double fraction, void *user) {
    cli_progress(fraction, "auditing %s", (const char *)user);
}

static int list(void) {
    json_t *names = json_array();
    audit_list_shipped(names);
    for (size_t i = 0; tacet_audit_target_at(i) != NULL; i++) {
        const tacet_audit_target *t = tacet_audit_target_at(i);
        if (!cli_json_wanted()) {
            printf("%-30s %s\n", t->name, t->summary);
        }
        (void)json_array_append_new(names, json_pack("{ss ss sb sb}", "name", t->name, "summary", t->summary, "control",
                                                     (int)t->control, "pure", (int)t->pure));
    }
    cli_json_print(json_pack("{so}", "targets", names));
    return CLI_EXIT_OK;
}

static void show(const tacet_audit_target *target, const tacet_audit_result *r, const char *verdict) {
    printf("%s: %s\n", target->name, target->summary);
    printf("  claimed    eps = %g, delta = %g\n", r->claimed_eps, r->claimed_delta);
    printf("  measured   eps >= %.4f  (confidence %g, %zu runs, %zu right and %zu wrong guesses)\n", r->eps_lower,
           r->confidence, r->measured, r->correct, r->wrong);
    printf("  verdict    %s%s\n", verdict,
           target->control ? (r->violated ? ", as it should be: this mechanism is broken on purpose"
                                          : ": THE AUDITOR MISSED A MECHANISM THAT IS BROKEN ON PURPOSE")
                           : "");
}

static json_t *as_json(const tacet_audit_target *target, const tacet_audit_result *r, const char *verdict,
                       double seconds) {
    return json_pack("{ss so so so so ss sb sI sI sI so so sf}", "target", target->name, "claimed_eps",
                     cli_real(r->claimed_eps), "claimed_delta", cli_real(r->claimed_delta), "eps_lower",
                     cli_real(r->eps_lower), "confidence", cli_real(r->confidence), "verdict", verdict, "control",
                     (int)target->control, "measured_runs", (json_int_t)r->measured, "correct", (json_int_t)r->correct,
                     "wrong", (json_int_t)r->wrong, "guess_hi", cli_real(r->guess_hi), "guess_lo",
                     cli_real(r->guess_lo), "seconds", seconds);
}

static int bundle(const char *folder, const tacet_audit_claim *claim, const tacet_audit_settings *settings,
                  const cli_command *self) {
    char date[16] = "";
    struct tm day;
    const time_t now = time(NULL);
    size_t unexpected = 0;
    tacet_error err = {0};
    if (gmtime_r(&now, &day) != NULL) {
        (void)strftime(date, sizeof date, "%Y-%m-%d", &day);
    }
    const tacet_status status = tacet_audit_bundle(&unexpected, folder, claim, settings, date, &err);
    cli_progress_end();
    if (status != TACET_OK) {
        return cli_fail(self, &err);
    }
    if (!cli_json_wanted()) {
        printf("%s/audit.html: %s\n", folder,
               unexpected == 0 ? "every verdict is as it should be" : "NOT all as they should be");
    }
    cli_json_print(json_pack("{ss sI}", "bundle", folder, "unexpected", (json_int_t)unexpected));
    return unexpected == 0 ? CLI_EXIT_OK : CLI_EXIT_FAILED;
}

int cmd_audit(int argc, char **argv, const cli_command *self) {
    tacet_audit_claim claim = {.eps = 1, .delta = 1e-5};
    tacet_audit_settings settings;
    tacet_audit_result result;
    tacet_error err = {0};
    tacet_audit_defaults(&settings);
    const uint64_t no_seed = UINT64_MAX;
    bool list_only = false;
    audit_options shipped = {0};
    settings.runs = 0;
    const char *folder = NULL;
    settings.seed = no_seed;
    const cli_option options[] = {
        CLI_OPT("eps", &claim.eps, "E", "claimed epsilon (default 1)"),
        CLI_OPT("delta", &claim.delta, "D", "claimed delta (default 1e-5; pure mechanisms are audited at 0)"),
        CLI_OPT("runs", &settings.runs, "N",
                "runs per world and direction of the guess (default 1000000); half as many more choose the event"),
        CLI_OPT("confidence", &settings.confidence, "C", "of the lower bound (default 0.98)"),
        CLI_OPT("threads", &settings.threads, "N", "default: as many as there are processors"),
        CLI_OPT("seed", &settings.seed, "S", "reproducible noise instead of the operating system's"),
        CLI_HEADING("What ships (curate, desk, device, learn, study, and their controls):"),
        CLI_OPT("mechanism", &shipped.mechanism, "NAME",
                "curate: gaussian (default), laplace or l2; desk and device: hybrid (default), duchi, piecewise, "
                "laplace or staircase; learn: k-norm (default) or gaussian"),
        CLI_OPT("rows", &shipped.rows, "N",
                "of a released table (default 1000000), answers of the desk and the device (100000), releases of a "
                "model or a study (2000)"),
        CLI_OPT("columns", &shipped.columns, "N", "curate: of the table that eps is bounded with (default 1)"),
        CLI_OPT("interrupted", &shipped.interrupted, NULL,
                "kill every release before it is committed, and repeat it; --runs of one answer (default 10000 of "
                "curate, 2000 of the others)"),
        CLI_OPT("bundle", &folder, "DIR", "all targets: DIR/audit.html, one page to hand over, and audit.json"),
        CLI_OPT("list", &list_only, NULL, "print the targets and stop"),
        {0},
    };
    const char *name = NULL;
    size_t names = 1;
    CLI_PARSE_OR_RETURN(options, &name, &names);
    if (list_only) {
        return list();
    }
    settings.seeded = settings.seed != no_seed;
    settings.progress = progress;
    if (folder != NULL) {
        settings.runs = settings.runs > 0 ? settings.runs : RUNS;
        settings.user = (void *)(size_t) "all targets";
        return names == 0 ? bundle(folder, &claim, &settings, self) : cli_usage(self, "--bundle takes all targets");
    }
    if (names == 0) {
        return cli_usage(self, "which target? 'tacet audit --list' names them");
    }
    if (audit_is_shipped(name)) {
        shipped.eps = claim.eps;
        shipped.delta = claim.delta;
        shipped.confidence = settings.confidence;
        shipped.runs = settings.runs;
        shipped.threads = settings.threads;
        return settings.seed == no_seed ? audit_shipped(name, &shipped, self)
                                        : cli_usage(self, "what ships is not seeded: --seed is for the other targets");
    }
    settings.runs = settings.runs > 0 ? settings.runs : RUNS;
    const tacet_audit_target *target = tacet_audit_find(name);
    if (target == NULL) {
        return cli_usage(self, "no target '%s'; 'tacet audit --list' names them", name);
    }
    if (target->pure) {
        claim.delta = 0;
    }
    settings.user = (void *)(size_t)target->name;
    const double start = cli_seconds();
    const tacet_status status = tacet_audit_run(&result, target, &claim, &settings, &err);
    cli_progress_end();
    if (status == TACET_INVALID) {
        return cli_usage(self, "%s", err.message);
    }
    if (status != TACET_OK) {
        return cli_fail(self, &err);
    }
    const char *verdict = result.violated ? "violated" : "consistent";
    if (!cli_json_wanted()) {
        show(target, &result, verdict);
    }
    cli_json_print(as_json(target, &result, verdict, cli_seconds() - start));
    return result.violated == target->control ? CLI_EXIT_OK : CLI_EXIT_FAILED;
}
