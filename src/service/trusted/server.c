/* SPDX-License-Identifier: Apache-2.0 */
/* server.c - the service with every policy. Ring: trusted. */
#include <tacet/service/trusted/server.h>

#include "service/open/wire/host.h"
#include "service/trusted/kinds.h"

tacet_status tacet_server_start(tacet_server **out, const tacet_server_settings *settings, tacet_error *err) {
    tacet_server_settings all = *settings;
    all.store.create = true;
    return tacet__host_start(out, &all, tacet__service_kinds, err);
}
