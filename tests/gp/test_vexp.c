/* SPDX-License-Identifier: Apache-2.0 */
/* test_vexp.c - the vectorisable exponential against libm's long double. */
#include "support/test.h"

#include "gp/vexp.h"

#include <tacet/core/simrng.h>

static double ulps(double x) {
    const long double exact = expl((long double)x);
    const double nearest = (double)exact;
    const double ulp = nextafter(nearest, INFINITY) - nearest;
    return (double)(fabsl((long double)tacet__vexp(x) - exact) / (long double)ulp);
}

TEST(within_one_ulp) {
    static const double spans[] = {1e-300, 1e-8, 1e-3, 0.35, 1, 30, 708};
    tacet_simrng rng = test_rng(1, 0);
    double worst = 0;
    for (size_t s = 0; s < sizeof spans / sizeof *spans; s++) {
        for (int i = 0; i < 50000; i++) {
            worst = fmax(worst, ulps(-spans[s] * tacet_simrng_uniform(&rng)));
            worst = fmax(worst, ulps(spans[s] * tacet_simrng_uniform(&rng)));
        }
    }
    /* The ends of the reduced interval, where the polynomial is worst. */
    for (int n = -1000; n <= 1000; n++) {
        worst = fmax(worst, ulps((n + 0.5) * 0.69314718055994530942));
        worst = fmax(worst, ulps((n + 0.4999999) * 0.69314718055994530942));
    }
    print_message("worst error %.3f ulp\n", worst);
    assert_true(worst <= (test_valgrind() ? 2.0 : 1.0)); /* valgrind rounds long double, the reference, to double */
}

TEST(edges) {
    assert_true(tacet__vexp(0) == 1);
    assert_true(tacet__vexp(-0.0) == 1);
    assert_true(tacet__vexp(-INFINITY) == 0);
    assert_true(tacet__vexp(-1e300) == 0);
    assert_true(tacet__vexp(-708.5) == 0);
    assert_true(isnan(tacet__vexp(NAN)));
    assert_true(tacet__vexp(-708) > 0);
}

TACET__CLONES
static void many(double *out, const double *x, size_t n) {
    for (size_t i = 0; i < n; i++) {
        out[i] = tacet__vexp(x[i]);
    }
}

/* The vector code gives the bits of the scalar code. */
TEST(same_bits_in_a_loop) {
    enum { N = 10007 };
    static double x[N];
    static double out[N];
    tacet_simrng rng = test_rng(2, 0);
    for (size_t i = 0; i < N; i++) {
        x[i] = -720 * tacet_simrng_uniform(&rng) * tacet_simrng_uniform(&rng);
    }
    many(out, x, N);
    for (size_t i = 0; i < N; i++) {
        volatile double one = x[i];
        assert_true(out[i] == tacet__vexp(one));
    }
}
