/* SPDX-License-Identifier: Apache-2.0 */
/* session_internal.h - between the files of a session. Ring: open. */
#pragma once

#include "outsourced/open/journal.h"

#include <tacet/outsourced/open/session.h>

/* A holder that answers no more, or not now. */
typedef struct tacet__session_absence {
    tacet_error why;   /* status OK: it is there */
    size_t taken;      /* of its rows: asked and answered, known, or not measurable */
    size_t wait, next; /* answers of others until it is tried again; how many the time after that */
} tacet__session_absence;

typedef struct tacet__session {
    const tacet_session_settings *s;
    const tacet_session_holder *holders;
    size_t holder_count;
    size_t *start;                  /* holder_count + 1: first row of each */
    size_t n;                       /* rows of all */
    size_t d;                       /* coordinates of the model: the release's, or those of its space */
    double *rows;                   /* of all holders, d each: model coordinates */
    double *spread;                 /* d x holders: standard deviation of the noise of each coordinate */
    tacet__session_absence *absent; /* of each holder */
    bool trying;                    /* an absent holder is being tried */
    const tacet_session_asker *asker;
    tacet__journal book;
    bool *taken;       /* rows that were asked or are known */
    size_t *order;     /* rows in the order the model learns them: random, chosen */
    double *raw;       /* their values as measured */
    tacet__asked *how; /* and why each was asked */
    size_t known;      /* how many */
    size_t answers;    /* the same, and what the journal has and the model was not told yet */
    size_t base;       /* of them, known before the model chose for the first time; SIZE_MAX: it has not yet */
    size_t *failed;
    size_t failed_count, failed_capacity;
    size_t random_count; /* of the values, those of rows asked at random */
    size_t capacity[3];  /* of order, raw and how */
    size_t initial;      /* random first rows */
    bool averaging;
    double shift, scale; /* model value = sign (g(y) - shift) / scale */
    double lengthscale;
    double noise_var;   /* without what holders add to values; in their units */
    double *low, *high; /* public box in scaled units; NULL: unknown */
    /* The model, over the rows that can be measured. */
    tacet_policy *policy; /* NULL: to be made */
    size_t *map;          /* its rows in the release; NULL: the same */
    double *kept;         /* their coordinates, when not all are */
    size_t kept_count;    /* how many */
    size_t *kept_rows;    /* of each holder */
    double *holder_noise; /* variance of a measurement at each */
} tacet__session;

/* Rows, their noise and box, from the holders' releases. */
tacet_status tacet__session_rows(tacet__session *r, tacet_error *err);
/* Whether a row is its holder's who does not answer. */
bool tacet__session_absent(const tacet__session *r, size_t row);
/* Rows that may still be asked. */
size_t tacet__session_left(const tacet__session *r);
/* A measured value as the model sees it. */
double tacet__session_target(const tacet__session *r, double value);
/* Which method the settings stand for; checks what can be checked without a value. */
tacet_status tacet__session_method(tacet__session *r, tacet_error *err);
/* The policy, having learnt all that is known: made when there is none. */
tacet_status tacet__session_model(tacet__session *r, tacet_error *err);
void tacet__session_forget(tacet__session *r);
