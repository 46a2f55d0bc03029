/* SPDX-License-Identifier: Apache-2.0 */
/* candidates.c - which settings are tried: a function of the space, the public seed and the winners so far.
 * Ring: trusted, but nothing private comes here: two runs with the same winners have the same candidates, which is what
 * the proof of README.md needs. Source: Sobol 1967 with a digital shift; moves as in evolution strategies.
 * Differs: settings that would repeat an earlier one are drawn again, and left out where that does not help.
 * Cost: O(d) a setting, O(settings so far) to see whether it is new. */
#include "tune/trusted/internal.h"

#include "core/fail.h"
#include "core/memory.h"
#include "gp/sobol.h"
#include "space/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TRIES = 32 }; /* for a setting that is new */
/* Streams of the public seed; zoom rounds count on from the second. */
enum { STREAM_SPREAD = 0, STREAM_ZOOM = 1 };

/* README.md, "The search": where the figures come from. */
static const double UNIFORM_SHARE = .05, OLDER_SHARE = .25;
static const double FIRST_STEP = .25, SHRINK = .5, SHRINK_MANY = .7;
static const size_t MANY_ROUNDS = 8;

void tacet__tune_record(const tacet_space *space, double *record, const double *cube) {
    for (size_t j = 0; j < space->count; j++) {
        record[j] = tacet__space_at(&space->columns[j], cube[j]);
    }
}

void tacet__tune_cube(const tacet_space *space, double *cube, const double *record) {
    for (size_t j = 0; j < space->count; j++) {
        cube[j] = tacet__space_share(&space->columns[j], record[j]);
    }
}

tacet_status tacet__settings_reserve(tacet__settings *settings, size_t capacity, tacet_error *err) {
    const size_t d = settings->space->count;
    size_t numbers = 0;
    if (tacet__size_mul(&numbers, capacity, d)) {
        settings->cubes = TACET__ZALLOC(double, numbers);
        settings->records = TACET__ZALLOC(double, numbers);
    }
    if (settings->cubes == NULL || settings->records == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu settings", capacity);
    }
    settings->capacity = capacity;
    return TACET_OK;
}

void tacet__settings_clear(tacet__settings *settings) {
    free(settings->cubes);
    free(settings->records);
    memset(settings, 0, sizeof *settings);
}

bool tacet__settings_add(tacet__settings *settings, const double *cube) {
    const size_t d = settings->space->count;
    double *record = settings->records + settings->count * d;
    tacet__tune_record(settings->space, record, cube);
    for (size_t i = 0; i < settings->count; i++) {
        if (memcmp(settings->records + i * d, record, d * sizeof *record) == 0) {
            return false;
        }
    }
    memcpy(settings->cubes + settings->count * d, cube, d * sizeof *cube);
    settings->count++;
    return true;
}

static void uniform_point(double *cube, size_t d, tacet_simrng *rng) {
    for (size_t j = 0; j < d; j++) {
        cube[j] = tacet_simrng_uniform(rng);
    }
}

void tacet__settings_spread(tacet__settings *settings, size_t count, uint64_t seed) {
    const size_t d = settings->space->count;
    double cube[TACET_SPACE_COLUMNS];
    uint32_t shift[TACET__SOBOL_DIM_MOST];
    tacet_simrng rng;
    tacet_simrng_init(&rng, seed, STREAM_SPREAD);
    for (size_t j = 0; j < TACET__SOBOL_DIM_MOST; j++) {
        shift[j] = (uint32_t)(tacet_simrng_u64(&rng) >> 32);
    }
    for (size_t i = 0; i < count; i++) {
        uniform_point(cube, d, &rng); /* columns beyond the sequence stay uniform */
        for (size_t j = 0; j < d && j < TACET__SOBOL_DIM_MOST; j++) {
            cube[j] = ((double)(tacet__sobol(j, i) ^ shift[j]) + 0.5) * 0x1p-32;
        }
        for (int left = TRIES; !tacet__settings_add(settings, cube) && left > 0; left--) {
            uniform_point(cube, d, &rng);
        }
    }
}

/* Into [0, 1] by reflection at both ends. */
static double reflected(double u) {
    const double folded = fabs(fmod(u, 2));
    return folded > 1 ? 2 - folded : folded;
}

static void move_column(double *cube, const tacet_space_column *c, double step, tacet_simrng *rng) {
    if (!tacet_space_traits_of(c)->levels) {
        *cube = reflected(*cube + step * tacet_simrng_normal(rng));
    } else if (tacet_simrng_uniform(rng) < fmin(1, 2 * step + .2)) {
        *cube = tacet_simrng_uniform(rng);
    }
}

static void near_point(double *cube, const tacet_space *space, const double *centre, double step, tacet_simrng *rng) {
    const size_t d = space->count;
    const double moves = fmax(.5, 1.5 / (double)d);
    const size_t surely = tacet_simrng_below(rng, d);
    for (size_t j = 0; j < d; j++) {
        cube[j] = centre[j];
        if (tacet_simrng_uniform(rng) < moves || j == surely) {
            move_column(&cube[j], &space->columns[j], step, rng);
        }
    }
}

void tacet__settings_zoom(tacet__settings *settings, size_t count, uint64_t seed, size_t round, size_t rounds,
                          const size_t *winners) {
    const size_t d = settings->space->count;
    const double step = FIRST_STEP * pow(rounds >= MANY_ROUNDS ? SHRINK_MANY : SHRINK, (double)(round - 1));
    double cube[TACET_SPACE_COLUMNS];
    tacet_simrng rng;
    tacet_simrng_init(&rng, seed, STREAM_ZOOM + round);
    for (size_t i = 0; i < count; i++) {
        bool added = false;
        for (int left = TRIES; !added && left > 0; left--) {
            if (tacet_simrng_uniform(&rng) < UNIFORM_SHARE) {
                uniform_point(cube, d, &rng);
            } else {
                const bool older = round > 1 && tacet_simrng_uniform(&rng) < OLDER_SHARE;
                const size_t centre = winners[round - (older ? 2 : 1)];
                near_point(cube, settings->space, settings->cubes + centre * d, step, &rng);
            }
            added = tacet__settings_add(settings, cube);
        }
    }
}
