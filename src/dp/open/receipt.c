/* SPDX-License-Identifier: Apache-2.0 */
/* receipt.c - signed receipts of a ledger, and proofs of single records.
 * Ring: shared. Source: Ed25519 (RFC 8032) by libsodium; trees as in RFC 6962. Differs: leaves are salted by the
 * signer, so that a root tells nothing of charges that could be guessed; every text has one form, so that any changed
 * bit shows. Proof and formats: receipt.md. Cost: one pass over the ledger. */
#include "dp/open/receipt_keys.h"

#include "core/fail.h"
#include "core/json_text.h"
#include "core/memory.h"
#include "dp/open/ledger_json.h"
#include "dp/open/merkle.h"

#include <jansson.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/core/status.h>
#include <time.h>

enum { KEY_HEX = 2 * TACET_PUBLIC_KEY_BYTES + 1, SIGNATURE_HEX = 2 * crypto_sign_BYTES + 1, HASH_HEX = 65 };
static const char RECEIPT[] = "tacet-receipt-1", SECRET[] = "tacet-signing-key-1", RING[] = "tacet-signing-ring-1",
                  PROOF[] = "tacet-proof-1";

/* ---- texts with one form ---- */

static char *canonical(const json_t *object) {
    return tacet__json_dump(object, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENSURE_ASCII);
}

static tacet_status as_text(char **out, json_t *object, tacet_error *err) {
    *out = canonical(object); /* NULL of NULL */
    json_decref(object);
    return *out != NULL ? TACET_OK : tacet__fail(err, TACET_NO_MEMORY, "out of memory for a receipt");
}

/* The object of a text that is exactly its canonical form (a newline at the end is allowed) and of this format. */
static tacet_status parse(json_t **out, const char *text, size_t length, const char *format, tacet_error *err) {
    length -= length > 0 && text[length - 1] == '\n' ? 1 : 0;
    *out = json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL);
    char *again = canonical(*out); /* one form only: a text that means the same and reads otherwise was changed */
    const char *is = json_string_value(json_object_get(*out, "format"));
    const bool same = again != NULL && strlen(again) == length && memcmp(again, text, length) == 0;
    free(again);
    if (!same || is == NULL || strcmp(is, format) != 0) {
        json_decref(*out);
        *out = NULL;
        return tacet__fail(err, TACET_CORRUPT, "this is no %s, or it was changed", format);
    }
    return TACET_OK;
}

/* Bytes from a field of lower-case hex of exactly that length. */
static bool hex_field(unsigned char *out, size_t size, const json_t *object, const char *name) {
    const char *text = json_string_value(json_object_get(object, name));
    const bool good = text != NULL && strlen(text) == 2 * size && strspn(text, "0123456789abcdef") == 2 * size;
    if (good) {
        (void)sodium_hex2bin(out, size, text, 2 * size, NULL, NULL, NULL);
    }
    return good;
}

static json_t *hex_json(const unsigned char *bytes, size_t size) {
    char *text = malloc(2 * size + 1);
    json_t *value = text != NULL ? json_string(sodium_bin2hex(text, 2 * size + 1, bytes, size)) : NULL;
    free(text);
    return value;
}

/* Signatures are over a text of their own purpose and the canonical form of the statement. */
static char *purposed(const json_t *statement, const char *purpose) {
    char *body = canonical(statement);
    char *text = NULL;
    if (body != NULL) {
        const size_t size = strlen(purpose) + strlen(body) + 2;
        text = malloc(size);
        if (text != NULL) {
            (void)snprintf(text, size, "%s\n%s", purpose, body);
        }
    }
    free(body);
    return text;
}

static json_t *signature_json(const json_t *statement, const char *purpose, const unsigned char *secret) {
    unsigned char signature[crypto_sign_BYTES];
    char *text = purposed(statement, purpose);
    if (text == NULL) {
        return NULL;
    }
    (void)crypto_sign_detached(signature, NULL, (const unsigned char *)text, strlen(text), secret);
    free(text);
    return hex_json(signature, sizeof signature);
}

