/* SPDX-License-Identifier: Apache-2.0 */
/* log_release.c - what leaves a log: a model, or one choice, entered in the ledger beside it; and what its holder is
 * told first.
 * Ring: trusted. Source: src/contextual/README.md, "Logs" and "A release that was interrupted": each row must stay in
 * one part, so a hash of the rows in their order is in the name that the parts have in common. Cost: that of the
 * release. */
#include "contextual/trusted/log_internal.h"

#include "core/fail.h"
#include "core/memory.h"
#include "core/numbers.h"
#include "registry/ledger_beside.h"
#include "dp/ledger/seal.h"
#include "contextual/open/internal.h"
#include "dp/open/charge_rows.h"
#include "dp/open/entry.h"
#include "registry/registry.h"

#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tacet/dp/open/calibrate.h>
#include <tacet/io/csv.h>
#include <unistd.h>

enum { CHOICES_MOST = 10000 };

/* --- told to the holder ------------------------------------------------------------------------------------------ */

/* Kolmogorov's test of uniformity on [lower, upper]; sorts values. */
static double uniform_p(double *values, size_t n, double lower, double upper) {
    double distance = 0;
    double p = 0;
    tacet__sort(values, n);
    for (size_t i = 0; i < n; i++) {
        const double u = (values[i] - lower) / (upper - lower);
        distance = fmax(distance, fmax((double)(i + 1) / (double)n - u, u - (double)i / (double)n));
    }
    /* Kolmogorov's limit with Stephens' correction for finite n. */
    const double root = sqrt((double)n);
    const double t = distance * (root + 0.12 + 0.11 / root);
    for (int k = 1; k <= 100; k++) {
        p += (k % 2 == 1 ? 2 : -2) * exp(-2.0 * k * k * t * t);
    }
    return t < 0.2 ? 1 : fmin(fmax(p, 0), 1);
}

double tacet_contextual_log_uniform_p(const tacet_contextual_log *l, const char **column) {
    double least = 1;
    double *values = TACET__ZALLOC(double, l->count + 1);
    *column = NULL;
    for (size_t c = 0; c < l->action_columns && values != NULL; c++) {
        const tacet_space_column *k = &l->space.columns[c];
        const tacet_space_traits *kind = tacet_space_traits_of(k);
        if (kind->levels || kind->whole || kind->factor || l->count == 0) {
            continue;
        }
        for (size_t i = 0; i < l->count; i++) {
            values[i] = l->rows[i * l->width + c];
        }
        const double p = uniform_p(values, l->count, k->lo, k->hi);
        if (p < least) {
            least = p;
            *column = k->name;
        }
    }
    free(values);
    return least;
}

typedef struct findings {
    tacet_contextual_finding *list;
    size_t count;
} findings;

static void note(findings *f, tacet_contextual_oddity oddity, const char *column, size_t rows, size_t first) {
    if (rows > 0 && f->count < TACET_CONTEXTUAL_FINDINGS_MOST) {
        f->list[f->count++] =
            (tacet_contextual_finding){.oddity = oddity, .column = column, .rows = rows, .first = first + 1};
    }
}

/* How many rows have `odd` in this place of a row, and the first of them. */
static void find_rows(const tacet_contextual_log *l, findings *f, tacet_contextual_oddity oddity, const char *name,
                      size_t place, double low, double high) {
    size_t rows = 0;
    size_t first = 0;
    for (size_t i = 0; i < l->count; i++) {
        const double at = l->rows[i * l->width + place];
        const bool odd = oddity == TACET_CONTEXTUAL_NO_LEVEL ? isnan(at) : !(at >= low && at <= high) && !isnan(at);
        first = odd && rows == 0 ? i : first;
        rows += odd ? 1 : 0;
    }
    note(f, oddity, name, rows, first);
}

