/* SPDX-License-Identifier: Apache-2.0 */
/* sim_local.c - `tacet-lab simulate local`: devices and learner of the local model in one process, many times.
 * Ring: programs. Each trial makes a function, lets the learner choose an arm a round, and reports the reward through
 * the gate's randomiser (exact, from a seeded source: reproducible, hence not private). */
#include "gp/kernel_internal.h"
#include "commands.h"
#include "local_problem.h"
#include "runs.h"
#include "trials.h"

#include "core/fail.h"
#include "core/memory.h"
#include "common/cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/dp/randomizer.h>
#include "local/open/internal.h"

enum { STREAMS = 2 };
static const double HARD_NORM = 1, HARD_MOMENT = 1; /* B and v of Appendix A */

typedef struct simulation {
    local_problem problem;
    tacet_local_settings local;
    size_t outstanding;     /* reports that are out at a time */
    double missing;         /* share of rounds whose report never comes */
    bool permute;           /* rewards are those of any arm */
    double misbelief;       /* the learner's lengthscale over the function's; 0: 1 */
    tacet_kernel *believed; /* NULL: the function's kernel */
    bool private;
    bool random;
    tacet_ldp_kind mechanism;
    double eps;
    const char *range;   /* "paper" or "true" */
    double unbounded;    /* R for noise without a bound; 0: 1 */
    double tail_delta;   /* > 0: R such that no reward of a run is beyond it, with probability 1 - tail_delta */
    double theta, alpha; /* of weibull and pareto noise */
    bool by_norm;        /* the learner is given |f|_H for its bound, not max |f| */
    size_t support, trials;
    uint64_t seed;
    double *regret;   /* trials: cumulative */
    double *relative; /* trials: over that of uniform random play */
    double *clipped;  /* trials: share of rewards outside the range */
    double *found;    /* trials: gap of the recommended arm over the mean gap */
    double *norm;     /* trials: of f over the bound the learner was given */
    double *least;    /* trials: what the reports say it is at least, over the true one; NaN: not known */
} simulation;

static void reward_range(const simulation *s, const local_function *f, double *lo, double *hi) {
    const double M = f->bound + f->noise_bound;
    if (strcmp(s->range, "paper") == 0) {
        *lo = -M;
        *hi = M;
    } else {
        *lo = s->problem.table != NULL ? 0 : f->least - f->noise_bound;
        *hi = s->problem.table != NULL ? M : f->top + f->noise_bound;
    }
}

typedef struct sums {
    double regret;
    size_t clipped;
} sums;

typedef struct waiting {
    uint64_t ticket;
    double report;
} waiting;

static tacet_status play(const simulation *s, sums *out, tacet_policy *policy, const local_function *f,
                         const tacet_ldp *ldp, size_t trial, tacet_error *err) {
    tacet_simrng rng;
    tacet_noise *noise = NULL;
    tacet_simrng_init(&rng, s->seed, trial * STREAMS + 1);
    tacet_status status = tacet_noise_open_seeded(&noise, s->seed, trial, err);
    waiting *queue = calloc(s->outstanding + 1, sizeof *queue);
    if (queue == NULL) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu reports", s->outstanding);
    }
    for (size_t t = 0; status == TACET_OK && t < s->local.horizon; t++) {
        tacet_suggestion suggestion;
        status = tacet_policy_suggest(policy, &suggestion, NULL, err);
        if (status != TACET_OK) {
            break;
        }
        const size_t arm = s->permute ? (size_t)tacet_simrng_below(&rng, s->problem.n) : suggestion.index;
        const double reward = local_reward(&s->problem, f, arm, &rng);
        waiting *w = &queue[t % (s->outstanding + 1)];
        *w = (waiting){suggestion.ticket, reward};
        out->regret += f->top - f->f[suggestion.index];
        if (s->private) {
            out->clipped += reward < ldp->lo || reward > ldp->hi;
            status = tacet_randomize(noise, &w->report, ldp, reward, err);
        }
        if (status == TACET_OK && t >= s->outstanding) { /* the oldest that is out */
            w = &queue[(t - s->outstanding) % (s->outstanding + 1)];
            status = s->missing > 0 && tacet_simrng_uniform(&rng) < s->missing
                         ? tacet_policy_drop(policy, w->ticket, err)
                         : tacet_policy_observe(policy, w->ticket, w->report, err);
        }
    }
    free(queue);
    tacet_noise_close(noise);
    return status;
}

