/* SPDX-License-Identifier: Apache-2.0 */
/* parse.c - options from a table, with the help and the manual page made from the same table.
 * Ring: programs. */
#include "common/cli.h"
#include "common/internal.h"
#include "common/nearest.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool json_wanted;

bool cli_json_wanted(void) {
    return json_wanted;
}

bool cli_number(double *out, const char *text) {
    char *end = NULL;
    if (text == NULL || text[0] == '\0') {
        return false;
    }
    const double value = strtod(text, &end);
    if (*end != '\0' || !isfinite(value)) {
        return false;
    }
    *out = value;
    return true;
}

bool cli_value(double *out, const char *text) {
    char line[128] = "";
    const bool typed = strcmp(text, "-") == 0;
    if (typed && fgets(line, sizeof line, stdin) != NULL) {
        line[strcspn(line, "\r\n")] = '\0';
    }
    const bool ok = cli_number(out, typed ? line : text);
    explicit_bzero(line, sizeof line);
    return ok;
}

bool cli_pair(double *a, double *b, const char *text) {
    char first[128];
    double left = 0;
    const char *colon = strchr(text, ':');
    const size_t length = colon == NULL ? sizeof first : (size_t)(colon - text);
    if (length >= sizeof first) {
        return false;
    }
    memcpy(first, text, length);
    first[length] = '\0';
    if (!cli_number(&left, first) || !cli_number(b, colon + 1)) {
        return false;
    }
    *a = left;
    return true;
}

static bool whole(uint64_t *out, const char *text) {
    char *end = NULL;
    if (text == NULL || text[0] < '0' || text[0] > '9') {
        return false; /* strtoull takes "-1" and " 1" */
    }
    errno = 0;
    const unsigned long long value = strtoull(text, &end, 10);
    if (*end == 'e' || *end == 'E' || *end == '.') {
        /* "1e6" is how people write counts; taken when it is exactly whole. */
        double real = 0;
        if (!cli_number(&real, text) || real < 0 || real > 0x1p53 || real != floor(real)) {
            return false;
        }
        *out = (uint64_t)real;
        return true;
    }
    if (*end != '\0' || errno != 0) {
        return false;
    }
    *out = value;
    return true;
}

/* Memory for what options say, which is kept until the program ends. */
static void *keep(size_t count, size_t size) {
    typedef struct kept {
        struct kept *next;
        double data[];
    } kept;
    static kept *all;
    kept *one = malloc(sizeof *one + count * size);
    if (one == NULL) {
        return NULL;
    }
    one->next = all;
    all = one;
    return one->data;
}

/* What an option of a list was given so far, and more of it. */
static const char *append(const char *before, const char *more) {
    if (before == NULL || more == NULL) {
        return more;
    }
    const size_t size = strlen(before) + strlen(more) + 2;
    char *text = keep(size, 1);
    if (text != NULL) {
        (void)snprintf(text, size, "%s,%s", before, more);
    }
    return text;
}

/* At commas; no name is empty. */
static bool split(cli_names *out, const char *text) {
    const size_t length = strlen(text) + 1;
    size_t count = 1;
    for (const char *c = text; *c != '\0'; c++) {
        count += *c == ',';
    }
    char **array = keep(count * sizeof *array + length, 1);
    if (array == NULL) {
        return false;
    }
    char *rest = memcpy(array + count, text, length);
    for (size_t i = 0; i < count; i++) {
        array[i] = strsep(&rest, ",");
        if (array[i][0] == '\0') {
            return false;
        }
    }
    *out = (cli_names){(const char *const *)array, count};
    return true;
}

static bool interval(double *lo, double *hi, const char *text) {
    return cli_pair(lo, hi, text) && *lo < *hi;
}

