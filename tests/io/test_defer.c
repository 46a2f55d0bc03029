/* SPDX-License-Identifier: Apache-2.0 */
/* test_defer.c - answers that come later: more clients wait than there are threads, and none gets another's answer.
 * What they sent counts towards what the server holds for as long as they wait. */
#include "io/http/client.h"
#include "io/http/pki.h"
#include "io/http/server.h"
#include "support/test.h"

#include <pthread.h>
#include <unistd.h>

enum { CLIENTS = 12, EACH = 20, QUEUE = 256, HELD = 4096, LARGE = 3000 };

static struct {
    tacet__server *server;
    char folder[256], ca[300], url[64];
    /* Suspended requests, answered by `answer_thread` once `wanted` of them wait, the last first. */
    pthread_mutex_t lock;
    pthread_cond_t wake;
    tacet__exchange *waiting[QUEUE];
    char *texts[QUEUE];
    size_t count, wanted, most;
    bool stop;
    pthread_t thread;
} f;

/* "/now": at once. "/same": suspended and answered before the handler returns. Others: later, by another thread. */
static void handler(void *user, const tacet__request *request, tacet__response *response) {
    (void)user;
    const char *argument = request->argument(request->peer, "tag");
    char *text = strdup(argument != NULL ? argument : request->body);
    if (strcmp(request->path, "/now") == 0) {
        *response = (tacet__response){.status = 200, .body = text, .body_size = strlen(text), .file = -1};
        return;
    }
    request->exchange->suspend(request->exchange);
    if (strcmp(request->path, "/same") == 0) {
        const tacet__response late = {.status = 201, .body = text, .body_size = strlen(text), .file = -1};
        request->exchange->answer(request->exchange, &late);
        return;
    }
    (void)pthread_mutex_lock(&f.lock);
    f.waiting[f.count] = request->exchange;
    f.texts[f.count++] = text;
    f.most = f.count > f.most ? f.count : f.most;
    (void)pthread_cond_broadcast(&f.wake);
    (void)pthread_mutex_unlock(&f.lock);
}

static void *answer_thread(void *user) {
    (void)user;
    (void)pthread_mutex_lock(&f.lock);
    while (!f.stop || f.count > 0) {
        while (!f.stop && f.count < f.wanted) {
            (void)pthread_cond_wait(&f.wake, &f.lock);
        }
        while (f.count > 0) {
            f.count--;
            const tacet__response late = {
                .status = 200, .body = f.texts[f.count], .body_size = strlen(f.texts[f.count]), .file = -1};
            f.waiting[f.count]->answer(f.waiting[f.count], &late);
        }
    }
    (void)pthread_mutex_unlock(&f.lock);
    return NULL;
}

static int setup(void **state) {
    const char *const hosts[] = {"127.0.0.1"};
    tacet__pem authority;
    tacet__pem pem;
    tacet__server_settings settings;
    memset(&f, 0, sizeof f);
    (void)pthread_mutex_init(&f.lock, NULL);
    (void)pthread_cond_init(&f.wake, NULL);
    f.wanted = 1;
    assert_ok(tacet__pki_authority(&authority, "test", 1, NULL));
    assert_ok(tacet__pki_issue(&pem, &authority, "server", TACET__PKI_SERVER, hosts, 1, 1, NULL));
    (void)snprintf(f.folder, sizeof f.folder, "%s", test_mkdir());
    (void)snprintf(f.ca, sizeof f.ca, "%s/ca.pem", f.folder);
    test_write(f.ca, authority.certificate);
    tacet__server_defaults(&settings);
    settings.certificate = pem.certificate;
    settings.key = pem.key;
    settings.handler = handler;
    settings.rate = settings.burst = 1e6;
    settings.most_held = HELD;
    assert_ok(tacet__server_start(&f.server, &settings, NULL));
    (void)snprintf(f.url, sizeof f.url, "https://127.0.0.1:%u", tacet__server_port(f.server));
    tacet__pem_free(&authority);
    tacet__pem_free(&pem);
    assert_int_equal(pthread_create(&f.thread, NULL, answer_thread, NULL), 0);
    return 0;
}

/* As programs stop: whoever waits is answered, then the server goes. */
static void stop(void) {
    tacet__server_quiesce(f.server);
    (void)pthread_mutex_lock(&f.lock);
    f.stop = true;
    (void)pthread_cond_signal(&f.wake);
    (void)pthread_mutex_unlock(&f.lock);
    (void)pthread_join(f.thread, NULL);
    tacet__server_stop(f.server);
    f.server = NULL;
}

static int teardown(void **state) {
    if (f.server != NULL) {
        stop();
    }
    (void)pthread_mutex_destroy(&f.lock);
    (void)pthread_cond_destroy(&f.wake);
    test_rmdir(f.folder);
    return 0;
}

static tacet__client *connect_one(long seconds) {
    tacet__client *client = NULL;
    tacet__client_settings s;
    tacet__client_defaults(&s);
    s.url = f.url;
    s.authority = f.ca;
    s.seconds = seconds;
    assert_ok(tacet__client_open(&client, &s, NULL));
    return client;
}

static void *press(void *user) {
    const size_t number = *(size_t *)user;
    tacet__client *client = connect_one(30);
    static const char *const PATHS[] = {"/later", "/later", "/now", "/same"};
    size_t wrong = 0;
    for (int i = 0; i < EACH; i++) {
        char body[64];
        tacet__answer answer = {0};
        (void)snprintf(body, sizeof body, "client %zu request %d", number, i);
        const char *path = PATHS[i % 4];
        const bool ok = tacet__client_request(client, &answer, "POST", path, body, NULL) == TACET_OK;
        wrong += !ok || strcmp(answer.body, body) != 0 || answer.status != (i % 4 == 3 ? 201 : 200);
    }
    tacet__client_close(client);
    *(size_t *)user = wrong;
    return NULL;
}

