/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_csv.c - any bytes through the CSV reader, whole and in small pieces: no crash, and the same fields either way;
 * and as records of numbers, of the stream and of blocks: the same numbers and the same message. */
#include "fuzz.h"

#include "io/csv/block.h"
#include "io/csv/internal.h"

typedef struct memory {
    const uint8_t *at;
    size_t left;
    size_t most;
} memory;

static tacet_status read_memory(void *user, void *buffer, size_t capacity, size_t *count, tacet_error *err) {
    (void)err;
    memory *m = user;
    size_t n = m->most < capacity ? m->most : capacity;
    n = n < m->left ? n : m->left;
    if (n > 0) {
        memcpy(buffer, m->at, n);
    }
    m->at += n;
    m->left -= n;
    *count = n;
    return TACET_OK;
}

/* FNV-1a over what the reader says: names, fields, lines, numbers, messages. */
static void mix(uint64_t *hash, const void *bytes, size_t count) {
    const unsigned char *at = bytes;
    for (size_t i = 0; i < count; i++) {
        *hash = (*hash ^ at[i]) * UINT64_C(0x100000001b3);
    }
}

static uint64_t run(const uint8_t *data, size_t size, size_t most) {
    memory m = {.at = data, .left = size, .most = most};
    const tacet_csv_source source = {.name = "f", .read = read_memory, .user = &m};
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    tacet_error err = {0};
    tacet_csv *csv = NULL;
    tacet_status status = tacet_csv_open(&csv, &source, NULL, &err);
    bool found = true;
    while (status == TACET_OK) {
        status = tacet_csv_next(csv, &found, &err);
        if (status != TACET_OK || !found) {
            break;
        }
        const uint64_t line = tacet_csv_line(csv);
        mix(&hash, &line, sizeof line);
        for (size_t j = 0; j < tacet_csv_columns(csv); j++) {
            size_t length = 0;
            const char *text = tacet_csv_field(csv, j, &length);
            must(strlen(text) == length);
            mix(&hash, text, length + 1);
            double value = 0;
            if (tacet_csv_numbers(csv, &value, &j, 1, NULL) == TACET_OK) {
                must(value - value == 0);
                mix(&hash, &value, sizeof value);
            }
        }
    }
    for (size_t j = 0; csv != NULL && j < tacet_csv_columns(csv); j++) {
        mix(&hash, tacet_csv_name(csv, j), strlen(tacet_csv_name(csv, j)) + 1);
    }
    mix(&hash, err.message, strlen(err.message));
    tacet_csv_close(csv);
    return hash;
}

/* All columns as numbers. */
static uint64_t numbers(const uint8_t *data, size_t size, bool blocks) {
    memory m = {.at = data, .left = size, .most = size + 1};
    const tacet_csv_source source = {.name = "f", .read = read_memory, .user = &m};
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    uint64_t records = 0;
    tacet_error err = {0};
    tacet_csv *csv = NULL;
    tacet_csv *block = NULL;
    tacet_status status = tacet_csv_open(&csv, &source, NULL, &err);
    const size_t d = csv != NULL ? tacet_csv_columns(csv) : 0;
    size_t *columns = calloc(d + 1, sizeof *columns);
    double *out = calloc(d + 1, sizeof *out);
    must(columns != NULL && out != NULL);
    for (size_t j = 0; j < d; j++) {
        columns[j] = j;
    }
    TACET_THEN(status, tacet__csv_block_open(&block, csv, &err));
    bool found = status == TACET_OK;
    while (status == TACET_OK && found) {
        tacet_csv *from = blocks ? block : csv;
        status = tacet_csv_next(from, &found, &err);
        if (status == TACET_OK && !found && blocks) {
            status = tacet__csv_block_take(block, csv, &found, &err);
        } else if (status == TACET_OK && found) {
            status = tacet_csv_numbers(from, out, columns, d, &err);
            records += status == TACET_OK;
            mix(&hash, out, d * sizeof *out);
        }
    }
    mix(&hash, &records, sizeof records);
    mix(&hash, err.message, strlen(err.message));
    tacet_csv_close(block);
    tacet_csv_close(csv);
    free(columns);
    free(out);
    return hash;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const size_t first = size > 0 ? data[size - 1] % 7 + 1U : 1;
    must(run(data, size, size + 1) == run(data, size, first));
    must(numbers(data, size, false) == numbers(data, size, true));
    return 0;
}
