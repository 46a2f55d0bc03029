/* SPDX-License-Identifier: Apache-2.0 */
/* test_pld.c - the numerical accountant against closed forms: never below them, and close. Nothing is random. */
#include "support/test.h"

#include <tacet/dp/open/calibrate.h>
#include <tacet/dp/open/l2.h>
#include <tacet/dp/open/pld.h>

/* Gaussian mechanisms compose to one Gaussian mechanism. */
static void gaussians_compose_to_a_gaussian(void **state) {
    static const struct {
        double mu;
        uint64_t times;
    } CASES[] = {{1, 1}, {0.3, 10}, {0.1, 300}};
    for (size_t i = 0; i < 3; i++) {
        tacet_pld *p = NULL;
        double exact = 0;
        assert_ok(tacet_pld_create(&p, 20, 2000, NULL));
        assert_ok(tacet_pld_gaussian(p, CASES[i].mu, CASES[i].times, NULL));
        assert_ok(tacet_gdp_eps(&exact, CASES[i].mu * sqrt((double)CASES[i].times), 1e-5, NULL));
        const double eps = tacet_pld_eps(p, 1e-5);
        if (!(eps >= exact * (1 - 1e-9) && eps < exact * 1.01)) {
            print_error("mu %g x %d: %.9g, exact %.9g\n", CASES[i].mu, (int)CASES[i].times, eps, exact);
        }
        assert_true(eps >= exact * (1 - 1e-9));
        assert_true(eps < exact * 1.01);
        tacet_pld_free(p);
    }
}

/* k runs of a pure mechanism: the loss is a sum of coins, delta a sum over how they fell (Kairouz, Oh, Viswanath 2015).
 */
static void pure_mechanisms_compose_optimally(void **state) {
    enum { RUNS = 30 };
    const double eps0 = 0.1;
    tacet_pld *p = NULL;
    assert_ok(tacet_pld_create(&p, 5, 1000, NULL)); /* eps0 is on the grid */
    assert_ok(tacet_pld_approx(p, eps0, 0, RUNS, NULL));
    for (double eps = 0.1; eps < 3; eps += 0.3) {
        double exact = 0;
        for (int k = 0; k <= RUNS; k++) { /* k coins the likely way: loss (2k - RUNS) eps0 */
            const double loss = (2 * k - RUNS) * eps0;
            if (loss > eps) {
                exact +=
                    exp(lgamma(RUNS + 1) - lgamma(k + 1) - lgamma(RUNS - k + 1) + k * eps0 - RUNS * log1p(exp(eps0))) *
                    -expm1(eps - loss);
            }
        }
        const double delta = tacet_pld_delta(p, eps);
        assert_true(delta >= exact && delta <= exact * (1 + 1e-6) + 1e-8);
    }
    tacet_pld_free(p);
}

/* Figures that another accountant's tests publish (dp_accounting of github.com/google/differential-privacy: Laplace
 * noise and (eps, delta) from pld/accountant_test.py and pld_privacy_accountant_test.py, Gaussian noise from these and
 * privacy_loss_distribution_test.py), each to the digits that are published. */
static void published_figures_are_met(void **state) {
    /* The least Laplace scale for 20 and 500 queries of sensitivity 1 at eps = 1, delta = 1e-4: 13.6 and 71.0, to 0.1.
     */
    static const struct {
        double scale;
        uint64_t queries;
    } LAPLACE[] = {{13.6, 20}, {71.0, 500}};
    for (size_t i = 0; i < 2; i++) {
        for (int side = -1; side <= 1; side += 2) {
            tacet_pld *p = NULL;
            assert_ok(tacet_pld_create(&p, 4, 4000, NULL));
            assert_ok(tacet_pld_laplace(p, 1 / (LAPLACE[i].scale + 0.1 * side), LAPLACE[i].queries, NULL));
            assert_true(side > 0 ? tacet_pld_eps(p, 1e-4) <= 1 : tacet_pld_eps(p, 1e-4) > 1);
            tacet_pld_free(p);
        }
    }
    /* delta of Gaussian noise: sd 20, 400 times, eps 3; sd sqrt 3, 3 times, eps 1; sd 10, sensitivity 6, 25 times. */
    static const struct {
        double mu, eps, delta, digit;
        uint64_t times;
    } GAUSSIAN[] = {
        {1.0 / 20, 3, 0.00153, 1e-5, 400}, {0.5773502691896258, 1, 0.126936, 1e-6, 3}, {0.6, 1, 0.78760074, 1e-8, 25}};
    for (size_t i = 0; i < 3; i++) {
        tacet_pld *p = NULL;
        double exact = 0;
        assert_ok(tacet_pld_create(&p, 16, 8000, NULL));
        assert_ok(tacet_pld_gaussian(p, GAUSSIAN[i].mu, GAUSSIAN[i].times, NULL));
        assert_ok(tacet_gdp_delta(&exact, GAUSSIAN[i].mu * sqrt((double)GAUSSIAN[i].times), GAUSSIAN[i].eps, NULL));
        assert_true(fabs(exact - GAUSSIAN[i].delta) <= GAUSSIAN[i].digit);
        const double delta = tacet_pld_delta(p, GAUSSIAN[i].eps);
        assert_true(delta >= exact * (1 - 1e-9) && delta <= exact * 1.002);
        tacet_pld_free(p);
    }
    /* (1, 0.1) and (2, 0.2): delta = 0.28 at eps = 3, and nothing less. */
    tacet_pld *p = NULL;
    assert_ok(tacet_pld_create(&p, 4, 4000, NULL));
    assert_ok(tacet_pld_approx(p, 1, 0.1, 1, NULL));
    assert_ok(tacet_pld_approx(p, 2, 0.2, 1, NULL));
    assert_true(tacet_pld_delta(p, 3) >= 0.28 - 1e-12 &&
                tacet_pld_delta(p, 3.002) <= 0.28 * (1 + 1e-6)); /* two steps */
    tacet_pld_free(p);
}

