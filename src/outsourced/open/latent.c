/* SPDX-License-Identifier: Apache-2.0 */
/* latent.c - the latent-position modeler as a policy.
 * Ring: open. In: a release (rows, public box, public noise law) and measured values. Out: row numbers.
 * Cost per measurement: see latent_chains.c, latent_field.c, latent_rows.c; no allocation after create. */
#include "outsourced/open/modeler_internal.h"

#include "core/codec.h"
#include "core/fail.h"
#include "gp/linalg.h"
#include "core/memory.h"
#include "core/numbers.h"
#include "outsourced/open/latent_acquire.h"
#include "outsourced/open/latent_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char NAME[] = "latent";
enum { VERSION = 2, FEWEST_CHAINS = 4, FEWEST_MOVES = 6, SMALL_TABLE = 10000 };
static const double CHAIN_WORK = 4.8e7; /* grid nodes * horizon^2, over all chains: a few milliseconds at the end */
static const double MOVE_WORK = 4.5e7;  /* moves * candidates * horizon^2, over all chains: the same */
static const double SHARP = 0.15;       /* noise of a position in lengthscales */

typedef struct latent {
    tacet__rows rows;
    tacet__chains chains;
    tacet__field field;
    tacet__acquire acquire;
    size_t horizon;
    size_t issued;  /* suggestions made */
    size_t *ticket; /* horizon: row of each suggestion */
    bool *reported; /* horizon */
    bool *taken;    /* n: suggested already */
    size_t *initial;
    size_t initial_count;
    double mean;
    double *score;  /* n */
    double *second; /* n */
    double *before; /* positions, to undo a measurement that failed */
    tacet_guarantee guarantee;
    uint64_t fingerprint;
} latent;

static tacet_status check_release(const tacet_modeler_settings *s, tacet_error *err) {
    if (s->d == 0 || s->n == 0 || s->rows == NULL || s->ld < s->d || s->low == NULL || s->high == NULL ||
        s->kernel == NULL) {
        return tacet__fail(err, TACET_INVALID, "the latent-position modeler needs rows, a public box and a kernel");
    }
    if (s->d > TACET__AXES) {
        return tacet__fail(err, TACET_UNSUPPORTED,
                           "the latent-position modeler works in at most %d dimensions, not %zu", TACET__AXES, s->d);
    }
    for (size_t a = 0; a < s->d; a++) {
        if (!(isfinite(s->low[a]) && isfinite(s->high[a]) && s->low[a] < s->high[a])) {
            return tacet__fail(err, TACET_INVALID, "axis %zu of the public box is not an interval", a);
        }
    }
    const tacet_status status = tacet__check_points(s->rows, s->ld, s->d, s->n, "row", err);
    return status == TACET_OK ? tacet__modeler_check_noise(s, err) : status;
}

static tacet_status check(const tacet_modeler_settings *s, tacet_error *err) {
    const tacet_status status = check_release(s, err);
    if (status != TACET_OK) {
        return status;
    }
    if (s->spread != NULL) {
        return tacet__fail(err, TACET_UNSUPPORTED,
                           "the latent-position modeler takes columns of real numbers only: use ladder or eiv");
    }
    const tacet_kernel_spec *k = s->kernel;
    if (k->kind != TACET_KERNEL_SE || (k->groups != NULL && k->group_count > 1)) {
        return tacet__fail(err, TACET_UNSUPPORTED, "the latent-position modeler needs an SE kernel without groups");
    }
    if (k->d != s->d || k->lengthscales == NULL || (k->lengthscale_count != 1 && k->lengthscale_count != s->d)) {
        return tacet__fail(err, TACET_INVALID, "give one lengthscale, or one per coordinate");
    }
    for (size_t a = 0; a < k->lengthscale_count; a++) {
        if (!(k->lengthscales[a] > 0 && isfinite(k->lengthscales[a]))) {
            return tacet__fail(err, TACET_INVALID, "lengthscale %zu is not positive", a);
        }
    }
    if (!(k->signal_var > 0 && isfinite(k->signal_var)) || !(s->noise_var >= 0 && isfinite(s->noise_var)) ||
        !isfinite(s->mean)) {
        return tacet__fail(err, TACET_INVALID, "signal variance, noise variance or mean is out of range");
    }
    if (s->horizon == 0 || s->horizon > s->n || s->chains == 0 || s->candidates == 0) {
        return tacet__fail(err, TACET_INVALID,
                           "the horizon must lie between 1 and the number of rows, chains and candidates be positive");
    }
    if (!(s->explore >= 0 && s->explore <= 1) || !(s->kappa >= 0 && isfinite(s->kappa))) {
        return tacet__fail(err, TACET_INVALID, "explore must lie in [0, 1] and kappa be finite and not negative");
    }
    if (s->initial_count > s->horizon || (s->initial_count > 0 && s->initial == NULL)) {
        return tacet__fail(err, TACET_INVALID, "more initial rows than measurements");
    }
    return TACET_OK;
}

