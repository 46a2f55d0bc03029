/* SPDX-License-Identifier: Apache-2.0 */
/* session.c - the modeler's loop: rows asked for, random rows, then the model's choices, each through the journal.
 * Ring: open. What the journal has was asked and is taken as it stands; a row that cannot be measured is put aside and
 * another one asked; a holder that does not answer costs its own rows, and its open question is asked again from time
 * to time and by the next run; however the search ends, what is known is told. */
#include "outsourced/open/modeler_internal.h"
#include "outsourced/open/session_internal.h"

#include "core/fail.h"
#include "core/memory.h"

#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/core/simrng.h>

enum {
    FIRST_ROWS = 10, /* asked at random, where the budget has four times as many */
    FAILED_IN_A_ROW = 10
};

void tacet_session_defaults(tacet_session_settings *s) {
    *s = (tacet_session_settings){
        .noise_var = NAN, .beta_scale = 1, .delta_ucb = 0.05, .queries = 40, .initial = TACET_SESSION_OWN, .seed = 1};
}

const char *tacet_session_end_name(tacet_session_end end) {
    static const char *const NAMES[] = {"done", "interrupted", "budget", "away", "refused", "unmeasurable"};
    const int number = (int)end;
    return number >= 0 && number <= TACET_SESSION_UNMEASURABLE ? NAMES[number] : "";
}

static void best_of(const tacet__session *r, size_t *row, double *value) {
    *row = SIZE_MAX;
    *value = 0;
    for (size_t i = 0; i < r->known; i++) {
        if (*row == SIZE_MAX || (r->s->minimize ? r->raw[i] < *value : r->raw[i] > *value)) {
            *row = r->order[i];
            *value = r->raw[i];
        }
    }
}

static size_t holder_of(const tacet__session *r, size_t row) {
    return tacet_session_place(r->holders, r->holder_count, &row);
}

bool tacet__session_absent(const tacet__session *r, size_t row) {
    return r->absent[holder_of(r, row)].why.status != TACET_OK;
}

static void mark_taken(tacet__session *r, size_t row) {
    r->taken[row] = true;
    r->absent[holder_of(r, row)].taken++;
}

size_t tacet__session_left(const tacet__session *r) {
    size_t left = 0;
    for (size_t h = 0; h < r->holder_count; h++) {
        left += r->absent[h].why.status == TACET_OK ? r->start[h + 1] - r->start[h] - r->absent[h].taken : 0;
    }
    return left;
}

/* --- one question ---------------------------------------------------------------------------------------------------
 */

static tacet_status put_aside(tacet__session *r, size_t row, tacet_error *err) {
    if (!tacet__grow((void **)&r->failed, &r->failed_capacity, r->failed_count + 1, sizeof *r->failed)) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for the session");
    }
    r->failed[r->failed_count++] = row;
    mark_taken(r, row);
    tacet__session_forget(r); /* it is made anew over the other rows */
    return TACET_OK;
}

static void note_answered(tacet__session *r, const tacet__journal_query *q) {
    r->random_count += q->how == TACET__ASKED_RANDOM ? 1 : 0;
    r->base = q->how == TACET__ASKED_MODEL && r->base == SIZE_MAX ? r->known : r->base;
    r->order[r->known] = q->row;
    r->raw[r->known] = q->value;
    r->how[r->known] = q->how;
    r->known++;
    mark_taken(r, q->row);
    if (r->s->progress != NULL) {
        size_t best = 0;
        double best_value = 0;
        best_of(r, &best, &best_value);
        r->s->progress(r->known, r->s->queries, best, best_value, r->s->user);
    }
}

/* Whether a holder that answered so is left out, and the search goes on with the others. */
static bool is_absence(tacet_status status) {
    return status == TACET_IO || status == TACET_TIMEOUT || status == TACET_BUDGET || status == TACET_DENIED ||
           status == TACET_NOT_FOUND;
}

/* It is made anew, with the rows that can be asked now. */
static void forget_model(tacet__session *r) {
    if (r->holder_count > 1) {
        tacet__session_forget(r);
    }
}

static void leave_out(tacet__session *r, size_t holder, const tacet_error *why) {
    tacet__session_absence *a = &r->absent[holder];
    if (a->why.status == TACET_OK) {
        a->next = 1;
        forget_model(r);
    }
    a->why = *why;
    a->wait = a->next;
    a->next *= 2; /* to ask may cost a timeout, so the share of questions that are lost to one holder goes to 0 */
}

