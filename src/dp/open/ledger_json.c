/* SPDX-License-Identifier: Apache-2.0 */
/* ledger_json.c - ledgers as JSON objects.
 * Ring: shared. Cost: one pass over the ledger to verify it, one to list it. */
#include "dp/open/ledger_json.h"

#include "core/fail.h"
#include "core/json_text.h"

#include <math.h>
#include <sodium.h>
#include <string.h>

tacet_status tacet__ledger_load(tacet__ledger_view **view, tacet__ledger_report *report, const char *path,
                                const unsigned char *noted, tacet_error *err) {
    tacet_status status = tacet__ledger_view_open(view, path, err);
    TACET_THEN(status, tacet__ledger_verify(*view, report, noted, err));
    if (status != TACET_OK) {
        tacet__ledger_view_close(*view);
        *view = NULL;
    }
    return status;
}

const char *tacet__ledger_unit(tacet_accounting accounting) {
    return accounting == TACET_ACCOUNTING_BASIC ? "eps" : accounting == TACET_ACCOUNTING_ZCDP ? "rho" : "mu";
}

json_t *tacet__ledger_bound(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *hash_json(const unsigned char *hash) {
    char hex[2 * TACET_HASH_BYTES + 1];
    tacet__hash_hex(hex, hash);
    return json_string(hex);
}

static json_t *id_json(const unsigned char *id) {
    char hex[2 * TACET__LEDGER_ID_BYTES + 1];
    return json_string(sodium_bin2hex(hex, sizeof hex, id, TACET__LEDGER_ID_BYTES));
}

static json_t *count_json(uint64_t count) {
    return count > INT64_MAX ? json_null() : json_integer((json_int_t)count);
}

json_t *tacet__ledger_report_json(const tacet__ledger_report *r) {
    return json_pack("{s:o, s:s, s:s, s:f, s:f, s:f, s:f, s:f, s:o, s:f, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "id",
                     id_json(r->id), "accounting", tacet_accounting_name(r->accounting), "unit",
                     tacet__ledger_unit(r->accounting), "budget_eps", r->budget_eps, "budget_delta", r->budget_delta,
                     "cap", r->cap, "spent", r->spent, "spent_delta", r->spent_delta, "eps",
                     tacet__ledger_bound(r->eps), "delta", r->delta, "uncovered_most", count_json(r->uncovered_most),
                     "entries", (json_int_t)r->entries, "answered", (json_int_t)r->answered, "open",
                     (json_int_t)(r->entries - r->answered), "uncovered", (json_int_t)r->uncovered, "not_private",
                     (json_int_t)r->seeded, "records", (json_int_t)r->records, "head", hash_json(r->head));
}

/* Parameters are JSON by agreement; what is not is shown as the text it is. NULL: out of memory. */
static json_t *parameters_json(const char *text) {
    if (text[0] == '\0') {
        return json_object();
    }
    bool no_memory = false;
    json_t *value = tacet__json_read(text, JSON_DECODE_ANY, &no_memory);
    return value != NULL || no_memory ? value : json_string(text);
}

static void add_reserve(json_t *object, const tacet__ledger_row *row) {
    const tacet_charge *c = &row->record->reserve.charge;
    (void)json_object_set_new(object, "ticket", json_string(row->record->reserve.ticket));
    (void)json_object_set_new(object, "what", json_string(c->what));
    (void)json_object_set_new(object, "to_whom", json_string(c->to_whom));
    (void)json_object_set_new(object, "mechanism", json_string(c->mechanism));
    (void)json_object_set_new(object, "parameters", parameters_json(c->parameters));
    (void)json_object_set_new(object, "claim", json_string(tacet_claim_name(c->claim)));
    (void)json_object_set_new(object, "eps", tacet__ledger_bound(c->eps));
    (void)json_object_set_new(object, "delta", c->delta < 1 ? tacet__ledger_bound(c->delta) : json_null());
    (void)json_object_set_new(object, "rho", tacet__ledger_bound(c->rho));
    (void)json_object_set_new(object, "mu", tacet__ledger_bound(c->mu));
    (void)json_object_set_new(object, "group", c->group[0] != '\0' ? json_string(c->group) : json_null());
    (void)json_object_set_new(object, "part", c->part[0] != '\0' ? json_string(c->part) : json_null());
    (void)json_object_set_new(object, "covered_fields", json_string(c->covered_fields));
    (void)json_object_set_new(object, "uncovered_fields", json_string(c->uncovered_fields));
    (void)json_object_set_new(object, "covered_records", json_string(c->covered_records));
    (void)json_object_set_new(object, "not_private", json_boolean(c->seeded));
    (void)json_object_set_new(object, "answered_by", row->answer != 0 ? count_json(row->answer) : json_null());
}

static void add_commit(json_t *object, const tacet__record *record) {
    (void)json_object_set_new(object, "entry", count_json(record->commit.entry));
    (void)json_object_set_new(object, "answer_size", count_json(record->commit.answer_size));
    (void)json_object_set_new(object, "answer_hash", hash_json(record->commit.answer_hash));
    (void)json_object_set_new(object, "receipt_hash", hash_json(record->commit.receipt));
}

static void add_budget(json_t *object, const tacet__record *record) {
    (void)json_object_set_new(object, "id", id_json(record->budget.id));
    (void)json_object_set_new(object, "accounting", json_string(tacet_accounting_name(record->budget.accounting)));
    (void)json_object_set_new(object, "eps", json_real(record->budget.eps));
    (void)json_object_set_new(object, "delta", json_real(record->budget.delta));
    (void)json_object_set_new(object, "cap", json_real(record->budget.cap));
    (void)json_object_set_new(object, "uncovered_most", count_json(record->budget.uncovered_most));
}

json_t *tacet__ledger_row_json(const tacet__ledger_row *row) {
    static const char *const KINDS[] = {"?", "budget", "reserve", "commit"};
    static const size_t FIELDS[] = {0, 11, 22, 9}; /* of an object that no allocation has cut short */
    json_t *object = json_pack("{s:I, s:s, s:I}", "seq", (json_int_t)row->record->seq, "kind", KINDS[row->record->kind],
                               "time", (json_int_t)row->record->time);
    switch (row->record->kind) { /* GCOVR_EXCL_BR_LINE: tacet__record_decode makes no other kind */
    case TACET__RECORD_BUDGET:
        add_budget(object, row->record);
        break;
    case TACET__RECORD_RESERVE:
        add_reserve(object, row);
        break;
    case TACET__RECORD_COMMIT:
        add_commit(object, row->record);
        break;
    }
    (void)json_object_set_new(object, "previous", hash_json(row->previous));
    (void)json_object_set_new(object, "hash", hash_json(row->hash));
    /* Setters fail one by one where memory runs out: counted once, a row is whole or is not shown. */
    if (json_object_size(object) != FIELDS[row->record->kind]) {
        json_decref(object);
        object = NULL;
    }
    return object;
}

static tacet_status collect(void *user, const tacet__ledger_row *row, tacet_error *err) {
    if (row->record->kind == TACET__RECORD_RESERVE && json_array_append_new(user, tacet__ledger_row_json(row)) != 0) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a ledger's entries");
    }
    return TACET_OK;
}

tacet_status tacet__ledger_show(json_t **out, tacet__ledger_view *view, const tacet__ledger_report *report,
                                tacet_error *err) {
    json_t *list = json_array();
    *out = tacet__ledger_report_json(report);
    tacet_status status =
        json_object_set_new(*out, "list", list) == 0 /* which takes the list also where *out is NULL */
            ? tacet__ledger_each(view, collect, list, err)
            : tacet__fail(err, TACET_NO_MEMORY, "out of memory for a ledger's account");
    if (status != TACET_OK) {
        json_decref(*out);
        *out = NULL;
    }
    return status;
}
