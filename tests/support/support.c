/* SPDX-License-Identifier: Apache-2.0 */
/* support.c - comparisons and small statistics for the tests. */
#include "support/test.h"

#include <ftw.h>
#include <unistd.h>

void test_assert_close(double actual, double expected, double tolerance, const char *file, int line) {
    if (!(fabs(actual - expected) <= tolerance)) {
        print_error("%.17g is not within %g of %.17g (difference %g)\n", actual, tolerance, expected,
                    actual - expected);
        _fail(file, line);
    }
}

void test_assert_status(tacet_status actual, tacet_status expected, const tacet_error *err, const char *file,
                        int line) {
    if (actual != expected) {
        print_error("status %s, expected %s%s%s\n", tacet_status_name(actual), tacet_status_name(expected),
                    err != NULL ? ": " : "", err != NULL ? err->message : "");
        _fail(file, line);
    }
}

/* Regularised upper incomplete gamma Q(a, x): series below a + 1, Lentz's continued fraction above. */
double test_chi2_pvalue(double statistic, double k) {
    const double a = k / 2;
    const double x = statistic / 2;
    if (!(x > 0)) {
        return 1;
    }
    const double front = exp(-x + a * log(x) - lgamma(a));
    if (x < a + 1) {
        double term = 1 / a;
        double sum = term;
        for (int n = 1; n < 10000 && fabs(term) > 1e-16 * fabs(sum); n++) {
            term *= x / (a + n);
            sum += term;
        }
        return 1 - front * sum;
    }
    double b = x + 1 - a;
    double c = 1e300;
    double d = 1 / b;
    double h = d;
    for (int n = 1; n < 10000; n++) {
        const double an = -n * (n - a);
        b += 2;
        d = 1 / (an * d + b);
        c = b + an / c;
        const double step = d * c;
        h *= step;
        if (fabs(step - 1) < 1e-15) {
            break;
        }
    }
    return front * h;
}

tacet_simrng test_rng(uint64_t seed, uint64_t stream) {
    tacet_simrng rng;
    tacet_simrng_init(&rng, seed, stream);
    return rng;
}

tacet_kernel *test_kernel(const char *name, size_t d, double lengthscale) {
    tacet_kernel_spec spec;
    tacet_kernel *kernel = NULL;
    tacet_kernel_spec_defaults(&spec);
    spec.d = d;
    spec.lengthscales = &lengthscale;
    assert_ok(tacet_kernel_parse(&spec, name, NULL));
    assert_ok(tacet_kernel_create(&kernel, &spec, NULL));
    return kernel;
}

bool test_valgrind(void) {
    return getenv("TACET_VALGRIND") != NULL; /* as tools/run-test */
}

bool test_slow(void) {
#ifdef __SANITIZE_THREAD__
    return true;
#else
    return test_valgrind();
#endif
}

void test_in_memory(void) {
    if (access("/dev/shm", W_OK) == 0) {
        (void)setenv("TMPDIR", "/dev/shm", 0);
    }
}

const char *test_mkdir(void) {
    static char path[256];
    const char *base = getenv("TMPDIR");
    (void)snprintf(path, sizeof path, "%s/tacet-test-XXXXXX", base != NULL ? base : "/tmp");
    assert_non_null(mkdtemp(path));
    /* What is released from here is known here alone (src/registry). */
    char own[sizeof path + sizeof "/.tacet"];
    (void)snprintf(own, sizeof own, "%s/.tacet", path);
    assert_int_equal(setenv("TACET_STATE", own, 1), 0);
    return path;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw) {
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

void test_rmdir(const char *path) {
    (void)nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

char *test_text(const char *format, ...) {
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    assert_true(vasprintf(&text, format, arguments) >= 0);
    va_end(arguments);
    return text;
}

void test_copy(const char *to, const char *from) {
    char bytes[1 << 16];
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    assert_true(in != NULL && out != NULL);
    for (size_t got = 0; (got = fread(bytes, 1, sizeof bytes, in)) > 0;) {
        assert_int_equal(fwrite(bytes, 1, got, out), got);
    }
    assert_int_equal(fclose(in) | fclose(out), 0);
}

void test_write(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}
