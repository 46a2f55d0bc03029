/* SPDX-License-Identifier: Apache-2.0 */
/* definition.c - definitions of studies: strict JSON in. The canonical form: definition_write.c.
 * Ring: open. A field that is not known is refused by its name: a misspelt bound must not become a default.
 * Cost: O(bytes). */
#include "service/open/study/definition.h"

#include "core/fail.h"
#include "core/json_text.h"
#include "core/memory.h"
#include "service/open/study/person.h"
#include "service/open/study/space_domain.h"

#include <jansson.h>
#include <math.h>
#include "central/open/outlook.h"
#include <stdlib.h>
#include <string.h>

static const uint64_t MOST_ROUNDS = 100000000; /* a policy reserves memory for its horizon */
static const uint64_t DAY_SECONDS = 86400;
static const double EPS_MOST = 1000;
static const uint64_t MOST_SECONDS = 1000000000;
static const double LARGEST = 1e100;

void tacet__definition_init(tacet__definition *def) {
    *def = (tacet__definition){.rounds = 10000, .reward_hi = 1, .open_most = 1024, .set_most = 256, .set_size = 25};
}

void tacet__definition_clear(tacet__definition *def) {
    if (def != NULL) {
        free(def->description);
        free(def->points);
        free(def->records);
        free(def->earlier);
        tacet_space_clear(&def->space);
        free(def->levels);
        free(def->lower);
        free(def->upper);
        free(def->context_lower);
        free(def->context_upper);
        tacet_space_clear(&def->context_space);
        free(def->lengthscales);
        free(def->groups);
        free(def->covariance);
        *def = (tacet__definition){0};
    }
}

bool tacet__definition_name_valid(const char *name) {
    const size_t length = strlen(name);
    return length >= 1 && length <= TACET__DEFINITION_NAME && name[0] >= 'a' && name[0] <= 'z' &&
           strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_") == length;
}

void tacet__definition_range(const tacet__definition *def, double *lo, double *hi) {
    *lo = def->minimize ? -def->reward_hi : def->reward_lo;
    *hi = def->minimize ? -def->reward_lo : def->reward_hi;
}

double tacet__definition_towards(const tacet__definition *def, double value) {
    return def->minimize ? -value : value;
}

double tacet__definition_back(const tacet__definition *def, double value) {
    return def->minimize ? -value : value;
}

/* --- reading: the first field that is not as it should be is named, all later ones are passed over ---------------- */

typedef struct reading {
    tacet_error *err;
    tacet_status status;
} reading;

static void complain(reading *r, const char *field, const char *rule) {
    if (r->status == TACET_OK) {
        r->status = tacet__fail(r->err, TACET_PARSE, "study: field '%.64s' %s", field, rule);
    }
}

static void out_of_memory(reading *r) {
    if (r->status == TACET_OK) {
        r->status = tacet__fail(r->err, TACET_NO_MEMORY, "out of memory reading a study");
    }
}

/* Memory for count things, zeroed; where there is none, that is what is wrong. */
static void *room(reading *r, size_t count, size_t size) {
    void *block = tacet__zalloc(count, size);
    if (block == NULL) {
        out_of_memory(r);
    }
    return block;
}

/* Every key must be one of the names, which end with a NULL. */
static void allow_only(reading *r, json_t *object, const char *const *names) {
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach(object, key, value) {
        size_t i = 0;
        while (names[i] != NULL && strcmp(names[i], key) != 0) {
            i++;
        }
        if (names[i] == NULL) {
            complain(r, key, "is not known");
        }
    }
}

static double real_of(reading *r, const json_t *value, const char *field, double missing) {
    if (value == NULL && isfinite(missing)) {
        return missing;
    }
    if (!json_is_number(value)) {
        complain(r, field, "must be a number");
        return 0;
    }
    const double number = json_number_value(value);
    if (!(fabs(number) <= LARGEST)) {
        complain(r, field, "must be a number of at most 1e100");
        return 0;
    }
    return number;
}

