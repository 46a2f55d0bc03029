/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_server_answer.c - any bytes as what a server answers a device: a suggestion has a ticket, an index and an
 * action; a study that asks for another randomiser, range or eps than the device gives is refused, whatever it says. */
#include "local/trusted/device_internal.h"
#include "answers.h"

#include "local/trusted/service.c" /* NOLINT(bugprone-suspicious-include) */

/* That what was agreed to is what the answer says, read once more and otherwise. */
static void check_agreed(void) {
    json_t *answer = json_loadb(answers.body, answers.size, 0, NULL);
    const json_t *definition = json_object_get(answer, "definition");
    const json_t *reward = json_object_get(json_object_get(definition, "prior"), "reward");
    const char *trust = json_string_value(json_object_get(definition, "trust"));
    must(trust != NULL && strcmp(trust, "local") == 0 &&
         json_number_value(json_object_get(json_object_get(definition, "budget"), "eps")) == 1 &&
         json_number_value(json_array_get(reward, 0)) == -2 && json_number_value(json_array_get(reward, 1)) == 2);
    json_decref(answer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    tacet_device_service s = {.study = "slides", .patience = 0};
    const tacet_ldp ldp = {.kind = TACET_LDP_DUCHI, .eps = 1, .lo = -2, .hi = 2};
    char *text = NULL;
    answers_set(data, size);
    const bool suggested = tacet_device_service_suggest(&s, &text, "key", NULL) == TACET_OK;
    must(suggested == (text != NULL));
    if (suggested) {
        json_t *answer = json_loads(text, 0, NULL);
        must(json_string_value(json_object_get(answer, "ticket")) != NULL &&
             json_integer_value(json_object_get(answer, "index")) >= 0 &&
             json_is_array(json_object_get(answer, "action")));
        json_decref(answer);
    }
    free(text);
    answers.asked = 0;
    if (tacet_device_service_agree(&s, &ldp, NULL) == TACET_OK) {
        check_agreed();
    }
    answers.asked = 0;
    (void)tacet_device_service_observe(&s, "ticket", 0.5, NULL);
    free(answers.body);
    return 0;
}
