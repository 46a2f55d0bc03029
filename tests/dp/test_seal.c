/* SPDX-License-Identifier: Apache-2.0 */
/* test_seal.c - the key file of a ledger: where it is looked for, who may use it, what it opens. */
#include "support/test.h"

#include "dp/ledger/seal.h"

#include <sodium.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void set(const char *name, const char *value) {
    assert_int_equal(value != NULL ? setenv(name, value, 1) : unsetenv(name), 0);
}

static void found(const char *ledger, const char *named, const char *want) {
    tacet__seal seal;
    assert_ok(tacet__seal_find(&seal, ledger, named, NULL));
    assert_string_equal(seal.path, want);
    assert_false(seal.open);
}

TEST(the_nearest_name_counts) {
    static char longest[TACET__PATH + 1];
    OWN_FOLDER const char *folder = test_mkdir();
    tacet__seal seal;
    OWN_TEXT char *ledger = test_text("%s/ledger.db", folder);
    OWN_TEXT char *link = test_text("%s/link.db", folder);
    OWN_TEXT char *key = test_text("%s.key", ledger);
    set("TACET_KEY_FILE", "");
    set("TACET_STATE", "/state");
    set("XDG_STATE_HOME", "/xdg");
    set("HOME", "/home/x");
    found("/d/none.db", "/named", "/named");
    found("/d/none.db", NULL, "/d/none.db.key");
    test_write(ledger, "");
    assert_int_equal(symlink(ledger, link), 0);
    found(link, NULL, key); /* the file's own, not the link's */
    found(NULL, NULL, "/state/ledger.key");
    set("TACET_STATE", "");
    found(NULL, NULL, "/xdg/tacet/ledger.key");
    set("XDG_STATE_HOME", "not/absolute");
    found(NULL, NULL, "/home/x/.local/state/tacet/ledger.key");
    set("TACET_STATE", NULL);
    set("XDG_STATE_HOME", NULL);
    found(NULL, NULL, "/home/x/.local/state/tacet/ledger.key");
    set("HOME", "");
    assert_status(tacet__seal_find(&seal, NULL, NULL, NULL), TACET_INVALID);
    set("HOME", NULL);
    assert_status(tacet__seal_find(&seal, NULL, NULL, NULL), TACET_INVALID);
    set("TACET_KEY_FILE", "/from/environment");
    found("/d/none.db", NULL, "/from/environment");
    found("/d/none.db", "/named", "/named");
    memset(longest, 'x', sizeof longest - 1);
    assert_status(tacet__seal_find(&seal, NULL, longest, NULL), TACET_INVALID);
}

static void write_file(const char *path, const char *text, mode_t mode) {
    (void)unlink(path);
    test_write(path, text);
    assert_int_equal(chmod(path, mode), 0);
}

static tacet_status opened(const char *path) {
    tacet__seal seal;
    assert_ok(tacet__seal_find(&seal, NULL, path, NULL));
    const tacet_status status = tacet__seal_open(&seal, NULL);
    assert_int_equal(seal.open, status == TACET_OK);
    tacet__seal_clear(&seal);
    return status;
}

/* A key file that is not whole, not a key, or not the owner's alone opens nothing, and is not replaced. */
TEST(a_wrong_key_file_is_refused) {
    static const char HEX[] = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
    OWN_FOLDER const char *folder = test_mkdir();
    char path[600], text[200], below[700];
    struct stat st;
    snprintf(path, sizeof path, "%s/a/b/ledger.key", folder); /* folders are made */
    assert_status(opened(path), TACET_OK);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_status(opened(path), TACET_OK);
    assert_int_equal(chmod(path, 0640), 0);
    assert_status(opened(path), TACET_DENIED);
    assert_int_equal(chmod(path, 0604), 0);
    assert_status(opened(path), TACET_DENIED);
    const struct {
        const char *head;
        int digits;
        const char *end;
    } bad[] = {{"tacet-ledger-key-1 ", 63, ""},
               {"tacet-ledger-key-2 ", 64, "\n"},
               {"tacet-ledger-key-1 ", 64, " "},
               {"tacet-ledger-key-1 x", 63, "\n"},
               {"", 0, ""}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        snprintf(text, sizeof text, "%s%.*s%s", bad[i].head, bad[i].digits, HEX, bad[i].end);
        write_file(path, text, 0600);
        assert_status(opened(path), TACET_CORRUPT);
    }
    snprintf(text, sizeof text, "tacet-ledger-key-1 %s\n", HEX);
    write_file(path, text, 0600);
    assert_status(opened(path), TACET_OK);
    snprintf(below, sizeof below, "%s/x", path); /* a file where a folder should be */
    assert_status(opened(below), TACET_IO);
    snprintf(below, sizeof below, "%s/a/dangling.key", folder);
    assert_int_equal(symlink("nowhere", below), 0); /* there is a link, and no key behind it */
    assert_status(opened(below), TACET_IO);
}

