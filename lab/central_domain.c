/* SPDX-License-Identifier: Apache-2.0 */
/* central_domain.c - fixed-domain problems of section 6.2, and their simulation. Ring: programs; made-up data. */
#include "central_domain.h"

#include "core/fail.h"
#include "gp/domain.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "gp/features.h"
#include <tacet/core/simrng.h>

enum { CAMEL_SIDE = 31, LEVELS = 41, GROUPS_MOST = 20 };
static const double REWARD_SD = 0.1;
static const double NO_NOISE = 1e6; /* an eps */

typedef struct scenario {
    const char *name;
    size_t groups, choices, dim; /* dim: coordinates of one group's points */
    double lower, upper;         /* of a coordinate, where there is one a group */
    double lengthscale;          /* of the kernel of one group: part of the public model */
    size_t features;             /* of one group */
    size_t order;                /* of the published algorithm's quadrature, of one group; 0: see few_landmarks */
} scenario;

/* box: points spread over the unit box, a function drawn for each trial. By dimension: points. */
enum { BOX_LEAST = 2, BOX_MOST = 4 };
static const size_t BOX_POINTS[] = {500, 1000, 1000};
static const double BOX_LENGTHSCALE = 0.5, BOX_LOW = 0.1, BOX_HIGH = 0.9;

static const scenario SCENARIOS[] = {{"camelback", 1, (size_t)CAMEL_SIDE *CAMEL_SIDE, 2, 0, 0, 1.2, 20, 0},
                                     {"styblinski20", 20, LEVELS, 1, -4, 4, 2.5, 6, 8},
                                     {"michalewicz10", 10, LEVELS, 1, 0, 1, 0.5, 6, 6}};

struct central_domain {
    const scenario *scenario;
    scenario own;        /* box: what `scenario` points to */
    central_world world; /* box: what functions are drawn from */
    bool drawn;
    double noise;             /* standard deviation of a reward; 0: rewards of 0 and 1 */
    double *value;            /* choices x groups, scaled: the groups' values add up to the function */
    tacet_features *features; /* of the published algorithm */
    double *X;                /* dim x choices: the points of the last group */
    tacet_space space;        /* of many groups: a column each */
};

/* The point of a choice (the second camel coordinate doubled, so that one lengthscale fits both), and its raw value. */
static double point(const scenario *s, size_t group, size_t choice, double *x) {
    if (s->dim == 2) {
        const size_t row = choice / CAMEL_SIDE, column = choice % CAMEL_SIDE;
        const double a = -2 + 4 * (double)column / (CAMEL_SIDE - 1);
        const double b = -1 + 2 * (double)row / (CAMEL_SIDE - 1);
        x[0] = a;
        x[1] = 2 * b;
        return -((4 - 2.1 * a * a + a * a * a * a / 3) * a * a + a * b + (-4 + 4 * b * b) * b * b);
    }
    const double v = s->lower + (s->upper - s->lower) * (double)choice / (double)(s->choices - 1);
    x[0] = v;
    if (s->groups == 20) {
        return -0.5 * (v * v * v * v - 16 * v * v + 5 * v);
    }
    const double wave = sin((double)group * v * v / acos(-1));
    return sin(v) * wave * wave;
}

/* Points, and values where the function is given. */
static void fill_group(central_domain *d, size_t g) {
    const scenario *s = d->scenario;
    if (d->drawn) {
        const tacet_domain box = central_world_domain(&d->world);
        tacet__domain_spread(&box, d->X, s->choices);
    }
    for (size_t c = 0; !d->drawn && c < s->choices; c++) {
        d->value[c + g * s->choices] = point(s, g, c, d->X + c * s->dim);
    }
}

/* What a study over many groups is asked for: a real column each, of which a point counts as the nearest choice. */
static tacet_status fill_space(central_domain *d, tacet_error *err) {
    char text[1024] = "";
    for (size_t g = 0; g < d->scenario->groups; g++) {
        (void)snprintf(text + strlen(text), sizeof text - strlen(text), "%sx%zu=%g:%g", g > 0 ? "," : "", g,
                       d->scenario->lower, d->scenario->upper);
    }
    const tacet_space_options options = {.bounds = text};
    return tacet_space_short(&d->space, &options, err);
}

