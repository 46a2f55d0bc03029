/* shared.c - reading a log of (action, context, reward) for tacet-usca, and what is refused because it would void the
 * proof. Ring: programs (trusted: it holds raw records). Cost: one pass over the file. */
#include "usca/commands.h"

#include "dp/open/entry.h"
#include "core/fail.h"
#include "core/memory.h"
#include "dp/ledger/beside.h"
#include "registry/registry.h"
#include "contextual/trusted/internal.h"

#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tacet/io/csvfile.h>
#include <unistd.h>

static const double NOT_UNIFORM = 1e-6; /* p-value below which actions were plainly not drawn uniformly */

void usca_job_init(usca_job *job) {
    memset(job, 0, sizeof *job);
    tacet_contextual_settings_defaults(&job->settings);
    job->kernel = "se";
    job->to_whom = "anyone";
    job->uniform_p = 1;
    job->seed = UINT64_MAX;
}

size_t usca_job_options(usca_job *job, cli_option *options) {
    const cli_option shared[] = {
        {"data", CLI_STRING, &job->data, "FILE", "CSV of logged rounds, with a header.", true},
        {"actions", CLI_STRING, &job->actions, "A,B", "Action columns: drawn uniformly within their bounds.", true},
        {"contexts", CLI_STRING, &job->contexts, "C,D", "Context columns. Default: none.", false},
        {"reward", CLI_STRING, &job->reward, "Y", "Reward column.", true},
        {"range", CLI_STRING, &job->range, "LO:HI", "Range of rewards; rewards outside are clipped.", true},
        {"bounds", CLI_STRING, &job->bounds, "LO:HI,…", "Bounds of actions, then contexts; or NAME=LO:HI,…", true},
        {"kernel", CLI_STRING, &job->kernel, "NAME", "se, matern32 or matern52. Default se.", false},
        {"lengthscale", CLI_STRING, &job->lengthscale, "L[,L…]",
         "One, or one for each coordinate, in its units. From you or from public data: never fitted on these records.",
         true},
        {"public-contexts", CLI_STRING, &job->public_contexts, "FILE",
         "CSV of contexts that are public, as their law. Default: uniform within the bounds.", false},
        {"context-density", CLI_STRING, &job->context_density, "FILE",
         "Instead: CSV of their public density on a grid, the context columns and 'density'.", false},
        {"eps", CLI_DOUBLE, &job->settings.eps, "E", "Privacy budget of this release. Default 1.", false},
        {"ledger", CLI_STRING, &job->ledger, "FILE", "The ledger; made when missing. Default: DATA.ledger.db, as for tacet curate.", false},
        {"budget", CLI_DOUBLE, &job->budget, "E", "Total eps of a ledger that is made. Default: this release's.",
         false},
        {"new-budget", CLI_STRING, &job->new_budget, "REASON",
         "Begin a new budget although these rows were released before; the reason stands in the ledger.", false},
        {"ticket", CLI_STRING, &job->ticket, "NAME",
         "Names the question: asking again under the same ticket repeats the stored answer.", false},
        {"to", CLI_STRING, &job->to_whom, "WHOM", "Who receives it, for the ledger. Default anyone.", false},
        {"seed", CLI_U64, &job->seed, "S", "Seeded noise and no ledger: NOT PRIVATE, for tests.", false},
    };
    memcpy(options, shared, sizeof shared);
    return sizeof shared / sizeof *shared;
}

bool usca_intervals(double *lower, double *upper, const char *text, char *const *names, size_t count) {
    char **items = NULL;
    size_t n = 0;
    bool given[TACET_CONTEXTUAL_DIM_MOST] = {false};
    bool good = count <= TACET_CONTEXTUAL_DIM_MOST && cli_split(&items, &n, text) && n == count;
    for (size_t i = 0; i < n && good; i++) {
        const char *equals = strchr(items[i], '=');
        size_t at = i;
        if (equals != NULL) {
            at = 0;
            while (at < count && (strncmp(names[at], items[i], (size_t)(equals - items[i])) != 0 ||
                                  names[at][equals - items[i]] != '\0')) {
                at++;
            }
        }
        good = at < count && !given[at] && cli_interval(&lower[at], &upper[at], equals != NULL ? equals + 1 : items[i]);
        if (good) {
            given[at] = true;
        }
    }
    free(items);
    return good;
}

static bool split_names(usca_job *job, const cli_command *self, int *code) {
    if (!cli_split(&job->action_names, &job->action_count, job->actions) ||
        (job->contexts != NULL && !cli_split(&job->context_names, &job->context_count, job->contexts))) {
        *code = cli_usage(self, "--actions and --contexts are column names with commas between");
        return false;
    }
    job->d = job->action_count + job->context_count;
    if (job->d > TACET_CONTEXTUAL_DIM_MOST) {
        *code = cli_usage(self, "at most %d action and context columns together", (int)TACET_CONTEXTUAL_DIM_MOST);
        return false;
    }
    return true;
}

