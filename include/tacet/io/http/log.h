/* SPDX-License-Identifier: Apache-2.0 */
/* log.h - what a service says to whoever looks after it: whole lines, with time and level, limited in rate.
 *
 *   2026-01-31T12:00:00.123Z warning study dose: a batch was not stored: disk full
 *   {"time":"2026-01-31T12:00:00.123Z","level":"warning","message":"study dose: …"}
 *
 * Each line is one write, so that lines of several threads or processes do not mix. Above the rate lines are dropped
 * and counted, and the next line that is written says how many. Any thread. Messages hold no values. */
#ifndef TACET_IO_HTTP_LOG_H
#define TACET_IO_HTTP_LOG_H

#include <tacet/core/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tacet_log_level { TACET_LOG_ERROR, TACET_LOG_WARNING, TACET_LOG_INFO } tacet_log_level;

typedef struct tacet_log tacet_log;

/* Lines go to the descriptor `fd`, which stays the caller's. `format`: "text" or "json"; INVALID otherwise. NO_MEMORY.
 */
TACET_API tacet_status tacet_log_open(tacet_log **out, int fd, const char *format, tacet_error *err);
/* No service may use it any more. NULL is allowed. */
TACET_API void tacet_log_close(tacet_log *log);
/* NULL is allowed, and says nothing. */
TACET_API void tacet_log_say(tacet_log *log, tacet_log_level level, const char *message);

#ifdef __cplusplus
}
#endif
#endif
