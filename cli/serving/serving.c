/* SPDX-License-Identifier: Apache-2.0 */
/* serving.c - a service in the foreground: it says its address, then waits for the signal that ends it.
 * Part of the programs tacet-server (trusted) and tacet-collector (open), and of tacet-curator. */
#include "serving/serving.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { STOP_MS = 4500 }; /* what is not saved by then is in the store: killing is safe at any moment */

bool serving_begin(tacet_log **log, sigset_t *signals, const cli_command *self, int *code) {
    static tacet_log *lasting; /* what ends a process that hangs may write to it */
    tacet_error err = {0};
    if (tacet_log_open(&lasting, STDERR_FILENO, cli_json_wanted() ? "json" : "text", &err) != TACET_OK) {
        *code = cli_fail(self, &err);
        return false;
    }
    *log = lasting;
    (void)sigemptyset(signals);
    (void)sigaddset(signals, SIGINT);
    (void)sigaddset(signals, SIGTERM);
    (void)sigaddset(signals, SIGHUP);
    (void)sigprocmask(SIG_BLOCK, signals, NULL); /* before any thread starts, so that they come here */
    (void)signal(SIGPIPE, SIG_IGN);
    return true;
}

bool serving_place(tacet_store_place *place) {
    static const char OPEN[] = "open:",
                      NEXT[] = ",postgresql://"; /* hosts of one address may have commas between them */
    static char *kept;
    place->open_only = strncmp(place->store, OPEN, sizeof OPEN - 1) == 0;
    place->store += place->open_only ? sizeof OPEN - 1 : 0;
    const char *comma = strstr(place->store, NEXT);
    if (comma == NULL || place->open_only) {
        return true;
    }
    free(kept);
    kept = strdup(place->store);
    if (kept != NULL) {
        kept[comma - place->store] = '\0';
        place->open_store = kept + (comma - place->store) + 1;
        place->store = kept;
    }
    return kept != NULL;
}

void serving_url(char out[300], const char *listen, unsigned port) {
    const char *colon = strrchr(listen, ':');
    (void)snprintf(out, 300, "https://%.*s:%u", colon != NULL ? (int)(colon - listen) : 0, listen, port);
}

void serving_unready(const char *ready) {
    if (ready != NULL) {
        (void)remove(ready);
    }
}

/* For scripts: the address, once the service answers. */
void serving_announce(const char *listen, unsigned port, json_t *more, const char *ready) {
    char url[300];
    serving_url(url, listen, port);
    json_t *object = cli_object("url port", J(url), J(port));
    (void)json_object_update(object, more);
    json_decref(more);
    (void)cli_tell(object, "{?_desk|the desk is at {desk}/ for you alone; its token is in {_desk}/desk.token\n}"
                           "listening on {url}\n");
    (void)fflush(stdout);
    FILE *file = ready != NULL ? fopen(ready, "we") : NULL;
    if (file != NULL) {
        (void)fprintf(file, "%s\n", url);
        (void)fclose(file);
    }
}

/* A store that hangs must not keep the process from ending. */
static void *end_anyway(void *user) {
    const struct timespec wait = {.tv_sec = STOP_MS / 1000, .tv_nsec = (long)(STOP_MS % 1000) * 1000000};
    (void)nanosleep(&wait, NULL);
    tacet_log_say(user, TACET_LOG_ERROR,
                  "the store does not answer: ended without saving policies; nothing acknowledged is lost");
    _exit(CLI_EXIT_FAILED);
}

void serving_wait(const sigset_t *signals, tacet_log *log, tacet_status (*reload)(void *user, tacet_error *err),
                  void *user) {
    int which = 0;
    while (sigwait(signals, &which) != 0 || which == SIGHUP) {
        tacet_error err = {0};
        if (which != SIGHUP) {
            continue;
        }
        if (reload(user, &err) == TACET_OK) {
            tacet_log_say(log, TACET_LOG_INFO, "the certificate was read again");
        } else {
            tacet_log_say(log, TACET_LOG_ERROR, err.message);
            tacet_log_say(log, TACET_LOG_ERROR, "the certificate was not read again: the old one stays");
        }
    }
    pthread_t undertaker;
    if (pthread_create(&undertaker, NULL, end_anyway, log) == 0) {
        (void)pthread_detach(undertaker);
    }
}

static tacet_status reload_server(void *user, tacet_error *err) {
    return tacet_server_reload(user, err);
}

int serving_run(const cli_command *self, serving_start *start, tacet_server_settings *settings, const char *ready) {
    char metrics[4096];
    tacet_error err = {0};
    tacet_server *server = NULL;
    sigset_t signals;
    int code = 0;
    if (!serving_begin(&settings->log, &signals, self, &code)) {
        return code;
    }
    (void)snprintf(metrics, sizeof metrics, "%s/metrics.token", settings->keys);
    settings->metrics_token_file = access(metrics, F_OK) == 0 ? metrics : NULL;
    serving_unready(ready);
    const tacet_status status = start(&server, settings, &err);
    if (status == TACET_OK) {
        serving_announce(settings->listen, tacet_server_port(server), NULL, ready);
        serving_wait(&signals, settings->log, reload_server, server);
    }
    tacet_server_stop(server);
    return status == TACET_OK ? CLI_EXIT_OK : cli_refuse(self, &err);
}
