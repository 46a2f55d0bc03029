/* SPDX-License-Identifier: Apache-2.0 */
/* vectors.c - what libtacet-device reports with a known key, for the test that the browser's package reports the same.
 * vectors sphere COUNT: below. vectors KIND COUNT: COUNT records of 80 bytes on stdout: eps, lo, hi, value, report as
 * little-endian doubles, the kind as a double, a key of 32 bytes. Inputs are drawn over all that tacet_ldp_init allows;
 * every sixteenth value is an end of the range, far outside, infinite or a signed zero. Decision sets: cards of CARDS
 * studies of all sorts, each with its share of records: u64 bytes of the card, the card, u64 records; a record is eps,
 * lo, hi, value, round, the report, which arm was chosen, ARMS arms, a key. */
#include "local/trusted/device_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/core/simrng.h>
#include <tacet/local/open/statistics_model.h>

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

enum { CARDS = 20, ARMS = 3, DIM = 2 };

/* Of a study that has learnt something of made-up reports, or nothing. */
static bool card_of(tacet_blob *out, tacet_statistics_card **card, tacet_simrng *coins, int i, double eps, double lo,
                    double hi) {
    static const char *const KERNELS[] = {"se", "matern12", "matern32", "matern52"};
    static const size_t LEVELS[] = {0, 5};
    const double lower[DIM] = {-1, 10}, upper[DIM] = {2, 30}, scales[DIM] = {0.7, 9};
    const tacet_statistics_spec spec = {.kernel = KERNELS[i % 4],
                                        .lengthscales = scales,
                                        .lengthscale_count = DIM,
                                        .lower = lower,
                                        .upper = upper,
                                        .levels = i % 3 == 0 ? LEVELS : NULL,
                                        .d = DIM,
                                        .lo = lo,
                                        .hi = hi,
                                        .minimize = i % 2 == 1,
                                        .eps = eps,
                                        .features = 8,
                                        .released = 3,
                                        .set_size = ARMS};
    tacet_statistics_model *model = NULL;
    bool good = tacet_statistics_model_create(&model, &spec, NULL) == TACET_OK;
    for (uint64_t t = 1; good && i % 5 != 0 && t <= 60; t++) {
        good = tacet_statistics_model_take(model, t, (double)tacet_simrng_below(coins, 256), NULL) == TACET_OK;
    }
    good = good && tacet_statistics_model_card(model, out, NULL) == TACET_OK &&
           tacet_statistics_card_open(card, out->data, out->size, NULL) == TACET_OK;
    tacet_statistics_model_free(model);
    return good;
}

static bool decision_sets(long count) {
    const tacet_device_store store = {.reserve = reserve, .commit = commit};
    tacet_simrng coins;
    bool good = true;
    tacet_simrng_init(&coins, 37, TACET_LDP_SPHERE);
    for (int i = 0; good && i < CARDS; i++) {
        const double eps = exp2(-4 + 8 * tacet_simrng_uniform(&coins)), lo = i % 2 == 1 ? -3 : 0, hi = i < 10 ? 1 : 4;
        const uint64_t records = (uint64_t)(count / CARDS);
        tacet_blob bytes;
        tacet_statistics_card *card = NULL;
        tacet_blob_init(&bytes);
        good = card_of(&bytes, &card, &coins, i, eps, lo, hi);
        const uint64_t size = bytes.size;
        good = good && fwrite(&size, 8, 1, stdout) == 1 && fwrite(bytes.data, bytes.size, 1, stdout) == 1 &&
               fwrite(&records, 8, 1, stdout) == 1;
        for (uint64_t k = 0; good && k < records; k++) {
            double arms[ARMS * DIM];
            uint64_t key[4];
            size_t chosen = 0;
            tacet_simrng coin;
            tacet_device_answer answer;
            for (size_t a = 0; a < ARMS; a++) {
                arms[a * DIM] = -1.2 + 3.4 * tacet_simrng_uniform(&coins);
                arms[a * DIM + 1] = 9 + 22 * tacet_simrng_uniform(&coins);
            }
            for (int w = 0; w < 4; w++) {
                key[w] = tacet_simrng_u64(&coins);
            }
            const double value = value_of(&coins, lo, hi), round = (double)tacet_simrng_below(&coins, (size_t)1 << 53);
            tacet_simrng_init(&coin, key[0], 0);
            good =
                tacet_statistics_card_choose(card, &chosen, &coin, arms, DIM, ARMS, NULL) == TACET_OK &&
                tacet__statistics_answer((const unsigned char *)key, card, tacet_statistics_card_ldp(card), &store,
                                         &answer, "t", (uint64_t)round, arms + chosen * DIM, value, NULL) == TACET_OK;
            const double head[] = {eps, lo, hi, value, round, answer.report, (double)chosen};
            good = good && fwrite(head, sizeof head, 1, stdout) == 1 && fwrite(arms, sizeof arms, 1, stdout) == 1 &&
                   fwrite(key, sizeof key, 1, stdout) == 1;
        }
        tacet_statistics_card_free(card);
        tacet_blob_clear(&bytes);
    }
    return good;
}

int main(int argc, char **argv) {
    if (argc > 2 && strcmp(argv[1], "sphere") == 0) {
        return decision_sets(atol(argv[2])) ? 0 : 1;
    }
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
