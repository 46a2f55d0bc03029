/* SPDX-License-Identifier: Apache-2.0 */
/* actions.c - actions for learning: uniform, or a Sobol sequence with a random shift (Cranley, Patterson 1976).
 * Ring: trusted side, though it reads no data. Cost: some hundred operations a coordinate. */
#include <tacet/contextual/trusted/log.h>

#include "core/fail.h"
#include "gp/sobol.h"

#include <math.h>
#include <sodium.h>
#include <string.h>
#include "contextual/shared/basis.h"

_Static_assert((int)TACET_CONTEXTUAL_DIM_MOST <= (int)TACET__SOBOL_DIM_MOST, "a sequence for every box");

tacet_status tacet_contextual_actions(double *out, size_t d, size_t count, const double *lower, const double *upper,
                                      const uint64_t *seed, uint64_t first, tacet_error *err) {
    uint32_t shift[TACET_CONTEXTUAL_DIM_MOST] = {0};
    unsigned char key[randombytes_SEEDBYTES] = {0};
    if (d == 0 || d > TACET_CONTEXTUAL_DIM_MOST) {
        return tacet__fail(err, TACET_INVALID, "actions have 1 to %d coordinates", (int)TACET_CONTEXTUAL_DIM_MOST);
    }
    for (size_t c = 0; c < d; c++) {
        if (!isfinite(lower[c]) || !isfinite(upper[c]) || !(lower[c] < upper[c])) {
            return tacet__fail(err, TACET_INVALID, "a bound is not finite, or not below the other");
        }
    }
    if (sodium_init() < 0) {
        return tacet__fail(err, TACET_IO, "the operating system gives no entropy");
    }
    if (seed != NULL) {
        memcpy(key, seed, sizeof *seed);
        randombytes_buf_deterministic(shift, sizeof shift, key);
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t c = 0; c < d; c++) {
            const uint32_t u = seed != NULL ? tacet__sobol(c, first + i) + shift[c] : randombytes_random();
            out[i * d + c] = lower[c] + (upper[c] - lower[c]) * (((double)u + 0.5) / 0x1p32);
        }
    }
    return TACET_OK;
}
