/* SPDX-License-Identifier: Apache-2.0 */
/* status.c - status texts and the error detail.
 * Ring: pure. */
#include "core/fail.h"

#include <stdarg.h>
#include <stdio.h>

#undef tacet__fail

const char *tacet_status_text(tacet_status status) {
    switch (status) {
#define TACET_STATUS_CASE(name, code, text)                                                                            \
    case TACET_##name:                                                                                                 \
        return text;
        TACET_STATUS_LIST(TACET_STATUS_CASE)
#undef TACET_STATUS_CASE
    }
    return "unknown status";
}

const char *tacet_status_name(tacet_status status) {
    switch (status) {
#define TACET_STATUS_CASE(name, code, text)                                                                            \
    case TACET_##name:                                                                                                 \
        return #name;
        TACET_STATUS_LIST(TACET_STATUS_CASE)
#undef TACET_STATUS_CASE
    }
    return "UNKNOWN";
}

void tacet_error_clear(tacet_error *err) {
    if (err != NULL) {
        err->status = TACET_OK;
        err->message[0] = '\0';
    }
}

static void record(tacet_error *err, tacet_status status, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));

static void record(tacet_error *err, tacet_status status, const char *format, va_list args) {
    if (err != NULL && err->status == TACET_OK) {
        err->status = status;
        (void)vsnprintf(err->message, sizeof err->message, format, args);
    }
}

tacet_status tacet__fail(tacet_error *err, tacet_status status, const char *format, ...) {
    va_list args;
    va_start(args, format);
    record(err, status, format, args);
    va_end(args);
    return status;
}

tacet_status tacet_error_set(tacet_error *err, tacet_status status, const char *format, ...) {
    va_list args;
    va_start(args, format);
    record(err, status, format, args);
    va_end(args);
    return status;
}
