/* SPDX-License-Identifier: Apache-2.0 */
/* commands.h - the commands of tacet-ledger. */
#pragma once

#include "common/cli.h"

cli_run cmd_show, cmd_verify, cmd_export, cmd_keys, cmd_sign, cmd_prove, cmd_disclose;

enum { LEDGER_TEXT_MOST = 1 << 24, LEDGER_PATH_MOST = 4096 }; /* bytes of a receipt, a ring, a manifest; of a path */
/* The path of a file in a folder, when it is there; else NULL. */
const char *ledger_in(char out[LEDGER_PATH_MOST], const char *folder, const char *name);
