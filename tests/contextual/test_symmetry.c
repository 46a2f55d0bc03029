/* SPDX-License-Identifier: Apache-2.0 */
/* test_symmetry.c - symmetries of a leverage: measured against points and their images, absent where the law, the
 * lengthscales or the cut say so; and certificates by folding against those without. */
#include "support/test.h"

#include "contextual/shared/internal.h"

#include "gp/linalg.h"

#include <tacet/core/simrng.h>

static const double LOWER[4] = {0, 0, 0, 0};
static const double UPPER[4] = {1, 1, 1, 1};

/* Nodes a coordinate. */
static size_t order(void) {
    return test_slow() ? 4 : 6;
}

typedef struct fixture {
    tacet_contextual_basis *basis;
    tacet__contextual_view view;
    double inverse_root[TACET_CONTEXTUAL_FEATURES_MOST];
    tacet__lever lever;
} fixture;

static void begin(fixture *f, const tacet_contextual_space *space, size_t m, double rounds, double tau) {
    assert_ok(tacet_contextual_basis_create(&f->basis, space, 0, NULL));
    m = m > 0 ? m : f->basis->features->m;
    tacet__contextual_view_init(&f->view, f->basis, m);
    for (size_t j = 0; j < m; j++) {
        f->inverse_root[j] = 1 / sqrt(rounds * f->basis->features->eigenvalues[j] + tau);
    }
    f->lever = (tacet__lever){.features = &f->view.features,
                              .inverse_root = f->inverse_root,
                              .tau = tau,
                              .d = f->basis->d,
                              .lengthscale = f->basis->unit_lengthscale};
}

static tacet_contextual_space space_of(unsigned p, size_t actions, size_t contexts, const double *l, size_t count,
                                       size_t per_axis) {
    tacet_contextual_space space;
    tacet_contextual_space_defaults(&space);
    space.kind = p == 0 ? TACET_KERNEL_SE : TACET_KERNEL_MATERN;
    space.matern_p = p;
    space.action_dim = actions;
    space.context_dim = contexts;
    space.lower = LOWER;
    space.upper = UPPER;
    space.lengthscales = l;
    space.lengthscale_count = count;
    space.order = per_axis;
    return space;
}

static double leverage(const fixture *f, const double *w) {
    double u[TACET_CONTEXTUAL_FEATURES_MOST];
    tacet_features_eval(f->lever.features, u, w, f->lever.d, 1);
    tacet__lever_apply(&f->lever, u, 1);
    const double norm = tacet__norm2(u, f->lever.features->m);
    return norm * norm;
}

/* What is said to be a symmetry is one, at random points, to the bound that is charged for it. */
static void compare_images(const fixture *f, const tacet__contextual_symmetry *s) {
    const size_t d = f->lever.d;
    tacet_simrng rng = test_rng(3, 0);
    for (int k = 0; k < 60; k++) {
        double w[4];
        for (size_t c = 0; c < d; c++) {
            w[c] = tacet_simrng_uniform(&rng);
        }
        const double at = leverage(f, w);
        for (size_t c = 0; c < d; c++) {
            double v[4];
            memcpy(v, w, sizeof v);
            v[c] = 1 - w[c];
            assert_true(!s->mirror[c] || fabs(leverage(f, v) - at) <= s->defect);
            memcpy(v, w, sizeof v);
            if (c + 1 < d) {
                v[c] = w[c + 1];
                v[c + 1] = w[c];
            }
            assert_true(!s->exchange[c] || fabs(leverage(f, v) - at) <= s->defect);
        }
    }
}

static void test_found(void **state) {
    const double one = 0.5;
    const double three[3] = {0.5, 0.5, 0.7};
    static fixture f;
    tacet__contextual_symmetry s;
    for (unsigned p = 0; p < 3; p++) {
        tacet_contextual_space space = space_of(p, 2, 1, &one, 1, order());
        begin(&f, &space, p == 0 ? 40 : 0, 1000, 1);
        assert_ok(tacet__lever_symmetry(&s, &f.lever, 0.01, NULL));
        if (p > 0) { /* SE cut at 40 splits a group or not; whatever is claimed must hold */
            assert_true(s.mirror[0] && s.mirror[1] && s.mirror[2] && s.exchange[0] && s.exchange[1] && !s.exchange[2]);
        }
        assert_true(s.defect < 1e-5);
        compare_images(&f, &s);
        tacet_contextual_basis_free(f.basis);
        /* Another lengthscale, another law: fewer symmetries. */
        space = space_of(p, 2, 1, three, 3, order());
        static const double SAMPLE[4] = {0.1, 0.3, 0.8, 0.9}; /* contexts that are no mirror image of themselves */
        space.contexts = SAMPLE;
        space.context_count = 4;
        begin(&f, &space, p == 0 ? 40 : 0, 1000, 1);
        assert_ok(tacet__lever_symmetry(&s, &f.lever, 0.01, NULL));
        assert_true(!s.exchange[1] && !s.mirror[2]);
        assert_true(p == 0 || (s.mirror[0] && s.mirror[1] && s.exchange[0]));
        compare_images(&f, &s);
        tacet_contextual_basis_free(f.basis);
    }
    /* Two of three equal eigenvalues: the cut has no symmetry. */
    const tacet_contextual_space space = space_of(2, 2, 1, &one, 1, order());
    begin(&f, &space, 3, 1000, 1);
    const double *lam = f.basis->features->eigenvalues;
    assert_true(lam[1] - lam[3] < 1e-9 * lam[1]);
    assert_ok(tacet__lever_symmetry(&s, &f.lever, 0.01, NULL));
    /* Which of them is lost depends on the eigenvectors: two of three functions, one of each coordinate, may be closed
     * under all exchanges, or under all mirror images, but not under both. */
    assert_true(!(s.exchange[0] && s.exchange[1] && s.mirror[0] && s.mirror[1] && s.mirror[2]));
    compare_images(&f, &s);
    tacet_contextual_basis_free(f.basis);
    /* A public list of actions that has no mirror image. */
    static const double ACTIONS[3] = {0.1, 0.3, 0.8};
    tacet_contextual_space listed = space_of(2, 1, 1, &one, 1, 8);
    listed.actions = ACTIONS;
    listed.action_count = 3;
    begin(&f, &listed, 0, 1000, 1);
    assert_ok(tacet__lever_symmetry(&s, &f.lever, 0.01, NULL));
    assert_true(!s.mirror[0] && s.mirror[1] && !s.exchange[0]);
    tacet_contextual_basis_free(f.basis);
}

