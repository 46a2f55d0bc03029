/* SPDX-License-Identifier: Apache-2.0 */
/* tickets.h - the tickets of a policy with a horizon: which are open, and what each of those is about. Ring: pure. */
#pragma once

#include "core/state.h"

typedef struct tacet__tickets {
    size_t horizon;
    size_t given, reported, dropped; /* tickets are 1, 2, 3, …, given */
    uint32_t *open; /* horizon, by ticket - 1: of an open one 1 + what it is about (an arm, a cell, or 0), else 0 */
} tacet__tickets;

/* NO_MEMORY. Memory is touched as far as tickets were given: a long horizon costs what was played of it. */
tacet_status tacet__tickets_init(tacet__tickets *t, size_t horizon, tacet_error *err);
void tacet__tickets_clear(tacet__tickets *t); /* wipes */
/* STATE: as many were given as the horizon has. */
tacet_status tacet__tickets_left(const tacet__tickets *t, tacet_error *err);
/* The next ticket, of those that are left. */
uint64_t tacet__tickets_give(tacet__tickets *t, size_t about);
/* What an open ticket is about. NOT_FOUND: never given. CONFLICT: reported or dropped before. */
tacet_status tacet__tickets_find(const tacet__tickets *t, size_t *about, uint64_t ticket, tacet_error *err);
/* An open ticket was reported, or is dropped. */
void tacet__tickets_close(tacet__tickets *t, uint64_t ticket, bool reported);
/* Tickets `first` (from 0) and `count` - 1 more are about nothing any longer, whether they are open or not. */
void tacet__tickets_forget(tacet__tickets *t, size_t first, size_t count);
size_t tacet__tickets_open(const tacet__tickets *t); /* how many */
/* Visits all of it; what tickets are about is below `most`. hidden: the length of what is saved depends on how many
 * were given alone, for policies where who has reported is private. */
void tacet__tickets_state(tacet__tickets *t, tacet__state *s, size_t most, bool hidden);
