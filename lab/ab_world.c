/* SPDX-License-Identifier: Apache-2.0 */
/* ab_world.c - worlds of A/B logs, from action effects alone to independent cells. Ring: none; made-up data only. */
#include "ab_world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char LAB_AB_WORLDS[] = "main ind cols sparse skew low half null revenue";

static const double MONEY_MOST = 500; /* nobody spends more */
static const double SPEND_SD = 0.8;   /* of the logarithm of what is spent */

static double normal(tacet_simrng *rng, double sd) {
    return sd * tacet_simrng_normal(rng);
}

static double within(double x, double low, double high) {
    return fmin(fmax(x, low), high);
}

/* How common the levels of a column are. */
static void level_shares(double *out, size_t n) {
    static const double six[] = {.35, .25, .18, .12, .07, .03}, three[] = {.6, .3, .1};
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        out[i] = n == 6 ? six[i] : n == 3 ? three[i] : n == 4 ? 0.25 : pow((double)(i + 1), -0.7);
        sum += out[i];
    }
    for (size_t i = 0; i < n; i++) {
        out[i] /= sum;
    }
}

static size_t level_of(const lab_ab_world *w, size_t c, size_t j) {
    for (size_t k = 0; k < j; k++) {
        c /= w->levels[k]; /* NOLINT(clang-analyzer-core.DivideZero): a column has levels */
    }
    return c % w->levels[j];
}

/* Effects of actions, of each column, of action x column and of the cell, by their standard deviations. */
static void effects(double *out, const lab_ab_world *w, double action, double column, double crossed, double cell,
                    tacet_simrng *rng) {
    const size_t K = w->A * w->C;
    double *own = calloc(w->A * w->C + w->A + w->C, sizeof *own);
    if (own == NULL) {
        return;
    }
    for (size_t a = 0; a < w->A; a++) {
        own[a] = normal(rng, action);
    }
    for (size_t i = 0; i < K; i++) {
        out[i] = own[i % w->A];
    }
    for (size_t j = 0; j < w->columns; j++) {
        for (size_t l = 0; l < w->levels[j]; l++) {
            own[l] = normal(rng, column);
        }
        for (size_t i = 0; i < K; i++) {
            out[i] += own[level_of(w, i / w->A, j)];
        }
        for (size_t k = 0; k < w->A * w->levels[j]; k++) {
            own[k] = normal(rng, crossed);
        }
        for (size_t i = 0; i < K; i++) {
            out[i] += own[level_of(w, i / w->A, j) * w->A + i % w->A];
        }
    }
    for (size_t i = 0; i < K; i++) {
        out[i] += normal(rng, cell);
    }
    free(own);
}

/* E min(x, M), log x normal with sd s about log k: k e^(s^2/2) Phi((ln(M/k) - s^2)/s) + M Phi(-ln(M/k)/s). */
void lab_ab_world_cut(lab_ab_world *w, double top) {
    const double M = fmin(top, MONEY_MOST), s = SPEND_SD;
    for (size_t i = 0; i < w->A * w->C; i++) {
        const double k = w->spend[i % w->A], l = log(M / k);
        w->mean[i] = w->convert[i] *
                     (k * exp(.5 * s * s) * .5 * erfc(-(l - s * s) / s / sqrt(2)) + M * .5 * erfc(l / s / sqrt(2)));
    }
}

