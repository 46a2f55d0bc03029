/* SPDX-License-Identifier: Apache-2.0 */
/* gp_ucb_state.c - a search kept and gone on with.
 * Ring: pure. A saved state is the list of suggestions and reports behind a fingerprint of the problem, and is replayed
 * on loading: the same operations, so the same bits. Cost: O(n T^2) time to load. */
#include "gp/gp_ucb_internal.h"

#include "core/codec.h"
#include "core/fail.h"
#include "core/memory.h"
#include "gp/gp_internal.h"
#include "gp/kernel_internal.h"

#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 1024, STATE_VERSION = 1 };

typedef tacet__gp_ucb gp_ucb;

/* --- reports ------------------------------------------------------------------------------------------------------ */

tacet_status tacet__gp_ucb_save(const void *object, tacet_blob *out, tacet_error *err) {
    const gp_ucb *self = object;
    const size_t observed = tacet_gp_count(self->gp);
    tacet__writer w;
    tacet__write_begin(&w, out, TACET__GP_UCB_NAME, STATE_VERSION);
    tacet__write_bytes(&w, self->problem, sizeof self->problem);
    tacet__write_size(&w, self->suggested);
    for (size_t k = 0; k < self->suggested; k++) {
        tacet__write_size(&w, self->rows[k]);
    }
    tacet__write_size(&w, observed);
    for (size_t s = 0; s < observed; s++) {
        tacet__write_size(&w, self->order[s]);
        tacet__write_f64(&w, self->values[self->order[s]]);
    }
    return tacet__write_end(&w, err);
}

/* What a saved state says, before it is believed. */
typedef struct history {
    size_t suggested;
    size_t observed;
    size_t *rows;   /* horizon */
    size_t *order;  /* horizon */
    double *values; /* horizon, in the order of reports */
    bool *flags;    /* horizon */
} history;

static bool history_init(history *h, const gp_ucb *self) {
    const size_t horizon = self->settings.horizon;
    h->rows = TACET__ZALLOC(size_t, horizon);
    h->order = TACET__ZALLOC(size_t, horizon);
    h->values = TACET__ZALLOC(double, horizon);
    h->flags = TACET__ZALLOC(bool, horizon);
    return h->rows != NULL && h->order != NULL && h->values != NULL && h->flags != NULL;
}

static void history_clear(history *h) {
    free(h->rows);
    free(h->order);
    free(h->values);
    free(h->flags);
}

static bool any_twice(const size_t *rows, size_t count) {
    for (size_t k = 0; k < count; k++) {
        for (size_t i = 0; i < k; i++) {
            if (rows[i] == rows[k]) {
                return true;
            }
        }
    }
    return false;
}

/* Every number must be one this policy could have written: rows exist and are not asked twice, tickets were given and
 * are not reported twice. */
static void history_read(history *h, const gp_ucb *self, tacet__reader *r) {
    const unsigned char *problem = NULL;
    const size_t length = tacet__read_bytes(r, &problem);
    if (length != TACET__PRINT_BYTES || memcmp(problem, self->problem, TACET__PRINT_BYTES) != 0) {
        r->failed = true;
    }
    h->suggested = tacet__read_size(r, self->settings.horizon);
    for (size_t k = 0; k < h->suggested; k++) {
        h->rows[k] = tacet__read_size(r, self->n - 1);
    }
    if (!self->settings.allow_repeats && any_twice(h->rows, h->suggested)) {
        r->failed = true;
    }
    h->observed = tacet__read_size(r, h->suggested);
    for (size_t s = 0; s < h->observed && !r->failed; s++) {
        h->order[s] = tacet__read_size(r, h->suggested - 1);
        h->values[s] = tacet__read_f64(r);
        if (h->flags[h->order[s]] || !isfinite(h->values[s])) {
            r->failed = true;
        }
        h->flags[h->order[s]] = true;
    }
}

/* The model as the reports leave it, from nothing. */
static tacet_status replay(gp_ucb *self, const size_t *rows, const size_t *order, const double *values, bool by_ticket,
                           size_t observed, tacet_error *err) {
    tacet_gp_reset(self->gp);
    self->next_best.t = 0;
    tacet_status status = TACET_OK;
    for (size_t s = 0; s < observed && status == TACET_OK; s++) {
        status = tacet_gp_observe(self->gp, rows[order[s]], values[by_ticket ? order[s] : s], err);
    }
    return status;
}

static void adopt(gp_ucb *self, const history *h) {
    memset(self->asked, 0, self->n * sizeof *self->asked);
    memset(self->reported, 0, self->settings.horizon * sizeof *self->reported);
    self->suggested = h->suggested;
    for (size_t k = 0; k < h->suggested; k++) {
        self->rows[k] = h->rows[k];
        self->asked[h->rows[k]] = true;
    }
    for (size_t s = 0; s < h->observed; s++) {
        self->order[s] = h->order[s];
        self->reported[h->order[s]] = true;
        self->values[h->order[s]] = h->values[s];
    }
}

