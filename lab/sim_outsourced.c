/* SPDX-License-Identifier: Apache-2.0 */
/* sim_outsourced.c - `tacet-lab simulate outsourced`: the two parties of the outsourced model in one process, many
 * times. Ring: lab. Each trial makes a problem, releases its records as `tacet curate` does (exact noise from a seeded
 * source: reproducible, hence not private), and lets a session as of `tacet modeler run`, which sees only the release,
 * find the best record. What is no product (the published mechanism, no privacy, chance) is played beside it. */
#include "commands.h"
#include "outsourced_floor.h"
#include "outsourced_problem.h"
#include "outsourced_release.h"
#include "runs.h"
#include "sim_table.h"
#include "trials.h"

#include "core/fail.h"
#include "core/memory.h"
#include "core/numbers.h"
#include "common/cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/core/simrng.h>
#include "gp/gp_ucb.h"
#include <tacet/outsourced/open/session.h>
#include <tacet/outsourced/trusted/curate.h>
#include "outsourced/trusted/published.h"

typedef enum mechanism { GAUSSIAN, LAPLACE, L2, PUBLISHED, NONPRIVATE, RANDOM } mechanism;
static const char *const MECHANISMS[] = {"gaussian", "laplace", "l2", "published", "nonprivate", "random"};
static const char *const MODELERS[] = {"eiv", "plain", "known", "averaging"};
enum { PLAIN = 1, KNOWN = 2, AVERAGING = 3, STREAMS = 4 };

typedef struct simulation {
    lab_problem problem;
    double lengthscale; /* what the modeler believes */
    double noise_var;
    mechanism mechanism;
    size_t modeler;
    double eps, delta;
    lab_curator curator;
    double scale; /* of the released noise; known after the first trial */
    size_t dims, queries, initial, trials;
    uint64_t seed;
    tacet_modeler_settings modeler_settings;
    double *regret;                /* trials: of the best measured row */
    double *recommended;           /* trials: of the row of the best posterior mean */
    double *curve;                 /* queries x trials */
    double *floor;                 /* trials: modeler known; random rows: the regret to expect of them */
    tacet_published_report branch; /* of the published mechanism, the same in every trial */
} simulation;

static uint64_t stream(size_t trial, unsigned purpose) {
    return (uint64_t)trial * STREAMS + purpose;
}

/* Of the released rows; NULL: there is no noise on them. */
static const tacet_law *law_of(mechanism kind) {
    switch (kind) {
    case GAUSSIAN:
        return tacet_curate_law(TACET_CURATE_GAUSSIAN);
    case LAPLACE:
        return tacet_curate_law(TACET_CURATE_LAPLACE);
    case L2:
        return tacet_curate_law(TACET_CURATE_L2);
    case PUBLISHED:
    case NONPRIVATE:
    case RANDOM:
        break;
    }
    return NULL;
}

static bool is_euclidean(const simulation *s) {
    return s->mechanism == LAPLACE || s->mechanism == L2;
}

static double scale_of(const lab_release *release) {
    return release->manifest.scale > 0 ? release->manifest.scale : release->manifest.sigma;
}

/* What `tacet curate` releases of the problem's records. */
static tacet_status release_rows(simulation *s, lab_release *out, size_t trial, tacet_error *err) {
    const tacet_law *law = law_of(s->mechanism);
    const tacet_status status =
        lab_curator_release(&s->curator, out,
                            s->mechanism == GAUSSIAN  ? TACET_CURATE_GAUSSIAN
                            : s->mechanism == LAPLACE ? TACET_CURATE_LAPLACE
                                                      : TACET_CURATE_L2,
                            s->eps, law != NULL && law->pure ? 0 : s->delta, 0, s->seed, trial, err);
    if (status == TACET_OK && trial == 0) {
        s->scale = scale_of(out);
    }
    return status;
}

