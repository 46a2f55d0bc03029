/* SPDX-License-Identifier: Apache-2.0 */
/* test_mechanism_mint.c - the key of a reservation: kept until the answer is stored, sealed, bound to the data, and
 * gone after that. For every mechanism a run that was interrupted is repeated with its key, or refused. */
#include "support/gate.h"
#include "support/test.h"

#include "dp/ledger/minted.h"
#include "dp/ledger/seal.h"
#include "dp/mechanisms/table.h"
#include "dp/mint.h"
#include "dp/noise/mint.h"
#include "dp/noise/noise_state.h"
#include "io/db/db.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const tacet_neighbours REPLACE = {TACET_RELATION_REPLACE, 0};

typedef struct world {
    const char *folder;
    char path[400], key[420];
    tacet_ledger *ledger;
} world;

static void open_book(world *w) {
    tacet_ledger_settings s;
    tacet_ledger_settings_defaults(&s);
    s.eps = 1000;
    s.delta = 0.5;
    s.accounting = TACET_ACCOUNTING_BASIC;
    assert_ok(tacet_ledger_open(&w->ledger, w->path, &s, NULL));
}

static int setup(void **state) {
    world *w = calloc(1, sizeof *w);
    w->folder = test_mkdir();
    (void)snprintf(w->path, sizeof w->path, "%s/l.db", w->folder);
    (void)snprintf(w->key, sizeof w->key, "%s.key", w->path);
    open_book(w);
    *state = w;
    return 0;
}

static int teardown(void **state) {
    world *w = *state;
    tacet_ledger_close(w->ledger);
    test_rmdir(w->folder);
    free(w);
    return 0;
}

/* An interrupted run, as the ledger sees it: the reservation of tacet_mechanism_run, and no commit. */
static void reserve_only(const tacet_mechanism *m, const tacet_bounded *x, const tacet_ask *ask) {
    char parameters[TACET__PARAMETERS_BYTES];
    unsigned char data[TACET_MINT_BYTES], key[TACET_MINT_BYTES];
    tacet_charge charge;
    tacet_receipt receipt;
    tacet_entry entry;
    tacet_release *answered = NULL;
    tacet__mechanism_charge(m, &charge, parameters, sizeof parameters, 1, 0);
    tacet__mechanism_receipt(m, &receipt, 1);
    tacet__mechanism_digest(m, data, x);
    assert_ok(tacet__gate_reserve(ask, &charge, &receipt, &entry, data, key, &answered, NULL));
    assert_null(answered);
}

TEST(every_mechanism_repeats_what_was_interrupted) {
    const world *w = *state;
    OWN_BOUND tacet_bound *bound = test_range(3, 0, 1);
    tacet_bounded *x = test_bounded(bound, (double[]){0.25, 0.5, 1}),
                  *y = test_bounded(bound, (double[]){0.25, 0.5, 0.75});
    const tacet__kind *kind = NULL;
    for (size_t i = 0; (kind = tacet__kind_at(i)) != NULL; i++) {
        OWN_TEXT char *ticket = test_text("t%zu", i);
        const tacet_ask ask = {.ledger = w->ledger, .ticket = ticket, .what = "w", .to_whom = "x"};
        OWN_MECHANISM tacet_mechanism *m = test_mechanism(kind->kind, bound, &REPLACE, 0.5, 1e-5);
        reserve_only(m, x, &ask);
        /* what the interrupted run drew: by the key that lies in the ledger */
        tacet_mint mint;
        unsigned char key[TACET_MINT_BYTES];
        tacet_noise noise;
        double drawn[3] = {0};
        tacet_release *release = NULL, *refused = NULL;
        assert_ok(tacet__ledger_peek(w->ledger, &mint, ticket, NULL));
        tacet__mint_noise(&mint, key);
        tacet__noise_at(&noise, key, 0, 0, 512);
        assert_ok(tacet__mechanism_draw(m, &noise, drawn, x, NULL));
        assert_status(tacet_mechanism_run(m, &refused, &ask, y, NULL), TACET_CONFLICT);
        assert_ok(tacet_mechanism_run(m, &release, &ask, x, NULL));
        assert_memory_equal(tacet_release_values(release), drawn, tacet_release_count(release) * sizeof *drawn);
        assert_true(tacet_release_receipt(release)->is_private);
        assert_status(tacet__ledger_peek(w->ledger, &mint, ticket, NULL), TACET_NOT_FOUND); /* erased */
        tacet_release_free(release);
    }
    tacet_bounded_free(x);
    tacet_bounded_free(y);
}

