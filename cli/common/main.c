/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - main() of every program: the list of commands, errors, JSON, progress.
 * Ring: programs. */
#include "common/internal.h"
#include "common/nearest.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <tacet/gp/threads.h>
#include <time.h>
#include <unistd.h>

static const char *front = "tacet";

const char *cli__front(void) {
    return front;
}

static void list(const cli_program *program, FILE *out) {
    fprintf(out, "usage: %s COMMAND [options]\n\n%s\nRing: %s.\n\nCommands:\n", program->name, program->summary,
            program->ring);
    for (const cli_command *c = program->commands; c->name != NULL; c++) {
        fprintf(out, "  %-22s %s\n", c->name, c->summary);
    }
    fprintf(out, "\n'%s COMMAND --help' explains one of them.\n", program->name);
}

/* Commands may be of two words ("ledger show"). Both are typed after `tacet`, but the program itself, whose name says
 * the first word, is content with the second: `tacet-ledger show`. */
static const cli_command *find(const cli_program *program, int argc, char **argv, int *used) {
    const cli_command *short_form = NULL;
    for (const cli_command *c = program->commands; c->name != NULL; c++) {
        const char *space = strchr(c->name, ' ');
        if (space == NULL && strcmp(c->name, argv[1]) == 0) {
            *used = 1;
            return c;
        }
        if (space != NULL && argc > 2 && strncmp(c->name, argv[1], (size_t)(space - c->name)) == 0 &&
            argv[1][space - c->name] == '\0' && strcmp(space + 1, argv[2]) == 0) {
            *used = 2;
            return c;
        }
        if (space != NULL && strcmp(space + 1, argv[1]) == 0) {
            short_form = c;
        }
    }
    *used = 1;
    return short_form;
}

/* The second word of a command of two whose first is `word`; NULL when this is none. */
static const char *second_word(const cli_command *c, const char *word) {
    const size_t length = strlen(word);
    return strncmp(c->name, word, length) == 0 && c->name[length] == ' ' ? c->name + length + 1 : NULL;
}

/* `tacet ledger`, `tacet ledger --help`, `tacet ledger nonsense`: the commands that begin with the word. False when
 * there are none. */
static bool group(const cli_program *program, int argc, char **argv, int *code) {
    const bool help = argc > 2 && (strcmp(argv[2], "--help") == 0 || strcmp(argv[2], "-h") == 0);
    size_t count = 0;
    for (const cli_command *c = program->commands; c->name != NULL; c++) {
        count += second_word(c, argv[1]) != NULL;
    }
    if (count == 0) {
        return false;
    }
    if (help) {
        printf("usage: %s %s COMMAND [options]\n\nCommands:\n", front, argv[1]);
    } else if (argc > 2) {
        cli_nearest search;
        cli_nearest_begin(&search, argv[2], strlen(argv[2]));
        for (const cli_command *c = program->commands; c->name != NULL; c++) {
            const char *second = second_word(c, argv[1]);
            if (second != NULL) {
                cli_nearest_offer(&search, second);
            }
        }
        if (search.best != NULL) {
            fprintf(stderr, "%s %s: no command '%s'; did you mean '%s'? There are:", front, argv[1], argv[2],
                    search.best);
        } else {
            fprintf(stderr, "%s %s: no command '%s':", front, argv[1], argv[2]);
        }
    } else {
        fprintf(stderr, "%s %s: which one?", front, argv[1]);
    }
    for (const cli_command *c = program->commands; c->name != NULL; c++) {
        const char *second = second_word(c, argv[1]);
        if (second != NULL && help) {
            printf("  %-22s %s\n", c->name, c->summary);
        } else if (second != NULL) {
            fprintf(stderr, " %s%s", second, --count > 0 ? "," : "\n");
        }
    }
    if (help) {
        if (program->elsewhere != NULL) {
            printf("  %s\n", program->elsewhere);
        }
        printf("\n'%s %s COMMAND --help' explains one of them; '%s --help' lists all there are.\n", front, argv[1],
               front);
    }
    *code = help ? CLI_EXIT_OK : CLI_EXIT_USAGE;
    return true;
}

/* Output that could not be written is a failure, whatever the command says. */
static int written(const cli_program *program, int code) {
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "%s: writing the output failed\n", program->name);
        return CLI_EXIT_FAILED;
    }
    return code;
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* they trace themselves */

/* Keeps what is touched out of swap, where the system lets so much be locked as there is: without a limit, or for who
 * may pass over it, which shows at a limit of 0. Under a limit, locking would make allocations fail. */
static void lock_memory(void) {
    struct rlimit is = {0, 0};
    if (getrlimit(RLIMIT_MEMLOCK, &is) != 0) {
        return;
    }
    const struct rlimit none = {0, is.rlim_max};
    const bool limited = is.rlim_cur != RLIM_INFINITY;
    if (!limited || setrlimit(RLIMIT_MEMLOCK, &none) == 0) {
        (void)mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT);
    }
    if (limited) {
        (void)setrlimit(RLIMIT_MEMLOCK, &is);
    }
}

