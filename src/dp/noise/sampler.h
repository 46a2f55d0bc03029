/* SPDX-License-Identifier: Apache-2.0 */
/* sampler.h - exact draws: every outcome is decided by uniform random bits and integer arithmetic.
 * Ring: gate. Proofs: src/dp/noise/README.md.
 *
 * Real-valued draws lie on a public grid: out[i] is a whole multiple of 2^grid_exponent, exactly. The scale (sigma, b,
 * theta) may be any finite double > 0 with 2^-10 <= scale / 2^grid_exponent < 2^41, and -1074 <= grid_exponent <= 970.
 * INVALID: anything else, nothing drawn. NUMERIC: the draw needs a value beyond 64 sigma or 192 b, or more digits than
 * there is room for (probability below 2^-256 a draw); then every out[i] is 0, and the caller must not release them.
 * No heap use except where said. One thread at a time per noise. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tacet/dp/noise.h>

uint64_t tacet__noise_u64(tacet_noise *noise);
/* Uniform in {0, …, n-1}; n > 0 (0 gives 0). */
uint64_t tacet__noise_below(tacet_noise *noise, uint64_t n);
/* True with probability p/q; 0 <= p, 0 < q; p >= q is always true. */
bool tacet__bernoulli(tacet_noise *noise, uint64_t p, uint64_t q);
/* True with probability exp(-a/b); b > 0. */
bool tacet__bernoulli_exp(tacet_noise *noise, uint64_t a, uint64_t b);

/* The largest power of two at most scale / 2^bits: the exponent of the grid that goes with a scale. scale finite and
 * > 0, bits <= 40; DRAW_GRID_BITS unless there is a reason. */
enum { DRAW_GRID_BITS = 20 };
int tacet__grid_exponent(double scale, unsigned bits);

/* The nearest multiples of the grid to independent reals of N(0, sigma^2). */
tacet_status tacet__draw_gaussian(tacet_noise *noise, double *out, size_t count, double sigma, int grid_exponent,
                                  tacet_error *err);
/* The nearest multiples of the grid to independent reals of the density exp(-|x|/b) / 2b. */
tacet_status tacet__draw_laplace(tacet_noise *noise, double *out, size_t count, double b, int grid_exponent,
                                 tacet_error *err);
/* Multiples k of the grid g with probability proportional to exp(-|k| g / b). */
tacet_status tacet__draw_discrete_laplace(tacet_noise *noise, double *out, size_t count, double b, int grid_exponent,
                                          tacet_error *err);
/* The nearest grid points (each coordinate for itself) of ONE real vector of R^count with density proportional to
 * exp(-|v|_2 / theta): radius Gamma(count, theta), uniform direction. Allocates its working space: NO_MEMORY. */
tacet_status tacet__draw_knorm(tacet_noise *noise, double *out, size_t count, double theta, int grid_exponent,
                               tacet_error *err);
/* `rows` such vectors, one after the other in `out`: the same numbers as by so many calls. */
tacet_status tacet__draw_knorm_rows(tacet_noise *noise, double *out, size_t rows, size_t count, double theta,
                                    int grid_exponent, tacet_error *err);
/* The same with only the first `bits` digits of a place in a strip (0 to DRAFT_HEAD_BITS) known to the floating-point
 * filter, for tests: the same law, and 0 decides everything by exact arithmetic. */
tacet_status tacet__draw_knorm_filtered(tacet_noise *noise, double *out, size_t rows, size_t count, double theta,
                                        int grid_exponent, int bits, tacet_error *err);

/* tacet_randomize of any source: for audits, which look at reports that nobody gets. */
struct tacet_ldp;
tacet_status tacet__randomize(tacet_noise *noise, double *out, const struct tacet_ldp *ldp, double value,
                              tacet_error *err);

/* Chooses one of `count` candidates by whole-numbered scores whose sensitivity is `sensitivity` units, with pure eps:
 * permute-and-flip (needs `scratch`, of `count` places) and the exponential mechanism. Coins have the exponent
 * (best - score) eps / (2 sensitivity), eps / (2 sensitivity) rounded down to 62 bits after the point or 63 significant
 * ones. INVALID: count = 0, eps not in (0, 2^60], sensitivity = 0, or eps / (2 sensitivity) below 2^-62. */
tacet_status tacet__permute_and_flip(tacet_noise *noise, size_t *out, size_t *scratch, const int64_t *scores,
                                     size_t count, double eps, uint64_t sensitivity, tacet_error *err);
tacet_status tacet__exponential_mechanism(tacet_noise *noise, size_t *out, const int64_t *scores, size_t count,
                                          double eps, uint64_t sensitivity, tacet_error *err);

/* One of k levels by exact k-ary randomised response: `level` comes out with probability e^eps/(e^eps + k - 1), eps
 * rounded down to 62 bits after the point, every other one with 1/(e^eps + k - 1). INVALID: k < 2, no such level, eps
 * not in (0, TACET__LEVEL_EPS_MOST]. */
enum { TACET__LEVEL_EPS_MOST = 1000 };
tacet_status tacet__draw_level(tacet_noise *noise, size_t *out, size_t level, size_t k, double eps, tacet_error *err);
