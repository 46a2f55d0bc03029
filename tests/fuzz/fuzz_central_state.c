/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_central_state.c - saved states of the central policies and of the local server with bytes changed and the
 * hashes put right, the inner ones too: refused, or the policy goes on. The input is a list of changes. */
#include "fuzz.h"

#include "ab/trusted/earning.h"
#include "local/open/statistics_internal.h"
#include "central/open/learner_batches.h"
#include "central/shared/features.h"
#include "local/open/statistics.h"
#include "central/trusted/policy.h"
#include "central/trusted/direct.h"

enum { ARMS = 3, SETS = 3, CONTEXTS = 4, KINDS = 5 };
/* Known and unknown horizon, counted arms; then a fixed domain; then numbers with contexts. */
static tacet_policy *policies[KINDS];
static tacet_local_statistics *server;
static tacet_blob good[KINDS + 1];
static const double REPORT[6] = {1, 0.1, 0, 2, -0.1, 0.2};

static int play(size_t k, size_t rounds) {
    static const double arms[ARMS] = {-1, 0, 1};
    const tacet_round set = {.points = arms, .ld = 1, .d = 1, .count = ARMS},
                      context = {.context = arms, .context_dim = 1};
    tacet_policy *policy = policies[k];
    for (size_t t = 0; t < rounds; t++) {
        tacet_suggestion s;
        if (tacet_policy_suggest(policy, &s, k < SETS ? &set : k == CONTEXTS ? &context : NULL, NULL) != TACET_OK) {
            return 0;
        }
        must(s.index < ARMS);
        if (tacet_policy_observe(policy, s.ticket, 0.4, NULL) != TACET_OK) {
            return 0;
        }
    }
    return 1;
}

/* Its first epoch has ended after seven rounds, its second after twelve. */
static tacet_status make_contexts(const tacet_ask *ask) {
    static const double actions[ARMS] = {0, 1, 4};
    const tacet_space_options bounds = {.bounds = "a=0:4,c=-2:2"};
    tacet_space space;
    tacet_status status = tacet_space_short(&space, &bounds, NULL);
    const tacet_ab_earning_settings s = {.space = &space,
                                         .action_columns = 1,
                                         .actions = actions,
                                         .count = ARMS,
                                         .upper = 1,
                                         .eps = 10,
                                         .rounds = 40,
                                         .first = 5};
    TACET_THEN(status, tacet_ab_earning_create(&policies[CONTEXTS], &s, ask, NULL));
    tacet_space_clear(&space);
    return status;
}

