/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - tacet-plain: optimisation without any protection, the reference for the private methods.
 * Ring: trusted (it reads raw records), though it links only what an open program may. The search is
 * src/plain/search.c. Under mpirun rank 0 does all of this, and the others serve its search (src/gp/ranks.md). */
#include "common/ranks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <tacet/gp/kernel.h>
#include <tacet/plain/search.h>

/* What the run is about, checked. */
typedef struct run {
    tacet_plain_settings s;
    const char *names, *lengthscale, *rows; /* --inputs, --lengthscale (NULL: to be fitted), --first */
    char **inputs;
    double *lengthscales;
    size_t *first;
    tacet_ranks ranks;
    const cli_command *self;
} run;

static bool parse(run *r, int argc, char **argv, int *code) {
    tacet_plain_settings *o = &r->s;
    const cli_option table[] = {
        CLI_NEED_LIST("data", &o->data, "FILE",
                      "CSV with a header row; several, separated by commas, are one table; - reads standard input. Or "
                      "one .npy file of numbers, which is mapped and not copied"),
        CLI_NEED("inputs", &r->names, "A,B",
                 "columns the model looks at, separated by commas; of a .npy file their numbers, from 0"),
        CLI_NEED("target", &o->target, "Y", "column to find the largest value of"),
        CLI_NEED("queries", &o->queries, "T", "rows to ask; at most as many as there are, unless --repeats"),
        CLI_HEADING("Model:"),
        CLI_OPT("kernel", &o->kernel, "NAME", "se, matern12, matern32, matern52, … or linear; default se"),
        CLI_OPT("lengthscale", &r->lengthscale, "L",
                "one, or one per input separated by commas; required unless --fit"),
        CLI_OPT("signal-var", &o->signal_var, "V", "prior variance of the target; default 1"),
        CLI_OPT("noise-var", &o->noise_var, "V", "variance of the measurement noise; default 1e-6"),
        CLI_OPT("mean", &o->mean, "M", "prior mean of the target; default 0"),
        CLI_OPT("fit", &o->fit, NULL,
                "fit lengthscale, variances and mean by maximum likelihood on rows of the table, targets included; "
                "what is given is where the search starts"),
        CLI_OPT("ard", &o->ard, NULL, "with --fit: one lengthscale per input"),
        CLI_OPT("fit-rows", &o->fit_rows, "N", "rows to fit on, evenly spread over the table; default 400"),
        CLI_OPT("seed", &o->seed, "S", "of the starts of the fit; default 1"),
        CLI_HEADING("Search:"),
        CLI_OPT("delta-ucb", &o->delta_ucb, "D", "probability that the confidence bounds fail; default 0.05"),
        CLI_OPT("beta-scale", &o->beta_scale, "F", "factor on beta_t; default 1"),
        CLI_OPT("first", &r->rows, "ROW", "row to ask first, or several separated by commas; rows count from 0"),
        CLI_OPT("minimize", &o->minimize, NULL, "find the smallest target instead"),
        CLI_OPT("repeats", &o->repeats, NULL, "a row may be asked again"),
        CLI_OPT("allow-duplicates", &o->allow_duplicates, NULL,
                "accept rows whose inputs and target are those of an earlier row"),
        CLI_HEADING("Large tables:"),
        CLI_OPT("single", &o->single, NULL,
                "keep the model in single precision: half the memory; see src/gp/README.md for what that does"),
        CLI_OPT("journal", &o->journal, "FILE",
                "write every round there, and go on from what is there already; with any number of ranks"),
        {0},
    };
    return cli_parse(r->self, table, argc, argv, NULL, NULL, code);
}

static bool read_lengthscales(run *r, int *code) {
    char **words = NULL;
    size_t count = 0;
    if (!cli_split(&words, &count, r->lengthscale) || (count != 1 && count != r->s.d)) {
        free(words);
        *code = cli_usage(r->self, "--lengthscale takes one number, or one for each of the %zu inputs", r->s.d);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (!cli_number(&r->lengthscales[i], words[i]) || !(r->lengthscales[i] > 0)) {
            *code = cli_usage(r->self, "--lengthscale: '%s' is not a number greater than 0", words[i]);
            free(words);
            return false;
        }
    }
    free(words);
    r->s.lengthscale_count = count;
    r->s.lengthscales = r->lengthscales;
    return true;
}

static bool read_first(run *r, int *code) {
    char **words = NULL;
    size_t count = 0;
    if (!cli_split(&words, &count, r->rows)) {
        *code = cli_usage(r->self, "--first takes row numbers separated by commas");
        return false;
    }
    r->first = calloc(count, sizeof *r->first);
    bool ok = r->first != NULL;
    for (size_t i = 0; i < count && ok; i++) {
        double row = 0;
        ok = cli_number(&row, words[i]) && row >= 0 && row <= 0x1p53 && row == floor(row);
        r->first[i] = ok ? (size_t)row : 0;
    }
    free(words);
    if (!ok) {
        *code = cli_usage(r->self, "--first takes row numbers, whole and counted from 0");
        return false;
    }
    r->s.first_count = count;
    r->s.first = r->first;
    return true;
}

