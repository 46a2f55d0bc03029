/* session.c - the modeler's loop: first rows, then (when asked to) a fit, then the policy's choices, each through the
 * journal. Ring: open. Source: Kharkovskii, Dai, Low 2020, Algorithm 2, with the modelers of
 * src/outsourced/open/README.md. The choices are a function of release, settings and values alone, so replaying
 * the journal gives the same rows. */
#include "session.h"

#include "core/fail.h"
#include "core/memory.h"

#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/gp/fit.h>
#include <tacet/core/simrng.h>

typedef struct run {
    const session_settings *s;
    const tacet_manifest *m;
    const double *rows; /* dims x n */
    remote *remote;
    journal book;
    bool *taken;          /* rows that were asked or are known */
    size_t *order;        /* rows in the order the model learns them: warm, first, random, chosen */
    double *raw;          /* their values as measured */
    size_t known;         /* how many */
    size_t asked;         /* of them, through the curator */
    double shift, scale;  /* model value = sign (g(y) - shift) / scale */
    double *lengthscales; /* dims */
    double signal_var, noise_var, mean;
    double *low, *high; /* public box in scaled units; NULL: unknown */
} run;

static double target(const run *r, double y) {
    const double g = r->s->log_target ? log(y) : y;
    const double z = (g - r->shift) / r->scale;
    return r->s->minimize ? -z : z;
}

static bool better(const run *r, double a, double b) {
    return r->s->minimize ? a < b : a > b;
}

static void best_of(const run *r, size_t *row, double *value) {
    *row = SIZE_MAX;
    *value = 0;
    for (size_t i = 0; i < r->known; i++) {
        if (*row == SIZE_MAX || better(r, r->raw[i], *value)) {
            *row = r->order[i];
            *value = r->raw[i];
        }
    }
}

/* Asks for one row, or takes its value from the journal. */
static tacet_status measure(run *r, size_t row, tacet_error *err) {
    const size_t index = r->asked;
    tacet_status status = TACET_OK;
    if (index < r->book.count) {
        if (r->book.queries[index].row != row) {
            return tacet__fail(
                err, TACET_CONFLICT,
                "the journal asked row %zu where this run would ask row %zu: another version of the program?",
                r->book.queries[index].row, row);
        }
    } else {
        status = journal_ask(&r->book, row, err);
    }
    if (status == TACET_OK && !r->book.queries[index].answered) {
        double value = 0;
        status = remote_query(r->remote, &value, r->book.queries[index].ticket, row, err);
        status = status != TACET_OK ? status : journal_value(&r->book, index, value, err);
    }
    if (status != TACET_OK) {
        return status;
    }
    const double value = r->book.queries[index].value;
    if (r->s->log_target && !(value > 0)) {
        return tacet__fail(err, TACET_INVALID, "row %zu: a measured value is not positive, so it has no logarithm",
                           row);
    }
    r->order[r->known] = row;
    r->raw[r->known] = value;
    r->taken[row] = true;
    r->known++;
    r->asked++;
    if (r->s->progress != NULL) {
        size_t best = 0;
        double best_value = 0;
        best_of(r, &best, &best_value);
        r->s->progress(r->asked, r->s->queries, best, best_value, r->s->user);
    }
    return TACET_OK;
}

static tacet_status take_warm(run *r, tacet_error *err) {
    for (size_t i = 0; i < r->s->warm_count; i++) {
        const size_t row = r->s->warm_rows[i];
        if (row >= r->m->rows || r->taken[row]) {
            return tacet__fail(err, TACET_INVALID, "known row %zu does not exist or is named twice", row);
        }
        if (r->s->log_target && !(r->s->warm_values[i] > 0)) {
            return tacet__fail(err, TACET_INVALID, "known row %zu: its value is not positive, so it has no logarithm",
                               row);
        }
        r->taken[row] = true;
        r->order[r->known] = row;
        r->raw[r->known] = r->s->warm_values[i];
        r->known++;
    }
    return TACET_OK;
}

static tacet_status check_first(const run *r, tacet_error *err) {
    for (size_t i = 0; i < r->s->first_count; i++) {
        const size_t row = r->s->first[i];
        bool twice = row >= r->m->rows || r->taken[row];
        for (size_t k = 0; k < i && !twice; k++) {
            twice = r->s->first[k] == row;
        }
        if (twice) {
            return tacet__fail(err, TACET_INVALID, "first row %zu does not exist, is known or is named twice", row);
        }
    }
    return TACET_OK;
}

