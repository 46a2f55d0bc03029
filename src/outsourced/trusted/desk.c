/* SPDX-License-Identifier: Apache-2.0 */
/* desk.c - the curator's answers: reserve, measure, commit, and only then say.
 * Ring: trusted. In: row numbers. Out: measured values, uncovered in the ledger, or randomised
 * (tacet/dp/randomizer.h) and charged. Each ticket is one ledger entry "query:TICKET"; pending is an entry without an
 * answer. Cost: two durable ledger records a query; the table is read once when opened (values) or once a query
 * (evaluate). desk_table.c reads it, desk_work.c measures, desk_wait.c has those who wait for it. */
#include "outsourced/trusted/desk_internal.h"

#include "core/clock.h"
#include "core/fail.h"
#include "core/memory.h"
#include "dp/ledger/minted.h"
#include "dp/mechanisms/report.h"
#include "dp/noise/mint.h"
#include "dp/open/charge_rows.h"
#include "dp/open/ledger_view.h"
#include "io/file/folder.h"
#include "outsourced/trusted/evaluate.h"
#include "registry/registry.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/io/csv.h>
#include <tacet/space/space.h>
#include <time.h>

static const char PREFIX[] = "query:";
enum { MANIFEST_BYTES = 1 << 20, TEXT = 128, LEDGER_TICKET = TACET_DESK_TICKET + sizeof PREFIX };

void tacet_desk_defaults(tacet_desk_settings *settings) {
    *settings = (tacet_desk_settings){.seconds = 60, .patience = 2};
}

const tacet_manifest *tacet_desk_manifest(const tacet_desk *desk) {
    return &desk->manifest;
}

const char *tacet_desk_doubt(const tacet_desk *desk) {
    return desk->doubt[0] != '\0' ? desk->doubt : NULL;
}

query *tacet__desk_find(const tacet_desk *desk, const char *ticket) {
    for (size_t i = desk->count; i > 0; i--) { /* the latest are asked for most */
        if (strcmp(desk->queries[i - 1]->ticket, ticket) == 0) {
            return desk->queries[i - 1];
        }
    }
    return NULL;
}

static query *add(tacet_desk *desk, const char *ticket, size_t row) {
    query *q = TACET__ZALLOC(query, 1);
    if (q == NULL || !tacet__grow((void **)&desk->queries, &desk->capacity, desk->count + 1, sizeof(query *))) {
        free(q);
        return NULL;
    }
    (void)snprintf(q->ticket, sizeof q->ticket, "%s", ticket);
    q->row = row;
    q->since = (uint64_t)time(NULL);
    desk->queries[desk->count++] = q;
    return q;
}

