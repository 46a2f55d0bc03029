/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_study_create.c - tacet study create: a definition from a file or from options, checked, stored, charged.
 * Ring: trusted. */
#include "server/commands.h"

#include "common/space.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/io/csv.h>
#include <tacet/io/csvfile.h>
#include <tacet/io/file.h>
#include <tacet/service/trusted/study.h>

enum { DEFINITION_BYTES = 4 << 20 };

typedef struct request {
    cli_space space;
    const char *definition, *name, *description, *trust, *policy, *direction;
    const char *points, *columns, *bounds, *context, *kernel, *lengthscale, *groups, *reward;
    const char *randomizer, *parameters;
    const char *levels, *learner, *earlier, *from;
    double eps, delta, bound;
    size_t rounds, learn, ticket_seconds, person_rounds, candidates;
} request;

/* "0:1,10:60" into lower and upper bounds. */
static json_t *bounds_json(const char *text) {
    char **list = NULL;
    size_t count = 0;
    if (!cli_split(&list, &count, text)) {
        return NULL;
    }
    json_t *lower = json_array();
    json_t *upper = json_array();
    bool good = true;
    for (size_t i = 0; i < count && good; i++) {
        double lo = 0;
        double hi = 0;
        good = cli_pair(&lo, &hi, list[i]) && json_array_append_new(lower, json_real(lo)) == 0 &&
               json_array_append_new(upper, json_real(hi)) == 0;
    }
    free(list);
    json_t *domain = json_pack("{so so}", "lower", lower, "upper", upper);
    if (!good) {
        json_decref(domain);
        return NULL;
    }
    return domain;
}

static json_t *numbers_json(const char *text) {
    char **list = NULL;
    size_t count = 0;
    if (!cli_split(&list, &count, text)) {
        return NULL;
    }
    json_t *array = json_array();
    for (size_t i = 0; i < count && array != NULL; i++) {
        double x = 0;
        if (!cli_number(&x, list[i]) || json_array_append_new(array, json_real(x)) != 0) {
            json_decref(array);
            array = NULL;
        }
    }
    free(list);
    return array;
}

static json_t *levels_json(const char *text) {
    json_t *numbers = numbers_json(text);
    json_t *array = json_array();
    for (size_t i = 0; i < json_array_size(numbers); i++) {
        const double x = json_number_value(json_array_get(numbers, i));
        if (!(x >= 0 && x <= 1e6 && x == floor(x))) {
            json_decref(array);
            array = NULL;
            break;
        }
        (void)json_array_append_new(array, json_integer((json_int_t)x));
    }
    if (numbers == NULL) {
        json_decref(array);
        array = NULL;
    }
    json_decref(numbers);
    return array;
}

/* The columns of a CSV as points. */
static tacet_status points_json(json_t **out, const request *r, tacet_error *err) {
    char **names = NULL;
    size_t count = 0;

    tacet_csv_table table = {0};
    *out = NULL;
    if (r->columns == NULL || !cli_split(&names, &count, r->columns)) {
        return tacet_error_set(err, TACET_INVALID, "--points needs --columns A,B");
    }

    const tacet_csv_wanted wanted = {.columns = (const char *const *)names, .d = count, .least_records = 2};
    const tacet_status status = tacet_csv_load_file(&table, r->points, &wanted, err);
    json_t *points = json_array();
    for (size_t i = 0; status == TACET_OK && i < table.n; i++) {
        json_t *point = json_array();
        for (size_t c = 0; c < table.d; c++) {
            (void)json_array_append_new(point, json_real(table.values[i * table.d + c]));
        }
        (void)json_array_append_new(points, point);
    }
    tacet_csv_table_clear(&table);

    free(names);
    *out = json_pack("{so}", "points", points);
    if (status != TACET_OK) {
        json_decref(*out);
        *out = NULL;
    }
    return status;
}

static void set_text(json_t *object, const char *field, const char *text) {
    if (text != NULL) {
        (void)json_object_set_new(object, field, json_string(text));
    }
}

