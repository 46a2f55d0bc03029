/* SPDX-License-Identifier: Apache-2.0 */
/* conformance.c - the shared test of every policy; see conformance.h. Every check cleans up after itself, so that
 * broken policies can be shown to fail it without leaking. Cost: about rounds^2 suggestions and as many observations.
 */
#include "support/conformance_internal.h"
#include "support/test.h"

#include <unistd.h>

static char message[600];

void conformance__note(const char *format, ...) {
    va_list args;
    va_start(args, format);
    (void)vsnprintf(message, sizeof message, format, args);
    va_end(args);
}

static bool same_bytes(const tacet_blob *a, const tacet_blob *b) {
    return a->size == b->size && (a->size == 0 || memcmp(a->data, b->data, a->size) == 0);
}

static bool same_bits(double a, double b) {
    return memcmp(&a, &b, sizeof a) == 0;
}

static bool same_suggestion(const tacet_suggestion *a, const tacet_suggestion *b) {
    return a->index == b->index && a->ticket == b->ticket && same_bits(a->score, b->score);
}

static bool same_recommendation(const tacet_recommendation *a, const tacet_recommendation *b) {
    return a->index == b->index && same_bits(a->mean, b->mean) && same_bits(a->sd, b->sd) &&
           a->measured == b->measured && same_bits(a->measured_value, b->measured_value);
}

bool conformance__save(const tacet_policy *policy, tacet_blob *out) {
    tacet_error err = {0};
    tacet_blob_clear(out);
    const tacet_status status = tacet_policy_save(policy, out, &err);
    if (status != TACET_OK) {
        conformance__note("save failed: %s %s", tacet_status_name(status), err.message);
    }
    return status == TACET_OK;
}

bool conformance__unchanged(const tacet_policy *policy, const tacet_blob *before, const char *what) {
    tacet_blob after;
    tacet_blob_init(&after);
    bool same = false;
    if (conformance__save(policy, &after)) {
        same = same_bytes(before, &after);
        if (!same) {
            conformance__note("%s changed the saved state", what);
        }
    }
    tacet_blob_clear(&after);
    return same;
}

bool conformance__create(const check *c, tacet_policy **out) {
    tacet_error err = {0};
    const tacet_status status = c->p->create(c->p->user, out, &err);
    if (status != TACET_OK) {
        conformance__note("create failed: %s %s", tacet_status_name(status), err.message);
    } else if (*out == NULL) {
        conformance__note("create succeeded without a policy");
        return false;
    }
    return status == TACET_OK;
}

void conformance__round_of(const check *c, size_t k, tacet_round *out) {
    *out = (tacet_round){0};
    if (c->p->round != NULL) {
        c->p->round(c->p->user, k, out);
    }
}

static bool suggest(const check *c, tacet_policy *policy, size_t k, tacet_suggestion *out) {
    tacet_round round;
    tacet_error err = {0};
    conformance__round_of(c, k, &round);
    const tacet_status status = tacet_policy_suggest(policy, out, c->p->round != NULL ? &round : NULL, &err);
    if (status != TACET_OK) {
        conformance__note("round %zu: suggest failed: %s %s", k, tacet_status_name(status), err.message);
        return false;
    }
    if (round.points != NULL && out->index >= round.count) {
        conformance__note("round %zu: suggested candidate %zu of %zu", k, out->index, round.count);
        return false;
    }
    return true;
}

static bool observe(const check *c, tacet_policy *policy, size_t k, const tacet_suggestion *s) {
    tacet_error err = {0};
    const tacet_status status = tacet_policy_observe(policy, s->ticket, c->p->value(c->p->user, k, s), &err);
    if (status != TACET_OK) {
        conformance__note("round %zu: observe failed: %s %s", k, tacet_status_name(status), err.message);
    }
    return status == TACET_OK;
}

