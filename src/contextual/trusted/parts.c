/* SPDX-License-Identifier: Apache-2.0 */
/* parts.c - disjoint parts of an epoch, each read by one mechanism.
 * Ring: trusted; the only place of a study with contexts that calls the gate. Source: README.md, "Parts":
 * parallel composition over rows that are dealt by their numbers. The ledger books the parts as one group, whose cost
 * is that of its dearest part. Cost: one pass. */
#include "contextual/trusted/parts.h"

#include "core/fail.h"
#include "core/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

tacet_status tacet__parts_deal(tacet__parts *p, tacet_error *err) {
    const size_t count = p->learner->count;
    size_t given[TACET__PARTS_MOST] = {0};
    p->part_of = TACET__ZALLOC(unsigned char, count);
    if (p->part_of == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu records", count);
    }
    for (size_t i = 0; i < count; i++) {
        size_t most = 0;
        double lead = -INFINITY;
        for (size_t j = 0; j < TACET__PARTS_MOST; j++) {
            const double due = (double)p->sizes.n[j] * (double)(i + 1) / (double)count - (double)given[j];
            if (given[j] < p->sizes.n[j] && due > lead) {
                lead = due;
                most = j;
            }
        }
        p->part_of[i] = (unsigned char)most;
        given[most]++;
    }
    return TACET_OK;
}

/* Runs the mechanism under the part's own ticket, within the group. */
static tacet_status run(tacet__parts *p, tacet_release **out, const char *name, const tacet_mechanism *mechanism,
                        const tacet_bounded *bounded, tacet_error *err) {
    char ticket[TACET_TICKET_MOST + 1];
    char group[TACET_TICKET_MOST + 64];
    char part[64];
    tacet_ask ask = *p->ask;
    *out = NULL;
    if (p->receipt_count == TACET_CONTEXTUAL_RECEIPTS_MOST) {
        return tacet__fail(err, TACET_STATE, "too many parts");
    }
    (void)snprintf(group, sizeof group, "contextual %.150s", p->ask->ticket); /* of all epochs: no round is in two */
    (void)snprintf(part, sizeof part, "%.30s%.30s", p->prefix, name);
    (void)snprintf(ticket, sizeof ticket, "%.130s/%.60s", p->ask->ticket, part);
    ask.group = group;
    ask.part = part;
    ask.ticket = ticket;
    ask.what = p->what;
    ask.records = p->records;
    const tacet_status status = tacet_mechanism_run(mechanism, out, &ask, bounded, err);
    if (status == TACET_OK) {
        p->receipts[p->receipt_count++] = *tacet_release_receipt(*out);
    }
    return status;
}

/* A mechanism of this kind on these numbers, once. */
static tacet_status run_once(tacet__parts *p, tacet_release **out, const char *name, tacet_mechanism_kind kind,
                             const tacet_bound *bound, const double *values, size_t count, tacet_error *err) {
    const tacet_contextual_settings *settings = &p->learner->settings;
    const tacet_neighbours replace = {.relation = TACET_RELATION_REPLACE};
    tacet_bounded *bounded = NULL;
    tacet_raw *raw = NULL;
    tacet_mechanism *mechanism = NULL;
    tacet_status status =
        tacet_mechanism_create(&mechanism, kind, bound, &replace, settings->eps, settings->delta, err);
    if (status == TACET_OK) {
        status = tacet_raw_create(&raw, count, err);
    }
    if (status == TACET_OK) {
        status = tacet_raw_set(raw, values, count, err);
    }
    if (status == TACET_OK) {
        status = tacet_bounded_create(&bounded, bound, err);
    }
    if (status == TACET_OK) {
        status = tacet_bounded_set(bounded, raw, err);
    }
    if (status == TACET_OK) {
        status = run(p, out, name, mechanism, bounded, err);
    }
    tacet_bounded_free(bounded);
    tacet_raw_free(raw);
    tacet_mechanism_free(mechanism);
    return status;
}

/* Runs a mechanism on the numbers of v under this bound. */
static tacet_status release(tacet__parts *p, double *values, double *sd, const tacet__parts_vector *v,
                            tacet_mechanism_kind kind, const tacet_bound *bound, tacet_error *err) {
    tacet_release *release = NULL;
    const tacet_status status = run_once(p, &release, v->name, kind, bound, v->values, v->count, err);
    if (status == TACET_OK) {
        memcpy(values, tacet_release_values(release), v->count * sizeof *values);
        *sd = tacet_release_receipt(release)->error_sd;
    }
    tacet_release_free(release);
    return status;
}

tacet_status tacet__parts_release(tacet__parts *p, double *values, double *sd, const tacet__parts_vector *v,
                                  tacet_error *err) {
    tacet_bound *norm = NULL;
    tacet_bound *bound = NULL;
    tacet_status status = tacet_bound_norm(&norm, v->count, 1.001 * v->radius, err);
    if (status == TACET_OK) {
        status = tacet_bound_narrow(&bound, norm, v->diameter, v->proof, err);
    }
    if (status == TACET_OK) {
        status = release(p, values, sd, v, tacet__contextual_noise(&p->learner->settings, v->pure), bound, err);
    }
    tacet_bound_free(bound);
    tacet_bound_free(norm);
    return status;
}

tacet_status tacet__parts_choose(tacet__parts *p, size_t *chosen, const char *name, const double *scores, size_t count,
                                 double most, const char *proof, tacet_error *err) {
    tacet_bound *range = NULL;
    tacet_bound *bound = NULL;
    tacet_release *release = NULL;
    tacet_status status = tacet_bound_range(&range, count, -most, most, err);
    if (status == TACET_OK) {
        status = tacet_bound_narrow_scores(&bound, range, 1, proof, err);
    }
    if (status == TACET_OK) {
        status = run_once(p, &release, name, TACET_MECHANISM_PERMUTE_AND_FLIP, bound, scores, count, err);
    }
    if (status == TACET_OK) {
        *chosen = (size_t)tacet_release_values(release)[0];
    }
    tacet_release_free(release);
    tacet_bound_free(bound);
    tacet_bound_free(range);
    return status;
}
