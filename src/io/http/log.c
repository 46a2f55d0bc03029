/* SPDX-License-Identifier: Apache-2.0 */
/* log.c - lines for an operator. Ring: io. Cost: one write a line; at most 20 lines a second, bursts of 200. */
#include <tacet/io/http/log.h>

#include "core/clock.h"
#include "core/fail.h"
#include "core/memory.h"
#include "io/http/problem.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const double RATE = 20;
static const double BURST = 200;
enum { MESSAGE_MOST = 1000, LINE_MOST = 6 * MESSAGE_MOST + 256 };

struct tacet_log {
    pthread_mutex_t lock;
    int fd;
    bool json;
    double left, last; /* of the bucket */
    uint64_t dropped;
};

tacet_status tacet_log_open(tacet_log **out, int fd, const char *format, tacet_error *err) {
    *out = NULL;
    const bool json = strcmp(format, "json") == 0;
    if (!json && strcmp(format, "text") != 0) {
        return tacet__fail(err, TACET_INVALID, "'%s' is no format of the log: text or json", format);
    }
    tacet_log *log = TACET__ZALLOC(tacet_log, 1);
    if (log == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a log");
    }
    log->fd = fd;
    log->json = json;
    log->left = BURST;
    (void)pthread_mutex_init(&log->lock, NULL);
    *out = log;
    return TACET_OK;
}

void tacet_log_close(tacet_log *log) {
    if (log != NULL) {
        (void)pthread_mutex_destroy(&log->lock);
        free(log);
    }
}

static void put_line(const tacet_log *log, const char *level, const char *message) {
    char line[LINE_MOST];
    char when[40];
    struct timespec now;
    struct tm parts;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    (void)gmtime_r(&now.tv_sec, &parts);
    const size_t day = strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%S", &parts);
    (void)snprintf(when + day, sizeof when - day, ".%03ldZ", now.tv_nsec / 1000000);
    size_t size = 0;
    if (log->json) {
        size = (size_t)snprintf(line, sizeof line, "{\"time\":\"%s\",\"level\":\"%s\",\"message\":", when, level);
        size = (size_t)(tacet__json_quote(line + size, message, MESSAGE_MOST) - line);
        line[size++] = '}';
    } else {
        size = (size_t)snprintf(line, sizeof line, "%s %s %.*s", when, level, (int)MESSAGE_MOST, message);
        for (size_t i = 0; i < size; i++) { /* one line is one line */
            line[i] = line[i] == '\n' || line[i] == '\r' ? ' ' : line[i];
        }
    }
    line[size++] = '\n';
    (void)!write(log->fd, line, size);
}

void tacet_log_say(tacet_log *log, tacet_log_level level, const char *message) {
    static const char *const LEVELS[] = {"error", "warning", "info"};
    if (log == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&log->lock);
    const double now = tacet__now();
    log->left += log->last > 0 ? (now - log->last) * RATE : 0;
    log->left = log->left > BURST ? BURST : log->left;
    log->last = now;
    if (log->left >= 1) {
        log->left -= 1;
        if (log->dropped > 0) {
            char text[80];
            (void)snprintf(text, sizeof text, "%llu lines were left out: too many in a second",
                           (unsigned long long)log->dropped);
            log->dropped = 0;
            put_line(log, LEVELS[TACET_LOG_WARNING], text);
        }
        put_line(log, LEVELS[level], message);
    } else {
        log->dropped++;
    }
    (void)pthread_mutex_unlock(&log->lock);
}
