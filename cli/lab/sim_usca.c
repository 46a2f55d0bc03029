/* sim_usca.c - `tacet simulate usca`: contextual choices learnt from made-up logs, many times.
 * Ring: programs. Each trial draws a function (20 kernel functions with random centres, norm 1 in the kernel's space),
 * logs uniform actions in uniform contexts with noisy rewards clipped to [-1, 1], lets an algorithm learn, and measures
 * eq. (1) of the USCA paper: the mean over contexts of best reward less the reward of the action chosen. Noise is exact
 * but seeded: reproducible, hence not private. What does not depend on data (features, plan, certificates) is made
 * once. */
#include "commands.h"
#include "runs.h"
#include "trials.h"

#include "base/fail.h"
#include "base/linalg.h"
#include "base/memory.h"
#include "common/cli.h"
#include "trusted/usca_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/base/simrng.h>

typedef enum algorithm { PUBLISHED, RANGE, RELEASE, STAGED, FAITHFUL, NONPRIVATE, UNIFORM } algorithm;
static const char *const ALGORITHMS[] = {"published", "range",      "release", "staged",
                                         "faithful",  "nonprivate", "uniform"};
enum { ALGORITHM_COUNT = 7, CENTRES = 20, STREAMS = 4, POINTS_MOST = 20000000 };

typedef struct simulation {
    algorithm algorithm;
    const char *kernel_name;
    size_t dim_action, dim_context, rounds, trials, draws;
    double lengthscale, noise, tau;
    uint64_t seed;
    tacet_usca_settings settings;
    tacet_usca_basis *basis;
    size_t d, actions, contexts;
    size_t per_axis; /* of actions; 0: by the dimension */
    double *action;  /* dim_action x actions */
    double *context; /* dim_context x contexts */
    tacet__usca_plan plan;
    double sup, used_tau; /* of the choosers */
    double *U;            /* per context: m x actions */
    double *bounds;       /* per context */
    size_t m;
    size_t points; /* faithful: of the approximating set, T ceil(T/gamma) */
    double *error; /* trials */
} simulation;

typedef struct problem {
    double centre[CENTRES * TACET_USCA_DIM_MOST];
    double weight[CENTRES];
} problem;

static uint64_t stream(size_t trial, unsigned purpose) {
    return (uint64_t)trial * STREAMS + purpose;
}

static const tacet_kernel *kernel_of(const simulation *s) {
    return tacet_features_kernel(s->basis->features);
}

static void draw_problem(const simulation *s, problem *p, size_t trial) {
    tacet_simrng rng;
    double norm2 = 0;
    tacet_simrng_init(&rng, s->seed, stream(trial, 0));
    for (size_t j = 0; j < CENTRES; j++) {
        for (size_t c = 0; c < s->d; c++) {
            p->centre[j * s->d + c] = tacet_simrng_uniform(&rng);
        }
        p->weight[j] = tacet_simrng_normal(&rng);
    }
    for (size_t i = 0; i < CENTRES; i++) {
        for (size_t j = 0; j < CENTRES; j++) {
            norm2 += p->weight[i] * p->weight[j] *
                     tacet_kernel_eval(kernel_of(s), p->centre + i * s->d, p->centre + j * s->d);
        }
    }
    for (size_t j = 0; j < CENTRES; j++) {
        p->weight[j] /= sqrt(norm2);
    }
}

static double f_at(const simulation *s, const problem *p, const double *w) {
    double row[CENTRES];
    tacet_kernel_row(kernel_of(s), row, p->centre, s->d, CENTRES, w);
    return tacet__dot(row, p->weight, CENTRES);
}

static tacet_status log_rounds(const simulation *s, tacet_usca_learner *l, const problem *p, size_t trial,
                               tacet_error *err) {
    tacet_simrng rng;
    tacet_status status = TACET_OK;
    tacet_simrng_init(&rng, s->seed, stream(trial, 1));
    for (size_t t = 0; t < s->rounds && status == TACET_OK; t++) {
        double w[TACET_USCA_DIM_MOST];
        for (size_t c = 0; c < s->d; c++) {
            w[c] = tacet_simrng_uniform(&rng);
        }
        const double y = f_at(s, p, w) + s->noise * tacet_simrng_normal(&rng);
        status = tacet_usca_learner_add(l, w, y, err);
    }
    return status;
}

