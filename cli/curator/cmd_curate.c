/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_curate.c - tacet curate.
 * Ring: trusted. */
#include "commands.h"

#include "common/space.h"

#include <tacet/outsourced/trusted/curate.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct arguments {
    cli_space space;
    const char *mechanism, *target;
    cli_span output_range;
    double eps_output;
    bool values_unprotected;
    bool dry_run, yes, rehearsal;
} arguments;

static int columns_from(tacet_space *space, const arguments *a, const cli_command *self) {
    if (a->space.file == NULL && a->space.options.inputs == NULL) {
        return cli_usage(self, "--space FILE is required, or --inputs A,B with --bounds and the like");
    }
    const int code = cli_space_read(space, &a->space, self);
    if (code != CLI_EXIT_OK) {
        return code;
    }
    size_t without = 0;
    for (size_t i = 0; i < space->count; i++) {
        without += space->columns[i].unit == 0 ? 1 : 0;
    }
    return without == 0 ? CLI_EXIT_OK
                        : cli_usage(self, "every column needs a unit, --unit or in the space: what distance 1 means");
}

/* Before the budget is spent: rows whose value is missing will be asked for in vain. */
static int look_at_target(const char *data, const char *target, const cli_command *self) {
    tacet_space_column column;
    tacet_space_cells cells = {0};
    tacet_error err = {0};
    size_t rows = 0;
    tacet_space_column_init(&column);
    if (strlen(target) >= sizeof column.name) {
        return cli_usage(self, "--target: the name is too long");
    }
    memcpy(column.name, target, strlen(target) + 1);
    column.lo = -1e300;
    column.hi = 1e300;
    column.missing = TACET_SPACE_FLAG;
    const tacet_space space = {&column, 1};
    if (tacet_space_table(&cells, &rows, &space, data, &err) != TACET_OK) {
        return cli_fail(self, &err);
    }
    if (cells.unreadable > 0) {
        cli_say(self, "--target %s: %zu cells are neither empty nor a number, the first in line %llu", target,
                cells.unreadable, (unsigned long long)cells.first_line);
        return CLI_EXIT_FAILED;
    }
    if (cells.missing > 0) {
        cli_say(self,
                "%s: %zu of %zu cells of '%s' are empty; asked for one of them, the curator answers that it cannot be "
                "measured",
                TACET_SPACE_STAMP, cells.missing, rows, target);
    }
    return CLI_EXIT_OK;
}

/* Whether measured values leave as they are is said beforehand, so that nobody finds out afterwards: a script is
 * refused until it says so, a person is asked. A rehearsal has no persons. */
static int ask_about_values(const arguments *a, const cli_command *self) {
    char answer[16] = "";
    if (a->values_unprotected || a->dry_run || a->rehearsal) {
        return CLI_EXIT_OK;
    }
    if (isatty(STDIN_FILENO) && isatty(STDERR_FILENO)) {
        cli_say(self, "measured values will not be protected: of every row that is asked about, whoever holds the "
                      "release learns the person's value as it is (--eps-output E randomises it). Go on? [y/N]");
        if (fgets(answer, sizeof answer, stdin) != NULL && (answer[0] == 'y' || answer[0] == 'Y')) {
            return CLI_EXIT_OK;
        }
    }
    return cli_usage(self, "nothing was released: say what becomes of measured values. Give --eps-output E, or "
                           "--values-unprotected: whoever asks about a row then learns the person's value as it is");
}

static int outputs_from(tacet_curate_settings *s, const arguments *a, const cli_command *self) {
    tacet_error err = {0};
    if (a->eps_output == 0) {
        return ask_about_values(a, self);
    }
    if (a->values_unprotected) {
        return cli_usage(self, "--eps-output protects measured values, --values-unprotected says that nothing does");
    }
    if (!a->output_range.given) {
        return cli_usage(self, "--eps-output needs --range LO:HI, the public range of measured values");
    }
    if (tacet_ldp_init(&s->outputs, TACET_LDP_HYBRID, a->eps_output, a->output_range.lo, a->output_range.hi, &err) !=
        TACET_OK) {
        return cli_usage(self, "--eps-output: %s", err.message);
    }
    s->outputs_private = true;
    return CLI_EXIT_OK;
}

