/* SPDX-License-Identifier: Apache-2.0 */
/* pki.c - certificates by GnuTLS (ECDSA P-256), tokens by libsodium.
 * Ring: io. The authority's key signs one server and any number of clients of one study; it is not a public authority.
 */
#include "io/http/pki.h"

#include "core/fail.h"

#include <arpa/inet.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const time_t DAY = 24 * 60 * 60;

void tacet__pem_free(tacet__pem *pem) {
    free(pem->certificate);
    if (pem->key != NULL) {
        sodium_memzero(pem->key, strlen(pem->key));
        free(pem->key);
    }
    pem->certificate = NULL;
    pem->key = NULL;
}

static char *copy_text(gnutls_datum_t *datum) {
    char *text = malloc((size_t)datum->size + 1);
    if (text != NULL) {
        memcpy(text, datum->data, datum->size);
        text[datum->size] = '\0';
    }
    sodium_memzero(datum->data, datum->size);
    gnutls_free(datum->data);
    datum->data = NULL;
    return text;
}

static int add_host(gnutls_x509_crt_t certificate, const char *host) {
    unsigned char address[sizeof(struct in6_addr)];
    if (inet_pton(AF_INET, host, address) == 1) {
        return gnutls_x509_crt_set_subject_alt_name(certificate, GNUTLS_SAN_IPADDRESS, address, 4, GNUTLS_FSAN_APPEND);
    }
    if (inet_pton(AF_INET6, host, address) == 1) {
        return gnutls_x509_crt_set_subject_alt_name(certificate, GNUTLS_SAN_IPADDRESS, address, 16, GNUTLS_FSAN_APPEND);
    }
    return gnutls_x509_crt_set_subject_alt_name(certificate, GNUTLS_SAN_DNSNAME, host, (unsigned)strlen(host),
                                                GNUTLS_FSAN_APPEND);
}

/* Everything but the signature. */
static int describe(gnutls_x509_crt_t certificate, gnutls_x509_privkey_t key, const char *name, int days) {
    unsigned char serial[16];
    const time_t now = time(NULL);
    randombytes_buf(serial, sizeof serial);
    serial[0] &= 0x7f; /* a positive number */
    /* A day of grace for clocks that are behind; a negative validity lies wholly in the past. */
    const time_t from = days < 0 ? now + (2 * (time_t)days - 1) * DAY : now - DAY;
    int code = gnutls_x509_crt_set_version(certificate, 3);
    code = code < 0 ? code : gnutls_x509_crt_set_key(certificate, key);
    code = code < 0 ? code : gnutls_x509_crt_set_serial(certificate, serial, sizeof serial);
    code = code < 0 ? code : gnutls_x509_crt_set_activation_time(certificate, from);
    code = code < 0 ? code : gnutls_x509_crt_set_expiration_time(certificate, now + (time_t)days * DAY);
    code = code < 0 ? code
                    : gnutls_x509_crt_set_dn_by_oid(certificate, GNUTLS_OID_X520_COMMON_NAME, 0, name,
                                                    (unsigned)strlen(name));
    return code;
}

typedef struct objects {
    gnutls_x509_privkey_t key;
    gnutls_x509_crt_t certificate;
    gnutls_x509_privkey_t ca_key;
    gnutls_x509_crt_t ca;
} objects;

static void free_objects(objects *o) {
    gnutls_x509_privkey_deinit(o->key);
    gnutls_x509_crt_deinit(o->certificate);
    gnutls_x509_privkey_deinit(o->ca_key);
    gnutls_x509_crt_deinit(o->ca);
}

static int load_authority(objects *o, const tacet__pem *authority) {
    gnutls_datum_t text = {(unsigned char *)authority->certificate, (unsigned)strlen(authority->certificate)};
    int code = gnutls_x509_crt_init(&o->ca);
    code = code < 0 ? code : gnutls_x509_crt_import(o->ca, &text, GNUTLS_X509_FMT_PEM);
    text = (gnutls_datum_t){(unsigned char *)authority->key, (unsigned)strlen(authority->key)};
    code = code < 0 ? code : gnutls_x509_privkey_init(&o->ca_key);
    code = code < 0 ? code : gnutls_x509_privkey_import(o->ca_key, &text, GNUTLS_X509_FMT_PEM);
    return code;
}

