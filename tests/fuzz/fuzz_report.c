/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_report.c - any bytes as a report: refused, or drawn into a page without a script and with all of its end. */
#include <tacet/report/report.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char END[] = "</main></body></html>\n";
    tacet_report *report = NULL;
    char *text = NULL;
    size_t length = 0;
    if (tacet_report_create(&report, NULL) != TACET_OK) {
        return 0;
    }
    if (tacet_report_add(report, "f", (const char *)data, size, NULL) == TACET_OK &&
        tacet_report_html(report, &text, &length, NULL) == TACET_OK) {
        if (strlen(text) != length || strstr(text, "<script") != NULL || length < sizeof END ||
            strcmp(text + length - (sizeof END - 1), END) != 0) {
            abort();
        }
        free(text);
        for (size_t i = 0; i < tacet_report_charts(report); i++) {
            if (tacet_report_svg(report, i, &text, &length, NULL) == TACET_OK) {
                free(text);
            }
        }
    }
    tacet_report_free(report);
    return 0;
}
