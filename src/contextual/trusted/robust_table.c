/* SPDX-License-Identifier: Apache-2.0 */
/* robust_table.c - the robust release where actions and contexts are levels: one table of successes and failures.
 * Ring: trusted. Source: README.md, "A table of levels". A record adds (y + B)/2B and (B - y)/2B to the two numbers of
 * its cell: 1 in all, whatever it is, so replacing it moves the table by at most 2 in the L1 norm. No law of contexts
 * and no scale is needed, so the rows of those parts are the table's. Cost: one pass, and that of cells.c. */
#include "contextual/trusted/robust.h"

#include "contextual/shared/cells.h"
#include "core/fail.h"
#include "core/memory.h"
#include "gp/linalg.h"

#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

static const char PROOF[] = "src/contextual/README.md, a table of levels";
static const double PRIOR = 0.12; /* mean square of how cells differ, of B^2 */

bool tacet__robust_table_fits(const tacet_contextual_learner *l) {
    const size_t K = l->basis->features->blocks[0].count;
    return l->settings.method == TACET_CONTEXTUAL_ROBUST && l->settings.levels && l->settings.discrete &&
           !l->settings.law_stated && l->settings.rewards == TACET_CONTEXTUAL_SKEWED && K >= 2 &&
           K <= TACET__CELLS_MOST;
}

void tacet__robust_table_sizes(size_t count, tacet__parts_sizes *sizes) {
    const double T = (double)count;
    memset(sizes, 0, sizeof *sizes);
    sizes->n[TACET__PART_HELD] = (size_t)(0.05 * T);
    sizes->n[TACET__PART_VALUE] = (size_t)(0.12 * T);
    sizes->n[TACET__PART_LOGGED] = (size_t)(0.03 * T);
    sizes->stages = 1;
    sizes->n[TACET__PART_STAGE] =
        count - sizes->n[TACET__PART_HELD] - sizes->n[TACET__PART_VALUE] - sizes->n[TACET__PART_LOGGED];
}

static tacet__cells cells_of(const tacet__robust *r, double sd) {
    const tacet_contextual_learner *l = r->learner;
    return (tacet__cells){.actions = r->law.actions,
                          .contexts = r->law.contexts,
                          .bound = l->bound,
                          .prior_var = l->settings.prior_sd > 0 ? l->prior_var : PRIOR * l->bound * l->bound,
                          .noise_var = sd * sd};
}

/* --- the table --------------------------------------------------------------------------------------------------- */

typedef struct counting {
    const tacet__robust *r;
    int64_t *sums;
} counting;

/* Which context of the nodes a record has: the nearest. */
static size_t context_of(const tacet__robust *r, const double *record) {
    const size_t d = r->law.d;
    const double *Z = r->learner->basis->features->blocks[0].Z;
    size_t best = 0;
    double least = INFINITY;
    for (size_t k = 0; k < r->law.contexts; k++) {
        double sum = 0;
        for (size_t c = r->law.a; c < d; c++) {
            const double e = Z[k * r->law.actions * d + c] - record[c];
            sum += e * e;
        }
        if (sum < least) {
            least = sum;
            best = k;
        }
    }
    return best;
}

/* In whole steps, which sum to 1 exactly. */
static void count_record(void *user, const double *record, const double *phi) {
    const counting *s = user;
    const tacet__robust *r = s->r;
    const int64_t one = (int64_t)1 << TACET__ROBUST_STEP_BITS;
    const double B = r->learner->bound;
    (void)phi;
    if (tacet__robust_null(r, record)) {
        return;
    }
    const size_t cell = context_of(r, record) * r->law.actions + tacet__robust_action(r->learner->basis, record);
    const double share = fmin(fmax((record[r->law.d] + B) / (2 * B), 0), 1);
    const int64_t up = isfinite(share) ? (int64_t)llrint(ldexp(share, TACET__ROBUST_STEP_BITS)) : 0;
    s->sums[2 * cell] += up;
    s->sums[2 * cell + 1] += one - up;
}

tacet_status tacet__robust_table_count(const tacet__robust *r, double *values, tacet_error *err) {
    const size_t size = 2 * r->law.actions * r->law.contexts;
    int64_t *sums = TACET__ZALLOC(int64_t, size);
    counting s = {.r = r, .sums = sums};
    const tacet_status status = sums == NULL ? tacet__fail(err, TACET_NO_MEMORY, "out of memory for a table")
                                             : tacet__robust_visit(r, TACET__PART_STAGE, count_record, &s, err);
    for (size_t i = 0; i < size && status == TACET_OK; i++) {
        values[i] = ldexp((double)sums[i], -TACET__ROBUST_STEP_BITS);
    }
    if (sums != NULL) {
        sodium_memzero(sums, size * sizeof *sums);
    }
    free(sums);
    return status;
}

/* --- the model --------------------------------------------------------------------------------------------------- */