static bool fill(lab_ab_world *w, const char *name, tacet_simrng *rng) {
    const size_t K = w->A * w->C;
    const double root = sqrt((double)(w->columns > 0 ? w->columns : 1));
    double *m = w->mean;
    if (strcmp(name, "ind") == 0 || strcmp(name, "skew") == 0) {
        for (size_t i = 0; i < K; i++) {
            m[i] = 0.02 + 0.04 * tacet_simrng_uniform(rng);
        }
        for (size_t i = 0; i < K && name[0] == 's'; i++) {
            w->logged[i] = exp(normal(rng, 1));
        }
    } else if (strcmp(name, "main") == 0 || strcmp(name, "cols") == 0) {
        effects(m, w, name[0] == 'm' ? .2 : .15, name[0] == 'm' ? .25 / root : .15, name[0] == 'm' ? 0 : .15,
                name[0] == 'm' ? .08 : .03, rng);
        for (size_t i = 0; i < K; i++) {
            m[i] = within(.035 * exp(m[i]), .005, .2);
        }
    } else if (strcmp(name, "sparse") == 0) {
        effects(m, w, 0, .2 / root, 0, 0, rng);
        for (size_t i = 0; i < K; i++) {
            m[i] = .03 * exp(m[i]) * (tacet_simrng_uniform(rng) < .1 ? 1.8 : 1);
        }
    } else if (strcmp(name, "null") == 0) {
        for (size_t i = 0; i < K; i++) {
            m[i] = .04;
        }
    } else if (strcmp(name, "low") == 0) {
        effects(m, w, .3, .3 / root, .2 / root, 0, rng);
        for (size_t i = 0; i < K; i++) {
            m[i] = within(.005 * exp(m[i]), .0005, .05);
        }
    } else if (strcmp(name, "half") == 0) {
        effects(m, w, .04, .25 * .15, .25 * .15, .01, rng);
        for (size_t i = 0; i < K; i++) {
            m[i] = within(.5 + m[i], .05, .95);
        }
    } else if (strcmp(name, "revenue") == 0) {
        effects(m, w, .2, .25 / root, .15 / root, 0, rng);
        w->money = true;
        for (size_t a = 0; a < w->A; a++) {
            w->spend[a] = 40 * exp(normal(rng, .1));
        }
        for (size_t i = 0; i < K; i++) {
            w->convert[i] = within(.03 * exp(m[i]), .003, .2);
        }
        lab_ab_world_cut(w, MONEY_MOST);
    } else {
        return false;
    }
    return true;
}

tacet_status lab_ab_world_make(lab_ab_world *w, const char *name, size_t actions, const size_t *levels, size_t columns,
                               tacet_simrng *rng, tacet_error *err) {
    memset(w, 0, sizeof *w);
    w->A = actions;
    w->C = 1;
    w->columns = columns;
    if (actions == 0) {
        return tacet_error_set(err, TACET_INVALID, "a world has actions");
    }
    for (size_t j = 0; j < columns; j++) {
        w->levels[j] = levels[j];
        w->C *= levels[j];
    }
    const size_t K = w->A * w->C;
    double *shares = calloc(w->C, sizeof *shares);
    w->mean = calloc(K, sizeof *w->mean);
    w->convert = calloc(K, sizeof *w->convert);
    w->logged = calloc(K, sizeof *w->logged);
    w->spend = calloc(w->A, sizeof *w->spend);
    w->q = calloc(w->C, sizeof *w->q);
    if (shares == NULL || w->mean == NULL || w->convert == NULL || w->logged == NULL || w->spend == NULL ||
        w->q == NULL) {
        free(shares);
        lab_ab_world_clear(w);
        return tacet_error_set(err, TACET_NO_MEMORY, "out of memory for a world");
    }
    for (size_t c = 0; c < w->C; c++) {
        w->q[c] = 1;
    }
    for (size_t j = 0; j < columns; j++) {
        level_shares(shares, levels[j]);
        for (size_t c = 0; c < w->C; c++) {
            w->q[c] *= shares[level_of(w, c, j)];
        }
    }
    for (size_t i = 0; i < K; i++) {
        w->logged[i] = 1;
    }
    free(shares);
    if (!fill(w, name, rng)) {
        lab_ab_world_clear(w);
        return tacet_error_set(err, TACET_INVALID, "--world is one of %s", LAB_AB_WORLDS);
    }
    for (size_t c = 0; c < w->C; c++) {
        double sum = 0;
        for (size_t a = 0; a < w->A; a++) {
            sum += w->logged[c * w->A + a];
        }
        for (size_t a = 0; a < w->A; a++) {
            w->logged[c * w->A + a] /= sum;
        }
    }
    return TACET_OK;
}

void lab_ab_world_clear(lab_ab_world *w) {
    free(w->mean);
    free(w->convert);
    free(w->logged);
    free(w->spend);
    free(w->q);
    memset(w, 0, sizeof *w);
}

static size_t pick(tacet_simrng *rng, const double *shares, size_t n) {
    double left = tacet_simrng_uniform(rng);
    for (size_t i = 0; i + 1 < n; i++) {
        left -= shares[i];
        if (left < 0) {
            return i;
        }
    }
    return n - 1;
}

lab_ab_row lab_ab_world_row(const lab_ab_world *w, tacet_simrng *rng) {
    lab_ab_row row = {.context = pick(rng, w->q, w->C)};
    row.action = pick(rng, w->logged + row.context * w->A, w->A);
    const size_t i = row.context * w->A + row.action;
    const bool converts = tacet_simrng_uniform(rng) < (w->money ? w->convert[i] : w->mean[i]);
    row.reward = !converts ? 0 : w->money ? fmin(w->spend[row.action] * exp(normal(rng, SPEND_SD)), MONEY_MOST) : 1;
    return row;
}
