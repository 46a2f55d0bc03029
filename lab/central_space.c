/* SPDX-License-Identifier: Apache-2.0 */
/* central_space.c - studies over a space of five columns, beside what a careful person would do by hand.
 * Ring: programs; made-up data, seeded noise. A world: a real, a log and a whole column and categories of 4 and 5
 * levels; the best point is drawn, where a number is best depends on a level, and most points lose a third of the
 * range. Players: the study as it ships, random search without privacy,
 * evenly played points of which the best noisy mean is taken (pure eps), and the study's own search without noise. */
#include "central_space.h"

#include "commands.h"
#include "trials.h"

#include "core/fail.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "central/trusted/direct.h"
#include <tacet/core/simrng.h>
#include <tacet/dp/noise.h>

static const char SPACE[] = "{\"columns\":[{\"name\":\"a\",\"kind\":\"real\",\"bounds\":[0,1]},"
                            "{\"name\":\"b\",\"kind\":\"log\",\"bounds\":[1e-4,1]},"
                            "{\"name\":\"c\",\"kind\":\"integer\",\"bounds\":[1,10]},"
                            "{\"name\":\"d\",\"kind\":\"category\",\"levels\":[\"p\",\"q\",\"r\",\"s\"]},"
                            "{\"name\":\"e\",\"kind\":\"category\",\"levels\":[\"t\",\"u\",\"v\",\"w\",\"x\"]}]}";
enum { COLUMNS = 5, LEVELS_MOST = 64 };
static const double TOP = 0.95, NO_NOISE = 1e6;
static const double FIRST_MEAN = 0.5, FIRST_VAR = 0.06, DRAWN = 0.7, GROWTH = 0.25; /* of batched counts */

typedef enum player { SHIPPED, RANDOM, COUNTS, PLAIN, PLAYERS } player;
static const char *const NAMES[PLAYERS] = {"shipped", "random search, not private", "even play, best noisy mean",
                                           "the same search, not private"};
static const char *const COUNTED = "batched counts, Thompson";

typedef struct world {
    size_t levels; /* of one category, whose means follow; 0: five columns */
    double mean[LEVELS_MOST];
    double best[4][2], whole; /* of a and b by level of d; of c */
    double level[2][5];       /* what a level loses */
} world;

typedef struct simulation {
    const central_space_request *request;
    tacet_space space;
    tacet_central_outlook outlook, plain;   /* of the study, and without noise */
    double *gap[PLAYERS], *played[PLAYERS]; /* by trial */
} simulation;

/* Normal numbers, scaled so that the least is .1 and the largest as good as the best point of five columns. */
static void draw_levels(world *w, tacet_simrng *rng) {
    double least = INFINITY, most = -INFINITY;
    for (size_t k = 0; k < w->levels; k++) {
        w->mean[k] = tacet_simrng_normal(rng);
        least = fmin(least, w->mean[k]);
        most = fmax(most, w->mean[k]);
    }
    for (size_t k = 0; k < w->levels; k++) {
        w->mean[k] = 0.1 + (TOP - 0.1) * (w->mean[k] - least) / (most - least);
    }
}

static void draw_world(world *w, tacet_simrng *rng) {
    if (w->levels > 0) {
        draw_levels(w, rng);
        return;
    }
    const double a = tacet_simrng_uniform(rng), b = tacet_simrng_uniform(rng);
    for (size_t k = 0; k < 4; k++) {
        w->best[k][0] = fmin(fmax(a + 0.15 * tacet_simrng_normal(rng), 0), 1);
        w->best[k][1] = fmin(fmax(b + 0.15 * tacet_simrng_normal(rng), 0), 1);
    }
    w->whole = 1 + (double)tacet_simrng_below(rng, 10);
    for (size_t c = 0; c < 2; c++) {
        const size_t levels = 4 + c, right = tacet_simrng_below(rng, levels);
        for (size_t k = 0; k < levels; k++) {
            w->level[c][k] = k == right ? 0 : 0.04 + 0.16 * tacet_simrng_uniform(rng);
        }
    }
}

