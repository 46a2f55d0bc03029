/* SPDX-License-Identifier: Apache-2.0 */
/* limits.h - how large a contextual problem may be. */
#ifndef TACET_CONTEXTUAL_SHARED_LIMITS_H
#define TACET_CONTEXTUAL_SHARED_LIMITS_H

enum {
    TACET_CONTEXTUAL_DIM_MOST = 4,           /* coordinates of a box */
    TACET_CONTEXTUAL_GROUPED_MOST = 32,      /* of a sum over groups of coordinates */
    TACET_CONTEXTUAL_COORDINATES_MOST = 512, /* where actions and contexts are lists: a category takes one a level */
    TACET_CONTEXTUAL_FEATURES_MOST = 400
};

#endif
