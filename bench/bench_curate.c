/* SPDX-License-Identifier: Apache-2.0 */
/* bench_curate.c - a release of 1,000,000 x 10 records against drawing ten million exact noise values on one thread, in
 * the same run; against `tacet-lab noise gaussian`, which draws as many and prints them; and the most memory the
 * process ever held. What a release does besides drawing is to read the table twice (checked before anything is spent,
 * then drawn), to print every number and to hash the text. The first ratio is of elapsed time, with as many threads as
 * there are processors, and suffers from other work on the machine; the second is of processor time, which does not.
 * Best of three runs each. Ring: programs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <tacet/core/simrng.h>
#include "outsourced/trusted/curate_price.h"

#include "dp/noise/sampler.h"

enum { D = 10, RECORDS = 1000000, BLOCK = 4000, RUNS = 3 };

typedef struct spent {
    double elapsed, processor;
} spent;

static double seconds(clockid_t clock) {
    struct timespec now;
    (void)clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static spent now(void) {
    return (spent){seconds(CLOCK_MONOTONIC), seconds(CLOCK_PROCESS_CPUTIME_ID)};
}

static void keep_best(spent *best, spent start) {
    const spent end = now();
    best->elapsed = fmin(best->elapsed, end.elapsed - start.elapsed);
    best->processor = fmin(best->processor, end.processor - start.processor);
}

/* Euclidean noise of this scale where it is > 0, Gaussian noise of this sigma else. */
static void draw(spent *best, double sigma, double scale, int grid) {
    static double out[BLOCK];
    tacet_noise *noise = NULL;
    if (tacet_noise_open_sample(&noise, NULL) != TACET_OK) {
        exit(1);
    }
    const spent start = now();
    for (size_t left = (size_t)D * RECORDS; left > 0;) {
        const size_t n = left < BLOCK ? left : BLOCK;
        if ((scale > 0 ? tacet__draw_knorm_rows(noise, out, n / D, D, scale, grid, NULL)
                       : tacet__draw_gaussian(noise, out, n, sigma, grid, NULL)) != TACET_OK) {
            exit(1);
        }
        left -= n;
    }
    keep_best(best, start);
    tacet_noise_close(noise);
}

static void write_table(const char *path) {
    tacet_simrng rng;
    FILE *file = fopen(path, "w");
    if (file == NULL) {
        exit(1);
    }
    tacet_simrng_init(&rng, 1, 0);
    (void)fputs("c0,c1,c2,c3,c4,c5,c6,c7,c8,c9\n", file);
    for (size_t i = 0; i < (size_t)D * RECORDS; i++) {
        (void)fprintf(file, "%.4f%c", 100 * tacet_simrng_uniform(&rng), (i + 1) % D == 0 ? '\n' : ',');
    }
    if (fclose(file) != 0) {
        exit(1);
    }
}

static double *make_table(void) {
    tacet_simrng rng;
    double *table = malloc((size_t)D * RECORDS * sizeof *table);
    if (table == NULL) {
        exit(1);
    }
    tacet_simrng_init(&rng, 1, 0);
    for (size_t i = 0; i < (size_t)D * RECORDS; i++) {
        table[i] = 100 * tacet_simrng_uniform(&rng);
    }
    return table;
}

/* Draws and prints the same number of values; elapsed seconds. */
static double print_noise(const char *self, double sigma) {
    char program[4096], scale[32];
    int status = 0;
    const char *slash = strrchr(self, '/');
    (void)snprintf(program, sizeof program, "%.*stacet-lab", slash != NULL ? (int)(slash + 1 - self) : 0, self);
    (void)snprintf(scale, sizeof scale, "%.17g", sigma);
    const double start = seconds(CLOCK_MONOTONIC);
    (void)fflush(stdout); /* or the child would print it again */
    const pid_t child = fork();
    if (child == 0) {
        if (freopen("/dev/null", "w", stdout) != NULL && freopen("/dev/null", "w", stderr) != NULL) {
            (void)execl(program, "tacet-lab", "noise", "gaussian", "--scale", scale, "--count", "10000000",
                        (char *)NULL);
        }
        _exit(127);
    }
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0
               ? seconds(CLOCK_MONOTONIC) - start
               : (double)NAN;
}

