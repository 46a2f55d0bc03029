/* SPDX-License-Identifier: Apache-2.0 */
/* statistics_model.c - the public side of a local study of decision sets: map, directions, sums, model.
 * Ring: open. Source and differences: include/tacet/local/open/statistics_model.h. Cost: creating solves an eigenvalue
 * problem (central/shared/features.c); a report O(r); a refresh as in central/open/learner.c. */
#include "local/shared/ldp.h"
#include "local/open/statistics.h"
#include "local/open/statistics_internal.h"

#include "central/open/learner_batches.h"
#include "central/shared/features.h"
#include "core/codec.h"
#include "core/fail.h"
#include "core/memory.h"
#include "gp/features_internal.h"
#include "gp/kernel_internal.h"
#include "local/shared/card.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STATE_VERSION = 1, FIRST_REPORTS = 20, SET_MOST = 1 << 20 };
static const char STATE_NAME[] = "statistics-model";
static const double GROWTH = 1.05; /* of the reports between two refreshes of the model */

void tacet_statistics_model_free(tacet_statistics_model *m) {
    if (m != NULL) {
        tacet_local_statistics_free(m->sums);
        tacet_central_map_free(m->map);
        tacet_features_free(m->features);
        free(m->numbers);
        free(m->levels);
        free(m->estimate);
        free(m);
    }
}

static tacet_status check(const tacet_statistics_spec *s, tacet_error *err) {
    if (s->d == 0 || s->d > TACET_STATISTICS_DIMS_MOST) {
        return tacet__fail(err, TACET_INVALID, "arms have 1 to %d coordinates", (int)TACET_STATISTICS_DIMS_MOST);
    }
    if (s->kernel == NULL || strlen(s->kernel) >= TACET__STATISTICS_KERNEL) {
        return tacet__fail(err, TACET_INVALID, "no such kernel");
    }
    if (s->lengthscale_count != 1 && s->lengthscale_count != s->d) {
        return tacet__fail(err, TACET_INVALID, "one lengthscale is needed, or one for each coordinate");
    }
    if (s->features == 0 || s->features > TACET_STATISTICS_FEATURES_MOST || s->released == 0 ||
        s->released > s->features || s->set_size == 0 || s->set_size > SET_MOST) {
        return tacet__fail(err, TACET_INVALID,
                           "features must be 1 to %d, released at most that many, set_size at least 1",
                           (int)TACET_STATISTICS_FEATURES_MOST);
    }
    return TACET_OK;
}

static tacet_status copy_spec(tacet_statistics_model *m, const tacet_statistics_spec *s, tacet_error *err) {
    const size_t d = s->d;
    m->numbers = TACET__ZALLOC(double, 2 * d + s->lengthscale_count);
    m->levels = s->levels != NULL ? TACET__ZALLOC(size_t, d) : NULL;
    if (m->numbers == NULL || (s->levels != NULL && m->levels == NULL)) {
        return tacet__fail(err, TACET_NO_MEMORY, "no memory for a model");
    }
    memcpy(m->kernel_name, s->kernel, strlen(s->kernel) + 1);
    memcpy(m->numbers, s->lower, d * sizeof(double));
    memcpy(m->numbers + d, s->upper, d * sizeof(double));
    memcpy(m->numbers + 2 * d, s->lengthscales, s->lengthscale_count * sizeof(double));
    if (m->levels != NULL) {
        memcpy(m->levels, s->levels, d * sizeof(size_t));
    }
    m->spec = *s;
    m->spec.kernel = m->kernel_name;
    m->spec.lower = m->numbers;
    m->spec.upper = m->numbers + d;
    m->spec.lengthscales = m->numbers + 2 * d;
    m->spec.levels = m->levels;
    return TACET_OK;
}

/* features NULL: they are made; otherwise read. */
static tacet_status make_map(tacet_statistics_model *m, const void *features, size_t size, tacet_error *err) {
    const tacet_statistics_spec *s = &m->spec;
    const tacet_domain domain = {
        .kind = TACET_DOMAIN_BOX, .d = s->d, .lower = s->lower, .upper = s->upper, .levels = s->levels};
    tacet_kernel_spec spec;
    tacet_kernel *kernel = NULL;
    tacet_kernel_spec_defaults(&spec);
    tacet_status status = tacet_kernel_parse(&spec, s->kernel, err);
    spec.d = s->d;
    spec.lengthscales = s->lengthscales;
    spec.lengthscale_count = s->lengthscale_count;
    TACET_THEN(status, tacet_kernel_create(&kernel, &spec, err));
    TACET_THEN(status, features == NULL ? tacet__central_features(&m->features, kernel, &domain, s->features, err)
                                        : tacet__features_load(&m->features, kernel, features, size, err));
    tacet_kernel_free(kernel);
    if (status == TACET_OK) {
        const size_t all = tacet_features_dim(m->features);
        status = tacet_central_map_create(&m->map, m->features, &domain, s->released < all ? s->released : all,
                                          s->minimize ? -s->hi : s->lo, s->minimize ? -s->lo : s->hi, err);
    }
    return status;
}