static bool signature_holds(const json_t *statement, const char *purpose, const json_t *beside,
                            const unsigned char *key) {
    unsigned char signature[crypto_sign_BYTES];
    char *text = purposed(statement, purpose);
    const bool holds = text != NULL && hex_field(signature, sizeof signature, beside, "signature") &&
                       crypto_sign_verify_detached(signature, (const unsigned char *)text, strlen(text), key) == 0;
    free(text);
    return holds;
}

/* ---- keys ---- */

static tacet_status read_secret(unsigned char secret[TACET_SIGNING_KEY_BYTES], const char *text, tacet_error *err) {
    json_t *object = NULL;
    tacet_status status = parse(&object, text, strlen(text), SECRET, err);
    if (status == TACET_OK && !hex_field(secret, TACET_SIGNING_KEY_BYTES, object, "secret")) {
        status = tacet__fail(err, TACET_CORRUPT, "the signing key is damaged");
    }
    json_decref(object);
    return status;
}

static json_t *key_statement(const unsigned char *key, json_int_t made) {
    return json_pack("{s:o, s:I}", "key", hex_json(key, TACET_PUBLIC_KEY_BYTES), "made", made);
}

/* A new pair at the end of `ring`, which it takes over; signed by `old` unless that is NULL. */
static tacet_status new_pair(char **secret_text, char **public_text, json_t *ring, const unsigned char *old,
                             tacet_error *err) {
    unsigned char key[TACET_PUBLIC_KEY_BYTES], secret[TACET_SIGNING_KEY_BYTES];
    *secret_text = *public_text = NULL;
    if (sodium_init() < 0) {
        json_decref(ring);
        return tacet__fail(err, TACET_IO, "the operating system gives no entropy");
    }
    (void)crypto_sign_keypair(key, secret);
    const json_int_t now = (json_int_t)time(NULL);
    json_t *statement = key_statement(key, now);
    json_t *entry =
        json_pack("{s:o, s:I, s:n, s:b, s:o}", "key", hex_json(key, sizeof key), "made", now, "retired", "revoked", 0,
                  "signature", old != NULL ? signature_json(statement, "tacet signing key 1", old) : json_null());
    json_decref(statement);
    tacet_status status = TACET_OK;
    if (entry == NULL || json_array_append_new(json_object_get(ring, "keys"), entry) != 0) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory for a key");
        json_decref(ring);
    } else {
        status = as_text(public_text, ring, err);
    }
    if (status == TACET_OK) {
        status = as_text(secret_text,
                         json_pack("{s:s, s:o}", "format", SECRET, "secret", hex_json(secret, sizeof secret)), err);
    }
    sodium_memzero(secret, sizeof secret);
    if (status != TACET_OK) {
        free(*public_text);
        *public_text = NULL;
    }
    return status;
}

tacet_status tacet_receipt_keys(char **secret, char **public_text, tacet_error *err) {
    return new_pair(secret, public_text, json_pack("{s:s, s:[]}", "format", RING, "keys"), NULL, err);
}

/* The entry of a key; every key but the first must be signed by the one before it. NULL: not there, or the ring is
 * broken. */
static json_t *find_key(const json_t *ring, const char *key) {
    json_t *found = NULL;
    const json_t *keys = json_object_get(ring, "keys");
    unsigned char before[TACET_PUBLIC_KEY_BYTES], here[TACET_PUBLIC_KEY_BYTES];
    for (size_t i = 0; i < json_array_size(keys); i++) {
        json_t *entry = json_array_get(keys, i);
        const char *text = json_string_value(json_object_get(entry, "key"));
        if (!hex_field(here, sizeof here, entry, "key")) {
            return NULL;
        }
        if (i > 0) {
            json_t *statement = key_statement(here, json_integer_value(json_object_get(entry, "made")));
            const bool holds = signature_holds(statement, "tacet signing key 1", entry, before);
            json_decref(statement);
            if (!holds) {
                return NULL;
            }
        }
        memcpy(before, here, sizeof here);
        found = strcmp(text, key) == 0 ? entry : found;
    }
    return found;
}

