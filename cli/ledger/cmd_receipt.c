/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_receipt.c - `tacet ledger keys`, `sign` and `prove`. Ring: open: reads a ledger and a signing key, no data. */
#include "ledger/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/dp/open/receipt.h>
#include <tacet/io/file.h>
#include <time.h>
#include <unistd.h>

const char *ledger_in(char out[LEDGER_PATH_MOST], const char *folder, const char *name) {
    const int length = snprintf(out, LEDGER_PATH_MOST, "%s/%s", folder, name);
    return length < LEDGER_PATH_MOST && access(out, R_OK) == 0 ? out : NULL;
}

int cmd_keys(int argc, char **argv, const cli_command *self) {
    const char *folder = NULL, *revoke = NULL;
    bool rotate = false;
    const cli_option options[] = {
        CLI_NEED("dir", &folder, "DIR", "Receives receipt.key (keep it) and receipt.ring (hand it out)."),
        CLI_OPT("rotate", &rotate, NULL, "The next pair: signed into the ring by the present one, which retires."),
        CLI_OPT("revoke", &revoke, "KEY", "64 hex digits: nothing signed by this key is accepted any more."),
        {0},
    };
    tacet_error err = {0};
    CLI_PARSE_OR_RETURN(options, NULL, NULL);
    if (rotate && revoke != NULL) {
        return cli_usage(self, "give --rotate or --revoke, not both");
    }
    const tacet_status status = tacet_receipt_keep(folder,
                                                   rotate           ? TACET_RECEIPT_KEYS_NEXT
                                                   : revoke != NULL ? TACET_RECEIPT_KEYS_REVOKED
                                                                    : TACET_RECEIPT_KEYS_FIRST,
                                                   revoke, &err);
    return status != TACET_OK
               ? cli_fail(self, &err)
               : cli_tell(cli_object("dir", J(folder)),
                          "{dir}/receipt.ring: hand it to whoever will verify receipts, by a way they trust\n");
}

/* What a key signed, written where it was asked for. */
static int write_signed(tacet_status status, char *text, const char *kind, const char *out, tacet_error *err,
                        const cli_command *self) {
    TACET_THEN(status, tacet_file_write(out, text, false, err));
    free(text);
    return status != TACET_OK ? cli_fail(self, err) : cli_tell(cli_object(kind, J(out)), NULL);
}

int cmd_sign(int argc, char **argv, const cli_command *self) {
    const char *keys = NULL, *folder = NULL, *out = NULL;
    char rows[LEDGER_PATH_MOST];
    tacet_receipt_request request = {
        .program_name = "tacet-ledger", .program_file = "/proc/self/exe", .time = (uint64_t)time(NULL)};
    const cli_option options[] = {
        CLI_NEED("ledger", &request.ledger, "FILE", "The ledger."),
        CLI_NEED("keys", &keys, "DIR", "The folder 'tacet ledger keys' or 'tacet curator init' wrote: receipt.key."),
        CLI_OPT("release", &folder, "DIR", "The release: the hashes of its manifest and rows are signed, too."),
        CLI_NEED("out", &out, "FILE", "The receipt."),
        {0},
    };
    tacet_error err = {0};
    CLI_PARSE_OR_RETURN(options, NULL, NULL);
    char *secret = NULL, *manifest = NULL, *receipt = NULL;
    tacet_status status = tacet_file_read_in(&secret, NULL, keys, "receipt.key", LEDGER_TEXT_MOST, &err);
    if (folder != NULL && status == TACET_OK) {
        status =
            tacet_file_read_in(&manifest, &request.manifest_length, folder, "manifest.json", LEDGER_TEXT_MOST, &err);
        request.manifest = manifest;
        request.release = ledger_in(rows, folder, "release.csv");
    }
    TACET_THEN(status, tacet_receipt_sign(&receipt, &request, secret, &err));
    free(secret);
    free(manifest);
    return write_signed(status, receipt, "receipt", out, &err, self);
}

int cmd_prove(int argc, char **argv, const cli_command *self) {
    const char *path = NULL, *keys = NULL, *receipt_path = NULL, *out = NULL;
    uint64_t seq = UINT64_MAX;
    const cli_option options[] = {
        CLI_NEED("ledger", &path, "FILE", "The ledger."),
        CLI_NEED("keys", &keys, "DIR", "The folder with the receipt.key that signed the receipt."),
        CLI_NEED("receipt", &receipt_path, "FILE", "The receipt."),
        CLI_NEED("entry", &seq, "N", "Number of the record, as 'tacet ledger show' has it."),
        CLI_NEED("out", &out, "FILE", "The proof."),
        {0},
    };
    tacet_error err = {0};
    CLI_PARSE_OR_RETURN(options, NULL, NULL);
    char *secret = NULL, *receipt = NULL, *proof = NULL;
    size_t length = 0;
    tacet_status status = tacet_file_read_in(&secret, NULL, keys, "receipt.key", LEDGER_TEXT_MOST, &err);
    TACET_THEN(status, tacet_file_read(&receipt, &length, receipt_path, LEDGER_TEXT_MOST, &err));
    TACET_THEN(status, tacet_receipt_prove(&proof, receipt, length, path, seq, secret, &err));
    free(secret);
    free(receipt);
    return write_signed(status, proof, "proof", out, &err, self);
}
