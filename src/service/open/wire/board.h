/* SPDX-License-Identifier: Apache-2.0 */
/* board.h - the requests that the board's page needs, for anyone with the role: events, tickets and their end,
 * posterior, tokens, and the sessions of browsers (docs/API.md). Ring: open. */
#pragma once

#include "service/open/wire/call.h"

/* What the routes take. */
extern const tacet__field tacet__events_takes[], tacet__expire_takes[], tacet__view_takes[], tacet__label_takes[];

/* Each a tacet__call_fn of the table of routes. */
void tacet__board_figure(tacet__call *c, tacet__response *response);
void tacet__board_label(tacet__call *c, tacet__response *response);
void tacet__board_tokens(tacet__call *c, tacet__response *response);
void tacet__board_make_token(tacet__call *c, tacet__response *response);
void tacet__board_renew_token(tacet__call *c, tacet__response *response);
void tacet__board_drop_token(tacet__call *c, tacet__response *response);
void tacet__board_log_in(tacet__call *c, tacet__response *response);
void tacet__board_session(tacet__call *c, tacet__response *response);
void tacet__board_log_out(tacet__call *c, tacet__response *response);

/* The figure of a view: marks and scales, or SVG; or the label. */
void tacet__board_answer_view(tacet__response *response, const tacet__job *job);
