/* SPDX-License-Identifier: Apache-2.0 */
/* test_device.c - a reward leaves a device once per ticket, clipped and randomised, after its report was stored. */
#include "local/shared/ldp.h"
#include <tacet/local/trusted/service.h>

#include "support/test.h"

#include <unistd.h>

enum { SLOTS = 64 };

/* A store in memory that counts its calls and fails on demand. */
typedef struct memory {
    char tickets[SLOTS][16];
    double reports[SLOTS];
    bool answered[SLOTS];
    tacet_mint mints[SLOTS];
    size_t count;
    size_t reserved, committed;
    tacet_status fail_reserve, fail_commit;
    double lost; /* the report that a commit was last asked to store */
} memory;

static size_t find(const memory *m, const char *ticket) {
    size_t i = 0;
    while (i < m->count && strcmp(m->tickets[i], ticket) != 0) {
        i++;
    }
    return i;
}

static tacet_status reserve(void *user, const char *ticket, const tacet_ldp *ldp, tacet_mint *mint, bool *answered,
                            double *report, tacet_error *err) {
    memory *m = user;
    (void)ldp;
    (void)err;
    m->reserved++;
    if (m->fail_reserve != TACET_OK) {
        return m->fail_reserve;
    }
    const size_t i = find(m, ticket);
    if (i == m->count) {
        (void)snprintf(m->tickets[i], sizeof m->tickets[i], "%s", ticket);
        m->mints[i] = *mint;
        m->count++;
    }
    *mint = m->mints[i];
    *answered = m->answered[i];
    *report = m->reports[i];
    return TACET_OK;
}

static tacet_status commit(void *user, const char *ticket, double report, tacet_error *err) {
    memory *m = user;
    (void)err;
    m->committed++;
    m->lost = report;
    if (m->fail_commit != TACET_OK) {
        return m->fail_commit;
    }
    const size_t i = find(m, ticket);
    assert_true(i < m->count); /* reserved first */
    m->reports[i] = report;
    m->answered[i] = true;
    m->mints[i] = (tacet_mint){{0}, {0}};
    return TACET_OK;
}

static tacet_device *open_device(memory *m, tacet_ldp *ldp, tacet_ldp_kind kind) {
    tacet_device *device = NULL;
    const tacet_device_store store = {reserve, commit, m};
    assert_ok(tacet_ldp_init(ldp, kind, 1, -1, 3, NULL));
    assert_ok(tacet_device_open(&device, ldp, &store, NULL));
    return device;
}

/* Coins come from the key of the ticket, and that from the system: the same reward is another report under another
 * ticket of the same device, and under the same ticket on another device (64 coins alike: 2^-63). */
TEST(each_ticket_has_coins_of_its_own) {
    double reports[4][SLOTS];
    for (size_t d = 0; d < 4; d++) {
        memory m = {0};
        tacet_ldp ldp;
        tacet_device *device = open_device(&m, &ldp, TACET_LDP_DUCHI);
        size_t others = 0;
        for (size_t k = 0; k < SLOTS; k++) {
            tacet_device_answer a;
            OWN_TEXT char *ticket = test_text("t%zu", k);
            assert_ok(tacet_device_report(device, &a, ticket, 1, NULL));
            reports[d][k] = a.report;
            others += a.report != reports[d][0] ? 1 : 0;
        }
        tacet_device_close(device);
        assert_true(others > 0);
        for (size_t k = 0; k < d; k++) {
            assert_memory_not_equal(reports[d], reports[k], sizeof reports[d]);
        }
    }
}

TEST(reports_once_per_ticket) {
    for (int kind = TACET_LDP_LAPLACE; kind <= TACET_LDP_HYBRID; kind++) {
        memory m = {0};
        tacet_ldp ldp;
        tacet_device *device = open_device(&m, &ldp, (tacet_ldp_kind)kind);
        double first[SLOTS];
        char ticket[16];
        for (size_t i = 0; i < SLOTS; i++) {
            tacet_device_answer a;
            (void)snprintf(ticket, sizeof ticket, "round-%zu", i);
            assert_ok(tacet_device_report(device, &a, ticket, 2, NULL));
            assert_true(tacet_ldp_possible(&ldp, a.report));
            assert_false(a.clipped || a.repeated);
            first[i] = a.report;
        }
        /* Again, with other rewards, on the same and on a reopened device: the same bits, nothing new drawn. */
        tacet_device_close(device);
        device = open_device(&m, &ldp, (tacet_ldp_kind)kind);
        for (size_t i = 0; i < SLOTS; i++) {
            tacet_device_answer a;
            (void)snprintf(ticket, sizeof ticket, "round-%zu", i);
            assert_ok(tacet_device_report(device, &a, ticket, -0.5, NULL));
            assert_true(a.repeated);
            assert_memory_equal(&a.report, &first[i], sizeof first[i]);
        }
        assert_int_equal(m.committed, SLOTS);
        tacet_device_close(device);
    }
}