tacet_status tacet_receipt_rotate(char **secret, char **public_text, const char *old_secret, const char *old_ring,
                                  tacet_error *err) {
    unsigned char old[TACET_SIGNING_KEY_BYTES];
    json_t *ring = NULL;
    *secret = *public_text = NULL;
    tacet_status status = read_secret(old, old_secret, err);
    TACET_THEN(status, parse(&ring, old_ring, strlen(old_ring), RING, err));
    if (status == TACET_OK) {
        const json_t *keys = json_object_get(ring, "keys");
        json_t *last = json_array_get(keys, json_array_size(keys) - 1);
        unsigned char key[TACET_PUBLIC_KEY_BYTES];
        if (last == NULL || !hex_field(key, sizeof key, last, "key") ||
            memcmp(key, old + TACET_SIGNING_KEY_BYTES - TACET_PUBLIC_KEY_BYTES, sizeof key) != 0) {
            status = tacet__fail(err, TACET_INVALID, "the secret key is not that of the last key of the ring");
        } else {
            const json_int_t now = (json_int_t)time(NULL);
            status = json_object_set_new(last, "retired", json_integer(now)) == 0
                         ? new_pair(secret, public_text, json_incref(ring), old, err)
                         : tacet__fail(err, TACET_NO_MEMORY, "out of memory for a key");
        }
    }
    json_decref(ring);
    sodium_memzero(old, sizeof old);
    return status;
}

tacet_status tacet_receipt_revoke(char **public_text, const char *ring_text, const char *key, tacet_error *err) {
    json_t *ring = NULL;
    *public_text = NULL;
    TACET_OR_RETURN(parse(&ring, ring_text, strlen(ring_text), RING, err));
    json_t *entry = find_key(ring, key); /* of a whole ring: a broken one has no keys */
    if (entry == NULL) {
        json_decref(ring);
        return tacet__fail(err, TACET_NOT_FOUND, "the ring has no such key");
    }
    (void)json_object_set_new(entry, "revoked", json_true()); /* in the place of false: nothing is allocated */
    return as_text(public_text, ring, err);
}

/* ---- signing ---- */

typedef struct tree {
    merkle_hash *leaves;
    size_t count, capacity, most; /* records past `most` are not of this receipt */
    unsigned char salt_key[TACET_HASH_BYTES];
    const unsigned char *id;
    uint64_t wanted; /* its body and salt are kept */
    merkle_hash salt;
    unsigned char *body;
    size_t body_size;
} tree;

/* From the secret key: whoever signs can prove a record later, and keeps no list of salts. */
static void salt_of(merkle_hash out, const tree *t, uint64_t seq) {
    unsigned char message[TACET__LEDGER_ID_BYTES + 8];
    memcpy(message, t->id, TACET__LEDGER_ID_BYTES);
    for (int i = 0; i < 8; i++) {
        message[TACET__LEDGER_ID_BYTES + i] = (unsigned char)(seq >> (8 * i));
    }
    (void)crypto_generichash(out, TACET_HASH_BYTES, message, sizeof message, t->salt_key, sizeof t->salt_key);
}

static tacet_status add_leaf(void *user, const tacet__ledger_row *row, tacet_error *err) {
    tree *t = user;
    void *array = t->leaves;
    if (t->count >= t->most) {
        return TACET_OK;
    }
    if (!tacet__grow(&array, &t->capacity, t->count + 1, sizeof *t->leaves)) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for the tree of a receipt");
    }
    t->leaves = array;
    merkle_hash salt;
    salt_of(salt, t, row->record->seq);
    tacet__merkle_leaf(t->leaves[t->count], salt, row->body, row->body_size);
    if (t->count == t->wanted) {
        memcpy(t->salt, salt, sizeof salt);
        t->body = malloc(row->body_size + 1);
        t->body_size = row->body_size;
        if (t->body == NULL) {
            return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a record");
        }
        memcpy(t->body, row->body, row->body_size);
    }
    t->count++;
    return TACET_OK;
}

