/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_receipt.c - `tacet ledger keys`, `sign` and `prove`. Ring: open: reads a ledger and a signing key, no data. */
#include "ledger/commands.h"

#include "io/file/folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/dp/open/receipt.h>
#include <time.h>

static tacet_status put_text(const char *path, const char *text, mode_t mode, tacet_error *err) {
    char folder[TACET__PATH];
    const tacet_status status = tacet__folder_of(folder, path, err);
    return status == TACET_OK ? tacet__file_write(path, folder, text, mode, err) : status;
}

tacet_status ledger_text(char **out, size_t *length, const char *path, tacet_error *err) {
    size_t size = 0;
    return tacet__file_read(out, length != NULL ? length : &size, path, LEDGER_TEXT_MOST, err);
}

static tacet_status make_keys(const char *folder, bool rotate, const char *revoke, tacet_error *err) {
    char secret_path[TACET__PATH], ring_path[TACET__PATH];
    char *secret = NULL, *ring = NULL, *old_secret = NULL, *old_ring = NULL;
    bool made = false;
    tacet_status status = tacet__folder_make(&made, folder, err);
    status = status != TACET_OK ? status : tacet__path(secret_path, folder, "receipt.key", err);
    status = status != TACET_OK ? status : tacet__path(ring_path, folder, "receipt.ring", err);
    if (status == TACET_OK && (rotate || revoke != NULL)) {
        status = ledger_text(&old_ring, NULL, ring_path, err);
    }
    if (status == TACET_OK && rotate) {
        status = ledger_text(&old_secret, NULL, secret_path, err);
        status = status != TACET_OK ? status : tacet_receipt_rotate(&secret, &ring, old_secret, old_ring, err);
    } else if (status == TACET_OK && revoke != NULL) {
        status = tacet_receipt_revoke(&ring, old_ring, revoke, err);
    } else if (status == TACET_OK) {
        size_t length = 0;
        if (ledger_text(&old_secret, &length, secret_path, NULL) == TACET_OK) {
            err->status = status = TACET_CONFLICT;
            (void)snprintf(err->message, sizeof err->message, "there are keys in use: --rotate makes the next pair");
        } else {
            status = tacet_receipt_keys(&secret, &ring, err);
        }
    }
    if (status == TACET_OK && secret != NULL) {
        status = put_text(secret_path, secret, 0600, err);
    }
    if (status == TACET_OK) {
        status = put_text(ring_path, ring, 0644, err);
    }
    free(secret);
    free(ring);
    free(old_secret);
    free(old_ring);
    return status;
}

int cmd_keys(int argc, char **argv, const cli_command *self) {
    const char *folder = NULL;
    const char *revoke = NULL;
    bool rotate = false;
    const cli_option options[] = {
        {"dir", CLI_STRING, &folder, "DIR", "Receives receipt.key (keep it) and receipt.ring (hand it out).", true},
        {"rotate", CLI_FLAG, &rotate, NULL, "The next pair: signed into the ring by the present one, which retires.",
         false},
        {"revoke", CLI_STRING, &revoke, "KEY", "64 hex digits: nothing signed by this key is accepted any more.",
         false},
        {NULL, CLI_FLAG, NULL, NULL, NULL, false},
    };
    int code = 0;
    tacet_error err = {TACET_OK, ""};
    if (!cli_parse(self, options, argc, argv, NULL, NULL, &code)) {
        return code;
    }
    if (rotate && revoke != NULL) {
        return cli_usage(self, "give --rotate or --revoke, not both");
    }
    const tacet_status status = make_keys(folder, rotate, revoke, &err);
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
    const char *path = NULL, *key = NULL, *manifest_path = NULL, *out = NULL;
    const cli_option options[] = {
        {"ledger", CLI_STRING, &path, "FILE", "The ledger.", true},
        {"key", CLI_STRING, &key, "FILE", "receipt.key of 'tacet ledger keys' or 'tacet curator init'.", true},
        {"manifest", CLI_STRING, &manifest_path, "FILE", "manifest.json of the release: its hash is signed.", false},
        {"out", CLI_STRING, &out, "FILE", "The receipt.", true},
        {NULL, CLI_FLAG, NULL, NULL, NULL, false},
    };
    int code = 0;
    tacet_error err = {TACET_OK, ""};
    if (!cli_parse(self, options, argc, argv, NULL, NULL, &code)) {
        return code;
    }
    char *secret = NULL, *manifest = NULL, *receipt = NULL;
    tacet_receipt_request request = {
        .ledger = path, .program_name = "tacet-ledger", .program_file = "/proc/self/exe", .time = (uint64_t)time(NULL)};
    tacet_status status = ledger_text(&secret, NULL, key, &err);
    if (status == TACET_OK && manifest_path != NULL) {
        status = ledger_text(&manifest, &request.manifest_length, manifest_path, &err);
        request.manifest = manifest;
    }
    status = status != TACET_OK ? status : tacet_receipt_sign(&receipt, &request, secret, &err);
    status = status != TACET_OK ? status : put_text(out, receipt, 0644, &err);
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
        {"ledger", CLI_STRING, &path, "FILE", "The ledger.", true},
        {"key", CLI_STRING, &key, "FILE", "The receipt.key that signed the receipt.", true},
        {"receipt", CLI_STRING, &receipt_path, "FILE", "The receipt.", true},
        {"entry", CLI_U64, &seq, "N", "Number of the record, as 'tacet ledger show' has it.", true},
        {"out", CLI_STRING, &out, "FILE", "The proof.", true},
        {NULL, CLI_FLAG, NULL, NULL, NULL, false},
    };
    int code = 0;
    tacet_error err = {TACET_OK, ""};
    if (!cli_parse(self, options, argc, argv, NULL, NULL, &code)) {
        return code;
    }
    char *secret = NULL, *receipt = NULL, *proof = NULL;
    size_t length = 0;
    tacet_status status = ledger_text(&secret, NULL, key, &err);
    status = status != TACET_OK ? status : ledger_text(&receipt, &length, receipt_path, &err);
    status = status != TACET_OK ? status : tacet_receipt_prove(&proof, receipt, length, path, seq, secret, &err);
    status = status != TACET_OK ? status : put_text(out, proof, 0644, &err);
    free(secret);
    free(receipt);
    free(proof);
    if (status != TACET_OK) {
        return cli_fail(self, &err);
    }
    cli_json_print(json_pack("{s:s}", "proof", out));
    return CLI_EXIT_OK;
}

