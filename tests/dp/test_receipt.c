/* SPDX-License-Identifier: Apache-2.0 */
/* test_receipt.c - receipts and proofs of single records: what was signed is read back, and whatever was changed, left
 * out or made up is refused, also by somebody who has a key. Where memory runs out nothing half-made comes back.
 * The linker finds sodium_init here before it finds the real one. */
#include "dp/ledger_view_fixture.h"
#include "dp/open/ledger_json.h"
#include "dp/open/merkle.h"

#include <dlfcn.h>
#include <jansson.h>
#include <sodium.h>
#include <tacet/dp/open/ledger_read.h>
#include "dp/open/receipt_keys.h"

static bool no_entropy;
int sodium_init(void);

int sodium_init(void) {
    int (*real)(void) = NULL;
    *(void **)&real = dlsym(RTLD_NEXT, "sodium_init");
    return no_entropy ? -1 : real();
}

enum { NOW = 2000000000 /* after every key that is made here */, EXPORTED = 1 << 16 };

typedef struct signed_ledger {
    char *secret, *ring, *receipt;
    tacet_receipt_facts facts;
} signed_ledger;

static const char MANIFEST[] = "{\"rows\":5}";

/* A record of each kind, with and without the fields that may be missing. */
static void write_ledger(void) {
    OWN_LEDGER tacet_ledger *ledger = test_ledger(path, TACET_ACCOUNTING_GAUSSIAN, 3);
    tacet_charge c = test_charge(0.1);
    tacet_entry entry;
    OWN_BLOB tacet_blob memo = {0};
    c.parameters = "{\"scale\":33.333333333333336,\"the_name_of_a_parameter\":1.2500000000000002e-5}";
    add(ledger, "pure", &c, "an answer");
    c.parameters = "not json";
    c.group = "epoch 1";
    c.part = "a";
    add(ledger, "part", &c, NULL);
    tacet_charge_init(&c);
    c.what = "all of it";
    c.to_whom = "the modeler";
    c.mechanism = "none";
    tacet_charge_gaussian(&c, 0.1, 0.2, 1e-6);
    assert_ok(tacet_ledger_reserve(ledger, &entry, &memo, "stream", &c, NULL));
    assert_ok(tacet_ledger_commit(ledger, &entry, "key", 3, NULL, NULL));
}

static tacet_receipt_request request(void) {
    return (tacet_receipt_request){.ledger = path,
                                   .manifest = MANIFEST,
                                   .manifest_length = strlen(MANIFEST),
                                   .program_name = "test",
                                   .program_file = "/proc/self/exe",
                                   .time = NOW};
}

static void begin(signed_ledger *s) {
    memset(s, 0, sizeof *s);
    write_ledger();
    const tacet_receipt_request ask = request();
    assert_ok(tacet_receipt_keys(&s->secret, &s->ring, NULL));
    assert_ok(tacet_receipt_sign(&s->receipt, &ask, s->secret, NULL));
    assert_ok(tacet_receipt_verify(&s->facts, s->receipt, strlen(s->receipt), s->ring, MANIFEST, strlen(MANIFEST), path,
                                   NULL));
}

#define OWN_SIGNED __attribute__((cleanup(end)))
static void end(signed_ledger *s) {
    free(s->secret);
    free(s->ring);
    free(s->receipt);
}

/* The released rows are part of what is signed: others, none, or rows that were not signed are found out. */
TEST(released_rows_are_signed) {
    OWN_SIGNED signed_ledger s;
    tacet_receipt_request ask = request();
    char *receipt = NULL;
    tacet_receipt_facts facts;
    begin(&s);
    OWN_TEXT char *rows = test_text("%s.csv", path);
    assert_status(tacet_receipt_verify_release(&s.facts, "/proc/self/exe", NULL), TACET_CORRUPT); /* not signed */
    ask.release = rows;
    (void)unlink(rows);
    assert_status(tacet_receipt_sign(&receipt, &ask, s.secret, NULL), TACET_NOT_FOUND);
    assert_null(receipt);
    FILE *file = fopen(rows, "w");
    assert_non_null(file);
    for (int i = 0; i < 20000; i++) { /* more than is read at once */
        (void)fprintf(file, "%d,1.5\n", i);
    }
    (void)fclose(file);
    assert_ok(tacet_receipt_sign(&receipt, &ask, s.secret, NULL));
    assert_ok(tacet_receipt_verify(&facts, receipt, strlen(receipt), s.ring, MANIFEST, strlen(MANIFEST), path, NULL));
    assert_ok(tacet_receipt_verify_release(&facts, rows, NULL));
    file = fopen(rows, "r+");
    assert_non_null(file);
    assert_int_equal(fseek(file, -2, SEEK_END), 0);
    (void)fputs("7", file);
    (void)fclose(file);
    assert_status(tacet_receipt_verify_release(&facts, rows, NULL), TACET_CORRUPT);
    (void)unlink(rows);
    assert_status(tacet_receipt_verify_release(&facts, rows, NULL), TACET_NOT_FOUND);
    assert_status(tacet_receipt_verify_release(&facts, "/proc/self", NULL),
                  TACET_IO); /* a folder opens, and reads not */
    ask.release = "/proc/self";
    free(receipt);
    assert_status(tacet_receipt_sign(&receipt, &ask, s.secret, NULL), TACET_IO);
    ask = request();
    ask.program_file = NULL; /* no program is named, or one that is not there */
    assert_ok(tacet_receipt_sign(&receipt, &ask, s.secret, NULL));
    free(receipt);
    ask.program_file = "/nowhere";
    assert_ok(tacet_receipt_sign(&receipt, &ask, s.secret, NULL));
    free(receipt);
}

