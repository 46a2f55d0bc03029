/* SPDX-License-Identifier: Apache-2.0 */
/* version.h - which version of the library a program runs with. Ring: pure. */
#ifndef TACET_CORE_VERSION_H
#define TACET_CORE_VERSION_H

#include <tacet/core/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* "MAJOR.MINOR.PATCH" of the library that is loaded, which may be newer than the headers. Never NULL. */
TACET_API const char *tacet_version(void);

#ifdef __cplusplus
}
#endif
#endif
