/* SPDX-License-Identifier: Apache-2.0 */
/* store.c - opening the two stores; adding, finding and archiving studies.
 * Ring: open. A name is taken in the open store first, then the study is added where its log lives: a crash between
 * the two leaves a name that the same definition can claim again, and nothing else.
 * Cost: O(1) statements per study. */
#include "service/open/store/store.h"

#include "core/clock.h"
#include "core/fail.h"
#include "service/open/study/definition.h"
#include "service/open/study/ticket.h"
#include "service/open/store/care.h"
#include "core/memory.h"
#include "service/open/store/internal.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

static const char TRUSTED_FILE[] = "/trusted.db";
static const char OPEN_FILE[] = "/open.db";
static const char TRUSTED_SCHEMA[] = "#tacet_trusted";
static const char OPEN_SCHEMA[] = "#tacet_open";

/* Three texts in one; NULL when out of memory. */
static char *join(const char *a, const char *b, const char *c) {
    size_t size = 0;
    if (!tacet__size_add(&size, strlen(a), strlen(b)) || !tacet__size_add(&size, size, strlen(c) + 1)) {
        return NULL;
    }
    char *out = TACET__ZALLOC(char, size);
    if (out != NULL) {
        (void)snprintf(out, size, "%s%s%s", a, b, c);
    }
    return out;
}

/* Whoever may write to the folder may put another store, ledger or key in its place. */
static tacet_status see_folder(const char *path, bool create, tacet_error *err) {
    struct stat st;
    if (create && mkdir(path, 0700) != 0 && errno != EEXIST) {
        return tacet__fail(err, tacet__db_errno(errno), "cannot create %s: %s", path, strerror(errno));
    }
    return stat(path, &st) == 0 && (st.st_mode & (S_IWGRP | S_IWOTH)) != 0
               ? tacet__fail(err, TACET_DENIED, "others may write to the folder %s: chmod go-w %s", path, path)
               : TACET_OK; /* what is not there is told by who opens it */
}

static tacet_status open_half(tacet__half *half, tacet__side side, const char *place,
                              const tacet__studies_settings *settings, tacet_error *err) {
    const bool open = side == TACET__SIDE_OPEN;
    const bool url = tacet__db_is_url(place);
    if (url && strchr(place, '#') != NULL) {
        return tacet__fail(err, TACET_INVALID, "the URL of a store may not have a '#'");
    }
    TACET_OR_RETURN(url ? TACET_OK : see_folder(place, settings->create, err));
    const char *tail = open ? OPEN_FILE : TRUSTED_FILE;
    if (url) {
        tail = open ? OPEN_SCHEMA : TRUSTED_SCHEMA;
    }
    char *path = join(place, tail, "");
    if (path == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory opening the store");
    }
    tacet_status status = tacet__half_open(half, side, path, settings, err);
    if (status == TACET_NOT_FOUND && !url && open) {
        if (err != NULL) {
            *err = (tacet_error){0}; /* the first error counts */
        }
        status = tacet__fail(err, status,
                             "there is no store: %s is missing; 'tacet store init' makes one, and so does the first "
                             "'tacet study create'",
                             path);
    }
    sodium_memzero(path, strlen(path)); /* a URL may have a password */
    free(path);
    return status;
}

tacet_status tacet__studies_open(tacet__studies **out, const tacet__studies_settings *settings, tacet_error *err) {
    *out = NULL;
    const char *open_place = settings->open_store != NULL ? settings->open_store : settings->store;
    if (open_place == NULL || open_place[0] == '\0' ||
        (!settings->open_only && (settings->store == NULL || settings->store[0] == '\0'))) {
        return tacet__fail(err, TACET_INVALID, "no store is named");
    }
    if (sodium_init() < 0) {
        return tacet__fail(err, TACET_IO, "no randomness from the operating system");
    }
    tacet__studies *studies = TACET__ZALLOC(tacet__studies, 1);
    char *place = join(settings->open_only ? open_place : settings->store, "", "");
    if (studies == NULL || place == NULL) {
        free(studies);
        free(place);
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory opening the store");
    }
    studies->place = place;
    tacet_status status = open_half(&studies->open, TACET__SIDE_OPEN, open_place, settings, err);
    if (status == TACET_OK && !settings->open_only) {
        status = open_half(&studies->trusted, TACET__SIDE_TRUSTED, settings->store, settings, err);
    }
    if (status != TACET_OK) {
        tacet__studies_close(studies);
        return status;
    }
    *out = studies;
    return TACET_OK;
}

