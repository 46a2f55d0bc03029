/* SPDX-License-Identifier: Apache-2.0 */
/* problem.c - RFC 9457 bodies. Ring: io. Cost: O(length of the detail). */
#include "io/http/problem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct known {
    unsigned status;
    const char *title; /* the phrase of RFC 9110 */
    const char *word;
} known;

static const known KNOWN[] = {
    {400, "Bad Request", "invalid"},
    {401, "Unauthorized", "unauthorized"},
    {403, "Forbidden", "forbidden"},
    {404, "Not Found", "not-found"},
    {405, "Method Not Allowed", "method"},
    {409, "Conflict", "conflict"},
    {410, "Gone", "expired"},
    {413, "Content Too Large", "too-large"},
    {414, "URI Too Long", "too-large"},
    {429, "Too Many Requests", "too-many-requests"},
    {431, "Request Header Fields Too Large", "too-large"},
    {500, "Internal Server Error", "failed"},
    {502, "Bad Gateway", "failed"},
    {503, "Service Unavailable", "unavailable"},
};

static const known *find(unsigned status) {
    for (size_t i = 0; i < sizeof KNOWN / sizeof KNOWN[0]; i++) {
        if (KNOWN[i].status == status) {
            return &KNOWN[i];
        }
    }
    return status >= 500 ? find(500) : &KNOWN[0];
}

char *tacet__json_quote(char *at, const char *text, size_t most) {
    *at++ = '"';
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0' && most > 0; c++, most--) {
        if (*c == '"' || *c == '\\') {
            *at++ = '\\';
            *at++ = (char)*c;
        } else if (*c < 0x20) {
            at += sprintf(at, "\\u%04x", *c);
        } else {
            *at++ = (char)*c;
        }
    }
    *at++ = '"';
    return at;
}

void tacet__problem(tacet__response *response, unsigned status, const char *word, const char *detail) {
    const known *k = find(status);
    const size_t room = 6 * strlen(detail) + 256 + (word != NULL ? strlen(word) : 0);
    char *text = malloc(room);
    response->status = status;
    response->content_type = TACET__PROBLEM_JSON;
    response->file = -1;
    response->body = text;
    response->body_size = 0;
    if (text == NULL) {
        return;
    }
    char *at =
        text + sprintf(text, "{\"type\":\"" TACET__PROBLEM_TYPE "%s\",\"title\":\"%s\",\"status\":%u,\"detail\":",
                       word != NULL ? word : k->word, k->title, status);
    at = tacet__json_quote(at, detail, strlen(detail));
    *at++ = '}';
    *at++ = '\n';
    *at = '\0';
    response->body_size = (size_t)(at - text);
}
