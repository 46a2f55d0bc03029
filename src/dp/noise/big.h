/* SPDX-License-Identifier: Apache-2.0 */
/* big.h - the little multiple-precision arithmetic that the rare branches of the samplers need: whole numbers as arrays
 * of limbs of WORD_BITS bits (wide.h), least significant first, of a size the caller fixes.
 * Ring: gate. */
#pragma once

#include <stddef.h>
#include <tacet/dp/noise.h>

/* x = x * factor + add; returns what does not fit. */
uint64_t tacet__big_scale(uint64_t *x, size_t limbs, uint64_t factor, uint64_t add);
/* x = floor(x / divisor). divisor > 0. */
void tacet__big_divide(uint64_t *x, size_t limbs, uint64_t divisor);
/* x += y (as many limbs of y as it has, at most x's); returns the carry out of x. */
uint64_t tacet__big_add(uint64_t *x, size_t limbs, const uint64_t *y, size_t y_limbs);
/* out = x * y; out has x_limbs + y_limbs limbs and overlaps neither. */
void tacet__big_multiply(uint64_t *out, const uint64_t *x, size_t x_limbs, const uint64_t *y, size_t y_limbs);
/* -1, 0, 1 as x < y, x = y, x > y. */
int tacet__big_compare(const uint64_t *x, const uint64_t *y, size_t limbs);

/* True with probability c exp(-a/b) - whole, which must lie in [0, 1]: whole is the floor of c exp(-a/b). a/b <= 8,
 * c < 2^62, a < 2^32, b < 2^32. Bounds of the exponential are refined until they decide; latches noise->exhausted when
 * 512 bits do not. */
bool tacet__below_fraction(tacet_noise *noise, uint64_t c, uint64_t whole, uint64_t a, uint64_t b);