/* A sealed key opens for its own entry, under its own file, unchanged, and not otherwise. */
TEST(a_seal_is_for_one_entry) {
    OWN_FOLDER const char *folder = test_mkdir();
    char path[600];
    tacet__seal seal, other;
    unsigned char key[TACET_MINT_BYTES] = {1, 2, 3}, entry[TACET_HASH_BYTES] = {4}, out[TACET_MINT_BYTES];
    unsigned char sealed[TACET__SEALED_BYTES];
    snprintf(path, sizeof path, "%s/one", folder);
    assert_ok(tacet__seal_find(&seal, NULL, path, NULL));
    assert_ok(tacet__seal_open(&seal, NULL));
    assert_ok(tacet__seal_open(&seal, NULL)); /* open already */
    snprintf(path, sizeof path, "%s/two", folder);
    assert_ok(tacet__seal_find(&other, NULL, path, NULL));
    assert_ok(tacet__seal_open(&other, NULL));
    tacet__seal_close_key(&seal, sealed, key, entry);
    assert_true(tacet__seal_open_key(&seal, out, sealed, sizeof sealed, entry));
    assert_memory_equal(out, key, sizeof key);
    assert_false(tacet__seal_open_key(&other, out, sealed, sizeof sealed, entry));
    assert_false(tacet__seal_open_key(&seal, out, sealed, sizeof sealed - 1, entry));
    entry[0] ^= 1;
    assert_false(tacet__seal_open_key(&seal, out, sealed, sizeof sealed, entry));
    entry[0] ^= 1;
    sealed[sizeof sealed - 1] ^= 1;
    assert_false(tacet__seal_open_key(&seal, out, sealed, sizeof sealed, entry));
    tacet__seal_clear(&seal);
    tacet__seal_clear(&other);
}

/* Other secrets of a ledger's owner: one for each purpose and key file, none where there is no key file. */
TEST(secrets_are_derived_for_one_purpose) {
    OWN_FOLDER const char *folder = test_mkdir();
    unsigned char one[TACET__SEAL_KEY], again[TACET__SEAL_KEY], other[TACET__SEAL_KEY];
    OWN_TEXT char *ledger = test_text("%s/ledger.db", folder);
    OWN_TEXT char *key = test_text("%s.key", ledger);
    set("TACET_KEY_FILE", NULL);
    set("TACET_STATE", folder);
    assert_ok(tacet__seal_derive(one, ledger, "purpose1", NULL));
    assert_ok(tacet__seal_derive(again, ledger, "purpose1", NULL));
    assert_memory_equal(one, again, sizeof one);
    assert_ok(tacet__seal_derive(other, ledger, "purpose2", NULL));
    assert_memory_not_equal(one, other, sizeof one);
    assert_ok(tacet__seal_derive(other, "postgresql:///x#y", "purpose1", NULL)); /* of the state's own key file */
    assert_memory_not_equal(one, other, sizeof one);
    write_file(key, "no key", 0600);
    memset(again, 7, sizeof again);
    assert_status(tacet__seal_derive(again, ledger, "purpose1", NULL), TACET_CORRUPT);
    set("TACET_STATE", NULL);
    set("XDG_STATE_HOME", NULL);
    set("HOME", NULL);
    assert_status(tacet__seal_derive(again, "postgresql:///x#y", "purpose1", NULL), TACET_INVALID);
    assert_true(again[0] == 7 && again[TACET__SEAL_KEY - 1] == 7);
}

int main(void) {
    return sodium_init() < 0 ? 1 : test_main();
}
