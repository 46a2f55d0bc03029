/* SPDX-License-Identifier: Apache-2.0 */
/* study.h - a study in this process: what `tacet study` and `tacet server` do over a store, for a program.
 *
 * The same definition, store, log and locks as a server's: any number of processes, servers among them, may work on one
 * store at a time. Every call is answered once what it did is durable. Several threads may use one tacet_study; a child
 * after fork opens its own. docs/API.md has definitions, and what a round, a ticket and a release are. */
#ifndef TACET_SERVICE_TRUSTED_STUDY_H
#define TACET_SERVICE_TRUSTED_STUDY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tacet/core/status.h>
#include <tacet/service/open/server.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tacet_study tacet_study;

/* What a round brings. All zero: nothing, the domain is a list. */
typedef struct tacet_study_round {
    const double *points; /* a decision set: d x count, one arm after the other */
    size_t d, count;
    const double *context; /* context_dim numbers */
    size_t context_dim;
    const char *named;  /* the context instead as a JSON object by the names of its columns */
    const char *person; /* who takes the round; NULL: nobody is named */
    const char *key;    /* makes a retry harmless; NULL: none */
} tacet_study_round;

/* A decision set from a file: an arm a line, numbers with commas between, no header. Fills points, d and count of the
 * round. INVALID names file, line and rule; NOT_FOUND, DENIED, IO, PARSE, NO_MEMORY. */
TACET_API tacet_status tacet_study_set_read(double **points, tacet_study_round *round, const char *path,
                                            tacet_error *err);
/* Wipes and frees it; NULL is allowed. */
TACET_API void tacet_study_set_free(double *points, tacet_study_round *round);

typedef struct tacet_study_taken {
    bool clipped;  /* the value lay outside the range of rewards */
    bool repeated; /* it had been taken before */
} tacet_study_taken;

/* What is public before a study begins, and becomes part of its definition. */
typedef struct tacet_study_known {
    const char *values;         /* a CSV with the columns of the space (or `columns`), "value" and, perhaps, "sd" */
    const char *const *columns; /* of a study over points, one for each coordinate; NULL: none */
    size_t column_count;
    const char *model; /* a file that another study released; NULL: none */
} tacet_study_known;

typedef enum tacet_study_text_kind {
    TACET_STUDY_STATUS,  /* definition, state, counts, rounds left, guarantee */
    TACET_STUDY_RELEASE, /* what was learnt; STATE: nothing yet */
    TACET_STUDY_LEDGER,  /* budget and what was spent */
    TACET_STUDY_MODEL,   /* by what devices of a study with policy `statistics` choose; NOT_FOUND: they need none */
    TACET_STUDY_BEST     /* the best point by what was released, its mean and sd, what was spent; nothing is drawn or
                            stored. STATE: nothing was released yet, or the best depends on what a round brings */
} tacet_study_text_kind;

/* Adds a study to the store (a folder, made when missing, or postgresql://…), and charges its budget. `definition` is
 * the JSON of docs/API.md; again with the same one is harmless. *name (from malloc) is what it is called. PARSE,
 * INVALID: the definition. CONFLICT: another study has the name. IO, BUSY, DENIED, CORRUPT: the store. */
TACET_API tacet_status tacet_study_create(char **name, const char *store, const char *definition, size_t size,
                                          tacet_error *err);
/* The same at any place; *canonical (from malloc) is the definition as it is stored. */
TACET_API tacet_status tacet_study_add(char **canonical, const tacet_store_place *place, const char *definition,
                                       size_t size, tacet_error *err);
/* What a central study over a space can expect of its eps and its rounds, before anything is stored or charged, as JSON
 * text from malloc: `each`, how often a point is played before the sum of its rewards is released; `points`; `even`,
 * whether so few that they are played evenly, without a search, then `rounds_needed` and `eps_needed` for one; `gain`,
 * what the best of them is expected to return above a point at random. UNSUPPORTED: another kind of study. PARSE. */
TACET_API tacet_status tacet_study_outlook(char **out, const char *definition, size_t size, tacet_error *err);
/* Adds to a definition (from malloc, replaced) what is public already: earlier values, or what a released model says of
 * each point. INVALID names the record; NOT_FOUND, PARSE: a file. */
TACET_API tacet_status tacet_study_begin_with(char **definition, const tacet_study_known *known, tacet_error *err);
/* NOT_FOUND: no such store, or no such study in it. */
TACET_API tacet_status tacet_study_open_at(tacet_study **out, const tacet_store_place *place, const char *name,
                                           tacet_error *err);
TACET_API tacet_status tacet_study_open(tacet_study **out, const char *store, const char *name, tacet_error *err);
TACET_API void tacet_study_close(tacet_study *study); /* no other thread may be inside a call; NULL is allowed */

/* As JSON text from malloc, as the service answers. `many` above 0: so many at once for the same round, at most 64,
 * fewer where no more are possible now: {"suggestions": […]}. INVALID: the round. CONFLICT: the key was used with
 * another round. STATE: the study is over, or too many tickets are open. IO, BUSY: ask again. */
TACET_API tacet_status tacet_study_suggest_text(tacet_study *study, char **out, const tacet_study_round *round,
                                                size_t many, tacet_error *err);
/* Once for each ticket; the same value again is OK. `taken` may be NULL. INVALID: not finite; local studies: no
 * possible report. NOT_FOUND, CONFLICT. STATE: the ticket has expired. */
TACET_API tacet_status tacet_study_observe(tacet_study *study, tacet_study_taken *taken, const char *ticket,
                                           double value, tacet_error *err);
/* The evaluation failed: the round counts with the middle of the range. Statuses as above. */
TACET_API tacet_status tacet_study_fail(tacet_study *study, tacet_study_taken *taken, const char *ticket,
                                        tacet_error *err);
/* From now on it has so many rounds in all. STATE: its policy cannot have more than were defined. */
TACET_API tacet_status tacet_study_extend(tacet_study *study, uint64_t rounds, tacet_error *err);
/* TACET_STUDY_RELEASE, and its number. */
TACET_API tacet_status tacet_study_release(tacet_study *study, char **out, uint64_t *number, tacet_error *err);
/* JSON text, from malloc. */
TACET_API tacet_status tacet_study_text(tacet_study *study, char **out, tacet_study_text_kind kind, tacet_error *err);
/* Up to 1000 events after number `after`, as `GET …/events` of docs/API.md has them: no reward, context or decision set
 * of a central study. JSON text, from malloc. */
TACET_API tacet_status tacet_study_events(tacet_study *study, char **out, uint64_t after, tacet_error *err);

#ifdef __cplusplus
}
#endif
#endif