static tacet_status first_rows(run *r, tacet_error *err) {
    tacet_simrng rng;
    tacet_status status = TACET_OK;
    for (size_t i = 0; i < r->s->first_count && r->asked < r->s->queries && status == TACET_OK; i++) {
        status = measure(r, r->s->first[i], err);
    }
    tacet_simrng_init(&rng, r->s->seed, 1);
    for (size_t i = 0; i < r->s->initial && r->asked < r->s->queries && r->known < r->m->rows && status == TACET_OK;
         i++) {
        size_t row = tacet_simrng_below(&rng, r->m->rows);
        while (r->taken[row]) {
            row = tacet_simrng_below(&rng, r->m->rows);
        }
        status = measure(r, row, err);
    }
    return status;
}

/* Shift and scale of the target from the values known now, when asked to standardise. */
static tacet_status standardize(run *r, tacet_error *err) {
    r->shift = 0;
    r->scale = 1;
    if (!r->s->standardize) {
        return TACET_OK;
    }
    double sum = 0;
    double squares = 0;
    for (size_t i = 0; i < r->known; i++) {
        const double g = r->s->log_target ? log(r->raw[i]) : r->raw[i];
        sum += g;
        squares += g * g;
    }
    const double mean = sum / (double)r->known;
    const double variance = squares / (double)r->known - mean * mean;
    if (r->known < 2 || !(variance > 0)) {
        return tacet__fail(err, TACET_INVALID, "standardising needs two different values among the first rows");
    }
    r->shift = mean;
    r->scale = sqrt(variance);
    return TACET_OK;
}

static tacet_status kernel_of(tacet_kernel_spec *spec, const run *r, tacet_error *err) {
    tacet_kernel_spec_defaults(spec);
    const tacet_status status = tacet_kernel_parse(spec, r->s->kernel, err);
    spec->d = r->m->dims;
    spec->signal_var = r->signal_var;
    spec->lengthscales = r->lengthscales;
    spec->lengthscale_count = r->s->ard ? r->m->dims : 1;
    return status;
}

/* A few times the widest released coordinate: beyond it a function is flat here. */
static double widest(const run *r) {
    double low = INFINITY;
    double high = -INFINITY;
    for (size_t i = 0; i < r->m->rows * r->m->dims; i++) {
        low = fmin(low, r->rows[i]);
        high = fmax(high, r->rows[i]);
    }
    return fmax(3 * (high - low), 2 * r->m->sigma);
}

/* Hyper-parameters by maximum likelihood, knowing the noise of the release. */
static tacet_status fit(run *r, tacet_error *err) {
    tacet_fit_settings settings;
    tacet_fit_result result;
    double *X = TACET__ALIGNED(double, r->known * r->m->dims);
    double *y = TACET__ALIGNED(double, r->known);
    tacet_status status = TACET_OK;
    if (X == NULL || y == NULL) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory fitting");
        goto done;
    }
    for (size_t i = 0; i < r->known; i++) {
        memcpy(X + i * r->m->dims, r->rows + r->order[i] * r->m->dims, r->m->dims * sizeof *X);
        y[i] = target(r, r->raw[i]);
    }
    tacet_fit_settings_defaults(&settings);
    status = kernel_of(&settings.kernel, r, err);
    settings.noise_var = r->noise_var > 0 ? r->noise_var : 1e-3;
    if (r->m->sigma > 0) {
        /* What lies below the noise of the release cannot be seen in it: a few values would fit it all the same. */
        settings.lengthscale.low = r->m->sigma;
        settings.lengthscale.high = widest(r);
        settings.input_sd = &r->m->sigma;
        settings.input_sd_count = 1;
    }
    status =
        status != TACET_OK ? status : tacet_fit(&result, r->lengthscales, &settings, X, r->m->dims, r->known, y, err);
    if (status == TACET_OK) {
        r->signal_var = result.signal_var;
        r->noise_var = result.noise_var;
        r->mean = result.mean;
    }
done:
    free(X);
    free(y);
    return status;
}

static tacet_status method_of(tacet_modeler_method *out, const char *name, tacet_error *err) {
    static const char *const NAMES[] = {"auto", "latent", "eiv"};
    static const tacet_modeler_method METHODS[] = {TACET_MODELER_AUTO, TACET_MODELER_LATENT, TACET_MODELER_EIV};
    for (size_t i = 0; i < 3; i++) {
        if (strcmp(NAMES[i], name) == 0) {
            *out = METHODS[i];
            return TACET_OK;
        }
    }
    return tacet__fail(err, TACET_INVALID, "'%s' is none of auto, latent, eiv", name);
}

