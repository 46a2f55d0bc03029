/* space_domain.h - studies over a space: the server proposes the point itself, from candidates spread over the space.
 * Ring: open. Everything here is public: a function of the definition alone. */
#ifndef TACET_SRC_SERVICE_OPEN_SPACE_DOMAIN_H
#define TACET_SRC_SERVICE_OPEN_SPACE_DOMAIN_H

#include "service/open/definition.h"

/* Reads the space, spreads at most `candidates` records over it, and makes their coordinates the points of the
 * definition: numbers go from -1 to 1 over their bounds, levels are 1 apart. PARSE names the column and the rule. */
tacet_status tacet__space_domain_read(tacet__definition *def, const json_t *space, size_t candidates, tacet_error *err);
/* {"space": …, "candidates": N} */
json_t *tacet__space_domain_json(const tacet__definition *def);
/* Candidate `index` by the names of the columns, in their own units. NULL: no space, no such candidate, no memory. */
json_t *tacet__space_domain_point(const tacet__definition *def, size_t index);
/* Lengthscales for the coordinates: the usual ones (count 0), one for all, one for each column, one for each
 * coordinate. INVALID: another number of them. NO_MEMORY. Replaces def->lengthscales. */
tacet_status tacet__space_domain_scales(tacet__definition *def, tacet_error *err);

#endif
