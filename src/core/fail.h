/* SPDX-License-Identifier: Apache-2.0 */
/* fail.h - how code inside the library reports failure: `return tacet__fail(err, TACET_INVALID, "…", …);`
 * Ring: pure. */
#pragma once

#include <stdbool.h>
#include <tacet/core/status.h>

/* Records status and message in *err (when err is not NULL and still empty) and returns status. */
tacet_status tacet__fail(tacet_error *err, tacet_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#ifdef __clang_analyzer__
/* What the analyzer cannot see across files: the status that is returned is the one that was passed. */
#define tacet__fail(err, status, ...) ((void)tacet__fail((err), (status), __VA_ARGS__), (status))
#endif

/* Done; where it fails, this function ends with the same status. */
#define TACET_OR_RETURN(step)                                                                                          \
    do {                                                                                                               \
        const tacet_status tacet__outcome = (step);                                                                    \
        if (tacet__outcome != TACET_OK) {                                                                              \
            return tacet__outcome;                                                                                     \
        }                                                                                                              \
    } while (false)
