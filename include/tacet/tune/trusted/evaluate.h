/* SPDX-License-Identifier: Apache-2.0 */
/* evaluate.h - settings evaluated by a program: one process a setting, several at a time.
 *
 * The program gets the setting on its standard input, as one line of JSON ({"rate":0.01,"kind":"b"}), and prints one
 * value for each record, in the order of the records, separated by blanks or lines. What is printed and is no finite
 * number ("nan", "failed") counts as the worst value of that record. A program that ends with another exit code than 0,
 * or not in time, is started again; after that the setting counts as failed. */
#ifndef TACET_TUNE_TRUSTED_EVALUATE_H
#define TACET_TUNE_TRUSTED_EVALUATE_H

#include <tacet/tune/trusted/tune.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { TACET_TUNE_WORKERS_MOST = 256 };

typedef struct tacet_tune_evaluator {
    const char *command; /* for /bin/sh */
    size_t workers;      /* processes at a time; default 1 */
    double seconds;      /* for one evaluation; default 3600 */
    size_t restarts;     /* of one that failed; default 1 */
    const char *errors;  /* a file that gets what the programs say on standard error, mode 0600; NULL: nobody does */
    void (*progress)(const tacet_tune_progress *progress, void *user); /* may be NULL */
    void *user;
    const volatile bool *stop; /* may be NULL; once it is set running programs are ended and the call returns STATE */
} tacet_tune_evaluator;

TACET_API void tacet_tune_evaluator_defaults(tacet_tune_evaluator *evaluator);
/* Evaluates until the run is done. Whatever happens, what the programs started is killed when this returns. INVALID: a
 * program printed another number of values than there are records, or could not be run at all; nothing is noted of it.
 * Otherwise as tacet_tune_next and tacet_tune_tell. A run that failed goes on when this is called again. */
TACET_API TACET_MUST_CHECK tacet_status tacet_tune_evaluate(tacet_tune *tune, const tacet_tune_evaluator *evaluator,
                                                            tacet_error *err);
/* A setting as one line of JSON, from malloc. NO_MEMORY. */
TACET_API tacet_status tacet_tune_setting_text(char **out, const tacet_space *space, const double *record,
                                               tacet_error *err);

#ifdef __cplusplus
}
#endif
#endif
