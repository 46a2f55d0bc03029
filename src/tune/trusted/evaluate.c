/* SPDX-License-Identifier: Apache-2.0 */
/* evaluate.c - settings evaluated by programs, several at a time, each with a time-out and a process group of its own.
 * Ring: trusted. The program is the holder's own and trusted with the records; it is not trusted to end or to print
 * what it should. Nothing that depends on a value is said to anybody. Source: none.
 * Cost: a process a setting; memory for its output. */
#include <tacet/tune/trusted/tune.h>

#include "core/clock.h"
#include "core/fail.h"
#include "core/json_text.h"
#include "core/memory.h"
#include "core/number.h"
#include "space/internal.h"
#include "tune/trusted/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LOOK_MS = 50, PIECE = 65536, NOT_FOUND_CODE = 127, NOT_RUN_CODE = 126 };

/* One process and what it printed so far. */
typedef struct worker {
    size_t number; /* of its setting; TACET_TUNE_NONE: idle */
    pid_t pid;
    int from; /* -1: its output has ended */
    double deadline;
    size_t left; /* restarts */
    double *record;
    tacet_blob output; /* private */
} worker;

typedef struct pool {
    tacet_tune *tune;
    const tacet_tune_evaluator *e;
    const tacet_space *space;
    size_t records;
    worker *workers;
    int errors;
} pool;

void tacet_tune_evaluator_defaults(tacet_tune_evaluator *evaluator) {
    *evaluator = (tacet_tune_evaluator){.workers = 1, .seconds = 3600, .restarts = 1};
}

tacet_status tacet_tune_setting_text(char **out, const tacet_space *space, const double *record, tacet_error *err) {
    json_t *object = json_object();
    bool good = object != NULL;
    for (size_t j = 0; j < space->count && good; j++) {
        const tacet_space_column *c = &space->columns[j];
        good = json_object_set_new(object, c->name, tacet__space_json(c, record[j])) == 0;
    }
    *out = good ? tacet__json_dump(object, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(object);
    return *out != NULL ? TACET_OK : tacet__fail(err, TACET_NO_MEMORY, "out of memory for a setting");
}

/* In the child: only what may be called between fork and exec. */
static void become_program(const char *command, int in, int out, int errors) {
    sigset_t none;
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)signal(SIGPIPE, SIG_DFL);
    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* it does not outlive a run that is killed */
    if (dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 && dup2(errors, STDERR_FILENO) >= 0) {
        (void)execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    }
    _exit(NOT_FOUND_CODE);
}

/* The setting fits a pipe's buffer (names and levels are short), so that writing it does not wait. */
static tacet_status start(const pool *p, worker *w, tacet_error *err) {
    int to[2], from[2];
    char *text = NULL;
    TACET_OR_RETURN(tacet_tune_setting_text(&text, p->space, w->record, err));
    if (pipe2(to, O_CLOEXEC) != 0) {
        free(text);
        return tacet__fail(err, TACET_IO, "no pipe for the program");
    }
    if (pipe2(from, O_CLOEXEC) != 0) {
        free(text);
        (void)close(to[0]);
        (void)close(to[1]);
        return tacet__fail(err, TACET_IO, "no pipe for the program");
    }
    (void)fcntl(to[1], F_SETPIPE_SZ, 1 << 20);
    const bool sent = write(to[1], text, strlen(text)) == (ssize_t)strlen(text) && write(to[1], "\n", 1) == 1;
    free(text);
    w->pid = sent ? fork() : -1;
    if (w->pid == 0) {
        become_program(p->e->command, to[0], from[1], p->errors);
    }
    (void)close(to[0]);
    (void)close(to[1]);
    (void)close(from[1]);
    if (w->pid < 0) {
        (void)close(from[0]);
        return tacet__fail(err, TACET_IO, "the program could not be started");
    }
    (void)setpgid(w->pid, w->pid); /* whoever of the two comes first */
    (void)fcntl(from[0], F_SETFL, O_NONBLOCK);
    w->from = from[0];
    w->deadline = tacet__now() + p->e->seconds;
    return TACET_OK;
}

static void wipe_output(worker *w) {
    if (w->output.data != NULL) {
        sodium_memzero(w->output.data, w->output.capacity);
    }
    tacet_blob_clear(&w->output);
}

