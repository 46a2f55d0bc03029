/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_suggest.c - `tacet device suggest`: what to try next, from the suggestion service.
 * Ring: trusted. Nothing of the device's leaves but that it asks. */
#include "device/commands.h"

#include <sodium.h>
#include <tacet/io/csv.h>

/* The arm that this device plays of its own set, by the study's card, or at random while that has no scores, into the
 * answer; no arm is sent. */
static tacet_status choose_own(tacet_device_service *server, json_t *answer, const char *set, const cli_names *inputs,
                               tacet_error *err) {
    tacet_statistics_card *card = NULL;
    tacet_csv_table arms = {0}; /* row after row: a column an arm */
    tacet_simrng coin;
    uint64_t seed = 0;
    size_t chosen = 0;
    tacet_status status = tacet_device_service_card(server, &card, err);
    const size_t d = status == TACET_OK ? tacet_statistics_card_dim(card) : 0;
    const tacet_csv_wanted wanted = {.columns = inputs->at, .d = inputs->count, .least_records = 1};
    if (status == TACET_OK && inputs->count != d) {
        status = tacet_error_set(err, TACET_INVALID,
                                 "--decision-set needs --inputs: the %zu coordinates of an arm, in their order", d);
    }
    TACET_THEN(status, tacet_csv_load_file(&arms, set, &wanted, err));
    if (status == TACET_OK && sodium_init() < 0) {
        status = tacet_error_set(err, TACET_IO, "no entropy");
    }
    if (status == TACET_OK) {
        randombytes_buf(&seed, sizeof seed);
        tacet_simrng_init(&coin, seed, 0);
        status = tacet_statistics_card_choose(card, &chosen, &coin, arms.values, d, arms.n, err);
    }
    if (status == TACET_OK) {
        cli_add(answer, "action chosen", JL(&arms.values[chosen * d], d), J(chosen));
    }
    tacet_csv_table_clear(&arms);
    tacet_statistics_card_free(card);
    return status;
}

int cmd_suggest(int argc, char **argv, const cli_command *self) {
    tacet_device_address address = {.patience = SERVICE_PATIENCE};
    const char *key = NULL, *set = NULL;
    cli_names inputs = {0};
    tacet_device_service *server = NULL;
    char *text = NULL;
    tacet_error err = {0};
    const cli_option options[] = {
        CLI_OPT("key", &key, "TEXT",
                "Names this request: asking again with it gives the same suggestion. Default: a fresh one for this "
                "call, which covers its own retries."),
        CLI_OPT(
            "decision-set", &set, "FILE",
            "A study of decision sets that stay on the devices: this device's arms, a CSV. The arm is chosen here."),
        CLI_OPT("inputs", &inputs, "A,B,…", "Which of its columns are coordinates, in their order."),
        SERVICE_OPTIONS(address, true),
        {0}};
    CLI_PARSE_OR_RETURN(options, NULL, NULL);
    tacet_status status = tacet_device_service_open(&server, &address, &err);
    TACET_THEN(status, tacet_device_service_suggest(server, &text, key, &err));
    json_t *answer = cli_loads(text);
    if (status == TACET_OK && set != NULL) {
        status = choose_own(server, answer, set, &inputs, &err);
    }
    tacet_device_service_close(server);
    if (status != TACET_OK) {
        json_decref(answer);
        return cli_fail(self, &err);
    }
    return cli_tell(answer, "ticket  {ticket}\nindex   {index}\naction {*action| {.:.17g}}\n");
}
