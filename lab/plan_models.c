/* SPDX-License-Identifier: Apache-2.0 */
/* plan_models.c - a stated problem as requests to the simulations. Ring: programs; made-up functions. */
#include "plan.h"
#include "trials.h"

#include "core/fail.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "outsourced/trusted/curate_price.h"

static const char *const NAMES[] = {"outsourced", "central", "local-statistics", "local", "contextual"};
enum { MODELS = 5, CONTEXTUAL_MOST_DIM = 2, LOCAL_MOST_ARMS = 2000, MOST_INPUTS = LAB_MOST_INPUTS, DRAWS = 4 };
/* Work that keeps a plan bounded: candidates x queries of the outsourced model. */
static const double MOST_CELLS = 2e8;

/* The reference of the outsourced model is its own modeler on rows with hardly any noise: plain GP-UCB with its proven
 * width explores more than so few queries are worth. */
static const double NEGLIGIBLE = 100;

plan_problem plan_defaults(void) {
    return (plan_problem){.lengthscale = (double)NAN,
                          .noise = 0.1,
                          .radius = 25,
                          .delta = 1e-5,
                          .asked_delta = (double)NAN,
                          .mechanism = "auto",
                          .seed = 1};
}

void plan_complete(plan_problem *p) {
    /* in the order of lab_model */
    static const size_t CANDIDATES[MODELS] = {2000, 25, 25, 100, 101};
    static const size_t ROUNDS[MODELS] = {40, 1000, 1000, 10000, 10000};
    /* Where a plan begins; it goes on until its answer is settled. */
    static const size_t TRIALS[MODELS] = {20, 20, 20, 10, 10};
    p->candidates = p->candidates > 0 ? p->candidates : CANDIDATES[p->model];
    p->dim = p->dim > 0 ? p->dim : p->model == LAB_CONTEXTUAL ? 1 : 2;
    p->rounds = p->rounds > 0 ? p->rounds : ROUNDS[p->model];
    p->trials = p->trials > 0 ? p->trials : TRIALS[p->model];
    p->lengthscale = isnan(p->lengthscale) && p->model != LAB_OUTSOURCED ? 0.2 : p->lengthscale;
}

/* What `tacet curate` would take: `auto` as it resolves it. */
static tacet_curate_mechanism mechanism_for(const plan_problem *p, double eps) {
    static tacet_space_column columns[TACET_SPACE_COLUMNS]; /* reals: how many there are is all that matters */
    const tacet_space space = {columns, p->dim < TACET_SPACE_COLUMNS ? p->dim : TACET_SPACE_COLUMNS};
    tacet_curate_settings s;
    tacet_curate_defaults(&s);
    s.space = &space;
    s.eps = eps;
    s.delta = isnan(p->asked_delta) ? 0 : p->asked_delta;
    if (tacet_curate_parse(&s.mechanism, p->mechanism, NULL) != TACET_OK ||
        tacet_curate_resolve(&s, NULL) != TACET_OK) {
        return TACET_CURATE_AUTO;
    }
    return s.mechanism;
}

/* Whether the release that is planned has pure eps. */
static bool is_pure(const plan_problem *p) {
    const tacet_law *law = tacet_curate_law(mechanism_for(p, 1));
    return p->model == LAB_OUTSOURCED && law != NULL && law->pure;
}

tacet_status plan_check(const plan_problem *p, tacet_error *err) {
    const bool rounds = p->model == LAB_CENTRAL || p->model == LAB_LOCAL_STATISTICS;
    const size_t most = rounds ? CENTRAL_ENV_MOST_DIM : p->model == LAB_CONTEXTUAL ? CONTEXTUAL_MOST_DIM : MOST_INPUTS;
    if (p->dim > most) {
        return tacet__fail(err, TACET_INVALID, "%s is planned for at most %zu coordinates", NAMES[p->model], most);
    }
    const tacet_curate_mechanism kind = mechanism_for(p, 1);
    if (p->model == LAB_OUTSOURCED
            ? kind != TACET_CURATE_GAUSSIAN && kind != TACET_CURATE_LAPLACE && kind != TACET_CURATE_L2
            : strcmp(p->mechanism, "auto") != 0) {
        return tacet__fail(err, TACET_INVALID, "--mechanism is auto, gaussian, laplace or l2");
    }
    if (!((isnan(p->lengthscale) || p->lengthscale > 0) && p->noise >= 0 && p->radius > 0 && p->delta > 0 &&
          p->delta < 1)) {
        return tacet__fail(err, TACET_INVALID,
                           "--lengthscale must be positive, --noise not negative, --delta between 0 and 1");
    }
    if (p->candidates < 2 || p->trials < 2) {
        return tacet__fail(err, TACET_INVALID, "at least two %s and two --trials are needed",
                           p->model == LAB_OUTSOURCED ? "--rows" : "--arms");
    }
    if (p->model == LAB_OUTSOURCED &&
        (p->rounds > p->candidates || (double)p->candidates * (double)p->rounds > MOST_CELLS)) {
        return tacet__fail(err, TACET_INVALID, "--queries at most --rows, and their product at most %g", MOST_CELLS);
    }
    if (p->model == LAB_LOCAL && p->candidates > LOCAL_MOST_ARMS) {
        return tacet__fail(err, TACET_INVALID, "local is planned for at most %d arms", LOCAL_MOST_ARMS);
    }
    if (p->rounds > 1000000 || p->trials > 1000000 || p->candidates > 10000000) {
        return tacet__fail(err, TACET_INVALID, "at most a million rounds or trials, ten million candidates");
    }
    return TACET_OK;
}

