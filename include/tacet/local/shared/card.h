/* SPDX-License-Identifier: Apache-2.0 */
/* card.h - what a device of a local study of decision sets is sent: how its arms are scored, and among which directions
 * it reports.
 *
 * The public model (tacet/local/open/statistics_model.h) without the sums it was learnt from: features of a kernel over
 * a box, the score of an arm, the randomiser. As bytes it goes to devices and pages; reading it needs no linear
 * algebra, so libtacet-device has it. Immutable once opened; one may be read by several threads. */
#ifndef TACET_LOCAL_SHARED_CARD_H
#define TACET_LOCAL_SHARED_CARD_H

#include <stdbool.h>
#include <stddef.h>
#include <tacet/core/simrng.h>
#include <tacet/local/shared/sphere.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tacet_statistics_card tacet_statistics_card;

/* CORRUPT: not a card, or one with impossible numbers. NO_MEMORY. */
TACET_API tacet_status tacet_statistics_card_open(tacet_statistics_card **out, const void *bytes, size_t size,
                                                  tacet_error *err);
TACET_API void tacet_statistics_card_free(tacet_statistics_card *card);                  /* NULL is allowed */
TACET_API size_t tacet_statistics_card_dim(const tacet_statistics_card *card);           /* coordinates of an arm */
TACET_API const tacet_ldp *tacet_statistics_card_ldp(const tacet_statistics_card *card); /* what it asks devices for */
/* The arm to play (columns of X, clipped to the box): the best score, or one at random by `coin` while there is no
 * model yet. NO_MEMORY. */
TACET_API tacet_status tacet_statistics_card_choose(const tacet_statistics_card *card, size_t *out, tacet_simrng *coin,
                                                    const double *X, size_t ldx, size_t n, tacet_error *err);

#ifdef __cplusplus
}
#endif
#endif
