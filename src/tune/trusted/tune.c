/* SPDX-License-Identifier: Apache-2.0 */
/* tune.c - the run: settings out, values in, a winner a round, the last one's score.
 * Ring: trusted. In: one value a record and setting. Out: tacet_release, of a tally. Source: README.md; Kusner
 * et al. 2015 pose the problem, McKenna and Sheldon 2020 have the choice. Differs: rounds with new public candidates
 * around each winner. Cost: O(records) a setting told, one durable write; O(settings) a round. */
#include "space/internal.h"
#include <tacet/tune/trusted/tune.h>

#include "core/fail.h"
#include "core/memory.h"
#include "tally/gate.h"
#include "tune/trusted/internal.h"

#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TICKET_MOST = 120, GROUP_BYTES = 256, WHAT_BYTES = 200 };
static const char PROOF[] = "src/tune/README.md, a round";
static const double SENSITIVITY = 1; /* of each sum: values are from 0 to 1 in whole steps */
enum { STREAM_SPLIT = 1000 };        /* of the public seed: which records are kept */

typedef enum place { FREE, OUT, TOLD } place;
typedef struct sums { /* private */
    int64_t search, kept;
} sums;

struct tacet_tune {
    tacet_space space;
    tacet_tune_settings s; /* space points here, reference is not used after open */
    tacet_tune_plan plan;
    tacet_tune_ask ask; /* texts point below */
    char ticket[TICKET_MOST + 1], to_whom[TICKET_MOST + 1], group[GROUP_BYTES];
    tacet__tune_journal *journal; /* NULL: in memory alone */
    tacet__settings settings;
    unsigned char *places;  /* evaluations of them */
    sums *told;             /* likewise; private, wiped */
    unsigned char *is_kept; /* of each record */
    double *reference;      /* contrasts: the reference's values, clipped; private, wiped; NULL: none */
    size_t round;           /* from 0 */
    size_t winners[TACET_TUNE_ROUNDS_MOST];
    tacet_receipt receipts[TACET_TUNE_ROUNDS_MOST];
    tacet_tune_score score;
    bool done;
};

/* Which records are kept: a function of the public seed, of row numbers and of n alone. */
static void split_records(tacet_tune *t) {
    tacet_simrng rng;
    tacet_simrng_init(&rng, t->s.seed, STREAM_SPLIT);
    size_t wanted = t->plan.kept;
    for (size_t i = 0; i < t->s.records; i++) { /* selection sampling: each subset of this size is as likely */
        const bool keep = tacet_simrng_below(&rng, t->s.records - i) < wanted;
        t->is_kept[i] = keep ? 1 : 0;
        wanted -= keep ? 1 : 0;
    }
}

/* Everything that must be the same for a state to be gone on with. */
static tacet_status hash_settings(const tacet_tune *t, unsigned char out[TACET__TUNE_JOURNAL_KEY], tacet_error *err) {
    char text[512];
    char *space = NULL;
    TACET_OR_RETURN(tacet_space_encode(&t->space, &space, err));
    const tacet_tune_settings *s = &t->s;
    (void)snprintf(text, sizeof text, "%zu %.17g %.17g %d %.17g %zu %.17g %.17g %.17g %d %llu %s", s->records, s->lower,
                   s->upper, s->minimize, s->eps, s->evaluations, s->kept, s->level, s->contrast, s->flat,
                   (unsigned long long)s->seed, t->ticket);
    crypto_generichash_state state;
    (void)crypto_generichash_init(&state, NULL, 0, TACET__TUNE_JOURNAL_KEY);
    (void)crypto_generichash_update(&state, (const unsigned char *)space, strlen(space) + 1);
    (void)crypto_generichash_update(&state, (const unsigned char *)text, strlen(text) + 1);
    if (s->contrast > 0) { /* the reference is setting 0 */
        (void)crypto_generichash_update(&state, (const unsigned char *)t->settings.records,
                                        t->space.count * sizeof(double));
    }
    (void)crypto_generichash_final(&state, out, TACET__TUNE_JOURNAL_KEY);
    free(space);
    return TACET_OK;
}