/* A file beside the receipt, when it is there. */
static char *beside(char out[TACET__PATH], const char *receipt, const char *name) {
    char folder[TACET__PATH];
    FILE *file = NULL;
    if (tacet__folder_of(folder, receipt, NULL) != TACET_OK || tacet__path(out, folder, name, NULL) != TACET_OK ||
        (file = fopen(out, "r")) == NULL) {
        return NULL;
    }
    (void)fclose(file);
    return out;
}

static tacet_status show_proof(json_t *object, const char *path, const tacet_receipt_facts *facts, tacet_error *err) {
    char *proof = NULL;
    size_t length = 0, size = 0;
    unsigned char *body = NULL;
    uint64_t seq = 0;
    tacet__record record;
    tacet_status status = ledger_text(&proof, &length, path, err);
    status = status != TACET_OK ? status : tacet_receipt_check(&body, &size, &seq, proof, length, facts, err);
    status = status != TACET_OK ? status : tacet__record_decode(&record, body, size, err);
    if (status == TACET_OK) {
        static const unsigned char NONE[TACET_HASH_BYTES];
        const tacet__ledger_row row = {
            .record = &record, .body = body, .body_size = size, .previous = NONE, .hash = NONE};
        json_t *shown = tacet__ledger_row_json(&row);
        (void)json_object_del(shown, "previous");
        (void)json_object_del(shown, "hash");
        (void)json_object_set_new(object, "record", shown);
        if (!cli_json_wanted()) {
            printf("record  %llu is among them: ", (unsigned long long)seq);
            (void)json_dumpf(shown, stdout, JSON_COMPACT);
            printf("\n");
        }
    }
    free(proof);
    free(body);
    return status;
}

int ledger_verify_receipt(const char *receipt_path, const char *ring_path, const char *manifest_path,
                          const char *ledger, const char *proof, const cli_command *self) {
    char manifest_beside[TACET__PATH], ledger_beside[TACET__PATH];
    char *receipt = NULL, *ring = NULL, *manifest = NULL;
    size_t length = 0, manifest_length = 0;
    tacet_receipt_facts facts;
    tacet_error err = {TACET_OK, ""};
    manifest_path = manifest_path != NULL ? manifest_path : beside(manifest_beside, receipt_path, "manifest.json");
    ledger = ledger != NULL ? ledger : beside(ledger_beside, receipt_path, "ledger.db");
    tacet_status status = ledger_text(&receipt, &length, receipt_path, &err);
    if (status == TACET_OK && ring_path != NULL) {
        status = ledger_text(&ring, NULL, ring_path, &err);
    }
    if (status == TACET_OK && manifest_path != NULL) {
        status = ledger_text(&manifest, &manifest_length, manifest_path, &err);
    }
    if (status == TACET_OK) {
        status = tacet_receipt_verify(&facts, receipt, length, ring, manifest, manifest_length, ledger, &err);
    }
    json_t *object = json_object();
    if (status == TACET_OK && !cli_json_wanted()) {
        printf("the receipt holds: %llu records, head %s\n", (unsigned long long)facts.records, facts.head);
        printf("manifest %s, ledger %s\n", manifest != NULL ? "is the one that was signed" : "not at hand",
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
