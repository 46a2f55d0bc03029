/* SPDX-License-Identifier: Apache-2.0 */
/* npy.h - a table of numbers in NumPy's file format, mapped into memory without a copy.
 *
 * Taken: one- and two-dimensional arrays of little-endian doubles or floats ('<f8', '<f4'), by row or by column
 * (fortran_order), format versions 1 to 3. The file must stay as it is while it is open. Columns have no names: they
 * are called by their numbers, from 0. */
#ifndef TACET_IO_NPY_H
#define TACET_IO_NPY_H

#include <stdbool.h>
#include <stddef.h>
#include <tacet/core/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tacet_npy {
    const void *data; /* doubles, or floats; element (row, column) is row*row_step + column*column_step */
    bool single;      /* floats */
    size_t rows;
    size_t columns;
    size_t row_step;
    size_t column_step;
    void *map; /* of the whole file */
    size_t map_size;
} tacet_npy;

/* NOT_FOUND, IO: no such file, or it cannot be read. PARSE: not a .npy file of the kinds above, or cut short. *out is
 * empty on failure. */
TACET_API tacet_status tacet_npy_open(tacet_npy *out, const char *path, tacet_error *err);
TACET_API void tacet_npy_close(tacet_npy *npy); /* empty is allowed */
/* One number; no check of row and column. */
TACET_API double tacet_npy_value(const tacet_npy *npy, size_t row, size_t column);

#ifdef __cplusplus
}
#endif
#endif
