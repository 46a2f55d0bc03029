/* SPDX-License-Identifier: Apache-2.0 */
/* test_session_holders.c - one search over the rows of several holders: the same as over one table where they are
 * alike, in each holder's own units where they are not; whoever is away costs its own rows, is tried again, and is
 * asked its open question once. */
#include "outsourced/open/averaging_state.h"
#include "outsourced/session_fixture.h"

enum { ROWS = 180, HOLDERS = 3, EACH = ROWS / HOLDERS, MOST = 400 };

typedef struct world {
    double rows[D * ROWS], values[ROWS];
    tacet_manifest manifests[HOLDERS];
    tacet_session_holder holders[HOLDERS];
    size_t asked[ROWS];        /* how often it was answered */
    size_t order[MOST];        /* whose row each question was about */
    size_t count;              /* questions in all, answered or not */
    size_t gone_from, gone_to; /* questions in which holder 1 does not answer … */
    tacet_status gone;         /* … but this */
} world;

static void fill(world *w) {
    for (size_t h = 0; h < HOLDERS; h++) {
        tacet_manifest_clear(&w->manifests[h]); /* of the world before */
    }
    memset(w, 0, sizeof *w);
    fill_table(w->rows, w->values, ROWS, 0);
    for (size_t h = 0; h < HOLDERS; h++) {
        fill_manifest(&w->manifests[h], EACH);
        w->holders[h] = (tacet_session_holder){&w->manifests[h], "{a manifest}", w->rows + h * EACH * D};
    }
}

static tacet_status answer(void *user, double *value, const char *ticket, size_t holder, size_t row, tacet_error *err) {
    world *w = user;
    assert_true(strlen(ticket) > 4 && holder < HOLDERS && w->count < MOST);
    const size_t question = w->count++;
    w->order[question] = holder;
    if (holder == 1 && question >= w->gone_from && question < w->gone_to) {
        err->status = w->gone;
        (void)snprintf(err->message, sizeof err->message, "as the test wants it");
        return w->gone;
    }
    const size_t at = holder * EACH + row;
    assert_true(at < ROWS);
    w->asked[at]++;
    *value = w->values[at];
    return TACET_OK;
}

static tacet_status run(world *w, tacet_session_result *out, const tacet_session_settings *s, size_t holders,
                        tacet_error *err) {
    const tacet_session_asker asker = {.ask = answer, .user = w};
    return tacet_session_run(out, s, &asker, w->holders, holders, err);
}

/* Of holder 1's rows: answered in all; each at most once. */
static size_t answered_by_one(const world *w) {
    size_t sum = 0;
    for (size_t i = 0; i < ROWS; i++) {
        assert_true(w->asked[i] <= 1);
        sum += i / EACH == 1 ? w->asked[i] : 0;
    }
    return sum;
}

TEST(holders_that_are_alike_are_searched_as_one_table) {
    static world w;
    static size_t rows[2][24];
    for (int k = 0; k < 2; k++) {
        tacet_session_result r;
        fill(&w);
        if (k == 1) { /* one table; holder 0's manifest is the pooled one's */
            w.manifests[0].rows = ROWS;
        }
        const tacet_session_settings s = usual();
        assert_ok(run(&w, &r, &s, k == 0 ? HOLDERS : 1, NULL));
        assert_int_equal(r.count, 24);
        assert_true(r.best_value < 0.5);
        memcpy(rows[k], r.rows, sizeof rows[k]);
        size_t row = r.best_row;
        assert_int_equal(tacet_session_place(w.holders, k == 0 ? HOLDERS : 1, &row), k == 0 ? r.best_row / EACH : 0);
        assert_int_equal(row, k == 0 ? r.best_row % EACH : r.best_row);
        tacet_session_result_clear(&r);
    }
    assert_memory_equal(rows[0], rows[1], sizeof rows[0]);
}

