/* SPDX-License-Identifier: Apache-2.0 */
/* client.c - HTTPS requests over libcurl; a token's file, and the words of a refusal.
 * Ring: io. Differs from curl's defaults: https only, no redirects, one trusted authority, no proxy from the
 * environment (a proxy would see who asks what). Cost: one connection, kept alive between requests. */
#include "io/http/client.h"

#include "core/fail.h"
#include "core/memory.h"

#include <curl/curl.h>
#include <jansson.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

struct tacet__client {
    CURL *curl;
    struct curl_slist *headers;
    char *url;
    char *body;
    size_t size, capacity, most;
    FILE *file;
    char error[CURL_ERROR_SIZE];
};

void tacet__client_defaults(tacet__client_settings *settings) {
    *settings = (tacet__client_settings){.seconds = 30, .most_body = (size_t)16 << 20};
}

static size_t receive(char *data, size_t size, size_t count, void *user) {
    tacet__client *client = user;
    const size_t bytes = size * count;
    long status = 0;
    (void)curl_easy_getinfo(client->curl, CURLINFO_RESPONSE_CODE, &status);
    if (client->file != NULL && status == 200) {
        return fwrite(data, 1, bytes, client->file);
    }
    if (bytes > client->most - client->size ||
        !tacet__grow((void **)&client->body, &client->capacity, client->size + bytes + 1, 1)) {
        return 0; /* curl reports a write error */
    }
    memcpy(client->body + client->size, data, bytes);
    client->size += bytes;
    client->body[client->size] = '\0';
    return bytes;
}

static bool add_header(tacet__client *client, const char *line) {
    struct curl_slist *longer = curl_slist_append(client->headers, line);
    if (longer == NULL) {
        return false;
    }
    client->headers = longer;
    return true;
}

static bool add_token(tacet__client *client, const char *token) {
    if (token == NULL) {
        return true;
    }
    const size_t size = strlen(token) + sizeof "Authorization: Bearer ";
    char *line = malloc(size);
    if (line == NULL) {
        return false;
    }
    (void)snprintf(line, size, "Authorization: Bearer %s", token);
    const bool ok = add_header(client, line);
    sodium_memzero(line, size);
    free(line);
    return ok;
}

static bool add_origin(tacet__client *client, const char *origin) {
    char line[300];
    (void)snprintf(line, sizeof line, "Origin: %s", origin != NULL ? origin : "");
    return origin == NULL || add_header(client, line);
}

tacet_status tacet__client_open(tacet__client **out, const tacet__client_settings *settings, tacet_error *err) {
    *out = NULL;
    if (settings->url == NULL || strncmp(settings->url, "https://", 8) != 0) {
        return tacet__fail(err, TACET_INVALID, "the address must begin with https://");
    }
    tacet__client *client = TACET__ZALLOC(tacet__client, 1);
    if (client == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory opening a client");
    }
    client->most = settings->most_body;
    client->url = strdup(settings->url);
    client->curl = curl_easy_init();
    if (client->url == NULL || client->curl == NULL || !add_header(client, "Content-Type: application/json") ||
        !add_header(client, "Expect:") || !add_token(client, settings->token) ||
        !add_origin(client, settings->origin)) {
        tacet__client_close(client);
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory opening a client");
    }
    const size_t length = strlen(client->url);
    if (client->url[length - 1] == '/') {
        client->url[length - 1] = '\0';
    }
    CURL *c = client->curl;
    (void)curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "https");
    (void)curl_easy_setopt(c, CURLOPT_PROXY, "");
    (void)curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
    (void)curl_easy_setopt(c, CURLOPT_TIMEOUT, settings->seconds);
    (void)curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT, settings->seconds < 10 ? settings->seconds : 10L);
    (void)curl_easy_setopt(c, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    (void)curl_easy_setopt(c, CURLOPT_SSL_VERIFYPEER, 1L);
    (void)curl_easy_setopt(c, CURLOPT_SSL_VERIFYHOST, 2L);
    (void)curl_easy_setopt(c, CURLOPT_CAPATH, NULL);
    if (settings->authority != NULL) {
        (void)curl_easy_setopt(c, CURLOPT_CAINFO, settings->authority);
    }
    if (settings->certificate != NULL) {
        (void)curl_easy_setopt(c, CURLOPT_SSLCERT, settings->certificate);
        (void)curl_easy_setopt(c, CURLOPT_SSLKEY, settings->key);
    }
    (void)curl_easy_setopt(c, CURLOPT_HTTPHEADER, client->headers);
    (void)curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, receive);
    (void)curl_easy_setopt(c, CURLOPT_WRITEDATA, client);
    (void)curl_easy_setopt(c, CURLOPT_ERRORBUFFER, client->error);
    *out = client;
    return TACET_OK;
}

