/* SPDX-License-Identifier: Apache-2.0 */
/* bench_noise.c - exact draws a second on one core, and their ratio to a plain Box-Muller in floating point on the same
 * key stream, in the same run. Seconds are of processor time, so that other work on the machine does not count.
 * Ring: programs. The Box-Muller is a yardstick only: it is not private. */
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <tacet/dp/noise.h>
#include <tacet/dp/randomizer.h>

#include "dp/noise/noise_state.h"
#include "dp/noise/sampler.h"

enum { COUNT = 1 << 16, ROUNDS = 5 };
static double out[COUNT];

static void box_muller(tacet_noise *noise) {
    for (size_t i = 0; i < COUNT; i += 2) {
        const double u = ((double)(tacet__noise_next(noise) >> 11) + 0.5) * 0x1p-53;
        const double v = (double)(tacet__noise_next(noise) >> 11) * 0x1p-53;
        const double r = 2.5 * sqrt(-2 * log(u));
        out[i] = r * cos(2 * M_PI * v);
        out[i + 1] = r * sin(2 * M_PI * v);
    }
}

static void words(tacet_noise *noise) {
    for (size_t i = 0; i < COUNT; i++) {
        out[i] = (double)tacet__noise_next(noise);
    }
}

static const int GRID = -19; /* 2.5 / 2^20 or the next power of two below */

static void gaussian(tacet_noise *noise) {
    (void)tacet__draw_gaussian(noise, out, COUNT, 2.5, GRID, NULL);
}
static void gaussian_one(tacet_noise *noise) {
    for (size_t i = 0; i < COUNT; i++) {
        (void)tacet__draw_gaussian(noise, &out[i], 1, 2.5, GRID, NULL);
    }
}
static void laplace(tacet_noise *noise) {
    (void)tacet__draw_laplace(noise, out, COUNT, 2.5, GRID, NULL);
}
static void discrete_laplace(tacet_noise *noise) {
    (void)tacet__draw_discrete_laplace(noise, out, COUNT, 2.5, GRID, NULL);
}
static void knorm(tacet_noise *noise) {
    for (size_t i = 0; i < COUNT; i += 64) {
        (void)tacet__draw_knorm(noise, &out[i], 64, 2.5, GRID, NULL);
    }
}
static void knorm_rows(tacet_noise *noise, size_t d) {
    (void)tacet__draw_knorm_rows(noise, out, COUNT / d, d, 2.5, GRID, NULL);
}
static void knorm_2(tacet_noise *noise) {
    knorm_rows(noise, 2);
}
static void knorm_3(tacet_noise *noise) {
    knorm_rows(noise, 3);
}
static void knorm_10(tacet_noise *noise) {
    knorm_rows(noise, 10);
}
static void hybrid(tacet_noise *noise) {
    tacet_ldp ldp;
    (void)tacet_ldp_init(&ldp, TACET_LDP_HYBRID, 1, 0, 1, NULL);
    for (size_t i = 0; i < COUNT; i++) {
        (void)tacet__randomize(noise, &out[i], &ldp, 0.3, NULL);
    }
}

/* The best of some rounds of at least 0.1 s: whatever else happens can only slow it down. */
static double rate(tacet_noise *noise, void (*draw)(tacet_noise *)) {
    double best = 0;
    for (int round = 0; round < ROUNDS; round++) {
        double drawn = 0;
        const double start = bench_seconds(CLOCK_THREAD_CPUTIME_ID);
        double elapsed = 0;
        do {
            draw(noise);
            drawn += COUNT;
            elapsed = bench_seconds(CLOCK_THREAD_CPUTIME_ID) - start;
        } while (elapsed < 0.1);
        best = fmax(best, drawn / elapsed);
    }
    return best;
}

int main(void) {
    static const struct {
        const char *name;
        void (*draw)(tacet_noise *);
    } rows[] = {
        {"key stream word", words},
        {"gaussian, exact", gaussian},
        {"gaussian, one a call", gaussian_one},
        {"laplace, exact", laplace},
        {"discrete laplace, exact", discrete_laplace},
        {"knorm (64), exact", knorm},
        {"knorm (2), exact", knorm_2},
        {"knorm (3), exact", knorm_3},
        {"knorm (10), exact", knorm_10},
        {"hybrid report, exact", hybrid},
    };
    tacet_noise *noise = NULL;
    if (tacet_noise_open_sample(&noise, NULL) != TACET_OK) {
        return 1;
    }
    const double reference = rate(noise, box_muller);
    printf("%-26s %9.2f million/s\n", "box-muller, not private", reference / 1e6);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const double here = rate(noise, rows[i].draw);
        printf("%-26s %9.2f million/s  %5.2f x box-muller\n", rows[i].name, here / 1e6, here / reference);
    }
    tacet_noise_close(noise);
    return 0;
}
