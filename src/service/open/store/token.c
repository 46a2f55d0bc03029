/* SPDX-License-Identifier: Apache-2.0 */
/* token.c - tokens: who may ask what of which study.
 * Ring: open. The text is random and is stored as its hash only: who reads the store cannot use what is in it.
 * Cost: one lookup by an index. */
#include "service/open/store/internal.h"

#include "core/fail.h"

#include <sodium.h>
#include <string.h>
#include <time.h>

enum { RANDOM_BYTES = 30 };
static const char HEAD[] = "tacet_";
static const char *const ROLES[] = {
    [TACET__TOKEN_DEVICE] = "device", [TACET__TOKEN_ANALYST] = "analyst", [TACET__TOKEN_OWNER] = "owner"};

const char *tacet__token_role_text(tacet__token_role role) {
    return role >= TACET__TOKEN_DEVICE && role <= TACET__TOKEN_OWNER ? ROLES[role] : "?";
}

bool tacet__token_role_read(tacet__token_role *out, const char *text) {
    for (*out = TACET__TOKEN_DEVICE; text != NULL && *out <= TACET__TOKEN_OWNER; (*out)++) {
        if (strcmp(text, ROLES[*out]) == 0) {
            return true;
        }
    }
    return false;
}

void tacet__studies_token_hash(unsigned char out[TACET__STUDIES_TOKEN_HASH], const char *text, size_t size) {
    (void)crypto_generichash(out, TACET__STUDIES_TOKEN_HASH, (const unsigned char *)text, size, NULL, 0);
}

/* Labels are printed: none moves a cursor, or begins a line. */
static bool printable(const char *text) {
    const unsigned char *c = (const unsigned char *)text;
    while (*c >= 0x20 && *c != 0x7f && !(c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0)) {
        c++;
    }
    return *c == '\0';
}

/* The row of a token; id 0: the next one. */
static tacet_status insert(tacet__half *open, const tacet__token *token, tacet_error *err) {
    tacet__query *next = open->queries[TACET__Q_TOKEN_NEXT];
    tacet__query *add = open->queries[TACET__Q_TOKEN_ADD];
    bool row = false;
    int64_t id = (int64_t)token->id;
    if (id == 0) {
        const tacet_status status = tacet__query_step(next, &row, err);
        id = status == TACET_OK && row ? tacet__query_int(next, 0) : 0;
        tacet__query_reset(next);
        if (status != TACET_OK) {
            return status;
        }
    }
    tacet__query_bind_int(add, 1, id);
    tacet__query_bind_bytes(add, 2, token->hash, TACET__STUDIES_TOKEN_HASH);
    tacet__query_bind_int(add, 3, token->role);
    tacet__query_bind_text(add, 4, token->study, strlen(token->study));
    tacet__query_bind_int(add, 5, (int64_t)token->created);
    tacet__query_bind_text(add, 6, token->label, strlen(token->label));
    tacet__query_bind_int(add, 7, (int64_t)token->expires);
    tacet__query_bind_int(add, 8, (int64_t)token->open_most);
    tacet__query_bind_int(add, 9, (int64_t)token->rounds_most);
    return tacet__query_run(add, err);
}

