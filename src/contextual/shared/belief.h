/* SPDX-License-Identifier: Apache-2.0 */
/* belief.h - what is believed of a function's weights, and what a noisy clipped sum over any law says of them.
 * Ring: shared. */
#ifndef TACET_SRC_CONTEXTUAL_SHARED_BELIEF_H
#define TACET_SRC_CONTEXTUAL_SHARED_BELIEF_H

#include "contextual/shared/internal.h"

enum { TACET__BELIEF_FEATURES_MOST = 80 };

/* A Gaussian belief over the weights of M features, whose values at N nodes are known. */
typedef struct tacet__belief {
    size_t M, N;
    double *phi;         /* M x N */
    double *theta;       /* M */
    double *P;           /* M x M: covariance */
    double tail;         /* mean square of what no feature has */
    double *L;           /* M x M: E phi phi' under the law of the next release */
    double *U;           /* M x M: the same under the law that errors count by */
    double *A, *B, *C;   /* room: M x M each */
    double *wide, *tall; /* room: M x N each */
} tacet__belief;

/* The shape of one release: which features, how they are scaled, how much a share may weigh. */
typedef struct tacet__belief_form {
    size_t m;      /* the leading features are released */
    double ratio;  /* Z = L + ratio I = R R' */
    double slack;  /* kappa */
    double clip;   /* c = kappa sqrt(E |reach u|^2): |omega reach u| <= c, u = R^-1 phi */
    double *R;     /* m x m, lower */
    double *H;     /* m x M: E omega phi phi' */
    double *S;     /* m x m: E omega^2 phi phi' */
    double *omega; /* N */
    double risk;   /* predicted mean square error after it */
    size_t at[3];  /* where the search ended, to begin the next one */
} tacet__belief_form;

/* What is public of a release before it is made. */
typedef struct tacet__belief_case {
    const double *q;       /* N: the law of its records, sums to 1 */
    double n;              /* records */
    double residual_var;   /* mean square of a residual */
    double bound;          /* residuals are at most this */
    const double *reach;   /* N: or at most bound times this, in each node; NULL: 1 */
    double unit_sd;        /* of one number per unit of sensitivity, one number released */
    bool grows;            /* K-norm noise: times sqrt((m + 1)/2) */
    size_t features_least; /* 0, or release at least so many (all: exploration must not leave any out) */
} tacet__belief_case;

/* How the size of what is believed follows the data (empirical Bayes): log a has a normal law of this width, a at least
 * `least`. */
typedef struct tacet__belief_scaling {
    double width, least;
} tacet__belief_scaling;

tacet_status tacet__belief_init(tacet__belief *b, size_t M, size_t N, tacet_error *err);
void tacet__belief_clear(tacet__belief *b);
/* out (M x M) = sum over nodes of q phi phi'. */
void tacet__belief_gram(const tacet__belief *b, double *out, const double *q);
/* tail + tr(Gram P). */
double tacet__belief_risk(const tacet__belief *b, const double *gram);

tacet_status tacet__belief_form_init(tacet__belief_form *f, size_t M, size_t N, tacet_error *err);
void tacet__belief_form_clear(tacet__belief_form *f);
/* The next search begins in the middle, whatever was found before. */
void tacet__belief_form_restart(tacet__belief_form *f);
/* The form of least predicted risk under b->U; sets b->L from the case. NUMERIC. */
tacet_status tacet__belief_choose(tacet__belief *b, tacet__belief_form *f, const tacet__belief_case *c,
                                  tacet_error *err);
/* Learns from v (m numbers: sum omega r u / sqrt n + noise of standard deviation noise_sd each). laws: N x count other
 * laws that the records may have had, NULL: none. NUMERIC. */
tacet_status tacet__belief_learn(tacet__belief *b, const tacet__belief_form *f, const tacet__belief_case *c,
                                 const double *v, double noise_sd, const double *laws, size_t count,
                                 const tacet__belief_scaling *scaling, tacet_error *err);

#endif