static void tree_clear(tree *t) {
    free(t->leaves);
    free(t->body);
    sodium_memzero(t, sizeof *t);
}

/* Verifies the ledger and grows the tree over its first `most` records. */
static tacet_status grow_tree(tree *t, tacet__ledger_report *report, const char *ledger, const unsigned char *noted,
                              const unsigned char *secret, tacet_error *err) {
    static const unsigned char PURPOSE[] = "tacet receipt salts 1";
    tacet__ledger_view *view = NULL;
    tacet_status status = tacet__ledger_view_open(&view, ledger, err);
    TACET_THEN(status, tacet__ledger_verify(view, report, noted, err));
    if (status == TACET_OK) {
        t->id = report->id;
        (void)crypto_generichash(t->salt_key, sizeof t->salt_key, PURPOSE, sizeof PURPOSE, secret,
                                 TACET_SIGNING_KEY_BYTES);
        status = tacet__ledger_each(view, add_leaf, t, err);
    }
    tacet__ledger_view_close(view);
    return status;
}

static tacet_status hash_file(char hex[2 * TACET_HASH_BYTES + 1], const char *path, tacet_error *err) {
    unsigned char buffer[65536], hash[TACET_HASH_BYTES];
    crypto_generichash_state state;
    FILE *file = fopen(path, "rb");
    size_t got = 0;
    if (file == NULL) {
        return tacet__fail(err, TACET_NOT_FOUND, "%s cannot be opened", path);
    }
    (void)crypto_generichash_init(&state, NULL, 0, sizeof hash);
    while ((got = fread(buffer, 1, sizeof buffer, file)) > 0) {
        (void)crypto_generichash_update(&state, buffer, got);
    }
    const bool whole = !ferror(file);
    (void)fclose(file);
    (void)crypto_generichash_final(&state, hash, sizeof hash);
    tacet__hash_hex(hex, hash);
    return whole ? TACET_OK : tacet__fail(err, TACET_IO, "%s cannot be read", path);
}

static json_t *text_hash(const char *text, size_t length) {
    unsigned char hash[TACET_HASH_BYTES];
    (void)crypto_generichash(hash, sizeof hash, (const unsigned char *)text, length, NULL, 0);
    return hex_json(hash, sizeof hash);
}

tacet_status tacet_receipt_sign(char **receipt, const tacet_receipt_request *request, const char *secret_text,
                                tacet_error *err) {
    unsigned char secret[TACET_SIGNING_KEY_BYTES];
    tacet__ledger_report report;
    tree t = {.most = SIZE_MAX, .wanted = UINT64_MAX};
    merkle_hash root;
    char release[2 * TACET_HASH_BYTES + 1] = "", program[sizeof release] = "";
    *receipt = NULL;
    tacet_status status = sodium_init() < 0 ? tacet__fail(err, TACET_IO, "the operating system gives no entropy")
                                            : read_secret(secret, secret_text, err);
    TACET_THEN(status, grow_tree(&t, &report, request->ledger, NULL, secret, err));
    if (status == TACET_OK && request->release != NULL) {
        status = hash_file(release, request->release, err);
    }
    const bool named = request->program_file != NULL && hash_file(program, request->program_file, NULL) == TACET_OK;
    if (status == TACET_OK) {
        tacet__merkle_root(root, (const merkle_hash *)t.leaves, t.count);
        json_t *statement =
            json_pack("{s:o, s:I, s:o, s:s?, s:{s:o, s:I, s:o, s:o}, s:{s:s, s:s, s:s?}}", "key",
                      hex_json(secret + TACET_SIGNING_KEY_BYTES - TACET_PUBLIC_KEY_BYTES, TACET_PUBLIC_KEY_BYTES),
                      "time", (json_int_t)request->time, "manifest",
                      request->manifest != NULL ? text_hash(request->manifest, request->manifest_length) : json_null(),
                      "release", request->release != NULL ? release : NULL, "ledger", "id",
                      hex_json(report.id, sizeof report.id), "records", (json_int_t)report.records, "head",
                      hex_json(report.head, sizeof report.head), "root", hex_json(root, sizeof root), "program", "name",
                      request->program_name, "version", tacet_version(), "hash", named ? program : NULL);
        status = as_text(receipt,
                         json_pack("{s:s, s:o, s:o}", "format", RECEIPT, "signature",
                                   signature_json(statement, RECEIPT, secret), "statement", statement),
                         err);
    }
    tree_clear(&t);
    sodium_memzero(secret, sizeof secret);
    return status;
}