/* The mechanism, and the delta that goes with it: `delta` is what was given, NAN if nothing was. */
static int mechanism_from(tacet_curate_settings *s, const arguments *a, double delta, const cli_command *self) {
    tacet_error err = {0};
    if (tacet_curate_parse(&s->mechanism, a->mechanism, &err) != TACET_OK) {
        return cli_usage(self, "--mechanism: %s", err.message);
    }
    const tacet_law *law = tacet_curate_law(s->mechanism);
    if (s->mechanism == TACET_CURATE_AUTO) {
        s->delta = isnan(delta) ? 0 : delta;
        return CLI_EXIT_OK;
    }
    if (law == NULL || !law->pure) {
        s->delta = isnan(delta) ? s->delta : delta;
        return CLI_EXIT_OK;
    }
    s->delta = 0;
    if (!isnan(delta) && delta != 0) {
        return cli_usage(self, "--delta: the %s mechanism has pure eps, so there is none to give (it is 0)",
                         a->mechanism);
    }
    return CLI_EXIT_OK;
}

static void progress(double fraction, void *user) {
    (void)user;
    cli_progress(fraction, "drawing");
}

/* What the warnings need besides the plan of a release. */
typedef struct warning {
    const cli_command *self;
    bool yes; /* --yes, or a dry run: nobody is asked */
} warning;

/* What speaks against the release as a whole; "" where nothing does. */
static void judge(char *why, size_t size, const tacet_manifest *m) {
    size_t numbers = 0, drowned = 0;
    why[0] = '\0';
    for (size_t i = 0; i < m->space.count && m->dims >= m->column_count; i++) {
        const double width = tacet_space_width(&m->space.columns[i]); /* in units; 0 of levels */
        numbers += width > 0;
        drowned += width > 0 && m->sigma > 3 * width; /* where values deviate by 0.29 of it at most */
    }
    if (m->is_private && m->sigma < 0.01) {
        (void)snprintf(
            why, size,
            "the noise is below a hundredth of a unit in every column: the release is all but the table. Is eps far "
            "too large?");
    } else if (m->is_private && numbers > 0 && drowned == numbers) {
        (void)snprintf(why, size,
                       "the noise is more than three times as wide as the bounds in every column: nothing will be "
                       "found under it. Smaller "
                       "units, fewer columns or a larger eps mean less; 'tacet plan' tells how much");
    }
}

static void say_warning(const char *words, void *user) {
    cli_say(user, "warning: %s", words);
}

static bool warn(const tacet_manifest *m, void *user) {
    const warning *w = user;
    char why[300];
    tacet_manifest_warn(m, say_warning, (void *)(uintptr_t)w->self);
    judge(why, sizeof why, m);
    return (!m->is_private || cli_sure_of_eps(w->self, w->yes, m->eps)) &&
           (why[0] == '\0' || cli_sure(w->self, w->yes, why));
}

static const char WORDS[] =
    "{folder}/release.csv: {rows} rows, {dims} coordinates each\n"
    "{?_outputs|measured values: each randomised with eps {_outputs:^6}, once for a record, which the ledger adds to "
    "what follows\n}{!_outputs|measured values: NOT protected; who asks about a row learns its person's value as it "
    "is\n}{protects}\n"
    "{?sigma|noise: standard deviation {sigma:_6} per coordinate in scaled units, on a grid of {grid:_6}\n}"
    "noise in the columns' own units: {noise}\nnot protected: {uncovered}\n"
    "{?dry_run|a dry run: nothing was released, and nothing charged to {ledger}\n}"
    "{!dry_run|ledger entry {ledger_entry} of {ledger}\n}"
    "{?considered|{mechanism} has a standard deviation of {sigma:.3g}; {*considered:, |{@} would have had {.:.3g}}\n}";