/* Asks a question of the journal. *open: its holder does not answer; the question stays. */
static tacet_status put_question(tacet__session *r, size_t index, bool *open, tacet_error *err) {
    tacet__journal_query *q = &r->book.queries[index];
    size_t row = q->row;
    const size_t holder = tacet_session_place(r->holders, r->holder_count, &row);
    double value = 0;
    tacet_error why = {0};
    const tacet_status status = r->asker->ask(r->asker->user, &value, q->ticket, holder, row, &why);
    if (is_absence(status)) {
        why.status = status;
        *open = true;
        leave_out(r, holder, &why);
        return TACET_OK;
    }
    if (status == TACET_OK || status == TACET_UNSUPPORTED) {
        if (r->absent[holder].why.status != TACET_OK) { /* it is back */
            r->absent[holder].why = (tacet_error){0};
            forget_model(r);
        }
        r->answers += status == TACET_OK ? 1 : 0;
        return status == TACET_OK ? tacet__journal_value(&r->book, index, value, err)
                                  : tacet__journal_failed(&r->book, index, err);
    }
    if (err != NULL) {
        *err = why;
    }
    return status;
}

/* Settles a question of the journal: asks it where it has no answer yet. *failed: it cannot be measured. *open: its
 * holder does not answer. */
static tacet_status settle(tacet__session *r, size_t index, bool *failed, bool *open, tacet_error *err) {
    const tacet__journal_query *q = &r->book.queries[index];
    *failed = *open = false;
    if (r->taken[q->row]) {
        return tacet__fail(err, TACET_CORRUPT, "the journal asked row %zu twice", q->row);
    }
    if (!q->answered && !q->failed) {
        *open = r->answers >= r->s->queries || (tacet__session_absent(r, q->row) && !r->trying);
        const tacet_status status = *open ? TACET_OK : put_question(r, index, open, err);
        if (status != TACET_OK || *open) {
            return status;
        }
    }
    *failed = q->failed;
    if (*failed) {
        return put_aside(r, q->row, err);
    }
    note_answered(r, q);
    return TACET_OK;
}

/* Holders that are away are tried again, the less often the longer they are: by their open question, of which each has
 * one. Those that refused are not. */
static tacet_status try_absent(tacet__session *r, tacet_error *err) {
    tacet_status status = TACET_OK;
    for (size_t h = 0; h < r->holder_count && status == TACET_OK; h++) {
        tacet__session_absence *a = &r->absent[h];
        const bool away = a->why.status == TACET_IO || a->why.status == TACET_TIMEOUT;
        if (!away || --a->wait > 0) {
            continue;
        }
        bool open = false;
        r->trying = true;
        for (size_t i = 0; i < r->book.count && status == TACET_OK && !open; i++) {
            const tacet__journal_query *q = &r->book.queries[i];
            bool failed = false;
            if (!q->answered && !q->failed && holder_of(r, q->row) == h) {
                status = settle(r, i, &failed, &open, err);
            }
        }
        r->trying = false;
    }
    return status;
}

/* --- which row ------------------------------------------------------------------------------------------------------
 */

static size_t random_row(const tacet__session *r) {
    tacet_simrng rng;
    tacet_simrng_init(&rng, r->s->seed, 1000 + r->book.count);
    size_t row = tacet_simrng_below(&rng, r->n);
    while (r->taken[row] || tacet__session_absent(r, row)) {
        row = tacet_simrng_below(&rng, r->n);
    }
    return row;
}

static tacet_status choose(tacet__session *r, size_t *row, tacet__asked *how, uint64_t *ticket, tacet_error *err) {
    if (r->random_count < r->initial && r->base == SIZE_MAX) {
        *row = random_row(r);
        *how = TACET__ASKED_RANDOM;
        return TACET_OK;
    }
    tacet_suggestion suggestion;
    tacet_status status = tacet__session_model(r, err);
    TACET_THEN(status, tacet_policy_suggest(r->policy, &suggestion, NULL, err));
    if (status == TACET_OK) {
        *row = r->map != NULL ? r->map[suggestion.index] : suggestion.index;
        *how = TACET__ASKED_MODEL;
        *ticket = suggestion.ticket;
    }
    return status;
}

