/* SPDX-License-Identifier: Apache-2.0 */
/* log.h - where a release of a private log is entered (tacet/ab/trusted/log.h), and actions to try while one is made,
 * drawn without looking at anything. */
#ifndef TACET_CONTEXTUAL_TRUSTED_LOG_H
#define TACET_CONTEXTUAL_TRUSTED_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tacet/contextual/shared/limits.h>
#include <tacet/core/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where a release is entered. */
typedef struct tacet_contextual_entry {
    const char *ledger;     /* NULL: beside the log, whatever name the log is called by; of rows from memory: in the
                               registry, where the same rows find it again */
    const char *new_budget; /* a reason to begin a new budget for rows that were released before; NULL: none */
    double budget;          /* of a ledger that is made; 0: this release's eps */
    const char *ticket, *to_whom;
    bool *few;   /* may be NULL; set where the log has too few distinct rows for this machine to know it again under
                    another name. It depends on the rows, and is for their holder */
    bool seeded; /* seeded noise and no ledger: NOT PRIVATE, for tests */
    uint64_t seed;
} tacet_contextual_entry;

/* A point (d coordinates) uniform in the box, by the operating system's entropy. INVALID: a bound is not finite or not
 * below the other. IO: no entropy. */
TACET_API tacet_status tacet_contextual_action(double *out, size_t d, const double *lower, const double *upper,
                                               tacet_error *err);

#ifdef __cplusplus
}
#endif
#endif