TEST(says_that_it_clipped) {
    memory m = {0};
    tacet_ldp ldp;
    tacet_device *device = open_device(&m, &ldp, TACET_LDP_DUCHI);
    const double rewards[] = {-1, 3, -1.0000001, 3.0000001, INFINITY, -INFINITY};
    for (size_t i = 0; i < 6; i++) {
        tacet_device_answer a;
        const char ticket[] = {(char)('a' + i), '\0'};
        assert_ok(tacet_device_report(device, &a, ticket, rewards[i], NULL));
        assert_int_equal(a.clipped, i >= 2);
    }
    tacet_device_close(device);
}

TEST(bad_input) {
    memory m = {0};
    tacet_ldp ldp;
    tacet_device *device = open_device(&m, &ldp, TACET_LDP_HYBRID);
    tacet_device_answer a;
    char longest[TACET_DEVICE_TICKET_MOST + 2];
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    assert_status(tacet_device_report(device, &a, "t", NAN, NULL), TACET_INVALID);
    assert_true(isnan(a.report));
    assert_status(tacet_device_report(device, &a, "", 1, NULL), TACET_INVALID);
    assert_status(tacet_device_report(device, &a, "a\nb", 1, NULL), TACET_INVALID);
    assert_status(tacet_device_report(device, &a, "a\x7f", 1, NULL), TACET_INVALID);
    assert_status(tacet_device_report(device, &a, longest, 1, NULL), TACET_INVALID);
    assert_int_equal(m.reserved, 0); /* refused before anything is asked or charged */
    tacet_device_close(device);
    const tacet_device_store none[] = {{NULL, commit, &m}, {reserve, NULL, &m}};
    for (size_t i = 0; i < 2; i++) {
        assert_status(tacet_device_open(&device, &ldp, &none[i], NULL), TACET_INVALID);
        assert_null(device);
    }
    tacet_device_close(NULL);
}

/* Nothing leaves unless it was reserved and stored. */
TEST(failing_store) {
    memory m = {.fail_reserve = TACET_BUDGET};
    tacet_ldp ldp;
    tacet_device *device = open_device(&m, &ldp, TACET_LDP_DUCHI);
    tacet_device_answer a;
    assert_status(tacet_device_report(device, &a, "t", 1, NULL), TACET_BUDGET);
    assert_true(isnan(a.report));
    assert_int_equal(m.committed, 0);
    m.fail_reserve = TACET_OK;
    m.fail_commit = TACET_IO;
    assert_status(tacet_device_report(device, &a, "t", 1, NULL), TACET_IO);
    assert_true(isnan(a.report));
    m.fail_commit = TACET_OK;
    assert_ok(tacet_device_report(device, &a, "t", 1, NULL)); /* reserved, never answered: drawn now */
    assert_false(a.repeated);
    m.reports[0] = 0.123; /* no report of Duchi's bit */
    assert_status(tacet_device_report(device, &a, "t", 1, NULL), TACET_CORRUPT);
    assert_true(isnan(a.report));
    tacet_device_close(device);
}

/* A report that was drawn and could not be stored is drawn again the same, for the same reward and no other. */
TEST(an_interrupted_report_is_drawn_again_the_same) {
    for (int kind = TACET_LDP_LAPLACE; kind <= TACET_LDP_HYBRID; kind++) {
        memory m = {0};
        tacet_ldp ldp;
        tacet_device *device = open_device(&m, &ldp, (tacet_ldp_kind)kind);
        double lost = 0;
        for (int k = 0; k < 20; k++) {
            tacet_device_answer a;
            OWN_TEXT char *ticket = test_text("t%d", k);
            for (int i = 0; i < 3; i++) {
                m.fail_commit = TACET_IO;
                m.lost = NAN;
                assert_status(tacet_device_report(device, &a, ticket, 1, NULL), TACET_IO);
                assert_true(isnan(a.report));
                assert_true(i == 0 || m.lost == lost);
                lost = m.lost;
            }
            m.fail_commit = TACET_OK;
            assert_status(tacet_device_report(device, &a, ticket, 1.5, NULL), TACET_CONFLICT);
            assert_ok(tacet_device_report(device, &a, ticket, 1, NULL));
            assert_true(a.report == lost);
        }
        tacet_device_close(device);
    }
}