/* Section 4.5: normal tails are 2 exp(-x^2/2), weibull's as they are drawn. */
static double tail_range(const simulation *s) {
    return s->problem.noise == LOCAL_NORMAL ? local_noise_range(2, 0.5, 0.5, s->local.horizon, s->tail_delta)
                                            : local_noise_range(1, 1, s->theta, s->local.horizon, s->tail_delta);
}

static tacet_status one_trial(void *user, size_t trial, tacet_error *err) {
    simulation *s = user;
    local_function f = {0};
    tacet_policy *policy = NULL;
    tacet_ldp ldp = {0};
    sums total = {0};
    tacet_status status = local_function_make(&f, &s->problem, s->support, s->seed, trial * STREAMS, err);
    if (status == TACET_OK && s->problem.table == NULL && s->problem.noise != LOCAL_UNIFORM && s->private &&
        s->problem.hard_cells == 0) {
        f.noise_bound = s->tail_delta > 0 ? tail_range(s) : s->unbounded;
    }
    if (status == TACET_OK && s->private) {
        double lo = 0;
        double hi = 0;
        reward_range(s, &f, &lo, &hi);
        status = tacet_ldp_init(&ldp, s->mechanism, s->eps, lo, hi, err);
    }
    const double gap = f.top - f.mean;
    tacet_recommendation best = {0};
    if (status == TACET_OK) {
        tacet_local_settings local = s->local;
        local.ldp = s->private ? &ldp : NULL;
        local.bound = s->by_norm ? f.norm : f.bound;
        local.noise_bound = f.noise_bound;
        local.noise_var = f.noise_var;
        if (!s->private && s->problem.noise == LOCAL_WEIBULL && local.algorithm == TACET_LOCAL_TGP) {
            local.theta = s->theta; /* a = b = 1 */
        }
        if (!s->private && s->problem.noise == LOCAL_PARETO && local.algorithm == TACET_LOCAL_MOMA) {
            local.moment = s->alpha;
        }
        const tacet_cov_spec cov = {.kernel = s->believed != NULL ? s->believed : s->problem.kernel};
        status = tacet_local_create(&policy, &local, &cov, s->problem.X, s->problem.d, s->problem.n, err);
    }
    TACET_THEN(status, play(s, &total, policy, &f, &ldp, trial, err));
    TACET_THEN(status, tacet_policy_recommend(policy, &best, err));
    if (status == TACET_OK) {
        s->regret[trial] = total.regret;
        s->relative[trial] = total.regret / ((double)s->local.horizon * gap);
        s->clipped[trial] = (double)total.clipped / (double)s->local.horizon;
        s->found[trial] = (f.top - f.f[best.index]) / gap;
        s->norm[trial] = f.norm / (s->by_norm ? f.norm : f.bound);
        s->least[trial] =
            tacet_local_norm_least(policy, &s->least[trial], NULL) == TACET_OK ? s->least[trial] / f.norm : (double)NAN;
    }
    tacet_policy_free(policy);
    local_function_clear(&f);
    return status;
}

/* Whether the learner's widths are those of a theorem. */
static bool proven(const simulation *s) {
    return s->local.parameters == TACET_LOCAL_LITERAL || s->local.parameters == TACET_LOCAL_TIGHT;
}