static double mean_of(const world *w, const double *r) {
    if (w->levels > 0) {
        return w->mean[(size_t)r[0]];
    }
    const double *best = w->best[(size_t)r[3]];
    const double a = (r[0] - best[0]) / 0.25, b = (log10(r[1]) / 4 + 1 - best[1]) / 0.2, c = (r[2] - w->whole) / 9;
    const double lost = 0.2 * (1 - exp(-a * a)) + 0.25 * (1 - exp(-b * b)) + 0.15 * c * c;
    return fmax(TOP - lost - w->level[0][(size_t)r[3]] - w->level[1][(size_t)r[4]], 0);
}

static double reward_of(const simulation *s, double mean, tacet_simrng *rng) {
    const double noise = s->request->noise;
    return noise > 0 ? mean + noise * tacet_simrng_normal(rng) : tacet_simrng_uniform(rng) < mean ? 1 : 0;
}

static void any_record(const world *w, double *r, tacet_simrng *rng) {
    if (w->levels > 0) {
        r[0] = (double)tacet_simrng_below(rng, w->levels);
        return;
    }
    r[0] = tacet_simrng_uniform(rng);
    r[1] = pow(10, -4 + 4 * tacet_simrng_uniform(rng));
    r[2] = 1 + (double)tacet_simrng_below(rng, 10);
    r[3] = (double)tacet_simrng_below(rng, 4);
    r[4] = (double)tacet_simrng_below(rng, 5);
}

static tacet_status make_policy(const simulation *s, tacet_policy **out, double eps, tacet_noise *noise, uint64_t coin,
                                tacet_error *err) {
    const tacet_ask ask = {.noise = noise, .ticket = "simulation", .what = "a study", .to_whom = "all"};
    tacet_central_direct_settings set;
    tacet_central_direct_settings_defaults(&set);
    set.eps = eps;
    set.rounds = s->request->rounds;
    set.each = eps < NO_NOISE ? s->outlook.each : s->plain.each;
    set.coin_seed = coin;
    return tacet_central_direct_policy(out, &(tacet_central_arms){.space = &s->space}, &set, &ask, err);
}

/* A study from its first round to its recommendation. */
static tacet_status run_study(const simulation *s, const world *w, player p, size_t k, tacet_simrng *rng,
                              tacet_error *err) {
    const double eps = p == PLAIN ? NO_NOISE : s->request->eps;
    tacet_noise *noise = NULL;
    tacet_policy *policy = NULL;
    double record[COLUMNS], lost = 0;
    tacet_status status = tacet_noise_open_seeded(&noise, s->request->seed, k, err);
    TACET_THEN(status, make_policy(s, &policy, eps, noise, k + 1, err));
    for (size_t t = 0; status == TACET_OK && t < s->request->rounds; t++) {
        tacet_suggestion got;
        status = tacet_policy_suggest(policy, &got, NULL, err);
        TACET_THEN(status, tacet_central_direct_record(policy, record, got.index, err));
        if (status == TACET_OK) {
            const double mean = mean_of(w, record);
            lost += TOP - mean;
            status = tacet_policy_observe(policy, got.ticket, reward_of(s, mean, rng), err);
        }
    }
    tacet_recommendation best;
    TACET_THEN(status, tacet_policy_recommend(policy, &best, err));
    TACET_THEN(status, tacet_central_direct_record(policy, record, best.index, err));
    if (status == TACET_OK) {
        s->gap[p][k] = TOP - mean_of(w, record);
        s->played[p][k] = lost / (double)s->request->rounds;
    }
    tacet_policy_free(policy);
    tacet_noise_close(noise);
    return status;
}

static void run_random(const simulation *s, const world *w, size_t k, tacet_simrng *rng) {
    double seen = -INFINITY, lost = 0;
    for (size_t t = 0; t < s->request->rounds; t++) {
        double record[COLUMNS];
        any_record(w, record, rng);
        const double mean = mean_of(w, record), reward = reward_of(s, mean, rng);
        lost += TOP - mean;
        if (reward > seen) {
            seen = reward;
            s->gap[RANDOM][k] = TOP - mean;
        }
    }
    s->played[RANDOM][k] = lost / (double)s->request->rounds;
}

