/* SPDX-License-Identifier: Apache-2.0 */
/* engine.h - studies at work: takes jobs from any thread, answers each once what it did is durable.
 *
 * Every study in use has one thread, which owns its policy and its connection to the store; the local studies of a
 * folder share one. It takes all jobs that wait (up to batch_most of a study), opens one transaction under the study's
 * lock, applies what other processes appended, applies the jobs, appends their events, commits, and only then answers.
 * When a commit fails, or nobody knows whether it did, the policy in memory is thrown away and made again from the
 * store before anything more is answered. docs/service.md has the argument. Ring: open. */
#pragma once

#include "service/open/engine/metrics.h"
#include "service/open/engine/errands.h"
#include "service/open/study/policies.h"
#include "service/open/store/store.h"
#include "service/open/study/ticket.h"

#include <jansson.h>

enum {
    TACET__SNAPSHOT_EVENTS = 4096, /* between snapshots of a policy, at least; a start replays at most a few more */
    TACET__PERSON_MOST = 128,      /* bytes of a name */
    TACET__SUGGEST_MOST = 64       /* suggestions at once */
};

typedef enum tacet__job_kind {
    TACET__JOB_SUGGEST,
    TACET__JOB_OBSERVE,
    TACET__JOB_LOOK,        /* at a ticket; with `wait`: until it was observed */
    TACET__JOB_STATUS,      /* -> body */
    TACET__JOB_RELEASE,     /* -> number, body */
    TACET__JOB_GET_RELEASE, /* number -> body */
    TACET__JOB_RELEASES,    /* -> body, their numbers */
    TACET__JOB_LEDGER,      /* -> body */
    TACET__JOB_BEST,        /* -> body; STATE: nothing released yet, or it depends on what a round brings */
    TACET__JOB_MODEL,       /* -> body; NOT_FOUND: devices of this study need none */
    TACET__JOB_EXTEND,      /* number: rounds in all from now on */
    TACET__JOB_ARCHIVE,
    TACET__JOB_DELETE,    /* STATE: something was released, or reported by a device */
    TACET__JOB_EXPIRE,    /* open tickets: of round `number` (0: all) that are `x` seconds old, of `owner` -> number */
    TACET__JOB_EVENTS,    /* after event `number` -> body; with `wait`: as soon as there is one */
    TACET__JOB_TICKETS,   /* that are open -> body */
    TACET__JOB_POSTERIOR, /* x, y, context -> body */
    TACET__JOB_TRIED,     /* x -> body: the last rounds, whose points are public */
    TACET__JOB_WEIGHTS,   /* -> body: what a device that chooses by itself needs */
    TACET__JOB_GRANTS,    /* many -> body */
    TACET__JOB_REPORT     /* reports, key: what comes before each of their keys -> body */
} tacet__job_kind;

