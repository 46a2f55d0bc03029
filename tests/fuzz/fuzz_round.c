/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_round.c - any bytes as a stored round: refused, or numbers that are written as they were read. Half of the
 * inputs are a round that was written, with one byte changed: a head that fits is not found by chance. */
#include "fuzz.h"

#include "service/open/study/round.h"

static void try_bytes(const void *bytes, size_t size) {
    tacet__round round, again = {0};
    char *copy = fuzz_text(bytes, size);
    if (tacet__round_decode(&round, copy, size, NULL) == TACET_OK && round.numbers != NULL) {
        tacet_blob first, second;
        tacet_blob_init(&first);
        tacet_blob_init(&second);
        must(tacet__round_encode(&first, &round.round, NULL) == TACET_OK &&
             tacet__round_decode(&again, first.data, first.size, NULL) == TACET_OK &&
             tacet__round_encode(&second, &again.round, NULL) == TACET_OK);
        must(first.size == second.size && memcmp(first.data, second.data, first.size) == 0);
        tacet__round_clear(&again);
        tacet_blob_clear(&first);
        tacet_blob_clear(&second);
    }
    tacet__round_clear(&round);
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    double numbers[6] = {0};
    tacet_blob blob;
    if (size < 8 || data[0] % 2 == 0) {
        try_bytes(data, size);
        return 0;
    }
    memcpy(numbers, data, size < sizeof numbers ? size : sizeof numbers);
    const tacet_round round = {.points = numbers,
                               .ld = 2,
                               .d = 2,
                               .count = 1 + data[1] % 2,
                               .context = numbers + 4,
                               .context_dim = data[1] / 2 % 3};
    tacet_blob_init(&blob);
    if (tacet__round_encode(&blob, &round, NULL) == TACET_OK) {
        ((unsigned char *)blob.data)[(data[2] + 256U * data[3]) % blob.size] = data[4];
        try_bytes(blob.data, data[5] % 4 == 0 ? data[6] % (blob.size + 1) : blob.size);
    }
    tacet_blob_clear(&blob);
    return 0;
}
