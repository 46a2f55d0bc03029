/* SPDX-License-Identifier: Apache-2.0 */
/* commands.h - the commands of tacet-audit. */
#ifndef TACET_CLI_AUDIT_COMMANDS_H
#define TACET_CLI_AUDIT_COMMANDS_H

#include "common/cli.h"

/* What the audits of releases take besides. */
typedef struct audit_options {
    double eps, delta, confidence;
    const char *mechanism;
    size_t rows, columns, runs, threads; /* 0: the default */
    bool interrupted;
} audit_options;

/* Whether a target is audited as it ships (cmd_shipped.c). */
bool audit_is_shipped(const char *name);
int audit_shipped(const char *name, const audit_options *options, const cli_command *self);
void audit_list_shipped(json_t *names);

int cmd_audit(int argc, char **argv, const cli_command *self);
int cmd_outsourced(int argc, char **argv, const cli_command *self);

#endif
