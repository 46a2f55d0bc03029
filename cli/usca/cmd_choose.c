/* cmd_choose.c - tacet usca choose: one private action for one context, charged each time.
 * Ring: programs (trusted). The published algorithm and its range calibration; for more than one prediction learn a
 * model. */
#include "usca/commands.h"

#include "core/fail.h"
#include "core/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ACTIONS_MOST = 10000 };

static double *grid_of(const usca_job *job, size_t per_axis, size_t *count) {
    *count = 1;
    for (size_t c = 0; c < job->action_count; c++) {
        *count *= per_axis;
    }
    double *actions = TACET__ZALLOC(double, *count * job->action_count);
    for (size_t j = 0; j < *count && actions != NULL; j++) {
        size_t rest = j;
        for (size_t c = 0; c < job->action_count; c++, rest /= per_axis) {
            const size_t at = rest % per_axis;
            actions[j * job->action_count + c] =
                at + 1 == per_axis
                    ? job->upper[c]
                    : job->lower[c] + (job->upper[c] - job->lower[c]) * (double)at / (double)(per_axis - 1);
        }
    }
    return actions;
}

static bool read_context(const usca_job *job, double *context, const char *text) {
    char **items = NULL;
    size_t n = 0;
    if (job->context_count == 0) {
        return text == NULL;
    }
    bool good = text != NULL && cli_split(&items, &n, text) && n == job->context_count;
    for (size_t i = 0; i < n && good; i++) {
        good = cli_number(&context[i], items[i]);
    }
    free(items);
    return good;
}

static void report(const usca_job *job, const tacet_contextual_chooser *chooser, const tacet_release *chosen,
                   const double *actions, double seconds) {
    const size_t at = (size_t)tacet_release_values(chosen)[0];
    const tacet_receipt *r = tacet_release_receipt(chosen);
    json_t *list = json_array();
    for (size_t c = 0; c < job->action_count; c++) {
        const double x = actions[at * job->action_count + c];
        (void)json_array_append_new(list, cli_real(x));
        if (!cli_json_wanted()) {
            printf("%s = %.10g\n", job->action_names[c], x);
        }
    }
    if (!cli_json_wanted()) {
        printf("protection: %s\n",
               r->is_private ? "eps-DP for one record's context and reward; this choice alone" : "none: seeded noise");
    }
    cli_json_print(json_pack("{so ss so so sb sI so}", "action", list, "mechanism", r->mechanism, "eps",
                             cli_real(r->eps), "tau", cli_real(tacet_contextual_chooser_tau(chooser)), "private",
                             (int)r->is_private, "ledger_entry", (json_int_t)r->entry, "seconds", cli_real(seconds)));
}

static bool check_words(const usca_job *job, const char *algorithm, double tau, size_t grid, const cli_command *self,
                        int *code) {
    if (strcmp(algorithm, "published") != 0 && strcmp(algorithm, "range") != 0) {
        *code = cli_usage(self, "--algorithm is range or published");
        return false;
    }
    if (!(tau >= 0) || grid < 2 || pow((double)grid, (double)job->action_count) > ACTIONS_MOST) {
        *code = cli_usage(self, "--tau must be above 0, --grid at least 2, and all candidates at most %d",
                          (int)ACTIONS_MOST);
        return false;
    }
    return true;
}

int usca_choose(int argc, char **argv, const cli_command *self) {
    usca_job job;
    const char *context_text = NULL;
    const char *algorithm = "range";
    size_t grid = 33;
    size_t count = 0;
    double tau = 0;
    double context[TACET_CONTEXTUAL_DIM_MOST] = {0};
    double *actions = NULL;
    cli_option options[USCA_OPTIONS] = {0};
    int code = CLI_EXIT_OK;
    tacet_error err = {0};
    tacet_contextual_chooser *chooser = NULL;
    tacet_release *chosen = NULL;
    usca_job_init(&job);
    size_t n = usca_job_options(&job, options);
    options[n++] = (cli_option){"context", CLI_STRING, &context_text, "V[,V…]", "The context asked for.", false};
    options[n++] =
        (cli_option){"algorithm", CLI_STRING, &algorithm, "NAME", "range or published. Default range.", false};
    options[n++] =
        (cli_option){"grid", CLI_SIZE, &grid, "N", "Candidate actions: N equispaced a coordinate. Default 33.", false};
    options[n++] = (cli_option){
        "tau", CLI_DOUBLE, &tau, "T", "Regulariser. Not from these records. Default: by the sizes; 1 for published.",
        false};
    if (!cli_parse(self, options, argc, argv, NULL, NULL, &code) || !usca_job_check(&job, self, &code)) {
        goto done;
    }
    const bool published = strcmp(algorithm, "published") == 0;
    if (!check_words(&job, algorithm, tau, grid, self, &code)) {
        goto done;
    }
    if (!read_context(&job, context, context_text)) {
        code = cli_usage(self, "--context is one number for each context column");
        goto done;
    }
    const double begin = cli_seconds();
    actions = grid_of(&job, grid, &count);
    tacet_status status =
        actions == NULL ? tacet__fail(&err, TACET_NO_MEMORY, "out of memory") : usca_job_load(&job, self, &err);
    if (status == TACET_OK) {
        status = tacet_contextual_chooser_create(
            &chooser, job.learner, published ? TACET_CONTEXTUAL_PUBLISHED : TACET_CONTEXTUAL_RANGE, tau, &err);
    }
    if (status == TACET_OK) {
        status = usca_job_open(&job, &err);
    }
    if (status == TACET_OK) {
        char ticket[TACET_TICKET_MOST + 1];
        (void)snprintf(ticket, sizeof ticket, "choice for %.150s", context_text != NULL ? context_text : "no context");
        const tacet_ask ask = {.ledger = job.open_ledger,
                               .noise = job.noise,
                               .ticket = job.ticket != NULL ? job.ticket : ticket,
                               .what = "one action for one context",
                               .to_whom = job.to_whom,
                               .covered_fields = "contexts,reward",
                               .uncovered_fields =
                                   usca_job_uncovered(&job, "actions,number of rows,the context asked for"),
                               .covered_records = "each row: its contexts and reward become any others"};
        status = tacet_contextual_choose(chooser, &chosen, &ask, context, actions, count, &err);
    }
    if (status == TACET_OK) {
        report(&job, chooser, chosen, actions, cli_seconds() - begin);
    } else {
        err.status = status;
        code = cli_fail(self, &err);
    }
done:
    tacet_release_free(chosen);
    tacet_contextual_chooser_free(chooser);
    free(actions);
    usca_job_clear(&job);
    return code;
}
