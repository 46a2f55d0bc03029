/* SPDX-License-Identifier: Apache-2.0 */
/* repro.c - `tacet-lab repro`: the papers' tables and figures beside ours.
 * Ring: programs. One engine for all: it makes the plan of an entry, runs the cells that no earlier run has left, each
 * over all processors, keeps their results, and prints. The results depend on settings and seed alone. */
#include "commands.h"
#include "repro.h"
#include "trials.h"

#include "core/fail.h"
#include "core/memory.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PAPER_COUNT = 4 };
static const repro_paper *const PAPERS[PAPER_COUNT] = {&REPRO_OUTSOURCED, &REPRO_CENTRAL, &REPRO_LOCAL,
                                                       &REPRO_CONTEXTUAL};

/* --- what the papers' files build with ---------------------------------------------------------------------------- */

size_t repro_trials(const repro_options *o, size_t full, size_t quick) {
    return o->trials > 0 ? o->trials : o->quick ? quick : full;
}

size_t repro_rounds(const repro_options *o, size_t full, size_t quick) {
    return o->rounds > 0 ? o->rounds : o->quick ? quick : full;
}

tacet_status repro_cell_add(size_t *out, repro_plan *plan, const lab_request *request, double cost, tacet_error *err) {
    char key[REPRO_KEY];
    TACET_OR_RETURN(lab_request_key(key, sizeof key, request, err));
    for (size_t i = 0; i < plan->cells; i++) {
        if (strcmp(plan->cell[i].key, key) == 0) {
            *out = i;
            return TACET_OK;
        }
    }
    if (plan->cells == REPRO_CELLS) {
        return tacet__fail(err, TACET_OVERFLOW, "%s has too many cells", plan->entry->name);
    }
    repro_cell *cell = &plan->cell[plan->cells];
    cell->request = *request;
    cell->cost = cost;
    memcpy(cell->key, key, sizeof key);
    *out = plan->cells++;
    return TACET_OK;
}

repro_row *repro_row_add(repro_plan *plan, const char *group, const char *label) {
    plan->rows += plan->rows < REPRO_ROWS ? 1 : 0; /* a full plan is refused once it is made */
    repro_row *row = &plan->row[plan->rows - 1];
    *row = (repro_row){.value = NAN, .less = REPRO_NONE, .unit = 1};
    for (size_t c = 0; c < REPRO_COLUMNS; c++) {
        row->cell[c] = REPRO_NONE;
    }
    (void)snprintf(row->group, sizeof row->group, "%s", group);
    (void)snprintf(row->label, sizeof row->label, "%s", label);
    return row;
}

void repro_column_add(repro_plan *plan, const char *title, const char *guarantee, ...) {
    repro_column *column = &plan->column[plan->columns++];
    va_list list;
    (void)snprintf(column->title, sizeof column->title, "%s", title);
    va_start(list, guarantee);
    (void)vsnprintf(column->guarantee, sizeof column->guarantee, guarantee, list);
    va_end(list);
}

void repro_row_paper(repro_row *row, const char *printed) {
    double value = NAN;
    (void)snprintf(row->paper, sizeof row->paper, "%s", printed);
    row->comparable = cli_number(&value, printed);
    row->value = row->comparable ? value : NAN;
}

void repro_finding(repro_plan *plan, const char *format, ...) {
    if (plan->findings < REPRO_FINDINGS) {
        va_list list;
        va_start(list, format);
        (void)vsnprintf(plan->finding[plan->findings++], sizeof plan->finding[0], format, list);
        va_end(list);
    }
}

const char *repro_path(repro_plan *plan, const char *folder, const char *file) {
    char path[4096];
    (void)snprintf(path, sizeof path, "%.3900s/%s", folder, file);
    if (plan->paths == REPRO_CELLS) {
        return NULL;
    }
    plan->path[plan->paths] = strdup(path);
    return plan->path[plan->paths] != NULL ? plan->path[plan->paths++] : NULL;
}

/* --- results ------------------------------------------------------------------------------------------------------ */

