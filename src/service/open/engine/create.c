/* SPDX-License-Identifier: Apache-2.0 */
/* create.c - new studies: a definition is checked, tried, named and given its first state. Ring: open.
 * In steps that can be repeated (docs/service.md, "Creating a study"). Cost: that of making the policy, twice. */
#include "service/open/engine/internal.h"

#include "core/fail.h"
#include "core/memory.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

/* That central studies could draw: the first kind that has a key speaks for all. */
tacet_status tacet__engine_keys(const tacet__engine_settings *settings, tacet__studies *store, tacet_error *err) {
    unsigned char mark[TACET__KEY_MARK] = {0};
    char text[2 * TACET__KEY_MARK + 1];
    size_t i = 0;
    while (settings->kinds[i] != NULL && settings->kinds[i]->able == NULL) {
        i++;
    }
    if (settings->kinds[i] == NULL || settings->store.open_only) {
        return TACET_OK;
    }
    const tacet_status status = settings->kinds[i]->able(mark, settings->store.store, err);
    if (status != TACET_OK || sodium_is_zero(mark, sizeof mark)) {
        return status;
    }
    (void)sodium_bin2hex(text, sizeof text, mark, sizeof mark);
    return tacet__studies_key_mark(store, text, false, err);
}

/* The first state of a central policy, made once, under the study's lock; of a local one that has features to keep,
 * too. */
static tacet_status first_state(tacet__studies *store, tacet__study *study, const tacet__policy_kind *kind,
                                const tacet__definition *def, tacet_error *err) {
    tacet_blob ledger;
    tacet_blob bytes;
    tacet_error none = {0};
    uint64_t seq = 0;
    tacet__learner learner = {0};
    tacet_blob_init(&ledger);
    tacet_blob_init(&bytes);
    const bool central = def->trust == TACET_TRUST_CENTRAL;
    tacet_status status = central ? tacet__studies_ledger(store, &ledger, def->name, err) : TACET_OK;
    TACET_THEN(status, tacet__studies_begin(store, study, err));
    if (status != TACET_OK) {
        goto done;
    }
    status = tacet__studies_get_snapshot(store, study, &bytes, &seq, &none);
    if (status != TACET_NOT_FOUND) {
        tacet__studies_rollback(store); /* it was made before, or cannot be known */
        status = status == TACET_OK ? TACET_OK : tacet__fail(err, status, "%s", none.message);
        goto done;
    }
    tacet_blob_clear(&bytes);
    status = tacet__policy_create(kind, &learner, def, (const char *)ledger.data, NULL, 0, err);
    TACET_THEN(status, tacet_policy_save(learner.policy, &bytes, err));
    TACET_THEN(status, tacet__studies_put_snapshot(store, study, bytes.data, bytes.size, err));
    TACET_THEN(status, tacet__studies_commit(store, err));
    if (status != TACET_OK) {
        tacet__studies_rollback(store);
    }
    tacet__learner_free(kind, &learner);
done:
    tacet_blob_clear(&ledger);
    tacet_blob_clear(&bytes);
    return status;
}

/* Why the name cannot be had: a study that is there, or one that was begun and can be gone on with. */
static tacet_status explain_taken(tacet__studies *store, const char *name, tacet_error *err) {
    tacet__study there;
    tacet_blob bytes;
    uint64_t seq = 0;
    tacet__study_init(&there);
    tacet_blob_init(&bytes);
    tacet_status status = tacet__studies_get(store, &there, name, NULL);
    if (status == TACET_OK && there.model == TACET__STUDY_CENTRAL) {
        status = tacet__studies_get_snapshot(store, &there, &bytes, &seq, NULL);
    }
    tacet_blob_clear(&bytes);
    tacet__study_clear(&there);
    tacet_error_clear(err);
    return tacet__fail(err, TACET_CONFLICT,
                       status == TACET_NOT_FOUND
                           ? "a study named %s was begun with another definition and not created to its end: create it "
                             "with that definition, or take another name"
                           : "there is another study named %s, with another definition",
                       name);
}

/* Checked, tried and in its canonical form. */
static tacet_status read_definition(const tacet__engine_settings *settings, tacet__definition *def, char **text,
                                    const char *definition, size_t size, tacet_error *err) {
    *text = NULL;
    TACET_OR_RETURN(tacet__definition_decode(def, definition, size, err));
    tacet_status status = tacet__policy_check(settings->kinds, def, err);
    TACET_THEN(status, tacet__policy_try(tacet__policy_find(settings->kinds, def), def, err));
    TACET_THEN(status, tacet__definition_encode(def, text, err));
    if (status != TACET_OK) {
        tacet__definition_clear(def);
    }
    return status;
}

