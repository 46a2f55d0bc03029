/* SPDX-License-Identifier: Apache-2.0 */
/* log.h - what a service says to whoever looks after it: whole lines, with time and level, limited in rate. Ring: io.
 *
 *   2026-01-31T12:00:00.123Z warning study dose: a batch was not stored: disk full
 *   {"time":"2026-01-31T12:00:00.123Z","level":"warning","message":"study dose: …"}
 *
 * Each line is one write, so that lines of several threads or processes do not mix. Above the rate lines are dropped
 * and counted, and the next line that is written says how many. Any thread. Messages hold no values. */
#ifndef TACET_SRC_IO_HTTP_LOG_H
#define TACET_SRC_IO_HTTP_LOG_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <tacet/core/status.h>

typedef enum tacet__log_level { TACET__LOG_ERROR, TACET__LOG_WARNING, TACET__LOG_INFO } tacet__log_level;

typedef struct tacet__log {
    pthread_mutex_t lock;
    int fd;
    bool json;
    double left, last; /* of the bucket */
    uint64_t dropped;
} tacet__log;

/* `format`: "text" or "json"; INVALID otherwise. */
tacet_status tacet__log_init(tacet__log *log, int fd, const char *format, tacet_error *err);
void tacet__log_clear(tacet__log *log);
/* NULL is allowed, and says nothing. */
void tacet__log_say(tacet__log *log, tacet__log_level level, const char *message);

#endif
