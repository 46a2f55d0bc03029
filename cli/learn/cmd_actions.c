/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_actions.c - tacet learn actions: actions to try while learning, drawn without looking at anything.
 * Ring: programs (trusted side, though it reads no data). */
#include "learn/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/contextual/trusted/actions.h>

int learn_actions(int argc, char **argv, const cli_command *self) {
    const char *bounds = NULL;
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
    int code = CLI_EXIT_OK;
    char **items = NULL;
    size_t d = 0;
    double lower[TACET_CONTEXTUAL_DIM_MOST];
    double upper[TACET_CONTEXTUAL_DIM_MOST];
    double x[TACET_CONTEXTUAL_DIM_MOST];
    tacet_error err = {0};
    CLI_PARSE_OR_RETURN(options, NULL, NULL);
    const bool low_discrepancy = strcmp(design, "sobol") == 0;
    bool good = cli_split(&items, &d, bounds) && d <= TACET_CONTEXTUAL_DIM_MOST;
    for (size_t i = 0; i < d && good; i++) {
        good = cli_interval(&lower[i], &upper[i], items[i]);
    }
    if (!good) {
        free(items);
        return cli_usage(self, "--bounds is LO:HI for each of at most %d coordinates", (int)TACET_CONTEXTUAL_DIM_MOST);
    }
    free(items);
    if ((!low_discrepancy && strcmp(design, "uniform") != 0) || (low_discrepancy && seed == UINT64_MAX) || count == 0) {
        return cli_usage(self, "--design is uniform, or sobol with --seed; --count at least 1");
    }
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        json_t *action = json_array();
        if (tacet_contextual_actions(x, d, 1, lower, upper, low_discrepancy ? &seed : NULL, first + i, &err) !=
            TACET_OK) {
            json_decref(action);
            json_decref(list);
            return cli_fail(self, &err);
        }
        for (size_t c = 0; c < d; c++) {
            (void)json_array_append_new(action, cli_real(x[c]));
            if (!cli_json_wanted()) {
                printf("%s%.17g", c > 0 ? "," : "", x[c]);
            }
        }
        if (!cli_json_wanted()) {
            putchar('\n');
        }
        (void)json_array_append_new(list, action);
    }
    cli_json_print(json_pack("{so ss}", "actions", list, "design", design));
    return code;
}
