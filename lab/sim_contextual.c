/* SPDX-License-Identifier: Apache-2.0 */
/* sim_contextual.c - `tacet-lab simulate contextual`: contextual choices learnt from made-up logs, many times.
 * Ring: programs. What does not depend on data (features, plan, certificates) is made once, here; contextual_trial.c
 * has the trials. Noise is exact but seeded: reproducible, hence not private. */
#include "commands.h"
#include "runs.h"
#include "trials.h"
#include "contextual_trial.h"

#include "core/fail.h"
#include "gp/linalg.h"
#include "core/memory.h"
#include "common/cli.h"
#include "contextual/trusted/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/core/simrng.h>

static const char *const ALGORITHMS[] = {"published", "faithful", "nonprivate", "uniform", "table"};
static const char *const POLICIES[CONTEXTUAL_POLICY_COUNT] = {"none", "epochs", "random"};
static const char *const LAWS[CONTEXTUAL_LAW_COUNT] = {"uniform", "skew", "two", "one", "clusters", "levels"};
enum { POINTS_MOST = 20000000 };

/* Certificates and levers of the choosers: functions of sizes and space. */
static tacet_status prepare_choices(contextual_simulation *s, tacet_error *err) {
    tacet_contextual_learner *l = NULL;
    tacet_contextual_chooser *chooser = NULL;
    const double middle[TACET_CONTEXTUAL_DIM_MOST] = {0.5, 0.5, 0.5, 0.5};
    tacet_status status = tacet_contextual_learner_create(&l, s->basis, &s->settings, err);
    for (size_t t = 0; t < s->rounds && status == TACET_OK; t++) {
        status = tacet_contextual_learner_add(l, middle, 0, err);
    }
    if (status == TACET_OK) {
        status = tacet__contextual_chooser_begin(&chooser, l, s->tau, 0, err);
    }
    if (status == TACET_OK) {
        s->m = chooser->m;
        s->sup = chooser->sup;
        s->used_tau = chooser->tau;
        s->U = TACET__ALIGNED(double, s->m * s->actions * s->contexts);
        s->bounds = TACET__ZALLOC(double, s->contexts);
        status = s->U == NULL || s->bounds == NULL ? tacet__fail(err, TACET_NO_MEMORY, "out of memory for levers")
                                                   : TACET_OK;
    }
    for (size_t k = 0; k < s->contexts && status == TACET_OK; k++) {
        double *U = s->U + k * s->m * s->actions;
        status = tacet__contextual_levers(chooser, U, s->context + k * s->dim_context, s->action, s->actions, err);
        s->bounds[k] = status == TACET_OK ? tacet__contextual_score_bound(chooser, U, s->actions) : 0;
    }
    tacet_contextual_chooser_free(chooser);
    tacet_contextual_learner_free(l);
    return status;
}

/* Equispaced actions with their end points (of many coordinates: middles of three cells each); contexts at the middles
 * of equal cells, or uniform ones in more dimensions.
 */
static tacet_status make_grids(contextual_simulation *s, tacet_error *err) {
    const size_t usual = s->dim_action == 1 ? 101 : s->dim_action == 2 ? 17 : s->dim_action < 5 ? 9 : 3;
    const size_t per_axis = s->per_axis > 1 ? s->per_axis : usual;
    s->contexts = s->dim_context == 0 ? 1 : s->d > 2 ? 8 : s->law == CONTEXTUAL_LAW_UNIFORM ? 16 : 40;
    s->actions = 1;
    for (size_t i = 0; i < s->dim_action; i++) {
        s->actions *= per_axis;
    }
    s->action = TACET__ZALLOC(double, s->actions * s->dim_action);
    s->context = TACET__ZALLOC(double, s->contexts *(s->dim_context + 1));
    s->error = TACET__ZALLOC(double, s->trials);
    s->rms = TACET__ZALLOC(double, 4 * s->trials);
    if (s->rms != NULL) {
        s->stated = s->rms + s->trials;
    }
    if (s->rms == NULL || s->action == NULL || s->context == NULL || s->error == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu trials", s->trials);
    }
    for (size_t j = 0; j < s->actions; j++) {
        size_t rest = j;
        for (size_t c = 0; c < s->dim_action; c++, rest /= per_axis) {
            s->action[j * s->dim_action + c] = s->dim_action < 5 ? (double)(rest % per_axis) / (double)(per_axis - 1)
                                                                 : ((double)(rest % per_axis) + 0.5) / (double)per_axis;
        }
    }
    tacet_simrng rng;
    tacet_simrng_init(&rng, s->seed, UINT64_MAX);
    for (size_t k = 0; k < s->contexts * s->dim_context; k++) {
        s->context[k] = contextual_law_quantile(s->law, s->dim_context == 1 ? ((double)k + 0.5) / (double)s->contexts
                                                                            : tacet_simrng_uniform(&rng));
    }
    return TACET_OK;
}

