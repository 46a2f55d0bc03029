/* SPDX-License-Identifier: Apache-2.0 */
/* test_curate_auto.c - the mechanism a curator takes who names none: the least noise, from public numbers alone, and no
 * delta that was not given. */
#include "outsourced/shared/release_text.h"
#include "support/test.h"

#include "outsourced/trusted/curate_price.h"
#include "outsourced/trusted/curate_shape.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST = 60 };

static tacet_space_column columns[MOST];
static tacet_space space = {columns, 0};

static tacet_curate_settings settings_for(size_t count, double eps, double delta) {
    tacet_curate_settings s;
    tacet_curate_defaults(&s);
    for (size_t i = 0; i < count; i++) {
        (void)snprintf(columns[i].name, sizeof columns[i].name, "c%zu", i);
        columns[i].others = TACET_SPACE_NONE;
        columns[i].hi = 20;
        columns[i].unit = 1;
    }
    space.count = count;
    s.space = &space;
    s.mechanism = TACET_CURATE_AUTO;
    s.eps = eps;
    s.delta = delta;
    return s;
}

TEST(takes_the_least_noise) {
    static const double DELTAS[] = {0, 1e-5};
    for (size_t count = 1; count <= MOST; count += 7) {
        for (int k = 0; k < 2; k++) {
            tacet_curate_settings s = settings_for(count, 1, DELTAS[k]);
            double own = 0;
            assert_ok(tacet_curate_resolve(&s, NULL));
            assert_ok(tacet__curate_spread(&own, s.mechanism, count, 1, DELTAS[k], NULL));
            assert_true(tacet_curate_law(s.mechanism) != NULL);
            assert_true(k == 1 || (tacet_curate_law(s.mechanism)->pure && s.delta == 0));
            for (int i = 0; tacet_curate_name((tacet_curate_mechanism)i) != NULL; i++) {
                double spread = 0;
                if (tacet__curate_spread(&spread, (tacet_curate_mechanism)i, count, 1, DELTAS[k], NULL) == TACET_OK) {
                    assert_true(own <= spread);
                }
            }
        }
    }
    /* Few columns: Euclidean noise with pure eps, of standard deviation sqrt(d + 1)/eps. Many: one with a delta. */
    tacet_curate_settings s = settings_for(3, 2, 0);
    double spread = 0;
    assert_ok(tacet_curate_resolve(&s, NULL));
    assert_int_equal(s.mechanism, TACET_CURATE_LAPLACE);
    assert_ok(tacet__curate_spread(&spread, TACET_CURATE_LAPLACE, 3, 2, 0, NULL));
    assert_close(spread, 1, 1e-6);
    s = settings_for(50, 1, 1e-5);
    assert_ok(tacet_curate_resolve(&s, NULL));
    assert_int_not_equal(s.mechanism, TACET_CURATE_LAPLACE);
    assert_true(s.delta == 1e-5);
}

TEST(leaves_what_was_named) {
    tacet_curate_settings s = settings_for(3, 1, 1e-5);
    s.mechanism = TACET_CURATE_GAUSSIAN;
    assert_ok(tacet_curate_resolve(&s, NULL));
    assert_int_equal(s.mechanism, TACET_CURATE_GAUSSIAN);
    assert_true(s.delta == 1e-5);
    double spread = 0;
    assert_status(tacet__curate_spread(&spread, TACET_CURATE_PUBLISHED, 3, 1, 1e-5, NULL), TACET_UNSUPPORTED);
    assert_status(tacet__curate_spread(&spread, TACET_CURATE_GAUSSIAN, 3, 1, 0, NULL), TACET_UNSUPPORTED);
    tacet_error err = {0};
    s = settings_for(3, NAN, 0);
    assert_status(tacet_curate_resolve(&s, &err), TACET_INVALID);
    assert_string_equal(err.message, "eps must be above 0"); /* the setting, not what calibration makes of it */
    s = settings_for(3, 1, 1);
    assert_status(tacet_curate_resolve(&s, NULL), TACET_INVALID);
    s = settings_for(3, 1e-320, 0); /* nothing has so much noise */
    assert_status(tacet_curate_resolve(&s, NULL), TACET_INVALID);
}

