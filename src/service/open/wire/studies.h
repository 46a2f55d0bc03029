/* SPDX-License-Identifier: Apache-2.0 */
/* studies.h - what clients and owners ask of studies (docs/API.md). Ring: open. */
#pragma once

#include "service/open/wire/call.h"

/* What the routes take. */
extern const tacet__field tacet__suggest_takes[], tacet__observe_takes[], tacet__look_takes[], tacet__extend_takes[],
    tacet__release_takes[];
/* The argument 'wait': for how many seconds the client would wait. */
const char *tacet__read_wait(tacet__job *job, json_t *value);

/* Each a tacet__call_fn of the table of routes. */
void tacet__study_suggest(tacet__call *c, tacet__response *response);
void tacet__study_list(tacet__call *c, tacet__response *response);
void tacet__study_create(tacet__call *c, tacet__response *response);