static tacet_status make_basis(contextual_simulation *s, tacet_error *err) {
    tacet_kernel_spec spec;
    tacet_kernel_spec_defaults(&spec);
    tacet_contextual_space space;
    tacet_contextual_space_defaults(&space);
    tacet_status status = tacet_kernel_parse(&spec, s->kernel_name, err);
    if (status != TACET_OK) {
        return status;
    }
    const double zero[TACET_CONTEXTUAL_COORDINATES_MOST] = {0};
    double one[TACET_CONTEXTUAL_COORDINATES_MOST];
    for (size_t c = 0; c < TACET_CONTEXTUAL_COORDINATES_MOST; c++) {
        one[c] = 1;
    }
    space.kind = spec.kind;
    space.matern_p = spec.matern_p;
    space.action_dim = s->dim_action;
    space.context_dim = s->dim_context;
    space.lower = zero;
    space.upper = one;
    spec.d = s->dim_action + s->dim_context;
    spec.lengthscales = &s->lengthscale;
    spec.lengthscale_count = 1;
    space.lengthscales = &s->lengthscale;
    status = tacet_kernel_create(&s->truth, &spec, err);
    return status == TACET_OK ? tacet_contextual_basis_create(&s->basis, &space, 0, err) : status;
}

static tacet_status simulate(contextual_simulation *s, tacet_error *err) {
    tacet_status status = make_basis(s, err);
    if (status == TACET_OK) {
        s->d = s->dim_action + s->dim_context;
        status = make_grids(s, err);
    }
    if (status == TACET_OK && s->algorithm == CONTEXTUAL_PUBLISHED) {
        status = prepare_choices(s, err);
    }
    if (status == TACET_OK && s->algorithm == CONTEXTUAL_FAITHFUL) {
        const double T = (double)s->rounds;
        const double points = T * ceil(T / tacet__contextual_gain(s->basis, T, s->tau > 0 ? s->tau : 1));
        if (!(points <= POINTS_MOST)) {
            return tacet__fail(err, TACET_INVALID, "the approximating set would have %.0f points: fewer --rounds",
                               points);
        }
        s->points = (size_t)points;
    }
    return status == TACET_OK ? lab_trials_run(s->trials, 0, contextual_trial, s, err) : status;
}

static const char *protection(const contextual_simulation *s) {
    switch (s->algorithm) {
    case CONTEXTUAL_PUBLISHED:
    case CONTEXTUAL_FAITHFUL:
        return "eps-DP for one record's context and reward, each choice";
    case CONTEXTUAL_TABLE:
        return "eps-DP for one record's action, context and reward, any number of predictions";
    case CONTEXTUAL_NONPRIVATE:
    case CONTEXTUAL_UNIFORM:
        break;
    }
    return "none";
}

/* How true it was what the models stated. */
static void add_statements(const contextual_simulation *s, json_t *object) {
    double mean = 0;
    double se = 0;
    double stated = 0;
    for (size_t i = 0; i < s->trials; i++) {
        stated += CONTEXTUAL_LIKELY * s->stated[i] >= s->rms[i] ? 1 : 0;
    }
    lab_mean_se(&mean, &se, s->rms, s->trials);
    const double n = (double)s->trials;
    (void)json_object_set_new(object, "law", json_string(LAWS[s->law]));
    (void)json_object_set_new(object, "rms",
                              json_pack("{so so so}", "mean", cli_real(mean), "se", cli_real(se), "max",
                                        cli_real(lab_largest(s->rms, s->trials))));
    lab_mean_se(&mean, &se, s->stated, s->trials);
    (void)json_object_set_new(object, "stated_rms", cli_real(mean));
    (void)json_object_set_new(object, "likely_covers", cli_real(stated / n));
    if (!cli_json_wanted()) {
        printf("%s contexts: predictions err by %.4f (largest %.4f), stated %.4f; three times that covers in %.0f %%\n",
               LAWS[s->law], json_number_value(json_object_get(json_object_get(object, "rms"), "mean")),
               lab_largest(s->rms, s->trials), mean, 100 * stated / n);
    }
}

