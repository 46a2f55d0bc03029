/* SPDX-License-Identifier: Apache-2.0 */
/* commands.h - the commands of tacet-ledger, and what they share. */
#ifndef TACET_CLI_LEDGER_COMMANDS_H
#define TACET_CLI_LEDGER_COMMANDS_H

#include "common/cli.h"

int cmd_show(int argc, char **argv, const cli_command *self);
int cmd_verify(int argc, char **argv, const cli_command *self);
int cmd_export(int argc, char **argv, const cli_command *self);
int cmd_keys(int argc, char **argv, const cli_command *self);
int cmd_sign(int argc, char **argv, const cli_command *self);
int cmd_prove(int argc, char **argv, const cli_command *self);
int cmd_disclose(int argc, char **argv, const cli_command *self);

enum { LEDGER_TEXT_MOST = 1 << 24 }; /* bytes of a receipt, a ring, a manifest */
/* `tacet ledger verify --receipt`: all paths but the first may be NULL. The exit code. */
int ledger_verify_receipt(const char *receipt_path, const char *ring_path, const char *manifest_path,
                          const char *release, const char *ledger, const char *proof, const cli_command *self);

/* Fields of what tacet_ledger_read and tacet_ledger_verify say. A number that is null is infinite, a text "". */
double ledger_real(const json_t *object, const char *field);
json_int_t ledger_count(const json_t *object, const char *field);
const char *ledger_word(const json_t *object, const char *field);

#endif
