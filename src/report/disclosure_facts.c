/* SPDX-License-Identifier: Apache-2.0 */
/* disclosure_facts.c - what is known of a release (its manifest), a model (its file), a study (its status) or of tuning
 * (its result), in words for a disclosure. Ring: open. Source: as disclose.c. Cost: none to speak of. */
#include "outsourced/shared/release_text.h"
#include "report/disclosure_facts.h"

#include "core/fail.h"

#include <math.h>
#include <sodium.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/ab/open/model.h>
#include <tacet/core/status.h>
#include <tacet/dp/open/law.h>

enum { ADDING = 128 };

const char *tacet__known(const json_t *known, const char *name) {
    const char *text = json_string_value(json_object_get(known, name));
    return text != NULL ? text : "";
}

char *tacet__above(char *out, double x) {
    (void)snprintf(out, TACET__ABOVE, "%.6g", x);
    if (strtod(out, NULL) < x) { /* one more in the sixth digit, which is at most 1e-5 of x */
        (void)snprintf(out, TACET__ABOVE, "%.6g", x + 1e-5 * fabs(x));
    }
    return out;
}

/* One text; a want of memory shows as a field that is missing. */
static void say(json_t *known, const char *name, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void say(json_t *known, const char *name, const char *format, ...) {
    va_list list;
    va_start(list, format);
    (void)json_object_set_new(known, name, json_vsprintf(format, list));
    va_end(list);
}

static void say_owned(json_t *known, const char *name, char *words) {
    say(known, name, "%s", words != NULL ? words : "");
    free(words);
}

static void say_eps(json_t *known, const char *name, double eps, const char *otherwise) {
    char text[TACET__ABOVE];
    say(known, name, "%s", isfinite(eps) ? tacet__above(text, eps) : otherwise);
}

/* The columns of a space with their bounds or levels, in their own units. */
static void add_columns(tacet__text *out, const tacet_space *space) {
    for (size_t i = 0; i < space->count; i++) {
        const tacet_space_column *c = &space->columns[i];
        char lo[TACET_SPACE_NAME], hi[TACET_SPACE_NAME];
        tacet__text_format(out, "%s%s ", i > 0 ? ", " : "", c->name);
        if (tacet_space_traits_of(c)->levels) {
            for (size_t k = 0; k < c->level_count; k++) {
                tacet__text_format(out, "%s%s", k > 0 ? "|" : "", c->levels[k]);
            }
        } else {
            tacet_space_text(c, lo, c->lo);
            tacet_space_text(c, hi, c->hi);
            tacet__text_format(out, "%s to %s", lo, hi);
        }
    }
}

static void say_text(json_t *known, const char *name, tacet__text *text) {
    say_owned(known, name, text->failed ? NULL : text->at);
    if (text->failed) {
        free(text->at);
    }
}

/* ---- both ---- */

static void say_common(json_t *known, const tacet_disclosure *d) {
    say(known, "date", "%s", d->date);
    say(known, "library", "tacet %s", tacet_version());
    say(known, "timing", "not protected: the time of a draw depends on its random digits, not on the records");
    say_eps(known, "spent_eps", d->has_ledger ? d->spent_eps : (double)INFINITY,
            d->has_ledger ? "no bound" : "no ledger at hand");
    say_eps(known, "budget_eps", d->has_ledger ? d->budget_eps : (double)INFINITY, "no ledger at hand");
}

/* ---- a release ---- */

static void say_domain(json_t *known, const tacet_manifest *m) {
    tacet__text text = {0};
    tacet__text_format(&text, "%zu records; columns with public bounds: ", m->rows);
    add_columns(&text, &m->space);
    say_text(known, "data_domain", &text);
}

/* How often what leaves, of what, and whether the answer depends on what was asked: words of the registry. */
static void say_form(json_t *known, const char *releases, const char *data, const char *interactive) {
    say(known, "releases", "%s", releases);
    say(known, "data", "%s", data);
    say(known, "interactive", "%s", interactive);
}

/* Ends what is said of composition. */
static const char *adding(const tacet_disclosure *d, char out[ADDING]) {
    (void)snprintf(out, ADDING, "%s%s", d->has_ledger ? "the ledger adds up by " : "no ledger at hand",
                   d->has_ledger ? d->accounting : "");
    return out;
}

static void know_release(json_t *known, const tacet_disclosure *d) {
    const tacet_manifest *m = d->manifest;
    const tacet_law *law = tacet_manifest_law(m);
    const bool many = m->queries > 0;
    char *noise = tacet_manifest_noise(m), added[ADDING];
    say(known, "product_kind", "Dataset"); /* a word of the registry */
    say(known, "product_type", "noisy records for outsourced optimization, with measured values on request");
    say(known, "variant", "%s", !m->is_private ? "none" : m->delta > 0 ? "approximate" : "pure");
    say(known, "privacy_unit", "%s",
        !m->is_private       ? "none"
        : m->person_rows > 0 ? "one person: all of their rows, each moved by up to one unit of its columns"
                             : "one row, moved by up to one unit of its columns");
    say(known, "eps", "%.17g", m->person_rows > 0 ? m->person_eps : m->eps);
    say(known, "delta", "%.17g", m->person_rows > 0 ? m->person_delta : m->delta);
    say_eps(known, "eps_with_delta_0",
            m->is_private ? (m->person_rows > 0 ? (double)m->person_rows : 1) * tacet_manifest_pure_eps(m)
                          : (double)INFINITY,
            "none");
    say(known, "model", "outsourced: the curator is trusted, whoever holds the release is not");
    say_form(known, many ? "many" : "one", "static", many ? "yes" : "no");
    say_domain(known, m);
    say_owned(known, "unprotected_quantities", tacet_manifest_uncovered(m));
    say_owned(known, "adjacency", tacet_manifest_protects(m));
    say(known, "actors_and_trust",
        "the curator holds the records and draws the noise; the modeler and everybody else see the release and the "
        "measured values only; the number of records is public");
    say(known, "post_processing",
        "numbers are rounded to decimals after the noise; modelers work on the release alone");
    say(known, "composition", "rows in parallel; %s", adding(d, added));
    say(known, "mechanism", "%s%s%s, standard deviation %.6g a coordinate in scaled units; %s", m->mechanism,
        law != NULL ? ": " : "", law != NULL ? law->words : " (not differentially private)", m->sigma,
        noise != NULL ? noise : "");
    say(known, "floating_point",
        "noise is drawn exactly on the grid %.6g by whole-number arithmetic; rounding to the grid is charged", m->grid);
    say(known, "code_version", "%s, ledger entry %llu with hash %s", tacet_version(), (unsigned long long)m->entry,
        m->entry_hash);
    say(known, "label_from", "From everybody but the curator, who holds the records.");
    say(known, "label_guess",
        m->person_rows > 0 ? "one person, and that each of their rows has one of two values a unit apart,"
                           : "one row, and that it has one of two values a unit apart,");
    say(known, "label_more", "A larger change is easier to guess: the first paragraph has its eps.%s",
        m->outputs_private ? "" : " A row that was measured can be told by its value, which left as it is.");
    say(known, "label_keeps",
        "The curator keeps the records, the noise is forgotten once drawn, and a ledger keeps what was spent. The "
        "modeler keeps the release and the values measured for it.");
    say(known, "label_how", "%s noise of standard deviation %.4g a column in scaled units", m->mechanism, m->sigma);
    free(noise);
}

/* ---- a model that was learnt from a log ---- */

static void say_log(json_t *known, const tacet_ab_facts *f) {
    tacet__text text = {0};
    tacet__text_format(&text,
                       "%zu records; rewards are clipped to %.6g to %.6g; actions and contexts with public bounds: ",
                       f->plan.rows, f->plan.lo, f->plan.hi);
    add_columns(&text, f->space);
    say_text(known, "data_domain", &text);
}

/* Pure eps of one release; INFINITY: none. */
static double pure_of(const tacet_receipt *r) {
    const tacet_law *law = tacet_law_find(r->mechanism); /* know_model saw that it is there */
    return law->pure                                 ? r->eps
           : law->density == TACET_DENSITY_EUCLIDEAN ? nextafter(r->sensitivity / r->scale, INFINITY)
                                                     : (double)INFINITY;
}

/* What holds with delta = 0. Releases that cost the model's whole eps each are of disjoint records: the dearest counts;
 * others add up. */
static double pure_of_all(const tacet_ab_facts *f) {
    double sum = 0, most = 0;
    bool disjoint = true; /* nothing in a model says so; its whole eps on each release can be sound no other way */
    for (size_t i = 0; i < f->receipt_count; i++) {
        const double pure = pure_of(&f->receipts[i]);
        disjoint = disjoint && f->receipts[i].eps >= f->plan.eps;
        sum += pure;
        most = fmax(most, pure);
    }
    return disjoint ? most : sum;
}

/* Each kind of release once, with how many there are. */
static void say_receipts(json_t *known, const tacet_ab_facts *f) {
    tacet__text text = {0};
    for (size_t i = 0; i < f->receipt_count; i++) {
        const char *name = f->receipts[i].mechanism;
        size_t before = 0, alike = 0;
        for (size_t j = 0; j < f->receipt_count; j++) {
            const bool same = strcmp(f->receipts[j].mechanism, name) == 0;
            before += same && j < i;
            alike += same;
        }
        if (before == 0) {
            tacet__text_format(&text, "%s%s (%s), %zu release%s", i > 0 ? "; " : "", name, tacet_law_find(name)->words,
                               alike, alike > 1 ? "s" : "");
        }
    }
    say(known, "mechanism", "%s", text.at != NULL ? text.at : "");
    say_text(known, "label_how", &text);
}

static void know_log(json_t *known, const tacet_disclosure *d, const tacet_ab_facts *f) {
    char hash[2 * TACET_HASH_BYTES + 1], added[ADDING];
    const bool person = f->person_rows > 0;
    (void)sodium_bin2hex(hash, sizeof hash, f->receipts[0].entry_hash, TACET_HASH_BYTES);
    say(known, "product_kind", "Machine learning model"); /* a word of the registry */
    say(known, "product_type", "a table of rewards over actions and contexts, and whatever is computed from it");
    say(known, "variant", "%s", f->is_private ? "pure" : "none");
    say(known, "privacy_unit", "%s",
        !f->is_private ? "none"
        : person       ? "all rows of one person in the log"
                       : "one row of the log");
    say(known, "eps", "%.17g", person ? f->person_eps : f->plan.eps);
    say(known, "delta", "0");
    say(known, "model", "contextual: whoever holds the log is trusted, whoever holds the model is not");
    say_form(known, "one", "static", "no");
    say_log(known, f);
    say(known, "unprotected_quantities",
        "That a row is in the log and the number of rows are not hidden. Nor is what the model says of people in "
        "general.");
    if (f->is_private) {
        say(known, "adjacency", "The model hardly changes when %s replaced by any other.",
            person ? "all rows of one person, their actions, contexts and rewards, are"
                   : "one row, its action, contexts and reward, is");
    } else {
        say(known, "adjacency", "Nothing is hidden: the noise came from a seed.");
    }
    say(known, "actors_and_trust",
        "whoever holds the log draws the noise; everybody else sees the model and what is predicted from it");
    say(known, "post_processing", "predictions and recommendations are computed from the model alone, at no cost");
    say(known, "composition", "%zu release%s of the log in one model; %s", f->receipt_count,
        f->receipt_count > 1 ? "s" : "", adding(d, added));
    say(known, "floating_point",
        "noise is drawn exactly on a grid by whole-number arithmetic; rounding to the grid is charged");
    say(known, "code_version", "%s, ledger entry %llu with hash %s", tacet_version(),
        (unsigned long long)f->receipts[0].entry, hash);
    say_eps(known, "eps_with_delta_0",
            f->is_private ? (person ? (double)f->person_rows : 1) * pure_of_all(f) : (double)INFINITY, "none");
    say_receipts(known, f);
    say(known, "label_from", "From everybody but whoever holds the log.");
    say(known, "label_guess", "%s, and that they are one of two things,",
        person ? "one person's actions, contexts and rewards" : "one row's action, contexts and reward");
    say(known, "label_more", "%s",
        person ? "About somebody whose rows have different names in them it can be more."
               : "About somebody behind several rows it can be more.");
    say(known, "label_keeps",
        "Whoever holds the log keeps it, and a ledger of what was spent; the noise is forgotten once drawn. Everybody "
        "else keeps the model.");
}

static tacet_status know_model(json_t *known, const tacet_disclosure *d, tacet_error *err) {
    tacet_ab_model *model = NULL;
    if (!tacet_ab_model_is(d->model, strlen(d->model))) {
        return tacet__fail(err, TACET_INVALID,
                           "not a model that was learnt from a log: of a study disclose its status");
    }
    tacet_status status = tacet_ab_model_decode(&model, d->model, strlen(d->model), err);
    if (status != TACET_OK) {
        return status;
    }
    const tacet_ab_facts *f = tacet_ab_model_facts(model);
    bool named = f->receipt_count > 0;
    for (size_t i = 0; i < f->receipt_count; i++) {
        named = named && tacet_law_find(f->receipts[i].mechanism) != NULL;
    }
    if (named) {
        know_log(known, d, f);
    } else {
        status = tacet__fail(err, TACET_INVALID, "the model names no release");
    }
    tacet_ab_model_free(model);
    return status;
}

/* ---- a study ---- */

static void say_points(json_t *known, const json_t *definition) {
    tacet__text text = {0};
    tacet_space space;
    const json_t *domain = json_object_get(definition, "domain");
    char *columns = json_dumps(json_object_get(domain, "space"), JSON_COMPACT);
    const json_t *reward = json_object_get(json_object_get(definition, "prior"), "reward");
    const size_t points = json_array_size(json_object_get(domain, "points"));
    tacet__text_format(&text, "%lld rounds; ", (long long)json_integer_value(json_object_get(definition, "rounds")));
    if (json_array_size(reward) == 2) {
        tacet__text_format(&text, "rewards are clipped to %.6g to %.6g; ", json_number_value(json_array_get(reward, 0)),
                           json_number_value(json_array_get(reward, 1)));
    }
    tacet_space_init(&space);
    if (columns != NULL && tacet_space_decode(&space, columns, strlen(columns), NULL) == TACET_OK) {
        tacet__text_add(&text, "points with public columns: ");
        add_columns(&text, &space);
    } else if (points > 0) {
        tacet__text_format(&text, "a public list of %zu points", points);
    } else {
        tacet__text_add(&text, "points within public bounds that each round names");
    }
    say_text(known, "data_domain", &text);
    tacet_space_clear(&space);
    free(columns);
}

/* What is promised, to whom it is promised, and what somebody behind several rounds has of it. */
static void say_promise(json_t *known, const json_t *guarantee) {
    char number[TACET__ABOVE];
    tacet__text text = {0};
    const char *rounds = NULL;
    json_t *eps = NULL;
    const char *const parts[] = {tacet__known(guarantee, "statement"), " Protected is ",
                                 tacet__known(guarantee, "protects"), "."};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        tacet__text_add(&text, parts[i]);
    }
    json_object_foreach(json_object_get(guarantee, "eps_of_rounds"), rounds, eps) {
        if (json_is_number(eps)) {
            tacet__text_format(&text, " A person behind %.40s rounds: eps = %s.", rounds,
                               tacet__above(number, json_number_value(eps)));
        }
    }
    say_text(known, "adjacency", &text);
    say(known, "privacy_unit", "%s", tacet__known(guarantee, "protects"));
}

