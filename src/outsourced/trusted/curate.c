/* SPDX-License-Identifier: Apache-2.0 */
/* curate.c - the curator's one release: settings, budget, files.
 * Ring: trusted. Source: Kharkovskii, Dai, Low 2020, with the mechanism replaced (Gaussian: Balle, Wang 2018; Laplace:
 * Hardt, Talwar 2010 with the Euclidean ball, Andres et al. 2013); src/outsourced/README.md has the proofs and the
 * list of what differs. Gate order: the ledger is charged before the first draw; files appear only after
 * the commit. */
#include "outsourced/trusted/curate_job.h"
#include "outsourced/trusted/curate_price.h"

#include "dp/ledger/minted.h"
#include "dp/open/entry.h"
#include "core/fail.h"
#include "io/db/db.h"
#include "core/memory.h"
#include "outsourced/shared/form.h"
#include "registry/registry.h"

#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tacet/dp/open/calibrate.h>
#include "outsourced/shared/coordinates.h"
#include "outsourced/trusted/published.h"
#include <unistd.h>

void tacet_curate_defaults(tacet_curate_settings *settings) {
    *settings = (tacet_curate_settings){.delta = 1e-5, .queries = 100, .to_whom = "modeler", .ticket = "release"};
}

/* Of settings that were checked. */
static const tacet__form *form_of(const tacet_curate_settings *s) {
    return tacet__form_at((size_t)s->mechanism);
}

static bool is_pure(const tacet_curate_settings *s) {
    const tacet_law *law = form_of(s)->law;
    return law != NULL && law->pure;
}

/* Where the records are, and which of them. */
static tacet_status check_place(const tacet_curate_settings *s, tacet_error *err) {
    if (s->data != NULL && (s->table != NULL) != tacet__db_is_url(s->data)) {
        return tacet__fail(err, TACET_INVALID, "a table in a database has a URL, postgresql://…, and a name: --table");
    }
    if (s->order != NULL && s->table == NULL) {
        return tacet__fail(err, TACET_INVALID, "the order is that of a table in a database; files have their own");
    }
    if ((s->person != NULL || s->persons != NULL) != (s->rows_per_person > 0) || (s->records != NULL && s->person) ||
        (s->records == NULL && s->persons != NULL)) {
        return tacet__fail(err, TACET_INVALID,
                           "a column that says whose row it is (--person) and how many rows each person may have "
                           "(--rows-per-person) go together");
    }
    if (s->person != NULL && strlen(s->person) >= TACET_MANIFEST_NAME) {
        return tacet__fail(err, TACET_INVALID, "the name of the person column is too long");
    }
    if (s->engine != NULL && (s->ledger == NULL || s->rows_per_person > 0)) {
        return tacet__fail(err, s->ledger == NULL ? TACET_INVALID : TACET_UNSUPPORTED,
                           s->ledger == NULL ? "records that lie elsewhere are not seen here to be known again: name "
                                               "their ledger (--ledger)"
                                             : "a person may have rows in several parts, and nobody counts them");
    }
    if (s->table != NULL && s->ledger == NULL) {
        return tacet__fail(err, TACET_INVALID,
                           "a database has no place for a ledger beside the table: name one, a file or postgresql://…, "
                           "with --ledger");
    }
    return strlen(s->ticket) <= TACET_TICKET_MOST ? TACET_OK
                                                  : tacet__fail(err, TACET_INVALID, "the ticket is too long");
}

