/* SPDX-License-Identifier: Apache-2.0 */
/* json.c - a released model as JSON: the file that central studies release and `tacet predict` reads.
 * Ring: open. The file may come from anyone: every field is checked before it is used, unknown fields are refused.
 * Cost: one pass. */
#include "contextual/open/internal.h"

#include "core/fail.h"
#include "core/memory.h"
#include "core/json_text.h"

#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

static const char FORMAT[] = "tacet-model-1";

static json_t *numbers(const double *x, size_t n) {
    json_t *array = json_array();
    for (size_t i = 0; i < n && array != NULL; i++) {
        (void)json_array_append_new(array, json_real(x[i]));
    }
    return array;
}

static const char *kernel_name(const tacet_contextual_parts *p) {
    return p->kind == TACET_KERNEL_SE ? "se" : p->matern_p == 1 ? "matern32" : "matern52";
}

static json_t *receipts(const tacet_contextual_parts *p) {
    json_t *array = json_array();
    for (size_t i = 0; i < p->receipt_count; i++) {
        const tacet_receipt *r = &p->receipts[i];
        char hash[2 * TACET_HASH_BYTES + 1];
        (void)sodium_bin2hex(hash, sizeof hash, r->entry_hash, sizeof r->entry_hash);
        (void)json_array_append_new(
            array, json_pack("{ss sb sb sf sf sf sf sf si sI sI ss}", "mechanism", r->mechanism, "private",
                             (int)r->is_private, "in_ledger", (int)r->in_ledger, "eps", r->eps, "delta", r->delta, "mu",
                             r->mu, "sensitivity", r->sensitivity, "scale", r->scale, "grid_exponent", r->grid_exponent,
                             "count", (json_int_t)r->count, "entry", (json_int_t)r->entry, "entry_hash", hash));
    }
    return array;
}

tacet_status tacet_contextual_model_encode(const tacet_contextual_model *model, char **text, tacet_error *err) {
    const tacet_contextual_parts *p = tacet_contextual_model_parts(model);
    const size_t d = p->action_dim;
    json_t *object = json_pack(
        "{ss sI si so so ss so so so sf sb sf sf sI sf so}", "format", FORMAT, "action_dim", (json_int_t)d,
        "context_dim", 0, "lower", numbers(p->lower, d), "upper", numbers(p->upper, d), "kernel", kernel_name(p),
        "lengthscales", numbers(p->lengthscales, d), "nodes", numbers(p->nodes, d * p->count), "weights",
        numbers(p->weights, p->count), "offset", p->offset, "private", (int)p->is_private, "eps", p->eps, "delta",
        p->delta, "rounds", (json_int_t)p->rounds, "predicted_error", p->predicted_error, "receipts", receipts(p));
    if (p->logistic_scale > 0 && object != NULL) {
        (void)json_object_set_new(object, "logistic",
                                  json_pack("{sf sf}", "lo", p->logistic_lo, "scale", p->logistic_scale));
    }
    if (p->minimize && object != NULL) {
        (void)json_object_set_new(object, "direction", json_string("minimize"));
    }
    if (object != NULL && p->range[0] < p->range[1]) {
        (void)json_object_set_new(object, "range", numbers(p->range, 2));
    }
    if (object != NULL && p->listed != NULL) {
        (void)json_object_set_new(object, "actions", numbers(p->listed, d * p->listed_count));
    }
    if (object != NULL && p->space != NULL) {
        char *space = NULL;
        const tacet_status status = tacet_space_encode(p->space, &space, err);
        if (status != TACET_OK) {
            json_decref(object);
            *text = NULL;
            return status;
        }
        (void)json_object_set_new(object, "space", json_loads(space, 0, NULL));
        (void)json_object_set_new(object, "action_columns", json_integer((json_int_t)p->space->count));
        free(space);
    }
    *text = tacet__json_text(object, 1);
    json_decref(object);
    return *text != NULL ? TACET_OK : tacet__fail(err, TACET_NO_MEMORY, "out of memory writing a model");
}

/* What a decoder holds while it reads. */
typedef struct decoder {
    tacet_contextual_parts parts;
    double lower[TACET_CONTEXTUAL_COORDINATES_MOST], upper[TACET_CONTEXTUAL_COORDINATES_MOST],
        lengthscales[TACET_CONTEXTUAL_COORDINATES_MOST];
    double *nodes, *weights, *listed;
    tacet_receipt receipts[TACET_CONTEXTUAL_RECEIPTS_MOST];
    tacet_space space;
} decoder;

static bool read_numbers(double *out, const json_t *array, size_t n) {
    if (!json_is_array(array) || json_array_size(array) != n) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        const json_t *item = json_array_get(array, i);
        if (!json_is_number(item)) {
            return false;
        }
        out[i] = json_number_value(item);
    }
    return true;
}

