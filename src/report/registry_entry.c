/* SPDX-License-Identifier: Apache-2.0 */
/* registry_entry.c - an entry for the public registry of deployments of differential privacy, as YAML.
 * Ring: open. Source: the registry's own schema (deployments-schema.yaml, July 2026): url_slug, status, tier, and
 * sections of `deployment`. Differs: every field that we know is written, also those of a higher tier than the entry's.
 * tests/e2e/disclose.sh validates what is written against the schema. Cost: none to speak of. */
#include <tacet/report/report.h>

#include "core/fail.h"
#include "report/disclosure_facts.h"

#include <ctype.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/core/status.h>

enum { SLUG = 64 };
static const char NOT_STATED[] = "not stated";

/* What only people know. A choice is one of the words between bars. */
typedef struct fact {
    const char *name, *choices;
} fact;

static const fact FACTS[] = {
    {"url_slug", NULL},
    {"status", "|Converted|Draft|Pending|Changes Required|Approved|Approved (Update Requested)|Approved (Pending)|"},
    {"tier", "|1|2|3|"},
    {"name", NULL},
    {"data_curators", NULL},
    {"description", NULL},
    {"intended_use", NULL},
    {"data_product_region", NULL},
    {"data_product_sector", "|Technology|Healthcare|Education|Government|Energy|Finance|"},
    {"preprocessing_and_hyperparameter_tuning", NULL},
    {"platform", NULL},
    {"access_control", NULL},
    {"justification", NULL},
    {"registry_authors", NULL},
    {"sources", NULL},
    {"notes", NULL},
};
enum { FACT_COUNT = sizeof FACTS / sizeof *FACTS };

static bool is_choice(const char *choices, const char *value) {
    const size_t length = strlen(value);
    const char *at = choices;
    while (length > 0 && (at = strstr(at, value)) != NULL && !(at[-1] == '|' && at[length] == '|')) {
        at++;
    }
    return length > 0 && at != NULL;
}

static tacet_status check_fact(const char *name, const json_t *value, tacet_error *err) {
    for (size_t i = 0; i < FACT_COUNT; i++) {
        if (strcmp(FACTS[i].name, name) == 0 && json_is_string(value)) {
            return FACTS[i].choices == NULL || is_choice(FACTS[i].choices, json_string_value(value))
                       ? TACET_OK
                       : tacet__fail(err, TACET_INVALID, "fact '%s' must be one of %s", name, FACTS[i].choices);
        }
    }
    return tacet__fail(err, TACET_INVALID, "fact '%.40s' is no text, or no field that people fill in", name);
}

/* *out is the caller's to drop, whatever is returned. */
static tacet_status load_facts(json_t **out, const char *text, tacet_error *err) {
    const char *name = NULL;
    json_t *value = NULL;
    tacet_status status = TACET_OK;
    *out = text != NULL ? json_loads(text, JSON_REJECT_DUPLICATES, NULL) : json_object();
    if (!json_is_object(*out)) {
        return tacet__fail(err, TACET_INVALID, "the facts are not a JSON object");
    }
    json_object_foreach(*out, name, value) {
        TACET_THEN(status, check_fact(name, value, err));
    }
    return status;
}

static const char *fact_or(const json_t *facts, const char *name, const char *otherwise) {
    const char *said = json_string_value(json_object_get(facts, name));
    return said != NULL && said[0] != '\0' ? said : otherwise;
}

/* Names between semicolons; one that says so where nobody said any. */
static json_t *names_of(const json_t *facts, const char *name) {
    const char *said = fact_or(facts, name, NOT_STATED);
    json_t *list = json_array();
    while (*said != '\0') {
        const size_t length = strcspn(said, ";");
        size_t from = strspn(said, " ");
        (void)json_array_append_new(
            list, json_stringn(said + (from < length ? from : 0), length - (from < length ? from : 0)));
        said += length + (said[length] == ';');
    }
    return list;
}

/* Letters and digits, and a hyphen for whatever stands between them: "Ward 7" is ward-7. */
static void slug_of(char out[SLUG], const char *name) {
    size_t n = 0;
    for (; *name != '\0' && n + 2 < SLUG; name++) {
        if (isalnum((unsigned char)*name)) {
            out[n++] = (char)tolower((unsigned char)*name);
        } else if (n > 0 && out[n - 1] != '-') {
            out[n++] = '-';
        }
    }
    n -= n > 0 && out[n - 1] == '-';
    out[n] = '\0';
}

static json_t *basic_of(const json_t *known, const json_t *facts) {
    json_t *basic =
        json_pack("{ss so ss ss ss ss ss}", "name", fact_or(facts, "name", NOT_STATED), "data_curators",
                  names_of(facts, "data_curators"), "intended_use", fact_or(facts, "intended_use", NOT_STATED),
                  "data_product_type", tacet__known(known, "product_kind"), "data_product_region",
                  fact_or(facts, "data_product_region", NOT_STATED), "description",
                  fact_or(facts, "description", tacet__known(known, "product_type")), "publication_date",
                  tacet__known(known, "date"));
    if (basic != NULL && fact_or(facts, "data_product_sector", NULL) != NULL) {
        (void)json_object_set(basic, "data_product_sector", json_object_get(facts, "data_product_sector"));
    }
    return basic;
}

static json_t *loss_of(const json_t *known) {
    return json_pack("{ss ss s{sf sf} so}", "privacy_unit", tacet__known(known, "privacy_unit"), "privacy_unit_details",
                     tacet__known(known, "adjacency"), "privacy_parameters", "epsilon",
                     strtod(tacet__known(known, "eps"), NULL), "delta", strtod(tacet__known(known, "delta"), NULL),
                     "privacy_parameters_details",
                     json_sprintf("epsilon with delta 0: %s. Spent by the ledger: epsilon %s, of %s.",
                                  tacet__known(known, "eps_with_delta_0"), tacet__known(known, "spent_eps"),
                                  tacet__known(known, "budget_eps")));
}

