/* SPDX-License-Identifier: Apache-2.0 */
/* store_list.c - what is in a store: studies, who holds their tickets, tokens.
 * Ring: trusted. Shows definitions and counts; never a decision set, a reward or a state. */
#include "service/trusted/place.h"

#include "core/fail.h"

#include <sodium.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

_Static_assert((int)TACET_TOKEN_TEXT == (int)TACET__STUDIES_TOKEN_TEXT, "room for a token");

tacet__studies_settings tacet__place_settings(const tacet_store_place *place) {
    return (tacet__studies_settings){.store = place->store,
                                     .open_store = place->open_store,
                                     .open_only = place->open_only,
                                     .create = place->create,
                                     .busy_ms = place->busy_ms,
                                     .anchored = true,
                                     .anchors = place->anchors};
}

tacet_status tacet__place_open(tacet__studies **out, const tacet_store_place *place, tacet_error *err) {
    const tacet__studies_settings settings = tacet__place_settings(place);
    return tacet__studies_open(out, &settings, err);
}

tacet_status tacet__place_audit(tacet__studies *store, tacet_error *err, const char *format, ...) {
    char who[TACET__AUDIT_WHO];
    char what[TACET__AUDIT_WHAT];
    va_list arguments;
    (void)snprintf(who, sizeof who, "user %lu at a shell", (unsigned long)getuid());
    va_start(arguments, format);
    (void)vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return tacet__studies_audit(store, NULL, who, what, err);
}

static tacet_status add_line(const tacet__audit *line, void *user, tacet_error *err) {
    char hash[2 * TACET__AUDIT_HASH + 1];
    (void)sodium_bin2hex(hash, sizeof hash, line->hash, sizeof line->hash);
    return json_array_append_new(user, json_pack("{sI sI ss ss ss}", "number", (json_int_t)line->number, "time",
                                                 (json_int_t)line->time, "who", line->who, "what", line->what, "hash",
                                                 hash)) == 0
               ? TACET_OK
               : tacet__fail(err, TACET_NO_MEMORY, "out of memory reading the audit trail");
}

tacet_status tacet_store_audit(char **out, const tacet_store_place *place, tacet_error *err) {
    tacet__studies *store = NULL;
    json_t *array = json_array();
    tacet_status status = tacet__place_open(&store, place, err);
    TACET_THEN(status, tacet__studies_audited(store, add_line, array, err));
    tacet__studies_close(store);
    return tacet__place_text(out, status, json_pack("{so}", "lines", array), err);
}

tacet_status tacet__place_text(char **out, tacet_status status, json_t *object, tacet_error *err) {
    *out = status == TACET_OK && object != NULL ? json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(object);
    return status != TACET_OK || *out != NULL
               ? status
               : tacet__fail(err, TACET_NO_MEMORY, "out of memory for what is in a store");
}

/* --- studies ------------------------------------------------------------------------------------------------------ */

static json_t *study_json(const tacet__study *s) {
    json_t *one = json_pack(
        "{ss ss ss sI sI sI}", "name", s->name, "trust", s->model == TACET__STUDY_CENTRAL ? "central" : "local",
        "state", s->state == TACET__STUDY_ARCHIVED ? "archived" : "active", "created", (json_int_t)s->created,
        "suggested", (json_int_t)s->suggested, "released", (json_int_t)s->released);
    if (one != NULL && !s->reports_private) {
        (void)json_object_set_new(one, "observed", json_integer((json_int_t)s->observed));
    }
    return one;
}

static tacet_status add_study(const tacet__study *s, void *user, tacet_error *err) {
    return json_array_append_new(user, study_json(s)) == 0
               ? TACET_OK
               : tacet__fail(err, TACET_NO_MEMORY, "out of memory listing the studies");
}

tacet_status tacet_store_list(char **out, const tacet_store_place *place, tacet_error *err) {
    tacet__studies *store = NULL;
    json_t *array = json_array();
    tacet_status status = tacet__place_open(&store, place, err);
    TACET_THEN(status, tacet__studies_list(store, add_study, array, err));
    tacet__studies_close(store);
    return tacet__place_text(out, status, json_pack("{so}", "studies", array), err);
}

/* What each token has of a study: who holds its open tickets, and who took its rounds. */
typedef struct holding {
    tacet__studies *reader; /* another handle: the walk has the first */
    const tacet__study *study;
    json_t *array;
} holding;

static tacet_status hold_one(const tacet__token *t, void *user, tacet_error *err) {
    const holding *h = user;
    unsigned char hash[TACET__HOLDER_BYTES];
    tacet__held held = {0};
    tacet__holder_hash(hash, h->study, TACET__HOLDER_TOKEN, t->hash, sizeof t->hash);
    const tacet_status status = tacet__studies_held(h->reader, h->study, &held, hash, err);
    if (status == TACET_OK && held.rounds > 0) {
        json_t *one =
            json_pack("{sI ss sI}", "token", (json_int_t)t->id, "label", t->label, "rounds", (json_int_t)held.rounds);
        if (one != NULL && !h->study->reports_private) {
            (void)json_object_set_new(one, "open", json_integer((json_int_t)held.open));
        }
        (void)json_array_append_new(h->array, one);
    }
    return status;
}

static tacet_status list_holders(tacet__studies *store, const tacet_store_place *place, const tacet__study *study,
                                 json_t *array, tacet_error *err) {
    holding h = {.study = study, .array = array};
    tacet_status status = tacet__place_open(&h.reader, place, err);
    TACET_THEN(status, tacet__studies_list_tokens(store, hold_one, &h, err));
    tacet__studies_close(h.reader);
    return status;
}