static int report(const simulation *s, const char *scenario, double seconds) {
    static const char MORE[] = "max median";
    const bool hard = s->problem.hard_cells > 0;
    double clipped = 0, norm = 0, least = 0, unused = 0;
    lab_mean_se(&clipped, &unused, s->clipped, s->trials);
    lab_mean_se(&norm, &unused, s->norm, s->trials);
    lab_mean_se(&least, &unused, s->least, s->trials);
    return cli_tell(
        cli_object("hard_delta hard_cells model scenario algorithm mechanism parameters range eps arms rounds trials "
                   "seed relative_regret regret recommended_gap clipped norm_over_bound norm_least_over_norm seconds "
                   "private _eps _percent _width _below _unproven _least",
                   J(hard ? cli_real(s->problem.hard_delta) : NULL), J(hard ? cli_whole(s->problem.hard_cells) : NULL),
                   J("local"), J(scenario), J(tacet_local_algorithm_name(s->local.algorithm)),
                   J(s->private ? tacet_ldp_name(s->mechanism) : "none"),
                   J(tacet_local_parameters_name(s->local.parameters)), J(s->range),
                   J(s->private ? cli_real(s->eps) : NULL), J(s->problem.n), J(s->local.horizon), J(s->trials),
                   J(s->seed), J(lab_summary(s->relative, s->trials, MORE)), J(lab_summary(s->regret, s->trials, MORE)),
                   J(lab_summary(s->found, s->trials, MORE)), J(clipped), J(lab_summary(s->norm, s->trials, MORE)),
                   J(lab_summary(s->least, s->trials, MORE)), J(seconds), JB(false), J(s->eps), J(100 * clipped),
                   J(s->problem.hard_width), J((double)s->local.horizon * s->problem.hard_delta),
                   JB(norm > 1 + 1e-9 && proven(s)), JB(isfinite(least))),
        "{scenario}: {algorithm}, {mechanism}, {parameters} parameters, eps = {_eps:.6g}, {arms} arms, {rounds} "
        "rounds, {trials} trials\n"
        "relative regret (random play = 1): {relative_regret.mean:.4f} +- {relative_regret.se:.4f}, median "
        "{relative_regret.median:.4f}\n"
        "cumulative regret: {regret.mean:.1f} +- {regret.se:.1f}; {_percent:.3g} % of rewards clipped; seeded noise: "
        "not private\n"
        "{?hard_cells|Appendix A: {hard_cells} functions, Delta = {hard_delta:.4g}, w = {_width:.4g}; T Delta = "
        "{_below:.4g} is below the mean regret of any learner, up to a constant\n}"
        "norm of f over the bound B that the learner was given: {norm_over_bound.mean:.3f}{?_unproven|: above 1 its "
        "width is not proven (--bound norm)}\n"
        "{?_least|the reports alone say: the norm is at least {norm_least_over_norm.mean:.3f} of what it is\n}");
}

/* The learner's kernel where its lengthscale is not the function's. */
static tacet_status believe(simulation *s, tacet_error *err) {
    if (!(s->misbelief > 0)) {
        return TACET_OK;
    }
    tacet_kernel_spec spec = *tacet_kernel_describe(s->problem.kernel);
    if (spec.kind != TACET_KERNEL_SE && spec.kind != TACET_KERNEL_MATERN) {
        return tacet__fail(err, TACET_INVALID, "--believed needs a kernel with a lengthscale");
    }
    const double scale = s->misbelief * spec.lengthscales[0];
    spec.lengthscales = &scale;
    spec.lengthscale_count = 1;
    return tacet_kernel_create(&s->believed, &spec, err);
}

static tacet_status make_room(simulation *s, tacet_error *err) {
    double **const arrays[] = {&s->regret, &s->relative, &s->clipped, &s->found, &s->norm, &s->least};
    double *room = TACET__ZALLOC(double, sizeof arrays / sizeof *arrays * s->trials); /* freed as s->regret */
    for (size_t i = 0; room != NULL && i < sizeof arrays / sizeof *arrays; i++) {
        *arrays[i] = room + i * s->trials;
    }
    return room != NULL ? TACET_OK : tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu trials", s->trials);
}

static tacet_status simulate(simulation *s, tacet_error *err) {
    if (s->trials == 0 || s->support == 0) {
        return tacet__fail(err, TACET_INVALID, "need at least one trial and one kernel in a function");
    }
    tacet_status status = make_room(s, err);
    TACET_THEN(status, believe(s, err));
    return status == TACET_OK ? lab_trials_run(s->trials, one_trial, s, err) : status;
}

typedef struct words {
    const char *algorithm, *parameters, *mechanism, *kernel, *noise, *scenario, *data, *bound;
    double lengthscale;
    size_t arms;
} words;

/* The lab also plays the halves of hybrid alone, for comparison; a study does not. */
static tacet_status parse_mechanism(tacet_ldp_kind *out, const char *name, tacet_error *err) {
    for (tacet_ldp_kind kind = TACET_LDP_LAPLACE; kind < TACET_LDP_SPHERE; kind++) {
        if (strcmp(name, tacet_ldp_name(kind)) == 0) {
            *out = kind;
            return TACET_OK;
        }
    }
    return tacet__fail(err, TACET_INVALID, "no randomiser '%.40s'; there are laplace, hybrid, duchi and piecewise",
                       name);
}

