/* SPDX-License-Identifier: Apache-2.0 */
/* store.h - where studies are kept: definitions, tokens, the log of events, snapshots, what may be seen of them.
 *
 * Two stores. The TRUSTED one has what central studies know (decision sets, contexts, rewards, states of policies with
 * their keys, ledgers); the OPEN one has what anybody may see, and the whole of local studies, whose reports are noisy
 * already. With SQLite they are trusted.db and open.db in one folder, mode 0600; with PostgreSQL the schemas
 * tacet_trusted and tacet_open, each with a role of its name. A handle opened with `open_only` never touches the
 * trusted one: central studies show as what was projected of them.
 *
 * A study is a definition that never changes, a log of events numbered 1, 2, 3, … without a gap, and the newest
 * snapshot of its policy. Its log is in the trusted store (central) or in the open one (local). Events are chained:
 * each has a hash over itself and the one before, which is checked when it is read, so a log that was cut, changed or
 * mixed with another is CORRUPT and never replayed.
 *
 * How a batch is written (one writer at a time and study, in any number of processes):
 *     tacet__studies_begin      takes the study's lock, tells the newest seq
 *     tacet__studies_read       what others appended since one's own seq
 *     tacet__studies_append     …, tacet__studies_put_snapshot, and any lookup, which sees what was just appended
 *     tacet__studies_commit     OK: durable. Anything else: unknown; throw away what is in memory, read it again
 *     tacet__studies_project    brings the open store up to date; may fail or be left out, and is caught up later
 * Lock: SQLite BEGIN IMMEDIATE (one writer for each file); PostgreSQL a row lock on the study (SELECT … FOR UPDATE at
 * READ COMMITTED: all that is read in the transaction about a study is written under its lock only, and each
 * statement's view is taken after the lock was granted).
 *
 * Statuses everywhere: IO (disk full, connection lost; the next begin connects anew), BUSY (lock not had within
 * busy_ms, server starting or full), CORRUPT, DENIED, NO_MEMORY; others are named. After a failure between begin and
 * commit: rollback. A handle belongs to one thread at a time, and not to a forked child. Nothing here prints values in
 * messages. Ring: open, internal. Sees base and db. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tacet/core/blob.h>
#include <tacet/core/status.h>

typedef struct tacet__studies tacet__studies;

enum {
    TACET__STUDY_NAME_MOST = 48,    /* bytes: a-z 0-9 and _ -, the first a letter */
    TACET__STUDY_SECRET_BYTES = 32, /* drawn when the study is added */
    TACET__STUDY_DEFINITION_MOST = 1 << 24,
    TACET__EVENT_KEY_MOST = 160, /* bytes of a client's key, with whose it is */
    TACET__EVENT_BODY_MOST = 1 << 24,
    TACET__EVENT_HASH_BYTES = 16,
    TACET__SALT_BYTES = 16,
    TACET__SALTS_MOST = 16,
    TACET__HOLDER_BYTES = 16,       /* by which a token or a person is known in a study */
    TACET__STUDIES_TOKEN_TEXT = 47, /* "tacet_" and 40 of base64url, and the final 0 */
    TACET__STUDIES_TOKEN_HASH = 32,
    TACET__TOKEN_LABEL_MOST = 64,
    TACET__TOKEN_DAYS = 365, /* for which a token is good, unless somebody says otherwise */
};
#define TACET__NO_INDEX UINT64_MAX

typedef enum tacet__study_model { TACET__STUDY_LOCAL = 1, TACET__STUDY_CENTRAL = 2 } tacet__study_model;
typedef enum tacet__study_state {
    TACET__STUDY_ACTIVE = 1,
    TACET__STUDY_ARCHIVED = 2,
    TACET__STUDY_DELETED = 3 /* seen only by who had it in memory: nobody finds it by its name */
} tacet__study_state;
typedef enum tacet__event_kind {
    TACET__EVENT_SUGGEST = 1,
    TACET__EVENT_OBSERVE = 2,
    TACET__EVENT_RELEASE = 3,
    TACET__EVENT_EXPIRE = 4 /* the suggestion is not waited for any more, and cannot be observed */
} tacet__event_kind;
typedef enum tacet__token_role {
    TACET__TOKEN_DEVICE = 1,
    TACET__TOKEN_ANALYST = 2,
    TACET__TOKEN_OWNER = 3
} tacet__token_role;

