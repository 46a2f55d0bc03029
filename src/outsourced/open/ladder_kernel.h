/* SPDX-License-Identifier: Apache-2.0 */
/* ladder_kernel.h - Matérn 5/2 as straight-line code. Ring: open. */
#ifndef TACET_SRC_OUTSOURCED_OPEN_LADDER_KERNEL_H
#define TACET_SRC_OUTSOURCED_OPEN_LADDER_KERNEL_H

#include "gp/vexp.h"

#include <math.h>

/* Of the squared distance in lengthscales. */
TACET__INLINE double tacet__matern52(double square) {
    const double r = sqrt(5 * square);
    return (1 + r + (5.0 / 3.0) * square) * tacet__vexp(-r);
}

#endif
