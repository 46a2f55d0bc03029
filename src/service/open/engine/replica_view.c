/* SPDX-License-Identifier: Apache-2.0 */
/* replica_view.c - what the board shows of a study: its events, and who holds its open tickets.
 * Ring: open. Of a central study events have a time and a kind, and an index where that is public: no value, no
 * context, no decision set, no person. Where reporting is private its events are suggestions and releases, by numbers
 * that count these alone, and its tickets are those issued whose deadline is ahead, reported or not. Cost: O(events
 * after the one asked for). */
#include "service/open/engine/replica.h"

#include "core/fail.h"
#include "core/memory.h"
#include "service/open/study/space_domain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { EVENTS_MOST = 1000, TICKETS_MOST = 512, TOKENS_MOST = 4096 };

/* --- events ------------------------------------------------------------------------------------------------------- */

typedef struct event_list {
    const tacet__replica *r;
    json_t *array;
    uint64_t after;       /* numbers up to this one are not asked for */
    uint64_t number, seq; /* of the last event that was met */
} event_list;

uint64_t tacet__replica_events(const tacet__replica *r) {
    return r->study.reports_private ? r->study.suggested + r->study.released : r->study.head;
}

static tacet_status list_event(const tacet__event *e, void *user, tacet_error *err) {
    static const char *const KINDS[] = {[TACET__EVENT_SUGGEST] = "suggested",
                                        [TACET__EVENT_OBSERVE] = "observed",
                                        [TACET__EVENT_RELEASE] = "released",
                                        [TACET__EVENT_EXPIRE] = "expired"};
    event_list *l = user;
    const bool local = l->r->def.trust == TACET_TRUST_LOCAL;
    const bool private = l->r->study.reports_private;
    if (private && (e->kind == TACET__EVENT_OBSERVE || e->kind == TACET__EVENT_EXPIRE)) {
        return TACET_OK;
    }
    if (json_array_size(l->array) == EVENTS_MOST) {
        return tacet__fail(err, TACET_STATE, "there are more");
    }
    l->number = private ? l->number + 1 : e->seq;
    l->seq = e->seq;
    if (l->number <= l->after) {
        return TACET_OK;
    }
    json_t *one =
        json_pack("{sI ss sI}", "number", (json_int_t)l->number, "kind", KINDS[e->kind], "time", (json_int_t)e->time);
    if (one != NULL && e->of != 0) {
        (void)json_object_set_new(one, "of", json_integer((json_int_t)e->of));
    }
    if (one != NULL && e->kind == TACET__EVENT_SUGGEST && l->r->kind->index_public && e->index != TACET__NO_INDEX) {
        (void)json_object_set_new(one, "index", json_integer((json_int_t)e->index));
        (void)json_object_set_new(one, "point", tacet__space_domain_point(&l->r->def, (size_t)e->index)); /* or none */
    }
    if (one != NULL && e->kind == TACET__EVENT_OBSERVE && local && isfinite(e->value)) {
        (void)json_object_set_new(one, "value", json_real(e->value)); /* randomised on the device */
    }
    return json_array_append_new(l->array, one) == 0 ? TACET_OK
                                                     : tacet__fail(err, TACET_NO_MEMORY, "out of memory for events");
}

tacet_status tacet__replica_recent(tacet__replica *r, json_t **out, tacet_error *err) {
    const uint64_t head = r->study.head;
    event_list l = {.r = r, .array = json_array()};
    const tacet_status status =
        head == 0 ? TACET_OK
                  : tacet__studies_read(r->store, &r->study, head > EVENTS_MOST ? head - EVENTS_MOST + 1 : 1,
                                        list_event, &l, err);
    *out = l.array;
    return status;
}

static tacet_status events(tacet__replica *r, tacet__job *job) {
    const bool private = r->study.reports_private;
    event_list l = {.r = r, .array = json_array(), .after = job->number};
    tacet_error err = {0};
    tacet_status status = TACET_OK;
    if (private && job->number >= r->listed_number) { /* go on where the last answer ended */
        l.number = r->listed_number;
        l.seq = r->listed_seq;
    }
    if (job->number < tacet__replica_events(r)) {
        status = tacet__studies_read(r->store, &r->study, (private ? l.seq : job->number) + 1, list_event, &l, &err);
    }
    if (private && (status == TACET_OK || status == TACET_STATE)) {
        r->listed_number = l.number;
        r->listed_seq = l.seq;
    }
    if (status == TACET_STATE && json_array_size(l.array) == EVENTS_MOST) {
        status = TACET_OK;
    }
    if (status != TACET_OK) {
        json_decref(l.array);
        return tacet__fail(&job->err, status, "%s", err.message);
    }
    job->body = json_pack("{sI so}", "head", (json_int_t)tacet__replica_events(r), "events", l.array);
    return job->body != NULL ? TACET_OK : tacet__fail(&job->err, TACET_NO_MEMORY, "out of memory for events");
}

