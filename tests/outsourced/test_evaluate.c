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
    test_assert_status(tacet__evaluate(&out, command, input, 30, &err), TACET_OK, &err, __FILE__, __LINE__);
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

static void test_values(void **state) {
    gives("cat >/dev/null; echo 2.5", "a,b\n1,2\n", 2.5);
    gives("awk -F, 'NR==2 { print $1 + 10 * $2 }'", "a,b\n1,2\n", 21);
    gives("printf ' \\t-1e-3\\r\\n\\n'", "x\n1\n", -1e-3);
    gives("printf 7", "x\n1\n", 7);
}

static void test_rubbish(void **state) {
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

static void test_too_much(void **state) {
    fails_with("printf '%0300d' 5", "did not print one finite number");
    fails_with("printf '%0255d' 5; printf '%0255d' 5", "did not print one finite number");
    fails_with("head -c 5000000 /dev/zero | tr '\\0' 7", "did not print one finite number");
}

static void test_death(void **state) {
    fails_with("echo 5; exit 3", "exit code 3");
    fails_with("echo 5; kill -9 $$", "signal 9");
    fails_with("/no/such/program", "exit code 127");
    fails_with("kill -11 $$", "signal 11");
}

/* A record larger than any pipe's buffer, to a command that never reads it, and to one that does. */
static void test_input_is_not_read(void **state) {
    const size_t size = (size_t)4 << 20;
    char *input = malloc(size + 1);
    memset(input, 'x', size);
    input[size] = '\0';
    gives("echo 5", input, 5);
    gives("exec <&-; sleep 0.1; echo 6", input, 6);
    gives("wc -c", input, (double)size);
    gives("head -c 1 >/dev/null; echo 8", input, 8);
    free(input);
}

static void test_hang(void **state) {
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
static void test_children_left_behind(void **state) {
    const char *folder = test_mkdir();
    char command[512];
    char path[300];
    (void)snprintf(path, sizeof path, "%s/pid", folder);
    (void)snprintf(command, sizeof command, "sleep 60 & echo $! >%s; echo 4", path);
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
    test_rmdir(folder);
}

/* A service ignores SIGPIPE; its commands must not inherit that. */
static void test_signals_are_ordinary(void **state) {
    void (*previous)(int) = signal(SIGPIPE, SIG_IGN);
    fails_with("kill -PIPE $$; echo 5", "signal 13");
    (void)signal(SIGPIPE, previous);
}

static void test_record_text(void **state) {
    const char *folder = test_mkdir();
    char path[300];
    char *text = NULL;
    (void)snprintf(path, sizeof path, "%s/t.csv", folder);
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
    test_rmdir(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_rubbish),
        cmocka_unit_test(test_too_much),
        cmocka_unit_test(test_death),
        cmocka_unit_test(test_input_is_not_read),
        cmocka_unit_test(test_hang),
        cmocka_unit_test(test_children_left_behind),
        cmocka_unit_test(test_signals_are_ordinary),
        cmocka_unit_test(test_record_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