/* What the paper proves of the estimate and of a choice, beside what was measured. */
static void add_theory(const contextual_simulation *s, json_t *object) {
    contextual_theory t;
    double mean = 0, se = 0;
    if (contextual_theory_of(&t, s, NULL) != TACET_OK) {
        return;
    }
    lab_mean_se(&mean, &se, s->rms, s->trials);
    if (!cli_json_wanted()) {
        printf("sup |mu - f|: %.4f (largest %.4f), %.2f times sqrt(gamma_T/T) = %.4f; Lemma 4.3 with its constants: "
               "%.4g\n",
               mean, lab_largest(s->rms, s->trials), mean / t.rate, t.rate, t.sup);
        printf("Theorem 8.2 with its constants, for the error of a choice: %.4g (eigenfunctions up to %.2f)\n", t.error,
               t.F);
    }
    (void)json_object_set_new(object, "sup_error",
                              json_pack("{so so so}", "mean", cli_real(mean), "se", cli_real(se), "max",
                                        cli_real(lab_largest(s->rms, s->trials))));
    (void)json_object_set_new(object, "sup_error_bound", cli_real(t.sup));
    (void)json_object_set_new(object, "error_bound", cli_real(t.error));
    (void)json_object_set_new(object, "gamma", cli_real(t.gamma));
    (void)json_object_set_new(object, "eigenfunctions", cli_real(t.F));
}

/* A study: its regret. */
static void report_regret(const contextual_simulation *s, double seconds) {
    double mean = 0;
    double se = 0;
    lab_mean_se(&mean, &se, s->error, s->trials);
    if (!cli_json_wanted()) {
        printf("%s, %s contexts, T = %zu, eps = %g: regret %.1f +- %.1f, largest %.1f (%zu trials, %.1f s)\n",
               POLICIES[s->policy], LAWS[s->law], s->rounds, s->settings.eps, mean, se,
               lab_largest(s->error, s->trials), s->trials, seconds);
    }
    cli_json_print(json_pack("{ss ss ss sI sf sf sI sI s{so so so} sb sf}", "model", "contextual", "policy",
                             POLICIES[s->policy], "law", LAWS[s->law], "rounds", (json_int_t)s->rounds, "eps",
                             s->settings.eps, "delta", 0.0, "trials", (json_int_t)s->trials, "seed",
                             (json_int_t)s->seed, "regret", "mean", cli_real(mean), "se", cli_real(se), "max",
                             cli_real(lab_largest(s->error, s->trials)), "private", 0, "seconds", seconds));
}

static void report(const contextual_simulation *s, double seconds) {
    if (s->policy != CONTEXTUAL_POLICY_NONE) {
        report_regret(s, seconds);
        return;
    }
    double mean = 0;
    double se = 0;
    lab_mean_se(&mean, &se, s->error, s->trials);
    if (!cli_json_wanted()) {
        printf("%s, %s, lengthscale %g, T = %zu, eps = %g: expected error %.5f +- %.5f (%zu trials, %.1f s)\n",
               ALGORITHMS[s->algorithm], s->kernel_name, s->lengthscale, s->rounds, s->settings.eps, mean, se,
               s->trials, seconds);
        printf("protection: %s (here with seeded noise: not private)\n", protection(s));
    }
    json_t *object = json_pack(
        "{ss ss ss sf sI sI sI sf sf sI sI s{so so so} ss sb sf}", "model", "contextual", "algorithm",
        ALGORITHMS[s->algorithm], "kernel", s->kernel_name, "lengthscale", s->lengthscale, "dim_action",
        (json_int_t)s->dim_action, "dim_context", (json_int_t)s->dim_context, "rounds", (json_int_t)s->rounds, "eps",
        s->settings.eps, "delta", 0.0, "trials", (json_int_t)s->trials, "seed", (json_int_t)s->seed, "error", "mean",
        cli_real(mean), "se", cli_real(se), "max", cli_real(lab_largest(s->error, s->trials)), "mechanism_protects",
        protection(s), "private", 0, "seconds", seconds);
    if (object != NULL && s->algorithm == CONTEXTUAL_PUBLISHED) {
        (void)json_object_set_new(object, "tau", cli_real(s->used_tau));
        (void)json_object_set_new(object, "sup_variance", cli_real(s->sup * s->sup));
        add_theory(s, object);
    }
    if (object != NULL && s->algorithm == CONTEXTUAL_FAITHFUL) {
        (void)json_object_set_new(object, "approximating_points", json_integer((json_int_t)s->points));
    }
    if (object != NULL && s->algorithm == CONTEXTUAL_TABLE) {
        add_statements(s, object);
    }
    cli_json_print(object);
}

