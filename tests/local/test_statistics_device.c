/* SPDX-License-Identifier: Apache-2.0 */
/* test_statistics_device.c - local joint DP: the noise of a report, its bound, once per ticket, and the server's sums.
 */
#include "support/test.h"

#include <tacet/core/simrng.h>
#include <tacet/dp/open/calibrate.h>
#include "local/open/statistics.h"
#include "local/trusted/statistics_device.h"

static const tacet_domain BALL = {.kind = TACET_DOMAIN_BALL, .d = 2, .radius = 2};
static tacet_features *features, *qff;
static tacet_central_map *map;

static int setup(void **state) {
    tacet_kernel *kernel = test_kernel("se", 2, 1);
    assert_ok(tacet_features_create_mercer(&features, kernel, &BALL, 12, 20, NULL));
    assert_ok(tacet_features_create_qff(&qff, kernel, 4, NULL));
    tacet_kernel_free(kernel);
    assert_ok(tacet_central_map_create(&map, features, &BALL, 15, 0, 1, NULL));
    return 0;
}

static int teardown(void **state) {
    tacet_central_map_free(map);
    tacet_features_free(features);
    tacet_features_free(qff);
    return 0;
}

/* Mean and variance of reports of one record: unbiased, with the noise the budget asks for. 400 reports of 30 numbers:
 * the mean square is within 5 % of the variance but for a chance below 1e-4. */
static void noise_is_calibrated(void **state) {
    tacet_statistics_device *device = NULL;
    tacet_noise *noise = NULL;
    assert_ok(tacet_statistics_device_create(&device, map, 10, 0.1, NULL));
    assert_ok(tacet_noise_open_seeded(&noise, 1, 0, NULL));
    double sigma = 0;
    assert_ok(tacet_calibrate_gaussian(&sigma, 10, 0.1, tacet_central_map_sensitivity(map), NULL));
    assert_close(tacet_statistics_device_noise_var(device), sigma * sigma, 1e-4 * sigma * sigma);
    const double x[2] = {0.3, -1};
    double exact[30], work[22], square = 0, mean[30] = {0};
    tacet_central_map_record(map, exact, work, x, 0.25);
    const tacet_ask ask = {.noise = noise, .ticket = "t", .what = "w", .to_whom = "x"};
    for (int k = 0; k < 400; k++) {
        tacet_release *release = NULL;
        assert_ok(tacet_statistics_device_report(device, &release, &ask, x, 0.25, NULL));
        assert_int_equal(tacet_release_count(release), 30);
        for (size_t i = 0; i < 30; i++) {
            const double d = tacet_release_values(release)[i] - exact[i];
            square += d * d / (400 * 30);
            mean[i] += d / 400;
        }
        tacet_release_free(release);
    }
    assert_close(square, sigma * sigma, 0.05 * sigma * sigma);
    for (size_t i = 0; i < 30; i++) {
        assert_true(fabs(mean[i]) < 5 * sigma / 20);
    }
    tacet_noise_close(noise);
    tacet_statistics_device_free(device);
}

/* The bound of the outer form, searched: attained by opposite rewards at c = B^2/2 where features can have it. */
static void outer_bound(void **state) {
    static const double BOUNDS[] = {0.5, 1, 1.4142135623730951, 3};
    for (size_t b = 0; b < 4; b++) {
        const double B = BOUNDS[b], q = B * B;
        double worst = 0;
        for (int i = 0; i <= 2000; i++) {
            const double c = -1 + i / 1000.0;
            for (int s = 0; s < 9; s++) {
                const double y = B * (s % 3 - 1), z = B * (s / 3 - 1);
                worst = fmax(worst, 2 - 2 * c * c + y * y + z * z - 2 * y * z * c);
            }
        }
        tacet_statistics_device *device = NULL;
        assert_ok(tacet_statistics_device_create_outer(&device, qff, B, 1, 0.1, NULL));
        double sigma = 0;
        assert_ok(tacet_calibrate_gaussian(&sigma, 1, 0.1, sqrt(worst), NULL));
        assert_close(sqrt(tacet_statistics_device_noise_var(device)), sigma, 1e-4 * sigma);
        assert_true(sqrt(tacet_statistics_device_noise_var(device)) >= sigma * (1 - 1e-6));
        assert_close(worst, q <= 2 ? 2 + 2 * q + q * q / 2 : 4 * q, 1e-5 * worst);
        tacet_statistics_device_free(device);
    }
    static const double REFUSED[] = {0, -1, 1.1e6, (double)NAN, (double)INFINITY};
    for (size_t i = 0; i < 5; i++) {
        tacet_statistics_device *device = NULL;
        assert_status(tacet_statistics_device_create_outer(&device, qff, REFUSED[i], 1, 0.1, NULL), TACET_INVALID);
        assert_null(device);
    }
}

/* The published noise of Lemma 5 at eps = 10, delta = 0.1, B = 1 is too small: the two parts together give delta 0.21.
 */
