/* SPDX-License-Identifier: Apache-2.0 */
/* width.c - confidence widths and truncation levels of the local model's learners.
 * Ring: open. Source: Zhou and Tan 2020, Theorems 2 to 4 and Corollary 1; Chowdhury and Gopalan 2019, Theorem 2.
 * Differs: src/local/README.md, errata 4 to 9 and 15, and the width of GP-UCB, which is proved there.
 * Cost: O(1). */
#include "local/open/internal.h"

#include <math.h>

static const double PI = 3.14159265358979323846;

double tacet__local_lambda(const tacet__local *p) {
    const double B = p->s.bound;
    if (p->s.lambda > 0) {
        return p->s.lambda;
    }
    if (p->s.algorithm == TACET_LOCAL_UCB) {
        const double noise = p->s.parameters == TACET_LOCAL_TIGHT ? p->proxy : p->c;
        return noise > 0 ? noise / (B * B) : 1e-6;
    }
    const bool plain = p->s.parameters == TACET_LOCAL_LITERAL || p->s.parameters == TACET_LOCAL_ORDERWISE;
    return plain || !(p->c > 0) ? 1 : pow(p->c, 2 / (1 + p->s.moment)) / (B * B);
}

double tacet__local_q(const tacet__local *p) {
    const double e = p->s.accuracy;
    return 6 * (1 + e) / (1 - e) * log(4 * (double)p->s.horizon / p->s.delta) / (e * e);
}

/* Lanes: see errata 6 to 8. */
size_t tacet__local_lanes(const tacet__local *p) {
    if (p->s.algorithm != TACET_LOCAL_MOMA) {
        return 1;
    }
    const double T = (double)p->s.horizon;
    const double theorem = log(4 * T / p->s.delta) + 1; /* ln(4 e T / delta) */
    double k = 10;
    switch (p->s.parameters) {
    case TACET_LOCAL_LITERAL:
        k = ceil(24 * theorem);
        break;
    case TACET_LOCAL_TIGHT:
        k = ceil(8 * theorem);
        break;
    case TACET_LOCAL_ORDERWISE:
        k = fmax(ceil(log(T)), 1);
        break;
    case TACET_LOCAL_TUNED:
        break;
    }
    return p->s.lanes > 0 ? p->s.lanes : (size_t)k;
}

/* Srinivas et al. 2010, Theorem 1, for a prior of variance B^2. */
static double bayesian(const tacet__local *p, size_t t) {
    return p->s.bound * sqrt(2 * (log((double)p->n) + 2 * log((double)t) + log(PI * PI / (6 * p->s.delta))));
}

/* Tight: half of delta here, half for the arms' own means. Tuned: a share of a Bayesian width, without a proof. */
double tacet__local_beta_ucb(const tacet__local *p, size_t t, double gamma) {
    const double B = p->s.bound, ratio = p->proxy / p->s.lambda;
    return p->s.parameters == TACET_LOCAL_TIGHT ? sqrt(B * B + 2 * ratio * (gamma + log(2 / p->s.delta)))
                                                : 0.3 * bayesian(p, t);
}

/* Robbins' Gaussian mixture: |sum| <= sqrt(s (N + rho) (ln((N + rho)/rho) + 2 ln(1/delta'))) for all N at once,
 * delta' = delta/(2 n). rho makes it sharpest at a tenth of the horizon. */
double tacet__local_arm_radius(const tacet__local *p, double count) {
    if (!(count > 0)) {
        return (double)INFINITY;
    }
    const double l = 2 * log(2 * (double)p->n / p->s.delta);
    const double rho = 0.1 * (double)p->s.horizon / (l + log(1 + l)) + 1;
    return sqrt(p->proxy * (count + rho) * (log1p(count / rho) + l)) / count;
}

/* Level above which a report is taken for noise: |f| + R, and a tail that the noise passes with probability 1/t. */
double tacet__local_level_tgp(const tacet__local *p, size_t t) {
    const double base = p->s.bound + p->s.noise_bound;
    const double log_t = log((double)t);
    if (p->s.ldp == NULL && p->s.theta > 0) {
        return p->s.bound + pow(fmax(log_t + log(p->s.tail_a), 0) / p->s.tail_b, p->s.theta);
    }
    if (p->s.ldp == NULL) {
        return sqrt(p->v) * sqrt(sqrt((double)t)); /* heavy tails: b_t = v^1/2 t^1/4 */
    }
    if (p->tail > 0) {
        return base + p->tail * log_t;
    }
    return p->reach;
}

