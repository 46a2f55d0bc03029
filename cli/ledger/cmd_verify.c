/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_verify.c - `tacet ledger verify`. Ring: open. */
#include "ledger/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <tacet/dp/open/ledger_read.h>

static void print_intact(const json_t *r) {
    char spent[32], eps[32], delta[32];
    const json_int_t records = ledger_count(r, "records");
    const json_t *at = json_object_get(r, "head_at");
    printf("intact: %lld records, %lld entries, %lld answered, %lld uncovered\n", records, ledger_count(r, "entries"),
           ledger_count(r, "answered"), ledger_count(r, "uncovered"));
    printf("spent   %s %s of %.6g; eps %s at delta %s of eps %.6g at delta %.3g\n", ledger_word(r, "unit"),
           cli_safe(spent, ledger_real(r, "spent"), 6, false), ledger_real(r, "cap"),
           cli_safe(eps, ledger_real(r, "eps"), 6, false), cli_safe(delta, ledger_real(r, "delta"), 3, false),
           ledger_real(r, "budget_eps"), ledger_real(r, "budget_delta"));
    if (at != NULL) {
        printf("noted   record %lld of 0 … %lld has the head that was noted\n", json_integer_value(at), records - 1);
    }
    printf("head    %s\n", ledger_word(r, "head"));
}

int cmd_verify(int argc, char **argv, const cli_command *self) {
    const char *path = NULL;
    const char *head = NULL;
    const char *anchor = NULL;
    const char *receipt = NULL, *ring = NULL, *manifest = NULL, *release = NULL, *proof = NULL;
    const cli_option options[] = {
        CLI_OPT("ledger", &path, "FILE", "The ledger; with --receipt, by default ledger.db beside it."),
        CLI_OPT("receipt", &receipt, "FILE", "A receipt of 'tacet ledger sign': checked with all it names."),
        CLI_OPT("ring", &ring, "FILE", "receipt: the signer's keys, as they gave them to you."),
        CLI_OPT("manifest", &manifest, "FILE", "receipt: by default manifest.json beside it."),
        CLI_OPT("release", &release, "FILE", "receipt: the released rows; by default release.csv beside it."),
        CLI_OPT("proof", &proof, "FILE", "receipt: a proof of 'tacet ledger prove', shown when it holds."),
        CLI_OPT("head", &head, "HASH", "A head noted earlier, 64 hex digits: must be in the chain."),
        CLI_OPT("anchor", &anchor, "FILE", "The side file a writer keeps: its head must be in the chain."),
        {0},
    };
    CLI_PARSE_OR_RETURN(options, NULL, NULL);
    if (receipt != NULL) {
        return head != NULL || anchor != NULL
                   ? cli_usage(self, "a receipt has its own head: no --head or --anchor")
                   : ledger_verify_receipt(receipt, ring, manifest, release, path, proof, self);
    }
    if (path == NULL) {
        return cli_usage(self, "give --ledger FILE or --receipt FILE");
    }
    if (head != NULL && anchor != NULL) {
        return cli_usage(self, "give --head or --anchor, not both");
    }
    char *text = NULL;
    tacet_error err = {TACET_OK, ""};
    const tacet_status status = tacet_ledger_verify(&text, path, head, anchor, &err);
    if (status == TACET_INVALID) {
        return cli_usage(self, "--head: %s", err.message);
    }
    if (status != TACET_OK) {
        (void)cli_fail(self, &err);
        cli_json_print(
            json_pack("{ss ss ss}", "verdict", "refused", "status", tacet_status_name(status), "reason", err.message));
        return CLI_EXIT_FAILED;
    }
    json_t *report = json_loads(text, 0, NULL);
    free(text);
    if (!cli_json_wanted()) {
        print_intact(report);
    }
    (void)json_object_set_new(report, "verdict", json_string("intact"));
    cli_json_print(report);
    return CLI_EXIT_OK;
}
