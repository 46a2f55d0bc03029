/* SPDX-License-Identifier: Apache-2.0 */
/* sim_central.c - `tacet-lab simulate central`: regret of joint-DP bandits on made-up users.
 * Ring: programs; made-up data, seeded noise: nothing printed here is private. */
#include "commands.h"
#include "central_domain.h"
#include "central_env.h"
#include "central_space.h"
#include "runs.h"
#include "trials.h"

#include "core/fail.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/dp/open/calibrate.h>
#include "central/open/published_ucb.h"
#include "central/trusted/policy.h"

enum { FEATURES = 40 };                  /* of the paper's world */
static const double PAPER_REWARD = 0.15; /* its arms return little, and whoever plays knows it */
/* The non-private reference scores arms with this share of the proven width: tuned on other seeds, as everything is. */
static const double PLAIN_WIDTH = 0.2;
static const double CORNER_LENGTHSCALE = 4;

typedef enum algorithm { SHIPPED, PUBLISHED, NONPRIVATE, RANDOM } algorithm;

typedef struct simulation {
    algorithm algorithm;
    central_world world;
    size_t rounds, arms;
    uint64_t seed;
    tacet_features *features; /* of the algorithm; NULL for random */
    tacet_central_map *map;
    central_domain *domain; /* fixed-domain scenarios; NULL: contextual */
    tacet_central_settings central;
    tacet_central_published_settings published;
    bool doubling;      /* published: the horizon is not known, and m grows with it (Remark 5) */
    double missing;     /* share of the rounds that never report */
    size_t outstanding; /* reports that are out at a time */
    double *regret;     /* by trial */
    double *curve;      /* trials x 10: regret after each tenth of the rounds */
    double *gap;        /* by trial, of fixed domains: what was released as best, below the best there is */
} simulation;

static void note(simulation *s, size_t k, size_t t, double regret) {
    for (size_t c = 0; c < 10; c++) {
        if (t + 1 == (s->rounds * (c + 1) + 9) / 10) {
            s->curve[10 * k + c] = regret;
        }
    }
}

/* A report that is on its way, and all of them: the oldest is taken when `outstanding` others are out. */
typedef struct report {
    uint64_t ticket;
    double reward;
    bool lost;
    double x[CENTRAL_ENV_MOST_COLUMNS];
} report;

/* Round t's report goes into the queue (outstanding + 1 places). The oldest, where it is due; NULL: none is. */
static const report *post(const simulation *s, report *queue, size_t t, report now) {
    const size_t places = s->outstanding + 1;
    queue[t % places] = now;
    return t >= s->outstanding ? &queue[(t - s->outstanding) % places] : NULL;
}

/* Rounds `first` to `end`; the regret so far goes on. It counts means, not rewards, whose scatter says nothing of a
 * choice. */
static tacet_status run_policy(simulation *s, size_t k, central_env *env, tacet_policy *policy, double *arms,
                               size_t first, size_t end, tacet_error *err) {
    double regret = s->regret[k];
    report *queue = calloc(s->outstanding + 1, sizeof *queue);
    tacet_status status = queue == NULL ? tacet__fail(err, TACET_NO_MEMORY, "out of memory for reports") : TACET_OK;
    for (size_t t = first; status == TACET_OK && t < end; t++) {
        const double best = central_env_round(env, arms, s->arms);
        const tacet_round round = {.points = arms, .ld = env->dim, .d = env->dim, .count = s->arms};
        tacet_suggestion suggestion;
        status = tacet_policy_suggest(policy, &suggestion, &round, err);
        if (status != TACET_OK) {
            break;
        }
        const double *x = arms + env->dim * suggestion.index;
        regret += best - central_env_mean(env, x);
        const double reward = central_env_reward(env, x);
        const bool lost = s->missing > 0 && tacet_simrng_uniform(&env->rng) < s->missing;
        const report *due =
            post(s, queue, t - first, (report){.ticket = suggestion.ticket, .reward = reward, .lost = lost});
        if (due != NULL) {
            status = due->lost ? tacet_policy_drop(policy, due->ticket, err)
                               : tacet_policy_observe(policy, due->ticket, due->reward, err);
        }
        note(s, k, t, regret);
    }
    free(queue);
    s->regret[k] = regret;
    return status;
}

