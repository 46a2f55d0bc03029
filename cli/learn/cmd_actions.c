/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_actions.c - tacet learn actions: actions to try while learning, drawn without looking at anything.
 * Ring: programs (trusted side, though it reads no data). */
#include "learn/commands.h"

#include <tacet/contextual/trusted/log.h>

int learn_actions(int argc, char **argv, const cli_command *self) {
    cli_spans bounds = {0};
    size_t count = 1;
    const cli_option options[] = {CLI_NEED("bounds", &bounds, "LO:HI,…", "Bounds of the action coordinates."),
                                  {"count", CLI_COUNT, &count, "N", "How many actions. Default 1.", false},
                                  {0}};
    double x[TACET_CONTEXTUAL_DIM_MOST];
    tacet_error err = {0};
    CLI_PARSE_OR_RETURN(options, NULL, NULL);
    if (bounds.count > TACET_CONTEXTUAL_DIM_MOST) {
        return cli_usage(self, "--bounds is LO:HI for each of at most %d coordinates", (int)TACET_CONTEXTUAL_DIM_MOST);
    }
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        if (tacet_contextual_action(x, bounds.count, bounds.lo, bounds.hi, &err) != TACET_OK) {
            json_decref(list);
            return cli_fail(self, &err);
        }
        (void)json_array_append_new(list, JL(x, bounds.count));
    }
    return cli_tell(cli_object("actions", J(list)), "{*actions|{*.:,|{.:.17g}}\n}");
}
