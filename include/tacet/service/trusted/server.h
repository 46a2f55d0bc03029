/* SPDX-License-Identifier: Apache-2.0 */
/* server.h - the service for every study, central ones among them: what `tacet server` runs. */
#ifndef TACET_SERVICE_TRUSTED_SERVER_H
#define TACET_SERVICE_TRUSTED_SERVER_H

#include <tacet/service/open/server.h>

#ifdef __cplusplus
extern "C" {
#endif

/* As tacet_collector_start, for studies of every kind; what is missing of the store is made. It holds decision sets,
 * contexts and rewards: a program that serves nothing else should give jansson an allocator that wipes. */
TACET_API tacet_status tacet_server_start(tacet_server **out, const tacet_server_settings *settings, tacet_error *err);

#ifdef __cplusplus
}
#endif
#endif
