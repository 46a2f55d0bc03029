/* engine.c - the studies in use, and what is asked outside of them: tokens, lists, new studies.
 * Ring: open. Cost: a lock and a short list walk a job; a token is looked up in the store every few seconds. */
#include "service/open/engine.h"

#include "core/fail.h"
#include "core/memory.h"
#include "service/open/engine_internal.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

enum { TOKEN_SLOTS = 256, STUDIES_MOST = 1024 };
static const double TOKEN_SECONDS = 5; /* a dropped token is good for so long at the most */

typedef struct known_token {
    tacet__token token;
    double until; /* 0: empty */
} known_token;

struct tacet__engine {
    tacet__engine_settings settings;
    pthread_mutex_t lock; /* of the next three */
    tacet__worker *workers;
    size_t worker_count;
    bool stop;
    pthread_mutex_t reader_lock; /* of the next two */
    tacet__studies *reader;
    known_token tokens[TOKEN_SLOTS];
};

tacet__job *tacet__job_create(tacet__job_kind kind) {
    tacet__job *job = TACET__ZALLOC(tacet__job, 1);
    if (job != NULL) {
        job->kind = kind;
        job->index = TACET__NO_INDEX;
    }
    return job;
}

void tacet__job_free(tacet__job *job) {
    if (job != NULL) {
        if (job->points != NULL) {
            sodium_memzero(job->points, job->d * job->count * sizeof(double));
            free(job->points);
        }
        if (job->context != NULL) {
            sodium_memzero(job->context, job->context_dim * sizeof(double));
            free(job->context);
        }
        json_decref(job->body);
        sodium_memzero(job, sizeof *job);
        free(job);
    }
}

tacet_status tacet__engine_open(tacet__engine **out, const tacet__engine_settings *settings, tacet_error *err) {
    *out = NULL;
    tacet__engine *e = TACET__ZALLOC(tacet__engine, 1);
    if (e == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory starting the service");
    }
    e->settings = *settings;
    (void)pthread_mutex_init(&e->lock, NULL);
    (void)pthread_mutex_init(&e->reader_lock, NULL);
    const tacet_status status = tacet__studies_open(&e->reader, &settings->store, err);
    if (status != TACET_OK) {
        tacet__engine_close(e);
        return status;
    }
    *out = e;
    return TACET_OK;
}

void tacet__engine_stop(tacet__engine *e) {
    (void)pthread_mutex_lock(&e->lock);
    e->stop = true;
    for (tacet__worker *w = e->workers; w != NULL; w = *tacet__worker_next(w)) {
        tacet__worker_stop(w);
    }
    (void)pthread_mutex_unlock(&e->lock);
}

void tacet__engine_drain(tacet__engine *e) {
    for (tacet__worker *w = e->workers; w != NULL; w = *tacet__worker_next(w)) {
        tacet__worker_join(w);
    }
}

void tacet__engine_close(tacet__engine *e) {
    if (e == NULL) {
        return;
    }
    tacet__engine_stop(e);
    tacet__engine_drain(e);
    while (e->workers != NULL) {
        tacet__worker *w = e->workers;
        e->workers = *tacet__worker_next(w);
        tacet__worker_free(w);
    }
    tacet__studies_close(e->reader);
    (void)pthread_mutex_destroy(&e->lock);
    (void)pthread_mutex_destroy(&e->reader_lock);
    sodium_memzero(e->tokens, sizeof e->tokens);
    free(e);
}

/* A store that failed is opened anew; the caller has the reader's lock. */
static tacet_status reader(tacet__engine *e, tacet_error *err) {
    tacet__studies_settings s = e->settings.store;
    s.create = false;
    return e->reader != NULL ? TACET_OK : tacet__studies_open(&e->reader, &s, err);
}

static void drop_reader_on(tacet__engine *e, tacet_status status) {
    if (status == TACET_IO || status == TACET_CORRUPT) {
        tacet__studies_close(e->reader);
        e->reader = NULL;
    }
}

static tacet_status exists(tacet__engine *e, const char *name, tacet_error *err) {
    tacet__study study;
    tacet__study_init(&study);
    (void)pthread_mutex_lock(&e->reader_lock);
    tacet_status status = reader(e, err);
    status = status != TACET_OK ? status : tacet__studies_get(e->reader, &study, name, err);
    drop_reader_on(e, status);
    (void)pthread_mutex_unlock(&e->reader_lock);
    tacet__study_clear(&study);
    return status;
}

static tacet__worker *find(const tacet__engine *e, const char *name) {
    tacet__worker *w = e->workers;
    while (w != NULL && strcmp(tacet__worker_name(w), name) != 0) {
        w = *tacet__worker_next(w);
    }
    return w;
}

/* The worker of a study, started when it is the first to be asked. */
static tacet_status worker_of(tacet__engine *e, tacet__worker **out, const char *name, tacet_error *err) {
    (void)pthread_mutex_lock(&e->lock);
    *out = find(e, name);
    bool stop = e->stop;
    (void)pthread_mutex_unlock(&e->lock);
    if (stop) {
        return tacet__fail(err, TACET_BUSY, "the server is stopping");
    }
    if (*out != NULL) {
        return TACET_OK;
    }
    if (!tacet__definition_name_valid(name)) {
        return tacet__fail(err, TACET_NOT_FOUND, "no such study");
    }
    tacet_status status = exists(e, name, err);
    if (status != TACET_OK) {
        return status;
    }
    (void)pthread_mutex_lock(&e->lock);
    *out = find(e, name);
    if (e->stop) {
        status = tacet__fail(err, TACET_BUSY, "the server is stopping");
    } else if (*out == NULL && e->worker_count >= STUDIES_MOST) {
        status = tacet__fail(err, TACET_BUSY, "too many studies are in use at a time");
    } else if (*out == NULL) {
        status = tacet__worker_start(out, &e->settings, name, err);
        if (status == TACET_OK) {
            *tacet__worker_next(*out) = e->workers;
            e->workers = *out;
            e->worker_count++;
        }
    }
    (void)pthread_mutex_unlock(&e->lock);
    return status;
}