/* Features for the published algorithm, which evaluates them at all arms every round: from a coarse grid of landmarks,
 * so that this costs 49 kernel values an arm instead of 961. */
static tacet_status few_landmarks(central_domain *d, const tacet_kernel *kernel, tacet_error *err) {
    enum { EVERY = 5, SIDE = CAMEL_SIDE / EVERY + 1 };
    double Z[2 * SIDE * SIDE];
    for (size_t i = 0; i < (size_t)SIDE * SIDE; i++) {
        const size_t row = i / SIDE * EVERY, column = i % SIDE * EVERY;
        memcpy(Z + 2 * i, d->X + 2 * (row * CAMEL_SIDE + column), 2 * sizeof *Z);
    }
    return tacet_features_create_nystrom(&d->features, kernel, Z, 2, (size_t)SIDE * SIDE, d->scenario->features, err);
}

/* Additive quadrature Fourier features, as in the paper: one coordinate a group. */
static tacet_status additive(central_domain *d, tacet_error *err) {
    const scenario *s = d->scenario;
    size_t groups[GROUPS_MOST];
    tacet_kernel_spec spec;
    tacet_kernel *kernel = NULL;
    for (size_t g = 0; g < s->groups; g++) {
        groups[g] = g;
    }
    tacet_kernel_spec_defaults(&spec);
    spec.d = s->groups;
    spec.lengthscales = &s->lengthscale;
    spec.groups = groups;
    spec.group_count = s->groups;
    tacet_status status = tacet_kernel_create(&kernel, &spec, err);
    TACET_THEN(status, tacet_features_create_qff(&d->features, kernel, s->order, err));
    tacet_kernel_free(kernel);
    return status;
}

static void scale(central_domain *d) {
    const scenario *s = d->scenario;
    double range = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t g = 0; g < s->groups; g++) {
            double *v = d->value + g * s->choices, low = INFINITY, high = -INFINITY;
            for (size_t c = 0; c < s->choices; c++) {
                low = fmin(low, v[c]);
                high = fmax(high, v[c]);
            }
            for (size_t c = 0; pass == 1 && c < s->choices; c++) {
                v[c] = (v[c] - low) / range;
            }
            range += pass == 0 ? high - low : 0;
        }
    }
}

static const scenario *find_scenario(central_domain *d, const char *name, size_t dim, double noise, tacet_error *err) {
    for (size_t i = 0; i < sizeof SCENARIOS / sizeof SCENARIOS[0]; i++) {
        if (strcmp(name, SCENARIOS[i].name) == 0) {
            d->noise = REWARD_SD;
            return &SCENARIOS[i];
        }
    }
    if (strcmp(name, "box") != 0 || dim < BOX_LEAST || dim > BOX_MOST || !(noise >= 0)) {
        (void)tacet__fail(err, TACET_INVALID,
                          "--world is contextual, camelback, styblinski20, michalewicz10, or box with --dims %d to %d",
                          BOX_LEAST, BOX_MOST);
        return NULL;
    }
    d->drawn = true;
    d->noise = noise;
    d->world = (central_world){.dim = dim,
                               .lengthscale = BOX_LENGTHSCALE,
                               .noise = noise,
                               .drawn = true,
                               .lo = BOX_LOW,
                               .hi = BOX_HIGH,
                               .skew = 1};
    d->own = (scenario){
        .name = "box", .groups = 1, .choices = BOX_POINTS[dim - BOX_LEAST], .dim = dim, .lengthscale = BOX_LENGTHSCALE};
    return &d->own;
}

