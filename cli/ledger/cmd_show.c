/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_show.c - `tacet ledger show`. Ring: open. */
#include "ledger/commands.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/dp/open/calibrate.h>
#include <tacet/dp/open/ledger_read.h>
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

double ledger_real(const json_t *object, const char *field) {
    const json_t *value = json_object_get(object, field);
    return json_is_number(value) ? json_number_value(value) : (double)INFINITY;
}

json_int_t ledger_count(const json_t *object, const char *field) {
    return json_integer_value(json_object_get(object, field));
}

const char *ledger_word(const json_t *object, const char *field) {
    const char *text = json_string_value(json_object_get(object, field));
    return text != NULL ? text : "";
}

static void print_row(const json_t *row, const char *unit) {
    char text[48];
    struct tm tm;
    const time_t when = (time_t)ledger_count(row, "time");
    const char *group = ledger_word(row, "group");
    printf("%6lld  ", ledger_count(row, "seq"));
    if (gmtime_r(&when, &tm) == NULL || strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &tm) == 0) {
        (void)snprintf(text, sizeof text, "?");
    }
    cell(text, 19);
    cell(ledger_word(row, "ticket"), 16);
    cell(ledger_word(row, "what"), 26);
    cell(ledger_word(row, "to_whom"), 14);
    cell(ledger_word(row, "mechanism"), 12);
    number(ledger_real(row, unit));
    number(ledger_real(row, "delta"));
    if (group[0] != '\0') {
        (void)snprintf(text, sizeof text, "%.20s=%.20s", group, ledger_word(row, "part"));
    }
    cell(group[0] != '\0' ? text : "-", 16);
    printf("%s%s%s\n", json_is_integer(json_object_get(row, "answered_by")) ? "answered" : "open",
           strcmp(ledger_word(row, "claim"), "uncovered") == 0 ? "  UNCOVERED" : "",
           json_is_true(json_object_get(row, "not_private")) ? "  NOT PRIVATE" : "");
}

/* A budget is for one record or round. Somebody behind k of them pays for all: k eps, k^2 rho, k mu. */
static void print_persons(const json_t *r) {
    static const int TIMES[] = {2, 5, 10, 50};
    const char *unit = ledger_word(r, "unit");
    const double budget_eps = ledger_real(r, "budget_eps"), budget_delta = ledger_real(r, "budget_delta");
    const double cap = ledger_real(r, "cap");
    const bool deltas = strcmp(unit, "eps") == 0 && budget_delta > 0;
    printf("budget for a person behind k records or rounds:");
    for (size_t i = 0; i < sizeof TIMES / sizeof *TIMES; i++) {
        const double k = TIMES[i];
        double eps = k * budget_eps;
        tacet_status status = TACET_OK;
        if (strcmp(unit, "mu") == 0) {
            status = tacet_gdp_eps(&eps, k * cap, budget_delta, NULL);
        } else if (strcmp(unit, "rho") == 0) {
            status = tacet_zcdp_eps(&eps, k * k * cap, budget_delta, NULL);
        }
        /* P_0 <= e^eps P_1 + delta, k times: delta (1 + e^eps + … + e^((k-1) eps)) */
        const double delta = deltas ? k * exp((k - 1) * budget_eps) * budget_delta : 0;
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

static void print_table(const json_t *r) {
    const char *unit = ledger_word(r, "unit");
    const json_t *row = NULL;
    size_t i = 0;
    printf("%6s  ", "seq");
    cell("time (UTC)", 19);
    cell("ticket", 16);
    cell("what", 26);
    cell("to whom", 14);
    cell("mechanism", 12);
    cell(unit, 9);
    cell("delta", 9);
    cell("group=part", 16);
    puts("state");
    json_array_foreach(json_object_get(r, "list"), i, row) {
        print_row(row, unit);
    }
    printf("\n%lld entries, %lld answered, %lld uncovered%s\n", ledger_count(r, "entries"), ledger_count(r, "answered"),
           ledger_count(r, "uncovered"),
           ledger_count(r, "not_private") > 0 ? "; some were drawn from a seeded source and are NOT PRIVATE" : "");
    char spent[32], eps[32], delta[32];
    printf("spent   %s %s of %.6g (%s accounting)\n", unit, cli_safe(spent, ledger_real(r, "spent"), 6, false),
           ledger_real(r, "cap"), ledger_word(r, "accounting"));
    printf("that is eps %s, delta %s of eps %.6g, delta %.3g\n", cli_safe(eps, ledger_real(r, "eps"), 6, false),
           cli_safe(delta, ledger_real(r, "delta"), 3, false), ledger_real(r, "budget_eps"),
           ledger_real(r, "budget_delta"));
    print_persons(r);
    printf("head    %s\n", ledger_word(r, "head"));
}

int cmd_show(int argc, char **argv, const cli_command *self) {
    const char *path = NULL;
    bool numerical = false;
    double eps = (double)NAN;
    const cli_option options[] = {
        CLI_NEED("ledger", &path, "FILE", "The ledger."),
        CLI_OPT("numerical", &numerical, NULL,
                "Also add up by privacy-loss distributions: tighter, for charges that were fixed beforehand."),
        {0},
    };
    CLI_PARSE_OR_RETURN(options, NULL, NULL);
    tacet_error err = {TACET_OK, ""};
    char *text = NULL;
    tacet_status status = tacet_ledger_read(&text, path, &err);
    if (status == TACET_OK && numerical) {
        status = tacet_ledger_numerical(&eps, path, &err);
    }
    if (status != TACET_OK) {
        free(text);
        return cli_fail(self, &err);
    }
    json_t *account = json_loads(text, 0, NULL);
    free(text);
    if (!cli_json_wanted()) {
        print_table(account);
    }
    if (numerical) {
        char digits[32];
        (void)json_object_set_new(account, "numerical_eps", cli_real(eps));
        if (!cli_json_wanted() && isfinite(eps)) {
            printf("by privacy-loss distributions: eps %s at delta %.3g\n", cli_safe(digits, eps, 6, false),
                   ledger_real(account, "budget_delta"));
        } else if (!cli_json_wanted()) {
            printf("by privacy-loss distributions: nothing can be said (zCDP claims, or groups whose parts differ)\n");
        }
    }
    cli_json_print(account);
    return CLI_EXIT_OK;
}
