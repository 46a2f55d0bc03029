/* SPDX-License-Identifier: Apache-2.0 */
/* studies.h - what clients and owners ask of studies (docs/API.md). Ring: open. */
#ifndef TACET_SRC_SERVICE_OPEN_WIRE_STUDIES_H
#define TACET_SRC_SERVICE_OPEN_WIRE_STUDIES_H

#include "service/open/wire/call.h"

/* Each a tacet__call_fn of the table of routes. */
void tacet__study_suggest(tacet__call *c, tacet__response *response);
void tacet__study_observe(tacet__call *c, tacet__response *response);
void tacet__study_look(tacet__call *c, tacet__response *response);
void tacet__study_extend(tacet__call *c, tacet__response *response);
void tacet__study_get_release(tacet__call *c, tacet__response *response);
void tacet__study_list(tacet__call *c, tacet__response *response);
void tacet__study_create(tacet__call *c, tacet__response *response);

#endif
