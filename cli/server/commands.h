/* SPDX-License-Identifier: Apache-2.0 */
/* commands.h - the commands of tacet-server. */
#pragma once

#include "common/cli.h"

#include "serving/serving.h"

#include <tacet/service/trusted/store.h>

cli_run cmd_server, cmd_store_init, cmd_store_check, cmd_store_restore, cmd_store_backup, cmd_store_audit;
cli_run cmd_study_create, cmd_study_suggest, cmd_study_observe, cmd_study_status, cmd_study_best, cmd_study_release,
    cmd_study_show, cmd_study_extend, cmd_study_archive, cmd_study_snapshot, cmd_study_expire, cmd_study_token;

/* Where studies are; for the tables of the commands, which then parse with STORE_PARSE_OR_RETURN. */
#define STORE_OPTION(place)                                                                                            \
    CLI_NEED("store", &(place).store, "DIR|URL",                                                                       \
             "Where the studies are: a folder (SQLite), or postgresql://… for a store that several servers share; "  \
             "URL,URL: the second for the open role. open:DIR or open:URL: local studies only, the trusted half is "   \
             "not touched.")
#define STORE_PARSE_OR_RETURN(options, place)                                                                          \
    do {                                                                                                               \
        CLI_PARSE_OR_RETURN(options, NULL, NULL);                                                                      \
        if (!serving_place(&(place))) {                                                                                \
            return cli_usage(self, "out of memory reading --store");                                                   \
        }                                                                                                              \
    } while (0)
