/* SPDX-License-Identifier: Apache-2.0 */
/* store.c - the ledger's file, or its schema in a shared store.
 * Ring: gate. Tables: open/ledger_tables.c. What differs between the two is how a ledger comes into being, and nothing
 * else. Cost: O(records) to open, O(new records) to begin, O(1) to append. */
#include "dp/ledger/store.h"

#include "core/fail.h"
#include "core/memory.h"
#include "io/db/db.h"
#include "dp/open/ledger_anchor.h"
#include "dp/open/ledger_tables.h"
#include "dp/noise/mint.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    Q_RECORDS,
    Q_ONE,
    Q_ANSWER,
    Q_HEAD,
    Q_ADD_RECORD,
    Q_ADD_ANSWER,
    Q_SET_HEAD,
    Q_ADD_MINT,
    Q_MINT,
    Q_BIND_MINT,
    Q_DROP_MINT,
    Q_TAKE,
    Q_COUNT
};

static const char *const SQL[Q_COUNT] = {
    "SELECT seq, body, hash FROM record WHERE seq >= ?1 ORDER BY seq",
    "SELECT r.body, r.hash, p.hash FROM record r LEFT JOIN record p ON p.seq = r.seq - 1 WHERE r.seq = ?1",
    "SELECT bytes FROM answer WHERE seq = ?1",
    "SELECT h.records, h.hash, f.number FROM head h JOIN fence f ON f.id = h.id",
    "INSERT INTO record(seq, body, hash) VALUES(?1, ?2, ?3)",
    "INSERT INTO answer(seq, bytes) VALUES(?1, ?2)",
    "UPDATE head SET records = ?1, hash = ?2",
    "INSERT INTO mint(seq, sealed, digest, sampler) VALUES(?1, ?2, ?3, ?4)",
    "SELECT sealed, digest, sampler FROM mint WHERE seq = ?1",
    "UPDATE mint SET digest = ?2 WHERE seq = ?1",
    "DELETE FROM mint WHERE seq = ?1",
    "UPDATE fence SET number = ?1",
};

static const uint64_t NO_FENCE = UINT64_MAX; /* that no ledger has */

struct tacet__store {
    tacet__db *db;
    tacet__query *queries[Q_COUNT];
    tacet_blob body;   /* encoding of the record being appended */
    tacet_blob record; /* copy of the record read last */
    uint64_t appended; /* records since begin */
    bool dropped;      /* a key since begin */
    bool remembers;    /* the log still has keys that were dropped */
    uint64_t fence;    /* what it was when this handle took the ledger over; 0: never did */
    uint64_t fence_now;
    bool taking;
    /* What was durable when this handle looked last: a file that has less, or other, was tampered with while open. */
    uint64_t seen_records;
    unsigned char seen_head[TACET_HASH_BYTES];
    int anchor; /* descriptor of the side file, or -1 */
};

/* One row of Q_RECORDS into the state, whose head is zero while it is empty. */
static tacet_status take_row(tacet__store *store, tacet__state *state, tacet_error *err) {
    tacet__query *query = store->queries[Q_RECORDS];
    size_t body_size = 0, hash_size = 0;
    const uint64_t seq = state->records;
    const unsigned char *body = tacet__query_bytes(query, 1, &body_size);
    const unsigned char *stored = tacet__query_bytes(query, 2, &hash_size);
    unsigned char hash[TACET_HASH_BYTES];
    tacet__record record;
    if ((uint64_t)tacet__query_int(query, 0) != seq) {
        return tacet__record_corrupt(seq, "is missing", err);
    }
    tacet_status status = tacet__record_check(&record, hash, seq, state->head, body, body_size, stored, hash_size, err);
    TACET_THEN(status, tacet__state_apply(state, &record, hash, err));
    if (status == TACET_OK && seq + 1 == store->seen_records && memcmp(hash, store->seen_head, TACET_HASH_BYTES) != 0) {
        status = tacet__record_corrupt(seq, "is another one than before: the file was replaced while in use", err);
    }
    return status;
}

