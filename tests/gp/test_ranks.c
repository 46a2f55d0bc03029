/* SPDX-License-Identifier: Apache-2.0 */
/* test_ranks.c - a search over several ranks, here threads of one process: the same rows and the same bits as alone,
 * and what goes wrong on one rank is heard by all. */
#include "support/test.h"

#include "core/fail.h"
#include "gp/ranks_internal.h"

#include <pthread.h>
#include <tacet/core/simrng.h>
#include <tacet/gp/gp_ucb.h>
#include <tacet/outsourced/open/modeler.h>

enum { N = 203, D = 3, T = 30, MOST = 5 };

/* --- ranks as threads -------------------------------------------------------------------------------------------- */

typedef struct room {
    pthread_barrier_t barrier;
    size_t count;
    void *bytes;
    double value[MOST];
    uint64_t row[MOST];
    uint64_t *sums[MOST];
} room;

typedef struct seat {
    room *shared;
    size_t rank;
} seat;

static tacet_status broadcast(void *user, void *bytes, size_t size, size_t root, tacet_error *err) {
    (void)err;
    const seat *s = user;
    if (s->rank == root) {
        s->shared->bytes = bytes;
    }
    pthread_barrier_wait(&s->shared->barrier);
    if (s->rank != root) {
        memcpy(bytes, s->shared->bytes, size);
    }
    pthread_barrier_wait(&s->shared->barrier);
    return TACET_OK;
}

static tacet_status largest(void *user, double *value, uint64_t *row, tacet_error *err) {
    (void)err;
    const seat *s = user;
    room *shared = s->shared;
    shared->value[s->rank] = *value;
    shared->row[s->rank] = *row;
    pthread_barrier_wait(&shared->barrier);
    double best = 0;
    uint64_t at = UINT64_MAX;
    for (size_t r = 0; r < shared->count; r++) { /* slabs ascend with the rank, so the first of equals is the lowest */
        if (shared->row[r] != UINT64_MAX && (at == UINT64_MAX || shared->value[r] > best)) {
            best = shared->value[r];
            at = shared->row[r];
        }
    }
    pthread_barrier_wait(&shared->barrier);
    *value = best;
    *row = at;
    return TACET_OK;
}

static tacet_status sum(void *user, uint64_t *values, size_t count, tacet_error *err) {
    (void)err;
    const seat *s = user;
    room *shared = s->shared;
    shared->sums[s->rank] = values;
    pthread_barrier_wait(&shared->barrier);
    uint64_t total[2 * MOST] = {0};
    for (size_t r = 0; r < shared->count; r++) {
        for (size_t i = 0; i < count; i++) {
            total[i] += shared->sums[r][i];
        }
    }
    pthread_barrier_wait(&shared->barrier);
    memcpy(values, total, count * sizeof *values);
    return TACET_OK;
}

typedef struct follower {
    tacet_ranks ranks;
    seat seat;
    const tacet_points *own;
    size_t n;
    tacet_status status;
    tacet_error err;
    pthread_t thread;
} follower;

static void *follow(void *user) {
    follower *f = user;
    f->status = tacet_ranks_greet(&f->ranks, &f->err);
    if (f->status == TACET_OK) {
        f->status = tacet_ranks_follow(&f->ranks, f->own, f->n, &f->err);
    }
    return NULL;
}

typedef struct crew {
    room shared;
    follower at[MOST]; /* 0: this thread */
} crew;

/* own: what each rank finds; NULL: rank 0 sends. odd: what rank 1 finds instead. */
static const tacet_ranks *start(crew *c, size_t count, const tacet_points *own, const tacet_points *odd, size_t n) {
    memset(c, 0, sizeof *c);
    c->shared.count = count;
    assert_int_equal(pthread_barrier_init(&c->shared.barrier, NULL, (unsigned)count), 0);
    for (size_t r = 0; r < count; r++) {
        follower *f = &c->at[r];
        f->seat = (seat){&c->shared, r};
        f->ranks = (tacet_ranks){
            .rank = r, .count = count, .user = &f->seat, .broadcast = broadcast, .largest = largest, .sum = sum};
        f->own = r == 1 && odd != NULL ? odd : own;
        f->n = n;
        if (r > 0) {
            assert_int_equal(pthread_create(&f->thread, NULL, follow, f), 0);
        }
    }
    assert_ok(tacet_ranks_greet(&c->at[0].ranks, NULL));
    return &c->at[0].ranks;
}

