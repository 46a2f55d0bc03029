/* SPDX-License-Identifier: Apache-2.0 */
/* epochs_release.c - the end of an epoch: its rounds as records, dealt to parts, one release.
 * Ring: trusted. Source: README.md, "Cumulative regret". Cost: one pass over the epoch's rounds and some tens of
 * O(M^2 N) forms. */
#include "contextual/trusted/epochs_internal.h"

#include "core/fail.h"
#include "core/memory.h"

#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const tacet__belief_scaling FIRST_SCALING = {.width = 2.5, .least = 1.0 / 64};
static const tacet__belief_scaling LATER_SCALING = {.width = 0.5, .least = 1};

static size_t between(double x, double low, double high) {
    return (size_t)fmax(fmin(x, high), fmin(low, high));
}

static void set_sizes(const tacet__epochs *u, tacet__parts_sizes *sizes) {
    const double n = (double)u->size;
    const size_t j = u->epoch == 0 ? 0 : 1;
    const bool symmetric = u->settings.learner.rewards == TACET_CONTEXTUAL_SYMMETRIC;
    memset(sizes, 0, sizeof *sizes);
    sizes->stages = 1;
    if (tacet__contextual_law_size(&u->robust.law) > 0) {
        sizes->n[TACET__PART_LAW] = j == 0 ? u->size / 4 : between(0.05 * n, 50, fmin(1000, n / 3));
    }
    if (j > 0) {
        sizes->n[TACET__PART_STAGE + 4] = between(0.04 * n, 50, fmin(600, n / 4));
        sizes->n[TACET__PART_STAGE + 5] = symmetric ? 0 : between(0.08 * n, 100, fmin(2000, n / 4));
    }
    sizes->n[TACET__PART_STAGE + 3 * j] =
        u->size - sizes->n[TACET__PART_LAW] - sizes->n[TACET__PART_STAGE + 4] - sizes->n[TACET__PART_STAGE + 5];
}

/* The epoch's rounds as records; those without a report are null. */
static tacet_status fill_records(tacet__epochs *u, tacet_error *err) {
    tacet_contextual_learner *l = u->learner;
    double w[TACET_CONTEXTUAL_COORDINATES_MOST] = {0};
    tacet_status status = TACET_OK;
    l->count = 0;
    for (size_t k = 0; k < u->size && status == TACET_OK; k++) {
        const bool null = isnan(u->rewards[k]);
        memcpy(w, u->actions + u->action[k] * u->a, u->a * sizeof *w);
        memcpy(w + u->a, u->context + k * u->contexts, u->contexts * sizeof *w);
        status = tacet_contextual_learner_add(l, w, null ? l->middle : u->rewards[k], err);
        if (status == TACET_OK && null) {
            l->records[(l->count - 1) * l->stride + l->basis->d + 1] = -1;
        }
    }
    sodium_memzero(w, sizeof w);
    return status;
}

/* How likely an action was in a context node, over the epoch's rounds: the first of them were given before the epoch
 * before it was released. */
static double played(const tacet__epochs *u, size_t k) {
    const double share = (double)u->settings.late / (double)u->size;
    return share * u->before[k] + (1 - share) * u->pi[k];
}

/* The law of contexts from all epochs so far, of records from it and pi. `V`: with this epoch's sketch. */
static tacet_status set_law(tacet__epochs *u, const double *V, double var, double n, tacet_error *err) {
    tacet__robust *r = &u->robust;
    const size_t N = r->belief.N;
    tacet_status status = TACET_OK;
    const double sd = sqrt(var) * fmax(u->settings.learner.eps / TACET__ROBUST_TRUSTED_EPS, 1);
    double mass = 1; /* of the rounds that were reported: q is the law of a round's record, null or not */
    if (tacet__contextual_law_size(&r->law) > 0) {
        mass = tacet__contextual_law_mass(&r->law, V, n, sd);
        status = tacet__contextual_law_decode(&r->law, r->even, V, n * mass, sd, err);
        if (status == TACET_OK) {
            status = tacet__contextual_law_redraw(&r->law, r->laws, TACET__ROBUST_LAWS, r->even, n * mass, sd, err);
        }
    }
    for (size_t k = 0; k < N && status == TACET_OK; k++) {
        r->q[k] = mass * r->even[k] * (double)u->n * played(u, k);
    }
    for (size_t k = 0; k < N * TACET__ROBUST_LAWS && status == TACET_OK; k++) {
        r->laws[k] *= mass * (double)u->n * played(u, k % N);
    }
    return status;
}