static json_t *space_json(const tacet_space *space) {
    char *text = NULL;
    json_t *object = NULL;
    if (tacet_space_encode(space, &text, NULL) == TACET_OK) {
        object = json_loads(text, 0, NULL);
    }
    free(text);
    return object;
}

/* The definition that the options say; the checks are those of any definition. */
static tacet_status from_options(char **out, const request *r, const tacet_space *space, tacet_error *err) {
    double lo = 0;
    double hi = 1;
    json_t *domain = NULL;
    tacet_status status = TACET_OK;
    if (r->reward != NULL && !cli_pair(&lo, &hi, r->reward)) {
        return tacet_error_set(err, TACET_INVALID, "--reward is LO:HI, two numbers");
    }
    const bool typed = space != NULL;
    if ((r->points != NULL) + (r->bounds != NULL && !typed) + typed != 1) {
        return tacet_error_set(err, TACET_INVALID, "the domain is either a --space, or --points, or --bounds");
    }
    json_t *scale = r->lengthscale != NULL ? numbers_json(r->lengthscale) : NULL;
    if (scale == NULL && (r->lengthscale != NULL || !typed)) {
        return tacet_error_set(err, TACET_INVALID,
                               "--lengthscale needs one number, or one for each coordinate: L or L1,L2");
    }
    if (typed) {
        domain = json_pack("{so}", "space", space_json(space));
        if (domain != NULL && r->candidates > 0) {
            (void)json_object_set_new(domain, "candidates", json_integer((json_int_t)r->candidates));
        }
    } else if (r->points != NULL) {
        status = points_json(&domain, r, err);
    } else if ((domain = bounds_json(r->bounds)) == NULL) {
        status = tacet_error_set(err, TACET_INVALID, "--bounds is LO:HI,LO:HI,… one pair for each coordinate");
    }
    if (status == TACET_OK && r->levels != NULL) {
        json_t *levels = levels_json(r->levels);
        status = levels != NULL ? TACET_OK
                                : tacet_error_set(err, TACET_INVALID, "--level-counts is whole numbers with commas");
        (void)json_object_set_new(domain, "levels", levels);
    }
    json_t *context = status == TACET_OK && r->context != NULL ? bounds_json(r->context) : NULL;
    if (status == TACET_OK && r->context != NULL && context == NULL) {
        status = tacet_error_set(err, TACET_INVALID, "--context is LO:HI,LO:HI,… one pair for each coordinate");
    }
    if (status != TACET_OK) {
        json_decref(scale);
        json_decref(domain);
        return status;
    }
    if (context != NULL) {
        (void)json_object_set_new(domain, "context", context);
    }
    json_t *prior = json_pack("{s[ff]}", "reward", lo, hi);
    if (scale != NULL) {
        (void)json_object_set_new(prior, "lengthscale", scale);
    }
    if (r->groups != NULL) { /* the definition's reader says what is wrong with them */
        json_t *groups = numbers_json(r->groups);
        (void)json_object_set_new(prior, "groups", groups != NULL ? groups : json_string(r->groups));
    }
    json_t *budget = json_pack("{sf}", "eps", r->eps);
    json_t *options = json_object();
    set_text(prior, "kernel", r->kernel);
    set_text(options, "randomizer", r->randomizer);
    set_text(options, "parameters", r->parameters);
    set_text(options, "learner", r->learner);
    if (!isnan(r->bound)) {
        (void)json_object_set_new(prior, "bound", json_real(r->bound));
    }
    if (r->learn > 0) {
        (void)json_object_set_new(options, "learn", json_integer((json_int_t)r->learn));
    }
    (void)json_object_set_new(options, "ticket_seconds", json_integer((json_int_t)r->ticket_seconds));
    (void)json_object_set_new(options, "person_rounds", json_integer((json_int_t)r->person_rounds));
    if (!isnan(r->delta)) {
        (void)json_object_set_new(budget, "delta", json_real(r->delta));
    }
    json_t *root = json_pack("{so so so so sI}", "domain", domain, "prior", prior, "budget", budget, "options", options,
                             "rounds", (json_int_t)r->rounds);
    set_text(root, "name", r->name);
    set_text(root, "description", r->description);
    set_text(root, "trust", r->trust);
    set_text(root, "policy", r->policy);
    set_text(root, "direction", r->direction);
    *out = root != NULL ? json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(root);
    return *out != NULL ? TACET_OK : tacet_error_set(err, TACET_INVALID, "a text among the options is not UTF-8");
}

