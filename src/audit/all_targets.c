/* SPDX-License-Identifier: Apache-2.0 */
/* all_targets.c - every target's result on one page, to hand over.
 * Ring: audit. Source: none. Cost: that of the audits. */
#include <tacet/audit/audit.h>

#include "core/fail.h"
#include "io/file/folder.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/core/status.h>

enum { PAGE = 1 << 17 };

static json_t *real_or_null(double x) {
    return isfinite(x) ? json_real(x) : json_null();
}

static json_t *one_json(const tacet_audit_target *t, const tacet_audit_result *r) {
    return json_pack("{ss ss sb so so so so ss sI sI sI}", "target", t->name, "summary", t->summary, "control",
                     (int)t->control, "claimed_eps", real_or_null(r->claimed_eps), "claimed_delta",
                     real_or_null(r->claimed_delta), "eps_lower", real_or_null(r->eps_lower), "confidence",
                     real_or_null(r->confidence), "verdict", r->violated ? "violated" : "consistent", "measured_runs",
                     (json_int_t)r->measured, "correct", (json_int_t)r->correct, "wrong", (json_int_t)r->wrong);
}

/* A row of the page; names and summaries are the program's own texts, without markup. */
static size_t put_row(char *page, size_t at, const tacet_audit_target *t, const tacet_audit_result *r) {
    const bool expected = r->violated == t->control;
    return at + (size_t)snprintf(
                    page + at, PAGE - at,
                    "<tr><td>%s</td><td>%s</td><td>%g</td><td>%g</td><td>%.4f</td><td>%zu</td><td>%s%s</td></tr>\n",
                    t->name, t->summary, r->claimed_eps, r->claimed_delta, r->eps_lower, r->measured,
                    r->violated ? "violated" : "consistent",
                    !expected    ? " <b>(NOT as expected)</b>"
                    : t->control ? " (as it should be: broken on purpose)"
                                 : "");
}

static size_t put_head(char *page, const tacet_audit_settings *s, const tacet_audit_claim *claim, const char *date) {
    char seed[32] = "the operating system's noise";
    if (s->seeded) {
        (void)snprintf(seed, sizeof seed, "seed %llu", (unsigned long long)s->seed);
    }
    return (size_t)snprintf(page, PAGE,
                            "<!doctype html>\n<html lang=\"en\"><head><meta "
                            "charset=\"utf-8\"><title>Audit</title>\n<style>body{font:15px/1.4 "
                            "sans-serif;max-width:70em;margin:2em auto;padding:0 "
                            "1em}td,th{text-align:left;padding:.2em .8em .2em 0;vertical-"
                            "align:top;border-bottom:1px solid #ccc}</style></head><body>\n<h1>Audit of tacet "
                            "%s</h1>\n<p>%s. Each mechanism was "
                            "run %zu times per world and direction of the guess on two worst-case neighbouring inputs "
                            "(%s), claimed at eps = %g, "
                            "delta = %g (pure mechanisms: 0). The lower bound on eps holds with confidence %g for each "
                            "row. An audit can refute a "
                            "claim; it cannot prove one. Rows named control are broken on purpose and must be found "
                            "out.</p>\n<table>\n<tr><th>"
                            "target</th><th>what is run</th><th>eps</th><th>delta</th><th>measured eps at "
                            "least</th><th>runs</th><th>verdict</th>"
                            "</tr>\n",
                            tacet_version(), date, s->runs, seed, claim->eps, claim->delta, s->confidence);
}

static tacet_status put_file(const char *folder, const char *name, const char *text, tacet_error *err) {
    char path[TACET__PATH];
    const tacet_status status = tacet__path(path, folder, name, err);
    return status == TACET_OK ? tacet__file_write(path, folder, text, 0644, err) : status;
}

tacet_status tacet_audit_bundle(size_t *unexpected, const char *folder, const tacet_audit_claim *claim,
                                const tacet_audit_settings *settings, const char *date, tacet_error *err) {
    char *page = malloc(PAGE);
    json_t *list = json_array();
    *unexpected = 0;
    tacet_status status = page != NULL && list != NULL ? tacet__folder_make(NULL, folder, err)
                                                       : tacet__fail(err, TACET_NO_MEMORY, "out of memory for a page");
    size_t at = status == TACET_OK ? put_head(page, settings, claim, date) : 0;
    for (size_t i = 0; status == TACET_OK && tacet_audit_target_at(i) != NULL; i++) {
        const tacet_audit_target *t = tacet_audit_target_at(i);
        tacet_audit_claim here = *claim;
        tacet_audit_settings own = *settings;
        tacet_audit_result r;
        here.delta = t->pure ? 0 : claim->delta;
        own.user = (void *)(size_t)t->name;
        status = tacet_audit_run(&r, t, &here, &own, err);
        if (status == TACET_OK) {
            *unexpected += r.violated != t->control;
            (void)json_array_append_new(list, one_json(t, &r));
            at = put_row(page, at, t, &r);
            status = at < PAGE - 64 ? TACET_OK : tacet__fail(err, TACET_OVERFLOW, "more targets than a page holds");
        }
    }
    if (status == TACET_OK) {
        (void)snprintf(page + at, PAGE - at, "</table>\n</body></html>\n");
        status = put_file(folder, "audit.html", page, err);
    }
    if (status == TACET_OK) {
        json_t *root = json_pack(
            "{ss ss sI so sO}", "version", tacet_version(), "date", date, "runs", (json_int_t)settings->runs, "seed",
            settings->seeded ? json_integer((json_int_t)settings->seed) : json_null(), "results", list);
        char *text = root != NULL ? json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(17)) : NULL;
        status = text != NULL ? put_file(folder, "audit.json", text, err)
                              : tacet__fail(err, TACET_NO_MEMORY, "out of memory for a list");
        free(text);
        json_decref(root);
    }
    json_decref(list);
    free(page);
    return status;
}
