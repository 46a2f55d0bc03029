/* SPDX-License-Identifier: Apache-2.0 */
/* device.h - the device's half of the local model: a reward leaves the device clipped, randomised, once per ticket.
 *
 * The order is that of the gate: the question is reserved durably, with the key of its noise; the report is drawn; the
 * report is committed durably, and only then does it leave. Asking again for a ticket that was answered gives the same
 * bits and draws nothing; a device that redrew on every retry would let the server average its noise away. A ticket
 * that was interrupted before its commit draws the same report from the stored key, for the same reward or not at all
 * (CONFLICT): whether a report leaves cannot select among draws.
 *
 * This header and those it includes are all a client needs of libtacet-device. Nothing is
 * allocated after tacet_device_open. One thread at a time per object. */
#ifndef TACET_LOCAL_TRUSTED_DEVICE_H
#define TACET_LOCAL_TRUSTED_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <tacet/local/shared/choice.h>
#include <tacet/local/shared/ldp.h>
#include <tacet/core/status.h>
#include <tacet/dp/mint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { TACET_DEVICE_TICKET_MOST = 200 }; /* bytes of a ticket, without the terminating zero */

/* Where the device remembers its reports: two functions that return OK only when what they wrote would survive a loss
 * of power. Both are the caller's; a key-value store with one record of 64 bytes per ticket, of 8 once it is answered,
 * is enough. What is stored stays on the device: with the mint and the report anyone has the reward. */
typedef struct tacet_device_store {
    /* Notes that `ticket` is being asked under `ldp`, stores *mint with it, and charges whatever budget the device
     * keeps. Sets *answered and, when true, *report. OK again for a ticket that was reserved but never committed (a
     * crash): then *mint becomes what was stored the first time, so that the same report is drawn. BUDGET: no.
     * CONFLICT: the ticket was asked under another randomiser, range or eps. */
    tacet_status (*reserve)(void *user, const char *ticket, const tacet_ldp *ldp, tacet_mint *mint, bool *answered,
                            double *report, tacet_error *err);
    /* Stores the report of a reserved ticket, and erases its mint. */
    tacet_status (*commit)(void *user, const char *ticket, double report, tacet_error *err);
    void *user;
} tacet_device_store;

typedef struct tacet_device tacet_device;

typedef struct tacet_device_answer {
    double report; /* what may be sent; a possible output of the randomiser (tacet_ldp_possible) */
    bool clipped;  /* the reward given now was outside the range. Keep it: sending it would tell of the reward */
    bool repeated; /* the ticket had been answered before: these are the stored bits */
} tacet_device_answer;

/* ldp and store are copied. INVALID: a store without its functions. IO: no entropy.
 * NO_MEMORY. */
TACET_API tacet_status tacet_device_open(tacet_device **out, const tacet_ldp *ldp, const tacet_device_store *store,
                                         tacet_error *err);
TACET_API void tacet_device_close(tacet_device *device); /* wipes; NULL is allowed */
/* INVALID: a reward that is not a number; a ticket that is empty, too long, or has control characters. NUMERIC: the
 * sampler of Laplace noise gave up (probability below 2^-64): the ticket is spent. CONFLICT: the ticket was begun with
 * another reward. Otherwise what the store fails with. Nothing
 * leaves unless OK: out->report is then NaN. */
TACET_API TACET_MUST_CHECK tacet_status tacet_device_report(tacet_device *device, tacet_device_answer *out,
                                                            const char *ticket, double reward, tacet_error *err);

/* The arm to play, by public weights (tacet/local/shared/choice.h) and a coin of this device: nobody is asked, and
 * nothing is told. INVALID: all weights are 0. IO: no entropy. */
TACET_API tacet_status tacet_device_choose(size_t *out, const uint32_t *weights, size_t count, tacet_error *err);

#ifdef __cplusplus
}
#endif
#endif