typedef struct tacet__studies_settings {
    const char *store;      /* a folder, or postgresql://… */
    const char *open_store; /* NULL: the same as store. PostgreSQL: the URL of the open role */
    bool open_only;         /* the trusted store is not opened, nor needed; store may then be NULL */
    bool create;            /* a missing folder, file, schema or table is made; otherwise NOT_FOUND */
    uint64_t busy_ms;       /* 0: 10000 */
    bool anchored;          /* how far each study came is noted outside the store, too (engine/anchor.h) */
    const char *anchors;    /* in this folder; NULL: "studies" in the user's state folder */
    const char *vfs;        /* NULL, or the name of an SQLite VFS, for fault injection in tests */
} tacet__studies_settings;

/* Tickets of suggestions after event `after` are made with this. */
typedef struct tacet__salt {
    uint64_t after;
    unsigned char bytes[TACET__SALT_BYTES];
} tacet__salt;

/* What the open store and answers show of a central study beside its suggestions and releases. */
typedef enum tacet__study_shown {
    TACET__SHOWN_REPORTS = 0, /* which suggestion was reported */
    TACET__SHOWN_INDEX = 1,   /* and which action it was */
    TACET__SHOWN_NOTHING = 2  /* neither: whether somebody reports is private, too */
} tacet__study_shown;

/* What is known of a study. Plain memory but for the definition: tacet__study_clear. */
typedef struct tacet__study {
    char name[TACET__STUDY_NAME_MOST + 1];
    tacet__study_model model;
    tacet__study_state state;
    bool index_public;    /* whether the projection shows which action was suggested */
    bool reports_private; /* whether it hides who reported, and how many did */
    uint64_t created;     /* seconds since 1970 */
    uint64_t head;        /* seq of the newest event when this was read, 0: none. Of a central study seen through
                             open_only: the newest that was projected */
    uint64_t snapshot;    /* seq of the newest snapshot, 0: none */
    uint64_t suggested;   /* counts of events, by kind */
    uint64_t observed;
    uint64_t released;
    uint64_t rounds;                                 /* where it has more than its definition says; 0: as it says */
    uint64_t fence;                                  /* how often the study changed hands */
    unsigned char secret[TACET__STUDY_SECRET_BYTES]; /* key for tickets; zero when the log is out of reach */
    tacet__salt salts[TACET__SALTS_MOST];            /* one for each time the store was put back */
    size_t salt_count;
    tacet_blob definition;
    uint64_t number;                             /* internal: in the store of the log */
    uint64_t open_number;                        /* internal: in the open store */
    bool checked;                                /* internal: compared with what the open store has seen of it */
    unsigned char hash[TACET__EVENT_HASH_BYTES]; /* internal: of the event `head` */
} tacet__study;

/* One event. When read, `key` and `body` live until the callback returns.
 * A suggestion is known by its seq: the ticket a client gets is that number and a MAC of it under the study's secret,
 * so that no table of tickets is needed to find it, and none can be guessed. */
typedef struct tacet__event {
    uint64_t seq; /* set by append */
    tacet__event_kind kind;
    uint64_t time;   /* seconds since 1970; set by append */
    uint64_t of;     /* OBSERVE, EXPIRE: seq of the suggestion; otherwise 0 */
    uint64_t number; /* SUGGEST, OBSERVE, EXPIRE: the policy's own ticket number, so that a replay needs no lookup;
                        RELEASE: 1, 2, 3, …, set by append */
    uint64_t index;  /* SUGGEST: the chosen action; TACET__NO_INDEX elsewhere or when there is none */
    double value;    /* OBSERVE: kept bit for bit, -0 and NaN included; otherwise 0 */
    const void *key; /* SUGGEST: the client's key, at most TACET__EVENT_KEY_MOST bytes; NULL: none */
    size_t key_size;
    bool has_owner, has_person; /* SUGGEST: whose token asked, and for which person. OBSERVE, EXPIRE: those of the
                                   suggestion, so that their counts follow; not stored with it */
    unsigned char owner[TACET__HOLDER_BYTES], person[TACET__HOLDER_BYTES];
    bool null;        /* SUGGEST, OBSERVE: beyond the rounds of its person that count: its report is a null record */
    const void *body; /* SUGGEST: the round's decision set or context, RELEASE: what is released, both as the
                         engine encodes them; NULL: empty */
    size_t body_size;
    unsigned char hash[TACET__EVENT_HASH_BYTES]; /* set by append and when read */
} tacet__event;

/* A suggestion found again. `body` and `key` of the event are NULL. */
typedef struct tacet__suggestion {
    tacet__event event;
    bool observed, expired; /* not both */
    uint64_t observed_seq;  /* when observed or expired */
    double value;           /* when observed; otherwise 0 */
} tacet__suggestion;

