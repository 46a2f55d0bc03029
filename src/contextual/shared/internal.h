/* SPDX-License-Identifier: Apache-2.0 */
/* internal.h - the inside of the public half of USCA, for the learner, the planner, the auditor and their tests.
 * Ring: shared. */
#ifndef TACET_SRC_CONTEXTUAL_SHARED_INTERNAL_H
#define TACET_SRC_CONTEXTUAL_SHARED_INTERNAL_H

#include "gp/features_internal.h"

#include <stdbool.h>
#include <tacet/contextual/shared/basis.h>

struct tacet_contextual_basis {
    size_t d, action_dim;
    double lower[TACET_CONTEXTUAL_COORDINATES_MOST], upper[TACET_CONTEXTUAL_COORDINATES_MOST];
    double unit_lengthscale[TACET_CONTEXTUAL_COORDINATES_MOST]; /* of the unit box */
    tacet_features *features;                                   /* over the unit box, E phi phi' = diag(lam) */
    double *weights;                                            /* of the nodes (features->blocks->Z); they sum to 1 */
    size_t node_actions; /* distinct actions of the nodes: these times the contexts, actions fastest */
    double tail;         /* 1 - sum of the kept eigenvalues, >= 0 */
};

/* The leading m features, without copying anything; lives as long as the basis. */
typedef struct tacet__contextual_view {
    tacet_features features;
    tacet__feature_block block;
} tacet__contextual_view;
void tacet__contextual_view_init(tacet__contextual_view *view, const tacet_contextual_basis *basis, size_t m);

/* Quadrature nodes a coordinate, of d coordinates, where none are asked for. */
size_t tacet__contextual_order(size_t d);
/* One more than the largest of d groups; 0 without groups. */
size_t tacet__contextual_group_count(const size_t *groups, size_t d);
enum { TACET__CONTEXTUAL_LATTICE = 43 }; /* points that actions have, and contexts, where there is no grid */
/* n points (a prime) of a rank-1 lattice in the unit box, d of X's rows each, folded: every coordinate takes the
 * middles of n equal cells, and pairs of coordinates spread as evenly as a search from one to the next finds. */
void tacet__contextual_lattice(double *X, size_t d, size_t n);
/* Into the unit box; coordinates outside the bounds are clipped, a NaN becomes the middle: a total function. */
void tacet__contextual_unit(const tacet_contextual_basis *basis, double *out, const double *w);

/* u(w) = Z^-1/2 phi(w): |u|^2 is the leverage sigma^2(w). Z = diag(z), or L L'. Z >= tau I. */
typedef struct tacet__lever {
    const tacet_features *features; /* m of them */
    const double *inverse_root;     /* m: z^-1/2; NULL: use L */
    const double *L;                /* m x m, lower, leading dimension m */
    double tau;
    size_t d;
    const double *lengthscale; /* d, of the unit box */
} tacet__lever;

/* In place: columns phi (m x n) become u. */
void tacet__lever_apply(const tacet__lever *lever, double *phi, size_t n);
/* Which maps of the unit box onto itself leave |u(w)|^2 as it is. Every point has an image in the folded box: mirrored
 * coordinates in [0, 1/2], exchanged ones in ascending order. */
typedef struct tacet__contextual_symmetry {
    bool mirror[TACET_CONTEXTUAL_DIM_MOST];   /* w_c to 1 - w_c */
    bool exchange[TACET_CONTEXTUAL_DIM_MOST]; /* of c and c + 1 */
    double defect;                            /* |u|^2 at the image differs by at most this */
} tacet__contextual_symmetry;
/* leverage: about how large |u|^2 is; a defect beyond 1e-4 of it is no symmetry. None for an operator L. NO_MEMORY. */
tacet_status tacet__lever_symmetry(tacet__contextual_symmetry *out, const tacet__lever *lever, double leverage,
                                   tacet_error *err);
/* Whether a cell has points of the folded box, beyond a face that its neighbour has as well. */
bool tacet__contextual_symmetry_keeps(const tacet__contextual_symmetry *s, const double *centre, const double *half,
                                      size_t d);

/* |k(., w) - k(., c) - (w - c)'grad k(., c)| in the kernel's space, at most, for |w - c| <= r lengthscales. half: 0 SE,
 * 1 Matérn 3/2, 2 Matérn 5/2. */
double tacet__contextual_remainder(unsigned half, double r);
/* sup over the unit box of |u(w)| (U = NULL), or of max_i U_i'u(w) - min_i U_i'u(w) over the n columns of U (m x n). */
tacet_status tacet__lever_certify(tacet_contextual_certificate *out, const tacet__lever *lever, const double *U,
                                  size_t n, double tolerance, size_t most_cells, tacet_error *err);