bool conformance__play(check *c, tacet_policy *policy, size_t half, bool record) {
    for (; half < 2 * c->p->rounds; half++) {
        const size_t k = half / 2;
        if (half % 2 == 0) {
            tacet_suggestion s = {0};
            if (!suggest(c, policy, k, &s)) {
                return false;
            }
            if (record) {
                c->suggestions[k] = s;
            }
            if (s.ticket != k + 1) {
                conformance__note("round %zu: ticket %llu, expected %zu", k, (unsigned long long)s.ticket, k + 1);
                return false;
            }
            if (!same_suggestion(&s, &c->suggestions[k])) {
                conformance__note("round %zu: after loading the suggestion is not the same, bit for bit", k);
                return false;
            }
        } else {
            if (!observe(c, policy, k, &c->suggestions[k])) {
                return false;
            }
            tacet_recommendation r = {0};
            const tacet_status status = tacet_policy_recommend(policy, &r, NULL);
            if (record) {
                c->recommended[k] = status;
                c->recommendations[k] = r;
            }
            if (status != TACET_OK && status != TACET_STATE) {
                conformance__note("round %zu: recommend gave %s", k, tacet_status_name(status));
                return false;
            }
            if (status != c->recommended[k] ||
                (status == TACET_OK && !same_recommendation(&r, &c->recommendations[k]))) {
                conformance__note("round %zu: after loading the recommendation is not the same, bit for bit", k);
                return false;
            }
        }
        if (record && !conformance__save(policy, &c->states[half + 1])) {
            return false;
        }
    }
    return true;
}

static bool check_first_run(check *c) {
    bool ok = false;
    tacet_policy *policy = NULL;
    if (!conformance__create(c, &policy) || !conformance__save(policy, &c->states[0])) {
        goto done;
    }
    REQUIRE(tacet_policy_name(policy) != NULL && tacet_policy_name(policy)[0] != '\0', "the policy has no name");
    if (!conformance__play(c, policy, 0, true)) {
        goto done;
    }
    ok = conformance__unchanged(policy, &c->states[2 * c->p->rounds], "saving");
done:
    tacet_policy_free(policy);
    return ok;
}

/* From every saved state, in a fresh policy and in one that has played to the end. */
static bool check_save_load(check *c) {
    bool ok = false;
    const size_t last = 2 * c->p->rounds;
    tacet_policy *used = NULL;
    tacet_policy *fresh = NULL;
    if (!conformance__create(c, &used)) {
        goto done;
    }
    for (size_t half = 0; half <= last; half++) {
        const tacet_blob *state = &c->states[half];
        tacet_error err = {0};
        tacet_policy_free(fresh);
        fresh = NULL;
        if (!conformance__create(c, &fresh)) {
            goto done;
        }
        tacet_policy *const both[2] = {fresh, used};
        for (size_t i = 0; i < 2; i++) {
            const tacet_status status = tacet_policy_load(both[i], state->data, state->size, &err);
            REQUIRE(status == TACET_OK, "after %zu half-rounds: load into a %s policy failed: %s %s", half,
                    i == 0 ? "fresh" : "used", tacet_status_name(status), err.message);
            if (!conformance__unchanged(both[i], state, "loading") || !conformance__play(c, both[i], half, false)) {
                goto done;
            }
            if (!conformance__unchanged(both[i], &c->states[last], "going through save and load")) {
                goto done;
            }
        }
    }
    ok = true;
done:
    tacet_policy_free(fresh);
    tacet_policy_free(used);
    return ok;
}

static bool near(const check *c, double a, double b) {
    return c->p->tolerance > 0 ? fabs(a - b) <= c->p->tolerance * (1 + fabs(b)) : same_bits(a, b);
}

