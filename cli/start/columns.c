/* SPDX-License-Identifier: Apache-2.0 */
/* columns.c - the questions about one column: its kind, its bounds or levels, its unit.
 * Ring: programs. A preset for a bound never comes from the table: a bound computed from the records shows the record
 * that has it. What is offered is common knowledge about columns of that name; a unit is offered as a share of the
 * bounds, which are public by then. */
#include "start.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* What anybody would say of a column of such a name. */
static const struct {
    const char *word, *bounds, *unit, *levels, *source;
} PUBLIC[] = {
    {"age", "0:120", "5", NULL, "ages of people"},
    {"bmi", "10:70", "2", NULL, "body mass indices of people"},
    {"height", "40:260", "5", NULL, "heights of people in cm"},
    {"weight", "1:350", "5", NULL, "weights of people in kg"},
    {"temperature", "30:45", "0.5", NULL, "body temperatures in Celsius"},
    {"pulse", "20:250", "10", NULL, "heart rates a minute"},
    {"systolic", "50:300", "10", NULL, "systolic blood pressures in mm Hg"},
    {"diastolic", "20:200", "10", NULL, "diastolic blood pressures in mm Hg"},
    {"percent", "0:100", "5", NULL, "percentages"},
    {"hour", "0:23", "2", NULL, "hours of a day"},
    {"month", "1:12", "1", NULL, "months of a year"},
    {"sex", NULL, NULL, "female|male", "what forms usually offer"},
    {"gender", NULL, NULL, "female|male", "what forms usually offer"},
    {"smoker", NULL, NULL, "yes|no", "what forms usually offer"},
    {"weekday", NULL, NULL, "Mon|Tue|Wed|Thu|Fri|Sat|Sun", "the days of a week"},
};

/* Which of them the name is, or has as one of its words; the count where none. */
static size_t public_of(const char *name) {
    size_t i = 0;
    const size_t count = sizeof PUBLIC / sizeof *PUBLIC;
    for (; i < count; i++) {
        const size_t length = strlen(PUBLIC[i].word);
        for (const char *at = name; (at = strcasestr(at, PUBLIC[i].word)) != NULL; at++) {
            if ((at == name || strchr("_ -.", at[-1]) != NULL) &&
                (at[length] == '\0' || strchr("_ -.", at[length]) != NULL)) {
                return i;
            }
        }
    }
    return count;
}

static const char *const KINDS[] = {"number", "log", "integer", "date", "category", "skip", NULL};

static bool good_kind(void *user, const char *text, char *why) {
    (void)user;
    for (const char *const *kind = KINDS; *kind != NULL; kind++) {
        if (strcmp(*kind, text) == 0) {
            return true;
        }
    }
    (void)snprintf(why, START_TEXT, "'%s' is none of number, log, integer, date, category, skip.", text);
    return false;
}

bool column_good_range(void *user, const char *text, char *why) {
    double lo = 0, hi = 0;
    (void)user;
    if (cli_pair(&lo, &hi, text) && lo < hi) {
        return true;
    }
    (void)snprintf(why, START_TEXT, "'%s' is not LO:HI, two numbers with LO below HI.", text);
    return false;
}

/* Whether a space of this column alone is one. */
static bool is_space(const json_t *column, char *why) {
    tacet_error err = {0};
    tacet_space space;
    json_t *whole = json_pack("{s[O]}", "columns", column);
    char *text = json_dumps(whole, JSON_COMPACT | JSON_REAL_PRECISION(17));
    const tacet_status status = text != NULL ? tacet_space_decode(&space, text, strlen(text), &err) : TACET_NO_MEMORY;
    if (status == TACET_OK) {
        tacet_space_clear(&space);
    } else {
        (void)snprintf(why, START_TEXT, "%s.", err.message);
    }
    free(text);
    json_decref(whole);
    return status == TACET_OK;
}

static const char *kind_in(const json_t *column) {
    return json_string_value(json_object_get(column, "kind"));
}

/* The day in the middle of two, as text; false: one of them is no date. */
static bool middle_day(char *out, const char *from, const char *to) {
    double a = 0, b = 0;
    tacet_space_column date;
    tacet_space_column_init(&date);
    date.kind = TACET_SPACE_DATE;
    if (!tacet_space_day(&a, from, strlen(from)) || !tacet_space_day(&b, to, strlen(to)) || !(a < b)) {
        return false;
    }
    tacet_space_text(&date, out, floor((a + b) / 2));
    return true;
}

/* "LO:HI" into bounds, and the middle as what stands for a missing cell: public, and the same whether any is. */
static bool good_bounds(void *user, const char *text, char *why) {
    json_t *column = user;
    const char *kind = kind_in(column);
    double lo = 0, hi = 0;
    if (strcmp(kind, "date") == 0) {
        char from[TACET_SPACE_NAME], middle[TACET_SPACE_NAME];
        const char *colon = strchr(text, ':');
        const size_t length = colon != NULL ? (size_t)(colon - text) : sizeof from;
        (void)snprintf(from, sizeof from, "%.*s", length < sizeof from ? (int)length : 0, text);
        if (colon == NULL || !middle_day(middle, from, colon + 1)) {
            (void)snprintf(why, START_TEXT, "'%s' is not FROM:TO, two dates such as 2020-01-01:2024-12-31.", text);
            return false;
        }
        (void)json_object_set_new(column, "bounds", json_pack("[ss]", from, colon + 1));
        (void)json_object_set_new(column, "missing", json_string(middle));
    } else {
        if (!column_good_range(NULL, text, why)) {
            return false;
        }
        (void)cli_pair(&lo, &hi, text);
        /* Of a log column through 0 the root is no number: what is wrong is then said by is_space. */
        const double centre = strcmp(kind, "log") == 0 && lo > 0 ? sqrt(lo) * sqrt(hi) : lo / 2 + hi / 2;
        (void)json_object_set_new(column, "bounds", json_pack("[ff]", lo, hi));
        (void)json_object_set_new(column, "missing", json_real(strcmp(kind, "integer") == 0 ? floor(centre) : centre));
    }
    return is_space(column, why);
}