/* ---- checking ---- */

static bool copy_text(char *out, size_t size, const json_t *object, const char *name) {
    const char *text = json_string_value(json_object_get(object, name));
    return text != NULL && snprintf(out, size, "%s", text) < (int)size;
}

static tacet_status read_receipt(json_t **out, tacet_receipt_facts *facts, const char *text, size_t length,
                                 tacet_error *err) {
    unsigned char key[TACET_PUBLIC_KEY_BYTES], hash[TACET_HASH_BYTES];
    memset(facts, 0, sizeof *facts);
    tacet_status status = parse(out, text, length, RECEIPT, err);
    if (status != TACET_OK) {
        return status;
    }
    const json_t *s = json_object_get(*out, "statement");
    const json_t *ledger = json_object_get(s, "ledger");
    const json_t *program = json_object_get(s, "program");
    if (!hex_field(key, sizeof key, s, "key") || !signature_holds(s, RECEIPT, *out, key)) {
        status = tacet__fail(err, TACET_CORRUPT, "the signature does not hold: the receipt was changed");
    } else if (!hex_field(hash, sizeof hash, ledger, "head") || !hex_field(hash, sizeof hash, ledger, "root") ||
               !copy_text(facts->ledger_id, sizeof facts->ledger_id, ledger, "id") ||
               !copy_text(facts->program, sizeof facts->program, program, "name") ||
               !copy_text(facts->version, sizeof facts->version, program, "version") ||
               json_integer_value(json_object_get(ledger, "records")) < 1) {
        status = tacet__fail(err, TACET_CORRUPT, "the receipt lacks a part");
    }
    (void)copy_text(facts->key, sizeof facts->key, s, "key"); /* these three have the right length */
    (void)copy_text(facts->head, sizeof facts->head, ledger, "head");
    (void)copy_text(facts->root, sizeof facts->root, ledger, "root");
    (void)copy_text(facts->manifest, sizeof facts->manifest, s, "manifest");
    (void)copy_text(facts->release, sizeof facts->release, s, "release");
    facts->records = (uint64_t)json_integer_value(json_object_get(ledger, "records"));
    facts->time = (uint64_t)json_integer_value(json_object_get(s, "time"));
    return status;
}

static tacet_status check_key(tacet_receipt_facts *facts, const char *ring_text, tacet_error *err) {
    json_t *ring = NULL;
    tacet_status status = parse(&ring, ring_text, strlen(ring_text), RING, err);
    if (status != TACET_OK) {
        return status;
    }
    const json_t *entry = find_key(ring, facts->key);
    const json_t *retired = json_object_get(entry, "retired");
    if (entry == NULL) {
        status = tacet__fail(err, TACET_CORRUPT, "the receipt is signed by a key that is not in the ring");
    } else if (json_is_true(json_object_get(entry, "revoked"))) {
        status = tacet__fail(err, TACET_CORRUPT, "the receipt is signed by a key that was revoked");
    } else if ((json_int_t)facts->time < json_integer_value(json_object_get(entry, "made")) ||
               (json_is_integer(retired) && (json_int_t)facts->time > json_integer_value(retired))) {
        status = tacet__fail(err, TACET_CORRUPT, "the receipt is signed by a key outside its time");
    }
    facts->key_known = status == TACET_OK;
    json_decref(ring);
    return status;
}

