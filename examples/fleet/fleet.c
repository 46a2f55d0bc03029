/* SPDX-License-Identifier: Apache-2.0 */
/* fleet.c - a thousand devices, each asking a suggestion service what to try, trying it, and reporting a randomised
 * reward. Simulated, but everything that matters is real: the wire, the randomiser, the rule that a ticket is answered
 * once.
 *
 * Build, with libtacet-device, libcurl and jansson:
 *     cc -pthread fleet.c $(pkg-config --cflags --libs tacet-device libcurl jansson) -lm -o fleet
 * Run, against a study whose randomizer is hybrid with eps 1 on rewards in [0, 1] (examples/fleet/run.sh makes one):
 *     ./fleet https://localhost:8443 fleet ca.pem token 1000
 *
 * What to copy into a client of your own: `suggest` (a key of your choosing makes a retry harmless), `report` (the
 * library draws once; send the same bits until they are acknowledged), and the two functions of the device's memory. */
#include <curl/curl.h>
#include <jansson.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/local/trusted/device.h>
#include <unistd.h>

enum { WORKERS = 8, ROUNDS = 3, TICKET = 64, TRIES = 40, BODY = 4096 };
static const char *url, *study, *authority;
static char bearer[300];
static size_t device_count;
static atomic_size_t next_device, acknowledged, sent_again, late_good, late_all;

/* --- one device -----------------------------------------------------------------------------------------------------
 */

/* What it remembers of its rounds. Here in memory; a phone writes it to storage before it returns (examples/device). */
typedef struct memory {
    char tickets[ROUNDS][TICKET];
    double reports[ROUNDS];
    bool answered[ROUNDS];
    tacet_mint mints[ROUNDS]; /* the keys of rounds that are not answered yet */
    size_t count;
} memory;

static tacet_status reserve(void *user, const char *ticket, const tacet_ldp *ldp, tacet_mint *mint, bool *answered,
                            double *report, tacet_error *err) {
    memory *m = user;
    size_t i = 0;
    (void)ldp;
    (void)err;
    while (i < m->count && strcmp(m->tickets[i], ticket) != 0) {
        i++;
    }
    if (i == m->count) {
        if (m->count == ROUNDS) {
            return TACET_BUDGET; /* a device gives ROUNDS reports, eps 1 each, and no more */
        }
        m->mints[m->count] = *mint;
        (void)snprintf(m->tickets[m->count++], TICKET, "%s", ticket);
    }
    *mint = m->mints[i];
    *answered = m->answered[i];
    *report = m->reports[i];
    return TACET_OK;
}

static tacet_status commit(void *user, const char *ticket, double report, tacet_error *err) {
    memory *m = user;
    (void)err;
    for (size_t i = 0; i < m->count; i++) {
        if (strcmp(m->tickets[i], ticket) == 0) {
            m->reports[i] = report;
            m->answered[i] = true;
            m->mints[i] = (tacet_mint){{0}, {0}};
        }
    }
    return TACET_OK;
}

/* What nobody but the device knows: how well x works for it. Best at 0.7. */
static double try_it(double x, unsigned *seed) {
    const double f = 0.1 + 0.8 * exp(-(x - 0.7) * (x - 0.7) / 0.05);
    return f + 0.1 * (2.0 * rand_r(seed) / RAND_MAX - 1);
}

/* --- the wire -------------------------------------------------------------------------------------------------------
 */

typedef struct answer {
    char text[BODY];
    size_t size;
} answer;

static size_t receive(char *data, size_t size, size_t count, void *user) {
    answer *a = user;
    const size_t bytes = size * count;
    if (bytes >= sizeof a->text - a->size) {
        return 0;
    }
    memcpy(a->text + a->size, data, bytes);
    a->size += bytes;
    a->text[a->size] = '\0';
    return bytes;
}

/* Posts until the service has answered: a lost answer and a 503 are the same to a client that may repeat itself. */
static json_t *post(CURL *curl, const char *what, const char *body) {
    char address[600];
    (void)snprintf(address, sizeof address, "%s/v1/studies/%s/%s", url, study, what);
    (void)curl_easy_setopt(curl, CURLOPT_URL, address);
    (void)curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
    for (int i = 0; i < TRIES; i++) {
        answer a = {.size = 0};
        long status = 0;
        (void)curl_easy_setopt(curl, CURLOPT_WRITEDATA, &a);
        if (curl_easy_perform(curl) == CURLE_OK) {
            (void)curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
        }
        if (status >= 200 && status < 300) {
            return json_loadb(a.text, a.size, 0, NULL);
        }
        if (status >= 400 && status != 429 && status != 503) {
            fprintf(stderr, "fleet: %s: %ld %s\n", what, status, a.text);
            return NULL;
        }
        atomic_fetch_add(&sent_again, 1);
        (void)usleep(100000);
    }
    return NULL;
}