/* f of all actions in one context, and the largest. */
static double values_in(const simulation *s, const problem *p, double *f, size_t context) {
    double top = -INFINITY;
    double w[TACET_USCA_DIM_MOST];
    memcpy(w + s->dim_action, s->context + context * s->dim_context, s->dim_context * sizeof *w);
    for (size_t i = 0; i < s->actions; i++) {
        memcpy(w, s->action + i * s->dim_action, s->dim_action * sizeof *w);
        f[i] = f_at(s, p, w);
        top = fmax(top, f[i]);
    }
    return top;
}

/* The non-private reference: ridge regression with the feature space's own Gram matrix, eq. (2). */
static tacet_status ridge(const simulation *s, const tacet_usca_learner *l, tacet_usca_model **out, tacet_error *err) {
    enum { TILE = 256 };
    const size_t m = tacet_usca_basis_dim(s->basis);
    double *G = TACET__ZALLOC(double, m *m);
    double *b = TACET__ZALLOC(double, m);
    double *phi = TACET__ALIGNED(double, m *TILE);
    tacet_status status =
        G == NULL || b == NULL || phi == NULL ? tacet__fail(err, TACET_NO_MEMORY, "out of memory for ridge") : TACET_OK;
    for (size_t at = 0; at < l->count && status == TACET_OK; at += TILE) {
        const size_t n = l->count - at < TILE ? l->count - at : TILE;
        const double *first = l->records + at * (s->d + 1);
        tacet_features_eval(s->basis->features, phi, first, s->d + 1, n);
        tacet__syrk(false, m, n, 1, phi, m, 1, G, m);
        for (size_t j = 0; j < n; j++) {
            tacet__axpy(b, first[j * (s->d + 1) + s->d], phi + j * m, m);
        }
    }
    for (size_t j = 0; j < m && status == TACET_OK; j++) {
        G[j * m + j] += fmax(s->noise * s->noise, 1e-6) / l->prior_var; /* the Bayesian tau */
    }
    if (status == TACET_OK) {
        status = tacet__cholesky(G, m, m, NULL, NULL, err);
    }
    if (status == TACET_OK) {
        const tacet_usca_parts claims = {.eps = 1e308};
        tacet__chol_solve(m, G, m, b);
        status = tacet__usca_model_from(out, l, b, m, &claims, err);
    }
    free(G);
    free(b);
    free(phi);
    return status;
}

/* Mean loss of a model's best actions. */
static tacet_status model_error(const simulation *s, const problem *p, const tacet_usca_model *model, double *loss,
                                double *f, double *means, tacet_error *err) {
    for (size_t k = 0; k < s->contexts; k++) {
        size_t best = 0;
        const double top = values_in(s, p, f, k);
        const tacet_status status =
            tacet_usca_predict(model, &best, means, s->action, s->actions, s->context + k * s->dim_context, err);
        if (status != TACET_OK) {
            return status;
        }
        *loss += (top - f[best]) / (double)s->contexts;
    }
    return TACET_OK;
}

static tacet_status choice_error(const simulation *s, const problem *p, const tacet_usca_learner *l,
                                 const tacet_ask *ask, double *loss, double *f, tacet_error *err) {
    tacet_usca_chooser *chooser = NULL;
    tacet_status status = tacet__usca_chooser_begin(
        &chooser, l, s->algorithm == PUBLISHED ? TACET_USCA_PUBLISHED : TACET_USCA_RANGE, s->used_tau, s->sup, err);
    for (size_t k = 0; k < s->contexts && status == TACET_OK; k++) {
        const double top = values_in(s, p, f, k);
        for (size_t draw = 0; draw < s->draws && status == TACET_OK; draw++) {
            tacet_release *chosen = NULL;
            status = tacet__usca_choose_with(chooser, &chosen, ask, s->U + k * s->m * s->actions, s->actions,
                                             s->bounds[k], err);
            if (status == TACET_OK) {
                *loss += (top - f[(size_t)tacet_release_values(chosen)[0]]) / (double)(s->contexts * s->draws);
            }
            tacet_release_free(chosen);
        }
    }
    tacet_usca_chooser_free(chooser);
    return status;
}

