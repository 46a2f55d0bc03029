/* SPDX-License-Identifier: Apache-2.0 */
/* split.c - the shipped joint-DP bandits: batches whose sums are shaped for the learner, or (decode) two vectors
 * released over growing epochs of a stream. Ring: trusted. Source and differences: src/central/README.md. This file
 * joins a statistic and tacet_central_learner to the policy of policy.c and says how long epochs are. Cost: a
 * suggestion O(arms m^2), a report O(m^2) for the features, a release O(grid k m) some ten times. */
#include <tacet/central/trusted/policy.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/dp/open/calibrate.h>

#include "core/fail.h"
#include "core/memory.h"
#include "central/open/learner_batches.h"
#include "central/open/stepwise.h"
#include "central/trusted/gate.h"
#include "central/trusted/parts.h"
#include "gp/features_internal.h"

static const char NAME[] = "central";
static const char PROOF[] = "src/central/README.md";
static const double STREAM_FIRST = 5, STREAM_GROWTH = 1.1;
static const double BATCH_FIRST = 8, BATCH_FIRST_NOISE = 1.5, BATCH_GROWTH = 1.25; /* README.md, (e) */
enum { FIRST_NUMBERS = 6 }; /* about as many as the first release has */

typedef struct split {
    const tacet_central_map *map; /* borrowed */
    tacet_central_learner *learner;
    double *work;
    double play; /* batches: how much a record tells of where was played */
} split;

void tacet_central_settings_defaults(tacet_central_settings *settings) {
    *settings = (tacet_central_settings){
        .factorization = TACET_FACTORIZATION_TOEPLITZ, .open_most = 64, .coin_seed = 1, .save_first = true};
    tacet_central_learner_settings_defaults(&settings->learner);
}

double tacet_central_first_length(double first_epoch, double mu) {
    /* the time until a sum stands out of the noise grows as 1/mu; much of it is spent better than at random */
    return fmax(1, ceil((first_epoch > 0 ? first_epoch : STREAM_FIRST) * pow(mu, -0.6)));
}

static void record(void *self, double *out, const double *x, double y) {
    split *s = self;
    tacet_central_map_record(s->map, out, s->work, x, y);
}

static void played(void *self) {
    tacet_central_learner_played(((split *)self)->learner);
}

static tacet_status update(void *self, const double *sums, double var, uint64_t count, tacet_error *err) {
    return tacet_central_learner_update(((split *)self)->learner, sums, var, count, err);
}

/* Of batches. What can't be planned for its numbers is a batch that tells nothing. */
static tacet_status plan(void *self, size_t *k, uint64_t n, const tacet__batch_noise *noise, tacet_error *err) {
    split *s = self;
    const tacet_status status = tacet__central_learner_plan(s->learner, k, (size_t)n, s->play, noise, err);
    if (status == TACET_NUMERIC) {
        tacet_error_clear(err);
    }
    return status == TACET_NUMERIC ? TACET_OK : status;
}

static void record_batch(void *self, double *out, const double *x, double y) {
    split *s = self;
    tacet__central_learner_record(s->learner, out, s->work, x, y);
}

static tacet_status take_batch(void *self, const double *sums, double var, uint64_t count, tacet_error *err) {
    return tacet__central_learner_take(((split *)self)->learner, sums, var, count, err);
}

static bool informed(const void *self) {
    return tacet_central_learner_informed(((const split *)self)->learner);
}

static size_t choose(void *self, double *score, const double *X, size_t ldx, size_t n) {
    return tacet_central_learner_choose(((split *)self)->learner, score, X, ldx, n);
}

static void best(void *self, double *mean, double *sd) {
    tacet_central_learner_best(((split *)self)->learner, NULL, mean, sd);
}

static tacet_status save(const void *self, tacet_blob *out, tacet_error *err) {
    return tacet_central_learner_save(((const split *)self)->learner, out, err);
}

static tacet_status load(void *self, const void *bytes, size_t size, tacet_error *err) {
    return tacet_central_learner_load(((split *)self)->learner, bytes, size, err);
}

static void release(void *self) {
    split *s = self;
    tacet_central_learner_free(s->learner);
    free(s->work);
    free(s);
}

/* Features that a state cannot keep (groups) are made again where it goes on. */
static tacet_status basis(const void *self, tacet_blob *out, tacet_error *err) {
    const tacet_status status = tacet__features_save(tacet_central_map_features(((const split *)self)->map), out, err);
    return status == TACET_UNSUPPORTED ? TACET_OK : status;
}

