/* SPDX-License-Identifier: Apache-2.0 */
/* test_entry.c - charges that may be written, records as bytes, and the chain of hashes. */
#include "support/gate.h"
#include "support/test.h"

#include <tacet/core/simrng.h>

#include "dp/open/entry.h"
#include "dp/open/parameters.h"

TEST(test_fill) {
    tacet_charge c;
    tacet_charge_init(&c);
    assert_true(isinf(c.eps) && isinf(c.rho) && isinf(c.mu) && c.delta == 1);
    assert_string_equal(c.mechanism, "none");
    tacet_charge_pure(&c, 1);
    assert_close(c.rho, 0.5, 1e-15);
    assert_true(c.rho > 0.5);
    /* mu = -2 Phi^-1(1/(1+e)): Phi(-mu/2) recomputed, from above. */
    assert_close(0.5 * erfc(c.mu / 2 / sqrt(2)), 1 / (1 + exp(1)), 1e-12);
    assert_true(0.5 * erfc(c.mu / 2 / sqrt(2)) <= 1 / (1 + exp(1)));
    const double eps[] = {1e-6, 1e-3, 0.1, 3, 20, 50, 500};
    for (size_t i = 0; i < sizeof eps / sizeof eps[0]; i++) {
        tacet_charge_pure(&c, eps[i]);
        const double log_target = -eps[i] - log1p(exp(-eps[i]));
        assert_close(log(0.5 * erfc(c.mu / 2 / sqrt(2))), log_target, 1e-9 * (1 + fabs(log_target)));
    }
    tacet_charge_pure(&c, 5000);
    assert_true(isinf(c.mu));
    tacet_charge_gaussian(&c, 2, 3, 1e-5);
    assert_close(c.rho, 2, 1e-15);
    assert_close(c.mu, 2, 0);
    tacet_charge_zcdp(&c, 0.25, 3, 1e-5);
    assert_true(isinf(c.mu) && c.rho == 0.25 && c.claim == TACET_CLAIM_ZCDP);
    tacet_charge_approx(&c, 3, 1e-5);
    assert_true(isinf(c.mu) && isinf(c.rho) && c.eps == 3 && c.delta == 1e-5);
}

TEST(test_names) {
    assert_string_equal(tacet_accounting_name(TACET_ACCOUNTING_GAUSSIAN), "gaussian");
    assert_string_equal(tacet_accounting_name((tacet_accounting)0), "?");
    assert_string_equal(tacet_claim_name(TACET_CLAIM_UNCOVERED), "uncovered");
    assert_string_equal(tacet_claim_name(TACET_CLAIM_GAUSSIAN), "gaussian");
    assert_string_equal(tacet_claim_name((tacet_claim)99), "?");
}

TEST(test_check_numbers) {
    tacet_charge c = test_charge(0.5);
    assert_ok(tacet_charge_check(&c, NULL));
    assert_status(tacet_charge_check(NULL, NULL), TACET_INVALID);
#define BAD(field, value)                                                                                              \
    c = test_charge(0.5);                                                                                              \
    c.field = (value);                                                                                                 \
    assert_status(tacet_charge_check(&c, NULL), TACET_INVALID)
    BAD(eps, NAN);
    BAD(eps, 0);
    BAD(eps, -1);
    BAD(eps, INFINITY);
    BAD(rho, NAN);
    BAD(rho, -1);
    BAD(mu, NAN);
    BAD(mu, 0);
    BAD(delta, NAN);
    BAD(delta, -1e-9);
    BAD(delta, 1.5);
    BAD(delta, 1e-5); /* pure has none */
    BAD(claim, TACET_CLAIM_UNCOVERED);
    BAD(claim, TACET_CLAIM_APPROX);
    BAD(claim, (tacet_claim)17);
    tacet_charge_approx(&c, 1, 0);
    assert_status(tacet_charge_check(&c, NULL), TACET_INVALID);
    tacet_charge_approx(&c, 1, 1);
    assert_status(tacet_charge_check(&c, NULL), TACET_INVALID);
    tacet_charge_approx(&c, INFINITY, 0.5);
    assert_status(tacet_charge_check(&c, NULL), TACET_INVALID);
    tacet_charge_zcdp(&c, INFINITY, 1, 1e-5);
    assert_status(tacet_charge_check(&c, NULL), TACET_INVALID);
    tacet_charge_gaussian(&c, INFINITY, 1, 1e-5);
    assert_status(tacet_charge_check(&c, NULL), TACET_INVALID);
    tacet_charge_zcdp(&c, 1, 1, -1e-9); /* a delta that is none, where the claim is made in another currency */
    assert_status(tacet_charge_check(&c, NULL), TACET_INVALID);
    tacet_charge_gaussian(&c, 1, 1, 1.5);
    assert_status(tacet_charge_check(&c, NULL), TACET_INVALID);
    c = test_charge(0.5);
    tacet_charge_init(&c);
    c.what = "x";
    c.to_whom = "y";
    assert_ok(tacet_charge_check(&c, NULL));
    const double bounds[] = {1, 2};
    c.rho = bounds[0];
    assert_status(tacet_charge_check(&c, NULL), TACET_INVALID);
    c.rho = INFINITY;
    c.mu = bounds[1];
    assert_status(tacet_charge_check(&c, NULL), TACET_INVALID);
    c.mu = INFINITY;
    c.delta = 0.5;
    assert_status(tacet_charge_check(&c, NULL), TACET_INVALID);
}

