/* SPDX-License-Identifier: Apache-2.0 */
/* test_policy.c - the policy interface and its conformance test: an honest little policy passes, and each of its broken
 * brothers is caught, with the message that names its fault. */
#include "support/conformance.h"
#include "support/test.h"

#include "core/fail.h"
#include "core/policy_internal.h"

#include <tacet/core/simrng.h>

typedef enum bug {
    HONEST,
    HONEST_ALLOCATES,   /* allocates in suggest, declared and undone when it fails */
    FORGETS_RANDOMNESS, /* the generator is not in the saved state */
    FORGETS_OPEN,       /* open tickets are not in the saved state */
    KEEPS_ON_LOAD,      /* load adds to what is there */
    ORDER_MATTERS,      /* a moving average */
    TICKETS_SKIP,
    TWICE_ALLOWED,
    UNKNOWN_IS_INVALID,
    IMPOSSIBLE_ALLOWED,
    COUNTS_BAD_REPORTS, /* a refused report leaves a trace */
    HIDDEN_TRACE,       /* a refused report moves what the saved state does not hold */
    ANY_ROUND,
    LOADS_FOREIGN,
    LOADS_NOISE,    /* calls what it reads something else than CORRUPT */
    SILENT,         /* refuses without a message */
    ALLOCATES,      /* in suggest, undeclared */
    HALF_DONE,      /* runs out of memory with the ticket already given */
    PROVES_NOTHING, /* claims a proof without numbers */
    WORDLESS,
    SAVE_COUNTS, /* saving changes the state */
    SECOND_OPEN  /* claims one at a time, gives more */
} bug;

enum { D = 2, ARMS = 5, MOST = 32 };

/* Scores are w.x plus a little randomness; a report moves w by value times x. All numbers are dyadic and small, so sums
 * are exact and their order does not matter. */
typedef struct toy {
    bug bug;
    bool sets; /* decision sets instead of the fixed domain */
    size_t arms;
    double w[D];
    tacet_simrng rng;
    size_t tickets;
    uint64_t reported[MOST];
    double x[MOST][D];
    uint64_t extra;
    double hidden; /* never saved */
} toy;

typedef struct toy_problem {
    bug bug;
    bool sets;
    double points[D * ARMS];
} toy_problem;

static double domain(size_t arm, size_t i) {
    return (double)((3 * arm + 5 * i) % 7) / 8;
}

static tacet_status toy_suggest(void *self, tacet_suggestion *out, const tacet_round *round, tacet_error *err) {
    toy *t = self;
    const bool shaped = t->sets ? round->points != NULL && round->d == D : round->points == NULL;
    if (((!shaped || round->context_dim != 0) && t->bug != ANY_ROUND) || (t->sets && round->points == NULL)) {
        return tacet__fail(err, TACET_INVALID, "a round of another shape");
    }
    if (t->tickets == MOST) {
        return tacet__fail(err, TACET_STATE, "the horizon is over");
    }
    if (t->bug == HALF_DONE) {
        t->tickets++;
    }
    if (t->bug == ALLOCATES || t->bug == HALF_DONE || t->bug == HONEST_ALLOCATES) {
        void *scratch = malloc(64);
        if (scratch == NULL) {
            return tacet__fail(err, TACET_NO_MEMORY, "out of memory");
        }
        free(scratch);
    }
    if (t->bug == HALF_DONE) {
        t->tickets--;
    }
    const size_t count = t->sets ? round->count : t->arms;
    double best = -INFINITY;
    for (size_t j = 0; j < count; j++) {
        double score = 0.25 * tacet_simrng_uniform(&t->rng) + t->hidden;
        for (size_t i = 0; i < D; i++) {
            score += t->w[i] * (t->sets ? round->points[j * round->ld + i] : domain(j, i));
        }
        if (score > best) {
            best = score;
            out->index = j;
        }
    }
    for (size_t i = 0; i < D; i++) {
        t->x[t->tickets][i] = t->sets ? round->points[out->index * round->ld + i] : domain(out->index, i);
    }
    t->reported[t->tickets] = 0;
    t->tickets++;
    out->ticket = t->tickets + (t->bug == TICKETS_SKIP && t->tickets > 2);
    out->score = best;
    return TACET_OK;
}

static tacet_status toy_observe(void *self, uint64_t ticket, double value, tacet_error *err) {
    toy *t = self;
    tacet_status status = TACET_OK;
    if (ticket == 0 || ticket > t->tickets) {
        status = t->bug == UNKNOWN_IS_INVALID ? TACET_INVALID : TACET_NOT_FOUND;
    } else if (t->reported[ticket - 1] != 0 && t->bug != TWICE_ALLOWED) {
        status = TACET_CONFLICT;
    } else if (!(fabs(value) <= 4) && t->bug != IMPOSSIBLE_ALLOWED) {
        status = TACET_INVALID;
    }
    if (status != TACET_OK) {
        t->extra += t->bug == COUNTS_BAD_REPORTS;
        t->hidden += t->bug == HIDDEN_TRACE ? 1 : 0;
        return t->bug == SILENT ? status : tacet__fail(err, status, "no");
    }
    t->reported[ticket - 1] = 1;
    for (size_t i = 0; i < D; i++) {
        const double step = value * t->x[ticket - 1][i];
        t->w[i] = t->bug == ORDER_MATTERS ? 0.5 * t->w[i] + step : t->w[i] + step;
    }
    return TACET_OK;
}

