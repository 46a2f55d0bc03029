/* SPDX-License-Identifier: Apache-2.0 */
/* relaying.h - a study that another server keeps: which one, and what is done when it is away. Ring: open. The thread
 * of the study. */
#ifndef TACET_SRC_SERVICE_OPEN_ENGINE_RELAYING_H
#define TACET_SRC_SERVICE_OPEN_ENGINE_RELAYING_H

#include "service/open/engine/relay_link.h"
#include "service/open/engine/replica.h"

typedef struct tacet__relaying {
    tacet__relay_link link;
    bool known;     /* who keeps the study was read from its row, and nothing says that it has changed */
    double failing; /* since when the keeper answers that it cannot; 0: it does not */
    char gone[TACET__KEEPER_MOST + 1]; /* the address that could not be reached, and … */
    tacet_error why;
} tacet__relaying;

/* Whether another server keeps the study, so that jobs go there. Reads the study's row where that is not known, and
 * decides then to take it over (r->take) from one that could not be reached; a store that cannot be read says no, and
 * the jobs then find out. */
bool tacet__relaying_away(tacet__relaying *y, tacet__replica *r);
/* Hands the jobs to the keeper and answers them, or keeps those that wait for an observation in r->waiting. Returns
 * those that are to be tried otherwise; NULL: none. */
tacet__job *tacet__relaying_run(tacet__relaying *y, tacet__replica *r, tacet__job *jobs);
/* Looks at the tickets that are waited for. */
void tacet__relaying_poll(tacet__relaying *y, tacet__replica *r);
/* Another server was found to keep the study. */
void tacet__relaying_found(tacet__relaying *y, tacet__replica *r);

#endif