static bool read_list(cli_kind kind, void *target, const char *text) {
    cli_names words;
    if (!split(&words, text)) {
        return false;
    }
    double *reals = keep(2 * words.count, sizeof *reals);
    double *more = reals + words.count;
    size_t *wholes = keep(words.count, sizeof *wholes);
    bool good = reals != NULL && wholes != NULL;
    for (size_t i = 0; good && i < words.count; i++) {
        uint64_t number = 0;
        good = kind == CLI_REALS    ? cli_number(&reals[i], words.at[i])
               : kind == CLI_WHOLES ? whole(&number, words.at[i]) && number <= SIZE_MAX
                                    : interval(&reals[i], &more[i], words.at[i]);
        wholes[i] = (size_t)number;
    }
    if (good && kind == CLI_REALS) {
        *(cli_reals *)target = (cli_reals){reals, words.count};
    } else if (good && kind == CLI_WHOLES) {
        *(cli_wholes *)target = (cli_wholes){wholes, words.count};
    } else if (good) {
        *(cli_spans *)target = (cli_spans){reals, more, words.count};
    }
    return good;
}

bool cli__read(cli_kind kind, void *target, const char *value) {
    uint64_t number = 0;
    if (value == NULL && kind != CLI_FLAG) {
        return false;
    }
    switch (kind) {
    case CLI_FLAG:
        *(bool *)target = true;
        return true;
    case CLI_STRING:
        *(const char **)target = value;
        return true;
    case CLI_DOUBLE:
        return cli_number(target, value);
    case CLI_SIZE:
    case CLI_COUNT:
        if (!whole(&number, value) || number > SIZE_MAX || (kind == CLI_COUNT && number == 0)) {
            return false;
        }
        *(size_t *)target = (size_t)number;
        return true;
    case CLI_U64:
        return whole(target, value);
    case CLI_LIST: {
        const char **list = (const char **)target;
        *list = append(*list, value);
        return *list != NULL;
    }
    case CLI_NAMES:
        return split(target, value);
    case CLI_EACH: {
        cli_names *names = target;
        const char **more = keep(names->count + 1, sizeof *more);
        if (more == NULL) {
            return false;
        }
        for (size_t i = 0; i < names->count; i++) {
            more[i] = names->at[i];
        }
        more[names->count] = value;
        *names = (cli_names){more, names->count + 1};
        return true;
    }
    case CLI_SPAN: {
        cli_span span = {.given = true};
        if (!interval(&span.lo, &span.hi, value)) {
            return false;
        }
        *(cli_span *)target = span;
        return true;
    }
    case CLI_REALS:
    case CLI_WHOLES:
    case CLI_SPANS:
        return read_list(kind, target, value);
    }
    return false;
}

static const char *wanted(cli_kind kind) {
    static const char *const WORDS[] = {
        [CLI_DOUBLE] = "a finite number",
        [CLI_SIZE] = "a whole number from 0 on that fits 64 bits",
        [CLI_COUNT] = "a whole number above 0 that fits 64 bits",
        [CLI_U64] = "a whole number from 0 on that fits 64 bits",
        [CLI_NAMES] = "names with commas between them",
        [CLI_REALS] = "finite numbers with commas between them",
        [CLI_WHOLES] = "whole numbers from 0 on with commas between them",
        [CLI_SPAN] = "LO:HI, two numbers with LO below HI",
        [CLI_SPANS] = "LO:HI,LO:HI…, two numbers for each coordinate with LO below HI",
    };
    return WORDS[kind];
}

static const cli_option *find(const cli_option *options, const char *name, size_t length, size_t *at) {
    for (size_t i = 0; options[i].name != NULL; i++) {
        if (options[i].name[0] != '\0' && strlen(options[i].name) == length &&
            memcmp(options[i].name, name, length) == 0) {
            *at = i;
            return &options[i];
        }
    }
    return NULL;
}

/* Of options given twice the last one counts, as scripts expect, except where the privacy that is spent depends on it.
 */
static bool spends(const char *name) {
    static const char *const BEGIN[] = {"eps", "delta", "budget", "ledger"};
    for (size_t i = 0; i < sizeof BEGIN / sizeof *BEGIN; i++) {
        if (strncmp(name, BEGIN[i], strlen(BEGIN[i])) == 0) {
            return true;
        }
    }
    return false;
}

