/* SPDX-License-Identifier: Apache-2.0 */
/* shipped_run.c - runs a way out many times, whole or interrupted and repeated, and judges what came out.
 * Ring: audit. An interruption: a child asks, and dies when the ledger is about to commit the answer; the reservation
 * is durable. Then the question is asked again, in the folder that is left and in a copy of it, and both must give the
 * same bits. The worst that whoever interrupts can do is to look at the first and, if they dislike it, to take the
 * second: that is what the bound is measured on. Cost: that of the ways. */
#include "audit/shipped_way.h"

#include "audit/noise_law.h"
#include "core/fail.h"
#include "core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/dp/ledger.h>

enum {
    SIDE_BY_SIDE = 64, /* answers of one number in a row, when rows are compared */
    FEW_SIDE_BY_SIDE = 8,
    COMMITS_MOST = 64 /* of one question; there are four or five */
};

static bool redraws(const tacet__shipment *s) {
    return s->settings->control != NULL && strcmp(s->settings->control, "redraws") == 0;
}

static tacet_status begin(tacet__shipment *s, tacet_error *err) {
    const tacet_status status = tacet__scratch_empty(s->folder, err);
    return status != TACET_OK ? status : s->way->prepare(s, err);
}

static tacet_status ask(void *user, tacet_error *err) {
    tacet__shipment *s = user;
    return s->way->ask(s, err);
}

/* Reserved and not answered: the way's own ticket, where it has one. */
static bool is_open(const tacet__shipment *s) {
    tacet_ledger_settings l;
    tacet_ledger_totals totals = {0};
    tacet_ledger *ledger = NULL;
    tacet_ledger_settings_defaults(&l);
    l.create = false;
    l.use_stored = true;
    bool open = tacet_ledger_open(&ledger, s->ledger, &l, NULL) == TACET_OK &&
                tacet_ledger_total(ledger, &totals, NULL) == TACET_OK && totals.entries > totals.answered;
    if (open && s->way->ticket != NULL) {
        tacet_entry entry = {0};
        tacet_blob memo;
        tacet_blob_init(&memo);
        open = tacet_ledger_lookup(ledger, &entry, &memo, s->way->ticket, NULL) == TACET_OK && !entry.answered;
        tacet_blob_clear(&memo);
    }
    tacet_ledger_close(ledger);
    return open;
}

/* Before which commit of the ledger the run dies: the last one of a question (of its ticket, of its mark), half-way
 * through many. */
static tacet_status find_commit(tacet__shipment *s, size_t *out, tacet_error *err) {
    tacet_status status = TACET_OK;
    size_t found = 0;
    if (s->questions > 1) {
        *out = s->questions;
        return TACET_OK;
    }
    for (size_t k = 0; status == TACET_OK && k < COMMITS_MOST; k++) { /* a question that fails looks killed, too */
        status = begin(s, err);
        if (status == TACET_OK && !tacet__scratch_killed(s->ledger, k, ask, s)) {
            break;
        }
        found = is_open(s) ? k : found;
    }
    *out = found;
    return status != TACET_OK || found > 0
               ? status
               : tacet__fail(err, TACET_STATE, "no release of '%s' could be interrupted", s->way->name);
}

static tacet_status keep_copy(tacet__shipment *s, tacet_error *err) {
    tacet__scratch_remove(s->kept);
    return tacet__scratch_copy(s->kept, s->folder, err);
}

static tacet_status put_back(tacet__shipment *s, tacet_error *err) {
    tacet__scratch_remove(s->folder);
    return rename(s->kept, s->folder) == 0 ? TACET_OK
                                           : tacet__fail(err, TACET_IO, "%.150s: cannot be put back", s->folder);
}

/* Runs and what they show. */
typedef struct tally {
    size_t commit;     /* dies before this one; 0: not interrupted */
    size_t redrawn;    /* answers that a repeat gave differently */
    double sum, count; /* of first answers */
} tally;

