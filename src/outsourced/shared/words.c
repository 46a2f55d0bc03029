/* SPDX-License-Identifier: Apache-2.0 */
/* words.c - the sentences of a manifest: what is protected, how large the noise is, what is not hidden.
 * Ring: shared. A claim may say a little less than holds, never more: eps is rounded up, units are rounded down. */
#include "space/internal.h"
#include "outsourced/shared/release_text.h"

#include "outsourced/shared/coordinates.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SENTENCE = 65536, DIGITS = 32 };

typedef struct sentence {
    char *text;
    size_t at;
} sentence;

static void say(sentence *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(sentence *s, const char *format, ...) {
    va_list list;
    va_start(list, format);
    if (s->text != NULL && s->at < SENTENCE) {
        s->at += (size_t)vsnprintf(s->text + s->at, SENTENCE - s->at, format, list);
    }
    va_end(list);
}

/* Six digits of x > 0, rounded up or down. */
static const char *six(char out[DIGITS], double x, bool up) {
    (void)snprintf(out, DIGITS, "%.6g", x);
    const double shown = strtod(out, NULL);
    if (up ? shown < x : shown > x) {
        const double step = pow(10, floor(log10(x)) - 5);
        (void)snprintf(out, DIGITS, "%.6g", up ? shown + step : shown - step);
    }
    return out;
}

static bool is_pure(const tacet_manifest *m) {
    const tacet_law *law = tacet_manifest_law(m);
    return law != NULL && law->pure;
}

static const char *between(size_t i, size_t count) {
    return i == 0 ? "" : i + 1 < count ? ", " : " or ";
}

/* "5 in age", "a factor of 1.1 in income", "14 days in seen". */
static void say_amount(sentence *s, const tacet_space_column *c, double amount, bool up) {
    char number[DIGITS];
    const tacet_space_traits *kind = tacet_space_traits_of(c);
    if (kind->factor) {
        say(s, "a factor of %s in %s", six(number, amount, up), c->name);
    } else {
        say(s, "%s%s in %s", six(number, amount, up), kind->days, c->name);
    }
}

/* What a move at distance 1 is in one column alone: "5 in age, 2 in bmi or 10 in dose". */
static void say_units(sentence *s, const tacet_manifest *m) {
    const tacet_space *space = &m->space;
    size_t at = 0;
    const size_t total = m->column_count + tacet_space_categories(space);
    for (size_t i = 0; i < space->count; i++) {
        const tacet_space_column *c = &space->columns[i];
        if (!tacet_space_traits_of(c)->levels) {
            say(s, "%s", between(at++, total));
            say_amount(s, c, c->unit, false);
        }
    }
    for (size_t i = 0; i < space->count; i++) {
        const tacet_space_column *c = &space->columns[i];
        if (tacet_space_traits_of(c)->levels) {
            say(s, "%sthe level of %s", between(at++, total), c->name);
        } else if (c->missing == TACET_SPACE_FLAG) {
            say(s, "%swhether %s is missing", between(at++, total), c->name);
        }
    }
}

/* Whether the claim is about a row or about a person, and what it is of the latter. */
static void say_person(sentence *s, const tacet_manifest *m) {
    char eps[DIGITS];
    char delta[DIGITS];
    if (m->person_rows == 0) {
        say(s, " That is a claim about one row: a person who has several, here or in the tables of several holders, is "
               "hidden less.");
        return;
    }
    say(s,
        " A person has at most %zu row%s here%s%s%s: such changes of all of them together are hidden at eps = %s, "
        "delta "
        "= %s.",
        m->person_rows, m->person_rows > 1 ? "s" : "", m->person[0] != '\0' ? " (column " : "", m->person,
        m->person[0] != '\0' ? ")" : "", six(eps, m->person_eps, true),
        m->person_delta > 0 ? six(delta, m->person_delta, true) : "0");
    say(s, " For a person in the tables of several holders the costs add up.");
}

/* Both numbers, side by side, wherever a guarantee of a release is told: eps is that of a move by one unit, and nobody
 * may take it for that of any change. */
static void say_claim(sentence *s, const tacet_manifest *m) {
    char eps[DIGITS];
    char delta[DIGITS];
    char far[DIGITS];
    const double any = m->eps_at[TACET_MANIFEST_DISTANCES - 1];
    (void)six(eps, m->eps, true);
    (void)snprintf(delta, sizeof delta, "%s", m->delta > 0 ? six(far, m->delta, true) : "0");
    if (any <= m->eps) {
        say(s,
            "The release hides any change of one row within the bounds at eps = %s, delta = "
            "%s.",
            eps, delta);
        return;
    }
    say(s, "The release hides a change of one row by one unit (alone: ");
    say_units(s, m);
    say(s, ") at eps = %s, delta = %s", eps, delta);
    if (isfinite(any)) {
        say(s, ", and any other change within the bounds, up to one row becoming any other, only at eps = %s.",
            six(far, any, true));
    } else {
        say(s, "; of any other change it says nothing.");
    }
}

char *tacet_manifest_claim(const tacet_manifest *m) {
    sentence s = {.text = malloc(SENTENCE)};
    if (!m->is_private) {
        say(&s, tacet_manifest_law(m) == NULL
                    ? "Nothing is protected: whoever knows a few records can compute all the others from this release."
                    : "Nothing is protected: the noise was drawn from a seed, for tests only.");
    } else {
        say_claim(&s, m);
    }
    return s.text;
}

/* What lies between one unit and any change. */
static void say_distances(sentence *s, const tacet_manifest *m) {
    char number[DIGITS];
    say(s,
        " One unit is distance 1, where two values of one row are at distance sqrt(sum of (change / unit)^2 over its "
        "numbers)%s",
        tacet_space_categories(&m->space) > 0 ? " + 1 for each category that changes" : "");
    for (size_t d = 1; d + 1 < TACET_MANIFEST_DISTANCES && isfinite(m->eps_at[d]); d++) {
        say(s, "%s at distance %zu it is eps = %s", d > 1 ? "," : ";", d + 1, six(number, m->eps_at[d], true));
    }
    if (!is_pure(m) && isfinite(tacet_manifest_pure_eps(m))) {
        say(s, "; it is hidden at eps = %s with delta = 0, too", six(number, tacet_manifest_pure_eps(m), true));
    }
    say(s, ".");
}

char *tacet_manifest_protects(const tacet_manifest *m) {
    sentence s = {.text = tacet_manifest_claim(m)};
    s.at = s.text != NULL ? strlen(s.text) : 0;
    if (m->is_private) {
        say_distances(&s, m);
        say_person(&s, m);
    }
    return s.text;
}

char *tacet_manifest_noise(const tacet_manifest *m) {
    sentence s = {.text = malloc(SENTENCE)};
    if (tacet_manifest_projects(m)) {
        say(&s, "%.3g in each coordinate", m->sigma);
        return s.text;
    }
    bool first = true;
    for (size_t i = 0; i < m->space.count; i++) {
        const tacet_space_column *c = &m->space.columns[i];
        const tacet_space_traits *kind = tacet_space_traits_of(c);
        if (kind->levels) {
            continue;
        }
        const double amount = kind->factor ? pow(c->unit, m->sigma) : c->unit * m->sigma;
        say(&s, "%s%s%.3g%s in %s", first ? "" : ", ", kind->factor ? "a factor of " : "", amount, kind->days, c->name);
        first = false;
    }
    for (size_t i = 0; i < tacet_space_categories(&m->space); i++) {
        tacet_manifest_level level;
        tacet_manifest_level_of(&level, &m->space, i, m->eps);
        say(&s, "%s%s%s kept with probability %.3g",
            first    ? ""
            : i == 0 ? "; "
                     : ", ",
            level.flag ? "whether there is a value in " : "", m->space.columns[level.column].name, level.keep);
        first = false;
    }
    return s.text;
}

char *tacet_manifest_uncovered(const tacet_manifest *m) {
    char eps[DIGITS];
    sentence s = {.text = malloc(SENTENCE)};
    if (!m->outputs_private) {
        say(&s,
            "Measured values are not protected: whoever asks about a row learns its value as it is, which can tell "
            "about its record what the release hides. The number of records, their order, and which rows were measured "
            "are not hidden either.");
    } else {
        say(&s,
            "The number of records, their order, and which rows were measured are not hidden. Measured values are "
            "randomised with eps = %s each before they leave; a record that is measured pays for every one of its "
            "answers in addition to the release, and the ledger adds that up.",
            six(eps, m->outputs.eps, true));
    }
    return s.text;
}