/* Actions that no row has, and pairs of action and context levels that none has. */
static tacet_status find_untried(const tacet_contextual_log *l, findings *f, tacet_error *err) {
    const size_t contexts = l->context_count > 0 ? l->context_count : 1;
    size_t *seen = TACET__ZALLOC(size_t, l->action_count * contexts);
    size_t missing = 0;
    size_t pairs = 0;
    size_t first = 0;
    if (seen == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu actions", l->action_count);
    }
    for (size_t i = 0; i < l->count; i++) {
        size_t action = 0;
        size_t stride = 1;
        size_t context = 0;
        bool levels = true;
        for (size_t c = 0; c < l->space.count; c++) {
            const tacet_space_column *k = &l->space.columns[c];
            const double at = l->rows[i * l->width + c];
            levels = levels && tacet_space_traits_of(k)->levels;
            stride = c == l->action_columns ? 1 : stride;
            const size_t add = levels && at > 0 ? (size_t)at * stride : 0;
            action += c < l->action_columns ? add : 0;
            context += c < l->action_columns ? 0 : add;
            stride *= levels ? k->level_count : 1;
        }
        if (action < l->action_count && context < contexts) {
            seen[action * contexts + context]++;
        }
    }
    bool all_levels = true;
    for (size_t c = 0; c < l->space.count; c++) {
        all_levels = all_levels && tacet_space_traits_of(&l->space.columns[c])->levels;
    }
    for (size_t a = 0; a < l->action_count; a++) {
        size_t rows = 0;
        for (size_t k = 0; k < contexts; k++) {
            rows += seen[a * contexts + k];
            pairs += all_levels && seen[a * contexts + k] == 0 ? 1 : 0;
        }
        first = rows == 0 && missing == 0 ? a : first;
        missing += rows == 0 ? 1 : 0;
    }
    note(f, TACET_CONTEXTUAL_UNTRIED, l->space.columns[0].name, missing, first);
    note(f, TACET_CONTEXTUAL_UNTRIED_IN, l->space.columns[0].name, pairs, 0);
    free(seen);
    return TACET_OK;
}

/* Where propensities are right, the sum of 1/p over the rows that have an action is the number of rows, but for chance:
 * its variance is about sum 1/p^2 - rows. */
static tacet_status find_mismatch(const tacet_contextual_log *l, findings *f, double least, tacet_error *err) {
    static const double PLAIN = 5; /* standard deviations: once in a million where they are right */
    const size_t n = l->action_count;
    double *sums = TACET__ZALLOC(double, 2 * n);
    size_t odd = 0, first = 0;
    if (sums == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu actions", n);
    }
    for (size_t i = 0; i < l->count; i++) {
        const double *row = l->rows + i * l->width;
        const double p = fmin(fmax(row[l->space.count + 1], least), 1);
        size_t action = 0, stride = 1;
        for (size_t c = 0; c < l->action_columns; c++) {
            action += row[c] > 0 ? (size_t)row[c] * stride : 0;
            stride *= l->space.columns[c].level_count;
        }
        if (action < n && p > 0) {
            sums[action] += 1 / p;
            sums[n + action] += 1 / (p * p);
        }
    }
    for (size_t a = 0; a < n; a++) {
        const double rows = (double)l->count;
        const double sd = sqrt(fmax(sums[n + a] - rows, rows));
        const bool off = sums[a] > 0 && fabs(sums[a] - rows) > PLAIN * sd;
        first = off && odd == 0 ? a : first;
        odd += off ? 1 : 0;
    }
    note(f, TACET_CONTEXTUAL_MISMATCH, l->propensity, odd, first);
    free(sums);
    return TACET_OK;
}

tacet_status tacet_contextual_log_findings(const tacet_contextual_log *l,
                                           tacet_contextual_finding out[TACET_CONTEXTUAL_FINDINGS_MOST], size_t *count,
                                           tacet_error *err) {
    findings f = {.list = out};
    tacet_status status = TACET_OK;
    for (size_t c = l->action_columns; c < l->space.count; c++) {
        const tacet_space_column *k = &l->space.columns[c];
        if (tacet_space_traits_of(k)->levels) {
            find_rows(l, &f, TACET_CONTEXTUAL_NO_LEVEL, k->name, c, 0, 0);
        } else {
            find_rows(l, &f, TACET_CONTEXTUAL_OUTSIDE, k->name, c, k->lo, k->hi);
        }
    }
    find_rows(l, &f, TACET_CONTEXTUAL_OUTSIDE, l->reward, l->space.count, l->settings.reward_lower,
              l->settings.reward_upper);
    if (l->settings.propensities) {
        const double least =
            l->settings.propensity_least > 0 ? l->settings.propensity_least : 0.25 / (double)l->action_count;
        find_rows(l, &f, TACET_CONTEXTUAL_PROPENSITY, l->propensity, l->space.count + 1, least, 1);
        status = find_mismatch(l, &f, least, err);
    }
    if (status == TACET_OK && l->settings.discrete) {
        status = find_untried(l, &f, err);
    }
    *count = f.count;
    return status;
}