static void clear(contextual_simulation *s) {
    tacet_contextual_basis_free(s->basis);
    tacet_kernel_free(s->truth);
    free(s->action);
    free(s->context);
    free(s->U);
    free(s->bounds);
    free(s->error);
    free(s->rms);
}

static bool choose(contextual_simulation *s, const char *name) {
    size_t chosen = 0;
    while (chosen < CONTEXTUAL_ALGORITHM_COUNT && strcmp(ALGORITHMS[chosen], name) != 0) {
        chosen++;
    }
    s->algorithm = chosen < CONTEXTUAL_ALGORITHM_COUNT ? (contextual_algorithm)chosen : CONTEXTUAL_UNIFORM;
    return chosen < CONTEXTUAL_ALGORITHM_COUNT;
}

/* All that a request says but the algorithm, which is left at the first. */
static contextual_simulation simulation_of(const lab_request *request) {
    const lab_contextual_request *r = &request->of.contextual;
    contextual_simulation s = {.kernel_name = r->kernel,
                               .dim_action = r->dim_action,
                               .dim_context = r->dim_context,
                               .rounds = r->rounds,
                               .trials = request->trials,
                               .draws = r->draws,
                               .lengthscale = r->lengthscale,
                               .noise = r->noise,
                               .seed = request->seed};
    tacet_contextual_settings_defaults(&s.settings);
    s.settings.eps = r->eps;
    return s;
}

tacet_status lab_contextual_run(lab_outcome *out, const lab_request *request, tacet_error *err) {
    const lab_contextual_request *r = &request->of.contextual;
    contextual_simulation s = simulation_of(request);
    if (r->actions > 0 && r->dim_action > 0) {
        s.per_axis = (size_t)fmax(2, floor(pow((double)r->actions, 1 / (double)r->dim_action) + 0.5));
    }
    if (!choose(&s, r->algorithm) || r->rounds == 0 || request->trials == 0 || !(r->eps > 0)) {
        return tacet__fail(err, TACET_INVALID, "no algorithm '%s', or no rounds, trials or eps", r->algorithm);
    }
    tacet_status status = simulate(&s, err);
    if (status == TACET_OK) {
        status = lab_outcome_set(out, s.error, s.trials, err);
    }
    clear(&s);
    return status;
}

tacet_status lab_contextual_theory(double bound[2], double measured[2], const lab_request *request, tacet_error *err) {
    contextual_simulation s = simulation_of(request);
    contextual_theory t = {0};
    double se = 0;
    s.algorithm = CONTEXTUAL_PUBLISHED;
    tacet_status status = simulate(&s, err);
    TACET_THEN(status, contextual_theory_of(&t, &s, err));
    if (status == TACET_OK) {
        lab_mean_se(&measured[0], &se, s.rms, s.trials);
        lab_mean_se(&measured[1], &se, s.error, s.trials);
    }
    bound[0] = t.sup;
    bound[1] = t.error;
    clear(&s);
    return status;
}

tacet_status lab_contextual_gain(double *gain, const lab_contextual_request *r, tacet_error *err) {
    contextual_simulation s = {.kernel_name = r->kernel,
                               .dim_action = r->dim_action,
                               .dim_context = r->dim_context,
                               .lengthscale = r->lengthscale};
    const tacet_status status = make_basis(&s, err);
    *gain = status == TACET_OK ? tacet__contextual_gain(s.basis, (double)r->rounds, 1) : NAN;
    clear(&s);
    return status;
}