static const tacet__central_ops BATCHES = {.name = NAME,
                                           .basis = basis,
                                           .record = record_batch,
                                           .played = played,
                                           .plan = plan,
                                           .update = take_batch,
                                           .informed = informed,
                                           .choose = choose,
                                           .best = best,
                                           .save = save,
                                           .load = load,
                                           .free = release};
static const tacet__central_ops OPS = {.name = NAME,
                                       .basis = basis,
                                       .record = record,
                                       .played = played,
                                       .update = update,
                                       .informed = informed,
                                       .choose = choose,
                                       .best = best,
                                       .save = save,
                                       .load = load,
                                       .free = release};

/* How long the epochs of a stream are. */
static tacet_status stream_epochs(tacet__central_run *run, const tacet_central_settings *settings, tacet_error *err) {
    double mu = 0;
    const tacet_status status = tacet_gdp_mu(&mu, settings->eps, settings->delta, err);
    if (status == TACET_OK) {
        run->first_length = tacet_central_first_length(settings->first_epoch, mu);
        run->growth = settings->growth > 0 ? settings->growth : STREAM_GROWTH;
    }
    return status;
}

/* What records of batches are, and how long batches are: longer first ones under more noise. */
static tacet_status batch_parts(tacet__central_parts *parts, tacet__central_run *run, split *s, size_t features,
                                const tacet_central_settings *settings, const tacet_ask *ask, tacet_error *err) {
    tacet__batch_noise unit;
    tacet__batch_gate *gate = NULL;
    const tacet__batch_terms terms = {.eps = settings->eps,
                                      .delta = settings->delta,
                                      .sensitivity = 1,
                                      .few = !settings->gaussian && tacet__batch_few(ask),
                                      .proof = PROOF};
    const tacet_status status = tacet__batch_gate_create(&gate, &terms, err);
    if (status != TACET_OK) {
        return status;
    }
    tacet__batch_gate_noise(gate, &unit);
    tacet__batch_gate_free(gate);
    const double sd = sqrt(tacet__batch_noise_var(&unit, FIRST_NUMBERS));
    s->play = tacet__stepwise_play(&unit);
    parts->ops = &BATCHES;
    parts->dim = tacet__stepwise_most(features);
    parts->sensitivity = tacet__stepwise_sensitivity(s->play);
    run->first_length = fmin(
        ceil((settings->first_epoch > 0 ? settings->first_epoch : BATCH_FIRST) * (1 + BATCH_FIRST_NOISE * sd)), 65536);
    run->growth = settings->growth > 0 ? settings->growth : BATCH_GROWTH;
    return TACET_OK;
}

static tacet_status build(tacet__central_parts *parts, tacet__central_run *run, const tacet_central_map *map,
                          const tacet_central_settings *settings, const tacet_ask *ask, tacet_error *err) {
    if (map == NULL || settings == NULL || ask == NULL) {
        return tacet__fail(err, TACET_INVALID, "a central policy needs a map, settings and who asks");
    }
    if (!(settings->first_epoch >= 0 && settings->first_epoch <= 1e6)) {
        return tacet__fail(err, TACET_INVALID, "first_epoch must be 0 or more and at most a million");
    }
    const bool batches = settings->learner.kind == TACET_CENTRAL_TILT;
    const size_t d = tacet_central_map_domain(map)->d, m = tacet_features_dim(tacet_central_map_features(map));
    split *s = TACET__ZALLOC(split, 1);
    if (s == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "no memory for a central policy");
    }
    *parts = (tacet__central_parts){.ops = &OPS,
                                    .self = s,
                                    .d = d,
                                    .dim = tacet_central_map_dim(map),
                                    .lo = tacet_central_map_lo(map),
                                    .hi = tacet_central_map_hi(map),
                                    .sensitivity = tacet_central_map_sensitivity(map),
                                    .radius = 1,
                                    .proof = PROOF,
                                    .print = tacet_central_map_print(map)};
    *run = (tacet__central_run){.eps = settings->eps,
                                .delta = settings->delta,
                                .rounds = settings->rounds,
                                .factorization = settings->factorization,
                                .open_most = settings->open_most,
                                .coin_seed = settings->coin_seed,
                                .save_first = settings->save_first,
                                .replay = settings->replay,
                                .gaussian = settings->gaussian};
    s->map = map;
    s->work = TACET__ZALLOC(double, m + d);
    tacet_status status = s->work == NULL ? tacet__fail(err, TACET_NO_MEMORY, "no memory for a central policy")
                          : batches       ? batch_parts(parts, run, s, m, settings, ask, err)
                                          : stream_epochs(run, settings, err);
    if (status == TACET_OK) {
        status = (batches ? tacet__central_learner_create_batches
                          : tacet_central_learner_create)(&s->learner, map, &settings->learner, err);
    }
    if (status != TACET_OK) {
        release(s);
    }
    return status;
}

