/* SPDX-License-Identifier: Apache-2.0 */
/* release.c - what leaves a log of categories: one table through the gate, and before it, where rewards may be money,
 * the law of rewards from rows that nothing else reads.
 * Ring: trusted. Proof: src/ab/README.md, "Claim". Cost: a pass a
 * stage. */
#include "ab/open/internal.h"
#include "tally/gate.h"
#include "ab/trusted/internal.h"
#include "core/fail.h"
#include "core/memory.h"
#include "dp/ledger/seal.h"
#include "dp/open/charge_rows.h"
#include "registry/default_ledger.h"
#include "registry/registry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tacet/io/csv.h>
#include <unistd.h>

static const char PROOF[] = "src/ab/README.md, one table";
static const double KNOTS_SENSITIVITY = 2; /* L1: two shares of 1 */
/* Of the hash of space, actions, reward and range, and of the rows under the ledger's key, in the ledger's words: a
 * ticket answers no other question, nor for other rows. */
enum { QUESTION_BYTES = 8 };

/* --- the ledger -------------------------------------------------------------------------------------------------- */

typedef struct entered {
    tacet_ledger *ledger;
    tacet_noise *noise; /* seeded; NULL: private */
    unsigned char key[TACET_AB_DEAL_KEY];
    char rows[2 * crypto_generichash_BYTES_MIN + 1]; /* stands for the rows in their order, under the ledger's key */
    char uncovered[512], covered[128];
} entered;

static void derive(entered *e, const tacet_ab_log *l, const unsigned char key[TACET__SEAL_KEY]) {
    unsigned char hash[crypto_generichash_BYTES_MIN];
    (void)crypto_generichash(e->key, sizeof e->key, (const unsigned char *)"deal", 4, key, TACET__SEAL_KEY);
    (void)crypto_generichash(hash, sizeof hash, l->hash, sizeof l->hash, key, TACET__SEAL_KEY);
    (void)sodium_bin2hex(e->rows, sizeof e->rows, hash, sizeof hash);
}

static tacet_status open_file(tacet_csv **out, const void *user, size_t file, tacet_error *err) {
    struct stat st;
    (void)file;
    *out = NULL;
    return stat(user, &st) == 0 && !S_ISREG(st.st_mode) /* a pipe is empty the second time */
               ? tacet__fail(err, TACET_INVALID, "%s: the table is read twice, so it must be a file",
                             (const char *)user)
               : tacet_csv_open_file(out, user, NULL, err);
}

/* The log as the registry looks at it. */
static tacet__rows rows_of(const tacet_ab_log *l, const char *names[TACET_SPACE_COLUMNS + 1]) {
    if (l->path != NULL) {
        return (tacet__rows){.files = 1, .open = open_file, .user = l->path};
    }
    for (size_t i = 0; i < l->space.count; i++) {
        names[i] = l->space.columns[i].name;
    }
    names[l->space.count] = l->reward;
    return (tacet__rows){.numbers = l->rows,
                         .width = l->space.count + 1,
                         .count = l->count,
                         .names = names,
                         .columns = l->space.count + 1,
                         .space = &l->space};
}

/* What the release costs: of a row, or of all rows of a person, which one noise hides (src/dp/persons.md). */
static tacet_status price_of(double *eps, const tacet_ab_log *l, tacet_error *err) {
    tacet_charge price;
    tacet_charge_init(&price);
    tacet_charge_pure(&price, l->plan.eps);
    const tacet_status status = tacet__charge_rows(&price, l->rows_per_person, false, err);
    *eps = price.eps;
    return status;
}

