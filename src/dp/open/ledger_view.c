/* SPDX-License-Identifier: Apache-2.0 */
/* ledger_view.c - a read-only snapshot of a ledger, record by record; and everything that a ledger claims, computed
 * again from its records: chain, order, tickets, answers, totals, budget. Ring: shared. Differs from the writer on
 * purpose: tickets and groups are compared by sorting their names instead of hashing them, sums are in long double over
 * the sorted list, and the cap is checked through the definitions of the conversions instead of their inverses. Shares
 * with it the bytes of a record and their hash (entry.c), and what the tables are (ledger_tables.c).
 * Cost: a pass over the file; to verify O(n log n) time, O(n) memory for n records. */
#include "dp/open/ledger_view.h"

#include "core/fail.h"
#include "core/memory.h"
#include "dp/open/ledger_tables.h"
#include "io/db/db.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct tacet__ledger_view {
    tacet__db *db;
    uint64_t *answers; /* by seq of a reservation: seq of its answer; filled by verifying */
    size_t answers_count;
};

enum { BUSY_MS = 10000 };

tacet_status tacet__ledger_view_open(tacet__ledger_view **out, const char *path, tacet_error *err) {
    const tacet__db_settings settings = {.read_only = true, .busy_ms = BUSY_MS};
    *out = NULL;
    tacet__ledger_view *view = TACET__ZALLOC(tacet__ledger_view, 1);
    if (view == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory opening the ledger");
    }
    /* One transaction for all that is read: writers go on, and are not seen. */
    tacet_status status = tacet__db_open(&view->db, path, &settings, err);
    TACET_THEN(status, tacet__db_begin(view->db, false, err));
    TACET_THEN(status, tacet__ledger_check_tables(view->db, path, err));
    if (status != TACET_OK) {
        tacet__ledger_view_close(view);
        return status;
    }
    *out = view;
    return TACET_OK;
}

void tacet__ledger_view_close(tacet__ledger_view *view) {
    if (view == NULL) {
        return;
    }
    if (view->db != NULL) {
        tacet__db_rollback(view->db);
    }
    tacet__db_close(view->db);
    free(view->answers);
    free(view);
}

tacet_status tacet__ledger_each(tacet__ledger_view *view,
                                tacet_status (*visit)(void *user, const tacet__ledger_row *row, tacet_error *err),
                                void *user, tacet_error *err) {
    unsigned char hash[TACET_HASH_BYTES];
    unsigned char previous[TACET_HASH_BYTES] = {0};
    tacet__record record;
    tacet__query *query = NULL;
    tacet_error detail = {TACET_OK, ""};
    bool more = false;
    tacet_status status =
        tacet__db_prepare(view->db, &query, "SELECT seq, body, hash FROM record ORDER BY seq", &detail);
    if (status != TACET_OK) {
        return tacet__fail(err, status == TACET_STATE ? TACET_CORRUPT : status, "%s", detail.message);
    }
    status = tacet__query_step(query, &more, err);
    for (uint64_t seq = 0; status == TACET_OK && more; seq++) {
        size_t hash_size = 0;
        tacet__ledger_row row = {.record = &record, .previous = previous, .hash = hash};
        row.body = tacet__query_bytes(query, 1, &row.body_size);
        const unsigned char *stored = tacet__query_bytes(query, 2, &hash_size);
        status =
            (uint64_t)tacet__query_int(query, 0) != seq
                ? tacet__record_corrupt(seq, "is missing", err)
                : tacet__record_check(&record, hash, seq, previous, row.body, row.body_size, stored, hash_size, err);
        if (status == TACET_OK) {
            row.answer = seq < view->answers_count ? view->answers[seq] : 0;
            status = visit(user, &row, err);
        }
        if (status == TACET_OK) {
            memcpy(previous, hash, TACET_HASH_BYTES);
            status = tacet__query_step(query, &more, err);
        }
    }
    tacet__query_free(query);
    return status;
}

