/* SPDX-License-Identifier: Apache-2.0 */
/* test_manifest.c - manifests written, read again, and refused by the field that is wrong. */
#include "support/test.h"

#include "outsourced/shared/coordinates.h"
#include "outsourced/shared/release_text.h"
#include "support/space.h"

static const tacet_space_column AGE = TEST_REAL("age", 0, 100, 5),
                                ANGER = TEST_REAL("\xc3\xa4rger \"x\"", -1e-300, 0.1, 1.0 / 3);

static tacet_manifest described(const tacet_space_column *first, const tacet_space_column *second) {
    tacet_space_column columns[] = {*first, *second};
    const tacet_space space = {columns, 2};
    tacet_manifest m;
    tacet_manifest_init(&m);
    assert_ok(tacet_manifest_describe(&m, &space, NULL));
    return m;
}

static tacet_manifest example(void) {
    tacet_manifest m = described(&AGE, &ANGER);
    memcpy(m.mechanism, "gaussian", 9);
    m.is_private = true;
    m.eps = 0.1;
    m.delta = 1e-5;
    m.sigma = 3.7304;
    m.grid = 0x1p-20;
    m.rows = 1000000;
    m.queries = 50;
    m.entry = 1;
    memset(m.entry_hash, 'a', 64);
    return m;
}

/* Density proportional to exp(-|v| / 1.5) in two coordinates. */
static void make_laplace(tacet_manifest *m) {
    memcpy(m->mechanism, "laplace", 8);
    m->delta = 0;
    m->scale = 1.5;
    m->sigma = 1.5 * sqrt(3);
}

TEST(test_round_trip) {
    OWN_MANIFEST tacet_manifest m = example();
    tacet_manifest out;
    char *text = NULL;
    for (int k = 0; k < 4; k++) {
        m.is_private = k < 2;
        m.outputs_private = k % 2 == 1;
        if (m.outputs_private) {
            assert_ok(tacet_ldp_init(&m.outputs, TACET_LDP_LAPLACE, 0.7, -3, 4, NULL));
        }
        if (k == 3) {
            memcpy(m.mechanism, "published", 10);
        }
        assert_ok(tacet_manifest_encode(&m, &text, NULL));
        assert_int_equal(strstr(text, TACET_MANIFEST_STAMP) == NULL, m.is_private);
        assert_ok(tacet_manifest_decode(&out, text, strlen(text), NULL));
        assert_string_equal(out.mechanism, m.mechanism);
        assert_true(out.is_private == m.is_private && out.eps == m.eps && out.delta == m.delta &&
                    out.sigma == m.sigma && out.grid == m.grid && out.rows == m.rows && out.dims == m.dims &&
                    out.queries == m.queries && out.entry == m.entry && out.column_count == 2);
        assert_string_equal(out.entry_hash, m.entry_hash);
        for (size_t i = 0; i < 2; i++) {
            assert_string_equal(out.columns[i].name, m.columns[i].name);
            assert_true(out.columns[i].lo == m.columns[i].lo && out.columns[i].hi == m.columns[i].hi &&
                        out.columns[i].unit == m.columns[i].unit);
        }
        assert_int_equal(out.outputs_private, m.outputs_private);
        if (m.outputs_private) {
            assert_true(out.outputs.kind == m.outputs.kind && out.outputs.eps == 0.7 && out.outputs.lo == -3 &&
                        out.outputs.hi == 4);
        }
        free(text);
        tacet_manifest_clear(&out);
    }
}