/* Half the unit about another middle: the same positions and noise, in other numbers. */
TEST(each_holder_has_its_own_units_and_bounds) {
    static world w;
    static size_t rows[2][24];
    for (int k = 0; k < 2; k++) {
        tacet_session_result r;
        fill(&w);
        for (size_t a = 0; k == 1 && a < D; a++) {
            for (size_t i = EACH; i < (size_t)2 * EACH; i++) {
                w.rows[i * D + a] = (w.rows[i * D + a] + 5 - 4) / 0.5;
            }
        }
        describe(&w.manifests[1], "x1", k == 1 ? 8 : 10, k == 1 ? 0.5 : 1);
        w.manifests[1].sigma = k == 1 ? 0.2 : 0.1;
        const tacet_session_settings s = usual();
        assert_ok(run(&w, &r, &s, HOLDERS, NULL));
        memcpy(rows[k], r.rows, sizeof rows[k]);
        tacet_session_result_clear(&r);
    }
    assert_memory_equal(rows[0], rows[1], sizeof rows[0]);
}

TEST(a_noisier_holders_rows_are_trusted_less) {
    enum { N = 400 };
    static double rows[N];
    const size_t counts[] = {N / 2, N / 2};
    const double spread[] = {0.1, 2};
    const double noise[] = {0, 0.5};
    double variance[2] = {0, 0};
    tacet_simrng rng;
    tacet_simrng_init(&rng, 11, 0);
    for (size_t i = 0; i < N; i++) {
        rows[i] = tacet_simrng_normal(&rng) + spread[i / (N / 2)] * tacet_simrng_normal(&rng);
    }
    tacet_modeler_settings s;
    tacet_policy *policy = NULL;
    tacet_modeler_settings_defaults(&s);
    s.rows = rows;
    s.ld = s.d = 1;
    s.n = N;
    s.horizon = 40;
    s.holders = 2;
    s.holder_rows = counts;
    s.spread = spread;
    s.holder_noise_var = noise;
    assert_ok(tacet_modeler_create(&policy, &s, NULL));
    const tacet__averaging *l = tacet__averaging_of(policy);
    double mean = 0;
    for (size_t i = 0; i < N; i++) {
        mean += l->x[i] / N;
    }
    for (size_t i = 0; i < N; i++) {
        variance[i / (N / 2)] += (l->x[i] - mean) * (l->x[i] - mean) / (N / 2.0);
    }
    /* E[x | z] has variance P^2 / (P + N), .99 and .2 at P = 1: five times apart, as well as 400 rows tell P. With one
     * noise for all, the second holder's would be five times the larger. */
    assert_true(variance[0] > 2.5 * variance[1] && variance[0] < 15 * variance[1]);
    for (size_t t = 0; t < 24; t++) { /* values of the second holder's rows are less certain by their known noise */
        tacet_suggestion next;
        assert_ok(tacet_policy_suggest(policy, &next, NULL, NULL));
        assert_ok(tacet_policy_observe(policy, next.ticket, rows[next.index], NULL));
    }
    tacet_recommendation best;
    assert_ok(tacet_policy_recommend(policy, &best, NULL));
    bool both[2] = {false, false};
    for (size_t j = 0; j < l->count; j++) {
        const bool second = l->rows[j] >= N / 2;
        both[second] = true;
        assert_true(second ? l->shares[j] > 0 : l->shares[j] == 0);
    }
    assert_true(both[0] && both[1]);
    tacet_policy_free(policy);
    const size_t wrong[] = {N / 2, N / 2 - 1};
    s.holder_rows = wrong;
    assert_status(tacet_modeler_create(&policy, &s, NULL), TACET_INVALID);
}

