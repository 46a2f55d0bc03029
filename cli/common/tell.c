/* SPDX-License-Identifier: Apache-2.0 */
/* tell.c - a result as one object, printed as JSON or as a text with its fields filled in.
 * Ring: programs. */
#include "common/cli.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { NAME = 64, NUMBER = 32, CELL_DIGITS = 4 };

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
    return value != NULL ? json_string_nocheck(value)
                         : json_null(); /* what is not UTF-8 is refused when it is printed */
}

json_t *cli_json(json_t *value) {
    return value != NULL ? value : json_null();
}

json_t *cli_real_list(const double *values, size_t count) {
    json_t *list = values != NULL ? json_array() : json_null();
    for (size_t i = 0; values != NULL && i < count; i++) {
        (void)json_array_append_new(list, cli_real(values[i]));
    }
    return list;
}

json_t *cli_whole_list(const size_t *values, size_t count) {
    json_t *list = values != NULL ? json_array() : json_null();
    for (size_t i = 0; values != NULL && i < count; i++) {
        (void)json_array_append_new(list, cli_whole(values[i]));
    }
    return list;
}

static void add_fields(json_t *object, const char *names, va_list args) {
    char name[NAME];
    json_t *value = va_arg(args, json_t *);
    while (*names != '\0' && value != NULL) {
        const size_t length = strcspn(names, " ?");
        (void)snprintf(name, sizeof name, "%.*s", (int)length, names);
        if (names[length] == '?' && json_is_null(value)) {
            json_decref(value);
        } else {
            (void)json_object_set_new(object, name, value);
        }
        names += length + strspn(names + length, " ?");
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

/* A character of a text that may come from elsewhere: one that a terminal would obey is shown instead. */
static void print_character(char c) {
    const unsigned char byte = (unsigned char)c;
    if ((byte < ' ' && c != '\n' && c != '\t') || byte == 0x7f) {
        printf("\\x%02x", byte);
    } else {
        putchar(c);
    }
}

static void print_text(const char *text, int width) {
    const int missing = (width < 0 ? -width : width) - (int)strlen(text);
    printf("%*s", width > 0 && missing > 0 ? missing : 0, "");
    for (; *text != '\0'; text++) {
        print_character(*text);
    }
    printf("%*s", width < 0 && missing > 0 ? missing : 0, "");
}

/* Texts can be long; a table cannot. What is cut says so: "row 17…" is not row 17. */
static void print_cell(const char *text, int width) {
    const bool cut = cli_places(text, strlen(text)) > width;
    const int room = cut ? width - 1 : width;
    int shown = 0;
    for (const char *c = text; *c != '\0' && (shown < room || (*c & 0xc0) == 0x80); c++) {
        print_character(*c);
        shown += (*c & 0xc0) != 0x80;
    }
    printf("%s%*s", cut ? "…" : "", width - shown - cut, "");
}

static void print_time(json_int_t seconds, const char *format) {
    char text[64] = "?";
    struct tm parts;
    const time_t when = (time_t)seconds;
    if (gmtime_r(&when, &parts) != NULL) {
        (void)strftime(text, sizeof text, format, &parts);
    }
    printf("%s", text);
}

/* One field as its SPEC says; see cli_fill. */
static void print_field(const json_t *value, const char *spec) {
    char text[NUMBER] = "-";
    const bool left = spec[0] == '-';
    const bool safe = spec[0] == '^' || spec[0] == '_';
    const char *digits = spec + (left || safe || spec[0] == '=');
    const int width = (left ? -1 : 1) * atoi(digits);
    const char *point = strchr(digits, '.');
    if (spec[0] == '=' && !json_is_string(value)) {
        print_cell(json_is_real(value) ? cli_safe(text, json_real_value(value), CELL_DIGITS, false) : text, width);
    } else if (spec[0] == '=') {
        print_cell(json_string_value(value), width);
    } else if (spec[0] == '%') {
        print_time(json_integer_value(value), spec);
    } else if (json_is_integer(value)) {
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
        print_text(json_is_string(value) ? json_string_value(value) : "", width);
    }
}

/* What {.} is, and around it what it is in. */
typedef struct scope {
    const json_t *it;
    const char *key;
    const struct scope *outer;
} scope;

static const json_t *find_field(const scope *s, const char *path) {
    char copy[NAME];
    const json_t *found = strcmp(path, ".") == 0 ? s->it : NULL;
    for (; s != NULL && found == NULL; s = s->outer) {
        char *rest = copy;
        (void)snprintf(copy, sizeof copy, "%s", path);
        found = s->it;
        while (found != NULL && rest != NULL) {
            found = json_object_get(found, strsep(&rest, "."));
        }
    }
    return found;
}

static bool says_something(const json_t *value) {
    return json_is_number(value)   ? json_number_value(value) != 0
           : json_is_string(value) ? json_string_length(value) > 0
                                   : json_is_true(value) || json_array_size(value) + json_object_size(value) > 0;
}

static bool is_word(const json_t *value, const char *word) {
    return json_is_string(value) && strcmp(json_string_value(value), word) == 0;
}

static void fill(const scope *s, const char *text, const char *end); /* NOLINT(misc-no-recursion) */

/* NOLINTNEXTLINE(misc-no-recursion) */
static void fill_each(const scope *outer, const json_t *list, const char *between, const char *text, const char *end) {
    scope s = {.outer = outer};
    const char *separator = "";
    size_t i = 0;
    json_array_foreach(list, i, s.it) {
        printf("%s", separator);
        separator = between;
        fill(&s, text, end);
    }
    json_object_foreach((json_t *)(uintptr_t)list, s.key, s.it) {
        printf("%s", separator);
        separator = between;
        fill(&s, text, end);
    }
}

/* What is between braces. */
/* NOLINTNEXTLINE(misc-no-recursion) */
static void fill_part(const scope *s, const char *text, const char *end) {
    char path[NAME];
    char spec[NAME];
    const char kind = strchr("?!*", *text) != NULL ? *text++ : '\0';
    const size_t name = strcspn(text, ":|}");
    const size_t more = text[name] == ':' ? strcspn(text + name, "|}") : 0;
    const char *body = text + name + more + (text[name + more] == '|');
    (void)snprintf(path, sizeof path, "%.*s", (int)name, text);
    (void)snprintf(spec, sizeof spec, "%.*s", more > 0 ? (int)more - 1 : 0, text + name + 1);
    char *word = path;
    (void)strsep(&word, "=");
    const json_t *value = find_field(s, path);
    if (kind == '*') {
        fill_each(s, value, spec, body, end);
    } else if (kind != '\0' && (word == NULL ? says_something(value) : is_word(value, word)) == (kind == '?')) {
        fill(s, body, end);
    } else if (kind == '\0' && strcmp(path, "@") == 0) {
        printf("%s", s->key);
    } else if (kind == '\0') {
        print_field(value, spec);
    }
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static void fill(const scope *s, const char *text, const char *end) {
    while (text < end) {
        const size_t left = (size_t)(end - text);
        const size_t plain = strcspn(text, "{") < left ? strcspn(text, "{") : left;
        printf("%.*s", (int)plain, text);
        text += plain;
        if (text < end) {
            const char *close = text + 1;
            for (int depth = 1; close < end && (depth += (*close == '{') - (*close == '}')) > 0;) {
                close++;
            }
            fill_part(s, text + 1, close);
            text = close + 1;
        }
    }
}

void cli_fill(const json_t *object, const char *text) {
    fill(&(scope){.it = object}, text, text + strlen(text));
}

void cli_json_print(json_t *object) {
    if (object != NULL && cli_json_wanted()) {
        const char *name = NULL;
        json_t *value = NULL;
        void *next = NULL;
        json_object_foreach_safe(object, next, name, value) {
            if (name[0] == '_') {
                (void)json_object_del(object, name);
            }
        }
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

json_t *cli_loads(char *text) {
    json_t *object = text != NULL ? json_loads(text, 0, NULL) : NULL;
    free(text);
    return object;
}
