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
    cli_names names, each;
    cli_reals reals;
    cli_wholes wholes;
    cli_span span;
    cli_spans spans;
} got;

static const cli_option OPTIONS[] = {{"flag", CLI_FLAG, &got.flag, NULL, "switches. Off.", false},
                                     {"", CLI_FLAG, NULL, NULL, "Numbers:", false},
                                     {"text", CLI_STRING, &got.text, "TEXT", "words", false},
                                     {"real", CLI_DOUBLE, &got.real, "X", "a number", false},
                                     {"count", CLI_SIZE, &got.count, "N", "how many", true},
                                     {"eps", CLI_DOUBLE, &got.eps, "E", "privacy", false},
                                     {"most", CLI_COUNT, &got.most, "N", "at the most", false},
                                     {"seed-number", CLI_U64, &got.seed, "S", "which", false},
                                     CLI_MORE,
                                     CLI_OPT("names", &got.names, "A,B", "names"),
                                     {"each", CLI_EACH, &got.each, "A", "one more", false},
                                     CLI_OPT("reals", &got.reals, "X,Y", "numbers"),
                                     CLI_OPT("wholes", &got.wholes, "N,M", "rows"),
                                     CLI_OPT("span", &got.span, "LO:HI", "a range"),
                                     CLI_OPT("spans", &got.spans, "LO:HI,…", "ranges"),
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

TEST(test_taken) {
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

TEST(test_refused) {
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
        {{"--names", "a,,b"}, "tacet try out: --names: 'a,,b' is not names with commas between them\n"},
        {{"--reals", "1,x"}, "tacet try out: --reals: '1,x' is not finite numbers with commas between them\n"},
        {{"--wholes", "1,-2"}, "tacet try out: --wholes: '1,-2' is not whole numbers from 0 on with commas"},
        {{"--span", "2:1"}, "tacet try out: --span: '2:1' is not LO:HI, two numbers with LO below HI\n"},
        {{"--spans", "0:1,2"}, "tacet try out: --spans: '0:1,2' is not LO:HI,LO:HI…, two numbers for each coordinate"},
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

TEST(test_positional) {
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

TEST(test_help_and_man) {
    assert_int_equal(PARSE("--help"), CLI_EXIT_OK);
    static const char *const names[] = {"flag", "text", "real", "count", "seed-number"};
    char text[64];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        (void)snprintf(text, sizeof text, "\n  --%s", names[i]);
        assert_non_null(strstr(out, text));
    }
    assert_non_null(strstr(out, "usage: tacet try out --count N [options]\n"));
    assert_non_null(strstr(out, "\n6 more options, and the whole of the help: 'tacet try out --help-all'.\n"));
    assert_null(strstr(out, "--names"));
    assert_int_equal(PARSE("--help-all"), CLI_EXIT_OK);
    assert_non_null(strstr(out, "\n  --names A,B"));
    assert_non_null(strstr(out, "\n  --flag"));
    assert_non_null(strstr(out, "\nNumbers:\n"));
    assert_null(strstr(out, "more options"));
    assert_int_equal(PARSE("--help"), CLI_EXIT_OK);
    assert_non_null(strstr(out, "tacet try out --count 3"));
    assert_int_equal(PARSE("--man"), CLI_EXIT_OK);
    assert_int_equal(strncmp(out, ".TH TACET-TRY-OUT 1", 19), 0);
    assert_non_null(strstr(out, "\\-\\-seed\\-number"));
    assert_non_null(strstr(out, "\\&.Second\\eparagraph."));           /* not taken for a request */
    assert_int_equal(PARSE("--count", "x", "--help"), CLI_EXIT_USAGE); /* the first thing wrong wins */
}

TEST(test_json_flag) {
    assert_int_equal(PARSE("--json", "--count", "1"), -1);
    assert_true(cli_json_wanted());
}

TEST(lists_are_taken_apart_by_their_kind) {
    assert_int_equal(PARSE("--count", "1", "--names", "a, b,c", "--reals", "0.5,-2e3", "--wholes", "3,1e2", "--span",
                           "-1:2.5", "--spans", "0:1,2:4"),
                     -1);
    assert_int_equal(got.names.count, 3);
    assert_string_equal(got.names.at[0], "a");
    assert_string_equal(got.names.at[1], " b");
    assert_string_equal(got.names.at[2], "c");
    assert_true(got.reals.count == 2 && got.reals.at[0] == 0.5 && got.reals.at[1] == -2000);
    assert_true(got.wholes.count == 2 && got.wholes.at[0] == 3 && got.wholes.at[1] == 100);
    assert_true(got.span.given && got.span.lo == -1 && got.span.hi == 2.5);
    assert_true(got.spans.count == 2 && got.spans.lo[1] == 2 && got.spans.hi[0] == 1 && got.spans.hi[1] == 4);
    assert_int_equal(PARSE("--count", "1", "--each", "a,b", "--each", "c"), -1);
    assert_true(got.each.count == 2 && strcmp(got.each.at[0], "a,b") == 0 && strcmp(got.each.at[1], "c") == 0);
    assert_null(got.names.at);
    assert_false(got.span.given);
}

TEST(test_split_and_number) {
    cli_names names = {0};
    cli_reals reals = {0};
    static const char *const bad[] = {"", ",", "a,", ",a", "a,,b"};
    for (size_t i = 0; i < 5; i++) {
        assert_false(CLI_READ(&names, bad[i]));
    }
    for (int n = 1; n <= 3; n++) { /* the words, the numbers, and the other numbers */
        fail_alloc_after(n);
        assert_false(CLI_READ(&reals, "1,2"));
        fail_alloc_after(0);
    }
    assert_null(names.at);
    assert_null(reals.at);
    double x = 7;
    assert_false(cli_number(&x, ""));
    assert_false(cli_number(&x, "1 "));
    assert_false(cli_number(&x, "-inf"));
    assert_true(x == 7);
    assert_true(cli_number(&x, "1e-3"));
    assert_true(x == 1e-3);
}

TEST(test_pairs) {
    static const char *const bad[] = {"", ":", "1", "1:", ":2", "1:2:3", "1:2x", "a:2", "1:inf", "nan:2"};
    char text[300];
    double a = 7;
    double b = 8;
    cli_span span = {0};
    memset(text, '0', sizeof text);
    memcpy(text + sizeof text - 3, ":1", 3);
    for (size_t i = 0; i <= sizeof bad / sizeof bad[0]; i++) {
        const char *words = i < sizeof bad / sizeof bad[0] ? bad[i] : text; /* the last: longer than any number */
        assert_false(cli_pair(&a, &b, words));
        assert_false(CLI_READ(&span, words));
    }
    assert_false(CLI_READ(&span, "2:2"));
    assert_false(CLI_READ(&span, "3:2"));
    assert_true(a == 7 && b == 8 && !span.given);
    assert_true(CLI_READ(&span, "-1.5:2e3"));
    assert_true(span.given && span.lo == -1.5 && span.hi == 2000);
    assert_true(cli_pair(&a, &b, "3:-2"));
    assert_true(a == 3 && b == -2);
}