/* Opens `count` tickets from round `first` on, reports them in the order `order` gives, then looks at what follows. */
static bool play_batch(check *c, size_t first, size_t count, const size_t *order, tacet_suggestion *next,
                       tacet_recommendation *rec, tacet_status *recommended) {
    bool ok = false;
    tacet_suggestion open[MOST_ROUNDS];
    tacet_policy *policy = NULL;
    if (!conformance__create(c, &policy)) {
        goto done;
    }
    REQUIRE(tacet_policy_load(policy, c->states[2 * first].data, c->states[2 * first].size, NULL) == TACET_OK,
            "load failed before reporting in another order");
    for (size_t i = 0; i < count; i++) {
        if (!suggest(c, policy, first + i, &open[i])) {
            goto done;
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (!observe(c, policy, first + order[i], &open[order[i]])) {
            goto done;
        }
    }
    *recommended = tacet_policy_recommend(policy, rec, NULL);
    ok = suggest(c, policy, first + count, next);
done:
    tacet_policy_free(policy);
    return ok;
}

static bool check_order(check *c) {
    bool ok = false;
    const size_t first = c->p->rounds / 3;
    const size_t count = c->p->rounds / 2 > 5 ? 5 : c->p->rounds / 2;
    static const size_t orders[3][5] = {{0, 1, 2, 3, 4}, {4, 3, 2, 1, 0}, {2, 0, 4, 1, 3}};
    tacet_suggestion next[3] = {{0}};
    tacet_recommendation rec[3] = {{0}};
    tacet_status recommended[3] = {TACET_OK, TACET_OK, TACET_OK};
    for (size_t i = 0; i < 3; i++) {
        size_t order[5];
        size_t filled = 0;
        for (size_t j = 0; j < 5; j++) {
            if (orders[i][j] < count) {
                order[filled++] = orders[i][j];
            }
        }
        if (!play_batch(c, first, count, order, &next[i], &rec[i], &recommended[i])) {
            goto done;
        }
        REQUIRE(next[i].index == next[0].index && near(c, next[i].score, next[0].score),
                "the order in which tickets are reported changes the next suggestion");
        REQUIRE(recommended[i] == recommended[0] && rec[i].index == rec[0].index && near(c, rec[i].mean, rec[0].mean) &&
                    near(c, rec[i].sd, rec[0].sd),
                "the order in which tickets are reported changes the recommendation");
    }
    ok = true;
done:
    return ok;
}

static bool filled(const char *text) {
    return text != NULL && text[0] != '\0';
}

static bool check_guarantee(check *c) {
    bool ok = false;
    tacet_policy *policy = NULL;
    if (!conformance__create(c, &policy)) {
        goto done;
    }
    tacet_guarantee g;
    memset(&g, 0xa5, sizeof g); /* so that a field left alone shows */
    g.protects = NULL;
    g.statement = NULL;
    g.proof = NULL;
    g.eps = (double)NAN;
    g.delta = (double)NAN;
    tacet_policy_guarantee(policy, &g);
    REQUIRE(g.trust == TACET_TRUST_NONE || g.trust == TACET_TRUST_OUTSOURCED || g.trust == TACET_TRUST_CENTRAL ||
                g.trust == TACET_TRUST_LOCAL,
            "guarantee: trust is not filled in");
    REQUIRE(g.eps >= 0 && g.delta >= 0 && g.delta <= 1, "guarantee: eps or delta is not filled in");
    REQUIRE(filled(g.protects) && filled(g.statement), "guarantee: words are missing");
    REQUIRE(!(g.trust == TACET_TRUST_NONE && g.proven), "guarantee: proven, but nothing is protected");
    REQUIRE(g.trust != TACET_TRUST_NONE || (isinf(g.eps) && g.delta == 1),
            "guarantee: nothing is protected, but eps is not infinity or delta not 1");
    REQUIRE(!g.proven || (isfinite(g.eps) && g.delta < 1), "guarantee: proven, but eps or delta says nothing");
    REQUIRE(!g.proven || filled(g.proof), "guarantee: proven, but no proof is named");
    const char *source = getenv("TACET_SOURCE");
    if (filled(g.proof) && source != NULL) {
        char path[1024];
        const int length = (int)strcspn(g.proof, "#");
        (void)snprintf(path, sizeof path, "%s/%.*s", source, length, g.proof);
        REQUIRE(access(path, R_OK) == 0, "guarantee: the proof %.*s does not exist", length, g.proof);
    }
    ok = true;
done:
    tacet_policy_free(policy);
    return ok;
}

const char *conformance_check(const conformance_problem *problem) {
    if (problem->rounds < 6 || problem->rounds > MOST_ROUNDS) {
        return "the problem needs 6 to 64 rounds";
    }
    check *c = calloc(1, sizeof *c);
    if (c == NULL) {
        return "out of memory";
    }
    c->p = problem;
    message[0] = '\0';
    const bool ok = check_first_run(c) && check_guarantee(c) && check_save_load(c) &&
                    (!problem->any_order || problem->one_at_a_time || check_order(c)) && conformance__bad_input(c) &&
                    conformance__no_memory(c);
    for (size_t i = 0; i <= 2 * problem->rounds; i++) {
        tacet_blob_clear(&c->states[i]);
    }
    free(c);
    return ok ? NULL : message;
}

void test_policy_conformance_at(const conformance_problem *problem, const char *file, int line) {
    const char *wrong = conformance_check(problem);
    if (wrong != NULL) {
        print_error("policy conformance: %s\n", wrong);
        _fail(file, line);
    }
}
