/* SPDX-License-Identifier: Apache-2.0 */
/* gate.c - a batch's sum through the gate.
 * Ring: trusted. Source: parallel composition: a record is in one batch, so every batch may spend (eps, delta); which
 * mechanism draws a batch's noise depends on how many numbers it has, which is public. Up to TACET__FEW_MOST an l2
 * mechanism has less noise than the Gaussian (src/dp/open/l2.md); counts have Laplace noise. Proof: README.md, (c). A
 * ticket is answered once, so a batch that is ended again gets the same numbers. Cost: a calibration for each number of
 * numbers, 0.2 s, unless it was worked out ahead. */
#include "central/trusted/gate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/dp/ledger.h>
#include <tacet/dp/open/calibrate.h>

#include "core/fail.h"
#include "core/memory.h"

/* Times eps: what a record in l2 noise may cost with delta = 0. Noise that would cost more is Gaussian. */
static const double PURE_MOST = 1.6;
static const double L2_EPS_MOST = 500, L2_DELTA_LEAST = 1e-15; /* of that calibration */
enum { TICKET_ROOM = TACET_TICKET_MOST + 1, KEPT = 64 };

typedef struct sized {
    size_t k;
    tacet_bound *wide, *bound;
    tacet_mechanism *mechanism;
    tacet_raw *raw;
    tacet_bounded *bounded;
    double var;
} sized;

struct tacet__batch_gate {
    tacet__batch_terms terms;
    double sigma; /* of Gaussian noise; INFINITY for pure eps */
    bool few;     /* l2 noise for few numbers: allowed, and in the range of its calibration */
    sized sizes[KEPT];
    size_t count;
};

bool tacet__batch_few(const tacet_ask *ask) {
    tacet_ledger_totals totals;
    return ask->ledger == NULL ||
           (tacet_ledger_total(ask->ledger, &totals, NULL) == TACET_OK && totals.accounting == TACET_ACCOUNTING_BASIC);
}

static void clear_sized(sized *s) {
    tacet_bounded_free(s->bounded);
    tacet_raw_free(s->raw);
    tacet_mechanism_free(s->mechanism);
    tacet_bound_free(s->bound);
    tacet_bound_free(s->wide);
}

/* How far sums of k numbers reach, and a record moves them. */
static tacet_status bound_sums(sized *s, const tacet__batch_terms *t, tacet_error *err) {
    const double rounding = (t->l1 ? (double)s->k : sqrt((double)s->k)) * TACET__BATCH_QUANTUM;
    const tacet_status status = tacet_bound_norm(&s->wide, s->k, t->longest + 1, err);
    return status != TACET_OK ? status
                              : (t->l1 ? tacet_bound_narrow_1 : tacet_bound_narrow)(
                                    &s->bound, s->wide, t->sensitivity * (1 + 1e-12) + rounding, t->proof, err);
}

/* Of each of k numbers with the noise of a law; infinite: it has none. */
static double variance_of(const char *name, double scale, size_t k) {
    const tacet_law *law = tacet_law_find(name);
    const double spread = law != NULL && law->spread != NULL ? law->spread(scale, k) : INFINITY;
    return spread * spread;
}

/* A budget for which no noise can be drawn is refused before anything rests on it. */
static tacet_status try_terms(const tacet__batch_terms *t, tacet_error *err) {
    const tacet_neighbours neighbours = {.relation = TACET_RELATION_REPLACE};
    sized s = {.k = 1};
    tacet_status status = bound_sums(&s, t, err);
    if (status == TACET_OK) {
        const tacet_mechanism_kind kind = t->l1          ? TACET_MECHANISM_LAPLACE
                                          : t->delta > 0 ? TACET_MECHANISM_GAUSSIAN
                                                         : TACET_MECHANISM_KNORM;
        status = tacet_mechanism_create(&s.mechanism, kind, s.bound, &neighbours, t->eps, t->delta, err);
    }
    clear_sized(&s);
    return status;
}

