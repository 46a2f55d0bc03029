/* laplace.h - the Euclidean Laplace law on vectors, density proportional to exp(-|v|_2 / scale). Ring: shared. */
#ifndef TACET_SRC_DP_OPEN_LAPLACE_H
#define TACET_SRC_DP_OPEN_LAPLACE_H

#include <math.h>
#include <stddef.h>

/* Standard deviation of each of its d coordinates. The radius is Gamma(d, scale): its mean square d (d + 1) scale^2 is
 * shared by d coordinates. */
static inline double tacet__laplace_sd(double scale, size_t d) {
    return scale * sqrt((double)d + 1);
}

#endif
