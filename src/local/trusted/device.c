/* SPDX-License-Identifier: Apache-2.0 */
/* device.c - one reward, one ticket, one report.
 * Ring: trusted; part of libtacet-device. In: a raw reward. Out: a report of include/tacet/local/shared/ldp.h.
 * Source: Zhou and Tan 2020, Curator 1. Differs: the reward is clipped, so that eps holds whatever the noise of the
 * reward; the randomiser is exact and may be bounded; a retry gives the same bits (src/local/README.md).
 * Cost: that of tacet_randomize and of the store; no allocation after open. */
#include "local/shared/ldp.h"
#include <tacet/local/trusted/device.h>

#include "core/fail.h"
#include "core/memory.h"
#include "dp/mechanisms/report.h"
#include "dp/noise/mint.h"
#include "local/trusted/device_internal.h"

#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

struct tacet_device {
    tacet_ldp ldp;
    tacet_device_store store;
};

tacet_status tacet_device_open(tacet_device **out, const tacet_ldp *ldp, const tacet_device_store *store,
                               tacet_error *err) {
    *out = NULL;
    if (store->reserve == NULL || store->commit == NULL) {
        return tacet__fail(err, TACET_INVALID, "a device needs a place to remember its reports");
    }
    tacet_device *device = TACET__ZALLOC(tacet_device, 1);
    if (device == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a device");
    }
    device->ldp = *ldp;
    device->store = *store;
    tacet_mint trial; /* that there is entropy is found out now */
    const tacet_status status = tacet__mint_fresh(&trial, err);
    tacet__mint_clear(&trial);
    if (status != TACET_OK) {
        free(device);
        return status;
    }
    *out = device;
    return TACET_OK;
}

void tacet_device_close(tacet_device *device) {
    if (device != NULL) {
        sodium_memzero(device, sizeof *device);
        free(device);
    }
}

static bool good_ticket(const char *ticket) {
    size_t length = 0;
    for (; length <= TACET_DEVICE_TICKET_MOST && ticket[length] != '\0'; length++) {
        const unsigned char c = (unsigned char)ticket[length];
        if (c < 0x20 || c == 0x7f) {
            return false;
        }
    }
    return length >= 1 && length <= TACET_DEVICE_TICKET_MOST;
}

/* What the report is about: a number, or an order of the cells. */
static void digest(unsigned char out[TACET_MINT_BYTES], const tacet_ldp *ldp, double reward, const uint32_t *order) {
    if (order != NULL) {
        tacet__report_digest_among(out, ldp, order);
    } else {
        tacet__report_digest(out, ldp, reward);
    }
}

static tacet_status draw(double *report, const tacet_mint *mint, const tacet_ldp *ldp, double reward,
                         const uint32_t *order, tacet_error *err) {
    return order != NULL ? tacet__report_draw_among(report, mint, ldp, order, err)
                         : tacet__report_draw(report, mint, ldp, reward, err);
}

static tacet_status answer(const unsigned char fresh[TACET_MINT_BYTES], const tacet_ldp *ldp,
                           const tacet_device_store *store, tacet_device_answer *out, const char *ticket, double reward,
                           const uint32_t *order, tacet_error *err) {
    *out = (tacet_device_answer){.report = NAN};
    if (isnan(reward)) {
        return tacet__fail(err, TACET_INVALID, "the reward is not a number");
    }
    if (!good_ticket(ticket)) {
        return tacet__fail(err, TACET_INVALID, "a ticket has 1 to %d bytes and no control characters",
                           TACET_DEVICE_TICKET_MOST);
    }
    bool answered = false;
    double report = NAN;
    unsigned char data[TACET_MINT_BYTES];
    tacet_mint mint = {{0}, {0}};
    memcpy(mint.key, fresh, sizeof mint.key);
    digest(data, ldp, reward, order);
    tacet__mint_digest(&mint, mint.digest, data);
    tacet_status status = store->reserve(store->user, ticket, ldp, &mint, &answered, &report, err);
    if (status == TACET_OK && !answered) {
        status = tacet__mint_bind(&mint, data, err); /* compares: what was stored may be of an earlier run */
        TACET_THEN(status, draw(&report, &mint, ldp, reward, order, err));
        TACET_THEN(status, store->commit(store->user, ticket, report, err));
    } else if (status == TACET_OK && !tacet_ldp_possible(ldp, report)) {
        status = tacet__fail(err, TACET_CORRUPT, "the stored report of the ticket is none this randomiser can give");
    }
    tacet__mint_clear(&mint);
    if (status == TACET_OK) {
        *out = (tacet_device_answer){
            .report = report, .clipped = reward < ldp->lo || reward > ldp->hi, .repeated = answered};
    }
    return status;
}

tacet_status tacet__device_answer(const unsigned char fresh[TACET_MINT_BYTES], const tacet_ldp *ldp,
                                  const tacet_device_store *store, tacet_device_answer *out, const char *ticket,
                                  double reward, tacet_error *err) {
    return answer(fresh, ldp, store, out, ticket, reward, NULL, err);
}

tacet_status tacet__device_answer_among(const unsigned char *fresh, const tacet_ldp *ldp,
                                        const tacet_device_store *store, tacet_device_answer *out, const char *ticket,
                                        double reward, const uint32_t *order, tacet_error *err) {
    tacet_mint mint = {{0}, {0}};
    *out = (tacet_device_answer){.report = NAN};
    TACET_OR_RETURN(fresh == NULL ? tacet__mint_fresh(&mint, err) : TACET_OK);
    const tacet_status answered = answer(fresh == NULL ? mint.key : fresh, ldp, store, out, ticket, reward, order, err);
    tacet__mint_clear(&mint);
    return answered;
}

tacet_status tacet_device_report(tacet_device *device, tacet_device_answer *out, const char *ticket, double reward,
                                 tacet_error *err) {
    tacet_mint mint;
    tacet_status status = tacet__mint_fresh(&mint, err);
    TACET_THEN(status, tacet__device_answer(mint.key, &device->ldp, &device->store, out, ticket, reward, err));
    tacet__mint_clear(&mint);
    return status;
}

tacet_status tacet_device_choose(size_t *out, const uint32_t *weights, size_t count, tacet_error *err) {
    uint64_t word = 0, total = 0;
    *out = 0;
    for (size_t i = 0; i < count; i++) {
        total += weights[i];
    }
    if (total == 0) {
        return tacet__fail(err, TACET_INVALID, "no arm has a weight above 0");
    }
    if (sodium_init() < 0) {
        return tacet__fail(err, TACET_IO, "the operating system gives no entropy");
    }
    do {
        randombytes_buf(&word, sizeof word);
    } while (!tacet_choice(out, weights, count, word));
    return TACET_OK;
}