static tacet_status project_rows(simulation *s, double *Z, size_t trial, tacet_error *err) {
    const lab_problem *p = &s->problem;
    double *M = TACET__ZALLOC(double, p->d * s->dims);
    if (M == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a projection");
    }
    tacet_simrng rng;
    tacet_simrng_init(&rng, s->seed, stream(trial, 3));
    for (size_t i = 0; i < p->d * s->dims; i++) {
        M[i] = tacet_simrng_normal(&rng);
    }
    const tacet_status status = tacet_published_project(Z, s->dims, trial == 0 ? &s->branch : NULL, p->X, p->d, p->d,
                                                        p->n, M, p->d, s->dims, s->eps, s->delta, err);
    free(M);
    return status;
}

/* Plain GP-UCB over the points as they are: the non-private reference, and what the paper runs on its projection. */
static tacet_status plain_policy(const simulation *s, tacet_policy **out, tacet_kernel **kernel, const double *Z,
                                 size_t d, const size_t *initial, tacet_error *err) {
    const double l = s->lengthscale;
    tacet_kernel_spec spec;
    tacet_kernel_spec_defaults(&spec);
    spec.d = d;
    spec.lengthscales = &l;
    spec.lengthscale_count = 1;
    spec.signal_var = s->problem.signal_var;
    TACET_OR_RETURN(tacet_kernel_create(kernel, &spec, err));
    tacet_gp_ucb_settings ucb;
    tacet_gp_ucb_settings_defaults(&ucb);
    ucb.mean = s->problem.mean;
    ucb.noise_var = s->noise_var;
    ucb.horizon = s->queries;
    ucb.initial = initial;
    ucb.initial_count = s->initial;
    ucb.delta_ucb = s->modeler_settings.delta_ucb;
    ucb.beta_scale = s->modeler_settings.beta_scale;
    const tacet_cov_spec cov = {.kernel = *kernel};
    return tacet_gp_ucb_create(out, &ucb, &cov, Z, d, s->problem.n, err);
}

