/* SPDX-License-Identifier: Apache-2.0 */
/* replica_internal.h - between the files replica*.c. Ring: open. */
#ifndef TACET_SRC_SERVICE_OPEN_ENGINE_REPLICA_INTERNAL_H
#define TACET_SRC_SERVICE_OPEN_ENGINE_REPLICA_INTERNAL_H

#include "service/open/engine/replica.h"

tacet_status tacet__replica_append(tacet__replica *r, tacet__batch *b, tacet__event *event);
/* Before anything is written: the study is this replica's. */
tacet_status tacet__replica_keep(tacet__replica *r, tacet__batch *b);
/* replica_suggest.c: one suggestion or several; the action of a suggestion by its index. */
tacet_status tacet__replica_suggest(tacet__replica *r, tacet__batch *b, tacet__job *job);
void tacet__replica_show(const tacet__replica *r, tacet__job *job);
/* replica_report.c: what devices that choose by themselves ask and send. */
tacet_status tacet__replica_grants(tacet__replica *r, tacet__job *job);
tacet_status tacet__replica_weights(tacet__replica *r, tacet__job *job);
tacet_status tacet__replica_report(tacet__replica *r, tacet__batch *b, tacet__job *job);
/* replica_expire.c: tickets that an owner ends. */
tacet_status tacet__replica_expire_asked(tacet__replica *r, tacet__batch *b, tacet__job *job);
/* What an observation or the end of a ticket says of its suggestion. */
tacet__event tacet__settled_event(tacet__event_kind kind, const tacet__suggestion *s);

#endif