/* u of n points (unit box, stride `stride`) into out (m x n). */
static void levers(const tacet__lever *lever, double *out, const double *X, size_t stride, size_t n) {
    tacet_features_eval(lever->features, out, X, stride, n);
    tacet__lever_apply(lever, out, n);
}

/* Z~ = 1/K sum over T K random points of phi phi' + tau I, as its Cholesky factor. Eqs (4) and (5) on this set are u'v
 * and |u|^2 with u = L^-1 phi (test_base_usca has the comparison). */
static tacet_status random_operator(const simulation *s, double *L, double tau, size_t trial, tacet_error *err) {
    enum { TILE = 128 };
    const size_t m = s->basis->features->m;
    double points[TILE * TACET_USCA_DIM_MOST];
    tacet_simrng rng;
    double *phi = TACET__ALIGNED(double, m *TILE);
    if (phi == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for the approximating set");
    }
    tacet_simrng_init(&rng, s->seed, stream(trial, 3));
    for (size_t left = s->points; left > 0;) {
        const size_t n = left < TILE ? left : TILE;
        for (size_t i = 0; i < n * s->d; i++) {
            points[i] = tacet_simrng_uniform(&rng);
        }
        tacet_features_eval(s->basis->features, phi, points, s->d, n);
        tacet__syrk(false, m, n, (double)s->rounds / (double)s->points, phi, m, 1, L, m);
        left -= n;
    }
    free(phi);
    for (size_t j = 0; j < m; j++) {
        L[j * m + j] += tau;
    }
    return tacet__cholesky(L, m, m, NULL, NULL, err);
}

/* The paper's algorithm with its random approximating set: a certificate for each trial's own operator. */
static tacet_status faithful_error(const simulation *s, const problem *p, const tacet_usca_learner *l,
                                   const tacet_ask *ask, double *loss, double *f, size_t trial, tacet_error *err) {
    const size_t m = s->basis->features->m;
    const double tau = s->tau > 0 ? s->tau : 1;
    double *L = TACET__ZALLOC(double, m *m);
    double *U = TACET__ALIGNED(double, m * s->actions);
    double *v = TACET__ZALLOC(double, m);
    double *points = TACET__ZALLOC(double, s->actions * s->d);
    const tacet__lever lever = {
        .features = s->basis->features, .L = L, .tau = tau, .d = s->d, .lengthscale = s->basis->unit_lengthscale};
    tacet_usca_certificate sup = {0};
    tacet_status status = L == NULL || U == NULL || v == NULL || points == NULL
                              ? tacet__fail(err, TACET_NO_MEMORY, "out of memory for a trial")
                              : random_operator(s, L, tau, trial, err);
    if (status == TACET_OK) {
        status = tacet__lever_certify(&sup, &lever, NULL, 0, 0.005, 200000, err);
    }
    for (size_t i = 0; i < l->count && status == TACET_OK; i++) {
        levers(&lever, U, l->records + i * (s->d + 1), s->d + 1, 1);
        tacet__axpy(v, l->records[i * (s->d + 1) + s->d], U, m);
    }
    const tacet_usca_chooser chooser = {.basis = s->basis,
                                        .rule = TACET_USCA_PUBLISHED,
                                        .m = m,
                                        .n = l->count,
                                        .tau = tau,
                                        .eps = s->settings.eps,
                                        .bound = 1,
                                        .sup = sup.upper,
                                        .share = sup.upper,
                                        .v = v};
    for (size_t k = 0; k < s->contexts && status == TACET_OK; k++) {
        const double top = values_in(s, p, f, k);
        for (size_t i = 0; i < s->actions; i++) {
            memcpy(points + i * s->d, s->action + i * s->dim_action, s->dim_action * sizeof *points);
            memcpy(points + i * s->d + s->dim_action, s->context + k * s->dim_context, s->dim_context * sizeof *points);
        }
        levers(&lever, U, points, s->d, s->actions);
        for (size_t draw = 0; draw < s->draws && status == TACET_OK; draw++) {
            tacet_release *chosen = NULL;
            status = tacet__usca_choose_with(&chooser, &chosen, ask, U, s->actions, 2 * sup.upper * sup.upper, err);
            if (status == TACET_OK) {
                *loss += (top - f[(size_t)tacet_release_values(chosen)[0]]) / (double)(s->contexts * s->draws);
            }
            tacet_release_free(chosen);
        }
    }
    free(L);
    free(U);
    free(v);
    free(points);
    return status;
}

