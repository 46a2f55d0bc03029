/* cmd_suggest.c - `tacet device suggest`: what to try next, from the suggestion service.
 * Ring: trusted. Nothing of the device's leaves but that it asks. */
#include "device/commands.h"
#include "device/service.h"

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

int cmd_suggest(int argc, char **argv, const cli_command *self) {
    tacet_device_address address = {.patience = SERVICE_PATIENCE};
    const char *key = NULL;
    tacet_device_service *server = NULL;
    json_t *answer = NULL;
    char *text = NULL;
    tacet_error err;
    tacet_error_clear(&err);
    const cli_option options[] = {SERVICE_OPTIONS(address, true),
                                  {"key", CLI_STRING, &key, "TEXT",
                                   "Names this request: asking again with it gives the same suggestion. Default: a "
                                   "fresh one for this call, which "
                                   "covers its own retries.",
                                   false},
                                  {NULL, CLI_FLAG, NULL, NULL, NULL, false}};
    int code = CLI_EXIT_OK;
    if (!cli_parse(self, options, argc, argv, NULL, NULL, &code)) {
        return code;
    }
    tacet_status status = tacet_device_service_open(&server, &address, &err);
    status = status != TACET_OK ? status : tacet_device_service_suggest(server, &text, key, &err);
    answer = text != NULL ? json_loads(text, 0, NULL) : NULL;
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
