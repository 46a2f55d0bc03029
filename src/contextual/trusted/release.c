/* SPDX-License-Identifier: Apache-2.0 */
/* release.c - the staged release of a model: each stage sums what the model so far does not explain of its own
 * records, the gate adds noise, and the fusion learns from the noisy sum.
 * Ring: trusted. Source: src/contextual/README.md, sections 6 and 7 (parallel composition over disjoint records,
 * adaptive). One stage is the plain release with leverage clipping. Cost: one pass over the records in all, O(m^3) a
 * stage. */
#include "contextual/trusted/robust.h"

#include "core/fail.h"
#include "gp/linalg.h"
#include "core/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/dp/open/calibrate.h>

static const double NOTHING_LEARNT = 0.95; /* of the prior standard deviation */

tacet_status tacet__contextual_plan_for(const tacet_contextual_learner *l, tacet__contextual_plan *plan, size_t rounds,
                                        tacet_error *err) {
    tacet__contextual_plan_settings s = {.rounds = rounds,
                                         .bound = l->bound,
                                         .noise_sd = l->noise_sd,
                                         .prior_var = l->prior_var,
                                         .decay = l->decay,
                                         .unit_sd = sqrt(2) / l->settings.eps,
                                         .grows = !l->settings.gaussian,
                                         .stages_most = l->settings.stages_most,
                                         .features_most = l->settings.features_most};
    tacet_status status = TACET_OK;
    if (l->settings.gaussian) {
        status = tacet_calibrate_gaussian(&s.unit_sd, l->settings.eps, l->settings.delta, 1, err);
    }
    return status == TACET_OK ? tacet__contextual_plan_make(plan, l->basis, &s, err) : status;
}

static bool too_few(const tacet_contextual_learner *l, const tacet__contextual_plan *plan) {
    return !(sqrt(plan->risk) < NOTHING_LEARNT * sqrt(l->prior_var));
}

tacet_status tacet_contextual_outlook_get(tacet_contextual_outlook *out, const tacet_contextual_learner *l,
                                          size_t rounds, tacet_error *err) {
    tacet__contextual_plan plan;
    if (l->settings.method == TACET_CONTEXTUAL_ROBUST) {
        return tacet__robust_outlook(l, out, rounds, err);
    }
    const tacet_status status = tacet__contextual_plan_for(l, &plan, rounds, err);
    *out = (tacet_contextual_outlook){.features = plan.m,
                                      .stages = plan.count,
                                      .predicted_error = status == TACET_OK ? sqrt(plan.risk) : NAN,
                                      .prior_sd = sqrt(l->prior_var),
                                      .refused = status == TACET_OK && too_few(l, &plan)};
    return status;
}

tacet_status tacet__contextual_assign(unsigned char **out, const tacet__contextual_plan *plan, size_t count,
                                      tacet_error *err) {
    size_t given[TACET__CONTEXTUAL_STAGES_MOST] = {0};
    unsigned char *stage_of = TACET__ZALLOC(unsigned char, count);
    *out = stage_of;
    if (stage_of == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu records", count);
    }
    for (size_t i = 0; i < count; i++) {
        size_t most = 0;
        double lead = -INFINITY;
        for (size_t j = 0; j < plan->count; j++) {
            const double due = (double)plan->stages[j].n * (double)(i + 1) / (double)count - (double)given[j];
            if (given[j] < plan->stages[j].n && due > lead) {
                lead = due;
                most = j;
            }
        }
        stage_of[i] = (unsigned char)most;
        given[most]++;
    }
    return TACET_OK;
}