/* An action by its number, from 1: by its level, where it is one. */
static const char *action_name(char out[TACET_SPACE_NAME], const tacet_contextual_log *l, size_t number) {
    if (l->action_columns == 1 && tacet_space_traits_of(&l->space.columns[0])->levels) {
        tacet_space_text(&l->space.columns[0], out, (double)(number - 1));
    } else {
        (void)snprintf(out, TACET_SPACE_NAME, "number %zu", number);
    }
    return out;
}

void tacet_contextual_log_words(const tacet_contextual_log *l, char out[TACET_CONTEXTUAL_WORDS],
                                const tacet_contextual_finding *f) {
    char name[TACET_SPACE_NAME];
    const int at = snprintf(out, TACET_CONTEXTUAL_WORDS, "%s: %zu ", f->column, f->rows);
    char *rest = out + at;
    const size_t room = TACET_CONTEXTUAL_WORDS - (size_t)at;
    switch (f->oddity) {
    case TACET_CONTEXTUAL_OUTSIDE:
        (void)snprintf(rest, room, "of %zu rows lie outside, the first is row %zu; they count as the nearest bound",
                       l->count, f->first);
        break;
    case TACET_CONTEXTUAL_NO_LEVEL:
        (void)snprintf(rest, room, "of %zu rows have no level, the first is row %zu; they count as the first level",
                       l->count, f->first);
        break;
    case TACET_CONTEXTUAL_UNTRIED:
        (void)snprintf(rest, room, "actions were never tried, the first is %s: nothing is learnt of them",
                       action_name(name, l, f->first));
        break;
    case TACET_CONTEXTUAL_UNTRIED_IN:
        (void)snprintf(rest, room, "pairs of action and context were never seen");
        break;
    case TACET_CONTEXTUAL_PROPENSITY:
        (void)snprintf(rest, room, "of %zu rows are no probability or below the least, which they count as", l->count);
        break;
    case TACET_CONTEXTUAL_MISMATCH:
        (void)snprintf(rest, room,
                       "actions were taken plainly more or less often than this column says, the first is %s: the "
                       "model will be biased",
                       action_name(name, l, f->first));
        break;
    }
}

/* --- the ledger -------------------------------------------------------------------------------------------------- */

/* Of a release that is being made. */
typedef struct entered {
    tacet_ledger *ledger;
    tacet_noise *noise; /* seeded; NULL: private */
    char uncovered[512], covered[128];
} entered;

/* A release is of these rows in this order: that stands in the ledger, in the name of the group of its parts. Under a
 * key, because the ledger is shown to others. */
static tacet_status bind_rows(const tacet_contextual_log *l, const char *ledger, tacet_error *err) {
    unsigned char key[TACET__SEAL_KEY];
    const tacet_status status = tacet__seal_derive(key, ledger, "rows   1", err);
    if (status == TACET_OK) {
        (void)crypto_generichash(l->learner->rows, sizeof l->learner->rows, l->hash, sizeof l->hash, key, sizeof key);
    }
    sodium_memzero(key, sizeof key);
    return status;
}

