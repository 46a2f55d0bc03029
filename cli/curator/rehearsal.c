/* SPDX-License-Identifier: Apache-2.0 */
/* rehearsal.c - made-up patients for 'tacet curate --rehearsal', and a ledger and a registry that are thrown away.
 * Ring: trusted. The noise is real; the records are not: nobody is in them, so a rehearsal may be had as often as one
 * likes. They are those of examples/patients.awk, number for number, by Park and Miller's (1988) minimal standard
 * generator. */
#include "commands.h"

#include <errno.h>
#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PATIENTS = 2000, SEED = 20201 };

static double state;

static double uniform(void) {
    state = fmod(state * 16807, 2147483647);
    return state / 2147483647;
}

static double normal(void) {
    const double radius = sqrt(-2 * log(uniform()));
    return radius * cos(6.283185307179586 * uniform());
}

/* Thrown back from the ends, so that no patient lies outside. */
static double within(double low, double high, double v) {
    return v < low ? low + fmod(low - v, high - low) : v > high ? high - fmod(v - high, high - low) : v;
}

/* A hill over age, bmi and dose. */
static double hill(double height, const double at[3], const double top[3], const double width[3]) {
    double sum = 0;
    for (size_t i = 0; i < 3; i++) {
        sum += (at[i] - top[i]) / width[i] * ((at[i] - top[i]) / width[i]) / 2;
    }
    return height * exp(-sum);
}

static bool write_patients(const char *path) {
    FILE *out = fopen(path, "w");
    if (out == NULL) {
        return false;
    }
    state = SEED;
    (void)fprintf(out, "age,bmi,dose,response\n");
    for (size_t i = 0; i < PATIENTS; i++) {
        const double age = within(18, 90, 52 + 17 * normal());
        const double bmi = within(16, 46, 27 + 5.5 * normal());
        const double at[3] = {age, bmi, 5 * floor(1 + 40 * uniform())};
        const double y = hill(30, at, (const double[3]){38, 22, 140}, (const double[3]){16, 7, 55}) +
                         hill(20, at, (const double[3]){72, 35, 50}, (const double[3]){13, 6, 40}) + 0.4 * normal();
        (void)fprintf(out, "%.1f,%.1f,%.0f,%.2f\n", at[0], at[1], at[2], y);
    }
    const bool bad = ferror(out) != 0;
    return fclose(out) == 0 && !bad;
}

static int drop_one(const char *path, const struct stat *there, int kind, struct FTW *where) {
    (void)there;
    (void)kind;
    (void)where;
    return remove(path);
}

int rehearsal_begin(const char *folder, const char **data, const cli_command *self) {
    static char place[3900], file[4000], registry[4000];
    (void)snprintf(place, sizeof place, "%s.rehearsal", folder);
    (void)snprintf(file, sizeof file, "%s/patients.csv", place);
    (void)snprintf(registry, sizeof registry, "%s/state", place);
    struct stat there;
    if (stat(place, &there) == 0) { /* the rehearsal before this one; a folder without its mark is never touched */
        (void)nftw(place, drop_one, 8, FTW_DEPTH | FTW_PHYS);
        (void)nftw(folder, drop_one, 8, FTW_DEPTH | FTW_PHYS);
    } else if (stat(folder, &there) == 0) { /* which the next rehearsal would take for this one's */
        return cli_usage(self, "--out %s is there already: a rehearsal makes its own folder", folder);
    }
    if (mkdir(place, 0700) != 0 || !write_patients(file) || setenv("TACET_STATE", registry, 1) != 0) {
        cli_say(self, "cannot make %s: %s", file, strerror(errno));
        return CLI_EXIT_FAILED;
    }
    *data = file;
    cli_say(self,
            "a rehearsal: %d made-up patients in %s; the noise is real, the ledger and all else is thrown away by "
            "the next one",
            (int)PATIENTS, file);
    return CLI_EXIT_OK;
}
