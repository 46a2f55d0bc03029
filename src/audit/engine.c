/* SPDX-License-Identifier: Apache-2.0 */
/* engine.c - runs a target in both worlds, chooses an event, measures it, bounds epsilon from below.
 * Ring: audit. Source: the hypothesis-testing view of differential privacy (Wasserman, Zhou 2010; Jagielski et al.
 * 2020), with guesses in both directions and abstention, which doubles the evidence of a one-sided event. Proof:
 * src/audit/README.md. Cost: 6 runs x the target's cost, over all processors; memory for the part the event is chosen
 * on only. With a seed the result does not depend on the number of threads. */
#include <tacet/audit/audit.h>

#include "audit/bound.h"

#include "core/fail.h"
#include "core/memory.h"
#include "core/stop.h"
#include "dp/noise/sampler.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    MEASURED = 200,  /* units of work; each has its own noise stream when seeded */
    SELECTION = 100, /* further ones before them, which the event is chosen on */
    BLOCKS = MEASURED + SELECTION,
    MOST_THREADS = 64,
    MOST_CANDIDATES = 90 /* thresholds tried on each side */
};
static const size_t LEAST_RUNS = 1000;
static const double LUCK = 2; /* standard deviations taken off a score for having been chosen */

typedef tacet__audit_sample sample;

typedef struct job {
    const tacet_audit_target *target;
    const tacet_audit_claim *claim;
    const tacet_audit_settings *settings;
    size_t per_block;
    bool choosing;
    sample *selected; /* SELECTION * per_block, while choosing */
    double hi, lo;    /* while measuring */
    /* Under the lock: */
    pthread_mutex_t lock;
    size_t next, end, finished; /* blocks */
    size_t correct, wrong;      /* guesses */
    tacet_status status;
    tacet_error err;
} job;

void tacet_audit_defaults(tacet_audit_settings *settings) {
    *settings = (tacet_audit_settings){.runs = 1000000, .confidence = 0.98};
}

/* Guess 1 at or above hi, 0 at or below lo, else abstain. */
static void count_guess(const job *j, double statistic, int world, size_t *correct, size_t *wrong) {
    if (statistic >= j->hi || statistic <= j->lo) {
        const int guess = statistic >= j->hi;
        *correct += guess == world;
        *wrong += guess != world;
    }
}

tacet_status tacet__audit_open(void **state, const tacet_audit_target *target, const tacet_audit_claim *claim,
                               tacet_error *err) {
    *state = TACET__ZALLOC(unsigned char, target->size + 1);
    if (*state == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory creating an audit target");
    }
    const tacet_status status = target->create != NULL ? target->create(*state, target, claim, err) : TACET_OK;
    if (status != TACET_OK) {
        tacet__audit_close(*state, target);
        *state = NULL;
    }
    return status;
}

void tacet__audit_close(void *state, const tacet_audit_target *target) {
    if (state != NULL && target->clear != NULL) {
        target->clear(state);
    }
    free(state);
}

static tacet_status run_block(job *j, void *state, tacet_noise *noise, size_t block, size_t *correct, size_t *wrong,
                              tacet_error *err) {
    uint64_t coins = 0;
    for (size_t i = 0; i < j->per_block; i++) {
        if (i % 64 == 0) {
            coins = tacet__noise_u64(noise);
        }
        const int world = (int)(coins >> (i % 64) & 1);
        double statistic = 0;
        tacet_status status = tacet__stopped(j->settings->stop, err);
        TACET_THEN(status, j->target->run(state, j->target, noise, world, &statistic, err));
        if (status != TACET_OK) {
            return status;
        }
        if (j->choosing) {
            j->selected[block * j->per_block + i] = (sample){statistic, world};
        } else {
            count_guess(j, statistic, world, correct, wrong);
        }
    }
    return TACET_OK;
}

static bool take_block(job *j, size_t *block) {
    (void)pthread_mutex_lock(&j->lock);
    *block = j->next;
    const bool go = j->next < j->end && j->status == TACET_OK;
    j->next += go;
    (void)pthread_mutex_unlock(&j->lock);
    return go;
}

static void *work(void *argument) {
    job *j = argument;
    tacet_error err = {0};
    tacet_noise *noise = NULL;
    void *state = NULL;
    size_t block = 0;
    tacet_status status = tacet__audit_open(&state, j->target, j->claim, &err);
    if (status == TACET_OK && !j->settings->seeded) {
        status = tacet_noise_open_sample(&noise, &err);
    }
    while (status == TACET_OK && take_block(j, &block)) {
        size_t correct = 0;
        size_t wrong = 0;
        if (j->settings->seeded) {
            tacet_noise_close(noise);
            noise = NULL;
            status = tacet_noise_open_seeded(&noise, j->settings->seed, block, &err);
        }
        TACET_THEN(status, run_block(j, state, noise, block, &correct, &wrong, &err));
        (void)pthread_mutex_lock(&j->lock);
        j->finished++;
        j->correct += correct;
        j->wrong += wrong;
        (void)pthread_mutex_unlock(&j->lock);
    }
    if (status != TACET_OK) {
        (void)pthread_mutex_lock(&j->lock);
        if (j->status == TACET_OK) {
            j->status = status;
            j->err = err;
        }
        (void)pthread_mutex_unlock(&j->lock);
    }
    tacet__audit_close(state, j->target);
    tacet_noise_close(noise);
    return NULL;
}

