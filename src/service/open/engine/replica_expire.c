/* SPDX-License-Identifier: Apache-2.0 */
/* replica_expire.c - tickets that are too old: their rounds become null records.
 * Ring: open. Cost: one look at the oldest open suggestion, and O(policy) a ticket that expires. */
#include "service/open/engine/replica.h"
#include "service/open/engine/waiting.h"

#include "core/fail.h"

#include <string.h>
#include <time.h>

/* What an observation or the end of a ticket says of its suggestion. */
tacet__event tacet__settled_event(tacet__event_kind kind, const tacet__suggestion *s) {
    tacet__event event = {.kind = kind,
                          .of = s->event.seq,
                          .number = s->event.number,
                          .index = TACET__NO_INDEX,
                          .has_owner = s->event.has_owner,
                          .has_person = s->event.has_person};
    memcpy(event.owner, s->event.owner, sizeof event.owner);
    memcpy(event.person, s->event.person, sizeof event.person);
    return event;
}

static tacet_status give_up(tacet__replica *r, tacet__batch *b, const tacet__suggestion *s) {
    TACET_OR_RETURN(tacet__replica_keep(r, b));
    tacet_status status = tacet_policy_drop(r->learner.policy, s->event.number, &b->err);
    if (status != TACET_OK) {
        return status == TACET_NO_MEMORY ? status : TACET_CORRUPT; /* the log says that it waits */
    }
    tacet__event event = tacet__settled_event(TACET__EVENT_EXPIRE, s);
    status = tacet__replica_append(r, b, &event);
    tacet__waiting_notice(r, s->event.seq, true);
    return status;
}

/* The suggestions that wait, oldest first, up to the first that is young enough. One from the future was taken while
 * the clock was ahead: it stays, and holds up none behind it; only what lies before it is settled. */
typedef struct expiry {
    uint64_t now, after;
    bool more, skipped;
} expiry;

/* r->settled is where the next look begins, and is never behind an open suggestion: once one was passed over, it
 * stays. A look costs the events since then, not the whole log. */
static void settle(tacet__replica *r, const expiry *x, uint64_t seq) {
    r->settled = x->skipped ? r->settled : seq;
}

static tacet_status expire_some(tacet__replica *r, tacet__batch *b, expiry *x) {
    enum { MOST = 64 };
    tacet__suggestion s[MOST];
    size_t count = MOST;
    tacet_status status = tacet__studies_waiting(r->store, &r->study, s, &count, x->after, &b->err);
    x->more = count == MOST;
    for (size_t i = 0; status == TACET_OK && i < count; i++) {
        const tacet__event *e = &s[i].event;
        x->after = e->seq;
        if (x->now < e->time) {
            settle(r, x, e->seq - 1);
            x->skipped = true;
        } else if (x->now - e->time < r->def.ticket_seconds) {
            settle(r, x, e->seq - 1);
            r->next_due = e->time + r->def.ticket_seconds;
            x->more = false;
            return TACET_OK;
        } else {
            status = give_up(r, b, &s[i]);
            settle(r, x, e->seq);
        }
    }
    if (status == TACET_OK && !x->more) {
        settle(r, x, r->study.head);
        r->next_due = x->now + r->def.ticket_seconds; /* whatever is suggested from now on is younger */
    }
    return status;
}

/* A time that is further ahead than any ticket's was set while the clock was. */
static bool none_is_due(const tacet__replica *r, uint64_t now) {
    return now < r->next_due && r->next_due - now <= r->def.ticket_seconds;
}

tacet_status tacet__replica_expire(tacet__replica *r, uint64_t now, tacet_error *err) {
    tacet__batch b = {0};
    if (r->loaded && (r->def.ticket_seconds == 0 || none_is_due(r, now))) {
        return TACET_OK;
    }
    tacet_status status = tacet__replica_begin(r, err);
    if (status != TACET_OK) {
        return status;
    }
    if (r->def.ticket_seconds > 0 && r->study.state == TACET__STUDY_ACTIVE) {
        expiry x = {.now = now, .after = r->settled, .more = true};
        while (status == TACET_OK && x.more) {
            status = expire_some(r, &b, &x);
        }
        if (status == TACET_OK && b.wrote) {
            status = tacet__studies_commit(r->store, &b.err);
        }
    }
    tacet__studies_rollback(r->store);
    if (status != TACET_OK) {
        tacet__replica_unload(r);
        return tacet__fail(
            err, status == TACET_NO_MEMORY || status == TACET_BUSY || status == TACET_CORRUPT ? status : TACET_IO, "%s",
            b.err.message);
    }
    r->applied = b.wrote ? r->study.head : r->applied;
    return TACET_OK;
}

/* One round, whatever its age. One that has expired already is no failure: whoever asks may have asked before. */
static tacet_status expire_one(tacet__replica *r, tacet__batch *b, tacet__job *job) {
    tacet__suggestion s;
    TACET_OR_RETURN(tacet__studies_suggestion(r->store, &r->study, &s, job->number, &job->err));
    if (s.observed) {
        return tacet__fail(&job->err, TACET_CONFLICT, "the round was reported: its ticket is not open any more");
    }
    tacet_status status = s.expired ? TACET_OK : give_up(r, b, &s);
    job->number = status == TACET_OK && !s.expired;
    return status;
}

static tacet_status expire_all(tacet__replica *r, tacet__batch *b, tacet__job *job) {
    enum { MOST = 64 };
    const uint64_t now = r->settings->clock != NULL ? r->settings->clock() : (uint64_t)time(NULL);
    unsigned char holder[TACET__HOLDER_BYTES];
    tacet__suggestion s[MOST];
    size_t count = MOST;
    uint64_t after = 0;
    uint64_t expired = 0;
    tacet_status status = TACET_OK;
    tacet__holder_hash(holder, &r->study, TACET__HOLDER_TOKEN, job->owner, sizeof job->owner);
    while (status == TACET_OK && count == MOST) {
        status = tacet__studies_waiting(r->store, &r->study, s, &count, after, &b->err);
        for (size_t i = 0; status == TACET_OK && i < count; i++) {
            const tacet__event *e = &s[i].event;
            const bool wanted = !job->owned || (e->has_owner && memcmp(e->owner, holder, sizeof holder) == 0);
            after = e->seq;
            if (wanted && now >= e->time && now - e->time >= job->x) {
                status = give_up(r, b, &s[i]);
                expired += status == TACET_OK;
            }
        }
    }
    job->number = status == TACET_OK ? expired : job->number;
    return status;
}

/* Asked for by an owner. Together with what was given up before it failed, the batch is rolled back. */
tacet_status tacet__replica_expire_asked(tacet__replica *r, tacet__batch *b, tacet__job *job) {
    if (r->study.reports_private) { /* how many could be ended is how many did not report */
        return tacet__fail(&job->err, TACET_STATE,
                           "tickets of this study end by themselves: to end them would tell who has reported");
    }
    const tacet_status status = job->number > 0 ? expire_one(r, b, job) : expire_all(r, b, job);
    b->broken = b->broken || (status != TACET_OK && b->err.status != TACET_OK);
    return status;
}
