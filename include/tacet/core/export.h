/* SPDX-License-Identifier: Apache-2.0 */
/* export.h - TACET_API marks what the shared library shows; everything else is hidden. */
#ifndef TACET_CORE_EXPORT_H
#define TACET_CORE_EXPORT_H

#define TACET_API __attribute__((visibility("default")))
#define TACET_MUST_CHECK __attribute__((warn_unused_result))

#endif
