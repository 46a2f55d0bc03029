/* SPDX-License-Identifier: Apache-2.0 */
/* statistics.c - arms from a file, a choice among them, the point that was played. Ring: trusted. */
#include "device/statistics.h"

#include <sodium.h>
#include <stdlib.h>
#include <tacet/io/csv.h>
#include <tacet/io/csvfile.h>

tacet_status statistics_arms(double **out, size_t *count, const char *path, const char *columns, size_t d,
                             tacet_error *err) {
    char **names = NULL;
    size_t named = 0;
    tacet_csv_table table = {0};
    *out = NULL;
    if (columns == NULL || !cli_split(&names, &named, columns) || named != d) {
        free(names);
        return tacet_error_set(err, TACET_INVALID,
                               "--set needs --columns: the %zu coordinates of an arm, in their order", d);
    }
    const tacet_csv_wanted wanted = {.columns = (const char *const *)names, .d = named, .least_records = 1};
    const tacet_status status = tacet_csv_load_file(&table, path, &wanted, err);
    if (status == TACET_OK) {
        *out = table.values; /* row after row: a column an arm */
        *count = table.n;
        table.values = NULL;
    }
    tacet_csv_table_clear(&table);
    free(names);
    return status;
}

tacet_status statistics_choose(size_t *out, tacet_statistics_model *model, const double *arms, size_t count,
                               tacet_error *err) {
    tacet_simrng coin;
    uint64_t seed = 0;
    if (sodium_init() < 0) {
        return tacet_error_set(err, TACET_IO, "no entropy");
    }
    randombytes_buf(&seed, sizeof seed);
    tacet_simrng_init(&coin, seed, 0);
    *out = tacet_statistics_model_choose(model, &coin, arms, tacet_statistics_model_dim(model), count);
    return TACET_OK;
}

tacet_status statistics_point(double *x, const char *text, size_t d, tacet_error *err) {
    char **parts = NULL;
    size_t count = 0;
    bool good = cli_split(&parts, &count, text) && count == d;
    for (size_t i = 0; good && i < d; i++) {
        good = cli_number(&x[i], parts[i]);
    }
    free(parts);
    return good ? TACET_OK : tacet_error_set(err, TACET_INVALID, "--point needs %zu numbers with commas", d);
}