tacet_status tacet__batch_gate_create(tacet__batch_gate **out, const tacet__batch_terms *terms, tacet_error *err) {
    *out = NULL;
    double sigma = INFINITY;
    if (!(terms->delta >= 0 && terms->delta < 1)) {
        return tacet__fail(err, TACET_INVALID, "delta must be at least 0 and below 1");
    }
    if (terms->delta == 0 && !terms->few) {
        return tacet__fail(err, TACET_INVALID, "delta must be above 0 where noise is Gaussian");
    }
    tacet_status status = terms->delta > 0 ? tacet_mechanism_scale_for(&sigma, TACET_MECHANISM_GAUSSIAN, terms->eps,
                                                                       terms->delta, 1, 1, err)
                                           : TACET_OK;
    TACET_THEN(status, try_terms(terms, err));
    if (status != TACET_OK) {
        return status;
    }
    tacet__batch_gate *g = TACET__ZALLOC(tacet__batch_gate, 1);
    if (g == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "no memory for a gate");
    }
    g->terms = *terms;
    g->sigma = sigma;
    g->few = terms->few && (terms->delta == 0 || (terms->delta >= L2_DELTA_LEAST && terms->eps <= L2_EPS_MOST));
    *out = g;
    return TACET_OK;
}

void tacet__batch_gate_free(tacet__batch_gate *g) {
    for (size_t i = 0; g != NULL && i < g->count; i++) {
        clear_sized(&g->sizes[i]);
    }
    free(g);
}

void tacet__batch_gate_noise(const tacet__batch_gate *g, tacet__batch_noise *out) {
    const double scale = g->terms.sensitivity;
    if (g->terms.l1) {
        *out = (tacet__batch_noise){.gaussian_var = variance_of("laplace", scale / g->terms.eps, 1)};
        return;
    }
    *out = (tacet__batch_noise){.gaussian_var = g->sigma * g->sigma * scale * scale,
                                .unit = g->few ? scale / g->terms.eps : 0};
}

double tacet__batch_gate_pure(const tacet__batch_gate *g) {
    return !g->few ? 0 : g->terms.delta == 0 || g->terms.l1 ? g->terms.eps : PURE_MOST * g->terms.eps;
}

bool tacet__batch_gate_ahead(double eps, double delta, size_t piece) {
    enum { FIRST = 3 }; /* the first releases have so many numbers and more, and two take longest to calibrate */
    tacet_l2 l2;
    const size_t k = (piece + FIRST - 1) % TACET__FEW_MOST + 1;
    return piece < TACET__FEW_MOST && delta >= L2_DELTA_LEAST && eps <= L2_EPS_MOST &&
           tacet_calibrate_l2(&l2, eps, delta, 1, k, NULL) == TACET_OK;
}

/* The mechanism with less noise for k numbers: l2, pure or with the delta, or Gaussian. */
static tacet_status choose_mechanism(const tacet__batch_gate *g, sized *s, tacet_error *err) {
    const tacet_neighbours neighbours = {.relation = TACET_RELATION_REPLACE};
    const tacet__batch_terms *t = &g->terms;
    const double gaussian = g->sigma * t->sensitivity;
    const tacet_mechanism_kind few = t->delta > 0 ? TACET_MECHANISM_L2 : TACET_MECHANISM_KNORM;
    if (t->l1) {
        const tacet_status status =
            tacet_mechanism_create(&s->mechanism, TACET_MECHANISM_LAPLACE, s->bound, &neighbours, t->eps, 0, err);
        s->var = status == TACET_OK ? variance_of("laplace", tacet_mechanism_scale(s->mechanism), s->k) : 0;
        return status;
    }
    if (t->delta == 0 || (s->k <= TACET__FEW_MOST && g->few)) {
        TACET_OR_RETURN(tacet_mechanism_create(&s->mechanism, few, s->bound, &neighbours, t->eps, t->delta, err));
        const double scale = tacet_mechanism_scale(s->mechanism);
        s->var = variance_of(t->delta > 0 ? "l2" : "k-norm", scale, s->k);
        const double pure = tacet_mechanism_sensitivity(s->mechanism) / scale;
        if (t->delta == 0 || (s->var < gaussian * gaussian && pure <= PURE_MOST * t->eps)) {
            return TACET_OK;
        }
        tacet_mechanism_free(s->mechanism);
        s->mechanism = NULL;
    }
    const tacet_status status =
        tacet_mechanism_create(&s->mechanism, TACET_MECHANISM_GAUSSIAN, s->bound, &neighbours, t->eps, t->delta, err);
    s->var = status == TACET_OK ? variance_of("gaussian", tacet_mechanism_scale(s->mechanism), s->k) : 0;
    return status;
}

