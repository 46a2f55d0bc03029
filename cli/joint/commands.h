/* commands.h - the commands of tacet-joint, and the folder they share: a study with its definition, state and ledger.
 */
#ifndef TACET_CLI_JOINT_COMMANDS_H
#define TACET_CLI_JOINT_COMMANDS_H

#include "common/cli.h"

#include <tacet/io/csv.h>
#include <tacet/dp/ledger.h>
#include <tacet/central/trusted/policy.h>

int joint_init(int argc, char **argv, const cli_command *self);
int joint_suggest(int argc, char **argv, const cli_command *self);
int joint_observe(int argc, char **argv, const cli_command *self);
int joint_status(int argc, char **argv, const cli_command *self);
int joint_release(int argc, char **argv, const cli_command *self);

enum { JOINT_DIM_MOST = TACET_CONTEXTUAL_DIM_MOST, JOINT_NAME_MOST = 200 };

/* What a study is; public, fixed when it is made. */
typedef struct joint_definition {
    size_t d;
    char columns[JOINT_DIM_MOST][JOINT_NAME_MOST + 1]; /* of the files with decision sets */
    double lower[JOINT_DIM_MOST], upper[JOINT_DIM_MOST];
    char kernel[16]; /* "se", "matern32", "matern52" */
    double lengthscales[JOINT_DIM_MOST];
    double reward_lo, reward_hi;
    double eps, delta;
    uint64_t rounds;
    size_t features, released, set_size, open_most;
    char to_whom[JOINT_NAME_MOST + 1];
} joint_definition;

/* JSON, and back. PARSE names the field. */
json_t *joint_definition_json(const joint_definition *def);
tacet_status joint_definition_parse(joint_definition *out, const char *text, size_t length, tacet_error *err);

/* An open study: locked until it is closed, so that commands that run at once take turns. */
typedef struct joint_study {
    joint_definition def;
    const char *folder;
    int lock;
    tacet_domain domain;
    tacet_features *features;
    tacet_central_map *map;
    tacet_central_settings settings;
    tacet_ledger *ledger;
    tacet_ask ask;
    tacet_policy *policy;
    tacet_blob state; /* as it was read */
} joint_study;

/* Makes folder, ledger, state and, last, study.json. CONFLICT: there is a study. */
tacet_status joint_study_make(joint_study *study, const char *folder, const joint_definition *def, tacet_error *err);
tacet_status joint_study_open(joint_study *study, const char *folder, tacet_error *err);
/* Durable when it returns OK. */
tacet_status joint_study_save(joint_study *study, tacet_error *err);
void joint_study_close(joint_study *study); /* also one that failed to open */

#endif
