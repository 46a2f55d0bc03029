/* SPDX-License-Identifier: Apache-2.0 */
/* warn.c - what the settings of a release make of its noise, in words, before it is spent.
 * Ring: shared. All of it comes from public numbers but the number of records, which the release tells anyway. */
#include <tacet/outsourced/shared/manifest.h>

#include "core/number.h"
#include "outsourced/shared/coordinates.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { WORDS = 320 };

typedef struct listener {
    void (*say)(const char *words, void *user);
    void *user;
} listener;

static void say(const listener *to, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(const listener *to, const char *format, ...) {
    char words[WORDS];
    va_list list;
    va_start(list, format);
    (void)vsnprintf(words, sizeof words, format, list);
    va_end(list);
    to->say(words, to->user);
}

/* The noise in a numeric column, in its own units: a factor in a logarithmic one. False: there is no such column. */
static bool column_noise(double *noise, bool *factor, const tacet_manifest *m, const char *name) {
    size_t at = 0;
    if (tacet_space_find(&m->space, &at, name, NULL) != TACET_OK) {
        return false;
    }
    const tacet_space_column *c = &m->space.columns[at];
    const tacet_space_traits *kind = tacet_space_traits_of(c);
    *factor = kind->factor;
    *noise = *factor ? pow(c->unit, m->sigma) : c->unit * m->sigma;
    return !kind->levels;
}

/* One "A=L" against the noise in that column. */
static void check_lengthscale(const tacet_manifest *m, const char *item, size_t size, const listener *to) {
    char name[TACET_SPACE_NAME] = "";
    const char *equals = memchr(item, '=', size);
    double length = 0, noise = 0;
    bool factor = false;
    if (equals != NULL) {
        (void)snprintf(name, sizeof name, "%.*s", (int)(equals - item), item);
    }
    if (equals == NULL ||
        tacet__number_parse(&length, equals + 1, size - (size_t)(equals + 1 - item)) != TACET__NUMBER_OK ||
        !(length > 0) || !column_noise(&noise, &factor, m, name)) {
        say(to, "--lengthscale: '%.*s' is not COLUMN=LENGTH of a numeric column", size < 60 ? (int)size : 60, item);
    } else if (length < noise) {
        const char *what = factor ? "a factor of " : "";
        say(to,
            "in '%s' the value varies over %s%.3g, and the noise is %s%.3g: what varies over less than the noise "
            "cannot be seen",
            name, what, length, what, noise);
    }
}

void tacet_manifest_warn(const tacet_manifest *m, const char *lengthscales, void (*hear)(const char *words, void *user),
                         void *user) {
    const listener to = {hear, user};
    if (!m->is_private) {
        return;
    }
    for (const char *at = lengthscales; at != NULL && *at != '\0';) {
        const size_t size = strcspn(at, ",");
        check_lengthscale(m, at, size, &to);
        at += size + (at[size] == ',');
    }
    if (m->eps > 10) {
        say(&to, "eps = %g is above 10: a change at distance 1 is hardly hidden", m->eps);
    }
    /* An (eps, delta) guarantee permits to hand out each record as it is with probability delta: below 1/(10 n) that is
     * less than a tenth of a record to be expected in all. */
    if (m->delta > 0 && m->delta > 0.1 / (double)m->rows) {
        say(&to, "delta = %g is above 1/(10 n) = %.2g for %zu records: it may cover some records not at all", m->delta,
            0.1 / (double)m->rows, m->rows);
    }
    if (m->sigma > 5) {
        say(&to,
            "the noise is %.3g units: a unit is far below it. Larger units protect larger changes; a larger eps means "
            "less noise",
            m->sigma);
    }
    for (size_t i = 0; i < m->column_count && !tacet_manifest_projects(m); i++) {
        const double range = (m->columns[i].hi - m->columns[i].lo) / m->columns[i].unit;
        if (m->sigma > range / 4) {
            say(&to,
                "the noise in '%s' is %.0f %% of the width of its bounds: what varies over less than that cannot be "
                "seen",
                m->columns[i].name, 100 * m->sigma / range);
        }
    }
}