static bool read_lengthscales(usca_job *job) {
    char **items = NULL;
    bool good = cli_split(&items, &job->lengthscale_count, job->lengthscale) &&
                (job->lengthscale_count == 1 || job->lengthscale_count == job->d);
    for (size_t i = 0; good && i < job->lengthscale_count; i++) {
        good = cli_number(&job->lengthscales[i], items[i]) && job->lengthscales[i] > 0;
    }
    free(items);
    return good;
}

/* The same file under any name. */
static bool same_file(const char *a, const char *b) {
    struct stat x;
    struct stat y;
    return strcmp(a, b) == 0 || (stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino);
}

bool usca_job_check(usca_job *job, const cli_command *self, int *code) {
    char *names[TACET_CONTEXTUAL_DIM_MOST];
    if (!split_names(job, self, code)) {
        return false;
    }
    const size_t d = job->d; /* one name each, which a reader of job->d after other calls cannot know */
    for (size_t i = 0; i < d; i++) {
        names[i] = i < job->action_count ? job->action_names[i] : job->context_names[i - job->action_count];
    }
    *code = CLI_EXIT_USAGE;
    job->seeded = job->seed != UINT64_MAX;
    if (!(job->settings.eps > 0)) {
        (void)cli_usage(self, "--eps must be above 0");
    } else if (!(job->budget >= 0)) {
        (void)cli_usage(self, "--budget must be above 0");
    } else if (!cli_interval(&job->settings.reward_lower, &job->settings.reward_upper, job->range)) {
        (void)cli_usage(self, "--range is LO:HI, the lower below the upper");
    } else if (!usca_intervals(job->lower, job->upper, job->bounds, names, d)) {
        (void)cli_usage(self, "--bounds is LO:HI for each of the %zu columns, in their order, or NAME=LO:HI", job->d);
    } else if (!read_lengthscales(job)) {
        (void)cli_usage(
            self,
            "--lengthscale is one positive number, or %zu of them. It must come from you or from public data: a "
            "lengthscale fitted on these records would void the proof of privacy",
            job->d);
    } else if (job->public_contexts != NULL && same_file(job->public_contexts, job->data)) {
        (void)cli_usage(
            self,
            "--public-contexts names the private log itself: a law of contexts taken from it would void the proof "
            "of privacy");
    } else if (job->context_density != NULL && same_file(job->context_density, job->data)) {
        (void)cli_usage(self,
                        "--context-density names the private log itself: a law of contexts taken from it would void "
                        "the proof of privacy");
    } else if (job->public_contexts != NULL && job->context_density != NULL) {
        (void)cli_usage(self, "--public-contexts or --context-density, not both");
    } else if ((job->public_contexts != NULL || job->context_density != NULL) && job->context_count == 0) {
        (void)cli_usage(self, "--public-contexts and --context-density need --contexts");
    } else {
        *code = CLI_EXIT_OK;
        return true;
    }
    return false;
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

double usca_uniform_pvalue(double *values, size_t n, double lower, double upper) {
    double distance = 0;
    double p = 0;
    qsort(values, n, sizeof *values, ascending);
    for (size_t i = 0; i < n; i++) {
        const double u = (values[i] - lower) / (upper - lower);
        distance = fmax(distance, fmax((double)(i + 1) / (double)n - u, u - (double)i / (double)n));
    }
    /* Kolmogorov's limit with Stephens' correction for finite n. */
    const double root = sqrt((double)n);
    const double t = distance * (root + 0.12 + 0.11 / root);
    for (int k = 1; k <= 100; k++) {
        p += (k % 2 == 1 ? 2 : -2) * exp(-2.0 * k * k * t * t);
    }
    return t < 0.2 ? 1 : fmin(fmax(p, 0), 1);
}

/* Actions are public, so this test and its warning are too. */
static tacet_status check_uniform(usca_job *job, const cli_command *self, const tacet_csv_table *table,
                                  tacet_error *err) {
    double *column = TACET__ZALLOC(double, table->n);
    if (column == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu records", table->n);
    }
    for (size_t c = 0; c < job->action_count; c++) {
        for (size_t i = 0; i < table->n; i++) {
            column[i] = table->values[i * table->d + c];
        }
        const double p = usca_uniform_pvalue(column, table->n, job->lower[c], job->upper[c]);
        job->uniform_p = fmin(job->uniform_p, p);
        if (p < NOT_UNIFORM) {
            cli_say(self,
                    "WARNING: column %s was plainly not drawn uniformly within its bounds (p = %.1e): the model will "
                    "be biased, "
                    "and if actions depended on earlier contexts or rewards, those are not protected",
                    job->action_names[c], p);
        }
    }
    free(column);
    return TACET_OK;
}

static tacet_status load_sample(usca_job *job, tacet_error *err) {
    tacet_csv_table table;
    const tacet_csv_wanted wanted = {.columns = (const char *const *)job->context_names, .d = job->context_count};
    const tacet_status status = tacet_csv_load_file(&table, job->public_contexts, &wanted, err);
    if (status == TACET_OK) {
        /* The nodes are actions times contexts: an even choice of at most this many. */
        const size_t most = job->action_count == 1 ? 60 : 25;
        const size_t kept = table.n < most ? table.n : most;
        job->sample = TACET__ZALLOC(double, kept * job->context_count);
        for (size_t k = 0; k < kept && job->sample != NULL; k++) {
            memcpy(job->sample + k * job->context_count, table.values + k * table.n / kept * table.d,
                   table.d * sizeof(double));
        }
        job->sample_count = kept;
        tacet_csv_table_clear(&table);
        if (job->sample == NULL) {
            return tacet__fail(err, TACET_NO_MEMORY, "out of memory for the public contexts");
        }
    }
    return status;
}

/* A table of densities on a grid. */
static tacet_status load_density(usca_job *job, tacet_error *err) {
    const char *columns[TACET_CONTEXTUAL_DIM_MOST + 1];
    tacet_csv_table table;
    for (size_t c = 0; c < job->context_count; c++) {
        columns[c] = job->context_names[c];
    }
    columns[job->context_count] = "density";
    const tacet_csv_wanted wanted = {.columns = columns, .d = job->context_count + 1};
    tacet_status status = tacet_csv_load_file(&table, job->context_density, &wanted, err);
    if (status != TACET_OK) {
        return status;
    }
    const size_t dim = job->context_count;
    double *points = TACET__ZALLOC(double, table.n *dim);
    double *values = TACET__ZALLOC(double, table.n);
    if (points == NULL || values == NULL) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory for the densities");
    } else {
        for (size_t i = 0; i < table.n; i++) {
            memcpy(points + i * dim, table.values + i * table.d, dim * sizeof *points);
            values[i] = table.values[i * table.d + dim];
        }
        status = tacet_contextual_density_create(&job->density, points, values, dim, table.n, err);
    }
    free(points);
    free(values);
    tacet_csv_table_clear(&table);
    return status;
}

