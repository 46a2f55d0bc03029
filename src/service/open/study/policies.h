/* SPDX-License-Identifier: Apache-2.0 */
/* policies.h - which policies a service knows, and what it needs of each. Ring: open.
 *
 * A program gives the engine a list of kinds. Those of the local model are here; those of the central model hold raw
 * data, belong to the trusted ring, and are registered by the program that may link it: so the collector has none. */
#pragma once

#include "service/open/study/definition.h"

#include <jansson.h>
#include <stdbool.h>
#include <tacet/gp/kernel.h>
#include <tacet/core/policy.h>

enum { TACET__KEY_MARK = 16 };

/* A policy and what must live as long as it does. */
typedef struct tacet__learner {
    tacet_policy *policy;
    void *self; /* the kind's own; NULL: nothing */
} tacet__learner;

typedef struct tacet__policy_kind {
    const char *name;
    tacet_trust trust;
    bool sets;            /* each round brings its decision set; otherwise the domain is a list of points */
    bool own_sets;        /* each device has its decision set and keeps it; the domain is the box they lie in */
    bool restores;        /* `create` makes more than an empty policy of a snapshot */
    bool stored_first;    /* local: its first state is stored when the study is created, as a central one's is */
    bool contextual;      /* each round brings a context */
    bool extends;         /* more rounds than were defined cost nothing, and leave what was done right */
    bool index_public;    /* whether which action was suggested depends on public things only */
    bool failed_is_worst; /* an evaluation that failed counts as the worst reward; otherwise as the middle */
    bool reports_private; /* whether somebody reported is as private as what: shown to nobody (replica_view.c) */
    /* What the definition asks for can be made. INVALID names the rule. Cheap enough to be asked for any input. */
    tacet_status (*check)(const tacet__definition *def, tacet_error *err);
    /* snapshot NULL: the beginning of a study, which charges the ledger (central). Otherwise the state it was saved in,
     * and nothing is charged: the caller loads it into what was made, unless the kind `restores` it by itself. `ledger`
     * is what tacet_ledger_open takes; NULL for local studies, and for a trial of a central one: all that creating it
     * may refuse is refused, nothing is charged, and the learner is good for nothing else. What is in *out after a
     * failure the caller frees. */
    tacet_status (*create)(tacet__learner *out, const tacet__definition *def, const char *ledger, const void *snapshot,
                           size_t size, tacet_error *err);
    void (*free)(void *self); /* may be NULL */
    /* That what the policy draws with can be had for studies of this store, and a mark of it that is the same for all
     * who have the same: the key file of the ledgers. All zero: there is none to share. NULL: it draws nothing. */
    tacet_status (*able)(unsigned char mark[TACET__KEY_MARK], const char *store, tacet_error *err);
    /* What was learnt, for anyone. STATE: nothing yet. */
    tacet_status (*release)(const tacet__learner *learner, const tacet__definition *def, json_t **out,
                            tacet_error *err);
    /* The best point by what was released, for anyone: nothing is drawn, charged or stored. {kind: "best", action,
     * mean, sd}, and over a list index, over a space point. STATE: nothing yet. NULL: the best action depends on what a
     * round brings. */
    tacet_status (*best)(const tacet__learner *learner, const tacet__definition *def, json_t **out, tacet_error *err);
    /* The best action in a context by what was released, as above. NULL: rounds bring none. */
    tacet_status (*choose)(const tacet__learner *learner, size_t *index, const double *context, size_t count,
                           tacet_error *err);
    /* Takes the ledger over from other processes: from now on none but this one draws for the study. NULL: no ledger.
     */
    tacet_status (*take)(const tacet__learner *learner, tacet_error *err);
    /* Whether the log is being replayed: what it rests on must be in the ledger, and nothing is drawn for it. NULL: no
     * ledger. */
    void (*recall)(const tacet__learner *learner, bool recalling);
    /* Works out, piece by piece, what releases of such a study need and takes long, by public numbers alone; false:
     * there is no more. Any thread. NULL: nothing takes long. */
    bool (*ahead)(const tacet__definition *def, size_t piece);
    /* What was spent. */
    tacet_status (*spent)(const tacet__learner *learner, const tacet__definition *def, json_t **out, tacet_error *err);
    /* Adds to a study's status what its releases so far say; NULL: nothing. */
    tacet_status (*tell)(const tacet__learner *learner, const tacet__definition *def, json_t *status, tacet_error *err);
    /* What a device needs of the study beside its definition; NULL: nothing. */
    tacet_status (*model)(const tacet__learner *learner, json_t **out, tacet_error *err);
    /* How often each arm should be played, as a list; NULL: devices of this study do not choose by themselves. */
    tacet_status (*weights)(const tacet__learner *learner, json_t **out, tacet_error *err);
    /* What to expect of a study before it is created, by public arithmetic; *out stays NULL where there is nothing to
     * say. NULL: nothing. */
    tacet_status (*outlook)(const tacet__definition *def, json_t **out, tacet_error *err);
} tacet__policy_kind;

/* Over a fixed public domain, from reports that devices randomised (tacet/local/open/local.h). */
extern const tacet__policy_kind tacet__policy_ucb, tacet__policy_tgp, tacet__policy_ata, tacet__policy_moma;
/* Over a box, from devices that keep their decision sets (tacet/local/open/statistics_model.h). */
extern const tacet__policy_kind tacet__policy_statistics;
/* All of these; ended by a NULL. */
extern const tacet__policy_kind *const tacet__policy_kinds_local[];

/* NULL: no such kind for this trust model in the list. */
const tacet__policy_kind *tacet__policy_find(const tacet__policy_kind *const *kinds, const tacet__definition *def);
/* That the policy exists, that domain and policy fit, and the kind's own check. */
tacet_status tacet__policy_check(const tacet__policy_kind *const *kinds, const tacet__definition *def,
                                 tacet_error *err);
/* Makes the policy and throws it away: whatever a study could be refused for once it has its name is refused here.
 * Costs what creating the policy costs. */
tacet_status tacet__policy_try(const tacet__policy_kind *kind, const tacet__definition *def, tacet_error *err);
/* The policy of a study that is served, from its beginning (snapshot NULL) or as it was saved. Of a central one no
 * other comes out than one that proves what it protects: CORRUPT for one without a ledger, or whose noise is known, as
 * a trial's is. */
tacet_status tacet__policy_create(const tacet__policy_kind *kind, tacet__learner *out, const tacet__definition *def,
                                  const char *ledger, const void *snapshot, size_t size, tacet_error *err);
/* A kind's best point, and its release, where it is the policy's recommendation over a list of points. */
tacet_status tacet__best_point(const tacet__learner *learner, const tacet__definition *def, json_t **out,
                               tacet_error *err);
/* The kind's best point, and what was spent on it so far, by the names that the account has. STATE: nothing yet, or the
 * best depends on what a round brings. */
tacet_status tacet__study_best(const tacet__policy_kind *kind, const tacet__learner *learner,
                               const tacet__definition *def, json_t **out, tacet_error *err);
/* What is spent in a local study: by each device, so much a report. */
tacet_status tacet__local_spent(const tacet__learner *learner, const tacet__definition *def, json_t **out,
                                tacet_error *err);
/* The kernel of a definition, over d coordinates. */
tacet_status tacet__definition_kernel(tacet_kernel **out, const tacet__definition *def, size_t d, tacet_error *err);
void tacet__learner_free(const tacet__policy_kind *kind, tacet__learner *learner);