static tacet_status add_known(char **text, const request *r, tacet_error *err) {
    char **columns = NULL;
    tacet_study_known known = {.values = r->earlier, .model = r->from};
    if (r->columns != NULL && cli_split(&columns, &known.column_count, r->columns)) {
        known.columns = (const char *const *)columns;
    }
    const tacet_status status = tacet_study_begin_with(text, &known, err);
    free(columns);
    return status;
}

static int create(const cli_command *self, const request *r, const tacet_space *space, const tacet_store_place *place) {
    tacet_error err = {0};
    char *text = NULL;
    char *canonical = NULL;
    tacet_status status = r->definition != NULL ? tacet_file_read(&text, NULL, r->definition, DEFINITION_BYTES, &err)
                                                : from_options(&text, r, space, &err);
    if (status == TACET_OK && (r->earlier != NULL || r->from != NULL)) {
        status = add_known(&text, r, &err);
    }
    status =
        status != TACET_OK ? status : tacet_study_add(&canonical, place, text, text != NULL ? strlen(text) : 0, &err);
    free(text);
    if (status != TACET_OK) {
        return status == TACET_INVALID || status == TACET_PARSE ? cli_usage(self, "%s", err.message)
                                                                : cli_fail(self, &err);
    }
    json_t *definition = json_loads(canonical, 0, NULL);
    if (!cli_json_wanted()) {
        printf("study %s: created\n", json_string_value(json_object_get(definition, "name")));
    }
    const char *parameters = json_string_value(json_object_get(json_object_get(definition, "options"), "parameters"));
    if (parameters != NULL && (strcmp(parameters, "tight") == 0 || strcmp(parameters, "literal") == 0)) {
        cli_say(self,
                "the width's proof is for rewards within the stated range; where rewards have heavy tails (Student's t "
                "with 3 degrees of freedom, say) devices clip them, and the bound is for the clipped mean");
    }
    free(canonical);
    cli_json_print(json_pack("{so}", "created", definition));
    return CLI_EXIT_OK;
}

