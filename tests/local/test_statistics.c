/* SPDX-License-Identifier: Apache-2.0 */
/* test_statistics.c - the server of local joint DP: adds reports up; saved and loaded it goes on bit for bit, and
 * refuses what is not its own. */
#include "support/map_record.h"
#include "support/test.h"

#include "local/open/statistics_internal.h"

#include <sodium.h>
#include <tacet/core/simrng.h>
#include "local/open/statistics.h"

enum { REPORTS = 40, HASH = 32 };
static const tacet_domain BALL = {.kind = TACET_DOMAIN_BALL, .d = 1, .radius = 1};
static tacet_features *features;
static tacet_central_map *map, *other_map;
static tacet_central_learner_settings settings;

static int setup(void **state) {
    tacet_kernel *kernel = test_kernel("se", 1, 1);
    assert_ok(tacet_features_create_mercer(&features, kernel, &BALL, 10, 6, NULL));
    tacet_kernel_free(kernel);
    assert_ok(tacet_central_map_create(&map, features, &BALL, 4, 0, 1, NULL));
    assert_ok(tacet_central_map_create(&other_map, features, &BALL, 5, 0, 1, NULL));
    tacet_central_learner_settings_defaults(&settings);
    settings.grid = 12;
    return 0;
}

static int teardown(void **state) {
    tacet_central_map_free(map);
    tacet_central_map_free(other_map);
    tacet_features_free(features);
    return 0;
}

static tacet_local_statistics *create(const tacet_central_map *of, double noise_var, uint64_t first, double growth) {
    tacet_local_statistics *server = NULL;
    assert_ok(tacet_local_statistics_create(&server, of, &settings, noise_var, first, growth, NULL));
    return server;
}

/* The t-th report: of t alone. */
static void take(tacet_local_statistics *server, size_t t) {
    double report[8], work[7];
    tacet_simrng rng = test_rng(9, t);
    const double x = 2 * tacet_simrng_uniform(&rng) - 1;
    map_record(map, report, work, &x, 0.5 + 0.4 * x);
    for (size_t i = 0; i < 8; i++) {
        report[i] += 0.3 * tacet_simrng_normal(&rng);
    }
    assert_ok(tacet_local_statistics_take(server, report, 8, NULL));
}

static tacet_blob saved(const tacet_local_statistics *server) {
    tacet_blob blob;
    tacet_blob_init(&blob);
    assert_ok(tacet__state_save(&blob, "statistics", tacet__local_statistics_state, server, NULL));
    return blob;
}

static void assert_same(const tacet_blob *a, const tacet_blob *b) {
    assert_int_equal(a->size, b->size);
    assert_memory_equal(a->data, b->data, a->size);
}

/* Cut at every report, before and after refreshes: what follows is the same. */
static void goes_on(void **state) {
    tacet_local_statistics *whole = create(map, 0.09, 5, 1.5);
    tacet_blob states[REPORTS + 1];
    states[0] = saved(whole);
    for (size_t t = 0; t < REPORTS; t++) {
        take(whole, t);
        states[t + 1] = saved(whole);
        assert_int_equal(states[t + 1].size, states[0].size);
    }
    tacet_local_statistics *back = create(map, 0.09, 5, 1.5);
    for (size_t cut = 0; cut < REPORTS; cut++) { /* also over what it held before */
        assert_ok(tacet__state_load(states[cut].data, states[cut].size, "statistics", tacet__local_statistics_state,
                                    back, NULL));
        assert_int_equal(tacet_local_statistics_count(back), cut);
        for (size_t t = cut; t < REPORTS && t < cut + 8; t++) {
            take(back, t);
            tacet_blob now = saved(back);
            assert_same(&now, &states[t + 1]);
            tacet_blob_clear(&now);
        }
    }
    double mean = 0, again = 0;
    const double x = 0.6;
    assert_ok(tacet__state_load(states[REPORTS].data, states[REPORTS].size, "statistics", tacet__local_statistics_state,
                                back, NULL));
    tacet_central_learner_predict(tacet_local_statistics_model(whole), &mean, NULL, &x, 1, 1);
    tacet_central_learner_predict(tacet_local_statistics_model(back), &again, NULL, &x, 1, 1);
    assert_true(mean == again && mean > 0.4);
    tacet_local_statistics_free(whole);
    tacet_local_statistics_free(back);
    for (size_t t = 0; t <= REPORTS; t++) {
        tacet_blob_clear(&states[t]);
    }
}

/* Refused, and the server keeps what it had. */
static void refused(tacet_local_statistics *server, const unsigned char *bytes, size_t size) {
    tacet_blob before = saved(server), after;
    assert_status(tacet__state_load(bytes, size, "statistics", tacet__local_statistics_state, server, NULL),
                  TACET_CORRUPT);
    after = saved(server);
    assert_same(&before, &after);
    tacet_blob_clear(&before);
    tacet_blob_clear(&after);
}

