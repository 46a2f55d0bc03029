/* SPDX-License-Identifier: Apache-2.0 */
/* test_ledger_view.c - the reader against the writer: totals derived twice must agree, a rollback must show, and
 * reading needs no permission to write. Here because it needs gate and open together. */
#include "dp/ledger_view_fixture.h"

#include <sys/wait.h>
#include <tacet/core/simrng.h>
#include <tacet/dp/open/calibrate.h>

/* The rule once more, in a few plain sums: charges on everybody, and the dearest part of each group. */
enum { GROUPED = 2, PARTS = 4 };
typedef struct plain_sums {
    double all, part[GROUPED][PARTS];
} plain_sums;

static double plain_total(const plain_sums *sums) {
    double total = sums->all;
    for (size_t g = 0; g < GROUPED; g++) {
        double dearest = 0;
        for (size_t p = 0; p < PARTS; p++) {
            dearest = fmax(dearest, sums->part[g][p]);
        }
        total += dearest;
    }
    return total;
}

static void plain_add(plain_sums *sums, size_t group, size_t part, double cost) {
    *(group > 0 ? &sums->part[group - 1][part] : &sums->all) += cost;
}

static double cost_of(const tacet_charge *c, tacet_accounting accounting) {
    return accounting == TACET_ACCOUNTING_BASIC ? c->eps : accounting == TACET_ACCOUNTING_ZCDP ? c->rho : c->mu * c->mu;
}

/* What fits is decided as by the plain sums; what was spent is what they say, and what the reader finds. */
TEST(test_totals_agree) {
    tacet_simrng rng = test_rng(21, 0);
    for (int round = 0; round < 12; round++) {
        const tacet_accounting accounting = (tacet_accounting)(1 + round % 3);
        tacet_ledger *ledger = test_ledger(path, accounting, 20);
        tacet_ledger_totals totals;
        tacet__ledger_report report;
        tacet_error err = {TACET_OK, ""};
        plain_sums costs = {0}, deltas = {0};
        int refused = 0;
        assert_ok(tacet_ledger_total(ledger, &totals, NULL));
        const double most = accounting == TACET_ACCOUNTING_GAUSSIAN ? totals.cap * totals.cap : totals.cap;
        for (int i = 0; i < 60; i++) {
            static const char *const GROUPS[] = {"", "rows", "batches"};
            static const char *const NAMES[PARTS] = {"1", "2", "3", "4"};
            tacet_entry entry;
            OWN_BLOB tacet_blob memo = {0};
            tacet_charge c = test_charge(0.05 + tacet_simrng_uniform(&rng));
            const size_t group = tacet_simrng_below(&rng, 1 + GROUPED);
            const size_t part = tacet_simrng_below(&rng, PARTS);
            const bool covered = tacet_simrng_below(&rng, 8) > 0;
            if (!covered) {
                tacet_charge_init(&c);
                c.what = "measured output";
                c.to_whom = "the modeler";
            } else if (group > 0) {
                c.group = GROUPS[group];
                c.part = NAMES[part];
            }
            if (accounting == TACET_ACCOUNTING_BASIC && c.claim == TACET_CLAIM_PURE && i % 5 == 0) {
                tacet_charge_approx(&c, c.eps, 6e-6 * tacet_simrng_uniform(&rng));
            } else if (covered && accounting != TACET_ACCOUNTING_BASIC && i % 5 == 1) {
                tacet_charge_gaussian(&c, 0.5 * tacet_simrng_uniform(&rng), 0.1, 1e-6);
            }
            OWN_TEXT char *ticket = test_text("t%d", i);
            const tacet_status status = tacet_ledger_reserve(ledger, &entry, &memo, ticket, &c, &err);
            if (covered) {
                plain_sums with = costs, with_delta = deltas;
                plain_add(&with, group, part, cost_of(&c, accounting));
                plain_add(&with_delta, group, part, accounting == TACET_ACCOUNTING_BASIC ? c.delta : 0);
                const bool fits = plain_total(&with) <= most && plain_total(&with_delta) <= 1e-5;
                assert_int_equal(fits, status == TACET_OK);
                costs = fits ? with : costs;
                deltas = fits ? with_delta : deltas;
            }
            if (status == TACET_OK && i % 3 != 0) {
                assert_ok(tacet_ledger_commit(ledger, &entry, ticket, strlen(ticket), NULL, NULL));
            } else if (status != TACET_OK) {
                assert_int_equal(status, TACET_BUDGET);
                refused++;
            }
        }
        assert_ok(tacet_ledger_total(ledger, &totals, NULL));
        assert_ok(verify(&report, totals.head, &err)); /* while the writer is open */
        assert_close(report.spent, totals.spent, 1e-12 * totals.spent);
        assert_close(report.spent_delta, totals.spent_delta, 1e-18);
        assert_close(report.eps, totals.eps, 1e-6 * totals.eps);
        assert_close(report.delta, totals.delta, 1e-15);
        assert_true(report.eps <= report.budget_eps * (1 + 1e-6));
        assert_int_equal(report.records, totals.records);
        assert_int_equal(report.entries, totals.entries);
        assert_int_equal(report.entries + (uint64_t)refused, 60);
        assert_int_equal(report.answered, totals.answered);
        assert_int_equal(report.uncovered, totals.uncovered);
        assert_int_equal(report.head_at, totals.records - 1);
        assert_memory_equal(report.head, totals.head, TACET_HASH_BYTES);
        tacet_ledger_close(ledger);
        assert_int_equal(unlink(path), 0);
    }
}