/* The mechanism of k numbers, made once. */
static tacet_status sized_for(tacet__batch_gate *g, sized **out, size_t k, tacet_error *err) {
    for (size_t i = 0; i < g->count; i++) {
        if (g->sizes[i].k == k) {
            *out = &g->sizes[i];
            return TACET_OK;
        }
    }
    if (g->count == KEPT) {
        clear_sized(&g->sizes[--g->count]);
    }
    sized s = {.k = k};
    tacet_status status = bound_sums(&s, &g->terms, err);
    TACET_THEN(status, choose_mechanism(g, &s, err));
    TACET_THEN(status, tacet_raw_create(&s.raw, k, err));
    TACET_THEN(status, tacet_bounded_create(&s.bounded, s.bound, err));
    if (status != TACET_OK) {
        clear_sized(&s);
        return status;
    }
    g->sizes[g->count] = s;
    *out = &g->sizes[g->count++];
    return TACET_OK;
}

/* The answer that a batch's ticket has already. What was asked is not worked out again: on another processor its scale
 * might differ in the last digit, and the answer is one for ever. NOT_FOUND: none. CONFLICT: of other records. */
static tacet_status recall_answer(tacet_release **out, double *var, const tacet_ask *own, size_t k, tacet_error *err) {
    tacet_entry entry;
    tacet_charge charge;
    tacet_blob memo, texts;
    if (own->ledger == NULL) {
        return TACET_NOT_FOUND;
    }
    tacet_blob_init(&memo);
    tacet_blob_init(&texts);
    tacet_status status = tacet_ledger_lookup(own->ledger, &entry, &memo, own->ticket, NULL);
    status = status == TACET_OK && !entry.answered ? TACET_NOT_FOUND : status;
    TACET_THEN(status, tacet_ledger_charge(own->ledger, &charge, &texts, own->ticket, err));
    if (status == TACET_OK && (strcmp(charge.covered_records, own->covered_records) != 0 ||
                               strcmp(charge.to_whom, own->to_whom) != 0 || strcmp(charge.what, own->what) != 0)) {
        status = tacet__fail(err, TACET_CONFLICT, "this batch was released before, of other rounds");
    }
    TACET_THEN(status, tacet_release_decode(out, memo.data, memo.size, err));
    if (status == TACET_OK && tacet_release_count(*out) != k) {
        tacet_release_free(*out);
        *out = NULL;
        status = tacet__fail(err, TACET_CONFLICT, "this batch was released before, in another shape");
    }
    if (status == TACET_OK) {
        const tacet_receipt *receipt = tacet_release_receipt(*out);
        *var = variance_of(receipt->mechanism, receipt->scale, k);
    }
    tacet_blob_clear(&memo);
    tacet_blob_clear(&texts);
    return status;
}

tacet_status tacet__batch_gate_run(tacet__batch_gate *g, tacet_release **out, double *var, const tacet_ask *ask,
                                   uint64_t batch, const char *of, const double *sum, size_t k, tacet_error *err) {
    char ticket[TICKET_ROOM], part[32];
    sized *s = NULL;
    (void)snprintf(ticket, sizeof ticket, "%.170s/%llu", ask->ticket, (unsigned long long)batch);
    (void)snprintf(part, sizeof part, "batch %llu", (unsigned long long)batch);
    tacet_ask own = *ask;
    own.ticket = ticket;
    own.group = ask->ticket;
    own.part = part;
    own.covered_records = of;
    tacet_status status = recall_answer(out, var, &own, k, err);
    if (status != TACET_NOT_FOUND) {
        return status;
    }
    tacet_error_clear(err);
    status = sized_for(g, &s, k, err);
    TACET_THEN(status, tacet_raw_set(s->raw, sum, k, err));
    TACET_THEN(status, tacet_bounded_set(s->bounded, s->raw, err));
    TACET_THEN(status, tacet_mechanism_run(s->mechanism, out, &own, s->bounded, err));
    if (status == TACET_OK) {
        *var = s->var;
    }
    return status;
}
