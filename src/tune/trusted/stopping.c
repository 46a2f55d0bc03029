/* SPDX-License-Identifier: Apache-2.0 */
/* stopping.c - the best of a random number of private runs: the wrapper that keeps the rules of its price.
 * Ring: trusted. In: private scores, one a run. Out: one setting and its score. Source: Liu, Talwar 2019; Papernot,
 * Steinke 2022; README.md, "Private trainers". Differs: settings are drawn from the sealed key, too.
 * Cost: one sync a run; memory for the scores. */
#include "space/internal.h"
#include <tacet/tune/trusted/tune.h>

#include "core/codec.h"
#include "core/fail.h"
#include "core/memory.h"
#include "dp/stopping.h"
#include "tune/trusted/internal.h"

#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WHAT_BYTES = 160, ANSWER_VERSION = 1 };
static const char *const ANSWER = "stopping winner";
static const uint64_t RUNS_MOST = UINT64_C(1) << 32;

struct tacet_stopping {
    tacet_space space;
    tacet_select law;
    tacet_ledger *ledger;
    tacet_entry entry;
    tacet__tune_journal *journal;
    unsigned char key[TACET_MINT_BYTES]; /* secret until the winner is stored */
    uint64_t runs;                       /* secret, K; 0: answered before */
    size_t told, begun;
    unsigned char *places; /* K of them: 0 not begun, 1 begun, 2 told */
    bool any;
    size_t best_run;
    double best_score;
    double *best; /* its record */
    bool done;
};

void tacet_stopping_settings_defaults(tacet_stopping_settings *settings) {
    *settings = (tacet_stopping_settings){.runs = 30};
}

tacet_status tacet_stopping_price(tacet_select *out, const tacet_stopping_settings *s, tacet_error *err) {
    if ((s->eps > 0) == (s->rho > 0)) {
        return tacet__fail(err, TACET_INVALID, "what has one run: eps, or rho with delta?");
    }
    TACET_OR_RETURN(tacet__stopping_law(out, s->runs, err));
    return s->eps > 0 ? tacet_select_pure(out, s->eps, err) : tacet_select_zcdp(out, s->rho, s->delta, err);
}

/* Runs are compared by their scores. Of several with the same score the first by its number is kept: runs are
 * exchangeable, so that this is as good as a secret coin, and whoever ended first does not matter. */
static void take_score(tacet_stopping *s, size_t run, double score) {
    const double counted = isnan(score) ? (double)-INFINITY : score;
    if (!s->any || counted > s->best_score || (counted == s->best_score && run < s->best_run)) {
        double cube[TACET_SPACE_COLUMNS];
        s->any = true;
        s->best_score = counted;
        s->best_run = run;
        tacet__stopping_uniforms(s->key, run, cube, s->space.count);
        tacet__tune_record(&s->space, s->best, cube);
    }
    s->places[run] = 2;
    s->told++;
}

static tacet_status read_back(void *user, uint64_t number, const void *bytes, size_t size, tacet_error *err) {
    tacet_stopping *s = user;
    double score = 0;
    if (number >= s->runs || size != sizeof score || s->places[number] == 2) {
        return tacet__fail(err, TACET_CORRUPT, "the state has an entry that no run of these settings writes");
    }
    memcpy(&score, bytes, sizeof score);
    take_score(s, (size_t)number, score);
    return TACET_OK;
}

static tacet_status encode_answer(const tacet_stopping *s, tacet_blob *out, tacet_error *err) {
    tacet__writer w;
    tacet__write_begin(&w, out, ANSWER, ANSWER_VERSION);
    tacet__write_f64(&w, s->best_score);
    tacet__write_size(&w, s->space.count);
    tacet__write_f64s(&w, s->best, s->space.count);
    return tacet__write_end(&w, err);
}

static tacet_status decode_answer(tacet_stopping *s, const tacet_blob *memo, tacet_error *err) {
    tacet__reader r;
    TACET_OR_RETURN(tacet__read_begin(&r, memo->data, memo->size, ANSWER, ANSWER_VERSION, err));
    s->best_score = tacet__read_f64(&r);
    const size_t count = tacet__read_size(&r, TACET_SPACE_COLUMNS);
    if (count != s->space.count) {
        return tacet__fail(err, TACET_CONFLICT, "the ledger's answer is of another space");
    }
    tacet__read_f64s(&r, s->best, count);
    s->done = true;
    return tacet__read_end(&r, err);
}

/* K, and what was told before. */
static tacet_status begin_runs(tacet_stopping *s, const char *state, const char *ticket, tacet_error *err) {
    unsigned char key[TACET__TUNE_JOURNAL_KEY];
    s->runs = tacet__stopping_runs(s->key, &s->law);
    if (s->runs > RUNS_MOST) {
        return tacet__fail(err, TACET_UNSUPPORTED, "more runs than this program can do");
    }
    s->places = TACET__ZALLOC(unsigned char, (size_t)s->runs);
    if (s->places == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for the runs");
    }
    if (state == NULL) {
        return TACET_OK;
    }
    /* Of the key: a state goes with the reservation that it was begun under. */
    (void)crypto_generichash(key, sizeof key, (const unsigned char *)ticket, strlen(ticket), s->key, sizeof s->key);
    return tacet__tune_journal_open(&s->journal, state, key, read_back, s, err);
}

