/* SPDX-License-Identifier: Apache-2.0 */
/* text.c - text that grows, with escaping for HTML and XML.
 * Ring: open. Cost: amortised O(1) per character. */
#include "report/text.h"

#include "core/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bool room(tacet__text *text, size_t more) {
    size_t need = 0;
    if (!text->failed && (!tacet__size_add(&need, text->length, more) || !tacet__size_add(&need, need, 1) ||
                          !tacet__grow((void **)&text->at, &text->capacity, need, 1))) {
        text->failed = true;
    }
    return !text->failed;
}

static void add_bytes(tacet__text *text, const char *bytes, size_t count) {
    if (room(text, count)) {
        memcpy(text->at + text->length, bytes, count);
        text->length += count;
        text->at[text->length] = '\0';
    }
}

void tacet__text_add(tacet__text *text, const char *words) {
    add_bytes(text, words, strlen(words));
}

void tacet__text_format(tacet__text *text, const char *format, ...) {
    char piece[512];
    va_list list;
    va_start(list, format);
    const int length = vsnprintf(piece, sizeof piece, format, list);
    va_end(list);
    /* Only numbers and constant words are formatted: longer text goes through add and escape. */
    if (length < 0 || (size_t)length >= sizeof piece) {
        text->failed = true;
        return;
    }
    add_bytes(text, piece, (size_t)length);
}

static const char *entity(unsigned char c) {
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f ? "\xef\xbf\xbd" : NULL;
    }
}

void tacet__text_escape(tacet__text *text, const char *words) {
    const char *start = words;
    for (const char *at = words; *at != '\0'; at++) {
        const char *instead = entity((unsigned char)*at);
        /* U+FFFE and U+FFFF are UTF-8, but no characters of XML. */
        const bool none = (unsigned char)at[0] == 0xef && (unsigned char)at[1] == 0xbf && (unsigned char)at[2] >= 0xbe;
        if (instead != NULL || none) {
            add_bytes(text, start, (size_t)(at - start));
            tacet__text_add(text, none ? "\xef\xbf\xbd" : instead);
            at += none ? 2 : 0;
            start = at + 1;
        }
    }
    tacet__text_add(text, start);
}
