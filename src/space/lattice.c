/* SPDX-License-Identifier: Apache-2.0 */
/* lattice.c - every point of a space that a whole number can name.
 * Ring: pure. Source: ours. A ticket, a log and a saved state name an arm by one number; with codes of a lattice a
 * search may go anywhere in the space and the arm is a number still. Cost: a pass over the coordinates. */
#include "space/internal.h"
#include "space/lattice.h"

#include <math.h>

enum { STEP_BITS_MOST = 10, STEP_BITS_LEAST = 2, CODE_BITS = 52 }; /* codes are exact as doubles, too */

bool tacet__lattice_init(tacet__lattice *out, const tacet_space *space) {
    double levels = 0;
    size_t numbers = 0;
    *out = (tacet__lattice){.space = space, .columns = space->count, .dims = tacet_space_dims(space), .points = 1};
    if (space->count == 0 || space->count > TACET__LATTICE_COLUMNS || out->dims > TACET__LATTICE_DIMS) {
        return false;
    }
    for (size_t i = 0; i < space->count; i++) {
        levels += space->columns[i].level_count > 0 ? log2((double)space->columns[i].level_count) : 0;
        numbers += space->columns[i].level_count == 0 ? 1 : 0;
    }
    const double left = CODE_BITS - ceil(levels);
    const double bits = numbers > 0 ? fmin(floor(left / (double)numbers), STEP_BITS_MOST) : STEP_BITS_LEAST;
    if (left < 0 || bits < STEP_BITS_LEAST) {
        return false;
    }
    for (size_t i = 0; i < space->count; i++) {
        const size_t own = space->columns[i].level_count;
        out->sides[i] = own > 0 ? own : (size_t)1 << (unsigned)bits;
        out->points *= out->sides[i];
    }
    return true;
}

bool tacet__lattice_listed(const tacet__lattice *l) {
    for (size_t i = 0; i < l->columns; i++) {
        if (l->space->columns[i].level_count == 0) {
            return false;
        }
    }
    return true;
}

void tacet__lattice_digits(const tacet__lattice *l, size_t *digits, uint64_t code) {
    for (size_t i = 0; i < l->columns; i++) {
        digits[i] = (size_t)(code % l->sides[i]);
        code /= l->sides[i];
    }
}

uint64_t tacet__lattice_join(const tacet__lattice *l, const size_t *digits) {
    uint64_t code = 0;
    for (size_t i = l->columns; i-- > 0;) {
        code = code * l->sides[i] + digits[i];
    }
    return code;
}

/* Through coordinates: numbers lie in [-1, 1] there, and the inverse rounds what must be whole. */
void tacet__lattice_record(const tacet__lattice *l, double *record, uint64_t code) {
    size_t digits[TACET__LATTICE_COLUMNS], at = 0;
    double low[TACET__LATTICE_DIMS], high[TACET__LATTICE_DIMS], x[TACET__LATTICE_DIMS];
    tacet_space_box(l->space, low, high);
    tacet__lattice_digits(l, digits, code);
    for (size_t i = 0; i < l->columns; i++) {
        const tacet_space_column *c = &l->space->columns[i];
        if (c->level_count > 0) {
            tacet_space_vertex(x + at, digits[i], c->level_count);
        } else {
            const double share = ((double)digits[i] + 0.5) / (double)l->sides[i];
            x[at] = low[at] + share * (high[at] - low[at]);
        }
        at += tacet_space_column_dims(c);
    }
    tacet_space_invert(l->space, record, x);
}

uint64_t tacet__lattice_code(const tacet__lattice *l, const double *record) {
    size_t digits[TACET__LATTICE_COLUMNS], at = 0;
    double low[TACET__LATTICE_DIMS], high[TACET__LATTICE_DIMS], x[TACET__LATTICE_DIMS];
    tacet_space_box(l->space, low, high);
    tacet_space_embed(l->space, x, record);
    for (size_t i = 0; i < l->columns; i++) {
        const tacet_space_column *c = &l->space->columns[i];
        const double most = (double)(l->sides[i] - 1);
        const double digit =
            c->level_count > 0 ? record[i] : floor((x[at] - low[at]) / (high[at] - low[at]) * (double)l->sides[i]);
        digits[i] = (size_t)fmin(fmax(digit, 0), most);
        at += tacet_space_column_dims(c);
    }
    return tacet__lattice_join(l, digits);
}
