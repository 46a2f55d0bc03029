/* SPDX-License-Identifier: Apache-2.0 */
/* assets.h - the files of a page, as they were bundled into this program (web/README.md). Ring: pages; knows no data.
 */
#ifndef TACET_SRC_PAGES_ASSETS_H
#define TACET_SRC_PAGES_ASSETS_H

#include "io/http/server.h"

typedef struct tacet__asset {
    const char *name;                    /* "app.js" */
    const unsigned char *plain, *packed; /* packed by gzip */
    size_t plain_size, packed_size;
} tacet__asset;

/* Made at build time from web/; ended by a name of NULL. Empty where esbuild was missing. */
extern const tacet__asset tacet__assets[];

/* Answers GET of "/" (web/PAGE.html, say "board") and of the files that it needs. False: another path, and the response
 * is left alone. Where the program was built without the pages, "/" says so, and `api` says where to ask instead. */
bool tacet__assets_serve(const tacet__request *request, tacet__response *response, const char *page, const char *api);

#endif