static tacet_status verify_text(const char *receipt, const char *ring, tacet_error *err) {
    tacet_receipt_facts facts;
    tacet_error_clear(err);
    return tacet_receipt_verify(&facts, receipt, strlen(receipt), ring, NULL, 0, NULL, err);
}

static char *dumps(json_t *object) {
    char *text = json_dumps(object, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENSURE_ASCII);
    assert_non_null(text);
    json_decref(object);
    return text;
}

static json_t *loads(const char *text) {
    json_t *object = json_loads(text, 0, NULL);
    assert_non_null(object);
    return object;
}

static void hex(char *out, const unsigned char *bytes, size_t size) {
    (void)sodium_bin2hex(out, 2 * size + 1, bytes, size);
}

static void own_key(unsigned char *secret, const char *text) {
    OWN_JSON json_t *object = loads(text);
    const char *digits = json_string_value(json_object_get(object, "secret"));
    assert_int_equal(sodium_hex2bin(secret, TACET_SIGNING_KEY_BYTES, digits, strlen(digits), NULL, NULL, NULL), 0);
}

/* Somebody who has the key signs this statement; takes it over. */
static char *forge(json_t *statement, const char *secret_text) {
    unsigned char secret[TACET_SIGNING_KEY_BYTES], signature[crypto_sign_BYTES];
    char digits[2 * crypto_sign_BYTES + 1];
    own_key(secret, secret_text);
    char *body = json_dumps(statement, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENSURE_ASCII);
    const size_t size = strlen(body) + 32;
    char *message = malloc(size);
    assert_non_null(message);
    (void)snprintf(message, size, "tacet-receipt-1\n%s", body);
    (void)crypto_sign_detached(signature, NULL, (const unsigned char *)message, strlen(message), secret);
    hex(digits, signature, sizeof signature);
    free(message);
    free(body);
    return dumps(
        json_pack("{s:s, s:s, s:o}", "format", "tacet-receipt-1", "signature", digits, "statement", statement));
}

TEST(what_was_signed_is_read_back) {
    static const char *const KINDS[] = {"budget", "reserve", "commit", "reserve", "reserve", "commit"};
    OWN_SIGNED signed_ledger s;
    begin(&s);
    assert_true(s.facts.key_known && s.facts.time == NOW && s.facts.records == 6);
    assert_string_equal(s.facts.program, "test");
    for (uint64_t seq = 0; seq < s.facts.records; seq++) {
        OWN_TEXT char *proof = NULL, *record = NULL;
        assert_ok(tacet_receipt_prove(&proof, s.receipt, strlen(s.receipt), path, seq, s.secret, NULL));
        assert_ok(tacet_receipt_check(&record, proof, strlen(proof), &s.facts, NULL));
        OWN_JSON json_t *object = loads(record);
        assert_string_equal(json_string_value(json_object_get(object, "kind")), KINDS[seq]);
        assert_int_equal(json_integer_value(json_object_get(object, "seq")), seq);
    }
    OWN_TEXT char *proof = NULL, *more = NULL, *receipt = NULL, *other = NULL;
    assert_status(tacet_receipt_prove(&proof, s.receipt, strlen(s.receipt), path, 6, s.secret, NULL), TACET_NOT_FOUND);
    assert_null(proof);
    /* a ledger that has grown is as good; a receipt without a manifest or a program's file is one */
    tacet_ledger *ledger = test_ledger(path, TACET_ACCOUNTING_GAUSSIAN, 3);
    const tacet_charge c = test_charge(0.1);
    add(ledger, "later", &c, NULL);
    tacet_ledger_close(ledger);
    assert_ok(tacet_receipt_verify(&s.facts, s.receipt, strlen(s.receipt), NULL, NULL, 0, path, NULL));
    assert_false(s.facts.key_known);
    assert_ok(tacet_receipt_prove(&proof, s.receipt, strlen(s.receipt), path, 2, s.secret, NULL));
    tacet_receipt_request ask = request();
    ask.manifest = ask.program_file = NULL;
    assert_ok(tacet_receipt_sign(&receipt, &ask, s.secret, NULL));
    assert_ok(tacet_receipt_verify(&s.facts, receipt, strlen(receipt), s.ring, NULL, 0, path, NULL));
    assert_string_equal(s.facts.manifest, "");
    /* salts are the signer's: another key has another root */
    assert_ok(tacet_receipt_keys(&other, &more, NULL));
    char *nothing = NULL;
    assert_status(tacet_receipt_prove(&nothing, s.receipt, strlen(s.receipt), path, 2, other, NULL), TACET_INVALID);
    assert_null(nothing);
}

