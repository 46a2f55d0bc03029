/* SPDX-License-Identifier: Apache-2.0 */
/* commands.h - the commands of tacet-gate. */
#pragma once

#include "common/cli.h"

cli_run cmd_calibrate;