static uint64_t whole_of(reading *r, const json_t *object, const char *field, uint64_t missing, uint64_t least,
                         uint64_t most) {
    const json_t *value = json_object_get(object, field);
    if (value == NULL) {
        return missing;
    }
    if (!json_is_integer(value) || json_integer_value(value) < 0) {
        complain(r, field, "must be a whole number");
        return missing;
    }
    const uint64_t number = (uint64_t)json_integer_value(value);
    if (number < least || number > most) {
        char rule[64];
        (void)snprintf(rule, sizeof rule, "must be from %llu to %llu", (unsigned long long)least,
                       (unsigned long long)most);
        complain(r, field, rule);
    }
    return number;
}

static void word_of(reading *r, char out[TACET__DEFINITION_WORD], const json_t *object, const char *field,
                    const char *missing) {
    const json_t *value = json_object_get(object, field);
    const char *text = value == NULL ? missing : json_string_value(value);
    if (text == NULL || strlen(text) >= TACET__DEFINITION_WORD) {
        complain(r, field, "must be a short text");
        return;
    }
    memcpy(out, text, strlen(text) + 1);
}

/* One of two words; the first is the default. */
static bool second_of(reading *r, const json_t *object, const char *field, const char *first, const char *second,
                      bool required) {
    const json_t *value = json_object_get(object, field);
    if (value == NULL && !required) {
        return false;
    }
    const char *text = json_string_value(value);
    if (text == NULL || (strcmp(text, first) != 0 && strcmp(text, second) != 0)) {
        char rule[80];
        (void)snprintf(rule, sizeof rule, "must be \"%s\" or \"%s\"", first, second);
        complain(r, field, rule);
        return false;
    }
    return strcmp(text, second) == 0;
}

static json_t *object_of(reading *r, const json_t *root, const char *field, const char *const *names) {
    json_t *value = json_object_get(root, field);
    if (!json_is_object(value)) {
        complain(r, field, "must be an object");
        return NULL;
    }
    allow_only(r, value, names);
    return value;
}

/* An array of least … most numbers into *out (from malloc). */
static size_t reals_of(reading *r, double **out, const json_t *value, const char *field, size_t least, size_t most) {
    const size_t count = json_array_size(value);
    if (!json_is_array(value) || count < least || count > most) {
        complain(r, field, "must be an array of numbers, of the right length");
        return 0;
    }
    *out = room(r, count, sizeof **out);
    for (size_t i = 0; *out != NULL && i < count; i++) {
        (*out)[i] = real_of(r, json_array_get(value, i), field, (double)NAN);
    }
    return *out != NULL ? count : 0;
}

/* An array of exactly count whole numbers of at most `most`, none of them `never`, into *out (from malloc). */
static void wholes_of(reading *r, size_t **out, const json_t *value, const char *field, size_t count, size_t most,
                      size_t never, const char *rule) {
    if (!json_is_array(value) || json_array_size(value) != count) {
        complain(r, field, rule);
        return;
    }
    *out = room(r, count, sizeof **out);
    for (size_t i = 0; *out != NULL && i < count; i++) {
        const double number = json_number_value(json_array_get(value, i));
        if (!json_is_number(json_array_get(value, i)) || !(number >= 0 && number <= (double)most) ||
            number != floor(number) || number == (double)never) {
            complain(r, field, rule);
            return;
        }
        (*out)[i] = (size_t)number;
    }
}

