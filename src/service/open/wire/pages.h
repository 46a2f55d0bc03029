/* SPDX-License-Identifier: Apache-2.0 */
/* pages.h - pages of other sites that may report to a study: who they are, and their requests. Ring: open.
 *
 * A page has no token: it asks for grants, one a report, and sends its reports with them. Nothing here reads or sets a
 * cookie. An origin is a promise of the browser alone; what keeps strangers out is the rate of grants of an address,
 * and that a grant is good for one report. */
#pragma once

#include "service/open/wire/call.h"

typedef struct tacet__page_sites tacet__page_sites;

/* "STUDY=ORIGIN,…"; rate: grants a second of an address. INVALID: a word of it is not such a pair. NULL and OK where
 * text is NULL. */
tacet_status tacet__page_sites_open(tacet__page_sites **out, const char *text, double rate, tacet_error *err);
void tacet__page_sites_free(tacet__page_sites *sites); /* NULL is allowed */

/* Whether the path is one of a page's. */
bool tacet__page_path(const char *path);
/* Finds the call's origin among those of its study, for its answers (call.h). True: go on. False: the answer is made:
 * of a browser that asks beforehand (OPTIONS), or a refusal. */
bool tacet__page_enter(tacet__call *call, tacet__response *response);

/* What the routes take: with a grant, or, of a fleet that chooses by itself and has a token, with a key; and a login,
 * whose grant a site's own server asks for. */
extern const tacet__field tacet__page_grants_takes[], tacet__page_reports_takes[], tacet__device_reports_takes[],
    tacet__login_takes[];
void tacet__page_grants(tacet__call *call, tacet__response *response);
void tacet__device_reports(tacet__call *call, tacet__response *response);