static tacet_status check_settings(const tacet_curate_settings *s, tacet_error *err) {
    if (tacet_curate_name(s->mechanism) == NULL) {
        return tacet__fail(err, TACET_INVALID, "no such mechanism");
    }
    if ((s->data != NULL) + (s->records != NULL) + (s->engine != NULL) != 1) {
        return tacet__fail(err, TACET_INVALID, "a table is either a file or in memory");
    }
    if (tacet_curate_law(s->mechanism) == NULL &&
        (s->records != NULL || s->engine != NULL || s->table != NULL || s->rows_per_person > 0 ||
         (strchr(s->data, ',') != NULL && access(s->data, F_OK) != 0))) {
        return tacet__fail(err, TACET_UNSUPPORTED, "the published mechanism reads one CSV file");
    }
    const tacet_status place = check_place(s, err);
    if (place != TACET_OK) {
        return place;
    }
    if (s->folder == NULL) {
        return tacet__fail(err, TACET_INVALID, "a release needs a folder");
    }
    if (s->new_budget != NULL && (s->new_budget[0] == '\0' || strlen(s->new_budget) >= TACET_MANIFEST_REASON)) {
        return tacet__fail(err, TACET_INVALID, "the reason for a new budget has 1 to %d bytes",
                           TACET_MANIFEST_REASON - 1);
    }
    if (is_pure(s) && s->delta != 0) {
        return tacet__fail(err, TACET_INVALID, "the %s mechanism has pure eps: its delta is 0, no other",
                           form_of(s)->name);
    }
    if (!(s->eps > 0) || !isfinite(s->eps)) {
        return tacet__fail(err, TACET_INVALID, "eps must be above 0");
    }
    if (!is_pure(s) && !(s->delta > 0 && s->delta < 1)) {
        return tacet__fail(err, TACET_INVALID, "delta must be above 0 and below 1");
    }
    if (!(s->budget_eps >= 0 && s->budget_eps < INFINITY) || !(s->budget_delta >= 0 && s->budget_delta < 1)) {
        return tacet__fail(err, TACET_INVALID, "a budget needs eps above 0 and delta between 0 and 1");
    }
    if (form_of(s)->projects && (s->dims == 0 || s->dims > TACET_MANIFEST_COLUMNS)) {
        return tacet__fail(err, TACET_INVALID, "this mechanism needs 1 to %d dimensions", TACET_MANIFEST_COLUMNS);
    }
    if (form_of(s)->law == NULL && !s->accept_not_private) {
        return tacet__fail(
            err, TACET_DENIED,
            "the published mechanism is not differentially private: whoever knows a few records reads all "
            "of them (src/outsourced/README.md); --i-know-this-is-not-private allows it");
    }
    return TACET_OK;
}

static tacet_status set_paths(tacet__curate *job, tacet_error *err) {
    const tacet_curate_settings *s = job->settings;
    (void)snprintf(job->place.ticket, sizeof job->place.ticket, "%s", s->ticket);
    tacet_status status = tacet__path(job->place.release, s->folder, "release.csv", err);
    TACET_THEN(status, tacet__path(job->place.manifest, s->folder, "manifest.json", err));
    return status != TACET_OK ? status : tacet__curate_ledger_path(&job->place, s, err);
}

/* The mechanism, and its noise in the words of the manifest. */
static tacet_status make_mechanism(tacet__curate *job, tacet_manifest *m, tacet_error *err) {
    const tacet_curate_settings *s = job->settings;
    const tacet_law *law = form_of(s)->law;
    TACET_OR_RETURN(tacet__curate_mechanism(&job->mechanism, &job->bound, &job->shape, s, err));
    const double scale = tacet_mechanism_scale(job->mechanism);
    m->scale = law->density == TACET_DENSITY_EUCLIDEAN ? scale : 0;
    m->sigma = law->spread(scale, job->shape.numbers);
    m->grid = job->shape.numbers > 0 ? ldexp(1, tacet_mechanism_grid_exponent(job->mechanism)) : 0;
    tacet__curate_distances(&job->shape, s, job->mechanism, m);
    return tacet__curate_person_price(m, s, err);
}

static tacet_status open_ledger(tacet__curate *job, tacet_error *err) {
    const tacet_curate_settings *s = job->settings;
    tacet_ledger_settings settings;
    tacet_ledger_settings_defaults(&settings);
    if (tacet__curate_adds_up(s)) {
        settings.accounting = TACET_ACCOUNTING_BASIC;
    }
    /* A ledger that exists has its budget; another one is asked for on purpose only, and refused. */
    settings.use_stored = !(s->budget_eps > 0 || s->budget_delta > 0) && job->ledger_there;
    /* How many values may be asked for is the desk's to say, and may grow: none of them is covered, whatever their
     * number. */
    tacet_status status = tacet__curate_budget(&settings.eps, &settings.delta, s, err);
    TACET_THEN(status, tacet__curate_ledger_open(&job->book, &job->place, s, &job->source, &settings, err));
    TACET_THEN(status, tacet__curate_ledger_link(&job->place, s, err));
    if (status == TACET_OK && s->seeded) {
        status = tacet_noise_open_seeded(&job->noise, s->noise_seed, 0, err);
    }
    return status;
}

