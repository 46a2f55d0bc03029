/* SPDX-License-Identifier: Apache-2.0 */
/* registry.c - every audit target by name.
 * Ring: audit. */
#include "audit/targets.h"

#include <string.h>

#define LISTED(name) &tacet__audit_##name,
static const tacet_audit_target *const TARGETS[] = {TACET__AUDIT_TARGETS(LISTED)};

const tacet_audit_target *tacet_audit_target_at(size_t index) {
    return index < sizeof TARGETS / sizeof TARGETS[0] ? TARGETS[index] : NULL;
}

const tacet_audit_target *tacet_audit_find(const char *name) {
    for (size_t i = 0; tacet_audit_target_at(i) != NULL; i++) {
        if (strcmp(TARGETS[i]->name, name) == 0) {
            return TARGETS[i];
        }
    }
    return NULL;
}
