/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_verify.c - `tacet ledger verify`: a ledger, or a receipt and all it names. Ring: open. */
#include "ledger/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/dp/open/ledger_read.h>
#include <tacet/dp/open/receipt.h>
#include <tacet/io/file.h>

/* Paths; all but the receipt may be NULL. */
typedef struct claim {
    const char *receipt, *ring, *folder, *ledger, *proof;
} claim;

static tacet_status add_record(json_t *object, const char *path, const tacet_receipt_facts *facts, tacet_error *err) {
    char *proof = NULL, *text = NULL;
    size_t length = 0;
    tacet_status status = tacet_file_read(&proof, &length, path, LEDGER_TEXT_MOST, err);
    TACET_THEN(status, tacet_receipt_check(&text, proof, length, facts, err));
    if (status == TACET_OK) {
        cli_add(object, "record _record", J(json_loads(text, 0, NULL)), J(text));
    }
    free(proof);
    free(text);
    return status;
}

static int verify_receipt(claim c, const cli_command *self) {
    char folder[LEDGER_PATH_MOST], manifest_in[LEDGER_PATH_MOST], rows_in[LEDGER_PATH_MOST],
        beside_it[LEDGER_PATH_MOST];
    char *receipt = NULL, *ring = NULL, *manifest = NULL;
    size_t length = 0, manifest_length = 0;
    tacet_receipt_facts facts;
    tacet_error err = {0};
    const char *slash = strrchr(c.receipt, '/');
    (void)snprintf(folder, sizeof folder, "%.*s", slash != NULL ? (int)(slash - c.receipt) : 1,
                   slash != NULL ? c.receipt : ".");
    c.folder = c.folder != NULL ? c.folder : folder;
    c.ledger = c.ledger != NULL ? c.ledger : ledger_in(beside_it, c.folder, "ledger.db");
    const char *manifest_path = ledger_in(manifest_in, c.folder, "manifest.json"), *rows = NULL;
    tacet_status status = tacet_file_read(&receipt, &length, c.receipt, LEDGER_TEXT_MOST, &err);
    if (status == TACET_OK && c.ring != NULL) {
        status = tacet_file_read(&ring, NULL, c.ring, LEDGER_TEXT_MOST, &err);
    }
    if (status == TACET_OK && manifest_path != NULL) {
        status = tacet_file_read(&manifest, &manifest_length, manifest_path, LEDGER_TEXT_MOST, &err);
    }
    TACET_THEN(status, tacet_receipt_verify(&facts, receipt, length, ring, manifest, manifest_length, c.ledger, &err));
    if (status == TACET_OK && facts.release[0] != '\0' &&
        (rows = ledger_in(rows_in, c.folder, "release.csv")) != NULL) {
        status = tacet_receipt_verify_release(&facts, rows, &err);
    }
    json_t *object = json_object();
    if (status == TACET_OK && c.proof != NULL) {
        status = add_record(object, c.proof, &facts, &err);
    }
    free(receipt);
    free(ring);
    free(manifest);
    cli_add(object, "verdict", J(status == TACET_OK ? "intact" : "refused"));
    if (status != TACET_OK) {
        cli_add(object, "reason", J(err.message));
        (void)cli_tell(object, NULL);
        (void)cli_fail(self, &err);
        return CLI_EXIT_FAILED;
    }
    cli_add(object, "key key_known head records manifest_checked release_checked ledger_checked _signed", J(facts.key),
            J(facts.key_known), J(facts.head), J(facts.records), JB(manifest_path != NULL), JB(rows != NULL),
            JB(c.ledger != NULL), JB(facts.release[0] != '\0'));
    return cli_tell(
        object,
        "the receipt holds: {records} records, head {head}\n"
        "manifest {?manifest_checked|is the one that was signed}{!manifest_checked|not at hand}, released rows "
        "{?release_checked|are those that were signed}{!release_checked|{?_signed|not at hand}{!_signed|not signed}}, "
        "ledger {?ledger_checked|is the one that was signed, or has grown from it}{!ledger_checked|not at hand}\n"
        "key     {key}{?key_known| (of the ring)}{!key_known|: compare it with what the signer gave you, or give "
        "--ring}\n"
        "{?record|record  {record.seq} is among them: {_record}\n}");
}

int cmd_verify(int argc, char **argv, const cli_command *self) {
    const char *head = NULL;
    claim c = {0};
    const cli_option options[] = {
        CLI_OPT("ledger", &c.ledger, "FILE", "The ledger; with --receipt, by default ledger.db beside it."),
        CLI_OPT("receipt", &c.receipt, "FILE", "A receipt of 'tacet ledger sign': checked with all it names."),
        CLI_OPT("ring", &c.ring, "FILE", "receipt: the signer's keys, as they gave them to you."),
        CLI_OPT("release", &c.folder, "DIR", "receipt: the release; by default what lies beside the receipt."),
        CLI_OPT("proof", &c.proof, "FILE", "receipt: a proof of 'tacet ledger prove', shown when it holds."),
        CLI_OPT("head", &head, "HASH", "A head noted earlier, 64 hex digits: must be in the chain."),
        {0},
    };
    CLI_PARSE_OR_RETURN(options, NULL, NULL);
    if (c.receipt != NULL) {
        return head != NULL ? cli_usage(self, "a receipt has its own head: no --head") : verify_receipt(c, self);
    }
    if (c.ledger == NULL) {
        return cli_usage(self, "give --ledger FILE or --receipt FILE");
    }
    char *text = NULL;
    tacet_error err = {0};
    const tacet_status status = tacet_ledger_verify(&text, c.ledger, head, NULL, &err);
    if (status == TACET_INVALID) {
        return cli_usage(self, "--head: %s", err.message);
    }
    if (status != TACET_OK) {
        (void)cli_fail(self, &err);
        (void)cli_tell(cli_object("verdict status reason", J("refused"), J(tacet_status_name(status)), J(err.message)),
                       NULL);
        return CLI_EXIT_FAILED;
    }
    json_t *report = cli_loads(text);
    const json_t *at = json_object_get(report, "head_at");
    cli_add(report, "verdict _noted _last", J("intact"), JB(at != NULL),
            J(json_integer_value(json_object_get(report, "records")) - 1));
    return cli_tell(report,
                    "intact: records {records}, entries {entries}, answered {answered}, uncovered {uncovered}\n"
                    "spent   {unit} {spent:^6} of {cap:^6}; eps {eps:^6} at delta {delta:^3} of eps {budget_eps:^6} "
                    "at delta {budget_delta:^3}\n"
                    "{?_noted|noted   record {head_at} of 0 … {_last} has the head that was noted\n}"
                    "head    {head}\n");
}