/* What holds records leaves no image of its memory, and lets nobody of the same user read it. */
static void guard(const cli_program *program) {
    const struct rlimit none = {0, 0};
    if (strncmp(program->ring, "trusted", sizeof "trusted" - 1) == 0) {
        (void)setrlimit(RLIMIT_CORE, &none);
        (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
        lock_memory();
    }
}

#else

static void guard(const cli_program *program) {
    (void)program;
}

#endif

int cli_main(const cli_program *program, int argc, char **argv) {
    front = program->front != NULL ? program->front : front;
    guard(program);
    const char *threads = getenv("TACET_THREADS");
    const long count = threads != NULL ? strtol(threads, NULL, 10) : 1;
    tacet_threads(count >= 1 && count <= 1024 ? (int)count : 1);
    if (argc < 2) {
        list(program, stderr);
        return CLI_EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        list(program, stdout);
        return written(program, CLI_EXIT_OK);
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("%s %s\n", program->name, TACET_VERSION);
        return written(program, CLI_EXIT_OK);
    }
    if (strcmp(argv[1], "--commands") == 0) {
        for (const cli_command *c = program->commands; c->name != NULL; c++) {
            printf("%s\n", c->name);
        }
        return written(program, CLI_EXIT_OK);
    }
    int used = 0;
    const cli_command *command = find(program, argc, argv, &used);
    int code = CLI_EXIT_USAGE;
    if (command == NULL && group(program, argc, argv, &code)) {
        return written(program, code);
    }
    if (command == NULL) {
        cli_nearest search;
        cli_nearest_begin(&search, argv[1], strlen(argv[1]));
        for (const cli_command *c = program->commands; c->name != NULL; c++) {
            cli_nearest_offer(&search, c->name);
        }
        fprintf(stderr, "%s: no command '%s'%s%s%s; '%s --help' lists them\n", program->name, argv[1],
                search.best != NULL ? "; did you mean '" : "", search.best != NULL ? search.best : "",
                search.best != NULL ? "'?" : "", program->name);
        return CLI_EXIT_USAGE;
    }
    return written(program, command->run(argc - used, argv + used, command));
}

static void say(const cli_command *command, const char *format, va_list args) {
    cli_progress_end();
    fprintf(stderr, "%s %s: ", front, command->name);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
}

int cli_fail(const cli_command *command, const tacet_error *err) {
    cli_progress_end();
    fprintf(stderr, "%s %s: %s\n", front, command->name,
            err->message[0] != '\0' ? err->message : tacet_status_text(err->status));
    return err->status == TACET_BUDGET ? CLI_EXIT_BUDGET : CLI_EXIT_FAILED;
}

int cli_refuse(const cli_command *command, const tacet_error *err) {
    return err->status == TACET_INVALID && err->message[0] != '\0' ? cli_usage(command, "%s", err->message)
                                                                   : cli_fail(command, err);
}

int cli_end(const cli_command *command, tacet_status status, const tacet_error *err) {
    return status == TACET_OK ? CLI_EXIT_OK : cli_refuse(command, err);
}

int cli_usage(const cli_command *command, const char *format, ...) {
    va_list args;
    va_start(args, format);
    say(command, format, args);
    va_end(args);
    fprintf(stderr, "'%s %s --help' explains the options.\n", front, command->name);
    return CLI_EXIT_USAGE;
}

void cli_say(const cli_command *command, const char *format, ...) {
    va_list args;
    va_start(args, format);
    say(command, format, args);
    va_end(args);
}

bool cli_sure(const cli_command *command, bool yes, const char *why) {
    char said[16] = "";
    cli_say(command, "%s", why);
    if (yes) {
        return true;
    }
    if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO)) {
        cli_say(command, "nothing was done; --yes does it all the same");
        return false;
    }
    fprintf(stderr, "Do it all the same? yes or no > ");
    return fgets(said, sizeof said, stdin) != NULL && strcmp(said, "yes\n") == 0;
}

bool cli_sure_of_eps(const cli_command *command, bool yes, double eps) {
    static const double MOST = 20; /* e^20: what was believed at one in a million is then all but certain */
    char why[200];
    (void)snprintf(why, sizeof why,
                   "eps = %g hides hardly anything: whoever thinks something one in a million may end up certain of it",
                   eps);
    return !(eps > MOST) || cli_sure(command, yes, why);
}

double cli_seconds(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double progress_first;
static double progress_last;

void cli_progress(double fraction, const char *format, ...) {
    const double now = cli_seconds();
    if (!isatty(STDERR_FILENO) || (fraction < 1 && now - progress_last < 0.1)) {
        return;
    }
    if (progress_last == 0) {
        progress_first = now;
    }
    progress_last = now;
    fputs("\r\033[K", stderr);
    if (fraction >= 0) {
        const int filled = (int)(24 * (fraction < 1 ? fraction : 1));
        fputc('[', stderr);
        for (int i = 0; i < 24; i++) {
            fputc(i < filled ? '=' : ' ', stderr);
        }
        fputs("] ", stderr);
        if (fraction > 0.02 && fraction < 1) {
            fprintf(stderr, "%.0f s left  ", (now - progress_first) * (1 - fraction) / fraction);
        }
    }
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fflush(stderr);
}

void cli_progress_end(void) {
    if (progress_last != 0) {
        fputs("\r\033[K", stderr);
        progress_last = 0;
    }
}
