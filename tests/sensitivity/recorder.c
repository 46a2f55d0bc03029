/* SPDX-License-Identifier: Apache-2.0 */
/* recorder.c - wraps the draws of the gate; see recorder.h. */
#include "sensitivity/recorder.h"

#include "dp/bound_internal.h"
#include "dp/mechanisms/table.h"
#include "dp/mechanisms/report.h"
#include "dp/mint.h"
#include "support/gate.h"
#include "support/test.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/dp/noise.h>

static struct {
    recording *into;
    const recording *replay;
    tacet_noise *noise;
    pthread_mutex_t lock;
} recorder = {.lock = PTHREAD_MUTEX_INITIALIZER};

tacet_status __real_tacet__mechanism_draw(const tacet_mechanism *, tacet_noise *, double *, const tacet_bounded *,
                                          tacet_error *);
tacet_status __real_tacet__mechanism_draw_box(const tacet_mechanism *, tacet_noise *, double *, const double *, size_t,
                                              tacet_error *);
tacet_status __real_tacet__mechanism_draw_levels(const tacet_mechanism *, tacet_noise *, double *, const double *,
                                                 size_t, tacet_error *);
tacet_status __real_tacet__report_draw(double *, const tacet_mint *, const tacet_ldp *, double, tacet_error *);
tacet_status __real_tacet__report_draw_among(double *, const tacet_mint *, const tacet_ldp *, const uint32_t *,
                                             tacet_error *);
tacet_status __wrap_tacet__mechanism_draw(const tacet_mechanism *, tacet_noise *, double *, const tacet_bounded *,
                                          tacet_error *);
tacet_status __wrap_tacet__mechanism_draw_box(const tacet_mechanism *, tacet_noise *, double *, const double *, size_t,
                                              tacet_error *);
tacet_status __wrap_tacet__mechanism_draw_levels(const tacet_mechanism *, tacet_noise *, double *, const double *,
                                                 size_t, tacet_error *);
tacet_status __wrap_tacet__report_draw(double *, const tacet_mint *, const tacet_ldp *, double, tacet_error *);
tacet_status __wrap_tacet__report_draw_among(double *, const tacet_mint *, const tacet_ldp *, const uint32_t *,
                                             tacet_error *);

void recorder_begin(recording *into, const recording *replay) {
    memset(into, 0, sizeof *into);
    recorder.into = into;
    recorder.replay = replay;
    assert_int_equal(tacet_noise_open_seeded(&recorder.noise, 20261118, 0, NULL), TACET_OK);
}

void recorder_end(void) {
    tacet_noise_close(recorder.noise);
    recorder.into = NULL;
    recorder.noise = NULL;
}

void recording_clear(recording *r) {
    for (size_t i = 0; i < r->count; i++) {
        free(r->draws[i].input);
        free(r->draws[i].output);
    }
    memset(r, 0, sizeof *r);
}

/* A draw's place in the recording, with room for its numbers. Under the lock. */
static recorded *note(const recorded *like) {
    assert_true(recorder.into->count < RECORDER_DRAWS_MOST);
    recorded *r = &recorder.into->draws[recorder.into->count++];
    *r = *like;
    r->input = calloc(r->rows * r->count + 1, sizeof *r->input);
    r->output = calloc(r->outputs + 1, sizeof *r->output);
    assert_true(r->input != NULL && r->output != NULL);
    return r;
}

/* The answer of the same draw in the run that is played again; false: there is none, and something is to be drawn. */
static bool again(recorded *r, double *out) {
    if (recorder.replay == NULL) {
        return false;
    }
    const size_t number = (size_t)(r - recorder.into->draws);
    assert_true(number < recorder.replay->count);
    const recorded *before = &recorder.replay->draws[number];
    assert_int_equal(before->outputs, r->outputs);
    memcpy(out, before->output, r->outputs * sizeof *out);
    memcpy(r->output, before->output, r->outputs * sizeof *out);
    return true;
}