static void release(spent *best, tacet_manifest *m, const char *folder, const tacet_curate_settings *s) {
    static const char *const FILES[] = {"out/release.csv", "out/manifest.json", "out/ledger.db", "out",
                                        "data.csv.ledger.db" /* a link to the ledger */};
    char path[128];
    tacet_error err = {0};
    const spent start = now();
    if (tacet_curate_run(m, s, &err) != TACET_OK) {
        (void)fprintf(stderr, "%s\n", err.message);
        exit(1);
    }
    keep_best(best, start);
    for (size_t i = 0; i < sizeof FILES / sizeof FILES[0]; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", folder, FILES[i]);
        (void)remove(path);
    }
}

/* Releases and draws RUNS times with one mechanism; returns the best second of `tacet-lab noise`, for the Gaussian
 * only. */
static double compare(spent *curate, spent *draws, const char *self, const char *folder,
                      const tacet_curate_settings *s) {
    double printed = INFINITY;
    *curate = *draws = (spent){INFINITY, INFINITY};
    for (int k = 0; k < RUNS; k++) {
        tacet_manifest m;
        int grid = 0;
        release(curate, &m, folder, s);
        (void)frexp(m.grid, &grid);
        draw(draws, m.sigma, m.scale, grid - 1); /* frexp's fraction of a power of two is 1/2 */
        if (!(m.scale > 0)) {
            printed = fmin(printed, print_noise(self, m.sigma));
        }
        tacet_manifest_clear(&m);
    }
    printf("release of %d x %d, %s noise: %.2f times the time of its draws, %.2f times their processor time\n", RECORDS,
           D, tacet_curate_name(s->mechanism), curate->elapsed / draws->elapsed, curate->processor / draws->processor);
    return printed;
}

int main(int argc, char **argv) {
    static tacet_space_column columns[D];
    const tacet_space space = {columns, D};
    char folder[] = "/tmp/tacet-bench-XXXXXX";
    char data[64], out[64], ledger[80];
    tacet_curate_settings s;
    struct rusage usage;
    spent curate, draws;
    if (argc < 1 || mkdtemp(folder) == NULL) {
        return 1;
    }
    (void)snprintf(data, sizeof data, "%s/data.csv", folder);
    (void)snprintf(out, sizeof out, "%s/out", folder);
    (void)snprintf(ledger, sizeof ledger, "%s/ledger.db", out);
    write_table(data);
    tacet_curate_defaults(&s);
    for (size_t i = 0; i < D; i++) {
        columns[i] = (tacet_space_column){.lo = 0, .hi = 100, .unit = 5, .others = TACET_SPACE_NONE};
        (void)snprintf(columns[i].name, sizeof columns[i].name, "c%zu", i);
    }
    s.data = data;
    s.folder = out;
    s.ledger = ledger;
    s.space = &space;
    s.eps = 1;
    s.new_budget = "a measurement"; /* the same rows again and again */
    const double delta = s.delta;
    s.mechanism = TACET_CURATE_LAPLACE; /* what is taken for ten columns and pure eps, unless another is named */
    s.delta = 0;
    (void)compare(&curate, &draws, argv[0], folder, &s);
    s.mechanism = TACET_CURATE_GAUSSIAN;
    s.delta = delta;
    const double printed = compare(&curate, &draws, argv[0], folder, &s);
    (void)getrusage(RUSAGE_SELF, &usage);
    printf("  %.2f times the time of tacet-lab noise gaussian, which prints them; %.1f million numbers a second of "
           "processor "
           "time; %.0f MiB resident\n",
           curate.elapsed / printed, 1e-6 * D * RECORDS / curate.processor, (double)usage.ru_maxrss / 1024);
    double *table = make_table();
    s.data = NULL;
    s.records = table;
    s.record_count = RECORDS;
    s.mechanism = TACET_CURATE_LAPLACE;
    s.delta = 0;
    printf("from an array in memory, ");
    (void)compare(&curate, &draws, argv[0], folder, &s);
    free(table);
    (void)remove(data);
    (void)remove(folder);
    return 0;
}
