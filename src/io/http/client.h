/* SPDX-License-Identifier: Apache-2.0 */
/* client.h - one HTTPS request at a time, over libcurl. Ring: io; knows no data.
 * The server must show a certificate that the given authority signed for the host in the URL; nothing else is trusted.
 */
#pragma once

#include <stddef.h>
#include <stdio.h>
#include <tacet/core/status.h>

typedef struct tacet__client_settings {
    const char *url;         /* "https://host:port" */
    const char *authority;   /* PEM file the server's certificate must chain to */
    const char *certificate; /* own certificate and key (PEM files), or NULL */
    const char *key;
    const char *token;  /* bearer token, or NULL */
    const char *origin; /* the page that a browser would be on, or NULL */
    long seconds;       /* for one whole request */
    size_t most_body;   /* of an answer held in memory; above: IO */
} tacet__client_settings;

typedef struct tacet__client tacet__client;

enum { TACET__TOKEN_BYTES = 256 };

typedef struct tacet__answer {
    long status; /* HTTP */
    char *body;  /* NUL-terminated; owned by the client, valid until its next request */
    size_t size;
    long retry_after; /* seconds; 0: not said */
} tacet__answer;

/* 30 s, 16 MiB. */
void tacet__client_defaults(tacet__client_settings *settings);
/* INVALID: no URL, or not https. The strings are copied. */
tacet_status tacet__client_open(tacet__client **out, const tacet__client_settings *settings, tacet_error *err);
void tacet__client_close(tacet__client *client); /* wipes the token; NULL is allowed */
/* body NULL: no body. IO: no connection, DENIED: the certificate is not trusted, TIMEOUT. Any HTTP status is an answer.
 */
tacet_status tacet__client_request(tacet__client *client, tacet__answer *out, const char *method, const char *path,
                                   const char *body, tacet_error *err);
/* GET into an open file; out->body is empty unless the status is not 200. */
tacet_status tacet__client_download(tacet__client *client, tacet__answer *out, const char *path, FILE *file,
                                    tacet_error *err);

/* The first line of a file, without its end; whoever has it wipes it. NOT_FOUND: cannot be read. */
tacet_status tacet__client_token(char token[TACET__TOKEN_BYTES], const char *path, tacet_error *err);
/* Gives `status` back, with the words that the other side, called `who`, sent with its refusal, if any. */
tacet_status tacet__client_refused(const tacet__answer *answer, tacet_status status, const char *who, tacet_error *err);
