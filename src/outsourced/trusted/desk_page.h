/* SPDX-License-Identifier: Apache-2.0 */
/* desk_page.h - the curator's desk as a page: questions as they come, with their records, and what was given out.
 *
 * It has an address of its own, which must be a local one, and a login of its own; nothing of it is reachable over the
 * address that the modeler is given. web/README.md lists the requests. Ring: trusted. */
#pragma once

#include "io/http/server.h"
#include "pages/session.h"

#include <tacet/outsourced/trusted/serve.h>

typedef struct tacet__desk_page_settings {
    tacet_desk *desk;
    const char *source; /* "person", "column" or "command": where values come from */
    const char *data;   /* the table; NULL: records are not shown */
    const char *id;     /* the column by which the curator knows a record; NULL: none */
    bool ranged;        /* values are expected in lo to hi; one outside must be confirmed */
    double lo, hi;
    const char *ledger;   /* its place */
    const char *manifest; /* manifest.json as stored */
    size_t manifest_size;
    const char *release;     /* release.csv; NULL: receipts are signed without it */
    const char *receipt_key; /* text of receipt.key; NULL: no receipts are signed */
    const char *token_hash;  /* of the desk's own token */
    double session_minutes;
    unsigned port; /* in the name of the cookie: browsers keep cookies by host, not by port; 0: none */
} tacet__desk_page_settings;

typedef struct tacet__desk_page tacet__desk_page;

/* The settings' texts are borrowed. INVALID: session_minutes. NO_MEMORY. */
tacet_status tacet__desk_page_open(tacet__desk_page **out, const tacet__desk_page_settings *settings, tacet_error *err);
void tacet__desk_page_close(tacet__desk_page *page); /* the desk is hushed; NULL is allowed */
/* A tacet__handler; user is a tacet__desk_page. */
void tacet__desk_page_handle(void *user, const tacet__request *request, tacet__response *response);
/* INVALID: the address is not of this machine alone, or session_minutes. */
tacet_status tacet__desk_page_check(const tacet_curator_page *page, tacet_error *err);
