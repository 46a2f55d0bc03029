/* SPDX-License-Identifier: Apache-2.0 */
/* log_release.c - what leaves a log: one choice, entered in the ledger beside it.
 * Ring: trusted. Source: src/contextual/README.md, section 5. Cost: that of the choice. */
#include "contextual/trusted/log_internal.h"

#include "core/fail.h"
#include "core/memory.h"
#include "registry/ledger_beside.h"
#include "dp/open/charge_rows.h"
#include "registry/registry.h"

#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tacet/io/csv.h>
#include <unistd.h>

enum { CHOICES_MOST = 10000 };

/* --- the ledger -------------------------------------------------------------------------------------------------- */

/* Of a release that is being made. */
typedef struct entered {
    tacet_ledger *ledger;
    tacet_noise *noise; /* seeded; NULL: private */
    char uncovered[512], covered[128];
} entered;

/* What a choice costs: of a row, or of all rows of a person. One noise hides them (src/dp/persons.md). */
static tacet_status price_of(tacet_charge *out, const tacet_contextual_log *l, tacet_error *err) {
    tacet_charge_init(out);
    tacet_charge_pure(out, l->settings.eps);
    return tacet__charge_rows(out, l->rows_per_person, false, err);
}

/* Whom a release protects, as the ledger has it. */
static const char *covered(entered *e, const tacet_contextual_log *l) {
    if (l->rows_per_person == 0) {
        return "each row: its contexts and reward become any others";
    }
    (void)snprintf(e->covered, sizeof e->covered,
                   "each person: contexts and rewards of all of their rows (at most %zu) become any others",
                   l->rows_per_person);
    return e->covered;
}

static tacet_status open_log_file(tacet_csv **out, const void *user, size_t file, tacet_error *err) {
    struct stat st;
    (void)file;
    *out = NULL;
    /* A pipe is empty the second time, and would be known to nobody. */
    return stat(user, &st) == 0 && !S_ISREG(st.st_mode)
               ? tacet__fail(err, TACET_INVALID, "%s: the table is read twice, so it must be a file",
                             (const char *)user)
               : tacet_csv_open_file(out, user, NULL, err);
}

static tacet_status enter(entered *e, const tacet_contextual_log *l, const tacet_contextual_entry *entry,
                          tacet_error *err) {
    char beside[TACET__PATH];
    tacet_ledger_settings settings;
    const tacet__rows rows = {.files = 1, .open = open_log_file, .user = l->path};
    *e = (entered){0};
    if (entry->seeded) {
        return tacet_noise_open_seeded(&e->noise, entry->seed, 0, err);
    }
    tacet_status status = tacet__beside(beside, l->path, ".ledger.db", err);
    if (status != TACET_OK) {
        return status;
    }
    const char *path = entry->ledger != NULL ? entry->ledger : beside;
    tacet_ledger_settings_defaults(&settings);
    settings.accounting = TACET_ACCOUNTING_BASIC;
    tacet_charge price;
    status = price_of(&price, l, err);
    if (status != TACET_OK) {
        return status;
    }
    settings.eps = entry->budget > 0 ? entry->budget : price.eps;
    settings.delta = 0;
    settings.use_stored = access(path, F_OK) == 0;
    settings.create = !settings.use_stored;
    const tacet__registry_release release = {.rows = rows,
                                             .few = entry->few,
                                             .ledger = path,
                                             .what = "choice",
                                             .ticket = entry->ticket,
                                             .new_budget = entry->new_budget};
    status = tacet__registry_open(&e->ledger, &release, &settings, err);
    if (status == TACET_OK) {
        tacet__beside_note(beside, path);
    }
    return status;
}

/* What is not covered, with the reason for a new budget when there is one: it stands in the ledger. */
static const char *uncovered(entered *e, const tacet_contextual_entry *entry, const char *fields) {
    if (entry->new_budget == NULL) {
        return fields;
    }
    (void)snprintf(e->uncovered, sizeof e->uncovered, "%s,what earlier budgets released (new budget: %.300s)", fields,
                   entry->new_budget);
    return e->uncovered;
}