static bool ticket_ok(const char *ticket) {
    const size_t length = strlen(ticket);
    return length > 0 && length < TACET_DESK_TICKET &&
           strspn(ticket, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-") == length;
}

/* The question as the ledger has it: the same bytes for the same ticket and row, always. */
typedef struct question {
    tacet_charge charge;
    char ticket[LEDGER_TICKET], what[TEXT], parameters[2 * TEXT], group[TEXT], part[TEXT];
} question;

static void pose(question *q, const tacet_desk *desk, const char *ticket, size_t row) {
    const unsigned long long release = desk->manifest.entry;
    (void)snprintf(q->ticket, sizeof q->ticket, "%s%s", PREFIX, ticket);
    (void)snprintf(q->what, sizeof q->what, "measured value of row %zu", row);
    (void)snprintf(q->part, sizeof q->part, "row %zu", row);
    tacet_charge_init(&q->charge);
    q->charge.what = q->what;
    q->charge.to_whom = "modeler";
    /* One record's value is touched by its own queries only, and the row is public. Rows of another release in the same
     * ledger may be the same records in another order: that is another group, and groups add up. The ledger counts the
     * entries of a group, covered or not. */
    (void)snprintf(q->group, sizeof q->group, "outputs of release %llu", release);
    q->charge.group = q->group;
    q->charge.part = q->part;
    if (desk->manifest.outputs_private) {
        const tacet_ldp *ldp = &desk->manifest.outputs;
        tacet_charge_pure(&q->charge, ldp->eps);
        (void)tacet__charge_rows(&q->charge, desk->manifest.person_rows, true, NULL); /* pure: it cannot fail */
        q->charge.mechanism = tacet_ldp_name(ldp->kind);
        q->charge.covered_fields = "measured value";
        q->charge.uncovered_fields = "row number";
        q->charge.covered_records = "the measured value of this record, anything within its public range";
        (void)snprintf(q->parameters, sizeof q->parameters,
                       "{\"row\":%zu,\"release\":%llu,\"lower\":%.17g,\"upper\":%.17g}", row, release, ldp->lo,
                       ldp->hi);
    } else {
        q->charge.uncovered_fields = "row number,measured value";
        (void)snprintf(q->parameters, sizeof q->parameters, "{\"row\":%zu,\"release\":%llu}", row, release);
    }
    q->charge.parameters = q->parameters;
}

/* What the ledger keeps of a row that cannot be measured, in place of a value. */
static const unsigned char UNMEASURED = 'x';

static bool decode_value(double *out, bool *failed, const tacet_blob *memo) {
    *failed = memo->size == 1 && memcmp(memo->data, &UNMEASURED, 1) == 0;
    if (*failed || memo->size != sizeof *out) {
        return *failed;
    }
    memcpy(out, memo->data, sizeof *out);
    return isfinite(*out);
}

/* Another process answered first: its answer is the answer. CONFLICT: nobody did. */
static tacet_status take_stored(const tacet_desk *desk, const query *q, double *out, bool *failed, tacet_error *err) {
    char ticket[LEDGER_TICKET];
    tacet_blob memo;
    tacet_entry entry;
    tacet_blob_init(&memo);
    (void)snprintf(ticket, sizeof ticket, "%s%s", PREFIX, q->ticket);
    tacet_status status = tacet_ledger_lookup(desk->ledger, &entry, &memo, ticket, err);
    if (status == TACET_OK && !entry.answered) {
        status = tacet__fail(err, TACET_CONFLICT,
                             "the answer to this ticket was begun with another measured value, or its key is gone: it "
                             "is spent, and is not answered");
    } else if (status == TACET_OK && !decode_value(out, failed, &memo)) {
        status = tacet__fail(err, TACET_CORRUPT, "the ledger holds no value for this ticket");
    }
    tacet_blob_clear(&memo);
    return status;
}

/* What may be said instead of the value: drawn by the key of the reservation, so that one that was interrupted is drawn
 * again the same. CONFLICT: it was begun with another value, or answered. */
static tacet_status randomise(const tacet_desk *desk, const query *q, double *out, double value, tacet_error *err) {
    const tacet_ldp *ldp = &desk->manifest.outputs;
    unsigned char data[TACET_MINT_BYTES];
    tacet_mint mint = {{0}, {0}};
    tacet__report_digest(data, ldp, value);
    tacet_status status = tacet__ledger_bind(desk->ledger, &q->entry, &mint, data, err);
    TACET_THEN(status, tacet__report_draw(out, &mint, ldp, value, err));
    tacet__mint_clear(&mint);
    return status;
}

tacet_status tacet__desk_settle(tacet_desk *desk, query *q, double value, tacet_error *err) {
    const tacet_ldp *range = &desk->manifest.outputs;
    /* NaN: cannot be measured. Under private outputs it is a value like any other, so that nothing shows. */
    const double measured = isnan(value) && desk->manifest.outputs_private ? range->lo / 2 + range->hi / 2 : value;
    double out = q->offered ? q->offer : measured;
    bool failed = isnan(out);
    tacet_error detail = {0};
    tacet_status status = TACET_OK;
    if (desk->manifest.outputs_private && !q->offered) {
        status = randomise(desk, q, &out, measured, &detail);
    }
    if (status == TACET_OK) {
        q->offered = true;
        q->offer = out;
        status = failed ? tacet_ledger_commit(desk->ledger, &q->entry, &UNMEASURED, 1, NULL, NULL)
                        : tacet_ledger_commit(desk->ledger, &q->entry, &out, sizeof out, NULL, NULL);
    }
    if (status == TACET_CONFLICT) {
        status = take_stored(desk, q, &out, &failed, err);
    } else if (status == TACET_NUMERIC) {
        (void)tacet__fail(err, status, "%s", detail.message);
    } else if (status != TACET_OK) {
        (void)tacet__fail(err, status, "the ledger did not take the answer; it is not given out");
    }
    if (status == TACET_OK) {
        q->state = DONE;
        q->value = out;
        q->failed = failed;
        (void)pthread_cond_broadcast(&desk->changed);
    }
    return status;
}

static tacet_status load_manifest(tacet_desk *desk, const char *folder, tacet_error *err) {
    char path[TACET__PATH];
    char *text = NULL;
    size_t length = 0;
    tacet_status status = tacet__path(path, folder, "manifest.json", err);
    TACET_THEN(status, tacet__file_read(&text, &length, path, MANIFEST_BYTES, err));
    TACET_THEN(status, tacet_manifest_decode(&desk->manifest, text, length, err));
    free(text);
    return status;
}

/* Finds the release, and recalls one query of an earlier life of the desk. Those of another release are another desk's.
 */
static tacet_status recall(void *user, const tacet__ledger_row *row, tacet_error *err) {
    tacet_desk *desk = user;
    size_t number = 0;
    unsigned long long release = 0;
    const tacet__record *record = row->record;
    if (record->kind == TACET__RECORD_RESERVE && record->seq == desk->manifest.entry) {
        char hash[2 * TACET_HASH_BYTES + 1];
        tacet__hash_hex(hash, row->hash);
        desk->released = strcmp(hash, desk->manifest.entry_hash) == 0;
    }
    if (record->kind != TACET__RECORD_RESERVE || strncmp(record->reserve.ticket, PREFIX, sizeof PREFIX - 1) != 0 ||
        sscanf(record->reserve.charge.parameters, "{\"row\":%zu,\"release\":%llu", &number, &release) != 2 ||
        release != desk->manifest.entry) {
        return TACET_OK;
    }
    query *q = add(desk, record->reserve.ticket + sizeof PREFIX - 1, number);
    if (q == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory recalling queries");
    }
    q->entry.seq = record->seq;
    q->since = record->time;
    memcpy(q->entry.hash, row->hash, sizeof q->entry.hash);
    return TACET_OK;
}

/* Refreshes the state of a query from the ledger: another process (a person's answer) may have settled it. */
tacet_status tacet__desk_refresh(tacet_desk *desk, query *q, tacet_error *err) {
    char ticket[LEDGER_TICKET];
    tacet_blob memo;
    tacet_entry entry;
    if (q->state == DONE) {
        return TACET_OK;
    }
    (void)snprintf(ticket, sizeof ticket, "%s%s", PREFIX, q->ticket);
    tacet_blob_init(&memo);
    tacet_status status = tacet_ledger_lookup(desk->ledger, &entry, &memo, ticket, err);
    if (status == TACET_OK && entry.answered) {
        if (decode_value(&q->value, &q->failed, &memo)) {
            q->state = DONE;
        } else {
            status = tacet__fail(err, TACET_CORRUPT, "the ledger holds no value for this ticket");
        }
    }
    tacet_blob_clear(&memo);
    return status;
}

static tacet_status open_ledger(tacet_desk *desk, const tacet_desk_settings *settings, tacet_error *err) {
    char path[TACET__PATH];
    tacet_ledger_settings stored;
    tacet_ledger_totals totals;
    tacet__ledger_view *view = NULL;
    tacet_status status = TACET_OK;
    if (settings->ledger != NULL) {
        if (snprintf(path, sizeof path, "%s", settings->ledger) >= (int)sizeof path) {
            return tacet__fail(err, TACET_INVALID, "the ledger's path is too long");
        }
    } else {
        status = tacet__path(path, settings->folder, "ledger.db", err);
    }
    tacet_ledger_settings_defaults(&stored);
    stored.create = false;
    stored.use_stored = true;
    if (status == TACET_OK) { /* what protects nothing is not in the registry either */
        status = desk->manifest.is_private ? tacet__registry_reopen(&desk->ledger, path, &stored, err)
                                           : tacet_ledger_open(&desk->ledger, path, &stored, err);
    }
    TACET_THEN(status, tacet__ledger_view_open(&view, path, err));
    TACET_THEN(status, tacet__ledger_each(view, recall, desk, err));
    tacet__ledger_view_close(view);
    if (status == TACET_OK && !desk->released) {
        /* What the release has spent would be missing in every sum. */
        status = tacet__fail(err, TACET_CONFLICT,
                             "%.100s does not have this release: it is another ledger, or an older copy", path);
    }
    TACET_THEN(status, tacet_ledger_total(desk->ledger, &totals, err));
    if (status == TACET_OK) {
        desk->others = totals.entries > desk->count ? totals.entries - desk->count : 0;
    }
    for (size_t i = 0; i < desk->count && status == TACET_OK; i++) {
        status = tacet__desk_refresh(desk, desk->queries[i], err);
        if (status == TACET_OK && desk->queries[i]->state != DONE && tacet__desk_works(desk)) {
            desk->queries[i]->state = QUEUED; /* it was interrupted: measured again, the first value never left */
        }
    }
    return status;
}

tacet_status tacet_desk_open(tacet_desk **out, const tacet_desk_settings *settings, tacet_error *err) {
    *out = NULL;
    if (settings->folder == NULL ||
        ((settings->values != NULL || settings->evaluate != NULL) && settings->data == NULL) ||
        (settings->values != NULL) + (settings->evaluate != NULL) + (settings->measure != NULL) > 1 ||
        !(settings->seconds > 0) || !(settings->patience >= 0)) {
        return tacet__fail(err, TACET_INVALID, "a desk needs a release, and a table for either a column or a command");
    }
    tacet_desk *desk = TACET__ZALLOC(tacet_desk, 1);
    if (desk == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory opening a desk");
    }
    (void)pthread_mutex_init(&desk->lock, NULL);
    tacet__cond_init(&desk->changed);
    desk->seconds = settings->seconds;
    desk->measure = settings->measure;
    desk->user = settings->user;
    desk->missed = settings->missed;
    desk->missed_user = settings->missed_user;
    desk->patience = settings->patience;
    tacet_status status = TACET_OK;
    desk->data = settings->data != NULL ? strdup(settings->data) : NULL;
    desk->evaluate = settings->evaluate != NULL ? strdup(settings->evaluate) : NULL;
    if ((settings->data != NULL && desk->data == NULL) || (settings->evaluate != NULL && desk->evaluate == NULL)) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory opening a desk");
    }
    TACET_THEN(status, load_manifest(desk, settings->folder, err));
    if (settings->queries > desk->manifest.queries) {
        desk->manifest.queries = settings->queries;
    }
    if (status == TACET_OK && settings->data != NULL) {
        status = tacet__desk_read(desk, settings->values, err);
    }
    TACET_THEN(status, open_ledger(desk, settings, err));
    if (status == TACET_OK) {
        const bool works = tacet__desk_works(desk);
        desk->worker_started = works && pthread_create(&desk->worker, NULL, tacet__desk_work, desk) == 0;
        desk->teller_started = pthread_create(&desk->teller, NULL, tacet__desk_tell, desk) == 0;
        status = desk->worker_started == works && desk->teller_started
                     ? TACET_OK
                     : tacet__fail(err, TACET_NO_MEMORY, "no thread for the desk");
    }
    if (status != TACET_OK) {
        tacet_desk_close(desk);
        return status;
    }
    *out = desk;
    return TACET_OK;
}

