/* SPDX-License-Identifier: Apache-2.0 */
/* statistics.h - the server's half of local joint DP: adds noisy reports up, keeps the public model.
 *
 * Reports come from local/trusted/statistics_device.h. The server sees nothing else, and everything it makes of
 * them is public. Not thread-safe. */
#ifndef TACET_SRC_LOCAL_OPEN_STATISTICS_H
#define TACET_SRC_LOCAL_OPEN_STATISTICS_H

#include <stdint.h>
#include "central/open/learner.h"

typedef struct tacet_local_statistics tacet_local_statistics;

/* noise_var: of each number of one report. The model is refreshed after `first` reports and then whenever their number
 * has grown by `growth` > 1: a matter of time, not of privacy. INVALID, NO_MEMORY. */
tacet_status tacet_local_statistics_create(tacet_local_statistics **out, const tacet_central_map *map,
                                           const tacet_central_learner_settings *settings, double noise_var,
                                           uint64_t first, double growth, tacet_error *err);
void tacet_local_statistics_free(tacet_local_statistics *server); /* NULL is allowed */
/* A report: 2r numbers. INVALID: wrong count, not finite; nothing changes. */
tacet_status tacet_local_statistics_take(tacet_local_statistics *server, const double *report, size_t count,
                                         tacet_error *err);
uint64_t tacet_local_statistics_count(const tacet_local_statistics *server);
/* The public model, which devices score their arms by; owned by the server. */
tacet_central_learner *tacet_local_statistics_model(tacet_local_statistics *server);

#endif
