/* SPDX-License-Identifier: Apache-2.0 */
/* evaluate.c - a command for one record, in a process group of its own, with a time-out.
 * Ring: trusted. The command is the curator's own and trusted with the record; it is not trusted to end, to print a
 * number, or to read its input. */
#include "outsourced/trusted/evaluate.h"

#include "core/clock.h"
#include "core/fail.h"
#include "core/number.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sodium.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
enum { MOST_OUTPUT = 256, LOOK_MS = 20 };

static pid_t launch(const char *command, int in, int out) {
    pid_t pid = -1;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    char *const argv[] = {(char *)(size_t) "sh", (char *)(size_t) "-c", (char *)(size_t)command, NULL};
    sigset_t none;
    sigset_t ordinary;
    (void)sigemptyset(&none);
    (void)sigemptyset(&ordinary);
    (void)sigaddset(&ordinary, SIGPIPE);
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawnattr_init(&attributes);
    (void)posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
    (void)posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    /* Its own group, so that the time-out reaches whatever it started; SIGPIPE as programs expect it, whatever a
     * service made of it. */
    (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    (void)posix_spawnattr_setpgroup(&attributes, 0);
    (void)posix_spawnattr_setsigmask(&attributes, &none);
    (void)posix_spawnattr_setsigdefault(&attributes, &ordinary);
    if (posix_spawn(&pid, "/bin/sh", &actions, &attributes, argv, environ) != 0) {
        pid = -1;
    }
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)posix_spawnattr_destroy(&attributes);
    return pid;
}

/* Has the command itself ended? It is not reaped: its number, and that of its group, stay taken until the group was
 * killed. */
static bool has_ended(pid_t pid) {
    siginfo_t info = {0};
    const int code = waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT);
    return (code == 0 && info.si_pid == pid) || (code != 0 && errno != EINTR);
}

/* Collects the output until the command closes it, or has ended and left nothing to read (something it started may hold
 * the pipe for longer); false at the deadline. Output beyond the buffer is dropped: the text is then no number. */
static bool listen_to(pid_t pid, int from, char output[MOST_OUTPUT + 1], size_t *got, double deadline) {
    *got = 0;
    while (tacet__now() < deadline) {
        struct pollfd fd = {.fd = from, .events = POLLIN};
        const bool last = has_ended(pid); /* before the look: what it wrote is then all there */
        const int ready = poll(&fd, 1, last ? 0 : LOOK_MS);
        if (ready < 0 && errno != EINTR) {
            return false;
        }
        if (ready > 0) {
            char piece[MOST_OUTPUT];
            const ssize_t n = read(from, piece, sizeof piece);
            if (n <= 0) {
                return true;
            }
            for (ssize_t i = 0; i < n && *got < MOST_OUTPUT; i++) {
                output[(*got)++] = piece[i];
            }
        } else if (last && ready == 0) {
            return true;
        }
    }
    return false;
}

static tacet_status number_from(double *out, char *text, size_t length, tacet_error *err) {
    while (length > 0 && strchr(" \t\r\n", text[length - 1]) != NULL) {
        length--;
    }
    size_t start = 0;
    while (start < length && strchr(" \t\r\n", text[start]) != NULL) {
        start++;
    }
    text[length] = '\0';
    if (length >= MOST_OUTPUT || tacet__number_parse(out, text + start, length - start) != TACET__NUMBER_OK) {
        return tacet__fail(err, TACET_UNSUPPORTED, "the evaluator did not print one finite number");
    }
    return TACET_OK;
}

/* Waits for the command within the deadline; then kills its whole group, so that nothing it started lives on. False
 * when its exit cannot be known. */
static bool reap(int *code, pid_t pid, double deadline, bool *in_time) {
    while (*in_time && !has_ended(pid)) {
        *in_time = tacet__now() < deadline;
        (void)usleep(1000);
    }
    (void)kill(-pid, SIGKILL);
    pid_t got = 0;
    do {
        got = waitpid(pid, code, 0);
    } while (got < 0 && errno == EINTR);
    return got == pid;
}

/* The record in a file that is in memory alone and has no name: a command that does not read it, or not all of it,
 * holds up nobody, and no signal comes of it. */
static int input_of(const char *text) {
    const size_t length = strlen(text);
    const int fd = memfd_create("record", MFD_CLOEXEC);
    size_t sent = 0;
    while (fd >= 0 && sent < length) {
        const ssize_t n = pwrite(fd, text + sent, length - sent, (off_t)sent); /* it is read from its beginning */
        if (n <= 0 && errno != EINTR) {
            (void)close(fd);
            return -1;
        }
        sent += n > 0 ? (size_t)n : 0;
    }
    return fd;
}

tacet_status tacet__evaluate(double *out, const char *command, const char *input, double seconds, tacet_error *err) {
    int from[2];
    char output[MOST_OUTPUT + 1];
    size_t got = 0;
    const int to = input_of(input);
    if (to < 0 || pipe2(from, O_CLOEXEC) != 0) {
        (void)close(to);
        return tacet__fail(err, TACET_IO, "no pipe for the evaluator");
    }
    const double deadline = tacet__now() + seconds;
    const pid_t pid = launch(command, to, from[1]);
    (void)close(to);
    (void)close(from[1]);
    bool in_time = pid >= 0 && listen_to(pid, from[0], output, &got, deadline);
    (void)close(from[0]);
    if (pid < 0) {
        return tacet__fail(err, TACET_UNSUPPORTED, "the evaluator could not be started");
    }
    int code = 0;
    const bool known = reap(&code, pid, deadline, &in_time);
    if (!in_time) {
        return tacet__fail(err, TACET_UNSUPPORTED, "the evaluator did not end within %g seconds", seconds);
    }
    if (!known) {
        return tacet__fail(err, TACET_UNSUPPORTED, "how the evaluator ended is not known");
    }
    if (!WIFEXITED(code) || WEXITSTATUS(code) != 0) {
        return tacet__fail(err, TACET_UNSUPPORTED, "the evaluator ended with %s %d",
                           WIFEXITED(code) ? "exit code" : "signal",
                           WIFEXITED(code) ? WEXITSTATUS(code) : WTERMSIG(code));
    }
    const tacet_status status = number_from(out, output, got, err);
    sodium_memzero(output, sizeof output);
    return status;
}