/* Opens a ledger that is there, and says whether it is. OK with no book: it is not. */
static tacet_status open_there(tacet_ledger **book, tacet__curate *job, tacet_error *err) {
    tacet_ledger_settings settings;
    tacet_error why = {0};
    *book = NULL;
    if (!tacet__db_is_url(job->place.ledger) && access(job->place.ledger, F_OK) != 0) {
        return TACET_OK;
    }
    tacet_ledger_settings_defaults(&settings);
    settings.create = false;
    settings.use_stored = true;
    const tacet_status status = tacet_ledger_open(book, job->place.ledger, &settings, &why);
    job->ledger_there = status == TACET_OK;
    return status == TACET_OK || (status == TACET_NOT_FOUND && tacet__db_is_url(job->place.ledger))
               ? TACET_OK
               : tacet__fail(err, status, "%s", why.message);
}

/* The key of the release's noise: that of the ledger, if it was begun before, else a fresh one. */
static tacet_status mint_noise(tacet__curate *job, tacet_error *err) {
    tacet_error why = {0};
    tacet_ledger *book = NULL;
    TACET_OR_RETURN(open_there(&book, job, err));
    tacet_status status =
        book != NULL ? tacet__ledger_peek(book, &job->mint, job->place.ticket, &why) : TACET_NOT_FOUND;
    tacet_ledger_close(book);
    if (status == TACET_NOT_FOUND) {
        status = tacet__mint_fresh(&job->mint, err);
    } else if (status != TACET_OK) {
        status = tacet__curate_refused(job->settings, job->book, status, &why, err);
    }
    job->keyed = status == TACET_OK;
    return status;
}

static void describe(tacet_manifest *m, const tacet__curate *job) {
    const tacet_curate_settings *s = job->settings;
    (void)snprintf(m->mechanism, sizeof m->mechanism, "%s", tacet_curate_name(s->mechanism));
    m->eps = s->eps;
    m->delta = s->delta;
    m->dims = job->shape.dims;
    m->is_private = form_of(s)->law != NULL && !s->seeded;
    m->outputs_private = s->outputs_private;
    m->outputs = s->outputs;
    m->queries = s->queries;
    (void)snprintf(m->new_budget, sizeof m->new_budget, "%s", s->new_budget != NULL ? s->new_budget : "");
}

static tacet_status publish(tacet__curate *job, tacet_manifest *m, const tacet_receipt *receipt, tacet_error *err) {
    char *text = NULL;
    m->entry = receipt->entry;
    m->rows = job->found.rows;
    tacet__hash_hex(m->entry_hash, receipt->entry_hash);
    tacet_status status = tacet_manifest_encode(m, &text, err);
    if (job->place.order.columns > 0) { /* by it the desk tells whether it is given the same table */
        TACET_THEN(status, tacet__registry_keep_order(&job->place.order, m->entry_hash, err));
    }
    TACET_THEN(status, tacet__file_write(job->place.manifest, job->settings->folder, text, S_IRUSR | S_IWUSR, err));
    TACET_THEN(status, tacet__file_publish(job->place.unfinished, job->place.release, job->settings->folder, err));
    free(text);
    return status;
}

/* Before anything is spent: the manifest must be one that can be written and read again (names that are no UTF-8,
 * numbers JSON cannot hold). */
static tacet_status try_manifest(tacet__curate *job, tacet_manifest *m, tacet_error *err) {
    char *text = NULL;
    tacet_manifest again;
    tacet_error why = {0};
    m->rows = job->found.rows;
    memset(m->entry_hash, '0', sizeof m->entry_hash - 1);
    tacet_status status = tacet_manifest_encode(m, &text, &why);
    if (status == TACET_OK) {
        (void)crypto_generichash(job->settings_hash, sizeof job->settings_hash, (const unsigned char *)text,
                                 strlen(text), NULL, 0);
        status = tacet_manifest_decode(&again, text, strlen(text), &why);
        tacet_manifest_clear(&again);
    }
    free(text);
    if (status == TACET_OK || status == TACET_NO_MEMORY) {
        return status == TACET_OK ? status : tacet__fail(err, status, "%s", why.message);
    }
    return tacet__fail(err, TACET_INVALID, "these settings make no manifest: %.150s", why.message);
}

