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
    return o->inputs != NULL || o->bounds != NULL || o->log != NULL || o->integer != NULL || o->date != NULL ||
           o->levels != NULL || o->others != NULL || o->missing != NULL || o->unit != NULL;
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

bool cli_space_values(double *out, const tacet_space_column *columns, size_t count, const char *text,
                      tacet_error *err) {
    cli_names items = {0};
    bool good = (text == NULL || CLI_READ(&items, text)) && items.count == count;
    bool named = good && columns != NULL; /* all of them, or they are taken in their order */
    for (size_t i = 0; named && i < count; i++) {
        named = named_item(&items, columns[i].name) != NULL;
    }
    for (size_t i = 0; good && i < count; i++) {
        const char *item = named ? named_item(&items, columns[i].name) : items.at[i];
        good = columns != NULL ? tacet_space_cell(&columns[i], &out[i], NULL, item, strlen(item), err) == TACET_OK
                               : cli_number(&out[i], item);
    }
    return good;
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
