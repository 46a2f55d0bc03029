/* SPDX-License-Identifier: Apache-2.0 */
/* gp_ucb_ranks.c - GP-UCB over several ranks: what rank 0 says, and what the others do on hearing it.
 * Ring: pure. Source: none; ranks.md has the protocol and why the rows asked do not depend on the number of ranks.
 * Cost: a round is one broadcast of 8 (3 + d + t) bytes, one search for the largest bound, and two commands of 32
 * bytes; creation sends 8 n d bytes where the ranks have no candidates of their own. */
#include "gp/gp_ucb_internal.h"

#include "core/codec.h"
#include "core/fail.h"
#include "core/memory.h"

#include <stdlib.h>
#include <string.h>

enum { PROTOCOL = 1, CHUNK = 4096 };
enum { MOST_TEXT = 1 << 26 }; /* bytes of a description or a state */
static const char NAME[] = "gp-ucb ranks";

static tacet_status command(const tacet_ranks *ranks, tacet__order order, uint64_t search, uint64_t a, double value,
                            tacet_error *err) {
    tacet__command c = {.order = (uint64_t)order, .search = search, .a = a, .value = value};
    return ranks->broadcast(ranks->user, &c, sizeof c, 0, err);
}

tacet_status tacet__lead(const tacet__gp_ucb *self, tacet__order order, uint64_t a, double value, tacet_error *err) {
    return self->ranks == NULL ? TACET_OK : command(self->ranks, order, self->name, a, value, err);
}

tacet_status tacet_ranks_dismiss(const tacet_ranks *ranks, tacet_error *err) {
    return ranks->count > 1 ? command(ranks, TACET__ORDER_DISMISS, 0, 0, 0, err) : TACET_OK;
}

/* --- the description of a search --------------------------------------------------------------------------------- */

static tacet_status describe(tacet_blob *out, const tacet_gp_ucb_settings *s, const tacet_cov_spec *cov, size_t n,
                             tacet_error *err) {
    const tacet_kernel_spec *k = tacet_kernel_describe(cov->kernel);
    tacet__writer w;
    tacet__write_begin(&w, out, NAME, PROTOCOL);
    tacet__write_size(&w, n);
    tacet__write_u64(&w, s->ranks_have_points);
    const double reals[] = {s->mean, s->noise_var, s->delta_ucb, s->beta_scale, k->signal_var};
    tacet__write_f64s(&w, reals, 5);
    tacet__write_size(&w, s->horizon);
    tacet__write_u64(&w, s->allow_repeats);
    tacet__write_u64(&w, s->single);
    tacet__write_size(&w, s->initial_count);
    for (size_t i = 0; i < s->initial_count; i++) {
        tacet__write_size(&w, s->initial[i]);
    }
    tacet__write_u64(&w, (uint64_t)k->kind);
    tacet__write_size(&w, k->d);
    tacet__write_u64(&w, k->matern_p);
    tacet__write_size(&w, k->lengthscale_count);
    tacet__write_f64s(&w, k->lengthscales, k->lengthscale_count);
    tacet__write_size(&w, k->groups != NULL ? k->group_count : 0);
    for (size_t c = 0; c < k->d && k->groups != NULL; c++) {
        tacet__write_size(&w, k->groups[c]);
    }
    tacet__write_size(&w, cov->input_sd != NULL ? cov->input_sd_count : 0);
    if (cov->input_sd != NULL) {
        tacet__write_f64s(&w, cov->input_sd, cov->input_sd_count);
    }
    return tacet__write_end(&w, err);
}

typedef struct description {
    size_t n;
    tacet_gp_ucb_settings settings;
    tacet_kernel_spec kernel;
    size_t *initial;
    double *lengthscales;
    size_t *groups;
    double *input_sd;
    size_t input_sd_count;
} description;

static void description_clear(description *d) {
    free(d->initial);
    free(d->lengthscales);
    free(d->groups);
    free(d->input_sd);
}

