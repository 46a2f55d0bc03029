/* SPDX-License-Identifier: Apache-2.0 */
/* nearest.h - the name that was probably meant: begin, offer every name there is, then read `best`. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cli_nearest {
    const char *typed;
    size_t length;
    const char *best; /* NULL: nothing is near enough to be worth saying */
    size_t changes;
} cli_nearest;

void cli_nearest_begin(cli_nearest *search, const char *typed, size_t length);
void cli_nearest_offer(cli_nearest *search, const char *name);