typedef struct tacet__token {
    uint64_t id;
    tacet__token_role role;
    char study[TACET__STUDY_NAME_MOST + 1]; /* "": all studies */
    char label[TACET__TOKEN_LABEL_MOST + 1];
    uint64_t created;
    uint64_t expires;     /* seconds since 1970: no token from then on; 0: never */
    uint64_t open_most;   /* tickets it may have open in a study at a time; 0: the study's rule */
    uint64_t rounds_most; /* rounds it may take of a study; 0: all */
    unsigned char hash[TACET__STUDIES_TOKEN_HASH];
} tacet__token;

/* Opens both stores, or the open one. NOT_FOUND. UNSUPPORTED: the schema is of another version. INVALID: settings. */
tacet_status tacet__studies_open(tacet__studies **out, const tacet__studies_settings *settings, tacet_error *err);
void tacet__studies_close(tacet__studies *studies); /* rolls back; NULL is allowed */
/* For a PostgreSQL store, by a role that may create schemas: makes both schemas, the roles tacet_trusted and tacet_open
 * where they are missing (without a password, NOLOGIN unless they exist), and their rights. With a folder: the same as
 * open with create, then close. Repeating it is harmless. */
tacet_status tacet__studies_init(const tacet__studies_settings *settings, tacet_error *err);

/* OK: what was read of the study before, also of others' events, is durable. Not while a transaction is open (STATE). A
 * commit of one's own makes what it rests on durable, too. */
tacet_status tacet__studies_settle(tacet__studies *studies, const tacet__study *study, tacet_error *err);
/* Writes to both stores, durably, and changes nothing: OK says that a study could be written now. */
tacet_status tacet__studies_probe(tacet__studies *studies, tacet_error *err);

/* The key that the ledgers of the store are drawn with, by a mark in hex: the first one is kept. CONFLICT: the store
 * knows another, so that two servers with different keys do not serve together. `anew`: it is kept whatever was.
 * Nothing through open_only. */
tacet_status tacet__studies_key_mark(tacet__studies *studies, const char *mark, bool anew, tacet_error *err);

void tacet__study_init(tacet__study *study);
void tacet__study_clear(tacet__study *study); /* wipes; NULL is allowed */

/* Adds a study. With the same definition again (a retry after a crash): OK and *out is the one there is. CONFLICT:
 * another one of this name. INVALID: the name, or an empty or too large definition. DENIED: a central study through
 * open_only. It is not SHOWN_INDEX wherever the choice depends on what a client sent (a decision set, a
 * context): joint privacy hides a client's own action from all others. Local studies: true. */
tacet_status tacet__studies_add(tacet__studies *studies, tacet__study *out, const char *name, tacet__study_model model,
                                tacet__study_shown shown, const void *definition, size_t size, tacet_error *err);
/* *out is initialised by the caller, and replaced. NOT_FOUND. */
tacet_status tacet__studies_get(tacet__studies *studies, tacet__study *out, const char *name, tacet_error *err);
/* In the order of creation, local ones after central ones. The callback may not use the handle; anything but OK from it
 * ends the walk and is returned. `definition` is valid in the callback only. */
typedef tacet_status tacet__study_fn(const tacet__study *study, void *user, tacet_error *err);
tacet_status tacet__studies_list(tacet__studies *studies, tacet__study_fn *fn, void *user, tacet_error *err);
/* No event can be appended from then on (STATE). Archiving again is OK. NOT_FOUND, DENIED as above. */
tacet_status tacet__studies_archive(tacet__studies *studies, const char *name, tacet_error *err);

/* More rounds than the definition says; fewer than there are is OK and changes nothing. NOT_FOUND, DENIED, STATE. */
tacet_status tacet__studies_extend(tacet__studies *studies, const char *name, uint64_t rounds, tacet_error *err);

/* Takes a study out of the store, with its tokens and its ledger; the caller has seen that nothing was released. BUSY:
 * its newest event is not `head` any more. NOT_FOUND, DENIED, STATE as above. */
tacet_status tacet__studies_delete(tacet__studies *studies, const char *name, uint64_t head, tacet_error *err);

/* Takes the study's lock in a transaction, and refreshes study->head, ->state, ->snapshot and the counts. STATE: a
 * transaction is open already. DENIED: a central study through open_only. */
tacet_status tacet__studies_begin(tacet__studies *studies, tacet__study *study, tacet_error *err);
/* What will be looked for between the next begin of the study and its commit, so that a store where each look costs a
 * round trip is asked for all of it together with the lock. A hint: what it forgets is asked for by itself. */