/* The first `count` of `order` become a random choice without repeats. */
static void shuffle(size_t *order, size_t n, size_t count, tacet_simrng *rng) {
    for (size_t i = 0; i < n; i++) {
        order[i] = i;
    }
    for (size_t i = 0; i < count; i++) {
        const size_t j = i + tacet_simrng_below(rng, n - i);
        const size_t kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
}

typedef struct run {
    const double *f;
    double top;
    double best; /* noise-free value of the best row so far */
    double *curve;
} run;

static void note(run *r, size_t t, size_t row) {
    r->best = fmax(r->best, r->f[row]);
    r->curve[t] = r->top - r->best;
}

static tacet_status play(const simulation *s, run *r, tacet_policy *policy, size_t trial, tacet_error *err) {
    tacet_simrng rng;
    tacet_simrng_init(&rng, s->seed, stream(trial, 1));
    tacet_status status = TACET_OK;
    for (size_t t = 0; status == TACET_OK && t < s->queries; t++) {
        tacet_suggestion suggestion;
        status = tacet_policy_suggest(policy, &suggestion, NULL, err);
        if (status == TACET_OK) {
            /* A table's values are what would be measured; a made-up objective is measured with noise. */
            const double noise = s->problem.fixed != NULL && s->problem.side == 0
                                     ? 0
                                     : sqrt(s->problem.noise_var) * tacet_simrng_normal(&rng);
            note(r, t, suggestion.index);
            status = tacet_policy_observe(policy, suggestion.ticket, r->f[suggestion.index] + noise, err);
        }
    }
    tacet_recommendation recommendation;
    TACET_THEN(status, tacet_policy_recommend(policy, &recommendation, err));
    if (status == TACET_OK) {
        s->recommended[trial] = r->top - r->f[recommendation.index];
    }
    return status;
}

typedef struct answers {
    const double *f;
    double noise;
    tacet_simrng rng;
} answers;

static tacet_status answer(void *user, double *value, const char *ticket, size_t holder, size_t row, tacet_error *err) {
    answers *a = user;
    (void)holder;
    (void)ticket;
    (void)err;
    *value = a->f[row] + (a->noise > 0 ? a->noise * tacet_simrng_normal(&a->rng) : 0);
    return TACET_OK;
}

/* The product: tacet_session_run over what was released. */
static tacet_status play_session(const simulation *s, run *r, const lab_release *release, size_t trial,
                                 tacet_error *err) {
    const bool exact = s->problem.fixed != NULL && s->problem.side == 0;
    answers a = {.f = r->f, .noise = exact ? 0 : sqrt(s->problem.noise_var)};
    tacet_session_settings settings;
    tacet_session_result found;
    tacet_simrng_init(&a.rng, s->seed, stream(trial, 1));
    tacet_session_defaults(&settings);
    if (s->modeler != AVERAGING) {
        settings.lengthscale = s->lengthscale;
        settings.signal_var = s->problem.signal_var;
        settings.mean = s->problem.mean;
        settings.noise_var = s->noise_var;
        settings.initial = s->initial;
        settings.beta_scale = s->modeler_settings.beta_scale;
        settings.delta_ucb = s->modeler_settings.delta_ucb;
    }
    settings.queries = s->queries;
    settings.seed = s->seed * 1000003 + trial;
    const tacet_session_asker asker = {.ask = answer, .user = &a};
    const tacet_session_holder holder = {&release->manifest, release->text, release->rows};
    const tacet_status status = tacet_session_run(&found, &settings, &asker, &holder, 1, err);
    for (size_t t = 0; status == TACET_OK && t < s->queries; t++) {
        note(r, t, found.rows[t]);
    }
    if (status == TACET_OK) {
        s->recommended[trial] = found.predicted ? r->top - r->f[found.recommended_row] : r->curve[s->queries - 1];
    }
    tacet_session_result_clear(&found);
    return status;
}

/* The modeler that knows f: its rows, and what no modeler can do better than. */
static tacet_status play_known(const simulation *s, run *r, const lab_release *release, size_t *order, size_t trial,
                               tacet_error *err) {
    lab_floor found = {.rows = order};
    const tacet_status status =
        lab_floor_find(&found, &s->problem, r->f, release->rows, is_euclidean(s), scale_of(release), s->queries, err);
    for (size_t t = 0; status == TACET_OK && t < s->queries; t++) {
        note(r, t, order[t]);
    }
    s->floor[trial] = found.bound;
    s->recommended[trial] = r->curve[s->queries - 1];
    return status;
}

/* Mean regret of the best of q random rows; f is sorted. The i-th best of n is that row if none above it was drawn. */
static double chance_of(double *f, size_t n, size_t q) {
    double sum = 0, none = 1;
    tacet__sort(f, n);
    for (size_t i = 0; i + q <= n; i++) {
        const double drawn = (double)q / (double)(n - i);
        sum += none * drawn * (f[n - 1] - f[n - 1 - i]);
        none *= 1 - drawn;
    }
    return sum;
}

static tacet_status one_trial(void *user, size_t trial, tacet_error *err) {
    simulation *s = user;
    const lab_problem *p = &s->problem;
    const size_t width = s->mechanism == PUBLISHED ? s->dims : p->d;
    tacet_policy *policy = NULL;
    tacet_kernel *kernel = NULL;
    lab_release release = {0};
    double *f = TACET__ZALLOC(double, p->n);
    double *Z = TACET__ZALLOC(double, p->n *width);
    size_t *order = TACET__ZALLOC(size_t, p->n);
    tacet_status status = TACET_OK;
    if (f == NULL || Z == NULL || order == NULL) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory for a trial");
        goto done;
    }
    status = lab_problem_function(p, f, s->seed, stream(trial, 0), err);
    if (status != TACET_OK) {
        goto done;
    }
    run r = {.f = f, .top = -INFINITY, .best = -INFINITY, .curve = s->curve + trial * s->queries};
    for (size_t i = 0; i < p->n; i++) {
        r.top = fmax(r.top, f[i]);
    }
    tacet_simrng rng;
    tacet_simrng_init(&rng, s->seed, stream(trial, 2));
    shuffle(order, p->n, s->mechanism == RANDOM ? s->queries : s->initial, &rng);
    if (s->mechanism == RANDOM) {
        for (size_t t = 0; t < s->queries; t++) {
            note(&r, t, order[t]);
        }
        s->recommended[trial] = r.curve[s->queries - 1];
        s->floor[trial] = chance_of(f, p->n, s->queries);
    } else if (s->mechanism == NONPRIVATE || s->mechanism == PUBLISHED) {
        if (s->mechanism == NONPRIVATE) {
            memcpy(Z, p->X, p->n * p->d * sizeof *Z);
        } else {
            status = project_rows(s, Z, trial, err);
        }
        TACET_THEN(status, plain_policy(s, &policy, &kernel, Z, width, order, err));
        TACET_THEN(status, play(s, &r, policy, trial, err));
    } else {
        status = release_rows(s, &release, trial, err);
        if (status == TACET_OK && s->modeler == KNOWN) {
            status = play_known(s, &r, &release, order, trial, err);
        } else if (status == TACET_OK && s->modeler == PLAIN) {
            status = plain_policy(s, &policy, &kernel, release.rows, width, order, err);
            TACET_THEN(status, play(s, &r, policy, trial, err));
        } else if (status == TACET_OK) {
            status = play_session(s, &r, &release, trial, err);
        }
    }
    s->regret[trial] = r.curve[s->queries - 1];
done:
    tacet_policy_free(policy);
    tacet_kernel_free(kernel);
    lab_release_clear(&release);
    free(f);
    free(Z);
    free(order);
    return status;
}