static void read_points(reading *r, tacet__definition *s, const json_t *points) {
    s->count = json_array_size(points);
    s->d = json_array_size(json_array_get(points, 0));
    if (!json_is_array(points) || s->count < 2 || s->count > TACET__DEFINITION_ARMS || s->d < 1 ||
        s->d > TACET__DEFINITION_DIMS) {
        complain(r, "domain.points", "must be 2 to 4096 points of 1 to 64 numbers each");
        return;
    }
    s->points = room(r, s->d * s->count, sizeof *s->points);
    for (size_t i = 0; i < s->count && r->status == TACET_OK; i++) {
        const json_t *point = json_array_get(points, i);
        if (json_array_size(point) != s->d) {
            complain(r, "domain.points", "must have equally many numbers in every point");
        }
        for (size_t c = 0; c < s->d && r->status == TACET_OK; c++) {
            s->points[i * s->d + c] = real_of(r, json_array_get(point, c), "domain.points", (double)NAN);
        }
    }
}

/* Lower and upper bounds; how many coordinates they have. */
static size_t read_box(reading *r, double **lower, double **upper, const json_t *object, const char *field) {
    const size_t d = reals_of(r, lower, json_object_get(object, "lower"), field, 1, TACET__DEFINITION_DIMS);
    if (d > 0) {
        (void)reals_of(r, upper, json_object_get(object, "upper"), field, d, d);
    }
    const bool both = r->status == TACET_OK && *lower != NULL && *upper != NULL;
    for (size_t i = 0; both && i < d; i++) {
        if (!((*lower)[i] < (*upper)[i])) {
            complain(r, field, "needs every lower bound below its upper bound");
        }
    }
    return d;
}

static void read_domain(reading *r, tacet__definition *s, const json_t *root) {
    static const char *const NAMES[] = {"points", "lower", "upper", "levels", "context", "space", "candidates", NULL};
    static const char *const BOUNDS[] = {"lower", "upper", "space", NULL};
    const json_t *domain = object_of(r, root, "domain", NAMES);
    const json_t *points = json_object_get(domain, "points");
    if (domain == NULL) {
        return;
    }
    if (json_object_get(domain, "context") != NULL) {
        const json_t *context = object_of(r, domain, "context", BOUNDS);
        if (json_object_get(context, "space") != NULL && r->status == TACET_OK) {
            if (json_object_size(context) != 1) {
                complain(r, "domain.context", "has either a space, or lower and upper bounds");
                return;
            }
            r->status = tacet__space_context_read(s, json_object_get(context, "space"), r->err);
        } else {
            s->context_dim = read_box(r, &s->context_lower, &s->context_upper, context, "domain.context");
        }
    }
    if (json_object_get(domain, "space") != NULL) {
        if (points != NULL || json_object_get(domain, "lower") != NULL || json_object_get(domain, "upper") != NULL) {
            complain(r, "domain", "has either a space, or points, or lower and upper bounds");
        }
        const uint64_t candidates = whole_of(r, domain, "candidates", 1024, 2, TACET__DEFINITION_ARMS);
        if (r->status == TACET_OK) {
            r->status = tacet__space_domain_read(s, json_object_get(domain, "space"), (size_t)candidates, r->err);
        }
        return;
    }
    if (points == NULL) {
        s->d = read_box(r, &s->lower, &s->upper, domain, "domain bounds");
        if (json_object_get(domain, "levels") != NULL && r->status == TACET_OK) {
            wholes_of(r, &s->levels, json_object_get(domain, "levels"), "domain.levels", s->d, 1000000, 1,
                      "must be one whole number for each coordinate: 0 for any value, 2 or more");
        }
        return;
    }
    if (json_object_get(domain, "lower") != NULL || json_object_get(domain, "upper") != NULL ||
        json_object_get(domain, "levels") != NULL) {
        complain(r, "domain", "has either points, or lower and upper bounds");
    }
    read_points(r, s, points);
}