static void set_errors_law(tacet__robust *r) {
    for (size_t k = 0; k < r->belief.N; k++) {
        r->reach[k] = 0.5 * (r->q[k] + r->even[k]);
    }
    tacet__belief_gram(&r->belief, r->belief.U, r->reach);
}

static tacet_status release_epoch(tacet__epochs *u, tacet_error *err) {
    tacet__robust *r = &u->robust;
    const size_t size = tacet__contextual_law_size(&r->law);
    char prefix[32];
    double sd = 0;
    double *V = TACET__ZALLOC(double, size + 1);
    (void)snprintf(prefix, sizeof prefix, "epoch %zu, ", u->epoch);
    r->parts = (tacet__parts){
        .learner = u->learner, .ask = &u->ask, .what = u->ask.what, .prefix = prefix, .records = u->size};
    set_sizes(u, &r->parts.sizes);
    const double n = u->sketch_n + (double)r->parts.sizes.n[TACET__PART_LAW];
    tacet_status status =
        V == NULL ? tacet__fail(err, TACET_NO_MEMORY, "out of memory for a sketch") : fill_records(u, err);
    if (status == TACET_OK) {
        status = tacet__parts_deal(&r->parts, err);
    }
    if (status == TACET_OK && size > 0) {
        status = tacet__robust_sketch(r, V, &sd, err);
        for (size_t i = 0; i < size; i++) {
            V[i] += u->V[i];
        }
    }
    if (status == TACET_OK) {
        status = set_law(u, V, u->sketch_var + sd * sd, n, err);
    }
    if (status == TACET_OK) {
        set_errors_law(r);
        tacet__belief_form_restart(&r->form); /* what is released is a function of the state that is saved */
        status = tacet__robust_learn(r, u->epoch == 0 ? 0 : 1, u->epoch == 0 ? &FIRST_SCALING : &LATER_SCALING, err);
    }
    if (status == TACET_OK) {
        memcpy(u->V, V, size * sizeof *V);
        u->sketch_var += sd * sd;
        u->sketch_n = n;
    }
    sodium_memzero(u->learner->records, u->learner->capacity * sizeof *u->learner->records);
    u->learner->count = 0;
    free(r->parts.part_of);
    r->parts.part_of = NULL;
    r->parts.prefix = NULL;
    free(V);
    return status;
}

/* The rounds after the epoch come first now; its own are wiped. */
static void leave_released(tacet__epochs *u) {
    const size_t kept = u->suggested - u->begin - u->size;
    memmove(u->context, u->context + u->size * u->contexts, kept * u->contexts * sizeof *u->context);
    memmove(u->rewards, u->rewards + u->size, kept * sizeof *u->rewards);
    memmove(u->action, u->action + u->size, kept * sizeof *u->action);
    sodium_memzero(u->context + kept * u->contexts, (u->capacity - kept) * u->contexts * sizeof *u->context);
    sodium_memzero(u->rewards + kept, (u->capacity - kept) * sizeof *u->rewards);
    u->begin += u->size;
}

tacet_status tacet__epochs_end(tacet__epochs *u, tacet_error *err) {
    tacet_status status = release_epoch(u, err);
    if (status == TACET_OK) {
        memcpy(u->before, u->pi, u->robust.belief.N * sizeof *u->before);
        status = tacet__epochs_draw(u, err);
    }
    if (status == TACET_OK) {
        status = tacet__epochs_refresh(u, err);
    }
    if (status != TACET_OK) {
        return status;
    }
    leave_released(u);
    u->epoch++;
    status = tacet__epochs_plan(u, err);
    return status == TACET_OK ? tacet__epochs_reserve(u, tacet__epochs_size(u, u->epoch) + u->settings.late, err)
                              : status;
}