static tacet_status read_receipts(decoder *k, const json_t *array, tacet_error *err) {
    if (!json_is_array(array) || json_array_size(array) > TACET_CONTEXTUAL_RECEIPTS_MOST) {
        return tacet__fail(err, TACET_PARSE, "field receipts: a list of at most %d",
                           (int)TACET_CONTEXTUAL_RECEIPTS_MOST);
    }
    k->parts.receipt_count = json_array_size(array);
    for (size_t i = 0; i < k->parts.receipt_count; i++) {
        tacet_receipt *r = &k->receipts[i];
        const char *mechanism = NULL;
        const char *hash = NULL;
        int is_private = 0;
        int in_ledger = 0;
        json_int_t count = 0;
        json_int_t entry = 0;
        size_t length = 0;
        json_error_t detail;
        if (json_unpack_ex(json_array_get(array, i), &detail, JSON_STRICT,
                           "{s:s s:b s:b s:F s:F s:F s:F s:F s:i s:I s:I s:s}", "mechanism", &mechanism, "private",
                           &is_private, "in_ledger", &in_ledger, "eps", &r->eps, "delta", &r->delta, "mu", &r->mu,
                           "sensitivity", &r->sensitivity, "scale", &r->scale, "grid_exponent", &r->grid_exponent,
                           "count", &count, "entry", &entry, "entry_hash", &hash) != 0 ||
            count < 0 || entry < 0 || strlen(mechanism) >= sizeof r->mechanism ||
            sodium_hex2bin(r->entry_hash, sizeof r->entry_hash, hash, strlen(hash), NULL, &length, NULL) != 0 ||
            length != sizeof r->entry_hash || strlen(hash) != 2 * sizeof r->entry_hash) {
            return tacet__fail(err, TACET_PARSE, "field receipts: receipt %zu is malformed", i + 1);
        }
        memcpy(r->mechanism, mechanism, strlen(mechanism) + 1);
        r->is_private = is_private != 0;
        r->in_ledger = in_ledger != 0;
        r->rows = 1;
        r->count = (uint64_t)count;
        r->entry = (uint64_t)entry;
    }
    return TACET_OK;
}

typedef struct arrays {
    json_t *lower, *upper, *lengthscales, *nodes, *weights, *receipts, *logistic;
    json_t *range, *space, *action_columns, *actions; /* may be missing */
} arrays;

static tacet_status read_head(decoder *k, arrays *a, json_t *object, tacet_error *err) {
    const char *format = NULL;
    const char *kernel = NULL;
    const char *direction = "maximize";
    json_int_t actions = 0;
    json_int_t contexts = 0;
    json_int_t rounds = 0;
    int is_private = 0;
    json_error_t detail;
    tacet_contextual_parts *p = &k->parts;
    if (json_unpack_ex(object, &detail, JSON_STRICT,
                       "{s:s s:I s:I s:o s:o s:s s:o s:o s:o s:F s:b s:F s:F s:I s:F s:o s?:o s?:s s?o s?o s?o s?o}",
                       "format", &format, "action_dim", &actions, "context_dim", &contexts, "lower", &a->lower, "upper",
                       &a->upper, "kernel", &kernel, "lengthscales", &a->lengthscales, "nodes", &a->nodes, "weights",
                       &a->weights, "offset", &p->offset, "private", &is_private, "eps", &p->eps, "delta", &p->delta,
                       "rounds", &rounds, "predicted_error", &p->predicted_error, "receipts", &a->receipts, "logistic",
                       &a->logistic, "direction", &direction, "range", &a->range, "space", &a->space, "action_columns",
                       &a->action_columns, "actions", &a->actions) != 0) {
        return tacet__fail(err, TACET_PARSE, "not a model: %s", detail.text);
    }
    if (strcmp(format, FORMAT) != 0) {
        return tacet__fail(err, TACET_PARSE, "field format: this reads %s only", FORMAT);
    }
    p->minimize = strcmp(direction, "minimize") == 0;
    if (!p->minimize && strcmp(direction, "maximize") != 0) {
        return tacet__fail(err, TACET_PARSE, "field direction: maximize or minimize");
    }
    if (a->logistic != NULL && (json_unpack_ex(a->logistic, &detail, JSON_STRICT, "{s:F s:F}", "lo", &p->logistic_lo,
                                               "scale", &p->logistic_scale) != 0 ||
                                !(p->logistic_scale > 0))) {
        return tacet__fail(err, TACET_PARSE, "field logistic: needs lo, and a scale above 0");
    }
    if (actions < 1 || contexts != 0 || actions > TACET_CONTEXTUAL_COORDINATES_MOST || rounds < 0) {
        return tacet__fail(err, TACET_PARSE, "fields action_dim, context_dim (0), rounds: out of range");
    }
    tacet_kernel_spec spec;
    tacet_kernel_spec_defaults(&spec);
    if (tacet_kernel_parse(&spec, kernel, NULL) != TACET_OK ||
        !(spec.kind == TACET_KERNEL_SE ||
          (spec.kind == TACET_KERNEL_MATERN && spec.matern_p >= 1 && spec.matern_p <= 2))) {
        return tacet__fail(err, TACET_PARSE, "field kernel: se, matern32 or matern52");
    }
    p->kind = spec.kind;
    p->matern_p = spec.kind == TACET_KERNEL_MATERN ? spec.matern_p : 0;
    p->action_dim = (size_t)actions;
    p->rounds = (uint64_t)rounds;
    p->is_private = is_private != 0;
    return TACET_OK;
}