static tacet_status add_study(tacet__studies *store, const tacet__engine_settings *settings,
                              const tacet__definition *def, const char *text, tacet_error *err) {
    tacet__study study;
    tacet__study_init(&study);
    const tacet__policy_kind *kind = tacet__policy_find(settings->kinds, def);
    const bool central = def->trust == TACET_TRUST_CENTRAL;
    tacet_status status = central ? tacet__engine_keys(settings, store, err) : TACET_OK;
    if (status == TACET_OK) {
        status = tacet__studies_add(store, &study, def->name, central ? TACET__STUDY_CENTRAL : TACET__STUDY_LOCAL,
                                    kind->reports_private ? TACET__SHOWN_NOTHING
                                    : kind->index_public  ? TACET__SHOWN_INDEX
                                                          : TACET__SHOWN_REPORTS,
                                    text, strlen(text), err);
        if (status == TACET_CONFLICT) {
            status = explain_taken(store, def->name, err);
        } else if (status == TACET_OK && (central || kind->stored_first)) {
            status = first_state(store, &study, kind, def, err);
            status = status != TACET_OK || !central ? status : tacet__studies_project(store, &study, err);
        }
    }
    tacet__study_clear(&study);
    return status;
}

tacet_status tacet__engine_add(const tacet__engine_settings *settings, char **out, const char *definition, size_t size,
                               tacet_error *err) {
    tacet__definition def;
    if (out != NULL) {
        *out = NULL;
    }
    char *text = NULL;
    TACET_OR_RETURN(read_definition(settings, &def, &text, definition, size, err));
    tacet__studies *store = NULL;
    tacet_status status = tacet__studies_open(&store, &settings->store, err);
    TACET_THEN(status, add_study(store, settings, &def, text, err));
    tacet__studies_close(store);
    tacet__definition_clear(&def);
    if (status == TACET_OK && out != NULL) {
        *out = text;
    } else {
        free(text);
    }
    return status;
}

/* The store stays open for the next study, since opening it takes longer than adding one. Where it fails it may be one
 * that was away meanwhile: it is opened anew, and the study added again, which is harmless. */
static tacet_status add_to_kept(tacet__studies **kept, const tacet__engine_settings *settings,
                                const tacet__definition *def, const char *text, tacet_error *err) {
    tacet__studies_settings s = settings->store;
    s.create = false;
    tacet_status status = TACET_IO;
    for (int i = 0; i < 2 && status == TACET_IO; i++) {
        tacet_error_clear(err);
        status = *kept != NULL ? TACET_OK : tacet__studies_open(kept, &s, err);
        TACET_THEN(status, add_study(*kept, settings, def, text, err));
        if (status == TACET_IO || status == TACET_REPLACED || status == TACET_CORRUPT) {
            tacet__studies_close(*kept);
            *kept = NULL;
        }
    }
    return status;
}

tacet_status tacet__study_make(tacet__studies **kept, const tacet__engine_settings *settings, json_t **out, bool dry,
                               const char *definition, size_t size, tacet_error *err) {
    tacet__definition def;
    json_t *outlook = NULL;
    char *text = NULL;
    *out = NULL;
    TACET_OR_RETURN(read_definition(settings, &def, &text, definition, size, err));
    const tacet__policy_kind *kind = tacet__policy_find(settings->kinds, &def);
    tacet_status status = kind->outlook != NULL ? kind->outlook(&def, &outlook, err) : TACET_OK;
    status = status != TACET_OK || dry ? status : add_to_kept(kept, settings, &def, text, err);
    tacet__definition_clear(&def);
    if (status == TACET_OK) {
        *out = json_pack("{sb so so*}", "created", !dry, "definition", json_loads(text, 0, NULL), "outlook", outlook);
        outlook = NULL;
        status = *out != NULL ? TACET_OK : tacet__fail(err, TACET_NO_MEMORY, "out of memory for a study");
    }
    json_decref(outlook);
    free(text);
    return status;
}

/* What releases of a study will need, worked out before: a release waits for nothing but the disk then. */
typedef struct ahead {
    tacet__errand errand;
    tacet__errands *queue;
    const tacet__policy_kind *kind;
    tacet__definition def;
    size_t piece;
} ahead;

static void work_ahead(tacet__errand *errand, bool stopping) {
    ahead *a = (ahead *)errand;
    if (!stopping && a->kind->ahead(&a->def, a->piece++)) {
        tacet__errands_send(a->queue, errand); /* behind the other studies, and where it can be stopped */
        return;
    }
    tacet__definition_clear(&a->def);
    free(a);
}

/* What cannot be worked out ahead is when it is needed: nothing here fails. */
void tacet__study_ahead(tacet__errands *queue, const tacet__engine_settings *settings, const char *definition,
                        size_t size) {
    ahead *a = TACET__ZALLOC(ahead, 1);
    if (a == NULL || tacet__definition_decode(&a->def, definition, size, NULL) != TACET_OK) {
        free(a);
        return;
    }
    a->errand.run = work_ahead;
    a->queue = queue;
    a->kind = tacet__policy_find(settings->kinds, &a->def);
    if (a->kind != NULL && a->kind->ahead != NULL) {
        tacet__errands_send(a->queue, &a->errand);
    } else {
        work_ahead(&a->errand, true);
    }
}