/* Another number at a place of a named array, which stands behind its name and its length. */
static void patched(tacet_local_statistics *server, const tacet_blob *good, const char *name, size_t at,
                    const void *value, size_t size) {
    unsigned char *bytes = malloc(good->size);
    assert_non_null(bytes);
    memcpy(bytes, good->data, good->size);
    size_t offset = 0;
    while (memcmp(bytes + offset, name, strlen(name)) != 0) {
        offset++;
        assert_true(offset + strlen(name) < good->size);
    }
    memcpy(bytes + offset + strlen(name) + 8 + 8 * at, value, size);
    crypto_generichash(bytes + good->size - HASH, HASH, bytes, good->size - HASH, NULL, 0);
    refused(server, bytes, good->size);
    free(bytes);
}

static void refuses(void **state) {
    tacet_local_statistics *server = create(map, 0.09, 5, 1.5), *mine = create(map, 0.09, 5, 1.5);
    for (size_t t = 0; t < 12; t++) {
        take(server, t);
    }
    take(mine, 100);
    tacet_blob good = saved(server);
    for (size_t i = 0; i < good.size; i += 7) { /* damaged, cut */
        good.data[i] ^= 4;
        refused(mine, good.data, good.size);
        good.data[i] ^= 4;
        refused(mine, good.data, i);
    }
    const uint64_t zero = 0, huge = UINT64_MAX;
    const double bad = NAN, infinite = INFINITY, large = 1e150, small = 1, behind = 12;
    patched(mine, &good, "plan", 1, &large, sizeof large);
    patched(mine, &good, "reports", 0, &zero, sizeof zero);
    patched(mine, &good, "reports", 0, &huge, sizeof huge);
    patched(mine, &good, "learnt", 0, &huge, sizeof huge);
    patched(mine, &good, "next", 0, &bad, sizeof bad);
    patched(mine, &good, "next", 0, &infinite, sizeof infinite);
    patched(mine, &good, "next", 0, &small, sizeof small);
    patched(mine, &good, "next", 0, &behind, sizeof behind);
    patched(mine, &good, "sums", 1, &bad, sizeof bad);
    patched(mine, &good, "sums", 1, &large, sizeof large);
    patched(mine, &good, "belief", 1, &bad, sizeof bad);
    /* of another map, noise, plan */
    tacet_local_statistics *others[] = {create(other_map, 0.09, 5, 1.5), create(map, 0.1, 5, 1.5),
                                        create(map, 0.09, 6, 1.5), create(map, 0.09, 5, 1.6)};
    for (size_t i = 0; i < 4; i++) {
        refused(others[i], good.data, good.size);
        tacet_local_statistics_free(others[i]);
    }
    assert_ok(tacet__state_load(good.data, good.size, "statistics", tacet__local_statistics_state, mine, NULL));
    tacet_blob_clear(&good);
    tacet_local_statistics_free(server);
    tacet_local_statistics_free(mine);
}

static void no_memory(void **state) {
    for (long n = 1;; n++) {
        tacet_local_statistics *server = NULL;
        tacet_blob blob;
        tacet_blob_init(&blob);
        fail_alloc_after(n);
        tacet_status s = tacet_local_statistics_create(&server, map, &settings, 1, 5, 1.5, NULL);
        assert_true((s == TACET_OK) == (server != NULL));
        TACET_THEN(s, tacet__state_save(&blob, "statistics", tacet__local_statistics_state, server, NULL));
        const int hit = fail_alloc_hit();
        fail_alloc_after(0);
        if (!hit) {
            assert_ok(s);
        } else {
            assert_status(s, TACET_NO_MEMORY);
            assert_null(blob.data);
        }
        tacet_blob_clear(&blob);
        tacet_local_statistics_free(server);
        if (!hit) {
            break;
        }
    }
}

static void reports_are_added_up_and_learnt_from(void **state) {
    tacet_local_statistics *server = NULL;
    assert_status(tacet_local_statistics_create(&server, map, &settings, 0, 5, 1.1, NULL), TACET_INVALID);
    assert_status(tacet_local_statistics_create(&server, map, &settings, 1, 5, 1, NULL), TACET_INVALID);
    assert_status(tacet_local_statistics_create(&server, map, &settings, 1, 0, 1.1, NULL), TACET_INVALID);
    assert_null(server);
    server = create(map, 1e-3, 50, 2);
    double report[8], work[7];
    tacet_simrng rng = test_rng(6, 0);
    for (int t = 0; t < 400; t++) {
        const double x = 2 * tacet_simrng_uniform(&rng) - 1;
        map_record(map, report, work, &x, x > 0.3 ? 0.9 : 0.1);
        assert_ok(tacet_local_statistics_take(server, report, 8, NULL));
        assert_true(tacet_central_learner_informed(tacet_local_statistics_model(server)) == (t >= 49));
    }
    assert_status(tacet_local_statistics_take(server, report, 7, NULL), TACET_INVALID);
    report[4] = NAN;
    assert_status(tacet_local_statistics_take(server, report, 8, NULL), TACET_INVALID);
    assert_int_equal(tacet_local_statistics_count(server), 400);
    const double arms[2] = {-0.6, 0.7};
    assert_int_equal(tacet_central_learner_choose(tacet_local_statistics_model(server), NULL, arms, 1, 2, NULL), 1);
    tacet_local_statistics_free(server);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(goes_on), cmocka_unit_test(refuses),
                                       cmocka_unit_test(no_memory),
                                       cmocka_unit_test(reports_are_added_up_and_learnt_from)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