TEST(changed_receipts_are_refused) {
    OWN_SIGNED signed_ledger s;
    tacet_error err = {TACET_OK, ""};
    begin(&s);
    const size_t length = strlen(s.receipt);
    for (size_t i = 0; i < length; i++) {
        s.receipt[i] ^= 1;
        assert_status(verify_text(s.receipt, NULL, &err), TACET_CORRUPT);
        s.receipt[i] ^= 1;
    }
    tacet_receipt_facts facts;
    assert_status(tacet_receipt_verify(&facts, s.receipt, 0, NULL, NULL, 0, NULL, NULL), TACET_CORRUPT);
    assert_status(tacet_receipt_verify(&facts, s.receipt, length - 1, NULL, NULL, 0, NULL, NULL), TACET_CORRUPT);
    assert_status(tacet_receipt_verify(&facts, s.receipt, length, NULL, "other", 5, NULL, NULL), TACET_CORRUPT);
    assert_status(tacet_receipt_verify(&facts, s.receipt, length, NULL, NULL, 0, "/nowhere", NULL), TACET_NOT_FOUND);
    assert_status(verify_text("{\"a\":1}", NULL, &err), TACET_CORRUPT); /* canonical, and of no format */
    assert_status(verify_text("[1]", NULL, &err), TACET_CORRUPT);
    /* with a space, which means the same: one text has one form */
    char spaced[8192];
    (void)snprintf(spaced, sizeof spaced, "{ %s", s.receipt + 1);
    assert_status(verify_text(spaced, NULL, &err), TACET_CORRUPT);
    (void)snprintf(spaced, sizeof spaced, "%s\n", s.receipt);
    assert_ok(verify_text(spaced, NULL, &err));
    /* parts that are missing, or no numbers, signed by the right key */
    static const char *const PARTS[][2] = {{"ledger", "head"},    {"ledger", "root"},  {"ledger", "id"},
                                           {"ledger", "records"}, {"program", "name"}, {"program", "version"}};
    for (size_t i = 0; i < sizeof PARTS / sizeof *PARTS; i++) {
        OWN_JSON json_t *whole = loads(s.receipt);
        json_t *statement = json_deep_copy(json_object_get(whole, "statement"));
        assert_int_equal(json_object_del(json_object_get(statement, PARTS[i][0]), PARTS[i][1]), 0);
        OWN_TEXT char *forged = forge(statement, s.secret);
        assert_status(verify_text(forged, s.ring, &err), TACET_CORRUPT);
        assert_non_null(strstr(err.message, "lacks a part"));
    }
    json_t *whole = loads(s.receipt);
    json_t *statement = json_deep_copy(json_object_get(whole, "statement"));
    (void)json_object_set_new(json_object_get(statement, "program"), "version", json_string(spaced)); /* too long */
    char *forged = forge(statement, s.secret);
    assert_status(verify_text(forged, s.ring, &err), TACET_CORRUPT);
    free(forged);
    /* a ledger that is another one: its number of records, its name */
    static const char *const OTHERS[] = {"records", "id"};
    for (size_t i = 0; i < 2; i++) {
        statement = json_deep_copy(json_object_get(whole, "statement"));
        (void)json_object_set_new(json_object_get(statement, "ledger"), OTHERS[i],
                                  i == 0 ? json_integer(5) : json_string("00"));
        forged = forge(statement, s.secret);
        tacet_error_clear(&err);
        assert_status(tacet_receipt_verify(&facts, forged, strlen(forged), s.ring, NULL, 0, path, &err), TACET_CORRUPT);
        assert_non_null(strstr(err.message, "another one"));
        free(forged);
    }
    statement = json_deep_copy(json_object_get(whole, "statement"));
    (void)json_object_del(statement, "key");
    forged = forge(statement, s.secret);
    assert_status(verify_text(forged, s.ring, &err), TACET_CORRUPT);
    free(forged);
    json_decref(whole);
}