/* The head must be where the records end. */
static tacet_status check_head(tacet__store *store, const tacet__state *state, tacet_error *err) {
    tacet__query *query = store->queries[Q_HEAD];
    bool row = false;
    tacet_status status = tacet__query_step(query, &row, err);
    if (status == TACET_OK) {
        size_t size = 0;
        const uint64_t records = row ? (uint64_t)tacet__query_int(query, 0) : 0;
        const unsigned char *hash = row ? tacet__query_bytes(query, 1, &size) : NULL;
        store->fence_now = row ? (uint64_t)tacet__query_int(query, 2) : 0;
        if (!row || records != state->records || size != TACET_HASH_BYTES ||
            memcmp(hash, state->head, TACET_HASH_BYTES) != 0) {
            status = tacet__fail(err, TACET_CORRUPT, "the ledger's head names %llu records, there are %llu",
                                 (unsigned long long)records, (unsigned long long)state->records);
        } else if (records < store->seen_records) {
            status = tacet__fail(err, TACET_CORRUPT, "the ledger lost records while in use: %llu of %llu are left",
                                 (unsigned long long)records, (unsigned long long)store->seen_records);
        }
    }
    tacet__query_reset(query);
    return status;
}

/* After every look, not only after a write: whoever shortens the file between two transactions is noticed. */
static void remember(tacet__store *store, const tacet__state *state) {
    store->seen_records = state->records;
    memcpy(store->seen_head, state->head, TACET_HASH_BYTES);
}

/* Reads what others appended since, and checks it. */
static tacet_status catch_up(tacet__store *store, tacet__state *state, tacet_error *err) {
    tacet__query *query = store->queries[Q_RECORDS];
    bool row = false;
    tacet__query_bind_int(query, 1, (int64_t)state->records);
    tacet_status status = tacet__query_step(query, &row, err);
    while (status == TACET_OK && row) {
        status = take_row(store, state, err);
        TACET_THEN(status, tacet__query_step(query, &row, err));
    }
    tacet__query_reset(query);
    TACET_THEN(status, check_head(store, state, err));
    if (status == TACET_OK) {
        remember(store, state);
    }
    return status;
}

tacet_status tacet__store_begin(tacet__store *store, tacet__state *state, bool write, tacet_error *err) {
    store->appended = 0;
    tacet_status status = tacet__db_begin(store->db, write, err);
    TACET_THEN(status, catch_up(store, state, err));
    /* Under the write lock: who was taken over from while it stood still writes nothing more. */
    if (status == TACET_OK && write && !store->taking && store->fence != 0 && store->fence != store->fence_now) {
        status = tacet__fail(err, TACET_BUSY, "another process has taken the ledger over");
    }
    return status;
}

void tacet__store_taking(tacet__store *store) {
    store->taking = true;
}

/* Runs a statement of the writer's. That the store has a rule against it is no refusal of the request: the tables were
 * changed. */
static tacet_status run(tacet__query *query, tacet_error *err) {
    tacet_error detail = {TACET_OK, ""};
    const tacet_status status = tacet__query_run(query, &detail);
    return status == TACET_OK
               ? status
               : tacet__fail(err, status == TACET_CONFLICT ? TACET_CORRUPT : status, "%s", detail.message);
}

tacet_status tacet__store_take(tacet__store *store, tacet_error *err) {
    tacet__query *query = store->queries[Q_TAKE];
    store->fence = store->fence_now + 1;
    tacet__query_bind_int(query, 1, (int64_t)store->fence);
    return run(query, err);
}

tacet_status tacet__store_append(tacet__store *store, tacet__state *state, tacet__record *record,
                                 unsigned char *hash_out, tacet_error *err) {
    unsigned char hash[TACET_HASH_BYTES];
    tacet__query *query = store->queries[Q_ADD_RECORD];
    record->seq = state->records;
    record->time = (uint64_t)time(NULL);
    TACET_OR_RETURN(tacet__record_encode(&store->body, record, err));
    /* While the chain is empty its head is zero. */
    tacet__record_hash(hash, state->head, store->body.data, store->body.size);
    TACET_OR_RETURN(tacet__state_apply(state, record, hash, err));
    store->appended++;
    tacet__query_bind_int(query, 1, (int64_t)record->seq);
    tacet__query_bind_bytes(query, 2, store->body.data, store->body.size);
    tacet__query_bind_bytes(query, 3, hash, sizeof hash);
    tacet_status status = run(query, err);
    if (status == TACET_OK && hash_out != NULL) {
        memcpy(hash_out, hash, TACET_HASH_BYTES);
    }
    return status;
}

