/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_query.c - any bytes as the body of a query; what is accepted has a ticket and a row, and nothing else passes.
 * The request table is compiled in, so that what is behind it can be reached. */
#include "fuzz.h"

#include "outsourced/trusted/routes.c" /* NOLINT(bugprone-suspicious-include) */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    json_t *body = NULL;
    const char *ticket = NULL;
    size_t row = SIZE_MAX;
    const char *broken = question_from(&body, &ticket, &row, (const char *)data, size);
    must(broken != NULL ? row == SIZE_MAX : ticket != NULL && row <= INT64_MAX && json_object_size(body) == 2);
    json_decref(body);
    return 0;
}
