/* SPDX-License-Identifier: Apache-2.0 */
/* commands.h - the commands of tacet-audit. */
#pragma once

#include "common/cli.h"

#include <tacet/audit/audit.h>

/* Whether a target is audited as it ships (cmd_shipped.c). */
bool audit_is_shipped(const char *name);
int audit_shipped(const char *name, tacet_audit_shipped_settings *settings, const cli_command *self);
void audit_list_shipped(json_t *names);
/* What every audit found, and the lines that say it. */
json_t *audit_json(const char *target, bool control, const tacet_audit_result *r, bool violated, double seconds);
#define AUDIT_WORDS                                                                                                    \
    "  claimed    eps = {claimed_eps}, delta = {claimed_delta}\n"                                                      \
    "  measured   eps >= {eps_lower:.4f}  (confidence {confidence}, {measured_runs} runs, {correct} right and "        \
    "{wrong} wrong guesses)\n"

cli_run cmd_audit, cmd_outsourced;