void tacet_desk_close(tacet_desk *desk) {
    if (desk == NULL) {
        return;
    }
    tacet_desk_hush(desk);
    (void)pthread_mutex_lock(&desk->lock);
    desk->stopping = true;
    (void)pthread_cond_broadcast(&desk->changed);
    (void)pthread_mutex_unlock(&desk->lock);
    if (desk->worker_started) {
        (void)pthread_join(desk->worker, NULL);
    }
    if (desk->teller_started) {
        (void)pthread_join(desk->teller, NULL);
    }
    tacet_ledger_close(desk->ledger);
    for (size_t i = 0; i < desk->count; i++) {
        free(desk->queries[i]);
    }
    free(desk->queries);
    free(desk->waiters);
    if (desk->values != NULL) {
        sodium_memzero(desk->values, desk->manifest.rows * sizeof *desk->values);
    }
    free(desk->values);
    tacet_manifest_clear(&desk->manifest);
    free(desk->data);
    free(desk->evaluate);
    (void)pthread_cond_destroy(&desk->changed);
    (void)pthread_mutex_destroy(&desk->lock);
    free(desk);
}

/* Under the lock: waits until the command is done with this query, or patience ends. */
static void wait_for(tacet_desk *desk, const query *q) {
    const struct timespec until = tacet__until(desk->patience);
    while (tacet__desk_busy(q) && !desk->hushed &&
           pthread_cond_timedwait(&desk->changed, &desk->lock, &until) != ETIMEDOUT) {
    }
}