static double laplace(double scale, tacet_simrng *rng) { /* for a simulation */
    const double u = tacet_simrng_uniform(rng) - 0.5;
    return -copysign(log1p(-2 * fabs(u)), u) * scale;
}

/* What a careful person does with a list of arms: counts of each arm a batch with Laplace(1/eps), batches that grow by
 * a quarter, Thompson draws of normal posteriors between them; the first batch in turns. A reward is in one count. */
static void run_levels(const simulation *s, const world *w, size_t k, tacet_simrng *rng) {
    const double eps = s->request->eps;
    double precision[LEVELS_MOST], sum[LEVELS_MOST], lost = 0;
    size_t batch = (size_t)ceil((double)w->levels * fmax(3, 4 * fmin(1, 1 / eps))), best = 0;
    for (size_t a = 0; a < w->levels; a++) {
        precision[a] = 1 / FIRST_VAR;
        sum[a] = FIRST_MEAN / FIRST_VAR;
    }
    for (size_t t = 0; t < s->request->rounds; batch = (size_t)ceil(GROWTH * (double)t)) {
        double played[LEVELS_MOST] = {0}, total[LEVELS_MOST] = {0};
        const size_t first = t;
        batch = batch < s->request->rounds - t ? batch : s->request->rounds - t;
        for (size_t i = 0; i < batch; i++, t++) {
            size_t arm = i % w->levels;
            double top = -INFINITY;
            for (size_t a = 0; first > 0 && a < w->levels; a++) {
                const double draw = sum[a] / precision[a] + DRAWN * tacet_simrng_normal(rng) / sqrt(precision[a]);
                arm = draw > top ? a : arm;
                top = fmax(draw, top);
            }
            played[arm]++;
            total[arm] += fmin(fmax(reward_of(s, w->mean[arm], rng), 0), 1);
            lost += TOP - w->mean[arm];
        }
        for (size_t a = 0; a < w->levels; a++) {
            if (played[a] > 0) {
                const double q = fmin(fmax(sum[a] / precision[a], 0.05), 0.95), scale = 1 / (eps * played[a]);
                const double var = q * (1 - q) / played[a] + 2 * scale * scale;
                precision[a] += 1 / var;
                sum[a] += (total[a] + laplace(1 / eps, rng)) / played[a] / var;
            }
        }
    }
    for (size_t a = 1; a < w->levels; a++) {
        best = sum[a] / precision[a] > sum[best] / precision[best] ? a : best;
    }
    s->gap[COUNTS][k] = TOP - w->mean[best];
    s->played[COUNTS][k] = lost / (double)s->request->rounds;
}

/* Points anywhere, ten rounds each, one noisy sum a point: a reward is in one sum, so eps is pure. */
static void run_counts(const simulation *s, const world *w, size_t k, tacet_simrng *rng) {
    const size_t each = s->request->rounds < 20 ? 1 : 10, points = s->request->rounds / each;
    double top = -INFINITY, lost = 0;
    for (size_t i = 0; i < points; i++) {
        double record[COLUMNS], sum = 0;
        any_record(w, record, rng);
        const double mean = mean_of(w, record);
        for (size_t t = 0; t < each; t++) {
            sum += fmin(fmax(reward_of(s, mean, rng), 0), 1);
        }
        sum += laplace(1 / s->request->eps, rng);
        lost += (TOP - mean) / (double)points;
        if (sum > top) {
            top = sum;
            s->gap[COUNTS][k] = TOP - mean;
        }
    }
    s->played[COUNTS][k] = lost;
}

static tacet_status trial(void *user, size_t k, tacet_error *err) {
    simulation *s = user;
    world w = {.levels = s->request->levels};
    tacet_status status = TACET_OK;
    tacet_simrng rng;
    tacet_simrng_init(&rng, s->request->seed ^ 0x7370616365, k);
    draw_world(&w, &rng);
    for (size_t p = 0; p < PLAYERS && status == TACET_OK; p++) {
        tacet_simrng_init(&rng, s->request->seed + p, (uint64_t)1 << 32 | k);
        if (p == RANDOM) {
            run_random(s, &w, k, &rng);
        } else if (p == COUNTS) {
            (w.levels > 0 ? run_levels : run_counts)(s, &w, k, &rng);
        } else {
            status = run_study(s, &w, (player)p, k, &rng, err);
        }
    }
    return status;
}

