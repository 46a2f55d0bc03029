/* SPDX-License-Identifier: Apache-2.0 */
/* test_errands.c - errands that wait while the one in hand does not end: what clients send is bounded, the service's
 * own are taken. */
#include "service/open/engine/errands.h"
#include "support/test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static pthread_mutex_t hung = PTHREAD_MUTEX_INITIALIZER;
static atomic_int done, refused;

static void hang(tacet__errand *self, bool stopping) {
    (void)self;
    (void)stopping;
    (void)pthread_mutex_lock(&hung);
    (void)pthread_mutex_unlock(&hung);
}

static void note(tacet__errand *self, bool stopping) {
    (void)self;
    atomic_fetch_add(stopping ? &refused : &done, 1);
}

static void send_many(tacet__errands *o, tacet__errand *errands, size_t count, size_t bytes) {
    for (size_t i = 0; i < count; i++) {
        errands[i] = (tacet__errand){.run = note, .bytes = bytes};
        tacet__errands_send(o, &errands[i]);
    }
}

static void wait_for(int count) {
    while (atomic_load(&done) < count) {
        (void)usleep(1000);
    }
}

TEST(test_errands_of_clients_are_bounded) {
    enum { MOST = 4096, MORE = 10, LARGE = 3, OWN = 5 };
    static tacet__errand errands[MOST + MORE], large[LARGE], own[OWN];
    tacet__errands *o = NULL;
    assert_ok(tacet__errands_open(&o, NULL));
    for (int round = 0; round < 2; round++) { /* and what was done makes room */
        tacet__errand first = {.run = hang};
        done = refused = 0;
        (void)pthread_mutex_lock(&hung);
        tacet__errands_send(o, &first);
        send_many(o, large, LARGE, (size_t)30 << 20); /* of 64 MiB */
        assert_int_equal(atomic_load(&refused), 1);
        send_many(o, errands, MOST + MORE, 1);
        assert_int_equal(atomic_load(&refused), 1 + 2 + MORE);
        send_many(o, own, OWN, 0);
        assert_int_equal(atomic_load(&refused), 1 + 2 + MORE);
        (void)pthread_mutex_unlock(&hung);
        wait_for(MOST + OWN);
        assert_int_equal(atomic_load(&done), MOST + OWN);
    }
    tacet__errands_close(o);
}