static tacet_status open_ledger(entered *e, const tacet_ab_log *l, const tacet_contextual_entry *entry,
                                tacet_error *err) {
    char beside[TACET__PATH];
    unsigned char key[TACET__SEAL_KEY] = {0};
    tacet_ledger_settings settings;
    const char *names[TACET_SPACE_COLUMNS + 1];
    const tacet__rows rows = rows_of(l, names);
    memset(e, 0, sizeof *e);
    if (entry->seeded) {
        memcpy(key, &entry->seed, sizeof entry->seed);
        derive(e, l, key);
        return tacet_noise_open_seeded(&e->noise, entry->seed, 0, err);
    }
    if (l->engine != NULL && entry->ledger == NULL) {
        return tacet__fail(err, TACET_INVALID,
                           "rows that are added up elsewhere are not seen here to be known again: name their ledger "
                           "(--ledger)");
    }
    tacet_status status = l->path != NULL         ? tacet__path_beside(beside, l->path, ".ledger.db", err)
                          : entry->ledger == NULL ? tacet__registry_ledger(beside, &rows, err)
                                                  : TACET_OK;
    double price = 0;
    TACET_THEN(status, price_of(&price, l, err));
    if (status != TACET_OK) {
        return status;
    }
    const char *path = entry->ledger != NULL ? entry->ledger : beside;
    tacet_ledger_settings_defaults(&settings);
    settings.accounting = TACET_ACCOUNTING_BASIC;
    settings.eps = entry->budget > 0 ? entry->budget : price;
    settings.delta = 0;
    settings.use_stored = access(path, F_OK) == 0;
    settings.create = !settings.use_stored;
    const tacet__registry_release release = {.rows = rows,
                                             .few = entry->few,
                                             .ledger = path,
                                             .what = "table of rewards",
                                             .ticket = entry->ticket,
                                             .new_budget = entry->new_budget};
    status = l->engine != NULL ? tacet__registry_reopen(&e->ledger, path, &settings, err)
                               : tacet__registry_open(&e->ledger, &release, &settings, err);
    if (status == TACET_OK && l->path != NULL) {
        tacet__link_beside(beside, path);
    }
    TACET_THEN(status, tacet__seal_derive(key, path, "ab     1", err));
    derive(e, l, key);
    sodium_memzero(key, sizeof key);
    return status;
}

/* --- stages ------------------------------------------------------------------------------------------------------ */

/* A tally through the gate: Laplace noise for this L1 sensitivity. */
static tacet_status release_tally(tacet_release **out, const tacet_tally *tally, size_t numbers, double rows,
                                  double sensitivity, double eps, const tacet_ask *ask, tacet_error *err) {
    tacet_raw *raw = NULL;
    *out = NULL;
    tacet_status status = tacet_tally_raw(tally, &raw, numbers, err);
    if (status == TACET_OK) {
        /* All numbers are at least 0 and add up to the rows, once a group: the Euclidean norm is no larger. */
        const tacet__tally_sums sums = {.raw = raw,
                                        .count = numbers,
                                        .norm = 0.5 * sensitivity * rows,
                                        .sensitivity = sensitivity,
                                        .eps = eps,
                                        .proof = PROOF};
        status = tacet__tally_release(out, &sums, ask, err);
    }
    tacet_raw_free(raw);
    return status;
}

/* The ask of one stage; stages of one release read disjoint rows, and are a group in the ledger. */
typedef struct stage {
    char ticket[TACET_TICKET_MOST + 1], group[TACET_TICKET_MOST + 1], what[128];
    tacet_ask ask;
} stage;

static void name_stage(stage *s, const tacet_ab_log *l, entered *e, const tacet_contextual_entry *entry,
                       const char *part, const unsigned char question[TACET_HASH_BYTES]) {
    unsigned char hash[crypto_generichash_BYTES_MIN];
    char hex[2 * QUESTION_BYTES + 1];
    (void)crypto_generichash(hash, sizeof hash, question, TACET_HASH_BYTES, (const unsigned char *)e->rows,
                             strlen(e->rows));
    (void)sodium_bin2hex(hex, sizeof hex, hash, QUESTION_BYTES);
    (void)snprintf(s->what, sizeof s->what, "table of rewards, %zu cells, %zu rows, question %s", l->plan.cells,
                   l->plan.rows, hex);
    (void)snprintf(s->ticket, sizeof s->ticket, "%.100s/%.20s", entry->ticket, part);
    (void)snprintf(s->group, sizeof s->group, "ab %.100s, rows %.64s", entry->ticket, e->rows);
    if (entry->new_budget != NULL) {
        (void)snprintf(e->uncovered, sizeof e->uncovered,
                       "rows,that a row is in the log,what earlier budgets released (new budget: %.300s)",
                       entry->new_budget);
    } else {
        (void)snprintf(e->uncovered, sizeof e->uncovered, "rows,that a row is in the log");
    }
    if (l->rows_per_person > 0) {
        (void)snprintf(e->covered, sizeof e->covered, "one person: all of their rows, at most %zu", l->rows_per_person);
    } else {
        (void)snprintf(e->covered, sizeof e->covered, "one row");
    }
    s->ask = (tacet_ask){.ledger = e->ledger,
                         .noise = e->noise,
                         .ticket = s->ticket,
                         .what = s->what,
                         .to_whom = entry->to_whom,
                         .covered_fields = "action,contexts,reward",
                         .uncovered_fields = e->uncovered,
                         .covered_records = e->covered,
                         .rows_each = l->rows_per_person,
                         .group = l->plan.money ? s->group : NULL,
                         .part = l->plan.money ? part : NULL,
                         .records = l->plan.rows};
}

