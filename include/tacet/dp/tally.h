/* SPDX-License-Identifier: Apache-2.0 */
/* tally.h - scores of candidates over the same n records: values in, record by record; a choice or one mean out.
 *
 * A candidate's score is the sum of one value for each record. Each value is clipped to a public range and rounded to
 * one of TACET_TALLY_STEPS + 1 levels before it is added, so that a replaced record moves every score by at most
 * TACET_TALLY_STEPS whole steps, in any pattern of signs. That is the sensitivity of what is released here; nobody can
 * pass another. A value that is not a number counts as the lowest: a failed record says no more than a bad one.
 * Sums are whole numbers: they do not depend on any order. Proof: src/dp/tally.md. */
#ifndef TACET_DP_TALLY_H
#define TACET_DP_TALLY_H

#include <stddef.h>
#include <tacet/core/status.h>
#include <tacet/dp/mechanism.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { TACET_TALLY_STEPS = 65536 };

typedef struct tacet_tally tacet_tally;

/* No candidate yet. INVALID: records outside 1 … 2^32, a range that is not lower < upper within 1e100. NO_MEMORY. */
TACET_API tacet_status tacet_tally_create(tacet_tally **out, size_t records, double lower, double upper,
                                          tacet_error *err);
TACET_API void tacet_tally_free(tacet_tally *tally);               /* wipes; NULL is allowed */
TACET_API size_t tacet_tally_candidates(const tacet_tally *tally); /* added so far */
/* One more candidate, by the values of all records in the order of the records. INVALID: another count. NO_MEMORY. */
TACET_API tacet_status tacet_tally_add(tacet_tally *tally, const double *values, size_t count, tacet_error *err);
/* One more candidate whose values are all the lowest: it could not be evaluated. NO_MEMORY. */
TACET_API tacet_status tacet_tally_add_lowest(tacet_tally *tally, tacet_error *err);

/* The number of a candidate with a high score, by permute-and-flip over all of them: pure eps for a replaced record.
 * Charged, drawn and stored as tacet_mechanism_run does. STATE: no candidate. */
TACET_API TACET_MUST_CHECK tacet_status tacet_tally_choose(const tacet_tally *tally, tacet_release **out,
                                                           const tacet_ask *ask, double eps, tacet_error *err);
/* The sum of one candidate, in steps above the lowest, with Laplace noise: pure eps for a replaced record. Divided by
 * records x TACET_TALLY_STEPS it is the mean on a scale from 0 (lower) to 1 (upper). INVALID: no such candidate. */
TACET_API TACET_MUST_CHECK tacet_status tacet_tally_release(const tacet_tally *tally, tacet_release **out,
                                                            const tacet_ask *ask, size_t candidate, double eps,
                                                            tacet_error *err);

#ifdef __cplusplus
}
#endif
#endif