tacet_status tacet__store_put_answer(tacet__store *store, uint64_t seq, const void *answer, size_t size,
                                     tacet_error *err) {
    tacet__query *query = store->queries[Q_ADD_ANSWER];
    tacet__query_bind_int(query, 1, (int64_t)seq);
    tacet__query_bind_bytes(query, 2, answer, size);
    return run(query, err);
}

tacet_status tacet__store_put_mint(tacet__store *store, uint64_t seq, const unsigned char *sealed, size_t size,
                                   const unsigned char digest[TACET_MINT_BYTES], tacet_error *err) {
    tacet__query *query = store->queries[Q_ADD_MINT];
    tacet__query_bind_int(query, 1, (int64_t)seq);
    tacet__query_bind_bytes(query, 2, sealed, size);
    tacet__query_bind_bytes(query, 3, digest, TACET_MINT_BYTES);
    tacet__query_bind_int(query, 4, TACET__SAMPLER_VERSION);
    return run(query, err);
}

tacet_status tacet__store_read_mint(tacet__store *store, tacet__sealed *out, uint64_t seq, tacet_error *err) {
    tacet__query *query = store->queries[Q_MINT];
    bool row = false;
    memset(out, 0, sizeof *out);
    tacet__query_bind_int(query, 1, (int64_t)seq);
    const tacet_status status = tacet__query_step(query, &row, err);
    if (status == TACET_OK && row) {
        size_t sealed_size = 0;
        size_t digest_size = 0;
        const unsigned char *sealed = tacet__query_bytes(query, 0, &sealed_size);
        const unsigned char *digest = tacet__query_bytes(query, 1, &digest_size);
        out->found = sealed_size == TACET__SEALED_BYTES && digest_size == TACET_MINT_BYTES;
        out->sampler = tacet__query_int(query, 2);
        if (out->found) {
            memcpy(out->bytes, sealed, TACET__SEALED_BYTES);
            memcpy(out->digest, digest, TACET_MINT_BYTES);
        }
    }
    tacet__query_reset(query);
    return status;
}

tacet_status tacet__store_bind_mint(tacet__store *store, uint64_t seq, const unsigned char digest[TACET_MINT_BYTES],
                                    tacet_error *err) {
    tacet__query *query = store->queries[Q_BIND_MINT];
    tacet__query_bind_int(query, 1, (int64_t)seq);
    tacet__query_bind_bytes(query, 2, digest, TACET_MINT_BYTES);
    return run(query, err);
}

tacet_status tacet__store_drop_mint(tacet__store *store, uint64_t seq, tacet_error *err) {
    tacet__query *query = store->queries[Q_DROP_MINT];
    tacet__query_bind_int(query, 1, (int64_t)seq);
    store->dropped = true;
    return run(query, err);
}

/* That the log holds dropped keys a moment longer is no failure: they are sealed, and it is tried again with the next
 * commit, and when the ledger is closed or opened. */
void tacet__store_forget(tacet__store *store) {
    if (store->remembers && tacet__db_forget(store->db) == TACET_OK) {
        store->remembers = false;
    }
}

tacet_status tacet__store_commit(tacet__store *store, tacet__state *state, tacet_error *err) {
    tacet_status status = TACET_OK;
    if (store->appended > 0) {
        tacet__query *query = store->queries[Q_SET_HEAD];
        tacet__query_bind_int(query, 1, (int64_t)state->records);
        tacet__query_bind_bytes(query, 2, state->head, TACET_HASH_BYTES);
        status = run(query, err);
    }
    TACET_THEN(status, tacet__db_commit(store->db, err));
    if (status != TACET_OK) {
        tacet__store_abandon(store, state);
        return status;
    }
    /* From here on it is durable: an anchor that cannot follow is an error, and the entry is there all the same. */
    const bool grew = store->appended > 0;
    store->appended = 0;
    store->taking = false;
    store->remembers = store->remembers || store->dropped;
    store->dropped = false;
    remember(store, state);
    return grew && store->anchor >= 0 ? tacet__anchor_write(store->anchor, state->records, state->head, err) : TACET_OK;
}

