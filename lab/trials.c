/* SPDX-License-Identifier: Apache-2.0 */
/* trials.c - trials over threads; mean, standard error, median; pages of results. Ring: programs. */
#include "space/internal.h"
#include "trials.h"

#include "common/cli.h"
#include "core/fail.h"
#include "core/numbers.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_THREADS = 64 };

typedef struct pool {
    lab_trial_fn fn;
    void *user;
    size_t trials;
    size_t next, done;
    size_t failed; /* number of the failed trial; trials: none */
    tacet_status status;
    tacet_error err;
    pthread_mutex_t lock;
} pool;

static struct {
    double from, to;
    char what[120]; /* "": none */
} within = {0, 1, ""};

void lab_progress_within(double from, double to, const char *what) {
    within.from = from;
    within.to = to;
    (void)snprintf(within.what, sizeof within.what, "%s", what != NULL ? what : "");
}

void lab_progress(double fraction, const char *what) {
    if (within.what[0] == '\0') {
        cli_progress(fraction, "%s", what);
    } else {
        cli_progress(within.from + (within.to - within.from) * fraction, "%s: %s", within.what, what);
    }
}

void lab_progress_end(void) {
    if (within.what[0] == '\0') {
        cli_progress_end();
    }
}

static void *work(void *arg) {
    pool *p = arg;
    for (;;) {
        (void)pthread_mutex_lock(&p->lock);
        const size_t k = p->status == TACET_OK && p->next < p->trials ? p->next++ : p->trials;
        (void)pthread_mutex_unlock(&p->lock);
        if (k == p->trials) {
            return NULL;
        }
        tacet_error err;
        tacet_error_clear(&err);
        const tacet_status status = p->fn(p->user, k, &err);
        (void)pthread_mutex_lock(&p->lock);
        if (status != TACET_OK && k < p->failed) { /* the first of those that ran */
            p->failed = k;
            p->status = status;
            p->err = err;
        }
        p->done++;
        char what[64];
        (void)snprintf(what, sizeof what, "trial %zu of %zu", p->done, p->trials);
        lab_progress((double)p->done / (double)p->trials, what);
        (void)pthread_mutex_unlock(&p->lock);
    }
}

tacet_status lab_trials_run(size_t trials, lab_trial_fn fn, void *user, tacet_error *err) {
    pool p = {.fn = fn, .user = user, .trials = trials, .failed = trials};
    tacet_error_clear(&p.err);
    cpu_set_t may; /* taskset and containers leave fewer than the machine has */
    size_t threads = sched_getaffinity(0, sizeof may, &may) == 0 ? (size_t)CPU_COUNT(&may) : 1;
    threads = threads > MOST_THREADS ? MOST_THREADS : threads;
    threads = threads > trials ? trials : threads;
    (void)pthread_mutex_init(&p.lock, NULL);
    pthread_t thread[MOST_THREADS];
    size_t started = 0;
    /* The calling thread works too, so that a machine that gives no threads still finishes. */
    while (started + 1 < threads && pthread_create(&thread[started], NULL, work, &p) == 0) {
        started++;
    }
    (void)work(&p);
    for (size_t i = 0; i < started; i++) {
        (void)pthread_join(thread[i], NULL);
    }
    lab_progress_end();
    (void)pthread_mutex_destroy(&p.lock);
    if (p.status != TACET_OK && err != NULL && err->status == TACET_OK) {
        *err = p.err;
    }
    return p.status;
}

/* By Welford's updates: a sum of squares would lose the spread of values that are large and alike. */
static void strided_mean_se(double *mean, double *se, const double *values, size_t stride, size_t count) {
    double m = 0;
    double q = 0;
    for (size_t i = 0; i < count; i++) {
        const double v = values[i * stride];
        const double e = v - m;
        m += e / (double)(i + 1);
        q += e * (v - m);
    }
    *mean = m;
    *se = count > 1 ? sqrt(q / (double)(count - 1) / (double)count) : 0;
}

void lab_mean_se(double *mean, double *se, const double *values, size_t count) {
    strided_mean_se(mean, se, values, 1, count);
}

void lab_curve(json_t **mean, json_t **se, const double *values, size_t points, size_t trials) {
    *mean = json_array();
    *se = json_array();
    for (size_t i = 0; i < points; i++) {
        double m = 0;
        double e = 0;
        strided_mean_se(&m, &e, values + i, points, trials);
        (void)json_array_append_new(*mean, cli_real(m));
        (void)json_array_append_new(*se, cli_real(e));
    }
}

double lab_median(const double *values, size_t count) {
    double *sorted = count > 0 ? malloc(count * sizeof *sorted) : NULL;
    if (sorted == NULL) {
        return (double)NAN;
    }
    memcpy(sorted, values, count * sizeof *sorted);
    tacet__sort(sorted, count);
    const double median = 0.5 * (sorted[(count - 1) / 2] + sorted[count / 2]);
    free(sorted);
    return median;
}

json_t *lab_summary(const double *values, size_t count, const char *more) {
    double mean = 0, se = 0;
    size_t large = 0;
    lab_mean_se(&mean, &se, values, count);
    json_t *made = cli_object("mean se", J(mean), J(se));
    if (strstr(more, "max") != NULL) {
        cli_add(made, "max", J(lab_largest(values, count)));
    }
    if (strstr(more, "median") != NULL) {
        cli_add(made, "median", J(lab_median(values, count)));
    }
    for (size_t i = 0; i < count; i++) {
        large += values[i] > 0.1;
    }
    cli_add(made, "above_0.1? values?", J(strstr(more, "above") != NULL ? cli_whole(large) : NULL),
            J(strstr(more, "values") != NULL ? JL(values, count) : NULL));
    return made;
}

bool lab_choose(size_t *out, const char *const *names, size_t count, const char *name) {
    for (*out = 0; *out < count; ++*out) {
        if (strcmp(names[*out], name) == 0) {
            return true;
        }
    }
    return false;
}

double lab_largest(const double *values, size_t count) {
    double most = (double)-INFINITY;
    for (size_t i = 0; i < count; i++) {
        most = fmax(most, values[i]);
    }
    return most;
}

tacet_status lab_unit_space(tacet_space *space, size_t columns, tacet_error *err) {
    tacet_status status = TACET_OK;
    tacet_space_init(space);
    for (size_t c = 0; c < columns && status == TACET_OK; c++) {
        tacet_space_column column;
        tacet_space_column_init(&column);
        (void)snprintf(column.name, sizeof column.name, "x%zu", c);
        column.kind = TACET_SPACE_REAL;
        column.lo = 0;
        column.hi = 1;
        column.unit = 1;
        status = tacet_space_add(space, &column, err);
    }
    return status;
}