/* Replaces a field of the ring's n-th key, or drops it where value is NULL; the text is the caller's. */
static char *with_key_field(const char *ring, size_t n, const char *name, json_t *value) {
    json_t *object = loads(ring);
    json_t *entry = json_array_get(json_object_get(object, "keys"), n);
    if (value != NULL) {
        assert_int_equal(json_object_set_new(entry, name, value), 0);
    } else {
        assert_int_equal(json_object_del(entry, name), 0);
    }
    return dumps(object);
}

TEST(keys_have_their_time) {
    OWN_SIGNED signed_ledger s;
    tacet_error err = {TACET_OK, ""};
    char *secret = NULL, *ring = NULL, *receipt = NULL, *changed = NULL;
    begin(&s);
    assert_ok(tacet_receipt_rotate(&secret, &ring, s.secret, s.ring, NULL));
    assert_status(verify_text(s.receipt, ring, &err), TACET_CORRUPT); /* NOW is after the old key was retired */
    assert_non_null(strstr(err.message, "outside its time"));
    const tacet_receipt_request ask = request();
    assert_ok(tacet_receipt_sign(&receipt, &ask, secret, NULL));
    assert_ok(verify_text(receipt, ring, &err));
    assert_status(verify_text(receipt, s.ring, &err), TACET_CORRUPT);
    assert_non_null(strstr(err.message, "not in the ring"));
    changed = with_key_field(ring, 1, "made", json_integer((json_int_t)NOW + 1));
    assert_status(verify_text(receipt, changed, &err), TACET_CORRUPT); /* another statement than the one signed */
    free(changed);
    changed = with_key_field(s.ring, 0, "made", json_integer((json_int_t)NOW + 1));
    assert_status(verify_text(s.receipt, changed, &err), TACET_CORRUPT);
    assert_non_null(strstr(err.message, "outside its time"));
    free(changed);
    changed = with_key_field(s.ring, 0, "retired", json_integer((json_int_t)NOW + 1));
    assert_ok(verify_text(s.receipt, changed, &err));
    free(changed);
    static const char *const MAY_LACK[] = {"retired", "revoked"}; /* what a ring does not say did not happen */
    for (size_t i = 0; i < 2; i++) {
        changed = with_key_field(s.ring, 0, MAY_LACK[i], NULL);
        assert_ok(verify_text(s.receipt, changed, &err));
        free(changed);
    }
    static const char *const FIELDS[] = {"key", "signature", "made"};
    for (size_t i = 0; i < 3; i++) {
        changed = with_key_field(ring, 1, FIELDS[i], NULL);
        assert_status(verify_text(receipt, changed, &err), TACET_CORRUPT);
        free(changed);
    }
    static const char *const WRONG[] = {"short", "G000000000000000000000000000000000000000000000000000000000000000"};
    for (size_t i = 0; i < 2; i++) {
        changed = with_key_field(ring, 1, "key", json_string(WRONG[i]));
        assert_status(verify_text(receipt, changed, &err), TACET_CORRUPT);
        free(changed);
    }
    assert_status(verify_text(receipt, "[]", &err), TACET_CORRUPT);
    /* revoked: nothing that it signed holds */
    json_t *object = loads(ring);
    const char *key = json_string_value(json_object_get(json_array_get(json_object_get(object, "keys"), 1), "key"));
    assert_ok(tacet_receipt_revoke(&changed, ring, key, NULL));
    assert_status(verify_text(receipt, changed, &err), TACET_CORRUPT);
    assert_non_null(strstr(err.message, "revoked"));
    free(changed);
    assert_status(tacet_receipt_revoke(&changed, s.ring, key, NULL), TACET_NOT_FOUND);
    assert_status(tacet_receipt_revoke(&changed, "{}", key, NULL), TACET_CORRUPT);
    assert_null(changed);
    json_decref(object);
    /* the next key is signed by the last one, and by no other */
    char *third = NULL;
    assert_status(tacet_receipt_rotate(&third, &changed, s.secret, ring, NULL), TACET_INVALID);
    assert_status(tacet_receipt_rotate(&third, &changed, "{}", ring, NULL), TACET_CORRUPT);
    assert_status(tacet_receipt_rotate(&third, &changed, secret, "{}", NULL), TACET_CORRUPT);
    assert_status(
        tacet_receipt_rotate(&third, &changed, secret, "{\"format\":\"tacet-signing-ring-1\",\"keys\":[]}", NULL),
        TACET_INVALID);
    assert_status(
        tacet_receipt_rotate(&third, &changed, secret, "{\"format\":\"tacet-signing-ring-1\",\"keys\":[1]}", NULL),
        TACET_INVALID);
    assert_status(
        tacet_receipt_rotate(&third, &changed, "{\"format\":\"tacet-signing-key-1\",\"secret\":\"00\"}", ring, NULL),
        TACET_CORRUPT);
    assert_true(third == NULL && changed == NULL);
    free(secret);
    free(ring);
    free(receipt);
}