static const double CAP_TOLERANCE = 1e-6; /* of delta: the conversions here are plain double arithmetic */
static const double EPS_MOST = 1e6;

/* ---- conversions ---- */

/* delta(eps) of mu-Gaussian DP: Phi(-eps/mu + mu/2) - e^eps Phi(-eps/mu - mu/2) (Dong, Roth & Su 2022, Cor. 2.13). */
static double gaussian_delta(double mu, double eps) {
    const double near = 0.5 * erfc((eps / mu - mu / 2) / sqrt(2));
    const double far = 0.5 * erfc((eps / mu + mu / 2) / sqrt(2));
    return near - exp(eps + log(far)); /* far = 0 leaves near, which is on the safe side */
}

/* ln of the bound at one order (Canonne, Kamath & Steinke 2020, Prop. 12), t = ln(alpha - 1). */
static double zcdp_at(double rho, double eps, double t) {
    const double a = exp(t);
    return a * ((a + 1) * rho - eps) + (a + 1) * log(a / (a + 1)) - t;
}

/* delta(eps) of rho-zCDP: the least over the order; every order is a valid bound, so a coarse search errs upwards. */
static double zcdp_delta(double rho, double eps) {
    double low = -30;
    double high = 30;
    for (int i = 0; i < 200; i++) {
        const double a = low + (high - low) / 3;
        const double b = high - (high - low) / 3;
        if (zcdp_at(rho, eps, a) < zcdp_at(rho, eps, b)) {
            high = b;
        } else {
            low = a;
        }
    }
    return fmin(exp(zcdp_at(rho, eps, 0.5 * (low + high))), 1);
}

static double eps_at(double (*delta_of)(double, double), double parameter, double delta) {
    double low = 0;
    double high = EPS_MOST;
    if (!(delta_of(parameter, high) <= delta)) {
        return INFINITY;
    }
    for (int i = 0; i < 200; i++) {
        const double middle = 0.5 * (low + high);
        if (delta_of(parameter, middle) <= delta) {
            high = middle;
        } else {
            low = middle;
        }
    }
    return high;
}

double tacet__ledger_gaussian_eps(double mu, double delta) {
    return eps_at(gaussian_delta, mu, delta);
}

double tacet__ledger_zcdp_eps(double rho, double delta) {
    return eps_at(zcdp_delta, rho, delta);
}

/* ---- collecting ---- */

typedef struct charged {
    char *group; /* owned; "" when none */
    char *part;  /* owned */
    double main;
    double delta;
} charged;

typedef struct collection {
    tacet__ledger_view *view;
    tacet__ledger_report *report;
    const unsigned char *noted;
    tacet__query *answer;
    uint64_t *answers; /* by seq: 0 for an open reservation, otherwise not 0 */
    size_t answers_capacity;
    char **tickets;
    size_t tickets_count;
    size_t tickets_capacity;
    charged *charges;
    size_t charges_count;
    size_t charges_capacity;
} collection;

static tacet_status no_memory(tacet_error *err) {
    return tacet__fail(err, TACET_NO_MEMORY, "out of memory verifying the ledger");
}

static tacet_status collect_charge(collection *c, const tacet__record *record, tacet_error *err) {
    const tacet_charge *charge = &record->reserve.charge;
    charged item = {NULL, NULL, 0, 0};
    void *array = c->charges;
    c->report->seeded += charge->seeded ? 1 : 0;
    if (charge->claim == TACET_CLAIM_UNCOVERED) {
        c->report->uncovered++;
        return TACET_OK;
    }
    if (c->report->accounting == TACET_ACCOUNTING_BASIC) {
        item.main = charge->eps;
        item.delta = charge->delta;
    } else if (c->report->accounting == TACET_ACCOUNTING_ZCDP) {
        item.main = charge->rho;
    } else {
        item.main = charge->mu * charge->mu;
    }
    if (!(isfinite(item.main) && item.delta < 1)) {
        return tacet__record_corrupt(record->seq, "claims no bound in the unit of the ledger", err);
    }
    if (!tacet__grow(&array, &c->charges_capacity, c->charges_count + 1, sizeof *c->charges)) {
        return no_memory(err);
    }
    c->charges = array;
    item.group = strdup(charge->group);
    item.part = strdup(charge->part);
    c->charges[c->charges_count++] = item; /* owned from here, whatever is missing */
    return item.group == NULL || item.part == NULL ? no_memory(err) : TACET_OK;
}