TEST(test_check_texts) {
    static char longer[TACET_CHARGE_PARAMS_MOST + 2];
    tacet_charge c = test_charge(0.5);
    BAD(what, NULL);
    BAD(what, "");
    BAD(to_whom, "");
    BAD(mechanism, NULL);
    BAD(what, "tab\there");
    BAD(what, "delete\x7f");
    BAD(what, "c1 \xc2\x9f control");
    BAD(what, "lone \x80");
    BAD(what, "cut \xc3");
    BAD(what, "cut \xe2\x82");
    BAD(what, "cut \xf0\x9f\x98");
    BAD(what, "overlong \xc1\xbf");
    BAD(what, "overlong \xe0\x9f\xbf");
    BAD(what, "overlong \xf0\x8f\xbf\xbf");
    BAD(what, "surrogate \xed\xa0\x80");
    BAD(what, "beyond \xf4\x90\x80\x80");
    BAD(what, "beyond \xf5\x80\x80\x80");
    BAD(group, "g");
    BAD(part, "p");
    memset(longer, 'x', sizeof longer - 1);
    BAD(parameters, longer);
    longer[TACET_CHARGE_TEXT_MOST + 1] = '\0';
    BAD(what, longer);
    BAD(covered_fields, longer);
    c = test_charge(0.5);
    c.parameters = longer;
    c.what = "Größe in µm, 12 €, 😀, \xf4\x8f\xbf\xbf, \xe0\xa0\x80, \xf0\x90\x80\x80, \xed\x9f\xbf, \xc2\xa0";
    c.group = "g";
    c.part = "p";
    assert_ok(tacet_charge_check(&c, NULL));
    assert_ok(tacet__ticket_check("a", NULL));
    assert_status(tacet__ticket_check("", NULL), TACET_INVALID);
    assert_status(tacet__ticket_check(NULL, NULL), TACET_INVALID);
    assert_status(tacet__ticket_check(longer, NULL), TACET_INVALID);
}

/* Every field of a charge is part of the question. */
TEST(test_equal) {
    const tacet_charge a = test_charge(0.5);
    tacet_charge b = a;
    assert_true(tacet__charge_equal(&a, &b));
#define UNEQUAL(field, value)                                                                                          \
    b = a;                                                                                                             \
    b.field = (value);                                                                                                 \
    assert_false(tacet__charge_equal(&a, &b))
    UNEQUAL(eps, 0.75);
    UNEQUAL(delta, 0.5);
    UNEQUAL(rho, 7);
    UNEQUAL(mu, 7);
    UNEQUAL(seeded, true);
    UNEQUAL(claim, TACET_CLAIM_GAUSSIAN);
    for (size_t i = 0; i < TACET__CHARGE_TEXTS; i++) {
        static const char *const OTHER = "something else";
        b = a;
        memcpy((unsigned char *)&b + tacet__charge_fields[i].at, &OTHER, sizeof(char *));
        assert_false(tacet__charge_equal(&a, &b));
    }
    b = a;
    b.group = ""; /* the same as none */
    assert_true(tacet__charge_equal(&a, &b));
}