/* An entry of the state: two sums, and of the reference of contrasts its values. */
static tacet_status read_back(void *user, uint64_t number, const void *bytes, size_t size, tacet_error *err) {
    tacet_tune *t = user;
    const bool reference = t->reference != NULL && number == 0;
    const size_t values = reference ? t->s.records * sizeof(double) : 0;
    sums read;
    if (number >= t->s.evaluations || size != sizeof read + values || t->places[number] == TOLD) {
        return tacet__fail(err, TACET_CORRUPT, "the state has an entry that no run of these settings writes");
    }
    memcpy(&read, bytes, sizeof read);
    t->told[number] = read;
    t->places[number] = TOLD;
    if (reference) {
        memcpy(t->reference, (const char *)bytes + sizeof read, values);
    }
    return TACET_OK;
}

/* The whole run must fit before the first setting is evaluated, so that nobody computes for nothing. Each round is
 * still checked by its own reservation. */
static tacet_status check_budget(const tacet_tune *t, tacet_error *err) {
    char ticket[TACET_TICKET_MOST + 1];
    tacet_charge begun;
    tacet_blob texts;
    tacet_ledger_totals totals;
    (void)snprintf(ticket, sizeof ticket, "%s/round 1", t->ticket);
    tacet_blob_init(&texts);
    tacet_status s = tacet_ledger_charge(t->ask.ledger, &begun, &texts, ticket, NULL);
    const bool other = s == TACET_OK && strcmp(begun.group, t->group) != 0;
    tacet_blob_clear(&texts);
    if (s != TACET_NOT_FOUND) { /* begun: what is left of it is checked as it is reserved */
        return !other ? TACET_OK
                      : tacet__fail(err, TACET_CONFLICT,
                                    "the ticket '%s' was used for another search: a new one (--ticket) is charged by "
                                    "itself; nothing was evaluated",
                                    t->ticket);
    }
    s = tacet_ledger_total(t->ask.ledger, &totals, err);
    if (s != TACET_OK) {
        return s;
    }
    double need = 0;
    for (size_t k = 0; k <= t->plan.rounds; k++) { /* the last one stands for the score, of other records */
        tacet_charge charge;
        tacet_charge_init(&charge);
        tacet_charge_pure(&charge, k < t->plan.rounds ? t->plan.eps[k] : t->s.eps);
        const double cost = totals.accounting == TACET_ACCOUNTING_BASIC  ? charge.eps
                            : totals.accounting == TACET_ACCOUNTING_ZCDP ? charge.rho
                                                                         : charge.mu * charge.mu;
        need = k < t->plan.rounds ? need + cost : t->plan.kept > 0 ? fmax(need, cost) : need;
    }
    const bool squared = totals.accounting == TACET_ACCOUNTING_GAUSSIAN;
    const double spent = squared ? totals.spent * totals.spent : totals.spent;
    const double cap = squared ? totals.cap * totals.cap : totals.cap;
    if (!(spent + need <= cap * (1 + 1e-9))) {
        return tacet__fail(err, TACET_BUDGET,
                           "this run needs eps %.6g, and the ledger has spent %.6g of %.6g: nothing was evaluated or "
                           "charged",
                           t->s.eps, totals.eps, totals.budget_eps);
    }
    return TACET_OK;
}

static tacet_status copy_ask(tacet_tune *t, const tacet_tune_ask *ask, tacet_error *err) {
    const char *ticket = ask->ticket != NULL ? ask->ticket : "tune";
    const char *to_whom = ask->to_whom != NULL ? ask->to_whom : "anyone";
    if (ticket[0] == '\0' || strlen(ticket) > TICKET_MOST || strlen(to_whom) > TICKET_MOST) {
        return tacet__fail(err, TACET_INVALID, "a ticket needs 1 to %d bytes, a recipient at most %d", TICKET_MOST,
                           TICKET_MOST);
    }
    if (ask->ledger == NULL && ask->noise == NULL) {
        return tacet__fail(err, TACET_INVALID, "tuning needs a ledger; only seeded noise does without");
    }
    t->ask = *ask;
    (void)snprintf(t->ticket, sizeof t->ticket, "%s", ticket);
    (void)snprintf(t->to_whom, sizeof t->to_whom, "%s", to_whom);
    return TACET_OK;
}

/* Who is in which part is in the name: a run that splits otherwise has another group. So has one with another space,
 * where the numbers of the winners would name other settings. */
