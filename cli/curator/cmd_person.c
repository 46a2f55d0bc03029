/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_person.c - tacet curator pending, tacet curator answer: a person at the keyboard.
 * Ring: trusted. */
#include "commands.h"

#include <tacet/outsourced/trusted/desk.h>

int cmd_pending(int argc, char **argv, const cli_command *self) {
    tacet_desk_settings settings;
    tacet_desk *desk = NULL;
    tacet_error err = {0};
    tacet_desk_defaults(&settings);
    const cli_option options[] = {
        CLI_NEED("release", &settings.folder, "DIR", "the folder 'tacet curate' wrote"),
        {0},
    };
    CLI_PARSE_OR_RETURN(options, NULL, NULL);
    if (tacet_desk_open(&desk, &settings, &err) != TACET_OK) {
        return cli_fail(self, &err);
    }
    char ticket[TACET_DESK_TICKET];
    size_t row = 0;
    json_t *list = json_array();
    for (size_t k = 0; tacet_desk_pending(desk, k, ticket, &row, NULL) == TACET_OK; k++) {
        (void)json_array_append_new(list, cli_object("ticket row", J(ticket), J(row)));
    }
    tacet_desk_close(desk);
    return cli_tell(cli_object("pending", J(list)), "{*pending|{ticket}\trow {row}\n}{!pending|nothing is pending\n}");
}

int cmd_answer(int argc, char **argv, const cli_command *self) {
    tacet_desk_settings settings;
    tacet_desk *desk = NULL;
    tacet_error err = {0};
    const char *words[2] = {NULL, NULL};
    size_t count = 2;
    double value = 0;
    tacet_desk_defaults(&settings);
    const cli_option options[] = {
        CLI_NEED("release", &settings.folder, "DIR", "the folder 'tacet curate' wrote"),
        {0},
    };
    CLI_PARSE_OR_RETURN(options, words, &count);
    if (count != 2 || !cli_number(&value, words[1])) {
        return cli_usage(self, "a TICKET and a finite VALUE are needed; negative values after '--'");
    }
    tacet_status status = tacet_desk_open(&desk, &settings, &err);
    TACET_THEN(status, tacet_desk_answer(desk, words[0], value, &err));
    tacet_desk_close(desk);
    return status != TACET_OK ? cli_fail(self, &err)
                              : cli_tell(cli_object("ticket status", J(words[0]), J("answered")), NULL);
}
