/* SPDX-License-Identifier: Apache-2.0 */
/* journal.h - the modeler's memory: what was asked and what came back, on disk before it matters.
 *
 * One JSON object a line: {"start": {...}} once, then {"ask": {"ticket", "row", "how"}} before a query leaves
 * and {"value": {"ticket", "value"}} before its value is used, or {"failed": {"ticket"}} when there will be none.
 * Appended and synced; a last line that was cut off by a crash is dropped. Ring: open. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <tacet/core/status.h>

enum { TACET__JOURNAL_TICKET = 64 };

/* Why a row was asked: it was named, drawn at random, or chosen by the model. */
typedef enum tacet__asked { TACET__ASKED_RANDOM, TACET__ASKED_MODEL } tacet__asked;

typedef struct tacet__journal_query {
    char ticket[TACET__JOURNAL_TICKET];
    size_t row;
    tacet__asked how;
    bool answered, failed; /* neither: it is open */
    double value;
} tacet__journal_query;

typedef struct tacet__journal {
    int fd;       /* -1: nothing is written */
    char run[20]; /* random: tickets of two runs never meet */
    tacet__journal_query *queries;
    size_t count, capacity;
} tacet__journal;

/* Opens or creates folder/journal.jsonl. `settings` (borrowed) is what the run depends on; a journal of a run with
 * other settings is a CONFLICT. CORRUPT: a line that is not a journal's. BUSY: another run has it open. */
tacet_status tacet__journal_open(tacet__journal *out, const char *folder, const json_t *settings, tacet_error *err);
/* One that lives in memory alone. */
tacet_status tacet__journal_none(tacet__journal *out, tacet_error *err);
void tacet__journal_close(tacet__journal *j);
/* Durable when they return OK. */
/* Appends a query, its ticket made here. */
tacet_status tacet__journal_ask(tacet__journal *j, size_t row, tacet__asked how, tacet_error *err);
tacet_status tacet__journal_value(tacet__journal *j, size_t index, double value, tacet_error *err);
tacet_status tacet__journal_failed(tacet__journal *j, size_t index, tacet_error *err);