static tacet_status make(tacet_statistics_model **out, const tacet_statistics_spec *s, const void *features,
                         size_t size, tacet_error *err) {
    tacet_ldp ldp;
    tacet_central_learner_settings learner;
    *out = NULL;
    tacet_status status = check(s, err);
    TACET_THEN(status, tacet_ldp_init(&ldp, TACET_LDP_SPHERE, s->eps, s->lo, s->hi, err));
    if (status != TACET_OK) {
        return status;
    }
    tacet_statistics_model *m = TACET__ZALLOC(tacet_statistics_model, 1);
    if (m == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "no memory for a model");
    }
    tacet_central_learner_settings_defaults(&learner);
    learner.set_size = s->set_size;
    status = copy_spec(m, s, err);
    TACET_THEN(status, make_map(m, features, size, err));
    if (status == TACET_OK) {
        const size_t dim = tacet_central_map_dim(m->map);
        status = tacet_sphere_init(&m->sphere, &ldp, dim, tacet_central_map_print(m->map), err);
        m->estimate = TACET__ZALLOC(double, 2 * dim + 1);
        status = m->estimate == NULL ? tacet__fail(err, TACET_NO_MEMORY, "no memory for a model") : status;
    }
    TACET_THEN(status, tacet_local_statistics_create(&m->sums, m->map, &learner, m->sphere.noise_var, FIRST_REPORTS,
                                                     GROWTH, err));
    if (status != TACET_OK) {
        tacet_statistics_model_free(m);
        return status;
    }
    *out = m;
    return TACET_OK;
}

tacet_status tacet_statistics_model_create(tacet_statistics_model **out, const tacet_statistics_spec *spec,
                                           tacet_error *err) {
    return make(out, spec, NULL, 0, err);
}

tacet_status tacet_statistics_model_save(const tacet_statistics_model *m, tacet_blob *out, tacet_error *err) {
    const tacet_statistics_spec *s = &m->spec;
    tacet_blob features, sums;
    tacet_blob_init(&features);
    tacet_blob_init(&sums);
    tacet_status status = tacet__features_save(m->features, &features, err);
    TACET_THEN(status,
               tacet__state_save(&sums, TACET__LOCAL_STATISTICS_NAME, tacet__local_statistics_state, m->sums, err));
    if (status == TACET_OK) {
        tacet__writer w;
        tacet__write_begin(&w, out, STATE_NAME, STATE_VERSION);
        tacet__write_bytes(&w, s->kernel, strlen(s->kernel));
        tacet__write_size(&w, s->d);
        tacet__write_size(&w, s->lengthscale_count);
        tacet__write_f64s(&w, m->numbers, 2 * s->d + s->lengthscale_count);
        tacet__write_size(&w, m->levels != NULL ? s->d : 0);
        for (size_t i = 0; m->levels != NULL && i < s->d; i++) {
            tacet__write_size(&w, m->levels[i]);
        }
        tacet__write_f64(&w, s->lo);
        tacet__write_f64(&w, s->hi);
        tacet__write_f64(&w, s->eps);
        tacet__write_u64(&w, s->minimize ? 1 : 0);
        tacet__write_size(&w, s->features);
        tacet__write_size(&w, s->released);
        tacet__write_size(&w, s->set_size);
        tacet__write_bytes(&w, features.data, features.size);
        tacet__write_bytes(&w, sums.data, sums.size);
        status = tacet__write_end(&w, err);
    }
    tacet_blob_clear(&features);
    tacet_blob_clear(&sums);
    return status;
}

/* What a spec points to while it is read. */
typedef struct parts {
    char kernel[TACET__STATISTICS_KERNEL];
    double numbers[3 * TACET_STATISTICS_DIMS_MOST];
    size_t levels[TACET_STATISTICS_DIMS_MOST];
    const unsigned char *features, *sums;
    size_t features_size, sums_size;
} parts;

