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

tacet_status tacet__fail(tacet_error *err, tacet_status status, const char *format, ...) {
    if (err != NULL && err->status == TACET_OK) {
        va_list args;
        err->status = status;
        va_start(args, format);
        (void)vsnprintf(err->message, sizeof err->message, format, args);
        va_end(args);
    }
    return status;
}
