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

enum { PATH_MOST = 4096 };

/* A file beside another one, when it is there. */
static const char *beside(char out[PATH_MOST], const char *path, const char *name) {
    const char *slash = strrchr(path, '/');
    const int folder = slash != NULL ? (int)(slash - path) + 1 : 0;
    const int length = snprintf(out, PATH_MOST, "%.*s%s", folder, path, name);
    return length < PATH_MOST && access(out, R_OK) == 0 ? out : NULL;
}

int cmd_keys(int argc, char **argv, const cli_command *self) {
    const char *folder = NULL;
    const char *revoke = NULL;
    bool rotate = false;
    const cli_option options[] = {
        CLI_NEED("dir", &folder, "DIR", "Receives receipt.key (keep it) and receipt.ring (hand it out)."),
        CLI_OPT("rotate", &rotate, NULL, "The next pair: signed into the ring by the present one, which retires."),
        CLI_OPT("revoke", &revoke, "KEY", "64 hex digits: nothing signed by this key is accepted any more."),
        {0},
    };
    tacet_error err = {TACET_OK, ""};
    CLI_PARSE_OR_RETURN(options, NULL, NULL);
    if (rotate && revoke != NULL) {
        return cli_usage(self, "give --rotate or --revoke, not both");
    }
    const tacet_status status = tacet_receipt_keep(folder,
                                                   rotate           ? TACET_RECEIPT_KEYS_NEXT
                                                   : revoke != NULL ? TACET_RECEIPT_KEYS_REVOKED
                                                                    : TACET_RECEIPT_KEYS_FIRST,
                                                   revoke, &err);
    if (status != TACET_OK) {
        return cli_fail(self, &err);
    }
    if (!cli_json_wanted()) {
        printf("%s/receipt.ring: hand it to whoever will verify receipts, by a way they trust\n", folder);
    }
    cli_json_print(json_pack("{s:s}", "dir", folder));
    return CLI_EXIT_OK;
}

int cmd_sign(int argc, char **argv, const cli_command *self) {
    const char *path = NULL, *key = NULL, *manifest_path = NULL, *release = NULL, *out = NULL;
    char release_beside[PATH_MOST];
    const cli_option options[] = {
        CLI_NEED("ledger", &path, "FILE", "The ledger."),
        CLI_NEED("key", &key, "FILE", "receipt.key of 'tacet ledger keys' or 'tacet curator init'."),
        CLI_OPT("manifest", &manifest_path, "FILE", "manifest.json of the release: its hash is signed."),
        CLI_OPT("release", &release, "FILE", "Its rows, likewise; by default release.csv beside the manifest."),
        CLI_NEED("out", &out, "FILE", "The receipt."),
        {0},
    };
    tacet_error err = {TACET_OK, ""};
    CLI_PARSE_OR_RETURN(options, NULL, NULL);
    char *secret = NULL, *manifest = NULL, *receipt = NULL;
    tacet_receipt_request request = {
        .ledger = path, .program_name = "tacet-ledger", .program_file = "/proc/self/exe", .time = (uint64_t)time(NULL)};
    tacet_status status = tacet_file_read(&secret, NULL, key, LEDGER_TEXT_MOST, &err);
    if (status == TACET_OK && manifest_path != NULL) {
        status = tacet_file_read(&manifest, &request.manifest_length, manifest_path, LEDGER_TEXT_MOST, &err);
        request.manifest = manifest;
        request.release = release != NULL ? release : beside(release_beside, manifest_path, "release.csv");
    }
    status = status != TACET_OK ? status : tacet_receipt_sign(&receipt, &request, secret, &err);
    status = status != TACET_OK ? status : tacet_file_write(out, receipt, false, &err);
    free(secret);
    free(manifest);
    free(receipt);
    if (status != TACET_OK) {
        return cli_fail(self, &err);
    }
    cli_json_print(json_pack("{s:s}", "receipt", out));
    return CLI_EXIT_OK;
}

int cmd_prove(int argc, char **argv, const cli_command *self) {
    const char *path = NULL, *key = NULL, *receipt_path = NULL, *out = NULL;
    uint64_t seq = UINT64_MAX;
    const cli_option options[] = {
        CLI_NEED("ledger", &path, "FILE", "The ledger."),
        CLI_NEED("key", &key, "FILE", "The receipt.key that signed the receipt."),
        CLI_NEED("receipt", &receipt_path, "FILE", "The receipt."),
        CLI_NEED("entry", &seq, "N", "Number of the record, as 'tacet ledger show' has it."),
        CLI_NEED("out", &out, "FILE", "The proof."),
        {0},
    };
    tacet_error err = {TACET_OK, ""};
    CLI_PARSE_OR_RETURN(options, NULL, NULL);
    char *secret = NULL, *receipt = NULL, *proof = NULL;
    size_t length = 0;
    tacet_status status = tacet_file_read(&secret, NULL, key, LEDGER_TEXT_MOST, &err);
    status = status != TACET_OK ? status : tacet_file_read(&receipt, &length, receipt_path, LEDGER_TEXT_MOST, &err);
    status = status != TACET_OK ? status : tacet_receipt_prove(&proof, receipt, length, path, seq, secret, &err);
    status = status != TACET_OK ? status : tacet_file_write(out, proof, false, &err);
    free(secret);
    free(receipt);
    free(proof);
    if (status != TACET_OK) {
        return cli_fail(self, &err);
    }
    cli_json_print(json_pack("{s:s}", "proof", out));
    return CLI_EXIT_OK;
}