tacet_status tacet__contextual_model_from(tacet_contextual_model **out, const tacet_contextual_learner *l,
                                          const double *A, const double *theta, size_t m,
                                          const tacet_contextual_parts *claims, tacet_error *err) {
    const tacet_contextual_basis *b = l->basis;
    const tacet__feature_block *block = &b->features->blocks[0];
    const tacet_kernel_spec *spec = tacet_kernel_describe(b->features->kernel);
    double lengthscales[TACET_CONTEXTUAL_COORDINATES_MOST];
    double *weights = TACET__ZALLOC(double, block->count);
    *out = NULL;
    if (weights == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a model");
    }
    tacet__gemv(false, block->count, m, 1, A, block->count, theta, 0, weights);
    for (size_t i = 0; i < b->d; i++) {
        lengthscales[i] = b->unit_lengthscale[i] * (b->upper[i] - b->lower[i]);
    }
    tacet_contextual_parts parts = *claims;
    parts.action_dim = b->action_dim;
    parts.context_dim = b->d - b->action_dim;
    parts.lower = b->lower;
    parts.upper = b->upper;
    parts.kind = spec->kind;
    parts.matern_p = spec->matern_p;
    parts.lengthscales = lengthscales;
    parts.groups = spec->groups;
    parts.nodes = block->Z;
    parts.weights = weights;
    parts.count = block->count;
    parts.offset = l->middle;
    parts.rounds = l->count;
    parts.space = l->space;
    parts.action_columns = l->action_columns;
    parts.range[0] = l->settings.reward_lower;
    parts.range[1] = l->settings.reward_upper;
    const tacet_status status = tacet_contextual_model_create(out, &parts, err);
    free(weights);
    return status;
}

typedef struct staging {
    const tacet_contextual_learner *learner;
    const tacet__contextual_plan *plan;
    const tacet_ask *ask;
    const char *what; /* of every stage's charge */
    size_t records;   /* likewise */
    bool stored_only; /* the release was made by a version that did not name its records: only repeated */
    tacet__contextual_fusion fusion;
    unsigned char *stage_of;
    double *theta, *inverse_root, *b;
    tacet_receipt receipts[TACET__CONTEXTUAL_STAGES_MOST];
} staging;

/* Under which ticket the ledger has a stage, 1, 2, …, of the release with this ticket. */
static void stage_ticket(char out[TACET_TICKET_MOST + 1], const char *ticket, size_t stage) {
    (void)snprintf(out, TACET_TICKET_MOST + 1, "%.150s/stage %zu", ticket, stage);
}

/* How many records there are is part of the question: it decides which of them are in which stage, and a release that
 * goes on after a failure must not put a record of a stage that was answered into another one. What was begun by an
 * older version is asked as that one asked. */
static tacet_status name_records(staging *s, char out[TACET_CHARGE_TEXT_MOST + 1], tacet_error *err) {
    tacet__contextual_begun begun;
    const tacet_status status = tacet__contextual_begun_find(&begun, s->ask, s->ask->ticket, err);
    if (status != TACET_OK) {
        return status;
    }
    s->what = s->ask->what;
    s->stored_only = begun.form == TACET__CONTEXTUAL_BEGUN_UNSAID;
    if (s->stored_only || s->what == NULL) {
        return TACET_OK;
    }
    const int length = snprintf(out, TACET_CHARGE_TEXT_MOST + 1, "%s, %zu records", s->what, s->learner->count);
    if (length < 0 || length > TACET_CHARGE_TEXT_MOST) {
        return tacet__fail(err, TACET_INVALID, "what is released has too long a description");
    }
    s->what = out;
    s->records = begun.form == TACET__CONTEXTUAL_BEGUN_WORDS ? 0 : s->learner->count;
    return TACET_OK;
}

static tacet_status require_stored(const tacet_ask *ask, tacet_error *err) {
    tacet_entry entry;
    tacet_blob memo;
    tacet_blob_init(&memo);
    tacet_error none = {0};
    tacet_status status = tacet_ledger_lookup(ask->ledger, &entry, &memo, ask->ticket, &none);
    tacet_blob_clear(&memo);
    if (status == TACET_NOT_FOUND || (status == TACET_OK && !entry.answered)) {
        return tacet__fail(err, TACET_CONFLICT,
                           "an older version began this release and did not end it: of which records is not known");
    }
    return status == TACET_OK ? TACET_OK : tacet__fail(err, status, "%s", none.message);
}