static bool suggest(CURL *curl, const char *key, char ticket[TICKET], double *x) {
    char body[128];
    (void)snprintf(body, sizeof body, "{\"key\":\"%s\"}", key);
    json_t *a = post(curl, "suggestions", body);
    const char *text = json_string_value(json_object_get(a, "ticket"));
    const json_t *first = json_array_get(json_object_get(a, "action"), 0);
    const bool ok = text != NULL && strlen(text) < TICKET && json_is_number(first);
    if (ok) {
        memcpy(ticket, text, strlen(text) + 1);
        *x = json_number_value(first);
    }
    json_decref(a);
    return ok;
}

static bool report(CURL *curl, tacet_device *device, const char *ticket, double reward) {
    tacet_device_answer drawn;
    tacet_error err = {0};
    char body[256];
    if (tacet_device_report(device, &drawn, ticket, reward, &err) != TACET_OK) {
        fprintf(stderr, "fleet: %s\n", err.message);
        return false;
    }
    (void)snprintf(body, sizeof body, "{\"ticket\":\"%s\",\"value\":%.17g}", ticket, drawn.report);
    json_t *a = post(curl, "observations", body);
    const bool ok = a != NULL;
    json_decref(a);
    return ok;
}

/* --- the fleet ------------------------------------------------------------------------------------------------------
 */

static bool live(CURL *curl, size_t number) {
    memory m = {.count = 0};
    const tacet_device_store store = {reserve, commit, &m};
    tacet_ldp ldp;
    tacet_device *device = NULL;
    unsigned seed = (unsigned)number + 1;
    bool ok = tacet_ldp_init(&ldp, TACET_LDP_HYBRID, 1.0, 0.0, 1.0, NULL) == TACET_OK &&
              tacet_device_open(&device, &ldp, &store, NULL) == TACET_OK;
    for (int round = 0; ok && round < ROUNDS; round++) {
        char key[64];
        char ticket[TICKET];
        double x = 0;
        (void)snprintf(key, sizeof key, "device-%zu-round-%d", number, round);
        ok = suggest(curl, key, ticket, &x) && report(curl, device, ticket, try_it(x, &seed));
        if (ok) {
            atomic_fetch_add(&acknowledged, 1);
            if (number >= device_count * 3 / 4) {
                atomic_fetch_add(&late_all, 1);
                atomic_fetch_add(&late_good, fabs(x - 0.7) <= 0.15);
            }
        }
    }
    tacet_device_close(device);
    return ok;
}

static void *work(void *user) {
    struct curl_slist *headers = curl_slist_append(NULL, bearer);
    CURL *curl = curl_easy_init();
    size_t *failed = user;
    headers = curl_slist_append(headers, "Content-Type: application/json");
    (void)curl_easy_setopt(curl, CURLOPT_CAINFO, authority);
    (void)curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    (void)curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, receive);
    (void)curl_easy_setopt(curl, CURLOPT_TIMEOUT, 30L);
    (void)curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    for (size_t number = atomic_fetch_add(&next_device, 1); number < device_count;
         number = atomic_fetch_add(&next_device, 1)) {
        *failed += !live(curl, number);
    }
    curl_easy_cleanup(curl);
    curl_slist_free_all(headers);
    return NULL;
}

static bool read_token(const char *path) {
    char token[200] = "";
    FILE *file = fopen(path, "r");
    const bool ok = file != NULL && fgets(token, sizeof token, file) != NULL;
    if (file != NULL) {
        (void)fclose(file);
    }
    token[strcspn(token, "\r\n")] = '\0';
    (void)snprintf(bearer, sizeof bearer, "Authorization: Bearer %s", token);
    return ok;
}

int main(int argc, char **argv) {
    pthread_t threads[WORKERS];
    size_t failed[WORKERS] = {0};
    size_t failures = 0;
    if (argc != 6 || !read_token(argv[4])) {
        fprintf(stderr, "usage: fleet URL STUDY AUTHORITY TOKEN_FILE DEVICES\n");
        return 2;
    }
    url = argv[1];
    study = argv[2];
    authority = argv[3];
    device_count = strtoull(argv[5], NULL, 10);
    (void)curl_global_init(CURL_GLOBAL_DEFAULT);
    for (size_t i = 0; i < WORKERS; i++) {
        if (pthread_create(&threads[i], NULL, work, &failed[i]) != 0) {
            return 1;
        }
    }
    for (size_t i = 0; i < WORKERS; i++) {
        (void)pthread_join(threads[i], NULL);
        failures += failed[i];
    }
    printf("%zu devices, %zu reports acknowledged, %zu requests sent again, %zu devices failed\n", device_count,
           atomic_load(&acknowledged), atomic_load(&sent_again), failures);
    printf("the last quarter of the devices were sent within 0.15 of the best place %zu times of %zu\n",
           atomic_load(&late_good), atomic_load(&late_all));
    return failures == 0 ? 0 : 1;
}
