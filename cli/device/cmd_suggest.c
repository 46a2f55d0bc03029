/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_suggest.c - `tacet device suggest`: what to try next, from the suggestion service.
 * Ring: trusted. Nothing of the device's leaves but that it asks. */
#include "device/commands.h"
#include "device/statistics.h"

#include <stdlib.h>
#include <stdio.h>

static void print(const json_t *answer) {
    size_t i = 0;
    json_t *x = NULL;
    printf("ticket  %s\nindex   %lld\naction ", json_string_value(json_object_get(answer, "ticket")),
           (long long)json_integer_value(json_object_get(answer, "index")));
    json_array_foreach(json_object_get(answer, "action"), i, x) {
        printf(" %.17g", json_number_value(x));
    }
    printf("\n");
}

/* The arm that this device plays of its own set, into the answer; none of them is sent. */
static tacet_status choose_own(tacet_device_service *server, json_t *answer, const char *set, const char *columns,
                               tacet_error *err) {
    tacet_statistics_model *model = NULL;
    double *arms = NULL;
    size_t count = 0, chosen = 0;
    tacet_status status = tacet_device_service_model(server, &model, err);
    const size_t d = status == TACET_OK ? tacet_statistics_model_dim(model) : 0;
    status = status != TACET_OK ? status : statistics_arms(&arms, &count, set, columns, d, err);
    status = status != TACET_OK ? status : statistics_choose(&chosen, model, arms, count, err);
    if (status == TACET_OK) {
        json_t *action = json_array();
        for (size_t i = 0; i < d; i++) {
            (void)json_array_append_new(action, json_real(arms[chosen * d + i]));
        }
        (void)json_object_set_new(answer, "action", action);
        (void)json_object_set_new(answer, "chosen", json_integer((json_int_t)chosen));
    }
    free(arms);
    tacet_statistics_model_free(model);
    return status;
}

int cmd_suggest(int argc, char **argv, const cli_command *self) {
    tacet_device_address address = {.patience = SERVICE_PATIENCE};
    const char *key = NULL, *set = NULL, *columns = NULL;
    tacet_device_service *server = NULL;
    json_t *answer = NULL;
    char *text = NULL;
    tacet_error err;
    tacet_error_clear(&err);
    const cli_option options[] = {
        SERVICE_OPTIONS(address, true),
        CLI_OPT("key", &key, "TEXT",
                "Names this request: asking again with it gives the same suggestion. Default: a fresh one for this "
                "call, which covers its own retries."),
        CLI_OPT(
            "set", &set, "FILE",
            "A study of decision sets that stay on the devices: this device's arms, a CSV. The arm is chosen here."),
        CLI_OPT("columns", &columns, "A,B", "Which of its columns are coordinates."),
        {0}};
    int code = CLI_EXIT_OK;
    CLI_PARSE_OR_RETURN(options, NULL, NULL);
    tacet_status status = tacet_device_service_open(&server, &address, &err);
    status = status != TACET_OK ? status : tacet_device_service_suggest(server, &text, key, &err);
    answer = text != NULL ? json_loads(text, 0, NULL) : NULL;
    if (status == TACET_OK && set != NULL) {
        status = choose_own(server, answer, set, columns, &err);
    }
    if (status == TACET_OK) {
        if (!cli_json_wanted()) {
            print(answer);
        }
        cli_json_print(json_incref(answer));
    } else {
        code = cli_fail(self, &err);
    }
    json_decref(answer);
    free(text);
    tacet_device_service_close(server);
    return code;
}
