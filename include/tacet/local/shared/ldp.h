/* SPDX-License-Identifier: Apache-2.0 */
/* ldp.h - what is public about a bounded scalar randomiser: the device's half is tacet/dp/randomizer.h, the server's
 * half needs only this.
 *
 * A value in [lo, hi] (clipped) is reported with pure eps: for every output and any two values the likelihoods differ
 * by a factor of at most e^eps, exactly. Every report is unbiased for the clipped value up to the rounding of doubles.
 * Proofs: src/dp/mechanisms/randomizers.md. A tacet_ldp is plain data: copy it, share it, nothing to free. */
#ifndef TACET_LOCAL_SHARED_LDP_H
#define TACET_LOCAL_SHARED_LDP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tacet/core/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What no page can prevent: part of every local study's guarantee and label. */
#define TACET_LOCAL_NEW_DEVICE                                                                                         \
    "A cleared browser is a new device, and so is a private window: its ledger is empty, and the collector takes one " \
    "report a ticket."

typedef enum tacet_ldp_kind {
    TACET_LDP_LAPLACE,   /* discrete Laplace on a grid; unbounded reports */
    TACET_LDP_HYBRID,    /* Wang et al. 2019: piecewise or Duchi by a public coin; the least variance up to eps = 4 */
    TACET_LDP_DUCHI,     /* half of hybrid: one bit (Duchi, Jordan, Wainwright 2018); alone in audits and the lab */
    TACET_LDP_PIECEWISE, /* half of hybrid: Wang et al. 2019, Algorithm 2, on a grid; alone in audits and the lab */
    TACET_LDP_SPHERE     /* of a vector, not a number: one of `cells` public directions, the `window` nearest ones more
                            likely (tacet/local/shared/sphere.h). The report is the number of the direction */
} tacet_ldp_kind;

typedef struct tacet_ldp {
    tacet_ldp_kind kind;
    double eps; /* as claimed; 2^-10 … 32 */
    double lo, hi;

    /* The design, made by tacet_ldp_init; all probabilities are ratios of these whole numbers. */
    uint64_t ratio_num, ratio_den; /* likelihood ratio num/den <= e^eps, proven by directed rounding */
    uint32_t cells;                /* piecewise, sphere: outputs 0 … cells-1 */
    uint32_t window;               /* piecewise, sphere: how many of them the value makes likely */
    uint32_t steps;                /* Laplace: the range in grid steps */
    uint32_t piecewise_share;      /* hybrid: piecewise with probability share / 2^32 */
    double laplace_scale;          /* Laplace: noise scale in grid steps, at least steps / eps */
    double duchi;                  /* reports are mid ± duchi */
    double step;                   /* distance of neighbouring outputs, in the units of the value */
} tacet_ldp;

/* Of a number: "hybrid" or "laplace". INVALID names the choices. */
TACET_API tacet_status tacet_ldp_parse(tacet_ldp_kind *out, const char *name, tacet_error *err);
TACET_API const char *tacet_ldp_name(tacet_ldp_kind kind);
/* INVALID: eps outside [2^-10, 32]; hi <= lo, or one of them not within 2^500 of zero; hi - lo below 2^-30 of the
 * larger of |lo|, |hi|. */
TACET_API tacet_status tacet_ldp_init(tacet_ldp *out, tacet_ldp_kind kind, double eps, double lo, double hi,
                                      tacet_error *err);

/* Of the sphere, lo and hi are the range of the reward, and the three moments below are not a number. */
/* C = (e^eps + 1)/(e^eps - 1), by expm1: what Duchi's bit is scaled with. */
TACET_API double tacet_ldp_duchi_constant(double eps);
/* The largest |report - (lo + hi)/2|; infinite for Laplace. */
TACET_API double tacet_ldp_bound(const tacet_ldp *ldp);
/* The largest variance of a report over all values, with the rounding to the grid in it. */
TACET_API double tacet_ldp_variance(const tacet_ldp *ldp);
/* s such that E exp(u (report - value)) <= exp(u^2 s / 2) for every u and every value in [lo, hi]: the sub-Gaussian
 * proxy variance given the clipped value. For Duchi it also holds for a random value in [lo, hi] about its mean, noise
 * included. Infinite for Laplace. */
TACET_API double tacet_ldp_proxy(const tacet_ldp *ldp);

#ifdef __cplusplus
}
#endif
#endif
