/* SPDX-License-Identifier: Apache-2.0 */
/* l2.h - Euclidean noise (density proportional to exp(-|v|/scale)) calibrated to (eps, delta).
 *
 * `scale` with a sensitivity (L2) always has pure eps = sensitivity/scale. With a delta a smaller scale serves the same
 * eps: delta_upper is a proven bound, all rounding counted (src/dp/open/l2.md). Pure functions, any thread, no
 * allocation; some 0.2 s a call, a calibration that was made lately none. */
#ifndef TACET_DP_OPEN_L2_H
#define TACET_DP_OPEN_L2_H

#include <stddef.h>
#include <tacet/core/status.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { TACET_L2_MAX_DIMS = 4096 };

typedef struct tacet_l2 {
    double scale;
    double rms;         /* of one coordinate: scale sqrt(dims + 1) */
    double pure_eps;    /* holds with delta = 0 */
    double delta_upper; /* at the eps asked for; at most the delta asked for */
} tacet_l2;

/* The smallest scale found that is (eps, delta)-DP; at most the pure one. INVALID: eps outside [1e-6, 500], delta
 * outside [1e-15, 1), sensitivity outside [1e-100, 1e100], dims outside 1 … TACET_L2_MAX_DIMS. */
TACET_API tacet_status tacet_calibrate_l2(tacet_l2 *out, double eps, double delta, double sensitivity, size_t dims,
                                          tacet_error *err);
/* An upper bound of delta at eps, at most 1; 0 where pure eps covers it. INVALID as above, and where the scale is not
 * > 0 or below sensitivity/1e4. */
TACET_API tacet_status tacet_l2_delta(double *delta, double scale, double eps, double sensitivity, size_t dims,
                                      tacet_error *err);

#ifdef __cplusplus
}
#endif
#endif