bool plan_model_parse(lab_model *out, const char *name) {
    size_t i = 0;
    const bool known = lab_choose(&i, NAMES, MODELS, name);
    *out = (lab_model)i;
    return known;
}

const char *plan_model_name(lab_model model) {
    return NAMES[model];
}

const char *plan_quantity(lab_model model) {
    static const char *const QUANTITIES[MODELS] = {"simple regret", "regret a round", "regret a round",
                                                   "regret a round", "expected error of a choice"};
    return QUANTITIES[model];
}

double plan_delta(const plan_problem *p) {
    return p->model == LAB_LOCAL || p->model == LAB_CONTEXTUAL || is_pure(p) ? 0 : p->delta;
}

void plan_words(char *out, size_t size, const plan_problem *p) {
    char delta[48] = "pure eps";
    char length[64] = "functions of lengthscale 1/16 to 1";
    if (!isnan(p->lengthscale)) {
        (void)snprintf(length, sizeof length, "lengthscale %g", p->lengthscale);
    }
    if (plan_delta(p) > 0) {
        (void)snprintf(delta, sizeof delta, "delta %g", p->delta);
    }
    (void)snprintf(out, size, "%s: %zu %s, dimension %zu, %s of the domain, noise %g, %zu %s, %s%s", NAMES[p->model],
                   p->candidates, p->model == LAB_OUTSOURCED ? "rows" : "arms", p->dim, length, p->noise, p->rounds,
                   p->model == LAB_OUTSOURCED ? "queries" : "rounds", delta,
                   is_pure(p)                        ? " by laplace"
                   : strcmp(p->mechanism, "l2") == 0 ? " by l2"
                                                     : "");
}

static lab_outsourced_request outsourced(const plan_problem *p, plan_player player, double eps) {
    return (lab_outsourced_request){.scenario = "made-up",
                                    .radius = p->radius,
                                    .lengthscale = p->lengthscale,
                                    .signal_var = 1,
                                    .noise_var = p->noise * p->noise,
                                    .candidates = p->candidates,
                                    .dim = p->dim,
                                    .mechanism = player == PLAN_RANDOM    ? "random"
                                                 : player == PLAN_PRIVATE ? tacet_curate_name(mechanism_for(p, eps))
                                                                          : "gaussian",
                                    .modeler = "averaging",
                                    .eps = player == PLAN_NONPRIVATE ? NEGLIGIBLE : eps,
                                    .delta = p->delta,
                                    .dims = 1,
                                    .queries = p->rounds};
}

static lab_central_request central(const plan_problem *p, plan_player player, double eps) {
    return (lab_central_request){.algorithm = player == PLAN_PRIVATE  ? "shipped"
                                              : player == PLAN_RANDOM ? "random"
                                                                      : "nonprivate",
                                 .scenario = "contextual",
                                 .world = {p->dim, p->lengthscale, p->noise},
                                 .eps = eps,
                                 .delta = p->delta,
                                 .rounds = p->rounds,
                                 .arms = p->candidates};
}

static lab_local_request local(const plan_problem *p, plan_player player, double eps) {
    return (lab_local_request){.scenario = "made-up",
                               .kernel = "matern52",
                               .noise = "uniform",
                               .mechanism = player == PLAN_PRIVATE ? "hybrid" : "none",
                               .algorithm = player == PLAN_RANDOM ? "random" : "ucb",
                               .parameters = "tuned", /* as a study without a stated bound */
                               .range = "true",
                               .lengthscale = p->lengthscale,
                               .noise_scale = p->noise,
                               .arms = p->candidates,
                               .dim = p->dim,
                               .support = 50,
                               .rounds = p->rounds,
                               .eps = eps};
}

static lab_contextual_request contextual_request(const plan_problem *p, plan_player player, double eps) {
    return (lab_contextual_request){.algorithm = player == PLAN_PRIVATE  ? "table"
                                                 : player == PLAN_RANDOM ? "uniform"
                                                                         : "nonprivate",
                                    .kernel = "se",
                                    .lengthscale = p->lengthscale,
                                    .noise = p->noise,
                                    .eps = eps,
                                    .dim_action = p->dim,
                                    .dim_context = 1,
                                    .actions = p->candidates,
                                    .rounds = p->rounds,
                                    .draws = DRAWS};
}

tacet_status plan_request(lab_request *out, const plan_problem *p, plan_player player, double eps, tacet_error *err) {
    *out = (lab_request){.model = p->model, .trials = p->trials, .seed = p->seed};
    eps = player == PLAN_PRIVATE ? eps : 1;
    if (!(eps > 0)) {
        return tacet__fail(err, TACET_INVALID, "eps must be positive");
    }
    switch (p->model) {
    case LAB_OUTSOURCED:
        out->of.outsourced = outsourced(p, player, eps);
        break;
    case LAB_LOCAL_STATISTICS:
        /* What is random or non-private has no side that is trusted: they are the same as in the central model. */
        out->model = player == PLAN_PRIVATE ? LAB_LOCAL_STATISTICS : LAB_CENTRAL;
        out->of.central = central(p, player, eps);
        break;
    case LAB_CENTRAL:
        out->of.central = central(p, player, eps);
        break;
    case LAB_LOCAL:
        out->of.local = local(p, player, eps);
        break;
    case LAB_CONTEXTUAL:
        out->of.contextual = contextual_request(p, player, eps);
        break;
    }
    return TACET_OK;
}
