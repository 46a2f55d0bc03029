/* SPDX-License-Identifier: Apache-2.0 */
/* form.h - the forms a release of a table can have, by the names that users give: `--mechanism NAME`, and "mechanism"
 * in the manifest. Curator, manifest and modeler read this one table. Ring: shared. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <tacet/dp/open/law.h>

typedef struct tacet__form {
    const char *name;
    const tacet_law *law; /* of the noise; NULL: there is none, and nothing is protected */
    bool projects;        /* released are the images of the records under a matrix, not the records */
} tacet__form;

/* NULL: there is no form of this name. */
const tacet__form *tacet__form_find(const char *name);
/* In the order of tacet_curate_mechanism; NULL past the last. */
const tacet__form *tacet__form_at(size_t i);
/* "gaussian, laplace, …": for messages that say what there is. */
extern const char tacet__form_names[];