static void finish(crew *c) {
    assert_ok(tacet_ranks_dismiss(&c->at[0].ranks, NULL));
    for (size_t r = 1; r < c->shared.count; r++) {
        assert_int_equal(pthread_join(c->at[r].thread, NULL), 0);
    }
    pthread_barrier_destroy(&c->shared.barrier);
}

/* --- a problem --------------------------------------------------------------------------------------------------- */

typedef struct problem {
    double X[N * D];
    double y[N];
    size_t offsets[D];
    tacet_points points;
    tacet_kernel *kernel;
    tacet_gp_ucb_settings settings;
    double sd;
} problem;

static int setup(void **state) {
    static const double LENGTHSCALE = 0.4;
    problem *p = calloc(1, sizeof *p);
    assert_non_null(p);
    tacet_simrng rng = test_rng(5, 0);
    for (size_t j = 0; j < N; j++) {
        for (size_t c = 0; c < D; c++) {
            p->X[j * D + c] = tacet_simrng_uniform(&rng);
            p->y[j] += sin(5 * p->X[j * D + c] + (double)c);
        }
    }
    memcpy(p->X + 150 * D, p->X + 7 * D, D * sizeof *p->X); /* twins on two ranks: the lower one is asked first */
    for (size_t c = 0; c < D; c++) {
        p->offsets[c] = c;
    }
    p->points = (tacet_points){.data = p->X, .step = D, .offsets = p->offsets};
    tacet_kernel_spec spec;
    tacet_kernel_spec_defaults(&spec);
    spec.kind = TACET_KERNEL_MATERN;
    spec.matern_p = 2;
    spec.d = D;
    spec.lengthscales = &LENGTHSCALE;
    assert_ok(tacet_kernel_create(&p->kernel, &spec, NULL));
    tacet_gp_ucb_settings_defaults(&p->settings);
    p->settings.noise_var = 1e-4;
    p->settings.horizon = T;
    *state = p;
    return 0;
}

static int teardown(void **state) {
    problem *p = *state;
    tacet_kernel_free(p->kernel);
    free(p);
    return 0;
}

static tacet_status make(tacet_policy **out, const problem *p, const tacet_ranks *ranks, bool own, tacet_error *err) {
    tacet_gp_ucb_settings settings = p->settings;
    settings.ranks = ranks;
    settings.ranks_have_points = own;
    const tacet_cov_spec cov = {.kernel = p->kernel,
                                .input_sd = p->sd > 0 ? &p->sd : NULL,
                                .input_sd_count = 1,
                                .points = own ? &p->points : NULL};
    return tacet_gp_ucb_create(out, &settings, &cov, p->X, D, N, err);
}

typedef struct trace {
    size_t rows[T];
    double scores[T];
    tacet_recommendation best;
    tacet_gp_report report;
} trace;

static void run(trace *out, tacet_policy *policy, const problem *p, size_t from, size_t to) {
    for (size_t t = from; t < to; t++) {
        tacet_suggestion s;
        assert_ok(tacet_policy_suggest(policy, &s, NULL, NULL));
        out->rows[t] = s.index;
        out->scores[t] = s.score;
        assert_ok(tacet_policy_observe(policy, s.ticket, p->y[s.index], NULL));
    }
    assert_ok(tacet_policy_recommend(policy, &out->best, NULL));
    tacet_gp_report_get(tacet_gp_ucb_model(policy), &out->report);
}

