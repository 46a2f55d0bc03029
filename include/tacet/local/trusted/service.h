/* SPDX-License-Identifier: Apache-2.0 */
/* service.h - the suggestion service as a device sees it: asks for a suggestion, sends a report. Every request may be
 * repeated, because a suggestion has a key and a report is the same bits each time. What is sent is a report, never a
 * reward. One thread at a time. Ring: trusted. */
#ifndef TACET_LOCAL_TRUSTED_SERVICE_H
#define TACET_LOCAL_TRUSTED_SERVICE_H

#include <tacet/core/status.h>
#include <tacet/local/shared/card.h>
#include <tacet/dp/ledger.h>
#include <tacet/local/trusted/device.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where it is and who asks. */
typedef struct tacet_device_address {
    const char *server; /* https://host:port */
    const char *keys;   /* folder: ca.pem, the authority that signed the server's certificate, and the device's token */
    const char *study;
    double patience; /* seconds to go on asking a server that is away; >= 0 */
} tacet_device_address;

typedef struct tacet_device_service tacet_device_service;

/* INVALID: something is missing, or no address. NOT_FOUND: a file. NO_MEMORY. */
TACET_API tacet_status tacet_device_service_open(tacet_device_service **out, const tacet_device_address *address,
                                                 tacet_error *err);
TACET_API void tacet_device_service_close(tacet_device_service *s); /* NULL is allowed */
/* A suggestion; the same key again gives the same one, NULL makes a fresh key. *out is the server's answer as JSON text
 * (ticket, index, action), from malloc. */
TACET_API tacet_status tacet_device_service_suggest(tacet_device_service *s, char **out, const char *key,
                                                    tacet_error *err);
/* The card of a study whose decision sets stay on the devices; the caller frees it. NOT_FOUND: it is not such a study.
 * CORRUPT: what came is no card. */
TACET_API tacet_status tacet_device_service_card(tacet_device_service *s, tacet_statistics_card **out,
                                                 tacet_error *err);

/* a device's memory in a privacy ledger (tacet/dp/ledger.h): every ticket is charged its eps before
 * it is drawn, and answered from the file when asked again. For devices with a file system and SQLite; others bring
 * their own two functions (tacet/local/trusted/device.h). Not part of libtacet-device. */

/* The caller's memory; must outlive the store made from it. */
typedef struct tacet_device_ledger {
    tacet_ledger *ledger;
    const char *to_whom;
    tacet_entry entry; /* of the ticket between reserve and commit */
} tacet_device_ledger;

/* As tacet_ledger_open, and notes the ledger's head in the state folder of this user ($TACET_STATE, else
 * $XDG_STATE_HOME/tacet, else ~/.local/state/tacet), where settings->anchor is set. CORRUPT: the ledger is an older
 * copy than the one this user last reported with, or went another way since: it would draw again for tickets that were
 * reported. DENIED, IO: there is no such folder. */
TACET_API TACET_MUST_CHECK tacet_status tacet_device_ledger_open(tacet_ledger **out, const char *path,
                                                                 const tacet_ledger_settings *settings,
                                                                 tacet_error *err);

/* Both are borrowed. `to_whom`: who receives the reports. */
TACET_API void tacet_device_ledger_init(tacet_device_ledger *self, tacet_device_store *store, tacet_ledger *ledger,
                                        const char *to_whom);

/* all that a device does for one ticket: its ledger, the service it reports to, the draw, the sending.
 * For devices with a file system; the parts are in tacet/local/trusted/device.h and tacet/local/trusted/service.h.
 * Ring: trusted. */

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