/* Each: a piece of the good text, what stands there instead, and the field the message must name. */
static const char *const BAD[][3] = {
    {"tacet-release-1", "tacet-release-2", "format"},
    {"\"gaussian\"", "\"cauchy\"", "mechanism"},
    {"\"gaussian\"", "\"laplace\"", "scale"},
    {"\"gaussian\"", "\"projection\"", "mechanism"},
    {"\"gaussian\"", "\"published\"", "private"},
    {"\"private\": true", "\"private\": 1", "private"},
    {"\"eps\": 0.10000000000000001", "\"eps\": -1", "eps"},
    {"\"eps\": 0.10000000000000001", "\"eps\": \"0.1\"", "eps"},
    {"\"eps\"", "\"epsilon\"", "eps"},
    {"\"delta\"", "\"del\"", "delta"},
    {"\"sigma\"", "\"s\"", "sigma"},
    {"\"grid\"", "\"g\"", "grid"},
    {"\"rows\": 1000000", "\"rows\": 0", "rows"},
    {"\"rows\": 1000000", "\"rows\": -5", "rows"},
    {"\"rows\": 1000000", "\"rows\": 1.5", "rows"},
    {"\"rows\": 1000000", "\"rows\": 9223372036854775807", "rows"},
    {"\"dims\": 2", "\"dims\": 100000", "dims"},
    {"\"dims\": 2", "\"dims\": 3", "space"},
    {"\"queries\": 50", "\"queries\": -1", "queries"},
    {"\"columns\": [", "\"columns\": [], \"c\": [", "space"},
    {"\"columns\": [", "\"columns\": [7,", "space"},
    {"\"age\"", "\"ago\"", "space"},
    {"\"space\"", "\"spaces\"", "space"},
    {"\"kind\": \"real\"", "\"kind\": \"reel\"", "kind"},
    {"\"bounds\": [", "\"bounds\": [200,", "bounds"},
    {"\"mechanism\": \"none\"", "\"mechanism\": \"other\",\"eps\":1,\"lower\":0,\"upper\":1", "outputs"},
    {"\"mechanism\": \"none\"", "\"mechanism\": \"hybrid\",\"eps\":1,\"lower\":1,\"upper\":0", "outputs"},
    {"\"mechanism\": \"none\"", "\"mechanism\": \"hybrid\"", "eps"},
    {"\"entry\": 1", "\"entry\": -1", "entry"},
    {"\"hash\": \"", "\"hash\": \"bb", "hash"},
};

static const char *const BAD_LAPLACE[][3] = {
    {"\"scale\": 1.5", "\"scale\": 0.0", "scale"},
    {"\"scale\": 1.5", "\"scale\": \"1.5\"", "scale"},
    {"\"scale\"", "\"theta\"", "scale"},
    {"\"scale\": 1.5", "\"scale\": 1.50001", "sigma"},
    {"\"delta\": 0.0", "\"delta\": 1e-5", "delta"},
    {"\"dims\": 2", "\"dims\": 3", "space"},
};

static void bad_fields(const tacet_manifest *m, const char *const (*bad)[3], size_t count) {
    OWN_TEXT char *text = NULL;
    assert_ok(tacet_manifest_encode(m, &text, NULL));
    for (size_t k = 0; k < count; k++) {
        tacet_manifest out;
        tacet_error err = {0};
        const char *at = strstr(text, bad[k][0]);
        if (at == NULL) {
            print_error("case %zu is not in the text\n%s\n", k, text);
        }
        assert_non_null(at);
        OWN_TEXT char *changed = test_text("%.*s%s%s", (int)(at - text), text, bad[k][1], at + strlen(bad[k][0]));
        OWN_TEXT char *field = test_text("'%s'", bad[k][2]);
        const tacet_status status = tacet_manifest_decode(&out, changed, strlen(changed), &err);
        if (status != TACET_PARSE || strstr(err.message, field) == NULL) {
            print_error("case %zu: %s\n", k, err.message);
        }
        assert_status(status, TACET_PARSE);
        assert_non_null(strstr(err.message, field));
        assert_null(out.columns);
    }
}

TEST(test_bad_fields) {
    OWN_MANIFEST tacet_manifest m = example();
    bad_fields(&m, BAD, sizeof BAD / sizeof BAD[0]);
    make_laplace(&m);
    bad_fields(&m, BAD_LAPLACE, sizeof BAD_LAPLACE / sizeof BAD_LAPLACE[0]);
}

