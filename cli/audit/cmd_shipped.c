/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_shipped.c - tacet audit curate, desk, device, learn and study, and the controls of their tests.
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

/* WAY, control:SPOIL of curate, control:WAY-SPOIL of all others. */
static bool parse_name(const char *name, const char **way, const char **control) {
    const char *summary = NULL;
    const bool spoilt = strncmp(name, PREFIX, sizeof PREFIX - 1) == 0;
    const char *rest = spoilt ? name + sizeof PREFIX - 1 : name;
    *control = NULL;
    for (size_t i = 0; (*way = tacet_audit_ways(i, &summary)) != NULL; i++) {
        const size_t length = strlen(*way);
        if (!spoilt && strcmp(name, *way) == 0) {
            return true;
        }
        const bool said = i > 0 && strncmp(rest, *way, length) == 0 && rest[length] == '-';
        for (size_t k = 0; spoilt && (i == 0 || said) && (*control = tacet_audit_spoils(k, &summary)) != NULL; k++) {
            if (strcmp(rest + (said ? length + 1 : 0), *control) == 0) {
                return true;
            }
        }
    }
    return false;
}

bool audit_is_shipped(const char *name) {
    const char *way = NULL;
    const char *control = NULL;
    return parse_name(name, &way, &control);
}

static void list_one(json_t *names, const char *name, const char *summary, bool control) {
    if (!cli_json_wanted()) {
        printf("%-30s %s\n", name, summary);
    }
    (void)json_array_append_new(
        names, json_pack("{ss ss sb sb}", "name", name, "summary", summary, "control", (int)control, "pure", 0));
}

void audit_list_shipped(json_t *names) {
    const char *way = NULL;
    const char *control = NULL;
    const char *summary = NULL;
    for (size_t i = 0; (way = tacet_audit_ways(i, &summary)) != NULL; i++) {
        list_one(names, way, summary, false);
    }
    for (size_t i = 0; (way = tacet_audit_ways(i, &summary)) != NULL; i++) {
        for (size_t k = 0; (control = tacet_audit_spoils(k, &summary)) != NULL; k++) {
            char name[64];
            (void)snprintf(name, sizeof name, "%s%s%s%s", PREFIX, i > 0 ? way : "", i > 0 ? "-" : "", control);
            list_one(names, name, summary, true);
        }
    }
}

static void show(const char *name, const tacet_audit_shipped_result *r, const char *verdict) {
    printf("%s\n", name);
    printf("  claimed    eps = %g, delta = %g\n", r->bound.claimed_eps, r->bound.claimed_delta);
    printf("  measured   eps >= %.4f  (confidence %g, %zu runs, %zu right and %zu wrong guesses)\n", r->bound.eps_lower,
           r->bound.confidence, r->bound.measured, r->bound.correct, r->bound.wrong);
    printf(
        "  noise      %.5f of the claimed variance; %zu rows with another row's noise; %zu repeated with other noise\n",
        r->variance_ratio, r->repeats, r->redrawn);
    printf("  verdict    %s: %s\n", verdict, r->reason);
}

int audit_shipped(const char *name, const audit_options *o, const cli_command *self) {
    tacet_audit_shipped_settings s;
    tacet_audit_shipped_result r;
    tacet_error err = {0};
    tacet_audit_shipped_defaults(&s);
    (void)parse_name(name, &s.way, &s.control);
    s.mechanism = o->mechanism;
    s.eps = o->eps;
    s.delta = o->delta;
    s.confidence = o->confidence;
    s.threads = o->threads;
    s.interrupted = o->interrupted || (s.control != NULL && strcmp(s.control, "redraws") == 0);
    s.rows = o->rows;
    s.runs = o->runs;
    s.columns = o->columns > 0 ? o->columns : s.columns;
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
        "{ss ss sb so so so so sI sI ss ss sb so sI sI sI sf}", "target", name, "mechanism",
        s.mechanism != NULL ? s.mechanism : "default", "interrupted", (int)s.interrupted, "claimed_eps",
        cli_real(r.bound.claimed_eps), "claimed_delta", cli_real(r.bound.claimed_delta), "eps_lower",
        cli_real(r.bound.eps_lower), "variance_ratio", cli_real(r.variance_ratio), "repeats", (json_int_t)r.repeats,
        "redrawn", (json_int_t)r.redrawn, "verdict", verdict, "reason", r.reason, "control", (int)(s.control != NULL),
        "confidence", cli_real(r.bound.confidence), "measured_runs", (json_int_t)r.bound.measured, "correct",
        (json_int_t)r.bound.correct, "wrong", (json_int_t)r.bound.wrong, "seconds", cli_seconds() - start));
    return r.violated == (s.control != NULL) ? CLI_EXIT_OK : CLI_EXIT_FAILED;
}
