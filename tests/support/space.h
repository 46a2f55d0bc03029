/* SPDX-License-Identifier: Apache-2.0 */
/* space.h - columns of plain numbers, for tests that only need some. */
#pragma once

#include <tacet/space/space.h>

#define TEST_REAL(called, low, high, one) /* NOLINTNEXTLINE(bugprone-macro-parentheses): a text takes none */          \
    { .name = called, .lo = (low), .hi = (high), .unit = (one), .others = TACET_SPACE_NONE }
