/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_verify.c - `tacet ledger verify`. Ring: open. */
#include "ledger/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "records head" as the writer left it: the head it saw, and how many records there were. */
static bool read_anchor(unsigned char head[TACET_HASH_BYTES], uint64_t *records, const char *path) {
    char line[128] = "";
    FILE *file = fopen(path, "r");
    char *end = NULL;
    const bool read = file != NULL && fgets(line, sizeof line, file) != NULL;
    if (file != NULL) {
        (void)fclose(file);
    }
    line[strcspn(line, "\n")] = '\0';
    *records = read ? strtoull(line, &end, 10) : 0;
    return *records > 0 && *end == ' ' && tacet__hash_parse(head, end + 1);
}

int cmd_verify(int argc, char **argv, const cli_command *self) {
    const char *path = NULL;
    const char *head_text = NULL;
    const char *anchor = NULL;
    const char *receipt = NULL, *ring = NULL, *manifest = NULL, *proof = NULL;
    const cli_option options[] = {
        {"ledger", CLI_STRING, &path, "FILE", "The ledger; with --receipt, by default ledger.db beside it.", false},
        {"receipt", CLI_STRING, &receipt, "FILE", "A receipt of 'tacet ledger sign': checked with all it names.",
         false},
        {"ring", CLI_STRING, &ring, "FILE", "receipt: the signer's keys, as they gave them to you.", false},
        {"manifest", CLI_STRING, &manifest, "FILE", "receipt: by default manifest.json beside it.", false},
        {"proof", CLI_STRING, &proof, "FILE", "receipt: a proof of 'tacet ledger prove', shown when it holds.", false},
        {"head", CLI_STRING, &head_text, "HASH", "A head noted earlier, 64 hex digits: must be in the chain.", false},
        {"anchor", CLI_STRING, &anchor, "FILE", "The side file a writer keeps: its head must be in the chain.", false},
        {NULL, CLI_FLAG, NULL, NULL, NULL, false},
    };
    int code = 0;
    if (!cli_parse(self, options, argc, argv, NULL, NULL, &code)) {
        return code;
    }
    if (receipt != NULL) {
        return head_text != NULL || anchor != NULL
                   ? cli_usage(self, "a receipt has its own head: no --head or --anchor")
                   : ledger_verify_receipt(receipt, ring, manifest, path, proof, self);
    }
    if (path == NULL) {
        return cli_usage(self, "give --ledger FILE or --receipt FILE");
    }
    unsigned char noted[TACET_HASH_BYTES];
    uint64_t anchored = 0;
    if (head_text != NULL && anchor != NULL) {
        return cli_usage(self, "give --head or --anchor, not both");
    }
    if (head_text != NULL && !tacet__hash_parse(noted, head_text)) {
        return cli_usage(self, "--head: 64 hex digits are needed");
    }
    tacet_error err = {TACET_OK, ""};
    if (anchor != NULL && !read_anchor(noted, &anchored, anchor)) {
        cli_say(self, "the anchor %s is missing or damaged", anchor);
        return CLI_EXIT_FAILED;
    }
    tacet__ledger_report report;
    tacet__ledger_view *view = NULL;
    tacet_status status =
        tacet__ledger_load(&view, &report, path, head_text != NULL || anchor != NULL ? noted : NULL, &err);
    tacet__ledger_view_close(view);
    if (status == TACET_OK && anchor != NULL && report.head_at + 1 != anchored) {
        cli_say(self, "the anchor names another number of records than its head has");
        status = TACET_CORRUPT;
        err.status = status;
    } else if (status != TACET_OK) {
        code = cli_fail(self, &err);
    }
    if (cli_json_wanted()) {
        json_t *object = status == TACET_OK ? tacet__ledger_report_json(&report) : json_object();
        (void)json_object_set_new(object, "verdict", json_string(status == TACET_OK ? "intact" : "refused"));
        if (status != TACET_OK) {
            (void)json_object_set_new(object, "status", json_string(tacet_status_name(status)));
            (void)json_object_set_new(object, "reason", json_string(err.message));
        } else if (report.head_was_given) {
            (void)json_object_set_new(object, "head_at", json_integer((json_int_t)report.head_at));
        }
        cli_json_print(object);
    } else if (status == TACET_OK) {
        char head[2 * TACET_HASH_BYTES + 1];
        tacet__hash_hex(head, report.head);
        printf("intact: %llu records, %llu entries, %llu answered, %llu uncovered\n",
               (unsigned long long)report.records, (unsigned long long)report.entries,
               (unsigned long long)report.answered, (unsigned long long)report.uncovered);
        char spent[32], eps[32], delta[32];
        printf("spent   %s %s of %.6g; eps %s at delta %s of eps %.6g at delta %.3g\n",
               tacet__ledger_unit(report.accounting), cli_safe(spent, report.spent, 6, false), report.cap,
               cli_safe(eps, report.eps, 6, false), cli_safe(delta, report.delta, 3, false), report.budget_eps,
               report.budget_delta);
        if (report.head_was_given) {
            printf("noted   record %llu of 0 … %llu has the head that was noted\n", (unsigned long long)report.head_at,
                   (unsigned long long)report.records - 1);
        }
        printf("head    %s\n", head);
    }
    return status == TACET_OK ? CLI_EXIT_OK : CLI_EXIT_FAILED;
}