void tacet__studies_want_key(tacet__studies *studies, const tacet__study *study, const void *key, size_t size);
void tacet__studies_want_suggestion(tacet__studies *studies, const tacet__study *study, uint64_t seq);
void tacet__studies_want_held(tacet__studies *studies, const tacet__study *study,
                              const unsigned char hash[TACET__HOLDER_BYTES]);
/* Sets seq, time, hash (and number of a RELEASE), and study->head. CONFLICT: OBSERVE or EXPIRE of what was observed or
 * expired already, or a key used before in this study; NOT_FOUND: `of` is no suggestion; INVALID: fields; STATE:
 * archived, or no begin. These five are found by looking and leave the transaction usable: nothing was appended. With
 * PostgreSQL the write itself may be reported as failed by a later call only, at the latest by commit. */
tacet_status tacet__studies_append(tacet__studies *studies, tacet__study *study, tacet__event *event, tacet_error *err);
/* The state of the policy after study->head, in the open transaction. Older snapshots but one are dropped. */
tacet_status tacet__studies_put_snapshot(tacet__studies *studies, tacet__study *study, const void *bytes, size_t size,
                                         tacet_error *err);
/* From this commit on study->fence is one that no other process had. */
tacet_status tacet__studies_take(tacet__studies *studies, tacet__study *study, tacet_error *err);
tacet_status tacet__studies_commit(tacet__studies *studies, tacet_error *err);
void tacet__studies_rollback(tacet__studies *studies); /* nothing without a transaction */

/* One transaction for several local studies of a folder, and one sync for all of them (SQLite has one lock for all
 * anyway). Between gather and gathered each begin, commit and rollback is of one study's part, which stays or falls
 * with the whole: once a part that has written is rolled back, every begin fails (IO), and so does gathered. DENIED:
 * with PostgreSQL. */
bool tacet__studies_can_gather(const tacet__studies_settings *settings);
tacet_status tacet__studies_gather(tacet__studies *studies, tacet_error *err);
/* OK: all parts that were committed are durable, and so is what the others rest on. Anything else: unknown, for each of
 * them. */
tacet_status tacet__studies_gathered(tacet__studies *studies, tacet_error *err);

/* What a token, or a person, has of a study. */
typedef enum tacet__holder_kind { TACET__HOLDER_TOKEN = 1, TACET__HOLDER_PERSON = 2 } tacet__holder_kind;
typedef struct tacet__held {
    uint64_t open;   /* tickets that were neither observed nor expired */
    uint64_t rounds; /* suggestions ever made */
} tacet__held;
/* Under the study's secret. name: the hash of a token, the caller's word for a person. */
void tacet__holder_hash(unsigned char out[TACET__HOLDER_BYTES], const tacet__study *study, tacet__holder_kind kind,
                        const void *name, size_t size);

/* The following may be called inside a transaction of the study, or without one. */

/* Nothing for a holder that never asked. DENIED as begin. */
tacet_status tacet__studies_held(tacet__studies *studies, const tacet__study *study, tacet__held *out,
                                 const unsigned char hash[TACET__HOLDER_BYTES], tacet_error *err);

/* Every event with seq >= from (1 or more), in order, chain checked from event from - 1 on. At the end the last one
 * read must be the head (CORRUPT otherwise). The callback may not use the handle; anything but OK from it ends the walk
 * and is returned. */
typedef tacet_status tacet__event_fn(const tacet__event *event, void *user, tacet_error *err);
tacet_status tacet__studies_read(tacet__studies *studies, const tacet__study *study, uint64_t from, tacet__event_fn *fn,
                                 void *user, tacet_error *err);
/* The newest snapshot and the seq it was taken after; replaces what *out has. NOT_FOUND: none yet. */
tacet_status tacet__studies_get_snapshot(tacet__studies *studies, const tacet__study *study, tacet_blob *out,
                                         uint64_t *seq, tacet_error *err);
/* A suggestion by its seq. NOT_FOUND: there is none, or the event is of another kind. DENIED as begin. */
tacet_status tacet__studies_suggestion(tacet__studies *studies, const tacet__study *study, tacet__suggestion *out,
                                       uint64_t seq, tacet_error *err);
/* The same by the client's key. */
tacet_status tacet__studies_by_key(tacet__studies *studies, const tacet__study *study, tacet__suggestion *out,
                                   const void *key, size_t key_size, tacet_error *err);
/* Suggestions after seq `after` that were neither observed nor expired, oldest first: at most *count, then how many.
 * Cost: O(events from `after` to the last of them). DENIED as begin. */
tacet_status tacet__studies_waiting(tacet__studies *studies, const tacet__study *study, tacet__suggestion *out,
                                    size_t *count, uint64_t after, tacet_error *err);
