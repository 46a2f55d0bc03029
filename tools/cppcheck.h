/* SPDX-License-Identifier: Apache-2.0 */
/* cppcheck.h - put before every file by tools/lint: cppcheck breaks off where an expression has a choice by type, and
 * knows a body that is done once by `while (0)` alone. */
#define _Generic(...) tacet_chosen_by_type
#define false 0
