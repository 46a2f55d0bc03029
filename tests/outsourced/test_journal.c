/* SPDX-License-Identifier: Apache-2.0 */
/* test_journal.c - the modeler's journal over crashes: cut at any byte, opened twice, by another run, after rubbish. */
#include "outsourced/open/journal.h"
#include "support/test.h"

typedef struct fixture {
    char folder[256];
    char path[300];
    json_t *settings;
} fixture;

static int setup(void **state) {
    static fixture f;
    (void)snprintf(f.folder, sizeof f.folder, "%s", test_mkdir());
    (void)snprintf(f.path, sizeof f.path, "%s/journal.jsonl", f.folder);
    f.settings = json_pack("{ss sI}", "kernel", "se", "queries", (json_int_t)5);
    assert_non_null(f.settings);
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    fixture *f = *state;
    json_decref(f->settings);
    test_rmdir(f->folder);
    return 0;
}

static char *slurp(const char *path, size_t *size) {
    char *text = calloc(1, 1 << 16);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    *size = fread(text, 1, (1 << 16) - 1, file);
    (void)fclose(file);
    return text;
}

static void spill(const char *path, const char *text, size_t size) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static const double VALUES[] = {0.1, -1.0 / 3, 7};

static void fill(const fixture *f) {
    tacet__journal j;
    assert_ok(tacet__journal_open(&j, f->folder, f->settings, NULL));
    for (size_t i = 0; i < 3; i++) {
        assert_ok(tacet__journal_ask(&j, 10 + i, TACET__ASKED_MODEL, NULL));
        assert_ok(tacet__journal_value(&j, i, VALUES[i], NULL));
    }
    assert_ok(tacet__journal_ask(&j, 99, TACET__ASKED_MODEL, NULL));
    tacet__journal_close(&j);
}

TEST(test_replay) {
    const fixture *f = *state;
    tacet__journal j;
    fill(f);
    assert_ok(tacet__journal_open(&j, f->folder, f->settings, NULL));
    assert_int_equal(j.count, 4);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(j.queries[i].row, 10 + i);
        assert_true(j.queries[i].answered && j.queries[i].value == VALUES[i]); /* to the last bit */
        assert_string_not_equal(j.queries[i].ticket, j.queries[i + 1].ticket);
        assert_memory_equal(j.queries[i].ticket, j.run, strlen(j.run));
    }
    assert_false(j.queries[3].answered);
    assert_ok(tacet__journal_value(&j, 3, 4, NULL));
    assert_ok(tacet__journal_ask(&j, 100, TACET__ASKED_RANDOM, NULL));
    assert_ok(tacet__journal_failed(&j, 4, NULL));
    tacet__journal_close(&j);
    assert_ok(tacet__journal_open(&j, f->folder, f->settings, NULL));
    assert_true(j.count == 5 && j.queries[4].failed && !j.queries[4].answered);
    assert_int_equal(j.queries[4].how, TACET__ASKED_RANDOM);
    j.count = 4;
    assert_true(j.count == 4 && j.queries[3].answered && j.queries[3].value == 4);
    tacet__journal_close(&j);
}

/* A crash while writing leaves a prefix. Whatever its length: it opens, holds what was whole, and goes on. */
TEST(test_torn_anywhere) {
    const fixture *f = *state;
    size_t size = 0;
    fill(f);
    OWN_TEXT char *text = slurp(f->path, &size);
    for (size_t n = 0; n <= size; n++) {
        tacet__journal j;
        size_t asks = 0, values = 0, lines = 0;
        for (size_t i = 0; i < n; i++) {
            lines += text[i] == '\n';
        }
        asks = lines / 2; /* start, ask, value, ask, value, … */
        values = lines > 0 ? (lines - 1) / 2 : 0;
        spill(f->path, text, n);
        assert_ok(tacet__journal_open(&j, f->folder, f->settings, NULL));
        assert_int_equal(j.count, asks);
        for (size_t i = 0; i < asks; i++) {
            assert_int_equal(j.queries[i].answered, i < values);
        }
        if (asks == values) {
            assert_ok(tacet__journal_ask(&j, 5, TACET__ASKED_MODEL, NULL));
        }
        assert_ok(tacet__journal_value(&j, j.count - 1, 2.5, NULL));
        const size_t count = j.count;
        tacet__journal_close(&j);
        assert_ok(tacet__journal_open(&j, f->folder, f->settings, NULL));
        assert_int_equal(j.count, count);
        assert_true(j.queries[count - 1].answered && j.queries[count - 1].value == 2.5);
        tacet__journal_close(&j);
    }
}

