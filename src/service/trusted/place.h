/* SPDX-License-Identifier: Apache-2.0 */
/* place.h - between the files behind tacet/service/trusted/store.h and study.h. Ring: trusted. */
#pragma once

#include "service/open/store/store.h"

#include <jansson.h>
#include <tacet/service/trusted/store.h>

tacet__studies_settings tacet__place_settings(const tacet_store_place *place);
tacet_status tacet__place_open(tacet__studies **out, const tacet_store_place *place, tacet_error *err);
/* A line of the audit trail before something is done at a shell: the user of the process, and what. */
tacet_status tacet__place_audit(tacet__studies *store, tacet_error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The object (taken over; may be NULL) as text, when all went well; *out is NULL otherwise. */
tacet_status tacet__place_text(char **out, tacet_status status, json_t *object, tacet_error *err);
