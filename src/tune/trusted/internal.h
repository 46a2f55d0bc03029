/* SPDX-License-Identifier: Apache-2.0 */
/* internal.h - between the files of the room: the plan's candidates, and the journal of what was told. Ring: trusted.
 */
#pragma once

#include <tacet/core/simrng.h>
#include <tacet/tune/trusted/tune.h>

/* --- candidates.c: public coins alone --- */

/* A setting in the cube: one number in [0, 1] a column. A level is the k-th of L equal parts of it. */
void tacet__tune_record(const tacet_space *space, double *record, const double *cube);
/* The cube's point in the middle of what becomes this record. */
void tacet__tune_cube(const tacet_space *space, double *cube, const double *record);

/* Settings so far: cube and record of each, d numbers one after the other. */
typedef struct tacet__settings {
    const tacet_space *space; /* borrowed */
    double *cubes, *records;
    size_t count, capacity;
} tacet__settings;
tacet_status tacet__settings_reserve(tacet__settings *settings, size_t capacity, tacet_error *err);
void tacet__settings_clear(tacet__settings *settings);
/* Adds the setting unless it is there already; false: it is. There must be room. */
bool tacet__settings_add(tacet__settings *settings, const double *cube);
/* Up to `count` more for round 0: Sobol points with a digital shift. */
void tacet__settings_spread(tacet__settings *settings, size_t count, uint64_t seed);
/* Up to `count` more for round k > 0, around the winners of the rounds before it (their numbers). */
void tacet__settings_zoom(tacet__settings *settings, size_t count, uint64_t seed, size_t round, size_t rounds,
                          const size_t *winners);

/* --- tune.c: what evaluating needs to know --- */

const tacet_space *tacet__tune_space(const tacet_tune *tune);
size_t tacet__tune_records(const tacet_tune *tune);

/* --- journal.c: what was told, durable --- */

typedef struct tacet__tune_journal tacet__tune_journal;
enum { TACET__TUNE_JOURNAL_KEY = 32 };
/* One call for each entry that is found when opening, in their order. */
typedef tacet_status tacet__tune_journal_entry(void *user, uint64_t number, const void *bytes, size_t size,
                                               tacet_error *err);
/* The file at `path` (made, 0600, when missing) for a run whose settings have this hash; locked. CONFLICT, BUSY,
 * CORRUPT, IO, DENIED, NO_MEMORY; and what `entry` fails with. A torn last entry is cut off. */
tacet_status tacet__tune_journal_open(tacet__tune_journal **out, const char *path,
                                      const unsigned char settings[TACET__TUNE_JOURNAL_KEY],
                                      tacet__tune_journal_entry *entry, void *user, tacet_error *err);
/* Durable when it returns OK. */
tacet_status tacet__tune_journal_append(tacet__tune_journal *journal, uint64_t number, const void *bytes, size_t size,
                                        tacet_error *err);
void tacet__tune_journal_close(tacet__tune_journal *journal); /* NULL is allowed */

/* It goes back to those that nobody has been given: whoever had it gave up without a result (a restart). STATE. */
tacet_status tacet_tune_give_back(tacet_tune *tune, size_t number, tacet_error *err);
/* All x in [0, 1] that a mean m of n independent values in [0, 1], off by at most t but for probability alpha/2, leaves
 * possible at level 1 - alpha: from m - t to m + t by Chernoff's bound. */
void tacet_tune_interval(double *lower, double *upper, double m, double t, size_t n, double alpha);