tacet_status tacet__desk_say(const query *q, tacet_desk_reply *out, tacet_error *err) {
    *out = (tacet_desk_reply){.answered = q->state == DONE,
                              .row = q->row,
                              .value = q->state == DONE && !q->failed ? q->value : 0,
                              .failed = q->state == DONE && q->failed,
                              .running = tacet__desk_busy(q)};
    return q->state == FAILED ? tacet__fail(err, TACET_UNSUPPORTED, "%s", q->reason) : TACET_OK;
}

/* Queries made, those that another desk on the same ledger took included. */
static tacet_status made_by_all(tacet_desk *desk, size_t *out, tacet_error *err) {
    tacet_ledger_totals totals;
    const tacet_status status = tacet_ledger_total(desk->ledger, &totals, err);
    *out = desk->count;
    if (status == TACET_OK && totals.entries > desk->others + desk->count) {
        *out = (size_t)(totals.entries - desk->others);
    }
    return status;
}

/* Under the lock: the ticket is new to this desk. How many there may be is the ledger's to say, in the transaction that
 * reserves: several desks share one. */
static tacet_status reserve(tacet_desk *desk, query **out, const char *ticket, size_t row, tacet_error *err) {
    question posed;
    tacet_entry entry;
    tacet_blob memo;
    tacet_error why = {0};
    *out = NULL;
    pose(&posed, desk, ticket, row);
    tacet_blob_init(&memo);
    tacet_status status = desk->manifest.queries == 0
                              ? TACET_BUDGET
                              : tacet__ledger_reserve(desk->ledger, &entry, &memo, NULL, posed.ticket, &posed.charge,
                                                      desk->manifest.queries, &why);
    if (status == TACET_BUDGET) {
        size_t made = 0;
        (void)made_by_all(desk, &made, NULL);
        status = made >= desk->manifest.queries ? tacet__fail(err, status, "the query budget is used up")
                                                : tacet__fail(err, status, "%s", why.message);
    } else if (status != TACET_OK) {
        (void)tacet__fail(err, status, "%s", why.message);
    }
    query *q = status == TACET_OK ? add(desk, ticket, row) : NULL;
    if (status == TACET_OK && q == NULL) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory for a query");
    }
    if (q != NULL) {
        q->entry = entry;
        if (entry.answered && decode_value(&q->value, &q->failed, &memo)) {
            q->state = DONE;
        }
        *out = q;
        (void)pthread_cond_broadcast(&desk->changed);
    }
    tacet_blob_clear(&memo);
    return status;
}

