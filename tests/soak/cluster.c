/* SPDX-License-Identifier: Apache-2.0 */
/* cluster.c - the processes under test: servers, started, killed and asked whether they live; a database likewise. */
#include "soak.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const double READY_SECONDS = 30;

double soak_now(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void soak_sleep(double seconds) {
    const struct timespec t = {.tv_sec = (time_t)seconds, .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};
    (void)nanosleep(&t, NULL);
}

/* In the child: its own log, no limit or a small one on the size of its files. */
static void become(const soak *s, const char *const *argv, size_t limit, const char *log) {
    const int file = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (file >= 0) {
        (void)dup2(file, STDOUT_FILENO);
        (void)dup2(file, STDERR_FILENO);
    }
    if (limit > 0) {
        const struct rlimit most = {.rlim_cur = limit, .rlim_max = limit};
        /* Ignored signals stay ignored over exec: a write beyond the limit then fails, as on a full disk. */
        (void)signal(SIGXFSZ, SIG_IGN);
        (void)setrlimit(RLIMIT_FSIZE, &most);
    }
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* no server outlives a soak that failed */
    (void)setenv("OPENBLAS_NUM_THREADS", "1", 1);
    char path[SOAK_PATH];
    (void)snprintf(path, sizeof path, "%s/%s", s->bin, argv[0]);
    (void)execv(path, (char *const *)(size_t)argv);
    _exit(127);
}

void soak_run_program(const soak *s, const char *const *argv) {
    char log[SOAK_PATH];
    (void)snprintf(log, sizeof log, "%s/programs.log", s->work);
    const pid_t pid = fork();
    if (pid == 0) {
        become(s, argv, 0, log);
    }
    int status = 0;
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0) {
        soak_die("%s %s failed; see %s", argv[0], argv[1], log);
    }
}

void soak_shell(const char *command) {
    const int status = system(command); /* NOLINT(cert-env33-c): the caller's own command line */
    if (status != 0) {
        soak_die("'%s' failed", command);
    }
}

static bool read_line(char *out, size_t size, const char *path) {
    FILE *file = fopen(path, "re");
    const bool ok = file != NULL && fgets(out, (int)size, file) != NULL && strchr(out, '\n') != NULL;
    if (file != NULL) {
        (void)fclose(file);
    }
    out[ok ? strcspn(out, "\n") : 0] = '\0';
    return ok;
}

void soak_server_start(soak *s, size_t i) {
    char ready[SOAK_PATH];
    char log[SOAK_PATH];
    char url[128];
    char listen[32] = "127.0.0.1:0";
    if (s->ports != NULL) {
        const char *port = s->ports;
        for (size_t k = 0; k < i; k++) {
            port = strchr(port, ',') + 1;
        }
        (void)snprintf(listen, sizeof listen, "127.0.0.1:%.*s", (int)strcspn(port, ","), port);
    }
    (void)snprintf(ready, sizeof ready, "%s/ready%zu", s->work, i);
    (void)snprintf(log, sizeof log, "%s/server%zu.log", s->work, i);
    const double until = soak_now() + READY_SECONDS;
    for (;;) {
        (void)unlink(ready);
        const char *const argv[] = {
            "tacet-server", "server", "--store",  i == 0 && s->cut_store[0] != '\0' ? s->cut_store : s->store,
            "--keys",       s->keys,  "--listen", listen,
            "--ready-file", ready,    NULL};
        const pid_t pid = fork();
        if (pid == 0) {
            become(s, argv, s->limit, log);
        }
        if (pid < 0) {
            soak_die("cannot start a server: %s", strerror(errno));
        }
        while (!read_line(url, sizeof url, ready) && waitpid(pid, NULL, WNOHANG) == 0 && soak_now() < until) {
            soak_sleep(0.005);
        }
        if (url[0] != '\0') {
            (void)pthread_mutex_lock(&s->lock);
            s->servers[i].pid = pid;
            (void)snprintf(s->servers[i].url, sizeof url, "%s", s->front != NULL ? s->front : url);
            s->servers[i].generation++;
            (void)pthread_mutex_unlock(&s->lock);
            return;
        }
        /* It gave up: the database may not be back yet. */
        (void)kill(pid, SIGKILL);
        (void)waitpid(pid, NULL, 0);
        if (soak_now() > until) {
            soak_die("a server does not come up; see %s", log);
        }
        soak_sleep(0.1);
    }
}

