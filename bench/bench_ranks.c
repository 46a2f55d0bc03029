/* SPDX-License-Identifier: Apache-2.0 */
/* bench_ranks.c - `tacet gp-ucb` as candidates grow, and over two ranks: memory against the formula of docs/scaling.md,
 * time of one rank over time of two, and over streaming the same bytes with two processes. Ring: programs; made-up
 * data, in a .npy file below the folder for temporary files. */
#include "bench.h"

#include "core/memory.h"
#include "gp/linalg.h"

#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <tacet/core/simrng.h>
#include <time.h>
#include <unistd.h>

enum { D = 5, T = 50, RANKS = 2 };

/* n rows of D inputs and a target. */
static bool write_table(const char *path, size_t n) {
    FILE *file = fopen(path, "wb");
    if (file == NULL) {
        return false;
    }
    char head[128];
    char text[96];
    (void)snprintf(text, sizeof text, "{'descr': '<f8', 'fortran_order': False, 'shape': (%zu, %d), }", n, D + 1);
    memset(head, ' ', sizeof head);
    memcpy(head, "\x93NUMPY\x01\x00\x76\x00", 10); /* 118 bytes of header: 128 in all */
    memcpy(head + 10, text, strlen(text));
    head[127] = '\n';
    bool ok = fwrite(head, sizeof head, 1, file) == 1;
    tacet_simrng rng;
    tacet_simrng_init(&rng, 1, 0);
    for (size_t j = 0; j < n && ok; j++) {
        double row[D + 1] = {0};
        for (size_t c = 0; c < D; c++) {
            row[c] = tacet_simrng_uniform(&rng);
            row[D] += sin(6 * row[c] + (double)c);
        }
        ok = fwrite(row, sizeof row, 1, file) == 1;
    }
    return fclose(file) == 0 && ok;
}

/* Runs the search on `ranks` (0: alone); seconds it says it took, and the peak memory of an alone one. */
static bool search(double *seconds, double *peak, const char *folder, const char *table, int ranks) {
    int ends[2];
    if (pipe(ends) != 0) {
        return false;
    }
    const pid_t child = fork();
    if (child == 0) {
        char program[PATH_MAX + 32];
        char count[16];
        (void)snprintf(program, sizeof program, "%s/tacet-plain%s", folder, ranks > 0 ? "-mpi" : "");
        (void)snprintf(count, sizeof count, "%d", ranks);
        (void)dup2(ends[1], STDOUT_FILENO);
        (void)!freopen("/dev/null", "w", stderr);
        (void)setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
        (void)setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
        const char *const all[] = {"mpirun",
                                   "--oversubscribe",
                                   "-n",
                                   count,
                                   program,
                                   "gp-ucb",
                                   "--data",
                                   table,
                                   "--inputs",
                                   "0,1,2,3,4",
                                   "--target",
                                   "5",
                                   "--lengthscale",
                                   "0.3",
                                   "--signal-var",
                                   "5",
                                   "--noise-var",
                                   "1e-4",
                                   "--queries",
                                   "50",
                                   "--allow-duplicates",
                                   "--json",
                                   NULL};
        const char *const *from = ranks > 0 ? all : all + 4;
        (void)execvp(from[0], (char *const *)(size_t)from);
        _exit(127);
    }
    (void)close(ends[1]);
    FILE *answer = fdopen(ends[0], "r");
    json_t *object = answer != NULL && child > 0 ? json_loadf(answer, 0, NULL) : NULL;
    if (answer != NULL) {
        (void)fclose(answer);
    }
    struct rusage usage = {0};
    int status = 1;
    if (child > 0) {
        (void)wait4(child, &status, 0, &usage);
    }
    *seconds = json_number_value(json_object_get(object, "seconds"));
    *peak = 1024 * (double)usage.ru_maxrss;
    const bool ok = object != NULL && status == 0;
    json_decref(object);
    return ok;
}