tacet_status central_domain_create(central_domain **out, const char *name, size_t dim, double noise, tacet_error *err) {
    *out = NULL;
    central_domain *d = calloc(1, sizeof *d);
    if (d == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a domain");
    }
    const scenario *s = find_scenario(d, name, dim, noise, err);
    if (s == NULL) {
        free(d);
        return TACET_INVALID;
    }
    d->scenario = s;
    tacet_kernel_spec spec;
    tacet_kernel_spec_defaults(&spec);
    spec.d = s->dim;
    spec.lengthscales = &s->lengthscale;
    if (d->drawn) {
        spec.kind = TACET_KERNEL_MATERN;
        spec.matern_p = 2;
    }
    tacet_kernel *kernel = NULL;
    tacet_status status = tacet_kernel_create(&kernel, &spec, err);
    tacet_space_init(&d->space);
    d->X = malloc(s->choices * s->dim * sizeof(double));
    d->value = calloc(s->groups * s->choices, sizeof(double));
    if (status == TACET_OK && (d->value == NULL || d->X == NULL)) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory for a domain");
    }
    for (size_t g = 0; status == TACET_OK && g < s->groups; g++) {
        fill_group(d, g);
    }
    status = status == TACET_OK && s->groups > 1 ? fill_space(d, err) : status;
    if (status == TACET_OK && !d->drawn) {
        status = s->groups == 1 ? few_landmarks(d, kernel, err) : additive(d, err);
    }
    tacet_kernel_free(kernel);
    if (status != TACET_OK) {
        central_domain_free(d);
        return status;
    }
    if (!d->drawn) {
        scale(d);
    }
    *out = d;
    return TACET_OK;
}

void central_domain_free(central_domain *d) {
    if (d != NULL) {
        tacet_features_free(d->features);
        tacet_space_clear(&d->space);
        free(d->X);
        free(d->value);
        free(d);
    }
}

/* What a run has cost so far, and after each tenth of its rounds. */
typedef struct track {
    double regret, *curve; /* curve: 10 */
    uint64_t t, rounds;
    const double *value; /* of the choices; the groups' add up */
    double top;          /* the best mean there is */
} track;

static double mean_of(const central_domain *d, const track *k, const size_t *arm) {
    double sum = 0;
    for (size_t g = 0; g < d->scenario->groups; g++) {
        sum += k->value[arm[g] + g * d->scenario->choices];
    }
    return sum;
}

static void lose(track *k, double mean) {
    k->regret += k->top - mean;
    k->t++;
    for (uint64_t c = 0; c < 10; c++) {
        if (k->t == (k->rounds * (c + 1) + 9) / 10) {
            k->curve[c] = k->regret;
        }
    }
}

static double reward(const central_domain *d, double mean, tacet_simrng *rng) {
    if (d->noise == 0) {
        return tacet_simrng_uniform(rng) < mean ? 1 : 0;
    }
    return fmin(fmax(mean + d->noise * tacet_simrng_normal(rng), 0), 1);
}

/* The choices of an index: itself, or those nearest to the record it names. */
static tacet_status choices_of(const central_domain *d, const tacet_policy *policy, size_t *arm, size_t index,
                               tacet_error *err) {
    const scenario *s = d->scenario;
    double record[GROUPS_MOST];
    if (s->groups == 1) {
        arm[0] = index;
        return TACET_OK;
    }
    const tacet_status status = tacet_central_direct_record(policy, record, index, err);
    for (size_t g = 0; status == TACET_OK && g < s->groups; g++) {
        arm[g] = (size_t)rint((record[g] - s->lower) / (s->upper - s->lower) * (double)(s->choices - 1));
    }
    return status;
}

