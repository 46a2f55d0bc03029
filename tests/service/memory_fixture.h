/* SPDX-License-Identifier: Apache-2.0 */
/* memory_fixture.h - a study that has to be opened, loaded, replayed and written to while the n-th allocation is
 * missing: what is asked fails for now, and goes on when there is memory again. Whose allocations count is the
 * program's: it takes one off `countdown` for each, and lets that fail which makes it 0. */
#pragma once

#include "engine_fixture.h"

static _Atomic long countdown; /* of allocations until one fails; 0: off */

static const double SET[] = {0.1, 0, 0.6, 0};

static char last_line[400];

static void keep_line(void *user, const char *message) {
    (void)user;
    (void)snprintf(last_line, sizeof last_line, "%s", message);
}

static bool is_for_now(tacet_status status) {
    return status == TACET_OK || status == TACET_NO_MEMORY || status == TACET_IO || status == TACET_BUSY;
}

static void one(long n, bool *reached, size_t *refused) {
    tacet__engine *e = NULL;
    tacet__engine_settings settings = engine_settings();
    settings.log = keep_line;
    countdown = n;
    const tacet_status opened = tacet__engine_open(&e, &settings, NULL);
    if (!is_for_now(opened)) {
        fail_msg("allocation %ld, opening: %s", n, tacet_status_name(opened));
    }
    *refused += opened != TACET_OK;
    if (opened == TACET_OK) {
        const tacet_status status = ask_suggestion(e, "toys", NULL, SET, 2).status;
        if (!is_for_now(status)) {
            fail_msg("allocation %ld: %s: %s", n, tacet_status_name(status), last_line);
        }
        *refused += status != TACET_OK;
    }
    *reached = countdown == 0;
    countdown = 0;
    if (e != NULL) {
        const answer a = ask_suggestion(e, "toys", NULL, SET, 2);
        if (a.status != TACET_OK) {
            fail_msg("after allocation %ld: %s: %s", n, tacet_status_name(a.status), last_line);
        }
        assert_int_equal(send_observation(e, "toys", a.ticket, 0.5).status, TACET_OK);
        tacet__engine_close(e);
    }
}

/* Every n up to `all`, then some. How many allocations there were, and how many of those tried were refused. */
static void each_allocation(long all) {
    bool reached = true;
    size_t refused = 0;
    long n = 1;
    for (; reached && n < 100000; n += n < all ? 1 : 1 + n / 12) {
        one(n, &reached, &refused);
    }
    print_message("%ld allocations in an open, a load and a suggestion; %zu of those tried were refused for now\n", n,
                  refused);
    assert_true(refused > 10);
}