static tacet_status read_space(decoder *k, const arrays *a, tacet_error *err) {
    char *text = tacet__json_text(a->space, 0);
    if (text == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory reading a model");
    }
    const tacet_status status = tacet_space_decode(&k->space, text, strlen(text), err);
    free(text);
    if (status == TACET_OK && json_integer_value(a->action_columns) != (json_int_t)k->space.count) {
        return tacet__fail(err, TACET_PARSE, "field action_columns: all columns of the space");
    }
    k->parts.space = &k->space;
    return status;
}

static tacet_status read_listed(decoder *k, const json_t *actions, tacet_error *err) {
    const size_t numbers = json_array_size(actions), d = k->parts.action_dim;
    if (numbers == 0 || numbers % d != 0 || numbers / d > TACET_CONTEXTUAL_NODES_MOST) {
        return tacet__fail(err, TACET_PARSE, "field actions: a list of numbers, action_dim for each action");
    }
    k->listed = TACET__ZALLOC(double, numbers);
    if (k->listed == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory reading a model");
    }
    k->parts.listed = k->listed;
    k->parts.listed_count = numbers / d;
    return read_numbers(k->listed, actions, numbers) ? TACET_OK
                                                     : tacet__fail(err, TACET_PARSE, "field actions: numbers alone");
}

static tacet_status read_all(decoder *k, json_t *object, tacet_error *err) {
    arrays a = {0};
    tacet_contextual_parts *p = &k->parts;
    TACET_OR_RETURN(read_head(k, &a, object, err));
    const size_t d = p->action_dim;
    p->count = json_array_size(a.weights);
    if (p->count == 0 || p->count > TACET_CONTEXTUAL_NODES_MOST) {
        return tacet__fail(err, TACET_PARSE, "not 1 to %d weights", (int)TACET_CONTEXTUAL_NODES_MOST);
    }
    k->nodes = TACET__ZALLOC(double, d * p->count);
    k->weights = TACET__ZALLOC(double, p->count);
    if (k->nodes == NULL || k->weights == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory reading a model");
    }
    if (!read_numbers(k->lower, a.lower, d) || !read_numbers(k->upper, a.upper, d) ||
        !read_numbers(k->lengthscales, a.lengthscales, d) || !read_numbers(k->nodes, a.nodes, d * p->count) ||
        !read_numbers(k->weights, a.weights, p->count)) {
        return tacet__fail(err, TACET_PARSE,
                           "fields lower, upper, lengthscales, nodes, weights: lists of numbers that fit");
    }
    p->lower = k->lower;
    p->upper = k->upper;
    p->lengthscales = k->lengthscales;
    p->nodes = k->nodes;
    p->weights = k->weights;
    p->receipts = k->receipts;
    if (a.range != NULL && (!read_numbers(p->range, a.range, 2) || !(p->range[0] < p->range[1]))) {
        return tacet__fail(err, TACET_PARSE, "field range: two numbers, the lower below the upper");
    }
    tacet_status rest = TACET_OK;
    if (rest == TACET_OK && a.space != NULL) {
        rest = read_space(k, &a, err);
    }
    if (rest == TACET_OK && a.actions != NULL) {
        rest = read_listed(k, a.actions, err);
    }
    return rest == TACET_OK ? read_receipts(k, a.receipts, err) : rest;
}

tacet_status tacet_contextual_model_decode(tacet_contextual_model **out, const char *text, size_t length,
                                           tacet_error *err) {
    *out = NULL;
    decoder *k = TACET__ZALLOC(decoder, 1);
    if (k == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory reading a model");
    }
    json_error_t detail;
    tacet_status status = TACET_OK;
    json_t *object = json_loadb(text, length, JSON_REJECT_DUPLICATES, &detail);
    if (object == NULL) {
        status = json_error_code(&detail) == json_error_out_of_memory
                     ? tacet__fail(err, TACET_NO_MEMORY, "out of memory reading a model")
                     : tacet__fail(err, TACET_PARSE, "not JSON: line %d: %s", detail.line, detail.text);
    }
    TACET_THEN(status, read_all(k, object, err));
    if (status == TACET_OK) {
        status = tacet_contextual_model_create(out, &k->parts, err);
        status = status == TACET_INVALID ? TACET_PARSE : status;
    }
    json_decref(object);
    tacet_space_clear(&k->space);
    free(k->nodes);
    free(k->weights);
    free(k->listed);
    free(k);
    return status;
}
