/* SPDX-License-Identifier: Apache-2.0 */
/* threads.h - how many threads linear algebra may use. Ring: pure. */
#ifndef TACET_GP_THREADS_H
#define TACET_GP_THREADS_H

#include <tacet/core/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* For the whole process: the programs set 1, or TACET_THREADS. The last bits of a large product may depend
 * on the count. At least 1. */
TACET_API void tacet_threads(int count);

#ifdef __cplusplus
}
#endif
#endif