TEST(test_other_settings) {
    const fixture *f = *state;
    tacet__journal j;
    size_t before = 0, after = 0;
    fill(f);
    OWN_TEXT char *text = slurp(f->path, &before);
    json_t *other = json_pack("{ss sI}", "kernel", "se", "queries", (json_int_t)6);
    assert_status(tacet__journal_open(&j, f->folder, other, NULL), TACET_CONFLICT);
    assert_int_equal(j.fd, -1);
    json_decref(other);
    OWN_TEXT char *now = slurp(f->path, &after);
    assert_int_equal(before, after);
    assert_string_equal(text, now);
}

TEST(test_locked) {
    const fixture *f = *state;
    tacet__journal j, second;
    assert_ok(tacet__journal_open(&j, f->folder, f->settings, NULL));
    assert_status(tacet__journal_open(&second, f->folder, f->settings, NULL), TACET_BUSY);
    tacet__journal_close(&j);
    assert_ok(tacet__journal_open(&second, f->folder, f->settings, NULL));
    tacet__journal_close(&second);
}

TEST(test_rubbish) {
    const fixture *f = *state;
    static const char *const LINES[] = {
        "x\n",
        "[]\n",
        "{}\n",
        "{\"ask\":{\"ticket\":\"a\"}}\n",
        "{\"ask\":{\"ticket\":\"a\",\"row\":-1}}\n",
        "{\"value\":{\"ticket\":\"never\",\"value\":1}}\n",
        "{\"value\":{\"ticket\":\"a\",\"value\":\"1\"}}\n",
        "{\"failed\":{\"ticket\":\"never\"}}\n",
        "{\"ask\":{\"ticket\":\"a\",\"row\":1}}\n",
        "{\"ask\":{\"ticket\":\"a\",\"row\":1,\"how\":\"blindly\"}}\n",
    };
    size_t size = 0;
    tacet__journal j;
    assert_ok(tacet__journal_open(&j, f->folder, f->settings, NULL));
    tacet__journal_close(&j);
    OWN_TEXT char *text = slurp(f->path, &size);
    for (size_t k = 0; k < sizeof LINES / sizeof LINES[0]; k++) {
        tacet_error err = {0};
        text[size] = '\0';
        (void)snprintf(text + size, 1024, "%s", LINES[k]);
        spill(f->path, text, strlen(text));
        assert_status(tacet__journal_open(&j, f->folder, f->settings, &err), TACET_CORRUPT);
        assert_non_null(strstr(err.message, "line 2"));
        assert_int_equal(j.fd, -1);
        spill(f->path, LINES[k], strlen(LINES[k])); /* as the first line */
        assert_status(tacet__journal_open(&j, f->folder, f->settings, NULL), TACET_CORRUPT);
    }
}

TEST(test_another_format_is_named) {
    const fixture *f = *state;
    tacet__journal j;
    tacet_error err = {0};
    size_t size = 0;
    fill(f);
    OWN_TEXT char *text = slurp(f->path, &size);
    strstr(text, "tacet-journal-1")[strlen("tacet-journal-")] = '2';
    spill(f->path, text, size);
    assert_status(tacet__journal_open(&j, f->folder, f->settings, &err), TACET_CORRUPT);
    assert_non_null(strstr(err.message, "tacet-journal-2"));
    assert_non_null(strstr(err.message, "tacet-journal-1"));
}

/* An answer twice, and a ticket of two rows: neither can come from a run. */
TEST(test_twice) {
    const fixture *f = *state;
    tacet__journal j;
    size_t size = 0;
    fill(f);
    OWN_TEXT char *text = slurp(f->path, &size);
    const char *value = strstr(text, "{\"value\"");
    (void)snprintf(text + size, 1024, "%.*s", (int)(strchr(value, '\n') + 1 - value), value);
    spill(f->path, text, strlen(text));
    assert_status(tacet__journal_open(&j, f->folder, f->settings, NULL), TACET_CORRUPT);
    text[size] = '\0';
    const char *asked = strstr(text, "{\"ask\"");
    (void)snprintf(text + size, 1024, "%.*s", (int)(strchr(asked, '\n') + 1 - asked), asked);
    spill(f->path, text, strlen(text));
    assert_status(tacet__journal_open(&j, f->folder, f->settings, NULL), TACET_CORRUPT);
}

TEST(test_folder) {
    const fixture *f = *state;
    tacet__journal j;
    char below[300];
    (void)snprintf(below, sizeof below, "%s/made", f->folder);
    assert_ok(tacet__journal_open(&j, below, f->settings, NULL)); /* made when missing */
    tacet__journal_close(&j);
    (void)snprintf(below, sizeof below, "%s/no/such", f->folder);
    assert_status(tacet__journal_open(&j, below, f->settings, NULL), TACET_IO);
    assert_int_equal(j.fd, -1);
}

TEST_EACH(setup, teardown)
