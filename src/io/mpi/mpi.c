/* SPDX-License-Identifier: Apache-2.0 */
/* mpi.c - the three functions of tacet_ranks on MPI, and the only file that knows it.
 * Ring: mpi (transport). The search for the largest value is an operation of our own: MPI's MAXLOC counts rows in an
 * int. A call that fails reports IO; a rank that dies ends them all, which is what mpirun does with the job. */
#include "io/mpi/mpi.h"

#include <limits.h>
#include <mpi.h>
#include <tacet/core/status.h>

typedef struct place {
    double value;
    uint64_t row;
} place;

static MPI_Op largest_op;
static MPI_Datatype place_type;

static tacet_status said(int code, const char *what, tacet_error *err) {
    return code == MPI_SUCCESS ? TACET_OK : tacet_error_set(err, TACET_IO, "MPI: %s failed: a rank is lost", what);
}

/* Associative and commutative, so the result does not depend on the tree it is computed along. */
static void keep_largest(void *in, void *inout, int *count, MPI_Datatype *type) {
    (void)type;
    const place *a = in;
    place *b = inout;
    for (int i = 0; i < *count; i++) {
        const bool has_a = a[i].row != UINT64_MAX;
        const bool has_b = b[i].row != UINT64_MAX;
        if (has_a && (!has_b || a[i].value > b[i].value || (a[i].value == b[i].value && a[i].row < b[i].row))) {
            b[i] = a[i];
        }
    }
}

static tacet_status broadcast(void *user, void *bytes, size_t size, size_t root, tacet_error *err) {
    (void)user;
    int code = MPI_SUCCESS;
    for (size_t at = 0; at < size && code == MPI_SUCCESS;) {
        const size_t part = size - at < INT_MAX / 2 ? size - at : INT_MAX / 2;
        code = MPI_Bcast((char *)bytes + at, (int)part, MPI_BYTE, (int)root, MPI_COMM_WORLD);
        at += part;
    }
    return said(code, "a broadcast", err);
}

static tacet_status largest(void *user, double *value, uint64_t *row, tacet_error *err) {
    (void)user;
    const place mine = {*value, *row};
    place best = mine;
    const int code = MPI_Allreduce(&mine, &best, 1, place_type, largest_op, MPI_COMM_WORLD);
    *value = best.value;
    *row = best.row;
    return said(code, "the search for the largest value", err);
}

static tacet_status sum(void *user, uint64_t *values, size_t count, tacet_error *err) {
    (void)user;
    return said(MPI_Allreduce(MPI_IN_PLACE, values, (int)count, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD), "a sum", err);
}

tacet_status tacet__mpi_open(tacet_ranks *out, tacet_error *err) {
    int rank = 0;
    int count = 0;
    int code = MPI_Init(NULL, NULL);
    if (code == MPI_SUCCESS) {
        (void)MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        code = MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    }
    code = code != MPI_SUCCESS ? code : MPI_Comm_size(MPI_COMM_WORLD, &count);
    code = code != MPI_SUCCESS ? code : MPI_Type_contiguous((int)sizeof(place), MPI_BYTE, &place_type);
    code = code != MPI_SUCCESS ? code : MPI_Type_commit(&place_type);
    code = code != MPI_SUCCESS ? code : MPI_Op_create(keep_largest, 1, &largest_op);
    if (code != MPI_SUCCESS) {
        return tacet_error_set(err, TACET_IO, "MPI does not start");
    }
    *out = (tacet_ranks){
        .rank = (size_t)rank, .count = (size_t)count, .broadcast = broadcast, .largest = largest, .sum = sum};
    return TACET_OK;
}

void tacet__mpi_close(void) {
    (void)MPI_Op_free(&largest_op);
    (void)MPI_Type_free(&place_type);
    (void)MPI_Finalize();
}