static tacet_status check_manifest(const tacet_receipt_facts *facts, const char *text, size_t length,
                                   tacet_error *err) {
    json_t *hash = text_hash(text, length);
    const bool same = hash != NULL && strcmp(json_string_value(hash), facts->manifest) == 0;
    json_decref(hash);
    return same ? TACET_OK : tacet__fail(err, TACET_CORRUPT, "the manifest is another one than the receipt's");
}

static tacet_status check_ledger(const tacet_receipt_facts *facts, const char *ledger, tacet_error *err) {
    tacet__ledger_report report;
    tacet__ledger_view *view = NULL;
    unsigned char head[TACET_HASH_BYTES];
    char id[2 * TACET__LEDGER_ID_BYTES + 1];
    (void)tacet__hash_parse(head, facts->head);
    tacet_status status = tacet__ledger_view_open(&view, ledger, err);
    TACET_THEN(status, tacet__ledger_verify(view, &report, head, err));
    tacet__ledger_view_close(view);
    if (status == TACET_OK &&
        (report.head_at + 1 != facts->records ||
         strcmp(sodium_bin2hex(id, sizeof id, report.id, sizeof report.id), facts->ledger_id) != 0)) {
        status = tacet__fail(err, TACET_CORRUPT, "the ledger is another one than the receipt's");
    }
    return status;
}

tacet_status tacet_receipt_verify(tacet_receipt_facts *out, const char *receipt, size_t length, const char *ring,
                                  const char *manifest, size_t manifest_length, const char *ledger, tacet_error *err) {
    json_t *object = NULL;
    tacet_status status = sodium_init() < 0 ? tacet__fail(err, TACET_IO, "libsodium does not start")
                                            : read_receipt(&object, out, receipt, length, err);
    json_decref(object);
    if (status == TACET_OK && ring != NULL) {
        status = check_key(out, ring, err);
    }
    if (status == TACET_OK && manifest != NULL) {
        status = check_manifest(out, manifest, manifest_length, err);
    }
    if (status == TACET_OK && ledger != NULL) {
        status = check_ledger(out, ledger, err);
    }
    return status;
}

tacet_status tacet_receipt_verify_release(const tacet_receipt_facts *facts, const char *release, tacet_error *err) {
    char hex[2 * TACET_HASH_BYTES + 1];
    const tacet_status status = hash_file(hex, release, err);
    if (status != TACET_OK || strcmp(hex, facts->release) == 0) {
        return status;
    }
    return tacet__fail(err, TACET_CORRUPT,
                       facts->release[0] == '\0' ? "the receipt was signed without released rows"
                                                 : "the released rows are others than the receipt's");
}

/* ---- single records ---- */

tacet_status tacet_receipt_prove(char **proof, const char *receipt, size_t length, const char *ledger, uint64_t seq,
                                 const char *secret_text, tacet_error *err) {
    unsigned char secret[TACET_SIGNING_KEY_BYTES], head[TACET_HASH_BYTES];
    char hex[HASH_HEX];
    tacet_receipt_facts facts;
    tacet__ledger_report report;
    tree t = {.wanted = seq};
    merkle_hash path[MERKLE_MOST_PATH], root;
    *proof = NULL;
    tacet_status status = tacet_receipt_verify(&facts, receipt, length, NULL, NULL, 0, NULL, err);
    TACET_THEN(status, read_secret(secret, secret_text, err));
    if (status == TACET_OK && seq >= facts.records) {
        status = tacet__fail(err, TACET_NOT_FOUND, "the receipt covers %llu records, numbered from 0",
                             (unsigned long long)facts.records);
    }
    if (status == TACET_OK) {
        t.most = (size_t)facts.records;
        (void)tacet__hash_parse(head, facts.head);
        status = grow_tree(&t, &report, ledger, head, secret, err);
    }
    if (status == TACET_OK) {
        tacet__merkle_root(root, (const merkle_hash *)t.leaves, t.count);
        tacet__hash_hex(hex, root);
        if (strcmp(hex, facts.root) != 0) {
            status = tacet__fail(err, TACET_INVALID, "the receipt is of another ledger, or was signed by another key");
        }
    }
    if (status == TACET_OK) {
        const size_t steps = tacet__merkle_path(path, (const merkle_hash *)t.leaves, t.count, (size_t)seq);
        json_t *list = json_array();
        bool whole = true;
        for (size_t i = 0; i < steps; i++) {
            whole = json_array_append_new(list, hex_json(path[i], sizeof path[i])) == 0 && whole;
        }
        json_t *object =
            json_pack("{s:s, s:s, s:I, s:o, s:o, s:o}", "format", PROOF, "root", facts.root, "seq", (json_int_t)seq,
                      "salt", hex_json(t.salt, sizeof t.salt), "body", hex_json(t.body, t.body_size), "path", list);
        if (!whole) {
            json_decref(object);
            object = NULL;
        }
        status = as_text(proof, object, err);
    }
    tree_clear(&t);
    sodium_memzero(secret, sizeof secret);
    return status;
}

