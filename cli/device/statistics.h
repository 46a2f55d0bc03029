/* SPDX-License-Identifier: Apache-2.0 */
/* statistics.h - the two commands of a study whose decision sets stay on the devices. Ring: trusted. */
#ifndef TACET_CLI_DEVICE_STATISTICS_H
#define TACET_CLI_DEVICE_STATISTICS_H

#include "device/service.h"

#include <tacet/local/trusted/statistics_report.h>

/* The arms of a CSV (d x count, column-major, from malloc). `columns`: "A,B". INVALID: not as many as the model has. */
tacet_status statistics_arms(double **out, size_t *count, const char *path, const char *columns, size_t d,
                             tacet_error *err);
/* Which of them to play: by the model, or at random while it has none. IO: no entropy. */
tacet_status statistics_choose(size_t *out, tacet_statistics_model *model, const double *arms, size_t count,
                               tacet_error *err);
/* "0.3,0.7" as the point that was played. */
tacet_status statistics_point(double *x, const char *text, size_t d, tacet_error *err);

#endif
