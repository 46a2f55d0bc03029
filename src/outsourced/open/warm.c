/* SPDX-License-Identifier: Apache-2.0 */
/* warm.c - values that are known before a search begins, from a CSV. Ring: open. Cost: O(bytes). */
#include <tacet/outsourced/open/session.h>

#include "core/fail.h"
#include "core/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <tacet/io/csv.h>

static const double ROWS_MOST = 1e15;

tacet_status tacet_session_warm_load(tacet_session_settings *s, const char *path, tacet_error *err) {
    static const char *const NAMES[] = {"row", "value"};
    tacet_csv_table table = {0};
    const tacet_csv_wanted wanted = {.columns = NAMES, .d = 2};
    const tacet_status status = tacet_csv_load_file(&table, path, &wanted, err);
    if (status != TACET_OK) {
        return status;
    }
    size_t *rows = TACET__ZALLOC(size_t, table.n);
    double *values = TACET__ZALLOC(double, table.n);
    if (rows == NULL || values == NULL) {
        free(rows);
        free(values);
        tacet_csv_table_clear(&table);
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for known values");
    }
    for (size_t i = 0; i < table.n; i++) { /* a row that cannot be is refused when the search begins */
        const double row = table.values[2 * i];
        rows[i] = row >= 0 && row < ROWS_MOST ? (size_t)row : SIZE_MAX;
        values[i] = table.values[2 * i + 1];
    }
    s->warm_rows = rows;
    s->warm_values = values;
    s->warm_count = table.n;
    tacet_csv_table_clear(&table);
    return TACET_OK;
}

void tacet_session_warm_clear(tacet_session_settings *s) {
    free((void *)(uintptr_t)s->warm_rows);
    free((void *)(uintptr_t)s->warm_values);
    s->warm_rows = NULL;
    s->warm_values = NULL;
    s->warm_count = 0;
}
