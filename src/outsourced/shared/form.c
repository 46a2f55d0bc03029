/* SPDX-License-Identifier: Apache-2.0 */
/* form.c - the forms a release of a table can have.
 * Ring: shared. Source: none. Cost: a search among a handful. */
#include "outsourced/shared/form.h"

#include "dp/open/laws.h"

#include <string.h>

static const tacet__form FORMS[] = {
    {.name = "gaussian", .law = &tacet__law_gaussian},
    {.name = "published", .law = NULL, .projects = true},
    {.name = "laplace", .law = &tacet__law_knorm},
    {.name = "l2", .law = &tacet__law_l2},
};
const char tacet__form_names[] = "gaussian, laplace, l2, published";

const tacet__form *tacet__form_at(size_t i) {
    return i < sizeof FORMS / sizeof *FORMS ? &FORMS[i] : NULL;
}

const tacet__form *tacet__form_find(const char *name) {
    size_t i = 0;
    const tacet__form *form = NULL;
    while ((form = tacet__form_at(i)) != NULL && strcmp(form->name, name) != 0) {
        i++;
    }
    return form;
}
