/* SPDX-License-Identifier: Apache-2.0 */
/* field.c - what the tables of a study over numbers say of a function of actions and contexts. Ring: open. Source:
 * src/ab/README.md, "Earning". A cell is seen as the average over the actions that were shown in it, whose shares are
 * public. Cost: a pass over all cells of all epochs and the actions. */
#include "ab/open/internal.h"
#include "core/fail.h"
#include "core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { APART_MOST = 256 }; /* cells that are seen apart for each epoch; those of earlier epochs are joined */
static const double ROWS_LEAST = 1;

typedef struct view {
    const tacet__ab_shown *shown;
    const tacet_ab_facts *f;
    const tacet__ab_data *data;
    tacet__ab_seen seen;
    double *part;   /* of each action in one context */
    double *row;    /* points */
    size_t *joined; /* of each cell: where it is joined; SIZE_MAX: nowhere yet */
} view;

/* How likely each action is in a context, in epoch e. */
static void set_parts(view *v, size_t e, size_t context) {
    const tacet__ab_shown *s = v->shown;
    const double late = e == 0 ? 0 : fmin((double)s->late / v->f->tickets[e], 1);
    memset(v->part, 0, s->count * sizeof *v->part);
    for (size_t before = 0; before < 2; before++) {
        const double share = before > 0 ? late : 1 - late;
        for (size_t i = 0; i < s->count && e <= before; i++) {
            v->part[i] += share / (double)s->count;
        }
        for (size_t k = 0; k < s->draws && e > before; k++) {
            const size_t at = ((e - before - 1) * v->f->plan.contexts + context) * s->draws + k;
            v->part[s->chosen[at]] += share / (double)s->draws;
        }
    }
}

/* Adds what was seen of a cell: apart, or joined by generalised least squares as in join.c. */
static void note(view *v, size_t cell, bool apart, double n, double z, double noise) {
    tacet__ab_seen *s = &v->seen;
    const bool fresh = apart || v->joined[cell] == SIZE_MAX;
    const size_t to = fresh ? s->count++ : v->joined[cell];
    const double by = apart ? 1 : n * s->spread / (n * s->spread + noise);
    double *weights = s->weights + to * s->points;
    if (!apart) {
        v->joined[cell] = to;
    }
    s->context[to] = cell / v->f->plan.actions;
    for (size_t i = 0; i < s->points; i++) {
        weights[i] = (s->n[to] * weights[i] + by * n * v->row[i]) / (s->n[to] + by * n);
    }
    s->n[to] += by * n;
    s->z[to] += by * z;
    s->noise[to] = apart ? noise : 0;
}

/* One cell of epoch e, whose context has so many rows: how many are its own is likely by which actions were shown, and
 * counted with noise. */
static void look(view *v, size_t e, size_t cell, double rows, bool apart) {
    const tacet_ab_plan *plan = &v->f->plan;
    const tacet__ab_shown *s = v->shown;
    const double *up = v->f->released + e * plan->numbers, *down = up + plan->cells;
    const double b = v->f->scale, p = v->data->p;
    const size_t context = cell / plan->actions;
    const double off = v->data->q_sd[context] / v->data->q[context];
    double sum = 0;
    memset(v->row, 0, s->points * sizeof *v->row);
    for (size_t i = 0; i < s->count; i++) {
        const double part = s->bin[i] == cell % plan->actions ? v->part[i] : 0;
        v->row[s->at[i]] += part;
        sum += part;
    }
    const double likely = rows * sum, spread = likely + off * off * likely * likely;
    const double n = likely + spread / (spread + 4 * b * b) * (up[cell] + down[cell] - likely);
    if (!(sum > 0 && n >= ROWS_LEAST)) {
        return;
    }
    for (size_t i = 0; i < s->points; i++) {
        v->row[i] /= sum;
    }
    note(v, cell, apart, n, (1 - p) * up[cell] - p * down[cell], 2 * b * b * ((1 - p) * (1 - p) + p * p));
}

static void look_at_all(view *v) {
    const tacet_ab_plan *plan = &v->f->plan;
    for (size_t e = v->f->epochs; e-- > 0;) {
        const bool apart = v->seen.count + plan->cells <= APART_MOST;
        for (size_t cell = 0; cell < plan->cells; cell++) {
            if (cell % plan->actions == 0) {
                set_parts(v, e, cell / plan->actions);
            }
            look(v, e, cell, tacet__ab_rows_of(v->f, e) * v->data->q[cell / plan->actions], apart);
        }
    }
}

tacet_status tacet__ab_field(double *mean, double *draws, double *share, const tacet__ab_shown *shown,
                             const tacet_ab_facts *f, tacet_simrng *rng, tacet_error *err) {
    const size_t K = f->plan.cells, most = APART_MOST + K, total = f->plan.contexts * shown->points;
    tacet__ab_data data;
    tacet_ab_table table;
    const tacet_status status = tacet__ab_data_of(&data, &table, f, err);
    if (status != TACET_OK) {
        return status;
    }
    view v = {.shown = shown, .f = f, .data = &data};
    v.seen = (tacet__ab_seen){.plan = &f->plan,
                              .place = shown->place,
                              .points = shown->points,
                              .p = data.p,
                              .spread = table.variance_share * data.p * (1 - data.p)};
    const tacet__array arrays[] = {{&v.seen.weights, most, shown->points},
                                   {&v.seen.n, most, 1},
                                   {&v.seen.z, most, 1},
                                   {&v.seen.noise, most, 1},
                                   {&v.part, shown->count, 1},
                                   {&v.row, shown->points, 1}};
    bool good = tacet__zalloc_arrays(arrays, sizeof arrays / sizeof *arrays);
    v.seen.context = TACET__ZALLOC(size_t, most);
    v.joined = TACET__ZALLOC(size_t, K);
    good = good && v.seen.context != NULL && v.joined != NULL;
    tacet_status made = good ? TACET_OK : tacet__fail(err, TACET_NO_MEMORY, "out of memory for what was shown");
    if (good) {
        memset(v.joined, 0xff, K * sizeof *v.joined);
        look_at_all(&v);
        made = tacet__ab_process(mean, draws, shown->draws, &v.seen, rng, err);
    }
    for (size_t i = 0; i < total && made == TACET_OK; i++) {
        for (size_t k = 0; k < shown->draws; k++) {
            draws[k * total + i] += data.p;
        }
        mean[i] += data.p;
    }
    if (made == TACET_OK) {
        memcpy(share, data.q, data.C * sizeof *share);
    }
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        free(*arrays[i].place);
    }
    free(v.seen.context);
    free(v.joined);
    tacet__ab_data_clear(&data);
    return made;
}
