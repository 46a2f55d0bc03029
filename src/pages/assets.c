/* SPDX-License-Identifier: Apache-2.0 */
/* assets.c - answers with the files of a page. Ring: pages. Cost: a copy of the file. */
#include "pages/assets.h"

#include "io/http/problem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const tacet__asset *find_asset(const char *name) {
    for (const tacet__asset *a = tacet__assets; a->name != NULL; a++) {
        if (strcmp(a->name, name) == 0) {
            return a;
        }
    }
    return NULL;
}

static const char *type_of(const char *name) {
    const char *dot = strrchr(name, '.');
    return strcmp(dot, ".js") == 0    ? "text/javascript; charset=utf-8"
           : strcmp(dot, ".css") == 0 ? "text/css; charset=utf-8"
           : strcmp(dot, ".svg") == 0 ? "image/svg+xml"
                                      : "text/html; charset=utf-8";
}

static void give_bytes(tacet__response *response, const void *bytes, size_t size) {
    response->status = 200;
    response->file = -1;
    response->page = true;
    response->body = malloc(size + 1);
    response->body_size = response->body != NULL ? size : 0;
    if (response->body != NULL) {
        memcpy(response->body, bytes, size);
    }
}

static void give_plain_page(tacet__response *response, const char *api) {
    char text[1024];
    (void)snprintf(text, sizeof text,
                   "<!doctype html><html lang=en><meta charset=utf-8><title>tacet</title><h1>tacet</h1><p>This program "
                   "was built without its pages: esbuild was not there. The service itself runs. %s</p></html>\n",
                   api);
    give_bytes(response, text, strlen(text));
    response->content_type = "text/html; charset=utf-8";
}

bool tacet__assets_serve(const tacet__request *request, tacet__response *response, const char *page, const char *api) {
    char name[64];
    const bool front = strcmp(request->path, "/") == 0;
    const bool part = strcmp(request->path, "/app.js") == 0 || strcmp(request->path, "/app.css") == 0 ||
                      strcmp(request->path, "/icon.svg") == 0;
    if (!front && !part) {
        return false;
    }
    if (strcmp(request->method, "GET") != 0 && strcmp(request->method, "HEAD") != 0) {
        tacet__problem(response, 405, NULL, "this path has no such method");
        return true;
    }
    (void)snprintf(name, sizeof name, front ? "%s.html" : "%s", front ? page : request->path + 1);
    const tacet__asset *a = find_asset(name);
    if (a == NULL && front) {
        give_plain_page(response, api);
    } else if (a == NULL) {
        tacet__problem(response, 404, NULL, "this program was built without its pages");
    } else {
        const char *accepted = request->header != NULL ? request->header(request->peer, "Accept-Encoding") : NULL;
        const bool packed = accepted != NULL && strstr(accepted, "gzip") != NULL;
        give_bytes(response, packed ? a->packed : a->plain, packed ? a->packed_size : a->plain_size);
        response->content_type = type_of(a->name);
        response->encoding = packed ? "gzip" : NULL;
    }
    return true;
}
