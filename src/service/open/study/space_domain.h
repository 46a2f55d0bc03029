/* SPDX-License-Identifier: Apache-2.0 */
/* space_domain.h - studies over a space: the server proposes the point itself, from candidates spread over the space.
 * Ring: open. Everything here is public: a function of the definition alone. */
#pragma once

#include "service/open/study/definition.h"

#include "central/open/outlook.h"

/* Reads the space, spreads at most `candidates` records over it, and makes their coordinates the points of the
 * definition: numbers go from -1 to 1 over their bounds, levels are 1 apart. PARSE names the column and the rule. */
tacet_status tacet__space_domain_read(tacet__definition *def, const json_t *space, size_t candidates, tacet_error *err);
/* Contexts as records of a space: their coordinates and bounds, as above. PARSE names the column and the rule. */
tacet_status tacet__space_context_read(tacet__definition *def, const json_t *space, tacet_error *err);
/* Coordinates (context_dim) of a context by the names of its columns, in their own units: numbers, levels and dates as
 * text, null for a missing one. What lies outside the bounds is the nearest within. INVALID names the column that is
 * not there, too much, or no value of its kind; never the value. */
tacet_status tacet__space_context_point(const tacet__definition *def, double *point, const json_t *named,
                                        tacet_error *err);
/* {"space": …} */
json_t *tacet__space_context_json(const tacet__definition *def);
/* {"space": …, "candidates": N} */
json_t *tacet__space_domain_json(const tacet__definition *def);
/* What a study without contexts chooses from: all codes of its space (space/lattice.h); of a space with too many
 * columns or levels for codes its candidates; a list. Borrowed. */
tacet_central_arms tacet__definition_arms(const tacet__definition *def);
/* Point `index` of any fixed domain: the candidate, or where rewards are released at once the arm. Coordinates (d),
 * and over a space the record (space.count; may be NULL). False: there is none. */
bool tacet__domain_point(const tacet__definition *def, double *action, double *record, uint64_t index);
/* The same by the names of the columns, in their own units. NULL: no space, no such point, no memory. */
json_t *tacet__space_domain_point(const tacet__definition *def, uint64_t index);
/* Lengthscales for the coordinates, those of contexts last: the usual ones (count 0), one for all, one for each column,
 * one for each coordinate.
 * INVALID: another number of them. NO_MEMORY. Replaces def->lengthscales. */
tacet_status tacet__space_domain_scales(tacet__definition *def, tacet_error *err);
