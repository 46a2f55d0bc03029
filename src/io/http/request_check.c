/* SPDX-License-Identifier: Apache-2.0 */
/* request_check.c - what a request may look like: whatever two readers could understand differently is refused.
 * Ring: io. Differs from a plain MHD server: MHD takes what it can make sense of. Cost: one pass over the headers. */
#include "io/http/server_internal.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Well below what MHD itself has room for (acceptor.c), beyond which it answers with a page of its own. */
enum { TARGET_MOST = 4096, HEADER_MOST = 12288 };

/* %00 stays as it is, and is refused later: it would end the text. Everything else is MHD's way. */
size_t tacet__http_unescape(void *user, struct MHD_Connection *connection, char *text) {
    (void)user;
    (void)connection;
    char *to = text;
    for (const char *from = text; *from != '\0';) {
        unsigned value = 0;
        int used = 0;
        const bool escape = from[0] == '%' && strspn(from + 1, "0123456789abcdefABCDEF") >= 2 &&
                            sscanf(from + 1, "%2x%n", &value, &used) == 1 && used == 2 && value != 0;
        *to++ = escape ? (char)value : *from;
        from += escape ? 3 : 1;
    }
    *to = '\0';
    return (size_t)(to - text);
}

typedef struct headers {
    unsigned lengths, encodings, hosts, authorizations;
    bool bad_name, bad_length, gap;
    const char *end, *seen; /* of all of them, as they came; up to where they were looked at */
} headers;

/* Between the last text and the next one; a line ends in two characters. */
static void see_gap(headers *h, const char *next, ptrdiff_t least) {
    static const char BLANK[] = {' ', '\t', '\r', '\n', '\0'};
    h->gap = h->gap || next < h->seen || next > h->end || next - h->seen < least;
    while (!h->gap && h->seen < next) {
        h->gap = memchr(BLANK, *h->seen++, sizeof BLANK) == NULL;
    }
}

static bool is_token(const char *name) {
    static const char LETTERS[] = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    const size_t length = strspn(name, LETTERS);
    return length > 0 && name[length] == '\0';
}

static enum MHD_Result see_header(void *user, enum MHD_ValueKind kind, const char *name, const char *value) {
    headers *h = user;
    (void)kind;
    see_gap(h, name, 2);
    h->seen = name + strlen(name);
    see_gap(h, value != NULL ? value : h->seen, 0);
    h->seen = value != NULL ? value + strlen(value) : h->seen;
    h->bad_name = h->bad_name || !is_token(name);
    for (const char *c = value; c != NULL && *c != '\0'; c++) {
        h->gap = h->gap || *c == '\r' || *c == '\n';
    }
    if (strcasecmp(name, MHD_HTTP_HEADER_CONTENT_LENGTH) == 0) {
        const size_t digits = value != NULL ? strspn(value, "0123456789") : 0;
        h->lengths++;
        h->bad_length = h->bad_length || digits == 0 || digits > 15 || value[digits] != '\0';
    }
    h->encodings += strcasecmp(name, MHD_HTTP_HEADER_TRANSFER_ENCODING) == 0;
    h->hosts += strcasecmp(name, MHD_HTTP_HEADER_HOST) == 0;
    h->authorizations += strcasecmp(name, MHD_HTTP_HEADER_AUTHORIZATION) == 0;
    return MHD_YES;
}

const char *tacet__http_check_request(tacet__upload *up, const char *url, const char *method, const char *version) {
    struct MHD_Connection *connection = up->connection;
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    headers h = {.end = method + (info != NULL ? info->header_size : 0)};
    const char *encoding = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_TRANSFER_ENCODING);
    up->refused = MHD_HTTP_BAD_REQUEST;
    if (up->target_size > TARGET_MOST) {
        up->refused = MHD_HTTP_URI_TOO_LONG;
        return "the path and its arguments have more than 4096 bytes";
    }
    if (info != NULL && info->header_size > HEADER_MOST) {
        up->refused = MHD_HTTP_REQUEST_HEADER_FIELDS_TOO_LARGE;
        return "the header has more than 12288 bytes";
    }
    /* MHD hands out texts that end at a NUL, and what follows is nobody's: another reader would see more than we do.
     * They lie in the request as it came, so there must be nothing between two of them. */
    h.seen = method + strlen(method);
    see_gap(&h, up->target, 1);
    if (h.gap || version != up->target + up->target_size + 1) {
        return "the request line has a NUL in it, or no version";
    }
    h.seen = version + strlen(version);
    (void)MHD_get_connection_values(connection, MHD_HEADER_KIND, see_header, &h);
    see_gap(&h, h.end, 4);
    if (h.gap) {
        return "a header has a NUL in it, goes on in a second line, or does not end in CR LF";
    }
    if (h.bad_name) {
        return "the name of a header is malformed";
    }
    if (h.lengths > 1 || h.bad_length) {
        return "Content-Length must be there once at the most, and a number";
    }
    if (h.encodings > 1 || (h.encodings == 1 && h.lengths == 1) ||
        (h.encodings == 1 && strcasecmp(encoding, "chunked") != 0)) {
        return "Transfer-Encoding may only be 'chunked', and not beside Content-Length";
    }
    if (h.encodings == 1 && strcmp(version, "HTTP/1.1") != 0) {
        return "Transfer-Encoding needs HTTP/1.1";
    }
    if (h.hosts != 1 || h.authorizations > 1) {
        return h.hosts != 1 ? "exactly one Host header is needed" : "there may be one Authorization header";
    }
    if (strstr(url, "%00") != NULL) {
        return "the path has a NUL in it";
    }
    for (const unsigned char *c = (const unsigned char *)url; *c != '\0'; c++) {
        if (*c < 0x20 || *c == 0x7f) {
            return "the path has a control character in it";
        }
    }
    up->refused = 0;
    return NULL;
}