static tacet_status check_changed(const char *proof, const char *name, json_t *value,
                                  const tacet_receipt_facts *facts) {
    json_t *object = loads(proof);
    char *record = NULL;
    assert_int_equal(value != NULL ? json_object_set_new(object, name, value) : json_object_del(object, name), 0);
    char *text = dumps(object);
    const tacet_status status = tacet_receipt_check(&record, text, strlen(text), facts, NULL);
    assert_true((status == TACET_OK) == (record != NULL));
    free(record);
    free(text);
    return status;
}

TEST(proofs_that_prove_nothing) {
    OWN_SIGNED signed_ledger s;
    begin(&s);
    char *proof = NULL, *record = NULL;
    assert_ok(tacet_receipt_prove(&proof, s.receipt, strlen(s.receipt), path, 4, s.secret, NULL));
    static const char *const FIELDS[] = {"root", "seq", "salt", "body", "path"};
    for (size_t i = 0; i < sizeof FIELDS / sizeof *FIELDS; i++) {
        assert_status(check_changed(proof, FIELDS[i], NULL, &s.facts), TACET_CORRUPT);
        assert_status(check_changed(proof, FIELDS[i], json_string("no hex"), &s.facts), TACET_CORRUPT);
        assert_status(check_changed(proof, FIELDS[i], json_string("00"), &s.facts), TACET_CORRUPT);
    }
    for (int seq = -1; seq < 9; seq++) { /* the record is at its own place alone */
        assert_status(check_changed(proof, "seq", json_integer(seq), &s.facts), seq == 4 ? TACET_OK : TACET_CORRUPT);
    }
    json_t *object = loads(proof), *list = json_object_get(object, "path");
    json_t *longer = json_deep_copy(list), *longest = json_array(), *odd = json_deep_copy(list);
    (void)json_array_append(longer, json_array_get(list, 0));
    for (size_t i = 0; i <= MERKLE_MOST_PATH; i++) {
        (void)json_array_append(longest, json_array_get(list, 0));
    }
    (void)json_array_set_new(odd, 0, json_integer(1));
    assert_status(check_changed(proof, "path", longer, &s.facts), TACET_CORRUPT);
    assert_status(check_changed(proof, "path", longest, &s.facts), TACET_CORRUPT);
    assert_status(check_changed(proof, "path", odd, &s.facts), TACET_CORRUPT);
    json_decref(object);
    assert_status(tacet_receipt_check(&record, "{}", 2, &s.facts, NULL), TACET_CORRUPT);
    /* a receipt over a record that is none, by somebody who has the key: it leads to the root, and is refused */
    static const unsigned char BODY[] = {1, 2, 3};
    merkle_hash salt = {5}, leaf;
    char root[65], salted[65];
    tacet__merkle_leaf(leaf, salt, BODY, sizeof BODY);
    hex(root, leaf, sizeof leaf);
    hex(salted, salt, sizeof salt);
    tacet_receipt_facts facts = s.facts;
    facts.records = 1;
    memcpy(facts.root, root, sizeof root);
    char *forged = dumps(json_pack("{s:s, s:s, s:i, s:s, s:s, s:[]}", "format", "tacet-proof-1", "root", root, "seq", 0,
                                   "salt", salted, "body", "010203", "path"));
    assert_status(tacet_receipt_check(&record, forged, strlen(forged), &facts, NULL), TACET_CORRUPT);
    assert_null(record);
    free(forged);
    /* and other mistakes of whoever asks for one */
    char *nothing = NULL;
    assert_status(tacet_receipt_prove(&nothing, "{}", 2, path, 4, s.secret, NULL), TACET_CORRUPT);
    assert_status(tacet_receipt_prove(&nothing, s.receipt, strlen(s.receipt), path, 4, "{}", NULL), TACET_CORRUPT);
    assert_status(tacet_receipt_prove(&nothing, s.receipt, strlen(s.receipt), "/nowhere", 4, s.secret, NULL),
                  TACET_NOT_FOUND);
    const tacet_receipt_request ask = {.ledger = "/nowhere", .program_name = "test"};
    assert_status(tacet_receipt_sign(&nothing, &ask, s.secret, NULL), TACET_NOT_FOUND);
    assert_null(nothing);
    free(proof);
}

