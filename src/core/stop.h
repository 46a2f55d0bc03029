/* SPDX-License-Identifier: Apache-2.0 */
/* stop.h - a long call that another thread may end: settings have a flag, and the call looks at it now and then.
 * Ring: core. */
#pragma once

#include "core/fail.h"

#include <stdbool.h>

/* STATE where the flag is there and set. */
static inline tacet_status tacet__stopped(const volatile bool *stop, tacet_error *err) {
    return stop != NULL && __atomic_load_n(stop, __ATOMIC_RELAXED)
               ? tacet__fail(err, TACET_STATE, "stopped, as it was told to")
               : TACET_OK;
}
