/* SPDX-License-Identifier: Apache-2.0 */
/* central.c - noise, ledger and JSON of the central policies. Ring: trusted. */
#include "contextual/open/internal.h"
#include "service/trusted/central.h"

#include "dp/ledger/seal.h"
#include "dp/open/entry.h"
#include "core/fail.h"
#include "core/memory.h"
#include "io/db/db.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/dp/open/calibrate.h>

/* A trial: seeded noise does without a ledger, and what it gives is stamped not private. The budget is checked as the
 * ledger would. */
static tacet_status open_trial(central *c, const tacet__definition *def, tacet_error *err) {
    double cap = 0;
    const tacet_status status =
        def->delta > 0 && !tacet__definition_direct(def) ? tacet_gdp_mu(&cap, def->eps, def->delta, err) : TACET_OK;
    return status != TACET_OK ? status : tacet_noise_open_seeded(&c->noise, 1, 1, err);
}

tacet_status tacet__central_open(central *c, const tacet__definition *def, const char *path, bool create,
                                 tacet_error *err) {
    tacet_ledger_settings s;
    if (path == NULL) {
        return open_trial(c, def, err);
    }
    tacet_ledger_settings_defaults(&s);
    s.eps = def->eps;
    s.delta = tacet__definition_direct(def) ? 0 : def->delta; /* rewards released at once are pure */
    s.create = create;
    s.accounting = TACET_ACCOUNTING_BASIC; /* batches and epochs: each has all of (eps, delta) */
    return tacet_ledger_open(&c->ledger, path, &s, err);
}

tacet_status tacet__central_able(unsigned char mark[TACET__KEY_MARK], const char *store, tacet_error *err) {
    unsigned char derived[TACET__SEAL_KEY] = {0};
    memset(mark, 0, TACET__KEY_MARK);
    if (!tacet__db_is_url(store)) {
        return TACET_OK;
    }
    const tacet_status status = tacet__seal_derive(derived, store, "the mark", err);
    memcpy(mark, derived, TACET__KEY_MARK);
    sodium_memzero(derived, sizeof derived);
    return status;
}

void tacet__central_close(central *c) {
    tacet_noise_close(c->noise);
    tacet_ledger_close(c->ledger);
    *c = (central){0};
}

tacet_status tacet__central_start(tacet__learner *out, const tacet__definition *def, const char *path, bool create,
                                  tacet_error *err) {
    out->self = TACET__ZALLOC(central, 1);
    return out->self != NULL ? tacet__central_open(out->self, def, path, create, err)
                             : tacet__fail(err, TACET_NO_MEMORY, "out of memory for a policy");
}

void tacet__central_free(void *self) {
    if (self != NULL) {
        tacet__central_close(self);
        free(self);
    }
}

tacet_ask tacet__central_ask(const central *c, const char *what, const char *covered_fields) {
    return (tacet_ask){.ledger = c->ledger,
                       .noise = c->noise,
                       .ticket = "study",
                       .what = what,
                       .to_whom = "all clients of the study",
                       .covered_fields = covered_fields,
                       .uncovered_fields = "time and number of rounds",
                       .covered_records = "each round, towards all other rounds"};
}

/* Appends the columns of a space; false: one of them has a name that is taken. */
static bool append_columns(json_t *columns, const tacet_space *space) {
    char *text = NULL;
    json_t *column = NULL;
    size_t i = 0;
    bool good = tacet_space_encode(space, &text, NULL) == TACET_OK;
    json_t *described = good ? json_loads(text, 0, NULL) : NULL;
    free(text);
    json_array_foreach(json_object_get(described, "columns"), i, column) {
        const json_t *name = json_object_get(column, "name");
        json_t *before = NULL;
        size_t j = 0;
        json_array_foreach(columns, j, before) {
            good = good && !json_equal(json_object_get(before, "name"), name);
        }
        good = good && json_array_append(columns, column) == 0;
    }
    json_decref(described);
    return good;
}

/* A study over a space releases a model in the terms of its columns: actions, then contexts. */
static void name_columns(json_t *model, const tacet__definition *def) {
    json_t *columns = json_array();
    if (def->space.count > 0 && (def->context_space.count > 0 || def->context_dim == 0) &&
        append_columns(columns, &def->space) &&
        (def->context_dim == 0 || append_columns(columns, &def->context_space))) {
        (void)json_object_set_new(model, "space", json_pack("{sO}", "columns", columns));
        (void)json_object_set_new(model, "action_columns", json_integer((json_int_t)def->space.count));
    }
    json_decref(columns);
}

tacet_status tacet__central_model_json(json_t **out, const tacet_contextual_model *model, const tacet__definition *def,
                                       tacet_error *err) {
    char *text = NULL;
    TACET_OR_RETURN(tacet_contextual_model_encode(model, &text, err));
    json_t *value = json_loads(text, 0, NULL);
    free(text);
    if (value != NULL && !json_object_get(value, "space")) {
        name_columns(value, def);
    }
    *out = value != NULL ? json_pack("{ss so}", "kind", "model", "model", value) : NULL;
    return *out != NULL ? TACET_OK : tacet__fail(err, TACET_NO_MEMORY, "out of memory making a release");
}

tacet_status tacet__central_take(const tacet__learner *learner, tacet_error *err) {
    return tacet_ledger_take(((const central *)learner->self)->ledger, err);
}

void tacet__central_recall(const tacet__learner *learner, bool recalling) {
    tacet__ledger_recall(((const central *)learner->self)->ledger, recalling);
}

tacet_status tacet__central_spent(const tacet__learner *learner, const tacet__definition *def, json_t **out,
                                  tacet_error *err) {
    tacet_ledger_totals t;
    char head[2 * TACET_HASH_BYTES + 1];
    (void)def;
    TACET_OR_RETURN(tacet_ledger_total(((const central *)learner->self)->ledger, &t, err));
    tacet__hash_hex(head, t.head);
    *out = json_pack("{ss sf sf sf sf sI sI sI ss}", "kept_by", "the trusted store", "budget_eps", t.budget_eps,
                     "budget_delta", t.budget_delta, "spent_eps", t.eps, "spent_delta", t.delta, "entries",
                     (json_int_t)t.entries, "answered", (json_int_t)t.answered, "uncovered", (json_int_t)t.uncovered,
                     "head", head);
    return *out != NULL ? TACET_OK : tacet__fail(err, TACET_NO_MEMORY, "out of memory reading the account");
}
