/* SPDX-License-Identifier: Apache-2.0 */
/* select.h - the price of choosing the best of several private runs (tuning): itself a release.
 *
 * Run a private mechanism K times on the same data and show the best outcome only. With a fixed K that costs K times;
 * with a random K, drawn before anything is run and kept secret, it costs about two or three times, whatever the mean
 * of K (Liu, Talwar 2019; Papernot, Steinke 2022). K is truncated negative binomial: eta = 1 geometric, eta = 0
 * logarithmic. Pure functions. src/dp/open/select.md. */
#ifndef TACET_DP_OPEN_SELECT_H
#define TACET_DP_OPEN_SELECT_H

#include <tacet/core/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tacet_select {
    double eta;        /* in [0, 10] */
    double gamma;      /* of the law of K, so that its mean is what was asked for */
    double runs;       /* mean of K */
    double eps, delta; /* of the whole choice, rounded up */
} tacet_select;

/* The law of K with this mean, >= 1 … 1e9. INVALID. */
TACET_API tacet_status tacet_select_law(tacet_select *out, double eta, double runs, tacet_error *err);
/* Each run has pure eps: (2 + eta) eps. INVALID. */
TACET_API tacet_status tacet_select_pure(tacet_select *law, double eps, tacet_error *err);
/* Each run has rho-zCDP: eps at this delta, by Renyi orders. INVALID. */
TACET_API tacet_status tacet_select_zcdp(tacet_select *law, double rho, double delta, tacet_error *err);
/* E x^K, 0 <= x <= 1. */
TACET_API double tacet_select_generating(const tacet_select *law, double x);

#ifdef __cplusplus
}
#endif
#endif