static tacet_status understand(simulation *s, const words *w, tacet_error *err) {
    static const char *const NOISES[] = {"uniform", "normal", "student3", "weibull", "pareto"};
    enum { NOISE_COUNT = 5 };
    tacet_status status = tacet_local_algorithm_parse(&s->local.algorithm, w->algorithm, err);
    TACET_THEN(status, tacet_local_parameters_parse(&s->local.parameters, w->parameters, err));
    s->private = strcmp(w->mechanism, "none") != 0;
    if (status == TACET_OK && s->private) {
        status = parse_mechanism(&s->mechanism, w->mechanism, err);
    }
    size_t noise = 0;
    (void)lab_choose(&noise, NOISES, NOISE_COUNT, w->noise);
    const bool heavy = noise >= LOCAL_STUDENT3 && noise < NOISE_COUNT;
    if (status == TACET_OK && heavy && !s->private && proven(s) && s->local.algorithm == TACET_LOCAL_UCB) {
        /* Its width is proven for sub-Gaussian rewards; these tails pass every such bound. */
        return tacet__fail(err, TACET_INVALID,
                           "the width of ucb does not hold for %s noise: take tgp, ata or moma, a bounded mechanism "
                           "(which clips), or parameters without a regret bound",
                           w->noise);
    }
    if (status == TACET_OK && noise == NOISE_COUNT) {
        status = tacet__fail(err, TACET_INVALID, "--reward-law is uniform, normal, student3, weibull or pareto");
    }
    if (status == TACET_OK && !(s->theta > 0 && s->alpha > 0 && s->alpha <= 1)) {
        status = tacet__fail(err, TACET_INVALID, "--tail must be > 0, and for pareto at most 1");
    }
    if (status == TACET_OK && noise == LOCAL_PARETO && s->alpha < 1 && !s->private &&
        s->local.algorithm != TACET_LOCAL_MOMA) {
        status = tacet__fail(err, TACET_INVALID, "of pareto noise with --tail below 1 only moma has a width");
    }
    if (status == TACET_OK && s->tail_delta > 0 && noise != LOCAL_NORMAL && noise != LOCAL_WEIBULL) {
        status =
            tacet__fail(err, TACET_INVALID, "--noise-delta is for normal and weibull noise, whose tails are known");
    }
    if (status == TACET_OK && w->bound != NULL && strcmp(w->bound, "largest") != 0 && strcmp(w->bound, "norm") != 0) {
        status = tacet__fail(err, TACET_INVALID, "--bound is largest or norm");
    }
    s->by_norm = w->bound != NULL && strcmp(w->bound, "norm") == 0;
    const bool table = strcmp(w->scenario, "light") == 0 || strcmp(w->scenario, "stocks") == 0;
    const bool hard = strcmp(w->scenario, "hard") == 0;
    if (status == TACET_OK && !table && !hard && strcmp(w->scenario, "synthetic") != 0) {
        status = tacet__fail(err, TACET_INVALID, "--world is synthetic, hard, light or stocks");
    }
    if (status == TACET_OK && table != (strcmp(w->kernel, "precomputed") == 0)) {
        status = tacet__fail(err, TACET_INVALID, "--kernel precomputed goes with --world light or stocks");
    }
    if (status == TACET_OK && table && w->data == NULL) {
        status = tacet__fail(err, TACET_INVALID, "--world %s needs --datasets DIR", w->scenario);
    }
    if (status != TACET_OK) {
        return status;
    }
    status = table ? local_problem_table(&s->problem, w->scenario, w->data, err)
                   : local_problem_synthetic(&s->problem, w->kernel, w->lengthscale, w->arms, (local_noise)noise, err);
    s->problem.theta = s->theta;
    s->problem.alpha = s->alpha;
    return status == TACET_OK && hard
               ? local_problem_hard(&s->problem, HARD_NORM, HARD_MOMENT, s->eps, s->local.horizon, err)
               : status;
}

static void clear(simulation *s) {
    tacet_kernel_free(s->believed);
    local_problem_clear(&s->problem);
    free(s->regret);
}

