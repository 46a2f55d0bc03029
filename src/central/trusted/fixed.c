/* SPDX-License-Identifier: Apache-2.0 */
/* fixed.c - joint DP over a fixed public domain: sums of rewards along planned arms, one release a batch.
 * Ring: trusted. Source and differences: fixed_learner.c; proof: src/central/README.md, (f). A release happens in
 * the first suggestion after a batch's end; its ticket is answered once, so a restart can't release a batch twice
 * differently. Cost: O(m) a report once its vector is made (O(m^2)), O(m^3) a batch. */
#include <tacet/central/trusted/fixed.h>

#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "central/trusted/gate.h"
#include "core/codec.h"
#include "core/fail.h"
#include "core/memory.h"

static const char PROOF[] = "src/central/README.md", STATE_NAME[] = "fixed";
enum { STATE_VERSION = 1, PRINT_BYTES = 32, TICKET_ROOM = TACET_TICKET_MOST + 1, TEXT_ROOM = 256 };
static const uint64_t MOST_ROUNDS = (uint64_t)1 << 22;
/* A short study is judged by the arm it ends with, a long one by what it lost on the way: README.md, (f). */
static const uint64_t SHORT_ROUNDS = 300;
enum { FIRST_LEAST = 30, FIRST_MOST = 50, FIRST_PART = 4, LONG_PART = 10 };
/* A long study's first batch, in standard deviations of the noise of six numbers: a smaller one tells next to nothing.
 */
static const double FIRST_NOISES = 20;
enum { FIRST_NUMBERS = 6 };
static const double SHORT_SAMPLING = 1, LONG_SAMPLING = 0.5;
static const double WIDE_PRIOR = 1, LIST_PRIOR = 0.4; /* of rewards in [0, 1]; README.md, (f) */

struct tacet_central_fixed {
    tacet_central_fixed_settings set;
    tacet_fixed_learner *learner;
    size_t m, G;
    tacet_ask ask;
    char group[TICKET_ROOM], what[TEXT_ROOM], to_whom[TEXT_ROOM];
    tacet__batch_gate *gate;
    double *sum, *vector;             /* m each; the sum is private */
    unsigned char print[PRINT_BYTES]; /* of the domain and the settings */
    uint64_t given, before, batch;    /* tickets; those of the batches that ended; batches */
    size_t length, reported;          /* rounds of the batch, and of it those reported. length = 0: none planned */
    unsigned char *done;              /* of the batch's rounds: 1 when reported */
    double next_length;
};

static size_t longest(const tacet_central_fixed *f) {
    return f->set.rounds < TACET_FIXED_BATCH_MOST ? (size_t)f->set.rounds : (size_t)TACET_FIXED_BATCH_MOST;
}

void tacet_central_fixed_settings_defaults(tacet_central_fixed_settings *settings) {
    *settings = (tacet_central_fixed_settings){.reward_hi = 1, .growth = 1.35, .open_most = 64};
    tacet_fixed_settings_defaults(&settings->learner);
    settings->learner.prior_var = 0;
}

static tacet_status check(const tacet_central_fixed_settings *s, const tacet_ask *ask, tacet_error *err) {
    if (s == NULL || ask == NULL || ask->ticket == NULL || ask->what == NULL || ask->to_whom == NULL) {
        return tacet__fail(err, TACET_INVALID, "a study needs settings, a ticket and its words");
    }
    if (strlen(ask->ticket) + 24 > TACET_TICKET_MOST) {
        return tacet__fail(err, TACET_INVALID, "the ticket is too long to be numbered by batch");
    }
    if (strlen(ask->what) >= TEXT_ROOM || strlen(ask->to_whom) >= TEXT_ROOM) {
        return tacet__fail(err, TACET_INVALID, "what and to_whom have at most %d bytes", (int)TEXT_ROOM - 1);
    }
    if (!(s->rounds >= 1 && s->rounds <= MOST_ROUNDS)) {
        return tacet__fail(err, TACET_INVALID, "rounds must be between 1 and 2^22");
    }
    if (!(s->reward_lo < s->reward_hi && isfinite(s->reward_hi - s->reward_lo))) {
        return tacet__fail(err, TACET_INVALID, "the range of rewards must be finite, its low end below its high end");
    }
    if (s->first_batch > TACET_FIXED_BATCH_MOST || !(s->growth > 1 && s->growth <= 100)) {
        return tacet__fail(err, TACET_INVALID, "first_batch must be at most %d, growth above 1 and at most 100",
                           (int)TACET_FIXED_BATCH_MOST);
    }
    if (s->open_most == 0) {
        return tacet__fail(err, TACET_INVALID, "open_most must be at least 1");
    }
    return TACET_OK;
}