/* Corollary 1's order for the horizon a period assumes, at most the 64 nodes that are tabulated (T of 43,000): m is its
 * square in the plane, and a round costs O(m^3). */
static size_t period_order(size_t assumed) {
    enum { MOST = 64 };
    const double wanted = ceil(6 * log((double)assumed));
    return wanted < 2 ? 2 : wanted < MOST ? (size_t)wanted : MOST;
}

/* Remark 5: T = 1 for the first round, 2 for the next, then 4 for 2 rounds, 8 for 4, and so on; each period begins
 * anew, with the m of its own T and with all of the budget, since a record is in one period only. */
static tacet_status run_doubling(simulation *s, size_t k, central_env *env, double *arms, tacet_error *err) {
    tacet_status status = TACET_OK;
    tacet_simrng coin;
    tacet_simrng_init(&coin, s->seed, (uint64_t)1 << 34 | k);
    for (size_t first = 0, assumed = 1; first < s->rounds && status == TACET_OK; assumed *= 2) {
        const size_t length = assumed < 4 ? 1 : assumed / 2;
        const size_t end = s->rounds - first < length ? s->rounds : first + length;
        if (length == 1) { /* nothing to learn from */
            const double best = central_env_round(env, arms, s->arms);
            const double *x = arms + env->dim * tacet_simrng_below(&coin, s->arms);
            s->regret[k] += best - central_env_mean(env, x);
            (void)central_env_reward(env, x);
            note(s, k, first, s->regret[k]);
            first = end;
            continue;
        }
        tacet_features *features = NULL;
        tacet_noise *noise = NULL;
        tacet_policy *policy = NULL;
        tacet_central_published_settings set = s->published;
        set.rounds = length;
        status = central_world_qff(&features, &s->world, period_order(assumed), err);
        TACET_THEN(status, tacet_noise_open_seeded(&noise, s->seed + assumed, k, err));
        TACET_THEN(status, tacet_central_published_create(&policy, features, &set, noise, err));
        TACET_THEN(status, run_policy(s, k, env, policy, arms, first, end, err));
        tacet_policy_free(policy);
        tacet_noise_close(noise);
        tacet_features_free(features);
        first = end;
    }
    return status;
}

static tacet_status run_private(simulation *s, size_t k, central_env *env, double *arms, tacet_error *err) {
    if (s->doubling) {
        return run_doubling(s, k, env, arms, err);
    }
    tacet_noise *noise = NULL;
    tacet_policy *policy = NULL;
    tacet_status status = tacet_noise_open_seeded(&noise, s->seed, k, err);
    if (status == TACET_OK) {
        const tacet_ask ask = {.noise = noise, .ticket = "simulation", .what = "a simulated bandit", .to_whom = "all"};
        status = s->algorithm == SHIPPED
                     ? tacet_central_create(&policy, s->map, &s->central, &ask, err)
                     : tacet_central_published_create(&policy, s->features, &s->published, noise, err);
    }
    TACET_THEN(status, run_policy(s, k, env, policy, arms, 0, s->rounds, err));
    tacet_policy_free(policy);
    tacet_noise_close(noise);
    return status;
}

