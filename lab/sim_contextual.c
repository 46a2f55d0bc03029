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
    TACET_THEN(status, tacet__contextual_chooser_begin(&chooser, l, s->tau, 0, err));
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
    TACET_OR_RETURN(tacet_kernel_parse(&spec, s->kernel_name, err));
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
    tacet_status status = tacet_kernel_create(&s->truth, &spec, err);
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
    return status == TACET_OK ? lab_trials_run(s->trials, contextual_trial, s, err) : status;
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
    double stated = 0, covered = 0, se = 0;
    for (size_t i = 0; i < s->trials; i++) {
        covered += CONTEXTUAL_LIKELY * s->stated[i] >= s->rms[i] ? 1 : 0;
    }
    lab_mean_se(&stated, &se, s->stated, s->trials);
    cli_add(object, "law rms stated_rms likely_covers _percent", J(LAWS[s->law]),
            J(lab_summary(s->rms, s->trials, "max")), J(stated), J(covered / (double)s->trials),
            J(100 * covered / (double)s->trials));
}

/* What the paper proves of the estimate and of a choice, beside what was measured. */
static void add_theory(const contextual_simulation *s, json_t *object) {
    contextual_theory t;
    double mean = 0, se = 0;
    cli_add(object, "tau sup_variance", J(s->used_tau), J(s->sup * s->sup));
    if (contextual_theory_of(&t, s, NULL) == TACET_OK) {
        lab_mean_se(&mean, &se, s->rms, s->trials);
        cli_add(object, "sup_error sup_error_bound error_bound gamma eigenfunctions _rate _times",
                J(lab_summary(s->rms, s->trials, "max")), J(t.sup), J(t.error), J(t.gamma), J(t.F), J(t.rate),
                J(mean / t.rate));
    }
}

/* A study: its regret. */
static int report_regret(const contextual_simulation *s, double seconds) {
    return cli_tell(cli_object("model policy law rounds eps delta trials seed regret private seconds", J("contextual"),
                               J(POLICIES[s->policy]), J(LAWS[s->law]), J(s->rounds), J(s->settings.eps), J(0.0),
                               J(s->trials), J(s->seed), J(lab_summary(s->error, s->trials, "max")), JB(false),
                               J(seconds)),
                    "{policy}, {law} contexts, T = {rounds}, eps = {eps:.6g}: regret {regret.mean:.1f} +- "
                    "{regret.se:.1f}, largest {regret.max:.1f} ({trials} trials, {seconds:.1f} s)\n");
}