/* Which branch of Algorithm 1 ran; NULL: another mechanism did. */
static json_t *branch_json(const simulation *s) {
    return s->mechanism != PUBLISHED ? NULL
                                     : json_pack("{ss so so}", "branch", s->branch.raised ? "else" : "if", "omega",
                                                 cli_real(s->branch.omega), "sigma_min", cli_real(s->branch.sigma_min));
}

static const char *protection(const simulation *s) {
    switch (s->mechanism) {
    case GAUSSIAN:
    case L2:
        return "(eps, delta)-DP for a move of one record by 1 in the scaled space";
    case LAPLACE:
        return "eps-DP (delta = 0) for a move of one record by 1 in the scaled space";
    case PUBLISHED:
        return "NOT differentially private";
    case NONPRIVATE:
    case RANDOM:
        break;
    }
    return "none";
}

static int report(const simulation *s, const char *scenario, double seconds) {
    static const char MORE[] = "median above";
    const bool noisy = law_of(s->mechanism) != NULL, plain = s->mechanism == NONPRIVATE || s->mechanism == RANDOM;
    json_t *curve = NULL, *curve_se = NULL, *branch = branch_json(s);
    lab_curve(&curve, &curve_se, s->curve, s->queries, s->trials);
    json_t *result = cli_object(
        "model scenario mechanism modeler eps delta scale queries trials seed simple_regret recommended_regret "
        "regret_by_query regret_by_query_se seconds mechanism_protects private floor? _plain",
        J("outsourced"), J(scenario), J(MECHANISMS[s->mechanism]), J(noisy ? MODELERS[s->modeler] : "plain"), J(s->eps),
        J(s->mechanism == LAPLACE ? 0 : s->delta), J(s->scale), J(s->queries), J(s->trials), J(s->seed),
        J(lab_summary(s->regret, s->trials, MORE)), J(lab_summary(s->recommended, s->trials, MORE)), J(curve),
        J(curve_se), J(seconds), J(protection(s)), JB(false),
        J(s->modeler == KNOWN ? lab_summary(s->floor, s->trials, MORE) : NULL), JB(plain));
    (void)json_object_update(result, branch);
    json_decref(branch);
    return cli_tell(
        result,
        "{scenario}, {mechanism}{?_plain|: no protection\n}{!_plain|, eps = {eps:.6g}, delta = {delta:.6g}, noise "
        "scale {scale:.6g}: {mechanism_protects} (here with seeded noise: not private)\n}"
        "{?branch|Algorithm 1 took \"{branch}\": omega {omega:.4g}, sigma_min {sigma_min:.4g}\n}"
        "simple regret after {queries} queries, {trials} trials: {simple_regret.mean:.5f} +- {simple_regret.se:.5f}, "
        "median {simple_regret.median:.5f}\n"
        "{?floor|no modeler can have a smaller one on average than {floor.mean:.5f} +- {floor.se:.5f}\n}");
}