/* Every path of the tree of n leaves leads to its root, from its own place and with its own length alone. */
TEST(paths_of_all_trees) {
    enum { MOST = 9 };
    merkle_hash leaves[MOST], path_of[MERKLE_MOST_PATH], root, climbed;
    for (size_t i = 0; i < MOST; i++) {
        memset(leaves[i], (int)i + 1, sizeof leaves[i]);
    }
    for (size_t n = 1; n <= MOST; n++) {
        tacet__merkle_root(root, (const merkle_hash *)leaves, n);
        for (size_t i = 0; i < n; i++) {
            const size_t steps = tacet__merkle_path(path_of, (const merkle_hash *)leaves, n, i);
            merkle_hash longer[MERKLE_MOST_PATH + 1] = {{0}}; /* a step too many, below the others */
            memcpy(longer + 1, path_of, steps * sizeof *longer);
            assert_false(tacet__merkle_climb(climbed, leaves[i], i, n, (const merkle_hash *)longer, steps + 1));
            for (size_t k = 0; k <= n; k++) {
                for (size_t length = 0; length <= steps; length++) {
                    const bool good =
                        tacet__merkle_climb(climbed, leaves[i], k, n, (const merkle_hash *)path_of, length);
                    const bool right = good && memcmp(climbed, root, sizeof root) == 0;
                    assert_true(right == (k == i && length == steps));
                }
            }
        }
    }
}

/* What is done with memory that runs out at the n-th allocation, jansson's included; from REVOKE on the text is the
 * same every time. */
enum { KEYS, ROTATE, REVOKE, SIGN, VERIFY, PROVE, CHECK, READ, READ_ACCOUNT, WAYS };

static tacet_status attempt(int way, char **text, const signed_ledger *s, const char *proof, tacet_error *err) {
    const tacet_receipt_request ask = request();
    const size_t length = strlen(s->receipt);
    tacet_receipt_facts facts;
    OWN_TEXT char *secret = NULL;
    tacet_status status = TACET_OK;
    switch (way) {
    case KEYS:
    case ROTATE:
        status = way == KEYS ? tacet_receipt_keys(&secret, text, err)
                             : tacet_receipt_rotate(&secret, text, s->secret, s->ring, err);
        assert_true((status == TACET_OK) == (secret != NULL));
        return status;
    case REVOKE:
        return tacet_receipt_revoke(text, s->ring, s->facts.key, err);
    case SIGN:
        return tacet_receipt_sign(text, &ask, s->secret, err);
    case VERIFY:
        return tacet_receipt_verify(&facts, s->receipt, length, s->ring, MANIFEST, strlen(MANIFEST), path, err);
    case PROVE:
        return tacet_receipt_prove(text, s->receipt, length, path, 3, s->secret, err);
    case CHECK:
        return tacet_receipt_check(text, proof, strlen(proof), &s->facts, err);
    case READ:
        return tacet_ledger_read(text, path, err);
    default:
        return tacet_ledger_verify(text, path, s->facts.head, NULL, err);
    }
}

static tacet_status append_line(void *user, const char *line, tacet_error *err) {
    char *all = user; /* EXPORTED bytes */
    (void)err;
    assert_true(strlen(all) + strlen(line) < EXPORTED);
    (void)memcpy(all + strlen(all), line, strlen(line) + 1);
    return TACET_OK;
}

TEST(whole_or_nothing) {
    OWN_SIGNED signed_ledger s;
    OWN_TEXT char *proof = NULL;
    begin(&s);
    assert_ok(tacet_receipt_prove(&proof, s.receipt, strlen(s.receipt), path, 3, s.secret, NULL));
    for (int way = 0; way < WAYS; way++) {
        OWN_TEXT char *want = NULL;
        assert_ok(attempt(way, &want, &s, proof, NULL));
        size_t failures = 0;
        for (long n = 1, hit = 1; hit != 0; n++) {
            OWN_TEXT char *text = NULL;
            tacet_error err = {TACET_OK, ""};
            fail_alloc_after(n);
            const tacet_status status = attempt(way, &text, &s, proof, &err);
            hit = fail_alloc_end();
            failures += status != TACET_OK;
            assert_true(status == TACET_OK || (hit != 0 && text == NULL));
            if (status == TACET_OK && way >= REVOKE && want != NULL && strcmp(text, want) != 0) {
                fail_msg("way %d: allocation %ld failed, and another text came back:\n%s\n%s", way, n, text, want);
            }
        }
        assert_true(failures > 2);
    }
}

