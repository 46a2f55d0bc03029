/* SPDX-License-Identifier: Apache-2.0 */
/* audit.h - attacks a mechanism and says, with confidence, how much it leaks at least.
 *
 * A target runs a mechanism on one of two worst-case neighbouring inputs and boils the output down to one number,
 * larger where the output speaks for world 1. The auditor tosses a fair coin for the world of each run, chooses an
 * event on one part of the runs ("guess 1 when the number is at least hi, guess 0 when it is at most lo, else
 * abstain"), measures it on the rest, and turns the two frequencies into a lower bound on epsilon by Clopper–Pearson
 * intervals. The bound holds for any target and any event; the event's quality decides only how close it comes.
 * src/audit/README.md has the proof. */
#ifndef TACET_AUDIT_AUDIT_H
#define TACET_AUDIT_AUDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tacet/core/status.h>
#include <tacet/dp/noise.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tacet_audit_claim {
    double eps;   /* > 0, finite */
    double delta; /* 0 <= delta < 1 */
} tacet_audit_claim;

/* One mechanism under attack. A state is used by one thread; every thread creates its own. */
typedef struct tacet_audit_target {
    const char *name;    /* as typed: "gaussian", "control:half-noise" */
    const char *summary; /* what is run, and what differs between the two worlds */
    bool control;        /* a mechanism known to be broken: the audit must find it out */
    bool pure;           /* the mechanism has delta = 0, whatever was claimed */
    tacet_status (*create)(void **state, const tacet_audit_claim *claim, tacet_error *err);
    tacet_status (*run)(void *state, tacet_noise *noise, int world, double *statistic, tacet_error *err);
    void (*free)(void *state);
} tacet_audit_target;

typedef struct tacet_audit_settings {
    size_t runs;       /* measured per world and direction of the guess; half as many more choose the event; >= 1000 */
    size_t threads;    /* 0: as many as there are processors */
    double confidence; /* of the lower bound, in (0, 1) */
    bool seeded;       /* noise from the seed instead of the operating system: reproducible, for tests */
    uint64_t seed;
    void (*progress)(double fraction, void *user); /* may be NULL; called from the calling thread */
    void *user;
    const volatile bool *stop; /* may be NULL; once another thread sets it tacet_audit_run ends with STATE */
} tacet_audit_settings;

typedef struct tacet_audit_result {
    double claimed_eps, claimed_delta;
    double eps_lower; /* 0 when nothing was found */
    double confidence;
    double guess_hi;       /* guess world 1 at or above; infinity: never */
    double guess_lo;       /* guess world 0 at or below; -infinity: never */
    size_t measured;       /* runs the event was measured on */
    size_t correct, wrong; /* guesses among them */
    bool violated;         /* eps_lower > claimed_eps */
} tacet_audit_result;

/* 1e6 runs, all processors, confidence 0.98 (0.99 for each of the two frequencies), operating-system noise. */
TACET_API void tacet_audit_defaults(tacet_audit_settings *settings);
/* INVALID: settings or claim out of range. Otherwise what the target's functions fail with. */
TACET_API tacet_status tacet_audit_run(tacet_audit_result *out, const tacet_audit_target *target,
                                       const tacet_audit_claim *claim, const tacet_audit_settings *settings,
                                       tacet_error *err);
/* NULL when there is no such target. tacet_audit_target_at gives them all, NULL past the last. */
TACET_API const tacet_audit_target *tacet_audit_find(const char *name);
TACET_API const tacet_audit_target *tacet_audit_target_at(size_t index);

/* Clopper–Pearson: one-sided bounds at the given confidence for a probability, from `hits` of `n`. */
TACET_API double tacet_audit_lower(size_t hits, size_t n, double confidence);
TACET_API double tacet_audit_upper(size_t hits, size_t n, double confidence);

#ifdef __cplusplus
}
#endif
#endif