static void know_central(json_t *known, const tacet_disclosure *d) {
    char added[ADDING];
    say(known, "model", "central: the server is trusted, whoever sees its suggestions and releases is not");
    say(known, "unprotected_quantities",
        "That a round took place, when, and for whom, is not hidden. The server sees points, contexts and rewards as "
        "they are, and whoever asked for a point knows it.");
    say(known, "actors_and_trust",
        "the server keeps what is reported and draws the noise; clients and everybody else see suggestions and "
        "releases only");
    say(known, "composition", "a round is charged once, before anything learnt from it is released; %s",
        adding(d, added));
    say(known, "label_from", "From everybody but the server, which is trusted with what is reported.");
    say(known, "label_keeps",
        "The server keeps what was reported and a ledger of what was spent; the noise is forgotten once drawn.");
}

static void know_local(json_t *known, const tacet_disclosure *d) {
    say(known, "model", "local: each device is trusted with its own value alone, and the collector with none");
    say(known, "unprotected_quantities",
        "That a device took part, when, and what it was asked about are not hidden unless the guarantee names them.");
    say(known, "actors_and_trust",
        "each device randomises its value before it is sent; the collector and everybody else see randomised reports");
    say(known, "composition", "each device adds up its own reports in a ledger of its own");
    if (!d->has_ledger) {
        say(known, "spent_eps", "in each device's own ledger");
        say(known, "budget_eps", "in each device's own ledger");
    }
    say(known, "label_from", "From everybody, the collector of the reports included.");
    say(known, "label_keeps",
        "Each device keeps its values and a ledger of what it spent; the collector keeps reports that were randomised "
        "before they were sent.");
}

