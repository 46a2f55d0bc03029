/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_study_create.c - tacet study create: a definition from a file or from options, checked, stored, charged.
 * Ring: trusted. */
#include "server/commands.h"

#include "common/space.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/io/csv.h>
#include <tacet/io/file.h>
#include <tacet/service/trusted/study.h>

enum { DEFINITION_BYTES = 4 << 20, EPS_MOST = 1000 /* as a definition has it */ };

typedef struct request {
    cli_space space;
    const char *definition, *name, *trust, *policy, *points, *earlier, *from;
    cli_names inputs, contexts, fields;
    cli_spans sets;
    cli_reals lengthscale;
    cli_span reward;
    double eps, delta;
    size_t rounds;
    bool minimize, plan, yes;
} request;

/* What is played, and what each round brings; a space of no columns: none. */
typedef struct spaces {
    tacet_space actions, contexts;
} spaces;

/* The columns that --contexts names, and the others. */
static tacet_status split_space(spaces *out, const tacet_space *all, const cli_names *contexts, tacet_error *err) {
    size_t at = 0;
    tacet_status status =
        contexts->count > 0 ? tacet_space_pick(&out->contexts, all, contexts->at, contexts->count, err) : TACET_OK;
    for (size_t i = 0; i < all->count && status == TACET_OK; i++) {
        const char *name = all->columns[i].name;
        if (tacet_space_find(&out->contexts, &at, name, NULL) != TACET_OK) {
            status = tacet_space_pick(&out->actions, all, &name, 1, err);
        }
    }
    return status;
}

static tacet_status space_json(json_t **out, const tacet_space *space, tacet_error *err) {
    char *text = NULL;
    const tacet_status status = space->count > 0 ? tacet_space_encode(space, &text, err) : TACET_OK;
    *out = text != NULL ? cli_object("space", J(cli_loads(text))) : NULL;
    return status;
}

/* The columns of a CSV as points. */
static tacet_status points_json(json_t **out, const request *r, tacet_error *err) {
    tacet_csv_table table = {0};
    if (r->inputs.at == NULL) {
        return tacet_error_set(err, TACET_INVALID, "--points needs --inputs A,B");
    }
    const tacet_csv_wanted wanted = {.columns = r->inputs.at, .d = r->inputs.count, .least_records = 2};
    const tacet_status status = tacet_csv_load_file(&table, r->points, &wanted, err);
    json_t *points = json_array();
    for (size_t i = 0; i < table.n; i++) {
        (void)json_array_append_new(points, JL(&table.values[i * table.d], table.d));
    }
    tacet_csv_table_clear(&table);
    *out = cli_object("points", J(points));
    return status;
}

static tacet_status domain_json(json_t **out, const request *r, const spaces *s, tacet_error *err) {
    json_t *contexts = NULL;
    if ((r->points != NULL) + (r->sets.lo != NULL) + (s->actions.count > 0) != 1) {
        return tacet_error_set(err, TACET_INVALID,
                               "what is played is one of three: columns of a space (--space, or --bounds A=LO:HI and "
                               "the like), a list (--points), or what rounds bring (--sets)");
    }
    tacet_status status = TACET_OK;
    if (r->points != NULL) {
        status = points_json(out, r, err);
    } else if (r->sets.lo != NULL) {
        *out = cli_object("lower upper", JL(r->sets.lo, r->sets.count), JL(r->sets.hi, r->sets.count));
    } else {
        status = space_json(out, &s->actions, err);
    }
    TACET_THEN(status, space_json(&contexts, &s->contexts, err));
    cli_add(*out, "context?", J(contexts));
    return status;
}