/* Plain GP-UCB on the exact sums, and play at random. */
static tacet_status run_plain(simulation *s, size_t k, central_env *env, double *arms, tacet_error *err) {
    tacet_simrng coin;
    tacet_simrng_init(&coin, s->seed, (uint64_t)1 << 32 | k);
    tacet_published_ucb *ucb = NULL;
    double *sums = NULL, *z = NULL;
    report *queue = calloc(s->outstanding + 1, sizeof *queue);
    size_t m = 0;
    tacet_status status = queue == NULL ? tacet__fail(err, TACET_NO_MEMORY, "out of memory for reports") : TACET_OK;
    if (status == TACET_OK && s->algorithm == NONPRIVATE) {
        tacet_published_ucb_settings set;
        tacet_published_ucb_settings_defaults(&set);
        set.width = PLAIN_WIDTH;
        m = tacet_features_dim(s->features);
        status = tacet_published_ucb_create(&ucb, s->features, &set, err);
        sums = calloc((m + 1) * (m + 2) / 2, sizeof(double));
        z = calloc(m + 1, sizeof(double));
    }
    double regret = 0;
    for (size_t t = 0; status == TACET_OK && t < s->rounds; t++) {
        const double best = central_env_round(env, arms, s->arms);
        const size_t a = ucb == NULL ? tacet_simrng_below(&coin, s->arms)
                                     : tacet_published_ucb_choose(ucb, NULL, arms, env->dim, s->arms);
        const double *x = arms + env->dim * a;
        regret += best - central_env_mean(env, x);
        report now = {.reward = central_env_reward(env, x)};
        now.lost = s->missing > 0 && tacet_simrng_uniform(&env->rng) < s->missing;
        memcpy(now.x, x, env->dim * sizeof *x);
        note(s, k, t, regret);
        const report *due = post(s, queue, t, now);
        if (ucb != NULL && due != NULL && !due->lost) {
            tacet_features_eval(s->features, z, due->x, env->dim, 1);
            z[m] = due->reward;
            double *at = sums;
            for (size_t j = 0; j <= m; j++) {
                *at++ += z[j] * z[j];
                for (size_t i = j + 1; i <= m; i++) {
                    *at++ += sqrt(2) * z[i] * z[j];
                }
            }
            status = tacet_published_ucb_update(ucb, sums, err);
        }
    }
    s->regret[k] = regret;
    tacet_published_ucb_free(ucb);
    free(sums);
    free(z);
    free(queue);
    return status;
}

static tacet_status trial(void *user, size_t k, tacet_error *err) {
    simulation *s = user;
    if (s->domain != NULL) {
        const central_domain_player player = s->algorithm == PUBLISHED    ? CENTRAL_DOMAIN_PUBLISHED
                                             : s->algorithm == SHIPPED    ? CENTRAL_DOMAIN_SHIPPED
                                             : s->algorithm == NONPRIVATE ? CENTRAL_DOMAIN_NONPRIVATE
                                                                          : CENTRAL_DOMAIN_RANDOM;
        return central_domain_run(s->domain, &s->regret[k], s->curve + 10 * k, &s->gap[k], player, &s->published,
                                  s->seed, k, err);
    }
    central_env *env = NULL;
    tacet_status status = central_env_create(&env, &s->world, s->seed, k, err);
    double *arms = malloc(sizeof(double) * central_world_dim(&s->world) * s->arms);
    if (arms == NULL) {
        status = TACET_NO_MEMORY;
    }
    TACET_THEN(status, s->algorithm == SHIPPED || s->algorithm == PUBLISHED ? run_private(s, k, env, arms, err)
                                                                            : run_plain(s, k, env, arms, err));
    free(arms);
    central_env_free(env);
    return status;
}

static tacet_status prepare(simulation *s, size_t features, tacet_error *err) {
    tacet_status status = central_world_check(&s->world, err);
    if (status != TACET_OK || s->algorithm == RANDOM) {
        return status;
    }
    const tacet_domain domain = central_world_domain(&s->world);
    status = central_world_features_create(&s->features, &s->world, s->algorithm == PUBLISHED, features, err);
    if (status == TACET_OK && s->algorithm == SHIPPED) {
        status = tacet_central_map_create(&s->map, s->features, &domain, tacet_features_dim(s->features), 0, 1, err);
    }
    return status;
}

/* What is said of the guarantee of the noise, had it come from the operating system. */
static json_t *guarantee(const simulation *s, tacet_error *err) {
    double sigma = 0, eps = NAN, delta = NAN;
    const bool shipped = s->algorithm == SHIPPED, pure = s->domain != NULL; /* a study releases each reward */
    const bool published = s->algorithm == PUBLISHED &&
                           tacet_central_published_noise(&sigma, &eps, &delta, &s->published, err) == TACET_OK;
    eps = shipped ? s->central.eps : eps;
    delta = shipped ? (pure ? 0 : s->central.delta) : delta;
    return cli_object("proven eps delta sensitivity? sigma?", JB(shipped || published), J(eps), J(delta),
                      J(shipped ? cli_real(pure) : NULL), J(published ? cli_real(sigma) : NULL));
}