static tacet_status know_study(json_t *known, const tacet_disclosure *d, tacet_error *err) {
    json_t *status = json_loads(d->study, JSON_REJECT_DUPLICATES, NULL);
    const json_t *definition = json_object_get(status, "definition"), *guarantee = json_object_get(status, "guarantee");
    const double eps = json_is_number(json_object_get(guarantee, "eps"))
                           ? json_number_value(json_object_get(guarantee, "eps"))
                           : (double)NAN;
    const double delta = json_number_value(json_object_get(guarantee, "delta"));
    const bool local = strcmp(tacet__known(definition, "trust"), "local") == 0;
    if (!local && strcmp(tacet__known(definition, "trust"), "central") != 0) {
        json_decref(status);
        return tacet__fail(err, TACET_INVALID, "the study: not what 'tacet study status --json' prints");
    }
    if (!json_is_true(json_object_get(guarantee, "proven")) || !(eps >= 0) || !(delta >= 0)) {
        json_decref(status);
        return tacet__fail(err, TACET_INVALID, "the study states no proven guarantee: there is nothing to disclose");
    }
    if (local) {
        know_local(known, d);
    } else {
        know_central(known, d);
    }
    say(known, "product_kind", "Interactive API"); /* a word of the registry */
    say(known, "product_type", "points suggested round by round, and a model learnt from what they returned");
    say(known, "variant", "%s", delta > 0 ? "approximate" : "pure");
    say(known, "eps", "%.17g", eps);
    say(known, "delta", "%.17g", delta);
    say_eps(known, "eps_with_delta_0", delta > 0 ? (double)INFINITY : eps, "none");
    say_form(known, "many", "dynamic", "yes");
    say_points(known, definition);
    say_promise(known, guarantee);
    say(known, "post_processing", "suggestions, models and predictions are computed from what was released");
    say(known, "mechanism", "policy %s; the proof is in %s", tacet__known(definition, "policy"),
        tacet__known(guarantee, "proof"));
    say(known, "floating_point", "noise is drawn exactly, by whole-number arithmetic");
    say(known, "code_version", "%s, study %s", tacet_version(), tacet__known(status, "name"));
    say(known, "label_guess", "what is protected of one round, and that it is one of two things,");
    say(known, "label_more", "About somebody behind several rounds it can be more.");
    say(known, "label_how", "policy %s, proven in %s", tacet__known(definition, "policy"),
        tacet__known(guarantee, "proof"));
    json_decref(status);
    return TACET_OK;
}

