/* SPDX-License-Identifier: Apache-2.0 */
/* conformance_input.c - bad reports, bad rounds and bad saved states, which a policy must refuse without a trace. */
#include "support/conformance_internal.h"
#include "support/test.h"

#include "core/codec.h"

#include <sodium.h>

enum { HASH_BYTES = 32 }; /* at the end of every saved state */

/* A call that must be refused: with `expected`, with a message, without a trace. */
static bool refused(const tacet_policy *policy, const tacet_blob *before, tacet_status status, const tacet_error *err,
                    tacet_status expected, const char *what) {
    bool ok = false;
    REQUIRE(status == expected, "%s gave %s, expected %s", what, tacet_status_name(status),
            tacet_status_name(expected));
    REQUIRE(err->status == status && err->message[0] != '\0' && strchr(err->message, '\n') == NULL,
            "%s was refused without a message of one line", what);
    ok = conformance__unchanged(policy, before, what);
done:
    return ok;
}

static bool refuse_observe(tacet_policy *policy, const tacet_blob *before, uint64_t ticket, double value,
                           tacet_status expected, const char *what) {
    tacet_error err = {0};
    const tacet_status status = tacet_policy_observe(policy, ticket, value, &err);
    return refused(policy, before, status, &err, expected, what) &&
           (tacet_policy_observe(policy, ticket, value, NULL) == expected ||
            (conformance__note("%s without an error", what), false));
}

static bool refuse_round(tacet_policy *policy, const tacet_blob *before, const tacet_round *round, const char *what) {
    tacet_error err = {0};
    tacet_suggestion s = {0};
    const tacet_status status = tacet_policy_suggest(policy, &s, round, &err);
    return refused(policy, before, status, &err, TACET_INVALID, what);
}

static bool check_bad_rounds(check *c, tacet_policy *policy, const tacet_blob *before, size_t k) {
    static const double numbers[8] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8};
    tacet_round good;
    conformance__round_of(c, k, &good);
    tacet_round bad = good;
    bool ok = true;
    bad.context = numbers;
    bad.context_dim = good.context_dim > 0 ? good.context_dim - 1 : 1;
    ok = refuse_round(policy, before, &bad, good.context_dim > 0 ? "a context of the wrong size" : "a context");
    if (ok && good.context_dim > 0) {
        bad.context = NULL;
        bad.context_dim = 0;
        ok = refuse_round(policy, before, &bad, "a round without its context");
    }
    if (good.points == NULL) {
        bad = (tacet_round){.points = numbers, .ld = 1, .d = 1, .count = 2};
        return ok && refuse_round(policy, before, &bad, "a decision set for a fixed domain");
    }
    bad = good;
    bad.points = NULL;
    bad.count = 0;
    ok = ok && refuse_round(policy, before, &bad, "a round without a decision set");
    bad = good;
    bad.count = 0;
    ok = ok && refuse_round(policy, before, &bad, "an empty decision set");
    bad = good;
    bad.ld = good.d - 1;
    ok = ok && refuse_round(policy, before, &bad, "a leading dimension below d");
    bad = (tacet_round){.points = numbers,
                        .ld = good.d > 1 ? good.d - 1 : 2,
                        .d = good.d > 1 ? good.d - 1 : 2,
                        .count = 1,
                        .context = good.context,
                        .context_dim = good.context_dim};
    if (bad.d <= 8) {
        ok = ok && refuse_round(policy, before, &bad, "a decision set of another dimension");
    }
    double *points = calloc(good.d, sizeof *points);
    if (points != NULL) {
        points[good.d - 1] = (double)NAN;
        bad = good;
        bad.points = points;
        bad.ld = good.d;
        bad.count = 1;
        ok = ok && refuse_round(policy, before, &bad, "a coordinate that is not a number");
        free(points);
    }
    return ok;
}

/* The next ticket is open (or none is, when half is even): every kind of bad report and bad round. */
static bool check_bad_calls(check *c, tacet_policy *policy, size_t half) {
    const tacet_blob *state = &c->states[half];
    const size_t k = half / 2;
    const uint64_t given = k + half % 2; /* tickets handed out so far */
    const double fine = c->p->value(c->p->user, 0, &c->suggestions[0]);
    bool ok = refuse_observe(policy, state, 0, fine, TACET_NOT_FOUND, "ticket 0") &&
              refuse_observe(policy, state, given + 1, fine, TACET_NOT_FOUND, "a ticket not given yet") &&
              refuse_observe(policy, state, UINT64_MAX, fine, TACET_NOT_FOUND, "ticket 2^64 - 1");
    if (ok && k > 0) {
        ok = refuse_observe(policy, state, 1, fine, TACET_CONFLICT, "ticket 1 a second time") &&
             refuse_observe(policy, state, k, fine, TACET_CONFLICT, "the last reported ticket a second time");
    }
    if (ok && half % 2 == 1) {
        static const char *const words[] = {"a report of NaN", "a report of infinity", "a report of -infinity"};
        const double values[] = {(double)NAN, (double)INFINITY, -(double)INFINITY};
        for (size_t i = 0; ok && i < 3; i++) {
            ok = refuse_observe(policy, state, given, values[i], TACET_INVALID, words[i]);
        }
        if (ok && c->p->has_impossible) {
            ok = refuse_observe(policy, state, given, c->p->impossible, TACET_INVALID, "an impossible report");
        }
        if (ok && c->p->one_at_a_time && k + 1 < c->p->rounds) {
            tacet_round round;
            tacet_suggestion s = {0};
            tacet_error err = {0};
            conformance__round_of(c, k, &round);
            const tacet_status status = tacet_policy_suggest(policy, &s, c->p->round != NULL ? &round : NULL, &err);
            ok = refused(policy, state, status, &err, TACET_STATE, "a suggestion while another is open");
        }
    }
    return ok && (half % 2 == 1 || half == 2 * c->p->rounds || check_bad_rounds(c, policy, state, k));
}