/* --- what is known ------------------------------------------------------------------------------------------------ */

static void tell_chance(tacet_session_result *out, const tacet__session *r) {
    double *values = TACET__ZALLOC(double, r->known); /* of random rows from the front, of chosen ones from the back */
    size_t random = 0;
    size_t rest = r->known;
    for (size_t i = 0; i < r->known && values != NULL; i++) {
        values[r->how[i] == TACET__ASKED_RANDOM ? random++ : --rest] = r->raw[i]; /* it goes by ranks alone */
    }
    out->compared = values != NULL && tacet_chance_tell(&out->chance, values, random, values + rest, r->known - rest,
                                                        r->known, r->s->minimize, NULL) == TACET_OK;
    free(values);
}

static void tell_model(tacet_session_result *out, tacet__session *r) {
    tacet_recommendation best;
    const double sign = r->s->minimize ? -1 : 1;
    if (tacet__session_model(r, NULL) != TACET_OK || tacet_policy_recommend(r->policy, &best, NULL) != TACET_OK) {
        return; /* what was measured is told all the same */
    }
    out->predicted = true;
    out->recommended_row = r->map != NULL ? r->map[best.index] : best.index;
    out->recommended_mean = sign * best.mean * r->scale + r->shift;
    out->recommended_sd = best.sd * r->scale;
    (void)snprintf(out->method, sizeof out->method, "%s", tacet_policy_name(r->policy));
    out->known = tacet_modeler_tell(r->policy, &out->knowledge, NULL) == TACET_OK;
    if (out->known) {
        tacet_modeler_knowledge *k = &out->knowledge;
        k->next_row = k->next_row != SIZE_MAX && r->map != NULL ? r->map[k->next_row] : k->next_row;
        k->next_mean = sign * k->next_mean * r->scale + r->shift;
        const double worse = sign * k->next_low * r->scale + r->shift;
        const double better = sign * k->next_high * r->scale + r->shift;
        k->next_low = fmin(worse, better);
        k->next_high = fmax(worse, better);
    }
    out->lengthscale = r->lengthscale;
    out->noise_var = r->noise_var;
}

/* Only a model that is there is asked, and only the averaging modeler, which draws nothing at random when it is. */
static void show(tacet__session *r) {
    tacet_session_result so_far = {.count = r->known, .failed = r->failed, .failed_count = r->failed_count};
    if (r->s->looked == NULL || r->known == 0) {
        return;
    }
    so_far.rows = r->order;
    so_far.values = r->raw;
    best_of(r, &so_far.best_row, &so_far.best_value);
    if (r->policy != NULL && r->averaging) {
        tell_model(&so_far, r);
    }
    tell_chance(&so_far, r);
    r->s->looked(&so_far, r->s->user);
}

/* --- one step ----------------------------------------------------------------------------------------------------- */

/* One more row. The model learns it here, when it chose it. */
static tacet_status step(tacet__session *r, bool *failed, tacet_error *err) {
    size_t row = 0;
    uint64_t ticket = 0;
    tacet__asked how = TACET__ASKED_MODEL;
    tacet_status status = choose(r, &row, &how, &ticket, err);
    TACET_THEN(status, tacet__journal_ask(&r->book, row, how, err));
    bool open = false;
    TACET_THEN(status, settle(r, r->book.count - 1, failed, &open, err));
    if (status == TACET_OK && !*failed && !open && how == TACET__ASKED_MODEL) {
        status = tacet_policy_observe(r->policy, ticket, tacet__session_target(r, r->raw[r->known - 1]), err);
    }
    if (status == TACET_OK && !open) {
        status = try_absent(r, err);
        show(r);
    }
    return status;
}

static tacet_session_end end_of(tacet_status status) {
    return status == TACET_OK                              ? TACET_SESSION_DONE
           : status == TACET_UNSUPPORTED                   ? TACET_SESSION_UNMEASURABLE
           : status == TACET_STATE                         ? TACET_SESSION_STOPPED
           : status == TACET_BUDGET                        ? TACET_SESSION_BUDGET
           : status == TACET_IO || status == TACET_TIMEOUT ? TACET_SESSION_AWAY
                                                           : TACET_SESSION_REFUSED;
}

