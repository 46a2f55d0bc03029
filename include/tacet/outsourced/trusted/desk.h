/* SPDX-License-Identifier: Apache-2.0 */
/* desk.h - where the curator answers: "measure row i" in, one value out, once per ticket, entered before it leaves.
 *
 * The value comes from a column of the table, from a command run on the record, or from a person. The ledger is the
 * only memory: what was asked, what is pending and what was answered is what it holds, so a desk that was killed goes
 * on where it was. Several threads may use one desk; a person's program may open another on the same folder. */
#ifndef TACET_OUTSOURCED_TRUSTED_DESK_H
#define TACET_OUTSOURCED_TRUSTED_DESK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tacet/core/status.h>
#include <tacet/dp/ledger.h>
#include <tacet/outsourced/shared/manifest.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { TACET_DESK_TICKET = 101 }; /* with the closing NUL */

typedef struct tacet_desk tacet_desk;

typedef struct tacet_desk_settings {
    const char *folder;   /* of the release: manifest.json, and ledger.db unless: */
    const char *ledger;   /* NULL: in the folder */
    const char *data;     /* the table as it was released, read through once; needed for values and evaluate */
    const char *values;   /* column that holds the measured values; empty cells cannot be measured; NULL: no column */
    const char *evaluate; /* shell command; NULL: none */
    /* A function instead: measures the record of this row. Called from one thread of the desk's. UNSUPPORTED with NaN:
     * the row cannot be measured, for good. Other failures: asking again tries again, unless outputs are private. NULL:
     * none. Nothing of all these: a person answers */
    tacet_status (*measure)(void *user, double *value, size_t row, tacet_error *err);
    void *user;
    size_t queries;  /* how many values may be asked for in all, where that is more than the release said */
    double seconds;  /* time-out of the command */
    double patience; /* how long one waits for the command before it is told "pending" */
    /* With private outputs a failed evaluation shows nowhere else: told once, from the desk's thread, which row, and
     * why. For the curator alone; it must not call the desk. NULL: nobody is told */
    void (*missed)(void *user, size_t row, const char *why);
    void *missed_user;
} tacet_desk_settings;

typedef struct tacet_desk_reply {
    bool answered; /* false: pending */
    size_t row;
    double value;
    bool failed;  /* answered: the row cannot be measured, and there is no value */
    bool running; /* pending, and a command is at work on it or will be: worth waiting for */
} tacet_desk_reply;

/* 60 s for a command, 2 s of patience. */
TACET_API void tacet_desk_defaults(tacet_desk_settings *settings);
/* NOT_FOUND, PARSE: manifest or table, named. CORRUPT, DENIED, BUSY: the ledger. PARSE also when the table does not
 * have as many records as the release, or other cells in a released column, or the same ones in another order. */
TACET_API tacet_status tacet_desk_open(tacet_desk **out, const tacet_desk_settings *settings, tacet_error *err);
TACET_API void tacet_desk_close(tacet_desk *desk); /* waits for a running command; NULL is allowed */

TACET_API const tacet_manifest *tacet_desk_manifest(const tacet_desk *desk);
/* Why nobody can tell whether the table is in the released order: the release was made elsewhere, or the table has none
 * of its columns. For the curator to see. NULL: it is, or there is no table. */
TACET_API const char *tacet_desk_doubt(const tacet_desk *desk);
/* Measures a row, or says what was measured for this ticket before. INVALID: ticket or row. CONFLICT: the ticket
 * belongs to another row. BUDGET: no query is left, or the privacy budget refuses. UNSUPPORTED: the command failed
 * (hung, died, printed no number); the ticket stays reserved and asking again tries again. With private outputs a
 * failed command is no failure here: the answer is drawn about a stand-in, as by tacet_desk_decline, and stands.
 * Others: the ledger cannot be written; nothing left. */
TACET_API tacet_status tacet_desk_ask(tacet_desk *desk, tacet_desk_reply *out, const char *ticket, size_t row,
                                      tacet_error *err);
/* Status, reply and error as tacet_desk_ask would have given them; they are gone after the call. It must not close the
 * desk. */
typedef void (*tacet_desk_told)(void *user, tacet_status status, const tacet_desk_reply *reply, const tacet_error *err);
/* NOT_FOUND: never asked. UNSUPPORTED: as above. */
TACET_API tacet_status tacet_desk_look(tacet_desk *desk, tacet_desk_reply *out, const char *ticket, tacet_error *err);
/* A person's value for a pending ticket. NOT_FOUND: never asked. CONFLICT: answered already. INVALID: not finite. */
TACET_API tacet_status tacet_desk_answer(tacet_desk *desk, const char *ticket, double value, tacet_error *err);
/* The row of a pending ticket cannot be measured. With private outputs that must not show: a stand-in, the middle of
 * the public range, is randomised and given out like any value. Statuses as above. */
TACET_API tacet_status tacet_desk_decline(tacet_desk *desk, const char *ticket, tacet_error *err);
/* The k-th pending query in the order asked; NOT_FOUND past the last. */
TACET_API tacet_status tacet_desk_pending(tacet_desk *desk, size_t k, char ticket[TACET_DESK_TICKET], size_t *row,
                                          tacet_error *err);
/* Tells the cells of a row of the release (of a table all of whose rows were released: `manifest` may be NULL) to
 * whoever measures it, that of the column `id` first (NULL: in the order of the table); they are gone after the call.
 * No record of that number: none. NOT_FOUND: the file, the column. PARSE, IO. */
typedef void (*tacet_desk_cell)(void *user, const char *name, const char *text, size_t length);
TACET_API tacet_status tacet_desk_record(const tacet_manifest *manifest, const char *data, const char *id, size_t row,
                                         tacet_desk_cell told, void *user, tacet_error *err);

#ifdef __cplusplus
}
#endif
#endif