static tacet_status stop(void *user, const char *line, tacet_error *err) {
    (void)user;
    (void)line;
    (void)err;
    return TACET_STATE;
}

TEST(ledgers_as_text) {
    OWN_SIGNED signed_ledger s;
    begin(&s);
    char *text = NULL;
    assert_ok(tacet_ledger_read(&text, path, NULL));
    json_t *object = loads(text);
    const json_t *list = json_object_get(object, "list");
    assert_int_equal(json_array_size(list), 3);
    assert_string_equal(json_string_value(json_object_get(object, "unit")), "mu");
    assert_int_equal(json_integer_value(json_object_get(object, "answered")), 2);
    assert_string_equal(json_string_value(json_object_get(json_array_get(list, 1), "parameters")), "not json");
    assert_string_equal(json_string_value(json_object_get(json_array_get(list, 1), "group")), "epoch 1");
    assert_true(json_is_null(json_object_get(json_array_get(list, 1), "answered_by")));
    assert_true(json_is_object(json_object_get(json_array_get(list, 2), "parameters")));
    json_decref(object);
    free(text);
    static char lines[EXPORTED], some[EXPORTED];
    assert_ok(tacet_ledger_export(path, append_line, lines, NULL));
    assert_non_null(strstr(lines, "\"kind\":\"commit\""));
    assert_non_null(strstr(lines, "\"body\":"));
    assert_status(tacet_ledger_export(path, stop, NULL, NULL), TACET_STATE);
    assert_status(tacet_ledger_export("/nowhere", stop, NULL, NULL), TACET_NOT_FOUND);
    assert_status(tacet_ledger_read(&text, "/nowhere", NULL), TACET_NOT_FOUND);
    for (long n = 1, failed = 0;; n++) { /* an export that memory runs out of ends with an error */
        some[0] = '\0';
        fail_alloc_after(n);
        const tacet_status status = tacet_ledger_export(path, append_line, some, NULL);
        const int hit = fail_alloc_end();
        failed += status != TACET_OK;
        assert_memory_equal(some, lines, strlen(some)); /* what came is whole */
        if (!hit) {
            assert_ok(status);
            assert_true(failed > 2);
            break;
        }
    }
    tacet_charge c = test_charge(0.1);
    tacet_ledger *ledger = test_ledger(path, TACET_ACCOUNTING_GAUSSIAN, 3);
    c.parameters = "{\"k\":1}";
    add(ledger, "more", &c, NULL);
    tacet_ledger_close(ledger);
    assert_ok(tacet_ledger_read(&text, path, NULL));
    assert_non_null(strstr(text, "\"parameters\":{\"k\":1}"));
    free(text);
    assert_string_equal(tacet__ledger_unit(TACET_ACCOUNTING_BASIC), "eps");
    assert_string_equal(tacet__ledger_unit(TACET_ACCOUNTING_ZCDP), "rho");
}

/* A head or an anchor that was noted elsewhere. */
TEST(noted_heads) {
    OWN_SIGNED signed_ledger s;
    char anchor[400], *text = NULL;
    begin(&s);
    (void)snprintf(anchor, sizeof anchor, "%s/anchor", folder);
    assert_ok(tacet_ledger_verify(&text, path, NULL, NULL, NULL));
    assert_null(strstr(text, "head_at"));
    free(text);
    assert_ok(tacet_ledger_verify(&text, path, s.facts.head, NULL, NULL));
    assert_non_null(strstr(text, "\"head_at\":5"));
    free(text);
    char other[sizeof s.facts.head];
    memcpy(other, s.facts.head, sizeof other);
    other[5] = other[5] == 'a' ? 'b' : 'a';
    assert_status(tacet_ledger_verify(&text, path, other, NULL, NULL), TACET_CORRUPT);
    assert_status(tacet_ledger_verify(&text, path, "00", NULL, NULL), TACET_INVALID);
    assert_status(tacet_ledger_verify(&text, path, s.facts.head, anchor, NULL), TACET_INVALID);
    assert_status(tacet_ledger_verify(&text, path, NULL, anchor, NULL), TACET_CORRUPT); /* there is none */
    const struct {
        const char *format;
        tacet_status status;
    } ANCHORS[] = {{"6 %s\n", TACET_OK},      {"5 %s\n", TACET_CORRUPT},  {"0 %s\n", TACET_CORRUPT},
                   {"6-%s\n", TACET_CORRUPT}, {"6 x%s\n", TACET_CORRUPT}, {"", TACET_CORRUPT}};
    for (size_t i = 0; i < sizeof ANCHORS / sizeof *ANCHORS; i++) {
        FILE *file = fopen(anchor, "w");
        assert_non_null(file);
        char *at = strstr(ANCHORS[i].format, "%s");
        if (at != NULL) {
            (void)fprintf(file, "%.*s%s%s", (int)(at - ANCHORS[i].format), ANCHORS[i].format, s.facts.head, at + 2);
        }
        assert_int_equal(fclose(file), 0);
        assert_status(tacet_ledger_verify(&text, path, NULL, anchor, NULL), ANCHORS[i].status);
        free(text);
    }
}

