/* SPDX-License-Identifier: Apache-2.0 */
/* json.c - a released table as JSON: the file `tacet learn` writes and `tacet predict` reads.
 * Ring: open. The file may come from anyone: every field is checked before it is used, unknown fields are refused. What
 * the posterior says stands in the file for people; a reader computes it again from the released numbers, so that it
 * cannot be told otherwise. Cost: one pass, and a posterior. */
#include "ab/open/internal.h"

#include "core/fail.h"
#include "core/json_text.h"
#include "core/memory.h"
#include "space/internal.h"

#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

static const char FORMAT[] = "tacet-ab-1";

static json_t *numbers(const double *x, size_t n) {
    json_t *array = json_array();
    for (size_t i = 0; i < n && array != NULL; i++) {
        (void)json_array_append_new(array, json_real(x[i]));
    }
    return array;
}

static json_t *receipts_json(const tacet_ab_facts *f) {
    json_t *array = json_array();
    for (size_t i = 0; i < f->receipt_count; i++) {
        const tacet_receipt *r = &f->receipts[i];
        char hash[2 * TACET_HASH_BYTES + 1];
        (void)sodium_bin2hex(hash, sizeof hash, r->entry_hash, sizeof r->entry_hash);
        (void)json_array_append_new(array, json_pack("{ss sb sb sf sf sf si sI sI ss}", "mechanism", r->mechanism,
                                                     "private", (int)r->is_private, "in_ledger", (int)r->in_ledger,
                                                     "eps", r->eps, "sensitivity", r->sensitivity, "scale", r->scale,
                                                     "grid_exponent", r->grid_exponent, "count", (json_int_t)r->count,
                                                     "entry", (json_int_t)r->entry, "entry_hash", hash));
    }
    return array;
}

static json_t *estimate_json(const tacet_ab_estimate *e) {
    return json_pack("{sf sf sf}", "estimate", e->mean, "lower", e->lower, "upper", e->upper);
}

static json_t *claims_json(const tacet_ab_posterior *p) {
    json_t *rule = json_array();
    for (size_t c = 0; c < p->contexts; c++) {
        (void)json_array_append_new(rule, json_integer((json_int_t)p->rule[c]));
    }
    json_t *values = json_array();
    for (size_t a = 0; a < p->actions; a++) {
        (void)json_array_append_new(values, estimate_json(&p->action_value[a]));
    }
    return json_pack("{so so so sI sb so so so so so so so}", "action_values", values, "means",
                     numbers(p->mean, p->actions * p->contexts), "rule", rule, "single", (json_int_t)p->single,
                     "rule_is_single", (int)p->rule_is_single, "rule_value", estimate_json(&p->rule_value),
                     "single_value", estimate_json(&p->single_value), "logged_value", estimate_json(&p->logged_value),
                     "uniform_value", estimate_json(&p->uniform_value), "over_single", estimate_json(&p->over_single),
                     "over_logged", estimate_json(&p->over_logged), "over_uniform", estimate_json(&p->over_uniform));
}

/* What a study has beside a log. */
static json_t *study_json(const tacet_ab_facts *f) {
    return json_pack("{ss so so}", "direction", f->minimize ? "minimize" : "maximize", "tickets",
                     numbers(f->tickets, f->epochs), "actions",
                     numbers(f->actions, f->action_count * f->plan.action_columns));
}

tacet_status tacet_ab_model_encode(const tacet_ab_model *model, char **text, tacet_error *err) {
    const tacet_ab_facts *f = tacet_ab_model_facts(model);
    const double range[2] = {f->minimize ? -f->plan.hi : f->plan.lo, f->minimize ? -f->plan.lo : f->plan.hi};
    char *space = NULL;
    *text = NULL;
    const tacet_status status = tacet_space_encode(f->space, &space, err);
    if (status != TACET_OK) {
        return status;
    }
    json_t *object =
        json_pack("{ss so sI ss so sf sf sI sI sf sf sb so so so}", "format", FORMAT, "space",
                  json_loads(space, 0, NULL), "action_columns", (json_int_t)f->plan.action_columns, "reward", f->reward,
                  "range", numbers(range, 2), "counted_to", f->minimize ? range[1] : f->top, "variance_share",
                  f->variance_share, "rows", (json_int_t)f->plan.rows, "table_rows", (json_int_t)f->table_rows, "eps",
                  f->plan.eps, "scale", f->scale, "private", (int)f->is_private, "released",
                  numbers(f->released, f->plan.numbers * (f->plan.study ? f->epochs : 1)), "claims",
                  claims_json(tacet_ab_model_posterior(model)), "receipts", receipts_json(f));
    if (object != NULL && f->person_rows > 0) {
        (void)json_object_set_new(object, "person",
                                  json_pack("{sI sf}", "rows", (json_int_t)f->person_rows, "eps", f->person_eps));
    }
    if (object != NULL && f->plan.study) {
        (void)json_object_set_new(object, "study", study_json(f));
    }
    free(space);
    *text = object != NULL ? tacet__json_text(object, 1) : NULL;
    json_decref(object);
    return *text != NULL ? TACET_OK : tacet__fail(err, TACET_NO_MEMORY, "out of memory writing a model");
}