/* States are of one domain and one plan. Features are compared to 16 bits: those of two machines differ by rounding. */
static void make_print(tacet_central_fixed *f, const tacet_fixed_group *groups, size_t count) {
    crypto_generichash_state hash;
    const tacet_fixed_settings *l = &f->set.learner;
    const double numbers[] = {f->set.reward_lo,
                              f->set.reward_hi,
                              (double)f->set.first_batch,
                              f->set.growth,
                              (double)f->set.open_most,
                              l->prior_var,
                              l->reward_var,
                              l->sampling,
                              (double)l->distinct,
                              l->ladder ? 1 : 0};
    (void)crypto_generichash_init(&hash, NULL, 0, PRINT_BYTES);
    (void)crypto_generichash_update(&hash, (const unsigned char *)numbers, sizeof numbers);
    (void)crypto_generichash_update(&hash, (const unsigned char *)&f->set.problem, sizeof f->set.problem);
    for (size_t g = 0; g < count; g++) {
        const uint64_t sizes[] = {groups[g].features, groups[g].choices};
        (void)crypto_generichash_update(&hash, (const unsigned char *)sizes, sizeof sizes);
        for (size_t i = 0; f->set.problem == 0 && i < groups[g].features * groups[g].choices; i++) {
            const double rounded = rint(groups[g].Phi[i] * 0x1p16) + 0.0; /* no -0 */
            (void)crypto_generichash_update(&hash, (const unsigned char *)&rounded, sizeof rounded);
        }
    }
    (void)crypto_generichash_final(&hash, f->print, PRINT_BYTES);
}

/* What is left to the horizon, the noise and the domain: one list of arms, or a product of lists. */
static void resolve(tacet_central_fixed_settings *s, size_t groups) {
    const bool brief = s->rounds <= SHORT_ROUNDS, list = groups == 1;
    if (s->first_batch == 0) {
        const double part = (double)s->rounds / (brief ? FIRST_PART : LONG_PART);
        const tacet__batch_noise noise = {.gaussian_var = s->learner.noise * s->learner.noise, .unit = s->learner.few};
        const double noises = FIRST_NOISES * sqrt(tacet__batch_noise_var(&noise, FIRST_NUMBERS));
        const double most = brief ? FIRST_MOST : list ? rint(noises) : FIRST_LEAST;
        s->first_batch = (size_t)fmin(fmax(fmin(part, most), FIRST_LEAST), TACET_FIXED_BATCH_MOST);
    }
    if (s->learner.prior_var == 0) {
        s->learner.prior_var = brief || !list ? WIDE_PRIOR : LIST_PRIOR;
    }
    if (s->learner.sampling == 0) {
        s->learner.sampling = brief ? SHORT_SAMPLING : LONG_SAMPLING;
    }
}

/* Sums of at most T vectors of norm 1/2; a record moves its batch's sum by at most 1. */
static tacet_status build_gate(tacet_central_fixed *f, tacet_error *err) {
    const tacet__batch_terms terms = {.eps = f->set.eps,
                                      .delta = f->set.delta,
                                      .sensitivity = 1,
                                      .longest = (double)f->set.rounds,
                                      .few = !f->set.gaussian && tacet__batch_few(&f->ask),
                                      .proof = PROOF};
    tacet__batch_noise noise;
    const tacet_status status = tacet__batch_gate_create(&f->gate, &terms, err);
    if (status == TACET_OK) {
        tacet__batch_gate_noise(f->gate, &noise);
        f->set.learner.noise = sqrt(noise.gaussian_var);
        f->set.learner.few = noise.unit;
    }
    return status;
}