static void lemma_5_falls_short(void **state) {
    const double eps = 10, delta = 0.1;
    const double x_var = 8 / (eps * eps) * log(2.5 / delta), u_var = 8 / (eps * eps) * log(5 / delta);
    double mu = 0, spent = 0;
    const double sigmas[2] = {sqrt(x_var), sqrt(u_var)}, sensitivities[2] = {sqrt(2), 2};
    assert_ok(tacet_gdp_compose(&mu, sigmas, sensitivities, 2, NULL));
    assert_ok(tacet_gdp_delta(&spent, mu, eps, NULL));
    assert_true(spent > 0.2);
}

static void once_per_ticket(void **state) {
    const char *folder = test_mkdir();
    char path[512];
    (void)snprintf(path, sizeof path, "%s/ledger.db", folder);
    tacet_ledger_settings budget;
    tacet_ledger_settings_defaults(&budget);
    budget.eps = 1.2; /* one report, not two */
    budget.delta = 1e-5;
    tacet_ledger *ledger = NULL;
    tacet_noise *noise = NULL;
    tacet_statistics_device *device = NULL;
    assert_ok(tacet_ledger_open(&ledger, path, &budget, NULL));
    assert_ok(tacet_statistics_device_create(&device, map, 1, 1e-5, NULL));
    tacet_ask ask = {.ledger = ledger, .noise = noise, .ticket = "round 1", .what = "w", .to_whom = "server"};
    const double x[2] = {1, 1};
    tacet_release *a = NULL, *b = NULL;
    assert_ok(tacet_statistics_device_report(device, &a, &ask, x, 1, NULL));
    assert_ok(tacet_statistics_device_report(device, &b, &ask, x, 1, NULL));
    assert_memory_equal(tacet_release_values(a), tacet_release_values(b), 30 * sizeof(double));
    tacet_release_free(b);
    ask.ticket = "round 2";
    assert_status(tacet_statistics_device_report(device, &b, &ask, x, 1, NULL), TACET_BUDGET);
    assert_null(b);
    tacet_release_free(a);
    tacet_statistics_device_free(device);
    tacet_noise_close(noise);
    tacet_ledger_close(ledger);
    test_rmdir(folder);
}

static void server_adds_up(void **state) {
    tacet_central_learner_settings set;
    tacet_central_learner_settings_defaults(&set);
    tacet_local_statistics *server = NULL;
    assert_status(tacet_local_statistics_create(&server, map, &set, 0, 5, 1.1, NULL), TACET_INVALID);
    assert_status(tacet_local_statistics_create(&server, map, &set, 1, 5, 1, NULL), TACET_INVALID);
    assert_status(tacet_local_statistics_create(&server, map, &set, 1, 0, 1.1, NULL), TACET_INVALID);
    assert_null(server);
    assert_ok(tacet_local_statistics_create(&server, map, &set, 1e-3, 50, 2, NULL));
    double report[30], work[22];
    tacet_simrng rng = test_rng(6, 0);
    for (int t = 0; t < 400; t++) {
        const double x[2] = {2 * tacet_simrng_uniform(&rng) - 1, 2 * tacet_simrng_uniform(&rng) - 1};
        tacet_central_map_record(map, report, work, x, x[0] > 0.3 ? 0.9 : 0.1);
        assert_ok(tacet_local_statistics_take(server, report, 30, NULL));
        assert_true(tacet_central_learner_informed(tacet_local_statistics_model(server)) == (t >= 49));
    }
    assert_status(tacet_local_statistics_take(server, report, 29, NULL), TACET_INVALID);
    report[4] = NAN;
    assert_status(tacet_local_statistics_take(server, report, 30, NULL), TACET_INVALID);
    assert_int_equal(tacet_local_statistics_count(server), 400);
    const double arms[4] = {-0.6, 0, 0.7, 0};
    assert_int_equal(tacet_central_learner_choose(tacet_local_statistics_model(server), NULL, arms, 2, 2, NULL), 1);
    tacet_local_statistics_free(server);
}

static void failing_allocations(void **state) {
    tacet_central_learner_settings set;
    tacet_central_learner_settings_defaults(&set);
    for (int kind = 0; kind < 3; kind++) {
        tacet_statistics_device *device = NULL;
        tacet_local_statistics *server = NULL;
        assert_each_alloc_fails(kind == 0   ? tacet_statistics_device_create(&device, map, 1, 0.1, NULL)
                                : kind == 1 ? tacet_statistics_device_create_outer(&device, qff, 1, 1, 0.1, NULL)
                                            : tacet_local_statistics_create(&server, map, &set, 1, 5, 1.1, NULL),
                                device == NULL && server == NULL);
        tacet_statistics_device_free(device);
        tacet_local_statistics_free(server);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(noise_is_calibrated), cmocka_unit_test(outer_bound),
                                       cmocka_unit_test(lemma_5_falls_short), cmocka_unit_test(once_per_ticket),
                                       cmocka_unit_test(server_adds_up),      cmocka_unit_test(failing_allocations)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