void tacet__store_abandon(tacet__store *store, tacet__state *state) {
    tacet__db_rollback(store->db);
    if (store->taking) { /* whether it was taken is not known */
        store->fence = NO_FENCE;
        store->taking = false;
    }
    /* Records were applied to the state before they were durable, and are not taken out of it one by one. */
    if (store->appended > 0) {
        tacet__state_clear(state);
        store->appended = 0;
    }
    store->dropped = false;
}

tacet_status tacet__store_read(tacet__store *store, tacet__record *record, unsigned char hash[TACET_HASH_BYTES],
                               uint64_t seq, tacet_error *err) {
    static const unsigned char ZERO[TACET_HASH_BYTES];
    tacet__query *query = store->queries[Q_ONE];
    bool row = false;
    tacet__query_bind_int(query, 1, (int64_t)seq);
    tacet_status status = tacet__query_step(query, &row, err);
    if (status == TACET_OK && !row) {
        status = tacet__record_corrupt(seq, "is missing", err);
    }
    if (status == TACET_OK) {
        size_t body_size = 0, hash_size = 0, before_size = 0;
        const unsigned char *body = tacet__query_bytes(query, 0, &body_size);
        const unsigned char *stored = tacet__query_bytes(query, 1, &hash_size);
        const unsigned char *before = tacet__query_bytes(query, 2, &before_size);
        store->record.size = 0; /* a copy: the record's texts outlive the row */
        status = tacet_blob_append(&store->record, body, body_size, err);
        TACET_THEN(status, tacet__record_check(record, hash, seq, before_size == TACET_HASH_BYTES ? before : ZERO,
                                               store->record.data, store->record.size, stored, hash_size, err));
    }
    tacet__query_reset(query);
    return status;
}

tacet_status tacet__store_read_answer(tacet__store *store, tacet_blob *out, const tacet__record *commit,
                                      tacet_error *err) {
    tacet__query *query = store->queries[Q_ANSWER];
    bool row = false;
    out->size = 0;
    tacet__query_bind_int(query, 1, (int64_t)commit->seq);
    tacet_status status = tacet__query_step(query, &row, err);
    if (status == TACET_OK && !row) {
        status = tacet__record_corrupt(commit->seq, "has lost its answer", err);
    }
    if (status == TACET_OK) {
        size_t size = 0;
        const unsigned char *bytes = tacet__query_bytes(query, 0, &size);
        unsigned char hash[TACET_HASH_BYTES];
        tacet__answer_hash(hash, bytes, size);
        if (size != commit->commit.answer_size || memcmp(hash, commit->commit.answer_hash, TACET_HASH_BYTES) != 0) {
            status = tacet__record_corrupt(commit->seq, "has another answer than was stored", err);
        } else {
            status = tacet_blob_append(out, bytes, size, err);
        }
    }
    tacet__query_reset(query);
    return status;
}

static tacet_status prepare(tacet__store *store, tacet_error *err) {
    tacet_error detail = {TACET_OK, ""};
    const tacet_status status = store->queries[0] == NULL /* a new schema's were prepared as it was filled */
                                    ? tacet__db_prepare_all(store->db, store->queries, SQL, Q_COUNT, &detail)
                                    : TACET_OK;
    if (status == TACET_STATE) { /* no such table or column */
        return tacet__fail(err, TACET_CORRUPT, "the tables of a ledger are missing or changed");
    }
    return status == TACET_OK ? status : tacet__fail(err, status, "%s", detail.message);
}

static tacet_status write_budget(tacet__store *store, tacet__state *state, const tacet_ledger_settings *settings,
                                 double cap, tacet_error *err) {
    tacet__record record;
    memset(&record, 0, sizeof record);
    record.kind = TACET__RECORD_BUDGET;
    randombytes_buf(record.budget.id, sizeof record.budget.id);
    record.budget.accounting = settings->accounting;
    record.budget.eps = settings->eps;
    record.budget.delta = settings->delta;
    record.budget.cap = cap;
    record.budget.uncovered_most = settings->uncovered_most;
    return tacet__store_append(store, state, &record, NULL, err);
}

