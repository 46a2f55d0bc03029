/* SPDX-License-Identifier: Apache-2.0 */
/* space.c - a space from a file or from options, the same for every command.
 * Ring: programs. */
#include "common/space.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/io/file.h>

enum { FILE_MOST = 4 << 20 };

static bool short_given(const tacet_space_options *o) {
    return o->inputs != NULL || o->bounds != NULL || o->levels != NULL || o->unit != NULL;
}

bool cli_space_given(const cli_space *s) {
    return s->file != NULL || short_given(&s->options);
}

int cli_space_read(tacet_space *out, const cli_space *s, const cli_command *self) {
    tacet_error err = {0};
    tacet_space_init(out);
    if (s->file != NULL && short_given(&s->options)) {
        return cli_usage(self, "--space says it all: no --inputs, --bounds, --levels, --unit and the like beside it");
    }
    if (s->file == NULL) {
        return tacet_space_short(out, &s->options, &err) == TACET_OK ? CLI_EXIT_OK : cli_usage(self, "%s", err.message);
    }
    char *text = NULL;
    size_t length = 0;
    if (tacet_file_read(&text, &length, s->file, FILE_MOST, &err) != TACET_OK) {
        return cli_fail(self, &err);
    }
    const tacet_status status = tacet_space_decode(out, text, length, &err);
    free(text);
    return status == TACET_OK ? CLI_EXIT_OK : cli_usage(self, "%s: %s", s->file, err.message);
}

/* The item that names a column, "A=V": its value. NULL: none does. */
static const char *named_item(const cli_names *items, const char *name) {
    const size_t length = strlen(name);
    for (size_t i = 0; i < items->count; i++) {
        if (strncmp(items->at[i], name, length) == 0 && items->at[i][length] == '=') {
            return items->at[i] + length + 1;
        }
    }
    return NULL;
}

static bool split_values(cli_names *items, size_t count, const char *text) {
    return (text == NULL || CLI_READ(items, text)) && items->count == count;
}

/* The item of column i: by names if all have one, else they are taken in their order. */
static const char *item_of(const cli_names *items, const tacet_space_column *columns, size_t i) {
    bool named = columns != NULL;
    for (size_t j = 0; named && j < items->count; j++) {
        named = named_item(items, columns[j].name) != NULL;
    }
    return named ? named_item(items, columns[i].name) : items->at[i];
}

bool cli_space_values(double *out, const tacet_space_column *columns, size_t count, const char *text,
                      tacet_error *err) {
    cli_names items = {0};
    bool good = split_values(&items, count, text);
    for (size_t i = 0; good && i < count; i++) {
        const char *item = item_of(&items, columns, i);
        good = columns != NULL ? tacet_space_cell(&columns[i], &out[i], NULL, item, strlen(item), err) == TACET_OK
                               : cli_number(&out[i], item);
    }
    return good;
}

json_t *cli_space_named(const tacet_space_column *columns, size_t count, const char *text) {
    cli_names items = {0};
    json_t *object = split_values(&items, count, text) ? json_object() : NULL;
    for (size_t i = 0; object != NULL && i < count; i++) {
        (void)json_object_set_new(object, columns[i].name, json_string(item_of(&items, columns, i)));
    }
    return object;
}

const char *cli_space_expects(char out[512], const tacet_space_column *columns, size_t count) {
    int at = snprintf(out, 512, "%zu value%s", count, count == 1 ? "" : "s");
    for (size_t i = 0; columns != NULL && i < count && at < 440; i++) {
        at += snprintf(out + at, (size_t)(512 - at), "%s%s", i == 0 ? ": " : ", ", columns[i].name);
        for (size_t k = 0; k < columns[i].level_count && at < 440; k++) {
            at += snprintf(out + at, (size_t)(512 - at), "%s%s%s", k == 0 ? " (" : " | ", columns[i].levels[k],
                           k + 1 == columns[i].level_count ? ")" : "");
        }
    }
    return out;
}

static void show_column(const tacet_space_column *c) {
    char lo[TACET_SPACE_NAME];
    char hi[TACET_SPACE_NAME];
    char stand_in[TACET_SPACE_NAME];
    const tacet_space_traits *kind = tacet_space_traits_of(c);
    printf("  %-20s %-9s", c->name, kind->name);
    if (kind->levels) {
        for (size_t i = 0; i < c->level_count; i++) {
            printf("%s%s%s", i > 0 ? " | " : "", c->levels[i], i == c->others ? " (and others)" : "");
        }
    } else {
        tacet_space_text(c, lo, c->lo);
        tacet_space_text(c, hi, c->hi);
        printf("%s to %s", lo, hi);
    }
    if (kind->factor && c->unit != 0) {
        printf(", unit: a factor of %g", c->unit);
    } else if (!kind->levels && c->unit != 0) {
        printf(", unit %g%s", c->unit, kind->days);
    }
    if (c->missing != TACET_SPACE_REFUSED) {
        tacet_space_text(c, stand_in, c->stand_in);
        printf(", missing: %s%s", stand_in, c->missing == TACET_SPACE_FLAG ? " and a flag" : "");
    }
    printf("\n");
}

void cli_space_show(const tacet_space *space) {
    for (size_t i = 0; i < space->count; i++) {
        show_column(&space->columns[i]);
    }
}