typedef struct tacet__job {
    tacet__job_kind kind;
    /* Asked. */
    char key[TACET__EVENT_KEY_MOST + 1]; /* SUGGEST: makes a retry harmless; "": none */
    double *points;                      /* SUGGEST: d x count; owned, wiped when the job is freed; NULL: none */
    size_t d, count;
    size_t many;     /* SUGGEST: so many suggestions at once, for the same decision set or context -> body, a list of
                        them, fewer where no more are possible now; 0: one, told in the fields below */
    double *context; /* SUGGEST: context_dim numbers; owned, wiped when the job is freed; NULL: none */
    size_t context_dim;
    bool owned;      /* SUGGEST, EVENTS: by the token whose hash is …; EXPIRE: only what that token holds */
    json_t *named;   /* SUGGEST: the context by the names of its columns, instead of numbers; owned; NULL: none */
    json_t *reports; /* REPORT: each of a grant or a key, an index and a value; owned */
    unsigned char owner[TACET__STUDIES_TOKEN_HASH];
    uint64_t open_most, rounds_most;     /* SUGGEST: its quotas; 0: the study's rule, and none */
    char person[TACET__PERSON_MOST + 1]; /* SUGGEST: the caller's word for who takes the round; "": nobody named */
    char ticket[TACET__TICKET_TEXT];     /* OBSERVE, LOOK; set by SUGGEST */
    double value;                        /* OBSERVE: in the client's units */
    double wait;                         /* LOOK, EVENTS: seconds */
    uint64_t number;                     /* GET_RELEASE, EVENTS, EXTEND, EXPIRE; set by RELEASE, EXPIRE */
    unsigned width;     /* POSTERIOR, TRIED: the answer is a figure, drawn so wide; 0: its data, or marks and scales */
    const char *figure; /* STATUS, too: its kind, or "label"; NULL: the answer is the data */
    bool as_file;       /* with its own style */
    uint64_t x, y; /* POSTERIOR: the columns that are varied; y UINT64_MAX: x alone. `context`: where the others are */
    /* Answered. */
    tacet_status status;
    tacet_error err;
    bool repeated;  /* the answer was given before */
    bool clipped;   /* OBSERVE of a central study: the reward was out of range; for its own client only */
    bool observed;  /* LOOK */
    bool uncounted; /* a report that no metric may tell of */
    bool expired;   /* LOOK; OBSERVE: why it was refused */
    uint64_t index;
    double action[TACET__DEFINITION_DIMS]; /* SUGGEST, and LOOK over a fixed domain */
    size_t action_size;
    bool last;     /* SUGGEST: the rounds are over; the action is the best by what was learnt, and has no ticket */
    bool failed;   /* OBSERVE: there is no value */
    json_t *point; /* the same by name and in the columns' own units, over a space; NULL elsewhere */
    json_t *body;
    void (*done)(struct tacet__job *job); /* called once, on any thread; the job is its own from then on */
    void *user;
    _Atomic bool late; /* whoever asked was told to try again: it need not be done any more */
    /* The engine's. */
    struct tacet__job *next;
    uint64_t seq;
    double deadline;
} tacet__job;

typedef struct tacet__engine_settings {
    tacet__studies_settings store;
    const tacet__policy_kind *const *kinds;
    size_t batch_most; /* 0: 64 */
    tacet__metrics *metrics;
    void (*log)(void *user, const char *message); /* may be NULL; called from any thread; no values in it */
    void *log_user;
    bool patient;            /* wait for a store that is not there yet */
    bool ahead;              /* what releases need and takes long is worked out before they are due */
    size_t loaded_most;      /* studies in memory at a time; 0: 1024 */
    uint64_t save_least;     /* at the end a policy is saved when its newest snapshot lacks so many events; 0: any */
    uint64_t (*clock)(void); /* seconds since 1970, by which tickets expire; NULL: the system's. For tests */
} tacet__engine_settings;

typedef struct tacet__engine tacet__engine;

/* Opens the store once, to see that it can be. Errors of tacet__studies_open; where the store cannot be reached now
 * (IO, BUSY) and `patient`, it is OK: the engine is not ready, and tries again every second. The settings' texts are
 * borrowed. */
tacet_status tacet__engine_open(tacet__engine **out, const tacet__engine_settings *settings, tacet_error *err);
/* Answers what is in hand with BUSY, saves every policy that has events its newest snapshot does not have, ends the
 * workers. NULL is allowed. */
void tacet__engine_close(tacet__engine *engine);
/* From now on every job is answered BUSY, those that wait at once. Returns before they are: tacet__engine_drain waits
 * until every job that was taken is answered. Both before the wire is stopped. */
void tacet__engine_stop(tacet__engine *engine);
void tacet__engine_drain(tacet__engine *engine);

tacet__job *tacet__job_create(tacet__job_kind kind); /* NULL: out of memory */
void tacet__job_free(tacet__job *job);               /* wipes; NULL is allowed */
/* What a suggestion is to its client: ticket, index, action, point. NULL: out of memory. */
json_t *tacet__job_suggestion(const tacet__job *job);
/* Takes the job; job->done is called, perhaps before this returns. Status of the job: NOT_FOUND: no such study, ticket
 * or release. INVALID: what was asked. CONFLICT: the ticket has another value, the key another decision set or context.
 * STATE: the token has as many open tickets or rounds as it may; archived, the horizon is over, nothing learnt yet, the
 * ticket has expired (then job->expired, too). IO, BUSY: try again. CORRUPT. */