/* Until the budget is spent, or something ends it. */
static tacet_status search(tacet__session *r, tacet_error *err) {
    tacet_status status = TACET_OK;
    size_t failures = 0;
    for (size_t i = 0; status == TACET_OK; i++) {
        bool failed = false;
        bool open = false;
        if (i >= r->book.count && (r->known >= r->s->queries || tacet__session_left(r) == 0)) {
            break;
        }
        if (r->s->stop != NULL && r->s->stop(r->s->user)) {
            return tacet__fail(err, TACET_STATE, "interrupted");
        }
        status = i < r->book.count ? settle(r, i, &failed, &open, err) : step(r, &failed, err);
        failures = failed ? failures + 1 : 0;
        if (status == TACET_OK && failures == FAILED_IN_A_ROW && i + 1 >= r->book.count) {
            return tacet__fail(err, TACET_UNSUPPORTED, "%zu rows one after the other could not be measured", failures);
        }
    }
    for (size_t h = 0; h < r->holder_count && status == TACET_OK && r->known < r->s->queries; h++) {
        const tacet_error *why = &r->absent[h].why;
        status = why->status != TACET_OK ? tacet__fail(err, why->status, "%s", why->message) : TACET_OK;
    }
    return status;
}

/* --- beginning and end ----------------------------------------------------------------------------------------------
 */

/* What the choices depend on. The number of queries is not in it: more may be asked later. */
static json_t *settings_json(const tacet__session *r) {
    const tacet_session_settings *s = r->s;
    crypto_generichash_state state;
    unsigned char hash[16];
    char hex[2 * sizeof hash + 1];
    (void)crypto_generichash_init(&state, NULL, 0, sizeof hash);
    for (size_t h = 0; h < r->holder_count; h++) { /* with the closing NUL between them */
        const char *text = r->holders[h].text;
        (void)crypto_generichash_update(&state, (const unsigned char *)text, strlen(text) + 1);
    }
    (void)crypto_generichash_final(&state, hash, sizeof hash);
    (void)sodium_bin2hex(hex, sizeof hex, hash, sizeof hash);
    /* Numbers as text: they must compare equal after a round trip through the file. */
    return json_pack("{ss so so so so so so sb sI sI}", "release", hex, "lengthscale",
                     json_sprintf("%.17g", s->lengthscale), "signal_var", json_sprintf("%.17g", s->signal_var),
                     "noise_var", json_sprintf("%.17g", s->noise_var), "mean", json_sprintf("%.17g", s->mean),
                     "beta_scale", json_sprintf("%.17g", s->beta_scale), "delta_ucb",
                     json_sprintf("%.17g", s->delta_ucb), "minimize", (int)s->minimize, "initial",
                     (json_int_t)s->initial, "seed", (json_int_t)s->seed);
}

/* Room for so many values. */
static tacet_status reserve(tacet__session *r, size_t values, tacet_error *err) {
    const bool good = tacet__grow((void **)&r->order, &r->capacity[0], values, sizeof *r->order) &&
                      tacet__grow((void **)&r->raw, &r->capacity[1], values, sizeof *r->raw) &&
                      tacet__grow((void **)&r->how, &r->capacity[2], values, sizeof *r->how);
    return good ? TACET_OK : tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu values", values);
}

static tacet_status open_journal(tacet__session *r, tacet_error *err) {
    if (r->s->state == NULL) {
        return tacet__journal_none(&r->book, err);
    }
    json_t *description = settings_json(r);
    tacet_status status = description != NULL ? tacet__journal_open(&r->book, r->s->state, description, err)
                                              : tacet__fail(err, TACET_NO_MEMORY, "out of memory");
    json_decref(description);
    for (size_t i = 0; status == TACET_OK && i < r->book.count; i++) {
        r->answers += r->book.queries[i].answered ? 1 : 0;
        if (r->book.queries[i].row >= r->n) {
            status = tacet__fail(err, TACET_CORRUPT, "the journal asked a row that the release does not have");
        }
    }
    return status != TACET_OK ? status : reserve(r, r->book.count + r->s->queries, err);
}

static size_t initial_of(const tacet__session *r) {
    if (r->s->initial != TACET_SESSION_OWN) {
        return r->s->initial;
    }
    /* The model needs a few values to tell draws apart; random rows are also what chance is told from (chance.c). */
    const size_t quarter = (r->s->queries + 3) / 4;
    return quarter < FIRST_ROWS ? quarter : FIRST_ROWS;
}

