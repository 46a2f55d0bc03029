/* SPDX-License-Identifier: Apache-2.0 */
/* version.c - the version as the build was told it. Ring: pure. */
#include <tacet/core/status.h>

const char *tacet_version(void) {
    return TACET_VERSION;
}