static int print(const simulation *s, const char *name, const char *scenario, size_t trials, double seconds) {
    json_t *curve = NULL, *curve_se = NULL;
    tacet_error err = {0};
    double gap = 0, gap_se = 0;
    lab_curve(&curve, &curve_se, s->curve, 10, trials);
    lab_mean_se(&gap, &gap_se, s->gap, trials);
    json_t *found = s->domain != NULL ? cli_object("gap se", J(gap), J(gap_se)) : NULL;
    return cli_tell(
        cli_object("simulation scenario algorithm eps delta regret released regret_by_tenth regret_by_tenth_se rounds "
                   "arms trials seed guarantee_of_the_noise private seconds _tells",
                   J("central"), J(scenario), J(name), J(s->central.eps), J(s->central.delta),
                   J(lab_summary(s->regret, trials, "max median")), J(found), J(curve), J(curve_se), J(s->rounds),
                   J(s->arms), J(trials), J(s->seed), J(guarantee(s, &err)), JB(false), J(seconds),
                   JB(s->domain != NULL && (s->algorithm == SHIPPED || s->algorithm == NONPRIVATE))),
        "{algorithm}: cumulative regret {regret.mean:.2f} +- {regret.se:.2f} over {rounds} rounds ({trials} trials, "
        "median {regret.median:.2f})\n"
        "{?_tells|what it released as best is {released.gap:.4f} +- {released.se:.4f} below the best there is\n}");
}

static const char *const NAMES[] = {"shipped", "published", "nonprivate", "random"};

static void budget(simulation *s, double eps, double delta) {
    s->central.eps = s->published.eps = eps;
    s->central.delta = s->published.delta = delta;
    s->central.rounds = s->published.rounds = s->rounds;
    s->central.learner.set_size = s->arms;
    if (s->outstanding >= s->central.open_most) {
        s->central.open_most = s->outstanding + 1;
    }
}

static void defaults(simulation *s) {
    *s = (simulation){.rounds = 1024, .arms = 25, .seed = 1};
    tacet_central_settings_defaults(&s->central);
    tacet_central_published_settings_defaults(&s->published);
}

static tacet_status simulate(simulation *s, const char *scenario, size_t features, size_t trials, tacet_error *err) {
    s->regret = calloc(12 * trials, sizeof(double));
    if (s->regret == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu trials", trials);
    }
    s->gap = s->regret + trials;
    s->curve = s->gap + trials;
    const tacet_status status = strcmp(scenario, "contextual") == 0
                                    ? prepare(s, features, err)
                                    : central_domain_create(&s->domain, scenario, s->world.dim, s->world.noise, err);
    return status == TACET_OK ? lab_trials_run(trials, trial, s, err) : status;
}

static void clear(simulation *s) {
    central_domain_free(s->domain);
    tacet_central_map_free(s->map);
    tacet_features_free(s->features);
    free(s->regret);
}

tacet_status lab_central_run(lab_outcome *out, const lab_request *request, tacet_error *err) {
    const lab_central_request *r = &request->of.central;
    simulation s;
    size_t which = 0;
    defaults(&s);
    if (!lab_choose(&which, NAMES, 4, r->algorithm) || r->rounds == 0 || r->arms == 0 || request->trials == 0) {
        return tacet__fail(err, TACET_INVALID, "no algorithm '%s', or no rounds, arms or trials", r->algorithm);
    }
    s.algorithm = (algorithm)which;
    s.world = r->world;
    s.rounds = r->rounds;
    s.arms = r->arms;
    s.seed = request->seed;
    s.published.calibration = r->published_noise ? TACET_CENTRAL_PUBLISHED : TACET_CENTRAL_PROVEN;
    budget(&s, r->eps, r->delta);
    if (s.world.dim == 0) {
        s.central.learner.typical_reward = PAPER_REWARD;
    }
    tacet_status status =
        simulate(&s, r->scenario, s.world.dim == 0 ? FEATURES : central_world_features(&s.world), request->trials, err);
    TACET_THEN(status, lab_outcome_set(out, s.regret, request->trials, err));
    clear(&s);
    return status;
}