static bool check_options(run *r, int *code) {
    tacet_plain_settings *o = &r->s;
    tacet_kernel_spec spec;
    tacet_error err = {0};
    if (!cli_split(&r->inputs, &o->d, r->names)) {
        *code = cli_usage(r->self, "--inputs takes column names separated by commas");
        return false;
    }
    o->inputs = (const char *const *)r->inputs;
    tacet_kernel_spec_defaults(&spec);
    if (tacet_kernel_parse(&spec, o->kernel, &err) != TACET_OK) {
        *code = cli_usage(r->self, "--kernel: %s", err.message);
        return false;
    }
    const struct {
        bool ok;
        const char *rule;
    } rules[] = {
        {o->queries > 0, "--queries must be at least 1"},
        {o->signal_var > 0, "--signal-var must be greater than 0"},
        {o->noise_var >= 0, "--noise-var must not be negative"},
        {o->noise_var > 0 || !o->fit, "--noise-var must be greater than 0 to start a fit from"},
        {o->delta_ucb > 0 && o->delta_ucb < 1, "--delta-ucb must lie between 0 and 1"},
        {o->beta_scale > 0, "--beta-scale must be greater than 0"},
        {r->lengthscale != NULL || o->fit, "--lengthscale is needed, unless --fit finds it"},
        {o->fit_rows >= 2, "--fit-rows must be at least 2"},
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (!rules[i].ok) {
            *code = cli_usage(r->self, "%s", rules[i].rule);
            return false;
        }
    }
    r->lengthscales = calloc(r->s.d, sizeof *r->lengthscales);
    if (r->lengthscales == NULL) {
        cli_say(r->self, "out of memory");
        *code = CLI_EXIT_FAILED;
        return false;
    }
    return (r->lengthscale == NULL || read_lengthscales(r, code)) && (r->rows == NULL || read_first(r, code));
}

/* Rules that need the number of rows. */
static bool check_counts(const run *r, size_t n, int *code) {
    const tacet_plain_settings *o = &r->s;
    if (o->queries > n && !o->repeats) {
        *code =
            cli_usage(r->self, "%s: --queries %zu, but the table has %zu rows and a row is asked once (see --repeats)",
                      o->data, o->queries, n);
        return false;
    }
    for (size_t i = 0; i < o->first_count; i++) {
        if (r->first[i] >= n) {
            *code = cli_usage(r->self, "%s: --first %zu, but the rows of the table are 0 to %zu", o->data, r->first[i],
                              n - 1);
            return false;
        }
    }
    return true;
}

static void say(const char *text, void *user) {
    cli_say(user, "%s", text);
}

static void progress(size_t asked, size_t queries, double best, void *user) {
    (void)user;
    cli_progress((double)asked / (double)queries, "%zu of %zu rows asked, best %.6g", asked, queries, best);
}

static json_t *model_json(const tacet_plain_settings *s, const tacet_plain_result *r) {
    json_t *lengthscales = json_array();
    for (size_t c = 0; c < r->lengthscale_count; c++) {
        json_array_append_new(lengthscales, cli_real(r->lengthscales[c]));
    }
    return cli_object("kernel lengthscales signal_var noise_var mean fitted log_likelihood jittered largest_jitter",
                      J(s->kernel), J(lengthscales), J(r->signal_var), J(r->noise_var), J(r->mean), J(s->fit),
                      J(r->model.log_likelihood), J(r->model.jittered), J(r->model.largest_jitter));
}

static void print(const run *job, const tacet_plain_result *r, double seconds) {
    if (r->model.jittered > 0) {
        cli_say(job->self,
                "%zu of %zu measurements were nearly determined by earlier ones and got extra noise (at most %.3g)",
                r->model.jittered, r->model.count, r->model.largest_jitter);
    }
    if (!cli_json_wanted()) {
        printf("asked %zu of %zu rows in %.3f s\n", r->asked, r->n, seconds);
        printf("best measured row   %zu, value %.10g, simple regret %.6g\n", r->best.measured, r->best.measured_value,
               r->regret);
        printf("best row by model   %zu, mean %.6g, sd %.3g\n", r->best.index, r->best.mean, r->best.sd);
        printf("unprotected: every record was read as it is\n");
        return;
    }
    json_t *rows = json_array();
    json_t *values = json_array();
    for (size_t t = 0; t < r->asked; t++) {
        json_array_append_new(rows, J(r->rows[t]));
        json_array_append_new(values, J(r->values[t]));
    }
    cli_json_print(cli_object("rows values best_row best_value simple_regret seconds model_best_row model_best_mean n "
                              "ranks model protection",
                              J(rows), J(values), J(r->best.measured), J(r->best.measured_value), J(r->regret),
                              J(seconds), J(r->best.index), J(r->best.mean), J(r->n), J(job->ranks.count),
                              J(model_json(&job->s, r)), J("unprotected")));
}