static recorded of_mechanism(const tacet_mechanism *m, size_t rows) {
    const bool chooses = tacet__mechanism_chooses(m);
    return (recorded){.form = chooses ? RECORDER_SCORES : RECORDER_NUMBERS,
                      .by_l1 = m->kind->by_l1,
                      .sensitivity = m->sensitivity,
                      .eps = m->eps,
                      .delta = m->delta,
                      .rows = rows,
                      .count = m->count,
                      .outputs = chooses ? 1 : rows * m->count};
}

tacet_status __wrap_tacet__mechanism_draw(const tacet_mechanism *m, tacet_noise *noise, double *out,
                                          const tacet_bounded *value, tacet_error *err) {
    if (recorder.into == NULL) {
        return __real_tacet__mechanism_draw(m, noise, out, value, err);
    }
    (void)pthread_mutex_lock(&recorder.lock);
    const recorded like = of_mechanism(m, 1);
    recorded *r = note(&like);
    for (size_t i = 0; i < m->count; i++) {
        r->input[i] = test_on_grid(value->values[i], m->grid_exponent);
    }
    tacet_status s = TACET_OK;
    if (!again(r, out)) {
        s = __real_tacet__mechanism_draw(m, recorder.noise, out, value, err);
        memcpy(r->output, out, r->outputs * sizeof *out);
    }
    (void)pthread_mutex_unlock(&recorder.lock);
    return s;
}

tacet_status __wrap_tacet__mechanism_draw_box(const tacet_mechanism *m, tacet_noise *noise, double *out,
                                              const double *raw, size_t rows, tacet_error *err) {
    if (recorder.into == NULL) {
        return __real_tacet__mechanism_draw_box(m, noise, out, raw, rows, err);
    }
    (void)pthread_mutex_lock(&recorder.lock);
    const recorded like = of_mechanism(m, rows);
    recorded *r = note(&like);
    for (size_t i = 0; i < rows * m->count; i++) {
        const size_t j = i % m->count;
        const double clipped = tacet__box_clip(raw[i], m->bound->lower[j], m->bound->upper[j]);
        r->input[i] = test_on_grid(clipped, m->grid_exponent);
    }
    tacet_status s = TACET_OK;
    if (!again(r, out)) {
        s = __real_tacet__mechanism_draw_box(m, recorder.noise, out, raw, rows, err);
        memcpy(r->output, out, r->outputs * sizeof *out);
    }
    (void)pthread_mutex_unlock(&recorder.lock);
    return s;
}

tacet_status __wrap_tacet__mechanism_draw_levels(const tacet_mechanism *m, tacet_noise *noise, double *out,
                                                 const double *raw, size_t rows, tacet_error *err) {
    if (recorder.into == NULL) {
        return __real_tacet__mechanism_draw_levels(m, noise, out, raw, rows, err);
    }
    (void)pthread_mutex_lock(&recorder.lock);
    const recorded like = {.form = RECORDER_LEVELS,
                           .by_l1 = true,
                           .sensitivity = 1,
                           .eps = m->eps,
                           .rows = rows,
                           .count = m->level_count,
                           .outputs = rows * m->level_count};
    recorded *r = note(&like);
    memcpy(r->input, raw, r->outputs * sizeof *raw);
    tacet_status s = TACET_OK;
    if (!again(r, out)) {
        s = __real_tacet__mechanism_draw_levels(m, recorder.noise, out, raw, rows, err);
        memcpy(r->output, out, r->outputs * sizeof *out);
    }
    (void)pthread_mutex_unlock(&recorder.lock);
    return s;
}