/* The key of a suggestion's ticket: the study's secret, and the salt of its time. */
void tacet__studies_ticket_key(unsigned char out[TACET__STUDY_SECRET_BYTES], const tacet__study *study, uint64_t seq);
/* The suggestion that a ticket is of, whichever of these keys it was made under. False: no ticket of this study. */
bool tacet__studies_ticket_read(const tacet__study *study, uint64_t *seq, const char *ticket);
/* The body of release 1, 2, 3, …; replaces what *out has. NOT_FOUND. DENIED as begin. */
tacet_status tacet__studies_get_release(tacet__studies *studies, const tacet__study *study, tacet_blob *out,
                                        uint64_t number, tacet_error *err);

/* Brings what the open store shows of a central study up to its log, in transactions of its own; not while one is open
 * (STATE). Nothing for a local study. Not synced: it can be made again. CORRUPT: the open store has seen events that
 * the trusted one does not have, or has other ones in their place, that is, the trusted store was put back to an older
 * state; the study must not go on, because its noise and its budget would be used twice. */
tacet_status tacet__studies_project(tacet__studies *studies, tacet__study *study, tacet_error *err);

/* Tokens, all of them in the open store. The text is shown once; a keyless BLAKE2b of it is stored (it has 240 random
 * bits, so nothing slower is needed). study NULL or "": all studies. Good until `expires` (0: for ever), with quotas
 * (0: none of its own). */
tacet_status tacet__studies_add_token(tacet__studies *studies, char text[TACET__STUDIES_TOKEN_TEXT],
                                      tacet__token_role role, const char *study, const char *label, uint64_t expires,
                                      uint64_t open_most, uint64_t rounds_most, tacet_error *err);
/* A new token of the role, study and label of token `id`, which is good until `old_expires` at the longest (0: dropped
 * now), both in one transaction. NOT_FOUND: there is no such token, or it has expired. */
tacet_status tacet__studies_renew_token(tacet__studies *studies, char text[TACET__STUDIES_TOKEN_TEXT], uint64_t id,
                                        uint64_t expires, uint64_t old_expires, tacet_error *err);
/* NOT_FOUND: no such token, or it has expired. Found by its hash, compared in constant time. */
tacet_status tacet__studies_check_token(tacet__studies *studies, tacet__token *out, const char *text, tacet_error *err);
tacet_status tacet__studies_drop_token(tacet__studies *studies, uint64_t id, tacet_error *err); /* NOT_FOUND */
/* Token `id`, whether it has expired or not. NOT_FOUND. */
tacet_status tacet__studies_token(tacet__studies *studies, tacet__token *out, uint64_t id, tacet_error *err);
/* "device", "analyst", "owner"; false: text (which may be NULL) is none of them. */
const char *tacet__token_role_text(tacet__token_role role);
bool tacet__token_role_read(tacet__token_role *out, const char *text);
/* All of them, also those that have expired. */
typedef tacet_status tacet__token_fn(const tacet__token *token, void *user, tacet_error *err);
tacet_status tacet__studies_list_tokens(tacet__studies *studies, tacet__token_fn *fn, void *user, tacet_error *err);
void tacet__studies_token_hash(unsigned char out[TACET__STUDIES_TOKEN_HASH], const char *text, size_t size);

/* The audit trail (audit.c): one line before each administrative act, durable when it returns OK; what cannot be
 * written down is not done. A second line says how it ended. Texts that are too long are cut; *number (NULL: not asked)
 * is the line's. */
enum { TACET__AUDIT_HASH = 32, TACET__AUDIT_WHO = 96, TACET__AUDIT_WHAT = 160 };
typedef struct tacet__audit {
    uint64_t number, time; /* 1, 2, 3, …; seconds since 1970 */
    char who[TACET__AUDIT_WHO], what[TACET__AUDIT_WHAT];
    unsigned char hash[TACET__AUDIT_HASH];
} tacet__audit;
tacet_status tacet__studies_audit(tacet__studies *studies, uint64_t *number, const char *who, const char *what,
                                  tacet_error *err);
/* Every line in order, the chain checked: CORRUPT. The callback may not use the handle. */
typedef tacet_status tacet__audit_fn(const tacet__audit *line, void *user, tacet_error *err);
tacet_status tacet__studies_audited(tacet__studies *studies, tacet__audit_fn *fn, void *user, tacet_error *err);

/* What tacet_ledger_open takes to have the ledger of a central study: a file in the folder, or the URL with the
 * ledger's schema behind a '#'. Replaces what *out has, with a final 0. INVALID: the name. DENIED: open_only. */
tacet_status tacet__studies_ledger(tacet__studies *studies, tacet_blob *out, const char *name, tacet_error *err);