/* --- tickets ------------------------------------------------------------------------------------------------------ */

typedef struct holder {
    unsigned char hash[TACET__HOLDER_BYTES];
    uint64_t number;
    char label[TACET__TOKEN_LABEL_MOST + 1];
} holder;

typedef struct holder_list {
    const tacet__study *study;
    holder *list;
    size_t count, capacity;
} holder_list;

static tacet_status note_holder(const tacet__token *t, void *user, tacet_error *err) {
    holder_list *l = user;
    if (l->count == TOKENS_MOST) {
        return TACET_OK; /* beyond, a ticket is of a token whose name is not told */
    }
    if (!tacet__grow((void **)&l->list, &l->capacity, l->count + 1, sizeof *l->list)) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for tokens");
    }
    holder *h = &l->list[l->count++];
    tacet__holder_hash(h->hash, l->study, TACET__HOLDER_TOKEN, t->hash, sizeof t->hash);
    h->number = t->id;
    memcpy(h->label, t->label, sizeof h->label);
    return TACET_OK;
}

static json_t *ticket_json(const tacet__replica *r, const holder_list *l, const tacet__event *e) {
    const uint64_t number = r->study.reports_private ? e->number : e->seq;
    json_t *one = json_pack("{sI sI sI}", "number", (json_int_t)number, "time", (json_int_t)e->time, "expires",
                            (json_int_t)(r->def.ticket_seconds > 0 ? e->time + r->def.ticket_seconds : 0));
    for (size_t i = 0; one != NULL && e->has_owner && i < l->count; i++) {
        if (memcmp(l->list[i].hash, e->owner, TACET__HOLDER_BYTES) == 0) {
            (void)json_object_set_new(one, "token", json_integer((json_int_t)l->list[i].number));
            (void)json_object_set_new(one, "label", json_string(l->list[i].label));
            break;
        }
    }
    return one;
}

/* The suggestions of a study whose reports are private, as far as they can still be reported. */
typedef struct issued_list {
    const tacet__replica *r;
    const holder_list *holders;
    json_t *array;
    uint64_t now;
} issued_list;

static tacet_status list_issued(const tacet__event *e, void *user, tacet_error *err) {
    const issued_list *l = user;
    const uint64_t seconds = l->r->def.ticket_seconds;
    if (e->kind != TACET__EVENT_SUGGEST || (seconds > 0 && l->now >= e->time && l->now - e->time >= seconds)) {
        return TACET_OK;
    }
    if (json_array_size(l->array) == TICKETS_MOST) {
        return tacet__fail(err, TACET_STATE, "there are more");
    }
    return json_array_append_new(l->array, ticket_json(l->r, l->holders, e)) == 0
               ? TACET_OK
               : tacet__fail(err, TACET_NO_MEMORY, "out of memory for tickets");
}

static tacet_status issued(tacet__replica *r, const holder_list *holders, json_t *array, tacet_error *err) {
    const issued_list l = {r, holders, array, r->settings->clock != NULL ? r->settings->clock() : (uint64_t)time(NULL)};
    const tacet_status status = tacet__studies_read(r->store, &r->study, 1, list_issued, (void *)&l, err);
    if (status == TACET_STATE && json_array_size(array) == TICKETS_MOST) {
        tacet_error_clear(err);
        return TACET_OK;
    }
    return status;
}

static tacet_status tickets(tacet__replica *r, tacet__job *job) {
    enum { MOST = 64 };
    tacet__suggestion s[MOST];
    size_t count = MOST;
    uint64_t after = r->settled;
    holder_list l = {.study = &r->study};
    json_t *array = json_array();
    tacet_status status = tacet__studies_list_tokens(r->store, note_holder, &l, &job->err);
    if (status == TACET_OK && r->study.reports_private) {
        status = issued(r, &l, array, &job->err);
        count = 0;
    }
    while (status == TACET_OK && count == MOST && json_array_size(array) < TICKETS_MOST) {
        status = tacet__studies_waiting(r->store, &r->study, s, &count, after, &job->err);
        for (size_t i = 0; status == TACET_OK && i < count; i++) {
            after = s[i].event.seq;
            (void)json_array_append_new(array, ticket_json(r, &l, &s[i].event));
        }
    }
    free(l.list);
    if (status != TACET_OK) {
        json_decref(array);
        return status;
    }
    job->body = json_pack("{so}", "tickets", array);
    return job->body != NULL ? TACET_OK : tacet__fail(&job->err, TACET_NO_MEMORY, "out of memory for tickets");
}

tacet_status tacet__replica_view(tacet__replica *r, tacet__job *job) {
    return job->kind == TACET__JOB_EVENTS ? events(r, job) : tickets(r, job);
}