/* --field PART.NAME=VALUE, or NAME=VALUE: JSON, a number, or else a text, where the definition has it. */
static tacet_status add_field(json_t *root, const char *field, tacet_error *err) {
    const char *equals = strchr(field, '='), *dot = strchr(field, '.');
    double number = 0;
    if (equals == NULL || equals == field) {
        return tacet_error_set(err, TACET_INVALID, "--field is PART.NAME=VALUE, as prior.kernel=matern52");
    }
    json_t *part = root;
    if (dot != NULL && dot < equals) {
        char name[16] = "";
        (void)snprintf(name, sizeof name, "%.*s", (int)(dot - field), field);
        part = json_object_get(root, name);
        field = dot + 1;
    }
    if (!json_is_object(part)) {
        return tacet_error_set(err, TACET_INVALID,
                               "--field: a definition has the parts domain, prior, budget, options");
    }
    json_t *value = json_loads(equals + 1, JSON_DECODE_ANY, NULL);
    value = value != NULL ? value : cli_number(&number, equals + 1) ? J(number) : J(equals + 1);
    (void)json_object_setn_new(part, field, (size_t)(equals - field), value);
    return TACET_OK;
}

/* The definition that the options say; the checks are those of any definition. */
static tacet_status from_options(char **out, const request *r, const spaces *s, tacet_error *err) {
    json_t *domain = NULL;
    const bool tables = r->policy != NULL && (strcmp(r->policy, "contextual") == 0 || strcmp(r->policy, "ab") == 0);
    if (r->lengthscale.at == NULL && s->actions.count == 0 && !tables) {
        return tacet_error_set(err, TACET_INVALID,
                               "--lengthscale needs one number, or one for each coordinate: L or L1,L2");
    }
    tacet_status status = domain_json(&domain, r, s, err);
    if (status != TACET_OK) {
        json_decref(domain);
        return status;
    }
    json_t *prior = cli_object("reward lengthscale?", J(json_pack("[ff]", r->reward.lo, r->reward.hi)),
                               JL(r->lengthscale.at, r->lengthscale.count));
    json_t *root = cli_object("domain prior budget options rounds name? trust? policy? direction?", J(domain), J(prior),
                              J(cli_object("eps delta?", J(r->eps), J(r->delta))), J(json_object()), J(r->rounds),
                              J(r->name), J(r->trust), J(r->policy), J(r->minimize ? "minimize" : NULL));
    for (size_t i = 0; i < r->fields.count && status == TACET_OK; i++) {
        status = add_field(root, r->fields.at[i], err);
    }
    *out = status == TACET_OK ? json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(root);
    return status != TACET_OK || *out != NULL
               ? status
               : tacet_error_set(err, TACET_INVALID, "a text among the options is not UTF-8");
}

/* What the study can expect, where that can be said beforehand; NULL elsewhere. */
static json_t *outlook_of(const char *definition) {
    char *text = NULL;
    return definition != NULL && tacet_study_outlook(&text, definition, strlen(definition), NULL) == TACET_OK
               ? cli_loads(text)
               : NULL;
}

#define OUTLOOK                                                                                                        \
    "{?outlook|{!outlook.even|each reward is released as it comes, in sums of {outlook.each} at a point; expect "      \
    "about {outlook.gain:^2} or more above a point at random\n}"                                                       \
    "{?outlook.even|too little for a search: {outlook.points} points are played evenly, {outlook.each} rounds each, "  \
    "and the best noisy mean is recommended; expect about {outlook.gain:^2} more than at random\n"                     \
    "{?outlook.rounds_needed|a search needs {outlook.rounds_needed} rounds{?outlook.eps_needed|, or eps "              \
    "{outlook.eps_needed:^3}}\n}}}"

/* Whether what speaks against the study was agreed to: a budget that buys next to nothing. */
static bool sure(const cli_command *self, const request *r, const json_t *outlook) {
    static const double NOTHING = 0.01; /* of the range of rewards, above a point at random */
    const double gain = json_number_value(json_object_get(outlook, "gain"));
    char why[200];
    (void)snprintf(
        why, sizeof why,
        "expect about %.2g more than a point at random, of a range of %g: this eps and these rounds buy next "
        "to nothing. 'study create --dry-run' tells what more of either would",
        gain, r->reward.hi - r->reward.lo);
    return outlook == NULL || gain >= NOTHING * (r->reward.hi - r->reward.lo) || cli_sure(self, r->yes, why);
}

