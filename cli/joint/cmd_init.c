/* cmd_init.c - tacet joint init: a new study, charged once for all its rounds. Ring: programs (trusted). */
#include "joint/commands.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool read_columns(joint_definition *def, const char *text) {
    char **names = NULL;
    bool good = cli_split(&names, &def->d, text) && def->d <= JOINT_DIM_MOST;
    for (size_t i = 0; i < def->d && good; i++) {
        good = strlen(names[i]) <= JOINT_NAME_MOST;
        for (size_t k = 0; k < i; k++) {
            good = good && strcmp(names[k], names[i]) != 0;
        }
        if (good) {
            memcpy(def->columns[i], names[i], strlen(names[i]) + 1);
        }
    }
    free(names);
    return good;
}

static bool read_bounds(joint_definition *def, const char *text) {
    char **items = NULL;
    size_t n = 0;
    bool good = cli_split(&items, &n, text) && n == def->d;
    for (size_t i = 0; i < n && good; i++) {
        good = cli_interval(&def->lower[i], &def->upper[i], items[i]);
    }
    free(items);
    return good;
}

static bool read_lengthscales(joint_definition *def, const char *text) {
    char **items = NULL;
    size_t n = 0;
    bool good = cli_split(&items, &n, text) && (n == 1 || n == def->d);
    for (size_t i = 0; i < def->d && good; i++) {
        good = cli_number(&def->lengthscales[i], items[n == 1 ? 0 : i]) && def->lengthscales[i] > 0;
    }
    free(items);
    return good;
}

static bool check(joint_definition *def, const char *columns, const char *bounds, const char *range, const char *kernel,
                  const char *lengthscale, const char *to, const cli_command *self, int *code) {
    *code = CLI_EXIT_USAGE;
    if (!read_columns(def, columns)) {
        (void)cli_usage(self, "--arms is 1 to %d different column names", (int)JOINT_DIM_MOST);
    } else if (!read_bounds(def, bounds)) {
        (void)cli_usage(self, "--bounds is LO:HI for each of the %zu columns, in their order", def->d);
    } else if (!cli_interval(&def->reward_lo, &def->reward_hi, range)) {
        (void)cli_usage(self, "--range is LO:HI, the lower below the upper");
    } else if (strcmp(kernel, "se") != 0 && strcmp(kernel, "matern32") != 0 && strcmp(kernel, "matern52") != 0) {
        (void)cli_usage(self, "--kernel is se, matern32 or matern52");
    } else if (!read_lengthscales(def, lengthscale)) {
        (void)cli_usage(self, "--lengthscale is one positive number, or %zu of them", def->d);
    } else if (!(def->eps > 0) || !(def->delta > 0 && def->delta < 1)) {
        (void)cli_usage(self, "--eps must be above 0, --delta between 0 and 1");
    } else if (strlen(to) == 0 || strlen(to) > JOINT_NAME_MOST) {
        (void)cli_usage(self, "--to has 1 to %d bytes", (int)JOINT_NAME_MOST);
    } else if (def->features < 1 || def->features > 1000 || def->released < 1 || def->released > def->features ||
               def->set_size < 1 || def->open_most < 1 || def->open_most > 1000000) {
        (void)cli_usage(self, "1 <= --released <= --features <= 1000, --set-size and --open-most at least 1");
    } else {
        (void)snprintf(def->kernel, sizeof def->kernel, "%s", kernel);
        (void)snprintf(def->to_whom, sizeof def->to_whom, "%s", to);
        *code = CLI_EXIT_OK;
        return true;
    }
    return false;
}

int joint_init(int argc, char **argv, const cli_command *self) {
    const char *folder = NULL, *columns = NULL, *bounds = NULL, *range = "0:1", *kernel = "se", *lengthscale = NULL;
    const char *to = "all users of the study";
    joint_definition def = {.delta = 1e-5, .features = 25, .released = 15, .set_size = 25, .open_most = 64};
    const cli_option options[] = {
        {"study", CLI_STRING, &folder, "DIR", "The folder; made when missing.", true},
        {"arms", CLI_STRING, &columns, "A,B", "Columns of the files with decision sets, 1 to 4: an arm's coordinates.",
         true},
        {"bounds", CLI_STRING, &bounds, "LO:HI,…", "Bounds of each; arms outside are taken as the nearest within.",
         true},
        {"range", CLI_STRING, &range, "LO:HI", "Range of rewards; rewards outside are clipped. Default 0:1.", false},
        {"kernel", CLI_STRING, &kernel, "NAME", "se, matern32 or matern52. Default se.", false},
        {"lengthscale", CLI_STRING, &lengthscale, "L[,L…]",
         "One, or one for each coordinate, in its units; never fitted on the study's own rounds.", true},
        {"eps", CLI_DOUBLE, &def.eps, "E", "Privacy of each round, for the whole study.", true},
        {"delta", CLI_DOUBLE, &def.delta, "D", "Default 1e-5.", false},
        {"rounds", CLI_U64, &def.rounds, "T", "Rounds at the most; 0: not known. Default 0.", false},
        {"features", CLI_SIZE, &def.features, "M", "Features of the model. Default 25.", false},
        {"released", CLI_SIZE, &def.released, "R", "Of these, how many are summed and released. Default 15.", false},
        {"set-size", CLI_SIZE, &def.set_size, "N", "Arms a round typically offers; a guess. Default 25.", false},
        {"open-most", CLI_SIZE, &def.open_most, "N", "Tickets that may wait for a reward. Default 64.", false},
        {"to", CLI_STRING, &to, "WHOM", "Who sees suggestions, for the ledger. Default: all users of the study.",
         false},
        {NULL, CLI_FLAG, NULL, NULL, NULL, false}};
    int code = CLI_EXIT_OK;
    tacet_error err = {0};
    joint_study study;
    if (!cli_parse(self, options, argc, argv, NULL, NULL, &code) ||
        !check(&def, columns, bounds, range, kernel, lengthscale, to, self, &code)) {
        return code;
    }
    const tacet_status status = joint_study_make(&study, folder, &def, &err);
    if (status == TACET_OK) {
        if (!cli_json_wanted()) {
            printf("%s: a study of (%g, %g)-joint DP; its whole run is charged\n", folder, def.eps, def.delta);
            printf("protected: each round's decision set and reward, towards everybody else\n");
            printf("not protected: when rounds take place, and how many\n");
        }
        cli_json_print(json_pack("{ss so so sI so}", "study", folder, "eps", cli_real(def.eps), "delta",
                                 cli_real(def.delta), "rounds", (json_int_t)def.rounds, "sensitivity",
                                 cli_real(tacet_central_map_sensitivity(study.map))));
    } else {
        err.status = status;
        code = cli_refuse(self, &err);
    }
    joint_study_close(&study);
    return code;
}