/* A fresh text, and its hash into the token. */
static void draw(char text[TACET__STUDIES_TOKEN_TEXT], tacet__token *token) {
    unsigned char random[RANDOM_BYTES];
    randombytes_buf(random, sizeof random);
    memcpy(text, HEAD, sizeof HEAD - 1);
    (void)sodium_bin2base64(text + sizeof HEAD - 1, TACET__STUDIES_TOKEN_TEXT - (sizeof HEAD - 1), random,
                            sizeof random, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    tacet__studies_token_hash(token->hash, text, strlen(text));
    sodium_memzero(random, sizeof random);
    token->created = (uint64_t)time(NULL);
}

static tacet_status begin(tacet__studies *studies, tacet_error *err) {
    if (studies->writing != NULL) {
        return tacet__fail(err, TACET_STATE, "a transaction is open");
    }
    return tacet__half_begin(&studies->open, false, err);
}

tacet_status tacet__studies_add_token(tacet__studies *studies, char text[TACET__STUDIES_TOKEN_TEXT],
                                      tacet__token_role role, const char *study, const char *label, uint64_t expires,
                                      uint64_t open_most, uint64_t rounds_most, tacet_error *err) {
    tacet__token token = {.role = role, .expires = expires, .open_most = open_most, .rounds_most = rounds_most};
    const char *of = study == NULL ? "" : study;
    const char *called = label == NULL ? "" : label;
    memset(text, 0, TACET__STUDIES_TOKEN_TEXT);
    if ((role != TACET__TOKEN_DEVICE && role != TACET__TOKEN_ANALYST && role != TACET__TOKEN_OWNER) ||
        strlen(of) > TACET__STUDY_NAME_MOST || strlen(called) > TACET__TOKEN_LABEL_MOST || expires > INT64_MAX ||
        open_most > INT64_MAX || rounds_most > INT64_MAX || !printable(called)) {
        return tacet__fail(err, TACET_INVALID,
                           "no such role, or a name or label that is too long or has control characters");
    }
    memcpy(token.study, of, strlen(of));
    memcpy(token.label, called, strlen(called));
    TACET_OR_RETURN(begin(studies, err));
    draw(text, &token);
    tacet_status status = tacet__half_end(&studies->open, insert(&studies->open, &token, err), err);
    if (status != TACET_OK) {
        sodium_memzero(text, TACET__STUDIES_TOKEN_TEXT);
    }
    return status;
}

static tacet_status take_token(tacet__query *query, tacet__token *out, tacet_error *err) {
    size_t size = 0;
    memset(out, 0, sizeof *out);
    out->id = (uint64_t)tacet__query_int(query, 0);
    const unsigned char *hash = tacet__query_bytes(query, 1, &size);
    out->role = (tacet__token_role)tacet__query_int(query, 2);
    out->created = (uint64_t)tacet__query_int(query, 4);
    out->expires = (uint64_t)tacet__query_int(query, 6);
    out->open_most = (uint64_t)tacet__query_int(query, 7);
    out->rounds_most = (uint64_t)tacet__query_int(query, 8);
    if (size != TACET__STUDIES_TOKEN_HASH) {
        return tacet__fail(err, TACET_CORRUPT, "a token in the store is damaged");
    }
    memcpy(out->hash, hash, size);
    tacet__take_text(out->study, sizeof out->study, query, 3);
    tacet__take_text(out->label, sizeof out->label, query, 5);
    return TACET_OK;
}

static bool expired(const tacet__token *token) {
    return token->expires != 0 && (uint64_t)time(NULL) >= token->expires;
}

tacet_status tacet__studies_check_token(tacet__studies *studies, tacet__token *out, const char *text,
                                        tacet_error *err) {
    unsigned char hash[TACET__STUDIES_TOKEN_HASH];
    tacet__query *query = studies->open.queries[TACET__Q_TOKEN_FIND];
    bool row = false;
    memset(out, 0, sizeof *out);
    tacet__studies_token_hash(hash, text, strlen(text));
    tacet__query_bind_bytes(query, 1, hash, sizeof hash);
    tacet_status status = tacet__query_step(query, &row, err);
    if (status == TACET_OK && row) {
        status = take_token(query, out, err);
    }
    tacet__query_reset(query);
    if (status == TACET_OK && (!row || sodium_memcmp(out->hash, hash, sizeof hash) != 0 || expired(out))) {
        memset(out, 0, sizeof *out);
        status = tacet__fail(err, TACET_NOT_FOUND, "there is no such token");
    }
    return status;
}

tacet_status tacet__studies_list_tokens(tacet__studies *studies, tacet__token_fn *fn, void *user, tacet_error *err) {
    tacet__query *query = studies->open.queries[TACET__Q_TOKEN_LIST];
    tacet__token token;
    bool row = false;
    tacet_status status = tacet__query_step(query, &row, err);
    while (status == TACET_OK && row) {
        status = take_token(query, &token, err);
        TACET_THEN(status, fn(&token, user, err));
        TACET_THEN(status, tacet__query_step(query, &row, err));
    }
    tacet__query_reset(query);
    return status;
}

/* `wanted` becomes the token of its number. */
static tacet_status look_for(const tacet__token *token, void *wanted, tacet_error *err) {
    tacet__token *w = wanted;
    (void)err;
    *w = token->id == w->id ? *token : *w;
    return TACET_OK;
}

tacet_status tacet__studies_token(tacet__studies *studies, tacet__token *out, uint64_t id, tacet_error *err) {
    *out = (tacet__token){.id = id};
    const tacet_status status = tacet__studies_list_tokens(studies, look_for, out, err);
    return status == TACET_OK && (id == 0 || out->role == 0)
               ? tacet__fail(err, TACET_NOT_FOUND, "there is no token of this number")
               : status;
}

/* The token of a number, and its row gone; in a transaction. */
static tacet_status take_out(tacet__studies *studies, tacet__token *out, uint64_t id, tacet_error *err) {
    tacet__query *drop = studies->open.queries[TACET__Q_TOKEN_DROP];
    TACET_OR_RETURN(tacet__studies_token(studies, out, id, err));
    tacet__query_bind_int(drop, 1, (int64_t)id);
    return tacet__query_run(drop, err);
}

tacet_status tacet__studies_drop_token(tacet__studies *studies, uint64_t id, tacet_error *err) {
    tacet__token token;
    const tacet_status status = begin(studies, err);
    return status == TACET_OK ? tacet__half_end(&studies->open, take_out(studies, &token, id, err), err) : status;
}

tacet_status tacet__studies_renew_token(tacet__studies *studies, char text[TACET__STUDIES_TOKEN_TEXT], uint64_t id,
                                        uint64_t expires, uint64_t old_expires, tacet_error *err) {
    tacet__token token;
    memset(text, 0, TACET__STUDIES_TOKEN_TEXT);
    TACET_OR_RETURN(begin(studies, err));
    tacet_status status = take_out(studies, &token, id, err);
    if (status == TACET_OK && expired(&token)) {
        status = tacet__fail(err, TACET_NOT_FOUND, "the token of this number has expired");
    }
    tacet__token fresh = token;
    if (status == TACET_OK && old_expires != 0) { /* put back, to end by itself: never later than it would have */
        token.expires = token.expires != 0 && token.expires < old_expires ? token.expires : old_expires;
        status = insert(&studies->open, &token, err);
    }
    if (status == TACET_OK) {
        fresh.id = old_expires != 0 ? 0 : id; /* in its place, where that is free */
        fresh.expires = expires;
        draw(text, &fresh);
        status = insert(&studies->open, &fresh, err);
    }
    status = tacet__half_end(&studies->open, status, err);
    if (status != TACET_OK) {
        sodium_memzero(text, TACET__STUDIES_TOKEN_TEXT);
    }
    return status;
}