/* Adds up the rows of one stage and releases them. */
static tacet_status run_stage(tacet_release **out, size_t *rows, const tacet_ab_log *l, entered *e,
                              const tacet_contextual_entry *entry, bool law, double top, tacet_error *err) {
    stage s;
    tacet_ab_stage pass = {.pass = law ? TACET_AB_LAW : TACET_AB_TABLE, .rows = l->plan.rows, .top = top};
    const tacet_ab_stage public = {.pass = TACET_AB_KNOWN};
    tacet_tally_plan question;
    tacet_tally *tally = NULL;
    *out = NULL;
    if (l->plan.money) {
        memcpy(pass.key, e->key, sizeof pass.key);
    }
    tacet_status status = tacet__ab_stage_plan(&question, l, &public, err);
    if (status != TACET_OK) {
        return status;
    }
    name_stage(&s, l, e, entry, law ? "knots" : "table", question.hash);
    status = tacet__ab_pass(l, &tally, &pass, err);
    if (status == TACET_OK) {
        const double taken = tacet__ab_taken(&l->plan, tally, pass.pass);
        *rows = (size_t)taken;
        status = release_tally(out, tally, tacet__ab_numbers(&l->plan, pass.pass), taken,
                               law ? KNOTS_SENSITIVITY : l->plan.sensitivity, l->plan.eps, &s.ask, err);
    }
    tacet_tally_free(tally);
    sodium_memzero(&pass, sizeof pass);
    return status;
}

/* An eps that no noise can be drawn for is refused before a ledger is made with it as its budget. */
static tacet_status try_noise(const tacet_ab_log *l, tacet_error *err) {
    const tacet__tally_sums sums = {.count = l->plan.numbers,
                                    .norm = 0.5 * l->plan.sensitivity * (double)l->plan.rows,
                                    .sensitivity = l->plan.sensitivity,
                                    .eps = l->plan.eps,
                                    .proof = PROOF};
    return tacet__tally_check(&sums, err);
}

tacet_status tacet_ab_log_release(tacet_ab_log *l, tacet_ab_model **out, const tacet_contextual_entry *entry,
                                  tacet_error *err) {
    entered e;
    tacet_release *knots = NULL, *table = NULL;
    size_t cut_rows = 0;
    tacet_ab_facts f = {
        .space = &l->space, .plan = l->plan, .reward = l->reward, .top = l->plan.hi, .variance_share = 1};
    *out = NULL;
    if (entry->ticket == NULL || strlen(entry->ticket) > 100) { /* before anything is entered under it */
        return tacet__fail(err, TACET_INVALID, "a release needs a ticket of up to 100 bytes");
    }
    tacet_status status = try_noise(l, err);
    if (status != TACET_OK) {
        return status;
    }
    status = open_ledger(&e, l, entry, err);
    if (status == TACET_OK && l->plan.money) {
        status = run_stage(&knots, &cut_rows, l, &e, entry, true, l->plan.hi, err);
        if (status == TACET_OK) {
            const tacet_receipt *r = tacet_release_receipt(knots);
            f.receipts[f.receipt_count++] = *r;
            tacet_ab_cut(&f.top, &f.variance_share, &l->plan, tacet_release_values(knots), (double)cut_rows, r->scale);
        }
    }
    if (status == TACET_OK) {
        status = run_stage(&table, &f.table_rows, l, &e, entry, false, f.top, err);
    }
    if (status == TACET_OK) {
        const tacet_receipt *r = tacet_release_receipt(table);
        f.receipts[f.receipt_count++] = *r;
        f.released = tacet_release_values(table);
        f.scale = r->scale;
        f.is_private = r->is_private;
        f.person_rows = l->rows_per_person;
        status = f.person_rows > 0 ? price_of(&f.person_eps, l, err) : TACET_OK;
    }
    if (status == TACET_OK) {
        status = tacet_ab_model_create(out, &f, err);
    }
    tacet_release_free(knots);
    tacet_release_free(table);
    tacet_noise_close(e.noise);
    tacet_ledger_close(e.ledger);
    sodium_memzero(&e, sizeof e);
    return status;
}
