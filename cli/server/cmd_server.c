/* cmd_server.c - tacet server: the service, until it is told to stop.
 * Ring: trusted. */
#include "server/commands.h"

#include "service/host.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

const tacet__policy_kind *const server_kinds[] = {
    &server_kind_joint, &server_kind_fixed, &server_kind_usca,   &tacet__policy_ucb,
    &tacet__policy_tgp, &tacet__policy_ata, &tacet__policy_moma, NULL};

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

int cmd_server(int argc, char **argv, const cli_command *self) {
    tacet__host_settings settings;
    const char *ready = NULL;
    tacet_error err = {0};
    tacet__host *host = NULL;
    tacet__host_defaults(&settings);
    const cli_option options[] = {
        STORE_OPTIONS(settings.store),
        {"keys", CLI_STRING, &settings.keys, "DIR", "The folder 'tacet server init' wrote: server.pem, server.key.",
         true},
        {"listen", CLI_STRING, &settings.listen, "HOST:PORT", "Default 127.0.0.1:8443; port 0: any free one.", false},
        {"threads", CLI_SIZE, &settings.threads, "N", "Threads of the wire; each study in use has one more. Default 2.",
         false},
        {"rate", CLI_DOUBLE, &settings.rate, "N", "Requests a second over all clients; above: 429. Default 20000.",
         false},
        {"busy-ms", CLI_U64, &settings.store.busy_ms, "MS",
         "How long to wait for the store's lock before a request is answered 503. Default 10000.", false},
        {"ready-file", CLI_STRING, &ready, "FILE", "Write the address here once the service answers.", false},
        {0},
    };
    int code = 0;
    if (!cli_parse(self, options, argc, argv, NULL, NULL, &code)) {
        return code;
    }
    if (!(settings.rate >= 1) || settings.threads < 1 || settings.threads > 256) {
        return cli_usage(self, "--rate is at least 1, --threads 1 to 256");
    }
    sigset_t stop;
    int which = 0;
    (void)sigemptyset(&stop);
    (void)sigaddset(&stop, SIGINT);
    (void)sigaddset(&stop, SIGTERM);
    (void)sigprocmask(SIG_BLOCK, &stop, NULL); /* before any thread starts, so that they come here */
    (void)signal(SIGPIPE, SIG_IGN);
    settings.store.create = true;
    settings.kinds = server_kinds;
    settings.log = log_line;
    settings.log_user = (void *)(size_t)self;
    const tacet_status status = tacet__host_start(&host, &settings, &err);
    if (status == TACET_OK) {
        announce(host, settings.listen, ready);
        (void)sigwait(&stop, &which);
    }
    tacet__host_stop(host);
    return status == TACET_OK        ? CLI_EXIT_OK
           : status == TACET_INVALID ? cli_usage(self, "%s", err.message)
                                     : cli_fail(self, &err);
}
