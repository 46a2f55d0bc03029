/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_space.c - any bytes as a space, as short options and as cells; what is accepted must be writable and read again
 * as the same, and its embedding must be total. */
#include "fuzz.h"

#include "space/internal.h"

static void check_records(const tacet_space *space, const char *text, size_t length) {
    const size_t dims = tacet_space_dims(space);
    double *record = calloc(space->count, sizeof *record);
    double *x = calloc(dims, sizeof *x);
    must(record != NULL && x != NULL);
    for (size_t i = 0; i < space->count; i++) {
        tacet_error err = {0};
        must(tacet_space_cell(&space->columns[i], &record[i], NULL, text, length, &err) == TACET_OK ||
             err.message[0] != '\0');
    }
    tacet_space_embed(space, x, record);
    tacet_space_invert(space, record, x);
    for (size_t i = 0; i < space->count; i++) {
        must(tacet_space_holds(&space->columns[i], record[i]));
    }
    free(record);
    free(x);
}

static void check_space(tacet_space *space, const char *text, size_t length) {
    tacet_space again;
    char *first = NULL, *second = NULL;
    if (tacet_space_encode(space, &first, NULL) == TACET_OK) { /* options may hold a name that is no UTF-8 */
        must(tacet_space_decode(&again, first, strlen(first), NULL) == TACET_OK &&
             tacet_space_encode(&again, &second, NULL) == TACET_OK && strcmp(first, second) == 0);
        tacet_space_clear(&again);
    }
    check_records(space, text, length);
    free(first);
    free(second);
    tacet_space_clear(space);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    tacet_space space;
    tacet_error err = {0};
    char *text = fuzz_text(data, size);
    if (tacet_space_decode(&space, text, size, &err) == TACET_OK) {
        check_space(&space, text, size);
    } else {
        (void)fuzz_refused(space.columns, &err);
    }
    /* the lines of the input as options, in the order of the struct */
    const char *parts[4] = {NULL};
    char *at = text;
    for (size_t i = 0; i < 4 && at != NULL; i++) {
        char *end = strchr(at, '\n');
        parts[i] = at[0] == '\n' || at[0] == '\0' ? NULL : at;
        at = end != NULL ? end + 1 : NULL;
        if (end != NULL) {
            *end = '\0';
        }
    }
    const tacet_space_options options = {parts[0], parts[1], parts[2], parts[3]};
    tacet_error_clear(&err);
    if (tacet_space_short(&space, &options, &err) == TACET_OK) {
        check_space(&space, text, strlen(text));
    } else {
        (void)fuzz_refused(space.columns, &err);
    }
    free(text);
    return 0;
}
