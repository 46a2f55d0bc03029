/* SPDX-License-Identifier: Apache-2.0 */
/* sobol.h - a Sobol sequence in at most sixteen coordinates. Ring: pure. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { TACET__SOBOL_DIM_MOST = 16 };

/* Point `index` (from 0, in Gray code order) of a coordinate below TACET__SOBOL_DIM_MOST, in units of 2^-32. Adding a
 * uniform number modulo 2^32, the same for all points, makes each of them uniform. */
uint32_t tacet__sobol(size_t coordinate, uint64_t index);
