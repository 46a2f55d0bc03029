/* main.c - tacet-collector: the suggestion service for local studies alone.
 * Ring: open. Linked to nothing of the gate or the trusted ring: what it stores was randomised before it arrived. */
#include "common/cli.h"
#include "service/host.h"

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

static int cmd_collector(int argc, char **argv, const cli_command *self) {
    tacet__host_settings settings;
    const char *ready = NULL;
    tacet_error err = {0};
    tacet__host *host = NULL;
    tacet__host_defaults(&settings);
    const cli_option options[] = {
        {"store", CLI_STRING, &settings.store.store, "DIR|URL",
         "Where the studies are: a folder (SQLite: open.db in it), or postgresql://… as the role tacet_open.", true},
        {"keys", CLI_STRING, &settings.keys, "DIR", "A folder with server.pem and server.key ('tacet server init').",
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
    settings.store.open_store = settings.store.store;
    settings.store.open_only = true;
    settings.store.create = true;
    settings.kinds = tacet__policy_kinds_local;
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

static const cli_command COMMANDS[] = {
    {
        .name = "collector",
        .summary = "serve local studies over HTTPS, with nothing private in reach",
        .usage = "--store DIR|URL --keys DIR [--listen HOST:PORT] [options]",
        .description =
            "Answers the requests of docs/API.md for the local studies of a store: devices ask what to try, and report "
            "what came of it in randomised form. The program is linked to nothing that could hold or make private "
            "data, "
            "and opens the open store only. Central studies are not served.\n\n"
            "Prints the address it listens on, as JSON with --json, and runs until it is told to stop (SIGINT, "
            "SIGTERM).",
        .examples = "tacet study create --store studies --open-only --name slides --trust local --eps 1 --points "
                    "arms.csv --columns x,y --lengthscale 0.2\n"
                    "tacet collector --store studies --keys keys",
        .run = cmd_collector,
    },
    {0},
};

static const cli_program PROGRAM = {
    .name = "tacet-collector",
    .summary = "The suggestion service for local studies: collects what devices randomised.",
    .ring = "open (sees randomised reports only)",
    .commands = COMMANDS,
};

int main(int argc, char **argv) {
    return cli_main(&PROGRAM, argc, argv);
}
