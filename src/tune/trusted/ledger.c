/* SPDX-License-Identifier: Apache-2.0 */
/* ledger.c - the ledger of a run: one that is there as it was made, with its head noted in this user's state folder;
 * else a new one. Ring: trusted. Source: none. Cost: that of opening it. */
#include <tacet/tune/trusted/tune.h>

#include "core/fail.h"
#include "registry/registry.h"

tacet_status tacet_tune_ledger_open(tacet_ledger **out, const char *path, double budget, tacet_error *err) {
    tacet_ledger_settings s;
    tacet_error why = {0};
    tacet_ledger_settings_defaults(&s);
    s.use_stored = true;
    s.create = false;
    const tacet_status there = tacet__registry_reopen(out, path, &s, &why);
    if (there != TACET_NOT_FOUND) {
        return there == TACET_OK ? there : tacet__fail(err, there, "%s", why.message);
    }
    tacet_ledger_settings_defaults(&s);
    s.accounting = TACET_ACCOUNTING_BASIC;
    s.eps = budget;
    s.delta = 0;
    return tacet__registry_reopen(out, path, &s, err);
}
