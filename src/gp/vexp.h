/* SPDX-License-Identifier: Apache-2.0 */
/* vexp.h - exp as straight-line code, so that a loop over it becomes vector instructions.
 *
 * libm's exp is a call per element and stops the compiler from vectorising. This one reduces x = n ln 2 + r,
 * |r| <= ln(2)/2, takes the Taylor polynomial of degree 13 (truncation below 2^-57 relative) and scales by 2^n.
 * Error: at most 1 ulp for -708 <= x <= 709 (tests/gp/test_vexp.c measures it against libm); 0 below -708, where the
 * true value is under 3.4e-308; not defined above 709. NaN gives NaN. Since every step is an IEEE operation, the
 * result has the same bits whatever the vector width. Ring: pure. Source: Cody & Waite 1980, argument reduction. */
#pragma once

#include <stdint.h>
#include <string.h>

/* Further copies of a hot function for AVX2 and AVX-512, chosen when the program is loaded; all give the same bits.
 * Sanitizers run before the loader's choice is made and clang 14 has no such attribute. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__GLIBC__) && !defined(TACET_SANITIZED)
#define TACET__CLONES __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#else
#define TACET__CLONES
#endif
#define TACET__INLINE static inline __attribute__((always_inline))

TACET__INLINE double tacet__vexp(double x) {
    const double lowest = -708.0;
    const double log2e = 0x1.71547652b82fep+0;
    const double ln2_high = 0x1.62e42fee00000p-1; /* 33 bits: n * ln2_high is exact */
    const double ln2_low = 0x1.a39ef35793c76p-33;
    const double shift = 0x1.8p+52; /* adding it rounds to the nearest integer, held in the low bits */
    const double c = lowest > x ? lowest : x;
    const double shifted = c * log2e + shift;
    const double n = shifted - shift;
    const double r = (c - n * ln2_high) - n * ln2_low;
    /* q = (e^r - 1 - r)/r^2 by Estrin's scheme: Horner's chain of 24 dependent operations would be the bottleneck. */
    const double r2 = r * r;
    const double r4 = r2 * r2;
    const double q0 = 0.5 + r * (1.0 / 6.0);
    const double q1 = 1.0 / 24.0 + r * (1.0 / 120.0);
    const double q2 = 1.0 / 720.0 + r * (1.0 / 5040.0);
    const double q3 = 1.0 / 40320.0 + r * (1.0 / 362880.0);
    const double q4 = 1.0 / 3628800.0 + r * (1.0 / 39916800.0);
    const double q5 = 1.0 / 479001600.0 + r * (1.0 / 6227020800.0);
    const double q = (q0 + r2 * q1) + r4 * ((q2 + r2 * q3) + r4 * (q4 + r2 * q5));
    const double e = 1.0 + (r + r2 * q);
    uint64_t bits = 0;
    double power = 0;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + 1023) << 52; /* the bits of `shift` itself leave by the top */
    memcpy(&power, &bits, sizeof power);
    return x < lowest ? 0.0 : e * power;
}