/* Different kinds together cost less than their eps added up, more than any of them; Laplace less than what is known of
 * its eps alone. */
static void kinds_are_added_up(void **state) {
    tacet_pld *p = NULL, *known = NULL;
    double alone = 0;
    assert_ok(tacet_pld_create(&p, 12, 1500, NULL));
    assert_ok(tacet_pld_create(&known, 12, 1500, NULL));
    assert_ok(tacet_pld_gaussian(p, 0.3, 1, NULL));
    assert_ok(tacet_pld_gaussian(known, 0.3, 1, NULL));
    assert_ok(tacet_gdp_eps(&alone, 0.3, 1e-5, NULL));
    assert_ok(tacet_pld_laplace(p, 0.2, 20, NULL));
    assert_ok(tacet_pld_approx(known, 0.2, 0, 20, NULL));
    const double eps = tacet_pld_eps(p, 1e-5);
    assert_true(eps > alone && eps < alone + 20 * 0.2);
    assert_true(eps < tacet_pld_eps(known, 1e-5));
    assert_ok(tacet_pld_approx(p, 0.1, 1e-6, 1, NULL));
    assert_true(tacet_pld_delta(p, 12) >= 1e-6); /* a delta stays */
    tacet_pld_free(p);
    tacet_pld_free(known);
}

/* Two runs of one mechanism by quadrature over the loss of the first: delta(eps) = E delta_1(eps - L), where delta_1 of
 * less than 0 follows from the symmetry of the pair. Noise of scale 1, moved by t along the first coordinate. */
static double both_sides(double (*curve)(double t, double eps), double t, double eps) {
    return eps >= 0 ? curve(t, eps) : 1 - exp(eps) + exp(eps) * curve(t, -eps);
}

static double laplace_once(double t, double eps) {
    return eps >= t ? 0 : -expm1(0.5 * (eps - t));
}

/* The loss is t or -t beyond the two centres, t - 2 x between them. */
static double laplace_twice(double t, double eps) {
    enum { CELLS = 20000 };
    double sum = 0.5 * both_sides(laplace_once, t, eps - t) + 0.5 * exp(-t) * both_sides(laplace_once, t, eps + t);
    for (int i = 0; i < CELLS; i++) {
        const double x = t * (i + 0.5) / CELLS;
        sum += 0.5 * exp(-x) * t / CELLS * both_sides(laplace_once, t, eps - (t - 2 * x));
    }
    return sum;
}

/* In five dimensions a coordinate s of a point of the sphere has density 3/4 (1 - s^2), and the radius r^4 exp(-r)/24:
 * the mean over (r, s) of what is left of the loss |v - t e| - r. */
static double space_mean(double t, double eps, double (*of)(double t, double eps)) {
    enum { RADII = 800, HEIGHTS = 200 };
    static const double FAR = 40;
    double sum = 0;
    for (int i = 0; i < RADII; i++) {
        const double r = FAR * (i + 0.5) / RADII;
        double inner = 0;
        for (int j = 0; j < HEIGHTS; j++) {
            const double s = 2 * (j + 0.5) / HEIGHTS - 1;
            inner += 0.75 * (1 - s * s) * of(t, eps - (sqrt(r * r - 2 * r * s * t + t * t) - r));
        }
        sum += pow(r, 4) / 24 * exp(-r) * (FAR / RADII) * inner * 2 / HEIGHTS;
    }
    return sum;
}