static void make(tacet__record *r, tacet__record_kind kind) {
    memset(r, 0, sizeof *r);
    r->kind = kind;
    r->time = 1700000000;
    switch (kind) {
    case TACET__RECORD_BUDGET:
        memset(r->budget.id, 7, sizeof r->budget.id);
        r->budget.accounting = TACET_ACCOUNTING_ZCDP;
        r->budget.eps = 1;
        r->budget.delta = 1e-5;
        r->budget.cap = 0.02;
        r->budget.uncovered_most = 3;
        break;
    case TACET__RECORD_RESERVE:
        r->seq = 4;
        r->reserve.ticket = "ticket";
        r->reserve.charge = test_charge(0.5);
        r->reserve.charge.parameters = "{\"scale\":2}";
        r->reserve.charge.group = "rows";
        r->reserve.charge.part = "17";
        r->reserve.charge.covered_fields = "a,b";
        r->reserve.charge.uncovered_fields = "c";
        r->reserve.charge.covered_records = "each row";
        r->reserve.charge.seeded = true;
        break;
    case TACET__RECORD_COMMIT:
        r->seq = 5;
        r->commit.entry = 4;
        r->commit.answer_size = 99;
        memset(r->commit.answer_hash, 3, TACET_HASH_BYTES);
        memset(r->commit.receipt, 4, TACET_HASH_BYTES);
        break;
    }
}

TEST(test_round_trip) {
    for (int kind = 1; kind <= 3; kind++) {
        tacet__record in;
        tacet__record out;
        OWN_BLOB tacet_blob bytes = {0};
        OWN_BLOB tacet_blob again = {0};
        make(&in, (tacet__record_kind)kind);
        assert_ok(tacet__record_encode(&bytes, &in, NULL));
        assert_ok(tacet__record_decode(&out, bytes.data, bytes.size, NULL));
        assert_int_equal(out.kind, kind);
        assert_int_equal(out.seq, in.seq);
        assert_int_equal(out.time, in.time);
        if (kind == TACET__RECORD_RESERVE) {
            assert_string_equal(out.reserve.ticket, in.reserve.ticket);
            assert_true(tacet__charge_equal(&out.reserve.charge, &in.reserve.charge));
            assert_string_equal(out.reserve.charge.covered_records, "each row");
            assert_true(out.reserve.charge.seeded);
        }
        assert_int_equal(memcmp(&out.budget, &in.budget, sizeof in.budget), 0);
        assert_int_equal(memcmp(&out.commit, &in.commit, sizeof in.commit), 0);
        assert_ok(tacet__record_encode(&again, &out, NULL));
        assert_int_equal(again.size, bytes.size);
        assert_memory_equal(again.data, bytes.data, bytes.size);
        for (size_t cut = 0; cut < bytes.size; cut++) {
            assert_status(tacet__record_decode(&out, bytes.data, cut, NULL), TACET_CORRUPT);
        }
        assert_ok(tacet_blob_append(&bytes, "", 1, NULL));
        assert_status(tacet__record_decode(&out, bytes.data, bytes.size, NULL), TACET_CORRUPT);
    }
}

/* Whatever byte is changed: refused, or another record with its own encoding; never two encodings of one record. */
TEST(test_one_encoding) {
    for (int kind = 1; kind <= 3; kind++) {
        tacet__record in;
        OWN_BLOB tacet_blob bytes = {0};
        make(&in, (tacet__record_kind)kind);
        assert_ok(tacet__record_encode(&bytes, &in, NULL));
        for (size_t i = 0; i < bytes.size; i++) {
            for (unsigned flip = 1; flip < 256; flip <<= 1) {
                tacet__record out;
                bytes.data[i] ^= (unsigned char)flip;
                if (tacet__record_decode(&out, bytes.data, bytes.size, NULL) == TACET_OK) {
                    OWN_BLOB tacet_blob again = {0};
                    assert_ok(tacet__record_encode(&again, &out, NULL));
                    assert_int_equal(again.size, bytes.size);
                    assert_memory_equal(again.data, bytes.data, bytes.size);
                }
                bytes.data[i] ^= (unsigned char)flip;
            }
        }
    }
}

static void refused(const tacet__record *record) {
    tacet__record out;
    OWN_BLOB tacet_blob bytes = {0};
    tacet_error err = {TACET_OK, ""};
    assert_ok(tacet__record_encode(&bytes, record, NULL));
    assert_status(tacet__record_decode(&out, bytes.data, bytes.size, &err), TACET_CORRUPT);
    assert_true(err.message[0] != '\0');
}