void tacet__client_close(tacet__client *client) {
    if (client == NULL) {
        return;
    }
    for (struct curl_slist *h = client->headers; h != NULL; h = h->next) {
        sodium_memzero(h->data, strlen(h->data));
    }
    curl_slist_free_all(client->headers);
    if (client->curl != NULL) {
        curl_easy_cleanup(client->curl);
    }
    free(client->url);
    free(client->body);
    free(client);
}

static tacet_status explain(const tacet__client *client, CURLcode code, tacet_error *err) {
    const char *detail = client->error[0] != '\0' ? client->error : curl_easy_strerror(code);
    switch (code) {
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_ISSUER_ERROR:
        return tacet__fail(err, TACET_DENIED, "%s does not show a certificate that can be trusted: %s", client->url,
                           detail);
    case CURLE_OPERATION_TIMEDOUT:
        return tacet__fail(err, TACET_TIMEOUT, "%s did not answer in time", client->url);
    case CURLE_WRITE_ERROR:
        return tacet__fail(err, TACET_IO, "the answer of %s could not be stored", client->url);
    default:
        return tacet__fail(err, TACET_IO, "no answer from %s: %s", client->url, detail);
    }
}

static tacet_status perform(tacet__client *client, tacet__answer *out, const char *method, const char *path,
                            const void *body, size_t body_size, tacet_error *err) {
    *out = (tacet__answer){0};
    const size_t size = strlen(client->url) + strlen(path) + 1;
    char *url = malloc(size);
    if (url == NULL || !tacet__grow((void **)&client->body, &client->capacity, 1, 1)) {
        free(url);
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory asking %s", client->url);
    }
    (void)snprintf(url, size, "%s%s", client->url, path);
    client->size = 0;
    client->body[0] = '\0';
    client->error[0] = '\0';
    CURL *c = client->curl;
    (void)curl_easy_setopt(c, CURLOPT_URL, url);
    if (body != NULL) {
        (void)curl_easy_setopt(c, CURLOPT_POSTFIELDS, body);
        (void)curl_easy_setopt(c, CURLOPT_POSTFIELDSIZE, (long)body_size);
    } else {
        (void)curl_easy_setopt(c, CURLOPT_HTTPGET, 1L);
    }
    (void)curl_easy_setopt(c, CURLOPT_CUSTOMREQUEST, method);
    const CURLcode code = curl_easy_perform(c);
    free(url);
    if (code != CURLE_OK) {
        return explain(client, code, err);
    }
    curl_off_t retry = 0;
    (void)curl_easy_getinfo(c, CURLINFO_RESPONSE_CODE, &out->status);
    (void)curl_easy_getinfo(c, CURLINFO_RETRY_AFTER, &retry);
    out->retry_after = (long)retry;
    out->body = client->body;
    out->size = client->size;
    return TACET_OK;
}

tacet_status tacet__client_request(tacet__client *client, tacet__answer *out, const char *method, const char *path,
                                   const char *body, tacet_error *err) {
    client->file = NULL;
    return perform(client, out, method, path, body, body != NULL ? strlen(body) : 0, err);
}

tacet_status tacet__client_download(tacet__client *client, tacet__answer *out, const char *path, FILE *file,
                                    tacet_error *err) {
    client->file = file;
    const tacet_status status = perform(client, out, "GET", path, NULL, 0, err);
    client->file = NULL;
    return status;
}

/* --- tokens and refusals -------------------------------------------------------------------------------------------
 */

tacet_status tacet__client_token(char token[TACET__TOKEN_BYTES], const char *path, tacet_error *err) {
    FILE *file = fopen(path, "re");
    const bool ok = file != NULL && fgets(token, TACET__TOKEN_BYTES, file) != NULL;
    if (file != NULL) {
        (void)fclose(file);
    }
    if (!ok) {
        return tacet__fail(err, TACET_NOT_FOUND, "%s cannot be read", path);
    }
    token[strcspn(token, "\r\n")] = '\0';
    return TACET_OK;
}

tacet_status tacet__client_refused(const tacet__answer *answer, tacet_status status, const char *who,
                                   tacet_error *err) {
    json_t *body = json_loadb(answer->body, answer->size, 0, NULL);
    const char *reason = json_string_value(json_object_get(body, "detail"));
    (void)tacet__fail(err, status, "%s answered %ld: %.150s", who, answer->status,
                      reason != NULL ? reason : "no reason given");
    json_decref(body);
    return status;
}