/* The law of the noise is read back; what other mechanisms write does not have it. */
TEST(test_laplace) {
    OWN_MANIFEST tacet_manifest m = example();
    tacet_manifest out;
    char *text = NULL;
    assert_ok(tacet_manifest_encode(&m, &text, NULL));
    assert_null(strstr(text, "scale"));
    assert_ok(tacet_manifest_decode(&out, text, strlen(text), NULL));
    assert_true(out.scale == 0);
    tacet_manifest_clear(&out);
    free(text);
    make_laplace(&m);
    assert_ok(tacet_manifest_encode(&m, &text, NULL));
    assert_ok(tacet_manifest_decode(&out, text, strlen(text), NULL));
    assert_string_equal(out.mechanism, "laplace");
    assert_true(out.scale == 1.5 && out.sigma == m.sigma && out.delta == 0 && out.is_private);
    tacet_manifest_clear(&out);
    free(text);
    text = tacet_manifest_protects(&m);
    assert_non_null(strstr(text, "at eps = 0.1, delta = 0"));
    assert_non_null(strstr(text, "over its numbers)."));
    free(text);
    m.scale = NAN;
    assert_status(tacet_manifest_encode(&m, &text, NULL), TACET_INVALID);
    assert_null(text);
}

TEST(test_not_json) {
    static const char *const TEXTS[] = {"", "{", "[]", "null", "7", "{}", "{\"format\":\"tacet-release-1\",}", "\xff"};
    tacet_manifest out;
    for (size_t k = 0; k < sizeof TEXTS / sizeof TEXTS[0]; k++) {
        assert_status(tacet_manifest_decode(&out, TEXTS[k], strlen(TEXTS[k]), NULL), TACET_PARSE);
        assert_null(out.columns);
    }
    /* Cut off at any byte but the closing newline. */
    OWN_MANIFEST tacet_manifest m = example();
    OWN_TEXT char *text = NULL;
    assert_ok(tacet_manifest_encode(&m, &text, NULL));
    assert_int_equal(text[strlen(text) - 1], '\n');
    for (size_t n = 0; n < strlen(text) - 1; n++) {
        assert_status(tacet_manifest_decode(&out, text, n, NULL), TACET_PARSE);
    }
}

TEST(test_unwritable) {
    tacet_manifest m = example();
    char *text = NULL;
    memcpy(m.space.columns[0].name, "\xe4ge", 4);
    assert_status(tacet_manifest_encode(&m, &text, NULL), TACET_INVALID);
    assert_null(text);
    tacet_manifest_clear(&m);
    m = example();
    m.sigma = NAN;
    assert_status(tacet_manifest_encode(&m, &text, NULL), TACET_INVALID);
    assert_null(text);
    tacet_manifest_clear(&m);
}

/* The sentence that `make` writes has all these pieces, up to a NULL. */
static void says(char *(*make)(const tacet_manifest *), const tacet_manifest *m, const char *const *pieces) {
    OWN_TEXT char *text = make(m);
    assert_non_null(text);
    for (; *pieces != NULL; pieces++) {
        if (strstr(text, *pieces) == NULL) {
            print_error("'%s' is not in: %s\n", *pieces, text);
        }
        assert_non_null(strstr(text, *pieces));
    }
}
#define SAYS(what, m, ...) says(tacet_manifest_##what, m, (const char *const[]){__VA_ARGS__, NULL})

TEST(test_sentences) {
    OWN_MANIFEST tacet_manifest m = example();
    SAYS(protects, &m, "5 in age or 0.333333 in \xc3\xa4rger", "eps = 0.1");
    m.is_private = false;
    SAYS(protects, &m, "Nothing is protected");
    SAYS(uncovered, &m, "Measured values are not protected", "can tell about its record what the release hides");
    m.outputs_private = true;
    assert_ok(tacet_ldp_init(&m.outputs, TACET_LDP_HYBRID, 0.5, 0, 1, NULL));
    SAYS(uncovered, &m, "eps = 0.5 each");
    /* Six digits, rounded so that no more is claimed than holds: units down, eps and delta up. */
    m.outputs_private = false;
    m.is_private = true;
    m.space.columns[0].unit = 2.0 / 3;
    m.eps = 1.2345674;
    m.delta = 1.00000001e-5;
    SAYS(protects, &m, ") at eps = 1.23457, delta = 1.00001e-05;", "0.666666 in age");
    m.eps = 1.2345614;
    m.space.columns[0].unit = 1;
    SAYS(protects, &m, "eps = 1.23457,", "alone: 1 in age");
    /* As many columns as are allowed, with the longest names: cut, never overrun. */
    static tacet_space_column many[TACET_SPACE_COLUMNS];
    const tacet_space space = {many, TACET_SPACE_COLUMNS};
    for (size_t i = 0; i < TACET_SPACE_COLUMNS; i++) {
        many[i] = (tacet_space_column)TEST_REAL("", 0, 1, 1.0 / 3);
        memset(many[i].name, 'x', TACET_SPACE_NAME - 1);
        many[i].name[0] = (char)('a' + i % 26);
        many[i].name[1] = (char)('a' + i / 26);
    }
    assert_ok(tacet_manifest_describe(&m, &space, NULL));
    OWN_TEXT char *text = tacet_manifest_protects(&m);
    assert_true(strlen(text) < 65536);
}

