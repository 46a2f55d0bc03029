/* SPDX-License-Identifier: Apache-2.0 */
/* waiting.h - long polls of a study: who waits for a ticket to be reported, or for the next event. Ring: open.
 * On the study's own thread; a client that waits costs a connection, no thread. */
#pragma once

#include "service/open/engine/replica.h"

/* Lets a job wait that was done, asks to wait, and has nothing to tell yet. False: it is to be answered now. */
bool tacet__waiting_add(tacet__replica *r, tacet__job *job);
/* The suggestion was observed, or has expired: whoever waits for it is answered at the end of the batch. */
void tacet__waiting_notice(tacet__replica *r, uint64_t suggestion, bool expired);
/* Whether somebody waits for events that are there. */
bool tacet__waiting_behind(const tacet__replica *r);
/* Gives these their events; inside begin and rollback, when all that was read is durable. */
void tacet__waiting_tell(tacet__replica *r);
/* Answers those who have what they waited for, or whose time is up; at the end everyone. */
void tacet__waiting_answer(tacet__replica *r, bool end);