/* A study as it ships, or its search without noise. */
static tacet_status run_study(const central_domain *d, track *out, size_t *best, double eps, uint64_t seed,
                              uint64_t trial, size_t *arm, tacet_simrng *rng, tacet_error *err) {
    const scenario *s = d->scenario;
    tacet_central_arms arms = {.space = &d->space};
    if (s->groups <= 1) {
        arms = (tacet_central_arms){NULL, d->X, s->dim, s->choices};
    }
    tacet_noise *noise = NULL;
    tacet_policy *policy = NULL;
    tacet_central_outlook outlook;
    tacet_recommendation found;
    tacet_central_direct_settings own;
    tacet_central_direct_settings_defaults(&own);
    own.eps = eps;
    own.rounds = out->rounds;
    own.coin_seed = seed + 1000003 * trial;
    tacet_status status = tacet_noise_open_seeded(&noise, seed, trial, err);
    TACET_THEN(status, tacet_central_direct_outlook(&outlook, &arms, own.rounds, eps, err));
    if (status == TACET_OK) {
        const tacet_ask ask = {.noise = noise, .ticket = "simulation", .what = "a bandit", .to_whom = "all"};
        own.each = outlook.each;
        status = tacet_central_direct_policy(&policy, &arms, &own, &ask, err);
    }
    for (uint64_t t = 0; status == TACET_OK && t < out->rounds; t++) {
        tacet_suggestion got;
        status = tacet_policy_suggest(policy, &got, NULL, err);
        TACET_THEN(status, choices_of(d, policy, arm, got.index, err));
        if (status == TACET_OK) {
            const double mean = mean_of(d, out, arm);
            lose(out, mean);
            status = tacet_policy_observe(policy, got.ticket, reward(d, mean, rng), err);
        }
    }
    TACET_THEN(status, tacet_policy_recommend(policy, &found, err));
    TACET_THEN(status, choices_of(d, policy, best, found.index, err));
    tacet_policy_free(policy);
    tacet_noise_close(noise);
    return status;
}

/* The arms that the published algorithm scores in a round. One group: all of them. Many: they cannot be enumerated, so
 * its maximisation is a search that goes on over the rounds: the arm played last, it with one coordinate changed (every
 * value of a few coordinates), and arms at random. All of it is public: coins, and what was suggested. */
enum { RANDOM_ARMS = 64, MOVED_GROUPS = 5, OFFERED_MOST = 1 + RANDOM_ARMS + MOVED_GROUPS * LEVELS };

typedef struct offer {
    size_t *choices; /* groups x OFFERED_MOST; NULL: one group */
    double *points;  /* the same as coordinates */
    size_t count;
    size_t *last; /* groups */
} offer;

static void add_arm(const scenario *s, offer *o, const size_t *arm) {
    memcpy(o->choices + o->count * s->groups, arm, s->groups * sizeof *arm);
    for (size_t g = 0; g < s->groups; g++) {
        (void)point(s, g, arm[g], o->points + o->count * s->groups + g);
    }
    o->count++;
}

static void make_offer(const scenario *s, offer *o, size_t *arm, tacet_simrng *coin) {
    o->count = 0;
    add_arm(s, o, o->last);
    for (size_t i = 0; i < MOVED_GROUPS; i++) {
        const size_t g = tacet_simrng_below(coin, s->groups);
        memcpy(arm, o->last, s->groups * sizeof *arm);
        for (size_t c = 0; c < s->choices; c++) {
            arm[g] = c;
            add_arm(s, o, arm);
        }
    }
    for (size_t i = 0; i < RANDOM_ARMS; i++) {
        for (size_t g = 0; g < s->groups; g++) {
            arm[g] = tacet_simrng_below(coin, s->choices);
        }
        add_arm(s, o, arm);
    }
}

