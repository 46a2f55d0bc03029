/* SPDX-License-Identifier: Apache-2.0 */
/* stopping.c - a choice among a random number of private runs: charged first, then its coins, from the key that the
 * reservation holds. Ring: gate. Source: Liu, Talwar 2019; Papernot, Steinke 2022; open/select.md has the proof.
 * Differs: K and the settings of all runs are functions of one sealed key, so that a restart draws nothing again.
 * Cost: one durable write; a coin for each run. */
#include "dp/stopping.h"

#include "core/fail.h"
#include "dp/ledger/minted.h"
#include "dp/noise/mint.h"
#include "dp/noise/noise_state.h"
#include "dp/noise/sampler.h"

#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

enum { PARAMETERS = 256, FIRST_WORDS = 64, PART_RUNS = 0, PART_SETTINGS = 1 };
static const double COIN = 0x1p53; /* gamma is a whole number of its parts */

tacet_status tacet__stopping_law(tacet_select *out, double runs, tacet_error *err) {
    const tacet_status s = tacet_select_law(out, 1, runs, err);
    if (s == TACET_OK) {
        out->gamma = ceil(out->gamma * COIN) / COIN;
        out->runs = 1 / out->gamma; /* of a geometric law */
    }
    return s;
}

/* The charge of a choice of the best of several private runs, its parameters in a text of the caller's. */
static tacet_status price(tacet_charge *charge, char parameters[PARAMETERS], const char *what, const char *to_whom,
                          const tacet_select *law, tacet_error *err) {
    if (!(law->eps > 0 && isfinite(law->eps) && law->delta >= 0 && law->delta < 1)) {
        return tacet__fail(err, TACET_INVALID, "the law of a choice has no price: what has one run?");
    }
    (void)snprintf(parameters, PARAMETERS, "{\"eta\":%.17g,\"gamma\":%.17g,\"runs\":%.17g}", law->eta, law->gamma,
                   law->runs);
    tacet_charge_init(charge);
    charge->what = what;
    charge->to_whom = to_whom;
    charge->mechanism = "select";
    charge->parameters = parameters;
    if (law->delta > 0) {
        tacet_charge_approx(charge, law->eps, law->delta);
    } else {
        tacet_charge_pure(charge, law->eps);
    }
    return TACET_OK;
}

/* Nothing is drawn for it here: the answer that is stored is empty, and only says that the choice may be made. */
tacet_status tacet_ledger_select(tacet_ledger *ledger, tacet_entry *entry, const char *ticket, const char *what,
                                 const char *to_whom, const tacet_select *law, tacet_error *err) {
    char parameters[PARAMETERS];
    tacet_charge charge;
    tacet_blob memo;
    tacet_blob_init(&memo);
    tacet_status status = price(&charge, parameters, what, to_whom, law, err);
    TACET_THEN(status, tacet_ledger_reserve(ledger, entry, &memo, ticket, &charge, err));
    if (status == TACET_OK && !entry->answered) {
        status = tacet_ledger_commit(ledger, entry, "", 0, NULL, err);
    }
    tacet_blob_clear(&memo);
    return status;
}

tacet_status tacet__stopping_reserve(tacet_ledger *ledger, tacet_entry *entry, tacet_blob *memo,
                                     unsigned char key[TACET_MINT_BYTES], const char *ticket, const char *what,
                                     const char *to_whom, const tacet_select *law, tacet_error *err) {
    char parameters[PARAMETERS];
    unsigned char data[TACET_MINT_BYTES];
    tacet_charge charge;
    tacet_mint mint = {{0}, {0}};
    TACET_OR_RETURN(price(&charge, parameters, what, to_whom, law, err));
    /* Coins are drawn before any data are seen, and are bound to the question alone. */
    (void)crypto_generichash(data, sizeof data, (const unsigned char *)parameters, strlen(parameters), NULL, 0);
    tacet_status s = tacet__mint_fresh(&mint, err);
    TACET_THEN(s, tacet__mint_bind(&mint, data, err));
    TACET_THEN(s, tacet__ledger_reserve(ledger, entry, memo, &mint, ticket, &charge, 0, err));
    if (s == TACET_OK && !entry->answered) {
        s = tacet__mint_bind(&mint, data, err);
        tacet__mint_noise(&mint, key);
    }
    tacet__mint_clear(&mint);
    return s;
}

uint64_t tacet__stopping_runs(const unsigned char key[TACET_MINT_BYTES], const tacet_select *law) {
    tacet_noise noise;
    uint64_t runs = 1;
    tacet__noise_at(&noise, key, PART_RUNS, 0, FIRST_WORDS);
    while (!tacet__bernoulli(&noise, (uint64_t)(law->gamma * COIN), (uint64_t)COIN)) {
        runs++;
    }
    tacet__noise_clear(&noise);
    return runs;
}

void tacet__stopping_uniforms(const unsigned char key[TACET_MINT_BYTES], uint64_t run, double *out, size_t count) {
    tacet_noise noise;
    tacet__noise_at(&noise, key, PART_SETTINGS, run, FIRST_WORDS);
    for (size_t i = 0; i < count; i++) {
        out[i] = (double)(tacet__noise_u64(&noise) >> 11) * 0x1p-53;
    }
    tacet__noise_clear(&noise);
}
