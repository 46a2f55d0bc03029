/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_journal.c - any bytes as the modeler's journal: refused, or one that opens again with the same queries. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "outsourced/open/journal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[64];

static void remove_folder(void) {
    char path[128];
    (void)snprintf(path, sizeof path, "%s/journal.jsonl", folder);
    (void)unlink(path);
    (void)rmdir(folder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char path[128];
    tacet__journal first;
    tacet__journal second;
    if (folder[0] == '\0') {
        (void)snprintf(folder, sizeof folder,
                       access("/dev/shm", W_OK) == 0 ? "/dev/shm/tacet-fuzz-XXXXXX" : "/tmp/tacet-fuzz-XXXXXX");
        if (mkdtemp(folder) == NULL) {
            abort();
        }
        (void)atexit(remove_folder);
    }
    (void)snprintf(path, sizeof path, "%s/journal.jsonl", folder);
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(data, 1, size, file) != size || fclose(file) != 0) {
        abort();
    }
    json_t *settings = json_pack("{si}", "seed", 1);
    if (tacet__journal_open(&first, folder, settings, NULL) == TACET_OK) {
        const size_t count = first.count;
        tacet__journal_close(&first);
        if (tacet__journal_open(&second, folder, settings, NULL) != TACET_OK || second.count != count) {
            abort();
        }
        tacet__journal_close(&second);
    }
    json_decref(settings);
    return 0;
}
