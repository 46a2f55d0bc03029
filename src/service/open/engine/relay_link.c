/* SPDX-License-Identifier: Apache-2.0 */
/* relay_link.c - asks the server that keeps a study. Ring: open. Cost: a connection for each study and keeper, kept
 * alive; one request a batch. */
#include "service/open/engine/relay_link.h"

#include "core/fail.h"
#include "service/open/engine/relay.h"

#include <stdio.h>
#include <string.h>

enum { LINK_SECONDS = 2 }; /* a keeper that is alive answers sooner, if only that it cannot */

void tacet__relay_hang_up(tacet__relay_link *link) {
    tacet__client_close(link->wire);
    link->wire = NULL;
}

static tacet_status dial(tacet__relay_link *link, const tacet__engine_settings *settings, const char *keeper,
                         tacet_error *err) {
    tacet__client_settings s;
    if (link->wire != NULL && strcmp(link->keeper, keeper) == 0) {
        return TACET_OK;
    }
    tacet__relay_hang_up(link);
    tacet__client_defaults(&s);
    s.url = keeper;
    s.authority = settings->authority;
    s.certificate = settings->certificate;
    s.key = settings->key;
    s.seconds = LINK_SECONDS;
    s.most_body = TACET__RELAY_BYTES;
    (void)snprintf(link->keeper, sizeof link->keeper, "%s", keeper);
    return tacet__client_open(&link->wire, &s, err);
}

tacet_status tacet__relay_send(tacet__relay_link *link, size_t *count, const tacet__engine_settings *settings,
                               const char *keeper, const char *study, tacet__job *jobs, tacet_error *err) {
    tacet__answer answer = {0};
    tacet_blob bytes;
    tacet_blob_init(&bytes);
    *count = 0;
    tacet_status status = dial(link, settings, keeper, err);
    status = status == TACET_INVALID ? TACET_IO : status; /* what another server wrote is no address */
    status = status != TACET_OK ? status : tacet__relay_ask(&bytes, count, study, jobs, err);
    status = status != TACET_OK
                 ? status
                 : tacet__client_post(link->wire, &answer, TACET__RELAY_PATH, bytes.data, bytes.size, err);
    tacet_blob_clear(&bytes);
    if (status == TACET_OK && answer.status != 200) {
        status = tacet__fail(err, answer.status == 403 ? TACET_DENIED : TACET_BUSY,
                             "the server that keeps the study answers %ld", answer.status);
    }
    status = status != TACET_OK ? status : tacet__relay_answered(jobs, *count, answer.body, answer.size, err);
    if (status != TACET_OK && status != TACET_BUSY) {
        tacet__relay_hang_up(link);
    }
    return status;
}
