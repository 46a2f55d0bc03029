/* SPDX-License-Identifier: Apache-2.0 */
/* tickets.c - see tickets.h. Ring: pure. Source: none. Cost: O(1) a call, 4 bytes a ticket; saved: 16 bytes an open
 * one, or 4 bytes each. */
#include "core/tickets.h"

#include "core/fail.h"
#include "core/memory.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

tacet_status tacet__tickets_init(tacet__tickets *t, size_t horizon, tacet_error *err) {
    *t = (tacet__tickets){.horizon = horizon, .open = TACET__ZALLOC(uint32_t, horizon)};
    return t->open != NULL ? TACET_OK : tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu rounds", horizon);
}

void tacet__tickets_clear(tacet__tickets *t) {
    if (t->open != NULL) {
        sodium_memzero(t->open, t->given * sizeof *t->open);
    }
    free(t->open);
    *t = (tacet__tickets){0};
}

tacet_status tacet__tickets_left(const tacet__tickets *t, tacet_error *err) {
    return t->given < t->horizon ? TACET_OK
                                 : tacet__fail(err, TACET_STATE, "the horizon of %zu rounds is over", t->horizon);
}

uint64_t tacet__tickets_give(tacet__tickets *t, size_t about) {
    t->open[t->given++] = (uint32_t)about + 1;
    return t->given;
}

tacet_status tacet__tickets_find(const tacet__tickets *t, size_t *about, uint64_t ticket, tacet_error *err) {
    *about = 0;
    if (ticket == 0 || ticket > t->given) {
        return tacet__fail(err, TACET_NOT_FOUND, "ticket %llu was never given", (unsigned long long)ticket);
    }
    if (t->open[ticket - 1] == 0) {
        return tacet__fail(err, TACET_CONFLICT, "ticket %llu has been reported or dropped already",
                           (unsigned long long)ticket);
    }
    *about = t->open[ticket - 1] - 1;
    return TACET_OK;
}

void tacet__tickets_close(tacet__tickets *t, uint64_t ticket, bool reported) {
    t->open[ticket - 1] = 0;
    *(reported ? &t->reported : &t->dropped) += 1;
}

void tacet__tickets_forget(tacet__tickets *t, size_t first, size_t count) {
    for (size_t i = first; i < first + count; i++) {
        t->open[i] = t->open[i] != 0 ? 1 : 0;
    }
}

size_t tacet__tickets_open(const tacet__tickets *t) {
    return t->given - t->reported - t->dropped;
}

void tacet__tickets_state(tacet__tickets *t, tacet__state *s, size_t most, bool hidden) {
    const size_t before = t->given;
    size_t open = 0;
    tacet__state_size(s, "given", &t->given, t->horizon);
    if (t->given < before) { /* as it was before it was used */
        memset(t->open + t->given, 0, (before - t->given) * sizeof *t->open);
    }
    tacet__state_size(s, "dropped", &t->dropped, t->given);
    tacet__state_size(s, "reported", &t->reported, t->given - t->dropped);
    (hidden ? tacet__state_u32s : tacet__state_few_u32s)(s, "open", t->open, t->given, (uint32_t)most);
    for (size_t i = 0; i < t->given && tacet__state_taking(s); i++) {
        open += t->open[i] != 0 ? 1 : 0;
    }
    tacet__state_require(s, "open", !tacet__state_taking(s) || open == tacet__tickets_open(t));
}
