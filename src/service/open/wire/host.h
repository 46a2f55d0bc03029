/* SPDX-License-Identifier: Apache-2.0 */
/* host.h - engine, routes and wire together: what `tacet server` and `tacet collector` both run, with the policies they
 * have. The rest of it is public: tacet/service/open/server.h. Ring: open. */
#pragma once

#include "service/open/study/policies.h"

#include <tacet/service/open/server.h>

/* Errors as of tacet_collector_start. `kinds` is ended by NULL, and lives as long as the service. */
tacet_status tacet__host_start(tacet_server **out, const tacet_server_settings *settings,
                               const tacet__policy_kind *const *kinds, tacet_error *err);