void tacet__studies_close(tacet__studies *studies) {
    if (studies == NULL) {
        return;
    }
    tacet__half_close(&studies->trusted);
    tacet__half_close(&studies->open);
    sodium_memzero(studies->place, strlen(studies->place));
    free(studies->place);
    free(studies);
}

tacet_status tacet__studies_init(const tacet__studies_settings *settings, tacet_error *err) {
    tacet__studies_settings making = *settings;
    tacet__studies *studies = NULL;
    making.create = true;
    making.open_only = false;
    tacet_status status = tacet__studies_open(&studies, &making, err);
    if (status == TACET_OK && tacet__db_shared(studies->trusted.db)) {
        status = tacet__half_grant(&studies->trusted, TACET__SIDE_TRUSTED, err);
    }
    if (status == TACET_OK && tacet__db_shared(studies->open.db)) {
        status = tacet__half_grant(&studies->open, TACET__SIDE_OPEN, err);
    }
    tacet__studies_close(studies);
    return status;
}

static tacet_status probe_half(tacet__half *half, tacet_error *err) {
    const tacet_status status = tacet__half_relax(half, false, err);
    return status == TACET_OK ? tacet__db_probe(half->db, err) : status;
}

tacet_status tacet__studies_probe(tacet__studies *studies, tacet_error *err) {
    const tacet_status status = probe_half(&studies->open, err);
    return status == TACET_OK && studies->trusted.db != NULL ? probe_half(&studies->trusted, err) : status;
}

void tacet__study_init(tacet__study *study) {
    memset(study, 0, sizeof *study);
    tacet_blob_init(&study->definition);
}

void tacet__study_clear(tacet__study *study) {
    if (study == NULL) {
        return;
    }
    tacet_blob_clear(&study->definition);
    sodium_memzero(study, sizeof *study);
}

tacet__half *tacet__log_half(tacet__studies *studies, const tacet__study *study) {
    if (study->model == TACET__STUDY_LOCAL) {
        return &studies->open;
    }
    return studies->trusted.db == NULL ? NULL : &studies->trusted;
}

/* Eight bytes of a number, then the salt; the newest TACET__SALTS_MOST are kept. */
static void take_salts(tacet__query *query, tacet__study *out) {
    enum { ONE = 8 + TACET__SALT_BYTES };
    size_t size = 0;
    const unsigned char *bytes = tacet__query_bytes(query, 13, &size);
    for (size_t at = 0; at + ONE <= size && out->salt_count < TACET__SALTS_MOST; at += ONE) {
        tacet__salt *salt = &out->salts[out->salt_count++];
        for (size_t i = 0; i < 8; i++) {
            salt->after |= (uint64_t)bytes[at + i] << (8 * i);
        }
        memcpy(salt->bytes, bytes + at + 8, TACET__SALT_BYTES);
    }
}

void tacet__studies_ticket_key(unsigned char out[TACET__STUDY_SECRET_BYTES], const tacet__study *study, uint64_t seq) {
    const tacet__salt *salt = NULL;
    for (size_t i = 0; i < study->salt_count; i++) {
        salt = seq > study->salts[i].after ? &study->salts[i] : salt;
    }
    if (salt == NULL) {
        memcpy(out, study->secret, TACET__STUDY_SECRET_BYTES);
    } else {
        (void)crypto_generichash(out, TACET__STUDY_SECRET_BYTES, salt->bytes, sizeof salt->bytes, study->secret,
                                 sizeof study->secret);
    }
}