/* What is known of some points before the study begins: [index, value, sd] each. */
static void read_earlier(reading *r, tacet__definition *s, const json_t *earlier) {
    const size_t count = json_array_size(earlier);
    if (earlier == NULL || r->status != TACET_OK) {
        return;
    }
    if (count == 0 || count > TACET__DEFINITION_ARMS || s->count == 0) {
        complain(r, "prior.earlier", "must be a list of at most 4096 values of a space's or a list's points");
        return;
    }
    s->earlier = room(r, 3 * count, sizeof *s->earlier);
    s->earlier_count = s->earlier != NULL ? count : 0;
    for (size_t i = 0; i < s->earlier_count; i++) {
        const json_t *one = json_array_get(earlier, i);
        double *e = s->earlier + 3 * i;
        bool good = json_array_size(one) == 3;
        for (size_t c = 0; good && c < 3; c++) {
            e[c] = json_number_value(json_array_get(one, c));
            good = json_is_number(json_array_get(one, c)) && isfinite(e[c]);
        }
        if (!good || !(e[0] >= 0 && e[0] < (double)s->count && e[0] == floor(e[0])) || !(e[2] > 0)) {
            complain(r, "prior.earlier", "must be [index of a point, value, standard deviation above 0] each");
            return;
        }
    }
}

enum { COVARIANCE_MOST = 256 };

/* Coordinates whose effects add up: [0, 0, 1] is a sum of a function of the first two and one of the third. */
static void read_groups(reading *r, tacet__definition *s, const json_t *value) {
    const size_t d = s->d + s->context_dim;
    if (value != NULL && (s->count == 0 || s->space.count > 0)) {
        complain(r, "prior.groups", "needs a domain that is a list of points");
    } else if (value != NULL) {
        wholes_of(r, &s->groups, value, "prior.groups", d, d - 1, SIZE_MAX,
                  "must be whole numbers from 0, one for each coordinate");
    }
}

/* A covariance of the points that is known otherwise than by distances. */
static void read_covariance(reading *r, tacet__definition *s, const json_t *value) {
    const bool asked = strcmp(s->kernel, "precomputed") == 0;
    if (asked != (value != NULL) ||
        (asked && (s->count == 0 || s->count > COVARIANCE_MOST || s->space.count > 0 || s->groups != NULL))) {
        complain(r, "prior.covariance",
                 "goes with the kernel \"precomputed\" and a domain that is a list of at most 256 points");
    } else if (asked) {
        (void)reals_of(r, &s->covariance, value, "prior.covariance", s->count * s->count, s->count * s->count);
    }
}

/* One number for all coordinates, one each, or over a space one for each column or none (the usual ones); kinds that
 * measure no distances have none, and keep a 1 that nothing reads. */
static void read_lengthscales(reading *r, tacet__definition *s, const json_t *prior) {
    const json_t *scale = json_object_get(prior, "lengthscale");
    const bool none = scale == NULL && s->space.count == 0 &&
                      (json_object_get(prior, "covariance") != NULL || strcmp(s->policy, "contextual") == 0 ||
                       strcmp(s->policy, "ab") == 0);
    if (none || json_is_number(scale)) {
        s->lengthscales = room(r, 1, sizeof *s->lengthscales);
        if (s->lengthscales == NULL) {
            return;
        }
        s->lengthscale_count = 1;
        s->lengthscales[0] = none ? 1 /* of nothing */ : real_of(r, scale, "prior.lengthscale", (double)NAN);
    } else if (scale != NULL || s->space.count == 0) {
        s->lengthscale_count =
            reals_of(r, &s->lengthscales, scale, "prior.lengthscale", 1, 2 * (size_t)TACET__DEFINITION_DIMS);
    }
    for (size_t i = 0; r->status == TACET_OK && i < s->lengthscale_count; i++) {
        if (!(s->lengthscales[i] > 0)) {
            complain(r, "prior.lengthscale", "must be above 0");
        }
    }
    if (r->status == TACET_OK && s->space.count > 0) {
        r->status = tacet__space_domain_scales(s, r->err);
        r->status = r->status == TACET_INVALID ? TACET_PARSE : r->status;
    }
    if (r->status == TACET_OK && s->lengthscale_count != 1 && s->lengthscale_count != s->d + s->context_dim) {
        complain(r, "prior.lengthscale", "must be one number, or one for each coordinate");
    }
}