static int report(const tacet_curate_settings *s, const tacet_manifest *m, bool dry_run, double seconds,
                  const cli_command *self) {
    char ledger[4096] = "";
    const double any_change = m->is_private ? m->eps_at[TACET_MANIFEST_DISTANCES - 1] : (double)NAN;
    char *noise = tacet_manifest_noise(m), *uncovered = tacet_manifest_uncovered(m),
         *protects = tacet_manifest_protects(m);
    json_t *others = json_object();
    for (size_t i = 0; i < m->other_count; i++) {
        cli_add(others, m->others[i].mechanism, J(m->others[i].sigma));
    }
    (void)tacet_curate_ledger(ledger, sizeof ledger, s, NULL);
    if (!m->is_private) {
        cli_say(self, "%s%s", TACET_MANIFEST_STAMP, s->seeded ? ": seeded noise, for tests only" : "");
    }
    json_t *object = cli_object(
        "folder mechanism private eps delta eps_any_change sigma grid rows dims protects ledger pure_eps? eps_at noise "
        "uncovered considered seconds",
        J(s->folder), J(m->mechanism), J(m->is_private), J(m->eps), J(m->delta), J(any_change), J(m->sigma), J(m->grid),
        J(m->rows), J(m->dims), J(protects), J(ledger), J(tacet_manifest_pure_eps(m)),
        J(cli_object("1 2 3 any", J(m->eps_at[0]), J(m->eps_at[1]), J(m->eps_at[2]), J(m->eps_at[3]))),
        J(noise != NULL ? noise : ""), J(uncovered != NULL ? uncovered : ""), J(others), J(seconds));
    if (m->person_rows > 0) {
        cli_add(object, "person",
                J(cli_object("column rows eps delta", J(m->person), J(m->person_rows), J(m->person_eps),
                             J(m->person_delta))));
    }
    if (m->scale > 0) {
        cli_add(object, "scale", J(m->scale));
    }
    if (dry_run) {
        cli_add(object, "dry_run", JB(true));
    } else {
        cli_add(object, "ledger_entry ledger_hash", J(m->entry), J(m->entry_hash));
    }
    cli_add(object, "_outputs", J(m->outputs_private ? m->outputs.eps : 0));
    free(protects);
    free(noise);
    free(uncovered);
    return cli_tell(object, WORDS);
}

static int release(const tacet_curate_settings *s, const tacet_space *space, bool dry_run, const cli_command *self) {
    tacet_manifest manifest;
    tacet_error err = {0};
    const double start = cli_seconds();
    const tacet_status status =
        dry_run ? tacet_curate_rehearse(&manifest, s, &err) : tacet_curate_run(&manifest, s, &err);
    cli_progress_end();
    if (status == TACET_PARSE && s->table == NULL && strchr(s->data, ',') == NULL &&
        cli_cells_told(s->data, space, NULL, self)) {
        return CLI_EXIT_FAILED;
    }
    if (status != TACET_OK) {
        return cli_refuse(self, &err);
    }
    const int code = report(s, &manifest, dry_run, cli_seconds() - start, self);
    tacet_manifest_clear(&manifest);
    return code;
}

static int rehearse_with(tacet_curate_settings *s, arguments *a, const cli_command *self) {
    if (s->data != NULL || s->table != NULL || s->ledger != NULL || s->new_budget != NULL || s->seeded ||
        a->space.file != NULL || a->space.options.inputs != NULL) {
        return cli_usage(self, "--rehearsal brings its own table, columns and ledger: it takes none of yours");
    }
    a->space.options = (tacet_space_options){
        .inputs = "age,bmi,dose", .bounds = "age=18:90,bmi=16:46,dose=5:200", .unit = "age=5,bmi=2,dose=10"};
    return rehearsal_begin(s->folder, &s->data, self);
}

/* Before the options are read: what is required depends on it. */
static bool said(int argc, char **argv, const char *word) {
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], word) == 0) {
            return true;
        }
    }
    return false;
}

