/* cov_internal.h - what the other files of base ask of a covariance. Ring: pure. */
#ifndef TACET_SRC_GP_COV_INTERNAL_H
#define TACET_SRC_GP_COV_INTERNAL_H

#include <stdbool.h>
#include <tacet/gp/cov.h>

/* Its rows come from the caller's function, so nothing is known of them. */
bool tacet__cov_is_custom(const tacet_cov *cov);

#endif
