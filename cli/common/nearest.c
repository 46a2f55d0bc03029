/* SPDX-License-Identifier: Apache-2.0 */
/* nearest.c - the name that was probably meant, for a command or an option that does not exist.
 * Source: the distance of Damerau and Levenshtein, neighbouring letters swapped counting as one change. Cost: O(n m).
 */
#include "common/nearest.h"

#include <string.h>

enum { LONGEST = 63 };

static size_t least(size_t a, size_t b, size_t c) {
    const size_t ab = a < b ? a : b;
    return ab < c ? ab : c;
}

/* How many letters to add, drop, change or swap; SIZE_MAX for words longer than any name of ours. */
static size_t changes(const char *typed, size_t n, const char *name) {
    const size_t m = strlen(name);
    if (n > LONGEST || m > LONGEST) {
        return SIZE_MAX;
    }
    size_t rows[3][LONGEST + 1];
    size_t *before = rows[0], *last = rows[1], *now = rows[2];
    for (size_t j = 0; j <= m; j++) {
        last[j] = j;
    }
    for (size_t i = 1; i <= n; i++) {
        now[0] = i;
        for (size_t j = 1; j <= m; j++) {
            const size_t change = last[j - 1] + (typed[i - 1] != name[j - 1]);
            now[j] = least(last[j] + 1, now[j - 1] + 1, change);
            if (i > 1 && j > 1 && typed[i - 1] == name[j - 2] && typed[i - 2] == name[j - 1] &&
                before[j - 2] + 1 < now[j]) {
                now[j] = before[j - 2] + 1;
            }
        }
        size_t *spare = before;
        before = last;
        last = now;
        now = spare;
    }
    return last[m];
}

void cli_nearest_begin(cli_nearest *search, const char *typed, size_t length) {
    *search = (cli_nearest){.typed = typed, .length = length, .best = NULL, .changes = SIZE_MAX};
}

void cli_nearest_offer(cli_nearest *search, const char *name) {
    if (search->length == 0 || name[0] == '\0') {
        return;
    }
    const size_t needed = changes(search->typed, search->length, name);
    /* A third of the letters may differ; what was typed may also be the beginning of one name. */
    const bool begins = search->length >= 3 && strncmp(search->typed, name, search->length) == 0;
    const size_t counted = begins && needed > 1 ? 1 : needed;
    if (counted < search->changes && 3 * counted <= (search->length > 3 ? search->length : 3)) {
        search->best = name;
        search->changes = counted;
    }
}