tacet_status tacet_central_fixed_create(tacet_central_fixed **out, const tacet_fixed_group *groups, size_t group_count,
                                        const tacet_central_fixed_settings *settings, const tacet_ask *ask,
                                        tacet_error *err) {
    if (out == NULL) {
        return tacet__fail(err, TACET_INVALID, "no place for the study");
    }
    *out = NULL;
    tacet_status status = check(settings, ask, err);
    if (status != TACET_OK) {
        return status;
    }
    tacet_central_fixed *f = TACET__ZALLOC(tacet_central_fixed, 1);
    if (f == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "no memory for a study");
    }
    f->set = *settings;
    f->ask = (tacet_ask){.ledger = ask->ledger,
                         .noise = ask->noise,
                         .what = f->what,
                         .to_whom = f->to_whom,
                         .ticket = f->group,
                         .covered_fields = "reward"};
    (void)snprintf(f->what, sizeof f->what, "%s", ask->what);
    (void)snprintf(f->to_whom, sizeof f->to_whom, "%s", ask->to_whom);
    (void)snprintf(f->group, sizeof f->group, "%s", ask->ticket);
    for (size_t g = 0; groups != NULL && g < group_count; g++) {
        f->m += groups[g].features;
    }
    status = f->m > 0 ? build_gate(f, err) : tacet__fail(err, TACET_INVALID, "a fixed domain needs features");
    if (status == TACET_OK) {
        resolve(&f->set, group_count);
        f->next_length = (double)f->set.first_batch;
        status = tacet_fixed_learner_create(&f->learner, groups, group_count, &f->set.learner, err);
    }
    if (status == TACET_OK) {
        f->G = group_count;
        f->sum = TACET__ZALLOC(double, f->m);
        f->vector = TACET__ZALLOC(double, f->m);
        f->done = TACET__ZALLOC(unsigned char, longest(f));
        make_print(f, groups, group_count);
        status = f->sum == NULL || f->vector == NULL || f->done == NULL
                     ? tacet__fail(err, TACET_NO_MEMORY, "no memory for a study")
                     : TACET_OK;
    }
    if (status != TACET_OK) {
        tacet_central_fixed_free(f);
        return status;
    }
    *out = f;
    return TACET_OK;
}

void tacet_central_fixed_free(tacet_central_fixed *f) {
    if (f == NULL) {
        return;
    }
    tacet__batch_gate_free(f->gate);
    tacet_fixed_learner_free(f->learner);
    if (f->sum != NULL) {
        sodium_memzero(f->sum, f->m * sizeof(double));
    }
    free(f->sum);
    free(f->vector);
    free(f->done);
    free(f);
}

/* The release of a batch that has ended, handed to the learner. */
static tacet_status close_batch(tacet_central_fixed *f, tacet_error *err) {
    const size_t k = tacet_fixed_learner_numbers(f->learner);
    tacet_release *release = NULL;
    double var = 0;
    const tacet_status status =
        k > 0 ? tacet__batch_gate_run(f->gate, &release, &var, &f->ask, f->batch, "each round", f->sum, k, err)
              : TACET_OK; /* a batch that can tell nothing releases nothing */
    if (status != TACET_OK) {
        return status;
    }
    if (release != NULL) {
        memset(f->vector, 0, f->m * sizeof(double));
        memcpy(f->vector, tacet_release_values(release), k * sizeof(double));
        /* what can't be learnt from leaves the posterior as it was; the batch is over either way */
        (void)tacet_fixed_learner_update(f->learner, f->vector, var, NULL);
    }
    tacet_release_free(release);
    sodium_memzero(f->sum, f->m * sizeof(double));
    f->before += f->length;
    f->length = f->reported = 0;
    return TACET_OK;
}

/* The rest of the rounds joins the batch where it would be less than half of it: a short batch tells little. */
static size_t batch_length(const tacet_central_fixed *f) {
    const double left = (double)(f->set.rounds - f->given), length = ceil(f->next_length);
    return (size_t)(left < 1.5 * length && left <= (double)TACET_FIXED_BATCH_MOST ? left : fmin(length, left));
}