/* A curator of the problem's records, which are in scaled units already. */
static tacet_status open_curator(simulation *s, tacet_error *err) {
    double unit[LAB_MOST_INPUTS];
    for (size_t a = 0; a < s->problem.d; a++) {
        unit[a] = 1;
    }
    return law_of(s->mechanism) == NULL ? TACET_OK
                                        : lab_curator_open(&s->curator, s->problem.X, s->problem.d, s->problem.n,
                                                           s->problem.low, s->problem.high, unit, err);
}

static tacet_status simulate(simulation *s, tacet_error *err) {
    if (s->trials == 0 || s->queries == 0 || s->queries > s->problem.n || s->initial > s->queries || s->dims == 0) {
        return tacet__fail(err, TACET_INVALID,
                           "need at least one trial and query, no more queries than rows or initial rows than queries");
    }
    TACET_OR_RETURN(open_curator(s, err));
    s->regret = TACET__ZALLOC(double, s->trials *(s->queries + 3));
    if (s->regret == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu trials", s->trials);
    }
    s->recommended = s->regret + s->trials;
    s->floor = s->recommended + s->trials;
    s->curve = s->floor + s->trials;
    return lab_trials_run(s->trials, one_trial, s, err);
}

static void clear(simulation *s) {
    lab_problem_clear(&s->problem);
    lab_curator_close(&s->curator);
    free(s->regret);
}

tacet_status lab_outsourced_run(lab_outcome *out, const lab_request *request, tacet_error *err) {
    const lab_outsourced_request *r = &request->of.outsourced;
    simulation s = {.eps = r->eps,
                    .delta = r->delta,
                    .dims = r->dims,
                    .queries = r->queries,
                    .initial = r->initial,
                    .trials = request->trials,
                    .seed = request->seed};
    size_t number = 0;
    if (!lab_choose(&number, MECHANISMS, sizeof MECHANISMS / sizeof *MECHANISMS, r->mechanism) ||
        !lab_choose(&s.modeler, MODELERS, sizeof MODELERS / sizeof *MODELERS, r->modeler)) {
        return tacet__fail(err, TACET_INVALID, "no mechanism '%s' or modeler '%s'", r->mechanism, r->modeler);
    }
    s.mechanism = (mechanism)number;
    tacet_modeler_settings_defaults(&s.modeler_settings);
    tacet_status status = strcmp(r->scenario, "made-up") == 0
                              ? lab_problem_init_made_up(&s.problem, r->candidates, r->dim, r->radius, r->lengthscale,
                                                         sqrt(r->noise_var), request->seed, err)
                              : lab_problem_init(&s.problem, r->scenario, &r->table, r->radius, r->lengthscale,
                                                 r->signal_var, r->noise_var, r->mean, err);
    if (status == TACET_OK) {
        s.lengthscale = s.problem.lengthscale;
        s.noise_var = s.problem.noise_var;
        status = simulate(&s, err);
    }
    if (status == TACET_OK) {
        status = lab_outcome_set(out, s.regret, s.trials, err);
        out->detail = status == TACET_OK ? branch_json(&s) : NULL;
        if (status == TACET_OK && s.mechanism == RANDOM && s.problem.made_up) {
            out->detail = json_pack("{so}", "expected", cli_real_list(s.floor, s.trials));
        }
    }
    clear(&s);
    return status;
}

