/* SPDX-License-Identifier: Apache-2.0 */
/* csvfile.h - a CSV file, opened for tacet/io/csv.h. */
#ifndef TACET_IO_CSVFILE_H
#define TACET_IO_CSVFILE_H

#include <tacet/io/csv.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Opens the file and reads its header. "-" is standard input. NOT_FOUND: no such file. IO: cannot be read. Otherwise as
 * tacet_csv_open. The file is closed by tacet_csv_close. */
TACET_API tacet_status tacet_csv_open_file(tacet_csv **out, const char *path, const tacet_csv_settings *settings,
                                           tacet_error *err);
/* Opens, loads and closes. */
TACET_API tacet_status tacet_csv_load_file(tacet_csv_table *out, const char *path, const tacet_csv_wanted *wanted,
                                           tacet_error *err);

#ifdef __cplusplus
}
#endif
#endif
