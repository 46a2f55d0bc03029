/* SPDX-License-Identifier: Apache-2.0 */
/* test_local.c - learners of the local model: conformance, their estimates against a dense solve, and what they refuse.
 */
#include "local/shared/ldp.h"
#include "local/open/internal.h"
#include "local/local_fixture.h"
#include "support/conformance.h"
#include "support/dense.h"

static tacet_status make_foreign(void *user, tacet_policy **out, tacet_error *err) {
    fixture *f = user;
    const tacet_cov_spec cov = {.kernel = f->other};
    return tacet_local_create(out, &f->s, &cov, f->X, 1, N, err);
}

static double value(void *user, size_t k, const tacet_suggestion *suggestion) {
    return report(user, k, suggestion->index);
}

static void conforms(void **state) {
    fixture *f = *state;
    /* Each creation computes the proxy of a hybrid randomiser anew, in milliseconds: one choice does that. */
    const int hybrid = test_slow() ? -1 : TACET_LOCAL_TIGHT;
    for (int algorithm = TACET_LOCAL_UCB; algorithm <= TACET_LOCAL_MOMA; algorithm++) {
        for (int parameters = TACET_LOCAL_LITERAL; parameters <= TACET_LOCAL_TUNED; parameters++) {
            const bool ucb = algorithm == TACET_LOCAL_UCB;
            if (ucb && parameters != TACET_LOCAL_TIGHT && parameters != TACET_LOCAL_TUNED) {
                continue; /* refused */
            }
            for (int mode = 0; mode < (parameters == TACET_LOCAL_LITERAL || (ucb && parameters == hybrid) ? 2 : 1);
                 mode++) {
                f->s.algorithm = (tacet_local_algorithm)algorithm;
                f->s.parameters = (tacet_local_parameters)parameters;
                f->s.lanes = algorithm == TACET_LOCAL_MOMA ? 3 : 0;
                f->s.ldp = mode == 0 ? &f->ldp : NULL;
                const tacet_ldp_kind bounded = parameters == hybrid ? TACET_LDP_HYBRID : TACET_LDP_DUCHI;
                assert_ok(tacet_ldp_init(&f->ldp, ucb ? bounded : TACET_LDP_LAPLACE, 1, -2, 2, NULL));
                const conformance_problem problem = {.create = make,
                                                     .create_foreign = make_foreign,
                                                     .value = value,
                                                     .user = f,
                                                     .rounds = 10,
                                                     .any_order = ucb,
                                                     .tolerance = 1e-9,
                                                     .has_impossible = true,
                                                     .impossible = 1e300};
                test_policy_conformance(&problem);
            }
        }
    }
}

/* The width of tuned parameters in round t, for B = 1 and delta = 0.1. */
static double tuned_width(size_t t) {
    return 0.3 * sqrt(2 * (log(N) + 2 * log((double)t) + log(M_PI * M_PI / 0.6)));
}

static void make_tuned(fixture *f) {
    f->s.parameters = TACET_LOCAL_TUNED;
    f->s.ladder = 1;
    f->s.lambda = f->ldp.duchi * f->ldp.duchi;
}

/* mu = K_t(x)'(K + lambda I)^-1 y over the whole history, round by round, and the arm it would choose. */
static void follow_dense(fixture *f, bool tgp) {
    tacet_policy *policy = NULL;
    assert_ok(make(f, &policy, NULL));
    size_t at[T];
    double values[T];
    double noise[T];
    double mean[N];
    double var[N];
    double gamma = 0;
    size_t truncated = 0;
    const double L = 4 / f->ldp.eps;
    const double c = tgp ? tacet_ldp_variance(&f->ldp) + 1 : f->ldp.duchi * f->ldp.duchi;
    const double lambda = tgp ? 1 : c;
    for (size_t t = 1; t <= T; t++) {
        dense_gp(mean, var, NULL, f->K, N, 0, at, values, noise, t - 1);
        double beta = 0;
        if (tgp) {
            const double b = 2 + L * log((double)t - 1);
            beta = t == 1 ? 1 : 1 + 2 * sqrt(2) * b * sqrt(gamma + log(10)) + sqrt((1 + c) * (log((double)t - 1) + 1));
        } else {
            beta = tuned_width(t);
        }
        tacet_suggestion s;
        assert_close(tacet__local_width(policy), beta, 1e-8 * beta);
        assert_ok(tacet_policy_suggest(policy, &s, NULL, NULL));
        double top = -INFINITY;
        for (size_t j = 0; j < N; j++) {
            top = fmax(top, mean[j] + beta * sqrt(fmax(var[j], 0)));
        }
        assert_close(s.score, top, 1e-6 * (1 + fabs(top)));
        assert_close(mean[s.index] + beta * sqrt(fmax(var[s.index], 0)), top, 1e-6 * (1 + fabs(top)));
        gamma += 0.5 * log1p(var[s.index] / lambda);
        at[t - 1] = s.index;
        noise[t - 1] = lambda;
        /* Now and then a report that is certainly cut. */
        const double y = tgp && t % 7 == 0 ? tacet_ldp_place(&f->ldp, 40 * 32768) : report(f, t, s.index);
        values[t - 1] = tgp && fabs(y) > 2 + L * log((double)t) ? 0 : y;
        truncated += values[t - 1] != y;
        assert_ok(tacet_policy_observe(policy, s.ticket, y, NULL));
    }
    assert_true(!tgp || truncated >= 5);
    tacet_policy_free(policy);
}