static double positive_part(double t, double eps) {
    return eps < 0 ? -expm1(eps) : 0;
}

enum { TABLE = 200 };
static double table[TABLE + 1]; /* of one run, at i t / TABLE */

static double space_once(double t, double eps) {
    const double at = fmin(eps / t, 1) * TABLE;
    const int i = (int)fmin(at, TABLE - 1);
    return table[i] + (table[i + 1] - table[i]) * (at - i);
}

static double space_again(double t, double eps) {
    return both_sides(space_once, t, eps);
}

static void two_runs_are_what_quadrature_says(void **state) {
    static const double EPS[] = {0, 0.2, 0.7, 1.1, 1.4};
    const double t = 0.8;
    tacet_pld *laplace = NULL, *space = NULL;
    assert_ok(tacet_pld_create(&laplace, 2, 2000, NULL));
    assert_ok(tacet_pld_laplace(laplace, t, 2, NULL));
    assert_ok(tacet_pld_create(&space, 2, 250, NULL));
    assert_ok(tacet_pld_l2(space, 1, t, 5, 2, NULL));
    for (int i = 0; i <= TABLE; i++) {
        table[i] = i == TABLE ? 0 : space_mean(t, i * t / TABLE, positive_part);
    }
    for (size_t i = 0; i < 5; i++) {
        const double one = laplace_twice(t, EPS[i]), other = space_mean(t, EPS[i], space_again);
        const double got = tacet_pld_delta(laplace, EPS[i]), in_space = tacet_pld_delta(space, EPS[i]);
        if (getenv("TACET_SHOW") != NULL) {
            print_message("eps %g: laplace %.9g exact %.9g; space %.9g quadrature %.9g\n", EPS[i], got, one, in_space,
                          other);
        }
        assert_true(got >= one * (1 - 1e-6) && got <= one * 1.001 + 1e-6);
        assert_true(in_space >= other * (1 - 1e-4) && in_space <= other * 1.01);
        assert_true(in_space < got); /* the sphere's noise tells less than the line's, of the same pure eps */
    }
    tacet_pld_free(laplace);
    tacet_pld_free(space);
}

/* Laplace noise on two numbers, moved by a and b, tells at most what it does on one moved by a + b: by quadrature over
 * the loss of the one. */
static void laplace_noise_is_worst_on_one_number(void **state) {
    enum { CELLS = 20000 };
    const double a = 0.3, b = 0.5;
    for (double eps = 0; eps < a + b; eps += 0.1) {
        double sum = 0.5 * both_sides(laplace_once, b, eps - a) + 0.5 * exp(-a) * both_sides(laplace_once, b, eps + a);
        for (int i = 0; i < CELLS; i++) {
            const double x = a * (i + 0.5) / CELLS;
            sum += 0.5 * exp(-x) * a / CELLS * both_sides(laplace_once, b, eps - (a - 2 * x));
        }
        assert_true(sum <= laplace_once(a + b, eps));
    }
}

/* Euclidean noise: on a line it is Laplace noise; in any dimension, once, it is what its certified delta says, at the
 * points that were computed and, within the grid, between them. */