static tacet_status uniform_error(const simulation *s, const problem *p, double *loss, double *f) {
    for (size_t k = 0; k < s->contexts; k++) {
        const double top = values_in(s, p, f, k);
        for (size_t i = 0; i < s->actions; i++) {
            *loss += (top - f[i]) / (double)(s->actions * s->contexts);
        }
    }
    return TACET_OK;
}

static tacet_status one_trial(void *user, size_t trial, tacet_error *err) {
    simulation *s = user;
    problem p;
    tacet_usca_learner *l = NULL;
    tacet_usca_model *model = NULL;
    tacet_noise *noise = NULL;
    double loss = 0;
    double *f = TACET__ZALLOC(double, 2 * s->actions);
    tacet_status status = f == NULL ? tacet__fail(err, TACET_NO_MEMORY, "out of memory for a trial") : TACET_OK;
    draw_problem(s, &p, trial);
    if (status == TACET_OK && s->algorithm == UNIFORM) {
        status = uniform_error(s, &p, &loss, f);
        goto done;
    }
    if (status == TACET_OK) {
        status = tacet_usca_learner_create(&l, s->basis, &s->settings, err);
    }
    if (status == TACET_OK) {
        status = log_rounds(s, l, &p, trial, err);
    }
    if (status == TACET_OK) {
        status = tacet_noise_open_seeded(&noise, s->seed, stream(trial, 2), err);
    }
    if (status != TACET_OK) {
        goto done;
    }
    const tacet_ask ask = {.noise = noise, .ticket = "simulation", .what = "model", .to_whom = "simulation"};
    if (s->algorithm == PUBLISHED || s->algorithm == RANGE) {
        status = choice_error(s, &p, l, &ask, &loss, f, err);
        goto done;
    }
    if (s->algorithm == FAITHFUL) {
        status = faithful_error(s, &p, l, &ask, &loss, f, trial, err);
        goto done;
    }
    status = s->algorithm == NONPRIVATE ? ridge(s, l, &model, err)
                                        : tacet__usca_release_planned(l, &model, &ask, &s->plan, err);
    if (status == TACET_OK) {
        status = model_error(s, &p, model, &loss, f, f + s->actions, err);
    }
done:
    s->error[trial] = loss;
    tacet_usca_learner_free(l);
    tacet_usca_model_free(model);
    tacet_noise_close(noise);
    free(f);
    return status;
}

/* Certificates and levers of the choosers: functions of sizes and space. */
static tacet_status prepare_choices(simulation *s, tacet_error *err) {
    tacet_usca_learner *l = NULL;
    tacet_usca_chooser *chooser = NULL;
    const double middle[TACET_USCA_DIM_MOST] = {0.5, 0.5, 0.5, 0.5};
    tacet_status status = tacet_usca_learner_create(&l, s->basis, &s->settings, err);
    for (size_t t = 0; t < s->rounds && status == TACET_OK; t++) {
        status = tacet_usca_learner_add(l, middle, 0, err);
    }
    if (status == TACET_OK) {
        status = tacet__usca_chooser_begin(
            &chooser, l, s->algorithm == PUBLISHED ? TACET_USCA_PUBLISHED : TACET_USCA_RANGE, s->tau, 0, err);
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
        status = tacet__usca_levers(chooser, U, s->context + k * s->dim_context, s->action, s->actions, err);
        if (status == TACET_OK) {
            lab_progress(0, "certifying the sensitivity of each context");
            status = tacet__usca_score_bound(chooser, &s->bounds[k], U, s->actions, err);
        }
    }
    lab_progress_end();
    tacet_usca_chooser_free(chooser);
    tacet_usca_learner_free(l);
    return status;
}

