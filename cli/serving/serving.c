/* serving.c - a service in the foreground: it says its address, then waits for the signal that ends it.
 * Part of the programs tacet-server (trusted) and tacet-collector (open). */
#include "serving/serving.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

static void log_line(void *user, const char *message) {
    cli_say(user, "%s", message);
}

/* For scripts: the address, once the service answers. */
static void announce(const tacet__host *host, const char *listen, const char *ready) {
    const char *colon = strrchr(listen, ':');
    char url[300];
    (void)snprintf(url, sizeof url, "https://%.*s:%u", (int)(colon - listen), listen, tacet__host_port(host));
    if (!cli_json_wanted()) {
        printf("listening on %s\n", url);
    }
    cli_json_print(json_pack("{ss sI}", "url", url, "port", (json_int_t)tacet__host_port(host)));
    (void)fflush(stdout);
    FILE *file = ready != NULL ? fopen(ready, "we") : NULL;
    if (file != NULL) {
        (void)fprintf(file, "%s\n", url);
        (void)fclose(file);
    }
}

int serving_run(const cli_command *self, tacet__host_settings *settings, const char *ready) {
    if (!(settings->rate >= 1) || settings->threads < 1 || settings->threads > 256) {
        return cli_usage(self, "--rate is at least 1, --threads 1 to 256");
    }
    tacet_error err = {0};
    tacet__host *host = NULL;
    sigset_t stop;
    int which = 0;
    (void)sigemptyset(&stop);
    (void)sigaddset(&stop, SIGINT);
    (void)sigaddset(&stop, SIGTERM);
    (void)sigprocmask(SIG_BLOCK, &stop, NULL); /* before any thread starts, so that they come here */
    (void)signal(SIGPIPE, SIG_IGN);
    settings->log = log_line;
    settings->log_user = (void *)(size_t)self;
    const tacet_status status = tacet__host_start(&host, settings, &err);
    if (status == TACET_OK) {
        announce(host, settings->listen, ready);
        (void)sigwait(&stop, &which);
    }
    tacet__host_stop(host);
    return status == TACET_OK ? CLI_EXIT_OK : cli_refuse(self, &err);
}
