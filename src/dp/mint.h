/* SPDX-License-Identifier: Apache-2.0 */
/* mint.h - the mint: the only place from which releases are made, and draws that no ledger knows of.
 *
 * Included inside src/dp, by the audit ring (which attacks draws on made-up neighbours), and by tests; by no file
 * that holds anybody's data. Ring: gate. */
#pragma once

#include "dp/open/release_mint.h"

#include "dp/mechanism.h"

/* Reserves `charge` (its texts filled from ask) and fills the receipt's entry. *answered is the stored answer, or NULL
 * when there is none and something is to be drawn: then `key` is that of its noise, where it is private
 * (dp/noise/mint.h). `data` stands for what is drawn for: a repeat with others is a CONFLICT. INVALID as above. */
tacet_status tacet__gate_reserve(const tacet_ask *ask, tacet_charge *charge, tacet_receipt *receipt, tacet_entry *entry,
                                 const unsigned char data[TACET_MINT_BYTES], unsigned char key[TACET_MINT_BYTES],
                                 tacet_release **answered, tacet_error *err);
/* Commits the release as the answer; without a ledger nothing is done. */
tacet_status tacet__gate_commit(const tacet_ask *ask, const tacet_entry *entry, const tacet_release *release,
                                tacet_error *err);

/* One draw of the mechanism, outside of any ledger: out has the bound's count (choices: 1). */
tacet_status tacet__mechanism_draw(const tacet_mechanism *mechanism, tacet_noise *noise, double *out,
                                   const tacet_bounded *value, tacet_error *err);
/* rows x count raw numbers, clipped to the mechanism's box; Gaussian or Laplace. */
tacet_status tacet__mechanism_draw_box(const tacet_mechanism *mechanism, tacet_noise *noise, double *out,
                                       const double *raw, size_t rows, tacet_error *err);
