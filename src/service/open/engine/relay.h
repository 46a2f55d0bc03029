/* SPDX-License-Identifier: Apache-2.0 */
/* relay.h - jobs for a study that another server keeps: as bytes, there and back. Ring: open.
 *
 * One study is kept by one server at a time; the others hand what they are asked to it, a batch at a time, over TLS
 * that both sides authenticate, and it answers when all of the batch is durable. A relayed job is never relayed again.
 * The bytes are of src/core/codec.h; they hold what the requests held, so they are wiped. */
#ifndef TACET_SRC_SERVICE_OPEN_ENGINE_RELAY_H
#define TACET_SRC_SERVICE_OPEN_ENGINE_RELAY_H

#include "service/open/engine/engine.h"

#define TACET__RELAY_PATH "/v1/jobs"
#define TACET__RELAY_NAME "tacet peer" /* the common name in the certificates of servers */
enum { TACET__RELAY_MOST = 64, TACET__RELAY_BYTES = 16 << 20 };

/* Questions of a list of jobs, as many as fit; *count: how many did, at least one. */
tacet_status tacet__relay_ask(tacet_blob *out, size_t *count, const char *study, const tacet__job *jobs,
                              tacet_error *err);
/* The list again, in the same order; PARSE, NO_MEMORY. */
tacet_status tacet__relay_asked(tacet__job **out, char study[TACET__STUDY_NAME_MOST + 1], const void *bytes,
                                size_t size, tacet_error *err);
/* Answers of the first `count` jobs of a list, and into them. PARSE: they do not fit what was asked; nothing is changed
 * that matters: the jobs are to be failed. */
tacet_status tacet__relay_answer(tacet_blob *out, tacet__job *const *jobs, size_t count, tacet_error *err);
tacet_status tacet__relay_answered(tacet__job *jobs, size_t count, const void *bytes, size_t size, tacet_error *err);

#endif
