/* cmd_check.c - tacet usca check: the rows of a log that lie outside the bounds, told to the log's owner.
 * Ring: programs (trusted). Nothing leaves through the gate here, and nothing is meant to leave at all: learning takes
 * such rows as the nearest value within and says nothing, so that no outcome of it tells of a private row. Messages
 * name rows and columns, never values. */
#include "usca/commands.h"

enum { NAMED_MOST = 20 };

/* How many rows lie outside in this column; the first of them are named. */
static size_t count_outside(const cli_command *self, const tacet_csv_table *table, size_t column, const char *name,
                            double lower, double upper, const char *fate) {
    size_t outside = 0;
    for (size_t i = 0; i < table->n; i++) {
        const double at = table->values[i * table->d + column];
        if (!(at >= lower && at <= upper)) {
            if (outside < NAMED_MOST) {
                cli_say(self, "row %zu: %s lies outside its bounds", i + 1, name);
            }
            outside++;
        }
    }
    if (outside > 0) {
        cli_say(self, "%s: %zu of %zu rows lie outside, and %s", name, outside, table->n, fate);
    }
    return outside;
}

int usca_check(int argc, char **argv, const cli_command *self) {
    usca_job job;
    cli_option options[USCA_OPTIONS] = {0};
    cli_option rows[USCA_OPTIONS_ROWS + 1] = {0};
    tacet_csv_table table = {0};
    tacet_error err = {0};
    size_t outside = 0;
    int code = CLI_EXIT_OK;
    usca_job_init(&job);
    job.lengthscale = "1"; /* not asked for here, and not used */
    (void)usca_job_options(&job, options);
    for (size_t i = 0; i < USCA_OPTIONS_ROWS; i++) {
        rows[i] = options[i];
    }
    if (!cli_parse(self, rows, argc, argv, NULL, NULL, &code) || !usca_job_check(&job, self, &code)) {
        goto done;
    }
    const tacet_status status = usca_job_table(&job, &table, &err);
    if (status != TACET_OK) {
        err.status = status;
        code = cli_fail(self, &err);
        goto done;
    }
    for (size_t c = 0; c < job.d; c++) {
        const bool action = c < job.action_count;
        outside += count_outside(self, &table, c,
                                 action ? job.action_names[c] : job.context_names[c - job.action_count], job.lower[c],
                                 job.upper[c], action ? "will be refused" : "will be taken as the nearest bound");
    }
    outside += count_outside(self, &table, job.d, job.reward, job.settings.reward_lower, job.settings.reward_upper,
                             "will be taken as the nearest bound");
    if (outside == 0) {
        cli_say(self, "all %zu rows lie within", table.n);
    }
    code = outside == 0 ? CLI_EXIT_OK : CLI_EXIT_FAILED;
done:
    tacet_csv_table_clear(&table);
    usca_job_clear(&job);
    return code;
}
