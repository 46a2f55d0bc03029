/* SPDX-License-Identifier: Apache-2.0 */
/* internal.h - the parts of the local model's learners. Ring: open.
 *
 * A policy (local.c) keeps tickets (history.c); an engine keeps estimates, and is a function of the sequence of
 * (arm, report) it observed. */
#ifndef TACET_SRC_LOCAL_OPEN_INTERNAL_H
#define TACET_SRC_LOCAL_OPEN_INTERNAL_H

#include "gp/arms.h"
#include <tacet/local/open/local.h>

#include "core/state.h"

/* What is known before the first round; shared by policy and engine, immutable. */
typedef struct tacet__local {
    tacet_local_settings s; /* defaults filled in: lambda, lanes */
    tacet_ldp ldp;          /* where s.ldp is set */
    size_t n;
    double c;     /* second moment of report - f: the randomiser's worst variance and noise_var */
    double v;     /* of the report itself: B^2 + c */
    double proxy; /* sub-Gaussian proxy variance of report - f; infinite: none */
    double tail;  /* scale of an exponential tail of the randomiser; 0: bounded or none */
    double reach; /* |report - mean| can't exceed this when tail = 0 and there is a randomiser; else infinite */
    double *K;    /* n x n */
} tacet__local;

/* What becomes of a round after it was suggested. */
typedef enum tacet__local_event { TACET__LOCAL_GIVEN, TACET__LOCAL_REPORTED, TACET__LOCAL_DROPPED } tacet__local_event;

typedef struct tacet__local_engine {
    tacet_status (*observe)(void *self, size_t arm, double y, tacet_error *err); /* y - mean; finite */
    void (*bounds)(void *self, double *out, size_t t);                           /* n upper bounds for round t */
    double (*width)(const void *self, size_t t);
    const double *(*mean)(const void *self);
    const double *(*var)(const void *self);
    void (*reset)(void *self);
    void (*free)(void *self);
    /* What it remembers after `observed` reports; refuses numbers that no sequence of reports leads to, as far as
     * O(state) can tell. */
    void (*state)(void *self, tacet__state *s, size_t observed);
    const tacet_arms *(*arms)(const void *self); /* the statistics of the one kernel; NULL, or NULL returned: none */
    /* May be NULL. After `observe`, for a report. After reading a state the rounds that are out are told again. */
    void (*pending)(void *self, size_t arm, tacet__local_event event);
} tacet__local_engine;

tacet_status tacet__local_arms(void **out, const tacet__local_engine **engine, const tacet__local *p,
                               tacet_cov *const *covs, size_t rungs, tacet_error *err); /* UCB, TGP */
tacet_status tacet__local_ata(void **out, const tacet__local_engine **engine, const tacet__local *p, tacet_error *err);
tacet_status tacet__local_moma(void **out, const tacet__local_engine **engine, const tacet__local *p, tacet_error *err);

/* --- local_settings.c --------------------------------------------------------------------------------------- */
#define TACET__LOCAL_LARGEST 1e100 /* reports beyond this would overflow sums of squares */
tacet_status tacet__local_check(const tacet_local_settings *s, tacet_error *err);
/* Defaults that depend on other settings; a ladder where the kernel has lengthscales. */
void tacet__local_choose(tacet_local_settings *s, const tacet_cov_spec *spec);
/* Moments and tails of report - f, and what follows from them, of p->s and p->ldp. */
tacet_status tacet__local_derive(tacet__local *p, tacet_error *err);

/* local.c: beta_t of the next round (of its epoch, for MoMA); NaN for another policy. For tests. */
double tacet__local_width(const tacet_policy *policy);

/* --- width.c: the formulas ---------------------------------------------------------------------------------- */
double tacet__local_lambda(const tacet__local *p);
size_t tacet__local_lanes(const tacet__local *p);
/* GP-UCB, tight: the factor by which lambda = proxy/B^2 is raised (prior.c). */
tacet_status tacet__local_prior_factor(double *out, const tacet__local *p, double lambda, tacet_error *err);
/* t: the round about to be played, from 1; gamma: information gained so far. */
double tacet__local_beta_ucb(const tacet__local *p, size_t t, double gamma);
double tacet__local_level_tgp(const tacet__local *p, size_t t); /* b_t, t >= 1 */
double tacet__local_beta_tgp(const tacet__local *p, size_t t, double gamma);
double tacet__local_level_ata(const tacet__local *p, size_t m); /* b with m features */
double tacet__local_beta_ata(const tacet__local *p, size_t m);
double tacet__local_beta_moma(const tacet__local *p, size_t m, uint64_t epochs);
/* Half-width of an arm's own mean after `count` reports (UCB, tight): infinite at 0. */
double tacet__local_arm_radius(const tacet__local *p, double count);
double tacet__local_q(const tacet__local *p); /* Nyström's oversampling */

