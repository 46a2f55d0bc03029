/* SPDX-License-Identifier: Apache-2.0 */
/* names.h - files as a person names them. Ring: io. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <tacet/core/status.h>

/* The files that `data` names: one whose name it is, or several with commas between them. INVALID: one
 * of them is there twice, by name, by a link or as a copy. NO_MEMORY. */
tacet_status tacet__file_names(char ***out, size_t *count, const char *data, tacet_error *err);
void tacet__file_names_free(char **files, size_t count);
