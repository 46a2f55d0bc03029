/* SPDX-License-Identifier: Apache-2.0 */
/* central_space.h - `tacet-lab simulate central --world space`: studies over a space of five columns, beside what a
 * careful person would do by hand. Ring: programs; made-up data. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <tacet/core/status.h>

typedef struct central_space_request {
    double eps, delta, noise; /* noise: standard deviation of a reward; 0: rewards are 0 or 1 */
    size_t rounds, trials;
    size_t levels; /* above 0: one category of so many, instead of five columns */
    uint64_t seed;
} central_space_request;

/* Prints a line for each player: how far what it recommends, and what it played, lies below the best on average. */
tacet_status central_space_print(const central_space_request *request, tacet_error *err);