static tacet_status prepare_plan(simulation *s, tacet_error *err) {
    tacet_usca_learner *l = NULL;
    s->settings.stages_most = s->algorithm == RELEASE ? 1 : s->settings.stages_most;
    tacet_status status = tacet_usca_learner_create(&l, s->basis, &s->settings, err);
    if (status == TACET_OK) {
        status = tacet__usca_plan_for(l, &s->plan, s->rounds, err);
    }
    tacet_usca_learner_free(l);
    return status;
}

/* Equispaced actions with their end points; contexts at the middles of equal cells, or uniform ones in more dimensions.
 */
static tacet_status make_grids(simulation *s, tacet_error *err) {
    const size_t usual = s->dim_action == 1 ? 101 : s->dim_action == 2 ? 17 : 9;
    const size_t per_axis = s->per_axis > 1 ? s->per_axis : usual;
    s->contexts = s->dim_context == 0 ? 1 : s->d <= 2 ? 16 : 8;
    s->actions = 1;
    for (size_t i = 0; i < s->dim_action; i++) {
        s->actions *= per_axis;
    }
    s->action = TACET__ZALLOC(double, s->actions * s->dim_action);
    s->context = TACET__ZALLOC(double, s->contexts *(s->dim_context + 1));
    s->error = TACET__ZALLOC(double, s->trials);
    if (s->action == NULL || s->context == NULL || s->error == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu trials", s->trials);
    }
    for (size_t j = 0; j < s->actions; j++) {
        size_t rest = j;
        for (size_t c = 0; c < s->dim_action; c++, rest /= per_axis) {
            s->action[j * s->dim_action + c] = (double)(rest % per_axis) / (double)(per_axis - 1);
        }
    }
    tacet_simrng rng;
    tacet_simrng_init(&rng, s->seed, UINT64_MAX);
    for (size_t k = 0; k < s->contexts * s->dim_context; k++) {
        s->context[k] = s->dim_context == 1 ? ((double)k + 0.5) / (double)s->contexts : tacet_simrng_uniform(&rng);
    }
    return TACET_OK;
}

static tacet_status make_basis(simulation *s, tacet_error *err) {
    tacet_kernel_spec spec;
    tacet_kernel_spec_defaults(&spec);
    tacet_usca_space space;
    tacet_usca_space_defaults(&space);
    tacet_status status = tacet_kernel_parse(&spec, s->kernel_name, err);
    if (status != TACET_OK) {
        return status;
    }
    const double zero[TACET_USCA_DIM_MOST] = {0};
    const double one[TACET_USCA_DIM_MOST] = {1, 1, 1, 1};
    space.kind = spec.kind;
    space.matern_p = spec.matern_p;
    space.action_dim = s->dim_action;
    space.context_dim = s->dim_context;
    space.lower = zero;
    space.upper = one;
    space.lengthscales = &s->lengthscale;
    return tacet_usca_basis_create(&s->basis, &space, 0, err);
}

static tacet_status simulate(simulation *s, tacet_error *err) {
    tacet_status status = make_basis(s, err);
    if (status == TACET_OK) {
        s->d = s->dim_action + s->dim_context;
        status = make_grids(s, err);
    }
    if (status == TACET_OK && (s->algorithm == PUBLISHED || s->algorithm == RANGE)) {
        status = prepare_choices(s, err);
    }
    if (status == TACET_OK && (s->algorithm == RELEASE || s->algorithm == STAGED)) {
        status = prepare_plan(s, err);
    }
    if (status == TACET_OK && s->algorithm == FAITHFUL) {
        const double T = (double)s->rounds;
        const double points = T * ceil(T / tacet__usca_gain(s->basis, T, s->tau > 0 ? s->tau : 1));
        if (!(points <= POINTS_MOST)) {
            return tacet__fail(err, TACET_INVALID, "the approximating set would have %.0f points: fewer --rounds",
                               points);
        }
        s->points = (size_t)points;
    }
    return status == TACET_OK ? lab_trials_run(s->trials, 0, one_trial, s, err) : status;
}

