/* SPDX-License-Identifier: Apache-2.0 */
/* bench_csv.c - how fast tables are read: selected numeric columns of a CSV in memory, beside one pass of memchr over
 * the same bytes (finding the line ends and nothing else) and beside strtod on every field. Processor time, so that
 * other work on the machine does not count. */
#include "bench.h"

#include <tacet/io/csv.h>
#include <tacet/core/simrng.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { COLUMNS = 6, RECORDS = 300000, WIDTH = 26 };

typedef struct memory {
    const char *at;
    size_t left;
} memory;

static tacet_status read_memory(void *user, void *buffer, size_t capacity, size_t *count, tacet_error *err) {
    (void)err;
    memory *m = user;
    *count = capacity < m->left ? capacity : m->left;
    memcpy(buffer, m->at, *count);
    m->at += *count;
    m->left -= *count;
    return TACET_OK;
}

static double by_memchr(const char *text, size_t size) {
    const double start = bench_seconds(CLOCK_PROCESS_CPUTIME_ID);
    size_t lines = 0;
    for (const char *at = text; (at = memchr(at, '\n', size - (size_t)(at - text))) != NULL; at++) {
        lines++;
    }
    const double seconds = bench_seconds(CLOCK_PROCESS_CPUTIME_ID) - start;
    return lines > 0 ? seconds : -1;
}

static double by_strtod(const char *text) {
    const double start = bench_seconds(CLOCK_PROCESS_CPUTIME_ID);
    double sum = 0;
    for (const char *at = strchr(text, '\n') + 1; *at != '\0'; at++) {
        char *end = NULL;
        sum += strtod(at, &end);
        at = end;
    }
    const double seconds = bench_seconds(CLOCK_PROCESS_CPUTIME_ID) - start;
    return sum == sum ? seconds : -1;
}

static double by_tacet(const char *text, size_t size) {
    static const char *const names[COLUMNS] = {"c0", "c1", "c2", "c3", "c4", "c5"};
    const double start = bench_seconds(CLOCK_PROCESS_CPUTIME_ID);
    memory m = {.at = text, .left = size};
    const tacet_csv_source source = {.name = "bench", .read = read_memory, .user = &m};
    const tacet_csv_wanted wanted = {.columns = names, .d = COLUMNS};
    tacet_csv *csv = NULL;
    tacet_csv_table table = {0};
    tacet_error err = {0};
    if (tacet_csv_open(&csv, &source, NULL, &err) != TACET_OK ||
        tacet_csv_load(&table, csv, &wanted, &err) != TACET_OK) {
        (void)fprintf(stderr, "%s\n", err.message);
        exit(1);
    }
    tacet_csv_close(csv);
    tacet_csv_table_clear(&table);
    return bench_seconds(CLOCK_PROCESS_CPUTIME_ID) - start;
}

int main(void) {
    char *text = malloc((size_t)COLUMNS * WIDTH * (RECORDS + 1));
    if (text == NULL) {
        return 1;
    }
    static const int digits[] = {5, 9, 17};
    for (size_t k = 0; k < sizeof digits / sizeof digits[0]; k++) {
        tacet_simrng rng;
        tacet_simrng_init(&rng, 1, 0);
        size_t size = (size_t)sprintf(text, "c0,c1,c2,c3,c4,c5\n");
        for (size_t i = 0; i < (size_t)RECORDS * COLUMNS; i++) {
            size += (size_t)sprintf(text + size, "%.*g%c", digits[k], 100 * tacet_simrng_normal(&rng),
                                    (i + 1) % COLUMNS == 0 ? '\n' : ',');
        }
        const double scan = by_memchr(text, size);
        const double library = by_strtod(text);
        const double ours = by_tacet(text, size);
        printf("%2d digits: %.0f MB/s; time over strtod alone %.2f, over memchr %.1f\n", digits[k],
               1e-6 * (double)size / ours, ours / library, ours / scan);
    }
    free(text);
    return 0;
}