/* One process's share of reading V as a search does, once it is told to go. */
static void stream_share(size_t n, int ready, int go) {
    double *V = TACET__ALIGNED(double, n *T);
    double *w = TACET__ALIGNED(double, n);
    double c[T];
    char mark = 0;
    if (V == NULL || w == NULL) {
        _exit(1);
    }
    for (size_t i = 0; i < n * T; i++) {
        V[i] = 1e-3 * (double)(i % 1000);
    }
    memset(w, 0, n * sizeof *w);
    for (size_t t = 0; t < T; t++) {
        c[t] = 1e-3 * (double)t;
    }
    (void)!write(ready, "r", 1);
    (void)!read(go, &mark, 1);
    for (size_t t = 0; t < T; t++) {
        tacet__gemv(false, n, t, -1, V, n, c, 1, w);
    }
    _exit(0);
}

static bool stream(double *seconds, size_t n) {
    int ready[2];
    int go[2];
    if (pipe(ready) != 0 || pipe(go) != 0) {
        return false;
    }
    for (int p = 0; p < RANKS; p++) {
        if (fork() == 0) {
            stream_share(n / RANKS, ready[1], go[0]);
        }
    }
    char marks[RANKS] = {0};
    for (int p = 0; p < RANKS; p++) {
        (void)!read(ready[0], marks, 1);
    }
    const double start = bench_seconds(CLOCK_MONOTONIC);
    (void)!write(go[1], marks, sizeof marks);
    bool ok = true;
    for (int p = 0; p < RANKS; p++) {
        int status = 1;
        ok = wait(&status) > 0 && status == 0 && ok;
    }
    *seconds = bench_seconds(CLOCK_MONOTONIC) - start;
    for (int k = 0; k < 2; k++) {
        (void)close(ready[k]);
        (void)close(go[k]);
    }
    return ok;
}

/* docs/scaling.md: V, mean and variance and mark, the mapped rows, and the program itself. */
static double predicted(size_t n) {
    return 8.0 * (double)n * T + 17.0 * (double)n + 8.0 * (double)n * (D + 1) + 7e6;
}

static bool growth(const char *folder, const char *table, size_t most) {
    double last = 0;
    for (size_t n = 100000; n <= most; n *= 10) {
        double seconds = 0;
        double peak = 0;
        if (!write_table(table, n) || !search(&seconds, &peak, folder, table, 0)) {
            return false;
        }
        printf("gp-ucb n %8zu T %d   %7.2f s   peak %7.1f MB, over the prediction %.3f", n, T, seconds, 1e-6 * peak,
               peak / predicted(n));
        printf(last > 0 ? "   x%.1f\n" : "\n", seconds / last);
        (void)fflush(stdout);
        last = seconds;
    }
    return true;
}

static bool two_ranks(const char *folder, const char *table) {
    const size_t n = 1000000;
    double best[3] = {INFINITY, INFINITY, INFINITY};
    if (!write_table(table, n)) {
        return false;
    }
    for (int k = 0; k < 3; k++) {
        double seconds = 0;
        double peak = 0;
        for (int ranks = 1; ranks <= RANKS; ranks++) {
            if (!search(&seconds, &peak, folder, table, ranks)) {
                return false;
            }
            best[ranks - 1] = fmin(best[ranks - 1], seconds);
        }
        if (!stream(&seconds, n)) {
            return false;
        }
        best[2] = fmin(best[2], seconds);
    }
    printf(
        "gp-ucb n %8zu T %d   one rank over two %.2f (wanted: 1.6), two ranks over streaming with two processes %.2f "
        "(or: at most 1.2)\n",
        n, T, best[0] / best[1], best[1] / best[2]);
    return true;
}

/* The largest n may be given; the default, 10^7, needs 5 GB of memory, 0.5 GB of disk and about a minute. */
int main(int argc, char **argv) {
    const size_t most = argc > 1 ? strtoul(argv[1], NULL, 10) : 10000000;
    char folder[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", folder, sizeof folder - 1);
    folder[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(folder, '/');
    if (slash != NULL) {
        *slash = '\0';
    }
    char table[] = "/tmp/tacet-bench-XXXXXX.npy";
    const int made = mkstemps(table, 4);
    if (made < 0) {
        return 1;
    }
    (void)close(made);
    char program[PATH_MAX + 32];
    (void)snprintf(program, sizeof program, "%s/tacet-plain-mpi", folder);
    bool ok = growth(folder, table, most);
    if (ok && access(program, X_OK) != 0) {
        printf("gp-ucb over ranks: built without MPI, not measured\n");
    } else {
        ok = ok && two_ranks(folder, table);
    }
    (void)unlink(table);
    return ok ? 0 : 1;
}