tacet_status lab_central_published_eps(double *eps, double claimed, double delta, size_t rounds, tacet_error *err) {
    tacet_central_published_settings set;
    double sigma = 0;
    double same = 0;
    tacet_central_published_settings_defaults(&set);
    set.calibration = TACET_CENTRAL_PUBLISHED;
    set.eps = claimed;
    set.delta = delta;
    set.rounds = rounds;
    return tacet_central_published_noise(&sigma, eps, &same, &set, err);
}

int lab_sim_central(int argc, char **argv, const cli_command *self) {
    simulation s;
    defaults(&s);
    tacet_central_learner_settings *l = &s.central.learner;
    const char *algorithm_name = "shipped", *calibration = "proven", *scenario = "paper", *reward = "normal";
    size_t trials = 40;
    double eps = 1, delta = NAN;
    const cli_option options[] = {
        CLI_OPT("algorithm", &algorithm_name, "NAME", "shipped (default), published, nonprivate or random."),
        CLI_OPT("world", &scenario, "NAME",
                "paper (default): decision sets of section 6.1; drawn: decision sets, functions of a Matérn 5/2 "
                "Gaussian process; space: no decision sets, but five columns, with what one would do by hand beside "
                "the study; camelback, styblinski20, michalewicz10: fixed domains; box: points of a box of --dims 2, 3 "
                "or 4, drawn functions; local-statistics: the decision sets of paper, but users add their own noise, "
                "with --algorithm shipped (pure eps) or published."),
        CLI_OPT("eps", &eps, "E", "Budget of the whole run for each round's record; default 1."),
        CLI_OPT("delta", &delta, "D", "Default 1e-5; local-statistics, published: 0.1, as in the paper."),
        CLI_OPT("rounds", &s.rounds, "T", "Rounds; default 1024."),
        CLI_OPT("arms", &s.arms, "N", "Arms a round; default 25."),
        CLI_OPT("trials", &trials, "N", "Functions; default 40."),
        CLI_OPT("seed", &s.seed, "S", "Of functions, users and noise; default 1."),
        CLI_HEADING("The world"),
        CLI_MORE,
        CLI_OPT("dims", &s.world.dim, "N", "drawn, box: coordinates in [0, 1]; default 0."),
        CLI_OPT("binary", &s.world.binary, "N", "drawn: coordinates that are 0 or 1; default 0."),
        CLI_OPT("category", &s.world.category, "N", "drawn, space: values of one category; default 0: none."),
        CLI_OPT("lengthscale", &s.world.lengthscale, "L",
                "drawn: of the function; default 0.5, of binary columns alone 4: their effects nearly add up."),
        CLI_OPT("skew", &s.world.skew, "P",
                "drawn: the scaled function to this power; above 1 most arms are poor. Default 1."),
        CLI_OPT("noise", &s.world.noise, "SD", "drawn, box, space: normal noise of rewards; default 0: 0/1 rewards."),
        CLI_OPT("reward-law", &reward, "NAME",
                "drawn, with --noise: normal (default), skewed, binary or heavy (t with 3 degrees)."),
        CLI_OPT("believed", &s.world.believed, "F",
                "The learner's lengthscale is F times the true one; default 1, of binary columns alone without "
                "--lengthscale 0.25: it believes 1."),
        CLI_OPT("missing", &s.missing, "P", "Share of the rounds that never report; default 0."),
        CLI_OPT("outstanding", &s.outstanding, "N", "Decision sets: reports that are out at a time; default 0."),
        CLI_OPT("permute", &s.world.permuted, NULL,
                "drawn: a reward is that of another arm: values that inputs tell nothing of."),
        CLI_HEADING("The published algorithm"),
        CLI_MORE,
        CLI_OPT(
            "calibration", &calibration, "NAME",
            "proven (default), published, or leaves: proven, and the tree as the paper prints it, with noise in its "
            "leaves alone, so that it grows with the root of the round."),
        CLI_OPT("unknown-horizon", &s.doubling, NULL,
                "The algorithm does not know T: it assumes 1, 2, 4, 8 … and begins anew with the features of each."),
        {0},
    };
    int exit_code = 0;
    size_t which = 0;
    if (!cli_parse(self, options, argc, argv, NULL, NULL, &exit_code)) {
        return exit_code;
    }
    if (!lab_choose(&which, NAMES, 4, algorithm_name)) {
        return cli_usage(self, "--algorithm is shipped, published, nonprivate or random");
    }
    s.algorithm = (algorithm)which;
    static const char *const CALIBRATIONS[] = {"proven", "published", "leaves"};
    if (!lab_choose(&which, CALIBRATIONS, 3, calibration)) {
        return cli_usage(self, "--calibration is proven, published or leaves");
    }
    s.published.calibration = which == 1 ? TACET_CENTRAL_PUBLISHED : TACET_CENTRAL_PROVEN;
    s.published.leaves = which == 2;
    if (s.rounds == 0 || s.arms == 0 || trials == 0 || trials > 1000000 || s.arms > 1000000) {
        return cli_usage(self, "--rounds, --arms and --trials must be between 1 and a million");
    }
    tacet_error err;
    tacet_error_clear(&err);
    if (strcmp(scenario, "local-statistics") == 0) {
        const lab_statistics wanted = {.published = s.algorithm == PUBLISHED,
                                       .printed = s.published.calibration == TACET_CENTRAL_PUBLISHED,
                                       .eps = eps,
                                       .delta = isnan(delta) ? 0.1 : delta,
                                       .rounds = s.rounds,
                                       .arms = s.arms,
                                       .trials = trials,
                                       .seed = s.seed};
        return s.algorithm == NONPRIVATE || s.algorithm == RANDOM || (wanted.printed && !wanted.published)
                   ? cli_usage(self,
                               "local-statistics has --algorithm shipped and published, and --calibration published "
                               "with the latter")
                   : lab_sim_local_statistics(&wanted, self);
    }
    delta = isnan(delta) ? 1e-5 : delta;
    const bool drawn = strcmp(scenario, "drawn") == 0, space = strcmp(scenario, "space") == 0;
    const bool sets = drawn || space || strcmp(scenario, "paper") == 0;
    if (s.doubling && (s.algorithm != PUBLISHED || !sets)) {
        return cli_usage(self, "--unknown-horizon is for --algorithm published and decision sets that change");
    }
    if (!lab_reward_law_parse(&s.world.reward, reward) || !(s.world.believed >= 0) ||
        !(s.missing >= 0 && s.missing < 1)) {
        return cli_usage(self, "--reward-law is %s, --believed above 0, --missing from 0 to 1", lab_reward_law_names());
    }
    if (s.outstanding > 1000000 || (!sets && (s.outstanding > 0 || s.missing > 0)) || (s.world.permuted && !drawn)) {
        return cli_usage(self, "--outstanding (at most a million) and --missing are for decision sets, --permute for "
                               "--world drawn");
    }
    if (space) {
        const central_space_request request = {.eps = eps,
                                               .delta = delta,
                                               .noise = s.world.noise,
                                               .rounds = s.rounds,
                                               .levels = s.world.category,
                                               .trials = trials,
                                               .seed = s.seed};
        return central_space_print(&request, &err) == TACET_OK ? CLI_EXIT_OK : cli_refuse(self, &err);
    }
    if (drawn) {
        s.world.drawn = true;
        s.world.skew = s.world.skew > 0 ? s.world.skew : 1;
        const bool corners = s.world.dim == 0 && s.world.category == 0;
        s.world.lo = corners ? 0.15 : 0.1;
        s.world.hi = corners ? 0.85 : 0.9;
        if (!(s.world.lengthscale > 0)) { /* corners: central_env.h says why */
            s.world.lengthscale = corners ? CORNER_LENGTHSCALE : 0.5;
            s.world.believed = s.world.believed > 0 ? s.world.believed : corners ? 1 / CORNER_LENGTHSCALE : 1;
        }
    }
    const size_t features = s.world.drawn ? central_world_features(&s.world) : FEATURES;
    l->typical_reward = drawn ? 0.5 : PAPER_REWARD;
    budget(&s, eps, delta);
    const double start = cli_seconds();
    const tacet_status status = simulate(&s, sets ? "contextual" : scenario, features, trials, &err);
    exit_code = status == TACET_OK
                    ? print(&s, algorithm_name, sets ? "contextual" : scenario, trials, cli_seconds() - start)
                    : cli_refuse(self, &err);
    clear(&s);
    return exit_code;
}
