/* SPDX-License-Identifier: Apache-2.0 */
/* modeler_internal.h - the methods behind tacet_modeler_create. Ring: open. */
#pragma once

#include <tacet/dp/open/law.h>
#include <tacet/outsourced/open/modeler.h>

tacet_status tacet__modeler_eiv(tacet_policy **out, const tacet_modeler_settings *settings, tacet_error *err);
/* plain: a textbook Gaussian process under the same prior, for comparison: rows as released, values standardized, the
 * best rung alone, expected improvement of the function, no exploring. */
tacet_status tacet__modeler_averaging(tacet_policy **out, const tacet_modeler_settings *settings, bool plain,
                                      tacet_error *err);
/* The release's guarantee, or that there is none. */
void tacet__modeler_guarantee(tacet_guarantee *out, const tacet_modeler_settings *settings);
/* INVALID: a spread that is negative or not finite. */
tacet_status tacet__modeler_check_noise(const tacet_modeler_settings *settings, tacet_error *err);
/* Of a release; NULL: no noise. INVALID: a density that no modeler knows. */
tacet_status tacet__modeler_check_law(const tacet_law *law, tacet_error *err);

/* UNSUPPORTED: another method. STATE: no value is known. */
tacet_status tacet_modeler_tell(const tacet_policy *policy, tacet_modeler_knowledge *out, tacet_error *err);
/* random: the values of `rows` rows asked at random. chosen: `count` values of other rows. STATE: no random row, or no
 * query. NO_MEMORY. */
tacet_status tacet_chance_tell(tacet_chance *out, const double *random, size_t rows, const double *chosen, size_t count,
                               size_t queries, bool minimize, tacet_error *err);
