/* SPDX-License-Identifier: Apache-2.0 */
/* test_card.c - a card of one coordinate, one node and one feature, by hand: what is opened, which arm has the best
 * score, and the order of the directions for a record. */
#include "central/shared/embed.h"
#include "local/shared/card.h"
#include "local/shared/ldp.h"
#include "support/test.h"

#include <math.h>
#include <string.h>

enum { CELLS = 256, DIM = 2, AFTER = 300 };

/* Everything of a card, to be changed before it is written. */
typedef struct parts {
    size_t d, released, terms;
    bool minimize, informed;
    double lo, eps, width;
    double lower, upper, inverse, levels, matern[12], Z, A, theta[2], cov[3];
} parts;

static parts plain(void) {
    return (parts){.d = 1, .released = 1, .eps = 1, .width = 1, .lower = -1, .upper = 3, .inverse = 1, .A = 0.5};
}

/* As it comes over the wire. */
static tacet_status opened(tacet_statistics_card **out, const parts *p) {
    const tacet_statistics_card card = {.d = p->d,
                                        .features = 1,
                                        .released = p->released,
                                        .nodes = 1,
                                        .terms = p->terms,
                                        .minimize = p->minimize,
                                        .informed = p->informed,
                                        .lo = p->lo,
                                        .hi = 1,
                                        .width = p->width,
                                        .sphere.seed = 5,
                                        .lower = &p->lower,
                                        .upper = &p->upper,
                                        .inverse = &p->inverse,
                                        .levels = &p->levels,
                                        .matern = p->matern,
                                        .Z = &p->Z,
                                        .A = &p->A,
                                        .theta = p->theta,
                                        .cov = p->cov};
    OWN_BLOB tacet_blob bytes;
    tacet_blob_init(&bytes);
    assert_ok(tacet__statistics_card_write(&card, p->eps, &bytes, NULL));
    return tacet_statistics_card_open(out, bytes.data, bytes.size, NULL);
}

static tacet_statistics_card *card_of(const parts *p) {
    tacet_statistics_card *card = NULL;
    assert_ok(opened(&card, p));
    return card;
}

static void refused(const parts *p) {
    tacet_statistics_card *card = NULL;
    assert_status(opened(&card, p), TACET_CORRUPT);
    assert_null(card);
}

TEST(only_a_sensible_card_is_opened) {
    parts p = plain();
    p.levels = 1e6;
    tacet_statistics_card_free(card_of(&p));
    for (int k = 0; k < 12; k++) {
        p = plain();
        switch (k) {
        case 0:
            p.d = 0;
            break;
        case 1:
            p.released = 0;
            break;
        case 2:
            p.released = 2;
            break;
        case 3:
            p.eps = 33;
            break;
        case 4:
            p.lo = 1;
            break;
        case 5:
            p.terms = 12;
            break;
        case 6:
            p.width = NAN;
            break;
        case 7:
            p.cov[2] = INFINITY;
            break;
        case 8:
            p.upper = p.lower;
            break;
        case 9:
            p.inverse = 0;
            break;
        case 10:
            p.levels = -1;
            break;
        default:
            p.levels = 1e6 + 1;
            break;
        }
        refused(&p);
    }
}

static size_t chosen(const parts *p) {
    static const double ARMS[] = {0, 1};
    tacet_statistics_card *card = card_of(p);
    tacet_simrng coin = test_rng(1, 1);
    size_t out = 9;
    assert_ok(tacet_statistics_card_choose(card, &out, &coin, ARMS, 1, 2, NULL));
    tacet_statistics_card_free(card);
    return out;
}

/* Features 1 and .607: variances 1 - 1.2 phi + phi^2/2, .3 and .456. Whatever is wrong with the last number of the
 * covariances or with the double weight of those between two features has the other arm. */
