/* bench_curate.c - a release of 1,000,000 x 10 records against drawing ten million exact noise values, in the same run;
 * and the most memory the process ever held. Seconds are of processor time, so that other work on the machine does not
 * count; what a release does besides drawing is to read the table twice (checked before anything is spent, then drawn)
 * and to print every number exactly. Ring: programs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <tacet/base/simrng.h>
#include <tacet/trusted/curate.h>

#include "gate/sampler.h"

enum { D = 10, RECORDS = 1000000, BLOCK = 4096 };

static double seconds(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double draw(double sigma, int grid) {
    static double out[BLOCK];
    tacet_noise *noise = NULL;
    if (tacet_noise_open(&noise, NULL) != TACET_OK) {
        exit(1);
    }
    const double start = seconds();
    for (size_t left = (size_t)D * RECORDS; left > 0;) {
        const size_t n = left < BLOCK ? left : BLOCK;
        if (tacet__draw_gaussian(noise, out, n, sigma, grid, NULL) != TACET_OK) {
            exit(1);
        }
        left -= n;
    }
    const double spent = seconds() - start;
    tacet_noise_close(noise);
    return spent;
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

int main(void) {
    static tacet_manifest_column columns[D];
    char folder[] = "/tmp/tacet-bench-XXXXXX";
    char data[64], out[64], path[128];
    tacet_curate_settings s;
    tacet_manifest m;
    tacet_error err = {0};
    struct rusage usage;
    if (mkdtemp(folder) == NULL) {
        return 1;
    }
    (void)snprintf(data, sizeof data, "%s/data.csv", folder);
    (void)snprintf(out, sizeof out, "%s/out", folder);
    write_table(data);
    tacet_curate_defaults(&s);
    for (size_t i = 0; i < D; i++) {
        columns[i] = (tacet_manifest_column){.lo = 0, .hi = 100, .unit = 5};
        (void)snprintf(columns[i].name, sizeof columns[i].name, "c%zu", i);
    }
    s.data = data;
    s.folder = out;
    s.columns = columns;
    s.column_count = D;
    s.eps = 1;
    const double start = seconds();
    const tacet_status status = tacet_curate_run(&m, &s, &err);
    const double spent = seconds() - start;
    static const char *const FILES[] = {"out/release.csv", "out/manifest.json", "out/ledger.db", "out", "data.csv", ""};
    for (size_t i = 0; i < sizeof FILES / sizeof FILES[0]; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", folder, FILES[i]);
        (void)remove(path);
    }
    if (status != TACET_OK) {
        (void)fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    int grid = 0;
    (void)frexp(m.grid, &grid);
    grid--; /* frexp's fraction of a power of two is 1/2 */
    const double draws = draw(m.sigma, grid);
    (void)getrusage(RUSAGE_SELF, &usage);
    printf("release of %d x %d: %.2f times the time of its draws (%.1f million numbers a second); %.0f MiB resident\n",
           RECORDS, D, spent / draws, 1e-6 * D * RECORDS / spent, (double)usage.ru_maxrss / 1024);
    tacet_manifest_clear(&m);
    return 0;
}
