/* SPDX-License-Identifier: Apache-2.0 */
/* wire_fixture.h - requests to the service's table of routes without a network: each is handled, and waited for. */
#pragma once

#include "engine_fixture.h"

#include "service/open/wire/routes.h"

typedef struct fake_exchange {
    tacet__exchange exchange;
    tacet__response response;
    bool suspended, answered;
} fake_exchange;

static inline void fake_suspend(tacet__exchange *self) {
    ((fake_exchange *)self)->suspended = true;
}

static inline void fake_answer(tacet__exchange *self, const tacet__response *response) {
    fake_exchange *x = (fake_exchange *)self;
    (void)pthread_mutex_lock(&done_lock);
    x->response = *response;
    x->answered = true;
    (void)pthread_cond_broadcast(&done_wake);
    (void)pthread_mutex_unlock(&done_lock);
}

/* `peer` is what stands behind the '?'; NULL: nothing. A value lasts for some more calls. */
static inline const char *fake_argument(const void *peer, const char *name) {
    enum { LAST = 8 };
    static char values[LAST][128];
    static unsigned used;
    const size_t length = strlen(name);
    for (const char *at = peer; at != NULL; at = strchr(at, '&') != NULL ? strchr(at, '&') + 1 : NULL) {
        if (strncmp(at, name, length) == 0 && at[length] == '=') {
            char *value = values[used++ % LAST];
            (void)snprintf(value, sizeof values[0], "%.*s", (int)strcspn(at + length + 1, "&"), at + length + 1);
            return value;
        }
    }
    return NULL;
}

static bool token_known; /* of the last request, so said the service */

/* The status; the body (NUL-terminated, from malloc) in *out, which is the caller's. */
static inline unsigned handle(tacet__service *service, const char *method, const char *path, const char *query,
                              const char *token, const char *body, size_t size, char **out) {
    fake_exchange x = {.exchange = {fake_suspend, fake_answer, false}};
    const tacet__request request = {.method = method,
                                    .path = path,
                                    .bearer = token,
                                    .body = body,
                                    .body_size = size,
                                    .argument = fake_argument,
                                    .peer = query,
                                    .exchange = &x.exchange};
    tacet__response response = {.file = -1};
    tacet__service_handle(service, &request, &response);
    if (x.suspended) {
        (void)pthread_mutex_lock(&done_lock);
        while (!x.answered) {
            (void)pthread_cond_wait(&done_wake, &done_lock);
        }
        (void)pthread_mutex_unlock(&done_lock);
        response = x.response;
    }
    token_known = x.exchange.known;
    if (out != NULL) {
        *out = response.body;
    } else {
        free(response.body);
    }
    return response.status;
}