int lab_sim_outsourced(int argc, char **argv, const cli_command *self) {
    simulation s = {.eps = NAN, .delta = NAN, .dims = 10, .seed = 1};
    lab_table_options table = {0};
    const char *scenario = "grid";
    const char *mechanism_name = NULL;
    const char *modeler = "eiv";
    lab_table_run real = {.eps = NAN, .delta = NAN, .units = 20};
    size_t queries = 0;
    size_t trials = 0;
    tacet_modeler_settings_defaults(&s.modeler_settings);
    tacet_modeler_settings *m = &s.modeler_settings;
    const cli_option options[] = {
        CLI_HEADING("Problem"),
        CLI_OPT(
            "world", &scenario, "NAME",
            "grid (100 x 100, functions from the prior), branin (31 x 31), csv (--data, with the authors' model), or "
            "table (--data, no model option, beside a plain Gaussian process and chance). Default grid."),
        CLI_OPT("data", &table.data, "FILE", "csv, table: the table."),
        CLI_OPT("inputs", &table.inputs, "A,B,…", "csv, table: the input columns."),
        CLI_OPT("target", &table.target, "COLUMN", "csv, table: the column to maximize."),
        CLI_MORE,
        CLI_OPT("log-inputs", &table.log_inputs, "A,B", "csv, table: of these inputs the logarithm. Default: none."),
        CLI_OPT("noise", &real.noise, "SD",
                "table: standard deviation of a measurement, as a share of the values'. Default 0."),
        CLI_OPT("permute", &real.permute, NULL, "table: deal the values out at random: there is nothing to find."),
        CLI_OPT("minimize", &table.minimize, NULL, "csv, table: look for the smallest target."),
        CLI_HEADING("Release"),
        CLI_OPT("mechanism", &mechanism_name, "NAME",
                "gaussian, laplace (Euclidean, pure eps), l2 (Euclidean, with a delta), published (not private), "
                "nonprivate, or random. Default gaussian; table: that of `tacet curate`."),
        CLI_OPT("eps", &s.eps, "E", "Default 3.004166; table: 1."),
        CLI_MORE,
        CLI_OPT("delta", &s.delta, "D", "Default 1e-5; laplace needs none, table only where it is given."),
        CLI_HEADING("Modeler"),
        CLI_OPT("modeler", &modeler, "NAME",
                "eiv (knows the prior: errors in variables), averaging (knows none), plain (ignores the release's "
                "noise), or "
                "known (knows the objective but not which row is which record: the floor). Default eiv."),
        {"queries", CLI_COUNT, &queries, "N", "Measurements. Default 50; table: 40.", false},
        CLI_MORE,
        CLI_OPT("beta-scale", &m->beta_scale, "F", "eiv, plain: factor on beta_t. Default 1."),
        CLI_HEADING("Experiment"),
        {"trials", CLI_COUNT, &trials, "N", "Default 100; table: 12.", false},
        CLI_MORE,
        CLI_OPT("seed", &s.seed, "S", "Default 1."),
        {0},
    };
    int code = CLI_EXIT_OK;
    CLI_PARSE_OR_RETURN(options, NULL, NULL);
    if (strcmp(scenario, "table") == 0) {
        real.table = table;
        real.mechanism = mechanism_name;
        real.eps = isnan(s.eps) ? 1 : s.eps;
        real.delta = s.delta;
        real.queries = queries > 0 ? queries : 40;
        real.trials = trials > 0 ? trials : 12;
        real.seed = s.seed;
        return lab_sim_table(&real, self);
    }
    s.eps = isnan(s.eps) ? 3.004166 : s.eps;
    s.delta = isnan(s.delta) ? 1e-5 : s.delta;
    s.queries = queries > 0 ? queries : 50;
    s.trials = trials > 0 ? trials : 100;
    mechanism_name = mechanism_name != NULL ? mechanism_name : "gaussian";
    size_t mechanism_number = 0;
    if (!lab_choose(&mechanism_number, MECHANISMS, sizeof MECHANISMS / sizeof *MECHANISMS, mechanism_name)) {
        return cli_usage(self, "--mechanism is gaussian, laplace, l2, published, nonprivate or random");
    }
    if (!lab_choose(&s.modeler, MODELERS, sizeof MODELERS / sizeof *MODELERS, modeler)) {
        return cli_usage(self, "--modeler is averaging, eiv, plain or known");
    }
    s.mechanism = (mechanism)mechanism_number;
    if (s.modeler == KNOWN && s.mechanism != GAUSSIAN && !is_euclidean(&s)) {
        return cli_usage(self, "--modeler known needs --mechanism gaussian, laplace or l2");
    }
    tacet_error err;
    tacet_error_clear(&err);
    const double begin = cli_seconds();
    tacet_status status = lab_problem_init(&s.problem, scenario, &table, 25, NAN, NAN, NAN, NAN, &err);
    if (status == TACET_OK) {
        s.lengthscale = s.problem.lengthscale;
        s.noise_var = s.problem.noise_var;
        status = simulate(&s, &err);
    }
    if (status == TACET_OK) {
        code = report(&s, scenario, cli_seconds() - begin);
    } else {
        code = cli_refuse(self, &err);
    }
    clear(&s);
    return code;
}
