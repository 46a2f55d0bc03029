/* SPDX-License-Identifier: Apache-2.0 */
/* card.c - a card written, read, and used: features by plain loops in a fixed order, scores, and the order of a round's
 * directions for a record. Ring: shared; part of libtacet-device. Source: statistics_model.h and
 * central/open/learner.c, of which this is the devices' half. Differs: an upper confidence bound of the logit ranks
 * arms as the learner's score does, which is a rising function of it. What the device sends is eps whatever a card
 * holds (src/dp/mechanisms/sphere.md). Cost: features O(nodes (d + features)); a score O(features^2) more. */
#include "local/shared/ldp.h"
#include "local/shared/card.h"

#include "central/shared/embed.h"
#include "core/codec.h"
#include "core/fail.h"
#include "core/memory.h"
#include "gp/vexp.h"

#include <math.h>
#include <sodium.h>
#include <stdlib.h>

enum { VERSION = 1, DIMS_MOST = 16, FEATURES_MOST = 200, NODES_MOST = 4096, TERMS_MOST = 11, ARRAYS = 9 };
static const char NAME[] = "statistics-card";
static const double FAR = 1000; /* e^-s is 0 there; keeps a polynomial finite */

/* The arrays in the order in which they are stored, and their lengths. */
static size_t arrays_of(tacet_statistics_card *c, const double **at[ARRAYS], size_t length[ARRAYS]) {
    const size_t d = c->d, n = c->nodes, m = c->features;
    const double **all[ARRAYS] = {&c->lower, &c->upper, &c->inverse, &c->levels, &c->matern,
                                  &c->Z,     &c->A,     &c->theta,   &c->cov};
    const size_t lengths[ARRAYS] = {d, d, d, d, c->terms, d * n, n * m, m + 1, (m + 1) * (m + 2) / 2};
    size_t sum = 0;
    for (size_t i = 0; i < ARRAYS; i++) {
        at[i] = all[i];
        length[i] = lengths[i];
        sum += lengths[i];
    }
    return sum;
}

tacet_status tacet__statistics_card_write(const tacet_statistics_card *card, double eps, tacet_blob *out,
                                          tacet_error *err) {
    tacet_statistics_card c = *card;
    const double **at[ARRAYS];
    size_t length[ARRAYS];
    tacet__writer w;
    (void)arrays_of(&c, at, length);
    tacet__write_begin(&w, out, NAME, VERSION);
    const size_t counts[] = {c.d, c.features, c.released, c.nodes, c.terms, c.minimize, c.informed};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        tacet__write_size(&w, counts[i]);
    }
    tacet__write_u64(&w, c.sphere.seed);
    const double numbers[] = {c.lo, c.hi, eps, c.width};
    tacet__write_f64s(&w, numbers, sizeof numbers / sizeof numbers[0]);
    for (size_t i = 0; i < ARRAYS; i++) {
        tacet__write_f64s(&w, *at[i], length[i]);
    }
    return tacet__write_end(&w, err);
}

/* Finite numbers, a box, and lengthscales: nothing else can hurt more than the study's own learning. */
static bool sensible(const tacet_statistics_card *c, size_t count) {
    bool good = isfinite(c->width);
    for (size_t i = 0; i < count; i++) {
        good = good && isfinite(c->numbers[i]);
    }
    for (size_t i = 0; i < c->d; i++) {
        good = good && c->lower[i] < c->upper[i] && c->inverse[i] > 0 && c->levels[i] >= 0 && c->levels[i] <= 1e6;
    }
    return good;
}

tacet_status tacet_statistics_card_open(tacet_statistics_card **out, const void *bytes, size_t size, tacet_error *err) {
    tacet_statistics_card head = {0};
    tacet__reader r;
    const double **at[ARRAYS];
    size_t length[ARRAYS];
    tacet_ldp ldp;
    *out = NULL;
    TACET_OR_RETURN(tacet__read_begin(&r, bytes, size, NAME, VERSION, err));
    head.d = tacet__read_size(&r, DIMS_MOST);
    head.features = tacet__read_size(&r, FEATURES_MOST);
    head.released = tacet__read_size(&r, FEATURES_MOST);
    head.nodes = tacet__read_size(&r, NODES_MOST);
    head.terms = tacet__read_size(&r, TERMS_MOST);
    head.minimize = tacet__read_size(&r, 1) != 0;
    head.informed = tacet__read_size(&r, 1) != 0;
    const uint64_t seed = tacet__read_u64(&r);
    head.lo = tacet__read_f64(&r);
    head.hi = tacet__read_f64(&r);
    const double eps = tacet__read_f64(&r);
    head.width = tacet__read_f64(&r);
    if (r.failed || head.d == 0 || head.released == 0 || head.released > head.features ||
        tacet_ldp_init(&ldp, TACET_LDP_SPHERE, eps, head.lo, head.hi, NULL) != TACET_OK) {
        return tacet__fail(err, TACET_CORRUPT, "this is no card of a study");
    }
    head.sphere = (tacet_sphere){.ldp = ldp, .dim = 2 * head.released, .seed = seed};
    const size_t count = arrays_of(&head, at, length);
    tacet_statistics_card *card = malloc(sizeof head + count * sizeof(double));
    if (card == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a card");
    }
    *card = head;
    (void)arrays_of(card, at, length);
    double *numbers = card->numbers;
    for (size_t i = 0; i < ARRAYS; i++) {
        tacet__read_f64s(&r, numbers, length[i]);
        *at[i] = numbers;
        numbers += length[i];
    }
    if (tacet__read_end(&r, err) != TACET_OK || !sensible(card, count)) {
        free(card);
        return tacet__fail(err, TACET_CORRUPT, "the card holds impossible numbers");
    }
    *out = card;
    return TACET_OK;
}