static void name_group(tacet_tune *t, const unsigned char key[TACET__TUNE_JOURNAL_KEY]) {
    char hex[17];
    (void)sodium_bin2hex(hex, sizeof hex, key, sizeof hex / 2);
    (void)snprintf(t->group, sizeof t->group, "%s: %zu of %zu records kept, seed %llu, question %s", t->ticket,
                   t->plan.kept, t->s.records, (unsigned long long)t->s.seed, hex);
}

static tacet_status make_room(tacet_tune *t, tacet_error *err) {
    t->places = TACET__ZALLOC(unsigned char, t->s.evaluations);
    t->told = TACET__ZALLOC(sums, t->s.evaluations);
    t->is_kept = TACET__ZALLOC(unsigned char, t->s.records);
    if (t->s.contrast > 0) {
        t->reference = TACET__ZALLOC(double, t->s.records);
    }
    if (t->places == NULL || t->told == NULL || t->is_kept == NULL || (t->s.contrast > 0 && t->reference == NULL)) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu records", t->s.records);
    }
    t->settings.space = &t->space;
    return tacet__settings_reserve(&t->settings, t->s.evaluations + 1, err); /* one for trying */
}

/* Round 1: the reference of contrasts first, then the spread. */
static tacet_status first_settings(tacet_tune *t, const double *reference, tacet_error *err) {
    double cube[TACET_SPACE_COLUMNS];
    size_t count = t->plan.settings[0];
    for (size_t j = 0; j < t->space.count; j++) {
        cube[j] = 0.5;
        if (reference != NULL && !tacet_space_holds(&t->space.columns[j], reference[j])) {
            return tacet__fail(err, TACET_INVALID, "column %s of the reference lies outside the space",
                               t->space.columns[j].name);
        }
    }
    if (t->s.contrast > 0) {
        if (reference != NULL) {
            tacet__tune_cube(&t->space, cube, reference);
        }
        (void)tacet__settings_add(&t->settings, cube);
        count--;
    }
    tacet__settings_spread(&t->settings, count, t->s.seed);
    return TACET_OK;
}

tacet_status tacet_tune_open(tacet_tune **out, const tacet_tune_settings *settings, const tacet_tune_ask *ask,
                             tacet_error *err) {
    unsigned char key[TACET__TUNE_JOURNAL_KEY];
    tacet_tune_plan plan;
    *out = NULL;
    tacet_status s = tacet_tune_plan_get(&plan, settings, err);
    if (s != TACET_OK) {
        return s;
    }
    tacet_tune *t = TACET__ZALLOC(tacet_tune, 1);
    if (t == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a tuning run");
    }
    tacet_space_init(&t->space);
    t->s = *settings;
    t->plan = plan;
    s = tacet_space_copy(&t->space, settings->space, err);
    t->s.space = &t->space;
    TACET_THEN(s, copy_ask(t, ask, err));
    TACET_THEN(s, make_room(t, err));
    TACET_THEN(s, first_settings(t, settings->reference, err));
    TACET_THEN(s, hash_settings(t, key, err));
    if (s == TACET_OK) {
        split_records(t);
        name_group(t, key);
        s = t->ask.ledger != NULL ? check_budget(t, err) : TACET_OK;
    }
    if (s == TACET_OK && ask->state != NULL) {
        s = tacet__tune_journal_open(&t->journal, ask->state, key, read_back, t, err);
    }
    t->s.reference = NULL;
    if (s != TACET_OK) {
        tacet_tune_close(t);
        return s;
    }
    *out = t;
    return TACET_OK;
}

static void wipe_and_free(void *bytes, size_t size) {
    if (bytes != NULL) {
        sodium_memzero(bytes, size);
    }
    free(bytes);
}

void tacet_tune_close(tacet_tune *t) {
    if (t == NULL) {
        return;
    }
    tacet__tune_journal_close(t->journal);
    tacet__settings_clear(&t->settings);
    wipe_and_free(t->told, t->s.evaluations * sizeof *t->told);
    wipe_and_free(t->reference, t->s.records * sizeof *t->reference);
    free(t->places);
    free(t->is_kept);
    tacet_space_clear(&t->space);
    free(t);
}