static void ucb_is_the_dense_solve(void **state) {
    fixture *f = *state;
    make_tuned(f);
    follow_dense(f, false);
}

static void tgp_is_the_dense_solve(void **state) {
    fixture *f = *state;
    f->s.algorithm = TACET_LOCAL_TGP;
    f->s.parameters = TACET_LOCAL_LITERAL;
    assert_ok(tacet_ldp_init(&f->ldp, TACET_LDP_LAPLACE, 1, -2, 2, NULL));
    follow_dense(f, true);
}

/* Reports come LAG rounds late: the mean is of the reports, the variance of all rounds given, the width of the reports;
 * against dense solves. */
static void late_rounds_count_in_the_variance(void **state) {
    fixture *f = *state;
    enum { LAG = 6 };
    tacet_policy *policy = NULL;
    size_t at[T];
    double values[T], noise[T], mean[N], var[N], unused[N], played[N];
    make_tuned(f);
    assert_ok(make(f, &policy, NULL));
    const double lambda = f->s.lambda;
    for (size_t t = 0; t < T; t++) {
        const size_t in = t > LAG ? t - LAG : 0;
        tacet_suggestion s;
        double top = -INFINITY;
        dense_gp(mean, var, NULL, f->K, N, 0, at, values, noise, in);
        dense_gp(unused, played, NULL, f->K, N, 0, at, values, noise, t);
        const double beta = tuned_width(t + 1);
        assert_ok(tacet_policy_suggest(policy, &s, NULL, NULL));
        for (size_t j = 0; j < N; j++) {
            top = fmax(top, mean[j] + beta * sqrt(fmax(played[j], 0)));
        }
        assert_close(s.score, top, 1e-6 * (1 + fabs(top)));
        assert_close(mean[s.index] + beta * sqrt(fmax(played[s.index], 0)), top, 1e-6 * (1 + fabs(top)));
        at[t] = s.index;
        noise[t] = lambda;
        values[t] = report(f, t, s.index);
        if (t >= LAG) {
            assert_ok(tacet_policy_observe(policy, t - LAG + 1, values[t - LAG], NULL));
        }
    }
    tacet_policy_free(policy);
}

/* An earlier value weighs as one report: a study that begins with it recommends, and goes on, as one that was told it.
 */
static void earlier_values_weigh_as_reports(void **state) {
    fixture *f = *state;
    tacet_policy *told = NULL, *warm = NULL;
    tacet_suggestion s;
    tacet_recommendation a, b;
    tacet_blob bytes;
    f->s.algorithm = TACET_LOCAL_UCB;
    f->s.parameters = TACET_LOCAL_TUNED;
    f->s.ldp = NULL; /* reports are then any number */
    assert_ok(make(f, &told, NULL));
    assert_ok(tacet_policy_suggest(told, &s, NULL, NULL));
    assert_ok(tacet_policy_observe(told, s.ticket, 0.7, NULL));
    const tacet_local_earlier known = {s.index, 0.7};
    f->s.earlier = &known;
    f->s.earlier_count = 1;
    assert_ok(make(f, &warm, NULL));
    assert_ok(tacet_policy_recommend(told, &a, NULL));
    assert_ok(tacet_policy_recommend(warm, &b, NULL));
    assert_int_equal(a.index, b.index);
    assert_close(a.mean, b.mean, 1e-12);
    assert_close(a.sd, b.sd, 1e-12);
    /* Its state is of a study with that value, and of no other. */
    tacet_blob_init(&bytes);
    assert_ok(tacet_policy_suggest(warm, &s, NULL, NULL));
    assert_ok(tacet_policy_observe(warm, s.ticket, 0.1, NULL));
    assert_ok(tacet_policy_save(warm, &bytes, NULL));
    assert_status(tacet_policy_load(told, bytes.data, bytes.size, NULL), TACET_CORRUPT);
    tacet_policy_free(told);
    assert_ok(make(f, &told, NULL));
    assert_ok(tacet_policy_load(told, bytes.data, bytes.size, NULL));
    assert_ok(tacet_policy_recommend(warm, &a, NULL));
    assert_ok(tacet_policy_recommend(told, &b, NULL));
    assert_close(a.mean, b.mean, 0);
    tacet_blob_clear(&bytes);
    tacet_policy_free(told);
    tacet_policy_free(warm);
    f->s.parameters = TACET_LOCAL_TIGHT; /* proven widths rest on reports alone */
    assert_status(make(f, &warm, NULL), TACET_INVALID);
    f->s.earlier = NULL;
    f->s.earlier_count = 0;
}