static void leave(entered *e) {
    tacet_noise_close(e->noise);
    tacet_ledger_close(e->ledger);
}

/* --- what leaves ------------------------------------------------------------------------------------------------- */

/* Embedded actions, and the same as records. */
static tacet_status candidates(const tacet_contextual_log *l, double **records, double **embedded, size_t *count,
                               size_t per_axis, tacet_error *err) {
    const tacet_space part = {.columns = l->space.columns, .count = l->action_columns};
    *count = 1;
    for (size_t c = 0; c < part.count; c++) {
        *count *= per_axis;
        if (*count > CHOICES_MOST || per_axis < 2) {
            return tacet__fail(err, TACET_INVALID, "at least 2 values an action, and at most %d candidates",
                               (int)CHOICES_MOST);
        }
    }
    *records = TACET__ZALLOC(double, *count *part.count);
    *embedded = TACET__ZALLOC(double, *count *part.count);
    if (*records == NULL || *embedded == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu candidates", *count);
    }
    for (size_t j = 0; j < *count; j++) {
        size_t rest = j;
        double *at = *embedded + j * part.count;
        for (size_t c = 0; c < part.count; c++, rest /= per_axis) {
            const double t = (double)(rest % per_axis) / (double)(per_axis - 1);
            at[c] = rest % per_axis + 1 == per_axis ? l->upper[c] : l->lower[c] + t * (l->upper[c] - l->lower[c]);
        }
        tacet_space_invert(&part, *records + j * part.count, at);
        tacet_space_embed(&part, at, *records + j * part.count);
    }
    return TACET_OK;
}

tacet_status tacet_contextual_log_choose(tacet_contextual_log *l, tacet_release **release, double **actions,
                                         double *used_tau, double tau, size_t per_axis, const double *context,
                                         const tacet_contextual_entry *entry, tacet_error *err) {
    const tacet_space part = {.columns = l->space.columns + l->action_columns,
                              .count = l->space.count - l->action_columns};
    entered e = {0};
    double point[TACET_CONTEXTUAL_COORDINATES_MOST] = {0};
    double *embedded = NULL;
    size_t count = 0;
    tacet_contextual_chooser *chooser = NULL;
    *release = NULL;
    *actions = NULL;
    for (size_t c = 0; c < part.count; c++) {
        if (!tacet_space_holds(&part.columns[c], context[c])) {
            return tacet__fail(err, TACET_INVALID, "the context lies outside the bounds of '%s'", part.columns[c].name);
        }
    }
    tacet_space_embed(&part, point, context);
    tacet_status status = candidates(l, actions, &embedded, &count, per_axis, err);
    if (status == TACET_OK) {
        status = tacet_contextual_chooser_create(&chooser, l->learner, tau, err);
    }
    if (status == TACET_OK) {
        *used_tau = tacet_contextual_chooser_tau(chooser);
        status = enter(&e, l, entry, err);
    }
    if (status == TACET_OK) {
        const tacet_ask ask = {.ledger = e.ledger,
                               .noise = e.noise,
                               .ticket = entry->ticket,
                               .what = "one action for one context",
                               .to_whom = entry->to_whom,
                               .covered_fields = "contexts,reward",
                               .uncovered_fields = uncovered(&e, entry, "actions,number of rows,the context asked for"),
                               .rows_each = l->rows_per_person,
                               .covered_records = covered(&e, l)};
        status = tacet_contextual_choose(chooser, release, &ask, point, embedded, count, err);
    }
    if (status != TACET_OK) {
        free(*actions);
        *actions = NULL;
    }
    tacet_contextual_chooser_free(chooser);
    free(embedded);
    leave(&e);
    return status;
}