/* Eqs (4) and (5) as printed: W (d x T, unit box), y (T), the approximating set P (d x count), K > 0. O(count^3). */
typedef struct tacet__contextual_dense tacet__contextual_dense;
tacet_status tacet__contextual_dense_create(tacet__contextual_dense **out, const tacet_kernel *kernel, const double *W,
                                            const double *y, size_t rounds, const double *P, size_t count, double K,
                                            double tau, tacet_error *err);
void tacet__contextual_dense_free(tacet__contextual_dense *dense);
/* mu and sigma^2 at one point. */
void tacet__contextual_dense_eval(const tacet__contextual_dense *dense, double *mu, double *sigma2, const double *w);
/* gamma = 1/2 sum ln(1 + T lam_j / tau), from kernel and law alone; the paper's K is ceil(T/gamma). */
double tacet__contextual_gain(const tacet_contextual_basis *basis, double rounds, double tau);

/* ---- the staged release: what is decided before any data is seen (src/contextual/README.md, section 7) ---- */

enum { TACET__CONTEXTUAL_STAGES_MOST = 6 };

typedef struct tacet__contextual_stage {
    size_t n;        /* records of this stage */
    double ratio;    /* tau/n: Z0 = n (lam + ratio) */
    double slack;    /* kappa: clipped at kappa sqrt(d_eff/n) */
    double clip;     /* c: the largest |omega Z0^-1/2 phi| */
    double bound;    /* B_j: residuals are clipped to it */
    double noise_sd; /* of each released number */
    double risk;     /* predicted mean squared error of the function after this stage */
} tacet__contextual_stage;

typedef struct tacet__contextual_plan {
    size_t m, count;
    size_t growth; /* which of the planner's growths the sizes have */
    tacet__contextual_stage stages[TACET__CONTEXTUAL_STAGES_MOST];
    double risk;
} tacet__contextual_plan;

typedef struct tacet__contextual_plan_settings {
    size_t rounds;
    double bound;         /* B: rewards less their middle are at most this */
    double noise_sd;      /* believed standard deviation of a reward's noise */
    double prior_var;     /* believed mean square of the function */
    double decay;         /* believed: theta_j^2 falls as lam_j^decay */
    double unit_sd;       /* standard deviation of one released number per unit of sensitivity, m = 1 */
    bool grows;           /* K-norm noise: times sqrt((m + 1)/2), relative to m = 1 */
    size_t stages_most;   /* 1: one release */
    size_t features_most; /* 0: no limit but the basis */
} tacet__contextual_plan_settings;

tacet_status tacet__contextual_plan_make(tacet__contextual_plan *plan, const tacet_contextual_basis *basis,
                                         const tacet__contextual_plan_settings *settings, tacet_error *err);

/* The state of the fusion: theta's prior covariance P (m x m), and room for one stage. */
typedef struct tacet__contextual_fusion {
    size_t m;
    double *P;     /* m x m */
    double *H, *S; /* E omega phi phi', E omega^2 phi phi' of the current stage */
    double *gain;  /* m x m */
    double *work;  /* 3 m x m */
    double *phi;   /* m x nodes: features at the nodes */
    double *root;  /* m */
    size_t nodes;
    const double *weights, *lam;
    double tail_var; /* of what the m features cannot say */
} tacet__contextual_fusion;

tacet_status tacet__contextual_fusion_init(tacet__contextual_fusion *f, const tacet_contextual_basis *basis, size_t m,
                                           double prior_var, double decay, tacet_error *err);
void tacet__contextual_fusion_clear(tacet__contextual_fusion *f);
/* Clipping for (ratio, slack): sets H and S; *clip is that of n = 1 (divide by sqrt n). */
void tacet__contextual_fusion_clip(tacet__contextual_fusion *f, double ratio, double slack, double *clip);
/* What clipping at `bound` leaves of a Gaussian residual of variance var: *response is what remains of the signal in it
 * (Bussgang's theorem), *left the mean square. */
void tacet__contextual_fusion_clipped(double *response, double *left, double var, double bound);
/* The gain of a stage whose H and S are set; the new covariance goes to `P` (may be f->P). NUMERIC. */
tacet_status tacet__contextual_fusion_gain(tacet__contextual_fusion *f, double *P, double *risk, double n, double ratio,
                                           double residual_var, double bound, double noise_sd, tacet_error *err);
double tacet__contextual_fusion_risk(const tacet__contextual_fusion *f, const double *P);

#endif
