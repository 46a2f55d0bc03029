/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_calibrate.c - `tacet calibrate`: noise for a budget, or the budget a noise spends. No data, no noise is drawn.
 * Ring: programs (gate). The mathematics is in src/dp/open/calibrate.c and
 * src/local/shared/ldp.c.
 */
#include "gate/commands.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/dp/ledger.h>
#include <tacet/local/shared/ldp.h>
#include <tacet/dp/open/calibrate.h>
#include <tacet/local/shared/sphere.h>
#include <tacet/dp/open/law.h>

/* NaN (or 0, or NULL) where an option was not given: the parser accepts finite numbers only. */
typedef struct options {
    double eps, delta, sensitivity, scale, rho, runs;
    cli_span range;
    size_t count, dims;
    const char *mechanism, *ledger, *ticket;
} options;

static bool given(double x) {
    return !isnan(x);
}

/* Shown as a usage error where it is not so. */
static tacet_status need(bool good, const char *words, tacet_error *err) {
    return good ? TACET_OK : tacet_error_set(err, TACET_INVALID, "%s", words);
}

static tacet_status gaussian(json_t *out, options *o, tacet_error *err) {
    tacet_status s = need(o->count > 0, "--count must be at least 1", err);
    TACET_THEN(s, need(given(o->eps) + given(o->delta) + given(o->scale) == 2,
                       "gaussian needs two of --eps, --delta and --scale", err));
    /* K releases of one sigma are one release of sqrt(K) times the sensitivity. */
    const double sensitivity = o->sensitivity * (o->count > 1 ? nextafter(sqrt((double)o->count), INFINITY) : 1.0);
    double mu = 0.0, classic = NAN, rho = 0.0;
    TACET_THEN(s, !given(o->scale)  ? tacet_calibrate_gaussian(&o->scale, o->eps, o->delta, sensitivity, err)
                  : given(o->delta) ? tacet_gaussian_eps(&o->eps, o->scale, o->delta, sensitivity, err)
                                    : tacet_gaussian_delta(&o->delta, o->scale, o->eps, sensitivity, err));
    TACET_THEN(s, tacet_gdp_compose(&mu, &o->scale, &sensitivity, 1, err));
    TACET_THEN(s, tacet_zcdp_from_gdp(&rho, mu, err));
    (void)tacet_calibrate_gaussian_classic(&classic, o->eps, o->delta, sensitivity, NULL); /* none where eps is 0 */
    cli_add(out, "sigma eps delta sensitivity count mu rho classic_sigma", J(o->scale), J(o->eps), J(o->delta),
            J(o->sensitivity), J(o->count), J(mu), J(rho), J(classic));
    return s;
}

static tacet_status laplace(json_t *out, options *o, tacet_error *err) {
    tacet_status s = need(given(o->eps) + given(o->scale) == 1, "laplace needs one of --eps and --scale", err);
    TACET_THEN(s, need(o->dims > 0, "--dims must be at least 1", err));
    /* scale = sensitivity/eps, and the other way round; both rounded up */
    TACET_THEN(s, given(o->eps) ? tacet_calibrate_laplace(&o->scale, o->eps, o->sensitivity, err)
                                : tacet_calibrate_laplace(&o->eps, o->scale, o->sensitivity, err));
    double mu = NAN, rho = NAN;
    (void)tacet_gdp_from_pure(&mu, o->eps, NULL);
    (void)tacet_zcdp_from_pure(&rho, o->eps, NULL);
    cli_add(out, "scale eps sensitivity dims sd mu rho", J(o->scale), J(o->eps), J(o->sensitivity), J(o->dims),
            J(tacet_law_find("k-norm")->spread(o->scale, o->dims)), J(mu), J(rho));
    return s;
}

/* For a budget the smallest scale with its certificate; for a scale the certificate at --eps. */
static tacet_status l2(json_t *out, options *o, tacet_error *err) {
    tacet_l2 found = {.scale = o->scale};
    tacet_status s = need(given(o->eps) && given(o->delta) + given(o->scale) == 1,
                          "l2 needs --eps, and one of --delta and --scale", err);
    if (s == TACET_OK && given(o->delta)) {
        s = tacet_calibrate_l2(&found, o->eps, o->delta, o->sensitivity, o->dims, err);
    } else if (s == TACET_OK) {
        s = tacet_l2_delta(&found.delta_upper, o->scale, o->eps, o->sensitivity, o->dims, err);
        found.rms = tacet_law_find("l2")->spread(o->scale, o->dims);
        found.pure_eps = nextafter(o->sensitivity / o->scale, INFINITY);
    }
    cli_add(out, "scale rms eps delta_upper pure_eps sensitivity dims", J(found.scale), J(found.rms), J(o->eps),
            J(found.delta_upper), J(found.pure_eps), J(o->sensitivity), J(o->dims));
    return s;
}

