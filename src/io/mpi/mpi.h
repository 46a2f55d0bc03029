/* SPDX-License-Identifier: Apache-2.0 */
/* mpi.h - the ranks of tacet/gp/ranks.h on MPI. Ring: mpi, linked by the programs that run under mpirun alone. */
#ifndef TACET_SRC_IO_MPI_MPI_H
#define TACET_SRC_IO_MPI_MPI_H

#include <tacet/gp/ranks.h>

/* Once. IO: MPI cannot be had. */
tacet_status tacet__mpi_open(tacet_ranks *out, tacet_error *err);
void tacet__mpi_close(void);

#endif
