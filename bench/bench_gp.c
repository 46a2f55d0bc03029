/* SPDX-License-Identifier: Apache-2.0 */
/* bench_gp.c - the incremental GP: ratio to streaming the same bytes, and growth with n and T.
 * Ring: programs; made-up data. Each line is one run of `tacet-lab bench gp-ucb`, a process of its own, so that peak
 * memory is its own too. Time grows as n T^2: each doubling of n should double it, each doubling of T quadruple it. */
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct measured {
    double seconds;
    double ratio;
    double own;        /* ratio of the time that is not the system's */
    double peak_share; /* peak over what is allowed */
} measured;

/* tacet-lab lies beside this program. */
static int measure(measured *out, const char *folder, size_t n, size_t queries) {
    char command[PATH_MAX + 200];
    (void)snprintf(command, sizeof command, "'%s/tacet-lab' bench gp-ucb --n %zu --d 5 --queries %zu --json", folder, n,
                   queries);
    /* The command is made of this program's own folder and two numbers. */
    FILE *pipe = popen(command, "r"); /* NOLINT(cert-env33-c) */
    json_t *object = pipe != NULL ? json_loadf(pipe, 0, NULL) : NULL;
    const int code = pipe != NULL ? pclose(pipe) : -1;
    if (object != NULL && code == 0) {
        out->seconds = json_number_value(json_object_get(object, "seconds"));
        out->ratio = json_number_value(json_object_get(object, "ratio"));
        out->own = (out->seconds - json_number_value(json_object_get(object, "system_seconds"))) /
                   json_number_value(json_object_get(object, "stream_seconds"));
        out->peak_share = json_number_value(json_object_get(object, "peak_bytes")) /
                          json_number_value(json_object_get(object, "allowed_bytes"));
    }
    const int ok = object != NULL && code == 0;
    json_decref(object);
    return ok;
}

static int table(const char *folder, const size_t *n, const size_t *queries, size_t count) {
    double last = 0;
    for (size_t k = 0; k < count; k++) {
        measured m = {0};
        if (!measure(&m, folder, n[k], queries[k])) {
            fprintf(stderr, "bench_gp: tacet-lab failed\n");
            return 0;
        }
        printf("gp-ucb n %7zu T %4zu   %8.3f s   ratio to dgemv %5.2f (%4.2f without clearing pages)   "
               "peak/(1.2 x 8nT + data) %4.2f",
               n[k], queries[k], m.seconds, m.ratio, m.own, m.peak_share);
        if (last > 0) {
            printf("   x%.2f", m.seconds / last);
        }
        printf("\n");
        (void)fflush(stdout);
        last = m.seconds;
    }
    return 1;
}

int main(void) {
    char folder[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", folder, sizeof folder - 1);
    if (length <= 0) {
        return 1;
    }
    folder[length] = '\0';
    char *slash = strrchr(folder, '/');
    if (slash != NULL) {
        *slash = '\0';
    }
    /* n doubles (time should double), then T (time should quadruple). Matrices below the size of the last-level cache
     * have no memory to wait for and show the arithmetic instead. */
    const size_t n[] = {25000, 50000, 100000, 200000};
    const size_t t[] = {100, 100, 100, 100};
    const size_t wide[] = {100000, 100000, 100000};
    const size_t longer[] = {50, 100, 200};
    const size_t most[] = {1000000};
    const size_t few[] = {50};
    printf(
        "wanted: ratio at most 1.5 at T 50 and 2 at n 100000, T 200, where peak is at most 1. Small T shows the kernel "
        "rows, small nT the process.\n");
    return table(folder, n, t, 4) && table(folder, wide, longer, 3) && table(folder, most, few, 1) ? 0 : 1;
}