/* Ends the process and its group; returns its exit code, -1 where it has none. */
static int end_process(worker *w) {
    int code = 0;
    pid_t got = 0;
    (void)kill(-w->pid, SIGKILL);
    do {
        got = waitpid(w->pid, &code, 0);
    } while (got < 0 && errno == EINTR);
    if (w->from >= 0) {
        (void)close(w->from);
        w->from = -1;
    }
    const bool known = got == w->pid && WIFEXITED(code);
    w->pid = 0; /* its number may be another's from now on */
    return known ? WEXITSTATUS(code) : -1;
}

static bool is_blank(unsigned char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ',';
}

/* Words of the output as values; what is no finite number is NaN. *found counts all of them. */
static void read_values(double *values, size_t count, size_t *found, const tacet_blob *output) {
    size_t at = 0;
    *found = 0;
    while (at < output->size) {
        while (at < output->size && is_blank(output->data[at])) {
            at++;
        }
        size_t end = at;
        while (end < output->size && !is_blank(output->data[end])) {
            end++;
        }
        if (end > at && (*found)++ < count) {
            char word[64] = "";
            const size_t length = end - at < sizeof word ? end - at : 0;
            memcpy(word, output->data + at, length);
            double value = NAN;
            if (tacet__number_parse(&value, word, length) != TACET__NUMBER_OK) {
                value = NAN;
            }
            values[*found - 1] = value;
            sodium_memzero(word, sizeof word);
        }
        at = end;
    }
}

static tacet_status tell_output(const pool *p, worker *w, tacet_error *err) {
    size_t found = 0;
    double *values = TACET__ZALLOC(double, p->records);
    if (values == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu values", p->records);
    }
    read_values(values, p->records, &found, &w->output);
    tacet_status s = TACET_OK;
    if (found != p->records) {
        s = tacet__fail(err, TACET_INVALID,
                        "the program printed %zu value%s for %zu records: it must print the value of each record, in "
                        "their order, never a mean; nothing was charged for it",
                        found, found == 1 ? "" : "s", p->records);
    } else {
        s = tacet_tune_tell(p->tune, w->number, values, found, err);
    }
    sodium_memzero(values, p->records * sizeof *values);
    free(values);
    return s;
}

/* A process has ended, or its time has. */
static tacet_status finish(const pool *p, worker *w, bool in_time, tacet_error *err) {
    const int code = end_process(w);
    tacet_status s = TACET_OK;
    if (in_time && (code == NOT_FOUND_CODE || code == NOT_RUN_CODE)) {
        s = tacet__fail(err, TACET_INVALID, "the program cannot be run (exit code %d): nothing was charged for it",
                        code);
    } else if (in_time && code == 0) {
        s = tell_output(p, w, err);
    } else if (w->left > 0) {
        w->left--;
        wipe_output(w);
        return start(p, w, err);
    } else {
        s = tacet_tune_fail(p->tune, w->number, err);
    }
    wipe_output(w);
    if (s == TACET_OK) {
        w->number = TACET_TUNE_NONE;
        if (p->e->progress != NULL) {
            tacet_tune_progress progress;
            tacet_tune_progress_get(p->tune, &progress);
            p->e->progress(&progress, p->e->user);
        }
    }
    return s;
}

/* Settings for those who are idle; *busy says how many are not. */
static tacet_status hand_out(pool *p, size_t *busy, tacet_error *err) {
    tacet_status s = TACET_OK;
    *busy = 0;
    for (size_t i = 0; i < p->e->workers && s == TACET_OK; i++) {
        worker *w = &p->workers[i];
        if (w->number == TACET_TUNE_NONE) {
            s = tacet_tune_next(p->tune, &w->number, w->record, err);
            if (s == TACET_OK && w->number != TACET_TUNE_NONE) {
                w->left = p->e->restarts;
                w->pid = 0;
                s = start(p, w, err);
            }
        }
        *busy += w->number != TACET_TUNE_NONE ? 1 : 0;
    }
    return s;
}

/* What a worker's process printed meanwhile; *ended when it has closed its output. `last`: it has exited, so when the
 * pipe is empty there is nothing more, although something it started may hold it. */
static tacet_status collect(worker *w, bool last, bool *ended, tacet_error *err) {
    static const size_t MOST = (size_t)1 << 36;
    unsigned char piece[PIECE];
    const ssize_t n = read(w->from, piece, sizeof piece);
    *ended = n == 0 || (n < 0 && errno != EINTR && (last || errno != EAGAIN));
    tacet_status s = TACET_OK;
    if (n > 0) {
        s = w->output.size < MOST ? tacet_blob_append(&w->output, piece, (size_t)n, err)
                                  : tacet__fail(err, TACET_INVALID, "the program prints without end");
        sodium_memzero(piece, (size_t)n);
    }
    return s;
}