int cmd_curate(int argc, char **argv, const cli_command *self) {
    double delta = NAN;
    arguments a = {.mechanism = "auto"};
    tacet_curate_settings s;
    tacet_space space = {0};
    const uint64_t no_seed = UINT64_MAX;
    tacet_curate_defaults(&s);
    s.noise_seed = no_seed;
    const cli_option options[] = {
        {"data", CLI_LIST, &s.data, "FILE,…",
         "the records: a CSV with a header; several files are one table; or, with --table, a database: postgresql://…",
         !said(argc, argv, "--rehearsal")},
        CLI_SPACE_FILE(a.space),
        CLI_SPACE_INPUTS(a.space),
        CLI_SPACE_SHORT(a.space),
        CLI_SPACE_UNIT(a.space),
        CLI_NEED("eps", &s.eps, "E", "privacy of the release"),
        CLI_NEED("out", &s.folder, "DIR", "receives release.csv, manifest.json, and a link to the ledger"),
        CLI_OPT("queries", &s.queries, "N", "how many measured values may be asked for (default 100)"),
        CLI_OPT("dry-run", &a.dry_run, NULL,
                "check table and settings and tell the noise; nothing is released, written or charged"),
        CLI_OPT("rehearsal", &a.rehearsal, NULL,
                "made-up patients in place of --data; try it as often as you like. Real noise, and a ledger that the "
                "next rehearsal throws away; what is made up lies in DIR.rehearsal"),
        CLI_MORE,
        CLI_OPT("delta", &delta, "D",
                "a probability of failing that you allow; without it auto takes pure eps (gaussian: default 1e-5)"),
        CLI_OPT("ledger", &s.ledger, "FILE",
                "the ledger (default: the --data FILE with .ledger.db added, one for all releases of the table)"),
        CLI_YES(&a.yes),
        CLI_HEADING("Measured values:"),
        CLI_OPT("target", &a.target, "COLUMN",
                "the column that 'tacet curator serve' will answer from; tells you, and nobody else, how many of its "
                "cells are empty"),
        CLI_OPT("eps-output", &a.eps_output, "E", "randomise each measured value with this eps (default: not)"),
        CLI_OPT("values-unprotected", &a.values_unprotected, NULL,
                "measured values leave as they are; this or --eps-output is needed (on a terminal you are asked)"),
        CLI_MORE,
        CLI_OPT("range", &a.output_range, "LO:HI", "public range of measured values; clipped"),
        CLI_OPT("table", &s.table, "NAME",
                "the table or view of that database, NAME or SCHEMA.NAME; read in one snapshot, and needs --ledger"),
        CLI_OPT("order", &s.order, "COLUMN",
                "numbers its records by this column, so that they can be found again (default: as they are stored)"),
        CLI_OPT("person", &s.person, "COLUMN",
                "whose row it is: the claim is then about persons, and this column never leaves; with "
                "--rows-per-person"),
        CLI_OPT("rows-per-person", &s.rows_per_person, "K",
                "releases the first K rows of each person and charges K times; the others are not used"),
        CLI_OPT("budget-eps", &s.budget_eps, "E",
                "budget of a new ledger (default: what this release and its outputs need)"),
        CLI_OPT("budget-delta", &s.budget_delta, "D", "likewise (default: --delta)"),
        CLI_OPT("ticket", &s.ticket, "NAME", "names this release in the ledger (default release)"),
        CLI_OPT("new-budget", &s.new_budget, "REASON",
                "begin a new budget although these rows were released before; the reason stands in the manifest"),
        CLI_HEADING("Mechanism:"),
        CLI_MORE,
        CLI_OPT("mechanism", &a.mechanism, "NAME",
                "auto (default): the least noise; gaussian; laplace: pure eps; l2: the noise of laplace with a delta; "
                "published: NOT differentially private"),
        CLI_OPT("dims", &s.dims, "N", "coordinates released by published"),
        CLI_OPT("i-know-this-is-not-private", &s.accept_not_private, NULL, "allow the published mechanism"),
        CLI_OPT("noise-seed", &s.noise_seed, "S", "for tests: reproducible noise, stamped not private"),
        {0},
    };
    int code = 0;
    CLI_PARSE_OR_RETURN(options, NULL, NULL);
    s.seeded = s.noise_seed != no_seed;
    bool few = false;
    s.few = &few;
    warning words = {.self = self, .yes = a.yes || a.dry_run};
    s.before = warn;
    s.user = &words;
    s.progress = progress;
    code = a.rehearsal ? rehearse_with(&s, &a, self) : CLI_EXIT_OK;
    code = code != CLI_EXIT_OK ? code : mechanism_from(&s, &a, delta, self);
    code = code != CLI_EXIT_OK ? code : columns_from(&space, &a, self);
    code = code != CLI_EXIT_OK ? code : outputs_from(&s, &a, self);
    if (code == CLI_EXIT_OK && s.table != NULL && tacet_curate_url_has_password(s.data)) {
        cli_say(self, "warning: everybody on this machine can read the password in --data; ~/.pgpass keeps it");
    }
    if (code == CLI_EXIT_OK && a.target != NULL && (s.table != NULL || strchr(s.data, ',') != NULL)) {
        code = cli_usage(self, "--target looks at one CSV file");
    }
    code = code == CLI_EXIT_OK && a.target != NULL ? look_at_target(s.data, a.target, self) : code;
    if (code == CLI_EXIT_OK) {
        s.space = &space;
        code = release(&s, &space, a.dry_run, self);
    }
    if (code == CLI_EXIT_OK && few) {
        cli_say(self, CLI_FEW_ROWS);
    }
    tacet_space_clear(&space);
    return code;
}