/* Features that are 1 in one cell and 0 in all others: kernel functions at the cells, by the inverse of their matrix.
 */
static tacet_status make_features(tacet__robust *r, tacet_error *err) {
    const tacet_contextual_basis *basis = r->learner->basis;
    const tacet__feature_block *block = &basis->features->blocks[0];
    const size_t K = block->count;
    tacet_status status = tacet__belief_init(&r->belief, K, K, err);
    r->A = TACET__ALIGNED(double, K *K);
    if (status == TACET_OK && r->A == NULL) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu cells", K);
    }
    if (status == TACET_OK) {
        tacet_kernel_matrix(basis->features->kernel, r->A, K, block->Z, basis->d, K, block->Z, basis->d, K);
        status = tacet__cholesky(r->A, K, K, NULL, NULL, err);
    }
    if (status == TACET_OK) {
        status = tacet__chol_inverse(K, r->A, K, err);
    }
    if (status == TACET_OK) {
        memset(r->belief.phi, 0, K * K * sizeof *r->belief.phi);
        for (size_t k = 0; k < K; k++) {
            r->belief.phi[k * K + k] = 1;
        }
        tacet__contextual_view_init(&r->view, basis, K);
        r->view.block.A = r->A;
        r->view.features.blocks = &r->view.block;
    }
    return status;
}

/* The law of records by the released table, and of errors. */
static void set_law(tacet__robust *r, const double *released) {
    const size_t A = r->law.actions;
    double total = 0;
    for (size_t k = 0; k < A * r->law.contexts; k++) {
        r->q[k] = fmax(released[2 * k] + released[2 * k + 1], 0) + 1;
        total += r->q[k];
    }
    for (size_t k = 0; k < r->law.contexts; k++) {
        double sum = 0;
        for (size_t i = 0; i < A; i++) {
            r->q[k * A + i] /= total;
            sum += r->q[k * A + i];
        }
        for (size_t i = 0; i < A; i++) {
            r->even[k * A + i] = sum / (double)A;
        }
    }
}

tacet_status tacet__robust_table(tacet__robust *r, tacet_error *err) {
    const size_t size = 2 * r->law.actions * r->law.contexts;
    double sd = 0;
    double *values = TACET__ZALLOC(double, size);
    tacet_status status = values == NULL ? tacet__fail(err, TACET_NO_MEMORY, "out of memory for a table")
                                         : tacet__robust_table_count(r, values, err);
    if (status == TACET_OK) {
        const tacet__parts_vector v = {.name = "table",
                                       .values = values,
                                       .count = size,
                                       .radius = (double)r->parts.sizes.n[TACET__PART_STAGE],
                                       .diameter = 2,
                                       .proof = PROOF};
        status = tacet__parts_count(&r->parts, values, &sd, &v, err);
    }
    if (status == TACET_OK) {
        status = make_features(r, err);
    }
    if (status == TACET_OK) {
        const tacet__cells cells = cells_of(r, sd);
        set_law(r, values);
        status = tacet__cells_learn(&cells, r->belief.theta, r->belief.P, values, err);
    }
    if (values != NULL) {
        sodium_memzero(values, size * sizeof *values);
    }
    free(values);
    return status;
}

/* --- before anything is spent ------------------------------------------------------------------------------------ */

tacet_status tacet__robust_table_outlook(const tacet__robust *r, tacet_contextual_outlook *out, size_t rounds,
                                         tacet_error *err) {
    const size_t K = r->law.actions * r->law.contexts;
    const tacet__cells cells = cells_of(r, 2 * sqrt(2) / r->learner->settings.eps);
    tacet__parts_sizes sizes;
    double *n = TACET__ZALLOC(double, K);
    double *P = TACET__ZALLOC(double, K *K);
    tacet__robust_table_sizes(rounds, &sizes);
    const double records = (double)sizes.n[TACET__PART_STAGE];
    for (size_t k = 0; k < K && n != NULL; k++) {
        n[k] = records * (r->learner->count > 0 ? r->q[k] : 1 / (double)K);
    }
    tacet_status status = n == NULL || P == NULL ? tacet__fail(err, TACET_NO_MEMORY, "out of memory for an outlook")
                                                 : tacet__cells_foresee(&cells, P, n, err);
    if (status == TACET_OK) {
        double risk = 0;
        for (size_t k = 0; k < K; k++) {
            risk += r->even[k] * P[k * K + k];
        }
        const double before = sqrt(cells.prior_var);
        *out = (tacet_contextual_outlook){.features = K,
                                          .stages = 1,
                                          .predicted_error = sqrt(fmax(risk, 0)),
                                          .prior_sd = before,
                                          .refused =
                                              !(sqrt(risk) < TACET__ROBUST_NOTHING_LEARNT * before) || records < 10};
    }
    free(n);
    free(P);
    return status;
}
