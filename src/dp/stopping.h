/* SPDX-License-Identifier: Apache-2.0 */
/* stopping.h - the secret coins of a choice among private runs: how many runs there are, and which settings they have.
 * Ring: gate, and of the trusted ring src/tune. Proof: src/dp/open/select.md. */
#pragma once

#include <stdint.h>
#include <tacet/dp/ledger.h>
#include <tacet/dp/mint.h>
#include <tacet/dp/noise.h>

/* The law of K with eta = 1 (geometric) and a mean of `runs`, its gamma a multiple of 2^-53 so that it is drawn
 * exactly. INVALID as tacet_select_law. */
tacet_status tacet__stopping_law(tacet_select *out, double runs, tacet_error *err);
/* Charges the choice, before anything is run. *entry and memo as tacet_ledger_reserve; where it is not answered, `key`
 * is that of all its coins: durable with the reservation, the same whenever the ticket is asked for again. */
tacet_status tacet__stopping_reserve(tacet_ledger *ledger, tacet_entry *entry, tacet_blob *memo,
                                     unsigned char key[TACET_MINT_BYTES], const char *ticket, const char *what,
                                     const char *to_whom, const tacet_select *law, tacet_error *err);
/* K of this key: secret. */
uint64_t tacet__stopping_runs(const unsigned char key[TACET_MINT_BYTES], const tacet_select *law);
/* Uniform numbers in [0, 1) for run `run`: secret, for the number of the winner's run would tell of K. */
void tacet__stopping_uniforms(const unsigned char key[TACET_MINT_BYTES], uint64_t run, double *out, size_t count);