bool tacet__studies_ticket_read(const tacet__study *study, uint64_t *seq, const char *ticket) {
    unsigned char key[TACET__STUDY_SECRET_BYTES];
    unsigned char right[TACET__STUDY_SECRET_BYTES];
    bool good = false;
    for (size_t i = 0; i <= study->salt_count && !good; i++) { /* keys by the first event they are for */
        tacet__studies_ticket_key(key, study, i == 0 ? 0 : study->salts[i - 1].after + 1);
        if (tacet__ticket_read(seq, ticket, key)) {
            tacet__studies_ticket_key(right, study, *seq);
            good = sodium_memcmp(key, right, sizeof key) == 0;
        }
    }
    sodium_memzero(key, sizeof key);
    sodium_memzero(right, sizeof right);
    return good;
}

/* The columns STUDY_QUERY of the current row. */
static tacet_status take_study(tacet__query *query, tacet__study *out, tacet_error *err) {
    size_t size = 0;
    size_t secret_size = 0;
    tacet__study_clear(out);
    const unsigned char *name = tacet__query_bytes(query, 1, &size);
    if (tacet__query_no_memory(query)) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory reading a study");
    }
    if (size == 0 || size > TACET__STUDY_NAME_MOST) {
        return tacet__fail(err, TACET_CORRUPT, "a study in the store has no good name");
    }
    memcpy(out->name, name, size);
    out->number = (uint64_t)tacet__query_int(query, 0);
    out->model = (tacet__study_model)tacet__query_int(query, 2);
    out->state = (tacet__study_state)tacet__query_int(query, 3);
    out->index_public = tacet__query_int(query, 4) == TACET__SHOWN_INDEX;
    out->reports_private = tacet__query_int(query, 4) == TACET__SHOWN_NOTHING;
    out->created = (uint64_t)tacet__query_int(query, 5);
    out->head = (uint64_t)tacet__query_int(query, 6);
    out->snapshot = (uint64_t)tacet__query_int(query, 7);
    out->suggested = (uint64_t)tacet__query_int(query, 8);
    out->observed = (uint64_t)tacet__query_int(query, 9);
    out->released = (uint64_t)tacet__query_int(query, 10);
    const unsigned char *secret = tacet__query_bytes(query, 11, &secret_size);
    if (secret_size == TACET__STUDY_SECRET_BYTES) {
        memcpy(out->secret, secret, secret_size);
    }
    if ((out->model != TACET__STUDY_LOCAL && out->model != TACET__STUDY_CENTRAL) ||
        (out->state != TACET__STUDY_ACTIVE && out->state != TACET__STUDY_ARCHIVED)) {
        return tacet__fail(err, TACET_CORRUPT, "the study %s in the store has no known model or state", out->name);
    }
    out->rounds = (uint64_t)tacet__query_int(query, 14);
    take_salts(query, out);
    out->fence = (uint64_t)tacet__query_int(query, 15);
    const unsigned char *definition = tacet__query_bytes(query, 12, &size);
    return tacet__query_no_memory(query) ? tacet__fail(err, TACET_NO_MEMORY, "out of memory reading a study")
                                         : tacet_blob_append(&out->definition, definition, size, err);
}

tacet_status tacet__find_study(tacet__half *half, tacet__study *out, const char *name, tacet_error *err) {
    tacet__query *query = half->queries[TACET__Q_STUDY_BY_NAME];
    bool row = false;
    tacet__query_bind_text(query, 1, name, strlen(name));
    tacet_status status = tacet__query_step(query, &row, err);
    TACET_THEN(status, row ? take_study(query, out, err) : TACET_NOT_FOUND);
    tacet__query_reset(query);
    return status;
}

static tacet_status list_in(tacet__half *half, tacet__study_model first, tacet__study_model last, tacet__study_fn *fn,
                            void *user, tacet_error *err) {
    tacet__query *query = half->queries[TACET__Q_STUDY_LIST];
    bool row = false;
    tacet__study study;
    tacet__study_init(&study);
    tacet__query_bind_int(query, 1, first);
    tacet__query_bind_int(query, 2, last);
    tacet_status status = tacet__query_step(query, &row, err);
    while (status == TACET_OK && row) {
        status = take_study(query, &study, err);
        TACET_THEN(status, fn(&study, user, err));
        TACET_THEN(status, tacet__query_step(query, &row, err));
    }
    tacet__query_reset(query);
    tacet__study_clear(&study);
    return status;
}