static int create(const cli_command *self, const request *r, const spaces *s, const tacet_store_place *place) {
    tacet_error err = {0};
    char *text = NULL, *canonical = NULL;
    const tacet_study_known known = {
        .values = r->earlier, .model = r->from, .columns = r->inputs.at, .column_count = r->inputs.count};
    tacet_status status = r->definition != NULL ? tacet_file_read(&text, NULL, r->definition, DEFINITION_BYTES, &err)
                                                : from_options(&text, r, s, &err);
    if (status == TACET_OK && (r->earlier != NULL || r->from != NULL)) {
        status = tacet_study_begin_with(&text, &known, &err);
    }
    if (status == TACET_OK && r->plan) {
        json_t *outlook = outlook_of(text);
        free(text);
        return outlook != NULL ? cli_tell(cli_object("outlook", J(outlook)), OUTLOOK)
                               : cli_usage(self, "--dry-run is of a complete 'fixed' study, over a list or a space");
    }
    json_t *outlook = status == TACET_OK ? outlook_of(text) : NULL;
    if (r->definition == NULL && !sure(self, r, outlook)) {
        json_decref(outlook);
        free(text);
        return CLI_EXIT_USAGE;
    }
    TACET_THEN(status, tacet_study_add(&canonical, place, text, text != NULL ? strlen(text) : 0, &err));
    free(text);
    if (status != TACET_OK) {
        json_decref(outlook);
        return status == TACET_PARSE ? cli_usage(self, "%s", err.message) : cli_refuse(self, &err);
    }
    json_t *definition = cli_loads(canonical);
    const json_t *domain = json_object_get(definition, "domain");
    const char *policy = json_string_value(json_object_get(definition, "policy"));
    const char *kind = policy != NULL && strcmp(policy, "ab") == 0 ? "a fair coin draws a variant for each ticket"
                       : json_object_get(domain, "space") != NULL  ? "the server proposes points of its space"
                       : json_object_get(domain, "points") != NULL ? "the server proposes points of its list"
                                                                   : "each round brings its own decision set";
    const char *parameters = json_string_value(json_object_get(json_object_get(definition, "options"), "parameters"));
    if (parameters != NULL && (strcmp(parameters, "tight") == 0 || strcmp(parameters, "literal") == 0)) {
        cli_say(self,
                "the width's proof is for rewards within the stated range; where rewards have heavy tails (Student's t "
                "with 3 degrees of freedom, say) devices clip them, and the bound is for the clipped mean");
    }
    return cli_tell(cli_object("created outlook? _kind", J(definition), J(outlook), J(kind)),
                    "study {created.name}: created; {_kind}\n" OUTLOOK);
}