static int prepare(void) {
    static const tacet_domain ball = {.kind = TACET_DOMAIN_BALL, .d = 1, .radius = 1};
    static const double lower = -1, upper = 1, near = 0.2;
    static const size_t levels = ARMS;
    static const tacet_domain numbered = {
        .kind = TACET_DOMAIN_BOX, .d = 1, .lower = &lower, .upper = &upper, .levels = &levels};
    static const double points[ARMS] = {-0.5, 0, 0.9};
    static tacet_noise *noise;
    tacet_kernel_spec spec;
    tacet_kernel_spec_defaults(&spec);
    tacet_kernel *kernel = NULL, *short_kernel = NULL;
    tacet_features *features = NULL, *places = NULL;
    tacet_central_map *map = NULL, *list_map = NULL;
    tacet_central_settings set;
    tacet_central_settings_defaults(&set);
    set.eps = 10;
    set.delta = 0.1;
    set.rounds = 40;
    set.open_most = 3;
    set.learner.grid = 6;
    tacet_central_settings unknown = set;
    unknown.rounds = 0;
    tacet_central_direct_settings direct;
    tacet_central_direct_settings_defaults(&direct);
    direct.eps = 10;
    direct.rounds = 40;
    const tacet_central_arms list = {NULL, points, 1, ARMS};
    if (tacet_noise_open_seeded(&noise, 1, 0, NULL) != TACET_OK) {
        return 0;
    }
    const tacet_ask ask = {.noise = noise, .ticket = "t", .what = "w", .to_whom = "x"};
    int made = tacet_kernel_create(&kernel, &spec, NULL) == TACET_OK &&
               tacet_features_create_mercer(&features, kernel, &ball, 8, 3, NULL) == TACET_OK &&
               tacet_central_map_create(&map, features, &ball, 0, 0, 1, NULL) == TACET_OK &&
               tacet_central_create(&policies[0], map, &set, &ask, NULL) == TACET_OK &&
               tacet_central_create(&policies[1], map, &unknown, &ask, NULL) == TACET_OK &&
               tacet_central_direct_policy(&policies[SETS], &list, &direct, &ask, NULL) == TACET_OK &&
               tacet_local_statistics_create(&server, map, &set.learner, 0.1, 3, 1.5, NULL) == TACET_OK;
    spec.lengthscales = &near;
    made = made && tacet_kernel_create(&short_kernel, &spec, NULL) == TACET_OK &&
           tacet__central_features(&places, short_kernel, &numbered, 8, NULL) == TACET_OK &&
           tacet_central_map_create(&list_map, places, &numbered, tacet_features_dim(places), 0, 1, NULL) == TACET_OK &&
           tacet__central_countable(list_map) == ARMS &&
           tacet_central_create(&policies[2], list_map, &set, &ask, NULL) == TACET_OK &&
           make_contexts(&ask) == TACET_OK;
    for (size_t k = 0; made && k < KINDS; k++) {
        made = play(k, 7) && tacet_policy_save(policies[k], &good[k], NULL) == TACET_OK;
    }
    for (size_t t = 0; made && t < 7; t++) {
        made = tacet_local_statistics_take(server, REPORT, 6, NULL) == TACET_OK;
    }
    tacet_kernel_free(short_kernel);
    tacet_kernel_free(kernel); /* the features keep none of it */
    return made &&
           tacet__state_save(&good[KINDS], "statistics", tacet__local_statistics_state, server, NULL) == TACET_OK;
}

/* Every state within the state ends with its hash; the inner ones end where the outer one does, or where the next
 * begins. Found by their head, put right from the last to the first. */
static void rehash(unsigned char *bytes, size_t size, const unsigned char *good_bytes) {
    static const unsigned char magic[6] = {'T', 'A', 'C', 'E', 'T', 0};
    for (size_t at = size - FUZZ_HASH; at-- > 0;) {
        if (memcmp(good_bytes + at, magic, sizeof magic) != 0) {
            continue;
        }
        uint64_t length = at == 0 ? size : 0; /* an inner state follows its length */
        for (size_t i = 0; at >= 8 && i < 8; i++) {
            length |= (uint64_t)good_bytes[at - 8 + i] << (8 * i);
        }
        if (length > FUZZ_HASH && length <= size - at) {
            crypto_generichash(bytes + at + length - FUZZ_HASH, FUZZ_HASH, bytes + at, length - FUZZ_HASH, NULL, 0);
        }
    }
}

static unsigned char *changed(size_t k, const uint8_t *data, size_t size) {
    unsigned char *bytes = fuzz_changed(&good[k], data, size);
    rehash(bytes, good[k].size, good[k].data);
    return bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (server == NULL) {
        must(prepare());
    }
    for (size_t k = 0; k < KINDS; k++) {
        unsigned char *bytes = changed(k, data, size);
        (void)tacet_policy_load(policies[k], data, size, NULL);
        if (tacet_policy_load(policies[k], bytes, good[k].size, NULL) == TACET_OK) {
            (void)play(k, 6);
        }
        must(tacet_policy_load(policies[k], good[k].data, good[k].size, NULL) == TACET_OK); /* whatever came before */
        free(bytes);
    }
    unsigned char *bytes = changed(KINDS, data, size);
    (void)tacet__state_load(data, size, "statistics", tacet__local_statistics_state, server, NULL);
    must(tacet__state_load(bytes, good[KINDS].size, "statistics", tacet__local_statistics_state, server, NULL) !=
             TACET_OK ||
         tacet_local_statistics_take(server, REPORT, 6, NULL) == TACET_OK);
    free(bytes);
    return 0;
}
