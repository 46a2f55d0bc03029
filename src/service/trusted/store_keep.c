/* SPDX-License-Identifier: Apache-2.0 */
/* store_keep.c - a store as a whole: made, checked, saved, put back, copied; tickets that are not waited for.
 * Ring: trusted: to check a study is to load it as a server would. Cost: one pass over what is looked at. */
#include "service/trusted/place.h"

#include "core/fail.h"
#include "core/memory.h"
#include "io/db/db.h"
#include "service/open/engine/engine.h"
#include "service/open/store/care.h"
#include "service/trusted/kinds.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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