/* ---- settings that were chosen on records ---- */

static tacet_status know_tuned(json_t *known, const tacet_disclosure *d, tacet_error *err) {
    json_t *tuned = json_loads(d->tuned, JSON_REJECT_DUPLICATES, NULL);
    const json_t *winners = json_object_get(tuned, "winners"), *score = json_object_get(tuned, "score");
    const double eps = json_number_value(json_object_get(tuned, "eps"));
    const long long records = (long long)json_integer_value(json_object_get(tuned, "records"));
    const long long tried = (long long)json_integer_value(json_object_get(tuned, "evaluations"));
    const size_t rounds = json_array_size(winners);
    if (!(eps > 0) || records <= 0 || rounds == 0) {
        json_decref(tuned);
        return tacet__fail(err, TACET_INVALID, "the result of tuning: not what 'tacet tune --json' prints");
    }
    const bool is_private = json_is_true(json_object_get(tuned, "private"));
    char added[ADDING];
    say(known, "product_kind", "Machine learning model"); /* a word of the registry: its settings */
    say(known, "product_type", "settings of a model, chosen among %lld by their scores on records", tried);
    say(known, "variant", "%s", is_private ? "pure" : "none");
    say(known, "privacy_unit", "%s", is_private ? "all values of one validation record" : "none");
    say(known, "eps", "%.17g", eps);
    say(known, "delta", "0");
    say_eps(known, "eps_with_delta_0", is_private ? eps : (double)INFINITY, "none");
    say(known, "model", "central: whoever holds the records is trusted, whoever sees the settings is not");
    say_form(known, "many", "static", "no");
    say(known, "data_domain", "%lld validation records, each with one value a setting, clipped to a public range",
        records);
    say(known, "unprotected_quantities",
        "That a record is among them, how many there are, and the records that models were trained on are not hidden "
        "by this. Nor is time.");
    say(known, "adjacency", "%s",
        is_private ? "The settings and the score that were released hardly change when one validation record is "
                     "replaced by any other, if its values depend on no other record."
                   : "Nothing is hidden: the noise came from a seed.");
    say(known, "actors_and_trust",
        "whoever holds the records evaluates all settings and keeps their scores; everybody else sees winners");
    say(known, "post_processing", "a model trained anew with the chosen settings depends on the records by them alone");
    say(known, "composition", "%zu choice%s add up to eps%s; %s", rounds, rounds > 1 ? "s" : "",
        score != NULL ? ", the score is of other records" : "", adding(d, added));
    say(known, "mechanism", "permute-and-flip over clipped sums, %zu round%s%s; the proof is in src/tune/README.md",
        rounds, rounds > 1 ? "s" : "", score != NULL ? ", and Laplace noise on one score" : "");
    say(known, "floating_point", "values are rounded to whole steps before they are added; coins are exact");
    say(known, "code_version", "%s, ledger entry %lld", tacet_version(),
        (long long)json_integer_value(json_object_get(json_array_get(winners, 0), "entry")));
    say(known, "label_from", "From everybody but whoever holds the records.");
    say(known, "label_guess", "one validation record, and that it is one of two things,");
    say(known, "label_more", "About somebody behind several records it can be more.");
    say(known, "label_keeps",
        "Whoever holds the records keeps them, all scores, and a ledger of what was spent. Everybody else keeps the "
        "settings.");
    say(known, "label_how", "the best of %lld settings by permute-and-flip, proven in src/tune/README.md", tried);
    json_decref(tuned);
    return TACET_OK;
}

tacet_status tacet__disclose_known(json_t **out, const tacet_disclosure *d, tacet_error *err) {
    tacet_status status = TACET_OK;
    *out = json_object();
    if (*out == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a disclosure");
    }
    say_common(*out, d);
    if (d->study != NULL) {
        status = know_study(*out, d, err);
    } else if (d->model != NULL) {
        status = know_model(*out, d, err);
    } else if (d->tuned != NULL) {
        status = know_tuned(*out, d, err);
    } else {
        know_release(*out, d);
    }
    if (status != TACET_OK) {
        json_decref(*out);
        *out = NULL;
    }
    return status;
}