TEST(a_holder_that_is_away_costs_its_own_rows_only) {
    static world w;
    tacet_session_result r;
    fill(&w);
    w.gone_from = 6;
    w.gone_to = MOST;
    w.gone = TACET_IO;
    const tacet_session_settings s = usual();
    assert_ok(run(&w, &r, &s, HOLDERS, NULL));
    assert_int_equal(r.end, TACET_SESSION_DONE);
    assert_int_equal(r.count, 24);
    assert_true(r.best_value < 3);
    assert_int_equal(r.holder_count, HOLDERS);
    assert_int_equal(r.holders[0].status, TACET_OK);
    assert_int_equal(r.holders[1].status, TACET_IO);
    assert_string_equal(r.holders[1].message, "as the test wants it");
    size_t tried = 0;
    for (size_t q = 6; q < w.count; q++) {
        tried += w.order[q] == 1 ? 1 : 0;
    }
    assert_in_range(tried, 2, 6); /* the first time, and again after 1, 2, 4 and 8 answers */
    tacet_session_result_clear(&r);
    /* One that refuses is not asked again. */
    fill(&w);
    w.gone_to = MOST;
    w.gone = TACET_BUDGET;
    assert_ok(run(&w, &r, &s, HOLDERS, NULL));
    assert_int_equal(r.count, 24);
    assert_int_equal(w.count, 25);
    assert_int_equal(r.holders[1].status, TACET_BUDGET);
    tacet_session_result_clear(&r);
}

TEST(a_holder_that_comes_back_is_searched_again) {
    static world w;
    tacet_session_result r;
    fill(&w);
    w.gone_from = 2;
    w.gone_to = 12;
    w.gone = TACET_TIMEOUT;
    tacet_session_settings s = usual();
    s.queries = 40;
    assert_ok(run(&w, &r, &s, HOLDERS, NULL));
    assert_int_equal(r.count, 40);
    assert_int_equal(r.holders[1].status, TACET_OK);
    assert_true(answered_by_one(&w) > 1);
    assert_true(r.best_value < 0.5);
    tacet_session_result_clear(&r);
}

TEST(an_open_question_is_asked_by_the_next_run) {
    static world w;
    tacet_session_result r;
    OWN_FOLDER const char *top = test_mkdir();
    OWN_TEXT char *folder = test_text("%s/state", top);
    fill(&w);
    w.gone_to = MOST;
    w.gone = TACET_IO;
    tacet_session_settings s = usual();
    s.state = folder;
    assert_ok(run(&w, &r, &s, HOLDERS, NULL));
    assert_int_equal(r.count, 24);
    assert_int_equal(answered_by_one(&w), 0);
    tacet_session_result_clear(&r);
    const size_t asked = w.count;
    w.gone_to = 0;
    assert_ok(run(&w, &r, &s, HOLDERS, NULL)); /* all that were wanted are there: nothing is asked */
    assert_int_equal(w.count, asked);
    assert_int_equal(r.count, 24);
    tacet_session_result_clear(&r);
    s.queries = 30;
    assert_ok(run(&w, &r, &s, HOLDERS, NULL));
    assert_int_equal(r.count, 30);
    assert_true(answered_by_one(&w) > 0);
    assert_int_equal(w.count, asked + 6);
    tacet_session_result_clear(&r);
    const char *kept = w.holders[2].text;
    w.holders[2].text = "{another manifest}";
    assert_status(run(&w, &r, &s, HOLDERS, NULL), TACET_CONFLICT);
    w.holders[2].text = kept;
}

TEST(releases_that_cannot_be_compared_are_refused) {
    static world w;
    tacet_session_result r;
    tacet_error err = {0};
    tacet_session_settings s = usual();
    fill(&w);
    describe(&w.manifests[2], "other", 10, 1);
    assert_status(run(&w, &r, &s, HOLDERS, &err), TACET_INVALID);
    assert_non_null(strstr(err.message, "holder 3"));
    fill(&w);
    (void)snprintf(w.manifests[1].mechanism, sizeof w.manifests[1].mechanism, "published");
    assert_status(run(&w, &r, &s, HOLDERS, NULL), TACET_UNSUPPORTED);
    fill(&w);
    s.lengthscale = 3;
    assert_status(run(&w, &r, &s, HOLDERS, NULL), TACET_UNSUPPORTED);
    assert_status(run(&w, &r, &s, 0, NULL), TACET_INVALID);
    assert_int_equal(w.count, 0);
}
