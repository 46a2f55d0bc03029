/* SPDX-License-Identifier: Apache-2.0 */
/* pki.h - makes a small certificate authority, and certificates signed by it; makes and checks bearer tokens.
 * Ring: io; knows no data. Texts are PEM, from malloc, private keys to be wiped and freed with tacet__pem_free. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tacet/core/status.h>

typedef struct tacet__pem {
    char *certificate;
    char *key;
} tacet__pem;

/* A self-signed authority, valid for `days` from now. */
tacet_status tacet__pki_authority(tacet__pem *out, const char *name, unsigned days, tacet_error *err);
/* What a certificate is for: a client with the common name, or a server at the hosts. */
typedef enum tacet__pki_use { TACET__PKI_CLIENT, TACET__PKI_SERVER } tacet__pki_use;
/* A certificate signed by the authority; for a server with at least one host name or address. days may be negative:
 * already expired (for tests). */
tacet_status tacet__pki_issue(tacet__pem *out, const tacet__pem *authority, const char *name, tacet__pki_use use,
                              const char *const *hosts, size_t host_count, int days, tacet_error *err);
void tacet__pem_free(tacet__pem *pem); /* wipes the key */
/* When a certificate in PEM ends, in seconds since 1970; 0: it cannot be read. */
int64_t tacet__pki_expires(const char *certificate);

enum { TACET__TOKEN_TEXT = 44, TACET__TOKEN_HASH = 65 }; /* with the closing NUL */

/* 256 bits of entropy as text without padding. */
void tacet__token_make(char text[TACET__TOKEN_TEXT]);
/* What is stored: the hex BLAKE2b of the text. */
void tacet__token_hash(char hash[TACET__TOKEN_HASH], const char *text);
/* Constant time in the content. token may be NULL (false). */
bool tacet__token_matches(const char *hash, const char *token);