/* The regret that uniform play has in expectation, function by function. */
static tacet_status random_play(simulation *s, tacet_error *err) {
    tacet_status status = make_room(s, err);
    for (size_t k = 0; status == TACET_OK && k < s->trials; k++) {
        local_function f = {0};
        status = local_function_make(&f, &s->problem, s->support, s->seed, k * STREAMS, err);
        s->regret[k] = (double)s->local.horizon * (f.top - f.mean);
        s->relative[k] = 1;
        local_function_clear(&f);
    }
    return status;
}

tacet_status lab_local_run(lab_outcome *out, const lab_request *request, tacet_error *err) {
    const lab_local_request *r = &request->of.local;
    simulation s = {.eps = r->eps,
                    .range = r->range,
                    .unbounded = 1,
                    .theta = 1,
                    .alpha = 1,
                    .support = r->support,
                    .trials = request->trials,
                    .seed = request->seed};
    const bool made_up = strcmp(r->scenario, "made-up") == 0;
    words w = {r->algorithm, r->parameters, r->mechanism,   r->kernel, r->noise, made_up ? "synthetic" : r->scenario,
               r->folder,    NULL,          r->lengthscale, r->arms};
    const bool at_random = strcmp(r->algorithm, "random") == 0;
    if (at_random) {
        w.algorithm = "ucb"; /* not played */
    }
    tacet_local_settings_defaults(&s.local);
    s.local.horizon = r->rounds;
    s.local.eager = r->eager;
    tacet_status status = understand(&s, &w, err);
    if (status == TACET_OK && made_up) {
        local_problem_clear(&s.problem);
        status = local_problem_made_up(&s.problem, r->kernel, r->lengthscale, r->arms, r->dim, r->noise_scale,
                                       request->seed, err);
    }
    TACET_THEN(status, at_random ? random_play(&s, err) : simulate(&s, err));
    TACET_THEN(status, lab_outcome_set(out, r->relative ? s.relative : s.regret, s.trials, err));
    clear(&s);
    return status;
}

double lab_local_theorem_1(bool se, double B, double v, double eps, double T) {
    const double zeta = expm1(eps), nu = 2.5, power = 2 * nu + 1;
    return se ? sqrt(v * T) / zeta * pow(fmax(log(B * B * T * zeta * zeta / v), 1), 0.25)
              : pow(v, nu / power) * pow(T, (nu + 1) / power) * pow(zeta, -1 + 1 / power) * pow(B, 1 / power);
}

tacet_status lab_local_lower(double *out, const lab_request *request, tacet_error *err) {
    const lab_local_request *r = &request->of.local;
    simulation s = {.eps = r->eps, .range = "paper", .unbounded = 1, .theta = 1, .alpha = 1, .support = r->support};
    const words w = {"ucb", "tight", "hybrid", r->kernel, r->noise, "synthetic", NULL, NULL, r->lengthscale, r->arms};
    const double T = (double)r->rounds;
    *out = 0;
    tacet_local_settings_defaults(&s.local);
    tacet_status status = understand(&s, &w, err);
    for (size_t k = 0; k < request->trials && status == TACET_OK; k++) {
        local_function f = {0};
        status = local_function_make(&f, &s.problem, r->support, request->seed, k * STREAMS, err);
        if (status == TACET_OK) {
            const double v = f.bound * f.bound + f.noise_var;
            *out += lab_local_theorem_1(strcmp(r->kernel, "se") == 0, f.norm, v, r->eps, T) / (T * (f.top - f.mean)) /
                    (double)request->trials;
        }
        local_function_clear(&f);
    }
    clear(&s);
    return status;
}

