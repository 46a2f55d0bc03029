/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_evaluator.c - any bytes as what an evaluator prints: one finite number and blanks around it, or a refusal. */
#include "outsourced/trusted/evaluate.c" /* NOLINT(bugprone-suspicious-include) */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char text[MOST_OUTPUT + 1];
    double value = (double)NAN;
    const size_t length = size < MOST_OUTPUT ? size : MOST_OUTPUT; /* as read_output cuts it */
    if (length > 0) {
        memcpy(text, data, length);
    }
    if (number_from(&value, text, length, NULL) == TACET_OK) {
        char again[64];
        double same = 0;
        const int printed = snprintf(again, sizeof again, " %.17g\n", value);
        if (!isfinite(value) || number_from(&same, again, (size_t)printed, NULL) != TACET_OK || same != value) {
            abort();
        }
    }
    return 0;
}