static tacet_status understand(description *d, const void *bytes, size_t size, tacet_error *err) {
    tacet__reader r;
    tacet_status status = tacet__read_begin(&r, bytes, size, NAME, PROTOCOL, err);
    if (status != TACET_OK) {
        return status;
    }
    tacet_gp_ucb_settings *s = &d->settings;
    tacet_kernel_spec *k = &d->kernel;
    tacet_gp_ucb_settings_defaults(s);
    tacet_kernel_spec_defaults(k);
    d->n = tacet__read_size(&r, SIZE_MAX);
    s->ranks_have_points = tacet__read_u64(&r) != 0;
    double reals[5] = {0};
    tacet__read_f64s(&r, reals, 5);
    s->mean = reals[0];
    s->noise_var = reals[1];
    s->delta_ucb = reals[2];
    s->beta_scale = reals[3];
    k->signal_var = reals[4];
    s->horizon = tacet__read_size(&r, SIZE_MAX);
    s->allow_repeats = tacet__read_u64(&r) != 0;
    s->single = tacet__read_u64(&r) != 0;
    s->initial_count = tacet__read_size(&r, size); /* a number takes more than a byte */
    d->initial = TACET__ZALLOC(size_t, s->initial_count);
    for (size_t i = 0; i < s->initial_count && d->initial != NULL; i++) {
        d->initial[i] = tacet__read_size(&r, SIZE_MAX);
    }
    k->kind = (tacet_kernel_kind)tacet__read_size(&r, TACET_KERNEL_LINEAR);
    k->d = tacet__read_size(&r, size);
    k->matern_p = (unsigned)tacet__read_size(&r, 1000);
    k->lengthscale_count = tacet__read_size(&r, size);
    d->lengthscales = TACET__ZALLOC(double, k->lengthscale_count);
    if (d->lengthscales != NULL) {
        tacet__read_f64s(&r, d->lengthscales, k->lengthscale_count);
    }
    k->group_count = tacet__read_size(&r, size);
    d->groups = TACET__ZALLOC(size_t, k->d);
    for (size_t c = 0; c < k->d && k->group_count > 0 && d->groups != NULL; c++) {
        d->groups[c] = tacet__read_size(&r, size);
    }
    d->input_sd_count = tacet__read_size(&r, size);
    d->input_sd = TACET__ZALLOC(double, d->input_sd_count);
    if (d->input_sd != NULL) {
        tacet__read_f64s(&r, d->input_sd, d->input_sd_count);
    }
    if (d->initial == NULL || d->lengthscales == NULL || d->groups == NULL || d->input_sd == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory joining a search");
    }
    s->initial = d->initial;
    k->lengthscales = d->lengthscales;
    k->groups = k->group_count > 0 ? d->groups : NULL;
    return tacet__read_end(&r, err);
}

/* --- candidates -------------------------------------------------------------------------------------------------- */

/* Rank 0's candidates, or what stands for them, to everybody else: all ranks call it, rank r keeps its slab in `own`
 * (d x its count). */
static tacet_status pass_points(const tacet_ranks *ranks, double *own, const double *X, size_t ldx, size_t d, size_t n,
                                tacet_error *err) {
    size_t cells = 0;
    double *chunk = tacet__size_mul(&cells, CHUNK, d) ? TACET__ALIGNED(double, cells) : NULL;
    const tacet_status room = chunk != NULL ? TACET_OK : TACET_NO_MEMORY;
    tacet_status status = tacet__ranks_agree(ranks, room, err);
    for (size_t r = 1; r < ranks->count && status == TACET_OK && chunk != NULL; r++) {
        const double *from = ranks->rank == 0 ? X : NULL;
        double *to = ranks->rank == r ? own : NULL;
        size_t first = 0;
        size_t count = 0;
        tacet_ranks_slab(ranks, r, &first, &count, n);
        for (size_t at = 0; at < count && status == TACET_OK; at += CHUNK) {
            const size_t m = count - at < CHUNK ? count - at : CHUNK;
            for (size_t j = 0; j < m && from != NULL; j++) {
                memcpy(chunk + j * d, from + (first + at + j) * ldx, d * sizeof *chunk);
            }
            status = ranks->broadcast(ranks->user, chunk, m * d * sizeof *chunk, 0, err);
            if (status == TACET_OK && to != NULL) {
                memcpy(to + at * d, chunk, m * d * sizeof *chunk);
            }
        }
    }
    free(chunk);
    return status;
}

