/* SPDX-License-Identifier: Apache-2.0 */
/* policy_state.c - a joint-DP bandit as bytes, and what a saved one knows.
 * Ring: trusted: the bytes are private but for what was released. Cost: their length. */
#include "central/trusted/bandit.h"

#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "core/codec.h"
#include "core/fail.h"
#include "core/memory.h"
#include "gp/features_internal.h"

enum { STATE_VERSION = 1 };

/* Features that a state cannot keep (groups) are made again where it goes on. */
static tacet_status save_basis(const tacet__bandit *b, tacet_blob *out, tacet_error *err) {
    const tacet_status status = tacet__features_save(tacet_central_map_features(b->map), out, err);
    return status == TACET_UNSUPPORTED ? TACET_OK : status;
}

tacet_status tacet__bandit_save(const void *self, tacet_blob *out, tacet_error *err) {
    const tacet__bandit *b = self;
    tacet_blob batches, learner, basis;
    tacet_blob_init(&batches);
    tacet_blob_init(&learner);
    tacet_blob_init(&basis);
    tacet_status status = tacet_central_learner_save(b->learner, &learner, err);
    status = status != TACET_OK ? status : save_basis(b, &basis, err);
    status = status != TACET_OK ? status : tacet__batches_save(b->batches, &batches, err);
    if (status == TACET_OK) {
        tacet__writer w;
        tacet__write_begin(&w, out, TACET__CENTRAL_NAME, STATE_VERSION);
        tacet__write_bytes(&w, basis.data, basis.size);
        tacet__write_u64(&w, tacet_central_map_print(b->map));
        tacet__write_u64(&w, b->settings.coin_seed);
        tacet__write_size(&w, b->settings.open_most);
        tacet__write_u64(&w, b->given);
        tacet__write_u64s(&w, b->open, b->settings.open_most);
        tacet__write_f64s(&w, b->chosen, b->d * b->settings.open_most);
        tacet__write_u64(&w, b->queued);
        tacet__write_u64s(&w, b->queue, b->settings.open_most);
        tacet__write_f64s(&w, b->reward, b->settings.open_most);
        tacet__write_bytes(&w, learner.data, learner.size);
        tacet__write_bytes(&w, batches.data, batches.size);
        status = tacet__write_end(&w, err);
    }
    tacet_blob_clear(&batches);
    tacet_blob_clear(&learner);
    tacet_blob_clear(&basis);
    return status;
}

/* Tickets in a state: each given, none twice; reports that wait are of open ones, each with a place. */
static bool tickets_possible(const uint64_t *open, const uint64_t *queue, size_t count, uint64_t given,
                             uint64_t queued) {
    for (size_t i = 0; i < count; i++) {
        if (open[i] > given || queue[i] > queued || (queue[i] != 0 && open[i] == 0)) {
            return false;
        }
        for (size_t k = 0; open[i] != 0 && k < i; k++) {
            if (open[k] == open[i]) {
                return false;
            }
        }
    }
    return true;
}

