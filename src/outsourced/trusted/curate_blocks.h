/* SPDX-License-Identifier: Apache-2.0 */
/* curate_blocks.h - a table through several threads, its order kept. Ring: trusted. */
#ifndef TACET_SRC_OUTSOURCED_TRUSTED_CURATE_BLOCKS_H
#define TACET_SRC_OUTSOURCED_TRUSTED_CURATE_BLOCKS_H

#include "outsourced/trusted/curate_job.h"

/* Without `table`: reads and checks the whole table and counts its records (job->rows, job->starts). With it, then:
 * draws every record's release and writes it to `file`, bytes that it gives to the table as well. A bad record is the
 * first one of the table, whatever the number of threads. */
tacet_status tacet__curate_blocks(tacet__curate *job, tacet_table *table, FILE *file, tacet_error *err);

#endif
