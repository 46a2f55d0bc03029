/* SPDX-License-Identifier: Apache-2.0 */
/* evaluate.h - runs a command on one record: the record on its standard input, one number on its standard output.
 * Ring: trusted. */
#pragma once

#include <stddef.h>
#include "io/csv/persons.h"

#include <tacet/outsourced/shared/manifest.h>
#include <tacet/core/status.h>

/* The record as CSV text (header and line), from malloc. NOT_FOUND past the last record. */
tacet_status tacet__record_text(char **out, const tacet_manifest *manifest, const char *data, size_t row,
                                tacet_error *err);
/* Which rows of a table are in its release: *out chooses them, by that column; NULL: all are. */
tacet_status tacet__release_persons(tacet__persons **out, size_t *column, const tacet_csv *csv,
                                    const tacet_manifest *manifest, tacet_error *err);
/* The command has ended, and what it started is killed, when this returns. UNSUPPORTED: it could not be run, did not
 * end in time, died, or printed no finite number. The message says which, never what was printed. IO: no pipes. */
tacet_status tacet__evaluate(double *out, const char *command, const char *input, double seconds, tacet_error *err);