tacet_status tacet__studies_key_mark(tacet__studies *studies, const char *mark, bool anew, tacet_error *err) {
    tacet__half *half = &studies->trusted;
    char kept[65] = "";
    bool row = false;
    if (half->db == NULL) {
        return TACET_OK;
    }
    tacet__query *look = half->queries[TACET__Q_KEY_MARK];
    tacet__query *set = half->queries[TACET__Q_KEY_MARK_SET];
    tacet_status status = tacet__query_step(look, &row, err);
    if (status == TACET_OK && row) {
        tacet__take_text(kept, sizeof kept, look, 0);
    }
    tacet__query_reset(look);
    if (status != TACET_OK || strcmp(kept, mark) == 0) {
        return status;
    }
    if (kept[0] != '\0' && !anew) {
        return tacet__fail(err, TACET_CONFLICT,
                           "the store was served with another key file (ledger.key): give every server the same one");
    }
    status = tacet__half_begin(half, false, err);
    if (status != TACET_OK) {
        return status;
    }
    tacet__query_bind_text(set, 1, mark, strlen(mark));
    return tacet__half_end(half, tacet__query_run(set, err), err);
}

tacet_status tacet__studies_list(tacet__studies *studies, tacet__study_fn *fn, void *user, tacet_error *err) {
    if (studies->trusted.db == NULL) {
        return list_in(&studies->open, TACET__STUDY_LOCAL, TACET__STUDY_CENTRAL, fn, user, err);
    }
    const tacet_status status = list_in(&studies->trusted, TACET__STUDY_CENTRAL, TACET__STUDY_CENTRAL, fn, user, err);
    return status == TACET_OK ? list_in(&studies->open, TACET__STUDY_LOCAL, TACET__STUDY_LOCAL, fn, user, err) : status;
}

/* A row of table study, in the transaction under the store's write lock. */
static tacet_status insert_study(tacet__half *half, tacet__study *study, bool secret, tacet_error *err) {
    tacet__query *next = half->queries[TACET__Q_STUDY_NEXT];
    tacet__query *add = half->queries[TACET__Q_STUDY_ADD];
    unsigned char start[TACET__EVENT_HASH_BYTES];
    bool row = false;
    tacet_status status = tacet__query_step(next, &row, err);
    const int64_t number = status == TACET_OK && row ? tacet__query_int(next, 0) : 0;
    tacet__query_reset(next);
    if (status != TACET_OK) {
        return status;
    }
    if (number < 1 || number >= (int64_t)1 << (63 - TACET__SEQ_BITS)) {
        return tacet__fail(err, TACET_OVERFLOW, "the store is full of studies");
    }
    tacet__chain_start(start, study);
    tacet__query_bind_bytes(add, 8, "", 0);
    tacet__query_bind_int(add, 1, number);
    tacet__query_bind_text(add, 2, study->name, strlen(study->name));
    tacet__query_bind_int(add, 3, study->model);
    tacet__query_bind_int(add, 4,
                          study->index_public      ? TACET__SHOWN_INDEX
                          : study->reports_private ? TACET__SHOWN_NOTHING
                                                   : TACET__SHOWN_REPORTS);
    tacet__query_bind_int(add, 5, (int64_t)study->created);
    tacet__query_bind_bytes(add, 6, start, sizeof start);
    tacet__query_bind_bytes(add, 7, study->secret, secret ? sizeof study->secret : 0);
    status = tacet__query_run(add, err);
    if (status == TACET_OK) {
        add = half->queries[TACET__Q_DEFINITION_ADD];
        tacet__query_bind_int(add, 1, number);
        tacet__query_bind_bytes(add, 2, study->definition.data, study->definition.size);
        status = tacet__query_run(add, err);
    }
    study->number = (uint64_t)number;
    return status;
}