void tacet_statistics_card_free(tacet_statistics_card *card) {
    free(card);
}

size_t tacet_statistics_card_dim(const tacet_statistics_card *card) {
    return card->d;
}

const tacet_ldp *tacet_statistics_card_ldp(const tacet_statistics_card *card) {
    return &card->sphere.ldp;
}

/* Coordinate i within the box, at its nearest level; NaN: the middle. */
static double clipped(const tacet_statistics_card *c, size_t i, double x) {
    const double lo = c->lower[i], hi = c->upper[i], steps = c->levels[i] - 1;
    const double v = isnan(x) ? lo + (hi - lo) / 2 : fmin(fmax(x, lo), hi);
    return steps >= 1 ? lo + (hi - lo) * floor((v - lo) / (hi - lo) * steps + 0.5) / steps : v;
}

static double correlation(const tacet_statistics_card *c, double r2) {
    if (c->terms == 0) {
        return tacet__vexp(-0.5 * r2);
    }
    const double s = fmin(sqrt((2.0 * (double)c->terms - 1) * r2), FAR);
    double value = 0;
    for (size_t i = c->terms; i > 0; i--) {
        value = value * s + c->matern[i - 1];
    }
    return fmin(value * tacet__vexp(-s), 1);
}

/* All features of a point. `at`: d numbers of work. */
static void features_of(const tacet_statistics_card *c, double *phi, double *at, const double *x) {
    for (size_t i = 0; i < c->d; i++) {
        at[i] = clipped(c, i, x[i]);
    }
    for (size_t i = 0; i < c->features; i++) {
        phi[i] = 0;
    }
    for (size_t j = 0; j < c->nodes; j++) {
        double r2 = 0;
        for (size_t i = 0; i < c->d; i++) {
            const double t = (c->Z[i * c->nodes + j] - at[i]) * c->inverse[i];
            r2 += t * t;
        }
        const double k = correlation(c, r2);
        for (size_t i = 0; i < c->features; i++) {
            phi[i] += c->A[i * c->nodes + j] * k;
        }
    }
}

/* Mean and variance of the logit of the reward, as mean + width sd. */
static double score(const tacet_statistics_card *c, const double *phi) {
    const size_t m = c->features;
    const double *column = c->cov;
    double mean = c->theta[0], var = 0;
    for (size_t j = 0; j <= m; j++) {
        const double own = j == 0 ? 1 : phi[j - 1];
        mean += j == 0 ? 0 : c->theta[j] * own;
        var += own * own * *column++;
        for (size_t i = j + 1; i <= m; i++) {
            var += 2 * own * phi[i - 1] * *column++;
        }
    }
    return mean + c->width * sqrt(fmax(var, 0));
}

tacet_status tacet_statistics_card_choose(const tacet_statistics_card *c, size_t *out, tacet_simrng *coin,
                                          const double *X, size_t ldx, size_t n, tacet_error *err) {
    *out = 0;
    if (!c->informed) {
        *out = tacet_simrng_below(coin, n);
        return TACET_OK;
    }
    double *phi = TACET__ZALLOC(double, c->features + c->d);
    if (phi == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a choice");
    }
    double top = -INFINITY;
    for (size_t j = 0; j < n; j++) {
        features_of(c, phi, phi + c->features, X + j * ldx);
        const double own = score(c, phi);
        if (own > top) {
            top = own;
            *out = j;
        }
    }
    sodium_memzero(phi, (c->features + c->d) * sizeof(double));
    free(phi);
    return TACET_OK;
}

size_t tacet__statistics_card_work(const tacet_statistics_card *c) {
    return 2 * (c->sphere.dim + 1) + c->sphere.ldp.cells + c->sphere.dim + c->features + c->d;
}

void tacet__statistics_card_order(const tacet_statistics_card *c, uint32_t *order, double *work, uint64_t round,
                                  const double *x, double reward) {
    double *record = work + 2 * (c->sphere.dim + 1) + c->sphere.ldp.cells, *phi = record + c->sphere.dim;
    features_of(c, phi, phi + c->features, x);
    /* What is learnt is always maximized. */
    tacet__embed(record, phi, c->released, c->minimize ? -reward : reward, c->minimize ? -c->hi : c->lo,
                 c->minimize ? -c->lo : c->hi);
    tacet_sphere_order(&c->sphere, order, work, round, record);
    sodium_memzero(record, (c->sphere.dim + c->features + c->d) * sizeof(double));
}