tacet_status tacet__gp_ucb_load(void *object, const void *bytes, size_t size, tacet_error *err) {
    gp_ucb *self = object;
    history h = {0};
    tacet__reader r;
    tacet_status status = tacet__read_begin(&r, bytes, size, TACET__GP_UCB_NAME, STATE_VERSION, err);
    if (status == TACET_OK && !history_init(&h, self)) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory loading a state of %s", TACET__GP_UCB_NAME);
    }
    if (status == TACET_OK) {
        history_read(&h, self, &r);
        status = tacet__read_end(&r, err);
    }
    if (status != TACET_OK) {
        goto done;
    }
    const size_t before = tacet_gp_count(self->gp);
    if (replay(self, h.rows, h.order, h.values, false, h.observed, NULL) != TACET_OK) {
        /* What was there has been observed once, so it can be observed again. */
        (void)replay(self, self->rows, self->order, self->values, true, before, NULL);
        status = tacet__fail(err, TACET_CORRUPT, "saved state of %s holds values that cannot be", TACET__GP_UCB_NAME);
        goto done;
    }
    adopt(self, &h);
done:
    history_clear(&h);
    return status;
}

/* --- the problem -------------------------------------------------------------------------------------------------- */

static void hash_words(crypto_generichash_state *state, const void *bytes, size_t size) {
    (void)crypto_generichash_update(state, bytes, size);
}

static void hash_kernel(crypto_generichash_state *state, const tacet_cov_spec *cov) {
    const tacet_kernel_spec *k = tacet_kernel_describe(cov->kernel);
    const uint64_t wholes[] = {(uint64_t)k->kind, k->d,
                               k->matern_p,       k->lengthscale_count,
                               k->groups != NULL, k->groups != NULL ? k->group_count : 0,
                               k->order,          cov->input_sd != NULL ? cov->input_sd_count : 0};
    hash_words(state, wholes, sizeof wholes);
    hash_words(state, &k->signal_var, sizeof k->signal_var);
    hash_words(state, k->lengthscales, k->lengthscale_count * sizeof *k->lengthscales);
    if (k->groups != NULL) {
        hash_words(state, k->groups, k->d * sizeof *k->groups);
    }
    if (k->kind == TACET_KERNEL_PRECOMPUTED) {
        hash_words(state, cov->kernel->matrix, k->order * k->order * sizeof(double));
    }
    if (cov->input_sd != NULL) {
        hash_words(state, cov->input_sd, cov->input_sd_count * sizeof *cov->input_sd);
    }
}

/* The caller's own covariance: prior variances, and the covariances of three candidates with all, tell problems apart.
 */
static void hash_rows(crypto_generichash_state *state, const gp_ucb *self) {
    const size_t rows[] = {0, self->n / 2, self->n - 1};
    double buffer[BLOCK];
    for (size_t at = 0; at < self->n; at += BLOCK) {
        const size_t m = self->n - at < BLOCK ? self->n - at : BLOCK;
        for (size_t k = 0; k < 4; k++) {
            if (k == 3) {
                tacet_cov_diag(self->cov, buffer, at, m);
            } else {
                tacet_cov_row(self->cov, buffer, at, m, rows[k]);
            }
            hash_words(state, buffer, m * sizeof *buffer);
        }
    }
}

void tacet__gp_ucb_fingerprint(gp_ucb *self, const tacet_cov_spec *cov, const double *X, size_t ldx) {
    const tacet_gp_ucb_settings *s = &self->settings;
    crypto_generichash_state state;
    (void)crypto_generichash_init(&state, NULL, 0, TACET__PRINT_BYTES);
    const double reals[] = {s->mean, s->noise_var, s->delta_ucb, s->beta_scale};
    const uint64_t wholes[] = {self->n, s->horizon, s->allow_repeats, s->initial_count, s->single};
    hash_words(&state, reals, sizeof reals);
    hash_words(&state, wholes, sizeof wholes);
    hash_words(&state, self->initial, s->initial_count * sizeof *self->initial);
    if (cov->kernel == NULL) {
        hash_rows(&state, self);
    } else {
        const size_t d = tacet_kernel_dim(cov->kernel);
        hash_kernel(&state, cov);
        for (size_t j = 0; j < self->n; j++) {
            hash_words(&state, X + j * ldx, d * sizeof *X);
        }
    }
    (void)crypto_generichash_final(&state, self->problem, TACET__PRINT_BYTES);
}
