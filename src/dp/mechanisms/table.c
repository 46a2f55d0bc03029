/* SPDX-License-Identifier: Apache-2.0 */
/* table.c - the list of mechanisms.
 * Ring: gate. Source: none. Cost: a search among a handful. */
#include "dp/mechanisms/table.h"

#define ENTRY(kind, name) &tacet__kind_##name,
static const tacet__kind *const KINDS[] = {TACET_MECHANISMS(ENTRY)};

const tacet__kind *tacet__kind_at(size_t i) {
    return i < sizeof KINDS / sizeof KINDS[0] ? KINDS[i] : NULL;
}

const tacet__kind *tacet__kind_of(tacet_mechanism_kind kind) {
    size_t i = 0;
    const tacet__kind *k = NULL;
    while ((k = tacet__kind_at(i)) != NULL && k->kind != kind) {
        i++;
    }
    return k;
}
