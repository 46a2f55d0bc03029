/* SPDX-License-Identifier: Apache-2.0 */
/* errands.h - threads for what may take long: errands one after the other, and a watch over clients that wait.
 * Ring: service. A wire thread never waits for the store: it sends an errand, and the client's connection waits without
 * a thread. Who waits too long is told so by the watchdog, whatever has become of the errand. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <tacet/core/status.h>

typedef struct tacet__errand {
    void (*run)(struct tacet__errand *self, bool stopping); /* stopping: say so to whoever waits, and do nothing */
    struct tacet__errand *next;
    size_t bytes; /* that it holds for a client; 0: it is the service's own, and always taken */
} tacet__errand;

typedef struct tacet__errands tacet__errands;

tacet_status tacet__errands_open(tacet__errands **out, tacet_error *err);
/* Runs it on the queue's thread; or now with `stopping` when it is closed, or too many errands of clients wait
 * (4,096 of them, or 64 MiB): while the store hangs anyone may send more, known or not. */
void tacet__errands_send(tacet__errands *queue, tacet__errand *errand);
/* Errands that wait are run with `stopping`; the one in hand goes on. Any number of times. */
void tacet__errands_stop(tacet__errands *queue);
void tacet__errands_join(tacet__errands *queue);  /* stops, and waits for the one in hand; again is harmless */
void tacet__errands_close(tacet__errands *queue); /* joins, and frees; NULL is allowed */

typedef struct tacet__watch {
    double until;
    double (*late)(struct tacet__watch *self); /* under the watchdog's lock: short, and without calls of the watchdog */
    struct tacet__watch *before, *next;
    bool on;
} tacet__watch;

typedef struct tacet__watchdog tacet__watchdog;

tacet_status tacet__watchdog_open(tacet__watchdog **out, tacet_error *err);
void tacet__watchdog_close(tacet__watchdog *dog); /* nothing is watched any more; NULL is allowed */
/* `late` is called a tenth of a second after `seconds` at the most, unless the watch ends before: once, or again after
 * as many seconds as it returns. */
void tacet__watch_begin(tacet__watchdog *dog, tacet__watch *watch, double seconds, double (*late)(tacet__watch *self));
/* True when it was not late: the caller answers. False: `late` has been called, and has returned 0. */
bool tacet__watch_end(tacet__watchdog *dog, tacet__watch *watch);
bool tacet__watch_on(tacet__watchdog *dog, const tacet__watch *watch); /* it was begun, and is neither late nor ended */

double tacet__service_now(void); /* monotonic seconds */
