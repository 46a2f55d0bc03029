/* SPDX-License-Identifier: Apache-2.0 */
/* receipt.h - a signed statement of what a ledger held when something was released, and proofs of single entries.
 *
 * A receipt is Ed25519 over one JSON object in canonical form: hashes of manifest and release, id, number of records
 * and head of the ledger, root of a Merkle tree over its records, program with version and hash, time, public key. The
 * tree's leaves are salted (charges are guessable), the salts come from the secret key: whoever holds the receipt
 * learns nothing of the records, and a proof shows one of them and nothing of the others. src/dp/open/receipt.md. */
#ifndef TACET_DP_OPEN_RECEIPT_H
#define TACET_DP_OPEN_RECEIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tacet/core/status.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { TACET_SIGNING_KEY_BYTES = 64, TACET_PUBLIC_KEY_BYTES = 32 };

/* A new pair after an old one: the old key signs the new one into the ring, and is retired from now on. PARSE. */
TACET_API tacet_status tacet_receipt_rotate(char **secret, char **public_text, const char *old_secret,
                                            const char *old_ring, tacet_error *err);
/* The ring with the key marked as revoked: nothing that it ever signed is accepted any more. `key` is 64 hex digits.
 * NOT_FOUND: it is not there. */
TACET_API tacet_status tacet_receipt_revoke(char **public_text, const char *ring, const char *key, tacet_error *err);

/* The same pairs kept as files: receipt.key and receipt.ring in a folder, which is made when missing. Of KEYS_REVOKED
 * `key` is the one in 64 hex digits. CONFLICT: KEYS_FIRST, and there are keys in use. Otherwise as above. */
typedef enum tacet_receipt_change {
    TACET_RECEIPT_KEYS_FIRST,
    TACET_RECEIPT_KEYS_NEXT,
    TACET_RECEIPT_KEYS_REVOKED
} tacet_receipt_change;
TACET_API tacet_status tacet_receipt_keep(const char *folder, tacet_receipt_change change, const char *key,
                                          tacet_error *err);

/* What to sign. `manifest` (NULL: none) is the file's text; of `release` (NULL: none), the file with the released rows,
 * and of `program_file`, the running program's, the hash is signed. */
typedef struct tacet_receipt_request {
    const char *ledger; /* file, or a schema's address */
    const char *manifest;
    size_t manifest_length;
    const char *release;
    const char *program_name, *program_file;
    uint64_t time;
} tacet_receipt_request;

/* Verifies the ledger first (errors as in its verifier). NOT_FOUND, IO: the release cannot be read. */
TACET_API tacet_status tacet_receipt_sign(char **receipt, const tacet_receipt_request *request, const char *secret,
                                          tacet_error *err);

/* What a receipt says, and what it was checked against. */
typedef struct tacet_receipt_facts {
    char key[2 * TACET_PUBLIC_KEY_BYTES + 1];
    char head[65], root[65], manifest[65], release[65]; /* hex; the last two "" when there is none */
    char ledger_id[33];
    char program[64], version[32];
    uint64_t records, time;
    bool key_known; /* the key is in the ring that was given, neither revoked nor retired before the signature */
} tacet_receipt_facts;

/* CORRUPT names the part that is wrong: form, signature, manifest, ledger, key. ring, manifest and ledger may be NULL:
 * then that part is not compared. A ledger that has grown since is as good. */
TACET_API tacet_status tacet_receipt_verify(tacet_receipt_facts *out, const char *receipt, size_t length,
                                            const char *ring, const char *manifest, size_t manifest_length,
                                            const char *ledger, tacet_error *err);

/* Whether the file with the released rows is the one that was signed. CORRUPT: another one, or none was signed.
 * NOT_FOUND, IO: it cannot be read. */
TACET_API tacet_status tacet_receipt_verify_release(const tacet_receipt_facts *facts, const char *release,
                                                    tacet_error *err);

/* A proof that record `seq` is among those of the receipt: needs the secret that signed it, for the salts. */
TACET_API tacet_status tacet_receipt_prove(char **proof, const char *receipt, size_t length, const char *ledger,
                                           uint64_t seq, const char *secret, tacet_error *err);
/* The record, as JSON text, if the proof leads to the root of the receipt, which must be verified apart. CORRUPT: it
 * does not. */
TACET_API tacet_status tacet_receipt_check(char **record, const char *proof, size_t length,
                                           const tacet_receipt_facts *receipt, tacet_error *err);

#ifdef __cplusplus
}
#endif
#endif
