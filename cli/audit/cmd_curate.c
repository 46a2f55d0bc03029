/* cmd_curate.c - tacet audit curate, and the controls of its tests.
 * Ring: audit. */
#include "commands.h"

#include <tacet/audit/shipped.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char PREFIX[] = "control:";

static void progress(double fraction, void *user) {
    (void)user;
    cli_progress(fraction, "releasing and testing");
}

bool audit_is_shipped(const char *name) {
    const char *summary = NULL;
    if (strcmp(name, "curate") == 0) {
        return true;
    }
    for (size_t i = 0; tacet_audit_spoils(i, &summary) != NULL; i++) {
        if (strncmp(name, PREFIX, sizeof PREFIX - 1) == 0 &&
            strcmp(name + sizeof PREFIX - 1, tacet_audit_spoils(i, &summary)) == 0) {
            return true;
        }
    }
    return false;
}

void audit_list_shipped(json_t *names) {
    const char *summary = "neighbouring tables through tacet curate; bound on eps, and tests of the noise's law";
    const char *control = NULL;
    char name[64] = "curate";
    for (size_t i = 0;; i++) {
        if (!cli_json_wanted()) {
            printf("%-30s %s\n", name, summary);
        }
        (void)json_array_append_new(names, json_pack("{ss ss sb sb}", "name", name, "summary", summary, "control",
                                                     (int)(i > 0), "pure", 0));
        control = tacet_audit_spoils(i, &summary);
        if (control == NULL) {
            return;
        }
        (void)snprintf(name, sizeof name, "%s%s", PREFIX, control);
    }
}

static void show(const char *name, const tacet_audit_shipped_result *r, const char *verdict) {
    printf("%s\n", name);
    printf("  claimed    eps = %g, delta = %g\n", r->bound.claimed_eps, r->bound.claimed_delta);
    printf("  measured   eps >= %.4f  (confidence %g, %zu runs, %zu right and %zu wrong guesses)\n", r->bound.eps_lower,
           r->bound.confidence, r->bound.measured, r->bound.correct, r->bound.wrong);
    printf("  noise      %.5f of the claimed variance; %zu rows with another row's noise\n", r->variance_ratio,
           r->repeats);
    printf("  verdict    %s: %s\n", verdict, r->reason);
}

int audit_shipped(const char *name, const audit_options *o, const cli_command *self) {
    tacet_audit_shipped_settings s;
    tacet_audit_shipped_result r;
    tacet_error err = {0};
    const bool control = strncmp(name, PREFIX, sizeof PREFIX - 1) == 0;
    tacet_audit_shipped_defaults(&s);
    if (tacet_curate_parse(&s.mechanism, o->mechanism != NULL ? o->mechanism : "gaussian", &err) != TACET_OK) {
        return cli_usage(self, "--mechanism: %s", err.message);
    }
    s.eps = o->eps;
    s.delta = s.mechanism == TACET_CURATE_LAPLACE ? 0 : o->delta;
    s.confidence = o->confidence;
    s.threads = o->threads;
    s.interrupted = o->interrupted;
    s.rows = o->rows > 0 ? o->rows : s.rows;
    s.runs = o->runs > 0 ? o->runs : s.runs;
    s.columns = o->columns > 0 ? o->columns : s.columns;
    s.control = control ? name + sizeof PREFIX - 1 : NULL;
    s.progress = progress;
    const double start = cli_seconds();
    const tacet_status status = tacet_audit_shipped(&r, &s, &err);
    cli_progress_end();
    if (status == TACET_INVALID) {
        return cli_usage(self, "%s", err.message);
    }
    if (status != TACET_OK) {
        return cli_fail(self, &err);
    }
    const char *verdict = r.violated ? "violated" : "consistent";
    if (!cli_json_wanted()) {
        show(name, &r, verdict);
    }
    cli_json_print(json_pack(
        "{ss ss sb so so so so sI ss ss sb so sI sI sI sf}", "target", name, "mechanism", tacet_curate_name(s.mechanism),
        "interrupted", (int)s.interrupted, "claimed_eps", cli_real(r.bound.claimed_eps), "claimed_delta",
        cli_real(r.bound.claimed_delta), "eps_lower", cli_real(r.bound.eps_lower), "variance_ratio",
        cli_real(r.variance_ratio), "repeats", (json_int_t)r.repeats, "verdict", verdict, "reason", r.reason, "control",
        (int)control, "confidence", cli_real(r.bound.confidence), "measured_runs", (json_int_t)r.bound.measured,
        "correct", (json_int_t)r.bound.correct, "wrong", (json_int_t)r.bound.wrong, "seconds", cli_seconds() - start));
    return r.violated == control ? CLI_EXIT_OK : CLI_EXIT_FAILED;
}