/* Every rank's digest of its own slab against rank 0's of the same rows. */
static tacet_status compare_points(const tacet_ranks *ranks, const tacet_points *points, size_t d, size_t n,
                                   tacet_error *err) {
    uint64_t *sums = TACET__ZALLOC(uint64_t, 2 * ranks->count);
    tacet_status status = tacet__ranks_agree(ranks, sums != NULL ? TACET_OK : TACET_NO_MEMORY, err);
    if (status == TACET_OK && sums != NULL) {
        size_t first = 0;
        size_t count = 0;
        tacet_ranks_slab(ranks, ranks->rank, &first, &count, n);
        tacet__points_digest(sums + 2 * ranks->rank, points, d, first, count, 0);
        status = ranks->sum(ranks->user, sums, 2 * ranks->count, err);
    }
    for (size_t r = 1; r < ranks->count && status == TACET_OK && ranks->rank == 0; r++) {
        uint64_t own[2] = {0, 0};
        size_t first = 0;
        size_t count = 0;
        tacet_ranks_slab(ranks, r, &first, &count, n);
        tacet__points_digest(own, points, d, first, count, 0);
        if (own[0] != sums[2 * r] || own[1] != sums[2 * r + 1]) {
            status =
                tacet__fail(err, TACET_INVALID,
                            "rank %zu has other candidates than rank 0 in rows %zu to %zu: are its files the same?", r,
                            first, first + count - 1);
        }
    }
    free(sums);
    return tacet__ranks_agree(ranks, status, err);
}

/* --- rank 0 ------------------------------------------------------------------------------------------------------ */

static tacet_status may_lead(const tacet_gp_ucb_settings *s, const tacet_cov_spec *cov, const tacet__slab *slab,
                             size_t n, tacet_error *err) {
    if (cov->kernel == NULL || tacet_kernel_describe(cov->kernel)->kind == TACET_KERNEL_PRECOMPUTED) {
        return tacet__fail(err, TACET_UNSUPPORTED,
                           "candidates are spread over ranks for SE, Matérn and linear kernels");
    }
    if (n < s->ranks->count) {
        return tacet__fail(err, TACET_INVALID, "%zu ranks for %zu candidates: each rank needs one", s->ranks->count, n);
    }
    if (s->ranks_have_points ? slab->points == NULL : slab->X == NULL) {
        return tacet__fail(err, TACET_INVALID,
                           "rank 0 sends its candidates by point, or all ranks find them as tacet_points");
    }
    return TACET_OK;
}

tacet_status tacet__lead_create(tacet__gp_ucb **out, const tacet_gp_ucb_settings *settings, const tacet_cov_spec *cov,
                                const tacet__slab *slab, size_t n, tacet_error *err) {
    static uint64_t searches; /* names need only differ within one process, which makes them one after the other */
    const tacet_ranks *ranks = settings->ranks;
    tacet_blob text;
    tacet_blob_init(&text);
    *out = NULL;
    tacet_status status = may_lead(settings, cov, slab, n, err);
    status = status != TACET_OK ? status : describe(&text, settings, cov, n, err);
    if (status != TACET_OK) {
        tacet_blob_clear(&text);
        return status;
    }
    const size_t d = tacet_kernel_dim(cov->kernel);
    const uint64_t name = ++searches;
    status = command(ranks, TACET__ORDER_CREATE, name, text.size, 0, err);
    status = status != TACET_OK ? status : ranks->broadcast(ranks->user, text.data, text.size, 0, err);
    tacet_blob_clear(&text);
    if (status != TACET_OK) {
        return status;
    }
    status = tacet__ranks_agree(ranks, TACET_OK, err); /* they have understood */
    if (status == TACET_OK) {
        status = settings->ranks_have_points ? compare_points(ranks, slab->points, d, n, err)
                                             : pass_points(ranks, NULL, slab->X, slab->ldx, d, n, err);
    }
    if (status == TACET_OK) {
        status = tacet__gp_ucb_build(out, settings, cov, slab, n, err);
        status = tacet__ranks_agree(ranks, status, err);
    }
    if (status == TACET_OK) {
        (*out)->name = name;
        status = tacet__gp_ucb_fingerprint(*out, cov, slab, err);
        status = tacet__ranks_agree(ranks, status, err);
    }
    if (status != TACET_OK) {
        tacet__gp_ucb_free(*out);
        *out = NULL;
    }
    return status;
}