/* A ledger as the memory: charged once, answered from the file, refused when spent, and told from another question. */
TEST(remembers_in_a_ledger) {
    OWN_FOLDER const char *folder = test_mkdir();
    OWN_TEXT char *path = test_text("%s/device.ledger", folder);
    double first = 0;
    for (int pass = 0; pass < 2; pass++) {
        tacet_ledger *ledger = NULL;
        tacet_ledger_settings settings;
        tacet_device_ledger m;
        tacet_device_store store;
        tacet_device *device = NULL;
        tacet_ldp ldp;
        tacet_device_answer a;
        tacet_entry entry;
        tacet_blob memo;
        tacet_ledger_totals totals;
        tacet_ledger_settings_defaults(&settings);
        settings.accounting = TACET_ACCOUNTING_BASIC;
        settings.delta = 0;
        settings.eps = 2.5;
        assert_ok(tacet_ledger_open(&ledger, path, &settings, NULL));
        assert_ok(tacet_ldp_init(&ldp, TACET_LDP_HYBRID, 1, -1, 3, NULL));
        tacet_device_ledger_init(&m, &store, ledger, "server");
        assert_ok(tacet_device_open(&device, &ldp, &store, NULL));
        assert_ok(tacet_device_report(device, &a, "one", 0.5, NULL));
        assert_int_equal(a.repeated, pass == 1);
        first = pass == 0 ? a.report : first;
        assert_memory_equal(&a.report, &first, sizeof first);
        if (pass == 0) {
            /* Reserved by a device that then lost power: the second device draws, and nothing is charged twice. */
            bool answered = true;
            double report = 0;
            tacet_mint mint = {{7}, {0}}, again = {{9}, {0}};
            assert_ok(store.reserve(store.user, "two", &ldp, &mint, &answered, &report, NULL));
            assert_ok(store.reserve(store.user, "two", &ldp, &again, &answered, &report, NULL));
            assert_memory_equal(&mint, &again, sizeof mint); /* what was stored first */
            assert_false(answered);
        } else {
            assert_ok(tacet_device_report(device, &a, "two", 0.5, NULL));
            assert_false(a.repeated);
            assert_status(tacet_device_report(device, &a, "three", 0.5, NULL), TACET_BUDGET);
            assert_true(isnan(a.report));
            tacet_device_close(device);
            assert_ok(tacet_ldp_init(&ldp, TACET_LDP_HYBRID, 1, -1, 4, NULL));
            assert_ok(tacet_device_open(&device, &ldp, &store, NULL));
            assert_status(tacet_device_report(device, &a, "one", 0.5, NULL), TACET_CONFLICT);
            tacet_device_close(device); /* nor for somebody else */
            assert_ok(tacet_ldp_init(&ldp, TACET_LDP_HYBRID, 1, -1, 3, NULL));
            tacet_device_ledger_init(&m, &store, ledger, "another");
            assert_ok(tacet_device_open(&device, &ldp, &store, NULL));
            assert_status(tacet_device_report(device, &a, "one", 0.5, NULL), TACET_CONFLICT);
            tacet_device_ledger_init(&m, &store, ledger, "server");
            tacet_device_close(device); /* nor of another randomiser, whose reports mean something else */
            assert_ok(tacet_ldp_init(&ldp, TACET_LDP_PIECEWISE, 1, -1, 3, NULL));
            assert_ok(tacet_device_open(&device, &ldp, &store, NULL));
            assert_status(tacet_device_report(device, &a, "one", 0.5, NULL), TACET_CONFLICT);
        }
        assert_ok(tacet_ledger_total(ledger, &totals, NULL));
        assert_close(totals.spent, 2, 1e-12);
        assert_int_equal(totals.seeded, 0);
        tacet_blob_init(&memo);
        assert_ok(tacet_ledger_lookup(ledger, &entry, &memo, "one", NULL));
        assert_int_equal(memo.size, sizeof(double));
        tacet_blob_clear(&memo);
        tacet_device_close(device);
        tacet_ledger_close(ledger);
    }
}

static tacet_status open_anchored(tacet_ledger **ledger, const char *path) {
    tacet_ledger_settings settings;
    tacet_ledger_settings_defaults(&settings);
    settings.accounting = TACET_ACCOUNTING_BASIC;
    settings.delta = 0;
    settings.eps = 9;
    return tacet_device_ledger_open(ledger, path, &settings, NULL);
}