int lab_sim_contextual(int argc, char **argv, const cli_command *self) {
    contextual_simulation s = {.kernel_name = "se",
                               .dim_action = 1,
                               .dim_context = 1,
                               .rounds = 10000,
                               .trials = 20,
                               .draws = 8,
                               .lengthscale = 0.3,
                               .noise = 0.1,
                               .seed = 1};
    const char *name = "table";
    const char *law = "uniform";
    const char *policy = "none";
    const char *function = "kernel";
    const char *reward = "normal";
    tacet_contextual_settings_defaults(&s.settings);
    const cli_option options[] = {
        CLI_OPT(
            "algorithm", &name, "NAME",
            "published (exponential mechanism, tau = 1), faithful (the same on the paper's random approximating set), "
            "table (as 'tacet learn' does), nonprivate (ridge), or uniform (random actions). Default table."),
        CLI_OPT("law", &law, "NAME",
                "Of contexts: uniform, skew (u^4), two (values, 90 and 10 %), one (value), clusters (three); or, with "
                "--policy, levels: 4 variants and 3 device types with two-valued rewards. Default uniform."),
        CLI_OPT("policy", &policy, "NAME",
                "Cumulative regret of a study with 33 actions instead of a log: epochs (the service's) or random."),
        CLI_OPT("rounds", &s.rounds, "T", "Records learnt from. Default 10000."),
        CLI_OPT("eps", &s.settings.eps, "E", "Default 1."),
        CLI_OPT("tau", &s.tau, "T", "published, faithful: the regulariser. Default 1."),
        CLI_OPT("trials", &s.trials, "N", "Default 20."),
        CLI_OPT("seed", &s.seed, "S", "Default 1."),
        CLI_MORE,
        CLI_OPT(
            "function", &function, "NAME",
            "kernel (20 kernel functions, norm 1) or waves (of size 0.5, outside the kernel's usual prior). Default "
            "kernel."),
        CLI_OPT("kernel", &s.kernel_name, "NAME", "se, matern32 or matern52. Default se."),
        CLI_OPT("lengthscale", &s.lengthscale, "L", "In units of the box [0, 1]. Default 0.3."),
        CLI_OPT("dim-action", &s.dim_action, "N", "Action coordinates. Default 1."),
        CLI_OPT("dim-context", &s.dim_context, "N", "Context coordinates. Default 1."),
        CLI_OPT("noise", &s.noise, "R", "Standard deviation of a reward. Default 0.1."),
        CLI_OPT("reward-law", &reward, "NAME",
                "How rewards scatter: normal, skewed, binary (-1 or 1) or heavy (t with 3 degrees). Default normal."),
        CLI_OPT("missing", &s.missing, "P", "policy: share of the rounds that never report. Default 0."),
        CLI_OPT("outstanding", &s.outstanding, "N", "policy: each report comes N rounds late. Default 0."),
        CLI_OPT("permute", &s.permute, NULL,
                "Rewards are those of other records, unrelated to action and context: whatever is learnt is chance."),
        CLI_OPT("draws", &s.draws, "N", "published: choices drawn per context. Default 8."),
        {0},
    };
    int code = CLI_EXIT_OK;
    if (!cli_parse(self, options, argc, argv, NULL, NULL, &code)) {
        return code;
    }
    s.waves = strcmp(function, "waves") == 0;
    if (!lab_reward_law_parse(&s.reward, reward) || !(s.missing >= 0 && s.missing < 1)) {
        return cli_usage(self, "--reward-law is %s, --missing from 0 to 1", lab_reward_law_names());
    }
    if (s.dim_action > TACET_CONTEXTUAL_DIM_MOST || s.dim_context > TACET_CONTEXTUAL_DIM_MOST) {
        return cli_usage(self, "--dim-action and --dim-context are at most %d together",
                         (int)TACET_CONTEXTUAL_DIM_MOST);
    }
    size_t chosen_policy = 0;
    while (chosen_policy < CONTEXTUAL_POLICY_COUNT && strcmp(POLICIES[chosen_policy], policy) != 0) {
        chosen_policy++;
    }
    if (chosen_policy == CONTEXTUAL_POLICY_COUNT) {
        return cli_usage(self, "--policy is epochs or random");
    }
    s.policy = (contextual_policy)chosen_policy;
    size_t chosen_law = 0;
    while (chosen_law < CONTEXTUAL_LAW_COUNT && strcmp(LAWS[chosen_law], law) != 0) {
        chosen_law++;
    }
    s.law = chosen_law < CONTEXTUAL_LAW_COUNT ? (contextual_law)chosen_law : CONTEXTUAL_LAW_UNIFORM;
    if (!choose(&s, name)) {
        return cli_usage(self, "--algorithm is table, published, faithful, nonprivate or uniform");
    }
    if (chosen_law == CONTEXTUAL_LAW_COUNT || (!s.waves && strcmp(function, "kernel") != 0) ||
        (s.law == CONTEXTUAL_LAW_LEVELS && s.policy == CONTEXTUAL_POLICY_NONE)) {
        return cli_usage(self,
                         "--law is uniform, skew, two, one, clusters or levels (with --policy), --function kernel or "
                         "waves");
    }
    if (s.rounds == 0 || s.trials == 0 || s.draws == 0 || !(s.noise >= 0) || !(s.settings.eps > 0) || !(s.tau >= 0)) {
        return cli_usage(self,
                         "--rounds, --trials, --draws and --eps must be positive, --noise and --tau not negative");
    }
    tacet_error err;
    tacet_error_clear(&err);
    const double begin = cli_seconds();
    const tacet_status status = simulate(&s, &err);
    if (status == TACET_OK) {
        report(&s, cli_seconds() - begin);
    } else {
        code = cli_refuse(self, &err);
    }
    clear(&s);
    return code;
}