static tacet_status begin_batch(tacet_central_fixed *f, tacet_error *err) {
    const size_t length = batch_length(f);
    tacet_status status = tacet_fixed_learner_plan(f->learner, length, err);
    if (status != TACET_OK) {
        return status;
    }
    f->length = length;
    f->next_length = fmin(f->next_length * f->set.growth, (double)TACET_FIXED_BATCH_MOST);
    f->batch++;
    memset(f->done, 0, length);
    return TACET_OK;
}

/* From a batch whose reports are all there to the next. All or nothing, except that a failure to plan which cannot be
 * undone for want of memory leaves the batch released and the next one to be planned by the next call. */
static tacet_status next_batch(tacet_central_fixed *f, tacet_error *err) {
    tacet_blob undo;
    tacet_blob_init(&undo);
    tacet_status status = tacet_central_fixed_save(f, &undo, err);
    if (status == TACET_OK) {
        status = close_batch(f, err);
        if (status == TACET_OK) {
            status = begin_batch(f, err);
            if (status != TACET_OK) {
                (void)tacet_central_fixed_load(f, undo.data, undo.size, NULL);
            }
        }
    }
    tacet_blob_clear(&undo);
    return status;
}

/* The last batch has no suggestion after it that would release it. It ends with its last report; where that failed, the
 * next call tries again. */
static tacet_status end_last_batch(tacet_central_fixed *f, tacet_error *err) {
    const bool over = f->given == f->set.rounds && f->length > 0 && f->reported == f->length;
    return over ? close_batch(f, err) : TACET_OK;
}

tacet_status tacet_central_fixed_suggest(tacet_central_fixed *f, size_t *choices, uint64_t *ticket, tacet_error *err) {
    const size_t open = (size_t)(f->given - f->before) - f->reported;
    if (f->given >= f->set.rounds) {
        const tacet_status ended = end_last_batch(f, err);
        return ended != TACET_OK ? ended
                                 : tacet__fail(err, TACET_STATE, "the horizon of %llu rounds is over",
                                               (unsigned long long)f->set.rounds);
    }
    if (open >= f->set.open_most) {
        return tacet__fail(err, TACET_STATE, "%zu tickets are open: report one first", open);
    }
    tacet_status status = TACET_OK;
    if (f->length == 0) {
        status = begin_batch(f, err);
    } else if (f->given - f->before == f->length) {
        status = open > 0 ? tacet__fail(err, TACET_STATE, "the batch waits for the reports of %zu open tickets", open)
                          : next_batch(f, err);
    }
    if (status != TACET_OK) {
        return status;
    }
    memcpy(choices, tacet_fixed_learner_arm(f->learner, (size_t)(f->given - f->before)), f->G * sizeof(size_t));
    *ticket = ++f->given;
    return TACET_OK;
}

tacet_status tacet_central_fixed_repeat(tacet_central_fixed *f, const size_t *choices, uint64_t ticket,
                                        tacet_error *err) {
    uint64_t given = 0;
    size_t *planned = TACET__ZALLOC(size_t, f->G);
    if (planned == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "no memory to repeat a suggestion");
    }
    tacet_status status = ticket == f->given + 1 ? tacet_central_fixed_suggest(f, planned, &given, err)
                                                 : tacet__fail(err, TACET_CORRUPT, "ticket %llu is not the next",
                                                               (unsigned long long)ticket);
    if (status == TACET_OK && memcmp(planned, choices, f->G * sizeof(size_t)) != 0) {
        tacet_fixed_learner_replace(f->learner, (size_t)(given - f->before) - 1, choices);
    }
    free(planned);
    return status;
}

static tacet_status check_ticket(const tacet_central_fixed *f, uint64_t ticket, tacet_error *err) {
    if (ticket == 0 || ticket > f->given) {
        return tacet__fail(err, TACET_NOT_FOUND, "ticket %llu was never given", (unsigned long long)ticket);
    }
    return ticket > f->before && f->done[ticket - f->before - 1] == 0
               ? TACET_OK
               : tacet__fail(err, TACET_CONFLICT, "ticket %llu was already reported", (unsigned long long)ticket);
}