/* Whoever interrupts keeps what is above the mean so far, and has the rest asked again. */
static void select_answers(tacet__shipment *s, tally *t, const double *first) {
    for (size_t i = 0; i < s->questions; i++) {
        const size_t at = i * s->numbers;
        const size_t bytes = s->numbers * sizeof *first;
        t->redrawn += memcmp(first + at, s->values + at, bytes) != 0;
        t->sum += first[at];
        t->count += 1;
        if (first[at] >= t->sum / t->count) {
            memcpy(s->values + at, first + at, bytes);
        }
    }
}

/* The questions of s->worlds; s->values is what the outside sees. */
static tacet_status answer(tacet__shipment *s, tally *t, tacet_error *err) {
    double *first = NULL;
    tacet_status status = begin(s, err);
    if (t->commit == 0) {
        return status != TACET_OK ? status : ask(s, err);
    }
    if (status == TACET_OK && redraws(s)) {
        status = keep_copy(s, err); /* from before the reservation: forgotten, as if it had not been durable */
    }
    if (status == TACET_OK && !tacet__scratch_killed(s->ledger, t->commit, ask, s)) {
        status = tacet__fail(err, TACET_STATE, "a release that was to be interrupted came through");
    }
    if (status == TACET_OK && !redraws(s)) {
        status = keep_copy(s, err);
    }
    TACET_THEN(status, ask(s, err));
    if (s->questions > 1) {
        return status; /* most of them were not begun when it died: they have no draw to be repeated */
    }
    if (status == TACET_OK && (first = TACET__ZALLOC(double, s->questions * s->numbers)) == NULL) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu answers", s->questions);
    }
    if (status == TACET_OK) {
        memcpy(first, s->values, s->questions * s->numbers * sizeof *first);
        status = put_back(s, err);
    }
    TACET_THEN(status, ask(s, err));
    if (status == TACET_OK) {
        select_answers(s, t, first);
    }
    free(first);
    return status;
}

/* All questions of `worlds`, so many together as the way takes (interrupted: one by one, for the bound). */
static tacet_status answer_all(tacet__shipment *s, tally *t, double *values, const unsigned char *worlds, size_t count,
                               size_t together, double from, double to, tacet_error *err) {
    tacet_status status = TACET_OK;
    t->commit = 0;
    for (size_t at = 0; at < count && status == TACET_OK; at += s->questions) {
        s->questions = count - at < together ? count - at : together;
        s->worlds = worlds + at;
        s->values = values + at * s->numbers;
        if (s->settings->interrupted && (at == 0 || s->questions < together)) {
            status = find_commit(s, &t->commit, err);
        }
        TACET_THEN(status, answer(s, t, err));
        tacet__shipped_tell(s->settings, from + (to - from) * (double)at / (double)count);
    }
    return status;
}

static void note_redrawn(const tally *t, tacet_audit_shipped_result *out) {
    out->redrawn += t->redrawn;
    if (t->redrawn > 0) {
        tacet__shipped_complain(out, "an answer that was interrupted and asked for again was another one");
    }
}

/* What was added: answers less the middle, or less the mean of all answers to the same question. Returns by how much
 * the latter makes the variance look smaller. */
static double subtract(const tacet__shipment *s, double *values, size_t count) {
    if (isfinite(s->way->middle)) {
        for (size_t i = 0; i < count * s->numbers; i++) {
            values[i] -= s->way->middle;
        }
        return 1;
    }
    for (size_t c = 0; c < s->numbers; c++) {
        double mean = 0;
        for (size_t i = 0; i < count; i++) {
            mean += values[i * s->numbers + c] / (double)count;
        }
        for (size_t i = 0; i < count; i++) {
            values[i * s->numbers + c] -= mean;
        }
    }
    return 1 - 1 / (double)count;
}

static tacet_status test_noise(const tacet__shipment *s, tacet_audit_shipped_result *out, double *noise, size_t rows,
                               size_t columns, const tacet__law_claim *claim, tacet_error *err) {
    tacet__law_report report;
    tacet__shipped_spoil(s->settings, noise, rows, columns);
    const tacet_status status = tacet__law_test(&report, noise, rows, columns, claim, err);
    out->variance_ratio = report.variance_ratio;
    out->repeats = report.repeats;
    if (status == TACET_OK && report.failed) {
        tacet__shipped_complain(out, report.reason);
    }
    return status;
}

