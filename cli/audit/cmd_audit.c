/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_audit.c - tacet audit TARGET.
 * Ring: audit. */
#include "commands.h"

#include <tacet/audit/audit.h>

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
        (void)json_array_append_new(
            names, cli_object("name summary control pure", J(t->name), J(t->summary), J(t->control), J(t->pure)));
    }
    return cli_tell(cli_object("targets", J(names)), "{*targets|{name:-30} {summary}\n}");
}

json_t *audit_json(const char *target, bool control, const tacet_audit_result *r, bool violated, double seconds) {
    return cli_object("target claimed_eps claimed_delta eps_lower confidence verdict control measured_runs correct "
                      "wrong seconds _broken",
                      J(target), J(r->claimed_eps), J(r->claimed_delta), J(r->eps_lower), J(r->confidence),
                      J(violated ? "violated" : "consistent"), J(control), J(r->measured), J(r->correct), J(r->wrong),
                      J(seconds), J(violated));
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
    (void)cli_tell(cli_object("bundle unexpected", J(folder), J(unexpected)),
                   "{bundle}/audit.html: {!unexpected|every verdict is as it should be}{?unexpected|NOT all as they "
                   "should be}\n");
    return unexpected == 0 ? CLI_EXIT_OK : CLI_EXIT_FAILED;
}

int cmd_audit(int argc, char **argv, const cli_command *self) {
    tacet_audit_claim claim = {.eps = 1, .delta = 1e-5};
    tacet_audit_settings settings;
    tacet_audit_result result;
    tacet_error err = {0};
    tacet_audit_defaults(&settings);
    const uint64_t no_seed = UINT64_MAX;
    tacet_audit_shipped_settings shipped;
    tacet_audit_shipped_defaults(&shipped);
    settings.runs = 0;
    const char *folder = NULL;
    settings.seed = no_seed;
    const cli_option options[] = {
        CLI_OPT("eps", &claim.eps, "E", "claimed epsilon (default 1)"),
        CLI_OPT("delta", &claim.delta, "D", "claimed delta (default 1e-5; pure mechanisms are audited at 0)"),
        CLI_OPT("runs", &settings.runs, "N",
                "runs per world and direction of the guess (default 1000000); half as many more choose the event"),
        CLI_OPT("bundle", &folder, "DIR", "all targets: DIR/audit.html, one page to hand over, and audit.json"),
        CLI_MORE,
        CLI_OPT("confidence", &settings.confidence, "C", "of the lower bound (default 0.98)"),
        CLI_OPT("seed", &settings.seed, "S", "reproducible noise instead of the operating system's"),
        CLI_HEADING("What ships (curate, desk, device, learn, study, and their controls):"),
        CLI_OPT("mechanism", &shipped.mechanism, "NAME",
                "curate: gaussian (default), laplace or l2; desk and device: hybrid (default) or "
                "laplace; learn: k-norm (default) or gaussian"),
        CLI_OPT("rows", &shipped.rows, "N",
                "of a released table (default 1000000), answers of the desk and the device (100000), releases of a "
                "model or a study (2000)"),
        CLI_OPT("dims", &shipped.columns, "N", "curate: coordinates of the table that eps is bounded with (default 1)"),
        CLI_OPT("interrupted", &shipped.interrupted, NULL,
                "kill every release before it is committed, and repeat it; --runs of one answer (default 40000 of "
                "curate, 2000 of the others)"),
        {0},
    };
    const char *name = NULL;
    size_t names = 1;
    CLI_PARSE_OR_RETURN(options, &name, &names);
    if (names == 1 && strcmp(name, "list") == 0) {
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
        return cli_usage(self, "which target? 'tacet audit list' names them");
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
        return cli_usage(self, "no target '%s'; 'tacet audit list' names them", name);
    }
    if (target->pure) {
        claim.delta = 0;
    }
    settings.user = (void *)(size_t)target->name;
    const double start = cli_seconds();
    const tacet_status status = tacet_audit_run(&result, target, &claim, &settings, &err);
    cli_progress_end();
    if (status != TACET_OK) {
        return cli_refuse(self, &err);
    }
    json_t *object = audit_json(target->name, target->control, &result, result.violated, cli_seconds() - start);
    cli_add(object, "guess_hi guess_lo _summary", J(result.guess_hi), J(result.guess_lo), J(target->summary));
    (void)cli_tell(object,
                   "{target}: {_summary}\n" AUDIT_WORDS
                   "  verdict    {verdict}{?control|{?_broken|, as it should be: this mechanism is broken on purpose}"
                   "{!_broken|: THE AUDITOR MISSED A MECHANISM THAT IS BROKEN ON PURPOSE}}\n");
    return result.violated == target->control ? CLI_EXIT_OK : CLI_EXIT_FAILED;
}