/* "a|b|c": what is none of them, and what is missing, is 'other'. */
static bool good_levels(void *user, const char *text, char *why) {
    json_t *column = user;
    json_t *levels = json_array();
    char copy[START_TEXT];
    char *rest = copy;
    (void)snprintf(copy, sizeof copy, "%s", text);
    for (char *level; (level = strsep(&rest, "|")) != NULL;) {
        level += strspn(level, " ");
        for (size_t end = strlen(level); end > 0 && level[end - 1] == ' ';) {
            level[--end] = '\0';
        }
        (void)json_array_append_new(levels, json_string(level));
    }
    (void)json_object_set_new(column, "levels", levels);
    (void)json_object_set_new(column, "others", json_string("other"));
    (void)json_object_set_new(column, "missing", json_string("other"));
    return is_space(column, why);
}

static bool good_unit(void *user, const char *text, char *why) {
    double value = 0;
    (void)json_object_set_new(user, "unit", cli_number(&value, text) ? json_real(value) : json_string(text));
    return is_space(user, why);
}

/* A tenth of the bounds, rounded to 1, 2 or 5 times a power of ten: public, as they are. */
static void tenth(char out[32], const json_t *column) {
    const json_t *bounds = json_object_get(column, "bounds");
    const char *kind = kind_in(column);
    double lo = json_number_value(json_array_get(bounds, 0)), hi = json_number_value(json_array_get(bounds, 1));
    if (strcmp(kind, "date") == 0) {
        const char *from = json_string_value(json_array_get(bounds, 0));
        const char *to = json_string_value(json_array_get(bounds, 1));
        (void)tacet_space_day(&lo, from, strlen(from));
        (void)tacet_space_day(&hi, to, strlen(to));
    }
    const double width = strcmp(kind, "log") == 0 ? 100 * (pow(hi / lo, 0.1) - 1) : (hi - lo) / 10;
    const double power = pow(10, floor(log10(width)));
    const double nice = width < 1.5 * power ? 1 : width < 3.5 * power ? 2 : width < 7.5 * power ? 5 : 10;
    const bool whole = strcmp(kind, "integer") == 0 || strcmp(kind, "date") == 0;
    (void)snprintf(out, 32, strcmp(kind, "log") == 0 ? "%g %%" : "%g", whole ? fmax(1, nice * power) : nice * power);
}

static bool ask_unit(answers *a, json_t *column, const char *name, const char *known) {
    char question[START_TEXT], key[2 * TACET_SPACE_NAME], preset[32];
    tenth(preset, column);
    const char *kind = kind_in(column);
    (void)snprintf(key, sizeof key, "%s.unit", name);
    (void)snprintf(question, sizeof question, "  Unit: a change of how much must stay hidden?%s",
                   strcmp(kind, "log") == 0    ? " A factor, as 10 %."
                   : strcmp(kind, "date") == 0 ? " In days, or as 2 weeks."
                                               : "");
    return answers_get(a, key, question, known != NULL ? known : preset, false, good_unit, column) != NULL;
}

bool column_ask(answers *a, json_t *columns, const start_column *c, size_t number, size_t count, column_role role) {
    char question[START_TEXT], key[2 * TACET_SPACE_NAME];
    const size_t known = public_of(c->name);
    const bool is_known = known < sizeof PUBLIC / sizeof *PUBLIC;
    answers_tell(a, "\n%zu of %zu: %s\n", number, count, c->name);
    (void)snprintf(key, sizeof key, "%s.kind", c->name);
    const char *kind =
        answers_get(a, key, "  Kind: number, log, integer, date, category, or skip?", c->kind, false, good_kind, NULL);
    if (kind == NULL || strcmp(kind, "skip") == 0) {
        return kind != NULL;
    }
    const bool category = strcmp(kind, "category") == 0, date = strcmp(kind, "date") == 0;
    const char *offered = !is_known ? NULL : category ? PUBLIC[known].levels : date ? NULL : PUBLIC[known].bounds;
    json_t *column = json_pack("{ss ss}", "name", c->name, "kind", strcmp(kind, "number") == 0 ? "real" : kind);
    (void)snprintf(key, sizeof key, category ? "%s.levels" : "%s.bounds", c->name);
    (void)snprintf(question, sizeof question, "  %s%s%s%s",
                   category ? role == COLUMN_ACTION ? "All levels there are, as a|b|c?"
                                                    : "Levels, as a|b|c? What is none of them becomes 'other'."
                   : date   ? "Earliest and latest possible day, as 2020-01-01:2024-12-31?"
                            : "Least and largest possible value, as LO:HI?",
                   offered != NULL ? " Public: " : "", offered != NULL ? PUBLIC[known].source : "",
                   offered != NULL ? "." : "");
    bool good = answers_get(a, key, question, offered, true, category ? good_levels : good_bounds, column) != NULL;
    if (good && role == COLUMN_ACTION) {
        (void)json_object_del(column, "others");
        (void)json_object_del(column, "missing");
    }
    if (good && !category && role == COLUMN_INPUT) {
        good = ask_unit(a, column, c->name, offered != NULL ? PUBLIC[known].unit : NULL);
    }
    if (good) {
        (void)json_array_append(columns, column);
    }
    json_decref(column);
    return good;
}
