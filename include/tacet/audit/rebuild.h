/* SPDX-License-Identifier: Apache-2.0 */
/* rebuild.h - the attack on a release of records: whoever knows a few of them tries to read all the others.
 *
 * The attacker has the release (row by row) and the true records of a few rows, and fits the affine map from released
 * to true coordinates by least squares. Against a linear mechanism d + 1 known rows give every record to rounding
 * error; against independent noise in every row the error stays of the size of the noise. */
#ifndef TACET_AUDIT_REBUILD_H
#define TACET_AUDIT_REBUILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tacet/core/status.h>
#include <tacet/outsourced/shared/manifest.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tacet_rebuild {
    double rms;       /* root mean square distance between guess and truth, over the rows that were not known */
    double largest;   /* the largest such distance */
    double blind;     /* the same root mean square for an attacker who answers the mean of the known rows */
    double recovered; /* fraction of unknown rows found to within 1e-6 of the data's spread */
    bool succeeded;   /* every unknown row was */
} tacet_rebuild;

/* Guesses (d x n, may be NULL) from the release Z (r x n) and the records of the rows in `known` (k distinct row
 * numbers; their coordinates are read from X, d x n). X's other columns are used only to measure. INVALID: k = 0 or k
 * >= n, a row number out of range. NO_MEMORY, NUMERIC. */
TACET_API tacet_status tacet_rebuild_records(tacet_rebuild *out, double *guesses, const double *Z, size_t ldz, size_t r,
                                             const double *X, size_t ldx, size_t d, size_t n, const size_t *known,
                                             size_t k, tacet_error *err);
/* The same on a release in a folder, of the CSV file `data`, by an attacker who knows `known` records, which the seed
 * chooses. *manifest is the caller's to clear. INVALID: known, the path. NOT_FOUND, PARSE, IO: a file. UNSUPPORTED: too
 * many coordinates. NO_MEMORY, NUMERIC. */
TACET_API tacet_status tacet_rebuild_release(tacet_rebuild *out, tacet_manifest *manifest, const char *folder,
                                             const char *data, size_t known, uint64_t seed, tacet_error *err);

#ifdef __cplusplus
}
#endif
#endif