bool repro_result(const repro_plan *plan, size_t row, size_t column, double *mean, double *se, size_t *trials) {
    const repro_row *r = &plan->row[row];
    if (column >= plan->columns || r->cell[column] == REPRO_NONE || !plan->cell[r->cell[column]].done) {
        return false;
    }
    const lab_outcome *a = &plan->cell[r->cell[column]].outcome;
    const lab_outcome *b = r->less != REPRO_NONE ? &plan->cell[r->less].outcome : NULL;
    /* Same seed, same trial, same function: the difference is taken in pairs. */
    const size_t count = b != NULL && b->trials < a->trials ? b->trials : a->trials;
    double *v = TACET__ZALLOC(double, count);
    if (v == NULL) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        v[i] = (a->value[i] - (b != NULL ? b->value[i] : 0)) / r->unit;
    }
    lab_mean_se(mean, se, v, count);
    *trials = count;
    free(v);
    return true;
}

/* Half of the finest digit in the table: "0.0" beside "0.053" was rounded to three digits, too. */
static double half_digit(const repro_plan *plan) {
    double half = 0.5;
    for (size_t i = 0; i < plan->rows; i++) {
        const char *point = plan->row[i].comparable ? strchr(plan->row[i].paper, '.') : NULL;
        half = point != NULL ? fmin(half, 0.5 * pow(10, -(double)strlen(point + 1))) : half;
    }
    return half;
}

const json_t *repro_detail(const repro_plan *plan, size_t row) {
    const size_t cell = plan->row[row].cell[0];
    return cell != REPRO_NONE ? plan->cell[cell].outcome.detail : NULL;
}

static bool other_branch(const repro_plan *plan, size_t row) {
    const char *ran = json_string_value(json_object_get(repro_detail(plan, row), "branch"));
    const char *wanted = plan->row[row].branch;
    return wanted != NULL && (ran == NULL || strcmp(ran, wanted) != 0);
}

int repro_agrees(const repro_plan *plan, size_t row) {
    const repro_row *r = &plan->row[row];
    double mean = 0;
    double se = 0;
    size_t trials = 0;
    if (!r->comparable || other_branch(plan, row) || !repro_result(plan, row, 0, &mean, &se, &trials) || trials < 2) {
        return -1;
    }
    const double both = se * sqrt(1 + (double)trials / (double)plan->paper_trials);
    return fabs(mean - r->value) <= 3 * both + half_digit(plan);
}

size_t repro_agreement(const repro_plan *plan, size_t *scored) {
    size_t agree = 0;
    *scored = 0;
    for (size_t i = 0; i < plan->rows; i++) {
        const int a = repro_agrees(plan, i);
        agree += a == 1;
        *scored += a >= 0;
    }
    return agree;
}

/* Values that no score is worth much for, or that have none. */
static void unscored(repro_plan *plan) {
    enum { MANY = 10 }; /* trials from which on a standard error is worth its name */
    size_t fewest = SIZE_MAX;
    size_t elsewhere = 0;
    for (size_t i = 0; i < plan->rows; i++) {
        double mean = 0;
        double se = 0;
        size_t trials = 0;
        elsewhere += plan->row[i].comparable && other_branch(plan, i);
        if (repro_agrees(plan, i) >= 0 && repro_result(plan, i, 0, &mean, &se, &trials)) {
            fewest = trials < fewest ? trials : fewest;
        }
    }
    if (elsewhere > 0) {
        repro_finding(plan, "%zu of the paper's values are not scored: ours ran in the other branch of Algorithm 1.",
                      elsewhere);
    }
    if (fewest < MANY) {
        repro_finding(plan, "Some of ours are means of %zu trials only: their standard errors are rough.", fewest);
    }
}

static void conclude(repro_plan *plan) {
    unscored(plan);
    if (plan->entry->conclude != NULL) {
        plan->entry->conclude(plan);
    }
}

/* --- running ------------------------------------------------------------------------------------------------------ */

typedef struct work {
    const cli_command *self;
    repro_store *store;
    double done, all; /* of the cost of all cells still to run when the work began */
    double began, spent;
} work;

static double cost_of(const repro_cell *cell) {
    return cell->cost * (double)cell->request.trials;
}

/* Whether the cell is part of what was asked for. */
static bool is_wanted(const repro_plan *plan, const repro_options *o, size_t cell) {
    const repro_row *r = o->row > 0 && o->row <= plan->rows ? &plan->row[o->row - 1] : NULL;
    return o->row == 0 || (r != NULL && (cell == r->less || cell == r->cell[o->column - 1]));
}