/* What the release costs: of a row, or of all rows of a person. One noise hides them (src/dp/persons.md). */
static tacet_status price_of(tacet_charge *out, const tacet_contextual_log *l, tacet_error *err) {
    const tacet_contextual_settings *s = &l->settings;
    double mu = 0;
    tacet_status status = TACET_OK;
    tacet_charge_init(out);
    if (!s->gaussian) {
        tacet_charge_pure(out, s->eps);
    } else if (s->euclidean) {
        tacet_charge_approx(out, s->eps, s->delta);
    } else {
        status = tacet_gdp_mu(&mu, s->eps, s->delta, err);
        tacet_charge_gaussian(out, mu * (1 + 1e-9), s->eps, s->delta); /* above what solving for it rounds */
    }
    return status != TACET_OK ? status : tacet__charge_rows(out, l->rows_per_person, false, err);
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

/* The log as the registry looks at it. */
static tacet__rows rows_of(const tacet_contextual_log *l, const char *names[TACET_SPACE_COLUMNS + 2]) {
    if (l->path != NULL) {
        return (tacet__rows){.files = 1, .open = open_log_file, .user = l->path};
    }
    for (size_t i = 0; i < l->space.count; i++) {
        names[i] = l->space.columns[i].name;
    }
    names[l->space.count] = l->reward;
    names[l->space.count + 1] = l->propensity;
    return (tacet__rows){.numbers = l->rows,
                         .width = l->width,
                         .count = l->count,
                         .names = names,
                         .columns = l->space.count + (l->propensity[0] != '\0' ? 2 : 1),
                         .space = &l->space};
}

static tacet_status enter(entered *e, const tacet_contextual_log *l, const tacet_contextual_entry *entry,
                          tacet_error *err) {
    char beside[TACET__PATH];
    tacet_ledger_settings settings;
    const char *names[TACET_SPACE_COLUMNS + 2];
    const tacet__rows rows = rows_of(l, names);
    *e = (entered){0};
    if (entry->seeded) {
        return tacet_noise_open_seeded(&e->noise, entry->seed, 0, err);
    }
    tacet_status status = l->path != NULL         ? tacet__beside(beside, l->path, ".ledger.db", err)
                          : entry->ledger == NULL ? tacet__registry_ledger(beside, &rows, err)
                                                  : TACET_OK;
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
    settings.delta = l->settings.gaussian ? price.delta : 0;
    settings.use_stored = access(path, F_OK) == 0;
    settings.create = !settings.use_stored;
    const tacet__registry_release release = {.rows = rows,
                                             .few = entry->few,
                                             .ledger = path,
                                             .what = "model or choice",
                                             .ticket = entry->ticket,
                                             .new_budget = entry->new_budget};
    status = tacet__registry_open(&e->ledger, &release, &settings, err);
    if (status == TACET_OK && l->path != NULL) {
        tacet__beside_note(beside, path);
    }
    return status != TACET_OK ? status : bind_rows(l, path, err);
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

tacet_status tacet_contextual_log_release(tacet_contextual_log *l, tacet_contextual_model **out,
                                          const tacet_contextual_entry *entry, tacet_error *err) {
    entered e = {0};
    *out = NULL;
    /* Before a ledger is made: its budget is fixed by the first release, and this would be none. */
    tacet_status status = tacet_contextual_enough(l->learner, err);
    if (status == TACET_OK) {
        status = enter(&e, l, entry, err);
    }
    if (status == TACET_OK) {
        const tacet_ask ask = {.ledger = e.ledger,
                               .noise = e.noise,
                               .ticket = entry->ticket,
                               .what = "model of rewards over actions and contexts",
                               .to_whom = entry->to_whom,
                               .covered_fields =
                                   l->settings.propensities ? "contexts,reward,propensity" : "contexts,reward",
                               .uncovered_fields = uncovered(&e, entry, "actions,number of rows"),
                               .rows_each = l->rows_per_person,
                               .covered_records = covered(&e, l)};
        status = tacet_contextual_release(l->learner, out, &ask, err);
    }
    if (status == TACET_OK && l->rows_per_person > 0) {
        tacet_charge price;
        status = price_of(&price, l, err);
        (*out)->parts.person_rows = l->rows_per_person;
        (*out)->parts.person_eps = price.eps;
        (*out)->parts.person_delta = price.delta;
    }
    leave(&e);
    return status;
}

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
    *embedded = TACET__ZALLOC(double, *count * l->action_dims);
    if (*records == NULL || *embedded == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu candidates", *count);
    }
    for (size_t j = 0; j < *count; j++) {
        size_t rest = j;
        double *at = *embedded + j * l->action_dims;
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
    if (l->lists) {
        return tacet__fail(err, TACET_UNSUPPORTED, "a choice needs numeric columns; release a model instead");
    }
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
