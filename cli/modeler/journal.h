/* journal.h - the modeler's memory: what was asked and what came back, on disk before it matters.
 *
 * One JSON object a line: {"start": {...}} once, then {"ask": {"ticket", "row"}} before a query leaves and
 * {"value": {"ticket", "value"}} before its value is used. Appended and synced; a last line that was cut off by a crash
 * is dropped. Ring: open. */
#ifndef TACET_CLI_MODELER_JOURNAL_H
#define TACET_CLI_MODELER_JOURNAL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <tacet/core/status.h>

enum { JOURNAL_TICKET = 64 };

typedef struct journal_query {
    char ticket[JOURNAL_TICKET];
    size_t row;
    bool answered;
    double value;
} journal_query;

typedef struct journal {
    int fd;
    char run[20]; /* random: tickets of two runs never meet */
    journal_query *queries;
    size_t count, capacity;
} journal;

/* Opens or creates folder/journal.jsonl. `settings` (borrowed) is what the run depends on; a journal of a run with
 * other settings is a CONFLICT. CORRUPT: a line that is not a journal's. BUSY: another run has it open. */
tacet_status journal_open(journal *out, const char *folder, const json_t *settings, tacet_error *err);
void journal_close(journal *j);
/* Both durable when they return OK. */
tacet_status journal_ask(journal *j, size_t row, tacet_error *err); /* appends a query, its ticket made here */
tacet_status journal_value(journal *j, size_t index, double value, tacet_error *err);

#endif
