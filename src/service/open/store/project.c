/* SPDX-License-Identifier: Apache-2.0 */
/* project.c - what the open store shows of a central study: that a suggestion was made, whether it was observed,
 * the action only where it is public, and releases. No rewards, no decision sets, no contexts, no keys.
 * Where reporting is private (contextual studies) suggestions and releases alone are shown, by numbers that count
 * nothing else, and rows are written for nothing else; the place of the last one in the log stands there under the
 * study's secret.
 * Ring: open. The log is committed first, so the open store can be behind it, never ahead. Its row of the study
 * has seq and seal of the last event it was told of: when the log has fewer events, or another one there, the log was
 * put back to an older state, and the study is refused. Cost: one pass over the events that are new. */
#include "service/open/store/internal.h"

#include "core/fail.h"
#include "service/open/study/ticket.h"

#include <string.h>

enum {
    BATCH = 4096, /* events in one transaction of the open store */
    SEALED = TACET__EVENT_HASH_BYTES - (int)sizeof(uint64_t)
};

static tacet_status put_back(const tacet__study *study, uint64_t shown, uint64_t head, tacet_error *err) {
    return tacet__fail(
        err, TACET_CORRUPT,
        "study %s: the open store has seen event %llu, the trusted store ends at %llu or differs: it was "
        "put back to an older state, and may not go on",
        study->name, (unsigned long long)shown, (unsigned long long)head);
}

/* An event's hash is a function of its reward or decision set and of the hash before: whoever saw both could try all
 * values. So what the open store gets of it is keyed by the study's secret, which only the trusted store has. */
static void seal(unsigned char out[TACET__EVENT_HASH_BYTES], const tacet__study *study,
                 const unsigned char hash[TACET__EVENT_HASH_BYTES]) {
    tacet__purpose_hash(out, TACET__EVENT_HASH_BYTES, "tacet shown 1", hash, TACET__EVENT_HASH_BYTES, study->secret);
}

/* The place of an event in the log, under a pad made of its seal: hides it, and shows it again. */
static uint64_t cover(uint64_t seq, const unsigned char sealed[TACET__EVENT_HASH_BYTES], const tacet__study *study) {
    unsigned char pad[16];
    uint64_t number = 0;
    tacet__purpose_hash(pad, sizeof pad, "tacet shown place 1", sealed, SEALED, study->secret);
    memcpy(&number, pad, sizeof number);
    return seq ^ number;
}

/* What the open store keeps of the last event: its seal, the end of which gives way to its covered place where its
 * number there is another. */
static void mark(unsigned char out[TACET__EVENT_HASH_BYTES], const tacet__study *study, uint64_t seq,
                 const unsigned char hash[TACET__EVENT_HASH_BYTES]) {
    seal(out, study, hash);
    if (study->reports_private) {
        const uint64_t covered = cover(seq, out, study);
        memcpy(out + SEALED, &covered, sizeof covered);
    }
}

uint64_t tacet__shown_seq(const tacet__study *study, const tacet__study *shown) {
    uint64_t covered = 0;
    if (!study->reports_private || shown->head == 0) {
        return shown->head;
    }
    memcpy(&covered, shown->hash + SEALED, sizeof covered);
    return cover(covered, shown->hash, study);
}

/* That the log has the last event the open store was told of; hash is then that event's in the log. Before the first
 * it is made of the study's name and definition, which are public, and not sealed. */
static tacet_status compare_hash(tacet__half *log, const tacet__study *study, const tacet__study *shown, uint64_t head,
                                 unsigned char hash[TACET__EVENT_HASH_BYTES], tacet_error *err) {
    unsigned char sealed[TACET__EVENT_HASH_BYTES];
    tacet__query *query = log->queries[TACET__Q_EVENT_HASH];
    bool row = false;
    size_t size = 0;
    if (shown->head == 0) {
        tacet__chain_start(hash, study);
        return memcmp(hash, shown->hash, TACET__EVENT_HASH_BYTES) == 0 ? TACET_OK : put_back(study, 0, head, err);
    }
    const uint64_t seq = tacet__shown_seq(study, shown);
    if (seq == 0 || seq > head) {
        return put_back(study, seq, head, err);
    }
    tacet__query_bind_int(query, 1, tacet__place(study->number, seq));
    tacet_status status = tacet__query_step(query, &row, err);
    if (status == TACET_OK) {
        const unsigned char *bytes = tacet__query_bytes(query, 0, &size);
        bool same = row && size == TACET__EVENT_HASH_BYTES;
        if (same) {
            memcpy(hash, bytes, TACET__EVENT_HASH_BYTES);
            mark(sealed, study, seq, hash);
            same = memcmp(sealed, shown->hash, sizeof sealed) == 0;
        }
        status = same ? TACET_OK : put_back(study, seq, head, err);
    }
    tacet__query_reset(query);
    return status;
}

tacet_status tacet__check_shown(tacet__studies *studies, const tacet__study *study, tacet_error *err) {
    tacet__study shown;
    unsigned char hash[TACET__EVENT_HASH_BYTES];
    if (study->model == TACET__STUDY_LOCAL) {
        return TACET_OK;
    }
    TACET_OR_RETURN(tacet__read_head(&studies->open, &shown, study->open_number, false, err));
    return compare_hash(&studies->trusted, study, &shown, study->head, hash, err);
}