/* eps of one unit and eps of any change stand in one sentence; where they are the same there is one. */
TEST(the_claim_has_both_numbers) {
    OWN_MANIFEST tacet_manifest m = example();
    m.delta = 0;
    m.eps = 3;
    m.eps_at[TACET_MANIFEST_DISTANCES - 1] = 85.60001;
    char *text = tacet_manifest_claim(&m);
    assert_string_equal(text,
                        "The release hides a change of one row by one unit (alone: 5 in "
                        "age or 0.333333 in \xc3\xa4rger \"x\") at eps = 3, delta = 0, and any other change within the "
                        "bounds, up to one row becoming any other, only at eps = 85.6001.");
    char *more = tacet_manifest_protects(&m);
    assert_memory_equal(more, text, strlen(text));
    free(more);
    free(text);
    m.eps_at[TACET_MANIFEST_DISTANCES - 1] = 3;
    SAYS(claim, &m, "hides any change of one row within the bounds at eps = 3,");
    m.eps_at[TACET_MANIFEST_DISTANCES - 1] = NAN;
    SAYS(claim, &m, "of any other change it says nothing");
}

TEST(test_no_memory) {
    OWN_MANIFEST tacet_manifest m = example();
    OWN_TEXT char *good = NULL;
    assert_ok(tacet_manifest_encode(&m, &good, NULL));
    for (long n = 1;; n++) {
        char *text = NULL;
        tacet_manifest out;
        fail_alloc_after(n);
        const tacet_status encoded = tacet_manifest_encode(&m, &text, NULL);
        const tacet_status decoded = tacet_manifest_decode(&out, good, strlen(good), NULL);
        const int hit = fail_alloc_hit();
        fail_alloc_after(0);
        assert_int_equal(encoded == TACET_OK, text != NULL);
        assert_int_equal(decoded == TACET_OK, out.columns != NULL);
        free(text);
        tacet_manifest_clear(&out);
        if (!hit) {
            assert_ok(encoded);
            assert_ok(decoded);
            break;
        }
        assert_true(encoded == TACET_NO_MEMORY || decoded == TACET_NO_MEMORY);
    }
}

static void hear(const char *words, void *user) {
    char *all = user;
    (void)snprintf(all + strlen(all), 2048 - strlen(all), "%s\n", words);
}

TEST(settings_that_hide_little_or_much_are_warned_of) {
    char all[2048] = "";
    OWN_MANIFEST tacet_manifest m = example();
    m.sigma = 1;
    m.delta = 0;
    tacet_manifest_warn(&m, hear, all);
    assert_string_equal(all,
                        "the noise in '\xc3\xa4rger \"x\"' is 333 % of the width of its bounds: what varies over less "
                        "than that cannot be seen\n");
    all[0] = '\0';
    m.column_count = 1;
    m.eps = 11;
    m.delta = 1e-3;
    m.sigma = 6;
    tacet_manifest_warn(&m, hear, all);
    assert_non_null(strstr(all, "eps = 11 is above 10"));
    assert_non_null(strstr(all, "delta = 0.001 is above 1/(10 n) = 1e-07 for 1000000 records"));
    assert_non_null(strstr(all, "the noise is 6 units"));
    all[0] = '\0';
    m.is_private = false;
    tacet_manifest_warn(&m, hear, all);
    assert_string_equal(all, "");
}