/* Their range, and the one that is expected. */
static void read_rewards(reading *r, tacet__definition *s, const json_t *prior) {
    double *reward = NULL;
    if (reals_of(r, &reward, json_object_get(prior, "reward"), "prior.reward", 2, 2) == 2) {
        s->reward_lo = reward[0];
        s->reward_hi = reward[1];
        if (!(reward[0] < reward[1])) {
            complain(r, "prior.reward", "must be [lo, hi] with lo below hi");
        }
    }
    free(reward);
    const double middle = s->reward_lo + (s->reward_hi - s->reward_lo) / 2;
    s->typical_reward = real_of(r, json_object_get(prior, "typical_reward"), "prior.typical_reward", middle);
    if (r->status == TACET_OK && !(s->typical_reward > s->reward_lo && s->typical_reward < s->reward_hi)) {
        complain(r, "prior.typical_reward", "must lie between the ends of prior.reward");
    }
    if (s->typical_reward != middle && strcmp(s->policy, "central") != 0 && strcmp(s->policy, "ab") != 0) {
        complain(r, "prior.typical_reward", "is for the policies central and ab");
    }
}

static void read_prior(reading *r, tacet__definition *s, const json_t *root) {
    static const char *const CENTRAL[] = {"kernel",  "lengthscale", "reward", "typical_reward",
                                          "earlier", "groups",      NULL};
    static const char *const LOCAL[] = {"kernel", "lengthscale", "reward", "mean",       "bound",
                                        "noise",  "earlier",     "groups", "covariance", NULL};
    const bool local = s->trust == TACET_TRUST_LOCAL;
    const json_t *prior = object_of(r, root, "prior", local ? LOCAL : CENTRAL);
    if (prior == NULL) {
        return;
    }
    word_of(r, s->kernel, prior, "kernel", s->space.count > 0 ? "se" : "matern52");
    read_lengthscales(r, s, prior);
    read_rewards(r, s, prior);
    read_earlier(r, s, json_object_get(prior, "earlier"));
    read_groups(r, s, json_object_get(prior, "groups"));
    if (r->status == TACET_OK) {
        read_covariance(r, s, json_object_get(prior, "covariance"));
    }
    if (local) {
        const double half = (s->reward_hi - s->reward_lo) / 2;
        s->mean = real_of(r, json_object_get(prior, "mean"), "prior.mean", s->reward_lo + half);
        s->bound_given = json_object_get(prior, "bound") != NULL;
        s->bound = real_of(r, json_object_get(prior, "bound"), "prior.bound", half);
        s->noise = real_of(r, json_object_get(prior, "noise"), "prior.noise", half);
        if (!(s->bound > 0) || !(s->noise >= 0)) {
            complain(r, "prior", "needs a bound above 0 and a noise of at least 0");
        }
    }
}

static void read_budget(reading *r, tacet__definition *s, const json_t *root) {
    static const char *const LOCAL[] = {"eps", NULL};
    static const char *const CENTRAL[] = {"eps", "delta", NULL};
    const bool local = s->trust == TACET_TRUST_LOCAL;
    const json_t *budget = object_of(r, root, "budget", local ? LOCAL : CENTRAL);
    if (budget == NULL) {
        return;
    }
    s->eps = real_of(r, json_object_get(budget, "eps"), "budget.eps", (double)NAN);
    if (!(s->eps > 0 && s->eps <= EPS_MOST)) {
        complain(r, "budget.eps", "must be above 0 and at most 1000, and above 10 it protects hardly anybody");
    }
    if (!local) {
        s->delta = real_of(r, json_object_get(budget, "delta"), "budget.delta", 0);
        if (!(s->delta >= 0 && s->delta < 1)) {
            complain(r, "budget.delta", "must be at least 0 and below 1");
        }
    }
}