/* What the anchor had seen before the chain was read. */
static tacet_status check_anchor(tacet__store *store, const tacet__state *state, uint64_t records,
                                 const unsigned char head[TACET_HASH_BYTES], tacet_error *err) {
    unsigned char hash[TACET_HASH_BYTES];
    tacet__record record;
    if (records == 0) {
        return tacet__anchor_write(store->anchor, state->records, state->head, err);
    }
    if (records > state->records) {
        return tacet__fail(err, TACET_CORRUPT, "the ledger has %llu records, its anchor has seen %llu: cut off",
                           (unsigned long long)state->records, (unsigned long long)records);
    }
    const tacet_status status = tacet__store_read(store, &record, hash, records - 1, err);
    if (status == TACET_OK && memcmp(hash, head, TACET_HASH_BYTES) != 0) {
        return tacet__record_corrupt(records - 1, "is another one than its anchor has seen", err);
    }
    return status;
}

/* The whole chain is read and checked here. */
static tacet_status load(tacet__store *store, tacet__state *state, const char *path, const char *anchor,
                         tacet_error *err) {
    unsigned char head[TACET_HASH_BYTES];
    uint64_t records = 0;
    tacet_status status = tacet__ledger_check_tables(store->db, path, err);
    if (status == TACET_OK && anchor != NULL) { /* before the chain is read: others may go on with both meanwhile */
        status = tacet__anchor_open(&store->anchor, &records, head, anchor, err);
    }
    if (status == TACET_OK) {
        status = tacet__db_erase(store->db, err);
        store->remembers = true; /* for all that is known: whoever wrote last may have been killed */
    }
    TACET_THEN(status, prepare(store, err));
    TACET_THEN(status, tacet__store_begin(store, state, false, err));
    TACET_THEN(status, tacet__store_commit(store, state, err));
    if (status == TACET_OK && anchor != NULL) {
        status = check_anchor(store, state, records, head, err);
    }
    return status;
}

static tacet__store *new_store(void) {
    tacet__store *store = TACET__ZALLOC(tacet__store, 1);
    if (store != NULL) {
        store->anchor = -1;
        tacet_blob_init(&store->body);
        tacet_blob_init(&store->record);
    }
    return store;
}

/* Tables and budget of a new ledger, in the open transaction. */
static tacet_status create_tables(tacet__store *store, const tacet_ledger_settings *settings, double cap,
                                  tacet_error *err) {
    tacet__state state;
    tacet__state_init(&state);
    tacet_status status = tacet__ledger_make_tables(store->db, err);
    TACET_THEN(status, prepare(store, err));
    TACET_THEN(status, write_budget(store, &state, settings, cap, err));
    TACET_THEN(status, tacet__store_commit(store, &state, err));
    tacet__state_clear(&state);
    return status;
}

/* The same in a file, all of it there and not in its log. */
static tacet_status fill_file(tacet__store *store, const tacet_ledger_settings *settings, double cap,
                              tacet_error *err) {
    tacet_status status = tacet__db_begin(store->db, true, err);
    TACET_THEN(status, create_tables(store, settings, cap, err));
    return status == TACET_OK ? tacet__db_exec(store->db, "PRAGMA wal_checkpoint(TRUNCATE)", err) : status;
}

static void remove_with_log(char *path, size_t length) {
    static const char *const TAILS[] = {"", "-wal", "-shm"};
    for (size_t i = 0; i < sizeof TAILS / sizeof TAILS[0]; i++) {
        memcpy(path + length, TAILS[i], strlen(TAILS[i]) + 1);
        (void)unlink(path);
    }
    path[length] = '\0';
}

/* Makes what is in a file durable, or the names in a folder. */
static tacet_status sync_path(const char *path, int kind, tacet_error *err) {
    const int file = open(path, O_RDONLY | kind | O_CLOEXEC);
    const bool synced = file >= 0 && fsync(file) == 0;
    const int number = errno;
    if (file >= 0) {
        (void)close(file);
    }
    return synced ? TACET_OK : tacet__fail(err, TACET_IO, "cannot sync a new ledger: %s", strerror(number));
}

