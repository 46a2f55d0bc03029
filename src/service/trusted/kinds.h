/* SPDX-License-Identifier: Apache-2.0 */
/* kinds.h - every policy that `tacet server` serves: the local ones, and those of the central and contextual models.
 * Ring: trusted. */
#ifndef TACET_SRC_SERVICE_TRUSTED_KINDS_H
#define TACET_SRC_SERVICE_TRUSTED_KINDS_H

#include "service/open/study/policies.h"

#include <tacet/dp/open/release.h>

extern const tacet__policy_kind tacet__kind_central, tacet__kind_fixed, tacet__kind_contextual;
/* All of them, ended by NULL. */
extern const tacet__policy_kind *const tacet__service_kinds[];
/* The noisy sums that policy `central` released last, from its saved state: anyone may have them. Errors of
 * tacet_central_release_sums. */
tacet_status tacet__kind_central_sums(tacet_release **out, const tacet__definition *def, const char *ledger,
                                      const void *snapshot, size_t size, tacet_error *err);

#endif