static tacet_status make_basis(usca_job *job, tacet_error *err) {
    tacet_kernel_spec spec;
    tacet_kernel_spec_defaults(&spec);
    tacet_status status = tacet_kernel_parse(&spec, job->kernel, err);
    if (status == TACET_OK && job->public_contexts != NULL) {
        status = load_sample(job, err);
    }
    if (status == TACET_OK && job->context_density != NULL) {
        status = load_density(job, err);
    }
    const tacet_contextual_space space = {.action_dim = job->action_count,
                                          .context_dim = job->context_count,
                                          .lower = job->lower,
                                          .upper = job->upper,
                                          .kind = spec.kind,
                                          .matern_p = spec.matern_p,
                                          .lengthscales = job->lengthscales,
                                          .lengthscale_count = job->lengthscale_count,
                                          .density = job->density != NULL ? tacet_contextual_density_at : NULL,
                                          .user = job->density,
                                          .contexts = job->sample,
                                          .context_count = job->sample_count,
                                          .order = job->sample != NULL ? (job->action_count == 1 ? 24 : 8) : 0};
    return status == TACET_OK ? tacet_contextual_basis_create(&job->basis, &space, 0, err) : status;
}

tacet_status usca_job_table(const usca_job *job, tacet_csv_table *table, tacet_error *err) {
    const char *columns[TACET_CONTEXTUAL_DIM_MOST + 1];
    for (size_t i = 0; i < job->d; i++) {
        columns[i] = i < job->action_count ? job->action_names[i] : job->context_names[i - job->action_count];
    }
    columns[job->d] = job->reward;
    const tacet_csv_wanted wanted = {.columns = columns, .d = job->d + 1};
    return tacet_csv_load_file(table, job->data, &wanted, err);
}

tacet_status usca_job_load(usca_job *job, const cli_command *self, tacet_error *err) {
    tacet_csv_table table = {0};
    tacet_status status = usca_job_table(job, &table, err);
    if (status == TACET_OK) {
        status = check_uniform(job, self, &table, err);
    }
    if (status == TACET_OK) {
        status = make_basis(job, err);
    }
    if (status == TACET_OK) {
        status = tacet_contextual_learner_create(&job->learner, job->basis, &job->settings, err);
    }
    for (size_t i = 0; i < table.n && status == TACET_OK; i++) {
        const double *record = table.values + i * table.d;
        status = tacet_contextual_learner_add(job->learner, record, record[job->d], err);
    }
    (void)crypto_generichash(job->rows, sizeof job->rows, (const unsigned char *)table.values,
                             table.n * table.d * sizeof(double), NULL, 0);
    tacet_csv_table_clear(&table);
    return status;
}