static tacet_status make_policy(run *r, tacet_policy **out, tacet_error *err) {
    tacet_modeler_settings settings;
    tacet_kernel_spec kernel;
    tacet_modeler_settings_defaults(&settings);
    const tacet_guarantee guarantee = {
        .trust = TACET_TRUST_OUTSOURCED,
        .proven = r->m->is_private,
        .eps = r->m->is_private ? r->m->eps : INFINITY,
        .delta = r->m->is_private ? r->m->delta : 1,
        .protects = "a move of one record by up to distance 1 in the release's units",
        .statement = r->m->is_private ? "post-processing of the curator's release, which has this guarantee"
                                      : "the release is not differentially private, so neither is this",
        .proof = "src/outsourced/README.md",
    };
    *out = NULL;
    tacet_status status = method_of(&settings.method, r->s->method, err);
    status = status != TACET_OK ? status : kernel_of(&kernel, r, err);
    if (status != TACET_OK) {
        return status;
    }
    settings.rows = r->rows;
    settings.ld = r->m->dims;
    settings.d = r->m->dims;
    settings.n = r->m->rows;
    settings.low = r->low;
    settings.high = r->high;
    settings.law = tacet_manifest_law(r->m);
    settings.scale = r->m->scale > 0 ? r->m->scale : r->m->sigma;
    settings.kernel = &kernel;
    settings.noise_var = r->noise_var;
    settings.mean = r->mean;
    settings.horizon = r->known + (r->s->queries - r->asked);
    settings.initial = r->order;
    settings.initial_count = r->known;
    settings.guarantee = &guarantee;
    settings.seed = r->s->seed;
    settings.beta_scale = r->s->beta_scale;
    settings.delta_ucb = r->s->delta_ucb;
    return tacet_modeler_create(out, &settings, err);
}

static tacet_status optimise(run *r, tacet_policy *policy, tacet_error *err) {
    const size_t before = r->known;
    tacet_status status = TACET_OK;
    tacet_suggestion suggestion;
    for (size_t i = 0; i < before && status == TACET_OK; i++) {
        status = tacet_policy_suggest(policy, &suggestion, NULL, err);
        status =
            status != TACET_OK ? status : tacet_policy_observe(policy, suggestion.ticket, target(r, r->raw[i]), err);
    }
    while (status == TACET_OK && r->asked < r->s->queries && r->known < r->m->rows) {
        status = tacet_policy_suggest(policy, &suggestion, NULL, err);
        status = status != TACET_OK ? status : measure(r, suggestion.index, err);
        status = status != TACET_OK
                     ? status
                     : tacet_policy_observe(policy, suggestion.ticket, target(r, r->raw[r->known - 1]), err);
    }
    return status;
}

static json_t *settings_json(const session_settings *s, const char *manifest_text) {
    unsigned char hash[16];
    char hex[2 * sizeof hash + 1];
    json_t *first = json_array();
    (void)crypto_generichash(hash, sizeof hash, (const unsigned char *)manifest_text, strlen(manifest_text), NULL, 0);
    (void)sodium_bin2hex(hex, sizeof hex, hash, sizeof hash);
    for (size_t i = 0; i < s->first_count; i++) {
        (void)json_array_append_new(first, json_integer((json_int_t)s->first[i]));
    }
    for (size_t i = 0; i < s->warm_count; i++) {
        (void)json_array_append_new(first, json_pack("[If]", (json_int_t)s->warm_rows[i], s->warm_values[i]));
    }
    /* Numbers as text: they must compare equal after a round trip through the file. */
    return json_pack("{ss ss ss so so so so sb sb sb sb sb sI sI so so sI so}", "release", hex, "method", s->method,
                     "kernel", s->kernel, "lengthscale", json_sprintf("%.17g", s->lengthscale), "signal_var",
                     json_sprintf("%.17g", s->signal_var), "noise_var", json_sprintf("%.17g", s->noise_var), "mean",
                     json_sprintf("%.17g", s->mean), "fit", (int)s->fit, "ard", (int)s->ard, "minimize",
                     (int)s->minimize, "log", (int)s->log_target, "standardize", (int)s->standardize, "queries",
                     (json_int_t)s->queries, "initial", (json_int_t)s->initial, "beta_scale",
                     json_sprintf("%.17g", s->beta_scale), "delta_ucb", json_sprintf("%.17g", s->delta_ucb), "seed",
                     (json_int_t)s->seed, "first", first);
}

static tacet_status open_journal(run *r, const char *manifest_text, tacet_error *err) {
    json_t *description = settings_json(r->s, manifest_text);
    const tacet_status status = description != NULL ? journal_open(&r->book, r->s->state, description, err)
                                                    : tacet__fail(err, TACET_NO_MEMORY, "out of memory");
    json_decref(description);
    return status;
}