bool tacet_ab_model_is(const char *text, size_t length) {
    /* The writer puts the format first; whatever else is for the decoder to refuse. */
    const size_t head = length < 200 ? length : 200;
    const size_t n = sizeof FORMAT - 1;
    for (size_t i = 0; i + n <= head; i++) {
        if (memcmp(text + i, FORMAT, n) == 0) {
            return true;
        }
    }
    return false;
}

static bool read_numbers(double *out, const json_t *array, size_t n) {
    bool good = json_is_array(array) && json_array_size(array) == n;
    for (size_t i = 0; i < n && good; i++) {
        const json_t *item = json_array_get(array, i);
        good = json_is_number(item);
        out[i] = json_number_value(item);
    }
    return good;
}

static tacet_status read_receipts(tacet_ab_facts *f, const json_t *array, tacet_error *err) {
    bool good = json_is_array(array) && json_array_size(array) <= TACET_AB_RECEIPTS_MOST;
    f->receipt_count = good ? json_array_size(array) : 0;
    for (size_t i = 0; i < f->receipt_count && good; i++) {
        tacet_receipt *r = &f->receipts[i];
        const char *mechanism = NULL, *hash = NULL;
        int is_private = 0, in_ledger = 0;
        json_int_t count = 0, entry = 0;
        size_t length = 0;
        json_error_t detail;
        good =
            json_unpack_ex(json_array_get(array, i), &detail, JSON_STRICT, "{s:s s:b s:b s:F s:F s:F s:i s:I s:I s:s}",
                           "mechanism", &mechanism, "private", &is_private, "in_ledger", &in_ledger, "eps", &r->eps,
                           "sensitivity", &r->sensitivity, "scale", &r->scale, "grid_exponent", &r->grid_exponent,
                           "count", &count, "entry", &entry, "entry_hash", &hash) == 0 &&
            count >= 0 && entry >= 0 && strlen(mechanism) < sizeof r->mechanism &&
            strlen(hash) == 2 * sizeof r->entry_hash &&
            sodium_hex2bin(r->entry_hash, sizeof r->entry_hash, hash, strlen(hash), NULL, &length, NULL) == 0 &&
            length == sizeof r->entry_hash;
        if (good) {
            memcpy(r->mechanism, mechanism, strlen(mechanism) + 1);
            r->is_private = is_private != 0;
            r->in_ledger = in_ledger != 0;
            r->rows = 1;
            r->count = (uint64_t)count;
            r->entry = (uint64_t)entry;
        }
    }
    return good ? TACET_OK : tacet__fail(err, TACET_PARSE, "field receipts: malformed");
}

/* What a person is charged, where the claim is about persons. */
static tacet_status read_person(tacet_ab_facts *f, json_t *person, double eps, tacet_error *err) {
    json_int_t rows = 0;
    json_error_t detail;
    if (person != NULL &&
        (json_unpack_ex(person, &detail, JSON_STRICT, "{s:I s:F}", "rows", &rows, "eps", &f->person_eps) != 0 ||
         rows < 1 || !(f->person_eps >= eps))) {
        return tacet__fail(err, TACET_PARSE, "field person: needs rows, and an eps that is not below a row's");
    }
    f->person_rows = (size_t)rows;
    return TACET_OK;
}

static double *read_list(const json_t *array, size_t *count) {
    double *list = TACET__ZALLOC(double, json_array_size(array) + 1);
    *count = json_array_size(array);
    if (list != NULL && !read_numbers(list, array, *count)) {
        free(list);
        return NULL;
    }
    return list;
}

/* `tickets` and `actions` are filled, and must outlive the facts. */
static tacet_status read_study(tacet_ab_facts *f, json_t *study, size_t action_columns, double **tickets,
                               double **actions, tacet_error *err) {
    const char *direction = NULL;
    json_t *per_epoch = NULL, *list = NULL;
    json_error_t detail;
    bool good = json_unpack_ex(study, &detail, JSON_STRICT, "{s:s s:o s:o}", "direction", &direction, "tickets",
                               &per_epoch, "actions", &list) == 0 &&
                json_is_array(per_epoch) && json_is_array(list);
    *tickets = good ? read_list(per_epoch, &f->epochs) : NULL;
    *actions = good ? read_list(list, &f->action_count) : NULL;
    good = good && *tickets != NULL && *actions != NULL && f->epochs >= 1 && f->epochs <= TACET_AB_EPOCHS_MOST &&
           f->action_count % action_columns == 0 && f->action_count <= TACET_AB_CELLS_MOST;
    for (size_t e = 0; e < f->epochs && good; e++) {
        good = (*tickets)[e] >= 1 && isfinite((*tickets)[e]);
    }
    for (size_t i = 0; i < f->action_count && good; i++) {
        good = tacet_space_holds(&f->space->columns[i % action_columns], (*actions)[i]);
    }
    f->minimize = good && strcmp(direction, "minimize") == 0;
    f->action_count /= action_columns;
    f->tickets = *tickets;
    f->actions = *actions;
    return good && (f->minimize || strcmp(direction, "maximize") == 0)
               ? TACET_OK
               : tacet__fail(err, TACET_PARSE, "field study: needs direction, tickets and actions");
}