/* Finds what is kept, and adds up what is left to run. */
static void find_kept(work *w, repro_plan *const *plans, size_t count, const repro_options *o) {
    for (size_t i = 0; i < count; i++) {
        for (size_t c = 0; c < plans[i]->cells; c++) {
            repro_cell *cell = &plans[i]->cell[c];
            w->all += is_wanted(plans[i], o, c) && !repro_store_find(w->store, cell) ? cost_of(cell) : 0;
        }
    }
}

static tacet_status run_cell(work *w, repro_plan *plan, size_t i, tacet_error *err) {
    repro_cell *cell = &plan->cell[i];
    if (cell->done || repro_store_find(w->store, cell)) {
        return TACET_OK;
    }
    char what[120];
    const double from = w->all > 0 ? fmin(1, w->done / w->all) : 0;
    const double to = w->all > 0 ? fmin(1, (w->done + cost_of(cell)) / w->all) : 1;
    (void)snprintf(what, sizeof what, "%.60s, cell %zu of %zu", plan->entry->name, i + 1, plan->cells);
    lab_progress_within(from, to, what);
    const double begin = cli_seconds();
    TACET_OR_RETURN(lab_run(&cell->outcome, &cell->request, err));
    cell->seconds = cli_seconds() - begin;
    lab_mean_se(&cell->mean, &cell->se, cell->outcome.value, cell->outcome.trials);
    cell->done = true;
    tacet_status status = repro_store_keep(w->store, cell, err);
    w->done += cost_of(cell);
    if (!isatty(STDERR_FILENO)) {
        const double passed = cli_seconds() - w->began;
        cli_say(w->self, "%s: %.1f s, about %.0f s left", what, cell->seconds,
                w->done > 0 ? passed * fmax(0, w->all - w->done) / w->done : 0);
    }
    return status;
}

static tacet_status run_plan(work *w, repro_plan *plan, const repro_options *o, tacet_error *err) {
    tacet_status status = TACET_OK;
    const double begin = cli_seconds();
    for (size_t i = 0; i < plan->cells && status == TACET_OK; i++) {
        status = is_wanted(plan, o, i) ? run_cell(w, plan, i, err) : TACET_OK;
    }
    plan->seconds = cli_seconds() - begin;
    if (status == TACET_OK && o->row == 0) {
        conclude(plan);
    }
    return status;
}

/* One cell as the document has it. */
static tacet_status print_cell(const repro_plan *plan, const repro_options *o, tacet_error *err) {
    double mean = 0;
    double se = 0;
    size_t trials = 0;
    char text[64];
    if (o->row > plan->rows || !repro_result(plan, o->row - 1, o->column - 1, &mean, &se, &trials)) {
        return tacet__fail(err, TACET_INVALID, "%s has nothing in row %zu, column %zu", plan->entry->name, o->row,
                           o->column);
    }
    repro_number(text, sizeof text, mean, se);
    if (!cli_json_wanted()) {
        printf("%s\n", text);
    }
    cli_json_print(json_pack("{ss so so sI}", "cell", text, "mean", cli_real(mean), "se", cli_real(se), "trials",
                             (json_int_t)trials));
    return TACET_OK;
}

static void free_plan(repro_plan *plan) {
    if (plan != NULL) {
        for (size_t i = 0; i < plan->cells; i++) {
            lab_outcome_clear(&plan->cell[i].outcome);
        }
        for (size_t i = 0; i < plan->paths; i++) {
            free(plan->path[i]);
        }
        free(plan);
    }
}

static tacet_status make_plan(repro_plan **out, const repro_entry *entry, const repro_options *o, tacet_error *err) {
    *out = TACET__ZALLOC(repro_plan, 1);
    if (*out == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %s", entry->name);
    }
    (*out)->entry = entry;
    tacet_status status = entry->build(*out, o, err);
    if (status == TACET_OK && (*out)->rows == REPRO_ROWS) {
        status = tacet__fail(err, TACET_OVERFLOW, "%s has too many rows", entry->name);
    }
    if (status != TACET_OK) {
        free_plan(*out);
        *out = NULL;
    }
    return status;
}

/* --- the command -------------------------------------------------------------------------------------------------- */