/* Each interruption takes so long that those for the bound must do: a dear way of one number. */
static bool law_by_bound(const tacet__shipment *s) {
    return s->settings->interrupted && s->way->law_numbers == 1 && s->way->most == 1;
}

/* The law of the answers that the bound was measured on: each less the mean of its world. */
static tacet_status law_of_bound(const tacet__shipment *s, tacet_audit_shipped_result *out, const double *values,
                                 const unsigned char *worlds, size_t count, tacet_error *err) {
    static const double LAPLACE_SPREAD = 5; /* of a square about its mean; of Gaussian noise 2 */
    const size_t rows = count / FEW_SIDE_BY_SIDE;
    double sum[2] = {0};
    double size[2] = {0};
    double *noise = TACET__ALIGNED(double, count);
    if (noise == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu answers", count);
    }
    for (size_t i = 0; i < count; i++) {
        sum[worlds[i]] += values[i];
        size[worlds[i]] += 1;
    }
    for (size_t i = 0; i < count; i++) {
        noise[i] = values[i] - sum[worlds[i]] / size[worlds[i]];
    }
    const tacet__law_claim claim = {.variance = s->variance * (1 - 2 / (double)count),
                                    .spread = LAPLACE_SPREAD / FEW_SIDE_BY_SIDE};
    const tacet_status status = test_noise(s, out, noise, rows, FEW_SIDE_BY_SIDE, &claim, err);
    free(noise);
    return status;
}

static tacet_status bound(tacet__shipment *s, tacet_audit_shipped_result *out, tacet_error *err) {
    const bool interrupted = s->settings->interrupted;
    const size_t count = interrupted ? s->settings->runs : s->settings->rows;
    tally t = {0};
    unsigned char *worlds = tacet__shipped_coins(count);
    double *values = TACET__ALIGNED(double, count);
    tacet_status status = worlds == NULL || values == NULL
                              ? tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu answers", count)
                              : TACET_OK;
    if (status == TACET_OK) {
        s->numbers = 1;
        status = answer_all(s, &t, values, worlds, count, interrupted ? 1 : s->way->most, 0, 0.5, err);
    }
    if (status == TACET_OK) {
        note_redrawn(&t, out);
        status = law_by_bound(s) ? law_of_bound(s, out, values, worlds, count, err) : TACET_OK;
    }
    TACET_THEN(status, tacet__shipped_judge(s->settings, out, values, worlds, count, err));
    free(worlds);
    free(values);
    return status;
}

static tacet_status law(tacet__shipment *s, tacet_audit_shipped_result *out, tacet_error *err) {
    const bool alone = s->way->law_numbers == 1;
    const size_t wanted = s->settings->interrupted && !alone ? s->settings->runs : s->settings->rows;
    const size_t count = alone ? wanted / SIDE_BY_SIDE * SIDE_BY_SIDE : wanted;
    tally t = {0};
    unsigned char *worlds = TACET__ZALLOC(unsigned char, count);
    double *values = TACET__ALIGNED(double, count * s->way->law_numbers);
    tacet_status status = worlds == NULL || values == NULL
                              ? tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu answers", count)
                              : TACET_OK;
    if (status == TACET_OK) {
        memset(worlds, TACET__WORLD_LAW, count);
        s->numbers = s->way->law_numbers;
        status = answer_all(s, &t, values, worlds, count, s->way->most, 0.5, 1, err);
    }
    if (status == TACET_OK) {
        const double factor = subtract(s, values, count);
        const size_t columns = alone ? SIDE_BY_SIDE : s->numbers;
        const tacet__law_claim claim = {.variance = s->variance * factor};
        note_redrawn(&t, out);
        status = test_noise(s, out, values, count * s->numbers / columns, columns, &claim, err);
    }
    free(worlds);
    free(values);
    return status;
}

tacet_status tacet__way_audit(tacet__shipment *s, tacet_audit_shipped_result *out, tacet_error *err) {
    const tacet_status status = bound(s, out, err);
    return status != TACET_OK || law_by_bound(s) ? status : law(s, out, err);
}