static tacet_status read_released(double **out, const json_t *list, size_t count, tacet_error *err) {
    *out = TACET__ZALLOC(double, count);
    return *out == NULL                       ? tacet__fail(err, TACET_NO_MEMORY, "out of memory reading a model")
           : !read_numbers(*out, list, count) ? tacet__fail(err, TACET_PARSE, "field released: %zu numbers", count)
                                              : TACET_OK;
}

static tacet_status read_model(tacet_ab_model **out, json_t *object, tacet_space *space, double *lists[3],
                               tacet_error *err) {
    tacet_ab_facts f = {0};
    const char *format = NULL;
    json_t *columns = NULL, *range = NULL, *numbers_json = NULL, *claims = NULL, *receipts = NULL, *person = NULL,
           *study = NULL;
    json_int_t actions = 0, rows = 0, table_rows = 0;
    int is_private = 0;
    double ends[2] = {0}, eps = 0;
    json_error_t detail;
    if (json_unpack_ex(object, &detail, JSON_STRICT,
                       "{s:s s:o s:I s:s s:o s:F s:F s:I s:I s:F s:F s:b s:o s:o s:o s?:o s?:o}", "format", &format,
                       "space", &columns, "action_columns", &actions, "reward", &f.reward, "range", &range,
                       "counted_to", &f.top, "variance_share", &f.variance_share, "rows", &rows, "table_rows",
                       &table_rows, "eps", &eps, "scale", &f.scale, "private", &is_private, "released", &numbers_json,
                       "claims", &claims, "receipts", &receipts, "person", &person, "study", &study) != 0) {
        return tacet__fail(err, TACET_PARSE, "not a model: %s", detail.text);
    }
    if (strcmp(format, FORMAT) != 0 || strlen(f.reward) >= TACET_SPACE_NAME) {
        return tacet__fail(err, TACET_PARSE, "field format: this reads %s only", FORMAT);
    }
    if (!read_numbers(ends, range, 2) || rows < 1 || table_rows < 1 || (table_rows > rows && study == NULL) ||
        actions < 1) {
        return tacet__fail(err, TACET_PARSE, "fields range, rows, table_rows, action_columns: out of range");
    }
    tacet_status status = read_person(&f, person, eps, err);
    if (status != TACET_OK) {
        return status;
    }
    char *text = tacet__json_text(columns, 0);
    status = text == NULL ? tacet__fail(err, TACET_NO_MEMORY, "out of memory reading a model")
                          : tacet_space_decode(space, text, strlen(text), err);
    free(text);
    f.space = space;
    if (status == TACET_OK && (size_t)actions > space->count) {
        status = tacet__fail(err, TACET_PARSE, "field action_columns: more than columns");
    }
    if (status == TACET_OK && study != NULL) {
        status = read_study(&f, study, (size_t)actions, &lists[1], &lists[2], err);
    }
    if (status == TACET_OK) {
        const double lo = f.minimize ? -ends[1] : ends[0], hi = f.minimize ? -ends[0] : ends[1];
        f.top = f.minimize ? hi : f.top;
        status = study != NULL ? tacet_ab_plan_study(&f.plan, space, (size_t)actions, lo, hi, eps, (size_t)rows, err)
                               : tacet_ab_plan_make(&f.plan, space, (size_t)actions, lo, hi, eps, (size_t)rows, err);
        status = status != TACET_OK ? TACET_PARSE : TACET_OK;
    }
    TACET_THEN(status, read_released(&lists[0], numbers_json, f.plan.numbers * (study != NULL ? f.epochs : 1), err));
    TACET_THEN(status, read_receipts(&f, receipts, err));
    if (status == TACET_OK) {
        f.table_rows = (size_t)table_rows;
        f.is_private = is_private != 0;
        f.released = lists[0];
        status = tacet_ab_model_create(out, &f, err);
        status = status == TACET_INVALID ? TACET_PARSE : status;
    }
    return status;
}

tacet_status tacet_ab_model_decode(tacet_ab_model **out, const char *text, size_t length, tacet_error *err) {
    json_error_t detail;
    tacet_space space;
    double *lists[3] = {NULL}; /* released, tickets, actions */
    *out = NULL;
    json_t *object = json_loadb(text, length, JSON_REJECT_DUPLICATES, &detail);
    if (object == NULL) {
        return tacet__fail(err, TACET_PARSE, "not a model: line %d: %s", detail.line, detail.text);
    }
    tacet_space_init(&space);
    const tacet_status status = read_model(out, object, &space, lists, err);
    tacet_space_clear(&space);
    for (size_t i = 0; i < 3; i++) {
        free(lists[i]);
    }
    json_decref(object);
    return status;
}
