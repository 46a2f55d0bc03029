/* SPDX-License-Identifier: Apache-2.0 */
/* test_evaluate.c - commands that behave, and commands that do not. */
#include "support/test.h"
#include "outsourced/trusted/evaluate.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

static double seconds(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void gives(const char *command, const char *input, double value) {
    double out = 0;
    tacet_error err = {0};
    assert_done(tacet__evaluate(&out, command, input, 30, &err));
    assert_true(out == value);
}

static void fails_with(const char *command, const char *word) {
    double out = 0;
    tacet_error err = {0};
    assert_status(tacet__evaluate(&out, command, "a,b\n1,2\n", 30, &err), TACET_UNSUPPORTED);
    if (strstr(err.message, word) == NULL) {
        print_error("%s: %s\n", command, err.message);
    }
    assert_non_null(strstr(err.message, word));
}

TEST(test_values) {
    gives("cat >/dev/null; echo 2.5", "a,b\n1,2\n", 2.5);
    gives("awk -F, 'NR==2 { print $1 + 10 * $2 }'", "a,b\n1,2\n", 21);
    gives("printf ' \\t-1e-3\\r\\n\\n'", "x\n1\n", -1e-3);
    gives("printf 7", "x\n1\n", 7);
}

TEST(test_rubbish) {
    static const char *const COMMANDS[] = {"true",           "echo hello",    "echo 1 2",         "echo nan",
                                           "echo inf",       "echo 1e999",    "echo 0x10",        "echo 12x",
                                           "printf '1\\n2'", "printf ','",    "echo 'secret 71'", "printf '5\\0006'",
                                           "printf '1,5'",   "printf '\\351'"};
    for (size_t k = 0; k < sizeof COMMANDS / sizeof COMMANDS[0]; k++) {
        fails_with(COMMANDS[k], "did not print one finite number");
    }
    double out = 0;
    tacet_error err = {0};
    assert_status(tacet__evaluate(&out, "echo secret71", "x\n1\n", 30, &err), TACET_UNSUPPORTED);
    assert_null(strstr(err.message, "71")); /* what was printed may be the record */
}

TEST(test_too_much) {
    fails_with("printf '%0300d' 5", "did not print one finite number");
    fails_with("printf '%0255d' 5; printf '%0255d' 5", "did not print one finite number");
    fails_with("head -c 5000000 /dev/zero | tr '\\0' 7", "did not print one finite number");
}

TEST(test_death) {
    fails_with("echo 5; exit 3", "exit code 3");
    fails_with("echo 5; kill -9 $$", "signal 9");
    fails_with("/no/such/program", "exit code 127");
    fails_with("kill -11 $$", "signal 11");
}

/* A record larger than any pipe's buffer, to a command that never reads it, and to one that does. */
TEST(test_input_is_not_read) {
    const size_t size = (size_t)4 << 20;
    OWN_TEXT char *input = malloc(size + 1);
    memset(input, 'x', size);
    input[size] = '\0';
    gives("echo 5", input, 5);
    gives("exec <&-; sleep 0.1; echo 6", input, 6);
    gives("wc -c", input, (double)size);
    gives("head -c 1 >/dev/null; echo 8", input, 8);
}

TEST(test_hang) {
    static const char *const COMMANDS[] = {"sleep 60", "cat >/dev/null; sleep 60; echo 5", "echo 5; exec >&-; sleep 60",
                                           "trap '' TERM INT HUP; while :; do sleep 1; done", "yes"};
    for (size_t k = 0; k < sizeof COMMANDS / sizeof COMMANDS[0]; k++) {
        double out = 0;
        tacet_error err = {0};
        const double start = seconds();
        assert_status(tacet__evaluate(&out, COMMANDS[k], "a\n1\n", 0.3, &err), TACET_UNSUPPORTED);
        assert_non_null(strstr(err.message, "did not end within"));
        assert_true(seconds() - start < 30); /* far below the command's own minute */
    }
}

/* What the command started does not hold it up, and does not outlive it. */
TEST(test_children_left_behind) {
    OWN_FOLDER const char *folder = test_mkdir();
    OWN_TEXT char *path = test_text("%s/pid", folder);
    OWN_TEXT char *command = test_text("sleep 60 & echo $! >%s; echo 4", path);
    const double start = seconds();
    gives(command, "a\n1\n", 4);
    assert_true(seconds() - start < 30);
    FILE *file = fopen(path, "r");
    int pid = 0;
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%d", &pid), 1);
    (void)fclose(file);
    bool gone = false;
    for (int i = 0; i < 500 && !gone; i++) {
        char stat_path[64], line[256] = "";
        (void)snprintf(stat_path, sizeof stat_path, "/proc/%d/stat", pid);
        FILE *stat_file = fopen(stat_path, "r");
        gone = stat_file == NULL || fgets(line, sizeof line, stat_file) == NULL || strstr(line, ") Z") != NULL;
        if (stat_file != NULL) {
            (void)fclose(stat_file);
        }
        (void)usleep(10000);
    }
    assert_true(gone);
}

/* A service ignores SIGPIPE; its commands must not inherit that. */
TEST(test_signals_are_ordinary) {
    void (*previous)(int) = signal(SIGPIPE, SIG_IGN);
    fails_with("kill -PIPE $$; echo 5", "signal 13");
    (void)signal(SIGPIPE, previous);
}

TEST(test_record_text) {
    OWN_FOLDER const char *folder = test_mkdir();
    char *text = NULL;
    OWN_TEXT char *path = test_text("%s/t.csv", folder);
    test_write(path, "id,\"a,b\",c\n1,\"he said \"\"no\"\"\",3\n2,\"two\nlines\",\n");
    assert_ok(tacet__record_text(&text, NULL, path, 0, NULL));
    assert_string_equal(text, "id,\"a,b\",c\n1,\"he said \"\"no\"\"\",3\n");
    free(text);
    assert_ok(tacet__record_text(&text, NULL, path, 1, NULL));
    assert_string_equal(text, "id,\"a,b\",c\n2,\"two\nlines\",\n");
    free(text);
    assert_status(tacet__record_text(&text, NULL, path, 2, NULL), TACET_NOT_FOUND);
    assert_null(text);
    assert_each_alloc_fails(tacet__record_text(&text, NULL, path, 1, NULL), text == NULL);
    free(text);
}
