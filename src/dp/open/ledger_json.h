/* SPDX-License-Identifier: Apache-2.0 */
/* ledger_json.h - ledgers as JSON. Ring: shared. */
#pragma once

#include "dp/open/ledger_view.h"

#include <jansson.h>

/* Opens and verifies: nothing is shown that was not checked. On failure *view is NULL. */
tacet_status tacet__ledger_load(tacet__ledger_view **view, tacet__ledger_report *report, const char *path,
                                const unsigned char *noted, tacet_error *err);
/* The report as an object; new reference, NULL when out of memory. */
json_t *tacet__ledger_report_json(const tacet__ledger_report *report);
/* A record as an object with all its fields; NULL when out of memory. */
json_t *tacet__ledger_row_json(const tacet__ledger_row *row);
/* A bound that is not claimed (infinite) as null. */
json_t *tacet__ledger_bound(double value);
/* What the unit of an accounting is called: "eps", "rho", "mu". */
const char *tacet__ledger_unit(tacet_accounting accounting);
/* The report, and all reservations as its "list". NULL with OK never: *out is a new reference. */
tacet_status tacet__ledger_show(json_t **out, tacet__ledger_view *view, const tacet__ledger_report *report,
                                tacet_error *err);