static const char *protection(const simulation *s) {
    switch (s->algorithm) {
    case PUBLISHED:
    case FAITHFUL:
    case RANGE:
        return "eps-DP for one record's context and reward, each choice";
    case RELEASE:
    case STAGED:
        return s->settings.gaussian ? "(eps, delta)-DP for one record's context and reward, any number of predictions"
                                    : "eps-DP for one record's context and reward, any number of predictions";
    case NONPRIVATE:
    case UNIFORM:
        break;
    }
    return "none";
}

static void report(const simulation *s, double seconds) {
    double mean = 0;
    double se = 0;
    lab_mean_se(&mean, &se, s->error, s->trials);
    if (!cli_json_wanted()) {
        printf("%s, %s, lengthscale %g, T = %zu, eps = %g: expected error %.5f +- %.5f (%zu trials, %.1f s)\n",
               ALGORITHMS[s->algorithm], s->kernel_name, s->lengthscale, s->rounds, s->settings.eps, mean, se,
               s->trials, seconds);
        printf("protection: %s (here with seeded noise: not private)\n", protection(s));
    }
    json_t *object =
        json_pack("{ss ss ss sf sI sI sI sf sf sI sI s{so so} ss sb sf}", "model", "usca", "algorithm",
                  ALGORITHMS[s->algorithm], "kernel", s->kernel_name, "lengthscale", s->lengthscale, "dim_action",
                  (json_int_t)s->dim_action, "dim_context", (json_int_t)s->dim_context, "rounds", (json_int_t)s->rounds,
                  "eps", s->settings.eps, "delta", s->settings.gaussian ? s->settings.delta : 0.0, "trials",
                  (json_int_t)s->trials, "seed", (json_int_t)s->seed, "error", "mean", cli_real(mean), "se",
                  cli_real(se), "mechanism_protects", protection(s), "private", 0, "seconds", seconds);
    if (object != NULL && s->algorithm <= RANGE) {
        (void)json_object_set_new(object, "tau", cli_real(s->used_tau));
        (void)json_object_set_new(object, "sup_variance", cli_real(s->sup * s->sup));
    }
    if (object != NULL && (s->algorithm == RELEASE || s->algorithm == STAGED)) {
        (void)json_object_set_new(object, "features", json_integer((json_int_t)s->plan.m));
        (void)json_object_set_new(object, "stages", json_integer((json_int_t)s->plan.count));
        (void)json_object_set_new(object, "predicted_rmse", cli_real(sqrt(s->plan.risk)));
    }
    if (object != NULL && s->algorithm == FAITHFUL) {
        (void)json_object_set_new(object, "approximating_points", json_integer((json_int_t)s->points));
    }
    cli_json_print(object);
}

static void clear(simulation *s) {
    tacet_usca_basis_free(s->basis);
    free(s->action);
    free(s->context);
    free(s->U);
    free(s->bounds);
    free(s->error);
}

static bool choose(simulation *s, const char *name) {
    size_t chosen = 0;
    while (chosen < ALGORITHM_COUNT && strcmp(ALGORITHMS[chosen], name) != 0) {
        chosen++;
    }
    s->algorithm = chosen < ALGORITHM_COUNT ? (algorithm)chosen : UNIFORM;
    return chosen < ALGORITHM_COUNT;
}

tacet_status lab_usca_run(lab_outcome *out, const lab_request *request, tacet_error *err) {
    const lab_usca_request *r = &request->of.usca;
    simulation s = {.kernel_name = r->kernel,
                    .dim_action = r->dim_action,
                    .dim_context = r->dim_context,
                    .rounds = r->rounds,
                    .trials = request->trials,
                    .draws = r->draws,
                    .lengthscale = r->lengthscale,
                    .noise = r->noise,
                    .seed = request->seed};
    tacet_usca_settings_defaults(&s.settings);
    s.settings.eps = r->eps;
    if (r->actions > 0 && r->dim_action > 0) {
        s.per_axis = (size_t)fmax(2, floor(pow((double)r->actions, 1 / (double)r->dim_action) + 0.5));
    }
    if (!choose(&s, r->algorithm) || r->rounds == 0 || request->trials == 0 || !(r->eps > 0)) {
        return tacet__fail(err, TACET_INVALID, "no algorithm '%s', or no rounds, trials or eps", r->algorithm);
    }
    tacet_status status = simulate(&s, err);
    if (status == TACET_OK) {
        status = lab_outcome_set(out, s.error, s.trials, NULL, NULL, err);
    }
    clear(&s);
    return status;
}

