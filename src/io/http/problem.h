/* SPDX-License-Identifier: Apache-2.0 */
/* problem.h - refusals as application/problem+json (RFC 9457): one shape at every endpoint. Ring: io; knows no data.
 *
 *   {"type":"urn:tacet:problem:expired","title":"Gone","status":410,"detail":"the ticket has expired"}
 *
 * The type is for programs, the detail for people. */
#pragma once

#include "io/http/server.h"

#define TACET__PROBLEM_JSON "application/problem+json"
#define TACET__PROBLEM_TYPE "urn:tacet:problem:" /* before the word */

/* Fills status, body and type of content; the rest of the response is left alone. `word` is the end of the type, of
 * a-z and '-'; NULL: one by the status. `detail` is any UTF-8 text. Out of memory leaves a response without a body,
 * which the server answers by itself. */
void tacet__problem(tacet__response *response, unsigned status, const char *word, const char *detail);

/* At most `most` bytes of a text as a JSON string; returns where it ends. A byte may become six, and there are two
 * quotes. Not ended by a NUL. */
char *tacet__json_quote(char *at, const char *text, size_t most);