static void test_crowd(void **state) {
    pthread_t threads[CLIENTS];
    size_t numbers[CLIENTS];
    for (size_t i = 0; i < CLIENTS; i++) {
        numbers[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, press, &numbers[i]), 0);
    }
    for (size_t i = 0; i < CLIENTS; i++) {
        (void)pthread_join(threads[i], NULL);
        assert_int_equal(numbers[i], 0);
    }
}

static void *wait_one(void *user) {
    tacet__client *client = connect_one(30);
    tacet__answer answer = {0};
    (void)user;
    const bool ok = tacet__client_request(client, &answer, "GET", "/later?tag=all", NULL, NULL) == TACET_OK;
    const bool right = ok && strcmp(answer.body, "all") == 0;
    tacet__client_close(client);
    return right ? &f : NULL;
}

/* All of them wait at once, on two threads: none is answered before the last has come. */
static void test_all_wait(void **state) {
    pthread_t threads[CLIENTS];
    (void)pthread_mutex_lock(&f.lock);
    f.wanted = CLIENTS;
    (void)pthread_mutex_unlock(&f.lock);
    for (size_t i = 0; i < CLIENTS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, wait_one, NULL), 0);
    }
    for (size_t i = 0; i < CLIENTS; i++) {
        void *right = NULL;
        (void)pthread_join(threads[i], &right);
        assert_non_null(right);
    }
    assert_int_equal(f.most, CLIENTS);
}

/* The server stops while they wait: their answers arrive all the same. */
static void test_stop(void **state) {
    pthread_t threads[CLIENTS];
    (void)pthread_mutex_lock(&f.lock);
    f.wanted = QUEUE + 1;
    (void)pthread_mutex_unlock(&f.lock);
    for (size_t i = 0; i < CLIENTS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, wait_one, NULL), 0);
    }
    (void)pthread_mutex_lock(&f.lock);
    while (f.count < CLIENTS) {
        (void)pthread_cond_wait(&f.wake, &f.lock);
    }
    (void)pthread_mutex_unlock(&f.lock);
    stop();
    for (size_t i = 0; i < CLIENTS; i++) {
        void *right = NULL;
        (void)pthread_join(threads[i], &right);
        assert_non_null(right);
    }
}

/* A client that went away while it waited costs nothing: the answer is thrown away, others are served. */
static void test_gone(void **state) {
    tacet__answer answer = {0};
    (void)pthread_mutex_lock(&f.lock);
    f.wanted = 2;
    (void)pthread_mutex_unlock(&f.lock);
    tacet__client *client = connect_one(1);
    assert_int_equal(tacet__client_request(client, &answer, "POST", "/later", "gone", NULL), TACET_TIMEOUT);
    tacet__client_close(client);
    client = connect_one(30);
    assert_ok(tacet__client_request(client, &answer, "POST", "/later", "here", NULL));
    assert_string_equal(answer.body, "here");
    tacet__client_close(client);
}

static void *send_large(void *user) {
    tacet__client *client = connect_one(30);
    tacet__answer answer = {0};
    const bool ok = tacet__client_request(client, &answer, "POST", "/later", user, NULL) == TACET_OK;
    const bool right = ok && strcmp(answer.body, user) == 0;
    tacet__client_close(client);
    return right ? &f : NULL;
}

/* While one waits, what it sent is held: another of that size is refused, a small one is not. Then there is room. */
static void test_held(void **state) {
    static char large[LARGE + 1];
    pthread_t thread;
    void *right = NULL;
    tacet__answer answer = {0};
    memset(large, 'x', LARGE);
    (void)pthread_mutex_lock(&f.lock);
    f.wanted = 2;
    (void)pthread_mutex_unlock(&f.lock);
    assert_int_equal(pthread_create(&thread, NULL, send_large, large), 0);
    (void)pthread_mutex_lock(&f.lock);
    while (f.count < 1) {
        (void)pthread_cond_wait(&f.wake, &f.lock);
    }
    (void)pthread_mutex_unlock(&f.lock);
    tacet__client *client = connect_one(30);
    for (int i = 0; i < 3; i++) { /* what is refused holds nothing */
        assert_ok(tacet__client_request(client, &answer, "POST", "/now", large, NULL));
        assert_int_equal(answer.status, 503);
        assert_int_equal(answer.retry_after, 1);
        assert_ok(tacet__client_request(client, &answer, "POST", "/now", "small", NULL));
        assert_int_equal(answer.status, 200);
    }
    assert_ok(tacet__client_request(client, &answer, "POST", "/later", "both", NULL));
    assert_string_equal(answer.body, "both");
    (void)pthread_join(thread, &right);
    assert_non_null(right);
    answer.status = 503;
    for (int i = 0; i < 500 && answer.status == 503; i++) { /* its bytes are given back soon after its answer */
        (void)usleep(10000);
        assert_ok(tacet__client_request(client, &answer, "POST", "/now", large, NULL));
    }
    assert_int_equal(answer.status, 200);
    tacet__client_close(client);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {TEST(test_crowd), TEST(test_all_wait), TEST(test_stop), TEST(test_gone),
                                       TEST(test_held)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
