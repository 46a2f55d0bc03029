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
#include <sys/wait.h>
#include <tacet/core/blob.h>
#include <tacet/io/csv.h>
#include <time.h>
#include <unistd.h>

extern char **environ;
enum { MOST_OUTPUT = 256, LOOK_MS = 20 };

static tacet_status append_field(tacet_blob *text, const char *field, size_t length, bool last, tacet_error *err) {
    const bool quote = memchr(field, '"', length) != NULL || memchr(field, ',', length) != NULL ||
                       memchr(field, '\n', length) != NULL || memchr(field, '\r', length) != NULL;
    tacet_status status = quote ? tacet_blob_append(text, "\"", 1, err) : TACET_OK;
    for (size_t i = 0; i < length && status == TACET_OK; i++) {
        status = field[i] == '"' ? tacet_blob_append(text, "\"\"", 2, err) : tacet_blob_append(text, field + i, 1, err);
    }
    if (status == TACET_OK && quote) {
        status = tacet_blob_append(text, "\"", 1, err);
    }
    return status != TACET_OK ? status : tacet_blob_append(text, last ? "\n" : ",", 1, err);
}

tacet_status tacet__record_text(char **out, const tacet_manifest *manifest, const char *data, size_t row,
                                tacet_error *err) {
    tacet_csv *csv = NULL;
    tacet__persons *persons = NULL;
    size_t person = 0;
    tacet_blob text;
    bool found = true;
    *out = NULL;
    tacet_blob_init(&text);
    tacet_status status = tacet_csv_open_file(&csv, data, NULL, err);
    const size_t columns = status == TACET_OK ? tacet_csv_columns(csv) : 0;
    TACET_THEN(status, tacet__release_persons(&persons, &person, csv, manifest, err));
    for (size_t i = 0; i < columns && status == TACET_OK; i++) {
        const char *name = tacet_csv_name(csv, i);
        status = append_field(&text, name, strlen(name), i + 1 == columns, err);
    }
    for (size_t k = 0; k <= row && status == TACET_OK; k++) {
        status = tacet__persons_next(persons, csv, person, &found, err);
        if (status == TACET_OK && !found) {
            status = tacet__fail(err, TACET_NOT_FOUND, "%s: there is no record %zu", data, row);
        }
    }
    for (size_t i = 0; i < columns && status == TACET_OK; i++) {
        size_t length = 0;
        const char *field = tacet_csv_field(csv, i, &length);
        status = append_field(&text, field, length, i + 1 == columns, err);
    }
    TACET_THEN(status, tacet_blob_append(&text, "", 1, err));
    if (status == TACET_OK) {
        *out = strdup((const char *)text.data);
        status = *out != NULL ? TACET_OK : tacet__fail(err, TACET_NO_MEMORY, "out of memory for a record");
    }
    if (text.data != NULL) {
        sodium_memzero(text.data, text.size);
    }
    tacet_blob_clear(&text);
    tacet__persons_close(persons);
    tacet_csv_close(csv);
    return status;
}

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
static bool ended(pid_t pid) {
    siginfo_t info = {0};
    const int code = waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT);
    return (code == 0 && info.si_pid == pid) || (code != 0 && errno != EINTR);
}

static void feed(int *to, const char *input, size_t length, size_t *sent) {
    const ssize_t n = write(*to, input + *sent, length - *sent);
    /* A command that does not read its input is no error: the rest is not sent. */
    *sent = n > 0 ? *sent + (size_t)n : n < 0 && errno != EAGAIN && errno != EINTR ? length : *sent;
    if (*sent == length) {
        (void)close(*to);
        *to = -1; /* poll passes over it */
    }
}

/* Feeds the input and collects the output until the command closes it, or has ended and left nothing to read (something
 * it started may hold the pipe for longer); false at the deadline. Output beyond the buffer is dropped: the text is
 * then no number. */
static bool converse(pid_t pid, int *to, int from, const char *input, char output[MOST_OUTPUT + 1], size_t *got,
                     double deadline) {
    size_t sent = 0;
    const size_t length = strlen(input);
    *got = 0;
    for (;;) {
        struct pollfd fds[2] = {{.fd = from, .events = POLLIN}, {.fd = *to, .events = POLLOUT}};
        if (tacet__now() >= deadline) {
            return false;
        }
        const bool last = ended(pid); /* before the look: what it wrote is then all there */
        const int ready = poll(fds, 2, last ? 0 : LOOK_MS);
        if (ready < 0 && errno != EINTR) {
            return false;
        }
        if (ready > 0 && fds[1].revents != 0) {
            feed(to, input, length, &sent);
        }
        if (ready > 0 && fds[0].revents != 0) {
            char piece[MOST_OUTPUT];
            const ssize_t n = read(from, piece, sizeof piece);
            if (n <= 0) {
                return true;
            }
            for (ssize_t i = 0; i < n && *got < MOST_OUTPUT; i++) {
                output[(*got)++] = piece[i];
            }
        } else if (last && ready >= 0) {
            return true;
        }
    }
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
    while (*in_time && !ended(pid)) {
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

/* A command that closes its input early must not kill us: the signal is held on this thread, and dropped afterwards. */
static void hold_pipe_signal(sigset_t *previous) {
    sigset_t pipe_signal;
    (void)sigemptyset(&pipe_signal);
    (void)sigaddset(&pipe_signal, SIGPIPE);
    (void)pthread_sigmask(SIG_BLOCK, &pipe_signal, previous);
}

static void release_pipe_signal(const sigset_t *previous) {
    sigset_t pipe_signal;
    const struct timespec at_once = {0};
    (void)sigemptyset(&pipe_signal);
    (void)sigaddset(&pipe_signal, SIGPIPE);
    if (!sigismember(previous, SIGPIPE)) {
        (void)sigtimedwait(&pipe_signal, NULL, &at_once);
    }
    (void)pthread_sigmask(SIG_SETMASK, previous, NULL);
}

tacet_status tacet__evaluate(double *out, const char *command, const char *input, double seconds, tacet_error *err) {
    int to[2];
    int from[2];
    char output[MOST_OUTPUT + 1];
    size_t got = 0;
    if (pipe2(to, O_CLOEXEC) != 0) {
        return tacet__fail(err, TACET_IO, "no pipe for the evaluator");
    }
    if (pipe2(from, O_CLOEXEC) != 0) {
        (void)close(to[0]);
        (void)close(to[1]);
        return tacet__fail(err, TACET_IO, "no pipe for the evaluator");
    }
    const double deadline = tacet__now() + seconds;
    const pid_t pid = launch(command, to[0], from[1]);
    (void)close(to[0]);
    (void)close(from[1]);
    if (pid < 0) {
        (void)close(to[1]);
        (void)close(from[0]);
        return tacet__fail(err, TACET_UNSUPPORTED, "the evaluator could not be started");
    }
    (void)fcntl(to[1], F_SETFL, O_NONBLOCK);
    sigset_t previous;
    hold_pipe_signal(&previous);
    bool in_time = converse(pid, &to[1], from[0], input, output, &got, deadline);
    release_pipe_signal(&previous);
    if (to[1] >= 0) {
        (void)close(to[1]);
    }
    (void)close(from[0]);
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