/* The reader's conversions against the gate's, which are derived and rounded otherwise. */
TEST(test_conversions_agree) {
    const double deltas[] = {1e-3, 1e-5, 1e-9, 1e-12};
    const double parameters[] = {0.001, 0.03, 0.2, 1, 4};
    for (size_t i = 0; i < 4; i++) {
        for (size_t k = 0; k < 5; k++) {
            double eps = 0;
            assert_ok(tacet_gdp_eps(&eps, parameters[k], deltas[i], NULL));
            assert_close(tacet__ledger_gaussian_eps(parameters[k], deltas[i]), eps, 1e-6 * eps + 1e-9);
            assert_ok(tacet_zcdp_eps(&eps, parameters[k], deltas[i], NULL));
            assert_close(tacet__ledger_zcdp_eps(parameters[k], deltas[i]), eps, 1e-6 * eps + 1e-9);
        }
    }
    assert_true(isinf(tacet__ledger_gaussian_eps(1, 0)) || tacet__ledger_gaussian_eps(1, 0) > 30);
    assert_true(isinf(tacet__ledger_zcdp_eps(1e7, 1e-5)));
}

/* How many records an anchor has seen. */
static unsigned long long anchored(const char *anchor) {
    char line[32] = "";
    FILE *file = fopen(anchor, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    (void)fclose(file);
    return strtoull(line, NULL, 10);
}

/* A whole-file rollback looks intact; a noted head or an anchor shows it. */
TEST(test_rollback) {
    unsigned char early[TACET_HASH_BYTES];
    unsigned char late[TACET_HASH_BYTES];
    tacet__ledger_report report;
    tacet_error err = {TACET_OK, ""};
    tacet_ledger *ledger = NULL;
    tacet_ledger_totals totals;
    tacet_ledger_settings s;
    OWN_TEXT char *copy = test_text("%s/copy", folder);
    OWN_TEXT char *anchor = test_text("%s/anchor", folder);
    make_ledger(early);
    test_copy(copy, path);
    tacet_ledger_settings_defaults(&s);
    s.use_stored = true;
    s.anchor = anchor;
    assert_ok(tacet_ledger_open(&ledger, path, &s, NULL));
    const tacet_charge c = test_charge(0.5);
    add(ledger, "late", &c, "x");
    assert_ok(tacet_ledger_total(ledger, &totals, NULL));
    memcpy(late, totals.head, TACET_HASH_BYTES);
    tacet_ledger_close(ledger);
    assert_int_equal(anchored(anchor), 12);  /* by the commit, not by whoever opens next */
    assert_ok(verify(&report, early, &err)); /* a head noted earlier stays valid */
    assert_int_equal(report.head_at, 9);
    assert_ok(tacet_ledger_open(&ledger, path, &s, NULL));
    tacet_ledger_close(ledger);

    test_copy(path, copy);
    assert_ok(verify(&report, NULL, &err)); /* nothing inside the file can tell */
    assert_status(verify(&report, late, &err), TACET_CORRUPT);
    assert_status(tacet_ledger_open(&ledger, path, &s, &err), TACET_CORRUPT);
    assert_null(ledger);
    /* Grown again past the anchor, along another way. */
    s.anchor = NULL;
    assert_ok(tacet_ledger_open(&ledger, path, &s, NULL));
    add(ledger, "other", &c, "y");
    tacet_ledger_close(ledger);
    s.anchor = anchor;
    tacet_error_clear(&err);
    assert_status(tacet_ledger_open(&ledger, path, &s, &err), TACET_CORRUPT);
    assert_non_null(strstr(err.message, "anchor"));
    FILE *file = fopen(anchor, "r+");
    (void)fputs("7", file);
    (void)fclose(file);
    assert_status(tacet_ledger_open(&ledger, path, &s, NULL), TACET_CORRUPT);
    assert_int_equal(truncate(anchor, 10), 0);
    assert_status(tacet_ledger_open(&ledger, path, &s, NULL), TACET_CORRUPT);
    s.anchor = folder; /* not a file */
    assert_status(tacet_ledger_open(&ledger, path, &s, NULL), TACET_IO);
    s.anchor = "/dev/full";
    assert_status(tacet_ledger_open(&ledger, path, &s, NULL), TACET_CORRUPT); /* reads as zeros */
}

/* As another user, without any permission to write: reading works, writing is DENIED. */
TEST(test_read_only) {
    unsigned char head[TACET_HASH_BYTES];
    int status = 0;
    make_ledger(head);
    assert_int_equal(chmod(path, 0444), 0);
    assert_int_equal(chmod(folder, 0555), 0);
    const pid_t child = fork();
    if (child == 0) {
        tacet__ledger_report report;
        tacet_ledger *ledger = NULL;
        tacet_ledger_settings s;
        tacet_error err = {TACET_OK, ""};
        if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) {
            _exit(10);
        }
        tacet_status seen = verify(&report, head, &err);
        if (seen != TACET_OK) {
            print_error("reader: %s\n", err.message);
            _exit(11);
        }
        tacet_ledger_settings_defaults(&s);
        s.use_stored = true;
        if (tacet_ledger_open(&ledger, path, &s, &err) != TACET_DENIED || ledger != NULL) {
            _exit(12);
        }
        (void)strcat(path, "-new");
        tacet_ledger_settings_defaults(&s);
        s.eps = 1;
        if (tacet_ledger_open(&ledger, path, &s, &err) != TACET_DENIED || ledger != NULL) {
            _exit(13);
        }
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* A writer that died leaves its last transactions in the log; where the log cannot be used that is said, not
 * overlooked.
 */
TEST(test_read_only_with_log) {
    int status = 0;
    const pid_t writer = fork();
    if (writer == 0) {
        unsigned char head[TACET_HASH_BYTES];
        tacet_ledger *ledger = test_ledger(path, TACET_ACCOUNTING_BASIC, 3);
        const tacet_charge c = test_charge(0.5);
        (void)head;
        tacet_entry entry;
        tacet_blob memo = {0};
        add(ledger, "t", &c, "x");
        /* an answer cuts the log off, a reservation does not */
        _exit(tacet_ledger_reserve(ledger, &entry, &memo, "u", &c, NULL) == TACET_OK ? 0 : 1); /* no close */
    }
    assert_int_equal(waitpid(writer, &status, 0), writer);
    char name[320];
    (void)snprintf(name, sizeof name, "%s-shm", path);
    assert_int_equal(unlink(name), 0);
    (void)snprintf(name, sizeof name, "%s-wal", path);
    assert_int_equal(chmod(name, 0444), 0);
    assert_int_equal(chmod(path, 0444), 0);
    assert_int_equal(chmod(folder, 0555), 0);
    const pid_t child = fork();
    if (child == 0) {
        tacet__ledger_report report;
        tacet_error err = {TACET_OK, ""};
        if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) {
            _exit(10);
        }
        const tacet_status seen = verify(&report, NULL, &err);
        _exit(seen == TACET_DENIED && strstr(err.message, "-wal") != NULL ? 0 : 11);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

TEST(test_no_memory) {
    unsigned char head[TACET_HASH_BYTES];
    make_ledger(head);
    tacet__ledger_report report;
    tacet_error err = {TACET_OK, ""};
    assert_each_alloc_fails(verify(&report, head, &err), true);
}

TEST_EACH(setup, teardown)

int main(void) {
    test_in_memory();
    return test_main();
}