/* The range as the gate clips to it: losses are turned round, so that more is better. */
static void oriented_range(const tacet_tune *t, double *lower, double *upper) {
    *lower = t->s.minimize ? -t->s.upper : t->s.lower;
    *upper = t->s.minimize ? -t->s.lower : t->s.upper;
}

/* One side of the split. Each value is clipped and rounded by itself, before it is added. */
static int64_t add_up(const tacet_tune *t, const double *values, bool kept, double lower, double upper) {
    int64_t sum = 0;
    for (size_t i = 0; i < t->s.records; i++) {
        if ((t->is_kept[i] != 0) == kept) {
            sum += tacet_tally_steps(values[i], lower, upper);
        }
    }
    return sum;
}

/* The sums of a setting by its values, oriented and, but for what is no number, within the range. A contrast with a
 * record that failed at the reference is no number either, and so the lowest. */
static sums sum_values(tacet_tune *t, double *values, bool is_reference) {
    double lower = 0, upper = 0;
    oriented_range(t, &lower, &upper);
    for (size_t i = 0; i < t->s.records; i++) {
        const double v = t->s.minimize ? -values[i] : values[i];
        values[i] = v < lower ? lower : v > upper ? upper : v;
    }
    sums out = {.kept = add_up(t, values, true, lower, upper)};
    if (t->reference != NULL) {
        for (size_t i = 0; is_reference && i < t->s.records; i++) {
            t->reference[i] = values[i];
        }
        for (size_t i = 0; i < t->s.records; i++) {
            values[i] -= t->reference[i];
        }
        lower = -t->s.contrast;
        upper = t->s.contrast;
    }
    out.search = add_up(t, values, false, lower, upper);
    return out;
}

static tacet_status note(tacet_tune *t, size_t number, const sums *told, tacet_error *err) {
    const bool reference = t->reference != NULL && number == 0;
    tacet_status s = TACET_OK;
    if (t->journal != NULL) {
        tacet_blob blob;
        tacet_blob_init(&blob);
        s = tacet_blob_append(&blob, told, sizeof *told, err);
        if (s == TACET_OK && reference) {
            s = tacet_blob_append(&blob, t->reference, t->s.records * sizeof *t->reference, err);
        }
        TACET_THEN(s, tacet__tune_journal_append(t->journal, number, blob.data, blob.size, err));
        tacet_blob_clear(&blob);
    }
    if (s == TACET_OK) {
        t->told[number] = *told;
        t->places[number] = TOLD;
    }
    return s;
}

static tacet_status check_out(const tacet_tune *t, size_t number, tacet_error *err) {
    if (number >= t->settings.count || t->places[number] != OUT) {
        return tacet__fail(err, TACET_STATE, "setting %zu was not handed out, or was told before", number);
    }
    return TACET_OK;
}

tacet_status tacet_tune_tell(tacet_tune *t, size_t number, const double *values, size_t count, tacet_error *err) {
    tacet_status s = check_out(t, number, err);
    if (s != TACET_OK) {
        return s;
    }
    if (count != t->s.records) {
        return tacet__fail(err, TACET_INVALID,
                           "%zu values for %zu records: tuning needs the value of each record, never their mean, so "
                           "that each can be clipped",
                           count, t->s.records);
    }
    double *copy = TACET__ZALLOC(double, count);
    if (copy == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu values", count);
    }
    memcpy(copy, values, count * sizeof *copy);
    sums told = sum_values(t, copy, t->reference != NULL && number == 0);
    s = note(t, number, &told, err);
    wipe_and_free(copy, count * sizeof *copy);
    sodium_memzero(&told, sizeof told);
    return s;
}

tacet_status tacet_tune_fail(tacet_tune *t, size_t number, tacet_error *err) {
    const sums lowest = {0, 0};
    const tacet_status s = check_out(t, number, err);
    if (s == TACET_OK && t->reference != NULL && number == 0) {
        return tacet__fail(err, TACET_STATE,
                           "the reference setting of the contrasts could not be evaluated: name another reference; "
                           "nothing was charged");
    }
    return s != TACET_OK ? s : note(t, number, &lowest, err);
}

tacet_status tacet_tune_give_back(tacet_tune *t, size_t number, tacet_error *err) {
    const tacet_status s = check_out(t, number, err);
    if (s == TACET_OK) {
        t->places[number] = FREE;
    }
    return s;
}

