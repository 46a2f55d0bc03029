/* SPDX-License-Identifier: Apache-2.0 */
/* numbers.h - what is asked of a list of numbers everywhere. Ring: pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <tacet/core/status.h>

bool tacet__all_finite(const double *x, size_t n);
/* Ascending; no NaN among them. */
void tacet__sort(double *x, size_t n);
/* INVALID, with the first coordinate that is not finite, counted from 0; `what` is what a point is called. */
tacet_status tacet__check_points(const double *X, size_t ld, size_t d, size_t n, const char *what, tacet_error *err);
