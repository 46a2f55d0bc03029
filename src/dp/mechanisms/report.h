/* SPDX-License-Identifier: Apache-2.0 */
/* report.h - a report of one number by the key of its reservation: what the desk and the device draw.
 * Ring: gate; included by those two as well. */
#pragma once

#include <tacet/core/status.h>
#include <tacet/dp/mint.h>
#include <tacet/local/shared/ldp.h>

/* What its noise is for: the randomiser and the value, as clipped. */
void tacet__report_digest(unsigned char out[TACET_MINT_BYTES], const tacet_ldp *ldp, double value);
/* The report of a mint that was bound to that digest: a function of mint, randomiser and value. Errors of
 * tacet_randomize. */
tacet_status tacet__report_draw(double *out, const tacet_mint *mint, const tacet_ldp *ldp, double value,
                                tacet_error *err);
/* The same for a choice among cells (tacet_randomize_among): the digest is of the set of likely cells, not of their
 * order. */
void tacet__report_digest_among(unsigned char out[TACET_MINT_BYTES], const tacet_ldp *ldp, const uint32_t *order);
tacet_status tacet__report_draw_among(double *out, const tacet_mint *mint, const tacet_ldp *ldp, const uint32_t *order,
                                      tacet_error *err);