/* --- norm.c ------------------------------------------------------------------------------------------------- */
/* Of counts and averages of the arms, noise of proxy variance `proxy`, `gamma` with regularisation `lambda`. */
tacet_status tacet__local_norm(double *out, const tacet__local *p, const uint64_t *counts, const double *averages,
                               double gamma, tacet_error *err);

/* --- nystrom.c: the embedding ------------------------------------------------------------------------------- */
typedef struct tacet__nystrom {
    const tacet__local *p;
    size_t m;          /* features: the rank of K_D */
    size_t size;       /* arms in the dictionary */
    bool *in;          /* n */
    bool *next;        /* n */
    double *features;  /* m x n: phi(x) of every arm, leading dimension n */
    double *residual;  /* n: k(x, x) - phi(x)'phi(x), >= 0 */
    double *A, *B, *w; /* n x n, n x n, n */
    size_t *members;   /* n */
    double *scratch;   /* tacet__eigh_scratch(n); engines use it between updates */
} tacet__nystrom;

tacet_status tacet__nystrom_init(tacet__nystrom *ny, const tacet__local *p, tacet_error *err);
void tacet__nystrom_clear(tacet__nystrom *ny);
void tacet__nystrom_reset(tacet__nystrom *ny);
void tacet__nystrom_state(tacet__nystrom *ny, tacet__state *s);
/* Draws the dictionary from the arms' plays and approximate variances, the coins being those of this `step`. *changed:
 * the features are others than before. On failure nothing has changed. */
tacet_status tacet__nystrom_update(tacet__nystrom *ny, bool *changed, const uint64_t *plays, const double *var,
                                   uint64_t step, tacet_error *err);

/* --- embedded.c: what engines over an embedding have in common ---------------------------------------------- */

/* An engine begins with it, so that its self is one. */
typedef struct tacet__embedded {
    const tacet__local *p;
    tacet__nystrom ny;
    uint64_t *plays;    /* n: of each arm */
    double *mean, *var; /* n: the estimates */
    void *held[24];     /* the arrays that tacet__embedded_hold gave */
    size_t holds;
    bool lacking; /* one of them is NULL */
} tacet__embedded;

/* An engine of `size` bytes, which begins with one of these; `allocate` gives it the rest of its memory, false: too
 * much. NO_MEMORY. */
tacet_status tacet__embedded_create(void **out, size_t size, const tacet__local_engine *ops, bool (*allocate)(void *),
                                    const tacet__local *p, tacet_error *err);
/* An array, not zeroed, that is freed with the engine. Without memory NULL, and the engine is not made. */
void *tacet__embedded_hold(tacet__embedded *e, size_t count, size_t size);
#define TACET__EMBEDDED(e, type, count) ((type *)tacet__embedded_hold((e), (count), sizeof(type)))
void tacet__embedded_free(void *self);          /* NULL is allowed */
void tacet__embedded_reset(tacet__embedded *e); /* nothing was played: the prior */
void tacet__embedded_bounds(const tacet__embedded *e, double *out, double beta_t);
const double *tacet__embedded_mean(const void *self);
const double *tacet__embedded_var(const void *self);
void tacet__embedded_state(tacet__embedded *e, tacet__state *s);
/* V (m x m, lower) = lambda I + the sum of phi phi' over all plays; scratch: n x n. */
void tacet__embedded_design(const tacet__embedded *e, double *V, double *scratch);

/* The posterior at every arm, for displays: the mean is mean[j] + shift, the sd scale * sqrt(var[j]). How many arms
 * there are; 0: not one of these policies. Valid until the policy is used again. */
size_t tacet__local_posterior(const tacet_policy *policy, const double **mean, const double **var, double *shift,
                              double *scale);

/* "ucb", "tgp", "ata", "moma"; "literal", "tight", "orderwise", "tuned" (ucb: tight or tuned).
 * INVALID names the choices. */
tacet_status tacet_local_algorithm_parse(tacet_local_algorithm *out, const char *name, tacet_error *err);
tacet_status tacet_local_parameters_parse(tacet_local_parameters *out, const char *name, tacet_error *err);
const char *tacet_local_algorithm_name(tacet_local_algorithm algorithm);
const char *tacet_local_parameters_name(tacet_local_parameters parameters);
/* The least norm that f - mean can have: with probability 1 - delta |f - mean|_H is not below *out, whatever `bound`
 * says. Where it is above `bound`, proven widths do not hold. It rests on reports alone, so it costs no privacy. ucb
 * with one lengthscale and a sub-Gaussian proxy; INVALID for others. O(n^3). NO_MEMORY, NUMERIC. */
tacet_status tacet_local_norm_least(const tacet_policy *policy, double *out, tacet_error *err);

#endif