static bool refuse_state(tacet_policy *policy, const tacet_blob *before, const void *bytes, size_t size,
                         const char *what) {
    tacet_error err = {0};
    const tacet_status status = tacet_policy_load(policy, bytes, size, &err);
    return refused(policy, before, status, &err, TACET_CORRUPT, what);
}

/* A copy of `good` with its body changed and the hash put right again, as a forger would. */
static bool refuse_forged(tacet_policy *policy, const tacet_blob *before, const tacet_blob *good, size_t cut,
                          size_t added) {
    bool ok = false;
    const size_t body = good->size - HASH_BYTES - cut + added;
    unsigned char *forged = calloc(1, body + HASH_BYTES);
    REQUIRE(forged != NULL, "out of memory");
    memcpy(forged, good->data, good->size - HASH_BYTES - cut);
    (void)crypto_generichash(forged + body, HASH_BYTES, forged, body, NULL, 0);
    ok = refuse_state(policy, before, forged, body + HASH_BYTES,
                      cut > 0 ? "a state cut short with its hash put right" : "a state with bytes added");
done:
    free(forged);
    return ok;
}

/* One byte of the body changed and the hash put right: it may be another valid state, or CORRUPT without a trace. */
static bool survive_forged(check *c, const tacet_blob *good, size_t at) {
    bool ok = false;
    tacet_policy *policy = NULL;
    unsigned char *forged = malloc(good->size);
    REQUIRE(forged != NULL, "out of memory");
    memcpy(forged, good->data, good->size);
    forged[at] ^= 0xffU;
    const size_t body = good->size - HASH_BYTES;
    (void)crypto_generichash(forged + body, HASH_BYTES, forged, body, NULL, 0);
    if (!conformance__create(c, &policy)) {
        goto done;
    }
    const tacet_status status = tacet_policy_load(policy, forged, good->size, NULL);
    REQUIRE(status == TACET_OK || status == TACET_CORRUPT, "a state with byte %zu changed gave %s", at,
            tacet_status_name(status));
    ok = status == TACET_OK || conformance__unchanged(policy, &c->states[0], "a refused state");
done:
    free(forged);
    tacet_policy_free(policy);
    return ok;
}

static bool check_bad_states(check *c, tacet_policy *policy, size_t half) {
    bool ok = false;
    const tacet_blob *before = &c->states[half];
    const tacet_blob *good = &c->states[2 * c->p->rounds];
    const size_t stride = 1 + good->size / 48;
    tacet_blob other;
    tacet_blob_init(&other);
    tacet_policy *foreign = NULL;
    unsigned char *copy = malloc(good->size);
    REQUIRE(copy != NULL, "out of memory");
    for (size_t at = 0; at < good->size; at += stride) {
        memcpy(copy, good->data, good->size);
        copy[at] ^= 1U;
        if (!refuse_state(policy, before, copy, good->size, "a state with one bit flipped") ||
            !refuse_state(policy, before, good->data, at, "a state cut short") ||
            (half == 0 && at < good->size - HASH_BYTES && !survive_forged(c, good, at))) {
            goto done;
        }
    }
    if (!refuse_state(policy, before, NULL, 0, "no bytes") || !refuse_forged(policy, before, good, 1, 0) ||
        !refuse_forged(policy, before, good, 8, 0) || !refuse_forged(policy, before, good, 0, 8)) {
        goto done;
    }
    tacet__writer w;
    tacet__write_begin(&w, &other, "no-such-policy", 1);
    tacet__write_u64(&w, 1);
    REQUIRE(tacet__write_end(&w, NULL) == TACET_OK, "out of memory");
    if (!refuse_state(policy, before, other.data, other.size, "a state of another kind of policy")) {
        goto done;
    }
    if (c->p->create_foreign != NULL) {
        REQUIRE(c->p->create_foreign(c->p->user, &foreign, NULL) == TACET_OK, "create_foreign failed");
        if (!conformance__save(foreign, &other) ||
            !refuse_state(policy, before, other.data, other.size, "a state of another problem")) {
            goto done;
        }
    }
    ok = true;
done:
    free(copy);
    tacet_blob_clear(&other);
    tacet_policy_free(foreign);
    return ok;
}

bool conformance__bad_input(check *c) {
    bool ok = false;
    const size_t last = 2 * c->p->rounds;
    const size_t halves[] = {0, 1, 2, 3, c->p->rounds, c->p->rounds + 1, last - 1, last};
    tacet_policy *policy = NULL;
    for (size_t i = 0; i < sizeof halves / sizeof halves[0]; i++) {
        const tacet_blob *state = &c->states[halves[i]];
        tacet_policy_free(policy);
        policy = NULL;
        if (!conformance__create(c, &policy)) {
            goto done;
        }
        REQUIRE(halves[i] == 0 || tacet_policy_load(policy, state->data, state->size, NULL) == TACET_OK, "load failed");
        if (!check_bad_calls(c, policy, halves[i]) || !check_bad_states(c, policy, halves[i])) {
            goto done;
        }
        /* Not only the bytes: what follows is what would have followed. */
        if (!conformance__play(c, policy, halves[i], false) ||
            !conformance__unchanged(policy, &c->states[last], "bad input, though it left the saved state alone,")) {
            goto done;
        }
    }
    ok = true;
done:
    tacet_policy_free(policy);
    return ok;
}