/* --- the others -------------------------------------------------------------------------------------------------- */

/* `size` bytes of rank 0's; from malloc. A rank without room for them cannot go on with the others: IO. */
static tacet_status hear(const tacet_ranks *ranks, void **out, size_t size, tacet_error *err) {
    *out = size <= MOST_TEXT ? tacet__zalloc(size, 1) : NULL;
    if (*out == NULL) {
        return tacet__fail(err, TACET_IO, "out of memory for %zu bytes from rank 0", size);
    }
    const tacet_status status = size > 0 ? ranks->broadcast(ranks->user, *out, size, 0, err) : TACET_OK;
    if (status != TACET_OK) {
        free(*out);
        *out = NULL;
    }
    return status;
}

/* After the points are here: the part of this rank, and the fingerprint with all. */
static tacet_status join(tacet__gp_ucb **out, description *d, tacet_kernel **kernel, const tacet__slab *slab,
                         tacet_error *err) {
    const tacet_ranks *ranks = d->settings.ranks;
    const tacet_cov_spec cov = {
        .kernel = *kernel, .input_sd = d->input_sd_count > 0 ? d->input_sd : NULL, .input_sd_count = d->input_sd_count};
    tacet_status status = tacet__gp_ucb_build(out, &d->settings, &cov, slab, d->n, err);
    status = tacet__ranks_agree(ranks, status, err);
    if (status == TACET_OK) {
        (*out)->kernel = *kernel;
        *kernel = NULL;
        status = tacet__gp_ucb_fingerprint(*out, &cov, slab, err);
        status = tacet__ranks_agree(ranks, status, err);
    }
    if (status != TACET_OK) {
        tacet__gp_ucb_free(*out);
        *out = NULL;
    }
    return status;
}

static tacet_status follow_create(tacet__gp_ucb **out, const tacet_ranks *ranks, size_t size, const tacet_points *own,
                                  size_t n, tacet_error *err) {
    *out = NULL;
    void *text = NULL;
    description d = {0};
    tacet_kernel *kernel = NULL;
    double *X = NULL;
    tacet_status status = hear(ranks, &text, size, err);
    if (status != TACET_OK) {
        return status;
    }
    status = understand(&d, text, size, err);
    free(text);
    d.settings.ranks = ranks;
    size_t first = 0;
    size_t count = 0;
    size_t cells = 0;
    if (status == TACET_OK && d.settings.ranks_have_points && (own == NULL || n != d.n)) {
        status = tacet__fail(err, TACET_INVALID, "this rank finds %zu candidates, rank 0 has %zu", n, d.n);
    }
    if (status == TACET_OK) {
        status = tacet_kernel_create(&kernel, &d.kernel, err);
    }
    if (status == TACET_OK && !d.settings.ranks_have_points) {
        tacet_ranks_slab(ranks, ranks->rank, &first, &count, d.n);
        X = tacet__size_mul(&cells, count, d.kernel.d) ? TACET__ALIGNED(double, cells) : NULL;
        status = X != NULL ? TACET_OK : tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu candidates", count);
    }
    status = tacet__ranks_agree(ranks, status, err);
    if (status == TACET_OK) {
        status = d.settings.ranks_have_points ? compare_points(ranks, own, d.kernel.d, d.n, err)
                                              : pass_points(ranks, X, NULL, 0, d.kernel.d, d.n, err);
    }
    if (status == TACET_OK) {
        const tacet__slab slab = {.X = X, .ldx = d.kernel.d, .points = X == NULL ? own : NULL, .base = first};
        status = join(out, &d, &kernel, &slab, err);
    }
    free(X);
    tacet_kernel_free(kernel);
    description_clear(&d);
    return status;
}

