/* SPDX-License-Identifier: Apache-2.0 */
/* arms_internal.h - saving and loading the state of tacet_arms within a policy's own state. Ring: pure. */
#ifndef TACET_SRC_GP_ARMS_INTERNAL_H
#define TACET_SRC_GP_ARMS_INTERNAL_H

#include "core/codec.h"

#include <tacet/gp/arms.h>

void tacet__arms_write(const tacet_arms *arms, tacet__writer *w);
/* Into arms created over the same covariance; continues bit for bit. A reader that failed leaves them undefined: read
 * into a second object and swap when tacet__read_end says OK. */
void tacet__arms_read(tacet_arms *arms, tacet__reader *r);

/* *to becomes as *from: both over the same covariance. */
void tacet__arms_copy(tacet_arms *to, const tacet_arms *from);

#endif