static tacet_status prepare(simulation *s, tacet_error *err) {
    const size_t levels = s->request->levels;
    char list[LEVELS_MOST * 4 + 8] = "k=0";
    for (size_t k = 1; k < levels && k < LEVELS_MOST; k++) {
        (void)snprintf(list + strlen(list), sizeof list - strlen(list), "|%zu", k);
    }
    if (levels == 1 || levels > LEVELS_MOST) {
        return tacet__fail(err, TACET_INVALID, "a category has 2 to %d levels", LEVELS_MOST);
    }
    const tacet_space_options options = {.levels = list};
    tacet_status status = levels > 0 ? tacet_space_short(&s->space, &options, err)
                                     : tacet_space_decode(&s->space, SPACE, strlen(SPACE), err);
    if (status != TACET_OK) {
        return status;
    }
    for (size_t i = 0; i < s->space.count; i++) {
        s->space.columns[i].unit = s->space.columns[i].level_count > 0 ? 1 : 0; /* as studies have it */
    }
    for (size_t p = 0; p < PLAYERS; p++) {
        s->gap[p] = calloc(2 * s->request->trials, sizeof(double));
        s->played[p] = s->gap[p] != NULL ? s->gap[p] + s->request->trials : NULL;
        status = s->gap[p] == NULL ? tacet__fail(err, TACET_NO_MEMORY, "out of memory for a simulation") : status;
    }
    const tacet_central_arms arms = {.space = &s->space};
    TACET_THEN(status, tacet_central_direct_outlook(&s->outlook, &arms, s->request->rounds, s->request->eps, err));
    return status != TACET_OK ? status
                              : tacet_central_direct_outlook(&s->plain, &arms, s->request->rounds, NO_NOISE, err);
}

static const char *name_of(const simulation *s, size_t p) {
    return p == COUNTS && s->request->levels > 0 ? COUNTED : NAMES[p];
}

static void print(const simulation *s) {
    json_t *lines = json_array();
    for (size_t p = 0; p < PLAYERS; p++) {
        double gap = 0, gap_se = 0, played = 0, played_se = 0;
        lab_mean_se(&gap, &gap_se, s->gap[p], s->request->trials);
        lab_mean_se(&played, &played_se, s->played[p], s->request->trials);
        (void)json_array_append_new(lines, cli_object("player gap gap_se played played_se", J(name_of(s, p)), J(gap),
                                                      J(gap_se), J(played), J(played_se)));
    }
    (void)cli_tell(
        cli_object("simulation world eps rounds trials seed each even gain players private _points", J("central"),
                   J("tune"), J(s->request->eps), J(s->request->rounds), J(s->request->trials), J(s->request->seed),
                   J((size_t)s->outlook.each), JB(s->outlook.even), J(s->outlook.gain), J(lines), JB(false),
                   J((size_t)s->outlook.points)),
        "{*players|{player:-28} recommended {gap:.4f} +- {gap_se:.4f} below the best, played {played:.4f} +- "
        "{played_se:.4f}\n}"
        "eps {eps:.6g}, {rounds} rounds, {trials} functions: {_points} points, {each} rounds each{?even|, played "
        "evenly}; a gain of {gain:.3f} was expected\n");
}

tacet_status central_space_print(const central_space_request *request, tacet_error *err) {
    simulation s = {.request = request};
    tacet_space_init(&s.space);
    tacet_status status = prepare(&s, err);
    TACET_THEN(status, lab_trials_run(request->trials, trial, &s, err));
    if (status == TACET_OK) {
        print(&s);
    }
    tacet_space_clear(&s.space);
    for (size_t p = 0; p < PLAYERS; p++) {
        free(s.gap[p]);
    }
    return status;
}
