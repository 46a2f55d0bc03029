/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_curator_answer.c - any bytes as what a curator answers its modeler: a manifest that decodes, a value that is
 * finite, rows as many as the manifest says, or a refusal. */
#include "answers.h"

#include "outsourced/open/remote.c" /* NOLINT(bugprone-suspicious-include) */

static void ask_release(tacet_remote *r) {
    tacet_manifest m = {.mechanism = "published", .dims = 2, .rows = 3};
    double *rows = NULL;
    const bool got = fetch_release(r, &rows, &m, fuzz_place, NULL) == TACET_OK;
    must(got == (rows != NULL));
    for (size_t i = 0; got && i < m.dims * m.rows; i++) {
        must(isfinite(rows[i]));
    }
    free(rows);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static char folder[64];
    tacet_remote r = {.settings = {.patience = 0, .poll = 1e-9}};
    tacet_manifest manifest;
    char *text = NULL;
    double value = (double)NAN;
    if (folder[0] == '\0') {
        fuzz_folder(folder, "release.csv");
    }
    answers_set(data, size);
    must(tacet_remote_query(&r, &value, "ticket", 3, NULL) != TACET_OK || isfinite(value));
    answers.asked = 0;
    if (fetch_manifest(&r, &manifest, &text, NULL) == TACET_OK) {
        must(text != NULL && manifest.rows > 0);
        tacet_manifest_clear(&manifest);
    }
    free(text);
    answers.asked = 0;
    free(tacet_remote_ledger(&r));
    answers.asked = 0;
    ask_release(&r);
    free(answers.body);
    return 0;
}
