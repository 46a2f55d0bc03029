/* SPDX-License-Identifier: Apache-2.0 */
/* replica.h - a study in memory, as worker.c has it, and what its files replica*.c share. Ring: open. One thread at a
 * time. */
#pragma once

#include "service/open/engine/engine.h"

typedef struct tacet__replica {
    const tacet__engine_settings *settings;
    char name[TACET__STUDY_NAME_MOST + 1];
    tacet__studies *store; /* NULL: not connected */
    bool borrows;          /* the store is its thread's, which sets it and closes it */
    tacet__study study;
    tacet__definition def;
    const tacet__policy_kind *kind;
    tacet__learner learner;
    bool loaded;
    uint64_t fence;   /* the study's, when this replica last took it; 0: never did */
    bool unsettled;   /* others' events were read since the last commit: nothing may leave before they are durable */
    uint64_t applied; /* seq up to which the policy in memory has the log */
    uint64_t saved;   /* seq of the newest snapshot */
    size_t saved_size, saved_learnt; /* of what was saved: tacet__policy_learnt */
    int anchor; /* where it is noted how far the study came (anchor.h); -1: nowhere, also while it is not loaded */
    tacet__job *waiting;                /* long polls (waiting.h) */
    uint64_t settled;                   /* every suggestion up to this seq was observed or has expired; 0: not known */
    uint64_t listed_number, listed_seq; /* where the last list of events ended, where reports are not among them */
    uint64_t next_due;                  /* seconds since 1970: before then no ticket can expire */
} tacet__replica;

/* What befell a transaction. Anything else than OK from a job is that job's own answer; `broken` is the end of all of
 * them: memory and store no longer agree. */
typedef struct tacet__batch {
    bool broken;
    bool wrote;
    tacet_error err;
} tacet__batch;

/* Forgets the policy and the connection. */
void tacet__replica_leave(tacet__replica *r);
/* Takes the lock, and brings the policy up to the head of the log: load when needed, then replay. On failure nothing is
 * held, and what cannot be trusted is unloaded. CORRUPT: the study must not be served. */
tacet_status tacet__replica_begin(tacet__replica *r, tacet_error *err);
/* What these jobs will look for, told to the store before begin. */
void tacet__replica_foresee(tacet__replica *r, const tacet__job *jobs);
/* What each kind of job does. */
typedef struct tacet__job_traits {
    /* One of the two. Before it writes, the study is this replica's (tacet__replica_keep). */
    tacet_status (*reads)(tacet__replica *r, tacet__job *job);
    tacet_status (*writes)(tacet__replica *r, tacet__batch *b, tacet__job *job);
    unsigned pass; /* of TACET__JOB_PASSES: in this one of a batch */
    bool is_long;  /* it lists or draws something, and takes as long as dozens of others */
} tacet__job_traits;
enum { TACET__JOB_PASSES = 3 };
extern const tacet__job_traits tacet__job_kinds[]; /* by tacet__job_kind */
/* One job, inside begin and commit or rollback. */
tacet_status tacet__replica_act(tacet__replica *r, tacet__batch *b, tacet__job *job);
/* Expires the tickets that are too old at `now` (seconds since 1970), in a transaction of its own; nothing where none
 * can be. OK: what there was is durable. Anything else: as a commit that failed. */
tacet_status tacet__replica_expire(tacet__replica *r, uint64_t now, tacet_error *err);
/* How many events may be shown: the number of the newest. */
uint64_t tacet__replica_events(const tacet__replica *r);
/* What the board asks, inside begin and rollback: events and open tickets (replica_view.c), what was learnt over one or
 * two columns (replica_posterior.c). */
tacet_status tacet__replica_view(tacet__replica *r, tacet__job *job);
tacet_status tacet__replica_recent(tacet__replica *r, json_t **out,
                                   tacet_error *err); /* the last 1000 events at most */
tacet_status tacet__replica_posterior(tacet__replica *r, tacet__job *job);
/* Forgets the policy; the next begin makes it again from the store. */
void tacet__replica_unload(tacet__replica *r);

/* --- between the files replica*.c ----------------------------------------------------------------------------------
 */

tacet_status tacet__replica_append(tacet__replica *r, tacet__batch *b, tacet__event *event);
/* Before anything is written: the study is this replica's. */
tacet_status tacet__replica_keep(tacet__replica *r, tacet__batch *b);
/* replica_suggest.c: one suggestion or several; the action of a suggestion by its index. */
tacet_status tacet__replica_suggest(tacet__replica *r, tacet__batch *b, tacet__job *job);
void tacet__replica_show(const tacet__replica *r, tacet__job *job);
/* replica_report.c: what devices that choose by themselves ask and send. */
tacet_status tacet__replica_grants(tacet__replica *r, tacet__job *job);
tacet_status tacet__replica_weights(tacet__replica *r, tacet__job *job);
tacet_status tacet__replica_report(tacet__replica *r, tacet__batch *b, tacet__job *job);
/* replica_expire.c: tickets that an owner ends. */
tacet_status tacet__replica_expire_asked(tacet__replica *r, tacet__batch *b, tacet__job *job);
/* What an observation or the end of a ticket says of its suggestion. */
tacet__event tacet__settled_event(tacet__event_kind kind, const tacet__suggestion *s);