static tacet_status show_proof(json_t *object, const char *path, const tacet_receipt_facts *facts, tacet_error *err) {
    char *proof = NULL, *text = NULL;
    size_t length = 0;
    tacet_status status = tacet_file_read(&proof, &length, path, LEDGER_TEXT_MOST, err);
    status = status != TACET_OK ? status : tacet_receipt_check(&text, proof, length, facts, err);
    if (status == TACET_OK) {
        json_t *record = json_loads(text, 0, NULL);
        if (!cli_json_wanted()) {
            printf("record  %lld is among them: %s\n", ledger_count(record, "seq"), text);
        }
        (void)json_object_set_new(object, "record", record);
    }
    free(proof);
    free(text);
    return status;
}

int ledger_verify_receipt(const char *receipt_path, const char *ring_path, const char *manifest_path,
                          const char *release, const char *ledger, const char *proof, const cli_command *self) {
    char manifest_beside[PATH_MOST], release_beside[PATH_MOST], ledger_beside[PATH_MOST];
    char *receipt = NULL, *ring = NULL, *manifest = NULL;
    size_t length = 0, manifest_length = 0;
    tacet_receipt_facts facts;
    tacet_error err = {TACET_OK, ""};
    manifest_path = manifest_path != NULL ? manifest_path : beside(manifest_beside, receipt_path, "manifest.json");
    ledger = ledger != NULL ? ledger : beside(ledger_beside, receipt_path, "ledger.db");
    tacet_status status = tacet_file_read(&receipt, &length, receipt_path, LEDGER_TEXT_MOST, &err);
    if (status == TACET_OK && ring_path != NULL) {
        status = tacet_file_read(&ring, NULL, ring_path, LEDGER_TEXT_MOST, &err);
    }
    if (status == TACET_OK && manifest_path != NULL) {
        status = tacet_file_read(&manifest, &manifest_length, manifest_path, LEDGER_TEXT_MOST, &err);
    }
    if (status == TACET_OK) {
        status = tacet_receipt_verify(&facts, receipt, length, ring, manifest, manifest_length, ledger, &err);
    }
    if (status == TACET_OK && release == NULL && facts.release[0] != '\0') {
        release = beside(release_beside, receipt_path, "release.csv");
    }
    if (status == TACET_OK && release != NULL) {
        status = tacet_receipt_verify_release(&facts, release, &err);
    }
    json_t *object = json_object();
    if (status == TACET_OK && !cli_json_wanted()) {
        printf("the receipt holds: %llu records, head %s\n", (unsigned long long)facts.records, facts.head);
        printf("manifest %s, released rows %s, ledger %s\n",
               manifest != NULL ? "is the one that was signed" : "not at hand",
               release != NULL            ? "are those that were signed"
               : facts.release[0] != '\0' ? "not at hand"
                                          : "not signed",
               ledger != NULL ? "is the one that was signed, or has grown from it" : "not at hand");
        printf("key     %s%s\n", facts.key,
               facts.key_known ? " (of the ring)" : ": compare it with what the signer gave you, or give --ring");
    }
    if (status == TACET_OK && proof != NULL) {
        status = show_proof(object, proof, &facts, &err);
    }
    if (cli_json_wanted()) {
        (void)json_object_set_new(object, "verdict", json_string(status == TACET_OK ? "intact" : "refused"));
        if (status == TACET_OK) {
            (void)json_object_set_new(object, "key", json_string(facts.key));
            (void)json_object_set_new(object, "key_known", json_boolean(facts.key_known));
            (void)json_object_set_new(object, "head", json_string(facts.head));
            (void)json_object_set_new(object, "records", json_integer((json_int_t)facts.records));
            (void)json_object_set_new(object, "manifest_checked", json_boolean(manifest != NULL));
            (void)json_object_set_new(object, "release_checked", json_boolean(release != NULL));
            (void)json_object_set_new(object, "ledger_checked", json_boolean(ledger != NULL));
        } else {
            (void)json_object_set_new(object, "reason", json_string(err.message));
        }
        cli_json_print(object);
    } else {
        json_decref(object);
    }
    free(receipt);
    free(ring);
    free(manifest);
    if (status != TACET_OK) {
        (void)cli_fail(self, &err);
    }
    return status == TACET_OK ? CLI_EXIT_OK : CLI_EXIT_FAILED;
}
