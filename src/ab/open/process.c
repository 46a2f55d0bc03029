/* SPDX-License-Identifier: Apache-2.0 */
/* process.c - draws of a function of actions and contexts from averages of it. Ring: open. Source: src/ab/README.md,
 * "Earning": Gaussian process regression (Rasmussen, Williams 2006, ch. 2), with lengthscales and size averaged by
 * their likelihood, draws by Matheron's rule. Cost: about 300 factorisations of the order of what was seen. */
#include "ab/open/internal.h"
#include "core/fail.h"
#include "core/memory.h"
#include "gp/linalg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A model says how far actions reach, how far contexts reach, and how large the function is. */
enum { REACHES = 5, SIZES = 6, MODELS = REACHES * REACHES * SIZES, POINTS = 3 };
static const double REACH[REACHES] = {0.15, 0.25, 0.4, 0.7, 1.5}; /* lengthscale of numbers, in widths of a column */
static const double ALIKE[REACHES] = {0.1, 0.3, 0.5, 0.7, 0.9};   /* correlation of two levels */
static const double SIZE_LEAST = 0.2; /* of the unit u = p (1 - p); each further size is twice the one before */
static const double BASE_SIZE = 4;    /* of u: what the whole function may be off p */
static const double SLACK = 1e-6;     /* of the variance of a point, for the sake of factorisations */
static const double WITHIN_LEAST = 0.01, WEIGHT_LEAST = 1e-3;
/* Gauss–Legendre points of a bin of width 1 about 0. */
static const double AT[POINTS] = {-0.3872983346207417, 0, 0.3872983346207417};
static const double PART[POINTS] = {5.0 / 18, 8.0 / 18, 5.0 / 18};

typedef struct process {
    const tacet__ab_seen *s;
    size_t M, N, C; /* seen, points, contexts */
    double u;
    double *actions[REACHES], *contexts[REACHES]; /* covariances: N x N, C x C */
    double *across[REACHES];                      /* M x N: of points with averages over them */
    double *both[REACHES];                        /* M x M: of these averages */
    double *Lactions, *Lcontexts, *prior;         /* of a draw */
    double *G, *V, *y, *w, *miss;
    double weight[MODELS], within;
} process;

static double squared(double r) {
    return exp(-0.5 * r * r);
}

static void set_actions(process *k, size_t reach) {
    const tacet_ab_plan *p = k->s->plan;
    for (size_t i = 0; i < k->N; i++) {
        for (size_t j = 0; j < k->N; j++) {
            double x = i == j ? 1 + SLACK : 1;
            for (size_t a = 0; a < p->action_columns; a++) {
                const double from = k->s->place[i * p->action_columns + a], to = k->s->place[j * p->action_columns + a];
                x *= p->number[a] ? squared((from - to) / REACH[reach]) : from == to ? 1 : ALIKE[reach];
            }
            k->actions[reach][i * k->N + j] = x;
        }
    }
}

/* Of a column of contexts: of levels, or of means over bins. */
static double alike(const tacet_ab_plan *p, size_t column, double from, double to, size_t reach) {
    double sum = 0;
    if (!p->number[column]) {
        return from == to ? 1 : ALIKE[reach];
    }
    for (size_t k = 0; k < POINTS * POINTS; k++) {
        const double off = from + AT[k % POINTS] - to - AT[k / POINTS];
        sum += PART[k % POINTS] * PART[k / POINTS] * squared(off / ((double)p->levels[column] * REACH[reach]));
    }
    return sum;
}

static void set_contexts(process *k, size_t reach) {
    const tacet_ab_plan *p = k->s->plan;
    for (size_t c = 0; c < k->C; c++) {
        for (size_t d = 0; d < k->C; d++) {
            size_t from = c, to = d;
            double x = c == d ? 1 + SLACK : 1;
            for (size_t j = p->action_columns; j < p->action_columns + p->columns; j++) {
                x *= alike(p, j, (double)(from % p->levels[j]), (double)(to % p->levels[j]), reach);
                from /= p->levels[j];
                to /= p->levels[j];
            }
            k->contexts[reach][c * k->C + d] = x;
        }
    }
}

static double size_of(const process *k, size_t model) {
    return SIZE_LEAST * k->u * ldexp(1, (int)(model % SIZES));
}

static size_t actions_of(size_t model) {
    return model / SIZES % REACHES;
}

static size_t contexts_of(size_t model) {
    return model / SIZES / REACHES;
}