int cmd_study_create(int argc, char **argv, const cli_command *self) {
    request r = {.eps = (double)NAN,
                 .delta = (double)NAN,
                 .bound = (double)NAN,
                 .rounds = 10000,
                 .ticket_seconds = 86400,
                 .person_rounds = 1};
    tacet_store_place place = {0};
    const cli_option options[] = {
        STORE_OPTIONS(place),
        CLI_OPT("definition", &r.definition, "FILE", "The study as JSON (docs/API.md); instead of all below."),
        CLI_HEADING("The study, when there is no file:"),
        CLI_OPT("name", &r.name, "NAME", "1 to 48 of a-z 0-9 _ -, beginning with a letter."),
        CLI_OPT("description", &r.description, "TEXT", "For people."),
        CLI_OPT("trust", &r.trust, "MODEL", "local: devices randomise their rewards. central: the server sees them."),
        CLI_OPT("policy", &r.policy, "NAME",
                "local: ucb (default), tgp, ata, moma; statistics: decision sets, too, stay on the devices. central: "
                "central (default), fixed, contextual."),
        CLI_OPT("direction", &r.direction, "WAY", "maximize (default) or minimize."),
        CLI_OPT("eps", &r.eps, "E", "local: of each report. central: of the whole study, for one round."),
        CLI_OPT("delta", &r.delta, "D", "central only; contextual without it: pure eps."),
        CLI_OPT("rounds", &r.rounds, "T", "Suggestions at the most. Default 10000."),
        CLI_OPT("ticket-seconds", &r.ticket_seconds, "S",
                "How long a ticket is waited for; then it expires, and its round is a null record. Default 86400 (a "
                "day); 0: for ever."),
        CLI_OPT("person-rounds", &r.person_rounds, "N",
                "How many rounds of a named person count; later ones are null records. central: --eps is then of a "
                "person. Default 1."),
        CLI_OPT("points", &r.points, "FILE", "The actions: a CSV, one a line."),
        CLI_OPT("columns", &r.columns, "A,B", "Which of its columns are coordinates."),
        CLI_OPT_LIST("bounds", &r.bounds, "LO:HI,…",
                     "Where decision sets lie, one pair for each coordinate; A=LO:HI,… names real columns of a space."),
        CLI_OPT("space", &r.space.file, "FILE", "The server proposes the point, from this space."),
        CLI_OPT_LIST("log", &r.space.options.log, "A=LO:HI,…", "A space in short: logarithmic columns."),
        CLI_OPT_LIST("integer", &r.space.options.integer, "A=LO:HI,…", "Columns of whole numbers."),
        CLI_OPT_LIST("levels", &r.space.options.levels, "A=X|Y,…", "Categories."),
        {"candidates", CLI_COUNT, &r.candidates, "N", "Points the server chooses from over a space. Default 1024.",
         false},
        CLI_OPT("earlier", &r.earlier, "FILE",
                "Values that are public already: a CSV with the columns of the space (or --columns), 'value', and, if "
                "you know it, 'sd'. The study begins with them; they stand in its definition."),
        CLI_OPT(
            "from", &r.from, "MODEL",
            "What another study released ('study release --out'): this one begins with it, and is charged by itself."),
        CLI_OPT("context", &r.context, "LO:HI,…", "contextual: where contexts lie, one pair for each coordinate."),
        CLI_OPT("learn", &r.learn, "N",
                "contextual: explore for N rounds, then commit to one model. Default: epochs, which learn all along."),
        CLI_OPT("level-counts", &r.levels, "N,…",
                "With --bounds: how many evenly spaced values a coordinate has; 0: any."),
        CLI_OPT("learner", &r.learner, "NAME",
                "central: both (default), tilt or decode; fixed, contextual: elimination plays among the arms that are "
                "not excluded yet, and with policy fixed its regret is bounded by proof."),
        CLI_OPT("bound", &r.bound, "B",
                "local: of the reward less its mean, in the kernel's norm; what the proven widths rest on."),
        CLI_OPT("kernel", &r.kernel, "NAME", "se, matern12, matern32, matern52 (default), …"),
        CLI_OPT("groups", &r.groups, "G1,G2,…",
                "With --points: coordinates whose effects add up, as the number of each one's group, contexts after "
                "actions; 0,0,1: f(a, b) + g(c)."),
        CLI_OPT("lengthscale", &r.lengthscale, "L", "Over which distance outcomes are alike: L or L1,L2,…"),
        CLI_OPT("reward", &r.reward, "LO:HI", "Public range of the reward. Default 0:1."),
        CLI_OPT("randomizer", &r.randomizer, "NAME", "local: hybrid (default), duchi, piecewise, laplace, staircase."),
        CLI_OPT("parameters", &r.parameters, "NAME",
                "local: tight (default with --bound), literal, orderwise, tuned (default without)."),
        {0},
    };
    int code = 0;
    CLI_PARSE_OR_RETURN(options, NULL, NULL);
    if (r.definition == NULL && isnan(r.eps)) {
        return cli_usage(self,
                         "a study needs --definition FILE, or --name, --trust, --eps, a domain and --lengthscale");
    }
    tacet_space space = {0};
    if (r.bounds != NULL && strchr(r.bounds, '=') != NULL) {
        r.space.options.bounds = r.bounds;
    }
    const bool typed = r.definition == NULL && cli_space_given(&r.space);
    code = typed ? cli_space_read(&space, &r.space, self) : CLI_EXIT_OK;
    code = code != CLI_EXIT_OK ? code : create(self, &r, typed ? &space : NULL, &place);
    tacet_space_clear(&space);
    return code;
}