static tacet_status finish(tacet__pem *out, objects *o, int code, tacet_error *err) {
    gnutls_datum_t datum = {NULL, 0};
    if (code >= 0 && (code = gnutls_x509_crt_export2(o->certificate, GNUTLS_X509_FMT_PEM, &datum)) >= 0) {
        out->certificate = copy_text(&datum);
    }
    if (code >= 0 && (code = gnutls_x509_privkey_export2(o->key, GNUTLS_X509_FMT_PEM, &datum)) >= 0) {
        out->key = copy_text(&datum);
    }
    free_objects(o);
    if (code < 0) {
        tacet__pem_free(out);
        return tacet__fail(err, TACET_INVALID, "cannot make a certificate: %s", gnutls_strerror(code));
    }
    if (out->certificate == NULL || out->key == NULL) {
        tacet__pem_free(out);
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory making a certificate");
    }
    return TACET_OK;
}

static int start(objects *o, const char *name, int days) {
    int code = gnutls_x509_privkey_init(&o->key);
    code = code < 0 ? code
                    : gnutls_x509_privkey_generate(o->key, GNUTLS_PK_ECDSA,
                                                   GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0);
    code = code < 0 ? code : gnutls_x509_crt_init(&o->certificate);
    return code < 0 ? code : describe(o->certificate, o->key, name, days);
}

tacet_status tacet__pki_authority(tacet__pem *out, const char *name, unsigned days, tacet_error *err) {
    *out = (tacet__pem){0};
    objects o = {0};
    int code = start(&o, name, (int)days);
    code = code < 0 ? code : gnutls_x509_crt_set_ca_status(o.certificate, 1);
    code = code < 0 ? code : gnutls_x509_crt_set_key_usage(o.certificate, GNUTLS_KEY_KEY_CERT_SIGN);
    code = code < 0 ? code : gnutls_x509_crt_sign2(o.certificate, o.certificate, o.key, GNUTLS_DIG_SHA256, 0);
    return finish(out, &o, code, err);
}

tacet_status tacet__pki_issue(tacet__pem *out, const tacet__pem *authority, const char *name, tacet__pki_use use,
                              const char *const *hosts, size_t host_count, int days, tacet_error *err) {
    *out = (tacet__pem){0};
    objects o = {0};
    int code = load_authority(&o, authority);
    code = code < 0 ? code : start(&o, name, days);
    code = code < 0 ? code : gnutls_x509_crt_set_ca_status(o.certificate, 0);
    code = code < 0 ? code : gnutls_x509_crt_set_key_usage(o.certificate, GNUTLS_KEY_DIGITAL_SIGNATURE);
    if (code >= 0 && use != TACET__PKI_CLIENT) {
        code = gnutls_x509_crt_set_key_purpose_oid(o.certificate, GNUTLS_KP_TLS_WWW_SERVER, 0);
    }
    if (code >= 0 && use != TACET__PKI_SERVER) {
        code = gnutls_x509_crt_set_key_purpose_oid(o.certificate, GNUTLS_KP_TLS_WWW_CLIENT, 0);
    }
    for (size_t i = 0; i < host_count && code >= 0; i++) {
        code = add_host(o.certificate, hosts[i]);
    }
    code = code < 0 ? code : gnutls_x509_crt_sign2(o.certificate, o.ca, o.ca_key, GNUTLS_DIG_SHA256, 0);
    return finish(out, &o, code, err);
}

int64_t tacet__pki_expires(const char *certificate) {
    gnutls_x509_crt_t crt = NULL;
    const gnutls_datum_t text = {(unsigned char *)(size_t)certificate, (unsigned)strlen(certificate)};
    time_t end = 0;
    if (gnutls_x509_crt_init(&crt) == 0) {
        end =
            gnutls_x509_crt_import(crt, &text, GNUTLS_X509_FMT_PEM) == 0 ? gnutls_x509_crt_get_expiration_time(crt) : 0;
        gnutls_x509_crt_deinit(crt);
    }
    return end > 0 ? (int64_t)end : 0;
}

void tacet__token_make(char text[TACET__TOKEN_TEXT]) {
    unsigned char raw[32];
    randombytes_buf(raw, sizeof raw);
    (void)sodium_bin2base64(text, TACET__TOKEN_TEXT, raw, sizeof raw, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    sodium_memzero(raw, sizeof raw);
}

void tacet__token_hash(char hash[TACET__TOKEN_HASH], const char *text) {
    unsigned char raw[32];
    (void)crypto_generichash(raw, sizeof raw, (const unsigned char *)text, strlen(text), NULL, 0);
    (void)sodium_bin2hex(hash, TACET__TOKEN_HASH, raw, sizeof raw);
}

bool tacet__token_matches(const char *hash, const char *token) {
    char found[TACET__TOKEN_HASH];
    if (token == NULL || strlen(hash) != TACET__TOKEN_HASH - 1) {
        return false;
    }
    tacet__token_hash(found, token);
    return sodium_memcmp(found, hash, TACET__TOKEN_HASH - 1) == 0;
}
