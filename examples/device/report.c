/* SPDX-License-Identifier: Apache-2.0 */
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

/* One line per ticket when it is asked, "TICKET ? KEY DIGEST", and one more once it is answered, "TICKET REPORT". A
 * store that can overwrite should: with the key and the report anybody has the reward, so the key goes when the report
 * is there.
 */
typedef struct memory {
    const char *path;
} memory;

static void to_hex(char *out, const unsigned char *bytes) {
    for (int i = 0; i < TACET_MINT_BYTES; i++) {
        (void)sprintf(out + 2 * i, "%02x", bytes[i]);
    }
}

static void from_hex(unsigned char *out, const char *text) {
    for (int i = 0; i < TACET_MINT_BYTES; i++) {
        unsigned byte = 0;
        (void)sscanf(text + 2 * i, "%2x", &byte);
        out[i] = (unsigned char)byte;
    }
}

/* The whole memory, rewritten beside its place and moved there: nothing of what was left out remains in the file. */
static tacet_status store(const memory *m, const char *ticket, const char *rest) {
    char line[512], beside[512];
    (void)snprintf(beside, sizeof beside, "%s.new", m->path);
    FILE *old = fopen(m->path, "r"), *file = fopen(beside, "w");
    if (file == NULL) {
        return TACET_IO;
    }
    while (old != NULL && fgets(line, sizeof line, old) != NULL) {
        const size_t length = strlen(ticket);
        if (strncmp(line, ticket, length) != 0 || line[length] != ' ') {
            (void)fputs(line, file);
        }
    }
    if (old != NULL) {
        (void)fclose(old);
    }
    const bool ok = fprintf(file, "%s %s\n", ticket, rest) > 0 && fflush(file) == 0 && fsync(fileno(file)) == 0;
    return fclose(file) == 0 && ok && rename(beside, m->path) == 0 ? TACET_OK : TACET_IO;
}

/* Has this ticket been asked, or answered? A device with a budget would also charge it here, and return TACET_BUDGET.
 */
static tacet_status reserve(void *user, const char *ticket, const tacet_ldp *ldp, tacet_mint *mint, bool *answered,
                            double *report, tacet_error *err) {
    const memory *m = user;
    char line[512], rest[4 * TACET_MINT_BYTES + 4] = "? ";
    const size_t length = strlen(ticket);
    bool asked = false;
    (void)ldp; /* one range and one eps for the life of this file */
    (void)err;
    FILE *file = fopen(m->path, "r");
    *answered = false;
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, ticket, length) == 0 && line[length] == ' ') {
            asked = true;
            *answered = line[length + 1] != '?';
            if (*answered) {
                *report = strtod(line + length + 1, NULL);
            } else { /* interrupted before: the same key, and so the same report */
                from_hex(mint->key, line + length + 3);
                from_hex(mint->digest, line + length + 4 + 2 * TACET_MINT_BYTES);
            }
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    if (asked) {
        return TACET_OK;
    }
    to_hex(rest + 2, mint->key);
    rest[2 + 2 * TACET_MINT_BYTES] = ' ';
    to_hex(rest + 3 + 2 * TACET_MINT_BYTES, mint->digest);
    return store(m, ticket, rest);
}

/* Remember the report, forget the key. Only after this returned OK does the library hand it out. */
static tacet_status commit(void *user, const char *ticket, double report, tacet_error *err) {
    char rest[64];
    (void)err;
    (void)snprintf(rest, sizeof rest, "%a", report);
    return store(user, ticket, rest);
}

int main(int argc, char **argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: report MEMORY TICKET REWARD\n");
        return 2;
    }
    memory m = {argv[1]};
    const tacet_device_store place = {reserve, commit, &m};
    tacet_error err = {0};
    tacet_ldp ldp;
    tacet_device *device = NULL;
    tacet_device_answer answer;

    /* Rewards lie in [0, 1]; the server may learn e^1 times more about one reward than it knew, and no more. */
    tacet_status status = tacet_ldp_init(&ldp, TACET_LDP_HYBRID, 1.0, 0.0, 1.0, &err);
    if (status == TACET_OK) {
        status = tacet_device_open(&device, &ldp, &place, &err);
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