/* The record's body (from malloc) and its number. */
static tacet_status follow_proof(unsigned char **body, size_t *size, uint64_t *seq, const char *proof, size_t length,
                                 const tacet_receipt_facts *receipt, tacet_error *err) {
    merkle_hash path[MERKLE_MOST_PATH], salt, leaf, root;
    char hex[HASH_HEX] = "";
    json_t *object = NULL;
    *body = NULL;
    TACET_OR_RETURN(parse(&object, proof, length, PROOF, err));
    const json_t *list = json_object_get(object, "path");
    const size_t steps = json_array_size(list);
    const char *text = json_string_value(json_object_get(object, "body"));
    const char *named = json_string_value(json_object_get(object, "root"));
    bool good = text != NULL && named != NULL && strcmp(named, receipt->root) == 0 && steps <= MERKLE_MOST_PATH &&
                hex_field(salt, sizeof salt, object, "salt") && json_is_integer(json_object_get(object, "seq"));
    *size = text != NULL ? strlen(text) / 2 : 0;
    *seq = (uint64_t)json_integer_value(json_object_get(object, "seq"));
    *body = malloc(*size + 1);
    good = good && *body != NULL && hex_field(*body, *size, object, "body");
    for (size_t i = 0; good && i < steps; i++) {
        json_t *one = json_pack("{s:O}", "h", json_array_get(list, i));
        good = hex_field(path[i], sizeof path[i], one, "h");
        json_decref(one);
    }
    if (good) {
        tacet__merkle_leaf(leaf, salt, *body, *size);
        good =
            tacet__merkle_climb(root, leaf, (size_t)*seq, (size_t)receipt->records, (const merkle_hash *)path, steps);
        tacet__hash_hex(hex, root);
    }
    json_decref(object);
    if (!good || strcmp(hex, receipt->root) != 0) {
        free(*body);
        *body = NULL;
        return tacet__fail(err, TACET_CORRUPT, "the proof does not lead to the root of the receipt");
    }
    return TACET_OK;
}

tacet_status tacet_receipt_check(char **record, const char *proof, size_t length, const tacet_receipt_facts *receipt,
                                 tacet_error *err) {
    static const unsigned char NONE[TACET_HASH_BYTES];
    unsigned char *body = NULL;
    size_t size = 0;
    uint64_t seq = 0;
    tacet__record decoded;
    *record = NULL;
    tacet_status status = follow_proof(&body, &size, &seq, proof, length, receipt, err);
    TACET_THEN(status, tacet__record_decode(&decoded, body, size, err));
    if (status == TACET_OK) {
        const tacet__ledger_row row = {
            .record = &decoded, .body = body, .body_size = size, .previous = NONE, .hash = NONE};
        json_t *object = tacet__ledger_row_json(&row); /* NULL goes through as such */
        (void)json_object_del(object, "previous");     /* a proof shows one record, not its place in the chain */
        (void)json_object_del(object, "hash");
        *record = tacet__json_dump(object, JSON_COMPACT | JSON_REAL_PRECISION(17));
        json_decref(object);
        status = *record != NULL ? TACET_OK : tacet__fail(err, TACET_NO_MEMORY, "out of memory for a record");
    }
    free(body);
    return status;
}