/* Through the gate: the bounded sum of one stage. */
static tacet_status run_stage(const staging *s, tacet_release **out, size_t j, const tacet__contextual_pass *pass,
                              tacet_error *err) {
    const tacet_contextual_settings *settings = &s->learner->settings;
    const tacet_neighbours replace = {.relation = TACET_RELATION_REPLACE};
    char ticket[TACET_TICKET_MOST + 1];
    char group[TACET__PARTS_GROUP];
    char part[32];
    tacet_ask ask = *s->ask;
    tacet_bound *bound = NULL;
    tacet_bounded *bounded = NULL;
    tacet_raw *raw = NULL;
    tacet_mechanism *mechanism = NULL;
    *out = NULL;
    if (s->plan->count > 1) {
        tacet__parts_group(group, s->ask->ticket, s->stage_of, s->learner);
        (void)snprintf(part, sizeof part, "stage %zu", j + 1);
        ask.group = group;
        ask.part = part;
    }
    stage_ticket(ticket, s->ask->ticket, j + 1);
    ask.ticket = ticket;
    ask.what = s->what;
    ask.records = s->records;
    tacet_status status = s->stored_only ? require_stored(&ask, err) : TACET_OK;
    if (status == TACET_OK) {
        status = tacet__contextual_pass_bound(&bound, pass, err);
    }
    if (status == TACET_OK) {
        status = tacet_mechanism_create(&mechanism, tacet__contextual_noise(settings, false), bound, &replace,
                                        settings->eps, settings->delta, err);
    }
    if (status == TACET_OK) {
        status = tacet_raw_create(&raw, pass->m, err);
    }
    if (status == TACET_OK) {
        status = tacet_bounded_create(&bounded, bound, err);
    }
    if (status == TACET_OK) {
        status = tacet__contextual_sum(s->learner, raw, pass, err);
    }
    if (status == TACET_OK) {
        status = tacet_bounded_set(bounded, raw, err);
    }
    if (status == TACET_OK) {
        status = tacet_mechanism_run(mechanism, out, &ask, bounded, err);
    }
    tacet_bounded_free(bounded);
    tacet_raw_free(raw);
    tacet_mechanism_free(mechanism);
    tacet_bound_free(bound);
    return status;
}

static tacet_status learn_stage(staging *s, size_t j, tacet_error *err) {
    const tacet__contextual_stage *stage = &s->plan->stages[j];
    const tacet_contextual_learner *l = s->learner;
    const size_t m = s->fusion.m;
    const double n = (double)stage->n;
    const double residual_var = l->noise_sd * l->noise_sd + tacet__contextual_fusion_risk(&s->fusion, s->fusion.P);
    tacet_release *release = NULL;
    double clip = 0;
    double risk = 0;
    tacet__contextual_fusion_clip(&s->fusion, stage->ratio, stage->slack, &clip);
    for (size_t i = 0; i < m; i++) {
        s->inverse_root[i] = 1 / sqrt(n * (s->fusion.lam[i] + stage->ratio));
    }
    const tacet__contextual_pass pass = {.m = m,
                                         .inverse_root = s->inverse_root,
                                         .clip = clip / sqrt(n),
                                         .bound = stage->bound,
                                         .theta = j > 0 ? s->theta : NULL,
                                         .stage_of = s->stage_of,
                                         .stage = (unsigned char)j,
                                         .n = stage->n};
    tacet_status status = run_stage(s, &release, j, &pass, err);
    if (status == TACET_OK) {
        /* What the receipt says was drawn, not what was planned. */
        s->receipts[j] = *tacet_release_receipt(release);
        status = tacet__contextual_fusion_gain(&s->fusion, s->fusion.P, &risk, n, stage->ratio, residual_var,
                                               stage->bound, s->receipts[j].error_sd, err);
    }
    if (status == TACET_OK) {
        for (size_t i = 0; i < m; i++) {
            s->b[i] = tacet_release_values(release)[i] / s->inverse_root[i];
        }
        tacet__gemv(true, m, m, 1, s->fusion.gain, m, s->b, 1, s->theta);
    }
    tacet_release_free(release);
    return status;
}