void tacet__engine_submit(tacet__engine *engine, const char *study, tacet__job *job);

/* Does the job and waits for its answer. Status of the job, with its message in err. The job stays the caller's. */
tacet_status tacet__engine_ask(tacet__engine *engine, const char *study, tacet__job *job, tacet_error *err);

/* Opens an engine, does the job, closes it: for one command on a store, beside servers or without them. Status of the
 * job, with its message in err. The job stays the caller's. */
tacet_status tacet__engine_once(const tacet__engine_settings *settings, const char *study, tacet__job *job,
                                tacet_error *err);

/* Adds a study: definition checked against the kinds, first state of a central policy stored, its budget charged.
 * A retry after a failure is harmless. `out` (may be NULL) receives the canonical definition, from malloc. */
tacet_status tacet__engine_add(const tacet__engine_settings *settings, char **out, const char *definition, size_t size,
                               tacet_error *err);

/* The same for a server that runs: {created, definition, outlook}; `dry`: nothing is added. On MAKER's thread. */
tacet_status tacet__engine_create(tacet__engine *engine, json_t **out, bool dry, const char *definition, size_t size,
                                  tacet_error *err);

/* Saves the policy of a study as of its newest event; beside servers that run, or without them. `replayed`: how many
 * events the newest snapshot before did not have; `events`: how many there are. CORRUPT: they cannot be replayed here.
 */
tacet_status tacet__engine_save(const tacet__engine_settings *settings, uint64_t *replayed, uint64_t *events,
                                const char *name, tacet_error *err);

/* Loads and replays a study as a server would, and answers nothing: OK says that a server would serve it. */
tacet_status tacet__engine_try(const tacet__engine_settings *settings, const char *name, tacet_error *err);

/* The store is asked on threads of the engine's: its desk (tokens, lists, studies that are not in use yet), its probe,
 * and those that make studies, which takes longer. An errand runs there; the wire's own threads never ask the store.
 * Any thread. AHEAD asks no store: it works out what releases of the studies in use will need. */
enum { TACET__MAKERS = 4 }; /* new studies wait for a dozen syncs and their features: several at a time share both */
typedef enum tacet__desk {
    TACET__DESK,
    TACET__PROBE,
    TACET__AHEAD,
    TACET__MAKER,
    TACET__DESKS = TACET__MAKER + TACET__MAKERS
} tacet__desk;
void tacet__engine_errand(tacet__engine *engine, tacet__errand *errand, tacet__desk desk);
tacet__watchdog *tacet__engine_watchdog(tacet__engine *engine);

/* The token behind a text, where it was looked up in the last few seconds. Any thread; never waits. */
bool tacet__engine_token_known(tacet__engine *engine, tacet__token *out, const char *text);
/* The same, from the store where it is not known. NOT_FOUND: none. May wait. */
tacet_status tacet__engine_token(tacet__engine *engine, tacet__token *out, const char *text, tacet_error *err);
/* Walks over the studies. May wait. */
tacet_status tacet__engine_list(tacet__engine *engine, tacet__study_fn *fn, void *user, tacet_error *err);
/* Does something with the store that the desk uses, on its thread. What `fn` returns is returned. May wait. */
tacet_status tacet__engine_with_store(tacet__engine *engine,
                                      tacet_status (*fn)(tacet__studies *store, void *user, tacet_error *err),
                                      void *user, tacet_error *err);
/* Prometheus lines of the studies that were asked since the start, from memory; `user` is the engine. Any thread. */
void tacet__engine_tell(FILE *out, void *user);
/* A line for the log, with what an error says; err may be NULL. Any thread. */
void tacet__engine_say(const tacet__engine *engine, const char *what, const tacet_error *err);
/* Whether something could be written to the store, as of a second ago at the most: true when that is known. Any thread;
 * never waits. */
bool tacet__engine_ready_known(tacet__engine *engine, bool *ready);
const char *tacet__engine_unready(tacet__engine *engine); /* why it was not, in words for anybody */
/* Writes to the store, unless that was tried in the last second. May wait. */
bool tacet__engine_ready(tacet__engine *engine);