typedef struct walk {
    tacet__studies *studies;
    const tacet__study *study;
    tacet__study *shown;
} walk;

static tacet_status show(const tacet__event *event, void *user, tacet_error *err) {
    walk *w = user;
    tacet__query *const *queries = w->studies->open.queries;
    const uint64_t number = w->study->open_number;
    tacet__query *query = NULL;
    const bool private = w->study->reports_private;
    if (private && (event->kind == TACET__EVENT_OBSERVE || event->kind == TACET__EVENT_EXPIRE)) {
        return TACET_OK;
    }
    w->shown->head = private ? w->shown->head + 1 : event->seq;
    switch (event->kind) {
    case TACET__EVENT_SUGGEST:
        query = queries[TACET__Q_SHOWN_ADD];
        tacet__query_bind_int(query, 1, tacet__place(number, w->shown->head));
        tacet__query_bind_int(query, 2, w->study->index_public ? (int64_t)event->index : -1);
        w->shown->suggested++;
        break;
    case TACET__EVENT_OBSERVE:
        query = queries[TACET__Q_SHOWN_OBSERVED];
        tacet__query_bind_int(query, 1, tacet__place(number, event->of));
        tacet__query_bind_int(query, 2, (int64_t)event->seq);
        w->shown->observed++;
        break;
    case TACET__EVENT_EXPIRE:
        query = queries[TACET__Q_SHOWN_OBSERVED];
        tacet__query_bind_int(query, 1, tacet__place(number, event->of));
        tacet__query_bind_int(query, 2, -(int64_t)event->seq);
        break;
    default:
        query = queries[TACET__Q_RELEASE_ADD];
        tacet__query_bind_int(query, 1, tacet__place(number, event->number));
        tacet__query_bind_bytes(query, 2, event->body, event->body_size);
        w->shown->released++;
        break;
    }
    mark(w->shown->hash, w->study, event->seq, event->hash);
    return tacet__query_send(query, err);
}

/* One transaction of the open store; *more when the log goes on behind it. */
static tacet_status project_some(tacet__studies *studies, const tacet__study *study, const tacet__study *head,
                                 bool *more, tacet_error *err) {
    tacet__half *open = &studies->open;
    tacet__study shown;
    unsigned char hash[TACET__EVENT_HASH_BYTES];
    *more = false;
    TACET_OR_RETURN(tacet__db_begin_rows(open->db, err));
    /* Under the open row's lock, so that two servers show the log one after the other, and each from where the other
     * stopped. */
    tacet_status status = tacet__read_head(open, &shown, study->open_number, true, err);
    /* Another server may have shown what was appended after `head` was read. */
    const uint64_t seq = status == TACET_OK ? tacet__shown_seq(study, &shown) : 0;
    const bool ahead = status == TACET_OK && seq > head->head;
    if (status == TACET_OK && !ahead) {
        status = compare_hash(&studies->trusted, study, &shown, head->head, hash, err);
    }
    if (status == TACET_OK && !ahead && (seq < head->head || shown.state != head->state)) {
        walk w = {studies, study, &shown};
        /* Of a study whose reports are private all at once: a batch of reports alone would lead nowhere. */
        const uint64_t to = !study->reports_private && head->head - seq > BATCH ? seq + BATCH : head->head;
        const uint64_t before = shown.head;
        const bool ended = shown.state != head->state;
        shown.state = head->state;
        *more = to < head->head;
        status = tacet__read_events(&studies->trusted, study->number, seq + 1, to, hash, show, &w, err);
        if (status == TACET_OK && !ended && shown.head == before) {
            tacet__db_rollback(open->db); /* reports alone: that they came is not written */
            return TACET_OK;
        }
        TACET_THEN(status, tacet__write_head(open, &shown, study->open_number, err));
        if (status == TACET_OK) {
            return tacet__db_commit(open->db, err);
        }
    }
    tacet__db_rollback(open->db);
    return status;
}

tacet_status tacet__studies_project(tacet__studies *studies, tacet__study *study, tacet_error *err) {
    tacet__study head = {0};
    bool more = true;
    if (studies->writing != NULL) {
        return tacet__fail(err, TACET_STATE, "a transaction is open");
    }
    if (study->model == TACET__STUDY_LOCAL) {
        return TACET_OK;
    }
    if (studies->trusted.db == NULL) {
        return tacet__fail(err, TACET_DENIED, "a central study needs the trusted store");
    }
    tacet_status status = TACET_OK;
    if (!study->checked) {
        /* The open store is read first: what it has seen then was in the log before the log is read. */
        tacet__study shown = {0};
        status = tacet__read_head(&studies->open, &shown, study->open_number, false, err);
        TACET_THEN(status, tacet__read_head(&studies->trusted, &head, study->number, false, err));
        if (status == TACET_OK && tacet__shown_seq(study, &shown) > head.head) {
            status = put_back(study, tacet__shown_seq(study, &shown), head.head, err);
        }
        study->checked = status == TACET_OK;
    }
    TACET_THEN(status, tacet__read_head(&studies->trusted, &head, study->number, false, err));
    TACET_THEN(status, tacet__half_relax(&studies->open, true, err));
    while (status == TACET_OK && more) {
        status = project_some(studies, study, &head, &more, err);
    }
    return status;
}