/* Runs blocks [first, end) on all threads; the calling thread only watches. */
static tacet_status run_all(job *j, size_t first, size_t end, size_t threads, tacet_error *err) {
    pthread_t ids[MOST_THREADS];
    size_t started = 0;
    j->next = first;
    j->end = end;
    j->finished = 0;
    while (started < threads && pthread_create(&ids[started], NULL, work, j) == 0) {
        started++;
    }
    if (started == 0) {
        return tacet__fail(err, TACET_NO_MEMORY, "no thread could be started");
    }
    for (bool waiting = j->settings->progress != NULL; waiting;) {
        (void)pthread_mutex_lock(&j->lock);
        const double fraction = (double)(first + j->finished) / BLOCKS;
        waiting = j->finished < end - first && j->status == TACET_OK;
        (void)pthread_mutex_unlock(&j->lock);
        j->settings->progress(fraction, j->settings->user);
        if (waiting) {
            (void)usleep(20000);
        }
    }
    for (size_t i = 0; i < started; i++) {
        (void)pthread_join(ids[i], NULL);
    }
    if (j->status != TACET_OK) {
        return tacet__fail(err, j->status, "%s", j->err.message);
    }
    return TACET_OK;
}

static double bound(size_t correct, size_t wrong, size_t n, double delta, double confidence) {
    /* Half of the error probability to each of the two frequencies. */
    const double each = 1 - (1 - confidence) / 2;
    /* The delta is taken off once: P(correct) <= e^eps P(wrong) + delta is an average over both worlds. */
    const double low = tacet_audit_lower(correct, n, each) - delta;
    const double high = tacet_audit_upper(wrong, n, each);
    return low > high ? log(low / high) : 0;
}

/* The same without the cost of exact intervals: good enough to compare thousands of candidate events. */
static double rough_bound(double correct, double wrong, double n, double delta) {
    const double z = 2.4; /* near the quantile of the default confidence */
    const double low = (correct - z * sqrt(correct + 1)) / n - delta;
    const double high = (wrong + z * sqrt(wrong + 1) + 3) / n;
    return low > high ? log(low / high) : 0;
}

static int by_statistic(const void *a, const void *b) {
    const double x = ((const sample *)a)->statistic;
    const double y = ((const sample *)b)->statistic;
    return (x > y) - (x < y);
}

typedef struct candidates {
    double at[MOST_CANDIDATES];
    double count[MOST_CANDIDATES][2]; /* guesses made, by world */
    size_t n;
} candidates;

/* Thresholds from the far tail inwards, geometrically spaced in rank; never inside a run of equal values. */
static void collect(candidates *c, const sample *sorted, size_t n, bool upper) {
    double count[2] = {0, 0};
    double next_rank = 8;
    c->at[0] = upper ? INFINITY : -INFINITY;
    c->count[0][0] = c->count[0][1] = 0;
    c->n = 1;
    for (size_t rank = 1; rank <= n && c->n < MOST_CANDIDATES; rank++) {
        const size_t i = upper ? n - rank : rank - 1;
        count[sorted[i].world]++;
        const bool last = rank == n;
        const bool tied = !last && sorted[upper ? i - 1 : i + 1].statistic == sorted[i].statistic;
        if (!tied && ((double)rank >= next_rank || last)) {
            c->at[c->n] = sorted[i].statistic;
            c->count[c->n][0] = count[0];
            c->count[c->n][1] = count[1];
            c->n++;
            next_rank = (double)rank * 1.17; /* 90 of these reach from rank 8 to 10^6 and more */
        }
    }
}