/* Every point's image in the folded box lies in a cell that is kept, and cells are left out. */
static void test_folded_box(void **state) {
    tacet_simrng rng = test_rng(8, 0);
    for (unsigned bits = 0; bits < 32; bits++) {
        const tacet__contextual_symmetry s = {
            .mirror = {(bits & 1U) != 0, (bits & 1U) != 0, (bits & 2U) != 0},
            .exchange = {(bits & 4U) != 0, (bits & 12U) == 12 && (bits & 3U) % 3 == 0}};
        enum { PER_AXIS = 8 };
        size_t kept = 0;
        for (size_t k = 0; k < PER_AXIS * PER_AXIS * PER_AXIS; k++) {
            const double half[3] = {0.5 / PER_AXIS, 0.5 / PER_AXIS, 0.5 / PER_AXIS};
            const double centre[3] = {((double)(k % 8) + 0.5) / 8, ((double)(k / 8 % 8) + 0.5) / 8,
                                      ((double)(k / 64) + 0.5) / 8};
            kept += tacet__contextual_symmetry_keeps(&s, centre, half, 3) ? 1 : 0;
        }
        assert_true(s.mirror[0] || s.mirror[2] || s.exchange[0] ? kept < 512 : kept == 512);
        for (int k = 0; k < 200; k++) {
            double w[3];
            double half[3];
            double centre[3];
            for (size_t c = 0; c < 3; c++) {
                w[c] = k < 8 ? 0.5 * (k >> c & 1) : tacet_simrng_uniform(&rng);
                w[c] = s.mirror[c] && w[c] > 0.5 ? 1 - w[c] : w[c];
            }
            for (size_t pass = 0; pass < 3; pass++) {
                for (size_t c = 0; c < 2; c++) {
                    if (s.exchange[c] && w[c] > w[c + 1]) {
                        const double t = w[c];
                        w[c] = w[c + 1];
                        w[c + 1] = t;
                    }
                }
            }
            for (size_t c = 0; c < 3; c++) {
                const double cell = fmax(ceil(w[c] * PER_AXIS) - 1, 0); /* of two that share the point, the lower */
                half[c] = 0.5 / PER_AXIS;
                centre[c] = (cell + 0.5) / PER_AXIS;
            }
            assert_true(tacet__contextual_symmetry_keeps(&s, centre, half, 3));
        }
    }
}

/* The same operator as L L', which is not folded: both are bounds, near the same largest value, one with fewer cells.
 */
static void test_certificate(void **state) {
    const double l = 0.5;
    static fixture f;
    const tacet_contextual_space space = space_of(1, 2, 1, &l, 1, order());
    tacet_contextual_certificate folded;
    tacet_contextual_certificate whole;
    begin(&f, &space, 0, 300, 10);
    const size_t m = f.lever.features->m;
    double *L = calloc(m * m, sizeof *L);
    for (size_t j = 0; j < m; j++) {
        L[j * m + j] = 1 / f.inverse_root[j];
    }
    tacet__lever other = f.lever;
    other.inverse_root = NULL;
    other.L = L;
    assert_ok(tacet__lever_certify(&folded, &f.lever, NULL, 0, 0.02, 100000, NULL));
    assert_ok(tacet__lever_certify(&whole, &other, NULL, 0, 0.02, 100000, NULL));
    assert_true(folded.cells > 500 && 3 * folded.cells < whole.cells);
    assert_true(folded.upper >= whole.found && whole.upper >= folded.found);
    assert_true(folded.upper <= 1.0201 * folded.found && whole.upper <= 1.0201 * whole.found);
    free(L);
    tacet_contextual_basis_free(f.basis);
}

static void test_no_memory(void **state) {
    const double l = 0.5;
    static fixture f;
    const tacet_contextual_space space = space_of(2, 1, 1, &l, 1, 6);
    begin(&f, &space, 0, 100, 1);
    tacet__contextual_symmetry s;
    assert_each_alloc_fails(tacet__lever_symmetry(&s, &f.lever, 0.01, NULL), !(s.mirror[0] || s.exchange[0]));
    tacet_contextual_basis_free(f.basis);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_found), cmocka_unit_test(test_folded_box),
                                       cmocka_unit_test(test_certificate), cmocka_unit_test(test_no_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