void tacet__curate_drop(tacet__curate *job) {
    tacet__curate_let_go(&job->place);
    tacet_mechanism_free(job->mechanism);
    tacet_bound_free(job->bound);
    tacet_noise_close(job->noise);
    tacet_ledger_close(job->book);
    tacet__source_close(&job->source);
    tacet__curate_shape_clear(&job->shape);
    tacet__curate_pass_clear(&job->found);
    tacet__mint_clear(&job->mint);
}

tacet_status tacet__curate_prepare(tacet__curate *job, tacet_manifest *m, tacet_error *err) {
    const tacet_curate_settings *s = job->settings;
    tacet_manifest_init(m);
    tacet_status status = check_settings(s, err);
    TACET_THEN(status, tacet__curate_shape_make(&job->shape, s, err));
    if (status == TACET_OK) {
        describe(m, job);
        status = tacet_manifest_describe(m, s->space, err);
    }
    TACET_THEN(status, set_paths(job, err));
    if (status == TACET_OK && job->drawing && form_of(s)->law != NULL && !s->seeded) {
        status = mint_noise(job, err);
    } else if (status == TACET_OK && job->drawing) {
        tacet_ledger *book = NULL;
        status = open_there(&book, job, err);
        tacet_ledger_close(book);
    }
    TACET_THEN(status, tacet__curate_check(job, err));
    if (status == TACET_OK && form_of(s)->law != NULL) {
        status = make_mechanism(job, m, err);
    }
    job->shape.cells = status == TACET_OK ? TACET__ZALLOC(tacet__release_cell, job->shape.dims) : NULL;
    if (status == TACET_OK && job->shape.cells == NULL) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu columns", job->shape.dims);
    }
    if (status == TACET_OK) {
        tacet__release_cells(job->shape.cells, m);
    }
    return status != TACET_OK ? status : try_manifest(job, m, err);
}

/* All that comes before anything is written or spent; `own` is what `asked` stands for. */
static tacet_status begin(tacet__curate *job, tacet_manifest *m, tacet_curate_settings *own,
                          const tacet_curate_settings *asked, tacet_error *err) {
    tacet_manifest_init(m);
    tacet_status status = tacet_curate_resolve(own, err);
    TACET_THEN(status, tacet__curate_prepare(job, m, err));
    tacet__curate_others(m, asked);
    return status == TACET_OK && asked->before != NULL && !asked->before(m, asked->user)
               ? tacet__fail(err, TACET_DENIED, "nothing was released or charged")
               : status;
}

tacet_status tacet_curate_rehearse(tacet_manifest *manifest, const tacet_curate_settings *asked, tacet_error *err) {
    tacet_curate_settings own = *asked;
    tacet__curate job = {.settings = &own, .place.held = -1, .source = {.spool = -1}};
    const tacet_status status = begin(&job, manifest, &own, asked, err);
    tacet__curate_drop(&job);
    if (status != TACET_OK) {
        tacet_manifest_clear(manifest);
    }
    return status;
}

tacet_status tacet_curate_run(tacet_manifest *manifest, const tacet_curate_settings *asked, tacet_error *err) {
    tacet_curate_settings own = *asked;
    tacet__curate job = {.settings = &own, .place.held = -1, .drawing = true, .source = {.spool = -1}};
    tacet_receipt receipt = {0};
    tacet_status status = begin(&job, manifest, &own, asked, err);
    TACET_THEN(status, tacet__folder_make(&job.place.made, own.folder, err));
    TACET_THEN(status, open_ledger(&job, err));
    /* Before the ledger is asked: whether it has answered must not change meanwhile. */
    TACET_THEN(status, tacet__curate_hold(&job.place, err));
    TACET_THEN(status, form_of(&own)->law == NULL ? tacet__curate_published(&job, &receipt, err)
                                                  : tacet__curate_draw(&job, &receipt, err));
    TACET_THEN(status, publish(&job, manifest, &receipt, err));
    tacet__curate_drop(&job);
    if (status != TACET_OK) {
        tacet__curate_leave(&job.place, own.folder);
        tacet_manifest_clear(manifest);
    }
    return status;
}