void soak_server_kill(soak *s, size_t i, int signal) {
    (void)pthread_mutex_lock(&s->lock);
    const pid_t pid = s->servers[i].pid;
    s->servers[i].pid = 0;
    (void)pthread_mutex_unlock(&s->lock);
    int status = 0;
    if (pid > 0) {
        (void)kill(pid, signal);
        (void)waitpid(pid, &status, 0);
        /* Status 1: the database did not answer for seconds, and what is in memory was left to the log. */
        const bool hasty = s->cluster != NULL && WIFEXITED(status) && WEXITSTATUS(status) == 1;
        s->hasty += signal == SIGTERM && hasty;
        if (signal == SIGTERM && !hasty && !(WIFEXITED(status) && WEXITSTATUS(status) == 0)) {
            soak_die("a server that was asked to stop ended with status %d", status);
        }
    }
}

void soak_server_pause(soak *s, size_t i, double seconds) {
    (void)pthread_mutex_lock(&s->lock);
    const pid_t pid = s->servers[i].pid;
    (void)pthread_mutex_unlock(&s->lock);
    (void)kill(pid, SIGSTOP);
    soak_sleep(seconds);
    (void)kill(pid, SIGCONT);
    s->pauses++;
}

bool soak_server_alive(soak *s, size_t i) {
    (void)pthread_mutex_lock(&s->lock);
    const pid_t pid = s->servers[i].pid;
    (void)pthread_mutex_unlock(&s->lock);
    return pid > 0 && waitpid(pid, NULL, WNOHANG) == 0;
}

size_t soak_server_kilobytes(soak *s, size_t i) {
    char path[64];
    char line[256];
    size_t kilobytes = 0;
    (void)snprintf(path, sizeof path, "/proc/%ld/status", (long)s->servers[i].pid);
    FILE *file = fopen(path, "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "VmRSS:", 6) == 0) {
            kilobytes = strtoull(line + 6, NULL, 10);
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return kilobytes;
}

/* Seconds of processor time of a process; 0: it is gone. */
static double cpu_of(long pid) {
    char path[64];
    char line[1024] = "";
    unsigned long ticks[2] = {0};
    (void)snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    FILE *file = fopen(path, "re");
    const bool read = file != NULL && fgets(line, sizeof line, file) != NULL;
    if (file != NULL) {
        (void)fclose(file);
    }
    const char *rest = read ? strrchr(line, ')') : NULL; /* a name may have spaces */
    if (rest == NULL ||
        sscanf(rest + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &ticks[0], &ticks[1]) != 2) {
        return 0;
    }
    return (double)(ticks[0] + ticks[1]) / (double)sysconf(_SC_CLK_TCK);
}

double soak_servers_cpu(soak *s) {
    double all = 0;
    for (size_t i = 0; i < s->server_count; i++) {
        all += s->servers[i].pid > 0 ? cpu_of((long)s->servers[i].pid) : 0;
    }
    return all;
}

void soak_database_verb(const soak *s, const char *verb) {
    const char *space = strrchr(s->cluster, ' ');
    char command[2 * SOAK_PATH];
    (void)snprintf(command, sizeof command, "%.*s %s %s >>%s/cluster.log", (int)(space - s->cluster), s->cluster, verb,
                   space + 1, s->work);
    soak_shell(command);
}

void soak_database_kill(soak *s) {
    soak_database_verb(s, "kill");
    soak_database_verb(s, "again");
    s->database_kills++;
}
