/* SPDX-License-Identifier: Apache-2.0 */
/* test_npy.c - NumPy's file format: what is read where it lies, and files that are not what they say. */
#include "support/test.h"

#include <tacet/io/npy.h>

enum { HEAD = 128 };

typedef struct place {
    char folder[300];
    char path[340];
} place;

static void place_init(place *p) {
    (void)snprintf(p->folder, sizeof p->folder, "%s", test_mkdir());
    (void)snprintf(p->path, sizeof p->path, "%s/t.npy", p->folder);
}

static void put(const place *p, const void *bytes, size_t size) {
    FILE *file = fopen(p->path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* A header of 128 bytes in front of the numbers; returns the size of the whole. */
static size_t fill(char *out, const char *text, const void *numbers, size_t bytes) {
    memset(out, ' ', HEAD);
    memcpy(out, "\x93NUMPY\x01\x00\x76\x00", 10);
    memcpy(out + 10, text, strlen(text));
    out[HEAD - 1] = '\n';
    memcpy(out + HEAD, numbers, bytes);
    return HEAD + bytes;
}

static const double CELLS[] = {1, 2, 3, 4, 5, 6};

static void rows_columns_and_floats_are_read(void **state) {
    place p;
    place_init(&p);
    char bytes[512];
    tacet_npy npy;
    put(&p, bytes, fill(bytes, "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }", CELLS, sizeof CELLS));
    assert_ok(tacet_npy_open(&npy, p.path, NULL));
    assert_int_equal(npy.rows, 3);
    assert_int_equal(npy.columns, 2);
    assert_true(tacet_npy_value(&npy, 1, 0) == 3 && tacet_npy_value(&npy, 2, 1) == 6);
    tacet_npy_close(&npy);
    put(&p, bytes, fill(bytes, "{'descr': '<f8', 'fortran_order': True, 'shape': (3, 2), }", CELLS, sizeof CELLS));
    assert_ok(tacet_npy_open(&npy, p.path, NULL));
    assert_true(tacet_npy_value(&npy, 1, 0) == 2 && tacet_npy_value(&npy, 1, 1) == 5);
    tacet_npy_close(&npy);
    const float floats[] = {1.5F, -2.5F};
    put(&p, bytes, fill(bytes, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", floats, sizeof floats));
    assert_ok(tacet_npy_open(&npy, p.path, NULL));
    assert_true(npy.single && npy.rows == 2 && npy.columns == 1 && tacet_npy_value(&npy, 1, 0) == -2.5);
    tacet_npy_close(&npy);
    test_rmdir(p.folder);
}

static void other_kinds_are_refused(void **state) {
    place p;
    place_init(&p);
    static const char *const BAD[] = {
        "{'descr': '>f8', 'fortran_order': False, 'shape': (3, 2), }",
        "{'descr': '<i8', 'fortran_order': False, 'shape': (3, 2), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2, 1), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-3, 2), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (4, 2), }", /* more than the file has */
        "{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967297), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999, 2), }",
        "{'descr': '<f8', 'fortran_order': False, }",
        "{'descr': '<f8', 'shape': (3, 2), }",
        "",
    };
    char bytes[512];
    tacet_npy npy;
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        put(&p, bytes, fill(bytes, BAD[i], CELLS, sizeof CELLS));
        assert_int_equal(tacet_npy_open(&npy, p.path, NULL), TACET_PARSE);
        assert_null(npy.map);
    }
    assert_int_equal(tacet_npy_open(&npy, p.folder, NULL), TACET_PARSE);
    (void)strcat(p.path, "x");
    assert_int_equal(tacet_npy_open(&npy, p.path, NULL), TACET_NOT_FOUND);
    test_rmdir(p.folder);
}

/* Cut anywhere it is refused; with any byte of its head changed it is refused, or what it says lies within the file. */
static void damage_is_refused_or_harmless(void **state) {
    place p;
    place_init(&p);
    char good[512];
    const size_t size = fill(good, "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }", CELLS, sizeof CELLS);
    tacet_npy npy;
    for (size_t cut = 0; cut < size; cut++) {
        put(&p, good, cut);
        assert_int_equal(tacet_npy_open(&npy, p.path, NULL), TACET_PARSE);
    }
    static const unsigned char CHANGES[] = {0x01, 0x02, 0x08, 0x10, 0x80, 0xff};
    for (size_t at = 0; at < HEAD; at++) {
        for (size_t k = 0; k < sizeof CHANGES; k++) {
            char bad[512];
            memcpy(bad, good, size);
            bad[at] = (char)(bad[at] ^ CHANGES[k]);
            put(&p, bad, size);
            if (tacet_npy_open(&npy, p.path, NULL) == TACET_OK) {
                const size_t width = npy.single ? sizeof(float) : sizeof(double);
                const size_t from = (size_t)((const char *)npy.data - (const char *)npy.map);
                assert_true(from <= size && npy.rows * npy.columns * width <= size - from);
                tacet_npy_close(&npy);
            }
        }
    }
    test_rmdir(p.folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_columns_and_floats_are_read),
        cmocka_unit_test(other_kinds_are_refused),
        cmocka_unit_test(damage_is_refused_or_harmless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
