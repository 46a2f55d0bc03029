/* SPDX-License-Identifier: Apache-2.0 */
/* statistics_device.h - the device's half of local joint DP: choose here, report noise.
 *
 * The decision set and the reward never leave the device. It scores its arms by the public model
 * (central/open/learner.h), and reports one noisy vector; the server (local/open/statistics.h) adds vectors
 * up. Each report is (eps, delta)-DP in the user's whole record, whoever looks at it (Definition 7 of Dubey, AISTATS
 * 2021). Proofs: src/central/README.md. */
#ifndef TACET_SRC_LOCAL_TRUSTED_STATISTICS_DEVICE_H
#define TACET_SRC_LOCAL_TRUSTED_STATISTICS_DEVICE_H

#include "central/shared/map.h"
#include <tacet/dp/open/release.h>
#include "dp/mechanism.h"

typedef struct tacet_statistics_device tacet_statistics_device;

/* Reports (v phi, (1 - v) phi), as shipped. The map must outlive the device. INVALID, NO_MEMORY. */
tacet_status tacet_statistics_device_create(tacet_statistics_device **out, const tacet_central_map *map, double eps,
                                            double delta, tacet_error *err);
/* Reports (svec phi phi', y phi): Algorithm 3 of the paper, with the noise it needs. Features of norm at most 1,
 * rewards clipped to [-reward_bound, reward_bound]; the features must outlive the device. */
tacet_status tacet_statistics_device_create_outer(tacet_statistics_device **out, const tacet_features *features,
                                                  double reward_bound, double eps, double delta, tacet_error *err);
void tacet_statistics_device_free(tacet_statistics_device *device);              /* wipes; NULL is allowed */
double tacet_statistics_device_noise_var(const tacet_statistics_device *device); /* of each number of a report */
/* The report of the arm x that was played and its reward; once per ask->ticket: asked again, the same report. Errors of
 * tacet_mechanism_run. */
TACET_MUST_CHECK tacet_status tacet_statistics_device_report(tacet_statistics_device *device, tacet_release **out,
                                                             const tacet_ask *ask, const double *x, double y,
                                                             tacet_error *err);

#endif
