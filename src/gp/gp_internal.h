/* SPDX-License-Identifier: Apache-2.0 */
/* gp_internal.h - a look at the posterior while an observation moves it. Ring: pure. */
#pragma once

#include "gp/gp.h"

/* Sees mean and variance of candidates at … at + m - 1 as an observation has moved them, while they are in cache. */
typedef void (*tacet__gp_watch_fn)(void *user, const double *mean, const double *var, size_t at, size_t m);
/* For the observations that follow; NULL: nobody looks. */
void tacet__gp_watch(tacet_gp *gp, tacet__gp_watch_fn watch, void *user);