static bool file_holds(const char *path, const void *bytes, size_t size) {
    struct stat st;
    if (stat(path, &st) != 0 || (size_t)st.st_size < size) {
        return false;
    }
    char *text = malloc((size_t)st.st_size);
    FILE *file = fopen(path, "rb");
    assert_int_equal(fread(text, 1, (size_t)st.st_size, file), (size_t)st.st_size);
    (void)fclose(file);
    bool found = false;
    for (size_t i = 0; i + size <= (size_t)st.st_size && !found; i++) {
        found = memcmp(text + i, bytes, size) == 0;
    }
    free(text);
    return found;
}

/* The first bytes of the sealed key, as the database has it. */
static void sealed_head(const world *w, unsigned char out[24]) {
    const tacet__db_settings settings = {.read_only = true, .busy_ms = 1000};
    tacet__db *db = NULL;
    tacet__query *query = NULL;
    bool row = false;
    size_t size = 0;
    assert_ok(tacet__db_open(&db, w->path, &settings, NULL));
    assert_ok(tacet__db_prepare(db, &query, "SELECT sealed FROM mint", NULL));
    assert_ok(tacet__query_step(query, &row, NULL));
    assert_true(row);
    memcpy(out, tacet__query_bytes(query, 0, &size), 24);
    assert_int_equal(size, TACET__SEALED_BYTES);
    tacet__query_free(query);
    tacet__db_close(db);
}

