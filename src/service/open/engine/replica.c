/* SPDX-License-Identifier: Apache-2.0 */
/* replica.c - a study in memory: its policy as of some event of the log. What jobs do to it: replica_jobs.c.
 * Ring: open. Replay: a suggestion is repeated as it was stored, so that machines which round otherwise go on alike; a
 * policy that cannot have made it is stopped. Cost: O(policy) a job or an event. */
#include "service/open/engine/replica.h"
#include "service/open/engine/anchor.h"
#include "service/open/engine/waiting.h"

#include "core/fail.h"
#include "core/policy_internal.h"
#include "service/open/study/round.h"

#include <string.h>
#include <unistd.h>

/* --- the policy in memory ----------------------------------------------------------------------------------------- */

void tacet__replica_unload(tacet__replica *r) {
    if (r->loaded) {
        atomic_fetch_sub_explicit(&r->settings->metrics->studies, 1, memory_order_relaxed);
    }
    tacet__learner_free(r->kind, &r->learner);
    tacet__definition_clear(&r->def);
    if (r->loaded && r->anchor >= 0) {
        (void)close(r->anchor);
    }
    r->anchor = -1;
    r->loaded = false;
    r->fence = 0;
}

static tacet_status connect_store(tacet__replica *r, tacet_error *err) {
    if (r->store != NULL) {
        return TACET_OK;
    }
    tacet__studies_settings s = r->settings->store;
    s.create = false;
    return tacet__studies_open(&r->store, &s, err);
}

static tacet_status find_study(tacet__replica *r, tacet_error *err) {
    const tacet_status status = connect_store(r, err);
    return status != TACET_OK ? status : tacet__studies_get(r->store, &r->study, r->name, err);
}

void tacet__replica_leave(tacet__replica *r) {
    tacet__replica_unload(r);
    if (!r->borrows) {
        tacet__studies_close(r->store);
    }
    r->store = NULL;
}

/* A load asks the store several times, and works in between: clients wait while it gets its answers. */
static void note_alive(const tacet__replica *r, tacet_status status) {
    if (status == TACET_OK) {
        tacet__metrics_moved(r->settings->metrics);
    }
}

/* The newest one, and the event it is as of: 0, and empty, of a local study that has none yet. */
static tacet_status read_snapshot(tacet__replica *r, tacet_blob *snapshot, uint64_t *seq, bool central,
                                  tacet_error *err) {
    tacet_error none = {0};
    tacet_status status = tacet__studies_get_snapshot(r->store, &r->study, snapshot, seq, &none);
    if (status == TACET_NOT_FOUND && !central && !r->kind->stored_first) {
        *seq = 0;
        status = TACET_OK;
    } else if (status == TACET_NOT_FOUND) {
        status = tacet__fail(err, TACET_STATE, "the study was not created to its end: create it again");
    } else if (status != TACET_OK) {
        status = tacet__fail(err, status, "%s", none.message);
    }
    note_alive(r, status);
    return status;
}

/* ledger: where it is, of a central study; else NULL. */
static tacet_status make_policy(tacet__replica *r, tacet_blob *snapshot, uint64_t *seq, const tacet_blob *ledger,
                                tacet_error *err) {
    const char *path = ledger != NULL ? (const char *)ledger->data : NULL;
    tacet_status status =
        tacet__policy_create(r->kind, &r->learner, &r->def, path, snapshot->data, snapshot->size, err);
    if (status == TACET_CORRUPT && ledger == NULL && r->study.rounds > 0 && snapshot->size > 0) {
        /* Perhaps saved before there were more rounds, on which widths depend: the log has all of it. */
        tacet_error_clear(err);
        *seq = 0;
        snapshot->size = 0;
        status = tacet__policy_create(r->kind, &r->learner, &r->def, NULL, NULL, 0, err);
    }
    return status;
}

/* The policy as of the newest snapshot; begin then reads what came after. */
static tacet_status load(tacet__replica *r, tacet_error *err) {
    tacet_blob snapshot;
    tacet_blob ledger;
    uint64_t seq = 0;
    r->anchor = -1;
    r->kind = NULL; /* the study may be another one of its name */
    tacet_blob_init(&snapshot);
    tacet_blob_init(&ledger);
    tacet_status status = find_study(r, err);
    note_alive(r, status);
    TACET_THEN(status, tacet__definition_decode(&r->def, (const char *)r->study.definition.data,
                                                r->study.definition.size, err));
    if (status == TACET_OK && r->study.rounds > r->def.rounds) {
        r->def.rounds = r->study.rounds;
    }
    if (status == TACET_OK && (r->kind = tacet__policy_find(r->settings->kinds, &r->def)) == NULL) {
        status = tacet__fail(err, TACET_NOT_FOUND, "this server does not serve studies of this kind");
    }
    const bool central = status == TACET_OK && r->def.trust == TACET_TRUST_CENTRAL;
    if (central) {
        /* A trusted store that was put back to an older state is found here, before anything is drawn from it. */
        status = tacet__studies_project(r->store, &r->study, err);
        note_alive(r, status);
        /* And both stores, put back together, here. */
        TACET_THEN(status, tacet__study_anchor_open(&r->anchor, r->store, &r->study, &r->settings->store, err));
        TACET_THEN(status, tacet__studies_ledger(r->store, &ledger, r->name, err));
    }
    TACET_THEN(status, read_snapshot(r, &snapshot, &seq, central, err));
    TACET_THEN(status, make_policy(r, &snapshot, &seq, central ? &ledger : NULL, err));
    if (status == TACET_NOT_FOUND && r->kind != NULL && r->study.name[0] != '\0') {
        status = TACET_CORRUPT; /* the study is there, and something it needs is not, such as its ledger */
    }
    const size_t snapshot_size = snapshot.size;
    tacet_blob_clear(&snapshot);
    tacet_blob_clear(&ledger);
    if (status != TACET_OK) {
        tacet__definition_clear(&r->def);
        if (r->anchor >= 0) {
            (void)close(r->anchor);
            r->anchor = -1;
        }
        return status;
    }
    note_alive(r, status);
    r->loaded = true;
    r->unsettled = true;
    r->settled = r->next_due = 0;
    r->applied = r->saved = seq;
    r->saved_size = snapshot_size;
    r->saved_learnt = tacet__policy_learnt(r->learner.policy);
    tacet__metrics_add(&r->settings->metrics->rebuilds, 1);
    tacet__metrics_add(&r->settings->metrics->studies, 1);
    return TACET_OK;
}

