/* SPDX-License-Identifier: Apache-2.0 */
/* test_parse.c - options of the programs: what is taken, what is refused, and that help names all of them. */
#include "support/test.h"

#include "common/cli.h"

#include <fcntl.h>
#include <unistd.h>

static struct {
    bool flag;
    const char *text;
    double real, eps;
    size_t count, most;
    uint64_t seed;
} got;

static const cli_option OPTIONS[] = {{"flag", CLI_FLAG, &got.flag, NULL, "switches. Off.", false},
                                     {"", CLI_FLAG, NULL, NULL, "Numbers:", false},
                                     {"text", CLI_STRING, &got.text, "TEXT", "words", false},
                                     {"real", CLI_DOUBLE, &got.real, "X", "a number", false},
                                     {"count", CLI_SIZE, &got.count, "N", "how many", true},
                                     {"eps", CLI_DOUBLE, &got.eps, "E", "privacy", false},
                                     {"most", CLI_COUNT, &got.most, "N", "at the most", false},
                                     {"seed-number", CLI_U64, &got.seed, "S", "which", false},
                                     {NULL, CLI_FLAG, NULL, NULL, NULL, false}};

static int run(int argc, char **argv, const cli_command *self) {
    (void)argc;
    (void)argv;
    (void)self;
    return 0;
}

static const cli_command COMMAND = {.name = "try out",
                                    .summary = "a command for tests",
                                    .usage = "--count N [options]",
                                    .description = "First paragraph.\n\n.Second\\paragraph.",
                                    .examples = "tacet try out --count 3",
                                    .run = run};

/* Parses a list of words; stdout and stderr go to `out`. Returns -1 to go on, else the exit code. */
static char out[8192];

static int parse(size_t most, const char **positional, size_t *found, const char *const *words) {
    char *argv[16] = {(char *)(size_t) "try"};
    int argc = 1;
    for (; words[argc - 1] != NULL; argc++) {
        argv[argc] = (char *)(size_t)words[argc - 1];
    }
    memset(&got, 0, sizeof got);
    got.real = 0.5;
    FILE *file = tmpfile();
    assert_non_null(file);
    (void)fflush(stdout);
    (void)fflush(stderr);
    const int saved_out = dup(STDOUT_FILENO);
    const int saved_err = dup(STDERR_FILENO);
    (void)dup2(fileno(file), STDOUT_FILENO);
    (void)dup2(fileno(file), STDERR_FILENO);
    int code = -2;
    *found = most;
    const bool go = cli_parse(&COMMAND, OPTIONS, argc, argv, most > 0 ? positional : NULL, found, &code);
    (void)fflush(stdout);
    (void)fflush(stderr);
    (void)dup2(saved_out, STDOUT_FILENO);
    (void)dup2(saved_err, STDERR_FILENO);
    (void)close(saved_out);
    (void)close(saved_err);
    rewind(file);
    out[fread(out, 1, sizeof out - 1, file)] = '\0';
    (void)fclose(file);
    return go ? -1 : code;
}

#define PARSE(...) parse(0, NULL, &(size_t){0}, (const char *const[]){__VA_ARGS__, NULL})

static void test_taken(void **state) {
    (void)state;
    assert_int_equal(PARSE("--count", "3"), -1);
    assert_int_equal(got.count, 3);
    assert_true(got.real == 0.5); /* the default stays */
    assert_int_equal(
        PARSE("--count=1e6", "--real=-2.5e-3", "--flag", "--text", "a=b,--c", "--seed-number", "18446744073709551615"),
        -1);
    assert_int_equal(got.count, 1000000);
    assert_true(got.real == -2.5e-3);
    assert_true(got.flag);
    assert_string_equal(got.text, "a=b,--c");
    assert_true(got.seed == UINT64_MAX);
    assert_int_equal(PARSE("--text=", "--count", "0"), -1);
    assert_string_equal(got.text, "");
    assert_string_equal(out, "");
    assert_int_equal(PARSE("--count", "1", "--count", "2"), -1); /* the last one counts */
    assert_int_equal(got.count, 2);
    assert_int_equal(PARSE("--real", "-1", "--count", "1"), -1); /* a value may begin with a dash */
    assert_true(got.real == -1);
    assert_false(cli_json_wanted());
}