/* The price into the ledger, whose budget is as it was made. */
static tacet_status enter(json_t *out, const options *o, const tacet_select *law, tacet_error *err) {
    tacet_ledger_settings settings;
    tacet_ledger *ledger = NULL;
    tacet_entry entry = {0};
    tacet_ledger_settings_defaults(&settings);
    settings.create = false;
    settings.use_stored = true;
    tacet_status s = tacet_ledger_open(&ledger, o->ledger, &settings, err);
    TACET_THEN(s, tacet_ledger_select(ledger, &entry, o->ticket, "best of several private runs", "anyone", law, err));
    tacet_ledger_close(ledger);
    if (s == TACET_OK) {
        cli_add(out, "entry", J(entry.seq));
    }
    return s;
}

/* The best of a random number of private runs: what each has, and what the choice has. */
static tacet_status selection(json_t *out, options *o, tacet_error *err) {
    tacet_select law = {0};
    const bool pure = given(o->eps) && !given(o->rho);
    tacet_status s =
        need(given(o->eps) + given(o->rho) == 1 && pure != given(o->delta),
             "select needs what one run has: --eps, or --rho and --delta; and --mean-runs, the mean of how many", err);
    TACET_THEN(s, tacet_select_law(&law, 0, o->runs, err));
    TACET_THEN(s, pure ? tacet_select_pure(&law, o->eps, err) : tacet_select_zcdp(&law, o->rho, o->delta, err));
    cli_add(out, "runs gamma", J(law.runs), J(law.gamma));
    cli_add(out, pure ? "run_eps eps delta" : "run_rho eps delta", J(pure ? o->eps : o->rho), J(law.eps), J(law.delta));
    return s == TACET_OK && o->ledger != NULL ? enter(out, o, &law, err) : s;
}

static tacet_status randomizer(json_t *out, options *o, tacet_error *err) {
    tacet_ldp_kind kind = TACET_LDP_HYBRID;
    tacet_ldp ldp;
    tacet_status s = need(given(o->eps), "randomizer needs --eps", err);
    s = s != TACET_OK || o->mechanism == NULL ? s : tacet_ldp_parse(&kind, o->mechanism, err);
    TACET_THEN(s, tacet_ldp_init(&ldp, kind, o->eps, o->range.lo, o->range.hi, err));
    if (s == TACET_OK) {
        cli_add(out, "kind eps lo hi variance bound proxy", J(tacet_ldp_name(kind)), J(ldp.eps), J(ldp.lo), J(ldp.hi),
                J(tacet_ldp_variance(&ldp)), J(tacet_ldp_bound(&ldp)), J(tacet_ldp_proxy(&ldp)));
    }
    return s;
}

/* One of --count levels by randomised response. */
static tacet_status levels(json_t *out, options *o, tacet_error *err) {
    const tacet_status s = need(o->eps > 0 && o->count >= 2 && o->count <= TACET_LEVELS_MOST,
                                "levels needs --eps above 0 and --count, 2 to 1024 levels", err);
    if (s == TACET_OK) {
        cli_add(out, "levels eps keep told", J(o->count), J(o->eps), J(tacet_levels_keep(o->count, o->eps)),
                J(tacet_levels_told(o->count, o->eps)));
    }
    return s;
}

/* One of 256 directions, reported of a vector of --dims numbers; Gaussian noise on vectors that are sqrt 2 apart, with
 * --delta, beside it. */