/* Rank 0, or a process alone. */
static int search(run *r) {
    int code = CLI_EXIT_OK;
    char words[512];
    tacet_plain *plain = NULL;
    tacet_plain_result result;
    tacet_error err = {0};
    cli_say(r->self, "UNPROTECTED: every record is read as it is; nothing here is private");
    tacet_status status = tacet_plain_open(&plain, &r->s, &err);
    if (status == TACET_OK && !check_counts(r, tacet_plain_rows(plain), &code)) {
        tacet_plain_close(plain);
        return code;
    }
    if (status == TACET_OK && r->s.journal != NULL) {
        (void)snprintf(words, sizeof words,
                       "tacet gp-ucb: the run was ended from outside, perhaps because a rank died; what was asked is "
                       "in %.200s: the same command goes on from there, with any number of ranks",
                       r->s.journal);
        cli_ranks_last_words(&r->ranks, words);
    }
    const double start = cli_seconds();
    status = status != TACET_OK ? status : tacet_plain_run(plain, &result, &err);
    cli_progress_end();
    if (status == TACET_OK) {
        print(r, &result, cli_seconds() - start);
    } else {
        err.status = status;
        code = cli_fail(r->self, &err);
    }
    tacet_plain_close(plain);
    return code;
}

/* Another rank: it finds the rows of a .npy file itself, and gets those of a CSV from rank 0. */
static int serve(run *r, bool understood) {
    tacet_plain *plain = NULL;
    size_t n = 0;
    tacet_error err = {0};
    if (understood && tacet_plain_map(&plain, &r->s, &err) != TACET_OK) {
        cli_say(r->self, "rank %zu: %s", r->ranks.rank, err.message);
    }
    /* Without its file it serves all the same, and rank 0 hears at the first search that it has no candidates. */
    const tacet_points *points = tacet_plain_points(plain, &n);
    const int code = cli_ranks_follow(r->self, &r->ranks, points, n);
    tacet_plain_close(plain);
    return code;
}

static int cmd_gp_ucb(int argc, char **argv, const cli_command *self) {
    run r = {.self = self};
    int code = CLI_EXIT_OK;
    tacet_plain_defaults(&r.s);
    r.s.say = say;
    r.s.progress = progress;
    r.s.user = (void *)(uintptr_t)self;
    if (!cli_ranks_open(self, &r.ranks, &code)) {
        return code;
    }
    r.s.ranks = &r.ranks;
    const bool leads = r.ranks.rank == 0;
    cli_ranks_hush(!leads); /* what is wrong with the options is said once */
    const bool understood = parse(&r, argc, argv, &code) && check_options(&r, &code);
    cli_ranks_hush(false);
    if (!leads) {
        code = serve(&r, understood);
    } else if (understood) {
        code = search(&r);
    }
    cli_ranks_close(&r.ranks); /* the other ranks' searches are freed by now */
    free(r.inputs);
    free(r.lengthscales);
    free(r.first);
    return code;
}

static const cli_command COMMANDS[] = {
    {"gp-ucb", "plain GP-UCB over a table; unprotected, the reference",
     "--data FILE --inputs A,B --target Y --lengthscale L --queries T [options]",
     "Finds the row of a table with the largest target by asking for few of them: GP-UCB with a Gaussian process over "
     "the inputs. The targets of rows not asked are used for nothing but the regret at the end (and for --fit).\n\n"
     "UNPROTECTED: this command reads every record and protects nothing. It is the reference for the private "
     "methods.\n\n"
     "Round t asks the row with the largest mean + sqrt(beta_t) sd, beta_t = 2 ln(n t^2 pi^2/(6 d)), d = half of "
     "--delta-ucb, t from 1. Rows are numbered from 0; ties go to the lowest row.\n\n"
     "'mpirun -n 4 tacet gp-ucb …' spreads the candidates over 4 processes, each with its part of the model, and asks "
     "the same rows, bit for bit; rank 0 alone prints. Rank 0 reads a CSV and sends the others their rows; a .npy file "
     "is mapped by every rank, which reads its own rows of it. docs/scaling.md has the memory and the time.\n\n"
     "JSON: rows (in the order asked), values, best_row (best measured), simple_regret (best target in the table less "
     "the best one measured), seconds, model_best_row (best posterior mean), the settings used, and protection.",
     "tacet gp-ucb --data F.csv --inputs x1,x2 --target y --kernel se --lengthscale 6.25 --noise-var 1e-5 --queries "
     "50\n"
     "tacet gp-ucb --data homes.csv --inputs lat,lon --target price --fit --queries 30 --json\n"
     "mpirun -n 4 tacet gp-ucb --data molecules.npy --inputs 0,1,2,3,4 --target 5 --lengthscale 0.3 --queries 50 "
     "--journal run.journal",
     cmd_gp_ucb},
    {NULL, NULL, NULL, NULL, NULL, NULL},
};

static const cli_program PROGRAM = {
    .name = "tacet-plain",
    .summary = "Optimisation without protection: the reference for everything private.",
    .ring = "trusted",
    .commands = COMMANDS,
};

int main(int argc, char **argv) {
    return cli_main(&PROGRAM, argc, argv);
}