/* What other tools call things, and what they are here: the first that the command has. */
static const char *const ELSEWHERE[][6] = {
    {"epsilon", "eps", "budget-eps"},
    {"minimise", "minimize"},
    {"noise", "noise-sd", "noise-var", "mechanism"},
    {"n-trials", "queries", "rounds", "evaluations", "trials"},
    {"n-iter", "queries", "rounds", "evaluations", "trials"},
    {"n_trials", "queries", "rounds", "evaluations", "trials"},
    {"trials", "queries", "rounds", "evaluations"},
    {"max-evals", "queries", "rounds", "evaluations"},
    {"sigma", "eps"},
    {"input", "data", "in", "model"},
    {"file", "data", "in", "model"},
    {"csv", "data", "in", "model"},
    {"output", "out", "page"},
    {"features", "inputs", "contexts"},
    {"columns", "inputs", "contexts"},
    {"objective", "target", "reward"},
    {"metric", "target", "reward"},
    {"outcome", "target", "reward"},
    {"treatment", "actions"},
    {"variant", "actions"},
    {"units", "unit"},
    {"clip", "bounds", "range"},
    {"port", "listen"},
    {"host", "listen"},
    {"budget", "budget-eps", "eps"},
    {"privacy-budget", "budget-eps", "eps"},
};

static const char *known_elsewhere(const cli_option *options, const char *name, size_t length) {
    for (size_t i = 0; i < sizeof ELSEWHERE / sizeof *ELSEWHERE; i++) {
        if (strlen(ELSEWHERE[i][0]) != length || memcmp(ELSEWHERE[i][0], name, length) != 0) {
            continue;
        }
        for (size_t k = 1; k < 6 && ELSEWHERE[i][k] != NULL; k++) {
            size_t at = 0;
            if (find(options, ELSEWHERE[i][k], strlen(ELSEWHERE[i][k]), &at) != NULL) {
                return ELSEWHERE[i][k];
            }
        }
    }
    return NULL;
}

static int unknown(const cli_command *command, const cli_option *options, const char *name, size_t length) {
    cli_nearest search;
    if (length == strlen("maximize") &&
        (memcmp(name, "maximize", length) == 0 || memcmp(name, "maximise", length) == 0)) {
        /* Its nearest neighbour is its opposite. */
        return cli_usage(command, "unknown option --%.*s: the largest value is looked for unless you say otherwise",
                         (int)length, name);
    }
    const char *here = known_elsewhere(options, name, length);
    if (here != NULL) {
        return cli_usage(command, "unknown option --%.*s; here it is --%s", (int)length, name, here);
    }
    if (length == strlen("minimize") &&
        (memcmp(name, "minimize", length) == 0 || memcmp(name, "minimise", length) == 0)) {
        return cli_usage(command, "unknown option --%.*s: the largest value is looked for", (int)length, name);
    }
    cli_nearest_begin(&search, name, length);
    for (size_t i = 0; options[i].name != NULL; i++) {
        cli_nearest_offer(&search, options[i].name);
    }
    return search.best != NULL
               ? cli_usage(command, "unknown option --%.*s; did you mean --%s?", (int)length, name, search.best)
               : cli_usage(command, "unknown option --%.*s", (int)length, name);
}

typedef struct parsing {
    const cli_command *command;
    const cli_option *options;
    uint64_t seen; /* which options were given; tables are shorter than 64 */
    bool file;     /* … by a file, which the command line then overrides */
} parsing;

static int take(parsing *p, const char *name, size_t length, const char *value, bool given) {
    size_t at = 0;
    const cli_option *option = find(p->options, name, length, &at);
    if (option == NULL) {
        return unknown(p->command, p->options, name, length);
    }
    if (option->kind == CLI_FLAG && p->file) {
        if (strcmp(value, "yes") != 0 && strcmp(value, "no") != 0) {
            return cli_usage(p->command, "%s is yes or no", option->name);
        }
        if (strcmp(value, "no") == 0) {
            return CLI_EXIT_OK;
        }
    } else if (option->kind == CLI_FLAG && given) {
        return cli_usage(p->command, "--%s takes no value", option->name);
    }
    if (!cli__read(option->kind, option->target, value)) {
        return cli_usage(p->command, "--%s: '%s' is not %s", option->name, value, wanted(option->kind));
    }
    const uint64_t bit = UINT64_C(1) << (at % 64);
    if ((p->seen & bit) != 0 && spends(option->name)) {
        return cli_usage(p->command, "--%s is given twice", option->name);
    }
    p->seen |= bit;
    return CLI_EXIT_OK;
}

