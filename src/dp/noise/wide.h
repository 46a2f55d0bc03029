/* wide.h - the 128-bit integer that every sampler reckons with. Ring: gate. */
#ifndef TACET_SRC_DP_NOISE_WIDE_H
#define TACET_SRC_DP_NOISE_WIDE_H

__extension__ typedef unsigned __int128 u128;

#endif