int cmd_study_create(int argc, char **argv, const cli_command *self) {
    request r = {.eps = (double)NAN, .delta = (double)NAN, .reward = {0, 1, false}, .rounds = 10000};
    tacet_store_place place = {0};
    const cli_option options[] = {
        STORE_OPTION(place),
        CLI_OPT("definition", &r.definition, "FILE", "The study as JSON (docs/API.md); instead of all below."),
        CLI_HEADING("The study, when there is no file:"),
        CLI_OPT("name", &r.name, "NAME", "1 to 48 of a-z 0-9 _ -, beginning with a letter."),
        CLI_OPT("trust", &r.trust, "MODEL", "local: devices randomise their rewards. central: the server sees them."),
        CLI_OPT("eps", &r.eps, "E", "local: of each report. central: of the whole study, for one round."),
        CLI_OPT("delta", &r.delta, "D", "central only; without it: pure eps."),
        CLI_OPT("rounds", &r.rounds, "T", "Suggestions at the most. Default 10000."),
        CLI_OPT("dry-run", &r.plan, NULL,
                "Say what this eps and these rounds can reach; nothing is stored. Of a central study over a space."),
        CLI_OPT("points", &r.points, "FILE", "The actions: a CSV, one a line."),
        CLI_OPT("sets", &r.sets, "LO:HI,…",
                "Each round brings its own decision set, within these bounds, one pair for each coordinate."),
        CLI_OPT("space", &r.space.file, "FILE", "The server proposes the point, from this space."),
        CLI_OPT("range", &r.reward, "LO:HI", "Public range of the reward. Default 0:1."),
        CLI_MORE,
        CLI_OPT("policy", &r.policy, "NAME",
                "local: ucb (default), tgp, ata, moma; statistics: decision sets, too, stay on the devices. central: "
                "central (default), fixed, contextual; ab: a test of 2 to 16 arms."),
        CLI_OPT("minimize", &r.minimize, NULL, "The smallest value is looked for, not the largest."),
        CLI_OPT("inputs", &r.inputs, "A,B,…", "Of --points: which columns are coordinates, in their order."),
        CLI_SPACE_SHORT(r.space),
        CLI_OPT("lengthscale", &r.lengthscale, "L,…",
                "With --points and --sets, but for contextual and ab: over which distance outcomes are alike; one, or "
                "one for each coordinate"),
        CLI_YES(&r.yes),
        CLI_OPT("earlier", &r.earlier, "FILE",
                "Values that are public already: a CSV with the columns of the space (or --inputs), 'value', and, if "
                "you know it, 'sd'. The study begins with them; they stand in its definition."),
        CLI_OPT(
            "from", &r.from, "FILE",
            "What another study released ('study release --out'): this one begins with it, and is charged by itself."),
        CLI_OPT("contexts", &r.contexts, "A,B,…", "contextual: which columns of the space each round brings."),
        {"field", CLI_EACH, &r.fields, "PART.NAME=VALUE",
         "Any other field of the definition, as docs/API.md names it; once for each. prior.typical_reward=.2: what an "
         "arm that nobody knows returns. prior.kernel=matern52. options.person_rounds=3: so many rounds of a named "
         "person count, and a central eps is then of a person. options.ticket_seconds=600: how long a ticket is "
         "waited for. options.late=50 (contextual, ab): reports come up to so many rounds late.",
         false},
        {0},
    };
    int code = 0;
    STORE_PARSE_OR_RETURN(options, place);
    if (r.definition == NULL && isnan(r.eps)) {
        return cli_usage(self, "a study needs --definition FILE, or --name, --trust, --eps and what is played");
    }
    if (r.definition == NULL && (r.name == NULL || r.trust == NULL)) {
        return cli_usage(self, r.name == NULL ? "--name NAME is required" : "--trust is required: local or central");
    }
    /* What the definition will refuse anyway is not asked about. */
    if (r.definition == NULL && r.eps <= EPS_MOST && !cli_sure_of_eps(self, r.yes || r.plan, r.eps)) {
        return CLI_EXIT_USAGE;
    }
    tacet_space space = {0};
    if (r.space.options.bounds != NULL && strchr(r.space.options.bounds, '=') == NULL) {
        return cli_usage(self,
                         "--bounds names the columns of a space, A=LO:HI,…; where each round brings its own "
                         "decision set, their bounds are --sets %s",
                         r.space.options.bounds);
    }
    spaces parts = {0};
    tacet_error err = {0};
    code = r.definition == NULL && cli_space_given(&r.space) ? cli_space_read(&space, &r.space, self) : CLI_EXIT_OK;
    if (code == CLI_EXIT_OK && split_space(&parts, &space, &r.contexts, &err) != TACET_OK) {
        code = cli_usage(self, "--contexts: %s", err.message);
    }
    code = code != CLI_EXIT_OK ? code : create(self, &r, &parts, &place);
    tacet_space_clear(&parts.actions);
    tacet_space_clear(&parts.contexts);
    tacet_space_clear(&space);
    return code;
}
