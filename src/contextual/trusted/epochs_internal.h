/* SPDX-License-Identifier: Apache-2.0 */
/* epochs_internal.h - the inside of the policy with epochs, between its files. Ring: trusted. */
#ifndef TACET_SRC_CONTEXTUAL_TRUSTED_EPOCHS_INTERNAL_H
#define TACET_SRC_CONTEXTUAL_TRUSTED_EPOCHS_INTERNAL_H

#include "contextual/trusted/robust.h"
#include "core/policy_internal.h"

#include "contextual/trusted/epochs.h"

#define TACET__EPOCHS_NAME "contextual-epochs"
enum { TACET__EPOCHS_DRAWS = 64, TACET__EPOCHS_PRINT = 32, TACET__EPOCHS_TICKET = 120 };

typedef struct tacet__epochs {
    tacet_contextual_epochs_settings settings;
    tacet_ask ask;
    char ticket[TACET__EPOCHS_TICKET + 1];
    tacet_contextual_basis *basis;
    tacet_contextual_learner *learner; /* of the epoch that is being released: holds records only then */
    size_t a, contexts, n;             /* coordinates of actions, of contexts; actions */
    double *actions;                   /* a x n */
    size_t suggested;
    size_t epoch, begin, size; /* the current one: rounds begin … begin + size - 1, from 0 */
    /* Rounds of the current epoch, and those after it until it is released: secret, wiped then. */
    double *context, *rewards; /* contexts x capacity, capacity; rewards: NaN until reported */
    uint32_t *action;
    size_t capacity;
    bool *reported; /* all rounds */
    /* What was released. */
    tacet__robust robust; /* belief, law, view */
    double *V;            /* sum of the sketches of all epochs */
    double sketch_var, sketch_n;
    double *draws;  /* M x DRAWS */
    double *fast;   /* n x context nodes, for each draw (SE only); NULL: by features */
    double *pi;     /* N: how likely each action is in each context node */
    double *before; /* N: the same before the last release */
    double *phi;    /* M x n: room */
    double *values; /* n: room */
    tacet_contextual_model *model;
    double *average; /* n: over the law of contexts */
    unsigned char problem[TACET__EPOCHS_PRINT];
} tacet__epochs;

/* Room for so many rounds; those that are there stay. */
tacet_status tacet__epochs_reserve(tacet__epochs *u, size_t size, tacet_error *err);
/* Wipes the rounds of the current epoch. */
void tacet__epochs_forget(tacet__epochs *u);
/* Releases the current epoch, makes draws and the rest from it, and begins the next. */
tacet_status tacet__epochs_end(tacet__epochs *u, tacet_error *err);
/* theta_i = theta + width P^1/2 z: post-processing, a function of the release and the epoch's number. */
tacet_status tacet__epochs_draw(tacet__epochs *u, tacet_error *err);
/* After theta, P, draws or law have changed: fast, pi, model, average. */
tacet_status tacet__epochs_refresh(tacet__epochs *u, tacet_error *err);
/* Sets the size of the current epoch: by its number, or less: the last one ends before the last round, so that it is
 * released with that suggestion; and one that the ledger has ended when it did. */
tacet_status tacet__epochs_plan(tacet__epochs *u, tacet_error *err);
/* The size of an epoch, by its number: at most so many rounds. */
size_t tacet__epochs_size(const tacet__epochs *u, size_t epoch);
void tacet__epochs_state(void *self, tacet__state *s);

#endif