static void test_refused(void **state) {
    (void)state;
    static const struct {
        const char *words[8];
        const char *message;
    } cases[] = {
        {{NULL}, "tacet try out: --count N is required\n"},
        {{"--count"}, "tacet try out: --count needs a value (N)\n"},
        {{"--count", "1", "--eps", "1", "--eps=2"}, "tacet try out: --eps is given twice\n"},
        {{"--count", "1", "--most", "0"},
         "tacet try out: --most: '0' is not a whole number above 0 that fits 64 bits\n"},
        {{"--count", ""}, "tacet try out: --count: '' is not a whole number from 0 on that fits 64 bits\n"},
        {{"--count", "-1"}, "tacet try out: --count: '-1' is not a whole number from 0 on that fits 64 bits\n"},
        {{"--count", "+1"}, "tacet try out: --count: '+1' is not a whole number from 0 on that fits 64 bits\n"},
        {{"--count", " 1"}, "tacet try out: --count: ' 1' is not a whole number from 0 on that fits 64 bits\n"},
        {{"--count", "1.5"}, "tacet try out: --count: '1.5' is not a whole number from 0 on that fits 64 bits\n"},
        {{"--count", "1e99"}, "tacet try out: --count: '1e99' is not a whole number from 0 on that fits 64 bits\n"},
        {{"--count", "3x"}, "tacet try out: --count: '3x' is not a whole number from 0 on that fits 64 bits\n"},
        {{"--count", "18446744073709551616"}, "tacet try out: --count: '18446744073709551616' is not a whole"},
        {{"--real", "nan"}, "tacet try out: --real: 'nan' is not a finite number\n"},
        {{"--real", "inf"}, "tacet try out: --real: 'inf' is not a finite number\n"},
        {{"--real", "1e999"}, "tacet try out: --real: '1e999' is not a finite number\n"},
        {{"--real", "1,5"}, "tacet try out: --real: '1,5' is not a finite number\n"},
        {{"--flag=yes"}, "tacet try out: --flag takes no value\n"},
        {{"--coun", "1"}, "tacet try out: unknown option --coun; did you mean --count?\n"},
        {{"--counts=1"}, "tacet try out: unknown option --counts; did you mean --count?\n"},
        {{"--=1"}, "tacet try out: unknown option --\n"},
        {{"-c", "1"}, "tacet try out: unknown option -c\n"},
        {{"word"}, "tacet try out: unexpected argument 'word'\n"},
        {{"--", "--count"}, "tacet try out: unexpected argument '--count'\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(parse(0, NULL, &(size_t){0}, cases[i].words), CLI_EXIT_USAGE);
        if (strncmp(out, cases[i].message, strlen(cases[i].message)) != 0) {
            print_error("'%s' instead of '%s'\n", out, cases[i].message);
            fail();
        }
        assert_non_null(strstr(out, "'tacet try out --help' explains the options.\n"));
    }
}

static void test_positional(void **state) {
    (void)state;
    const char *words[2] = {NULL, NULL};
    size_t found = 0;
    const char *const given[] = {"one", "--count", "2", "--", "--two", NULL};
    assert_int_equal(parse(2, words, &found, given), -1);
    assert_int_equal(found, 2);
    assert_string_equal(words[0], "one");
    assert_string_equal(words[1], "--two");
    const char *const many[] = {"one", "-", "three", "--count", "2", NULL};
    assert_int_equal(parse(2, words, &found, many), CLI_EXIT_USAGE);
}

static void test_help_and_man(void **state) {
    (void)state;
    assert_int_equal(PARSE("--help"), CLI_EXIT_OK);
    static const char *const names[] = {"flag", "text", "real", "count", "seed-number", "json"};
    char text[64];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        (void)snprintf(text, sizeof text, "\n  --%s", names[i]);
        assert_non_null(strstr(out, text));
    }
    assert_non_null(strstr(out, "usage: tacet try out --count N [options]\n"));
    assert_non_null(strstr(out, "\nNumbers:\n"));
    assert_non_null(strstr(out, "tacet try out --count 3"));
    assert_int_equal(PARSE("--man"), CLI_EXIT_OK);
    assert_int_equal(strncmp(out, ".TH TACET-TRY-OUT 1", 19), 0);
    assert_non_null(strstr(out, "\\-\\-seed\\-number"));
    assert_non_null(strstr(out, "\\&.Second\\eparagraph."));           /* not taken for a request */
    assert_int_equal(PARSE("--count", "x", "--help"), CLI_EXIT_USAGE); /* the first thing wrong wins */
}

static void test_json_flag(void **state) {
    (void)state;
    assert_int_equal(PARSE("--json", "--count", "1"), -1);
    assert_true(cli_json_wanted());
}

static void test_split_and_number(void **state) {
    (void)state;
    char **names = NULL;
    size_t count = 0;
    assert_true(cli_split(&names, &count, "a, b,c"));
    assert_int_equal(count, 3);
    assert_string_equal(names[0], "a");
    assert_string_equal(names[1], " b");
    assert_string_equal(names[2], "c");
    free(names);
    static const char *const bad[] = {"", ",", "a,", ",a", "a,,b"};
    for (size_t i = 0; i < 5; i++) {
        assert_false(cli_split(&names, &count, bad[i]));
    }
    fail_alloc_after(1);
    assert_false(cli_split(&names, &count, "a,b"));
    fail_alloc_after(0);
    double x = 7;
    assert_false(cli_number(&x, ""));
    assert_false(cli_number(&x, "1 "));
    assert_false(cli_number(&x, "-inf"));
    assert_true(x == 7);
    assert_true(cli_number(&x, "1e-3"));
    assert_true(x == 1e-3);
}

static void test_pairs(void **state) {
    (void)state;
    static const char *const bad[] = {"", ":", "1", "1:", ":2", "1:2:3", "1:2x", "a:2", "1:inf", "nan:2"};
    char text[300];
    double a = 7;
    double b = 8;
    memset(text, '0', sizeof text);
    memcpy(text + sizeof text - 3, ":1", 3);
    for (size_t i = 0; i <= sizeof bad / sizeof bad[0]; i++) {
        const char *words = i < sizeof bad / sizeof bad[0] ? bad[i] : text; /* the last: longer than any number */
        assert_false(cli_pair(&a, &b, words));
        assert_false(cli_interval(&a, &b, words));
    }
    assert_false(cli_interval(&a, &b, "2:2"));
    assert_false(cli_interval(&a, &b, "3:2"));
    assert_true(a == 7 && b == 8);
    assert_true(cli_interval(&a, &b, "-1.5:2e3"));
    assert_true(a == -1.5 && b == 2000);
    assert_true(cli_pair(&a, &b, "3:-2"));
    assert_true(a == 3 && b == -2);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_taken),      cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_positional), cmocka_unit_test(test_help_and_man),
                                       cmocka_unit_test(test_json_flag),  cmocka_unit_test(test_split_and_number),
                                       cmocka_unit_test(test_pairs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