tacet_status tacet__bandit_load(void *self, const void *bytes, size_t size, tacet_error *err) {
    tacet__bandit *b = self;
    const size_t slots = b->settings.open_most;
    tacet__reader r;
    tacet_status status = tacet__read_begin(&r, bytes, size, TACET__CENTRAL_NAME, STATE_VERSION, err);
    if (status != TACET_OK) {
        return status;
    }
    const unsigned char *basis = NULL;
    (void)tacet__read_bytes(&r, &basis); /* read before the policy was made: tacet_central_state_features */
    if (tacet__read_u64(&r) != tacet_central_map_print(b->map) || tacet__read_u64(&r) != b->settings.coin_seed ||
        tacet__read_u64(&r) != slots) {
        return tacet__fail(err, TACET_CORRUPT, "the state is of another study");
    }
    uint64_t *open = TACET__ZALLOC(uint64_t, 2 * slots), *queue = open + slots;
    double *chosen = TACET__ZALLOC(double, (b->d + 1) * slots), *reward = chosen + b->d * slots;
    tacet_blob undo;
    tacet_blob_init(&undo);
    if (open == NULL || chosen == NULL) {
        status = tacet__fail(err, TACET_NO_MEMORY, "no memory to load a state");
        goto done;
    }
    const uint64_t given = tacet__read_u64(&r);
    tacet__read_u64s(&r, open, slots);
    tacet__read_f64s(&r, chosen, b->d * slots);
    const uint64_t queued = tacet__read_u64(&r);
    tacet__read_u64s(&r, queue, slots);
    tacet__read_f64s(&r, reward, slots);
    const unsigned char *learner = NULL, *batches = NULL;
    const size_t learner_size = tacet__read_bytes(&r, &learner), batches_size = tacet__read_bytes(&r, &batches);
    status = tacet__read_end(&r, err);
    if (status != TACET_OK) {
        goto done;
    }
    bool good = tickets_possible(open, queue, slots, given, queued);
    for (size_t i = 0; i < (b->d + 1) * slots; i++) {
        good = good && isfinite(chosen[i]);
    }
    if (!good) {
        status = tacet__fail(err, TACET_CORRUPT, "the state holds impossible tickets or points");
        goto done;
    }
    /* two objects must change together: the learner's old state is kept until the batches have taken the new one */
    status = tacet_central_learner_save(b->learner, &undo, err);
    if (status == TACET_OK) {
        status = tacet_central_learner_load(b->learner, learner, learner_size, err);
    }
    if (status != TACET_OK) {
        goto done;
    }
    status = tacet__batches_load(b->batches, batches, batches_size, err);
    if (status != TACET_OK) {
        (void)tacet_central_learner_load(b->learner, undo.data, undo.size, NULL);
        goto done;
    }
    memcpy(b->open, open, slots * sizeof(uint64_t));
    memcpy(b->chosen, chosen, b->d * slots * sizeof(double));
    memcpy(b->queue, queue, slots * sizeof(uint64_t));
    memcpy(b->reward, reward, slots * sizeof(double));
    b->queued = queued;
    b->given = given;
done:
    if (chosen != NULL) {
        sodium_memzero(chosen, (b->d + 1) * slots * sizeof(double));
    }
    tacet_blob_clear(&undo);
    free(open);
    free(chosen);
    return status;
}

tacet_status tacet_central_state_features(tacet_features **out, const tacet_kernel *kernel, const void *bytes,
                                          size_t size, tacet_error *err) {
    const unsigned char *at = NULL;
    size_t length = 0;
    if (out == NULL || kernel == NULL) {
        return tacet__fail(err, TACET_INVALID, "features need a kernel, and a place");
    }
    *out = NULL;
    tacet__reader r;
    const tacet_status status = tacet__read_begin(&r, bytes, size, TACET__CENTRAL_NAME, STATE_VERSION, err);
    if (status != TACET_OK) {
        return status;
    }
    length = tacet__read_bytes(&r, &at);
    if (r.failed) {
        return tacet__fail(err, TACET_CORRUPT, "the state is damaged");
    }
    return length > 0 ? tacet__features_load(out, kernel, at, length, err)
                      : tacet__fail(err, TACET_UNSUPPORTED, "the state keeps no features");
}

tacet_status tacet__central_learnt_of(tacet__central_learnt *out, const tacet_central_map *map,
                                      const tacet_central_settings *settings, const tacet_ask *ask, const void *bytes,
                                      size_t size, tacet_error *err) {
    tacet__bandit *b = NULL;
    out->release = NULL;
    tacet_status status = tacet__bandit_create(&b, map, settings, ask, false, err);
    if (status != TACET_OK) {
        return status;
    }
    status = tacet__bandit_load(b, bytes, size, err);
    status = status != TACET_OK ? status : tacet__bandit_refresh(b, err);
    status = status != TACET_OK ? status : tacet__batches_last(b->batches, &out->release, err);
    if (status == TACET_OK) {
        memcpy(out->theta, tacet_central_learner_theta(b->learner, &out->level),
               tacet_features_dim(tacet_central_map_features(map)) * sizeof(double));
        out->error = tacet_central_learner_error(b->learner);
        out->rounds = tacet__batches_ended(b->batches);
    }
    tacet__bandit_free(b);
    return status;
}