static tacet_status prepare(run *r, tacet_error *err) {
    const tacet_manifest *m = r->m;
    const size_t most = r->s->queries + r->s->warm_count;
    r->taken = TACET__ZALLOC(bool, m->rows);
    r->order = TACET__ZALLOC(size_t, most);
    r->raw = TACET__ZALLOC(double, most);
    r->lengthscales = TACET__ZALLOC(double, m->dims);
    r->low = TACET__ZALLOC(double, m->dims);
    r->high = TACET__ZALLOC(double, m->dims);
    if (r->taken == NULL || r->order == NULL || r->raw == NULL || r->lengthscales == NULL || r->low == NULL ||
        r->high == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu rows", m->rows);
    }
    for (size_t i = 0; i < m->dims; i++) {
        r->lengthscales[i] = r->s->lengthscale;
    }
    if (!tacet_manifest_projects(m) && m->column_count == m->dims) {
        for (size_t i = 0; i < m->dims; i++) {
            r->high[i] = (m->columns[i].hi - m->columns[i].lo) / 2 / m->columns[i].unit;
            r->low[i] = -r->high[i];
        }
    } else {
        free(r->low);
        free(r->high);
        r->low = r->high = NULL;
    }
    r->signal_var = r->s->signal_var;
    /* Private outputs come with noise of their own, and how much is public. */
    r->noise_var = r->s->noise_var + (m->outputs_private ? tacet_ldp_variance(&m->outputs) : 0);
    r->mean = r->s->mean;
    return TACET_OK;
}

static tacet_status conclude(session_result *out, run *r, tacet_policy *policy, tacet_error *err) {
    tacet_recommendation best;
    const tacet_status status = tacet_policy_recommend(policy, &best, err);
    if (status != TACET_OK) {
        return status;
    }
    best_of(r, &out->best_row, &out->best_value);
    const double sign = r->s->minimize ? -1 : 1;
    out->recommended_row = best.index;
    out->recommended_mean = sign * best.mean * r->scale + r->shift;
    out->recommended_sd = best.sd * r->scale;
    out->count = r->asked;
    (void)snprintf(out->method, sizeof out->method, "%s", tacet_policy_name(policy));
    out->lengthscale = r->lengthscales[0];
    out->signal_var = r->signal_var;
    out->noise_var = r->noise_var;
    out->mean = r->mean;
    const size_t warm = r->s->warm_count;
    memmove(r->order, r->order + warm, r->asked * sizeof *r->order);
    memmove(r->raw, r->raw + warm, r->asked * sizeof *r->raw);
    out->rows = r->order;
    out->values = r->raw;
    r->order = NULL;
    r->raw = NULL;
    return TACET_OK;
}

void session_result_clear(session_result *result) {
    free(result->rows);
    free(result->values);
    *result = (session_result){0};
}

tacet_status session_run(session_result *out, const session_settings *settings, remote *curator,
                         const tacet_manifest *manifest, const char *manifest_text, const double *rows,
                         tacet_error *err) {
    run r = {.s = settings, .m = manifest, .rows = rows, .remote = curator, .book = {.fd = -1}};
    tacet_policy *policy = NULL;
    *out = (session_result){0};
    if (settings->queries == 0 || settings->queries + settings->warm_count > manifest->rows) {
        return tacet__fail(err, TACET_INVALID, "between 1 and %zu queries are possible on this release",
                           manifest->rows);
    }
    /* Settings that cannot work are refused before the journal is bound to them and before anything is asked. */
    tacet_status status = prepare(&r, err);
    status = status != TACET_OK ? status : take_warm(&r, err);
    status = status != TACET_OK ? status : check_first(&r, err);
    status = status != TACET_OK ? status : make_policy(&r, &policy, err);
    tacet_policy_free(policy);
    policy = NULL;
    status = status != TACET_OK ? status : open_journal(&r, manifest_text, err);
    status = status != TACET_OK ? status : first_rows(&r, err);
    status = status != TACET_OK ? status : standardize(&r, err);
    if (status == TACET_OK && settings->fit) {
        status = fit(&r, err);
    }
    status = status != TACET_OK ? status : make_policy(&r, &policy, err);
    status = status != TACET_OK ? status : optimise(&r, policy, err);
    status = status != TACET_OK ? status : conclude(out, &r, policy, err);
    tacet_policy_free(policy);
    journal_close(&r.book);
    free(r.taken);
    free(r.order);
    free(r.raw);
    free(r.lengthscales);
    free(r.low);
    free(r.high);
    return status;
}
