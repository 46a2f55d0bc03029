/* SPDX-License-Identifier: Apache-2.0 */
/* local.h - learners of the local model: arms are public, the reward of a round arrives randomised by the device that
 * earned it (tacet/local/trusted/device.h), and the learner must find the best arm all the same.
 *
 * Finite domains of n arms, f = mean + g with |g|_H <= bound in the space of the prior's kernel, reports y = f(x) +
 * noise. Privacy is the device's doing and holds whatever the learner does; what the parameters decide is which regret
 * bound holds. src/local/README.md maps the paper's steps to functions and says which guarantee holds when.
 * Time per round does not grow with the rounds; memory is O(n^2) and 4 bytes a round, 60 more for ATA. A saved
 * state is loaded in the time of reading it: O(n^2) (MoMA also k n) bytes, 16 an open ticket; ATA 8 a round more. */
#ifndef TACET_LOCAL_OPEN_LOCAL_H
#define TACET_LOCAL_OPEN_LOCAL_H

#include <tacet/gp/cov.h>
#include <tacet/local/shared/ldp.h>
#include <tacet/core/policy.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tacet_local_algorithm {
    TACET_LOCAL_UCB, /* GP-UCB with a sub-Gaussian width: the default, for bounded randomisers */
    TACET_LOCAL_TGP, /* truncates raw reports */
    TACET_LOCAL_ATA, /* truncates in feature space, all of the past at the current level */
    TACET_LOCAL_MOMA /* median of means over k lanes */
} tacet_local_algorithm;

typedef enum tacet_local_parameters {
    TACET_LOCAL_LITERAL,   /* as the theorems state them */
    TACET_LOCAL_TIGHT,     /* the smallest constants for which the proofs hold: the default */
    TACET_LOCAL_ORDERWISE, /* constants dropped, as published experiments do: no regret bound */
    TACET_LOCAL_TUNED      /* widths chosen on other functions: no regret bound, least regret measured */
} tacet_local_parameters;
enum { TACET_LOCAL_LADDER = 5 }; /* rungs of the ladder of lengthscales: 1/4, 1/2, 1, 2, 4 of the given one */

/* A value that is public already: of an evaluation before the study. */
typedef struct tacet_local_earlier {
    size_t arm;
    double value; /* in the rewards' units; it weighs as much as one report */
} tacet_local_earlier;

typedef struct tacet_local_settings {
    tacet_local_algorithm algorithm;   /* default UCB */
    tacet_local_parameters parameters; /* default TIGHT */
    const tacet_ldp *ldp; /* the devices' randomiser, copied; NULL: reports are bare rewards, nothing is private */
    double bound;         /* B > 0: of |f - mean|_H; no default */
    double noise_bound;   /* R >= 0: |y - f| <= R before randomising; default 0 */
    double noise_var;     /* variance of y - f before randomising; default NaN: noise_bound^2. Without ldp: the second
                             moment of heavy tails */
    double mean;          /* prior mean; default 0 */
    double delta;         /* the widths hold with probability 1 - delta; default 0.1 */
    double lambda;        /* regularisation; default 0: the parameters' own choice */
    size_t lanes;         /* MoMA: k; default 0: the parameters' own choice */
    double accuracy;      /* Nyström: epsilon in (0, 1); default 0.1 */
    uint64_t seed;        /* Nyström: public coins of the dictionary; default 0 */
    size_t ladder; /* UCB over SE or Matérn kernels: lengthscales averaged over, 1 or TACET_LOCAL_LADDER. Default 0: the
                      ladder for tuned parameters, 1 for the others, whose widths are proven for one kernel */
    size_t horizon;                     /* T: rounds at the most; no default */
    const tacet_local_earlier *earlier; /* borrowed by create; UCB and TGP without proven widths. Default none */
    size_t earlier_count;
    double moment; /* alpha in (0, 1]: noise_var bounds E|y - f|^(1 + alpha), for rewards whose variance is infinite
                      (moma without ldp). Default 1 */
    /* tgp without ldp: P(|y - f| > x) <= tail_a exp(-tail_b x^(1/theta)), and reports are truncated where that is 1/t
     * instead of at t^1/4. Default theta 0: nothing is known of the tails but noise_var. */
    double theta, tail_a, tail_b;
    bool eager; /* ata: dictionary, roots and sums anew at every report, as the paper prints it; default false */
} tacet_local_settings;

TACET_API void tacet_local_settings_defaults(tacet_local_settings *settings);

/* Several tickets may be open at a time; MoMA begins an epoch (a new arm, played k times) only when the one before is
 * reported in full (STATE). A report that the randomiser cannot give is INVALID. The covariance is read once. INVALID:
 * settings out of range; UCB with tight parameters and a randomiser without a sub-Gaussian proxy
 * (Laplace). NUMERIC, NO_MEMORY, OVERFLOW as tacet_arms_create. */
TACET_API tacet_status tacet_local_create(tacet_policy **out, const tacet_local_settings *settings,
                                          const tacet_cov_spec *cov, const double *X, size_t ldx, size_t n,
                                          tacet_error *err);
#ifdef __cplusplus
}
#endif
#endif
