/* SPDX-License-Identifier: Apache-2.0 */
/* selection.c - the choice of the best of several private runs, entered as one charge.
 * Ring: gate. In: a law of the number of runs with its price. Out: an entry. Source: src/dp/open/select.md.
 * Nothing is drawn here: the answer that is stored is empty, and only says that the choice may be made. */
#include <tacet/dp/ledger.h>

#include "core/fail.h"

#include <math.h>
#include <stdio.h>

enum { PARAMETERS = 256 };

tacet_status tacet_ledger_select(tacet_ledger *ledger, tacet_entry *entry, const char *ticket, const char *what,
                                 const char *to_whom, const tacet_select *law, tacet_error *err) {
    char parameters[PARAMETERS];
    tacet_charge charge;
    tacet_blob memo;
    if (!(law->eps > 0 && isfinite(law->eps) && law->delta >= 0 && law->delta < 1)) {
        return tacet__fail(err, TACET_INVALID, "the law of a choice has no price: what has one run?");
    }
    (void)snprintf(parameters, sizeof parameters, "{\"eta\":%.17g,\"gamma\":%.17g,\"runs\":%.17g}", law->eta,
                   law->gamma, law->runs);
    tacet_charge_init(&charge);
    charge.what = what;
    charge.to_whom = to_whom;
    charge.mechanism = "select";
    charge.parameters = parameters;
    if (law->delta > 0) {
        tacet_charge_approx(&charge, law->eps, law->delta);
    } else {
        tacet_charge_pure(&charge, law->eps);
    }
    tacet_blob_init(&memo);
    tacet_status status = tacet_ledger_reserve(ledger, entry, &memo, ticket, &charge, err);
    if (status == TACET_OK && !entry->answered) {
        status = tacet_ledger_commit(ledger, entry, "", 0, NULL, err);
    }
    tacet_blob_clear(&memo);
    return status;
}