static void a_ticket_is_reported_once(void **state) {
    fixture *f = *state;
    tacet_policy *policy = NULL;
    tacet_suggestion s;
    assert_ok(make(f, &policy, NULL));
    assert_ok(tacet_policy_suggest(policy, &s, NULL, NULL));
    const double up = tacet_ldp_bit(&f->ldp, true);
    const double down = tacet_ldp_bit(&f->ldp, false);
    assert_status(tacet_policy_observe(policy, 1, 0.5, NULL), TACET_INVALID); /* not a bit */
    assert_status(tacet_policy_observe(policy, 1, NAN, NULL), TACET_INVALID);
    assert_status(tacet_policy_observe(policy, 2, up, NULL), TACET_NOT_FOUND);
    assert_status(tacet_policy_observe(policy, 0, up, NULL), TACET_NOT_FOUND);
    assert_ok(tacet_policy_observe(policy, 1, up, NULL));
    tacet_recommendation once;
    tacet_recommendation twice;
    assert_ok(tacet_policy_recommend(policy, &once, NULL));
    assert_status(tacet_policy_observe(policy, 1, up, NULL), TACET_CONFLICT);
    assert_ok(tacet_policy_recommend(policy, &twice, NULL));
    assert_true(once.mean == twice.mean && once.sd == twice.sd);
    assert_status(tacet_policy_observe(policy, 1, down, NULL), TACET_CONFLICT);
    tacet_policy_free(policy);
}

static void moma_waits_for_its_epoch(void **state) {
    fixture *f = *state;
    tacet_policy *policy = NULL;
    tacet_suggestion s[3];
    tacet_suggestion next;
    f->s.algorithm = TACET_LOCAL_MOMA;
    f->s.lanes = 3;
    assert_ok(make(f, &policy, NULL));
    for (size_t i = 0; i < 3; i++) {
        assert_ok(tacet_policy_suggest(policy, &s[i], NULL, NULL));
        assert_int_equal(s[i].index, s[0].index);
    }
    assert_status(tacet_policy_suggest(policy, &next, NULL, NULL), TACET_STATE);
    for (size_t i = 3; i-- > 0;) {
        assert_ok(tacet_policy_observe(policy, s[i].ticket, tacet_ldp_bit(&f->ldp, i == 1), NULL));
    }
    assert_ok(tacet_policy_suggest(policy, &next, NULL, NULL));
    tacet_policy_free(policy);
}

