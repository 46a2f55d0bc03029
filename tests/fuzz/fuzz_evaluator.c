/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_evaluator.c - any bytes as what an evaluator prints: one finite number and blanks around it, or a refusal. */
#include "fuzz.h"

#include "outsourced/trusted/evaluate.c" /* NOLINT(bugprone-suspicious-include) */

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char text[MOST_OUTPUT + 1], again[64];
    double value = (double)NAN, same = 0;
    const size_t length = size < MOST_OUTPUT ? size : MOST_OUTPUT; /* as read_output cuts it */
    memcpy(text, size > 0 ? (const void *)data : "", length);
    if (number_from(&value, text, length, NULL) == TACET_OK) {
        const int printed = snprintf(again, sizeof again, " %.17g\n", value);
        must(isfinite(value) && number_from(&same, again, (size_t)printed, NULL) == TACET_OK && same == value);
    }
    return 0;
}