static json_t *model_of(const json_t *known) {
    const char *model = tacet__known(known, "model");
    const bool many = strcmp(tacet__known(known, "releases"), "many") == 0;
    const bool dynamic = strcmp(tacet__known(known, "data"), "dynamic") == 0;
    const bool interactive = strcmp(tacet__known(known, "interactive"), "yes") == 0;
    return json_pack("{ss ss ss ss ss ss}", "model_name", strncmp(model, "local", 5) == 0 ? "Local" : "Central",
                     "model_name_details", model, "actors", tacet__known(known, "actors_and_trust"), "release_type",
                     many ? "Many releases" : "One release", "data_source_type", dynamic ? "Dynamic" : "Static",
                     "access_type", interactive ? "Interactive" : "Non-interactive");
}

static json_t *implementation_of(const json_t *known, const json_t *facts) {
    return json_pack(
        "{ss so ss}", "preprocessing_and_hyperparameter_tuning",
        fact_or(facts, "preprocessing_and_hyperparameter_tuning", NOT_STATED), "mechanisms",
        json_sprintf("%s. Library: %s. Floating point: %s. Timing: %s. Code: %s. Platform: %s. Access control: %s.",
                     tacet__known(known, "mechanism"), tacet__known(known, "library"),
                     tacet__known(known, "floating_point"), tacet__known(known, "timing"),
                     tacet__known(known, "code_version"), fact_or(facts, "platform", NOT_STATED),
                     fact_or(facts, "access_control", NOT_STATED)),
        "justification", fact_or(facts, "justification", NOT_STATED));
}

static json_t *administrative_of(const json_t *facts) {
    json_t *out = json_pack("{so}", "registry_authors", names_of(facts, "registry_authors"));
    static const char *const MORE[] = {"sources", "notes"};
    for (size_t i = 0; out != NULL && i < sizeof MORE / sizeof *MORE; i++) {
        if (fact_or(facts, MORE[i], NULL) != NULL) {
            (void)json_object_set(out, MORE[i], json_object_get(facts, MORE[i]));
        }
    }
    return out;
}

/* NULL: no memory. A tier is guidance: 3 where all that people are asked for was said, else 2. */
static json_t *entry_of(const json_t *known, const json_t *facts) {
    static const char *const OF_TIER_3[] = {"name",          "data_curators",
                                            "intended_use",  "data_product_region",
                                            "justification", "preprocessing_and_hyperparameter_tuning"};
    const char *tier = "3";
    char slug[SLUG];
    for (size_t i = 0; i < sizeof OF_TIER_3 / sizeof *OF_TIER_3; i++) {
        tier = fact_or(facts, OF_TIER_3[i], NULL) != NULL ? tier : "2";
    }
    slug_of(slug, fact_or(facts, "url_slug", fact_or(facts, "name", NOT_STATED)));
    const bool pure = strcmp(tacet__known(known, "variant"), "pure") == 0;
    return json_pack("{ss ss si s{so s{ss ss ss} so so s{ss ss} so so}}", "url_slug", slug, "status",
                     fact_or(facts, "status", "Draft"), "tier", fact_or(facts, "tier", tier)[0] - '0', "deployment",
                     "basic", basic_of(known, facts), "dp_variant", "variant_name", pure ? "Pure DP" : "Approximate DP",
                     "data_domain", tacet__known(known, "data_domain"), "unprotected_quantities",
                     tacet__known(known, "unprotected_quantities"), "privacy_loss", loss_of(known), "deployment_model",
                     model_of(known), "accounting", "post_processing", tacet__known(known, "post_processing"),
                     "composition", tacet__known(known, "composition"), "implementation",
                     implementation_of(known, facts), "administrative", administrative_of(facts));
}

/* Objects as indented blocks; texts, numbers and lists as JSON writes them, which YAML reads. */
static void put_object(tacet__text *out, const json_t *object, int depth) {
    const char *name = NULL;
    json_t *value = NULL;
    json_object_foreach((json_t *)(uintptr_t)object, name, value) {
        char *text = json_is_object(value) ? strdup("") : json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(17));
        tacet__text_format(out, "%*s%s:%s", 2 * depth, "", name, json_is_object(value) ? "" : " ");
        tacet__text_add(out, text != NULL ? text : "");
        tacet__text_add(out, "\n");
        out->failed = out->failed || text == NULL;
        free(text);
        if (json_is_object(value)) {
            put_object(out, value, depth + 1);
        }
    }
}

tacet_status tacet_disclose_registry(char **out, const tacet_disclosure *d, tacet_error *err) {
    json_t *facts = NULL, *known = NULL, *entry = NULL;
    tacet__text page = {0};
    *out = NULL;
    tacet_status status = load_facts(&facts, d->facts, err);
    TACET_THEN(status, tacet__disclose_known(&known, d, err));
    if (status == TACET_OK && strcmp(tacet__known(known, "variant"), "none") == 0) {
        status =
            tacet__fail(err, TACET_INVALID, "nothing is guaranteed here: a registry of guarantees has no entry for it");
    }
    if (status == TACET_OK) {
        entry = entry_of(known, facts);
        put_object(&page, entry, 0);
        page.failed = page.failed || entry == NULL;
        status = tacet__disclosure(out, &page, err);
    }
    json_decref(entry);
    json_decref(known);
    json_decref(facts);
    return status;
}
