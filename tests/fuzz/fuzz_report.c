/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_report.c - any bytes as a report: refused, or drawn into a page without a script and with all of its end. And as
 * the status of a study, and as an entry of the registry: refused, or disclosed in pages of the same kind. */
#include <tacet/report/report.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void disclose(const char *status) {
    const tacet_disclosure d = {.study = status, .date = "2026-01-01"};
    char *text = NULL;
    if (tacet_disclose_label(&text, &d, true, NULL) == TACET_OK) {
        if (strstr(text, "<script") != NULL || strstr(text, "</body></html>\n") == NULL) {
            abort();
        }
        free(text);
    }
    if (tacet_disclose_registry(&text, &d, NULL) == TACET_OK) {
        if (strncmp(text, "url_slug: \"", 11) != 0 || strstr(text, "\n  administrative:\n") == NULL) {
            abort();
        }
        free(text);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char END[] = "</main></body></html>\n";
    tacet_report *report = NULL;
    char *text = NULL;
    size_t length = 0;
    if (tacet_report_create(&report, NULL) != TACET_OK) {
        return 0;
    }
    char *status = malloc(size + 1);
    if (status != NULL) {
        memcpy(status, data, size);
        status[size] = '\0';
        disclose(status);
    }
    free(status);
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
