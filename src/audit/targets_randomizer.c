/* SPDX-License-Identifier: Apache-2.0 */
/* targets_randomizer.c - one reward as a device reports it: the two ends of the range are the neighbours.
 * Ring: audit. The statistic is the report itself: for every randomiser here the likelihood ratio of the two ends is
 * a non-decreasing function of the report, so its thresholds are the best events there are. With retries it is the sum
 * of all answers to one ticket. */
#include "audit/targets.h"

#include "core/fail.h"
#include "dp/noise/sampler.h"
#include "local/trusted/device_internal.h"

#include <string.h>
#include <tacet/dp/randomizer.h>
#include "local/shared/ldp.h"

enum { RETRIES = 4, DIRECTIONS = 256, VECTOR = 8 };

typedef struct randomizer {
    tacet_ldp ldp;
    /* The device's memory: one ticket, forgotten before every run. */
    bool answered;
    double report;
    tacet_device_store store;
    /* Of a vector: the orders of the directions for two opposite records, and which directions tell them apart. */
    uint32_t order[2][DIRECTIONS];
    double tells[DIRECTIONS];
} randomizer;

static tacet_status reserve(void *user, const char *ticket, const tacet_ldp *ldp, tacet_mint *mint, bool *answered,
                            double *report, tacet_error *err) {
    const randomizer *r = user;
    (void)ticket;
    (void)ldp;
    (void)mint;
    (void)err;
    *answered = r->answered;
    *report = r->report;
    return TACET_OK;
}

static tacet_status commit(void *user, const char *ticket, double report, tacet_error *err) {
    randomizer *r = user;
    (void)ticket;
    (void)err;
    r->answered = true;
    r->report = report;
    return TACET_OK;
}

/* `which` is the kind of randomiser. */
static tacet_status create(void *state, const tacet_audit_target *self, const tacet_audit_claim *claim,
                           tacet_error *err) {
    randomizer *r = state;
    r->store = (tacet_device_store){.reserve = reserve, .commit = commit, .user = r};
    return tacet_ldp_init(&r->ldp, (tacet_ldp_kind)self->which, claim->eps, 0, 1, err);
}

/* A record and its opposite have no likely direction in common: no two are easier to tell apart. */
static tacet_status create_sphere(void *state, const tacet_audit_target *self, const tacet_audit_claim *claim,
                                  tacet_error *err) {
    randomizer *r = state;
    tacet_sphere sphere;
    double work[2 * (VECTOR + 1) + DIRECTIONS], record[VECTOR] = {1};
    tacet_status status = create(state, self, claim, err);
    if (status == TACET_OK && r->ldp.cells != DIRECTIONS) {
        status = tacet__fail(err, TACET_INVALID, "the sphere has another number of directions");
    }
    TACET_THEN(status, tacet_sphere_init(&sphere, &r->ldp, VECTOR, 1, err));
    for (int world = 0; status == TACET_OK && world < 2; world++) {
        record[0] = world == 0 ? -1 : 1;
        tacet_sphere_order(&sphere, r->order[world], work, 1, record);
        for (uint32_t i = 0; i < r->ldp.window; i++) {
            r->tells[r->order[world][i]] += record[0];
        }
    }
    return status;
}

/* One ticket asked `times` times, all answers added up. */
static tacet_status ask(randomizer *r, tacet_noise *noise, int world, size_t times, double *statistic,
                        tacet_error *err) {
    *statistic = 0;
    r->answered = false;
    tacet_status status = TACET_OK;
    for (size_t i = 0; i < times && status == TACET_OK; i++) {
        tacet_device_answer answer;
        unsigned char fresh[TACET_MINT_BYTES];
        for (size_t k = 0; k < sizeof fresh; k += sizeof(uint64_t)) {
            const uint64_t word = tacet__noise_u64(noise);
            memcpy(fresh + k, &word, sizeof word);
        }
        if (r->ldp.kind == TACET_LDP_SPHERE) {
            status = tacet__device_answer_among(fresh, &r->ldp, &r->store, &answer, "ticket", 0, r->order[world], err);
            *statistic += status == TACET_OK ? r->tells[(size_t)answer.report] : 0;
        } else {
            status = tacet__device_answer(fresh, &r->ldp, &r->store, &answer, "ticket", world, err);
            *statistic += answer.report;
        }
    }
    return status;
}

static tacet_status run(void *state, const tacet_audit_target *self, tacet_noise *noise, int world, double *statistic,
                        tacet_error *err) {
    (void)self;
    return ask(state, noise, world, 1, statistic, err);
}

/* A control forgets: every retry is a fresh draw. */
static tacet_status run_retry(void *state, const tacet_audit_target *self, tacet_noise *noise, int world,
                              double *statistic, tacet_error *err) {
    tacet_status status = TACET_OK;
    double sum = 0;
    if (!self->control) {
        return ask(state, noise, world, RETRIES, statistic, err);
    }
    for (size_t i = 0; i < RETRIES && status == TACET_OK; i++) {
        status = ask(state, noise, world, 1, statistic, err);
        sum += *statistic;
    }
    *statistic = sum;
    return status;
}

#define ONE(kind) "a device's " kind " report of a reward at either end of its range"
#define REPORT .pure = true, .size = sizeof(randomizer), .create = create
TARGET(duchi, .name = "duchi", .summary = ONE("one-bit"), .which = TACET_LDP_DUCHI, REPORT, .run = run);
TARGET(piecewise, .name = "piecewise", .summary = ONE("piecewise"), .which = TACET_LDP_PIECEWISE, REPORT, .run = run);
TARGET(hybrid, .name = "hybrid", .summary = ONE("hybrid"), .which = TACET_LDP_HYBRID, REPORT, .run = run);
TARGET(sphere, .name = "sphere",
       .summary = "a device's report of a vector, its direction among 256; the vector is replaced by its opposite",
       .pure = true, .which = TACET_LDP_SPHERE, .size = sizeof(randomizer), .create = create_sphere, .run = run);
TARGET(device_laplace, .name = "device:laplace", .summary = ONE("Laplace"), .which = TACET_LDP_LAPLACE, REPORT,
       .run = run);
TARGET(device_retry, .name = "device-retry",
       .summary = "a device asked four times for one ticket: the same bits four times", .which = TACET_LDP_DUCHI,
       REPORT, .run = run_retry);
TARGET(retry_redraws, .name = "control:retry-redraws",
       .summary = "a device that draws anew when asked again for the same ticket", .control = true,
       .which = TACET_LDP_DUCHI, REPORT, .run = run_retry);