tacet_status tacet__contextual_release_planned(const tacet_contextual_learner *l, tacet_contextual_model **out,
                                               const tacet_ask *ask, const tacet__contextual_plan *plan,
                                               tacet_error *err) {
    staging s = {.learner = l, .plan = plan, .ask = ask};
    char what[TACET_CHARGE_TEXT_MOST + 1];
    *out = NULL;
    if (ask->group != NULL || ask->part != NULL || ask->ticket == NULL || strlen(ask->ticket) > 150) {
        return tacet__fail(err, TACET_INVALID,
                           "a release of a model names its own groups, and needs a ticket of up to 150 bytes");
    }
    tacet_status status = name_records(&s, what, err);
    if (status != TACET_OK) {
        return status;
    }
    status = tacet__contextual_fusion_init(&s.fusion, l->basis, plan->m, l->prior_var, l->decay, err);
    if (status == TACET_OK) {
        status = tacet__contextual_assign(&s.stage_of, plan, l->count, err);
    }
    s.theta = TACET__ZALLOC(double, plan->m);
    s.inverse_root = TACET__ZALLOC(double, plan->m);
    s.b = TACET__ZALLOC(double, plan->m);
    if (status == TACET_OK && (s.theta == NULL || s.inverse_root == NULL || s.b == NULL)) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu features", plan->m);
    }
    for (size_t j = 0; j < plan->count && status == TACET_OK; j++) {
        status = learn_stage(&s, j, err);
    }
    if (status == TACET_OK) {
        const tacet_contextual_parts claims = {.is_private = s.receipts[0].is_private,
                                               .eps = l->settings.eps,
                                               .delta = l->settings.gaussian ? l->settings.delta : 0,
                                               .predicted_error = sqrt(plan->risk),
                                               .receipts = s.receipts,
                                               .receipt_count = plan->count};
        status = tacet__contextual_model_from(out, l, l->basis->features->blocks[0].A, s.theta, plan->m, &claims, err);
    }
    tacet__contextual_fusion_clear(&s.fusion);
    free(s.stage_of);
    free(s.theta);
    free(s.inverse_root);
    free(s.b);
    return status;
}

/* The plan for the records there are, or the refusal to learn from so few. */
static tacet_status plan_release(const tacet_contextual_learner *l, tacet__contextual_plan *plan, tacet_error *err) {
    if (l->count == 0) {
        return tacet__fail(err, TACET_STATE, "there are no records to learn from; nothing was spent");
    }
    const tacet_status status = tacet__contextual_plan_for(l, plan, l->count, err);
    if (status != TACET_OK) {
        return status;
    }
    return too_few(l, plan)
               ? tacet__fail(err, TACET_STATE,
                             "%zu records are too few at eps = %g: the noise would leave %.0f %% of what is unknown; "
                             "nothing was spent",
                             l->count, l->settings.eps, 100 * sqrt(plan->risk / l->prior_var))
               : TACET_OK;
}

tacet_status tacet_contextual_enough(const tacet_contextual_learner *l, tacet_error *err) {
    tacet__contextual_plan plan;
    return l->settings.method == TACET_CONTEXTUAL_ROBUST ? tacet__robust_enough(l, err) : plan_release(l, &plan, err);
}

tacet_status tacet_contextual_release(const tacet_contextual_learner *l, tacet_contextual_model **out,
                                      const tacet_ask *ask, tacet_error *err) {
    tacet__contextual_plan plan;
    *out = NULL;
    if (l->settings.method == TACET_CONTEXTUAL_ROBUST) {
        const tacet_status enough = tacet__robust_enough(l, err);
        return enough == TACET_OK ? tacet__robust_release(l, out, ask, err) : enough;
    }
    tacet_status status = tacet__contextual_begun_with(ask, "stage 1", err);
    if (status == TACET_OK) {
        status = plan_release(l, &plan, err);
    }
    return status == TACET_OK ? tacet__contextual_release_planned(l, out, ask, &plan, err) : status;
}
