/* SPDX-License-Identifier: Apache-2.0 */
/* device_ledger.h - a device's memory in a privacy ledger (tacet/dp/ledger.h): every ticket is charged its eps before
 * it is drawn, and answered from the file when asked again. For devices with a file system and SQLite; others bring
 * their own two functions (tacet/local/trusted/device.h). Not part of libtacet-device. */
#ifndef TACET_LOCAL_TRUSTED_DEVICE_LEDGER_H
#define TACET_LOCAL_TRUSTED_DEVICE_LEDGER_H

#include <tacet/dp/ledger.h>
#include <tacet/local/trusted/device.h>

#ifdef __cplusplus
extern "C" {
#endif

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

#ifdef __cplusplus
}
#endif
#endif