static void bad_settings(void **state) {
    fixture *f = *state;
    const tacet_local_settings good = f->s;
    tacet_policy *policy = NULL;
#define REFUSED(change)                                                                                                \
    do {                                                                                                               \
        f->s = good;                                                                                                   \
        change;                                                                                                        \
        assert_status(make(f, &policy, NULL), TACET_INVALID);                                                          \
        assert_null(policy);                                                                                           \
    } while (0)
    REFUSED(f->s.bound = 0);
    REFUSED(f->s.bound = NAN);
    REFUSED(f->s.bound = INFINITY);
    REFUSED(f->s.noise_bound = -1);
    REFUSED(f->s.noise_bound = NAN);
    REFUSED(f->s.noise_var = -1);
    REFUSED(f->s.delta = 0);
    REFUSED(f->s.delta = NAN);
    REFUSED(f->s.accuracy = 1);
    REFUSED(f->s.lambda = -1);
    REFUSED(f->s.lambda = NAN);
    REFUSED(f->s.mean = NAN);
    REFUSED(f->s.horizon = 0);
    REFUSED(f->s.lanes = T + 1);
    REFUSED(f->s.algorithm = TACET_LOCAL_MOMA); /* the theorem's lanes do not fit 60 rounds */
    REFUSED(f->s.algorithm = (tacet_local_algorithm)4);
    REFUSED(f->s.parameters = (tacet_local_parameters)4);
    /* No sub-Gaussian width: refused where a guarantee is asked for, played where none is. */
    assert_ok(tacet_ldp_init(&f->ldp, TACET_LDP_LAPLACE, 1, -2, 2, NULL));
    REFUSED(f->s.parameters = TACET_LOCAL_LITERAL);
    REFUSED(f->s.parameters = TACET_LOCAL_TIGHT);
    REFUSED(f->s.parameters = TACET_LOCAL_ORDERWISE); /* of the paper's algorithms alone */
    f->s.parameters = TACET_LOCAL_TUNED;
    assert_ok(make(f, &policy, NULL));
    tacet_policy_free(policy);
    tacet_local_algorithm algorithm;
    tacet_local_parameters parameters;
    for (int i = 0; i < 4; i++) {
        assert_ok(tacet_local_algorithm_parse(&algorithm, tacet_local_algorithm_name((tacet_local_algorithm)i), NULL));
        assert_ok(
            tacet_local_parameters_parse(&parameters, tacet_local_parameters_name((tacet_local_parameters)i), NULL));
        assert_int_equal(algorithm, i);
        assert_int_equal(parameters, i);
    }
    assert_status(tacet_local_algorithm_parse(&algorithm, "UCB", NULL), TACET_INVALID);
    assert_status(tacet_local_parameters_parse(&parameters, "", NULL), TACET_INVALID);
}

/* Rewards in cents instead of euros: means and standard deviations are a hundred times as large, and nothing else. */
static void test_units(void **state) {
    static const double x[3] = {0, 0.5, 1};
    static const double reports[3] = {0.9, -0.4, 1.3};
    tacet_recommendation best[2];
    for (int k = 0; k < 2; k++) {
        const double unit = k == 0 ? 1 : 100;
        tacet_kernel_spec spec;
        tacet_kernel *kernel = NULL;
        tacet_local_settings s;
        tacet_policy *policy = NULL;
        tacet_kernel_spec_defaults(&spec);
        tacet_local_settings_defaults(&s);
        assert_ok(tacet_kernel_create(&kernel, &spec, NULL));
        s.noise_var = 0.04 * unit * unit; /* bare rewards: a randomiser would only admit its own grid */
        s.parameters = TACET_LOCAL_TUNED;
        s.bound = 0.5 * unit;
        s.mean = 0.5 * unit;
        s.horizon = 10;
        assert_ok(tacet_local_create(&policy, &s, &(tacet_cov_spec){.kernel = kernel}, x, 1, 3, NULL));
        assert_ok(tacet_policy_recommend(policy, &best[k], NULL));
        assert_close(best[k].sd, 0.5 * unit, 1e-9 * unit); /* nothing seen: the prior's */
        for (int i = 0; i < 3; i++) {
            tacet_suggestion next;
            assert_ok(tacet_policy_suggest(policy, &next, &(tacet_round){0}, NULL));
            assert_ok(tacet_policy_observe(policy, next.ticket, reports[i] * unit, NULL));
        }
        assert_ok(tacet_policy_recommend(policy, &best[k], NULL));
        tacet_policy_free(policy);
        tacet_kernel_free(kernel);
    }
    assert_int_equal(best[0].index, best[1].index);
    assert_close(best[1].mean, 100 * best[0].mean, 1e-9);
    assert_close(best[1].sd, 100 * best[0].sd, 1e-9);
    assert_true(best[0].sd > 0.05 && best[0].sd < 0.5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_units),
        cmocka_unit_test_setup_teardown(conforms, setup, teardown),
        cmocka_unit_test_setup_teardown(ucb_is_the_dense_solve, setup, teardown),
        cmocka_unit_test_setup_teardown(tgp_is_the_dense_solve, setup, teardown),
        cmocka_unit_test_setup_teardown(late_rounds_count_in_the_variance, setup, teardown),
        cmocka_unit_test_setup_teardown(earlier_values_weigh_as_reports, setup, teardown),
        cmocka_unit_test_setup_teardown(a_ticket_is_reported_once, setup, teardown),
        cmocka_unit_test_setup_teardown(moma_waits_for_its_epoch, setup, teardown),
        cmocka_unit_test_setup_teardown(bad_settings, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
