/* SPDX-License-Identifier: Apache-2.0 */
/* test_definition.c - definitions of studies: what is refused, the canonical form, directions. */
#include "support/test.h"

#include "local/open/internal.h"
#include "service/open/study/person.h"
#include "service/open/study/policies.h"

#include <math.h>
#include "local/shared/ldp.h"

static const char LOCAL[] =
    "{\"name\":\"slides\",\"trust\":\"local\",\"budget\":{\"eps\":1},\"domain\":{\"points\":[[0,1],[0.5,1],[1,0]]},"
    "\"prior\":{\"lengthscale\":0.2,\"reward\":[0,10]}}";
static const char CENTRAL[] =
    "{\"name\":\"dose\",\"trust\":\"central\",\"direction\":\"minimize\",\"budget\":{\"eps\":1,\"delta\":1e-6},"
    "\"domain\":{\"lower\":[0,0],\"upper\":[1,2]},\"prior\":{\"kernel\":\"se\",\"lengthscale\":[0.2,0.4],"
    "\"reward\":[-1,3]},\"options\":{\"set_size\":5}}";

TEST(test_defaults) {
    tacet__definition d;
    assert_ok(tacet__definition_decode(&d, LOCAL, sizeof LOCAL - 1, NULL));
    assert_string_equal(d.policy, "ucb");
    assert_string_equal(d.kernel, "matern52");
    assert_string_equal(d.randomizer, "hybrid");
    assert_int_equal(d.trust, TACET_TRUST_LOCAL);
    assert_false(d.minimize);
    assert_int_equal(d.rounds, 10000);
    assert_int_equal(d.count, 3);
    assert_int_equal(d.d, 2);
    assert_close(d.points[2 * 1 + 0], 0.5, 0); /* one point a column */
    assert_close(d.mean, 5, 0);
    assert_close(d.bound, 5, 0);
    tacet__definition_clear(&d);
    assert_ok(tacet__definition_decode(&d, CENTRAL, sizeof CENTRAL - 1, NULL));
    assert_string_equal(d.policy, "central");
    assert_int_equal(d.count, 0);
    assert_int_equal(d.set_size, 5);
    assert_close(d.upper[1], 2, 0);
    assert_true(d.round_eps == 1);
    tacet__definition_clear(&d);
    /* A round costs so little that a person's four cost what the budget says, were they in one release. */
    char text[sizeof CENTRAL + 32];
    (void)snprintf(text, sizeof text, "%.*s,\"person_rounds\":4}}", (int)sizeof CENTRAL - 3, CENTRAL);
    assert_ok(tacet__definition_decode(&d, text, strlen(text), NULL));
    assert_int_equal(d.person_rounds, 4);
    assert_true(tacet__eps_of_rounds(d.round_eps, d.delta, 4) <= 1 + 1e-6);
    assert_true(tacet__eps_of_rounds(d.round_eps, d.delta, 4) > 0.999);
    tacet__definition_clear(&d);
}

/* Reading the canonical text and writing it again changes nothing; the order of fields and defaults do not show. */
TEST(test_canonical) {
    static const char *const TEXTS[] = {LOCAL, CENTRAL};
    for (size_t i = 0; i < 2; i++) {
        tacet__definition d;
        OWN_TEXT char *once = NULL;
        OWN_TEXT char *twice = NULL;
        assert_ok(tacet__definition_decode(&d, TEXTS[i], strlen(TEXTS[i]), NULL));
        assert_ok(tacet__definition_encode(&d, &once, NULL));
        tacet__definition_clear(&d);
        assert_ok(tacet__definition_decode(&d, once, strlen(once), NULL));
        assert_ok(tacet__definition_encode(&d, &twice, NULL));
        tacet__definition_clear(&d);
        assert_string_equal(once, twice);
    }
}

TEST(test_direction) {
    tacet__definition d;
    double lo = 0;
    double hi = 0;
    assert_ok(tacet__definition_decode(&d, CENTRAL, sizeof CENTRAL - 1, NULL));
    tacet__definition_range(&d, &lo, &hi);
    assert_close(lo, -3, 0);
    assert_close(hi, 1, 0);
    assert_close(tacet__definition_towards(&d, 2.5), -2.5, 0);
    assert_close(tacet__definition_back(&d, tacet__definition_towards(&d, 0.1)), 0.1, 0);
    tacet__definition_clear(&d);
    assert_ok(tacet__definition_decode(&d, LOCAL, sizeof LOCAL - 1, NULL));
    assert_close(tacet__definition_towards(&d, 2.5), 2.5, 0);
    tacet__definition_clear(&d);
}