/* A question to the gate about this run. */
static tacet_ask question(const tacet_tune *t, const char *ticket, const char *what, bool kept) {
    return (tacet_ask){.ledger = t->ask.ledger,
                       .noise = t->ask.noise,
                       .ticket = ticket,
                       .what = what,
                       .to_whom = t->to_whom,
                       .covered_fields = "all values of a record",
                       .uncovered_fields = "number of records, space, evaluations, rounds, seed of the candidates",
                       .covered_records = kept ? "each kept record, replaced by any other"
                                               : "each searched record, replaced by any other",
                       .group = t->group,
                       .part = kept ? "kept" : "search",
                       .records = kept ? t->plan.kept : t->plan.searched};
}

/* To the gate: the sums of all settings so far over the searched records, to choose among; or that of the last winner
 * over the kept ones. A replaced record moves each by at most 1 (README.md). */
static tacet_status draw(const tacet_tune *t, tacet_release **out, const tacet_ask *ask, bool kept, double eps,
                         tacet_error *err) {
    tacet_tally_plan plan = {.numbers = kept ? 1 : t->settings.count};
    tacet_tally *tally = NULL;
    tacet_raw *raw = NULL;
    (void)crypto_generichash(plan.hash, sizeof plan.hash, (const unsigned char *)ask->ticket, strlen(ask->ticket), NULL,
                             0);
    tacet_status s = tacet_tally_create(&tally, &plan, "settings", err);
    for (size_t i = 0; s == TACET_OK && i < plan.numbers; i++) {
        s = tacet_tally_add(tally, 1, &i, kept ? &t->told[t->winners[t->plan.rounds - 1]].kept : &t->told[i].search, 1,
                            err);
    }
    TACET_THEN(s, tacet_tally_raw(tally, &raw, plan.numbers, err));
    const tacet__tally_sums all = {.raw = raw,
                                   .count = plan.numbers,
                                   .norm = (double)(kept ? t->plan.kept : t->plan.searched),
                                   .sensitivity = SENSITIVITY,
                                   .eps = eps,
                                   .proof = PROOF};
    TACET_THEN(s, kept ? tacet__tally_release(out, &all, ask, err) : tacet__tally_choose(out, &all, ask, err));
    tacet_raw_free(raw);
    tacet_tally_free(tally);
    return s;
}

static tacet_status draw_winner(tacet_tune *t, tacet_error *err) {
    char ticket[TACET_TICKET_MOST + 1], what[WHAT_BYTES];
    tacet_release *release = NULL;
    const size_t k = t->round;
    (void)snprintf(ticket, sizeof ticket, "%s/round %zu", t->ticket, k + 1);
    (void)snprintf(what, sizeof what, "tuning: winner of round %zu of %zu among %zu settings", k + 1, t->plan.rounds,
                   t->settings.count);
    const tacet_ask ask = question(t, ticket, what, false);
    tacet_status s = draw(t, &release, &ask, false, t->plan.eps[k], err);
    if (s == TACET_OK) {
        t->winners[k] = (size_t)tacet_release_values(release)[0];
        t->receipts[k] = *tacet_release_receipt(release);
        s = t->winners[k] < t->settings.count
                ? TACET_OK
                : tacet__fail(err, TACET_CORRUPT, "the ledger's answer names no setting of this run");
    }
    tacet_release_free(release);
    return s;
}

/* README.md, "The winner's score". */
static void read_score(tacet_tune *t, const tacet_release *release) {
    const tacet_receipt *receipt = tacet_release_receipt(release);
    const double n = (double)t->plan.kept, alpha = 1 - t->s.level;
    const double width = t->s.upper - t->s.lower;
    const double m = tacet_release_values(release)[0] / n;
    /* Noise, its grid, and the rounding of each value. */
    const double off =
        (receipt->scale * log(2 / alpha) + ldexp(1, receipt->grid_exponent)) / n + 0.5 / (double)TACET_TALLY_ONE;
    double lower = 0, upper = 0, oriented = 0, top = 0;
    tacet_tune_interval(&lower, &upper, m, off, t->plan.kept, alpha);
    oriented_range(t, &oriented, &top);
    t->score = (tacet_tune_score){.value = oriented + fmin(fmax(m, 0), 1) * width,
                                  .lower = oriented + lower * width,
                                  .upper = oriented + upper * width,
                                  .level = t->s.level,
                                  .noise_sd = receipt->error_sd / n * width,
                                  .records = t->plan.kept,
                                  .receipt = *receipt};
    if (t->s.minimize) {
        const double low = -t->score.upper;
        t->score.upper = -t->score.lower;
        t->score.lower = low;
        t->score.value = -t->score.value;
    }
}

