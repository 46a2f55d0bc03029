/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_store.c - tacet store init|check|restore|backup: looking after the store of studies.
 * Ring: trusted. */
#include "server/commands.h"

int cmd_store_init(int argc, char **argv, const cli_command *self) {
    tacet_store_place place = {0};
    tacet_error err = {0};
    const cli_option options[] = {STORE_OPTION(place), {0}};
    STORE_PARSE_OR_RETURN(options, place);
    return tacet_store_init(&place, &err) != TACET_OK ? cli_fail(self, &err)
                                                      : cli_tell(cli_object("ready", JB(true)), "the store is ready\n");
}

int cmd_store_check(int argc, char **argv, const cli_command *self) {
    tacet_store_place place = {0};
    tacet_error err = {0};
    char *text = NULL;
    const cli_option options[] = {STORE_OPTION(place), {0}};
    STORE_PARSE_OR_RETURN(options, place);
    return tacet_store_check(&text, &place, &err) != TACET_OK
               ? cli_fail(self, &err)
               : cli_tell(cli_loads(text), "{*studies|{name:-32} {events:10} events, {shown} shown, ledger "
                                           "{ledger_records} records\n}the store holds together\n");
}

int cmd_store_audit(int argc, char **argv, const cli_command *self) {
    tacet_store_place place = {0};
    tacet_error err = {0};
    char *text = NULL;
    const cli_option options[] = {STORE_OPTION(place), {0}};
    STORE_PARSE_OR_RETURN(options, place);
    return tacet_store_audit(&text, &place, &err) != TACET_OK
               ? cli_fail(self, &err)
               : cli_tell(cli_loads(text),
                          "{*lines|{number:6}  {time:%Y-%m-%dT%H:%M:%SZ}  {who:-28} {what}  {hash}\n}");
}

int cmd_store_restore(int argc, char **argv, const cli_command *self) {
    tacet_store_place place = {0};
    tacet_error err = {0};
    char *text = NULL;
    bool whole = false;
    const cli_option options[] = {
        STORE_OPTION(place),
        CLI_OPT("nothing-was-answered", &whole, NULL,
                "Every server had been stopped before the copy was made: central studies go on, too."),
        {0},
    };
    STORE_PARSE_OR_RETURN(options, place);
    return tacet_store_restore(&text, &place, whole, &err) != TACET_OK
               ? cli_fail(self, &err)
               : cli_tell(cli_loads(text),
                          "{*studies|{name:-32} {!state=archived|goes on, with new tickets}{?state=archived|archived: "
                          "what it answered after the copy rests on noise that would not come again; begin another "
                          "study with what is left of the budget}\n}");
}

int cmd_store_backup(int argc, char **argv, const cli_command *self) {
    const char *store = NULL, *out = NULL;
    tacet_error err = {0};
    const cli_option options[] = {
        CLI_NEED("store", &store, "DIR|URL", "The store: a folder; PostgreSQL has tools of its own."),
        CLI_NEED("out", &out, "DIR", "Receives the copy; must not exist."),
        {0},
    };
    CLI_PARSE_OR_RETURN(options, NULL, NULL);
    return tacet_store_backup(store, out, &err) != TACET_OK
               ? cli_fail(self, &err)
               : cli_tell(cli_object("copy _store", J(out), J(store)),
                          "{copy}: a copy of {_store}; keep it as secret\n");
}