static void hash_bytes(uint64_t *h, const void *bytes, size_t count) {
    const unsigned char *b = bytes;
    for (size_t i = 0; i < count; i++) {
        *h = (*h ^ b[i]) * UINT64_C(0x100000001b3);
    }
}

/* FNV-1a over what decides the course of a policy: a state is refused by another problem. */
static uint64_t fingerprint(const tacet__rows *rows, const tacet_modeler_settings *s) {
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    const double reals[] = {s->scale, s->kernel->signal_var, s->noise_var, s->mean, s->explore, s->kappa};
    const uint64_t whole[] = {s->d,
                              s->n,
                              s->horizon,
                              s->chains,
                              s->candidates,
                              s->moves,
                              s->seed,
                              (uint64_t)tacet__modeler_density(s),
                              s->initial_count};
    hash_bytes(&h, reals, sizeof reals);
    hash_bytes(&h, whole, sizeof whole);
    hash_bytes(&h, rows->z, rows->d * rows->n * sizeof *rows->z);
    for (size_t a = 0; a < rows->d; a++) {
        hash_bytes(&h, &rows->axis[a].side, sizeof rows->axis[a].side);
    }
    for (size_t i = 0; i < s->initial_count; i++) {
        hash_bytes(&h, &s->initial[i], sizeof s->initial[i]);
    }
    return h;
}

static void latent_free(void *self) {
    latent *m = self;
    if (m == NULL) {
        return;
    }
    tacet__rows_clear(&m->rows);
    tacet__chains_clear(&m->chains);
    tacet__field_clear(&m->field);
    tacet__acquire_clear(&m->acquire);
    free(m->ticket);
    free(m->reported);
    free(m->taken);
    free(m->initial);
    free(m->score);
    free(m->second);
    free(m->before);
    free(m);
}

/* Before anything is measured all rows promise the same: begin with the one nearest the middle of the box. */
static size_t middle_row(const latent *m) {
    size_t best = SIZE_MAX;
    double least = INFINITY;
    for (size_t i = 0; i < m->rows.n; i++) {
        double r2 = 0;
        for (size_t a = 0; a < m->rows.d; a++) {
            const double u = m->rows.z[i * m->rows.d + a] - 0.5 * m->rows.axis[a].side;
            r2 += u * u;
        }
        if (!m->taken[i] && r2 < least) {
            least = r2;
            best = i;
        }
    }
    return best;
}

static tacet_status latent_suggest(void *self, tacet_suggestion *out, const tacet_round *round, tacet_error *err) {
    latent *m = self;
    if (round->points != NULL || round->context_dim != 0) {
        return tacet__fail(err, TACET_INVALID, "the modeler's domain is the release: a round brings no candidates");
    }
    if (m->issued >= m->horizon) {
        return tacet__fail(err, TACET_STATE, "all %zu measurements of the horizon were suggested", m->horizon);
    }
    size_t row = SIZE_MAX;
    double score = 0;
    if (m->issued < m->initial_count) {
        row = m->initial[m->issued];
    } else if (m->chains.t == 0) {
        row = middle_row(m);
    } else {
        tacet_status status = tacet__field_compute(&m->field, &m->rows, &m->chains, err);
        if (status != TACET_OK) {
            return status;
        }
        tacet__acquire_scores(&m->acquire, m->score, &m->rows, &m->chains, &m->field, m->horizon);
        for (size_t i = 0; i < m->rows.n; i++) {
            if (!m->taken[i] && (row == SIZE_MAX || m->score[i] > m->score[row])) {
                row = i;
            }
        }
        score = m->score[row];
    }
    m->taken[row] = true;
    m->ticket[m->issued++] = row;
    *out = (tacet_suggestion){.index = row, .ticket = m->issued, .score = score};
    return TACET_OK;
}

static tacet_status latent_observe(void *self, uint64_t ticket, double value, tacet_error *err) {
    latent *m = self;
    if (ticket == 0 || ticket > m->issued) {
        return tacet__fail(err, TACET_NOT_FOUND, "ticket %llu was never given", (unsigned long long)ticket);
    }
    if (m->reported[ticket - 1]) {
        return tacet__fail(err, TACET_CONFLICT, "ticket %llu was reported already", (unsigned long long)ticket);
    }
    tacet__chains *chains = &m->chains;
    const size_t t = chains->t;
    const tacet_simrng rng = chains->rng;
    const size_t positions = chains->d * chains->capacity * chains->count;
    memcpy(m->before, chains->x, positions * sizeof *m->before);
    const tacet_status status = tacet__chains_observe(chains, &m->rows, m->ticket[ticket - 1], value - m->mean, err);
    if (status != TACET_OK) {
        chains->t = t;
        chains->rng = rng;
        tacet__chains_settle(chains, t);
        memcpy(chains->x, m->before, positions * sizeof *m->before);
        return status;
    }
    m->reported[ticket - 1] = true;
    return TACET_OK;
}

