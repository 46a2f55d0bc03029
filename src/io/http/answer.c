/* SPDX-License-Identifier: Apache-2.0 */
/* answer.c - what clients of our services have in common beside the connection: a token's file, and the words of a
 * refusal. Ring: io; knows no data. */
#include "io/http/client.h"

#include "core/fail.h"

#include <jansson.h>
#include <stdbool.h>
#include <string.h>

tacet_status tacet__client_token(char token[TACET__TOKEN_BYTES], const char *path, tacet_error *err) {
    FILE *file = fopen(path, "re");
    const bool ok = file != NULL && fgets(token, TACET__TOKEN_BYTES, file) != NULL;
    if (file != NULL) {
        (void)fclose(file);
    }
    if (!ok) {
        return tacet__fail(err, TACET_NOT_FOUND, "%s cannot be read", path);
    }
    token[strcspn(token, "\r\n")] = '\0';
    return TACET_OK;
}

tacet_status tacet__client_refused(const tacet__answer *answer, tacet_status status, const char *who,
                                   tacet_error *err) {
    json_t *body = json_loadb(answer->body, answer->size, 0, NULL);
    const char *reason = json_string_value(json_object_get(body, "detail"));
    (void)tacet__fail(err, status, "%s answered %ld: %.150s", who, answer->status,
                      reason != NULL ? reason : "no reason given");
    json_decref(body);
    return status;
}