double tacet__local_beta_tgp(const tacet__local *p, size_t t, double gamma) {
    const double B = p->s.bound;
    const double root = sqrt(p->s.lambda);
    if (t <= 1) {
        return B; /* nothing observed: |f| <= B sigma_0 */
    }
    const double past = (double)(t - 1);
    const double b = tacet__local_level_tgp(p, t - 1);
    /* What truncation takes from the mean, in the norm of the data (Cauchy-Schwarz round by round). */
    double bias = 0;
    if (p->s.ldp == NULL && !(p->s.theta > 0)) {
        bias = sqrt(2 * p->v * sqrt(past));
    } else if (p->s.ldp == NULL || p->tail > 0) {
        bias = sqrt(p->v * (log(past) + 1));
    }
    double beta_t = 0;
    switch (p->s.parameters) {
    case TACET_LOCAL_LITERAL:
    case TACET_LOCAL_TUNED:
        beta_t = B + (2 * sqrt(2) * b * sqrt(gamma + log(1 / p->s.delta)) + bias) / root;
        beta_t *= p->s.parameters == TACET_LOCAL_TUNED ? 0.03 : 1;
        break;
    case TACET_LOCAL_TIGHT:
        beta_t = B + (sqrt(2) * b * sqrt(gamma + log(PI * PI * past * past / (6 * p->s.delta))) + bias) / root;
        break;
    case TACET_LOCAL_ORDERWISE:
        beta_t = B + b * sqrt(log((double)t));
        break;
    }
    return beta_t;
}

static double log_ata(const tacet__local *p, size_t m) {
    const double T = (double)p->s.horizon;
    return p->s.parameters == TACET_LOCAL_ORDERWISE ? log(((double)m + 1) * T)
                                                    : log(4 * fmax((double)m, 1) * T / p->s.delta);
}

double tacet__local_level_ata(const tacet__local *p, size_t m) {
    return sqrt(p->v / log_ata(p, m));
}

/* B (1 + (1 - accuracy)^-1/2): what the embedding loses. */
static double embedded(const tacet__local *p) {
    return p->s.bound * (1 + 1 / sqrt(1 - p->s.accuracy));
}

double tacet__local_beta_ata(const tacet__local *p, size_t m) {
    const double spread = log_ata(p, m) * p->v * (double)m;
    double beta_t = 0;
    switch (p->s.parameters) {
    case TACET_LOCAL_LITERAL:
    case TACET_LOCAL_TIGHT:
    case TACET_LOCAL_TUNED:
        beta_t = embedded(p) + 4 * sqrt(spread / p->s.lambda);
        beta_t *= p->s.parameters == TACET_LOCAL_TUNED ? 0.03 : 1;
        break;
    case TACET_LOCAL_ORDERWISE:
        beta_t = p->s.bound + sqrt(spread);
        break;
    }
    return beta_t;
}

/* Each of the k estimates is within (9 m c)^(1/(1 + alpha)) n^((1 - alpha)/(2 (1 + alpha))) with probability 3/4. */
double tacet__local_beta_moma(const tacet__local *p, size_t m, uint64_t epochs) {
    const double power = 1 / (1 + p->s.moment);
    const double mc = pow((double)m * p->c, power) * pow((double)epochs, (1 - p->s.moment) * power / 2);
    double beta_t = 0;
    switch (p->s.parameters) {
    case TACET_LOCAL_LITERAL:
    case TACET_LOCAL_TIGHT:
    case TACET_LOCAL_TUNED:
        beta_t = embedded(p) + 3 * pow(9, power) * mc / sqrt(p->s.lambda);
        beta_t *= p->s.parameters == TACET_LOCAL_TUNED ? 0.01 : 1;
        break;
    case TACET_LOCAL_ORDERWISE:
        beta_t = p->s.bound + mc;
        break;
    }
    return beta_t;
}
