/* SPDX-License-Identifier: Apache-2.0 */
/* sodium.h - the one function of it that the analysed code calls. */
#include <string.h>
static void sodium_memzero(void *bytes, size_t count) {
    memset(bytes, 0, count);
}