/* Each with one thing wrong; the message names the field. */
TEST(test_refused) {
#define REST "\"budget\":{\"eps\":1},\"domain\":{\"points\":[[0],[1]]},\"prior\":{\"lengthscale\":0.2,\"reward\":[0,1]}"
#define PRIOR "\"prior\":{\"lengthscale\":0.2,\"reward\":[0,1]}"
#define POINTS "\"domain\":{\"points\":[[0],[1]]}"
#define NAMED "{\"name\":\"a\",\"trust\":\"local\","
    static const struct {
        const char *text, *named;
    } CASES[] = {
        {"", "JSON"},
        {"[]", "object"},
        {"{\"name\":\"a\",\"name\":\"a\"}", "JSON"},
        {NAMED "\"colour\":1," REST "}", "colour"},
        {"{\"trust\":\"local\"," REST "}", "name"},
        {"{\"name\":\"A\",\"trust\":\"local\"," REST "}", "name"},
        {"{\"name\":\"../a\",\"trust\":\"local\"," REST "}", "name"},
        {"{\"name\":\"a\"," REST "}", "trust"},
        {"{\"name\":\"a\",\"trust\":\"none\"," REST "}", "trust"},
        {NAMED "\"direction\":\"up\"," REST "}", "direction"},
        {NAMED "\"rounds\":0," REST "}", "rounds"},
        {NAMED "\"rounds\":1.5," REST "}", "rounds"},
        {NAMED "\"rounds\":-1," REST "}", "rounds"},
        {NAMED "\"rounds\":1000000000000," REST "}", "rounds"},
        {NAMED "\"format\":\"tacet-study-2\"," REST "}", "format"},
        {NAMED "\"policy\":7," REST "}", "policy"},
        {NAMED POINTS "," PRIOR "}", "budget"},
        {NAMED "\"budget\":{\"eps\":0}," POINTS "," PRIOR "}", "budget.eps"},
        {NAMED "\"budget\":{\"eps\":\"1\"}," POINTS "," PRIOR "}", "budget.eps"},
        {NAMED "\"budget\":{\"eps\":1,\"delta\":0.1}," POINTS "," PRIOR "}", "delta"},
        {NAMED "\"budget\":{\"eps\":1e200}," POINTS "," PRIOR "}", "budget.eps"},
        {NAMED "\"budget\":{\"eps\":1}," PRIOR "}", "domain"},
        {NAMED "\"budget\":{\"eps\":1},\"domain\":{\"points\":[[0]]}," PRIOR "}", "domain.points"},
        {NAMED "\"budget\":{\"eps\":1},\"domain\":{\"points\":[[0],[1,2]]}," PRIOR "}", "domain.points"},
        {NAMED "\"budget\":{\"eps\":1},\"domain\":{\"points\":[[0],[null]]}," PRIOR "}", "domain.points"},
        {NAMED "\"budget\":{\"eps\":1},\"domain\":{\"lower\":[0],\"upper\":[0]}," PRIOR "}", "domain"},
        {NAMED "\"budget\":{\"eps\":1},\"domain\":{\"lower\":[0],\"upper\":[0,1]}," PRIOR "}", "domain bounds"},
        {NAMED "\"budget\":{\"eps\":1},\"domain\":{\"points\":[[0],[1]],\"context\":[0]}," PRIOR "}", "context"},
        {NAMED
         "\"budget\":{\"eps\":1},\"domain\":{\"points\":[[0],[1]],\"context\":{\"lower\":[1],\"upper\":[0]}}," PRIOR
         "}",
         "domain.context"},
        {NAMED "\"budget\":{\"eps\":1},\"domain\":{\"points\":[[0],[1]],\"lower\":[0]}," PRIOR "}", "domain"},
        {NAMED "\"budget\":{\"eps\":1}," POINTS ",\"prior\":{\"lengthscale\":0,\"reward\":[0,1]}}", "lengthscale"},
        {NAMED "\"budget\":{\"eps\":1}," POINTS ",\"prior\":{\"lengthscale\":[1,2],\"reward\":[0,1]}}", "lengthscale"},
        {NAMED "\"budget\":{\"eps\":1}," POINTS ",\"prior\":{\"lengthscale\":1,\"reward\":[1,1]}}", "reward"},
        {NAMED "\"budget\":{\"eps\":1}," POINTS ",\"prior\":{\"lengthscale\":1}}", "reward"},
        {NAMED "\"budget\":{\"eps\":1}," POINTS ",\"prior\":{\"lengthscale\":1,\"reward\":[0,1],\"bound\":0}}",
         "prior"},
        {NAMED "\"options\":{\"open_most\":3}," REST "}", "open_most"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        tacet__definition d;
        tacet_error err = {0};
        assert_int_equal(tacet__definition_decode(&d, CASES[i].text, strlen(CASES[i].text), &err), TACET_PARSE);
        if (strstr(err.message, CASES[i].named) == NULL) {
            fail_msg("%s: '%s' does not name %s", CASES[i].text, err.message, CASES[i].named);
        }
        assert_null(d.points);
    }
}

/* What a policy cannot take is refused before it is stored. */
TEST(test_context) {
    static const char TEXT[] =
        "{\"name\":\"a\",\"trust\":\"central\",\"policy\":\"contextual\",\"rounds\":9,\"budget\":{\"eps\":1},"
        "\"domain\":{\"points\":[[0],[1]],\"context\":{\"lower\":[0,0],\"upper\":[1,2]}},"
        "\"prior\":{\"lengthscale\":[1,2,3],\"groups\":[0,0,1],\"reward\":[0,1]}}";
    tacet__definition d;
    OWN_TEXT char *text = NULL;
    assert_ok(tacet__definition_decode(&d, TEXT, sizeof TEXT - 1, NULL));
    assert_int_equal(d.context_dim, 2);
    assert_close(d.context_upper[1], 2, 0);
    assert_close(d.delta, 0, 0);
    assert_ok(tacet__definition_encode(&d, &text, NULL));
    tacet__definition_clear(&d);
    assert_ok(tacet__definition_decode(&d, text, strlen(text), NULL));
    assert_int_equal(d.context_dim, 2);
    assert_true(d.groups != NULL && d.groups[1] == 0 && d.groups[2] == 1); /* one for each context, too */
    assert_int_equal(tacet__policy_check(tacet__policy_kinds_local, &d, NULL), TACET_INVALID);
    tacet__definition_clear(&d);
}

TEST(test_policies) {
    tacet__definition d;
    tacet_error err = {0};
    assert_ok(tacet__definition_decode(&d, LOCAL, sizeof LOCAL - 1, NULL));
    assert_ok(tacet__policy_check(tacet__policy_kinds_local, &d, NULL));
    (void)strcpy(d.policy, "best");
    assert_int_equal(tacet__policy_check(tacet__policy_kinds_local, &d, &err), TACET_INVALID);
    assert_non_null(strstr(err.message, "ucb"));
    (void)strcpy(d.policy, "ucb");
    (void)strcpy(d.parameters, "tight");
    (void)strcpy(d.randomizer, "laplace"); /* no sub-Gaussian proxy */
    assert_int_equal(tacet__policy_check(tacet__policy_kinds_local, &d, NULL), TACET_INVALID);
    (void)strcpy(d.randomizer, "hybrid");
    d.eps = 100;
    assert_int_equal(tacet__policy_check(tacet__policy_kinds_local, &d, NULL), TACET_INVALID);
    d.eps = 1;
    (void)strcpy(d.kernel, "cubic");
    assert_int_equal(tacet__policy_check(tacet__policy_kinds_local, &d, NULL), TACET_INVALID);
    tacet__definition_clear(&d);
    assert_ok(tacet__definition_decode(&d, CENTRAL, sizeof CENTRAL - 1, NULL));
    assert_int_equal(tacet__policy_check(tacet__policy_kinds_local, &d, NULL), TACET_INVALID);
    tacet__definition_clear(&d);
}

/* What a learner of the definition would choose first after one report of a large value at the first point: the mean of
 * each point, over that of the first. */
static void means_of(const char *text, double means[3]) {
    tacet__definition d;
    tacet__learner learner;
    tacet_suggestion s;
    const double *mean = NULL, *var = NULL;
    double shift = 0, scale = 0;
    const tacet__policy_kind *kind = NULL;
    char *once = NULL;
    assert_ok(tacet__definition_decode(&d, text, strlen(text), NULL));
    assert_ok(tacet__definition_encode(&d, &once, NULL)); /* and it survives being written */
    tacet__definition_clear(&d);
    assert_ok(tacet__definition_decode(&d, once, strlen(once), NULL));
    free(once);
    assert_ok(tacet__policy_check(tacet__policy_kinds_local, &d, NULL));
    for (size_t i = 0; tacet__policy_kinds_local[i] != NULL && kind == NULL; i++) {
        kind = strcmp(tacet__policy_kinds_local[i]->name, "ucb") == 0 ? tacet__policy_kinds_local[i] : NULL;
    }
    assert_non_null(kind);
    assert_ok(tacet__policy_create(kind, &learner, &d, NULL, NULL, 0, NULL));
    assert_ok(tacet_policy_suggest(learner.policy, &s, NULL, NULL));
    tacet_ldp ldp;
    assert_ok(tacet_ldp_init(&ldp, TACET_LDP_DUCHI, 1, 0, 10, NULL));
    assert_ok(tacet_policy_observe(learner.policy, s.ticket, tacet_ldp_bit(&ldp, true), NULL));
    assert_int_equal(tacet__local_posterior(learner.policy, &mean, &var, &shift, &scale), 3);
    for (size_t i = 0; i < 3; i++) {
        means[i] = mean[i] / mean[s.index];
    }
    tacet__learner_free(kind, &learner);
    tacet__definition_clear(&d);
}

#define STUDY(points, prior)                                                                                           \
    "{\"name\":\"s\",\"trust\":\"local\",\"policy\":\"tgp\",\"budget\":{\"eps\":1},\"domain\":{\"points\":" points     \
    "},\"options\":{"                                                                                                  \
    "\"randomizer\":\"hybrid\",\"parameters\":\"orderwise\"},\"prior\":{\"reward\":[0,10]," prior "}}"

/* One report tells of the other points what the kernel says: k(x, x')/k(x, x). */
TEST(test_sums_and_covariances) {
    double plain[3], sum[3], given[3];
    const double near = exp(-2), far = exp(-8); /* distances 0.4 and 0.8 with lengthscale 0.2 */
    means_of(STUDY("[[0,0],[0.4,0],[0.4,0.8]]", "\"kernel\":\"se\",\"lengthscale\":0.2"), plain);
    assert_close(plain[1], near, 1e-12);
    assert_close(plain[2], near * far, 1e-12);
    means_of(STUDY("[[0,0],[0.4,0],[0.4,0.8]]", "\"kernel\":\"se\",\"lengthscale\":0.2,\"groups\":[0,1]"), sum);
    assert_close(sum[1], (near + 1) / 2, 1e-12);
    assert_close(sum[2], (near + far) / 2, 1e-12);
    means_of(STUDY("[[0],[1],[2]]", "\"kernel\":\"precomputed\",\"covariance\":[1,0.5,-0.25,0.5,1,0,-0.25,0,1]"),
             given);
    assert_close(given[1], 0.5, 1e-12);
    assert_close(given[2], -0.25, 1e-12);
    static const char *const WRONG[] = {
        STUDY("[[0,0],[1,1]]", "\"lengthscale\":0.2,\"groups\":[0]"),
        STUDY("[[0,0],[1,1]]", "\"lengthscale\":0.2,\"groups\":[0,0.5]"),
        STUDY("[[0,0],[1,1]]", "\"lengthscale\":0.2,\"groups\":[0,7]"),
        STUDY("[[0],[1]]", "\"kernel\":\"precomputed\",\"lengthscale\":1"),
        STUDY("[[0],[1]]", "\"kernel\":\"precomputed\",\"covariance\":[1,0,0]"),
        STUDY("[[0],[1]]", "\"kernel\":\"se\",\"lengthscale\":1,\"covariance\":[1,0,0,1]")};
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++) {
        tacet__definition d;
        assert_int_equal(tacet__definition_decode(&d, WRONG[i], strlen(WRONG[i]), NULL), TACET_PARSE);
    }
}

TEST(test_out_of_memory) {
    tacet__definition d;
    assert_each_alloc_fails(tacet__definition_decode(&d, CENTRAL, sizeof CENTRAL - 1, NULL), d.lower == NULL);
    tacet__definition_clear(&d);
    assert_ok(tacet__definition_decode(&d, LOCAL, sizeof LOCAL - 1, NULL));
    char *text = NULL;
    assert_each_alloc_fails(tacet__definition_encode(&d, &text, NULL), text == NULL);
    free(text);
    tacet__definition_clear(&d);
}
