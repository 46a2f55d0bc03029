/* SPDX-License-Identifier: Apache-2.0 */
/* person.h - what several rounds of one person cost together. Ring: open. */
#pragma once

/* eps at the same delta of k rounds, each of which costs (eps, delta) alone, in one study: pure eps adds up; of a
 * Gaussian the means do (src/central/README.md, group privacy of a Gaussian stream: mu_k = k mu). Infinity: none below
 * 1e6. */
double tacet__eps_of_rounds(double eps, double delta, double k);
/* What a round may cost so that k of them cost (eps, delta). 0: there is no such eps, because noise for (0, delta) lets
 * k rounds cost more. */
double tacet__eps_of_a_round(double eps, double delta, double k);
/* The same where some releases have l2 noise, each of which costs a record at most `pure` with delta = 0: the dearest
 * way to spread k rounds over them and the Gaussian ones, which may be chosen by earlier releases. pure = 0: all are
 * Gaussian. */
double tacet__eps_of_mixed_rounds(double eps, double delta, double pure, unsigned k);