int lab_sim_local(int argc, char **argv, const cli_command *self) {
    simulation s = {
        .eps = 1, .range = "paper", .unbounded = 1, .theta = 1, .alpha = 1, .support = 100, .trials = 10, .seed = 1};
    words w = {"ucb", "tight", "hybrid", "matern52", "uniform", "synthetic", NULL, NULL, 0.2, 100};
    double tail = 1;
    bool true_range = false;
    tacet_local_settings_defaults(&s.local);
    s.local.horizon = 40000;
    const cli_option options[] = {
        CLI_HEADING("Problem"),
        CLI_OPT("world", &w.scenario, "NAME",
                "synthetic (functions of the kernel's space on [0, 1]), hard (the instances behind the paper's lower "
                "bound, "
                "|f| <= "
                "1), light or stocks (tables). Default synthetic."),
        CLI_OPT("datasets", &w.data, "DIR", "light: has light_train.csv, light_test.csv; stocks: has stocks.csv."),
        CLI_MORE,
        CLI_OPT("kernel", &w.kernel, "NAME",
                "se, matern12, matern32, matern52 …, or precomputed for a table. "
                "Default matern52."),
        CLI_OPT("arms", &w.arms, "N", "Default 100."),
        CLI_OPT("reward-law", &w.noise, "NAME",
                "How rewards scatter: uniform in ±1, normal, student3, weibull (tails exp(-x^(1/--tail))) or pareto "
                "(finite moments up to 1 + 1.5 --tail). Default uniform."),
        CLI_OPT("tail", &tail, "X",
                "weibull: tgp truncates by it; pareto: moma is told the moment of order 1 + X. Default 1."),
        CLI_OPT("noise-delta", &s.tail_delta, "D",
                "normal, weibull: that range instead, which no reward of a run leaves with probability 1 - D."),
        CLI_HEADING("Device"),
        CLI_OPT("mechanism", &w.mechanism, "NAME",
                "laplace, hybrid, its halves duchi and piecewise, or none. Default hybrid."),
        CLI_OPT("eps", &s.eps, "E", "Default 1."),
        CLI_MORE,
        CLI_OPT("true-range", &true_range, NULL,
                "Rewards are clipped to the range of f widened by R (tables: from 0), not to the paper's ±(B + R)."),
        CLI_HEADING("Learner"),
        CLI_OPT("algorithm", &w.algorithm, "NAME", "ucb, tgp, ata, moma. Default ucb."),
        CLI_OPT("rounds", &s.local.horizon, "T", "Default 40000."),
        CLI_MORE,
        CLI_OPT("bound", &w.bound, "NAME",
                "What it is told |f| is at most: largest (max |f|, as the paper does; its proofs do not hold for it) "
                "or norm "
                "(|f|_H, for which they do). Default largest."),
        CLI_OPT("parameters", &w.parameters, "NAME",
                "tight, tuned; of tgp, ata and moma also literal, orderwise. Default tight."),
        CLI_OPT("eager", &s.local.eager, NULL, "ata: rebuilt at every report, as the paper prints it."),
        CLI_OPT("missing", &s.missing, "P", "Share of the rounds whose report never comes. Default 0."),
        CLI_OPT("permute", &s.permute, NULL, "Rewards are those of any arm: whatever is learnt is chance."),
        CLI_OPT("outstanding", &s.outstanding, "N",
                "Reports that are out at a time: each comes N rounds late. Default 0."),
        CLI_OPT("believed", &s.misbelief, "F", "The learner's lengthscale is F times the function's. Default 1."),
        CLI_HEADING("Experiment"),
        CLI_OPT("trials", &s.trials, "N", "Default 10."),
        CLI_OPT("seed", &s.seed, "S", "Default 1."),
        {0},
    };
    int code = CLI_EXIT_OK;
    if (!cli_parse(self, options, argc, argv, NULL, NULL, &code)) {
        return code;
    }
    *(strcmp(w.noise, "pareto") == 0 ? &s.alpha : &s.theta) = tail;
    s.range = true_range ? "true" : "paper";
    tacet_error err;
    tacet_error_clear(&err);
    const double begin = cli_seconds();
    tacet_status status = understand(&s, &w, &err);
    if (status == TACET_OK && s.private && proven(&s) && !(s.tail_delta > 0) &&
        (s.problem.noise == LOCAL_STUDENT3 || s.problem.noise == LOCAL_WEIBULL || s.problem.noise == LOCAL_PARETO)) {
        cli_say(self, "devices clip such rewards: the width holds for the mean of the clipped reward, not for f, "
                      "and nothing is proven of this regret");
    }
    TACET_THEN(status, simulate(&s, &err));
    if (status == TACET_OK) {
        code = report(&s, w.scenario, cli_seconds() - begin);
    } else {
        code = cli_refuse(self, &err);
    }
    clear(&s);
    return code;
}
