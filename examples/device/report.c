/* report.c - a phone reports how well a suggestion worked, and nobody learns how well it worked.
 *
 * Build, with libtacet-device and libsodium alone:
 *     cc report.c $(pkg-config --cflags --libs tacet-device) -o report
 * Run:
 *     ./report memory.txt round-17 0.62      prints the report to send
 *     ./report memory.txt round-17 0.62      prints the same bits again: a retry costs nothing
 *
 * Three things are yours: the range of the reward (public, fixed before any reward is seen), eps, and a place to
 * remember reports. Here the place is a text file; on a phone it may be a row of a database, on a microcontroller a
 * page of flash. The rule for it: when a function returns OK, what it wrote must survive a loss of power. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/local/trusted/device.h>
#include <unistd.h>

/* One line per ticket: "TICKET REPORT" once it is answered. */
typedef struct memory {
    const char *path;
} memory;

/* Has this ticket been answered? A device with a budget would also charge it here, and return TACET_BUDGET. */
static tacet_status reserve(void *user, const char *ticket, const tacet_ldp *ldp, bool *answered, double *report,
                            tacet_error *err) {
    const memory *m = user;
    char line[256];
    (void)ldp; /* one range and one eps for the life of this file */
    (void)err;
    FILE *file = fopen(m->path, "r");
    *answered = false;
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        char *space = strrchr(line, ' ');
        if (space != NULL && (size_t)(space - line) == strlen(ticket) && strncmp(line, ticket, strlen(ticket)) == 0) {
            *answered = true;
            *report = strtod(space + 1, NULL);
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return TACET_OK;
}

/* Remember the report. Only after this returned OK does the library hand it out. */
static tacet_status commit(void *user, const char *ticket, double report, tacet_error *err) {
    const memory *m = user;
    (void)err;
    FILE *file = fopen(m->path, "a");
    if (file == NULL) {
        return TACET_IO;
    }
    const bool ok = fprintf(file, "%s %a\n", ticket, report) > 0 && fflush(file) == 0 && fsync(fileno(file)) == 0;
    return fclose(file) == 0 && ok ? TACET_OK : TACET_IO;
}

int main(int argc, char **argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: report MEMORY TICKET REWARD\n");
        return 2;
    }
    memory m = {argv[1]};
    const tacet_device_store store = {reserve, commit, &m};
    tacet_error err = {0};
    tacet_ldp ldp;
    tacet_device *device = NULL;
    tacet_device_answer answer;

    /* Rewards lie in [0, 1]; the server may learn e^1 times more about one reward than it knew, and no more. */
    tacet_status status = tacet_ldp_init(&ldp, TACET_LDP_HYBRID, 1.0, 0.0, 1.0, &err);
    if (status == TACET_OK) {
        status = tacet_device_open(&device, &ldp, &store, &err);
    }
    if (status == TACET_OK) {
        status = tacet_device_report(device, &answer, argv[2], strtod(argv[3], NULL), &err);
    }
    if (status == TACET_OK) {
        printf("%.17g\n", answer.report); /* send this; keep answer.clipped to yourself */
    } else {
        fprintf(stderr, "report: %s\n", err.message[0] != '\0' ? err.message : tacet_status_text(status));
    }
    tacet_device_close(device);
    return status == TACET_OK ? 0 : 1;
}