static tacet_status draw_score(tacet_tune *t, tacet_error *err) {
    char ticket[TACET_TICKET_MOST + 1];
    tacet_release *release = NULL;
    (void)snprintf(ticket, sizeof ticket, "%s/score", t->ticket);
    const tacet_ask ask = question(t, ticket, "tuning: score of the last winner on the kept records", true);
    tacet_status s = draw(t, &release, &ask, true, t->s.eps, err);
    if (s == TACET_OK) {
        read_score(t, release);
    }
    tacet_release_free(release);
    return s;
}

static bool all_told(const tacet_tune *t) {
    for (size_t i = 0; i < t->settings.count; i++) {
        if (t->places[i] != TOLD) {
            return false;
        }
    }
    return true;
}

/* Draws what is due. Only releases decide which settings come next. */
static tacet_status advance(tacet_tune *t, tacet_error *err) {
    tacet_status s = TACET_OK;
    while (s == TACET_OK && !t->done && all_told(t)) {
        if (t->round < t->plan.rounds) {
            s = draw_winner(t, err);
            if (s == TACET_OK && ++t->round < t->plan.rounds) {
                tacet__settings_zoom(&t->settings, t->plan.settings[t->round], t->s.seed, t->round, t->plan.rounds,
                                     t->winners);
            }
        } else {
            s = t->plan.kept > 0 ? draw_score(t, err) : TACET_OK;
            t->done = s == TACET_OK;
        }
    }
    return s;
}

tacet_status tacet_tune_next(tacet_tune *t, size_t *number, double *record, tacet_error *err) {
    *number = TACET_TUNE_NONE;
    const tacet_status s = advance(t, err);
    if (s != TACET_OK || t->done) {
        return s;
    }
    const bool reference_first = t->reference != NULL && t->places[0] != TOLD;
    const size_t count = reference_first ? 1 : t->settings.count;
    for (size_t i = 0; i < count; i++) {
        if (t->places[i] == FREE) {
            t->places[i] = OUT;
            memcpy(record, t->settings.records + i * t->space.count, t->space.count * sizeof *record);
            *number = i;
            break;
        }
    }
    return TACET_OK;
}

void tacet_tune_progress_get(const tacet_tune *t, tacet_tune_progress *out) {
    *out = (tacet_tune_progress){.rounds = t->plan.rounds, .done = t->done, .planned = t->s.evaluations};
    out->round = t->round < t->plan.rounds ? t->round + 1 : t->plan.rounds;
    for (size_t i = 0; i < t->settings.count; i++) {
        out->told += t->places[i] == TOLD ? 1 : 0;
        out->open += t->places[i] == OUT ? 1 : 0;
    }
}

bool tacet_tune_done(const tacet_tune *t) {
    return t->done;
}

size_t tacet_tune_winners(const tacet_tune *t) {
    return t->round;
}

tacet_status tacet_tune_winner(const tacet_tune *t, size_t round, double *record, tacet_receipt *receipt,
                               tacet_error *err) {
    if (round >= t->round) {
        return tacet__fail(err, TACET_NOT_FOUND, "no winner of round %zu yet", round + 1);
    }
    if (record != NULL) {
        memcpy(record, t->settings.records + t->winners[round] * t->space.count, t->space.count * sizeof *record);
    }
    if (receipt != NULL) {
        *receipt = t->receipts[round];
    }
    return TACET_OK;
}

tacet_status tacet_tune_score_get(const tacet_tune *t, tacet_tune_score *out, tacet_error *err) {
    if (!t->done || t->plan.kept == 0) {
        return tacet__fail(err, TACET_STATE, t->done ? "no records were kept for a score" : "the run is not done");
    }
    *out = t->score;
    return TACET_OK;
}

const tacet_space *tacet__tune_space(const tacet_tune *t) {
    return &t->space;
}

size_t tacet__tune_records(const tacet_tune *t) {
    return t->s.records;
}