static tacet_status sphere(json_t *out, options *o, tacet_error *err) {
    tacet_ldp ldp;
    tacet_sphere design;
    double sigma = NAN;
    const double delta = given(o->delta) ? o->delta : 1e-5;
    tacet_status s = need(given(o->eps) && o->dims > 0, "sphere needs --eps, and --dims of at least 1", err);
    TACET_THEN(s, tacet_ldp_init(&ldp, TACET_LDP_SPHERE, o->eps, 0, 1, err));
    TACET_THEN(s, tacet_sphere_init(&design, &ldp, o->dims, 0, err));
    TACET_THEN(s, tacet_calibrate_gaussian(&sigma, o->eps, delta, sqrt(2.0), err));
    if (s == TACET_OK) {
        const double duchi = tacet_ldp_duchi_constant(o->eps); /* its variance is pi/2 times the square, as dims grow */
        cli_add(out, "eps dims directions likely gain variance variance_duchi delta_gaussian variance_gaussian",
                J(o->eps), J(o->dims), J(ldp.cells), J(ldp.window), J(design.gain), J(design.noise_var),
                J(duchi * duchi * asin(1)), J(delta), J(sigma * sigma));
    }
    return s;
}

#define NAMES "gaussian, laplace, l2, randomizer, levels, select or sphere"

/* For people: one "name value" a line. */
static void print_text(json_t *out) {
    const char *name = NULL;
    json_t *value = NULL;
    json_object_foreach(out, name, value) {
        char text[32] = "-";
        printf("%-15s %s\n", name,
               json_is_string(value)   ? json_string_value(value)
               : json_is_number(value) ? cli_safe(text, json_number_value(value), 10, strcmp(name, "rate") == 0)
                                       : text);
    }
}

int cmd_calibrate(int argc, char **argv, const cli_command *self) {
    static const struct {
        const char *name;
        tacet_status (*run)(json_t *out, options *o, tacet_error *err);
    } MECHANISMS[] = {{"gaussian", gaussian}, {"laplace", laplace},  {"l2", l2},        {"randomizer", randomizer},
                      {"levels", levels},     {"select", selection}, {"sphere", sphere}};
    options o = {.eps = NAN,
                 .delta = NAN,
                 .sensitivity = 1.0,
                 .scale = NAN,
                 .rho = NAN,
                 .range = {.lo = -1, .hi = 1},
                 .runs = NAN,
                 .count = 1,
                 .dims = 1,
                 .ticket = "tuning"};
    const cli_option table[] = {
        CLI_OPT("eps", &o.eps, "E", "privacy parameter eps, > 0"),
        CLI_OPT("delta", &o.delta, "D", "privacy parameter delta, > 0 and < 1"),
        CLI_OPT("sensitivity", &o.sensitivity, "S",
                "largest distance of the answers on neighbouring data (L2); default 1"),
        CLI_OPT("scale", &o.scale, "S", "of the noise; gaussian: its standard deviation"),
        CLI_OPT("count", &o.count, "N",
                "gaussian: releases of the same kind on the same data, default 1; levels: of a category"),
        CLI_OPT("dims", &o.dims, "N",
                "laplace, l2: coordinates that one Euclidean draw is shared by; sphere: of a vector; default 1"),
        CLI_OPT("mechanism", &o.mechanism, "NAME", "randomizer: hybrid (default) or laplace"),
        CLI_OPT("range", &o.range, "LO:HI", "randomizer: of the values, default -1:1"),
        CLI_MORE,
        CLI_OPT("rho", &o.rho, "R", "select: privacy parameter rho"),
        CLI_OPT("mean-runs", &o.runs, "K", "select: mean of the number of runs, which is drawn at random"),
        CLI_OPT("ledger", &o.ledger, "FILE",
                "select: enter the price here, before the first run; exit code 3 when it does not fit"),
        CLI_OPT("ticket", &o.ticket, "NAME", "select: names the choice in the ledger; default tuning"),
        {0},
    };
    const char *name[1] = {NULL};
    size_t names = 1;
    CLI_PARSE_OR_RETURN(table, name, &names);
    if (names != 1) {
        return cli_usage(self, "which mechanism? " NAMES);
    }
    for (size_t i = 0; i < sizeof MECHANISMS / sizeof *MECHANISMS; i++) {
        if (strcmp(name[0], MECHANISMS[i].name) != 0) {
            continue;
        }
        json_t *out = cli_object("mechanism", J(name[0]));
        tacet_error err = {0};
        const tacet_status s = MECHANISMS[i].run(out, &o, &err);
        if (s != TACET_OK) {
            json_decref(out);
            return cli_refuse(self, &err);
        }
        if (!cli_json_wanted()) {
            print_text(out);
        }
        return cli_tell(out, NULL);
    }
    return cli_usage(self, "no mechanism '%s': " NAMES, name[0]);
}
