/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_show.c - `tacet ledger show`, `tacet ledger export`. Ring: open. */
#include "ledger/commands.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tacet/dp/open/calibrate.h>
#include <tacet/dp/open/ledger_read.h>

static double real(const json_t *object, const char *field) {
    const json_t *value = json_object_get(object, field);
    return json_is_number(value) ? json_number_value(value) : (double)INFINITY;
}

static const char *word(const json_t *object, const char *field) {
    const char *text = json_string_value(json_object_get(object, field));
    return text != NULL ? text : "";
}

/* What the table has besides a row's own fields: the price in the ledger's unit, and a part in a word. */
static void add_words(json_t *account) {
    json_t *row = NULL;
    size_t i = 0;
    json_array_foreach(json_object_get(account, "list"), i, row) {
        const char *group = word(row, "group");
        (void)json_object_set(row, "_price", json_object_get(row, word(account, "unit")));
        if (group[0] != '\0') {
            cli_add(row, "_part", J(json_sprintf("%.20s=%.20s", group, word(row, "part"))));
        }
    }
}

/* A budget is for one record or round. Somebody behind k of them pays for all: k eps, k^2 rho, k mu. */
static json_t *persons(const json_t *r) {
    static const size_t TIMES[] = {2, 5, 10, 50};
    const char *unit = word(r, "unit");
    const double budget_eps = real(r, "budget_eps"), budget_delta = real(r, "budget_delta"), cap = real(r, "cap");
    json_t *list = json_array();
    for (size_t i = 0; i < sizeof TIMES / sizeof *TIMES; i++) {
        const double k = (double)TIMES[i];
        double eps = k * budget_eps, delta = 0;
        tacet_status status = TACET_OK;
        if (strcmp(unit, "mu") == 0) {
            status = tacet_gdp_eps(&eps, k * cap, budget_delta, NULL);
        } else if (strcmp(unit, "rho") == 0) {
            status = tacet_zcdp_eps(&eps, k * k * cap, budget_delta, NULL);
        } else {
            /* P_0 <= e^eps P_1 + delta, k times: delta (1 + e^eps + … + e^((k-1) eps)) */
            delta = budget_delta > 0 ? k * exp((k - 1) * budget_eps) * budget_delta : 0;
        }
        const bool bound = status == TACET_OK && delta < 1;
        (void)json_array_append_new(
            list, cli_object("k bound eps delta", J(TIMES[i]), J(bound), J(eps), J(bound ? delta : 0)));
    }
    return list;
}

static const char TABLE[] =
    "   seq  time (UTC)           ticket            what                        to whom         mechanism     {unit:=9}"
    "  delta      group=part        state\n"
    "{*list|{seq:6}  {time:%Y-%m-%d %H:%M:%S}  {ticket:=16}  {what:=26}  {to_whom:=14}  {mechanism:=12}  {_price:=9}"
    "  {delta:=9}  {_part:=16}  {?answered_by|answered}{!answered_by|open}{?claim=uncovered|  UNCOVERED}"
    "{?not_private|  NOT PRIVATE}\n}"
    "\nentries {entries}, answered {answered}, uncovered {uncovered}"
    "{?not_private|; some were drawn from a seeded source and are NOT PRIVATE}\n"
    "spent   {unit} {spent:^6} of {cap:^6} ({accounting} accounting)\n"
    "that is eps {eps:^6}, delta {delta:^3} of eps {budget_eps:^6}, delta {budget_delta:^3}\n"
    "budget for a person behind k records or rounds, by group privacy alone:{*_persons:,| k = {k}: {!bound|no "
    "bound}{?bound|eps {eps:^4}"
    "{?delta|, delta {delta:^2}}}}\n"
    "head    {head}\n";

int cmd_show(int argc, char **argv, const cli_command *self) {
    const char *path = NULL;
    const cli_option options[] = {
        CLI_NEED("ledger", &path, "FILE", "The ledger."),
        {0},
    };
    CLI_PARSE_OR_RETURN(options, NULL, NULL);
    tacet_error err = {0};
    char *text = NULL;
    if (tacet_ledger_read(&text, path, &err) != TACET_OK) {
        return cli_fail(self, &err);
    }
    json_t *account = cli_loads(text);
    if (!cli_json_wanted()) {
        add_words(account);
        cli_add(account, "_persons", J(persons(account)));
    }
    return cli_tell(account, TABLE);
}

static tacet_status print_line(void *user, const char *text, tacet_error *err) {
    (void)user;
    (void)err;
    puts(text);
    return TACET_OK;
}

int cmd_export(int argc, char **argv, const cli_command *self) {
    const char *path = NULL;
    const cli_option options[] = {CLI_NEED("ledger", &path, "FILE", "The ledger."), {0}};
    CLI_PARSE_OR_RETURN(options, NULL, NULL);
    tacet_error err = {0};
    return tacet_ledger_export(path, print_line, NULL, &err) == TACET_OK ? CLI_EXIT_OK : cli_fail(self, &err);
}
