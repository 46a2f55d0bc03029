/* SPDX-License-Identifier: Apache-2.0 */
/* statistics.h - the server's half of local joint DP: adds noisy reports up, keeps the public model.
 *
 * Reports come from tacet/local/trusted/statistics_report.h. The server sees nothing else, and everything it makes of
 * them is public. Not thread-safe. */
#pragma once

#include <tacet/local/open/statistics_model.h>
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

/* All of it as bytes, and back, on any machine: features are stored, not made again. CORRUPT, NO_MEMORY. */
tacet_status tacet_statistics_model_save(const tacet_statistics_model *model, tacet_blob *out, tacet_error *err);
tacet_status tacet_statistics_model_open(tacet_statistics_model **out, const void *bytes, size_t size,
                                         tacet_error *err);
/* The best point of the public grid: d numbers, its mean reward and sd in the devices' units. STATE: too few
 * reports. */
tacet_status tacet_statistics_model_best(tacet_statistics_model *model, double *x, double *mean, double *sd,
                                         tacet_error *err);
uint64_t tacet_statistics_model_count(const tacet_statistics_model *model); /* reports taken */
bool tacet_statistics_model_informed(const tacet_statistics_model *model);  /* arms are scored */
/* The collector's half as a policy over at most `rounds` (up to 2^22) rounds: a suggestion is the number of its round,
 * as ticket and as index; what is observed is a report of it (negated in a study that minimizes). Owns the model, on
 * failure too; it stays where it is when a state is loaded. */
tacet_status tacet_statistics_policy_create(tacet_policy **out, tacet_statistics_model *model, uint64_t rounds,
                                            tacet_error *err);