static double report_once(const char *path, const char *ticket) {
    tacet_ledger *ledger = NULL;
    tacet_device_ledger m;
    tacet_device_store store;
    tacet_device *device = NULL;
    tacet_device_answer a;
    tacet_ldp ldp;
    assert_ok(tacet_ldp_init(&ldp, TACET_LDP_LAPLACE, 1, 0, 1, NULL));
    assert_ok(open_anchored(&ledger, path));
    tacet_device_ledger_init(&m, &store, ledger, "server");
    assert_ok(tacet_device_open(&device, &ldp, &store, NULL));
    assert_ok(tacet_device_report(device, &a, ticket, 0.5, NULL));
    tacet_device_close(device);
    tacet_ledger_close(ledger);
    return a.report;
}

/* A backup of the telephone that was put back would draw again for what was reported since, at no charge; and so would
 * the second of two copies. */
TEST(a_ledger_that_was_put_back_reports_nothing) {
    char folder[300], path[400], kept[400], keys[2][410];
    tacet_ledger *ledger = NULL;
    (void)snprintf(folder, sizeof folder, "%s", test_mkdir());
    (void)snprintf(path, sizeof path, "%s/device.ledger", folder);
    (void)snprintf(kept, sizeof kept, "%s/kept", folder);
    (void)report_once(path, "one");
    (void)snprintf(keys[0], sizeof keys[0], "%s.key", kept);
    (void)snprintf(keys[1], sizeof keys[1], "%s.key", path);
    test_copy(kept, path);
    test_copy(keys[0], keys[1]);
    const double two = report_once(path, "two");
    assert_true(two == report_once(path, "two"));
    assert_status(open_anchored(&ledger, kept), TACET_CORRUPT); /* under any name */
    test_copy(path, kept);
    assert_status(open_anchored(&ledger, path), TACET_CORRUPT);
    assert_null(ledger);
    test_rmdir(folder);
}

/* What an errand may spend is what it was given: a new ledger gets no other budget, one that is there keeps its own. */
TEST(an_errand_spends_its_own_budget) {
    OWN_FOLDER const char *folder = test_mkdir();
    OWN_TEXT char *path = test_text("%s/device.ledger", folder);
    tacet_ldp ldp;
    tacet_device_answer a;
    bool drawn = true;
    assert_ok(tacet_ldp_init(&ldp, TACET_LDP_HYBRID, 1, 0, 1, NULL));
    tacet_device_errand e = {.ticket = "one", .ldp = &ldp, .ledger = path, .budget = NAN, .to_whom = "server"};
    assert_true(tacet_device_run(&e, &a, &drawn, 0.5, NULL) != TACET_OK);
    assert_int_not_equal(access(path, F_OK), 0); /* no ledger without a budget */
    e.budget = 2;
    assert_ok(tacet_device_run(&e, &a, &drawn, 0.5, NULL));
    assert_true(drawn);
    e.ticket = "two";
    e.budget = 3;
    assert_status(tacet_device_run(&e, &a, &drawn, 0.5, NULL), TACET_CONFLICT);
    e.budget = NAN;
    assert_ok(tacet_device_run(&e, &a, &drawn, 0.5, NULL));
    e.ticket = "three";
    for (size_t i = 0; i < 2; i++) {
        assert_status(tacet_device_run(&e, &a, &drawn, 0.5, NULL), TACET_BUDGET);
        assert_false(drawn);
        e.budget = 2;
    }
}

TEST(out_of_memory) {
    memory m = {0};
    tacet_ldp ldp;
    const tacet_device_store store = {reserve, commit, &m};
    assert_ok(tacet_ldp_init(&ldp, TACET_LDP_DUCHI, 1, 0, 1, NULL));
    tacet_device *device = NULL;
    tacet_status status = TACET_NO_MEMORY;
    size_t nth = 0;
    while (status == TACET_NO_MEMORY) {
        fail_alloc_after((long)++nth);
        status = tacet_device_open(&device, &ldp, &store, NULL);
        fail_alloc_after(0);
        assert_true(status == TACET_OK || (status == TACET_NO_MEMORY && device == NULL));
    }
    assert_true(nth >= 2); /* the object failed */
    tacet_device_answer a;
    fail_alloc_after(1); /* would fail if anything were allocated */
    status = tacet_device_report(device, &a, "t", 0.5, NULL);
    fail_alloc_after(0);
    assert_ok(status);
    tacet_device_close(device);
}