tacet_status tacet_central_fixed_drop(tacet_central_fixed *f, uint64_t ticket, tacet_error *err) {
    const tacet_status status = check_ticket(f, ticket, err);
    if (status == TACET_OK) {
        /* v = 0: the middle of the range adds nothing to the sum */
        f->done[ticket - f->before - 1] = 1;
        f->reported++;
        (void)end_last_batch(f, NULL); /* tried again by the next suggestion */
    }
    return status;
}

tacet_status tacet_central_fixed_observe(tacet_central_fixed *f, uint64_t ticket, double value, tacet_error *err) {
    const tacet_status status = check_ticket(f, ticket, err);
    if (status != TACET_OK) {
        return status;
    }
    if (!isfinite(value)) {
        return tacet__fail(err, TACET_INVALID, "the reward is not finite");
    }
    const size_t at = (size_t)(ticket - f->before - 1);
    /* Clipped, not refused: all others wait for this round, so a refusal would tell them of the reward. */
    const double reward = fmin(fmax(value, f->set.reward_lo), f->set.reward_hi);
    const double v = (reward - f->set.reward_lo) / (f->set.reward_hi - f->set.reward_lo) - 0.5;
    tacet_fixed_learner_vector(f->learner, f->vector, at);
    for (size_t i = 0; i < f->m; i++) {
        f->sum[i] += TACET__BATCH_QUANTUM * rint(v * f->vector[i] / TACET__BATCH_QUANTUM);
    }
    f->done[at] = 1;
    f->reported++;
    (void)end_last_batch(f, NULL); /* tried again by the next suggestion */
    return TACET_OK;
}

double tacet_central_fixed_best(const tacet_central_fixed *f, size_t *choices) {
    return f->set.reward_lo + (f->set.reward_hi - f->set.reward_lo) * tacet_fixed_learner_best(f->learner, choices);
}

const double *tacet_central_fixed_theta(const tacet_central_fixed *f) {
    return tacet_fixed_learner_theta(f->learner);
}

uint64_t tacet_central_fixed_ended(const tacet_central_fixed *f) {
    return f->before;
}

bool tacet_central_fixed_informed(const tacet_central_fixed *f) {
    return tacet_fixed_learner_informed(f->learner);
}

size_t tacet_central_fixed_lacking(const tacet_central_fixed *f) {
    return f->length - f->reported;
}

void tacet_central_fixed_posterior(tacet_central_fixed *f, double *mean, double *sd, const size_t *choices) {
    const double range = f->set.reward_hi - f->set.reward_lo;
    tacet_fixed_learner_posterior(f->learner, mean, sd, choices);
    *mean = f->set.reward_lo + range * *mean;
    *sd *= range;
}

void tacet_central_fixed_guarantee(const tacet_central_fixed *f, tacet_guarantee *out) {
    const bool is_private = tacet_ask_is_private(&f->ask);
    *out = (tacet_guarantee){.trust = TACET_TRUST_CENTRAL,
                             .proven = is_private,
                             .eps = is_private ? f->set.eps : INFINITY,
                             .delta = is_private ? f->set.delta : 1,
                             .pure_eps = tacet__batch_gate_pure(f->gate),
                             .protects = "the reward of one round, towards all other rounds",
                             .statement =
                                 is_private ? "What all others see hardly changes when one round's reward is replaced."
                                            : "Not private: the noise comes from a seeded source.",
                             .proof = PROOF};
}

tacet_status tacet_central_fixed_save(const tacet_central_fixed *f, tacet_blob *out, tacet_error *err) {
    tacet_blob learner;
    tacet_blob_init(&learner);
    tacet_status status = tacet_fixed_learner_save(f->learner, &learner, err);
    if (status == TACET_OK) {
        tacet__writer w;
        tacet__write_begin(&w, out, STATE_NAME, STATE_VERSION);
        tacet__write_bytes(&w, f->group, strlen(f->group));
        tacet__write_bytes(&w, f->print, PRINT_BYTES);
        tacet__write_u64(&w, f->set.rounds);
        tacet__write_f64(&w, f->set.eps);
        tacet__write_f64(&w, f->set.delta);
        tacet__write_u64(&w, f->given);
        tacet__write_u64(&w, f->before);
        tacet__write_u64(&w, f->batch);
        tacet__write_size(&w, f->length);
        tacet__write_bytes(&w, f->done, f->length);
        tacet__write_f64(&w, f->next_length);
        tacet__write_f64s(&w, f->sum, f->m);
        tacet__write_bytes(&w, learner.data, learner.size);
        status = tacet__write_end(&w, err);
    }
    tacet_blob_clear(&learner);
    return status;
}