static tacet_status prepare(tacet__session *r, tacet_error *err) {
    const tacet_session_settings *s = r->s;
    r->start = TACET__ZALLOC(size_t, r->holder_count + 1);
    r->absent = TACET__ZALLOC(tacet__session_absence, r->holder_count);
    r->kept_rows = TACET__ZALLOC(size_t, r->holder_count);
    r->holder_noise = TACET__ZALLOC(double, r->holder_count);
    for (size_t h = 0; r->start != NULL && h < r->holder_count; h++) {
        r->n += r->holders[h].manifest->rows;
        r->start[h + 1] = r->n;
    }
    if (r->start != NULL && (s->queries == 0 || s->queries > r->n)) {
        return tacet__fail(err, TACET_INVALID, "between 1 and %zu queries are possible on this release", r->n);
    }
    r->taken = TACET__ZALLOC(bool, r->n);
    if (r->start == NULL || r->absent == NULL || r->kept_rows == NULL || r->holder_noise == NULL || r->taken == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu rows", r->n);
    }
    tacet_status status = reserve(r, s->queries, err);
    TACET_THEN(status, tacet__session_rows(r, err));
    return status != TACET_OK ? status : tacet__session_method(r, err);
}

/* Settings that cannot work are refused before the journal is bound to them and before anything is asked: by making the
 * model that would be made if the first rows had been measured. */
static tacet_status rehearse(tacet__session *r, tacet_error *err) {
    const tacet_status status = tacet__session_model(r, err);
    r->base = SIZE_MAX;
    tacet__session_forget(r);
    return status;
}

static void conclude(tacet_session_result *out, tacet__session *r) {
    best_of(r, &out->best_row, &out->best_value);
    tell_model(out, r);
    tell_chance(out, r);
    out->count = r->known;
    out->rows = r->order;
    out->values = r->raw;
    out->failed = r->failed;
    out->failed_count = r->failed_count;
    out->holders = TACET__ZALLOC(tacet_error, r->holder_count);
    out->holder_count = out->holders != NULL ? r->holder_count : 0;
    for (size_t h = 0; h < out->holder_count; h++) {
        out->holders[h] = r->absent[h].why;
    }
    r->order = NULL;
    r->raw = NULL;
    r->failed = NULL;
}

void tacet_session_result_clear(tacet_session_result *result) {
    free(result->rows);
    free(result->values);
    free(result->failed);
    free(result->holders);
    *result = (tacet_session_result){0};
}

static void clear(tacet__session *r) {
    tacet__session_forget(r);
    tacet__journal_close(&r->book);
    free(r->taken);
    free(r->order);
    free(r->raw);
    free(r->failed);
    free(r->how);
    free(r->low);
    free(r->high);
    free(r->map);
    free(r->kept);
    free(r->rows);
    free(r->spread);
    free(r->start);
    free(r->absent);
    free(r->kept_rows);
    free(r->holder_noise);
}

/* Whether a search that ended so has something to tell, rather than only why it failed. */
static bool may_conclude(tacet_status status) {
    return status == TACET_OK || status == TACET_STATE || status == TACET_UNSUPPORTED || is_absence(status);
}

tacet_status tacet_session_run(tacet_session_result *out, const tacet_session_settings *settings,
                               const tacet_session_asker *asker, const tacet_session_holder *holders,
                               size_t holder_count, tacet_error *err) {
    tacet__session r = {.s = settings,
                        .holders = holders,
                        .holder_count = holder_count,
                        .asker = asker,
                        .book = {.fd = -1},
                        .base = SIZE_MAX,
                        .scale = 1};
    *out = (tacet_session_result){0};
    if (holder_count == 0) {
        return tacet__fail(err, TACET_INVALID, "a search needs a holder of rows");
    }
    tacet_status status = prepare(&r, err);
    TACET_THEN(status, rehearse(&r, err));
    TACET_THEN(status, open_journal(&r, err));
    if (status == TACET_OK) {
        tacet_error why = {0};
        r.initial = initial_of(&r);
        status = search(&r, &why);
        if (may_conclude(status) && r.known > 0) {
            out->end = end_of(status);
            out->why = why;
            status = TACET_OK;
            conclude(out, &r);
        } else if (status != TACET_OK && err != NULL) {
            *err = why;
        }
    }
    clear(&r);
    return status;
}