static bool has_exited(pid_t pid) {
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid;
}

/* Waits for output, ends and deadlines once. */
static tacet_status poll_commands(pool *p, tacet_error *err) {
    struct pollfd fds[TACET_TUNE_WORKERS_MOST];
    tacet_status s = TACET_OK;
    for (size_t i = 0; i < p->e->workers; i++) {
        fds[i] =
            (struct pollfd){.fd = p->workers[i].number != TACET_TUNE_NONE ? p->workers[i].from : -1, .events = POLLIN};
    }
    (void)poll(fds, p->e->workers, LOOK_MS);
    for (size_t i = 0; i < p->e->workers && s == TACET_OK; i++) {
        worker *w = &p->workers[i];
        if (w->number == TACET_TUNE_NONE) {
            continue;
        }
        const bool late = tacet__now() >= w->deadline;
        bool ended = w->from < 0;
        /* Asked before reading: what it printed is in the pipe by then, also where poll saw nothing yet. */
        const bool exited = has_exited(w->pid);
        while (s == TACET_OK && !ended && (exited || fds[i].revents != 0)) {
            s = collect(w, exited, &ended, err);
            if (s == TACET_OK && ended) {
                (void)close(w->from);
                w->from = -1;
            }
            if (!exited) {
                break;
            }
        }
        if (s == TACET_OK && (late || (ended && has_exited(w->pid)))) {
            s = finish(p, w, !late || has_exited(w->pid), err);
        }
    }
    return s;
}

static tacet_status work_until_done(pool *p, tacet_error *err) {
    for (;;) {
        size_t busy = 0;
        if (p->e->stop != NULL && *p->e->stop) {
            return tacet__fail(err, TACET_STATE, "stopped: the same command goes on from here");
        }
        tacet_status s = hand_out(p, &busy, err);
        if (s == TACET_OK && busy == 0 && tacet_tune_done(p->tune)) {
            return TACET_OK;
        }
        s = s == TACET_OK && busy > 0 ? poll_commands(p, err) : s;
        if (s != TACET_OK) {
            return s;
        }
    }
}

static void close_pool(pool *p) {
    for (size_t i = 0; p->workers != NULL && i < p->e->workers; i++) {
        worker *w = &p->workers[i];
        if (w->number != TACET_TUNE_NONE && w->record != NULL) {
            if (w->pid > 0) {
                (void)end_process(w);
            }
            (void)tacet_tune_give_back(p->tune, w->number, NULL);
        }
        wipe_output(w);
        free(w->record);
    }
    free(p->workers);
    if (p->errors >= 0) {
        (void)close(p->errors);
    }
}

tacet_status tacet_tune_evaluate(tacet_tune *tune, const tacet_tune_evaluator *e, tacet_error *err) {
    if (e->command == NULL || !(e->workers >= 1 && e->workers <= TACET_TUNE_WORKERS_MOST) || !(e->seconds > 0)) {
        return tacet__fail(err, TACET_INVALID, "evaluating needs a command, 1 to %d workers and a time above 0",
                           TACET_TUNE_WORKERS_MOST);
    }
    pool p = {.tune = tune, .e = e, .space = tacet__tune_space(tune), .records = tacet__tune_records(tune)};
    tacet_status s = TACET_OK;
    p.errors = e->errors != NULL ? open(e->errors, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600)
                                 : open("/dev/null", O_WRONLY | O_CLOEXEC);
    p.workers = TACET__ZALLOC(worker, e->workers);
    if (p.errors < 0) {
        s = tacet__fail(err, TACET_IO, "cannot write %s: %s", e->errors != NULL ? e->errors : "/dev/null",
                        strerror(errno));
    } else if (p.workers == NULL) {
        s = tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu workers", e->workers);
    }
    for (size_t i = 0; p.workers != NULL && i < e->workers; i++) {
        worker *w = &p.workers[i];
        w->number = TACET_TUNE_NONE;
        w->from = -1;
        tacet_blob_init(&w->output);
        w->record = TACET__ZALLOC(double, p.space->count);
        s = w->record != NULL || s != TACET_OK ? s : tacet__fail(err, TACET_NO_MEMORY, "out of memory for a worker");
    }
    TACET_THEN(s, work_until_done(&p, err));
    close_pool(&p);
    return s;
}