/* A word without an option: where it may be a file, the option that takes the command's file is named. */
static int unexpected(const cli_command *command, const cli_option *options, const char *word) {
    static const char *const FILES[] = {"data", "in", "model", "ledger"};
    size_t at = 0;
    for (size_t i = 0; strchr(word, '.') != NULL && i < sizeof FILES / sizeof *FILES; i++) {
        if (find(options, FILES[i], strlen(FILES[i]), &at) != NULL) {
            return cli_usage(command, "unexpected argument '%s'; a file is given by --%s", word, FILES[i]);
        }
    }
    return cli_usage(command, "unexpected argument '%s'", word);
}

static int take_from_file(void *user, const char *name, const char *value) {
    return take(user, name, strlen(name), value, true);
}

static int parse_one(parsing *p, int *i, int argc, char **argv) {
    const char *name = argv[*i] + 2;
    const char *equals = strchr(name, '=');
    const size_t length = equals != NULL ? (size_t)(equals - name) : strlen(name);
    const char *value = equals != NULL ? equals + 1 : NULL;
    const bool given = value != NULL;
    const bool config = length == strlen("config") && memcmp(name, "config", length) == 0;
    size_t at = 0;
    const cli_option *option = find(p->options, name, length, &at);
    if (value == NULL && (config || (option != NULL && option->kind != CLI_FLAG))) {
        if (*i + 1 >= argc) {
            return cli_usage(p->command, "--%.*s needs a value (%s)", (int)length, name,
                             config ? "FILE" : option->meta);
        }
        value = argv[++*i];
    }
    return config ? CLI_EXIT_OK : take(p, name, length, value, given);
}

/* Before the command line, which counts more: the last --config there is. */
static int read_config(parsing *p, int argc, char **argv) {
    const char *path = NULL;
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--config") == 0 && i + 1 < argc) {
            path = argv[i + 1];
        } else if (strncmp(argv[i], "--config=", 9) == 0) {
            path = argv[i] + 9;
        }
    }
    if (path == NULL) {
        return CLI_EXIT_OK;
    }
    p->file = true;
    const int code = cli__config(p->command, path, take_from_file, p);
    p->file = false;
    return code;
}

bool cli_parse(const cli_command *command, const cli_option *options, int argc, char **argv, const char **positional,
               size_t *positional_count, int *exit_code) {
    const size_t most = positional != NULL && positional_count != NULL ? *positional_count : 0;
    size_t found = 0;
    parsing p = {.command = command, .options = options};
    bool only_positional = false;
    *exit_code = read_config(&p, argc, argv);
    if (*exit_code != CLI_EXIT_OK) {
        return false;
    }
    const uint64_t from_file = p.seen;
    p.seen = 0;
    for (int i = 1; i < argc; i++) {
        if (only_positional || argv[i][0] != '-' || argv[i][1] == '\0') {
            if (found >= most) {
                *exit_code = unexpected(command, options, argv[i]);
                return false;
            }
            positional[found++] = argv[i];
        } else if (strcmp(argv[i], "--") == 0) {
            only_positional = true;
        } else if (strcmp(argv[i], "--json") == 0) {
            json_wanted = true;
        } else if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0 || strcmp(argv[i], "--help-all") == 0) {
            cli__help(command, options, strcmp(argv[i], "--help-all") == 0);
            *exit_code = CLI_EXIT_OK;
            return false;
        } else if (strcmp(argv[i], "--man") == 0) {
            cli__man(command, options);
            *exit_code = CLI_EXIT_OK;
            return false;
        } else if (strcmp(argv[i], "--options") == 0) {
            cli__options(options);
            *exit_code = CLI_EXIT_OK;
            return false;
        } else if (argv[i][1] != '-') {
            *exit_code = cli_usage(command, "unknown option %s", argv[i]);
            return false;
        } else if ((*exit_code = parse_one(&p, &i, argc, argv)) != CLI_EXIT_OK) {
            return false;
        }
    }
    for (size_t i = 0; options[i].name != NULL; i++) {
        if (options[i].required && ((p.seen | from_file) & (UINT64_C(1) << (i % 64))) == 0) {
            *exit_code = cli_usage(command, "--%s %s is required", options[i].name, options[i].meta);
            return false;
        }
    }
    if (positional_count != NULL) {
        *positional_count = found;
    }
    return true;
}