static tacet_status collect_reserve(collection *c, const tacet__record *record, tacet_error *err) {
    void *array = c->tickets;
    c->report->entries++;
    if (!tacet__grow(&array, &c->tickets_capacity, c->tickets_count + 1, sizeof *c->tickets)) {
        return no_memory(err);
    }
    c->tickets = array;
    c->tickets[c->tickets_count] = strdup(record->reserve.ticket);
    if (c->tickets[c->tickets_count] == NULL) {
        return no_memory(err);
    }
    c->tickets_count++;
    return collect_charge(c, record, err);
}

static tacet_status collect_commit(collection *c, const tacet__record *record, tacet_error *err) {
    bool row = false;
    c->report->answered++;
    if (c->answers[record->commit.entry] != 0) {
        return tacet__record_corrupt(record->seq, "answers what is no reservation, or a second time", err);
    }
    c->answers[record->commit.entry] = record->seq;
    tacet__query_bind_int(c->answer, 1, (int64_t)record->seq);
    tacet_status status = tacet__query_step(c->answer, &row, err);
    if (status == TACET_OK) {
        size_t size = 0;
        unsigned char hash[TACET_HASH_BYTES];
        const unsigned char *bytes = row ? tacet__query_bytes(c->answer, 0, &size) : NULL;
        tacet__answer_hash(hash, bytes, size);
        if (!row || size != record->commit.answer_size ||
            memcmp(hash, record->commit.answer_hash, TACET_HASH_BYTES) != 0) {
            status = tacet__record_corrupt(record->seq, "has lost its answer, or has another one", err);
        }
    }
    tacet__query_reset(c->answer);
    return status;
}

static tacet_status collect(void *user, const tacet__ledger_row *row, tacet_error *err) {
    collection *c = user;
    const tacet__record *record = row->record;
    tacet__ledger_report *report = c->report;
    void *array = c->answers;
    tacet_status status = TACET_OK;
    if (!tacet__grow(&array, &c->answers_capacity, (size_t)record->seq + 1, sizeof *c->answers)) {
        return no_memory(err);
    }
    c->answers = array;
    switch (record->kind) { /* GCOVR_EXCL_BR_LINE: tacet__record_decode makes no other kind */
    case TACET__RECORD_BUDGET:
        memcpy(report->id, record->budget.id, sizeof report->id);
        report->accounting = record->budget.accounting;
        report->budget_eps = record->budget.eps;
        report->budget_delta = record->budget.delta;
        report->cap = record->budget.cap;
        report->uncovered_most = record->budget.uncovered_most;
        break;
    case TACET__RECORD_RESERVE:
        status = collect_reserve(c, record, err);
        break;
    case TACET__RECORD_COMMIT:
        status = collect_commit(c, record, err);
        break;
    }
    c->answers[record->seq] = record->kind == TACET__RECORD_RESERVE ? 0 : record->seq;
    report->records++;
    memcpy(report->head, row->hash, TACET_HASH_BYTES);
    if (c->noted != NULL && memcmp(c->noted, row->hash, TACET_HASH_BYTES) == 0) {
        report->head_was_given = true;
        report->head_at = record->seq;
    }
    return status;
}

/* ---- judging ---- */