static tacet_status toy_recommend(void *self, tacet_recommendation *out, tacet_error *err) {
    const toy *t = self;
    if (t->sets) {
        return tacet__fail(err, TACET_STATE, "no domain to recommend from");
    }
    *out = (tacet_recommendation){.index = 0, .mean = -INFINITY, .measured = SIZE_MAX};
    for (size_t j = 0; j < t->arms; j++) {
        const double mean = t->w[0] * domain(j, 0) + t->w[1] * domain(j, 1);
        if (mean > out->mean) {
            out->mean = mean;
            out->index = j;
        }
    }
    return TACET_OK;
}

static void toy_guarantee(const void *self, tacet_guarantee *out) {
    const toy *t = self;
    *out = (tacet_guarantee){.trust = TACET_TRUST_NONE,
                             .proven = t->bug == PROVES_NOTHING,
                             .eps = (double)INFINITY,
                             .delta = 1,
                             .protects = "nothing",
                             .statement = t->bug == WORDLESS ? NULL : "a test",
                             .proof = ""};
}

static void toy_state(void *self, tacet__state *s) {
    toy *t = self;
    const uint64_t arms = t->arms;
    const double before = t->w[0];
    if (t->bug != LOADS_FOREIGN) {
        tacet__state_same(s, "arms", &arms, sizeof arms);
    }
    tacet__state_any_f64s(s, "w", t->w, D);
    if (t->bug == KEEPS_ON_LOAD && tacet__state_taking(s)) {
        t->w[0] += before;
    }
    if (t->bug != FORGETS_RANDOMNESS) {
        tacet__state_u64s(s, "rng", t->rng.s, 4, UINT64_MAX);
    }
    tacet__state_size(s, "tickets", &t->tickets, MOST);
    for (size_t i = 0; i < t->tickets; i++) {
        uint64_t reported = t->bug == FORGETS_OPEN ? 1 : t->reported[i];
        tacet__state_u64(s, "reported", &reported, t->bug == LOADS_NOISE ? UINT64_MAX : 1);
        if (t->bug == LOADS_NOISE && tacet__state_taking(s) && reported > 1) {
            tacet__state_check(s, "reported", tacet__fail(s->err, TACET_STATE, "not CORRUPT"));
        }
        if (tacet__state_taking(s)) {
            t->reported[i] = reported;
        }
        tacet__state_any_f64s(s, "x", t->x[i], D);
    }
    t->extra += t->bug == SAVE_COUNTS && s->to != NULL ? 1 : 0;
    tacet__state_u64(s, "extra", &t->extra, UINT64_MAX);
}

static const tacet__policy_ops TOY_OPS = {.name = "toy",
                                          .suggest = toy_suggest,
                                          .observe = toy_observe,
                                          .recommend = toy_recommend,
                                          .guarantee = toy_guarantee,
                                          .state = toy_state,
                                          .free = free};

static tacet_status make(const toy_problem *p, size_t arms, tacet_policy **out, tacet_error *err) {
    *out = NULL;
    toy *t = calloc(1, sizeof *t);
    if (t == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory");
    }
    t->bug = p->bug;
    t->sets = p->sets;
    t->arms = arms;
    tacet_simrng_init(&t->rng, 3, 0);
    return tacet__policy_wrap(out, &TOY_OPS, t, err);
}

static tacet_status create(void *user, tacet_policy **out, tacet_error *err) {
    return make(user, ARMS, out, err);
}

static tacet_status create_foreign(void *user, tacet_policy **out, tacet_error *err) {
    return make(user, ARMS + 1, out, err);
}

static void next_round(void *user, size_t k, tacet_round *out) {
    toy_problem *p = user;
    for (size_t i = 0; i < D * (size_t)ARMS; i++) {
        p->points[i] = (double)((7 * k + 3 * i) % 8) / 8;
    }
    *out = (tacet_round){.points = p->points, .ld = D, .d = D, .count = ARMS};
}

static double value(void *user, size_t k, const tacet_suggestion *s) {
    (void)user;
    return (double)((k * 5 + s->index * 3) % 16) / 8 - 1;
}

static const char *run(toy_problem *p) {
    const conformance_problem problem = {.create = create,
                                         .create_foreign = create_foreign,
                                         .round = p->sets ? next_round : NULL,
                                         .value = value,
                                         .user = p,
                                         .rounds = 12,
                                         .any_order = true,
                                         .one_at_a_time = p->bug == SECOND_OPEN,
                                         .may_allocate = p->bug == HONEST_ALLOCATES || p->bug == HALF_DONE,
                                         .has_impossible = true,
                                         .impossible = 4.5};
    return conformance_check(&problem);
}