/* Beside the data, which it is a function of: the hash of the rows that a release was begun with. */
static tacet_status begun_path(char path[TACET__PATH], const usca_job *job, const char *ticket, tacet_error *err) {
    char name[TACET__TICKET_NAME + 1];
    char ending[sizeof name + 16];
    tacet__ticket_name(name, ticket);
    (void)snprintf(ending, sizeof ending, ".%s.begun", name);
    return tacet__beside(path, job->data, ending, err);
}

static bool has_begun(const usca_job *job, const char *ticket) {
    char stage[TACET_TICKET_MOST + 1];
    tacet_entry entry;
    tacet_blob memo;
    tacet__contextual_stage_ticket(stage, ticket, 1);
    tacet_blob_init(&memo);
    const bool begun = tacet_ledger_lookup(job->open_ledger, &entry, &memo, stage, NULL) == TACET_OK;
    tacet_blob_clear(&memo);
    return begun;
}

tacet_status usca_job_begin(const usca_job *job, const char *ticket, tacet_error *err) {
    char path[TACET__PATH];
    char folder[TACET__PATH];
    char rows[2 * TACET_HASH_BYTES + 1];
    char *before = NULL;
    size_t length = 0;
    if (job->open_ledger == NULL) {
        return TACET_OK;
    }
    tacet_status status = begun_path(path, job, ticket, err);
    if (status != TACET_OK) {
        return status;
    }
    tacet__hash_hex(rows, job->rows);
    const bool begun = has_begun(job, ticket);
    if (begun && tacet__file_read(&before, &length, path, sizeof rows, NULL) == TACET_OK && strcmp(before, rows) != 0) {
        status = tacet__fail(err, TACET_CONFLICT,
                             "the release was begun from other rows, or from these in another order: go on from that "
                             "log, or name another --ticket");
    }
    free(before);
    if (status == TACET_OK && !begun) {
        /* Where it cannot be written nothing is refused: it guards against a mistake. */
        if (tacet__folder_of(folder, path, NULL) == TACET_OK) {
            (void)tacet__file_write(path, folder, rows, S_IRUSR | S_IWUSR, NULL);
        }
    }
    return status;
}

void usca_job_end(const usca_job *job, const char *ticket, bool finished) {
    char path[TACET__PATH];
    if (job->open_ledger != NULL && (finished || !has_begun(job, ticket)) &&
        begun_path(path, job, ticket, NULL) == TACET_OK) {
        (void)unlink(path);
    }
}

tacet_status usca_job_open(usca_job *job, tacet_error *err) {
    char beside[TACET__PATH];
    tacet_ledger_settings settings;
    if (job->seeded) {
        return tacet_noise_open_seeded(&job->noise, job->seed, 0, err);
    }
    tacet_status status = tacet__beside(beside, job->data, ".ledger.db", err);
    if (status != TACET_OK) {
        return status;
    }
    const char *path = job->ledger != NULL ? job->ledger : beside;
    tacet_ledger_settings_defaults(&settings);
    settings.accounting = TACET_ACCOUNTING_BASIC;
    settings.eps = job->budget > 0 ? job->budget : job->settings.eps;
    settings.delta = job->settings.gaussian ? job->settings.delta : 0;
    settings.use_stored = access(path, F_OK) == 0;
    settings.create = !settings.use_stored;
    const tacet__registry_release release = {.data = job->data,
                                             .ledger = path,
                                             .what = "model or choice",
                                             .ticket = job->ticket != NULL ? job->ticket : "model",
                                             .new_budget = job->new_budget};
    status = tacet__registry_open(&job->open_ledger, &release, &settings, err);
    if (status == TACET_OK) {
        tacet__beside_note(beside, path);
        status = tacet_noise_open(&job->noise, err);
    }
    return status;
}

const char *usca_job_uncovered(usca_job *job, const char *fields) {
    if (job->new_budget == NULL) {
        return fields;
    }
    (void)snprintf(job->uncovered, sizeof job->uncovered, "%s,what earlier budgets released (new budget: %.300s)", fields,
                   job->new_budget);
    return job->uncovered;
}

void usca_job_clear(usca_job *job) {
    tacet_contextual_learner_free(job->learner);
    tacet_contextual_basis_free(job->basis);
    tacet_contextual_density_free(job->density);
    tacet_noise_close(job->noise);
    tacet_ledger_close(job->open_ledger);
    free(job->action_names);
    free(job->context_names);
    free(job->sample);
}
