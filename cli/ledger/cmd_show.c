/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_show.c - `tacet ledger show`. Ring: open. */
#include "ledger/commands.h"

#include <math.h>
#include <stdio.h>
#include <tacet/dp/open/calibrate.h>
#include <string.h>
#include <time.h>

/* Texts can be long; a table cannot. What is cut says so: "row 17…" is not row 17. */
static void cell(const char *text, size_t width) {
    const bool cut = (size_t)cli_places(text, strlen(text)) > width;
    const size_t room = cut ? width - 1 : width;
    size_t shown = 0;
    for (const char *c = text; *c != '\0' && (shown < room || (*c & 0xc0) == 0x80); c++) {
        putchar(*c);
        shown += (*c & 0xc0) != 0x80;
    }
    if (cut) {
        fputs("…", stdout);
        shown++;
    }
    for (; shown < width; shown++) {
        putchar(' ');
    }
    fputs("  ", stdout);
}

static void number(double value) {
    char text[32] = "-";
    if (isfinite(value)) {
        (void)cli_safe(text, value, 4, false);
    }
    cell(text, 9);
}

static tacet_status print_row(void *user, const tacet__ledger_row *row, tacet_error *err) {
    const tacet_accounting accounting = *(const tacet_accounting *)user;
    const tacet_charge *c = &row->record->reserve.charge;
    char text[48];
    struct tm tm;
    (void)err;
    if (row->record->kind != TACET__RECORD_RESERVE) {
        return TACET_OK;
    }
    const time_t when = (time_t)row->record->time;
    printf("%6llu  ", (unsigned long long)row->record->seq);
    if (gmtime_r(&when, &tm) == NULL || strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &tm) == 0) {
        (void)snprintf(text, sizeof text, "?");
    }
    cell(text, 19);
    cell(row->record->reserve.ticket, 16);
    cell(c->what, 26);
    cell(c->to_whom, 14);
    cell(c->mechanism, 12);
    number(accounting == TACET_ACCOUNTING_BASIC ? c->eps : accounting == TACET_ACCOUNTING_ZCDP ? c->rho : c->mu);
    number(c->delta < 1 ? c->delta : INFINITY);
    if (c->group[0] != '\0') {
        (void)snprintf(text, sizeof text, "%.20s=%.20s", c->group, c->part);
    }
    cell(c->group[0] != '\0' ? text : "-", 16);
    printf("%s%s%s\n", row->answer != 0 ? "answered" : "open", c->claim == TACET_CLAIM_UNCOVERED ? "  UNCOVERED" : "",
           c->seeded ? "  NOT PRIVATE" : "");
    return TACET_OK;
}

/* A budget is for one record or round. Somebody behind k of them pays for all: k eps, k^2 rho, k mu. */
static void print_persons(const tacet__ledger_report *r) {
    static const int TIMES[] = {2, 5, 10, 50};
    const bool deltas = r->accounting == TACET_ACCOUNTING_BASIC && r->budget_delta > 0;
    printf("budget for a person behind k records or rounds:");
    for (size_t i = 0; i < sizeof TIMES / sizeof *TIMES; i++) {
        const double k = TIMES[i];
        double eps = k * r->budget_eps;
        tacet_status status = TACET_OK;
        if (r->accounting == TACET_ACCOUNTING_GAUSSIAN) {
            status = tacet_gdp_eps(&eps, k * r->cap, r->budget_delta, NULL);
        } else if (r->accounting == TACET_ACCOUNTING_ZCDP) {
            status = tacet_zcdp_eps(&eps, k * k * r->cap, r->budget_delta, NULL);
        }
        /* P_0 <= e^eps P_1 + delta, k times: delta (1 + e^eps + … + e^((k-1) eps)) */
        const double delta = deltas ? k * exp((k - 1) * r->budget_eps) * r->budget_delta : 0;
        char text[32];
        if (status != TACET_OK || !(delta < 1)) {
            printf("%s k = %d: no bound", i > 0 ? "," : "", TIMES[i]);
            continue;
        }
        printf("%s k = %d: eps %s", i > 0 ? "," : "", TIMES[i], cli_safe(text, eps, 4, false));
        if (deltas) {
            printf(", delta %s", cli_safe(text, delta, 2, false));
        }
    }
    printf("\n");
}

static tacet_status print_table(tacet__ledger_view *view, const tacet__ledger_report *r, tacet_error *err) {
    char head[2 * TACET_HASH_BYTES + 1];
    tacet_accounting accounting = r->accounting;
    printf("%6s  ", "seq");
    cell("time (UTC)", 19);
    cell("ticket", 16);
    cell("what", 26);
    cell("to whom", 14);
    cell("mechanism", 12);
    cell(tacet__ledger_unit(accounting), 9);
    cell("delta", 9);
    cell("group=part", 16);
    puts("state");
    const tacet_status status = tacet__ledger_each(view, print_row, &accounting, err);
    tacet__hash_hex(head, r->head);
    printf("\n%llu entries, %llu answered, %llu uncovered%s\n", (unsigned long long)r->entries,
           (unsigned long long)r->answered, (unsigned long long)r->uncovered,
           r->seeded > 0 ? "; some were drawn from a seeded source and are NOT PRIVATE" : "");
    char spent[32], eps[32], delta[32];
    printf("spent   %s %s of %.6g (%s accounting)\n", tacet__ledger_unit(accounting),
           cli_safe(spent, r->spent, 6, false), r->cap, tacet_accounting_name(accounting));
    printf("that is eps %s, delta %s of eps %.6g, delta %.3g\n", cli_safe(eps, r->eps, 6, false),
           cli_safe(delta, r->delta, 3, false), r->budget_eps, r->budget_delta);
    print_persons(r);
    printf("head    %s\n", head);
    return status;
}

int cmd_show(int argc, char **argv, const cli_command *self) {
    const char *path = NULL;
    bool numerical = false;
    double eps = (double)NAN;
    const cli_option options[] = {
        {"ledger", CLI_STRING, &path, "FILE", "The ledger.", true},
        {"numerical", CLI_FLAG, &numerical, NULL,
         "Also add up by privacy-loss distributions: tighter, for charges that were fixed beforehand.", false},
        {NULL, CLI_FLAG, NULL, NULL, NULL, false},
    };
    int code = 0;
    if (!cli_parse(self, options, argc, argv, NULL, NULL, &code)) {
        return code;
    }
    tacet_error err = {TACET_OK, ""};
    tacet__ledger_report report;
    tacet__ledger_view *view = NULL;
    tacet_status status = tacet__ledger_load(&view, &report, path, NULL, &err);
    if (status == TACET_OK && numerical) {
        status = tacet__ledger_numerical(view, &eps, report.budget_delta, fmax(report.eps, report.budget_eps), &err);
    }
    if (status == TACET_OK && cli_json_wanted()) {
        json_t *object = NULL;
        status = tacet__ledger_show(&object, view, &report, &err);
        if (numerical && status == TACET_OK) {
            (void)json_object_set_new(object, "numerical_eps", tacet__ledger_bound(eps));
        }
        cli_json_print(object);
    } else if (status == TACET_OK) {
        status = print_table(view, &report, &err);
        if (numerical && isfinite(eps)) {
            char text[32];
            printf("by privacy-loss distributions: eps %s at delta %.3g\n", cli_safe(text, eps, 6, false),
                   report.budget_delta);
        } else if (numerical) {
            printf("by privacy-loss distributions: nothing can be said (zCDP claims, or groups whose parts differ)\n");
        }
    }
    tacet__ledger_view_close(view);
    return status == TACET_OK ? CLI_EXIT_OK : cli_fail(self, &err);
}