static void euclidean_noise_is_added_up(void **state) {
    static const double EPS[] = {0, 0.5, 1.1, 1.7, 2.3};
    tacet_pld *p = NULL, *laplace = NULL;
    assert_ok(tacet_pld_create(&p, 12, 1500, NULL));
    assert_ok(tacet_pld_create(&laplace, 12, 1500, NULL));
    assert_ok(tacet_pld_l2(p, 2.5, 0.5, 1, 20, NULL)); /* of pure eps 0.2 */
    assert_ok(tacet_pld_laplace(laplace, 0.2, 20, NULL));
    for (size_t i = 0; i < 5; i++) {
        assert_close(tacet_pld_delta(p, EPS[i]), tacet_pld_delta(laplace, EPS[i]), 1e-12);
    }
    tacet_pld_free(p);
    tacet_pld_free(laplace);
    static const size_t STEPS[] = {100, 4000}; /* up to 400 points: every place, or some */
    for (size_t k = 0; k < 2; k++) {
        assert_ok(tacet_pld_create(&p, 12, STEPS[k], NULL));
        assert_ok(tacet_pld_l2(p, 0.5, 1.25, 6, 1, NULL)); /* of pure eps 2.5 */
        for (size_t i = 1; i < 5; i++) {
            double once = 0;
            assert_ok(tacet_l2_delta(&once, 0.5, EPS[i], 1.25, 6, NULL));
            assert_true(tacet_pld_delta(p, EPS[i]) >= once * (1 - 1e-6));
            assert_true(tacet_pld_delta(p, EPS[i]) <= once * (k == 0 ? 1.2 : 1.01) + (k == 0 ? 1e-3 : 1e-6));
        }
        assert_true(tacet_pld_delta(p, 2.7) <= 1e-9); /* beyond the pure eps nothing is left */
        tacet_pld_free(p);
    }
    assert_ok(tacet_pld_create(&p, 1, 100, NULL)); /* a grid that ends before the pure eps does: no less */
    assert_ok(tacet_pld_l2(p, 0.5, 1.25, 6, 1, NULL));
    double beyond = 0;
    assert_ok(tacet_l2_delta(&beyond, 0.5, 1, 1.25, 6, NULL));
    assert_true(tacet_pld_delta(p, 1) >= beyond * (1 - 1e-6) && tacet_pld_delta(p, 1) <= beyond * 1.01);
    assert_status(tacet_pld_l2(p, 0.5, 1, 0, 1, NULL), TACET_INVALID);
    assert_status(tacet_pld_l2(p, 0.5, 1, TACET_L2_MAX_DIMS + 1, 1, NULL), TACET_INVALID);
    assert_status(tacet_pld_l2(p, 0, 1, 6, 1, NULL), TACET_INVALID);
    assert_status(tacet_pld_l2(p, NAN, 1, 6, 1, NULL), TACET_INVALID);
    assert_status(tacet_pld_l2(p, 1, -1, 6, 1, NULL), TACET_INVALID);
    tacet_pld_free(p);
}

static void memory_runs_out(void **state) {
    tacet_pld *p = NULL;
    for (long n = 1;; n++) {
        fail_alloc_after(n);
        tacet_status status = tacet_pld_create(&p, 1, 100, NULL);
        status = status == TACET_OK ? tacet_pld_laplace(p, 0.1, 2, NULL) : status;
        const int hit = fail_alloc_hit();
        fail_alloc_after(0);
        tacet_pld_free(p);
        if (!hit) {
            assert_ok(status);
            break;
        }
        assert_status(status, TACET_NO_MEMORY);
    }
}

static void nonsense_is_refused(void **state) {
    tacet_pld *p = NULL;
    assert_status(tacet_pld_create(&p, NAN, 0, NULL), TACET_INVALID);
    assert_status(tacet_pld_create(&p, 501, 0, NULL), TACET_INVALID);
    assert_status(tacet_pld_create(&p, 1, 5, NULL), TACET_INVALID);
    assert_status(tacet_pld_create(&p, 1, SIZE_MAX, NULL), TACET_INVALID);
    assert_null(p);
    assert_ok(tacet_pld_create(&p, 1, 100, NULL));
    assert_true(tacet_pld_eps(p, 0) == 0); /* nothing spent */
    assert_status(tacet_pld_gaussian(p, NAN, 1, NULL), TACET_INVALID);
    const double bad[] = {-1, 0, 500, NAN};
    for (size_t i = 0; i < 4; i++) {
        assert_status(tacet_pld_laplace(p, bad[i], 1, NULL), TACET_INVALID);
        assert_status(tacet_pld_approx(p, bad[i], 0, 1, NULL), TACET_INVALID);
    }
    assert_status(tacet_pld_approx(p, 1, -1, 1, NULL), TACET_INVALID);
    assert_status(tacet_pld_approx(p, 1, 2, 1, NULL), TACET_INVALID);
    assert_close(tacet_pld_delta(p, -2), 1 - exp(-2), 1e-3); /* below every loss: nothing is left out */
    assert_ok(tacet_pld_approx(p, 0.9, 0, 3, NULL));
    assert_true(tacet_pld_eps(p, 1e-9) == INFINITY); /* beyond the grid it says nothing, and so infinity */
    tacet_pld_free(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gaussians_compose_to_a_gaussian),
        cmocka_unit_test(pure_mechanisms_compose_optimally),
        cmocka_unit_test(published_figures_are_met),
        cmocka_unit_test(kinds_are_added_up),
        cmocka_unit_test(two_runs_are_what_quadrature_says),
        cmocka_unit_test(laplace_noise_is_worst_on_one_number),
        cmocka_unit_test(euclidean_noise_is_added_up),
        cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(nonsense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
