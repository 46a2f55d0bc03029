/* SPDX-License-Identifier: Apache-2.0 */
/* table_search.c - plain GP-UCB over a table, unprotected.
 * Ring: none; who runs it on records of persons shows them. The algorithm is src/gp/gp_ucb.c. */
#include "table_search.h"

#include "core/fail.h"
#include "core/memory.h"
#include "table_read.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "gp/gp_ucb.h"

struct lab_search {
    const lab_search_settings *s;
    lab_search_table table;
    tacet_kernel_spec spec;
    lab_search_result result;
    tacet_kernel *kernel;
    tacet_policy *policy;
    size_t *rows; /* queries */
    double *values;
};

void lab_search_defaults(lab_search_settings *settings) {
    *settings =
        (lab_search_settings){.kernel = "se", .signal_var = 1, .noise_var = 1e-6, .delta_ucb = 0.05, .beta_scale = 1};
}

tacet_status lab_search_check(const lab_search_settings *s, tacet_error *err) {
    tacet_kernel_spec spec;
    tacet_error detail = {0};
    tacet_kernel_spec_defaults(&spec);
    if (tacet_kernel_parse(&spec, s->kernel, &detail) != TACET_OK) {
        return tacet__fail(err, TACET_INVALID, "--kernel: %s", detail.message);
    }
    if (s->lengthscale_count > 1 && s->lengthscale_count != s->d) {
        return tacet__fail(err, TACET_INVALID, "--lengthscale takes one number, or one for each of the %zu inputs",
                           s->d);
    }
    for (size_t i = 0; i < s->lengthscale_count; i++) {
        if (!(s->lengthscales[i] > 0 && isfinite(s->lengthscales[i]))) {
            return tacet__fail(err, TACET_INVALID, "--lengthscale: '%g' is not a number greater than 0",
                               s->lengthscales[i]);
        }
    }
    const struct {
        bool ok;
        const char *rule;
    } rules[] = {
        {s->queries > 0, "--queries must be at least 1"},
        {s->lengthscale_count > 0, "--lengthscale is needed"},
        {s->signal_var > 0, "--signal-var must be greater than 0"},
        {s->noise_var >= 0, "--noise-var must not be negative"},
        {s->delta_ucb > 0 && s->delta_ucb < 1, "--delta-ucb must lie between 0 and 1"},
        {s->beta_scale > 0, "--beta-scale must be greater than 0"},
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (!rules[i].ok) {
            return tacet__fail(err, TACET_INVALID, "%s", rules[i].rule);
        }
    }
    return TACET_OK;
}

/* Rules that need the number of rows. */
static tacet_status check_counts(const lab_search_settings *s, size_t n, tacet_error *err) {
    if (s->queries > n && !s->repeats) {
        return tacet__fail(err, TACET_INVALID,
                           "%s: --queries %zu, but the table has %zu rows and a row is asked once (see --repeats)",
                           s->data, s->queries, n);
    }
    for (size_t i = 0; i < s->first_count; i++) {
        if (s->first[i] >= n) {
            return tacet__fail(err, TACET_INVALID, "%s: --first %zu, but the rows of the table are 0 to %zu", s->data,
                               s->first[i], n - 1);
        }
    }
    return TACET_OK;
}

tacet_status lab_search_open(lab_search **out, const lab_search_settings *s, tacet_error *err) {
    const lab_search_table_wanted wanted = {
        .data = s->data, .inputs = s->inputs, .d = s->d, .target = s->target, .allow_duplicates = s->allow_duplicates};
    *out = NULL;
    tacet_status status = lab_search_check(s, err);
    if (status != TACET_OK) {
        return status;
    }
    *out = TACET__ZALLOC(lab_search, 1);
    if (*out == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a search");
    }
    (*out)->s = s;
    status = lab_search_table_load(&(*out)->table, &wanted, err);
    TACET_THEN(status, check_counts(s, (*out)->table.n, err));
    if (status != TACET_OK) {
        lab_search_close(*out);
        *out = NULL;
    }
    return status;
}