tacet_status tacet_store_show(char **out, const tacet_store_place *place, const char *name, tacet_error *err) {
    tacet__studies *store = NULL;
    tacet__study study;
    json_t *object = NULL;
    tacet__study_init(&study);
    tacet_status status = tacet__place_open(&store, place, err);
    TACET_THEN(status, tacet__studies_get(store, &study, name, err));
    if (status == TACET_OK) {
        json_t *held = json_array();
        if (study.model == TACET__STUDY_LOCAL || !place->open_only) {
            status = list_holders(store, place, &study, held, err);
        }
        object = study_json(&study);
        (void)json_object_set_new(object, "held", held);
        (void)json_object_set_new(object, "definition",
                                  json_loadb((const char *)study.definition.data, study.definition.size, 0, NULL));
    }
    tacet__study_clear(&study);
    tacet__studies_close(store);
    return tacet__place_text(out, status, object, err);
}

tacet_status tacet_store_archive(const tacet_store_place *place, const char *name, tacet_error *err) {
    tacet__studies *store = NULL;
    tacet_status status = tacet__place_open(&store, place, err);
    TACET_THEN(status, tacet__place_audit(store, err, "study archive %.48s", name));
    TACET_THEN(status, tacet__studies_archive(store, name, err));
    tacet__studies_close(store);
    return status;
}

/* --- tokens ------------------------------------------------------------------------------------------------------- */

/* When a token that is made now ends. INVALID: a time out of reach. */
static tacet_status end_of(uint64_t *out, double days, tacet_error *err) {
    if (!(days >= 0 && days <= 36500)) {
        return tacet__fail(err, TACET_INVALID, "a token is good for 0 to 36500 days");
    }
    *out = days > 0 ? (uint64_t)time(NULL) + (uint64_t)(days * 86400) : 0;
    return TACET_OK;
}

tacet_status tacet_store_token(char text[TACET_TOKEN_TEXT], const tacet_store_place *place,
                               const tacet_token_request *r, tacet_error *err) {
    tacet__studies *store = NULL;
    tacet__study study;
    tacet__token_role role = TACET__TOKEN_DEVICE;
    uint64_t end = 0;
    text[0] = '\0';
    if (!tacet__token_role_read(&role, r->role)) {
        return tacet__fail(err, TACET_INVALID, "a token's role is device, analyst or owner");
    }
    tacet__study_init(&study);
    tacet_status status = end_of(&end, r->days, err);
    TACET_THEN(status, tacet__place_open(&store, place, err));
    if (status == TACET_OK && r->study != NULL) {
        status = tacet__studies_get(store, &study, r->study, err);
    }
    TACET_THEN(status, tacet__place_audit(store, err, "study token --role %s --study %.48s", r->role,
                                          r->study != NULL ? r->study : "(all)"));
    TACET_THEN(status, tacet__studies_add_token(store, text, role, r->study, r->label != NULL ? r->label : "", end,
                                                r->open_most, r->rounds_most, err));
    tacet__study_clear(&study);
    tacet__studies_close(store);
    return status;
}

tacet_status tacet_store_token_renew(char text[TACET_TOKEN_TEXT], const tacet_store_place *place, uint64_t number,
                                     double days, uint64_t grace, tacet_error *err) {
    tacet__studies *store = NULL;
    uint64_t end = 0;
    const uint64_t old = grace > 0 ? (uint64_t)time(NULL) + grace : 0;
    text[0] = '\0';
    if (grace > 366 * 86400) {
        return tacet__fail(err, TACET_INVALID, "an old token is good for a year still, at most");
    }
    tacet_status status = end_of(&end, days, err);
    TACET_THEN(status, tacet__place_open(&store, place, err));
    TACET_THEN(status, tacet__place_audit(store, err, "study token --renew %llu", (unsigned long long)number));
    TACET_THEN(status, tacet__studies_renew_token(store, text, number, end, old, err));
    tacet__studies_close(store);
    return status;
}

tacet_status tacet_store_token_drop(const tacet_store_place *place, uint64_t number, tacet_error *err) {
    tacet__studies *store = NULL;
    tacet_status status = tacet__place_open(&store, place, err);
    TACET_THEN(status, tacet__place_audit(store, err, "study token --drop %llu", (unsigned long long)number));
    TACET_THEN(status, tacet__studies_drop_token(store, number, err));
    tacet__studies_close(store);
    return status;
}

static tacet_status add_token(const tacet__token *t, void *user, tacet_error *err) {
    const char *role = tacet__token_role_text(t->role);
    return json_array_append_new(
               user, json_pack("{sI ss ss ss sI sI sI sI}", "id", (json_int_t)t->id, "role", role, "study", t->study,
                               "label", t->label, "created", (json_int_t)t->created, "expires", (json_int_t)t->expires,
                               "open_most", (json_int_t)t->open_most, "rounds_most", (json_int_t)t->rounds_most)) == 0
               ? TACET_OK
               : tacet__fail(err, TACET_NO_MEMORY, "out of memory listing the tokens");
}

tacet_status tacet_store_tokens(char **out, const tacet_store_place *place, tacet_error *err) {
    tacet__studies *store = NULL;
    json_t *array = json_array();
    tacet_status status = tacet__place_open(&store, place, err);
    TACET_THEN(status, tacet__studies_list_tokens(store, add_token, array, err));
    tacet__studies_close(store);
    return tacet__place_text(out, status, json_pack("{so}", "tokens", array), err);
}