/* G: the covariance of what was seen, factored; w = G^-1 y; the log likelihood. */
static tacet_status factor(process *k, size_t model, double *like, tacet_error *err) {
    const double *both = k->both[actions_of(model)], *contexts = k->contexts[contexts_of(model)];
    const double size = size_of(k, model), base = BASE_SIZE * k->u;
    const size_t M = k->M;
    for (size_t j = 0; j < M; j++) {
        for (size_t i = j; i < M; i++) { /* the lower triangle, column by column */
            k->G[j * M + i] =
                base * base + size * size * both[j * M + i] * contexts[k->s->context[j] * k->C + k->s->context[i]];
        }
        k->G[j * M + j] += k->V[j];
    }
    const tacet_status status = tacet__cholesky(k->G, M, M, NULL, NULL, err);
    if (status == TACET_OK) {
        memcpy(k->w, k->y, M * sizeof *k->w);
        tacet__chol_solve(M, k->G, M, k->w);
        *like = -0.5 * (tacet__dot(k->w, k->y, M) + tacet__chol_logdet(M, k->G, M));
    }
    return status;
}

/* Adds `by` times the covariance of all points with what was seen, times w. */
static void add_points(const process *k, size_t model, double by, const double *w, double *out) {
    const double *across = k->across[actions_of(model)], *contexts = k->contexts[contexts_of(model)];
    const double size = size_of(k, model), base = BASE_SIZE * k->u;
    double sum = 0;
    for (size_t i = 0; i < k->M; i++) {
        sum += w[i];
    }
    for (size_t c = 0; c < k->C; c++) {
        for (size_t x = 0; x < k->N; x++) {
            out[c * k->N + x] += by * base * base * sum;
        }
        for (size_t i = 0; i < k->M; i++) {
            const double near = contexts[c * k->C + k->s->context[i]];
            tacet__axpy(out + c * k->N, by * size * size * near * w[i], across + i * k->N, k->N);
        }
    }
}

static void set_within(process *k, double within) {
    k->within = within;
    for (size_t i = 0; i < k->M; i++) {
        const double n = k->s->n[i];
        k->V[i] = within / n + k->s->noise[i] / (n * n);
    }
}

/* Each model's weight. */
static tacet_status weigh_models(process *k, tacet_error *err) {
    double most = -INFINITY, sum = 0;
    tacet_status status = TACET_OK;
    for (size_t m = 0; m < MODELS && status == TACET_OK; m++) {
        status = factor(k, m, &k->weight[m], err);
        most = fmax(most, k->weight[m]);
    }
    for (size_t m = 0; m < MODELS; m++) {
        sum += k->weight[m] = exp(k->weight[m] - most);
    }
    for (size_t m = 0; m < MODELS; m++) {
        k->weight[m] /= sum;
    }
    return status;
}

/* How far rewards scatter about the function: what suits the likeliest model best, from all that they scatter down. */
static tacet_status find_within(process *k, tacet_error *err) {
    double most = -INFINITY, x = k->s->spread, best = x, like = 0;
    size_t top = 0;
    set_within(k, x);
    tacet_status status = weigh_models(k, err);
    for (size_t m = 0; m < MODELS; m++) {
        top = k->weight[m] > k->weight[top] ? m : top;
    }
    while (x > WITHIN_LEAST * k->s->spread && status == TACET_OK) {
        set_within(k, x);
        status = factor(k, top, &like, err);
        best = like > most ? x : best;
        most = fmax(like, most);
        x *= 0.5;
    }
    set_within(k, best);
    return status;
}

/* One draw of the model that G is of: a prior one, moved by what it misses by. */
static void draw_one(process *k, size_t model, double *out, tacet_simrng *rng) {
    const size_t N = k->N, C = k->C, M = k->M;
    const double size = size_of(k, model), base = BASE_SIZE * k->u * tacet_simrng_normal(rng);
    for (size_t c = 0; c < C; c++) {
        double *row = k->prior + c * N;
        for (size_t j = 0; j < N; j++) {
            row[j] = tacet_simrng_normal(rng);
        }
        for (size_t j = N; j-- > 0;) {
            const double x = row[j];
            row[j] = 0;
            tacet__axpy(row + j, x, k->Lactions + j * N + j, N - j);
        }
    }
    for (size_t c = 0; c < C; c++) {
        for (size_t x = 0; x < N; x++) {
            out[c * N + x] = base;
        }
        for (size_t d = 0; d <= c; d++) {
            tacet__axpy(out + c * N, size * k->Lcontexts[d * C + c], k->prior + d * N, N);
        }
    }
    for (size_t i = 0; i < M; i++) {
        const double seen = tacet__dot(k->s->weights + i * N, out + k->s->context[i] * N, N);
        k->miss[i] = k->y[i] - seen - sqrt(k->V[i]) * tacet_simrng_normal(rng);
    }
    tacet__chol_solve(M, k->G, M, k->miss);
    add_points(k, model, 1, k->miss, out);
}

