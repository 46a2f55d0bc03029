/* SPDX-License-Identifier: Apache-2.0 */
/* status.h - the one list of outcomes, and the caller-owned error detail.
 *
 * Every fallible function returns a tacet_status and takes an optional `tacet_error *` as its last argument (NULL is
 * fine). On failure nothing is half-built: pointers handed out are NULL, objects keep the state they had. The first
 * error wins: an error struct that already holds one is not overwritten. Messages on the trusted side name columns,
 * rows and rules, never values. */
#ifndef TACET_CORE_STATUS_H
#define TACET_CORE_STATUS_H

/* TACET_API marks what the shared library shows; everything else is hidden. */
#define TACET_API __attribute__((visibility("default")))
#define TACET_MUST_CHECK __attribute__((warn_unused_result))

#ifdef __cplusplus
extern "C" {
#endif

/* name, code, text. Codes are stable: they are stored and sent. */
#define TACET_STATUS_LIST(X)                                                                                           \
    X(OK, 0, "ok")                                                                                                     \
    X(INVALID, 1, "invalid argument")                                                                                  \
    X(NO_MEMORY, 2, "out of memory")                                                                                   \
    X(OVERFLOW, 3, "size overflow")                                                                                    \
    X(NUMERIC, 4, "numerically impossible")                                                                            \
    X(IO, 5, "input or output failed")                                                                                 \
    X(PARSE, 6, "malformed input")                                                                                     \
    X(BUDGET, 7, "privacy budget refused")                                                                             \
    X(CORRUPT, 8, "stored data is corrupt")                                                                            \
    X(STATE, 9, "not allowed in this state")                                                                           \
    X(NOT_FOUND, 10, "not found")                                                                                      \
    X(CONFLICT, 11, "conflicts with an earlier answer")                                                                \
    X(BUSY, 12, "busy")                                                                                                \
    X(DENIED, 13, "access denied")                                                                                     \
    X(TIMEOUT, 14, "timed out")                                                                                        \
    X(UNSUPPORTED, 15, "not supported")                                                                                \
    X(REPLACED, 16, "replaced by another")

typedef enum tacet_status {
#define TACET_STATUS_ENUM(name, code, text) TACET_##name = (code),
    TACET_STATUS_LIST(TACET_STATUS_ENUM)
#undef TACET_STATUS_ENUM
} tacet_status;

typedef struct tacet_error {
    tacet_status status; /* TACET_OK while nothing failed */
    char message[240];   /* one sentence, no newline; empty while nothing failed */
} tacet_error;

/* The next of several steps: done, and its outcome kept in `status`, unless an earlier step failed. */
#define TACET_THEN(status, step) ((status) = (status) != TACET_OK ? (status) : (step))

/* The text of a status; "unknown status" for a number outside the list. Never NULL. */
TACET_API const char *tacet_status_text(tacet_status status);
/* The name of a status as in the list, for example "BUDGET". Never NULL. */
TACET_API const char *tacet_status_name(tacet_status status);
/* Makes *err hold nothing. NULL is allowed. */
TACET_API void tacet_error_clear(tacet_error *err);
/* For callbacks that fail: records status and message in *err, unless err is NULL or holds an error already, and
 * returns status. */
TACET_API tacet_status tacet_error_set(tacet_error *err, tacet_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* "MAJOR.MINOR.PATCH" of the library that is loaded, which may be newer than the headers. Never NULL. */
TACET_API const char *tacet_version(void);

#ifdef __cplusplus
}
#endif
#endif
