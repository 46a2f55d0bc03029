/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_journal.c - any bytes as the modeler's journal: refused, or one that opens again with the same queries. */
#include "fuzz.h"

#include "outsourced/open/journal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static char folder[64];
    tacet__journal first, second;
    if (folder[0] == '\0') {
        fuzz_folder(folder, "journal.jsonl");
    }
    FILE *file = fopen(fuzz_place, "wb");
    must(file != NULL && fwrite(data, 1, size, file) == size && fclose(file) == 0);
    json_t *settings = json_pack("{si}", "seed", 1);
    if (tacet__journal_open(&first, folder, settings, NULL) == TACET_OK) {
        const size_t count = first.count;
        tacet__journal_close(&first);
        must(tacet__journal_open(&second, folder, settings, NULL) == TACET_OK && second.count == count);
        tacet__journal_close(&second);
    }
    json_decref(settings);
    return 0;
}