TEST(test_honest) {
    for (int sets = 0; sets < 2; sets++) {
        toy_problem p = {.bug = HONEST, .sets = sets == 1};
        const conformance_problem problem = {.create = create,
                                             .create_foreign = create_foreign,
                                             .round = p.sets ? next_round : NULL,
                                             .value = value,
                                             .user = &p,
                                             .rounds = 9,
                                             .any_order = true};
        test_policy_conformance(&problem);
        assert_null(run(&p));
        p.bug = HONEST_ALLOCATES;
        assert_null(run(&p));
    }
}

TEST(test_broken) {
    static const struct {
        bug bug;
        const char *message;
    } cases[] = {
        {FORGETS_RANDOMNESS, "after loading the suggestion is not the same, bit for bit"},
        {FORGETS_OPEN, "observe failed: CONFLICT"},
        {KEEPS_ON_LOAD, "loading changed the saved state"},
        {ORDER_MATTERS, "the order in which tickets are reported changes the"},
        {TICKETS_SKIP, "round 2: ticket 4, expected 3"},
        {TWICE_ALLOWED, "ticket 1 a second time gave OK, expected CONFLICT"},
        {UNKNOWN_IS_INVALID, "ticket 0 gave INVALID, expected NOT_FOUND"},
        {IMPOSSIBLE_ALLOWED, "an impossible report gave OK, expected INVALID"},
        {COUNTS_BAD_REPORTS, "ticket 0 changed the saved state"},
        {HIDDEN_TRACE, "the suggestion is not the same, bit for bit"},
        {ANY_ROUND, "gave OK, expected INVALID"},
        {LOADS_FOREIGN, "a state of another problem gave OK, expected CORRUPT"},
        {LOADS_NOISE, "gave STATE"},
        {SILENT, "ticket 0 was refused without a message of one line"},
        {ALLOCATES, "suggest allocates"},
        {HALF_DONE, "running out of memory changed the saved state"},
        {PROVES_NOTHING, "guarantee: proven, but nothing is protected"},
        {WORDLESS, "guarantee: words are missing"},
        {SAVE_COUNTS, "saving changed the saved state"},
        {SECOND_OPEN, "a suggestion while another is open gave OK, expected STATE"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (int sets = 0; sets < 2; sets++) {
            toy_problem p = {.bug = cases[i].bug, .sets = sets == 1};
            const char *message = run(&p);
            if (message == NULL || strstr(message, cases[i].message) == NULL) {
                print_error("fault %d: '%s' instead of '%s'\n", (int)cases[i].bug, message != NULL ? message : "passed",
                            cases[i].message);
                fail();
            }
        }
    }
}

TEST(test_too_short) {
    toy_problem p = {.bug = HONEST};
    conformance_problem problem = {.create = create, .value = value, .user = &p, .rounds = 5};
    assert_non_null(conformance_check(&problem));
    problem.rounds = 33; /* beyond the toy's horizon */
    assert_string_equal(conformance_check(&problem), "round 32: suggest failed: STATE the horizon is over");
}

/* What policy.c checks before any algorithm sees the call. */
TEST(test_front) {
    toy_problem p = {.bug = ANY_ROUND, .sets = true};
    tacet_policy *policy = NULL;
    assert_ok(create(&p, &policy, NULL));
    assert_string_equal(tacet_policy_name(policy), "toy");
    tacet_round good;
    next_round(&p, 0, &good);
    tacet_suggestion s = {0};
    tacet_round bad = good;
    bad.points = NULL;
    assert_status(tacet_policy_suggest(policy, &s, &bad, NULL), TACET_INVALID);
    bad = good;
    bad.count = 0;
    assert_status(tacet_policy_suggest(policy, &s, &bad, NULL), TACET_INVALID);
    bad = good;
    bad.ld = 1;
    assert_status(tacet_policy_suggest(policy, &s, &bad, NULL), TACET_INVALID);
    bad = good;
    bad.d = 0;
    assert_status(tacet_policy_suggest(policy, &s, &bad, NULL), TACET_INVALID);
    bad = good;
    bad.context_dim = 1;
    assert_status(tacet_policy_suggest(policy, &s, &bad, NULL), TACET_INVALID);
    p.points[D * ARMS - 1] = (double)NAN;
    tacet_error err = {0};
    assert_status(tacet_policy_suggest(policy, &s, &good, &err), TACET_INVALID);
    assert_string_equal(err.message, "coordinate 1 of candidate 4 is not finite");
    p.points[D * ARMS - 1] = 0;
    assert_ok(tacet_policy_suggest(policy, &s, &good, NULL));
    assert_int_equal(s.ticket, 1);
    tacet_policy_free(policy);
    tacet_policy_free(NULL);
}