tacet_status tacet_central_create(tacet_policy **out, const tacet_central_map *map,
                                  const tacet_central_settings *settings, const tacet_ask *ask, tacet_error *err) {
    if (out == NULL) {
        return tacet__fail(err, TACET_INVALID, "no place for the policy");
    }
    *out = NULL;
    tacet__central_parts parts;
    tacet__central_run run;
    tacet_status status = build(&parts, &run, map, settings, ask, err);
    return status == TACET_OK ? tacet__central_policy_create(out, &parts, &run, ask, err) : status;
}

tacet_status tacet_central_state_features(tacet_features **out, const tacet_kernel *kernel, const void *bytes,
                                          size_t size, tacet_error *err) {
    const unsigned char *at = NULL;
    size_t length = 0;
    if (out == NULL || kernel == NULL) {
        return tacet__fail(err, TACET_INVALID, "features need a kernel, and a place");
    }
    *out = NULL;
    const tacet_status status = tacet__central_policy_basis(&at, &length, NAME, bytes, size, err);
    if (status != TACET_OK) {
        return status;
    }
    return length > 0 ? tacet__features_load(out, kernel, at, length, err)
                      : tacet__fail(err, TACET_UNSUPPORTED, "the state keeps no features");
}

tacet_status tacet_central_restore(tacet_policy **out, const tacet_central_map *map,
                                   const tacet_central_settings *settings, const tacet_ask *ask, const void *bytes,
                                   size_t size, tacet_error *err) {
    if (out == NULL) {
        return tacet__fail(err, TACET_INVALID, "no place for the policy");
    }
    *out = NULL;
    tacet__central_parts parts;
    tacet__central_run run;
    tacet_status status = build(&parts, &run, map, settings, ask, err);
    return status == TACET_OK ? tacet__central_policy_restore(out, &parts, &run, ask, bytes, size, err) : status;
}

static void look(void *self, uint64_t rounds, void *user) {
    tacet_central_learner *learner = ((split *)self)->learner;
    const tacet_central_map *map = ((split *)self)->map;
    tacet__central_learnt *out = user;
    memcpy(out->theta, tacet_central_learner_theta(learner, &out->level, &out->logistic),
           tacet_features_dim(tacet_central_map_features(map)) * sizeof(double));
    out->error = tacet_central_learner_error(learner);
    out->rounds = rounds;
}

tacet_status tacet__central_learnt_of(tacet__central_learnt *out, const tacet_central_map *map,
                                      const tacet_central_settings *settings, const tacet_ask *ask, const void *bytes,
                                      size_t size, tacet_error *err) {
    tacet__central_parts parts;
    tacet__central_run run;
    out->release = NULL;
    tacet_status status = build(&parts, &run, map, settings, ask, err);
    if (status != TACET_OK) {
        return status;
    }
    run.save_first = true; /* what was loaded is stored: nothing needs to be saved again */
    return tacet__central_policy_model(&out->release, &parts, &run, ask, bytes, size, look, out, err);
}

tacet_status tacet_central_release_sums(tacet_release **out, const tacet_central_map *map,
                                        const tacet_central_settings *settings, const tacet_ask *ask, const void *bytes,
                                        size_t size, tacet_error *err) {
    if (out == NULL || map == NULL) {
        return tacet__fail(err, TACET_INVALID, "sums need a map, and a place");
    }
    *out = NULL;
    tacet__central_learnt learnt = {.theta =
                                        TACET__ZALLOC(double, tacet_features_dim(tacet_central_map_features(map)))};
    const tacet_status status = learnt.theta == NULL
                                    ? tacet__fail(err, TACET_NO_MEMORY, "no memory for a release")
                                    : tacet__central_learnt_of(&learnt, map, settings, ask, bytes, size, err);
    free(learnt.theta);
    *out = learnt.release;
    return status;
}