static int list(void) {
    json_t *all = json_array(), *papers = json_array();
    for (size_t p = 0; p < PAPER_COUNT; p++) {
        json_t *own = json_array();
        for (size_t i = 0; i < PAPERS[p]->count; i++) {
            const repro_entry *e = &PAPERS[p]->entries[i];
            json_t *one = cli_object("name title paper needs_data", J(e->name), J(e->title), J(PAPERS[p]->title),
                                     JB(e->needs_data));
            (void)json_array_append(all, one);
            (void)json_array_append_new(own, one);
        }
        (void)json_array_append_new(papers, cli_object("title entries", J(PAPERS[p]->title), J(own)));
    }
    static const char *const BESIDE[][2] = {{"bounds", "each theorem in numbers, beside what is measured (--trials N)"},
                                            {"items", "what of the papers is where, and what differs"}};
    for (size_t i = 0; i < sizeof BESIDE / sizeof BESIDE[0]; i++) {
        (void)json_array_append_new(all, cli_object("name title paper needs_data", J(BESIDE[i][0]), J(BESIDE[i][1]),
                                                    J((json_t *)NULL), JB(false)));
    }
    return cli_tell(cli_object("list _papers _beside", J(all), J(papers), J(json_deep_copy(all))),
                    "{*_papers:\n|{title}\n{*entries|  {name:-22} {title}{?needs_data| (needs --datasets)}\n}}"
                    "\nAll four papers\n{*_beside|{!paper|  {name:-22} {title}\n}}");
}

static size_t wanted(const repro_entry **out, const char *name, const repro_options *o, const cli_command *self) {
    size_t count = 0;
    for (size_t p = 0; p < PAPER_COUNT; p++) {
        for (size_t i = 0; i < PAPERS[p]->count; i++) {
            const repro_entry *e = &PAPERS[p]->entries[i];
            if (strcmp(name, "all") != 0 && strcmp(name, e->name) != 0) {
                continue;
            }
            if (strcmp(name, "all") == 0 && e->needs_data && o->data == NULL) {
                cli_say(self, "%s is left out: it needs --datasets", e->name);
                continue;
            }
            out[count++] = e;
        }
    }
    return count;
}

static void tell_kept(const cli_command *self, repro_plan *const *plans, size_t count) {
    size_t kept = 0;
    size_t all = 0;
    for (size_t i = 0; i < count; i++) {
        for (size_t c = 0; c < plans[i]->cells; c++) {
            all++;
            kept += plans[i]->cell[c].kept;
        }
    }
    if (kept > 0) {
        cli_say(self, "%zu of %zu cells were there already", kept, all);
    }
}

typedef struct outputs {
    const char *markdown, *folder;
    char command[512];
} outputs;

/* The command as it was typed, for the document: without paths of outputs. */
static void remember(outputs *out, int argc, char **argv) {
    size_t at = (size_t)snprintf(out->command, sizeof out->command, "tacet-lab repro");
    for (int i = 1; i < argc && at < sizeof out->command; i++) {
        if (strcmp(argv[i], "--commit") == 0) { /* which is said beside it */
            i++;
            continue;
        }
        at += (size_t)snprintf(out->command + at, sizeof out->command - at, " %s", argv[i]);
    }
}

static tacet_status finish(repro_plan *const *plans, size_t count, const repro_options *o, const outputs *out,
                           tacet_error *err) {
    json_t *results = json_array();
    for (size_t i = 0; i < count; i++) {
        if (!cli_json_wanted()) {
            repro_print(plans[i]);
        }
        (void)json_array_append_new(results, repro_json(plans[i], o));
    }
    if (count == 1) {
        cli_json_print(json_incref(json_array_get(results, 0)));
        json_decref(results);
    } else {
        cli_json_print(json_pack("{so}", "results", results));
    }
    return out->markdown != NULL ? repro_page(out->markdown, PAPERS, PAPER_COUNT, plans, count, o, out->command, err)
                                 : TACET_OK;
}

