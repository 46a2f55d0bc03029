/* SPDX-License-Identifier: Apache-2.0 */
/* studies.c - the two studies the clients play, one of the local model and one of the central one. */
#include "soak.h"

#include "service/trusted/kinds.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const soak_study_names[SOAK_STUDIES] = {"soak-local", "soak-central"};
extern const tacet__policy_kind tacet__policy_ucb;
const tacet__policy_kind *const soak_kinds[] = {&tacet__policy_ucb, &tacet__kind_central, NULL};

void soak_die(const char *format, ...) {
    va_list args;
    va_start(args, format);
    (void)fprintf(stderr, "soak: ");
    (void)vfprintf(stderr, format, args);
    (void)fprintf(stderr, "\n");
    va_end(args);
    exit(1); /* NOLINT(concurrency-mt-unsafe): the program is over */
}

void soak_must(tacet_status status, const tacet_error *err, const char *what) {
    if (status != TACET_OK) {
        soak_die("%s: %s: %s", what, tacet_status_name(status), err->message);
    }
}

tacet__engine_settings soak_engine_settings(const soak *s) {
    return (tacet__engine_settings){.store = {.store = s->store, .create = true}, .kinds = soak_kinds};
}

static void add(const soak *s, const char *definition) {
    const tacet__engine_settings settings = soak_engine_settings(s);
    tacet_error err = {0};
    soak_must(tacet__engine_add(&settings, NULL, definition, strlen(definition), &err), &err, "a study");
}

static void add_local(const soak *s, const char *name, uint64_t rounds) {
    char local[4096];
    char points[2048] = "";
    for (size_t i = 0; i < SOAK_ARMS; i++) {
        const size_t at = strlen(points);
        (void)snprintf(points + at, sizeof points - at, "%s[%.17g]", i > 0 ? "," : "", (double)i / (SOAK_ARMS - 1));
    }
    (void)snprintf(
        local, sizeof local,
        "{\"format\":\"tacet-study-1\",\"name\":\"%s\",\"trust\":\"local\",\"policy\":\"ucb\",\"rounds\":%llu,"
        "\"budget\":{\"eps\":1},\"options\":{\"randomizer\":\"hybrid\"},\"domain\":{\"points\":[%s]},"
        "\"prior\":{\"kernel\":\"matern52\",\"lengthscale\":[0.2],\"reward\":[-2,2],\"bound\":1,\"noise\":1}}",
        name, (unsigned long long)rounds, points);
    add(s, local);
}

void soak_studies_make(soak *s, uint64_t rounds) {
    char central[1024];
    (void)snprintf(
        central, sizeof central,
        "{\"format\":\"tacet-study-1\",\"name\":\"%s\",\"trust\":\"central\",\"policy\":\"central\",\"rounds\":%llu,"
        "\"budget\":{\"eps\":1,\"delta\":1e-6},\"options\":{\"open_most\":4096},\"domain\":{\"lower\":[0],\"upper\":[1]"
        "},"
        "\"prior\":{\"kernel\":\"se\",\"lengthscale\":[0.3],\"reward\":[0,1]}}",
        soak_study_names[1], (unsigned long long)rounds);
    add_local(s, soak_study_names[0], rounds);
    add(s, central);
    const tacet__engine_settings settings = soak_engine_settings(s);
    tacet_error err = {0};
    tacet__studies *store = NULL;
    tacet__study study;
    uint64_t seq = 0;
    tacet__study_init(&study);
    soak_must(tacet__studies_open(&store, &settings.store, &err), &err, "the store");
    soak_must(tacet__studies_add_token(store, s->token, TACET__TOKEN_DEVICE, NULL, "soak", 0, 0, 0, &err), &err,
              "a token");
    soak_must(tacet__studies_get(store, &study, soak_study_names[1], &err), &err, "the central study");
    soak_must(tacet__studies_get_snapshot(store, &study, &s->first_state, &seq, &err), &err, "its first state");
    if (seq != 0) {
        soak_die("the first state is not of the beginning");
    }
    tacet__study_clear(&study);
    tacet__studies_close(store);
}