/* Neither in the clear while it is needed, nor sealed when it no longer is: not in the file, not in its log. */
TEST(a_key_is_sealed_and_then_erased) {
    const world *w = *state;
    tacet_mint mint, again = {{0}, {0}};
    tacet_entry entry;
    OWN_BLOB tacet_blob memo = {0};
    struct stat st;
    unsigned char head[24];
    const tacet_charge c = test_charge(1);
    OWN_TEXT char *log = test_text("%s-wal", w->path);
    assert_ok(tacet__mint_fresh(&mint, NULL));
    assert_ok(tacet__ledger_reserve(w->ledger, &entry, &memo, &mint, "t", &c, 0, NULL));
    assert_ok(tacet__ledger_peek(w->ledger, &again, "t", NULL));
    assert_memory_equal(&mint, &again, sizeof mint);
    assert_false(file_holds(w->path, mint.key, sizeof mint.key) || file_holds(log, mint.key, sizeof mint.key));
    assert_int_equal(stat(w->key, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    sealed_head(w, head);
    assert_true(file_holds(w->path, head, sizeof head) || file_holds(log, head, sizeof head));
    assert_ok(tacet_ledger_commit(w->ledger, &entry, "a", 1, NULL, NULL));
    assert_false(file_holds(w->path, head, sizeof head) || file_holds(log, head, sizeof head));
}

/* Bound once, to one set of data; a key file that is another, is open to others, or is none. */
TEST(what_a_key_is_for_and_who_may_use_it) {
    world *w = *state;
    tacet_mint mint = {{0}, {0}};
    tacet_entry entry, unknown = {0};
    OWN_BLOB tacet_blob memo = {0};
    const tacet_charge c = test_charge(1);
    static const unsigned char ONE[TACET_MINT_BYTES] = {1}, TWO[TACET_MINT_BYTES] = {2};
    assert_ok(tacet_ledger_reserve(w->ledger, &entry, &memo, "t", &c, NULL));
    assert_status(tacet__ledger_bind(w->ledger, &unknown, &mint, ONE, NULL), TACET_NOT_FOUND);
    assert_ok(tacet__ledger_bind(w->ledger, &entry, &mint, ONE, NULL));
    assert_true(tacet__mint_is_bound(&mint));
    assert_ok(tacet__ledger_bind(w->ledger, &entry, &mint, ONE, NULL));
    assert_status(tacet__ledger_bind(w->ledger, &entry, &mint, TWO, NULL), TACET_CONFLICT);
    tacet_ledger_close(w->ledger);
    OWN_TEXT char *away = test_text("%s.away", w->key);
    assert_int_equal(rename(w->key, away), 0);
    open_book(w);
    assert_status(tacet__ledger_bind(w->ledger, &entry, &mint, ONE, NULL), TACET_CONFLICT);
    tacet_ledger_close(w->ledger);
    assert_int_equal(chmod(w->key, 0640), 0);
    open_book(w);
    assert_status(tacet__ledger_bind(w->ledger, &entry, &mint, ONE, NULL), TACET_DENIED);
    tacet_ledger_close(w->ledger);
    test_write(w->key, "no key");
    assert_int_equal(chmod(w->key, 0600), 0);
    open_book(w);
    assert_status(tacet__ledger_bind(w->ledger, &entry, &mint, ONE, NULL), TACET_CORRUPT);
    assert_status(tacet__ledger_peek(w->ledger, &mint, "t", NULL), TACET_CORRUPT);
    assert_status(tacet_ledger_reserve(w->ledger, &unknown, &memo, "u", &c, NULL), TACET_CORRUPT);
    tacet_ledger_close(w->ledger);
    assert_int_equal(rename(away, w->key), 0);
    open_book(w);
    assert_ok(tacet__ledger_bind(w->ledger, &entry, &mint, ONE, NULL));
    assert_ok(tacet_ledger_commit(w->ledger, &entry, "a", 1, NULL, NULL));
    assert_status(tacet__ledger_bind(w->ledger, &entry, &mint, ONE, NULL), TACET_CONFLICT); /* answered */
}

static void change_mint(const world *w, const char *sql) {
    const tacet__db_settings settings = {.busy_ms = 1000};
    tacet__db *db = NULL;
    assert_ok(tacet__db_open(&db, w->path, &settings, NULL));
    assert_ok(tacet__db_exec(db, sql, NULL));
    tacet__db_close(db);
}

/* Noise of one entry for another would be noise that is used twice. */
TEST(a_key_opens_for_its_own_entry_and_its_own_sampler) {
    const world *w = *state;
    tacet_mint mint = {{0}, {0}};
    tacet_entry entry[2];
    OWN_BLOB tacet_blob memo = {0};
    const tacet_charge c = test_charge(1);
    assert_ok(tacet_ledger_reserve(w->ledger, &entry[0], &memo, "t", &c, NULL));
    assert_ok(tacet_ledger_reserve(w->ledger, &entry[1], &memo, "u", &c, NULL));
    assert_ok(tacet__ledger_peek(w->ledger, &mint, "u", NULL));
    change_mint(w, "UPDATE mint SET sealed = (SELECT sealed FROM mint ORDER BY seq LIMIT 1)");
    assert_ok(tacet__ledger_peek(w->ledger, &mint, "t", NULL));
    assert_status(tacet__ledger_peek(w->ledger, &mint, "u", NULL), TACET_CONFLICT);
    change_mint(w, "UPDATE mint SET sampler = sampler + 1");
    assert_status(tacet__ledger_peek(w->ledger, &mint, "t", NULL), TACET_CONFLICT);
}

/* A reservation whose key is cut, gone or out of reach is spent: its ticket is never drawn for again. */
TEST(a_ticket_whose_key_is_gone_is_spent) {
    static const struct {
        const char *sql;
        tacet_status status;
    } CHANGES[] = {
        {"UPDATE mint SET sealed = substr(sealed, 2)", TACET_CONFLICT},
        {"UPDATE mint SET digest = x'00'", TACET_CONFLICT},
        {"DELETE FROM mint", TACET_CONFLICT},
        {"ALTER TABLE mint RENAME TO away; CREATE VIEW mint AS SELECT seq, abs(-9223372036854775807 - (seq > 0)) "
         "AS sealed, digest, sampler FROM away",
         TACET_OK}}; /* not OK, whichever it is */
    world *w = *state;
    tacet_mint mint = {{0}, {0}};
    tacet_entry entry;
    OWN_BLOB tacet_blob memo = {0};
    const tacet_charge c = test_charge(1);
    static const unsigned char DATA[TACET_MINT_BYTES] = {1};
    static char longest[TACET_TICKET_MOST + 2];
    memset(longest, 'x', sizeof longest - 1);
    assert_status(tacet__ledger_peek(w->ledger, &mint, longest, NULL), TACET_INVALID);
    for (size_t i = 0; i < 4; i++) {
        OWN_TEXT char *ticket = test_text("t%zu", i);
        assert_ok(tacet_ledger_reserve(w->ledger, &entry, &memo, ticket, &c, NULL));
        change_mint(w, CHANGES[i].sql);
        tacet_error err = {TACET_OK, ""};
        const tacet_status status = tacet__ledger_peek(w->ledger, &mint, ticket, &err);
        assert_true(status != TACET_OK && (i == 3 || status == CHANGES[i].status));
        assert_true(i > 2 || strstr(err.message, "spent") != NULL);
        assert_int_not_equal(tacet__ledger_bind(w->ledger, &entry, &mint, DATA, NULL), TACET_OK);
    }
}

/* A key that was made before its question: the data are named under it, and no other key may answer for them. */
TEST(a_question_keeps_the_key_it_was_asked_with) {
    const world *w = *state;
    tacet_mint mine, theirs, stored;
    tacet_release *release = NULL, *again = NULL;
    OWN_BOUND tacet_bound *bound = test_range(3, 0, 1);
    OWN_MECHANISM tacet_mechanism *m = test_mechanism(TACET_MECHANISM_GAUSSIAN, bound, &REPLACE, 0.5, 1e-5);
    OWN_BOUNDED tacet_bounded *x = test_bounded(bound, (double[]){0.25, 0.5, 1});
    assert_ok(tacet__mint_fresh(&mine, NULL));
    assert_ok(tacet__mint_fresh(&theirs, NULL));
    tacet_ask ask = {.ledger = w->ledger, .ticket = "t", .what = "w", .to_whom = "x", .mint = &mine};
    reserve_only(m, x, &ask);
    assert_ok(tacet__ledger_peek(w->ledger, &stored, "t", NULL));
    assert_memory_equal(stored.key, mine.key, sizeof mine.key);
    ask.mint = &theirs; /* another process, which began the same question */
    assert_status(tacet_mechanism_run(m, &release, &ask, x, NULL), TACET_BUSY);
    assert_null(release);
    ask.mint = &mine;
    assert_ok(tacet_mechanism_run(m, &release, &ask, x, NULL));
    ask.mint = &theirs; /* answered: what was said is said again */
    assert_ok(tacet_mechanism_run(m, &again, &ask, x, NULL));
    assert_memory_equal(tacet_release_values(release), tacet_release_values(again), 3 * sizeof(double));
    tacet_noise *seeded = NULL; /* is no part of it, whatever key comes along */
    assert_ok(tacet_noise_open_seeded(&seeded, 1, 0, NULL));
    tacet_release_free(again);
    ask =
        (tacet_ask){.ledger = w->ledger, .noise = seeded, .ticket = "u", .what = "w", .to_whom = "x", .mint = &theirs};
    assert_ok(tacet_mechanism_run(m, &again, &ask, x, NULL));
    assert_false(tacet_release_receipt(again)->is_private);
    tacet_noise_close(seeded);
    tacet_release_free(release);
    tacet_release_free(again);
}

/* How many entries a group has is decided in the transaction that reserves. */
TEST(a_group_has_no_more_entries_than_it_may) {
    const world *w = *state;
    tacet_entry entry;
    OWN_BLOB tacet_blob memo = {0};
    tacet_charge c = test_charge(1);
    c.group = "g";
    for (int i = 0; i < 5; i++) {
        OWN_TEXT char *ticket = test_text("t%d", i);
        OWN_TEXT char *part = test_text("p%d", i);
        c.part = part;
        const tacet_status status = tacet__ledger_reserve(w->ledger, &entry, &memo, NULL, ticket, &c, 3, NULL);
        assert_status(status, i < 3 ? TACET_OK : TACET_BUDGET);
    }
    c.part = "p0";
    assert_ok(tacet__ledger_reserve(w->ledger, &entry, &memo, NULL, "t0", &c, 3, NULL)); /* known: no new one */
}

TEST_EACH(setup, teardown)

int main(void) {
    test_in_memory();
    return test_main();
}
