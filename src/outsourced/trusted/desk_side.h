/* SPDX-License-Identifier: Apache-2.0 */
/* desk_side.h - the page of the desk, served: a second server on a local address. Ring: trusted. */
#ifndef TACET_SRC_OUTSOURCED_TRUSTED_DESK_SIDE_H
#define TACET_SRC_OUTSOURCED_TRUSTED_DESK_SIDE_H

#include <tacet/outsourced/trusted/serve.h>

typedef struct tacet__desk_side tacet__desk_side;

/* INVALID: the address is not of this machine alone, or session_minutes. Before anything is opened. */
tacet_status tacet__desk_side_check(const tacet_curator_page *page, tacet_error *err);
/* For the desk, whose ledger and manifest (its text) are given; the texts are borrowed until it stops. */
tacet_status tacet__desk_side_start(tacet__desk_side **out, const tacet_curator_settings *settings, tacet_desk *desk,
                                    const char *ledger, const char *manifest, const char *release, tacet_error *err);
unsigned tacet__desk_side_port(const tacet__desk_side *side);
void tacet__desk_side_stop(tacet__desk_side *side); /* NULL is allowed */

#endif
