/* curate_blocks.h - a table through several threads, its order kept. Ring: trusted. */
#ifndef TACET_SRC_TRUSTED_CURATE_BLOCKS_H
#define TACET_SRC_TRUSTED_CURATE_BLOCKS_H

#include "trusted/curate_job.h"

/* Reads the whole table and counts its records into *rows; when `table` is not NULL also draws every record's release
 * and writes it to `file`, bytes that it gives to the table as well. A bad record is the first one of the table,
 * whatever the number of threads. */
tacet_status tacet__curate_blocks(tacet__curate *job, size_t *rows, tacet_table *table, FILE *file, tacet_error *err);

#endif
