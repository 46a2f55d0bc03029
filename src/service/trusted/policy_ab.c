/* SPDX-License-Identifier: Apache-2.0 */
/* policy_ab.c - the central policy `ab` for the service: public arms by a fair coin, private rewards, a test that may
 * be looked at all the time (ab/trusted/study.h). Ring: trusted. Cost: that of the policy. */
#include "service/trusted/central.h"
#include "service/trusted/kinds.h"

#include "core/fail.h"
#include "core/memory.h"
#include "service/open/study/space_domain.h"

#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "ab/trusted/study.h"

enum { NAME_MOST = 80 };
static const double ALPHA = 0.05;

/* Coins of two studies with the same public seed must not be the same coins: a visitor of both would get the same arm
 * of both. */
static uint64_t seed_of(const tacet__definition *def) {
    unsigned char hash[crypto_generichash_BYTES_MIN];
    uint64_t seed = def->coin_seed;
    (void)crypto_generichash(hash, sizeof hash, (const unsigned char *)def->name, strlen(def->name), NULL, 0);
    for (size_t i = 0; i < sizeof seed; i++) {
        seed ^= (uint64_t)hash[i] << (8 * i);
    }
    return seed;
}

static void describe(tacet_ab_study_settings *s, const tacet__definition *def) {
    tacet_ab_study_settings_defaults(s);
    s->arms = def->count;
    s->rounds = (size_t)def->rounds;
    tacet__definition_range(def, &s->lower, &s->upper);
    s->eps = def->round_eps;
    s->alpha = ALPHA;
    s->typical = tacet__definition_towards(def, def->typical_reward);
    s->late = (size_t)def->late;
    s->coin_seed = seed_of(def);
}

static tacet_status ab_check(const tacet__definition *def, tacet_error *err) {
    if (def->delta > 0) {
        return tacet__fail(err, TACET_INVALID, "policy 'ab' has pure eps: it takes no delta");
    }
    if (def->count > TACET_AB_ARMS_MOST) {
        return tacet__fail(err, TACET_INVALID, "policy 'ab' takes 2 to %d arms", (int)TACET_AB_ARMS_MOST);
    }
    if (def->rounds > (1U << 22)) {
        return tacet__fail(err, TACET_INVALID, "policy 'ab' takes at most 2^22 rounds");
    }
    if (def->earlier_count > 0) {
        return tacet__fail(err, TACET_INVALID, "policy 'ab' takes no earlier values");
    }
    return TACET_OK;
}

static tacet_status ab_create(tacet__learner *out, const tacet__definition *def, const char *ledger,
                              const void *snapshot, size_t size, tacet_error *err) {
    tacet_ab_study_settings s;
    (void)size;
    describe(&s, def);
    TACET_OR_RETURN(tacet__central_start(out, def, ledger, snapshot == NULL, err));
    const tacet_ask ask = tacet__central_ask(out->self, "sums of rewards of an A/B study", "reward,whether reported");
    return tacet_ab_study_create(&out->policy, &s, &ask, err);
}

/* --- what it says ------------------------------------------------------------------------------------------------- */

/* What people call an arm: the values of its columns, or its number. */
static void name_arm(char out[NAME_MOST], const tacet__definition *def, size_t arm) {
    json_t *point = tacet__space_domain_point(def, arm);
    const char *key = NULL;
    json_t *value = NULL;
    size_t used = 0;
    json_object_foreach(point, key, value) {
        char number[32];
        (void)snprintf(number, sizeof number, "%.6g", json_number_value(value));
        used += (size_t)snprintf(out + used, NAME_MOST - used, "%s%.30s", used > 0 ? ", " : "",
                                 json_is_string(value) ? json_string_value(value) : number);
        used = used < NAME_MOST ? used : NAME_MOST - 1;
    }
    if (used == 0) {
        (void)snprintf(out, NAME_MOST, "arm %zu", arm);
    }
    json_decref(point);
}

static double in_units(const tacet__definition *def, double share) {
    double lo = 0, hi = 0;
    tacet__definition_range(def, &lo, &hi);
    return tacet__definition_back(def, lo + share * (hi - lo));
}

