/* SPDX-License-Identifier: Apache-2.0 */
/* keys.h - `tacet curator init` and `tacet server init`: one command but for what is made beside the server's keys. */
#pragma once

#include "common/cli.h"

cli_run keys_curator, keys_server;
