/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_relay.c - any bytes as what one server sends another: refused, or jobs that are sent on as the same bytes. The
 * hash that closes them is made here, so that what is behind it is reached. */
#include "service/open/engine/relay.h"

#include <sodium.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HASH = 32 };

static void try_jobs(const unsigned char *bytes, size_t size) {
    char study[TACET__STUDY_NAME_MOST + 1];
    tacet__job *jobs = NULL;
    tacet_blob again;
    tacet_blob_init(&again);
    size_t count = 0;
    if (tacet__relay_asked(&jobs, study, bytes, size, NULL) != TACET_OK) {
        if (jobs != NULL) {
            abort();
        }
        return;
    }
    if (tacet__relay_ask(&again, &count, study, jobs, NULL) == TACET_OK &&
        (again.size > size || memcmp(again.data, bytes, 20) != 0)) { /* a set without arms is sent as none */
        abort();
    }
    tacet_blob_clear(&again);
    while (jobs != NULL) {
        tacet__job *next = jobs->next;
        if (!jobs->relayed) {
            abort();
        }
        tacet__job_free(jobs);
        jobs = next;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    unsigned char *bytes = malloc(size + HASH);
    tacet__job *job = tacet__job_create(TACET__JOB_SUGGEST);
    if (bytes == NULL || job == NULL) {
        abort();
    }
    if (size > 0) {
        memcpy(bytes, data, size);
    }
    (void)crypto_generichash(bytes + size, HASH, bytes, size, NULL, 0);
    try_jobs(bytes, size + HASH);
    if (tacet__relay_answered(job, 1, bytes, size + HASH, NULL) == TACET_OK &&
        (job->action_size > TACET__DEFINITION_DIMS || strlen(job->ticket) >= TACET__TICKET_TEXT)) {
        abort();
    }
    tacet__job_free(job);
    free(bytes);
    return 0;
}