/* The learner's bytes, if they plan a batch of the length that the study is in; otherwise it keeps its state. */
static tacet_status load_learner(tacet_central_fixed *f, const unsigned char *bytes, size_t size, size_t length,
                                 tacet_error *err) {
    tacet_blob undo;
    tacet_blob_init(&undo);
    tacet_status status = tacet_fixed_learner_save(f->learner, &undo, err);
    if (status == TACET_OK) {
        status = tacet_fixed_learner_load(f->learner, bytes, size, err);
        if (status == TACET_OK && tacet_fixed_learner_planned(f->learner) != length) {
            status = tacet__fail(err, TACET_CORRUPT, "the state's batch and its plan do not fit");
        }
        if (status != TACET_OK) {
            (void)tacet_fixed_learner_load(f->learner, undo.data, undo.size, NULL);
        }
    }
    tacet_blob_clear(&undo);
    return status;
}

/* Whether this many reports, of these rounds, can have been made; counts them. */
static bool marks_possible(size_t *reported, const unsigned char *done, size_t length, uint64_t given) {
    *reported = 0;
    for (size_t i = 0; i < length; i++) {
        if (done[i] > 1 || (done[i] == 1 && i >= given)) {
            return false;
        }
        *reported += done[i];
    }
    return given <= length;
}

static bool same_study(const tacet_central_fixed *f, tacet__reader *r) {
    const unsigned char *name = NULL, *print = NULL;
    const size_t name_size = tacet__read_bytes(r, &name), print_size = tacet__read_bytes(r, &print);
    return name_size == strlen(f->group) && memcmp(name, f->group, name_size) == 0 && print_size == PRINT_BYTES &&
           memcmp(print, f->print, PRINT_BYTES) == 0 && tacet__read_u64(r) == f->set.rounds &&
           tacet__read_f64(r) == f->set.eps && tacet__read_f64(r) == f->set.delta;
}

tacet_status tacet_central_fixed_load(tacet_central_fixed *f, const void *bytes, size_t size, tacet_error *err) {
    tacet__reader r;
    tacet_status status = tacet__read_begin(&r, bytes, size, STATE_NAME, STATE_VERSION, err);
    if (status != TACET_OK) {
        return status;
    }
    if (!same_study(f, &r)) {
        return tacet__fail(err, TACET_CORRUPT, "the state is of another study");
    }
    const unsigned char *learner = NULL, *done = NULL;
    const uint64_t given = tacet__read_u64(&r), before = tacet__read_u64(&r), batch = tacet__read_u64(&r);
    const size_t length = tacet__read_size(&r, longest(f)), done_size = tacet__read_bytes(&r, &done);
    const double next_length = tacet__read_f64(&r);
    tacet__read_f64s(&r, f->vector, f->m);
    const size_t learner_size = tacet__read_bytes(&r, &learner);
    status = tacet__read_end(&r, err);
    if (status != TACET_OK) {
        return status;
    }
    size_t reported = 0;
    bool good = given <= f->set.rounds && before <= given && done_size == length && next_length >= 1 &&
                next_length <= (double)TACET_FIXED_BATCH_MOST && batch <= f->set.rounds &&
                marks_possible(&reported, done, length, given - before) &&
                given - before - reported <= f->set.open_most;
    for (size_t i = 0; i < f->m; i++) {
        good = good && fabs(f->vector[i]) <= (double)f->set.rounds;
    }
    if (!good) {
        return tacet__fail(err, TACET_CORRUPT, "the state holds impossible numbers");
    }
    status = load_learner(f, learner, learner_size, length, err);
    if (status != TACET_OK) {
        return status;
    }
    memcpy(f->sum, f->vector, f->m * sizeof(double));
    memcpy(f->done, done, length);
    f->given = given;
    f->before = before;
    f->batch = batch;
    f->length = length;
    f->reported = reported;
    f->next_length = next_length;
    return TACET_OK;
}