static void assert_same(const trace *a, const trace *b) {
    assert_memory_equal(a->rows, b->rows, sizeof a->rows);
    assert_memory_equal(a->scores, b->scores, sizeof a->scores);
    assert_int_equal(a->best.index, b->best.index);
    assert_true(a->best.mean == b->best.mean && a->best.sd == b->best.sd);
    assert_int_equal(a->best.measured, b->best.measured);
    assert_true(a->report.log_likelihood == b->report.log_likelihood);
}

/* --- tests ------------------------------------------------------------------------------------------------------- */

static void any_number_of_ranks_asks_the_same_rows(void **state) {
    problem *p = *state;
    static const size_t FIRST[] = {201, 4, 77};
    for (unsigned form = 0; form < 4; form++) { /* exact, errors in variables, single precision, initial rows */
        p->sd = form == 1 ? 0.1 : 0;
        p->settings.single = form == 2;
        p->settings.initial = form == 3 ? FIRST : NULL;
        p->settings.initial_count = form == 3 ? 3 : 0;
        trace alone = {0};
        tacet_policy *policy = NULL;
        assert_ok(make(&policy, p, NULL, false, NULL));
        run(&alone, policy, p, 0, T);
        tacet_policy_free(policy);
        for (size_t count = 2; count <= MOST; count++) {
            for (int own = 0; own < 2; own++) {
                crew c;
                const tacet_ranks *ranks = start(&c, count, own ? &p->points : NULL, NULL, N);
                trace together = {0};
                assert_ok(make(&policy, p, ranks, own != 0, NULL));
                run(&together, policy, p, 0, T);
                tacet_policy_free(policy);
                finish(&c);
                assert_same(&alone, &together);
            }
        }
    }
}

static void a_state_goes_on_with_another_number_of_ranks(void **state) {
    problem *p = *state;
    trace whole = {0};
    trace parts = {0};
    tacet_policy *policy = NULL;
    assert_ok(make(&policy, p, NULL, false, NULL));
    run(&whole, policy, p, 0, T);
    tacet_policy_free(policy);
    tacet_blob blob;
    tacet_blob_init(&blob);
    const size_t counts[] = {3, 5, 2};
    for (size_t k = 0; k < 3; k++) {
        crew c;
        const tacet_ranks *ranks = start(&c, counts[k], NULL, NULL, 0);
        assert_ok(make(&policy, p, ranks, false, NULL));
        if (k > 0) {
            assert_ok(tacet_policy_load(policy, blob.data, blob.size, NULL));
        }
        run(&parts, policy, p, 10 * k, 10 * (k + 1));
        tacet_blob_clear(&blob);
        assert_ok(tacet_policy_save(policy, &blob, NULL));
        blob.data[blob.size - 1] ^= (unsigned char)(k == 2); /* damaged: refused by all, and the ranks stay in step */
        if (k == 2) {
            assert_int_equal(tacet_policy_load(policy, blob.data, blob.size, NULL), TACET_CORRUPT);
            assert_ok(tacet_policy_recommend(policy, &parts.best, NULL));
        }
        tacet_policy_free(policy);
        finish(&c);
    }
    tacet_blob_clear(&blob);
    assert_same(&whole, &parts);
}

static void other_candidates_are_refused_and_named(void **state) {
    problem *p = *state;
    double *other = malloc(sizeof p->X);
    assert_non_null(other);
    memcpy(other, p->X, sizeof p->X);
    other[90 * D] += 1e-12; /* of three ranks, the second holds row 90 */
    const tacet_points odd = {.data = other, .step = D, .offsets = p->offsets};
    crew c;
    const tacet_ranks *ranks = start(&c, 3, &p->points, &odd, N);
    tacet_policy *policy = NULL;
    tacet_error err = {0};
    assert_int_equal(make(&policy, p, ranks, true, &err), TACET_INVALID);
    assert_null(policy);
    assert_non_null(strstr(err.message, "rank 1 has other candidates"));
    /* Sent by rank 0 there is nothing to differ: the same ranks go on. */
    assert_ok(make(&policy, p, ranks, false, NULL));
    tacet_policy_free(policy);
    finish(&c);
    free(other);
    /* A rank with another number of rows. */
    ranks = start(&c, 2, &p->points, NULL, N - 1);
    tacet_error_clear(&err);
    assert_int_equal(make(&policy, p, ranks, true, &err), TACET_INVALID);
    assert_non_null(strstr(err.message, "rank 1: this rank finds 202 candidates, rank 0 has 203"));
    finish(&c);
}