static tacet_status latent_recommend(void *self, tacet_recommendation *out, tacet_error *err) {
    latent *m = self;
    const tacet__chains *chains = &m->chains;
    if (chains->t == 0) {
        return tacet__fail(err, TACET_STATE, "nothing was measured yet");
    }
    const tacet_status status = tacet__field_compute(&m->field, &m->rows, chains, err);
    if (status != TACET_OK) {
        return status;
    }
    tacet__acquire_moments(&m->acquire, m->score, m->second, &m->rows, &m->chains, &m->field);
    size_t best = 0;
    for (size_t i = 1; i < m->rows.n; i++) {
        best = m->score[i] > m->score[best] ? i : best;
    }
    size_t measured = 0;
    for (size_t j = 1; j < chains->t; j++) {
        measured = chains->y[j] > chains->y[measured] ? j : measured;
    }
    *out = (tacet_recommendation){.index = best,
                                  .mean = m->mean + m->score[best],
                                  .sd = sqrt(fmax(0, m->second[best] - m->score[best] * m->score[best])),
                                  .measured = chains->row[measured],
                                  .measured_value = m->mean + chains->y[measured]};
    return TACET_OK;
}

static void latent_guarantee(const void *self, tacet_guarantee *out) {
    *out = ((const latent *)self)->guarantee;
}

static tacet_status latent_save(const void *self, tacet_blob *out, tacet_error *err) {
    const latent *m = self;
    const tacet__chains *chains = &m->chains;
    tacet__writer w;
    tacet__write_begin(&w, out, NAME, VERSION);
    tacet__write_u64(&w, m->fingerprint);
    tacet__write_size(&w, m->issued);
    for (size_t i = 0; i < m->issued; i++) {
        tacet__write_size(&w, m->ticket[i]);
        tacet__write_u64(&w, m->reported[i] ? 1 : 0);
    }
    tacet__write_size(&w, chains->t);
    for (size_t j = 0; j < chains->t; j++) {
        tacet__write_size(&w, chains->row[j]);
        tacet__write_f64(&w, chains->y[j]);
    }
    for (size_t p = 0; p < chains->count * chains->d; p++) {
        tacet__write_f64s(&w, chains->x + p * chains->capacity, chains->t);
    }
    tacet__write_u64s(&w, chains->rng.s, 4);
    return tacet__write_end(&w, err);
}

/* Reads into scratch first (m->before holds positions), so that a damaged state changes nothing. */
static tacet_status latent_load(void *self, const void *bytes, size_t size, tacet_error *err) {
    latent *m = self;
    tacet__chains *chains = &m->chains;
    tacet__reader r;
    tacet_status status = tacet__read_begin(&r, bytes, size, NAME, VERSION, err);
    if (status != TACET_OK) {
        return status;
    }
    if (tacet__read_u64(&r) != m->fingerprint) {
        return tacet__fail(err, TACET_CORRUPT, "the saved state belongs to another release or other settings");
    }
    const size_t h = m->horizon;
    size_t *ticket = TACET__ZALLOC(size_t, 2 * h);
    bool *reported = TACET__ZALLOC(bool, h);
    double *y = TACET__ZALLOC(double, h);
    if (ticket == NULL || reported == NULL || y == NULL) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory loading a state");
        goto done;
    }
    const size_t issued = tacet__read_size(&r, h);
    for (size_t i = 0; i < issued; i++) {
        ticket[i] = tacet__read_size(&r, m->rows.n - 1);
        reported[i] = tacet__read_u64(&r) != 0;
    }
    const size_t t = tacet__read_size(&r, issued);
    for (size_t j = 0; j < t; j++) {
        ticket[h + j] = tacet__read_size(&r, m->rows.n - 1);
        y[j] = tacet__read_f64(&r);
    }
    for (size_t p = 0; p < chains->count * chains->d; p++) {
        tacet__read_f64s(&r, m->before + p * chains->capacity, t);
    }
    tacet_simrng rng;
    tacet__read_u64s(&r, rng.s, 4);
    status = tacet__read_end(&r, err);
    if (status != TACET_OK) {
        goto done;
    }
    memset(m->taken, 0, m->rows.n * sizeof *m->taken);
    for (size_t i = 0; i < issued; i++) {
        m->taken[ticket[i]] = true;
    }
    m->issued = issued;
    memcpy(m->ticket, ticket, h * sizeof *ticket);
    memcpy(m->reported, reported, h * sizeof *reported);
    memcpy(chains->row, ticket + h, h * sizeof *ticket);
    memcpy(chains->y, y, h * sizeof *y);
    memcpy(chains->x, m->before, chains->d * chains->capacity * chains->count * sizeof *chains->x);
    chains->t = t;
    chains->rng = rng;
    tacet__chains_settle(chains, t);