static tacet_status read_parts(tacet_statistics_spec *s, parts *p, const void *bytes, size_t size, tacet_error *err) {
    tacet__reader r;
    const unsigned char *name = NULL;
    TACET_OR_RETURN(tacet__read_begin(&r, bytes, size, STATE_NAME, STATE_VERSION, err));
    const size_t length = tacet__read_bytes(&r, &name);
    s->d = tacet__read_size(&r, TACET_STATISTICS_DIMS_MOST);
    s->lengthscale_count = tacet__read_size(&r, TACET_STATISTICS_DIMS_MOST);
    tacet__read_f64s(&r, p->numbers, 2 * s->d + s->lengthscale_count);
    const size_t level_count = tacet__read_size(&r, s->d);
    for (size_t i = 0; i < level_count; i++) {
        p->levels[i] = tacet__read_size(&r, 1000000);
    }
    s->lo = tacet__read_f64(&r);
    s->hi = tacet__read_f64(&r);
    s->eps = tacet__read_f64(&r);
    s->minimize = tacet__read_u64(&r) != 0;
    s->features = tacet__read_size(&r, TACET_STATISTICS_FEATURES_MOST);
    s->released = tacet__read_size(&r, TACET_STATISTICS_FEATURES_MOST);
    s->set_size = tacet__read_size(&r, SET_MOST);
    p->features_size = tacet__read_bytes(&r, &p->features);
    p->sums_size = tacet__read_bytes(&r, &p->sums);
    tacet_status status = tacet__read_end(&r, err);
    if (status != TACET_OK || length >= sizeof p->kernel || (level_count != 0 && level_count != s->d)) {
        return tacet__fail(err, TACET_CORRUPT, "the model cannot be read");
    }
    memcpy(p->kernel, name, length);
    s->kernel = p->kernel;
    s->lower = p->numbers;
    s->upper = p->numbers + s->d;
    s->lengthscales = p->numbers + 2 * s->d;
    s->levels = level_count > 0 ? p->levels : NULL;
    return TACET_OK;
}

tacet_status tacet_statistics_model_open(tacet_statistics_model **out, const void *bytes, size_t size,
                                         tacet_error *err) {
    tacet_statistics_spec spec = {0};
    parts p = {.kernel = ""};
    *out = NULL;
    tacet_status status = read_parts(&spec, &p, bytes, size, err);
    TACET_THEN(status, make(out, &spec, p.features, p.features_size, err));
    TACET_THEN(status, tacet__state_load(p.sums, p.sums_size, TACET__LOCAL_STATISTICS_NAME,
                                         tacet__local_statistics_state, (*out)->sums, err));
    if (status != TACET_OK) {
        tacet_statistics_model_free(*out);
        *out = NULL;
        return status == TACET_NO_MEMORY ? status : TACET_CORRUPT;
    }
    return TACET_OK;
}

tacet_status tacet_statistics_model_card(const tacet_statistics_model *m, tacet_blob *out, tacet_error *err) {
    const tacet_statistics_spec *s = &m->spec;
    const tacet__feature_block *block = &m->features->blocks[0];
    const tacet_kernel *kernel = m->features->kernel;
    const size_t q = block->m + 1;
    double levels[TACET_STATISTICS_DIMS_MOST] = {0};
    double *theta = TACET__ZALLOC(double, q + q * (q + 1) / 2);
    if (theta == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "no memory for a card");
    }
    for (size_t i = 0; s->levels != NULL && i < s->d; i++) {
        levels[i] = (double)s->levels[i];
    }
    tacet_statistics_card card = {.d = s->d,
                                  .features = block->m,
                                  .released = tacet_central_map_released(m->map),
                                  .nodes = block->count,
                                  .terms = kernel->spec.kind == TACET_KERNEL_MATERN ? kernel->spec.matern_p + 1 : 0,
                                  .minimize = s->minimize,
                                  .informed = tacet_statistics_model_informed(m),
                                  .lo = s->lo,
                                  .hi = s->hi,
                                  .sphere = m->sphere,
                                  .lower = s->lower,
                                  .upper = s->upper,
                                  .inverse = kernel->inverse,
                                  .levels = levels,
                                  .matern = kernel->matern,
                                  .Z = block->Zt,
                                  .A = block->A,
                                  .theta = theta,
                                  .cov = theta + q};
    tacet__central_learner_scoring(tacet_local_statistics_model(m->sums), theta, theta + q, &card.width);
    const tacet_status status = tacet__statistics_card_write(&card, s->eps, out, err);
    free(theta);
    return status;
}

tacet_status tacet_statistics_model_take(tacet_statistics_model *m, uint64_t round, double report, tacet_error *err) {
    const size_t dim = m->sphere.dim;
    const tacet_status status = tacet_sphere_estimate(&m->sphere, m->estimate, m->estimate + dim, round, report, err);
    return status == TACET_OK ? tacet_local_statistics_take(m->sums, m->estimate, dim, err) : status;
}

tacet_status tacet_statistics_model_best(tacet_statistics_model *m, double *x, double *mean, double *sd,
                                         tacet_error *err) {
    if (!tacet_statistics_model_informed(m)) {
        return tacet__fail(err, TACET_STATE, "too few reports for a model: %d are needed", (int)FIRST_REPORTS);
    }
    tacet_central_learner_best(tacet_local_statistics_model(m->sums), x, mean, sd);
    *mean = m->spec.minimize ? -*mean : *mean;
    return TACET_OK;
}

uint64_t tacet_statistics_model_count(const tacet_statistics_model *m) {
    return tacet_local_statistics_count(m->sums);
}

bool tacet_statistics_model_informed(const tacet_statistics_model *m) {
    return tacet_central_learner_informed(tacet_local_statistics_model(m->sums));
}
