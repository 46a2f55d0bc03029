/* SPDX-License-Identifier: Apache-2.0 */
/* warn.c - what the settings of a release make of its noise, in words, before it is spent.
 * Ring: shared. All of it comes from public numbers but the number of records, which the release tells anyway. */
#include <tacet/outsourced/shared/manifest.h>

#include "outsourced/shared/coordinates.h"

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

void tacet_manifest_warn(const tacet_manifest *m, void (*hear)(const char *words, void *user), void *user) {
    const listener to = {hear, user};
    if (!m->is_private) {
        return;
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
