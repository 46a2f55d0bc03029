/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_study.c - tacet study show, archive, snapshot, expire, token: what is stored, beside a running server or
 * without one. Ring: trusted. Shows definitions and counts; never a decision set, a reward or a state. */
#include "server/commands.h"

#include <sodium.h>
#include <stdio.h>

static int with_study(int argc, char **argv, const cli_command *self, bool archive) {
    tacet_store_place place = {0};
    tacet_error err = {0};
    char *text = NULL;
    const char *name = NULL;
    const cli_option options[] = {STORE_OPTION(place), CLI_NEED("study", &name, "NAME", "The study."), {0}};
    STORE_PARSE_OR_RETURN(options, place);
    if ((archive && tacet_store_archive(&place, name, &err) != TACET_OK) ||
        tacet_store_show(&text, &place, name, &err) != TACET_OK) {
        return cli_fail(self, &err);
    }
    json_t *study = cli_loads(text);
    if (!cli_json_wanted()) {
        cli_fill(study, "study {name}: {trust}, {state}\n{suggested} suggested, {?observed|{observed} observed, "
                        "}{released} released\n");
    }
    if (cli_json_wanted() || archive) {
        return cli_tell(study, NULL);
    }
    (void)json_dumpf(json_object_get(study, "definition"), stdout,
                     JSON_INDENT(2) | JSON_SORT_KEYS | JSON_REAL_PRECISION(17));
    putchar('\n');
    return cli_tell(study, "{*held|token {token} {label}: {?open|{open} open tickets, }{rounds} rounds\n}");
}

int cmd_study_show(int argc, char **argv, const cli_command *self) {
    return with_study(argc, argv, self, false);
}

int cmd_study_archive(int argc, char **argv, const cli_command *self) {
    return with_study(argc, argv, self, true);
}

int cmd_study_snapshot(int argc, char **argv, const cli_command *self) {
    tacet_store_place place = {0};
    tacet_error err = {0};
    char *text = NULL;
    const char *name = NULL;
    const cli_option options[] = {
        STORE_OPTION(place), CLI_OPT("study", &name, "NAME", "The study. Default: all of them."), {0}};
    STORE_PARSE_OR_RETURN(options, place);
    return tacet_store_snapshot(&text, &place, name, &err) != TACET_OK
               ? cli_fail(self, &err)
               : cli_tell(cli_loads(text),
                          "{*studies|study {name}: saved after event {events}, {replayed} of them replayed\n}");
}

int cmd_study_expire(int argc, char **argv, const cli_command *self) {
    tacet_store_place place = {0};
    tacet_error err = {0};
    const char *name = NULL;
    uint64_t seconds = 0, token = 0, expired = 0;
    const cli_option options[] = {
        STORE_OPTION(place),
        CLI_NEED("study", &name, "NAME", "The study."),
        CLI_OPT("token", &token, "N", "Those that token number N asked for. Default: all."),
        {0},
    };
    STORE_PARSE_OR_RETURN(options, place);
    return tacet_store_expire(&expired, &place, name, seconds, token, &err) != TACET_OK
               ? cli_fail(self, &err)
               : cli_tell(cli_object("name expired", J(name), J(expired)),
                          "study {name}: {expired} open tickets expired\n");
}

int cmd_study_token(int argc, char **argv, const cli_command *self) {
    tacet_store_place place = {0};
    tacet_token_request r = {.label = ""};
    uint64_t renew = 0, grace = 0, drop = 0, days = 365;
    bool list = false;
    tacet_error err = {0};
    const cli_option options[] = {
        STORE_OPTION(place),
        CLI_OPT("role", &r.role, "ROLE", "device, analyst or owner: makes a token and prints it, once."),
        CLI_OPT("study", &r.study, "NAME", "The study it is for. Default: all of them."),
        CLI_OPT("label", &r.label, "TEXT", "Says later whose it is."),
        CLI_OPT("days", &days, "N",
                "With --role or --renew: how long it is good. Default 365; 0: until it is withdrawn."),
        CLI_OPT("list", &list, NULL, "List the tokens there are: number, role, study, end, label."),
        CLI_OPT("renew", &renew, "N",
                "Make a token like number N in its place: the same role, study and label, another text."),
        CLI_OPT("drop", &drop, "N", "Withdraw token number N; servers notice within 5 seconds."),
        CLI_MORE,
        CLI_OPT(
            "open-most", &r.open_most, "N",
            "With --role: tickets it may have open in a study. Default: three quarters of what a central study may."),
        CLI_OPT("rounds-most", &r.rounds_most, "N", "With --role: rounds it may take of a study. Default: all."),
        CLI_OPT("grace", &grace, "S", "With --renew: how many seconds the old text is good for still. Default 0."),
        {0},
    };
    STORE_PARSE_OR_RETURN(options, place);
    if ((r.role != NULL) + list + (drop > 0) + (renew > 0) != 1) {
        return cli_usage(self, "exactly one of --role, --list, --renew and --drop says what to do");
    }
    if (list) {
        char *all = NULL;
        return tacet_store_tokens(&all, &place, &err) != TACET_OK
                   ? cli_refuse(self, &err)
                   : cli_tell(cli_loads(all),
                              "{*tokens|{id:6}  {role:-8} {?study|{study:-32}}{!study|(all studies)      "
                              "             } {?expires|{expires:%Y-%m-%dT%H:%M:%SZ}}{!expires|no end  "
                              "            } {label}\n}");
    }
    if (drop > 0) {
        return tacet_store_token_drop(&place, drop, &err) != TACET_OK ? cli_refuse(self, &err)
                                                                      : cli_tell(cli_object("dropped", J(drop)), NULL);
    }
    char text[TACET_TOKEN_TEXT] = "";
    r.days = (double)days;
    if ((renew > 0 ? tacet_store_token_renew(text, &place, renew, r.days, grace, &err)
                   : tacet_store_token(text, &place, &r, &err)) != TACET_OK) {
        return cli_refuse(self, &err);
    }
    (void)cli_tell(renew > 0 ? cli_object("token renewed", J(text), J(renew))
                             : cli_object("token role study", J(text), J(r.role), J(r.study != NULL ? r.study : "")),
                   "{token}\n");
    sodium_memzero(text, sizeof text);
    return CLI_EXIT_OK;
}