done:
    free(ticket);
    free(reported);
    free(y);
    return status;
}

static const tacet_policy_ops OPS = {NAME,
                                     latent_suggest,
                                     latent_observe,
                                     latent_recommend,
                                     latent_guarantee,
                                     latent_save,
                                     latent_load,
                                     latent_free,
                                     NULL,
                                     NULL};

/* As many chains as asked for, or as can answer in time: the field costs grid * t^2 per chain. The number depends on
 * the problem alone, so that a run is the same on every machine. */
static size_t affordable_chains(const tacet__rows *rows, const tacet_modeler_settings *s) {
    const double each = (double)rows->coarse * (double)s->horizon * (double)s->horizon;
    const double most = fmax((double)FEWEST_CHAINS, CHAIN_WORK / each);
    return most < (double)s->chains ? (size_t)most : s->chains;
}

/* Moves in the same way. A large table has no time to spare for them, and where the positions are nearly known
 * more of them bring nothing. */
static size_t affordable_moves(const tacet_modeler_settings *s) {
    const double each = (double)s->chains * (double)(s->candidates + 1) * (double)s->horizon * (double)s->horizon;
    const bool spare = s->n <= SMALL_TABLE && tacet__acquire_blur(s) >= SHARP;
    const double most = fmax((double)FEWEST_MOVES, spare ? MOVE_WORK / each : 0);
    return most < (double)s->moves ? (size_t)most : s->moves;
}

static tacet_status fill(latent *m, const tacet_modeler_settings *settings, tacet_error *err) {
    tacet_modeler_settings copy = *settings;
    const tacet_modeler_settings *s = &copy;
    tacet_status status = tacet__rows_init(&m->rows, s, err);
    if (status != TACET_OK) {
        return status;
    }
    copy.chains = affordable_chains(&m->rows, s);
    copy.moves = affordable_moves(s);
    m->horizon = s->horizon;
    m->mean = s->mean;
    tacet__modeler_guarantee(&m->guarantee, s);
    m->initial_count = s->initial_count;
    m->ticket = TACET__ZALLOC(size_t, s->horizon);
    m->reported = TACET__ZALLOC(bool, s->horizon);
    m->taken = TACET__ZALLOC(bool, s->n);
    m->initial = TACET__ZALLOC(size_t, s->initial_count);
    m->score = TACET__ALIGNED(double, s->n);
    m->second = TACET__ALIGNED(double, s->n);
    m->before = TACET__ZALLOC(double, s->d * s->horizon * s->chains);
    if (m->ticket == NULL || m->reported == NULL || m->taken == NULL || m->initial == NULL || m->score == NULL ||
        m->second == NULL || m->before == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu rows", s->n);
    }
    for (size_t i = 0; i < s->initial_count; i++) {
        if (s->initial[i] >= s->n || m->taken[s->initial[i]]) {
            return tacet__fail(err, TACET_INVALID, "initial row %zu is out of range or given twice", s->initial[i]);
        }
        m->initial[i] = s->initial[i];
        m->taken[s->initial[i]] = true;
    }
    memset(m->taken, 0, s->n * sizeof *m->taken);
    status = tacet__chains_init(&m->chains, s, tacet__acquire_nugget(s), err);
    if (status == TACET_OK) {
        status = tacet__field_init(&m->field, &m->rows, &m->chains, err);
    }
    if (status == TACET_OK) {
        status = tacet__acquire_init(&m->acquire, s, &m->rows, err);
    }
    if (status == TACET_OK) {
        m->fingerprint = fingerprint(&m->rows, s);
    }
    return status;
}

tacet_status tacet__modeler_latent(tacet_policy **out, const tacet_modeler_settings *settings, tacet_error *err) {
    *out = NULL;
    tacet_status status = check(settings, err);
    if (status != TACET_OK) {
        return status;
    }
    latent *m = TACET__ZALLOC(latent, 1);
    if (m == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory creating the modeler");
    }
    status = fill(m, settings, err);
    if (status != TACET_OK) {
        latent_free(m);
        return status;
    }
    return tacet_policy_wrap(out, &OPS, m, err);
}