/* How often a point is played before its sum is released: as the outlook advises, once, when the study is defined. */
static void read_each(reading *r, tacet__definition *s, const json_t *options) {
    tacet_central_outlook outlook = {0};
    if (!tacet__definition_direct(s) || r->status != TACET_OK) {
        if (json_object_get(options, "each") != NULL) {
            complain(r, "options.each", "is for the policy fixed");
        }
        return;
    }
    if (s->rounds > TACET_CENTRAL_DIRECT_ROUNDS) {
        complain(r, "rounds", "must be at most 100000 with the policy fixed");
        return;
    }
    const tacet_central_arms arms = tacet__definition_arms(s);
    if (arms.space == NULL && arms.count == 0) {
        return; /* contexts: the policy refuses them */
    }
    r->status = tacet_central_direct_outlook(&outlook, &arms, s->rounds, s->round_eps, r->err);
    s->each = whole_of(r, options, "each", outlook.each, 1, s->rounds);
    if (r->status == TACET_OK && s->rounds / s->each > TACET_CENTRAL_DIRECT_VISITS) {
        complain(r, "options.each", "must be so large that at most 4096 points are played");
    }
}

static void read_options(reading *r, tacet__definition *s, const json_t *root) {
    static const char *const LOCAL[] = {"randomizer", "parameters", "ticket_seconds", "person_rounds", NULL};
    static const char *const SETS[] = {"randomizer",     "features",      "released", "set_size",
                                       "ticket_seconds", "person_rounds", NULL};
    static const char *const CENTRAL[] = {"open_most", "set_most",       "set_size",      "features", "coin_seed",
                                          "late",      "ticket_seconds", "person_rounds", "each",     NULL};
    const bool local = s->trust == TACET_TRUST_LOCAL;
    const json_t *options = json_object_get(root, "options");
    if (options != NULL) {
        options = object_of(r, root, "options", tacet__definition_device_sets(s) ? SETS : local ? LOCAL : CENTRAL);
    }
    s->ticket_seconds = whole_of(r, options, "ticket_seconds", DAY_SECONDS, 0, MOST_SECONDS);
    s->person_rounds = whole_of(r, options, "person_rounds", 1, 1, 1000000);
    /* A definition's eps is what a person's rounds that count cost together; each of them gets what k of it add up to.
     * In a local study every report was sent before any cap, so it is the eps of one. */
    const double delta = tacet__definition_direct(s) ? 0 : s->delta; /* pure: rounds of a person add up */
    s->round_eps = local ? s->eps : tacet__eps_of_a_round(s->eps, delta, (double)s->person_rounds);
    if (r->status == TACET_OK && !(s->round_eps > 0)) {
        complain(
            r, "options.person_rounds",
            "is too much for this eps and delta: so many rounds of delta alone cost more. A larger eps or a smaller "
            "delta would do");
    }
    if (tacet__definition_device_sets(s)) {
        word_of(r, s->randomizer, options, "randomizer", "sphere");
        s->set_size = (size_t)whole_of(r, options, "set_size", s->set_size, 1, TACET__DEFINITION_ARMS);
        s->features = (size_t)whole_of(r, options, "features", 25, 1, 200);
        s->released = (size_t)whole_of(r, options, "released", s->features > 15 ? 15 : s->features, 1, s->features);
        return;
    }
    if (local) {
        word_of(r, s->randomizer, options, "randomizer", "hybrid");
        /* The kernel's norm of f is not bounded by its range: whoever wants a proven width must state it. */
        word_of(r, s->parameters, options, "parameters", s->bound_given ? "tight" : "tuned");
        if (!s->bound_given && (strcmp(s->parameters, "tight") == 0 || strcmp(s->parameters, "literal") == 0)) {
            complain(
                r, "prior.bound",
                "must be given for tight or literal parameters: their widths hold where |f - mean| is at most that "
                "in the kernel's norm; tuned parameters need none, and promise none");
        }
        return;
    }
    s->open_most = (size_t)whole_of(r, options, "open_most", s->open_most, 1, 100000);
    s->set_most = (size_t)whole_of(r, options, "set_most", s->set_most, 1, TACET__DEFINITION_ARMS);
    s->set_size = (size_t)whole_of(r, options, "set_size", s->set_size, 1, TACET__DEFINITION_ARMS);
    const size_t usual = s->d <= 2 || s->space.count > 0 ? 40 : s->d == 3 || s->count == 0 ? 60 : 80;
    s->features = (size_t)whole_of(r, options, "features", usual, 1, 500);
    s->coin_seed = whole_of(r, options, "coin_seed", 1, 0, INT64_MAX);
    s->late = whole_of(r, options, "late", 0, 0, s->rounds);
    if (s->late > 0 && strcmp(s->policy, "contextual") != 0 && strcmp(s->policy, "ab") != 0) {
        complain(r, "options.late", "is for contextual and A/B studies");
    }
    if (r->status == TACET_OK) {
        read_each(r, s, options);
    }
}

