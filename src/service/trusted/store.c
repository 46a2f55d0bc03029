/* SPDX-License-Identifier: Apache-2.0 */
/* store.c - looking after a store: what is in it, tokens, and the store as a whole: made, checked, saved, put back,
 * copied. Ring: trusted: to check a study is to load it as a server would. Shows definitions and counts; never a
 * decision set, a reward or a state. Cost: one pass over what is looked at. */
#include "service/trusted/place.h"

#include "core/fail.h"
#include "core/memory.h"
#include "io/db/db.h"
#include "service/open/engine/engine.h"
#include "service/open/store/care.h"
#include "service/trusted/kinds.h"

#include <sodium.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

/* --- the store as a whole ----------------------------------------------------------------------------------------- */

tacet_status tacet_store_init(const tacet_store_place *place, tacet_error *err) {
    const tacet__studies_settings settings = tacet__place_settings(place);
    return tacet__studies_init(&settings, err);
}

tacet_status tacet_store_backup(const char *store, const char *folder, tacet_error *err) {
    struct stat st;
    if (!tacet__db_is_url(store) && (stat(store, &st) != 0 || !S_ISDIR(st.st_mode))) {
        return tacet__fail(err, TACET_NOT_FOUND, "%s: no folder with a store", store);
    }
    return tacet__studies_backup(store, folder, err);
}

/* --- each study --------------------------------------------------------------------------------------------------- */

/* What is done with one study, and what is said of it. */
typedef struct walk {
    tacet__studies *store;
    tacet__engine_settings engine;
    bool whole;
    tacet_status (*visit)(const struct walk *walk, json_t **said, const char *name, tacet_error *err);
} walk;

typedef struct names {
    char (*name)[TACET__STUDY_NAME_MOST + 1];
    size_t count, capacity;
} names;

static tacet_status note_name(const tacet__study *study, void *user, tacet_error *err) {
    names *n = user;
    void *array = n->name;
    if (!tacet__grow(&array, &n->capacity, n->count + 1, sizeof n->name[0])) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory listing the studies");
    }
    n->name = array;
    memcpy(n->name[n->count++], study->name, sizeof study->name);
    return TACET_OK;
}

/* Of one study, or of all (NULL): {"studies": […]}. */
static tacet_status each_study(char **out, walk *w, const tacet_store_place *place, const char *name,
                               tacet_error *err) {
    tacet__metrics metrics = {0};
    names n = {0};
    json_t *array = json_array();
    w->engine = (tacet__engine_settings){
        .store = tacet__place_settings(place), .kinds = tacet__service_kinds, .metrics = &metrics};
    tacet_status status = tacet__place_open(&w->store, place, err);
    status = status != TACET_OK || name != NULL ? status : tacet__studies_list(w->store, note_name, &n, err);
    const size_t count = name != NULL ? 1 : n.count;
    for (size_t i = 0; status == TACET_OK && i < count; i++) {
        json_t *said = NULL;
        status = w->visit(w, &said, name != NULL ? name : n.name[i], err);
        if (status == TACET_OK && json_array_append_new(array, said) != 0) {
            status = tacet__fail(err, TACET_NO_MEMORY, "out of memory for what is in a store");
        }
    }
    tacet__studies_close(w->store);
    free(n.name);
    return tacet__place_text(out, status, json_pack("{so}", "studies", array), err);
}

static tacet_status check_study(const walk *w, json_t **said, const char *name, tacet_error *err) {
    tacet__study_report r;
    tacet_status status = tacet__studies_check(w->store, &r, name, err);
    /* And as a server would: a ledger of another history, a state that does not fit, an arithmetic that differs. */
    status = status != TACET_OK || w->engine.store.open_only ? status : tacet__engine_try(&w->engine, name, err);
    if (status == TACET_OK) {
        *said =
            json_pack("{ss sI sI sI sI}", "name", name, "events", (json_int_t)r.events, "shown", (json_int_t)r.shown,
                      "ledger_records", (json_int_t)r.ledger_records, "ledger_entries", (json_int_t)r.ledger_entries);
    }
    return status;
}

tacet_status tacet_store_check(char **out, const tacet_store_place *place, tacet_error *err) {
    walk w = {.visit = check_study};
    return each_study(out, &w, place, NULL, err);
}

static tacet_status restore_study(const walk *w, json_t **said, const char *name, tacet_error *err) {
    tacet__study_state state = TACET__STUDY_ACTIVE;
    const tacet_status status = tacet__studies_restore(w->store, name, w->whole, &state, err);
    *said = status == TACET_OK
                ? json_pack("{ss ss}", "name", name, "state", state == TACET__STUDY_ARCHIVED ? "archived" : "active")
                : NULL;
    return status;
}

tacet_status tacet_store_restore(char **out, const tacet_store_place *place, bool whole, tacet_error *err) {
    tacet_store_place made = *place;
    walk w = {.visit = restore_study, .whole = whole};
    made.create = true;
    tacet__studies *store = NULL;
    tacet_status status = tacet__place_open(&store, &made, err);
    TACET_THEN(status, tacet__place_audit(store, err, "store restore"));
    /* The next server says which key there is from now on. */
    TACET_THEN(status, tacet__studies_key_mark(store, "", true, err));
    tacet__studies_close(store);
    if (status != TACET_OK) {
        *out = NULL;
        return status;
    }
    return each_study(out, &w, &made, NULL, err);
}

static tacet_status save_study(const walk *w, json_t **said, const char *name, tacet_error *err) {
    uint64_t replayed = 0, events = 0;
    const tacet_status status = tacet__engine_save(&w->engine, &replayed, &events, name, err);
    *said = status == TACET_OK
                ? json_pack("{ss sI sI}", "name", name, "events", (json_int_t)events, "replayed", (json_int_t)replayed)
                : NULL;
    return status;
}

tacet_status tacet_store_snapshot(char **out, const tacet_store_place *place, const char *study, tacet_error *err) {
    walk w = {.visit = save_study};
    return each_study(out, &w, place, study, err);
}

/* --- tickets ------------------------------------------------------------------------------------------------------ */

tacet_status tacet_store_expire(uint64_t *expired, const tacet_store_place *place, const char *study, uint64_t seconds,
                                uint64_t token, tacet_error *err) {
    tacet__metrics metrics = {0};
    tacet__studies *store = NULL;
    tacet__token holder = {0};
    const tacet__engine_settings engine = {
        .store = tacet__place_settings(place), .kinds = tacet__service_kinds, .metrics = &metrics};
    tacet_status status = TACET_OK;
    *expired = 0;
    if (token != 0) {
        status = tacet__place_open(&store, place, err);
        TACET_THEN(status, tacet__studies_token(store, &holder, token, err));
        tacet__studies_close(store);
    }
    tacet__job *job = status == TACET_OK ? tacet__job_create(TACET__JOB_EXPIRE) : NULL;
    if (status == TACET_OK && job == NULL) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory for a question to a study");
    }
    if (status == TACET_OK) {
        job->x = seconds;
        job->owned = token != 0;
        memcpy(job->owner, holder.hash, sizeof job->owner);
        status = tacet__engine_once(&engine, study, job, err);
        *expired = job->number;
    }
    tacet__job_free(job);
    return status;
}
