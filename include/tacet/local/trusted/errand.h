/* SPDX-License-Identifier: Apache-2.0 */
/* errand.h - all that a device does for one ticket: its ledger, the service it reports to, the draw, the sending.
 * For devices with a file system; the parts are in tacet/local/trusted/device.h and tacet/local/trusted/service.h.
 * Ring: trusted. */
#ifndef TACET_LOCAL_TRUSTED_ERRAND_H
#define TACET_LOCAL_TRUSTED_ERRAND_H

#include <stdbool.h>
#include <stddef.h>
#include <tacet/local/trusted/device.h>
#include <tacet/local/trusted/service.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tacet_device_errand {
    const char *ticket;
    const tacet_ldp *ldp;
    const char *ledger; /* the device's memory and account, a file */
    double budget;      /* eps of all reports together, of a ledger that is made; NAN: it is there, with its budget */
    const char *to_whom;
    const double *point; /* a study whose decision sets stay on the devices: what was played; NULL: another study */
    size_t point_count;
    tacet_device_address address; /* server NULL: nothing is sent */
} tacet_device_errand;

/* The report of a reward. Nothing is drawn or charged before the service agreed to the randomiser. *drawn: the report
 * is in the ledger, also where sending it failed; the same errand then sends the same bits. The statuses of
 * tacet_ledger_open, tacet_device_report and tacet_device_service_observe. */
TACET_API tacet_status tacet_device_run(const tacet_device_errand *errand, tacet_device_answer *out, bool *drawn,
                                        double reward, tacet_error *err);

#ifdef __cplusplus
}
#endif
#endif
