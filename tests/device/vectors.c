/* SPDX-License-Identifier: Apache-2.0 */
/* vectors.c - what libtacet-device reports with a known key, for the test that the browser's package reports the same.
 * vectors KIND COUNT: COUNT records of 80 bytes on stdout: eps, lo, hi, value, report as little-endian doubles, the
 * kind as a double, a key of 32 bytes. Inputs are drawn over all that tacet_ldp_init allows; every sixteenth value is
 * an end of the range, far outside, infinite or a signed zero. */
#include "local/trusted/device_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/core/simrng.h>

static tacet_status reserve(void *user, const char *ticket, const tacet_ldp *ldp, tacet_mint *mint, bool *answered,
                            double *report, tacet_error *err) {
    (void)user, (void)ticket, (void)ldp, (void)mint, (void)answered, (void)report, (void)err;
    return TACET_OK;
}

static tacet_status commit(void *user, const char *ticket, double report, tacet_error *err) {
    (void)user, (void)ticket, (void)report, (void)err;
    return TACET_OK;
}

static double value_of(tacet_simrng *coins, double lo, double hi) {
    const double special[] = {lo, hi, -INFINITY, INFINITY, 0.0, -0.0, nextafter(lo, hi), nextafter(hi, lo)};
    return tacet_simrng_below(coins, 16) == 0 ? special[tacet_simrng_below(coins, 8)]
                                              : lo + (hi - lo) * (1.2 * tacet_simrng_uniform(coins) - 0.1);
}

int main(int argc, char **argv) {
    const tacet_ldp_kind kind = (tacet_ldp_kind)(argc > 1 ? atoi(argv[1]) : 0);
    const long count = argc > 2 ? atol(argv[2]) : 0;
    const tacet_device_store store = {.reserve = reserve, .commit = commit};
    tacet_simrng coins;
    tacet_simrng_init(&coins, 37, (uint64_t)kind);
    for (long i = 0; i < count; i++) {
        const double eps = exp2(-10 + 15 * tacet_simrng_uniform(&coins));
        const double width = exp2(40 * tacet_simrng_uniform(&coins) - 20);
        const double lo = width * (4 * tacet_simrng_uniform(&coins) - 2), hi = lo + width;
        const double value = value_of(&coins, lo, hi);
        uint64_t key[4];
        tacet_ldp ldp;
        tacet_device_answer answer;
        for (int k = 0; k < 4; k++) {
            key[k] = tacet_simrng_u64(&coins);
        }
        if (tacet_ldp_init(&ldp, kind, eps, lo, hi, NULL) != TACET_OK ||
            tacet__device_answer((const unsigned char *)key, &ldp, &store, &answer, "t", value, NULL) != TACET_OK) {
            return 1;
        }
        const double numbers[] = {eps, lo, hi, value, answer.report, (double)kind};
        if (fwrite(numbers, sizeof numbers, 1, stdout) != 1 || fwrite(key, sizeof key, 1, stdout) != 1) {
            return 1;
        }
    }
    return 0;
}