static tacet_status ask(tacet_desk *desk, tacet_desk_reply *out, const char *ticket, size_t row, bool wait,
                        tacet_error *err) {
    *out = (tacet_desk_reply){.row = row};
    if (!ticket_ok(ticket)) {
        return tacet__fail(err, TACET_INVALID, "a ticket has 1 to %d letters, digits, dots, dashes or underscores",
                           TACET_DESK_TICKET - 1);
    }
    if (row >= desk->manifest.rows) {
        return tacet__fail(err, TACET_INVALID, "rows are numbered from 0 to %zu", desk->manifest.rows - 1);
    }
    (void)pthread_mutex_lock(&desk->lock);
    tacet_status status = TACET_OK;
    query *q = tacet__desk_find(desk, ticket);
    if (q != NULL && q->row != row) {
        status = tacet__fail(err, TACET_CONFLICT, "this ticket was used for another row");
        goto done;
    }
    status = q == NULL ? reserve(desk, &q, ticket, row, err) : tacet__desk_refresh(desk, q, err);
    if (status != TACET_OK) {
        goto done;
    }
    if (q->state != DONE && desk->values != NULL) {
        status = tacet__desk_settle(desk, q, desk->values[row], err);
    } else if (q->state != DONE && tacet__desk_works(desk)) {
        if (q->state == WAITING || q->state == FAILED) {
            q->state = QUEUED;
            (void)pthread_cond_broadcast(&desk->changed);
        }
        if (wait) {
            wait_for(desk, q);
        }
    }
    TACET_THEN(status, tacet__desk_say(q, out, err));
done:
    (void)pthread_mutex_unlock(&desk->lock);
    return status;
}

