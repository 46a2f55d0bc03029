/* SPDX-License-Identifier: Apache-2.0 */
/* server.c - the service with every policy: the local ones, and those of the central and contextual models.
 * Ring: trusted. */
#include <tacet/service/trusted/server.h>

#include "service/open/wire/host.h"
#include "service/trusted/kinds.h"

const tacet__policy_kind *const tacet__service_kinds[] = {
    &tacet__kind_central, &tacet__kind_fixed, &tacet__kind_contextual, &tacet__kind_ab,           &tacet__policy_ucb,
    &tacet__policy_tgp,   &tacet__policy_ata, &tacet__policy_moma,     &tacet__policy_statistics, NULL};

tacet_status tacet_server_start(tacet_server **out, const tacet_server_settings *settings, tacet_error *err) {
    tacet_server_settings all = *settings;
    all.store.create = true;
    return tacet__host_start(out, &all, tacet__service_kinds, err);
}