/* What is asked, with a hash of the space: an answer of another one would name other settings. */
static tacet_status describe(const tacet_stopping *s, double runs, char what[WHAT_BYTES], tacet_error *err) {
    char hex[17];
    unsigned char hash[crypto_generichash_BYTES];
    char *space = NULL;
    TACET_OR_RETURN(tacet_space_encode(&s->space, &space, err));
    (void)crypto_generichash(hash, sizeof hash, (const unsigned char *)space, strlen(space), NULL, 0);
    (void)sodium_bin2hex(hex, sizeof hex, hash, sizeof hex / 2);
    (void)snprintf(what, WHAT_BYTES, "tuning: best of a random number of private runs, %.6g on average, space %s", runs,
                   hex);
    free(space);
    return TACET_OK;
}

tacet_status tacet_stopping_open(tacet_stopping **out, const tacet_stopping_settings *settings,
                                 const tacet_tune_ask *ask, tacet_error *err) {
    char what[WHAT_BYTES];
    tacet_blob memo;
    *out = NULL;
    if (ask->ledger == NULL || ask->noise != NULL) {
        return tacet__fail(err, TACET_INVALID, "random stopping needs a ledger, and has no seeded form");
    }
    if (settings->space == NULL || settings->space->count == 0) {
        return tacet__fail(err, TACET_INVALID, "tuning needs a space with at least one column");
    }
    tacet_stopping *s = TACET__ZALLOC(tacet_stopping, 1);
    if (s == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a tuning run");
    }
    const char *ticket = ask->ticket != NULL ? ask->ticket : "tune";
    tacet_blob_init(&memo);
    tacet_space_init(&s->space);
    s->ledger = ask->ledger;
    tacet_status status = tacet_stopping_price(&s->law, settings, err);
    TACET_THEN(status, tacet_space_copy(&s->space, settings->space, err));
    if (status == TACET_OK) {
        s->best = TACET__ZALLOC(double, s->space.count);
        status = s->best != NULL ? TACET_OK : tacet__fail(err, TACET_NO_MEMORY, "out of memory for a setting");
    }
    TACET_THEN(status, describe(s, settings->runs, what, err));
    TACET_THEN(status, tacet__stopping_reserve(s->ledger, &s->entry, &memo, s->key, ticket, what,
                                               ask->to_whom != NULL ? ask->to_whom : "anyone", &s->law, err));
    if (status == TACET_OK) {
        status = s->entry.answered ? decode_answer(s, &memo, err) : begin_runs(s, ask->state, ticket, err);
    }
    tacet_blob_clear(&memo);
    if (status != TACET_OK) {
        tacet_stopping_close(s);
        return status;
    }
    *out = s;
    return TACET_OK;
}

void tacet_stopping_close(tacet_stopping *s) {
    if (s == NULL) {
        return;
    }
    tacet__tune_journal_close(s->journal);
    tacet_space_clear(&s->space);
    free(s->places);
    free(s->best);
    sodium_memzero(s, sizeof *s);
    free(s);
}

tacet_status tacet_stopping_next(tacet_stopping *s, size_t *run, double *record, tacet_error *err) {
    double cube[TACET_SPACE_COLUMNS];
    *run = TACET_TUNE_NONE;
    (void)err;
    while (s->begun < s->runs && s->places[s->begun] != 0) {
        s->begun++;
    }
    if (s->done || s->begun >= s->runs) {
        return TACET_OK;
    }
    tacet__stopping_uniforms(s->key, s->begun, cube, s->space.count);
    tacet__tune_record(&s->space, record, cube);
    s->places[s->begun] = 1;
    *run = s->begun++;
    return TACET_OK;
}

tacet_status tacet_stopping_tell(tacet_stopping *s, size_t run, double score, bool *best, tacet_error *err) {
    if (s->done || run >= s->runs || s->places[run] != 1) {
        return tacet__fail(err, TACET_STATE, "this run was not begun, or was told before");
    }
    TACET_OR_RETURN(s->journal != NULL ? tacet__tune_journal_append(s->journal, run, &score, sizeof score, err)
                                       : TACET_OK);
    take_score(s, run, score);
    if (best != NULL) {
        *best = s->best_run == run;
    }
    return TACET_OK;
}

tacet_status tacet_stopping_result(tacet_stopping *s, double *record, double *score, tacet_error *err) {
    if (!s->done) {
        if (s->told < s->runs) {
            return tacet__fail(err, TACET_STATE, "there are runs that were not told yet");
        }
        tacet_blob answer;
        tacet_blob_init(&answer);
        tacet_status status = encode_answer(s, &answer, err);
        TACET_THEN(status, tacet_ledger_commit(s->ledger, &s->entry, answer.data, answer.size, NULL, err));
        tacet_blob_clear(&answer);
        if (status != TACET_OK) {
            return status;
        }
        s->done = true;
    }
    memcpy(record, s->best, s->space.count * sizeof *record);
    *score = s->best_score;
    return TACET_OK;
}
