/* SPDX-License-Identifier: Apache-2.0 */
/* report.c - a report of one number by the key of its reservation.
 * Ring: gate; part of libtacet-device. In: a raw value, clipped by the randomiser. Out: a report. Proof: randomizers.md
 * and dp/ledger/README.md, section 2. Cost: that of tacet_randomize, and three hashes of a block. */
#include "dp/mechanisms/report.h"

#include "dp/noise/mint.h"
#include "dp/noise/noise_state.h"

#include <math.h>
#include <sodium.h>
#include <string.h>
#include <tacet/dp/randomizer.h>

enum { CELLS_MOST = 1024, REPORT_WORDS = 28 }; /* with the next key, four blocks of key stream */

void tacet__report_digest(unsigned char out[TACET_MINT_BYTES], const tacet_ldp *ldp, double value) {
    static const char PURPOSE[] = "tacet report 1";
    const double numbers[] = {(double)ldp->kind, ldp->eps, ldp->lo, ldp->hi, fmin(fmax(value, ldp->lo), ldp->hi) + 0.0};
    unsigned char bytes[sizeof numbers];
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        uint64_t bits = 0;
        memcpy(&bits, &numbers[i], sizeof bits);
        bits = htole64(bits);
        memcpy(bytes + i * sizeof bits, &bits, sizeof bits);
    }
    (void)crypto_generichash(out, TACET_MINT_BYTES, bytes, sizeof bytes, (const unsigned char *)PURPOSE,
                             sizeof PURPOSE);
    sodium_memzero(bytes, sizeof bytes);
}

static void draw_source(tacet_noise *noise, const tacet_mint *mint) {
    unsigned char key[TACET_MINT_BYTES];
    tacet__mint_noise(mint, key);
    tacet__noise_at(noise, key, 0, 0, REPORT_WORDS);
    sodium_memzero(key, sizeof key);
}

tacet_status tacet__report_draw(double *out, const tacet_mint *mint, const tacet_ldp *ldp, double value,
                                tacet_error *err) {
    tacet_noise noise;
    draw_source(&noise, mint);
    const tacet_status status = tacet_randomize(&noise, out, ldp, value, err);
    tacet__noise_clear(&noise);
    return status;
}

void tacet__report_digest_among(unsigned char out[TACET_MINT_BYTES], const tacet_ldp *ldp, const uint32_t *order) {
    static const char PURPOSE[] = "tacet choice 1";
    unsigned char bytes[TACET_MINT_BYTES + CELLS_MOST] = {0};
    tacet__report_digest(bytes, ldp, ldp->lo);
    for (uint32_t i = 0; i < ldp->window && i < CELLS_MOST; i++) {
        bytes[TACET_MINT_BYTES + order[i] % CELLS_MOST] = 1;
    }
    (void)crypto_generichash(out, TACET_MINT_BYTES, bytes, sizeof bytes, (const unsigned char *)PURPOSE,
                             sizeof PURPOSE);
    sodium_memzero(bytes, sizeof bytes);
}

tacet_status tacet__report_draw_among(double *out, const tacet_mint *mint, const tacet_ldp *ldp, const uint32_t *order,
                                      tacet_error *err) {
    tacet_noise noise;
    draw_source(&noise, mint);
    const tacet_status status = tacet_randomize_among(&noise, out, ldp, order, err);
    tacet__noise_clear(&noise);
    return status;
}