static int report(const contextual_simulation *s, double seconds) {
    if (s->policy != CONTEXTUAL_POLICY_NONE) {
        return report_regret(s, seconds);
    }
    json_t *object =
        cli_object("model algorithm kernel lengthscale dim_action dim_context rounds eps delta trials seed error "
                   "mechanism_protects private seconds approximating_points?",
                   J("contextual"), J(ALGORITHMS[s->algorithm]), J(s->kernel_name), J(s->lengthscale), J(s->dim_action),
                   J(s->dim_context), J(s->rounds), J(s->settings.eps), J(0.0), J(s->trials), J(s->seed),
                   J(lab_summary(s->error, s->trials, "max")), J(protection(s)), JB(false), J(seconds),
                   J(s->algorithm == CONTEXTUAL_FAITHFUL ? cli_whole(s->points) : NULL));
    if (s->algorithm == CONTEXTUAL_PUBLISHED) {
        add_theory(s, object);
    }
    if (s->algorithm == CONTEXTUAL_TABLE) {
        add_statements(s, object);
    }
    return cli_tell(
        object,
        "{algorithm}, {kernel}, lengthscale {lengthscale:.6g}, T = {rounds}, eps = {eps:.6g}: expected error "
        "{error.mean:.5f} +- {error.se:.5f} ({trials} trials, {seconds:.1f} s)\n"
        "protection: {mechanism_protects} (here with seeded noise: not private)\n"
        "{?sup_error|sup |mu - f|: {sup_error.mean:.4f} (largest {sup_error.max:.4f}), {_times:.2f} times "
        "sqrt(gamma_T/T) = {_rate:.4f}; Lemma 4.3 with its constants: {sup_error_bound:.4g}\n"
        "Theorem 8.2 with its constants, for the error of a choice: {error_bound:.4g} (eigenfunctions up to "
        "{eigenfunctions:.2f})\n}"
        "{?rms|{law} contexts: predictions err by {rms.mean:.4f} (largest {rms.max:.4f}), stated {stated_rms:.4f}; "
        "three times that covers in {_percent:.0f} %\n}");
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
    size_t chosen = 0;
    if (!lab_choose(&chosen, ALGORITHMS, CONTEXTUAL_ALGORITHM_COUNT, r->algorithm) || r->rounds == 0 ||
        request->trials == 0 || !(r->eps > 0)) {
        return tacet__fail(err, TACET_INVALID, "no algorithm '%s', or no rounds, trials or eps", r->algorithm);
    }
    s.algorithm = (contextual_algorithm)chosen;
    tacet_status status = simulate(&s, err);
    TACET_THEN(status, lab_outcome_set(out, s.error, s.trials, err));
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
    cli_wholes dims = {0};
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
        CLI_OPT("trials", &s.trials, "N", "Default 20."),
        CLI_OPT("seed", &s.seed, "S", "Default 1."),
        CLI_MORE,
        CLI_OPT(
            "function", &function, "NAME",
            "kernel (20 kernel functions, norm 1) or waves (of size 0.5, outside the kernel's usual prior). Default "
            "kernel."),
        CLI_OPT("lengthscale", &s.lengthscale, "L", "In units of the box [0, 1]. Default 0.3."),
        CLI_OPT("coordinates", &dims, "A,C", "Of the action and of the context. Default 1,1."),
        CLI_OPT("noise", &s.noise, "SD", "Standard deviation of a reward. Default 0.1."),
        CLI_OPT("reward-law", &reward, "NAME",
                "How rewards scatter: normal, skewed, binary (-1 or 1) or heavy (t with 3 degrees). Default normal."),
        CLI_OPT("missing", &s.missing, "P", "policy: share of the rounds that never report. Default 0."),
        CLI_OPT("outstanding", &s.outstanding, "N", "policy: each report comes N rounds late. Default 0."),
        CLI_OPT("permute", &s.permute, NULL,
                "Rewards are those of other records, unrelated to action and context: whatever is learnt is chance."),
        {0},
    };
    int code = CLI_EXIT_OK;
    if (!cli_parse(self, options, argc, argv, NULL, NULL, &code)) {
        return code;
    }
    s.waves = strcmp(function, "waves") == 0;
    if (dims.count == 2 && dims.at[0] <= TACET_CONTEXTUAL_DIM_MOST && dims.at[1] <= TACET_CONTEXTUAL_DIM_MOST) {
        s.dim_action = dims.at[0];
        s.dim_context = dims.at[1];
    } else if (dims.count > 0) {
        return cli_usage(self, "--coordinates A,C: at most %d together", (int)TACET_CONTEXTUAL_DIM_MOST);
    }
    if (!lab_reward_law_parse(&s.reward, reward) || !(s.missing >= 0 && s.missing < 1)) {
        return cli_usage(self, "--reward-law is %s, --missing from 0 to 1", lab_reward_law_names());
    }
    size_t chosen = 0;
    if (!lab_choose(&chosen, POLICIES, CONTEXTUAL_POLICY_COUNT, policy)) {
        return cli_usage(self, "--policy is epochs or random");
    }
    s.policy = (contextual_policy)chosen;
    if (!lab_choose(&chosen, ALGORITHMS, CONTEXTUAL_ALGORITHM_COUNT, name)) {
        return cli_usage(self, "--algorithm is table, published, faithful, nonprivate or uniform");
    }
    s.algorithm = (contextual_algorithm)chosen;
    const bool lawful = lab_choose(&chosen, LAWS, CONTEXTUAL_LAW_COUNT, law);
    s.law = (contextual_law)chosen;
    if (!lawful || (!s.waves && strcmp(function, "kernel") != 0) ||
        (s.law == CONTEXTUAL_LAW_LEVELS && s.policy == CONTEXTUAL_POLICY_NONE)) {
        return cli_usage(self,
                         "--law is uniform, skew, two, one, clusters or levels (with --policy), --function kernel or "
                         "waves");
    }
    if (s.rounds == 0 || s.trials == 0 || !(s.noise >= 0) || !(s.settings.eps > 0)) {
        return cli_usage(self, "--rounds, --trials and --eps must be positive, --noise not negative");
    }
    tacet_error err;
    tacet_error_clear(&err);
    const double begin = cli_seconds();
    const tacet_status status = simulate(&s, &err);
    if (status == TACET_OK) {
        code = report(&s, cli_seconds() - begin);
    } else {
        code = cli_refuse(self, &err);
    }
    clear(&s);
    return code;
}