static tacet_status make_policy(lab_search *p, tacet_error *err) {
    const lab_search_settings *s = p->s;
    tacet_gp_ucb_settings settings;
    tacet_gp_ucb_settings_defaults(&settings);
    settings.mean = s->minimize ? -s->mean : s->mean;
    settings.noise_var = s->noise_var;
    settings.delta_ucb = s->delta_ucb;
    settings.beta_scale = s->beta_scale;
    settings.horizon = s->queries;
    settings.allow_repeats = s->repeats;
    settings.initial = s->first;
    settings.initial_count = s->first_count;
    const tacet_cov_spec cov = {.kernel = p->kernel};
    return tacet_gp_ucb_create(&p->policy, &settings, &cov, p->table.csv.values, s->d + 1, p->table.n, err);
}

static tacet_status prepare(lab_search *p, tacet_error *err) {
    const lab_search_settings *s = p->s;
    p->rows = TACET__ZALLOC(size_t, s->queries);
    p->values = TACET__ZALLOC(double, s->queries);
    if (p->rows == NULL || p->values == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu rounds", s->queries);
    }
    tacet_kernel_spec_defaults(&p->spec);
    tacet_status status = tacet_kernel_parse(&p->spec, s->kernel, err);
    p->spec.d = s->d;
    p->spec.lengthscales = s->lengthscales;
    p->spec.lengthscale_count = s->lengthscale_count;
    p->spec.signal_var = s->signal_var;
    TACET_THEN(status, tacet_kernel_create(&p->kernel, &p->spec, err));
    return status != TACET_OK ? status : make_policy(p, err);
}

static tacet_status ask_one(lab_search *p, size_t t, tacet_error *err) {
    const double sign = p->s->minimize ? -1 : 1;
    tacet_suggestion s;
    const tacet_status status = tacet_policy_suggest(p->policy, &s, NULL, err);
    if (status != TACET_OK) {
        return status;
    }
    p->rows[t] = s.index;
    p->values[t] = lab_search_table_value(&p->table, s.index, p->s->d);
    return tacet_policy_observe(p->policy, s.ticket, sign * p->values[t], err);
}

static void conclude(lab_search *p) {
    const double sign = p->s->minimize ? -1 : 1;
    double optimum = -(double)INFINITY;
    for (size_t j = 0; j < p->table.n; j++) {
        optimum = fmax(optimum, sign * lab_search_table_value(&p->table, j, p->s->d));
    }
    lab_search_result *r = &p->result;
    (void)tacet_policy_recommend(p->policy, &r->best, NULL);
    tacet_gp_report_get(tacet_gp_ucb_model(p->policy), &r->model);
    r->regret = optimum - r->best.measured_value;
    r->best.measured_value *= sign;
    r->best.mean *= sign;
    r->rows = p->rows;
    r->values = p->values;
    r->asked = p->s->queries;
    r->n = p->table.n;
}

tacet_status lab_search_run(lab_search *search, lab_search_result *out, tacet_error *err) {
    const lab_search_settings *s = search->s;
    const double sign = s->minimize ? -1 : 1;
    double best = -(double)INFINITY;
    tacet_status status =
        search->policy == NULL ? prepare(search, err) : tacet__fail(err, TACET_STATE, "a search is run once");
    for (size_t t = 0; t < s->queries && status == TACET_OK; t++) {
        status = ask_one(search, t, err);
        best = status == TACET_OK ? fmax(best, sign * search->values[t]) : best;
        if (status == TACET_OK && s->progress != NULL) {
            s->progress(t + 1, s->queries, sign * best, s->user);
        }
    }
    if (status == TACET_OK) {
        conclude(search);
        *out = search->result;
    }
    return status;
}

void lab_search_close(lab_search *search) {
    if (search != NULL) {
        tacet_policy_free(search->policy);
        tacet_kernel_free(search->kernel);
        lab_search_table_clear(&search->table);
        free(search->rows);
        free(search->values);
        free(search);
    }
}