/* The event, by the first n runs. */
static void choose(job *j, size_t n, size_t measured) {
    candidates high;
    candidates low;
    qsort(j->selected, n, sizeof *j->selected, by_statistic);
    collect(&high, j->selected, n, true);
    collect(&low, j->selected, n, false);
    const double factor = (double)measured / (double)n;
    double best = -1;
    j->hi = INFINITY;
    j->lo = -INFINITY;
    for (size_t a = 0; a < high.n; a++) {
        for (size_t b = 0; b < low.n && low.at[b] < high.at[a]; b++) {
            /* The best of thousands of noisy scores is a lucky one unless each pays for its own noise first. */
            const double right = high.count[a][1] + low.count[b][0];
            const double false_ones = high.count[a][0] + low.count[b][1];
            const double correct = right - LUCK * sqrt(right);
            const double wrong = false_ones + LUCK * sqrt(false_ones + 1);
            const double score = rough_bound(correct * factor, wrong * factor, (double)measured, j->claim->delta);
            if (score > best) {
                best = score;
                j->hi = high.at[a];
                j->lo = low.at[b];
            }
        }
    }
    if (!(best > 0)) { /* nothing stands out: what is known of a weak signal is most when every run is guessed */
        j->hi = j->selected[n / 2].statistic;
        j->lo = nextafter(j->hi, -INFINITY);
    }
}

static tacet_status check(const tacet_audit_claim *claim, const tacet_audit_settings *settings, tacet_error *err) {
    if (!(claim->eps > 0) || !isfinite(claim->eps)) {
        return tacet__fail(err, TACET_INVALID, "eps must be finite and above 0");
    }
    if (!(claim->delta >= 0 && claim->delta < 1)) {
        return tacet__fail(err, TACET_INVALID, "delta must be at least 0 and below 1");
    }
    if (settings->runs < LEAST_RUNS) {
        return tacet__fail(err, TACET_INVALID, "an audit needs at least %zu runs", LEAST_RUNS);
    }
    if (!(settings->confidence > 0 && settings->confidence < 1)) {
        return tacet__fail(err, TACET_INVALID, "the confidence must lie between 0 and 1");
    }
    return TACET_OK;
}

static tacet_audit_result conclude(const job *j, size_t measured, double confidence) {
    const double least = bound(j->correct, j->wrong, measured, j->claim->delta, confidence);
    return (tacet_audit_result){.claimed_eps = j->claim->eps,
                                .claimed_delta = j->claim->delta,
                                .eps_lower = least,
                                .confidence = confidence,
                                .guess_hi = j->hi,
                                .guess_lo = j->lo,
                                .measured = measured,
                                .correct = j->correct,
                                .wrong = j->wrong,
                                .violated = least > j->claim->eps};
}

static size_t thread_count(size_t wanted) {
    if (wanted == 0) {
        const long processors = sysconf(_SC_NPROCESSORS_ONLN);
        wanted = processors > 0 ? (size_t)processors : 1;
    }
    return wanted > MOST_THREADS ? MOST_THREADS : wanted;
}

tacet_status tacet_audit_run(tacet_audit_result *out, const tacet_audit_target *target, const tacet_audit_claim *claim,
                             const tacet_audit_settings *settings, tacet_error *err) {
    memset(out, 0, sizeof *out);
    TACET_OR_RETURN(check(claim, settings, err));
    const size_t threads = thread_count(settings->threads);
    size_t total = 0;
    job j = {.target = target, .claim = claim, .settings = settings, .choosing = true};
    if (!tacet__size_mul(&total, settings->runs, 2)) {
        return tacet__fail(err, TACET_OVERFLOW, "too many runs");
    }
    /* 2 x runs choose the event, over SELECTION blocks; twice as many blocks of the same size measure it. */
    j.per_block = total / SELECTION + (total % SELECTION != 0);
    j.selected = TACET__ZALLOC(sample, SELECTION * j.per_block);
    if (j.selected == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu runs", total);
    }
    (void)pthread_mutex_init(&j.lock, NULL);
    tacet_status status = run_all(&j, 0, SELECTION, threads, err);
    if (status != TACET_OK) {
        goto done;
    }
    const size_t measured = MEASURED * j.per_block;
    choose(&j, SELECTION * j.per_block, measured);
    j.choosing = false;
    status = run_all(&j, SELECTION, BLOCKS, threads, err);
    if (status != TACET_OK) {
        goto done;
    }
    *out = conclude(&j, measured, settings->confidence);
done:
    (void)pthread_mutex_destroy(&j.lock);
    free(j.selected);
    return status;
}

tacet_status tacet__audit_judge(tacet_audit_result *out, tacet__audit_sample *samples, size_t count,
                                const tacet_audit_claim *claim, double confidence, tacet_error *err) {
    const tacet_audit_settings settings = {.runs = LEAST_RUNS, .confidence = confidence};
    memset(out, 0, sizeof *out);
    TACET_OR_RETURN(check(claim, &settings, err));
    job j = {.claim = claim, .selected = samples};
    const size_t selected = count / BLOCKS * SELECTION + count % BLOCKS * SELECTION / BLOCKS;
    const size_t measured = count - selected;
    choose(&j, selected, measured);
    for (size_t i = selected; i < count; i++) {
        count_guess(&j, samples[i].statistic, samples[i].world, &j.correct, &j.wrong);
    }
    *out = conclude(&j, measured, confidence);
    return TACET_OK;
}