static tacet__gp_ucb **find(tacet__gp_ucb **list, uint64_t name) {
    while (*list != NULL && (*list)->name != name) {
        list = &(*list)->next;
    }
    return list;
}

/* A step of a search. What it refuses (a ticket never given, say) every rank refuses alike: rank 0 tells. */
static tacet_status follow_step(tacet__gp_ucb *self, const tacet__command *c, tacet_error *err) {
    tacet_suggestion suggestion;
    tacet_recommendation recommendation;
    tacet_status status = TACET_OK;
    void *text = NULL;
    switch (c->order) {
    case TACET__ORDER_SUGGEST:
        status = tacet__gp_ucb_suggest(self, &suggestion, err);
        break;
    case TACET__ORDER_OBSERVE:
        status = tacet__gp_ucb_observe(self, c->a, c->value, err);
        break;
    case TACET__ORDER_RECOMMEND:
        status = tacet__gp_ucb_recommend(self, &recommendation, err);
        break;
    case TACET__ORDER_LOAD:
        status = hear(self->ranks, &text, (size_t)c->a, err);
        status = status != TACET_OK ? status : tacet__gp_ucb_load(self, text, (size_t)c->a, err);
        free(text);
        break;
    default:
        return tacet__fail(err, TACET_CORRUPT, "rank 0 gave an order that this version does not know");
    }
    /* A transport that fails says IO; everything else is rank 0's to report. */
    if (status == TACET_IO) {
        return status;
    }
    tacet_error_clear(err);
    return TACET_OK;
}

tacet_status tacet_ranks_follow(const tacet_ranks *ranks, const tacet_points *own, size_t n, tacet_error *err) {
    tacet__gp_ucb *searches = NULL;
    tacet_status status = TACET_OK;
    tacet_error trouble = {0}; /* why a search was not begun here; told at the end */
    while (status == TACET_OK) {
        tacet__command c = {0};
        tacet_error step = {0};
        status = ranks->broadcast(ranks->user, &c, sizeof c, 0, &step);
        if (status == TACET_OK && c.order == TACET__ORDER_DISMISS) {
            break;
        }
        if (status == TACET_OK && c.order == TACET__ORDER_CREATE) {
            tacet__gp_ucb *self = NULL;
            status = follow_create(&self, ranks, (size_t)c.a, own, n, &step);
            if (self != NULL) {
                self->name = c.search;
                self->next = searches;
                searches = self;
            } else if (status != TACET_IO) {
                trouble = trouble.status == TACET_OK ? step : trouble;
                status = TACET_OK; /* rank 0 knows, and says what comes next */
            }
        } else if (status == TACET_OK) {
            tacet__gp_ucb **at = find(&searches, c.search);
            tacet__gp_ucb *self = *at;
            if (self == NULL) {
                status = tacet__fail(&step, TACET_CORRUPT, "rank 0 goes on with a search that was not begun here");
            } else if (c.order == TACET__ORDER_FREE) {
                *at = self->next;
                tacet__gp_ucb_free(self);
            } else {
                status = follow_step(self, &c, &step);
            }
        }
        if (status != TACET_OK) {
            trouble = step;
        }
    }
    while (searches != NULL) {
        tacet__gp_ucb *next = searches->next;
        tacet__gp_ucb_free(searches);
        searches = next;
    }
    return trouble.status == TACET_OK ? status : tacet__fail(err, trouble.status, "%s", trouble.message);
}
