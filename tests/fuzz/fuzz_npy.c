/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_npy.c - any bytes as a .npy file: refused, or every number it claims to have can be read. */
#include <tacet/io/npy.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static int file = -1;
    char path[64];
    tacet_npy npy;
    if (file < 0) {
        file = memfd_create("npy", MFD_CLOEXEC);
    }
    if (file < 0 || ftruncate(file, 0) != 0 || pwrite(file, data, size, 0) != (ssize_t)size) {
        return 0;
    }
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    const tacet_status status = tacet_npy_open(&npy, path, NULL);
    if (status != TACET_OK) {
        if (npy.map != NULL || npy.data != NULL) {
            abort();
        }
        return 0;
    }
    volatile double sum = 0;
    for (size_t r = 0; r < npy.rows; r++) {
        for (size_t c = 0; c < npy.columns; c++) { /* a bound that is wrong reads beyond the map */
            sum += tacet_npy_value(&npy, r, c);
        }
    }
    (void)sum;
    const size_t width = npy.single ? sizeof(float) : sizeof(double);
    if (npy.rows > 0 && npy.columns > 0 && npy.rows > size / width / npy.columns) {
        abort(); /* more numbers than bytes */
    }
    tacet_npy_close(&npy);
    return 0;
}