TEST(more_columns_than_a_release_has_are_refused) {
    enum { TOO_MANY = TACET_MANIFEST_COLUMNS + 1 };
    OWN_MEMORY tacet_space_column *many = calloc(TOO_MANY, sizeof *many);
    OWN_MEMORY tacet__curate_shape *shape = calloc(2, sizeof *shape);
    tacet_space wide = {many, TOO_MANY};
    tacet_curate_settings s = settings_for(1, 1, 0);
    s.mechanism = TACET_CURATE_LAPLACE;
    s.space = &wide;
    for (size_t i = 0; i < TOO_MANY; i++) {
        many[i] = columns[0];
    }
    assert_status(tacet__curate_shape_make(shape, &s, NULL), TACET_INVALID);
    wide.count = 0;
    assert_status(tacet__curate_shape_make(shape, &s, NULL), TACET_INVALID);
    wide.count = TACET_MANIFEST_COLUMNS;
    assert_ok(tacet__curate_shape_make(shape, &s, NULL));
}

/* Rows that come to a table while it is read have no room. */
TEST(a_block_has_no_more_rows_than_were_counted) {
    static const char SPACE[] = "{\"columns\":[{\"name\":\"a\",\"kind\":\"integer\",\"bounds\":[0,9],\"unit\":1}]}";
    static const size_t FIRST = 0;
    OWN_FOLDER const char *top = test_mkdir();
    OWN_MEMORY tacet__curate_shape *shape = calloc(1, sizeof *shape);
    tacet_curate_settings s = settings_for(1, 1, 0);
    OWN_SPACE tacet_space whole;
    assert_ok(tacet_space_decode(&whole, SPACE, sizeof SPACE - 1, NULL));
    s.space = &whole;
    s.mechanism = TACET_CURATE_LAPLACE;
    assert_ok(tacet__curate_shape_make(shape, &s, NULL));
    OWN_TEXT char *path = test_text("%s/t.csv", top);
    test_write(path, "a\n1\n2\n");
    for (size_t most = 1; most <= 2; most++) {
        double records[2] = {-1, -1};
        size_t got = 0;
        tacet_csv *csv = NULL;
        assert_ok(tacet_csv_open_file(&csv, path, NULL, NULL));
        assert_status(tacet__curate_text_rows(shape, csv, &FIRST, records, &got, most, NULL),
                      most == 1 ? TACET_STATE : TACET_OK);
        assert_true(got == most && records[1] == (most == 1 ? -1 : 2));
        tacet_csv_close(csv);
    }
}

/* The manifest says which it is and what the others would have had, on both ways and back from its text. */
TEST(the_manifest_names_the_others) {
    OWN_FOLDER const char *top = test_mkdir();
    OWN_TEXT char *path = test_text("%s/t.csv", top);
    OWN_TEXT char *folder = test_text("%s/out", top);
    OWN_TEXT char *ledger = test_text("%s/l.db", top);
    test_write(path, "c0,c1\n1,2\n3,4\n5,6\n");
    tacet_curate_settings s = settings_for(2, 1, 1e-5);
    tacet_manifest m;
    tacet_manifest again;
    char *text = NULL;
    s.data = path;
    s.folder = folder;
    s.ledger = ledger;
    assert_ok(tacet_curate_rehearse(&m, &s, NULL));
    const double sigma = m.sigma;
    tacet_manifest_clear(&m);
    s.new_budget = "a test";
    assert_ok(tacet_curate_run(&m, &s, NULL));
    assert_close(m.sigma, sigma, 0);
    assert_true(m.other_count >= 1);
    assert_ok(tacet_manifest_encode(&m, &text, NULL));
    assert_ok(tacet_manifest_decode(&again, text, strlen(text), NULL));
    assert_int_equal(again.other_count, m.other_count);
    for (size_t i = 0; i < m.other_count; i++) {
        assert_string_equal(again.others[i].mechanism, m.others[i].mechanism);
        assert_close(again.others[i].sigma, m.others[i].sigma, 0);
        assert_true(m.others[i].sigma > m.sigma);
    }
    free(text);
    tacet_manifest_clear(&again);
    tacet_manifest_clear(&m);
}
