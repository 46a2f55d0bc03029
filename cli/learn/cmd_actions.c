/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_actions.c - tacet learn actions: actions to try while learning, drawn without looking at anything.
 * Ring: programs (trusted side, though it reads no data). */
#include "learn/commands.h"

#include <string.h>
#include <tacet/contextual/trusted/log.h>

int learn_actions(int argc, char **argv, const cli_command *self) {
    cli_spans bounds = {0};
    const char *design = "uniform";
    size_t count = 1;
    uint64_t seed = UINT64_MAX;
    uint64_t first = 0;
    const cli_option options[] = {
        CLI_NEED("bounds", &bounds, "LO:HI,…", "Bounds of the action coordinates."),
        CLI_OPT("count", &count, "N", "How many actions. Default 1."),
        CLI_OPT("design", &design, "NAME", "uniform or sobol (needs --seed). Default uniform."),
        CLI_OPT("seed", &seed, "S", "sobol: chooses the random shift; keep it for a whole study."),
        CLI_OPT("first", &first, "K", "sobol: number of the first action, from 0. Default 0."),
        {0}};
    double x[TACET_CONTEXTUAL_DIM_MOST];
    tacet_error err = {0};
    CLI_PARSE_OR_RETURN(options, NULL, NULL);
    const bool sobol = strcmp(design, "sobol") == 0;
    if (bounds.count > TACET_CONTEXTUAL_DIM_MOST) {
        return cli_usage(self, "--bounds is LO:HI for each of at most %d coordinates", (int)TACET_CONTEXTUAL_DIM_MOST);
    }
    if ((!sobol && strcmp(design, "uniform") != 0) || (sobol && seed == UINT64_MAX) || count == 0) {
        return cli_usage(self, "--design is uniform, or sobol with --seed; --count at least 1");
    }
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        if (tacet_contextual_actions(x, bounds.count, 1, bounds.lo, bounds.hi, sobol ? &seed : NULL, first + i, &err) !=
            TACET_OK) {
            json_decref(list);
            return cli_fail(self, &err);
        }
        (void)json_array_append_new(list, JL(x, bounds.count));
    }
    return cli_tell(cli_object("actions design", J(list), J(design)), "{*actions|{*.:,|{.:.17g}}\n}");
}