static tacet_status sync_folder(char *path, tacet_error *err) {
    char *slash = strrchr(path, '/');
    if (slash != NULL) {
        slash[1] = '\0'; /* keeps the root's own slash */
    }
    return sync_path(slash != NULL ? path : ".", O_DIRECTORY, err);
}

/* A ledger comes into being whole: made beside its place, then linked into it. So a file that is there but empty or
 * half made is damage, and is refused; were it filled again, emptying a file would restore its budget. */
static tacet_status create_file(const char *path, const tacet_ledger_settings *settings, double cap, tacet_error *err) {
    static const char TAIL[] = ".new-";
    enum { RANDOM = 8 };
    unsigned char name[RANDOM];
    const size_t length = strlen(path) + sizeof TAIL - 1;
    char *beside = TACET__ZALLOC(char, length + 2 * RANDOM + sizeof "-wal");
    tacet__store *store = new_store();
    tacet_status status = TACET_NO_MEMORY;
    if (beside == NULL || store == NULL) {
        (void)tacet__fail(err, status, "out of memory creating the ledger");
        goto done;
    }
    randombytes_buf(name, sizeof name);
    memcpy(beside, path, strlen(path));
    memcpy(beside + strlen(path), TAIL, sizeof TAIL - 1);
    (void)sodium_bin2hex(beside + length, 2 * RANDOM + 1, name, sizeof name);
    const tacet__db_settings db_settings = {
        .create = true, .busy_ms = settings->busy_ms, .unsynced = true, .vfs = settings->vfs};
    status = tacet__db_open(&store->db, beside, &db_settings, err);
    TACET_THEN(status, fill_file(store, settings, cap, err));
    tacet__store_close(store);
    store = NULL;
    TACET_THEN(status, sync_path(beside, 0, err)); /* once, before it has its name */
    if (status == TACET_OK && link(beside, path) != 0 && errno != EEXIST) {
        status = tacet__fail(err, TACET_IO, "cannot create %s: %s", path, strerror(errno));
    }
    remove_with_log(beside, length + 2 * RANDOM);
    TACET_THEN(status, sync_folder(beside, err));
done:
    tacet__store_close(store);
    free(beside);
    return status;
}

/* The same in a shared store: the schema, its tables and the budget are one transaction. A schema that is there is left
 * alone, whatever is in it. */
static tacet_status create_shared(tacet__store *store, const tacet_ledger_settings *settings, double cap,
                                  tacet_error *err) {
    tacet_status status = tacet__db_begin(store->db, true, err);
    if (status == TACET_OK && tacet__db_creating(store->db)) {
        status = create_tables(store, settings, cap, err);
    }
    tacet__db_rollback(store->db); /* of a schema that was there: nothing, but the lock */
    return status;
}

tacet_status tacet__store_open(tacet__store **out, tacet__state *state, const char *path,
                               const tacet_ledger_settings *settings, double cap, tacet_error *err) {
    const bool shared = tacet__db_is_url(path);
    const bool create = settings->create && !settings->use_stored;
    const tacet__db_settings db_settings = {
        .create = shared && create, .busy_ms = settings->busy_ms, .vfs = settings->vfs};
    *out = NULL;
    TACET_OR_RETURN(create && !shared && access(path, F_OK) != 0 ? create_file(path, settings, cap, err) : TACET_OK);
    tacet__store *store = new_store();
    if (store == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory opening the ledger");
    }
    tacet_status status = tacet__db_open(&store->db, path, &db_settings, err);
    if (status == TACET_OK && shared && create) {
        status = create_shared(store, settings, cap, err);
    }
    TACET_THEN(status, load(store, state, path, settings->anchor, err));
    if (status != TACET_OK) {
        tacet__store_close(store);
        tacet__state_clear(state);
        return status;
    }
    *out = store;
    return TACET_OK;
}

void tacet__store_close(tacet__store *store) {
    if (store == NULL) {
        return;
    }
    for (size_t i = 0; i < Q_COUNT; i++) {
        tacet__query_free(store->queries[i]);
    }
    if (store->db != NULL) {
        tacet__store_forget(store);
    }
    tacet__db_close(store->db);
    if (store->anchor >= 0) {
        (void)close(store->anchor);
    }
    tacet_blob_clear(&store->body);
    tacet_blob_clear(&store->record);
    free(store);
}
