/* SPDX-License-Identifier: Apache-2.0 */
/* pages.c - the list of sites, CORS, and the requests of pages. Ring: open. Source: the Fetch standard, "CORS
 * protocol". Cost: a walk over the list; a lookup in the table of addresses for a grant. */
#include "service/open/wire/pages.h"

#include "core/clock.h"
#include "core/fail.h"
#include "core/memory.h"
#include "io/http/buckets.h"

#include <math.h>
#include <pthread.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SITES_MOST = 256, ORIGIN_MOST = 255, GRANTS_MOST = 16, REPORTS_MOST = 256, KEY_MOST = 64, OWNER_BYTES = 8 };
static const double BURST_SECONDS = 30; /* of an address's rate of grants */
static const char PREFIX[] = "/v1/pages/";

typedef struct site {
    char study[TACET__STUDY_NAME_MOST + 1];
    char origin[ORIGIN_MOST + 1];
} site;

struct tacet__page_sites {
    size_t count;
    site *list;
    double rate;
    pthread_mutex_t lock; /* of the addresses */
    tacet__buckets addresses;
};

void tacet__page_sites_free(tacet__page_sites *sites) {
    if (sites != NULL) {
        (void)pthread_mutex_destroy(&sites->lock);
        free(sites->list);
        free(sites);
    }
}

/* scheme://host[:port], as browsers send it: lower case, no path. Without TLS for pages of this machine alone. */
static bool good_origin(const char *text) {
    static const char *const LOCAL[] = {"http://localhost", "http://127.0.0.1", "http://[::1]"};
    const char *host = strncmp(text, "https://", 8) == 0 ? text + 8 : NULL;
    for (size_t i = 0; host == NULL && i < sizeof LOCAL / sizeof LOCAL[0]; i++) {
        const size_t length = strlen(LOCAL[i]);
        const bool whole = strncmp(text, LOCAL[i], length) == 0 && (text[length] == '\0' || text[length] == ':');
        host = whole ? text + sizeof "http://" - 1 : NULL;
    }
    return host != NULL && host[0] != '\0' && strspn(host, "abcdefghijklmnopqrstuvwxyz0123456789.-:[]") == strlen(host);
}

static tacet_status read_site(site *out, const char *text, size_t length, tacet_error *err) {
    const char *equals = memchr(text, '=', length);
    const size_t name = equals != NULL ? (size_t)(equals - text) : 0, rest = equals != NULL ? length - name - 1 : 0;
    if (name >= 1 && name <= TACET__STUDY_NAME_MOST && rest <= ORIGIN_MOST) {
        memcpy(out->study, text, name);
        memcpy(out->origin, equals + 1, rest);
        if (good_origin(out->origin)) {
            return TACET_OK;
        }
    }
    return tacet__fail(err, TACET_INVALID, "--pages takes STUDY=ORIGIN pairs, such as layouts=https://shop.example");
}

tacet_status tacet__page_sites_open(tacet__page_sites **out, const char *text, double rate, tacet_error *err) {
    *out = NULL;
    if (text == NULL) {
        return TACET_OK;
    }
    tacet__page_sites *sites = TACET__ZALLOC(tacet__page_sites, 1);
    if (sites != NULL) {
        (void)pthread_mutex_init(&sites->lock, NULL);
        sites->list = TACET__ZALLOC(site, SITES_MOST);
        sites->rate = rate;
    }
    tacet_status status = sites != NULL && sites->list != NULL
                              ? TACET_OK
                              : tacet__fail(err, TACET_NO_MEMORY, "out of memory for the list of pages");
    while (status == TACET_OK && *text != '\0') {
        const size_t length = strcspn(text, ",");
        status = sites->count < SITES_MOST
                     ? read_site(&sites->list[sites->count++], text, length, err)
                     : tacet__fail(err, TACET_INVALID, "--pages has more than %d pairs", (int)SITES_MOST);
        text += length + (text[length] == ',');
    }
    if (status != TACET_OK) {
        tacet__page_sites_free(sites);
        return status;
    }
    tacet__buckets_init(&sites->addresses);
    *out = sites;
    return TACET_OK;
}

bool tacet__page_path(const char *path) {
    return strncmp(path, PREFIX, sizeof PREFIX - 1) == 0;
}

