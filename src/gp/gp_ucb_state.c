/* SPDX-License-Identifier: Apache-2.0 */
/* gp_ucb_state.c - a search kept and gone on with.
 * Ring: pure. A saved state is the list of suggestions and reports behind a fingerprint of the problem, and is replayed
 * on loading: the same operations, so the same bits. Cost: O(n T^2) time to load. */
#include "gp/gp_ucb_internal.h"

#include "gp/gp_internal.h"
#include "gp/kernel_internal.h"

#include <sodium.h>
#include <string.h>

typedef tacet__gp_ucb gp_ucb;

/* What follows from the list: which candidates were asked, which tickets reported; and the model, by replay. */
static void take_list(gp_ucb *self, size_t observed, tacet__state *s) {
    memset(self->asked, 0, self->n * sizeof *self->asked);
    memset(self->reported, 0, self->settings.horizon * sizeof *self->reported);
    memset(self->values + self->suggested, 0, (self->settings.horizon - self->suggested) * sizeof *self->values);
    for (size_t k = 0; k < self->suggested; k++) {
        tacet__state_require(s, "rows", self->settings.allow_repeats || !self->asked[self->rows[k]]);
        self->asked[self->rows[k]] = true;
    }
    for (size_t i = 0; i < observed; i++) {
        tacet__state_require(s, "order", !self->reported[self->order[i]]);
        self->reported[self->order[i]] = true;
    }
    for (size_t k = 0; k < self->suggested; k++) {
        tacet__state_require(s, "values", self->reported[k] || self->values[k] == 0);
    }
    tacet_gp_reset(self->gp);
    self->next_best.t = 0;
    for (size_t i = 0; i < observed && tacet__state_taking(s); i++) {
        const size_t k = self->order[i];
        tacet__state_check(s, "values", tacet_gp_observe(self->gp, self->rows[k], self->values[k], s->err));
    }
}

void tacet__gp_ucb_state(void *object, tacet__state *s) {
    gp_ucb *self = object;
    size_t observed = tacet_gp_count(self->gp);
    tacet__state_same(s, "problem", self->problem, sizeof self->problem);
    tacet__state_size(s, "suggested", &self->suggested, self->settings.horizon);
    tacet__state_sizes(s, "rows", self->rows, self->suggested, self->n - 1);
    tacet__state_size(s, "observed", &observed, self->suggested);
    tacet__state_sizes(s, "order", self->order, observed, self->suggested - 1);
    tacet__state_f64s(s, "values", self->values, self->suggested); /* by ticket; 0 where it is open */
    if (tacet__state_taking(s)) {
        take_list(self, observed, s);
    }
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

void tacet__gp_ucb_fingerprint(gp_ucb *self, const tacet_cov_spec *cov, const double *X, size_t ldx) {
    const tacet_gp_ucb_settings *s = &self->settings;
    crypto_generichash_state state;
    (void)crypto_generichash_init(&state, NULL, 0, TACET__PRINT_BYTES);
    const double reals[] = {s->mean, s->noise_var, s->delta_ucb, s->beta_scale};
    const uint64_t wholes[] = {self->n, s->horizon, s->allow_repeats, s->initial_count};
    hash_words(&state, reals, sizeof reals);
    hash_words(&state, wholes, sizeof wholes);
    hash_words(&state, self->initial, s->initial_count * sizeof *self->initial);
    const size_t d = tacet_kernel_dim(cov->kernel);
    hash_kernel(&state, cov);
    for (size_t j = 0; j < self->n; j++) {
        hash_words(&state, X + j * ldx, d * sizeof *X);
    }
    (void)crypto_generichash_final(&state, self->problem, TACET__PRINT_BYTES);
}