static tacet_status run_published(const central_domain *d, track *out, const tacet_central_published_settings *settings,
                                  uint64_t seed, uint64_t trial, size_t *arm, tacet_simrng *rng, tacet_error *err) {
    const scenario *s = d->scenario;
    tacet_noise *noise = NULL;
    tacet_policy *policy = NULL;
    tacet_simrng coin;
    offer o = {0};
    tacet_simrng_init(&coin, seed, (uint64_t)1 << 33 | trial);
    tacet_status status = tacet_noise_open_seeded(&noise, seed, trial, err);
    TACET_THEN(status, tacet_central_published_create(&policy, d->features, settings, noise, err));
    if (status == TACET_OK && s->groups > 1) {
        o.choices = calloc(s->groups * OFFERED_MOST, sizeof *o.choices);
        o.points = calloc(s->groups * OFFERED_MOST, sizeof *o.points);
        o.last = calloc(s->groups, sizeof *o.last);
        status = o.choices == NULL || o.points == NULL || o.last == NULL
                     ? tacet__fail(err, TACET_NO_MEMORY, "out of memory for a decision set")
                     : TACET_OK;
    }
    for (uint64_t t = 0; status == TACET_OK && t < settings->rounds; t++) {
        tacet_round round = {.points = d->X, .ld = s->dim, .d = s->dim, .count = s->choices};
        tacet_suggestion suggestion;
        if (o.choices != NULL) {
            make_offer(s, &o, arm, &coin);
            round = (tacet_round){.points = o.points, .ld = s->groups, .d = s->groups, .count = o.count};
        }
        status = tacet_policy_suggest(policy, &suggestion, &round, err);
        if (status == TACET_OK) {
            if (o.choices != NULL) {
                memcpy(o.last, o.choices + suggestion.index * s->groups, s->groups * sizeof *o.last);
            }
            const double mean = o.choices != NULL ? mean_of(d, out, o.last) : out->value[suggestion.index];
            lose(out, mean);
            status = tacet_policy_observe(policy, suggestion.ticket, reward(d, mean, rng), err);
        }
    }
    free(o.choices);
    free(o.points);
    free(o.last);
    tacet_policy_free(policy);
    tacet_noise_close(noise);
    return status;
}

/* A function of its own for the trial: its values at the points, and the largest over the box. */
static tacet_status draw_values(const central_domain *d, double *values, double *top, uint64_t seed, uint64_t trial,
                                tacet_error *err) {
    const scenario *s = d->scenario;
    central_env *env = NULL;
    const tacet_status status = central_env_create(&env, &d->world, seed, trial, err);
    *top = status == TACET_OK ? central_env_top(env) : 0;
    for (size_t c = 0; status == TACET_OK && c < s->choices; c++) {
        values[c] = central_env_mean(env, d->X + c * s->dim);
        *top = fmax(*top, values[c]);
    }
    central_env_free(env);
    return status;
}

tacet_status central_domain_run(const central_domain *d, double *regret, double *curve, double *gap,
                                central_domain_player player, const tacet_central_published_settings *settings,
                                uint64_t seed, uint64_t trial, tacet_error *err) {
    tacet_simrng rng;
    track out = {.curve = curve, .rounds = settings->rounds, .value = d->value, .top = 1};
    tacet_simrng_init(&rng, seed, trial);
    const size_t groups = d->scenario->groups;
    double *own = malloc(d->scenario->choices * sizeof *own);
    size_t *arm = calloc(2 * groups, sizeof *arm), *best = arm + groups;
    tacet_status status =
        arm == NULL || own == NULL ? tacet__fail(err, TACET_NO_MEMORY, "out of memory for a trial") : TACET_OK;
    if (status == TACET_OK && d->drawn) {
        status = draw_values(d, own, &out.top, seed, trial, err);
        out.value = own;
    }
    if (status != TACET_OK) {
        free(own);
        free(arm);
        return status;
    }
    if (player == CENTRAL_DOMAIN_PUBLISHED) {
        status = run_published(d, &out, settings, seed, trial, arm, &rng, err);
    } else if (player != CENTRAL_DOMAIN_RANDOM) {
        const double eps = player == CENTRAL_DOMAIN_SHIPPED ? settings->eps : NO_NOISE;
        status = run_study(d, &out, best, eps, seed, trial, arm, &rng, err);
    } else {
        for (uint64_t t = 0; t < settings->rounds; t++) {
            for (size_t g = 0; g < d->scenario->groups; g++) {
                arm[g] = tacet_simrng_below(&rng, d->scenario->choices);
            }
            lose(&out, mean_of(d, &out, arm));
        }
    }
    *regret = out.regret;
    *gap = out.top - mean_of(d, &out, best);
    free(own);
    free(arm);
    return status;
}
