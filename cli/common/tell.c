/* SPDX-License-Identifier: Apache-2.0 */
/* tell.c - a result as one object, printed as JSON or as a text with its fields filled in.
 * Ring: programs. */
#include "common/cli.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME = 64, NUMBER = 32 };

json_t *cli_real(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *cli_whole(uint64_t value) {
    return json_integer((json_int_t)value);
}

json_t *cli_signed(long long value) {
    return json_integer(value);
}

json_t *cli_yes(bool value) {
    return json_boolean(value);
}

json_t *cli_word(const char *value) {
    return value != NULL ? json_string(value) : json_null();
}

json_t *cli_json(json_t *value) {
    return value != NULL ? value : json_null();
}

static void add_fields(json_t *object, const char *names, va_list args) {
    char name[NAME];
    json_t *value = va_arg(args, json_t *);
    while (*names != '\0' && value != NULL) {
        const size_t length = strcspn(names, " ");
        (void)snprintf(name, sizeof name, "%.*s", (int)length, names);
        (void)json_object_set_new(object, name, value);
        names += length + strspn(names + length, " ");
        value = va_arg(args, json_t *);
    }
}

json_t *cli__object(const char *names, ...) {
    va_list args;
    json_t *object = json_object();
    va_start(args, names);
    add_fields(object, names, args);
    va_end(args);
    return object;
}

void cli__add(json_t *object, const char *names, ...) {
    va_list args;
    va_start(args, names);
    add_fields(object, names, args);
    va_end(args);
}

const char *cli_safe(char text[32], double x, int digits, bool down) {
    double shown = x;
    (void)snprintf(text, NUMBER, "%.*g", digits, shown);
    while (isfinite(x) && (down ? strtod(text, NULL) > x : strtod(text, NULL) < x)) {
        shown += (down ? -1 : 1) * pow(10, -digits) * fabs(x);
        (void)snprintf(text, NUMBER, "%.*g", digits, shown);
    }
    return text;
}

/* One field as its SPEC says; see cli_fill. */
static void print_field(const json_t *value, const char *spec) {
    char text[NUMBER];
    const bool left = spec[0] == '-';
    const bool safe = spec[0] == '^' || spec[0] == '_';
    const char *digits = spec + (left || safe);
    const int width = (left ? -1 : 1) * atoi(digits);
    const char *point = strchr(digits, '.');
    if (json_is_integer(value)) {
        printf("%*lld", width, (long long)json_integer_value(value));
    } else if (json_is_real(value) && safe) {
        printf("%s", cli_safe(text, json_real_value(value), width, spec[0] == '_'));
    } else if (json_is_real(value) && point != NULL && strchr(point, 'f') != NULL) {
        printf("%.*f", atoi(point + 1), json_real_value(value));
    } else if (json_is_real(value)) {
        printf("%.*g", point != NULL ? atoi(point + 1) : 6, json_real_value(value));
    } else if (json_is_null(value) && (safe || point != NULL)) {
        printf("inf");
    } else {
        printf("%*s", width, json_is_string(value) ? json_string_value(value) : "");
    }
}

static const json_t *find_field(const json_t *object, char *path) {
    char *rest = path;
    while (object != NULL && rest != NULL) {
        object = json_object_get(object, strsep(&rest, "."));
    }
    return object;
}

void cli_fill(const json_t *object, const char *text) {
    char path[NAME];
    char spec[NAME];
    while (*text != '\0') {
        const size_t plain = strcspn(text, "{");
        printf("%.*s", (int)plain, text);
        text += plain;
        if (*text == '{') {
            const size_t end = strcspn(text, "}");
            const size_t colon = strcspn(text, ":}");
            (void)snprintf(path, sizeof path, "%.*s", (int)colon - 1, text + 1);
            (void)snprintf(spec, sizeof spec, "%.*s", colon < end ? (int)(end - colon) - 1 : 0, text + colon + 1);
            print_field(find_field(object, path), spec);
            text += end + 1;
        }
    }
}

static void fill_each(const json_t *list, const char *text) {
    const json_t *one = NULL;
    size_t i = 0;
    json_array_foreach(list, i, one) {
        cli_fill(one, text);
    }
}

void cli_json_print(json_t *object) {
    if (object != NULL && cli_json_wanted()) {
        (void)json_dumpf(object, stdout, JSON_COMPACT | JSON_REAL_PRECISION(17));
        putchar('\n');
    }
    json_decref(object);
}

int cli_tell(json_t *object, const char *text) {
    if (!cli_json_wanted() && text != NULL) {
        cli_fill(object, text);
    }
    cli_json_print(object);
    return CLI_EXIT_OK;
}

int cli_tell_each(json_t *object, const char *list, const char *text, const char *after) {
    if (!cli_json_wanted()) {
        fill_each(json_object_get(object, list), text);
    }
    return cli_tell(object, after);
}

json_t *cli_loads(char *text) {
    json_t *object = text != NULL ? json_loads(text, 0, NULL) : NULL;
    free(text);
    return object;
}
