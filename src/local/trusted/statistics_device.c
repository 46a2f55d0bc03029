/* SPDX-License-Identifier: Apache-2.0 */
/* statistics_device.c - the device's half of local joint DP: the statistic of one round, with noise.
 * Ring: trusted. Source: Dubey (AISTATS 2021), Algorithm 3. Differs: two vectors are reported instead of a matrix and a
 * vector; the outer form is the paper's pair, but calibrated: the paper takes sensitivities element by element (Lemma
 * 5), which gives delta = 0.21 where 0.1 was asked for at eps = 10. Cost: one evaluation of the features, one draw a
 * number. */
#include "local/trusted/statistics_device.h"

#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "core/fail.h"
#include "gp/linalg.h"
#include "core/memory.h"

static const char PROOF[] = "src/central/README.md";

struct tacet_statistics_device {
    const tacet_central_map *map;   /* two vectors; NULL: outer form */
    const tacet_features *features; /* outer form */
    double reward_bound;
    size_t dim;
    tacet_bound *wide, *bound;
    tacet_mechanism *mechanism;
    tacet_raw *raw;
    tacet_bounded *bounded;
    double *record, *work; /* private */
    size_t work_count;
};

static tacet_status create(tacet_statistics_device **out, const tacet_statistics_device *seed, double radius,
                           double diameter, double eps, double delta, tacet_error *err) {
    *out = NULL;
    tacet_statistics_device *d = TACET__ZALLOC(tacet_statistics_device, 1);
    if (d == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "no memory for a device");
    }
    *d = *seed;
    const tacet_neighbours neighbours = {.relation = TACET_RELATION_REPLACE};
    d->record = TACET__ZALLOC(double, d->dim);
    d->work = TACET__ZALLOC(double, d->work_count);
    tacet_status status = d->record == NULL || d->work == NULL
                              ? tacet__fail(err, TACET_NO_MEMORY, "no memory for a device")
                              : tacet_bound_norm(&d->wide, d->dim, 1.001 * radius, err); /* never acts */
    if (status == TACET_OK) {
        status = tacet_bound_narrow(&d->bound, d->wide, diameter, PROOF, err);
    }
    if (status == TACET_OK) {
        status =
            tacet_mechanism_create(&d->mechanism, TACET_MECHANISM_GAUSSIAN, d->bound, &neighbours, eps, delta, err);
    }
    if (status == TACET_OK) {
        status = tacet_raw_create(&d->raw, d->dim, err);
    }
    if (status == TACET_OK) {
        status = tacet_bounded_create(&d->bounded, d->bound, err);
    }
    if (status != TACET_OK) {
        tacet_statistics_device_free(d);
        return status;
    }
    *out = d;
    return TACET_OK;
}

tacet_status tacet_statistics_device_create(tacet_statistics_device **out, const tacet_central_map *map, double eps,
                                            double delta, tacet_error *err) {
    if (out == NULL || map == NULL) {
        return tacet__fail(err, TACET_INVALID, "a device needs a map");
    }
    const tacet_statistics_device seed = {.map = map,
                                          .dim = tacet_central_map_dim(map),
                                          .work_count = tacet_features_dim(tacet_central_map_features(map)) +
                                                        tacet_central_map_domain(map)->d};
    return create(out, &seed, 1 + 1e-12, tacet_central_map_sensitivity(map), eps, delta, err);
}

tacet_status tacet_statistics_device_create_outer(tacet_statistics_device **out, const tacet_features *features,
                                                  double reward_bound, double eps, double delta, tacet_error *err) {
    if (out == NULL || features == NULL) {
        return tacet__fail(err, TACET_INVALID, "a device needs features");
    }
    *out = NULL;
    if (!(tacet_features_norm2_bound(features) <= 1)) {
        return tacet__fail(err, TACET_INVALID, "the report needs features of norm at most 1");
    }
    if (!(reward_bound > 0 && reward_bound <= 1e6)) {
        return tacet__fail(err, TACET_INVALID, "reward_bound must be above 0 and at most a million");
    }
    const size_t m = tacet_features_dim(features);
    const tacet_statistics_device seed = {
        .features = features, .reward_bound = reward_bound, .dim = m * (m + 1) / 2 + m, .work_count = m};
    /* (phi phi', y phi) and (psi psi', z psi): 2 - 2 c^2 + y^2 + z^2 - 2 y z c, c = <phi, psi> in [-1, 1], at most
     * 2 + 2 q + q^2/2 for q = B^2 <= 2, and 4 q above (y = -z = B, then the best c) */
    const double q = reward_bound * reward_bound;
    const double diameter = sqrt(q <= 2 ? 2 + 2 * q + q * q / 2 : 4 * q) * (1 + 1e-12);
    return create(out, &seed, sqrt(1 + q) * (1 + 1e-12), diameter, eps, delta, err);
}

void tacet_statistics_device_free(tacet_statistics_device *d) {
    if (d == NULL) {
        return;
    }
    tacet_bounded_free(d->bounded);
    tacet_raw_free(d->raw);
    tacet_mechanism_free(d->mechanism);
    tacet_bound_free(d->bound);
    tacet_bound_free(d->wide);
    if (d->record != NULL) {
        sodium_memzero(d->record, d->dim * sizeof(double));
    }
    if (d->work != NULL) {
        sodium_memzero(d->work, d->work_count * sizeof(double));
    }
    free(d->record);
    free(d->work);
    free(d);
}

double tacet_statistics_device_noise_var(const tacet_statistics_device *d) {
    const double sigma = tacet_mechanism_scale(d->mechanism);
    return sigma * sigma;
}

static void outer(tacet_statistics_device *d, const double *x, double y) {
    const size_t m = d->work_count;
    tacet_features_eval(d->features, d->work, x, tacet_features_inputs(d->features), 1);
    const double norm = tacet__norm2(d->work, m);
    const double scale = isfinite(norm) ? 1 / fmax(1, norm) : 0;
    const double reward = isnan(y) ? 0 : fmin(fmax(y, -d->reward_bound), d->reward_bound);
    for (size_t i = 0; i < m; i++) {
        d->work[i] = scale == 0 ? 0 : scale * d->work[i];
    }
    double *at = d->record;
    for (size_t j = 0; j < m; j++) {
        *at++ = d->work[j] * d->work[j];
        for (size_t i = j + 1; i < m; i++) {
            *at++ = sqrt(2) * d->work[i] * d->work[j];
        }
    }
    for (size_t i = 0; i < m; i++) {
        *at++ = reward * d->work[i];
    }
}

tacet_status tacet_statistics_device_report(tacet_statistics_device *d, tacet_release **out, const tacet_ask *ask,
                                            const double *x, double y, tacet_error *err) {
    if (out == NULL || x == NULL || ask == NULL) {
        return tacet__fail(err, TACET_INVALID, "a report needs a point and a noise source");
    }
    *out = NULL;
    if (d->map != NULL) {
        tacet_central_map_record(d->map, d->record, d->work, x, y);
    } else {
        outer(d, x, y);
    }
    tacet_status status = tacet_raw_set(d->raw, d->record, d->dim, err);
    if (status == TACET_OK) {
        status = tacet_bounded_set(d->bounded, d->raw, err);
    }
    sodium_memzero(d->record, d->dim * sizeof(double));
    sodium_memzero(d->work, d->work_count * sizeof(double));
    return status == TACET_OK ? tacet_mechanism_run(d->mechanism, out, ask, d->bounded, err) : status;
}