static int run_all(const cli_command *self, const repro_entry **entries, size_t count, const repro_options *o,
                   const outputs *out) {
    tacet_error err;
    tacet_error_clear(&err);
    work w = {.self = self, .began = cli_seconds()};
    repro_plan **plans = TACET__ZALLOC(repro_plan *, count);
    tacet_status status = plans == NULL ? tacet__fail(&err, TACET_NO_MEMORY, "out of memory")
                                        : repro_store_open(&w.store, out->folder, &err);
    for (size_t i = 0; i < count && status == TACET_OK; i++) {
        status = make_plan(&plans[i], entries[i], o, &err);
    }
    if (status == TACET_OK) {
        find_kept(&w, plans, count, o);
    }
    for (size_t i = 0; i < count && status == TACET_OK; i++) {
        status = run_plan(&w, plans[i], o, &err);
    }
    lab_progress_within(0, 1, NULL);
    cli_progress_end();
    if (status == TACET_OK) {
        tell_kept(self, plans, count);
        status = o->row > 0 ? print_cell(plans[0], o, &err) : finish(plans, count, o, out, &err);
    }
    for (size_t i = 0; plans != NULL && i < count; i++) {
        free_plan(plans[i]);
    }
    free(plans);
    repro_store_close(w.store);
    return status == TACET_OK ? CLI_EXIT_OK : cli_fail(self, &err);
}

int lab_repro(int argc, char **argv, const cli_command *self) {
    repro_options o = {.seed = 1};
    outputs out = {0};
    cli_wholes cell = {0};
    const cli_option options[] = {
        CLI_OPT("quick", &o.quick, NULL, "Fewer trials and rounds: about two minutes each on one core."),
        {"trials", CLI_COUNT, &o.trials, "N", "Of every cell. Default: the entry's own.", false},
        CLI_OPT("seed", &o.seed, "S", "Of functions, users and noise. Default 1."),
        CLI_OPT("datasets", &o.data, "DIR",
                "Folder with loan.csv, loan_extra.csv, property_locations.csv, light_train.csv, light_test.csv, "
                "stocks.csv."),
        CLI_MORE,
        {"rounds", CLI_COUNT, &o.rounds, "T",
         "Of every bandit (central, local), instead of the paper's: for a first look; values then do not compare.",
         false},
        CLI_OPT("cell", &cell, "ROW,COLUMN",
                "This cell of one table alone, counted from 1; column 1 is the first after the paper's."),
        CLI_HEADING("Output"),
        CLI_OPT("out", &out.folder, "DIR",
                "Keeps the results of finished cells in DIR/results.jsonl; the next run of the same build goes on from "
                "them."),
        CLI_MORE,
        CLI_OPT("markdown", &out.markdown, "FILE", "A document with all of it."),
        CLI_OPT("commit", &o.commit, "ID", "What the document says it was made from."),
        {0},
    };
    const char *name = NULL;
    size_t names = 1;
    int code = CLI_EXIT_OK;
    remember(&out, argc, argv);
    if (!cli_parse(self, options, argc, argv, &name, &names, &code)) {
        return code;
    }
    if (names == 0) {
        return cli_usage(self, "which one? 'tacet-lab repro list' names them");
    }
    o.row = cell.count == 2 ? cell.at[0] : 0;
    o.column = cell.count == 2 ? cell.at[1] : 0;
    if (cell.count > 0 && (o.row == 0 || o.column == 0 || o.column > REPRO_COLUMNS || strcmp(name, "all") == 0)) {
        return cli_usage(self, "--cell ROW,COLUMN names one cell of one table");
    }
    if (strcmp(name, "list") == 0) {
        return list();
    }
    if (strcmp(name, "items") == 0) {
        cli_json_print(json_pack("{so}", "items", repro_items(cli_json_wanted() ? NULL : stdout, false)));
        return CLI_EXIT_OK;
    }
    if (strcmp(name, "bounds") == 0) {
        tacet_error err = {0};
        json_t *rows = NULL;
        const tacet_status status = repro_bounds(cli_json_wanted() ? NULL : stdout, &rows, o.trials, &err);
        cli_json_print(json_pack("{so}", "bounds", rows));
        return status == TACET_OK ? CLI_EXIT_OK : cli_fail(self, &err);
    }
    size_t most = 0;
    for (size_t p = 0; p < PAPER_COUNT; p++) {
        most += PAPERS[p]->count;
    }
    const repro_entry **entries = TACET__ZALLOC(const repro_entry *, most);
    const size_t count = entries != NULL ? wanted(entries, name, &o, self) : 0;
    if (count == 0) {
        code = cli_usage(self, "no table or figure '%s'; 'tacet-lab repro list' names them", name);
    } else if (count == 1 && entries[0]->needs_data && o.data == NULL) {
        code = cli_usage(self, "%s needs --datasets DIR", name);
    } else {
        code = run_all(self, entries, count, &o, &out);
    }
    free(entries);
    return code;
}
