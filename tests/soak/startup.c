/* SPDX-License-Identifier: Apache-2.0 */
/* startup.c - a store with a million observations, written the way a server writes them but in large transactions; then
 * a server on it is timed from its start to its first answer. The newest snapshot is as old as a server lets it become.
 */
#include "soak.h"

#include "io/http/client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "local/shared/ldp.h"
#include <tacet/core/simrng.h>

enum { PER_TRANSACTION = 20000, PATIENCE = 30 };

static void append_pair(tacet__studies *store, tacet__study *study, tacet_policy *policy, double value) {
    tacet_error err = {0};
    tacet_suggestion s = {0};
    soak_must(tacet_policy_suggest(policy, &s, NULL, &err), &err, "a suggestion");
    tacet__event suggestion = {.kind = TACET__EVENT_SUGGEST, .number = s.ticket, .index = s.index};
    soak_must(tacet__studies_append(store, study, &suggestion, &err), &err, "appending");
    soak_must(tacet_policy_observe(policy, s.ticket, value, &err), &err, "an observation");
    tacet__event observation = {.kind = TACET__EVENT_OBSERVE,
                                .of = suggestion.seq,
                                .number = s.ticket,
                                .index = TACET__NO_INDEX,
                                .value = value};
    soak_must(tacet__studies_append(store, study, &observation, &err), &err, "appending");
}

static void put_snapshot(tacet__studies *store, tacet__study *study, const tacet_policy *policy) {
    tacet_error err = {0};
    tacet_blob bytes;
    tacet_blob_init(&bytes);
    soak_must(tacet_policy_save(policy, &bytes, &err), &err, "saving");
    soak_must(tacet__studies_put_snapshot(store, study, bytes.data, bytes.size, &err), &err, "a snapshot");
    tacet_blob_clear(&bytes);
}

static void fill(soak *s, size_t observations) {
    const tacet__engine_settings settings = soak_engine_settings(s);
    tacet_error err = {0};
    tacet__studies *store = NULL;
    tacet__study study;
    tacet__definition def;
    tacet__learner learner = {0};
    tacet_ldp ldp;
    tacet_simrng rng;
    tacet__study_init(&study);
    tacet_simrng_init(&rng, 11, 0);
    soak_must(tacet_ldp_init(&ldp, TACET_LDP_DUCHI, 1, -2, 2, &err), &err, "the randomiser");
    soak_must(tacet__studies_open(&store, &settings.store, &err), &err, "the store");
    soak_must(tacet__studies_get(store, &study, soak_study_names[0], &err), &err, "the study");
    soak_must(tacet__definition_decode(&def, (const char *)study.definition.data, study.definition.size, &err), &err,
              "the definition");
    const tacet__policy_kind *kind = tacet__policy_find(soak_kinds, &def);
    soak_must(kind->create(&learner, &def, NULL, NULL, 0, &err), &err, "a policy");
    bool snapshot = false;
    for (size_t done = 0; done < observations;) {
        soak_must(tacet__studies_begin(store, &study, &err), &err, "a transaction");
        for (size_t i = 0; i < PER_TRANSACTION && done < observations; i++, done++) {
            append_pair(store, &study, learner.policy, tacet_ldp_bit(&ldp, tacet_simrng_uniform(&rng) < 0.5));
            if (!snapshot && study.head + TACET__SNAPSHOT_EVENTS >= 2 * (uint64_t)observations) {
                put_snapshot(store, &study, learner.policy);
                snapshot = true;
            }
        }
        soak_must(tacet__studies_commit(store, &err), &err, "committing");
    }
    tacet__learner_free(kind, &learner);
    tacet__definition_clear(&def);
    tacet__study_clear(&study);
    tacet__studies_close(store);
}

double soak_startup(soak *s, size_t observations) {
    char authority[SOAK_PATH + 16];
    char path[128];
    tacet__client *wire = NULL;
    tacet__answer answer = {0};
    tacet_error err = {0};
    tacet__client_settings settings;
    fill(s, observations);
    const double begin = soak_now();
    soak_server_start(s, 0);
    (void)snprintf(authority, sizeof authority, "%s/ca.pem", s->keys);
    (void)snprintf(path, sizeof path, "/v1/studies/%s/suggestions", soak_study_names[0]);
    tacet__client_defaults(&settings);
    settings.url = s->servers[0].url;
    settings.authority = authority;
    settings.token = s->token;
    soak_must(tacet__client_open(&wire, &settings, &err), &err, "a client");
    do { /* 503: loading takes longer than a client is let wait */
        soak_must(tacet__client_request(wire, &answer, "POST", path, "{}", &err), &err, "the first request");
    } while (answer.status == 503 && soak_now() - begin < PATIENCE);
    const double seconds = soak_now() - begin;
    if (answer.status != 201) {
        soak_die("the first suggestion got %ld: %.200s", answer.status, answer.body);
    }
    tacet__client_close(wire);
    return seconds;
}
