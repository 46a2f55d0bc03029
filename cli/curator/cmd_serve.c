/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_serve.c - tacet curator serve.
 * Ring: trusted. */
#include "commands.h"
#include "serving/serving.h"

#include <string.h>
#include <tacet/outsourced/trusted/serve.h>

static tacet_status reload(void *user, tacet_error *err) {
    return tacet_curator_reload(user, err);
}

/* What is told besides the address: how many records, and where the page is. */
static json_t *more_of(tacet_curator *curator, const tacet_curator_settings *s) {
    const unsigned port = tacet_curator_page_port(curator);
    json_t *more = cli_object("rows", J(tacet_desk_manifest(tacet_curator_desk(curator))->rows));
    if (port != 0) {
        char url[300];
        serving_url(url, s->page.listen, port);
        cli_add(more, "desk _desk", J(url), J(s->keys));
    }
    return more;
}

int cmd_serve(int argc, char **argv, const cli_command *self) {
    const char *auth = "either";
    const char *ready = NULL;
    cli_span range = {0};
    tacet_curator_settings settings;
    tacet_error err = {0};
    tacet_curator_defaults(&settings);
    const cli_option options[] = {
        CLI_NEED("release", &settings.desk.folder, "DIR", "the folder 'tacet curate' wrote"),
        CLI_NEED("keys", &settings.keys, "DIR", "the folder 'tacet curator init' wrote"),
        CLI_OPT("data", &settings.desk.data, "FILE",
                "the table as it was released: other rows, or another order, are refused"),
        CLI_OPT("listen", &settings.listen, "HOST:PORT", "default 127.0.0.1:8443; port 0: any free one"),
        CLI_OPT("target", &settings.desk.values, "COLUMN",
                "measured values are in this column; a row whose cell is empty cannot be measured"),
        CLI_OPT("evaluate", &settings.desk.evaluate, "CMD", "measured values come from this shell command"),
        CLI_OPT("desk", &settings.page.listen, "HOST:PORT",
                "a page for you, on an address of this machine (port 0: any free one): questions, budget, ledger. "
                "Without --target and --evaluate measured values come from a person: here, or, with 'none', at "
                "'tacet curator desk' alone"),
        CLI_MORE,
        CLI_OPT("queries", &settings.desk.queries, "N",
                "allow so many measured values in all, more than 'tacet curate --queries' did: they are disclosed "
                "uncovered, or, with private outputs, charged to the ledger's budget"),
        CLI_OPT("id", &settings.page.id, "COLUMN", "--desk: the column by which you know a record"),
        CLI_OPT("range", &range, "LO:HI", "--desk: where values are expected; one outside must be confirmed"),
        CLI_OPT("auth", &auth, "HOW", "token, certificate or either (default)"),
        CLI_OPT("timeout", &settings.desk.seconds, "S", "time-out of the command (default 60)"),
        CLI_OPT("patience", &settings.desk.patience, "S",
                "a question is answered 'pending' when the command takes longer (default 2)"),
        CLI_OPT("session-minutes", &settings.page.session_minutes, "M",
                "--desk: a login ends when nothing was asked for so long (default 60)"),
        CLI_OPT("ready-file", &ready, "FILE", "write the address here once the service answers"),
        {0},
    };
    int code = 0;
    CLI_PARSE_OR_RETURN(options, NULL, NULL);
    const int told = (settings.desk.values != NULL) + (settings.desk.evaluate != NULL);
    if (told > 1 || (told == 0 && settings.page.listen == NULL)) {
        return cli_usage(self, "where do measured values come from? --target COLUMN, --evaluate CMD, or a person at "
                               "--desk HOST:PORT");
    }
    settings.tokens = strcmp(auth, "certificate") != 0;
    settings.certificates = strcmp(auth, "token") != 0;
    if (settings.tokens && settings.certificates && strcmp(auth, "either") != 0) {
        return cli_usage(self, "--auth: '%s' is none of token, certificate, either", auth);
    }
    tacet_curator_page *page = &settings.page;
    page->listen = page->listen != NULL && strcmp(page->listen, "none") == 0 ? NULL : page->listen;
    page->ranged = range.given;
    page->lo = range.lo;
    page->hi = range.hi;
    sigset_t signals;
    tacet_curator *curator = NULL;
    if (!serving_begin(&settings.log, &signals, self, &code)) {
        return code;
    }
    serving_unready(ready);
    const tacet_status status = tacet_curator_start(&curator, &settings, &err);
    if (status == TACET_OK) {
        serving_announce(settings.listen, tacet_curator_port(curator), more_of(curator, &settings), ready);
        serving_wait(&signals, settings.log, reload, curator);
    }
    tacet_curator_stop(curator);
    return status == TACET_OK ? CLI_EXIT_OK : cli_refuse(self, &err);
}
