/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_curator_answer.c - any bytes as what a curator answers its modeler: a manifest that decodes, a value that is
 * finite, rows as many as the manifest says, or a refusal. */
#include "answers.h"

#include "outsourced/open/remote.c" /* NOLINT(bugprone-suspicious-include) */

static char folder[64];

static void remove_folder(void) {
    char path[128];
    (void)snprintf(path, sizeof path, "%s/release.csv", folder);
    (void)unlink(path);
    (void)rmdir(folder);
}

static void ask_release(tacet_remote *r) {
    tacet_manifest m = {.mechanism = "published", .dims = 2, .rows = 3};
    double *rows = NULL;
    char path[128];
    (void)snprintf(path, sizeof path, "%s/release.csv", folder);
    if (fetch_release(r, &rows, &m, path, NULL) == TACET_OK) {
        for (size_t i = 0; i < m.dims * m.rows; i++) {
            if (!isfinite(rows[i])) {
                abort();
            }
        }
    } else if (rows != NULL) {
        abort();
    }
    free(rows);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    tacet_remote r = {.settings = {.patience = 0, .poll = 1e-9}};
    tacet_manifest manifest;
    char *text = NULL;
    double value = (double)NAN;
    if (folder[0] == '\0') {
        (void)snprintf(folder, sizeof folder,
                       access("/dev/shm", W_OK) == 0 ? "/dev/shm/tacet-fuzz-XXXXXX" : "/tmp/tacet-fuzz-XXXXXX");
        if (mkdtemp(folder) == NULL) {
            abort();
        }
        (void)atexit(remove_folder);
    }
    answers_set(data, size);
    if (tacet_remote_query(&r, &value, "ticket", 3, NULL) == TACET_OK && !isfinite(value)) {
        abort();
    }
    answers.asked = 0;
    if (fetch_manifest(&r, &manifest, &text, NULL) == TACET_OK) {
        if (text == NULL || manifest.rows == 0) {
            abort();
        }
        tacet_manifest_clear(&manifest);
    }
    free(text);
    answers.asked = 0;
    free(tacet_remote_ledger(&r));
    answers.asked = 0;
    ask_release(&r);
    answers_clear();
    return 0;
}