tacet_status tacet__add_study(tacet__half *half, tacet__study *study, bool secret, tacet_error *err) {
    tacet__study there;
    tacet__study_init(&there);
    TACET_OR_RETURN(tacet__half_begin(half, false, err));
    tacet_status status = tacet__find_study(half, &there, study->name, err);
    if (status == TACET_NOT_FOUND) {
        status = insert_study(half, study, secret, err);
    } else if (status == TACET_OK) {
        if (there.model != study->model || there.index_public != study->index_public ||
            there.reports_private != study->reports_private || there.definition.size != study->definition.size ||
            memcmp(there.definition.data, study->definition.data, there.definition.size) != 0) {
            status = tacet__fail(err, TACET_CONFLICT, "there is another study named %s", study->name);
        } else {
            tacet__study swap = *study;
            *study = there;
            there = swap;
        }
    }
    status = tacet__half_end(half, status, err);
    tacet__study_clear(&there);
    return status;
}

/* A central study whose name the open store has lost: an older copy of it was put in its place, or it is new. What it
 * had seen of the study is lost with it, so nobody can tell whether the trusted store was put back, too: only a study
 * without events is shown again by itself. */
static tacet_status show_again(tacet__studies *studies, tacet__study *out, const char *name, tacet_error *err) {
    const tacet_status status = tacet__find_study(&studies->trusted, out, name, err);
    if (status == TACET_OK && out->head > 0) {
        return tacet__fail(
            err, TACET_CORRUPT,
            "the open store does not know study %s, of which the trusted store has %llu events: if it was "
            "lost or put back, 'tacet store restore' makes the store safe",
            name, (unsigned long long)out->head);
    }
    return status == TACET_OK ? tacet__add_study(&studies->open, out, false, err) : status;
}

tacet_status tacet__studies_get(tacet__studies *studies, tacet__study *out, const char *name, tacet_error *err) {
    tacet_status status =
        tacet__definition_name_valid(name) ? tacet__find_study(&studies->open, out, name, err) : TACET_NOT_FOUND;
    if (status == TACET_NOT_FOUND && tacet__definition_name_valid(name) && studies->trusted.db != NULL &&
        studies->writing == NULL) {
        status = show_again(studies, out, name, err);
    }
    if (status == TACET_NOT_FOUND) {
        return tacet__fail(err, status, "there is no study of this name");
    }
    if (status != TACET_OK) {
        return status;
    }
    /* The name is the open store's, which everybody has; what a central study is stands in the trusted one. A name
     * without its log was being added or deleted when a crash came, or the trusted store is older than the open one:
     * what the open store has seen of it tells which. */
    out->open_number = out->number;
    if (out->model == TACET__STUDY_LOCAL || studies->trusted.db == NULL) {
        return TACET_OK;
    }
    const uint64_t open_number = out->number;
    const uint64_t shown = out->head;
    status = tacet__find_study(&studies->trusted, out, name, err);
    if (status == TACET_NOT_FOUND && tacet__finish_deletion(studies, name, open_number)) {
        return tacet__fail(err, status, "there is no study of this name");
    }
    if (status == TACET_NOT_FOUND) {
        return shown == 0
                   ? tacet__fail(err, status, "the study %s was not wholly added: add it again", name)
                   : tacet__fail(err, TACET_CORRUPT,
                                 "the open store has %llu events of study %s, the trusted store does not know it: "
                                 "was it put back to an older state?",
                                 (unsigned long long)shown, name);
    }
    out->open_number = open_number;
    return status;
}

