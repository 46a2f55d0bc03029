/* SPDX-License-Identifier: Apache-2.0 */
/* npy.c - NumPy's file format, read where it lies.
 * Ring: io. Source: NEP 1, "A simple file format for NumPy arrays": a magic string, a version, the length of a header,
 * and the header, the text of a Python dictionary with the keys descr, fortran_order and shape. Cost: none; pages are
 * read when they are looked at. */
#include <tacet/io/npy.h>

#include "core/fail.h"
#include "core/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_HEADER = 1 << 16 };

/* What follows 'key': in the header. NULL: no such key. */
static const char *after(const char *header, const char *key) {
    const char *at = strstr(header, key);
    if (at == NULL) {
        return NULL;
    }
    at += strlen(key);
    at += strspn(at, " ");
    if (*at++ != ':') {
        return NULL;
    }
    return at + strspn(at, " ");
}

static bool read_count(const char **at, size_t *out) {
    char *end = NULL;
    errno = 0;
    if (**at < '0' || **at > '9') {
        return false;
    }
    const unsigned long long value = strtoull(*at, &end, 10);
    if (errno != 0 || value > SIZE_MAX) {
        return false;
    }
    *out = (size_t)value;
    *at = end + strspn(end, " ");
    return true;
}

/* "(rows,)" or "(rows, columns)". */
static bool read_shape(const char *at, size_t *rows, size_t *columns) {
    *columns = 1;
    if (*at++ != '(' || !read_count(&at, rows) || *at++ != ',') {
        return false;
    }
    at += strspn(at, " ");
    return *at == ')' ||
           (read_count(&at, columns) && (*at == ')' || (*at == ',' && at[1 + strspn(at + 1, " ")] == ')')));
}

static tacet_status understand(tacet_npy *npy, const char *path, tacet_error *err) {
    const unsigned char *bytes = npy->map;
    const size_t size = npy->map_size;
    if (size < 12 || memcmp(bytes, "\x93NUMPY", 6) != 0 || bytes[6] < 1 || bytes[6] > 3) {
        return tacet__fail(err, TACET_PARSE, "%s: not a .npy file of version 1, 2 or 3", path);
    }
    const size_t start = bytes[6] == 1 ? 10 : 12;
    size_t length = (size_t)bytes[8] | (size_t)bytes[9] << 8;
    if (bytes[6] > 1) {
        length |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
    }
    if (length > MOST_HEADER || length > size - start) {
        return tacet__fail(err, TACET_PARSE, "%s: the header is cut short", path);
    }
    char *header = TACET__ZALLOC(char, length + 1);
    if (header == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory reading %s", path);
    }
    memcpy(header, bytes + start, length);
    const char *descr = after(header, "'descr'");
    const char *fortran = after(header, "'fortran_order'");
    const char *shape = after(header, "'shape'");
    const bool doubles = descr != NULL && strncmp(descr, "'<f8'", 5) == 0;
    npy->single = descr != NULL && strncmp(descr, "'<f4'", 5) == 0;
    const bool by_column = fortran != NULL && strncmp(fortran, "True", 4) == 0;
    const bool shaped = shape != NULL && read_shape(shape, &npy->rows, &npy->columns);
    free(header);
    if ((!doubles && !npy->single) || fortran == NULL || !shaped) {
        return tacet__fail(err, TACET_PARSE,
                           "%s: a table of '<f8' or '<f4' in one or two dimensions is needed: save it with "
                           "numpy.save(file, array.astype('<f8'))",
                           path);
    }
    size_t cells = 0;
    const size_t width = npy->single ? sizeof(float) : sizeof(double);
    const size_t head = start + length;
    if (!tacet__size_mul(&cells, npy->rows, npy->columns) || cells > (size - head) / width || head % width != 0) {
        return tacet__fail(err, TACET_PARSE, "%s: the file is shorter than its header says", path);
    }
    npy->row_step = by_column ? 1 : npy->columns;
    npy->column_step = by_column ? npy->rows : 1;
    npy->data = bytes + head;
    return TACET_OK;
}

tacet_status tacet_npy_open(tacet_npy *out, const char *path, tacet_error *err) {
    *out = (tacet_npy){0};
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return tacet__fail(err, errno == ENOENT ? TACET_NOT_FOUND : TACET_IO, "%s: %s", path, strerror(errno));
    }
    struct stat about;
    tacet_status status = TACET_OK;
    if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode) || about.st_size <= 0) {
        status = tacet__fail(err, TACET_PARSE, "%s: not a file that can be mapped, or empty", path);
    } else {
        out->map_size = (size_t)about.st_size;
        out->map = mmap(NULL, out->map_size, PROT_READ, MAP_SHARED, file, 0);
        if (out->map == MAP_FAILED) {
            out->map = NULL;
            status = tacet__fail(err, TACET_IO, "%s: cannot be mapped: %s", path, strerror(errno));
        }
    }
    (void)close(file);
    status = status != TACET_OK ? status : understand(out, path, err);
    if (status != TACET_OK) {
        tacet_npy_close(out);
    }
    return status;
}

void tacet_npy_close(tacet_npy *npy) {
    if (npy != NULL && npy->map != NULL) {
        (void)munmap(npy->map, npy->map_size);
    }
    if (npy != NULL) {
        *npy = (tacet_npy){0};
    }
}

double tacet_npy_value(const tacet_npy *npy, size_t row, size_t column) {
    const size_t at = row * npy->row_step + column * npy->column_step;
    return npy->single ? (double)((const float *)npy->data)[at] : ((const double *)npy->data)[at];
}