/* Draws of one model. */
static tacet_status draw_some(process *k, size_t model, double *draws, size_t count, tacet_simrng *rng,
                              tacet_error *err) {
    double like = 0;
    tacet_status status = factor(k, model, &like, err);
    memcpy(k->Lactions, k->actions[actions_of(model)], k->N * k->N * sizeof *k->Lactions);
    memcpy(k->Lcontexts, k->contexts[contexts_of(model)], k->C * k->C * sizeof *k->Lcontexts);
    TACET_THEN(status, tacet__cholesky(k->Lactions, k->N, k->N, NULL, NULL, err));
    TACET_THEN(status, tacet__cholesky(k->Lcontexts, k->C, k->C, NULL, NULL, err));
    for (size_t i = 0; i < count && status == TACET_OK; i++) {
        draw_one(k, model, draws + i * k->C * k->N, rng);
    }
    return status;
}

static tacet_status run(process *k, double *mean, double *draws, size_t count, tacet_simrng *rng, tacet_error *err) {
    double passed = 0, like = 0;
    size_t done = 0;
    for (size_t r = 0; r < REACHES; r++) {
        set_actions(k, r);
        set_contexts(k, r);
        if (k->M > 0) {
            tacet__gemm(false, false, k->N, k->M, k->N, 1, k->actions[r], k->N, k->s->weights, k->N, 0, k->across[r],
                        k->N);
            tacet__gemm(true, false, k->M, k->M, k->N, 1, k->across[r], k->N, k->s->weights, k->N, 0, k->both[r], k->M);
        }
    }
    for (size_t i = 0; i < k->M; i++) {
        k->y[i] = k->s->z[i] / k->s->n[i];
    }
    tacet_status status = find_within(k, err);
    TACET_THEN(status, weigh_models(k, err));
    memset(mean, 0, k->C * k->N * sizeof *mean);
    for (size_t m = 0; m < MODELS && status == TACET_OK; m++) {
        if (k->weight[m] > WEIGHT_LEAST) {
            status = factor(k, m, &like, err);
            add_points(k, m, k->weight[m], k->w, mean);
        }
        /* as many draws of each model as its weight says, to the nearest of all before it */
        passed += k->weight[m];
        const size_t to = m + 1 < MODELS ? (size_t)fmin(floor(passed * (double)count + 0.5), (double)count) : count;
        if (to > done && status == TACET_OK) {
            status = draw_some(k, m, draws + done * k->C * k->N, to - done, rng, err);
            done = to;
        }
    }
    return status;
}

tacet_status tacet__ab_process(double *mean, double *draws, size_t count, const tacet__ab_seen *seen, tacet_simrng *rng,
                               tacet_error *err) {
    process k = {.s = seen, .M = seen->count, .N = seen->points, .C = seen->plan->contexts};
    k.u = seen->p * (1 - seen->p);
    tacet__array arrays[8 + 4 * REACHES] = {{&k.Lactions, k.N, k.N}, {&k.Lcontexts, k.C, k.C}, {&k.prior, k.C, k.N},
                                            {&k.G, k.M, k.M},        {&k.V, k.M, 1},           {&k.y, k.M, 1},
                                            {&k.w, k.M, 1},          {&k.miss, k.M, 1}};
    for (size_t r = 0; r < REACHES; r++) {
        tacet__array *of = arrays + 8 + 4 * r;
        of[0] = (tacet__array){&k.actions[r], k.N, k.N};
        of[1] = (tacet__array){&k.contexts[r], k.C, k.C};
        of[2] = (tacet__array){&k.across[r], k.M, k.N};
        of[3] = (tacet__array){&k.both[r], k.M, k.M};
    }
    const tacet_status status = tacet__zalloc_arrays(arrays, sizeof arrays / sizeof *arrays)
                                    ? run(&k, mean, draws, count, rng, err)
                                    : tacet__fail(err, TACET_NO_MEMORY, "out of memory for a posterior");
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        free(*arrays[i].place);
    }
    return status;
}