tacet_status lab_usca_gain(double *gain, const lab_usca_request *r, tacet_error *err) {
    simulation s = {.kernel_name = r->kernel,
                    .dim_action = r->dim_action,
                    .dim_context = r->dim_context,
                    .lengthscale = r->lengthscale};
    const tacet_status status = make_basis(&s, err);
    *gain = status == TACET_OK ? tacet__usca_gain(s.basis, (double)r->rounds, 1) : NAN;
    clear(&s);
    return status;
}

int lab_sim_usca(int argc, char **argv, const cli_command *self) {
    simulation s = {.kernel_name = "se",
                    .dim_action = 1,
                    .dim_context = 1,
                    .rounds = 10000,
                    .trials = 20,
                    .draws = 8,
                    .lengthscale = 0.3,
                    .noise = 0.1,
                    .seed = 1};
    const char *name = "staged";
    const char *mechanism = "k-norm";
    tacet_usca_settings_defaults(&s.settings);
    const cli_option options[] = {
        {"algorithm", CLI_STRING, &name, "NAME",
         "published (exponential mechanism, tau = 1), faithful (the same on the paper's random approximating set), "
         "range (range calibration), release (one release), staged, "
         "nonprivate "
         "(ridge), or uniform (random actions). Default staged.",
         false},
        {"kernel", CLI_STRING, &s.kernel_name, "NAME", "se, matern32 or matern52. Default se.", false},
        {"lengthscale", CLI_DOUBLE, &s.lengthscale, "L", "In units of the box [0, 1]. Default 0.3.", false},
        {"dim-action", CLI_SIZE, &s.dim_action, "N", "Action coordinates. Default 1.", false},
        {"dim-context", CLI_SIZE, &s.dim_context, "N", "Context coordinates. Default 1.", false},
        {"rounds", CLI_SIZE, &s.rounds, "T", "Records learnt from. Default 10000.", false},
        {"eps", CLI_DOUBLE, &s.settings.eps, "E", "Default 1.", false},
        {"mechanism", CLI_STRING, &mechanism, "NAME", "release, staged: k-norm (pure) or gaussian. Default k-norm.",
         false},
        {"delta", CLI_DOUBLE, &s.settings.delta, "D", "gaussian: default 1e-6.", false},
        {"tau", CLI_DOUBLE, &s.tau, "T", "published, faithful, range: the regulariser. Default 1, and by the sizes.",
         false},
        {"prior-decay", CLI_DOUBLE, &s.settings.prior_decay, "P",
         "release, staged: believed smoothness, 0 (draws of the process) to 2. Default 0.5.", false},
        {"noise", CLI_DOUBLE, &s.noise, "R", "Standard deviation of a reward. Default 0.1.", false},
        {"draws", CLI_SIZE, &s.draws, "N", "published, range: choices drawn per context. Default 8.", false},
        {"trials", CLI_SIZE, &s.trials, "N", "Default 20.", false},
        {"seed", CLI_U64, &s.seed, "S", "Default 1.", false},
        {NULL, CLI_FLAG, NULL, NULL, NULL, false}};
    int code = CLI_EXIT_OK;
    if (!cli_parse(self, options, argc, argv, NULL, NULL, &code)) {
        return code;
    }
    s.settings.gaussian = strcmp(mechanism, "gaussian") == 0;
    if (!choose(&s, name)) {
        return cli_usage(self, "--algorithm is published, faithful, range, release, staged, nonprivate or uniform");
    }
    if (!s.settings.gaussian && strcmp(mechanism, "k-norm") != 0) {
        return cli_usage(self, "--mechanism is k-norm or gaussian");
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
