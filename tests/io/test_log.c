/* SPDX-License-Identifier: Apache-2.0 */
/* test_log.c - the log of a service: whole lines, limited in rate, and what was left out is said. */
#include "support/test.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <tacet/io/http/log.h>
#include <time.h>
#include <unistd.h>

enum { LINES = 3000, BURST = 200, RATE = 20 }; /* docs/operations.md */

static double now(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A flood of lines: no more are written than the rate allows in the time that it took, and those that are missing are
 * counted in lines of their own, so that none is missing without a word. */
TEST(a_flood_is_thinned_out_and_counted) {
    char line[4096];
    tacet_log *log = NULL;
    FILE *file = tmpfile();
    size_t written = 0;
    unsigned long long left_out = 0;
    size_t said = LINES;
    assert_non_null(file);
    assert_ok(tacet_log_open(&log, fileno(file), "text", NULL));
    const double begin = now();
    for (size_t i = 0; i < LINES; i++) {
        tacet_log_say(log, TACET_LOG_WARNING, "one\nline\rof many");
    }
    const double took = now() - begin;
    const off_t flood = lseek(fileno(file), 0, SEEK_END);
    while (lseek(fileno(file), 0, SEEK_END) == flood) { /* until one is let through again */
        const struct timespec pause = {.tv_nsec = 10000000};
        (void)nanosleep(&pause, NULL);
        tacet_log_say(log, TACET_LOG_WARNING, "one\nline\rof many");
        said++;
    }
    tacet_log_close(log);
    rewind(file);
    for (off_t at = 0; fgets(line, sizeof line, file) != NULL; at = ftello(file)) {
        unsigned long long count = 0;
        const char *message = strstr(line, "Z warning ");
        assert_non_null(message);
        message += sizeof "Z warning " - 1;
        if (sscanf(message, "%llu lines were left out", &count) == 1) {
            left_out += count;
            continue;
        }
        assert_string_equal(message, "one line of many\n");
        written++;
        assert_true(at >= flood || (double)written <= BURST + RATE * took + 1);
    }
    assert_true(left_out > 0);
    assert_int_equal(written + left_out, said);
    (void)fclose(file);
}

TEST(a_line_of_json_holds_any_message) {
    char line[4096] = "";
    tacet_log *log = NULL;
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_status(tacet_log_open(&log, fileno(file), "xml", NULL), TACET_INVALID);
    assert_ok(tacet_log_open(&log, fileno(file), "json", NULL));
    tacet_log_say(log, TACET_LOG_ERROR, "a \"quoted\"\nword");
    tacet_log_close(log);
    rewind(file);
    assert_non_null(fgets(line, sizeof line, file));
    json_t *said = json_loads(line, 0, NULL);
    assert_string_equal(json_string_value(json_object_get(said, "level")), "error");
    assert_string_equal(json_string_value(json_object_get(said, "message")), "a \"quoted\"\nword");
    json_decref(said);
    assert_null(fgets(line, sizeof line, file));
    (void)fclose(file);
}