tacet_status __wrap_tacet__report_draw(double *out, const tacet_mint *mint, const tacet_ldp *ldp, double value,
                                       tacet_error *err) {
    if (recorder.into == NULL) {
        return __real_tacet__report_draw(out, mint, ldp, value, err);
    }
    (void)pthread_mutex_lock(&recorder.lock);
    const recorded like = {.form = RECORDER_REPORT,
                           .by_l1 = true,
                           .sensitivity = ldp->hi - ldp->lo,
                           .eps = ldp->eps,
                           .rows = 1,
                           .count = 1,
                           .outputs = 1};
    recorded *r = note(&like);
    r->input[0] = fmin(fmax(value, ldp->lo), ldp->hi);
    tacet_status s = TACET_OK;
    if (!again(r, out)) {
        s = __real_tacet__report_draw(out, mint, ldp, value, err);
        r->output[0] = *out;
    }
    (void)pthread_mutex_unlock(&recorder.lock);
    return s;
}

tacet_status __wrap_tacet__report_draw_among(double *out, const tacet_mint *mint, const tacet_ldp *ldp,
                                             const uint32_t *order, tacet_error *err) {
    if (recorder.into == NULL) {
        return __real_tacet__report_draw_among(out, mint, ldp, order, err);
    }
    (void)pthread_mutex_lock(&recorder.lock);
    /* One choice among cells: any other window is another input, at the price of the whole eps. */
    const recorded like = {.form = RECORDER_CELLS,
                           .by_l1 = true,
                           .sensitivity = 1,
                           .eps = ldp->eps,
                           .rows = 1,
                           .count = ldp->window,
                           .outputs = 1};
    recorded *r = note(&like);
    for (uint32_t i = 0; i < ldp->window; i++) {
        r->input[i] = order[i];
    }
    tacet_status s = TACET_OK;
    if (!again(r, out)) {
        s = __real_tacet__report_draw_among(out, mint, ldp, order, err);
        r->output[0] = *out;
    }
    (void)pthread_mutex_unlock(&recorder.lock);
    return s;
}

/* How far one row of a draw moved, in the norm of its charge. */
static double distance(const recorded *a, const recorded *b, size_t row) {
    double l1 = 0, l2 = 0, most = 0;
    size_t changed = 0;
    for (size_t i = row * a->count; i < (row + 1) * a->count; i++) {
        const double d = fabs(a->input[i] - b->input[i]);
        l1 += d;
        l2 = hypot(l2, d);
        most = fmax(most, d);
        changed += a->input[i] != b->input[i] ? 1 : 0;
    }
    switch (a->form) {
    case RECORDER_SCORES:
        return most;
    case RECORDER_LEVELS:
        return (double)changed;
    case RECORDER_CELLS:
        return changed > 0 ? 1 : 0;
    case RECORDER_NUMBERS:
    case RECORDER_REPORT:
        break;
    }
    return a->by_l1 ? l1 : l2;
}

bool recorded_moved(const recorded *a, const recorded *b) {
    return memcmp(a->input, b->input, a->rows * a->count * sizeof *a->input) != 0;
}

void movement_add(movement *m, const recording *a, const recording *b) {
    double eps = 0, moved = 0;
    assert_int_equal(a->count, b->count); /* how many draws there are must not depend on the data */
    m->draws = a->count > m->draws ? a->count : m->draws;
    for (size_t k = 0; k < a->count; k++) {
        const recorded *x = &a->draws[k], *y = &b->draws[k];
        assert_int_equal(x->form, y->form);
        assert_true(x->rows == y->rows && x->count == y->count);
        assert_true(x->sensitivity == y->sensitivity && x->eps == y->eps && x->delta == y->delta);
        for (size_t row = 0; row < x->rows; row++) {
            const double share = distance(x, y, row) / x->sensitivity;
            if (!(share <= 1 + 1e-12)) {
                print_error("draw %zu, row %zu: moved by %.6g of its sensitivity %.6g\n", k, row, share,
                            x->sensitivity);
            }
            assert_true(share <= 1 + 1e-12);
            m->share[k] = fmax(m->share[k], share);
            eps += share * x->eps;
            moved += share > 0 ? 1 : 0;
        }
    }
    m->eps = fmax(m->eps, eps);
    m->moved = fmax(m->moved, moved);
}