void tacet__engine_submit(tacet__engine *e, const char *study, tacet__job *job) {
    tacet__worker *w = NULL;
    tacet_error err = {0};
    const tacet_status status = worker_of(e, &w, study, &err);
    if (status != TACET_OK) {
        tacet__job_fail(job, status, status == TACET_NOT_FOUND ? "no such study" : err.message);
    } else {
        tacet__worker_submit(w, job);
    }
}

/* --- new studies -------------------------------------------------------------------------------------------------- */

/* The first state of a central policy: made and charged once, under the study's lock. */
static tacet_status first_state(tacet__studies *store, tacet__study *study, const tacet__policy_kind *kind,
                                const tacet__definition *def, tacet_error *err) {
    tacet_blob ledger;
    tacet_blob bytes;
    tacet_error none = {0};
    uint64_t seq = 0;
    tacet__learner learner = {0};
    tacet_blob_init(&ledger);
    tacet_blob_init(&bytes);
    tacet_status status = tacet__studies_ledger(store, &ledger, def->name, err);
    status = status != TACET_OK ? status : tacet__studies_begin(store, study, err);
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
    status = status != TACET_OK ? status : tacet_policy_save(learner.policy, &bytes, err);
    status = status != TACET_OK ? status : tacet__studies_put_snapshot(store, study, bytes.data, bytes.size, err);
    status = status != TACET_OK ? status : tacet__studies_commit(store, err);
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

tacet_status tacet__engine_add(const tacet__engine_settings *settings, char **out, const char *definition, size_t size,
                               tacet_error *err) {
    tacet__definition def;
    tacet__study study;
    tacet__studies *store = NULL;
    char *text = NULL;
    tacet__study_init(&study);
    if (out != NULL) {
        *out = NULL;
    }
    tacet_status status = tacet__definition_decode(&def, definition, size, err);
    if (status != TACET_OK) {
        return status;
    }
    status = tacet__policy_check(settings->kinds, &def, err);
    status = status != TACET_OK ? status : tacet__policy_try(tacet__policy_find(settings->kinds, &def), &def, err);
    status = status != TACET_OK ? status : tacet__definition_encode(&def, &text, err);
    status = status != TACET_OK ? status : tacet__studies_open(&store, &settings->store, err);
    if (status == TACET_OK) {
        const tacet__policy_kind *kind = tacet__policy_find(settings->kinds, &def);
        const bool central = def.trust == TACET_TRUST_CENTRAL;
        status = tacet__studies_add(store, &study, def.name, central ? TACET__STUDY_CENTRAL : TACET__STUDY_LOCAL,
                                    kind->index_public, text, strlen(text), err);
        if (status == TACET_CONFLICT) {
            status = explain_taken(store, def.name, err);
        } else if (status == TACET_OK && central) {
            status = first_state(store, &study, kind, &def, err);
            status = status != TACET_OK ? status : tacet__studies_project(store, &study, err);
        }
    }
    tacet__study_clear(&study);
    tacet__studies_close(store);
    tacet__definition_clear(&def);
    if (status == TACET_OK && out != NULL) {
        *out = text;
    } else {
        free(text);
    }
    return status;
}

/* --- tokens, lists, health ---------------------------------------------------------------------------------------- */

tacet_status tacet__engine_token(tacet__engine *e, tacet__token *out, const char *text, tacet_error *err) {
    unsigned char hash[TACET__STUDIES_TOKEN_HASH];
    tacet__studies_token_hash(hash, text, strlen(text));
    const double now = tacet__service_now();
    (void)pthread_mutex_lock(&e->reader_lock);
    known_token *slot = &e->tokens[hash[0] % TOKEN_SLOTS];
    tacet_status status = TACET_OK;
    if (slot->until <= now || sodium_memcmp(slot->token.hash, hash, sizeof hash) != 0) {
        tacet__token found;
        status = reader(e, err);
        status = status != TACET_OK ? status : tacet__studies_check_token(e->reader, &found, text, err);
        drop_reader_on(e, status);
        if (status == TACET_OK) {
            slot->token = found;
            slot->until = now + TOKEN_SECONDS;
        }
    }
    if (status == TACET_OK) {
        *out = slot->token;
    }
    (void)pthread_mutex_unlock(&e->reader_lock);
    return status;
}

tacet_status tacet__engine_list(tacet__engine *e, tacet__study_fn *fn, void *user, tacet_error *err) {
    (void)pthread_mutex_lock(&e->reader_lock);
    tacet_status status = reader(e, err);
    status = status != TACET_OK ? status : tacet__studies_list(e->reader, fn, user, err);
    drop_reader_on(e, status);
    (void)pthread_mutex_unlock(&e->reader_lock);
    return status;
}

static tacet_status nothing(const tacet__token *token, void *user, tacet_error *err) {
    (void)token;
    (void)user;
    (void)err;
    return TACET_OK;
}

tacet_status tacet__engine_health(tacet__engine *e, tacet_error *err) {
    (void)pthread_mutex_lock(&e->reader_lock);
    tacet_status status = reader(e, err);
    status = status != TACET_OK ? status : tacet__studies_list_tokens(e->reader, nothing, NULL, err);
    drop_reader_on(e, status);
    (void)pthread_mutex_unlock(&e->reader_lock);
    return status;
}
