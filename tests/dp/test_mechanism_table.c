/* SPDX-License-Identifier: Apache-2.0 */
/* test_mechanism_table.c - every mechanism has all that it owes, under one name on both sides of the gate; a kind that
 * the table does not know gets no noise and no price. */
#include "support/gate.h"
#include "support/test.h"

#include "dp/mechanisms/table.h"

#include "dp/mechanism.h"
#include "outsourced/trusted/curate_price.h"

static const tacet_neighbours REPLACE = {TACET_RELATION_REPLACE, 0};

TEST(every_mechanism_has_all_that_it_owes) {
    const tacet__kind *k = NULL;
    size_t count = 0;
    for (; (k = tacet__kind_at(count)) != NULL; count++) {
        tacet_mechanism_kind back = 0;
        assert_ptr_equal(tacet__kind_of(k->kind), k);
        assert_ptr_equal(tacet_law_find(k->law->name), k->law);
        assert_ok(tacet_mechanism_of_law(&back, k->law, NULL));
        assert_int_equal(back, k->kind);
        assert_non_null(k->law->words);
        assert_non_null(k->charge);
        const bool adds = k->law->density != TACET_DENSITY_NONE;
        assert_true((k->noise != NULL) == adds && (k->scale != NULL) == adds && (k->law->spread != NULL) == adds);
        assert_true((k->choose != NULL) == !adds);
    }
    assert_null(tacet_law_at(count)); /* no law without a mechanism */
    assert_non_null(tacet_law_at(count - 1));
    assert_null(tacet_law_find("none of these"));
}

/* 1000 draws of each agree with its spread to a tenth (false alarms below 1e-4 for fourth moments up to 6, seed fixed).
 */
TEST(the_spread_is_that_of_the_draws) {
    enum { COUNT = 3, ROWS = 1000 };
    static double out[COUNT * ROWS];
    OWN_NOISE tacet_noise *noise = test_noise(5, 0);
    OWN_BOUND tacet_bound *bound = test_norm(COUNT, 1);
    const tacet__kind *k = NULL;
    for (size_t i = 0; (k = tacet__kind_at(i)) != NULL; i++) {
        if (k->noise == NULL) {
            continue;
        }
        OWN_MECHANISM tacet_mechanism *m = test_mechanism(k->kind, bound, &REPLACE, 1, 1e-5);
        assert_ok(k->noise(m, noise, out, ROWS, NULL));
        double sum = 0;
        for (size_t j = 0; j < (size_t)COUNT * ROWS; j++) {
            sum += out[j] * out[j];
        }
        const double spread = k->law->spread(tacet_mechanism_scale(m), COUNT);
        assert_true(fabs(sqrt(sum / (COUNT * ROWS)) / spread - 1) < 0.1);
    }
}

TEST(a_kind_that_is_not_known_is_an_error_everywhere) {
    static const int UNKNOWN[] = {-1, 0, 99, 1 << 20};
    static const tacet_law STRANGE = {.name = "strange", .words = "", .density = TACET_DENSITY_NORMAL};
    OWN_BOUND tacet_bound *bound = test_norm(2, 1);
    for (size_t i = 0; i < sizeof UNKNOWN / sizeof *UNKNOWN; i++) {
        const tacet_mechanism_kind kind = (tacet_mechanism_kind)UNKNOWN[i];
        tacet_mechanism *m = NULL;
        double scale = 1;
        assert_status(tacet_mechanism_create(&m, kind, bound, &REPLACE, 1, 1e-5, NULL), TACET_INVALID);
        assert_null(m);
        assert_status(tacet_mechanism_scale_for(&scale, kind, 1, 1e-5, 1, 1, NULL), TACET_INVALID);
        assert_true(scale == 0);
        if (UNKNOWN[i] != 0) {
            assert_null(tacet_curate_name((tacet_curate_mechanism)UNKNOWN[i]));
            assert_null(tacet_curate_law((tacet_curate_mechanism)UNKNOWN[i]));
        }
    }
    double scale = 1;
    tacet_mechanism_kind kind = TACET_MECHANISM_KNORM;
    tacet_curate_mechanism form = TACET_CURATE_GAUSSIAN;
    assert_status(tacet_mechanism_scale_for(&scale, TACET_MECHANISM_EXPONENTIAL, 1, 0, 1, 1, NULL), TACET_INVALID);
    assert_status(tacet_mechanism_of_law(&kind, &STRANGE, NULL), TACET_INVALID);
    assert_status(tacet_mechanism_of_law(&kind, NULL, NULL), TACET_INVALID);
    assert_status(tacet_curate_parse(&form, "strange", NULL), TACET_INVALID);
}