tacet_status tacet_desk_ask(tacet_desk *desk, tacet_desk_reply *out, const char *ticket, size_t row, tacet_error *err) {
    return ask(desk, out, ticket, row, true, err);
}

tacet_status tacet_desk_ask_now(tacet_desk *desk, tacet_desk_reply *out, const char *ticket, size_t row,
                                tacet_error *err) {
    return ask(desk, out, ticket, row, false, err);
}

tacet_status tacet_desk_look(tacet_desk *desk, tacet_desk_reply *out, const char *ticket, tacet_error *err) {
    *out = (tacet_desk_reply){0};
    (void)pthread_mutex_lock(&desk->lock);
    query *q = tacet__desk_find(desk, ticket);
    tacet_status status =
        q == NULL ? tacet__fail(err, TACET_NOT_FOUND, "no query has this ticket") : tacet__desk_refresh(desk, q, err);
    TACET_THEN(status, tacet__desk_say(q, out, err));
    (void)pthread_mutex_unlock(&desk->lock);
    return status;
}

static tacet_status give(tacet_desk *desk, const char *ticket, double value, tacet_error *err) {
    (void)pthread_mutex_lock(&desk->lock);
    query *q = tacet__desk_find(desk, ticket);
    tacet_status status = q == NULL ? tacet__fail(err, TACET_NOT_FOUND, "no query has the ticket '%s'", ticket)
                                    : tacet__desk_refresh(desk, q, err);
    if (status == TACET_OK && q->state == DONE) {
        status = tacet__fail(err, TACET_CONFLICT, "the query '%s' was answered already", ticket);
    }
    TACET_THEN(status, tacet__desk_settle(desk, q, value, err));
    (void)pthread_mutex_unlock(&desk->lock);
    return status;
}

tacet_status tacet_desk_answer(tacet_desk *desk, const char *ticket, double value, tacet_error *err) {
    return isfinite(value) ? give(desk, ticket, value, err)
                           : tacet__fail(err, TACET_INVALID, "the value is not a finite number");
}

tacet_status tacet_desk_decline(tacet_desk *desk, const char *ticket, tacet_error *err) {
    return give(desk, ticket, (double)NAN, err);
}

tacet_status tacet_desk_pending(tacet_desk *desk, size_t k, char ticket[TACET_DESK_TICKET], size_t *row,
                                tacet_error *err) {
    tacet_status status = TACET_NOT_FOUND;
    (void)pthread_mutex_lock(&desk->lock);
    for (size_t i = 0; i < desk->count && status == TACET_NOT_FOUND; i++) {
        if (desk->queries[i]->state != DONE && k-- == 0) {
            (void)snprintf(ticket, TACET_DESK_TICKET, "%s", desk->queries[i]->ticket);
            *row = desk->queries[i]->row;
            status = TACET_OK;
        }
    }
    (void)pthread_mutex_unlock(&desk->lock);
    return status == TACET_OK ? status : tacet__fail(err, status, "no further query is pending");
}

size_t tacet_desk_made(tacet_desk *desk) {
    size_t made = 0;
    (void)pthread_mutex_lock(&desk->lock);
    (void)made_by_all(desk, &made, NULL);
    (void)pthread_mutex_unlock(&desk->lock);
    return made;
}

tacet_status tacet_desk_total(tacet_desk *desk, tacet_ledger_totals *out, tacet_error *err) {
    return tacet_ledger_total(desk->ledger, out, err);
}
