/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_shipped.c - tacet audit curate, desk, device, learn and study, and the controls of their tests.
 * Ring: audit. */
#include "commands.h"

#include <stdio.h>
#include <math.h>
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
    (void)json_array_append_new(names,
                                cli_object("name summary control pure", J(name), J(summary), J(control), JB(false)));
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

int audit_shipped(const char *name, tacet_audit_shipped_settings *s, const cli_command *self) {
    tacet_audit_shipped_result r;
    tacet_error err = {0};
    (void)parse_name(name, &s->way, &s->control);
    s->interrupted = s->interrupted || (s->control != NULL && strcmp(s->control, "redraws") == 0);
    s->progress = progress;
    const double start = cli_seconds();
    const tacet_status status = tacet_audit_shipped(&r, s, &err);
    cli_progress_end();
    if (status != TACET_OK) {
        return cli_refuse(self, &err);
    }
    json_t *object = audit_json(name, s->control != NULL, &r.bound, r.violated, cli_seconds() - start);
    cli_add(object, "mechanism interrupted variance_ratio repeats redrawn reason",
            J(s->mechanism != NULL ? s->mechanism : "default"), J(s->interrupted), J(r.variance_ratio), J(r.repeats),
            J(r.redrawn), J(r.reason));
    (void)cli_tell(object,
                   isfinite(r.variance_ratio)
                       ? "{target}\n" AUDIT_WORDS
                         "  noise      {variance_ratio:.5f} of the claimed variance; {repeats} rows with another "
                         "row's noise; {redrawn} repeated with other noise\n"
                         "  verdict    {verdict}: {reason}\n"
                       : "{target}\n" AUDIT_WORDS "  noise      {redrawn} repeated with other noise\n"
                         "  verdict    {verdict}: {reason}\n");
    return r.violated == (s->control != NULL) ? CLI_EXIT_OK : CLI_EXIT_FAILED;
}
