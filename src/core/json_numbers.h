/* SPDX-License-Identifier: Apache-2.0 */
/* json_numbers.h - the numbers of a JSON text, as short as they can be. Ring: pure. */
#pragma once

/* Rewrites in place each number that has a point or an exponent as the shortest text of 15 to 17 digits that reads back
 * as the same double; strings, whole numbers and everything else stay. What the text no longer needs is zeroed. */
void tacet__json_shorten(char *text);