static void what_cannot_be_spread_is_refused(void **state) {
    problem *p = *state;
    crew c;
    const tacet_ranks *ranks = start(&c, 2, NULL, NULL, 0);
    tacet_policy *policy = NULL;
    tacet_gp_ucb_settings settings = p->settings;
    settings.ranks = ranks;
    settings.horizon = 1;
    const tacet_cov_spec cov = {.kernel = p->kernel};
    assert_int_equal(tacet_gp_ucb_create(&policy, &settings, &cov, p->X, D, 1, NULL), TACET_INVALID);
    tacet_error err = {0};
    settings.delta_ucb = 2; /* found when every rank builds its part */
    assert_int_equal(tacet_gp_ucb_create(&policy, &settings, &cov, p->X, D, N, &err), TACET_INVALID);
    assert_null(policy);
    finish(&c);
}

/* The modeler's errors-in-variables method goes through the same search. */
static void the_modeler_spreads_its_eiv_method_alone(void **state) {
    problem *p = *state;
    tacet_modeler_settings s;
    tacet_modeler_settings_defaults(&s);
    s.method = TACET_MODELER_EIV;
    s.rows = p->X;
    s.ld = s.d = D;
    s.n = N;
    s.scale = 0.1;
    s.kernel = tacet_kernel_describe(p->kernel);
    s.horizon = T;
    trace alone = {0};
    trace together = {0};
    for (int spread = 0; spread < 2; spread++) {
        crew c;
        trace *t = spread ? &together : &alone;
        s.ranks = spread ? start(&c, 3, NULL, NULL, 0) : NULL;
        tacet_policy *policy = NULL;
        assert_ok(tacet_modeler_create(&policy, &s, NULL));
        for (size_t k = 0; k < T; k++) {
            tacet_suggestion suggestion;
            assert_ok(tacet_policy_suggest(policy, &suggestion, NULL, NULL));
            t->rows[k] = suggestion.index;
            t->scores[k] = suggestion.score;
            assert_ok(tacet_policy_observe(policy, suggestion.ticket, p->y[suggestion.index], NULL));
        }
        assert_ok(tacet_policy_recommend(policy, &t->best, NULL));
        tacet_policy_free(policy);
        if (spread) {
            s.method = TACET_MODELER_LADDER;
            assert_int_equal(tacet_modeler_create(&policy, &s, NULL), TACET_UNSUPPORTED);
            finish(&c);
        }
    }
    assert_same(&alone, &together);
}

static void slabs_cover_every_row_once(void **state) {
    for (size_t n = 1; n < 40; n++) {
        for (size_t count = 1; count <= n && count < 8; count++) {
            const tacet_ranks ranks = {.count = count};
            size_t next = 0;
            for (size_t r = 0; r < count; r++) {
                size_t first = 0;
                size_t m = 0;
                tacet_ranks_slab(&ranks, r, &first, &m, n);
                assert_int_equal(first, next);
                assert_true(m > 0);
                for (size_t row = first; row < first + m; row++) {
                    size_t local = SIZE_MAX;
                    assert_int_equal(tacet__ranks_owner(&ranks, &local, row, n), r);
                    assert_int_equal(local, row - first);
                }
                next = first + m;
            }
            assert_int_equal(next, n);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(any_number_of_ranks_asks_the_same_rows, setup, teardown),
        cmocka_unit_test_setup_teardown(a_state_goes_on_with_another_number_of_ranks, setup, teardown),
        cmocka_unit_test_setup_teardown(other_candidates_are_refused_and_named, setup, teardown),
        cmocka_unit_test_setup_teardown(what_cannot_be_spread_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(the_modeler_spreads_its_eiv_method_alone, setup, teardown),
        cmocka_unit_test(slabs_cover_every_row_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