static json_t *arms_json(const tacet_ab_test *test, const tacet__definition *def) {
    json_t *arms = json_array();
    for (size_t i = 0; i < def->count; i++) {
        char name[NAME_MOST];
        const double mean = tacet_ab_test_mean(test, i);
        const tacet_ab_limits limits = tacet_ab_test_limits(test, i);
        const double ends[2] = {in_units(def, limits.lower), in_units(def, limits.upper)};
        name_arm(name, def, i);
        (void)json_array_append_new(arms, json_pack("{ss so sf sf}", "arm", name, "mean",
                                                    isnan(mean) ? json_null() : json_real(in_units(def, mean)), "lower",
                                                    fmin(ends[0], ends[1]), "upper", fmax(ends[0], ends[1])));
    }
    return arms;
}

/* Every pair once, the better arm first. Differences are in the better direction, in units of the reward. */
static json_t *pairs_json(const tacet_ab_test *test, const tacet__definition *def) {
    const double width = def->reward_hi - def->reward_lo;
    json_t *pairs = json_array();
    for (size_t i = 0; i < def->count; i++) {
        for (size_t j = i + 1; j < def->count; j++) {
            const bool first = tacet_ab_test_mean(test, i) > tacet_ab_test_mean(test, j);
            const size_t a = first ? j : i, b = first ? i : j;
            const tacet_ab_comparison c = tacet_ab_test_compare(test, a, b);
            char better[NAME_MOST], other[NAME_MOST];
            name_arm(better, def, b);
            name_arm(other, def, a);
            (void)json_array_append_new(pairs, json_pack("{ss ss sf sf sf sb}", "arm", better, "over", other,
                                                         "difference", width * c.difference, "lower", width * c.lower,
                                                         "upper", width * c.upper, "claimed", (int)(c.lower > 0)));
        }
    }
    return pairs;
}

static json_t *ab_json(const tacet__learner *learner, const tacet__definition *def) {
    const tacet_ab_test *test = tacet_ab_study_test(learner->policy);
    const double tickets = tacet_ab_test_tickets(test);
    const double more = tickets > 0 ? tacet_ab_test_more(test, 1000 * tickets) : INFINITY;
    return json_pack("{ss sf sI so so so}", "kind", "ab", "confidence", 1 - ALPHA, "tickets", (json_int_t)tickets,
                     "arms", arms_json(test, def), "pairs", tickets > 0 ? pairs_json(test, def) : json_array(),
                     "more_tickets", isfinite(more) ? json_integer((json_int_t)more) : json_null());
}

static tacet_status ab_release(const tacet__learner *learner, const tacet__definition *def, json_t **out,
                               tacet_error *err) {
    if (!(tacet_ab_test_tickets(tacet_ab_study_test(learner->policy)) > 0)) {
        return tacet__fail(err, TACET_STATE,
                           "nothing has been released yet: the first epoch has %zu rounds, and has not ended",
                           tacet_ab_epoch_size(def->count, 0));
    }
    *out = ab_json(learner, def);
    return *out != NULL ? TACET_OK : tacet__fail(err, TACET_NO_MEMORY, "out of memory making a release");
}

static tacet_status ab_tell(const tacet__learner *learner, const tacet__definition *def, json_t *status,
                            tacet_error *err) {
    json_t *test = ab_json(learner, def);
    const json_t *more = json_object_get(test, "more_tickets");
    size_t next = 0;
    const size_t issued = tacet_ab_study_issued(learner->policy, &next);
    /* A release counts from its own tickets; whoever asks now, from those that were given since. */
    json_int_t claim = json_integer_value(more);
    claim = claim > 0 ? claim - ((json_int_t)issued - json_integer_value(json_object_get(test, "tickets"))) : 0;
    claim = claim < (json_int_t)next && json_integer_value(more) > 0 ? (json_int_t)next : claim;
    json_t *look = json_pack("{sI so}", "next", (json_int_t)next, "claim",
                             json_is_integer(more) ? json_integer(claim) : json_null());
    return json_object_set_new(status, "test", test) == 0 && json_object_set_new(status, "look", look) == 0
               ? TACET_OK
               : tacet__fail(err, TACET_NO_MEMORY, "out of memory making an answer");
}

const tacet__policy_kind tacet__kind_ab = {.name = "ab",
                                           TACET__KIND_WITH_LEDGER,
                                           .extends = true,         /* each release is of its own tickets */
                                           .index_public = true,    /* a coin that looks at nothing */
                                           .reports_private = true, /* a ticket without one counts 0 */
                                           .failed_is_worst = true,
                                           .check = ab_check,
                                           .create = ab_create,
                                           .free = tacet__central_free,
                                           .release = ab_release,
                                           .tell = ab_tell};