TEST(test_impossible) {
    tacet__record r;
#define IMPOSSIBLE(kind, field, value)                                                                                 \
    make(&r, kind);                                                                                                    \
    r.field = (value);                                                                                                 \
    refused(&r)
    IMPOSSIBLE(TACET__RECORD_BUDGET, seq, 1);
    IMPOSSIBLE(TACET__RECORD_BUDGET, budget.accounting, (tacet_accounting)0);
    IMPOSSIBLE(TACET__RECORD_BUDGET, budget.accounting, (tacet_accounting)9);
    IMPOSSIBLE(TACET__RECORD_BUDGET, budget.eps, 0);
    IMPOSSIBLE(TACET__RECORD_BUDGET, budget.eps, NAN);
    IMPOSSIBLE(TACET__RECORD_BUDGET, budget.eps, INFINITY);
    IMPOSSIBLE(TACET__RECORD_BUDGET, budget.delta, -1);
    IMPOSSIBLE(TACET__RECORD_BUDGET, budget.delta, 1);
    IMPOSSIBLE(TACET__RECORD_BUDGET, budget.delta, NAN);
    IMPOSSIBLE(TACET__RECORD_BUDGET, budget.cap, 0);
    IMPOSSIBLE(TACET__RECORD_BUDGET, budget.cap, INFINITY);
    IMPOSSIBLE(TACET__RECORD_RESERVE, seq, 0);
    IMPOSSIBLE(TACET__RECORD_RESERVE, reserve.ticket, "");
    IMPOSSIBLE(TACET__RECORD_RESERVE, reserve.charge.eps, NAN);
    IMPOSSIBLE(TACET__RECORD_RESERVE, reserve.charge.part, "");
    IMPOSSIBLE(TACET__RECORD_RESERVE, reserve.charge.claim, (tacet_claim)17);
    IMPOSSIBLE(TACET__RECORD_COMMIT, commit.entry, 0);
    IMPOSSIBLE(TACET__RECORD_COMMIT, commit.entry, 5);
    IMPOSSIBLE(TACET__RECORD_COMMIT, commit.answer_size, (uint64_t)1 << 40);
    make(&r, TACET__RECORD_COMMIT);
    r.kind = (tacet__record_kind)9;
    refused(&r);
}

TEST(test_no_memory) {
    tacet__record r;
    make(&r, TACET__RECORD_RESERVE);
    for (long n = 1;; n++) {
        tacet_blob bytes = {0};
        fail_alloc_after(n);
        const tacet_status status = tacet__record_encode(&bytes, &r, NULL);
        const int hit = fail_alloc_end();
        assert_int_equal(status, hit ? TACET_NO_MEMORY : TACET_OK);
        assert_true(!hit || bytes.size == 0);
        tacet_blob_clear(&bytes);
        if (!hit) {
            assert_true(n > 2);
            break;
        }
    }
}

TEST(test_hashes) {
    static const unsigned char zero[TACET_HASH_BYTES];
    unsigned char a[TACET_HASH_BYTES];
    unsigned char b[TACET_HASH_BYTES];
    char hex[2 * TACET_HASH_BYTES + 1];
    /* BLAKE2b-256 of 32 zero bytes followed by "abc", as other programs compute it:
     * python3 -c "import hashlib; print(hashlib.blake2b(bytes(32) + b'abc', digest_size=32).hexdigest())" */
    tacet__record_hash(a, zero, (const unsigned char *)"abc", 3);
    tacet__hash_hex(hex, a);
    assert_string_equal(hex, "5db827e5e925e6b933a86596a0446c345c0d74d77f55a751ade5d7c7162eead8");
    tacet__record_hash(b, a, (const unsigned char *)"abc", 3);
    assert_memory_not_equal(a, b, sizeof a);
    tacet__answer_hash(b, NULL, 0);
    tacet__hash_hex(hex, b);
    assert_string_equal(hex, "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8");
    assert_true(tacet__hash_parse(a, hex));
    assert_memory_equal(a, b, sizeof a);
    assert_false(tacet__hash_parse(a, ""));
    assert_false(tacet__hash_parse(a, "0e"));
    hex[10] = 'x';
    assert_false(tacet__hash_parse(a, hex));
}

TEST(parameters_are_found_by_their_names) {
    static const char *const NONE[] = {
        "",           "{",           "{}",          "{\"a\":\"1\"}",           "{\"a\":1,\"a\":1}", "{\"a\":1",
        "{\"ba\":1}", "{\"a\":[1]}", "{\"a\":nan}", "{\"b\":\"\\\"a\\\":1\"}", "{\"b\":\"a\"}"};
    for (size_t i = 0; i < sizeof NONE / sizeof *NONE; i++) {
        assert_true(tacet__parameter_number(NONE[i], "a") == 0);
    }
    assert_true(tacet__parameter_number("{\"b\":2,\"a\":-1.5e-3}", "a") == -1.5e-3);
    assert_true(tacet__parameter_number("{\"a\":12345678.901234567,\"b\":2}", "a") == 12345678.901234567);
}
