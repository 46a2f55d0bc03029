/* commands.h - the commands of tacet-usca, and what they share: a log of records, a space, a ledger. */
#ifndef TACET_CLI_USCA_COMMANDS_H
#define TACET_CLI_USCA_COMMANDS_H

#include "common/cli.h"

#include <tacet/io/csv.h>
#include <tacet/contextual/trusted/learn.h>

int usca_learn(int argc, char **argv, const cli_command *self);
int usca_choose(int argc, char **argv, const cli_command *self);
int usca_suggest(int argc, char **argv, const cli_command *self);
int usca_check(int argc, char **argv, const cli_command *self);

enum {
    USCA_OPTIONS = 28,     /* shared ones, with room for those of a command */
    USCA_OPTIONS_ROWS = 6, /* the first of them: what the rows are */
};

/* What learn and choose have in common. */
typedef struct usca_job {
    const char *data, *actions, *contexts, *reward, *range, *bounds, *kernel, *lengthscale, *public_contexts;
    const char *context_density;
    const char *ledger, *ticket, *to_whom, *new_budget;
    char uncovered[512];
    double budget;
    bool seeded;
    uint64_t seed;
    tacet_contextual_settings settings;

    char **action_names, **context_names;
    size_t action_count, context_count, d;
    double lower[TACET_CONTEXTUAL_DIM_MOST], upper[TACET_CONTEXTUAL_DIM_MOST], lengthscales[TACET_CONTEXTUAL_DIM_MOST];
    size_t lengthscale_count;
    double *sample; /* of public contexts */
    size_t sample_count;
    tacet_contextual_density *density; /* of contexts, from a public table */
    tacet_contextual_basis *basis;
    tacet_contextual_learner *learner;
    tacet_ledger *open_ledger;
    unsigned char rows[TACET_HASH_BYTES]; /* hash of the records in their order: as private as they are */
    tacet_noise *noise;
    double uniform_p; /* least p-value of "the actions are uniform" */
} usca_job;

void usca_job_init(usca_job *job);
/* Fills the first of `options` (USCA_OPTIONS of them, zeroed) and returns how many. */
size_t usca_job_options(usca_job *job, cli_option *options);
/* Checks the options; false: explained, *code set. */
bool usca_job_check(usca_job *job, const cli_command *self, int *code);
/* Actions, contexts and reward of every row, in this order. */
tacet_status usca_job_table(const usca_job *job, tacet_csv_table *table, tacet_error *err);
/* Basis and learner, with all records; warns of actions that are plainly not uniform. */
tacet_status usca_job_load(usca_job *job, const cli_command *self, tacet_error *err);
/* Ledger (or none, when seeded) and noise. Without --ledger it lies beside the data, whatever the data are called:
 * whatever is learnt from one log is counted in one place. */
tacet_status usca_job_open(usca_job *job, tacet_error *err);
/* Before a release of several stages: refuses to go on with one that was begun from other rows, or from these in
 * another order. Section 7 of src/contextual/README.md needs each record in one stage. CONFLICT. */
tacet_status usca_job_begin(const usca_job *job, const char *ticket, tacet_error *err);
/* After it, whatever came of it. */
void usca_job_end(const usca_job *job, const char *ticket, bool finished);
/* What is not covered, with the reason for a new budget when there is one: it stands in the ledger. */
const char *usca_job_uncovered(usca_job *job, const char *fields);
void usca_job_clear(usca_job *job);

/* "lo:hi,…" or "name=lo:hi,…" for `count` names; false: something missing, unknown, twice or malformed. */
bool usca_intervals(double *lower, double *upper, const char *text, char *const *names, size_t count);
/* Kolmogorov's test of uniformity on [lower, upper]; sorts values. */
double usca_uniform_pvalue(double *values, size_t n, double lower, double upper);

#endif
