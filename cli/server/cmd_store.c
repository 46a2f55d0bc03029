/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_store.c - tacet store init|check|backup: looking after the store of studies.
 * Ring: trusted. */
#include "server/commands.h"

#include "core/memory.h"
#include "service/open/store_care.h"
#include "service/trusted/kinds.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int cmd_store_init(int argc, char **argv, const cli_command *self) {
    tacet__studies_settings settings = {0};
    tacet_error err = {0};
    const cli_option options[] = {
        {"store", CLI_STRING, &settings.store, "DIR|URL", "The store: a folder, or postgresql://…", true},
        {"open-store", CLI_STRING, &settings.open_store, "URL",
         "PostgreSQL: where the open schema is, when it is in another database. Default: the same as --store.", false},
        {0},
    };
    int code = 0;
    if (!cli_parse(self, options, argc, argv, NULL, NULL, &code)) {
        return code;
    }
    if (tacet__studies_init(&settings, &err) != TACET_OK) {
        return cli_fail(self, &err);
    }
    if (!cli_json_wanted()) {
        printf("the store is ready\n");
    }
    cli_json_print(json_pack("{sb}", "ready", 1));
    return CLI_EXIT_OK;
}

typedef struct names {
    char (*name)[TACET__STUDY_NAME_MOST + 1];
    size_t count;
    size_t capacity;
} names;

static tacet_status note_name(const tacet__study *study, void *user, tacet_error *err) {
    names *n = user;
    void *array = n->name;
    (void)err;
    if (!tacet__grow(&array, &n->capacity, n->count + 1, sizeof n->name[0])) {
        return TACET_NO_MEMORY;
    }
    n->name = array;
    memcpy(n->name[n->count++], study->name, sizeof study->name);
    return TACET_OK;
}

static tacet_status check_all(tacet__studies *store, const tacet__studies_settings *settings, const names *n,
                              json_t *array, tacet_error *err) {
    tacet__metrics metrics = {0};
    const tacet__engine_settings engine = {.store = *settings, .kinds = tacet__service_kinds, .metrics = &metrics};
    tacet_status status = TACET_OK;
    for (size_t i = 0; status == TACET_OK && i < n->count; i++) {
        tacet__study_report report;
        status = tacet__studies_check(store, &report, n->name[i], err);
        /* And as a server would: a ledger of another history, a state that does not fit, an arithmetic that differs. */
        status = status != TACET_OK || settings->open_only ? status : tacet__engine_try(&engine, n->name[i], err);
        if (status != TACET_OK) {
            break;
        }
        if (!cli_json_wanted()) {
            printf("%-32s %10" PRIu64 " events, %" PRIu64 " shown, ledger %" PRIu64 " records\n", n->name[i],
                   report.events, report.shown, report.ledger_records);
        }
        (void)json_array_append_new(array, json_pack("{ss sI sI sI sI}", "name", n->name[i], "events",
                                                     (json_int_t)report.events, "shown", (json_int_t)report.shown,
                                                     "ledger_records", (json_int_t)report.ledger_records,
                                                     "ledger_entries", (json_int_t)report.ledger_entries));
    }
    return status;
}

int cmd_store_check(int argc, char **argv, const cli_command *self) {
    tacet__studies_settings settings = {0};
    tacet__studies *store = NULL;
    tacet_error err = {0};
    names n = {0};
    const cli_option options[] = {STORE_OPTIONS(settings), {0}};
    int code = 0;
    if (!cli_parse(self, options, argc, argv, NULL, NULL, &code)) {
        return code;
    }
    json_t *array = json_array();
    tacet_status status = tacet__studies_open(&store, &settings, &err);
    status = status != TACET_OK ? status : tacet__studies_list(store, note_name, &n, &err);
    status = status != TACET_OK ? status : check_all(store, &settings, &n, array, &err);
    tacet__studies_close(store);
    free(n.name);
    if (status != TACET_OK) {
        json_decref(array);
        return cli_fail(self, &err);
    }
    if (!cli_json_wanted()) {
        printf("the store holds together\n");
    }
    cli_json_print(json_pack("{so}", "studies", array));
    return CLI_EXIT_OK;
}

static tacet_status restore_all(tacet__studies *store, const names *n, bool whole, json_t *array, tacet_error *err) {
    tacet_status status = TACET_OK;
    for (size_t i = 0; status == TACET_OK && i < n->count; i++) {
        tacet__study_state state = TACET__STUDY_ACTIVE;
        status = tacet__studies_restore(store, n->name[i], whole, &state, err);
        const bool archived = state == TACET__STUDY_ARCHIVED;
        if (status == TACET_OK && !cli_json_wanted()) {
            printf("%-32s %s\n", n->name[i],
                   archived
                       ? "archived: what it answered after the copy rests on noise that would not come again; begin "
                         "another study with what is left of the budget"
                       : "goes on, with new tickets");
        }
        (void)json_array_append_new(
            array, json_pack("{ss ss}", "name", n->name[i], "state", archived ? "archived" : "active"));
    }
    return status;
}

int cmd_store_restore(int argc, char **argv, const cli_command *self) {
    tacet__studies_settings settings = {.create = true};
    tacet__studies *store = NULL;
    tacet_error err = {0};
    names n = {0};
    bool whole = false;
    const cli_option options[] = {
        STORE_OPTIONS(settings),
        {"nothing-was-answered", CLI_FLAG, &whole, NULL,
         "Every server had been stopped before the copy was made: central studies go on, too.", false},
        {0},
    };
    int code = 0;
    if (!cli_parse(self, options, argc, argv, NULL, NULL, &code)) {
        return code;
    }
    json_t *array = json_array();
    tacet_status status = tacet__studies_open(&store, &settings, &err);
    status = status != TACET_OK ? status : tacet__studies_list(store, note_name, &n, &err);
    status = status != TACET_OK ? status : restore_all(store, &n, whole, array, &err);
    tacet__studies_close(store);
    free(n.name);
    if (status != TACET_OK) {
        json_decref(array);
        return cli_fail(self, &err);
    }
    cli_json_print(json_pack("{so}", "studies", array));
    return CLI_EXIT_OK;
}

int cmd_store_backup(int argc, char **argv, const cli_command *self) {
    const char *store = NULL;
    const char *to = NULL;
    tacet_error err = {0};
    const cli_option options[] = {
        {"store", CLI_STRING, &store, "DIR", "The store.", true},
        {"to", CLI_STRING, &to, "DIR", "Receives the copy; must not exist.", true},
        {0},
    };
    int code = 0;
    if (!cli_parse(self, options, argc, argv, NULL, NULL, &code)) {
        return code;
    }
    /* Before a folder is made for nothing. */
    struct stat st;
    if (stat(store, &st) != 0 || !S_ISDIR(st.st_mode)) {
        cli_say(self, "%s: no folder with a store", store);
        return CLI_EXIT_FAILED;
    }
    if (tacet__studies_backup(store, to, &err) != TACET_OK) {
        return cli_fail(self, &err);
    }
    if (!cli_json_wanted()) {
        printf("%s: a copy of %s; keep it as secret\n", to, store);
    }
    cli_json_print(json_pack("{ss}", "copy", to));
    return CLI_EXIT_OK;
}