bool tacet__page_enter(tacet__call *c, tacet__response *response) {
    const tacet__page_sites *sites = c->service->sites;
    const char *origin = c->request.header != NULL ? c->request.header(c->request.peer, "Origin") : NULL;
    for (size_t i = 0; sites != NULL && origin != NULL && i < sites->count && c->origin == NULL; i++) {
        const site *s = &sites->list[i];
        c->origin = strcmp(s->study, c->study) == 0 && strcmp(s->origin, origin) == 0 ? s->origin : NULL;
    }
    if (c->origin == NULL) {
        /* Whether there is such a study is not said. */
        tacet__refuse(response, 403, "forbidden", "pages of this origin may not report to this study (--pages)");
        return false;
    }
    if (strcmp(c->request.method, "OPTIONS") == 0) {
        tacet__call_fill(response, 200, json_object());
        return false;
    }
    return true;
}

/* As many tokens as grants: an address gets so many a second, whichever way it asks. */
static bool within_rate(tacet__page_sites *sites, uint64_t address, size_t many) {
    const double now = tacet__now();
    bool good = true;
    (void)pthread_mutex_lock(&sites->lock);
    for (size_t i = 0; i < many && good; i++) {
        good = tacet__buckets_take(&sites->addresses, address, sites->rate,
                                   fmax(GRANTS_MOST, sites->rate * BURST_SECONDS), now);
    }
    (void)pthread_mutex_unlock(&sites->lock);
    return good;
}

static const char *read_count(tacet__job *job, json_t *value) {
    const json_int_t many = value != NULL ? json_integer_value(value) : 1;
    job->many = many >= 1 && many <= GRANTS_MOST ? (size_t)many : 0;
    return job->many > 0 ? NULL : "'count' must be a whole number, 1 to 16";
}

const tacet__field tacet__page_grants_takes[] = {{"count", read_count, true}, {0}};

void tacet__page_grants(tacet__call *c, tacet__response *response) {
    tacet__job *job = tacet__call_read(c, response, TACET__JOB_GRANTS);
    if (job != NULL && !within_rate(c->service->sites, c->request.address, job->many)) {
        tacet__job_free(job);
        tacet__refuse(response, 429, NULL, "this address has asked for too many grants");
        response->retry_after = 1;
    } else if (job != NULL) {
        tacet__call_job(c, response, job);
    }
}

static bool good_key(const char *text) {
    const size_t length = text != NULL ? strlen(text) : 0;
    return length >= 1 && length <= KEY_MOST &&
           strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:-") == length;
}

/* NULL, or the rule that is broken. `word`: grant or key. */
static const char *check_reports(const json_t *reports, const char *word) {
    size_t i = 0;
    const json_t *one = NULL;
    if (!json_is_array(reports) || json_array_size(reports) < 1 || json_array_size(reports) > REPORTS_MOST) {
        return "'reports' must be an array of 1 to 256 reports";
    }
    json_array_foreach(reports, i, one) {
        const json_t *index = json_object_get(one, "index"), *value = json_object_get(one, "value");
        if (json_object_size(one) != 3 || !good_key(json_string_value(json_object_get(one, word)))) {
            return "a report has a 'grant' ('key', with a token), 'index' and 'value', and nothing else";
        }
        if (!json_is_integer(index) || json_integer_value(index) < 0 || !json_is_number(value) ||
            !isfinite(json_number_value(value))) {
            return "'index' must be a whole number, 'value' a number";
        }
    }
    return NULL;
}

/* A grant for somebody whom the site's own server has let in: the same for the same login, whichever browser asks. */
static const char *read_login(tacet__job *job, json_t *value) {
    const char *login = json_string_value(value);
    job->many = 1;
    (void)snprintf(job->key, sizeof job->key, "%s", login != NULL ? login : "");
    return good_key(login) ? NULL : "'login' must be 1 to 64 letters, digits or ._:- (a hash of the login)";
}

static const char *read_granted(tacet__job *job, json_t *value) {
    job->reports = json_incref(value);
    return check_reports(value, "grant");
}

static const char *read_keyed(tacet__job *job, json_t *value) {
    job->reports = json_incref(value);
    return check_reports(value, "key");
}

const tacet__field tacet__login_takes[] = {{"login", read_login, true}, {0}};
const tacet__field tacet__page_reports_takes[] = {{"reports", read_granted, true}, {0}};
const tacet__field tacet__device_reports_takes[] = {{"reports", read_keyed, true}, {0}};

void tacet__device_reports(tacet__call *c, tacet__response *response) {
    tacet__job *job = tacet__call_read(c, response, TACET__JOB_REPORT);
    if (job != NULL) { /* a key is of the token it came with */
        char hash[2 * OWNER_BYTES + 1];
        (void)sodium_bin2hex(hash, sizeof hash, c->token.hash, OWNER_BYTES);
        (void)snprintf(job->key, sizeof job->key, "report/%s/", hash);
        tacet__call_job(c, response, job);
    }
}
