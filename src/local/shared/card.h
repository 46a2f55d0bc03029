/* SPDX-License-Identifier: Apache-2.0 */
/* card.h - the inside of a card: how the collector writes one, and what a device makes of a record. Ring: shared. */
#pragma once

#include <tacet/core/blob.h>
#include <tacet/local/shared/card.h>

struct tacet_statistics_card {
    size_t d, features, released, nodes;
    size_t terms;            /* coefficients of a Matérn kernel; 0: squared exponential */
    bool minimize, informed; /* informed: theta, cov and width score arms */
    double lo, hi;           /* of rewards, as devices see them */
    double width;
    tacet_sphere sphere;         /* without its gain, which collectors use */
    const double *lower, *upper; /* d each */
    const double *inverse;       /* d: one over the lengthscales */
    const double *levels;        /* d: values of a coordinate, 0: any */
    const double *matern;        /* terms: e^-s sum_j matern[j] s^j, s = sqrt(2 terms - 1) r */
    const double *Z;             /* nodes of each coordinate, coordinate after coordinate */
    const double *A;             /* nodes x features */
    const double *theta;         /* features + 1: the level first */
    const double *cov;           /* its lower triangle, column after column */
    double numbers[];            /* of all of them; in a card that is written: none */
};

tacet_status tacet__statistics_card_write(const tacet_statistics_card *card, double eps, tacet_blob *out,
                                          tacet_error *err);
/* The directions of a round from the nearest to the record (x, reward) to the farthest: ldp.cells numbers. Wipes
 * `work`: tacet__statistics_card_work() numbers. */
void tacet__statistics_card_order(const tacet_statistics_card *card, uint32_t *order, double *work, uint64_t round,
                                  const double *x, double reward);
size_t tacet__statistics_card_work(const tacet_statistics_card *card);
