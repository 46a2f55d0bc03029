/* SPDX-License-Identifier: Apache-2.0 */
/* call.h - one request on its way through the service: who asks, where its answer goes, until when. Ring: service.
 *
 * A call that waits (for the store, for its study) is suspended: its texts are copied, its client's connection waits
 * without a thread, and the watchdog answers 503 with Retry-After when nothing came in time. What was asked may then
 * have been done or not; the client asks again with the same key or ticket, and gets one answer. */
#pragma once

#include "io/http/server.h"
#include "service/open/engine/engine.h"
#include "service/open/engine/errands.h"
#include "service/open/wire/routes.h"

typedef struct tacet__call tacet__call;
/* Fills the response; or leaves its status 0, and has handed the call on: it must not be touched any more. */
typedef void (*tacet__call_fn)(tacet__call *call, tacet__response *response);

/* Something that a request says: a field of its body, an argument behind the path of a GET, or, called {…}, the last
 * word of the path. `read` puts it into the job: NULL, or the rule that it breaks ("": out of memory). */
typedef struct tacet__field {
    const char *name;                                    /* NULL ends a list of them */
    const char *(*read)(tacet__job *job, json_t *value); /* NULL: the route's handler reads it */
    bool required;                                       /* where it is left out `read` is asked, too, with NULL */
} tacet__field;

struct tacet__call {
    tacet__errand errand; /* first */
    tacet__watch watch;
    tacet__service *service;
    unsigned route; /* in the metrics */
    const tacet__field *takes;
    bool uncounted; /* no metric may tell of it */
    double since;
    tacet__request request;
    bool suspended;
    tacet__call_fn handle; /* what goes on with it when the errand is done */
    char study[TACET__STUDY_NAME_MOST + 1];
    const char *last; /* the last word of the path, in request.path; or NULL */
    tacet__token token;
    tacet_status token_status; /* of looking the token up */
    tacet__session session;    /* of a browser, whose token request.bearer then is; "" guard: none */
    const char *origin;        /* of the page that asks, as the answer repeats it (pages.h); NULL: no page's */
    uint64_t audited;          /* its line in the audit trail; 0: it is no administrative act */
    tacet__job *job;           /* is told when the client has its answer */
    char *texts;               /* the copy; NULL: none */
    size_t texts_size;
};

/* Makes a call of a request; NULL: out of memory. */
tacet__call *tacet__call_create(tacet__service *service, const tacet__request *request);
/* The end of a call that was not handed on. Suspended: the answer is sent, and the response emptied; otherwise it stays
 * in *response, for the wire. The call is freed. */
void tacet__call_end(tacet__call *call, tacet__response *response);
/* The answer of a suspended call, from any thread; takes over the body and the call. */
void tacet__call_answer(tacet__call *call, const tacet__response *response);

/* Goes on with `handle` on one of the threads where the store may be asked; the token is looked up there first, when
 * the call has one that is not known. False: out of memory, and the response says so. */
bool tacet__call_to(tacet__call *call, tacet__desk desk, tacet__call_fn handle, tacet__response *response);
/* Hands a job to the study; `done` of the job gets the call as its user. NULL: out of memory. */
void tacet__call_submit(tacet__call *call, tacet__response *response, tacet__job *job, void (*done)(tacet__job *job));

/* A job of what the request says, read by the fields of its route; NULL: the answer is made. A route without any takes
 * an empty body, too. */
tacet__job *tacet__call_read(tacet__call *call, tacet__response *response, tacet__job_kind kind);
/* The same for a job whose answer is its body (studies.c). */
void tacet__call_job(tacet__call *call, tacet__response *response, tacet__job *job);

/* The answers that are the same everywhere. */
void tacet__call_fill(tacet__response *response, unsigned status, json_t *body); /* takes over the body */
/* The body as an object; NULL: it is none, or has a field that the route does not have: the answer is made. */
json_t *tacet__call_body(const tacet__call *call, tacet__response *response);
/* An argument behind the path; NULL: it was not given. A call that waits keeps those that its route has. */
const char *tacet__call_argument(const tacet__call *call, const char *name);
void tacet__refuse(tacet__response *response, unsigned status, const char *word, const char *detail);
void tacet__refuse_failure(tacet__response *response, tacet_status status, const char *message);