tacet_status tacet__studies_add(tacet__studies *studies, tacet__study *out, const char *name, tacet__study_model model,
                                tacet__study_shown shown, const void *definition, size_t size, tacet_error *err) {
    tacet__study study;
    if (!tacet__definition_name_valid(name)) {
        return tacet__fail(err, TACET_INVALID,
                           "a study's name is 1 to %d of a-z, 0-9, _ and -, and begins with a letter",
                           TACET__STUDY_NAME_MOST);
    }
    if ((model != TACET__STUDY_LOCAL && model != TACET__STUDY_CENTRAL) || size == 0 ||
        size > TACET__STUDY_DEFINITION_MOST) {
        return tacet__fail(err, TACET_INVALID, "a study needs a model and a definition of at most %d bytes",
                           TACET__STUDY_DEFINITION_MOST);
    }
    if (model == TACET__STUDY_CENTRAL && studies->trusted.db == NULL) {
        return tacet__fail(err, TACET_DENIED, "a central study needs the trusted store");
    }
    tacet__study_init(&study);
    memcpy(study.name, name, strlen(name));
    study.model = model;
    study.state = TACET__STUDY_ACTIVE;
    study.index_public = shown == TACET__SHOWN_INDEX;
    study.reports_private = shown == TACET__SHOWN_NOTHING;
    study.created = (uint64_t)time(NULL);
    randombytes_buf(study.secret, sizeof study.secret);
    tacet_status status = tacet_blob_append(&study.definition, definition, size, err);
    TACET_THEN(status, tacet__add_study(&studies->open, &study, model == TACET__STUDY_LOCAL, err));
    study.open_number = study.number;
    if (status == TACET_OK && model == TACET__STUDY_CENTRAL) {
        const uint64_t open_number = study.number;
        if (sodium_is_zero(study.secret, sizeof study.secret) == 1) { /* it was found: the open store has no secret */
            randombytes_buf(study.secret, sizeof study.secret);
        }
        status = tacet__add_study(&studies->trusted, &study, true, err);
        study.open_number = open_number;
    }
    if (status != TACET_OK) {
        tacet__study_clear(&study);
        return status;
    }
    tacet__study_clear(out);
    *out = study;
    return TACET_OK;
}

/* Under the study's own lock, so that no batch is in between. */
static tacet_status change_in(tacet__half *half, uint64_t number, int which, int64_t value, tacet_error *err) {
    tacet__study head;
    tacet__query *query = half->queries[which];
    TACET_OR_RETURN(tacet__half_begin(half, true, err));
    tacet_status status = tacet__read_head(half, &head, number, true, err);
    if (status == TACET_OK) {
        tacet__query_bind_int(query, 1, (int64_t)number);
        tacet__query_bind_int(query, 2, value);
        status = tacet__query_run(query, err);
    }
    return tacet__half_end(half, status, err);
}

/* One number of a study, where its log is and where it is shown. */
static tacet_status change(tacet__studies *studies, const char *name, int which, int64_t value, tacet_error *err) {
    tacet__study study;
    if (studies->writing != NULL) {
        return tacet__fail(err, TACET_STATE, "a transaction is open");
    }
    tacet__study_init(&study);
    tacet_status status = tacet__studies_get(studies, &study, name, err);
    tacet__half *half = status == TACET_OK ? tacet__log_half(studies, &study) : NULL;
    if (status == TACET_OK && half == NULL) {
        status = tacet__fail(err, TACET_DENIED, "a central study needs the trusted store");
    }
    TACET_THEN(status, change_in(half, study.number, which, value, err));
    if (status == TACET_OK && half != &studies->open) {
        status = change_in(&studies->open, study.open_number, which, value, err);
    }
    tacet__study_clear(&study);
    return status;
}

tacet_status tacet__studies_archive(tacet__studies *studies, const char *name, tacet_error *err) {
    return change(studies, name, TACET__Q_STUDY_STATE, TACET__STUDY_ARCHIVED, err);
}

tacet_status tacet__studies_extend(tacet__studies *studies, const char *name, uint64_t rounds, tacet_error *err) {
    return rounds <= INT64_MAX ? change(studies, name, TACET__Q_STUDY_ROUNDS, (int64_t)rounds, err)
                               : tacet__fail(err, TACET_INVALID, "too many rounds");
}

tacet_status tacet__studies_ledger(tacet__studies *studies, tacet_blob *out, const char *name, tacet_error *err) {
    if (!tacet__definition_name_valid(name)) {
        return tacet__fail(err, TACET_INVALID, "not the name of a study");
    }
    if (studies->trusted.db == NULL) {
        return tacet__fail(err, TACET_DENIED, "ledgers are in the trusted store");
    }
    const bool url = tacet__db_is_url(studies->place);
    char *middle = join(url ? "#tacet_ledger_" : "/ledger-", name, url ? "" : ".db");
    char *path = middle == NULL ? NULL : join(studies->place, middle, "");
    tacet_status status = TACET_OK;
    if (path == NULL) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory naming a ledger");
    } else {
        out->size = 0;
        status = tacet_blob_append(out, path, strlen(path) + 1, err);
        sodium_memzero(path, strlen(path));
    }
    free(middle);
    free(path);
    return status;
}