/* One event of the log into the policy. What is short now (memory, the store) is told as it is; anything else that the
 * policy refuses means that it is not the one which wrote this log, and nothing may rest on it. */
static tacet_status replay(const tacet__event *e, void *user, tacet_error *err) {
    tacet__replica *r = user;
    tacet_error inner = {0};
    tacet_status status = TACET_OK;
    if (e->kind == TACET__EVENT_SUGGEST) {
        tacet__round round;
        const tacet_suggestion made = {.index = (size_t)e->index, .ticket = e->number};
        status = tacet__round_decode(&round, e->body, e->body_size, &inner);
        TACET_THEN(status,
                   tacet_policy_repeat(r->learner.policy, &made, round.numbers != NULL ? &round.round : NULL, &inner));
        tacet__round_clear(&round);
    } else if (e->kind == TACET__EVENT_OBSERVE && e->null) {
        status = tacet_policy_drop(r->learner.policy, e->number, &inner);
        tacet__waiting_notice(r, e->of, false);
    } else if (e->kind == TACET__EVENT_OBSERVE) {
        status =
            tacet_policy_observe(r->learner.policy, e->number, tacet__definition_towards(&r->def, e->value), &inner);
        tacet__waiting_notice(r, e->of, false);
    } else if (e->kind == TACET__EVENT_EXPIRE) {
        status = tacet_policy_drop(r->learner.policy, e->number, &inner);
        tacet__waiting_notice(r, e->of, true);
    }
    if (status == TACET_NO_MEMORY || status == TACET_IO || status == TACET_BUSY) {
        return tacet__fail(err, status, "%s", inner.message);
    }
    if (status != TACET_OK) {
        return tacet__fail(err, TACET_CORRUPT, "event %llu cannot be replayed: %s", (unsigned long long)e->seq,
                           inner.message);
    }
    r->applied = e->seq;
    return TACET_OK;
}

static tacet_status lock(tacet__replica *r, tacet_error *err) {
    tacet_status status = r->loaded ? TACET_OK : load(r, err);
    if (status == TACET_CONFLICT || status == TACET_INVALID || status == TACET_PARSE) {
        status = TACET_CORRUPT; /* what is stored does not fit itself or the ledger */
    }
    return status != TACET_OK ? status : tacet__studies_begin(r->store, &r->study, err);
}

static void recall(const tacet__replica *r, bool recalling) {
    if (r->kind->recall != NULL) {
        r->kind->recall(&r->learner, recalling);
    }
}

/* Lock, and the policy up to the head of the log. */
tacet_status tacet__replica_begin(tacet__replica *r, tacet_error *err) {
    tacet_status status = lock(r, err);
    if (status == TACET_OK && r->study.rounds > r->def.rounds) { /* it was given more of them since it was loaded */
        tacet__studies_rollback(r->store);
        tacet__replica_unload(r);
        status = lock(r, err);
    }
    if (status != TACET_OK) {
        return status;
    }
    if (r->study.state == TACET__STUDY_DELETED) {
        tacet__studies_rollback(r->store);
        tacet__replica_unload(r);
        return tacet__fail(err, TACET_NOT_FOUND, "no such study");
    }
    /* The log is the truth and the policy a function of it: behind it, it catches up; ahead of it, somebody took
     * committed events out of the store, and noise that was drawn for them would be drawn again. */
    if (r->study.head < r->applied) {
        status = tacet__fail(err, TACET_CORRUPT, "the store has fewer events than were committed to it");
    } else if (r->study.head > r->applied) {
        r->unsettled = true;
        recall(r, true);
        status = tacet__studies_read(r->store, &r->study, r->applied + 1, replay, r, err);
        recall(r, false);
    }
    if (status != TACET_OK) {
        tacet__studies_rollback(r->store);
        tacet__replica_unload(r);
    }
    return status;
}

/* --- what is written ---------------------------------------------------------------------------------------------- */

tacet_status tacet__replica_append(tacet__replica *r, tacet__batch *b, tacet__event *event) {
    const tacet_status status = tacet__studies_append(r->store, &r->study, event, &b->err);
    b->broken = status != TACET_OK;
    b->wrote = true;
    return status;
}

/* Before anything is written: the study is this replica's from this transaction on, and its ledger from now on. Whoever
 * had it before, and stood still meanwhile, finds another fence: in the study's row at its next begin, and in the
 * ledger's own transaction should it wake up in the middle of a batch. */
tacet_status tacet__replica_keep(tacet__replica *r, tacet__batch *b) {
    if (r->fence != 0 && r->study.fence == r->fence) {
        return TACET_OK;
    }
    tacet_status status = r->kind->take != NULL ? r->kind->take(&r->learner, &b->err) : TACET_OK;
    TACET_THEN(status, tacet__studies_take(r->store, &r->study, &b->err));
    b->broken = status != TACET_OK;
    b->wrote = true;
    r->fence = r->study.fence;
    return status;
}
