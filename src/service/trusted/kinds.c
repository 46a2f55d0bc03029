/* SPDX-License-Identifier: Apache-2.0 */
/* kinds.c - the list of every policy that `tacet server` serves. Ring: trusted. */
#include "service/trusted/kinds.h"

const tacet__policy_kind *const tacet__service_kinds[] = {
    &tacet__kind_central, &tacet__kind_fixed, &tacet__kind_contextual, &tacet__kind_ab,           &tacet__policy_ucb,
    &tacet__policy_tgp,   &tacet__policy_ata, &tacet__policy_moma,     &tacet__policy_statistics, NULL};
