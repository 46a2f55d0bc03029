/* SPDX-License-Identifier: Apache-2.0 */
/* mint.h - what a reservation carries: the key of its noise, and what that noise is for.
 *
 * The noise of a release is a function of a fresh key, of the data and settings it protects, and of the place in the
 * release where it is added. The key becomes durable with the reservation, before anything is drawn; whoever repeats
 * an interrupted question finds it there and gets the same release, bit for bit. When the answer is stored the key is
 * erased. src/dp/ledger/README.md, section 2.
 *
 * A ledger makes and keeps these by itself. A device that brings its own store keeps the two fields beside its
 * reservation (tacet/local/trusted/device.h). */
#ifndef TACET_DP_MINT_H
#define TACET_DP_MINT_H

#ifdef __cplusplus
extern "C" {
#endif

enum { TACET_MINT_BYTES = 32 };

typedef struct tacet_mint {
    unsigned char key[TACET_MINT_BYTES];    /* secret: whoever has it and the release has the data */
    unsigned char digest[TACET_MINT_BYTES]; /* of data and settings, under the key; zeros: not known yet */
} tacet_mint;

#ifdef __cplusplus
}
#endif
#endif