TEST(pairs_in_a_folder) {
    char file[500];
    OWN_TEXT char *keys = test_text("%s/keys", folder);
    assert_ok(tacet_receipt_keep(keys, TACET_RECEIPT_KEYS_FIRST, NULL, NULL));
    assert_status(tacet_receipt_keep(keys, TACET_RECEIPT_KEYS_FIRST, NULL, NULL), TACET_CONFLICT);
    assert_ok(tacet_receipt_keep(keys, TACET_RECEIPT_KEYS_NEXT, NULL, NULL));
    assert_status(tacet_receipt_keep(keys, TACET_RECEIPT_KEYS_REVOKED, "00", NULL), TACET_NOT_FOUND);
    json_t *object = NULL;
    (void)snprintf(file, sizeof file, "%s/receipt.ring", keys);
    assert_non_null(object = json_load_file(file, 0, NULL));
    const char *key = json_string_value(json_object_get(json_array_get(json_object_get(object, "keys"), 0), "key"));
    assert_ok(tacet_receipt_keep(keys, TACET_RECEIPT_KEYS_REVOKED, key, NULL));
    json_decref(object);
    assert_non_null(object = json_load_file(file, 0, NULL));
    assert_true(json_is_true(json_object_get(json_array_get(json_object_get(object, "keys"), 0), "revoked")));
    json_decref(object);
    assert_status(tacet_receipt_keep("/proc/nowhere", TACET_RECEIPT_KEYS_FIRST, NULL, NULL), TACET_IO);
    for (long n = 1, hit = 1; hit != 0; n++) {
        fail_alloc_after(n);
        const tacet_status status = tacet_receipt_keep(keys, TACET_RECEIPT_KEYS_NEXT, NULL, NULL);
        hit = fail_alloc_end();
        assert_true(hit != 0 || status == TACET_OK);
    }
    struct stat st;
    (void)snprintf(file, sizeof file, "%s/receipt.key", keys);
    assert_true(stat(file, &st) == 0 && (st.st_mode & 0777) == 0600);
    assert_int_equal(unlink(file), 0);
    assert_status(tacet_receipt_keep(keys, TACET_RECEIPT_KEYS_NEXT, NULL, NULL), TACET_NOT_FOUND);
    (void)snprintf(file, sizeof file, "%s/receipt.ring", keys);
    assert_int_equal(unlink(file), 0);
    assert_status(tacet_receipt_keep(keys, TACET_RECEIPT_KEYS_NEXT, NULL, NULL), TACET_NOT_FOUND);
}

TEST(nothing_without_entropy) {
    OWN_SIGNED signed_ledger s;
    char *text = NULL, *more = NULL;
    tacet_receipt_facts facts;
    begin(&s);
    const tacet_receipt_request ask = request();
    no_entropy = true;
    assert_status(tacet_receipt_keys(&text, &more, NULL), TACET_IO);
    assert_status(tacet_receipt_rotate(&text, &more, s.secret, s.ring, NULL), TACET_IO);
    assert_status(tacet_receipt_sign(&text, &ask, s.secret, NULL), TACET_IO);
    assert_status(tacet_receipt_verify(&facts, s.receipt, strlen(s.receipt), NULL, NULL, 0, NULL, NULL), TACET_IO);
    no_entropy = false;
    assert_true(text == NULL && more == NULL);
}

TEST_EACH(setup, teardown)

int main(void) {
    json_set_alloc_funcs(malloc, free); /* so that jansson's can fail, too */
    return test_main();
}
