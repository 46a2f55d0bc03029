/* SPDX-License-Identifier: Apache-2.0 */
/* curate_price.h - what a release costs, and which mechanism it has: public arithmetic on its settings.
 * Ring: trusted. */
#pragma once

#include <tacet/dp/open/charge.h>
#include <tacet/outsourced/trusted/curate.h>

/* "gaussian", …, in the order of the enumeration; NULL beyond its end. */
const char *tacet_curate_name(tacet_curate_mechanism mechanism);
/* Puts what AUTO stands for in its place, from public numbers alone: of the proven mechanisms that add noise to the
 * columns themselves, the one with the least spread; those that need a delta only where delta is above 0. The delta of
 * a pure one is 0 then. Other mechanisms stay. tacet_curate_run and the others do so by themselves. */
tacet_status tacet_curate_resolve(tacet_curate_settings *settings, tacet_error *err);
/* Standard deviation per coordinate of `numbers` columns whose neighbours are at distance 1. UNSUPPORTED: one that
 * projects, is not proven, or needs a delta where it is 0. INVALID: eps, delta. */
tacet_status tacet__curate_spread(double *out, tacet_curate_mechanism mechanism, size_t numbers, double eps,
                                  double delta, tacet_error *err);
/* What else could have been taken under this eps and delta, with the noise it would have had. */
void tacet__curate_others(tacet_manifest *m, const tacet_curate_settings *asked);
/* Whether eps and delta are added up: Euclidean noise, and randomised response, would cost several times their eps as
 * Gaussian curves. */
bool tacet__curate_adds_up(const tacet_curate_settings *settings);
/* What the release costs: of a row, or of all rows of a person. The mechanism is settled, and has noise. */
tacet_status tacet__curate_price(tacet_charge *out, const tacet_curate_settings *settings, tacet_error *err);
/* The same of a person, into the manifest. */
tacet_status tacet__curate_person_price(tacet_manifest *manifest, const tacet_curate_settings *settings,
                                        tacet_error *err);
/* What release and outputs cost together, unless the caller sets a budget: the budget of a new ledger. */
tacet_status tacet__curate_budget(double *eps, double *delta, const tacet_curate_settings *settings, tacet_error *err);
