/* SPDX-License-Identifier: Apache-2.0 */
/* actions.c - an action for learning, uniform.
 * Ring: trusted side, though it reads no data. Cost: one random number a coordinate. */
#include <tacet/contextual/trusted/log.h>

#include "core/fail.h"

#include <math.h>
#include <sodium.h>

tacet_status tacet_contextual_action(double *out, size_t d, const double *lower, const double *upper,
                                     tacet_error *err) {
    for (size_t c = 0; c < d; c++) {
        if (!isfinite(lower[c]) || !isfinite(upper[c]) || !(lower[c] < upper[c])) {
            return tacet__fail(err, TACET_INVALID, "a bound is not finite, or not below the other");
        }
    }
    if (sodium_init() < 0) {
        return tacet__fail(err, TACET_IO, "the operating system gives no entropy");
    }
    for (size_t c = 0; c < d; c++) {
        out[c] = lower[c] + (upper[c] - lower[c]) * (((double)randombytes_random() + 0.5) / 0x1p32);
    }
    return TACET_OK;
}
