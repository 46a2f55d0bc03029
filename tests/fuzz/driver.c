/* SPDX-License-Identifier: Apache-2.0 */
/* driver.c - runs a fuzz target without libFuzzer: every seed file, then seeded mutations of them for a bounded time.
 * Usage: fuzz_X [--seconds S] SEED_FOLDER. A crash, a sanitizer report or a time-out is the failure. */
#include <tacet/core/simrng.h>

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_SEEDS = 256, MOST_BYTES = 1 << 16 };

static uint8_t *seeds[MOST_SEEDS];
static size_t sizes[MOST_SEEDS];
static size_t count;

static void load(const char *folder) {
    DIR *dir = opendir(folder);
    if (dir == NULL) {
        return;
    }
    for (struct dirent *entry = readdir(dir); entry != NULL && count < MOST_SEEDS; entry = readdir(dir)) {
        char path[4096];
        (void)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        FILE *file = entry->d_name[0] == '.' ? NULL : fopen(path, "rb");
        if (file != NULL) {
            seeds[count] = malloc(MOST_BYTES);
            sizes[count] = seeds[count] != NULL ? fread(seeds[count], 1, MOST_BYTES, file) : 0;
            count += seeds[count] != NULL;
            (void)fclose(file);
        }
    }
    (void)closedir(dir);
}

static size_t mutate(tacet_simrng *rng, uint8_t *out) {
    size_t size = 0;
    if (count > 0) {
        const size_t pick = tacet_simrng_below(rng, count);
        size = sizes[pick];
        memcpy(out, seeds[pick], size);
    }
    for (size_t k = 1 + tacet_simrng_below(rng, 8); k > 0; k--) {
        const size_t at = tacet_simrng_below(rng, size + 1);
        switch (tacet_simrng_below(rng, 5)) {
        case 0: /* overwrite a byte */
            if (at < size) {
                out[at] = (uint8_t)tacet_simrng_u64(rng);
            }
            break;
        case 1: /* insert one */
            if (size < MOST_BYTES) {
                memmove(out + at + 1, out + at, size - at);
                out[at] = (uint8_t)tacet_simrng_u64(rng);
                size++;
            }
            break;
        case 2: /* cut the tail */
            size = at;
            break;
        case 3: /* remove a run */ {
            const size_t run = tacet_simrng_below(rng, 16);
            if (at + run <= size) {
                memmove(out + at, out + at + run, size - at - run);
                size -= run;
            }
            break;
        }
        default: /* flip a bit */
            if (at < size) {
                out[at] ^= (uint8_t)(1U << tacet_simrng_below(rng, 8));
            }
        }
    }
    return size;
}

int main(int argc, char **argv) {
    static uint8_t buffer[MOST_BYTES + 1];
    double seconds = 5;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--seconds") == 0 && i + 1 < argc) {
            seconds = strtod(argv[++i], NULL);
        } else {
            load(argv[i]);
        }
    }
    for (size_t i = 0; i < count; i++) {
        (void)LLVMFuzzerTestOneInput(seeds[i], sizes[i]);
    }
    tacet_simrng rng;
    tacet_simrng_init(&rng, 1, 0);
    const clock_t end = clock() + (clock_t)(seconds * CLOCKS_PER_SEC);
    unsigned long runs = 0;
    while (clock() < end) {
        (void)LLVMFuzzerTestOneInput(buffer, mutate(&rng, buffer));
        runs++;
    }
    printf("%lu inputs from %zu seeds\n", runs, count);
    for (size_t i = 0; i < count; i++) {
        free(seeds[i]);
    }
    return 0;
}