TEST(the_best_score_is_chosen) {
    parts p = plain();
    p.informed = true;
    p.A = 1;
    memcpy(p.cov, (double[]){1, -0.6, 0.5}, sizeof p.cov);
    assert_int_equal(chosen(&p), 1);
    p.cov[2] = 1; /* .8 and .64 */
    assert_int_equal(chosen(&p), 0);
    /* A covariance below zero counts as none: by the mean alone. */
    memcpy(p.cov, (double[]){-1, 0, 0}, sizeof p.cov);
    p.theta[1] = -1;
    assert_int_equal(chosen(&p), 1);
}

/* The order for a record of feature phi and reward v in [0, 1]; and that nothing but `work` is written, and all of it
 * wiped. */
static void has_feature(const parts *p, double x, double reward, double phi, double v) {
    static double work[2 * (DIM + 1) + CELLS + DIM + 2 + AFTER];
    uint32_t found[CELLS], expected[CELLS];
    double record[DIM];
    tacet_statistics_card *card = card_of(p);
    const size_t size = sizeof work / sizeof *work - AFTER;
    assert_int_equal(card->sphere.dim, DIM);
    assert_int_equal(tacet__statistics_card_work(card), size);
    for (size_t i = 0; i < size + AFTER; i++) {
        work[i] = 7;
    }
    for (uint64_t round = 1; round <= 20; round++) {
        tacet__statistics_card_order(card, found, work, round, &x, reward);
        for (size_t i = 0; round == 1 && i < size + AFTER; i++) {
            assert_true(work[i] == (i < size ? 0 : 7));
        }
        tacet__embed(record, &phi, 1, v, 0, 1);
        tacet_sphere_order(&card->sphere, expected, work, round, record);
        assert_memory_equal(found, expected, sizeof found);
    }
    tacet_statistics_card_free(card);
}

/* Nothing later brings a record into the unit ball, for which the noise is. */
TEST(a_reward_outside_its_range_is_clipped) {
    const parts p = plain();
    has_feature(&p, 0.5, 7, 0.5 * exp(-0.125), 1);
    has_feature(&p, 0.5, -9, 0.5 * exp(-0.125), 0);
    has_feature(&p, 0.5, INFINITY, 0.5 * exp(-0.125), 1);
    has_feature(&p, 0.5, NAN, 0.5 * exp(-0.125), 0.5);
}

TEST(a_record_is_of_its_point_in_the_box) {
    parts p = plain();
    has_feature(&p, 0.5, 0.25, 0.5 * exp(-0.125), 0.25);
    has_feature(&p, -4, 0.25, 0.5 * exp(-0.5), 0.25); /* clipped to -1 */
    p.Z = 2;
    has_feature(&p, 7, 0.25, 0.5 * exp(-0.5), 0.25);   /* to 3 */
    has_feature(&p, NAN, 0.25, 0.5 * exp(-0.5), 0.25); /* the middle, 1 */
    p.levels = 3;                                      /* -1, 1 and 3 */
    has_feature(&p, 0.1, 0.25, 0.5 * exp(-0.5), 0.25);
    has_feature(&p, -0.1, 0.25, 0.5 * exp(-4.5), 0.25);
    has_feature(&p, 2.1, 0.25, 0.5 * exp(-0.5), 0.25);
    p = plain();
    p.minimize = true;
    has_feature(&p, 0, 0.25, 0.5, 0.75);
}

TEST(correlations_are_at_most_1_and_finite) {
    parts p = plain();
    p.terms = 2; /* (1 + s) e^-s, s = sqrt(3) r */
    p.matern[0] = p.matern[1] = 1;
    has_feature(&p, 0.5, 0.25, 0.5 * (1 + sqrt(0.75)) * exp(-sqrt(0.75)), 0.25);
    p.matern[0] = 2;
    has_feature(&p, 0, 0.25, 0.5, 0.25);
    p.Z = 1e300; /* its square is not finite */
    has_feature(&p, 0, 0.25, 0, 0.25);
}
