/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_report.c - any bytes as a report: refused, or drawn into a page without a script and with all of its end. And as
 * the status of a study, and as an entry of the registry: refused, or disclosed in pages of the same kind. */
#include "fuzz.h"

#include <tacet/report/report.h>

static void disclose(const char *status) {
    const tacet_disclosure d = {.study = status, .date = "2026-01-01"};
    char *text = NULL;
    if (tacet_disclose_label(&text, &d, true, NULL) == TACET_OK) {
        must(strstr(text, "<script") == NULL && strstr(text, "</body></html>\n") != NULL);
        free(text);
    }
    if (tacet_disclose_registry(&text, &d, NULL) == TACET_OK) {
        must(strncmp(text, "url_slug: \"", 11) == 0 && strstr(text, "\n  administrative:\n") != NULL);
        free(text);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char END[] = "</main></body></html>\n";
    tacet_report *report = NULL;
    char *text = fuzz_text(data, size);
    size_t length = 0;
    disclose(text);
    free(text);
    must(tacet_report_create(&report, NULL) == TACET_OK);
    if (tacet_report_add(report, "f", (const char *)data, size, NULL) == TACET_OK &&
        tacet_report_html(report, &text, &length, NULL) == TACET_OK) {
        must(strlen(text) == length && strstr(text, "<script") == NULL && length >= sizeof END &&
             strcmp(text + length - (sizeof END - 1), END) == 0);
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
