/* SPDX-License-Identifier: Apache-2.0 */
/* steps.c - commands of tacet: run as a person would run them, and written down as they were run.
 * Ring: programs. What the script says is what was run: both come from the same words. */
#include "start.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void step_words(step *s, const char *const *words) {
    for (; *words != NULL && s->count + 2 < STEP_WORDS; words++) {
        s->words[s->count++] = *words;
    }
    s->words[s->count] = NULL;
}

/* A word as a shell takes it: in quotes where it has anything but what needs none. */
static void print_word(FILE *out, const char *word) {
    static const char PLAIN[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:,=+@%";
    if (word[0] != '\0' && word[strspn(word, PLAIN)] == '\0') {
        (void)fputs(word, out);
        return;
    }
    (void)fputc('\'', out);
    for (; *word != '\0'; word++) {
        if (*word == '\'') {
            (void)fputs("'\\''", out);
        } else {
            (void)fputc(*word, out);
        }
    }
    (void)fputc('\'', out);
}

static void print_step(FILE *out, const step *s) {
    (void)fputs("tacet", out);
    for (size_t i = 0; i < s->count; i++) {
        (void)fputc(' ', out);
        print_word(out, s->words[i]);
    }
    (void)fputc('\n', out);
}

void steps_print(const step *s, const char *indent) {
    printf("%s", indent);
    print_step(stdout, s);
}

void steps_tell_path(void) {
    char here[PATH_MAX] = "", at[PATH_MAX];
    const char *dirs = getenv("PATH");
    for (dirs = dirs != NULL ? dirs : ""; *dirs != '\0'; dirs += *dirs == ':') {
        const size_t length = strcspn(dirs, ":");
        (void)snprintf(at, sizeof at, "%.*s/tacet", (int)length, dirs);
        if (access(at, X_OK) == 0) {
            return;
        }
        dirs += length;
    }
    if (readlink("/proc/self/exe", here, sizeof here - 1) > 0) {
        printf("For a shell to find tacet: export PATH=\"%.*s:$PATH\"\n", (int)(strrchr(here, '/') - here), here);
    }
}

void steps_write(steps *all, const step *s, const char *note, bool later) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL) {
        return;
    }
    (void)fprintf(out, "%s%s%s%s%s", all->script != NULL ? all->script : "", note != NULL ? "# " : "",
                  note != NULL ? note : "", note != NULL ? "\n" : "", later ? "#   " : "");
    print_step(out, s);
    if (fclose(out) == 0) {
        free(all->script);
        all->script = text;
    } else {
        free(text);
    }
}

/* `tacet` lies beside this program, as every other one does. */
static void become_tacet(const step *s, bool json) {
    char path[PATH_MAX + 16];
    const char *words[STEP_WORDS + 3] = {"tacet"};
    const ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
    path[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(path, '/');
    (void)snprintf(slash != NULL ? slash + 1 : path, 16, "tacet");
    memcpy(words + 1, s->words, s->count * sizeof *words);
    words[s->count + 1] = json ? "--json" : NULL;
    words[s->count + 2] = NULL;
    (void)execv(path, (char **)(uintptr_t)words);
    (void)execvp("tacet", (char **)(uintptr_t)words);
    (void)fprintf(stderr, "tacet start: cannot run tacet: %s\n", strerror(errno));
    _exit(CLI_EXIT_FAILED);
}

int steps_run(const steps *all, const step *s, json_t **out) {
    int ends[2] = {-1, -1};
    int state = 0;
    (void)fflush(stdout);
    if (out != NULL && pipe(ends) != 0) {
        cli_say(all->self, "out of file descriptors");
        return CLI_EXIT_FAILED;
    }
    const pid_t child = fork();
    if (child == 0) {
        if (out != NULL) {
            (void)dup2(ends[1], STDOUT_FILENO);
            (void)close(ends[0]);
            (void)close(ends[1]);
        }
        become_tacet(s, out != NULL);
    }
    if (out != NULL) {
        (void)close(ends[1]);
        FILE *in = fdopen(ends[0], "r");
        *out = in != NULL ? json_loadf(in, 0, NULL) : NULL;
        if (in != NULL) {
            (void)fclose(in);
        }
    }
    const bool ended = child > 0 && waitpid(child, &state, 0) == child && WIFEXITED(state);
    return !ended                                                   ? CLI_EXIT_FAILED
           : out != NULL && *out == NULL && WEXITSTATUS(state) == 0 ? CLI_EXIT_FAILED
                                                                    : WEXITSTATUS(state);
}