static int by_text(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int by_group(const void *a, const void *b) {
    const charged *x = a;
    const charged *y = b;
    const int group = strcmp(x->group, y->group);
    return group != 0 ? group : strcmp(x->part, y->part);
}

static tacet_status check_tickets(const collection *c, tacet_error *err) {
    if (c->tickets_count > 0) {
        qsort(c->tickets, c->tickets_count, sizeof *c->tickets, by_text);
    }
    for (size_t i = 1; i < c->tickets_count; i++) {
        if (strcmp(c->tickets[i - 1], c->tickets[i]) == 0) {
            return tacet__fail(err, TACET_CORRUPT, "the ledger has two entries under the ticket '%s'", c->tickets[i]);
        }
    }
    return TACET_OK;
}

/* Sum over groups of the dearest part; what is in no group counts in full. */
static void add_up(const collection *c, long double *main, long double *delta) {
    *main = 0;
    *delta = 0;
    /* By group, and within it by part: what belongs together are neighbours. */
    if (c->charges_count > 0) {
        qsort(c->charges, c->charges_count, sizeof *c->charges, by_group);
    }
    for (size_t i = 0; i < c->charges_count;) {
        const charged *first = &c->charges[i];
        long double dearest = 0;
        long double dearest_delta = 0;
        if (first->group[0] == '\0') {
            *main += first->main;
            *delta += first->delta;
            i++;
            continue;
        }
        while (i < c->charges_count && strcmp(c->charges[i].group, first->group) == 0) {
            const charged *part = &c->charges[i];
            long double sum = 0;
            long double sum_delta = 0;
            for (; i < c->charges_count && by_group(&c->charges[i], part) == 0; i++) {
                sum += c->charges[i].main;
                sum_delta += c->charges[i].delta;
            }
            dearest = fmaxl(dearest, sum);
            dearest_delta = fmaxl(dearest_delta, sum_delta);
        }
        *main += dearest;
        *delta += dearest_delta;
    }
}

static bool cap_holds(const tacet__ledger_report *r) {
    const double most = r->budget_delta * (1 + CAP_TOLERANCE);
    switch (r->accounting) { /* GCOVR_EXCL_BR_LINE: nor another accounting; it would hold no cap */
    case TACET_ACCOUNTING_BASIC:
        return r->cap == r->budget_eps;
    case TACET_ACCOUNTING_ZCDP:
        return zcdp_delta(r->cap, r->budget_eps) <= most;
    case TACET_ACCOUNTING_GAUSSIAN:
        return gaussian_delta(r->cap, r->budget_eps) <= most;
    }
    return false;
}

/* Costs are positive and totals only grow, so the budget was kept at every record when it is kept at the last. */
static tacet_status check_budget(const collection *c, tacet_error *err) {
    tacet__ledger_report *r = c->report;
    long double main = 0;
    long double delta = 0;
    add_up(c, &main, &delta);
    const bool gaussian = r->accounting == TACET_ACCOUNTING_GAUSSIAN;
    r->spent = (double)(gaussian ? sqrtl(main) : main);
    r->spent_delta = (double)delta;
    r->eps = r->spent;
    r->delta = r->spent_delta;
    if (r->accounting != TACET_ACCOUNTING_BASIC) {
        r->delta = r->spent > 0 ? r->budget_delta : 0;
    }
    if (r->spent > 0 && gaussian) {
        r->eps = tacet__ledger_gaussian_eps(r->spent, r->budget_delta);
    } else if (r->spent > 0 && r->accounting == TACET_ACCOUNTING_ZCDP) {
        r->eps = tacet__ledger_zcdp_eps(r->spent, r->budget_delta);
    }
    if (!cap_holds(r)) {
        return tacet__fail(err, TACET_CORRUPT, "the ledger's cap is more than its eps and delta allow");
    }
    const long double slack = 1 + 2 * (long double)TACET__LEDGER_SLACK;
    const long double cap = gaussian ? (long double)r->cap * r->cap : r->cap;
    if (main > cap * slack ||
        (r->accounting == TACET_ACCOUNTING_BASIC && delta > (long double)r->budget_delta * slack)) {
        return tacet__fail(err, TACET_CORRUPT, "the entries add up to more than the budget");
    }
    if (r->uncovered > r->uncovered_most) {
        return tacet__fail(err, TACET_CORRUPT, "there are more uncovered disclosures than the ledger allows");
    }
    return TACET_OK;
}

static tacet_status expect_number(tacet__ledger_view *view, const char *sql, uint64_t expected, const char *why,
                                  tacet_error *err) {
    int64_t found = 0;
    const tacet_status status = tacet__ledger_number(view->db, &found, sql, err);
    return status == TACET_OK && (uint64_t)found != expected ? tacet__fail(err, TACET_CORRUPT, "%s", why) : status;
}

/* What lies beside the chain. */
static tacet_status check_rest(const collection *c, tacet_error *err) {
    const tacet__ledger_report *r = c->report;
    tacet__query *query = NULL;
    bool row = false;
    /* A chain that was cut is a chain: that it ends here is said outside of it. */
    tacet_status status = expect_number(c->view, "SELECT records FROM head", r->records,
                                        "the ledger's head names another number of records: cut off", err);
    TACET_THEN(status, tacet__db_prepare(c->view->db, &query, "SELECT hash FROM head", err));
    TACET_THEN(status, tacet__query_step(query, &row, err));
    if (status == TACET_OK) {
        size_t size = 0;
        const unsigned char *hash = tacet__query_bytes(query, 0, &size);
        if (size != TACET_HASH_BYTES || memcmp(hash, r->head, TACET_HASH_BYTES) != 0) {
            status = tacet__fail(err, TACET_CORRUPT, "the ledger's head has another hash than its last record");
        }
    }
    tacet__query_free(query);
    TACET_THEN(status, expect_number(c->view, "SELECT count(*) FROM answer", r->answered,
                                     "there are answers that no record stands for", err));
    if (status == TACET_OK && !tacet__db_shared(c->view->db)) {
        status = expect_number(c->view, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'", 0,
                               "the file is damaged (integrity_check)", err);
    }
    return status;
}

static void discard(collection *c) {
    for (size_t i = 0; i < c->tickets_count; i++) {
        free(c->tickets[i]);
    }
    for (size_t i = 0; i < c->charges_count; i++) {
        free(c->charges[i].group);
        free(c->charges[i].part);
    }
    free(c->tickets);
    free(c->charges);
    free(c->answers);
    tacet__query_free(c->answer);
}

tacet_status tacet__ledger_verify(tacet__ledger_view *view, tacet__ledger_report *report, const unsigned char *noted,
                                  tacet_error *err) {
    collection c = {.view = view, .report = report, .noted = noted};
    memset(report, 0, sizeof *report);
    int64_t tables = 0;
    /* So that a missing table is named as one. */
    tacet_status status =
        tacet__ledger_number(view->db, &tables, "SELECT 1 FROM record, answer, head, mint LIMIT 1", err);
    TACET_THEN(status, tacet__db_prepare(view->db, &c.answer, "SELECT bytes FROM answer WHERE seq = ?1", err));
    TACET_THEN(status, tacet__ledger_each(view, collect, &c, err));
    if (status == TACET_OK && report->records == 0) {
        status = tacet__fail(err, TACET_CORRUPT, "the ledger is empty: not even its budget is there");
    }
    TACET_THEN(status, check_tickets(&c, err));
    TACET_THEN(status, check_budget(&c, err));
    TACET_THEN(status, check_rest(&c, err));
    if (status == TACET_OK && noted != NULL && !report->head_was_given) {
        status = tacet__fail(err, TACET_CORRUPT,
                             "no record has the hash that was noted: cut off before it, or another ledger");
    }
    if (status == TACET_OK) {
        free(view->answers);
        view->answers = c.answers;
        view->answers_count = (size_t)report->records;
        /* For readers: only a reservation has an answer. */
        c.answers = NULL;
    }
    discard(&c);
    return status;
}
