/* SPDX-License-Identifier: Apache-2.0 */
/* consumer.c - a program of somebody else's: it has the installed headers and library, and nothing of the source. */
#include <stdio.h>
#include <string.h>
#include <tacet/io/csv.h>
#include <tacet/core/simrng.h>
#include <tacet/core/status.h>

typedef struct text {
    const char *at;
    size_t left;
} text;

static tacet_status give(void *user, void *buffer, size_t capacity, size_t *count, tacet_error *err) {
    text *t = user;
    (void)err;
    *count = t->left < capacity ? t->left : capacity;
    memcpy(buffer, t->at, *count);
    t->at += *count;
    t->left -= *count;
    return TACET_OK;
}

int main(void) {
    static const char table[] = "x,y\n1,2\n3,4.5\n";
    static const char *const names[] = {"y"};
    text t = {table, sizeof table - 1};
    const tacet_csv_source source = {.name = "table", .read = give, .user = &t};
    const tacet_csv_wanted wanted = {.columns = names, .d = 1};
    tacet_csv *csv = NULL;
    tacet_csv_table loaded;
    tacet_error err = {0};
    if (tacet_csv_open(&csv, &source, NULL, &err) != TACET_OK ||
        tacet_csv_load(&loaded, csv, &wanted, &err) != TACET_OK) {
        printf("%s: %s\n", tacet_status_name(err.status), err.message);
        return 1;
    }
    printf("%zu records, the last %g\n", loaded.n, loaded.values[loaded.n - 1]);
    tacet_csv_table_clear(&loaded);
    tacet_csv_close(csv);
    tacet_simrng rng = {{1, 2, 3, 4}};
    printf("%llu\n", (unsigned long long)tacet_simrng_u64(&rng));
    return 0;
}
