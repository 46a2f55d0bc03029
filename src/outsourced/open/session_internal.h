/* SPDX-License-Identifier: Apache-2.0 */
/* session_internal.h - between the files of a session. Ring: open. */
#ifndef TACET_SRC_OUTSOURCED_OPEN_SESSION_INTERNAL_H
#define TACET_SRC_OUTSOURCED_OPEN_SESSION_INTERNAL_H

#include "outsourced/open/journal.h"

#include <tacet/outsourced/open/session.h>

typedef struct tacet__session {
    const tacet_session_settings *s;
    const tacet_manifest *m;
    size_t d;           /* coordinates of the model: the release's, or those of its space */
    const double *rows; /* d x n */
    double *typed;      /* rows, where they were made from numbers and levels; NULL: they are the release's own */
    double *spread;     /* d: noise of each coordinate, then; NULL: the manifest's is that of all */
    const tacet_session_asker *asker;
    tacet__journal book;
    bool *taken;   /* rows that were asked or are known */
    size_t *order; /* rows in the order the model learns them: warm, first, random, chosen */
    double *raw;   /* their values as measured */
    size_t known;  /* how many */
    size_t asked;  /* of them, answered by the asker */
    size_t base;   /* of them, known before the model chose for the first time; SIZE_MAX: it has not yet */
    size_t *failed;
    size_t failed_count, failed_capacity;
    double *random; /* values of the rows asked at random */
    size_t random_count;
    double *chosen; /* … and of those the model chose */
    size_t chosen_count;
    size_t initial; /* random first rows */
    bool averaging;
    double shift, scale; /* model value = sign (g(y) - shift) / scale */
    double lengthscale;
    double signal_var, noise_var, mean;
    double *low, *high; /* public box in scaled units; NULL: unknown */
    /* The model, over the rows that can be measured. */
    tacet_policy *policy; /* NULL: to be made */
    size_t *map;          /* its rows in the release; NULL: the same */
    double *kept;         /* their coordinates, when not all are */
} tacet__session;

/* A measured value as the model sees it. */
double tacet__session_target(const tacet__session *r, double value);
/* Which method the settings stand for; checks what can be checked without a value. */
tacet_status tacet__session_method(tacet__session *r, tacet_error *err);
/* The policy, having learnt all that is known: made when there is none. */
tacet_status tacet__session_model(tacet__session *r, tacet_error *err);
void tacet__session_forget(tacet__session *r);

#endif
