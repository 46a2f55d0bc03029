/* SPDX-License-Identifier: Apache-2.0 */
/* conformance_memory.c - the n-th failing allocation of create, suggest, observe, save and load. */
#include "support/conformance_internal.h"
#include "support/test.h"

enum { MOST_ALLOCATIONS = 5000 }; /* of one call; more is taken for an endless loop */

/* Fails the n-th allocation of one call for n = 1, 2, … until it needs no more; `half` picks the call. */
static bool check_no_memory(check *c, size_t half) {
    bool ok = false;
    const tacet_blob *state = &c->states[half];
    const size_t k = half / 2;
    tacet_policy *policy = NULL;
    if (!conformance__create(c, &policy)) {
        goto done;
    }
    for (long n = 1;; n++) {
        REQUIRE(n < MOST_ALLOCATIONS, "more than %d allocations in one call", MOST_ALLOCATIONS);
        REQUIRE(tacet_policy_load(policy, state->data, state->size, NULL) == TACET_OK, "load failed");
        tacet_round round;
        tacet_suggestion s = {0};
        conformance__round_of(c, k, &round);
        const double value = half % 2 == 1 ? c->p->value(c->p->user, k, &c->suggestions[k]) : 0;
        fail_alloc_after(n);
        const tacet_status status = half % 2 == 0
                                        ? tacet_policy_suggest(policy, &s, c->p->round != NULL ? &round : NULL, NULL)
                                        : tacet_policy_observe(policy, c->suggestions[k].ticket, value, NULL);
        const int hit = fail_alloc_hit();
        fail_alloc_after(0);
        const char *what = half % 2 == 0 ? "suggest" : "observe";
        REQUIRE(!hit || c->p->may_allocate, "%s allocates", what);
        if (!hit) {
            REQUIRE(status == TACET_OK, "%s failed: %s", what, tacet_status_name(status));
            break;
        }
        REQUIRE(status == TACET_NO_MEMORY, "%s out of memory gave %s", what, tacet_status_name(status));
        if (!conformance__unchanged(policy, state, "running out of memory")) {
            goto done;
        }
    }
    ok = true;
done:
    tacet_policy_free(policy);
    return ok;
}

static bool check_no_memory_create(check *c) {
    bool ok = false;
    for (long n = 1;; n++) {
        tacet_policy *policy = NULL;
        REQUIRE(n < MOST_ALLOCATIONS, "more than %d allocations in create", MOST_ALLOCATIONS);
        fail_alloc_after(n);
        const tacet_status status = c->p->create(c->p->user, &policy, NULL);
        const int hit = fail_alloc_hit();
        fail_alloc_after(0);
        const bool none = policy == NULL;
        tacet_policy_free(policy);
        if (!hit) {
            break;
        }
        REQUIRE(status == TACET_NO_MEMORY && none, "create out of memory gave %s%s", tacet_status_name(status),
                none ? "" : " and a policy");
    }
    ok = true;
done:
    return ok;
}

static bool check_no_memory_save_load(check *c) {
    bool ok = false;
    const tacet_blob *state = &c->states[c->p->rounds];
    const tacet_blob *other = &c->states[2 * c->p->rounds];
    tacet_blob blob;
    tacet_blob_init(&blob);
    tacet_policy *policy = NULL;
    if (!conformance__create(c, &policy)) {
        goto done;
    }
    for (int load = 0; load < 2; load++) {
        const char *what = load == 1 ? "load" : "save";
        for (long n = 1;; n++) {
            REQUIRE(tacet_policy_load(policy, state->data, state->size, NULL) == TACET_OK, "load failed");
            tacet_blob_clear(&blob);
            fail_alloc_after(n);
            const tacet_status status = load == 1 ? tacet_policy_load(policy, other->data, other->size, NULL)
                                                  : tacet_policy_save(policy, &blob, NULL);
            const int hit = fail_alloc_hit();
            fail_alloc_after(0);
            if (!hit) {
                REQUIRE(status == TACET_OK, "%s failed: %s", what, tacet_status_name(status));
                break;
            }
            REQUIRE(n < MOST_ALLOCATIONS, "more than %d allocations in %s", MOST_ALLOCATIONS, what);
            REQUIRE(status == TACET_NO_MEMORY && blob.size == 0, "%s out of memory gave %s or a partial state", what,
                    tacet_status_name(status));
            if (!conformance__unchanged(policy, state, "running out of memory")) {
                goto done;
            }
        }
    }
    ok = true;
done:
    tacet_blob_clear(&blob);
    tacet_policy_free(policy);
    return ok;
}

bool conformance__no_memory(check *c) {
    const size_t even = c->p->rounds & ~(size_t)1;
    return check_no_memory_create(c) && check_no_memory_save_load(c) && check_no_memory(c, 0) &&
           check_no_memory(c, 1) && check_no_memory(c, even) && check_no_memory(c, even + 1);
}