static void read_study(reading *r, tacet__definition *s, json_t *root) {
    static const char *const NAMES[] = {"format", "name",   "description", "trust", "policy",  "direction",
                                        "rounds", "budget", "domain",      "prior", "options", NULL};
    allow_only(r, root, NAMES);
    const json_t *format = json_object_get(root, "format");
    if (format != NULL &&
        (!json_is_string(format) || strcmp(json_string_value(format), TACET__DEFINITION_FORMAT) != 0)) {
        complain(r, "format", "must be \"tacet-study-1\"");
    }
    const char *name = json_string_value(json_object_get(root, "name"));
    if (name == NULL || !tacet__definition_name_valid(name)) {
        complain(r, "name", "must be 1 to 48 of a-z 0-9 _ - and begin with a letter");
    } else {
        memcpy(s->name, name, strlen(name) + 1);
    }
    const json_t *description = json_object_get(root, "description");
    const char *text = description == NULL ? "" : json_string_value(description);
    if (text == NULL || strlen(text) > TACET__DEFINITION_TEXT) {
        complain(r, "description", "must be a text of at most 1000 bytes");
    } else if ((s->description = strdup(text)) == NULL) {
        out_of_memory(r);
    }
    s->trust = second_of(r, root, "trust", "local", "central", true) ? TACET_TRUST_CENTRAL : TACET_TRUST_LOCAL;
    const bool space = json_object_get(json_object_get(root, "domain"), "space") != NULL;
    word_of(r, s->policy, root, "policy", s->trust == TACET_TRUST_LOCAL ? "ucb" : space ? "fixed" : "central");
    s->minimize = second_of(r, root, "direction", "maximize", "minimize", false);
    s->rounds = whole_of(r, root, "rounds", s->rounds, 1, MOST_ROUNDS);
    read_budget(r, s, root);
    read_domain(r, s, root);
    read_prior(r, s, root);
    read_options(r, s, root);
}

tacet_status tacet__definition_decode(tacet__definition *out, const char *text, size_t length, tacet_error *err) {
    tacet__definition_init(out);
    if (length > TACET__DEFINITION_BYTES) {
        return tacet__fail(err, TACET_PARSE, "study: the definition is too large");
    }
    json_error_t where;
    json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &where);
    reading r = {.err = err, .status = TACET_OK};
    if (!json_is_object(root)) {
        r.status = root != NULL ? tacet__fail(err, TACET_PARSE, "study: must be a JSON object")
                   : tacet__json_no_memory(&where)
                       ? tacet__fail(err, TACET_NO_MEMORY, "out of memory reading a study")
                       : tacet__fail(err, TACET_PARSE, "study: not JSON at line %d: %.80s", where.line, where.text);
    } else {
        read_study(&r, out, root);
    }
    json_decref(root);
    if (r.status != TACET_OK) {
        tacet__definition_clear(out);
    }
    return r.status;
}
