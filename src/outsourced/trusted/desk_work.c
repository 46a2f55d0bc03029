/* SPDX-License-Identifier: Apache-2.0 */
/* desk_work.c - the thread that measures: the curator's command or function, one query after the other.
 * Ring: trusted. In: queries that are queued. Out: values for tacet__desk_settle. With private outputs an evaluation
 * that fails is settled as a row that cannot be measured: a draw like any other, so that the modeler learns of it only
 * what the draw was charged for. The curator is told by `missed`. */
#include "outsourced/trusted/desk_internal.h"

#include "core/fail.h"
#include "outsourced/trusted/evaluate.h"

#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static query *next_queued(const tacet_desk *desk) {
    for (size_t i = 0; i < desk->count; i++) {
        if (desk->queries[i]->state == QUEUED) {
            return desk->queries[i];
        }
    }
    return NULL;
}

/* By the function, or by the command, which gets the record as text. NaN: it cannot be measured. */
static tacet_status measure(const tacet_desk *desk, double *value, size_t row, tacet_error *err) {
    if (desk->measure != NULL) {
        const tacet_status told = desk->measure(desk->user, value, row, err);
        if (told == TACET_UNSUPPORTED && isnan(*value)) {
            tacet_error_clear(err);
            return TACET_OK;
        }
        return told == TACET_OK && !isfinite(*value)
                   ? tacet__fail(err, TACET_UNSUPPORTED, "the evaluation gave no finite number")
                   : told;
    }
    char *text = NULL;
    tacet_status status = tacet__record_text(&text, &desk->manifest, desk->data, row, err);
    if (status == TACET_OK) {
        status = tacet__evaluate(value, desk->evaluate, text, desk->seconds, err);
        sodium_memzero(text, strlen(text));
    }
    free(text);
    return status;
}

/* Whatever went wrong: with private outputs the modeler must not see that it did. `why` is for the curator. */
static tacet_status measure_or_miss(const tacet_desk *desk, double *value, char *why, size_t room, size_t row,
                                    tacet_error *err) {
    const tacet_status status = measure(desk, value, row, err);
    if (status == TACET_OK || !desk->manifest.outputs_private) {
        return status;
    }
    if (desk->missed != NULL) {
        desk->missed(desk->missed_user, row, err->message);
    }
    (void)snprintf(why, room, "%.150s", err->message);
    tacet_error_clear(err);
    *value = (double)NAN;
    return TACET_OK;
}

void *tacet__desk_work(void *argument) {
    tacet_desk *desk = argument;
    (void)pthread_mutex_lock(&desk->lock);
    while (!desk->stopping) {
        query *q = next_queued(desk);
        if (q == NULL) {
            (void)pthread_cond_wait(&desk->changed, &desk->lock);
            continue;
        }
        q->state = RUNNING;
        (void)pthread_mutex_unlock(&desk->lock);
        tacet_error err = {0};
        double value = 0;
        char why[sizeof q->reason] = "";
        tacet_status status = measure_or_miss(desk, &value, why, sizeof why, q->row, &err);
        (void)pthread_mutex_lock(&desk->lock);
        memcpy(q->reason, why, sizeof why);
        if (q->state == RUNNING && status == TACET_OK) {
            status = tacet__desk_settle(desk, q, value, &err);
        }
        if (q->state == RUNNING && status != TACET_OK) {
            q->state = FAILED;
            (void)snprintf(q->reason, sizeof q->reason, "%.150s", err.message);
            (void)pthread_cond_broadcast(&desk->changed);
        }
    }
    (void)pthread_mutex_unlock(&desk->lock);
    return NULL;
}
