/* SPDX-License-Identifier: Apache-2.0 */
/* noise.c - `tacet-lab noise`: the samplers' draws on stdout. Ring: none; it reads no data. */
#include "commands.h"

#include <endian.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tacet/dp/noise.h>

enum { BATCH = 8192, JSON_MOST = 1000000 };

typedef struct request {
    tacet_sampler sampler;
    size_t count;
    enum { FORMAT_CSV, FORMAT_F64LE, FORMAT_JSON } format;
    json_t *list;
} request;

static bool write_batch(request *r, double *x, size_t count) {
    if (r->format == FORMAT_F64LE) {
        for (size_t i = 0; i < count; i++) {
            uint64_t word = 0;
            memcpy(&word, &x[i], sizeof word);
            word = htole64(word);
            memcpy(&x[i], &word, sizeof word);
        }
        return fwrite(x, sizeof *x, count, stdout) == count;
    }
    for (size_t i = 0; i < count; i++) {
        if (r->format == FORMAT_JSON ? json_array_append_new(r->list, json_real(x[i])) != 0
                                     : printf("%.17g\n", x[i]) < 0) {
            return false;
        }
    }
    return true;
}

static int write_all(request *r, tacet_noise *noise, const cli_command *self) {
    tacet_error err = {0};
    /* One vector cannot be drawn in pieces; everything else can. */
    const size_t room = r->sampler.one_vector ? r->count : BATCH;
    double *x = calloc(room > 0 ? room : 1, sizeof *x);
    if (x == NULL) {
        cli_say(self, "out of memory");
        return CLI_EXIT_FAILED;
    }
    int code = CLI_EXIT_OK;
    for (size_t done = 0; done < r->count && code == CLI_EXIT_OK;) {
        const size_t count = r->count - done < room ? r->count - done : room;
        if (tacet_sampler_draw(&r->sampler, noise, x, count, &err) != TACET_OK) {
            code = cli_fail(self, &err);
        } else if (!write_batch(r, x, count)) {
            cli_say(self, "writing the draws failed: %s", strerror(errno));
            code = CLI_EXIT_FAILED;
        }
        done += count;
    }
    free(x);
    return code;
}

static int run(request *r, uint64_t seed, const cli_command *self) {
    tacet_error err = {0};
    tacet_noise *noise = NULL;
    const bool seeded = seed != UINT64_MAX;
    const tacet_status status =
        seeded ? tacet_noise_open_seeded(&noise, seed, 0, &err) : tacet_noise_open_sample(&noise, &err);
    if (status != TACET_OK) {
        return cli_fail(self, &err);
    }
    if (seeded) {
        cli_say(self, "NOT PRIVATE: seeded draws, for tests only");
    }
    cli_say(self, "%zu %s draws of scale %.17g, multiples of the grid 2^%d = %.17g", r->count, r->sampler.name,
            r->sampler.scale, r->sampler.grid_exponent, ldexp(1, r->sampler.grid_exponent));
    r->list = r->format == FORMAT_JSON ? json_array() : NULL;
    const int code = write_all(r, noise, self);
    tacet_noise_close(noise);
    if (code == CLI_EXIT_OK && r->format == FORMAT_JSON) {
        cli_json_print(cli_object("kind scale count grid_exponent grid private draws", J(r->sampler.name),
                                  J(r->sampler.scale), J(r->count), J((long long)r->sampler.grid_exponent),
                                  J(ldexp(1, r->sampler.grid_exponent)), JB(!seeded), J(json_incref(r->list))));
    }
    json_decref(r->list);
    return code;
}

int lab_noise(int argc, char **argv, const cli_command *self) {
    request r = {.format = FORMAT_CSV};
    size_t bits = TACET_SAMPLER_GRID_BITS;
    double scale = 0;
    const char *format = NULL;
    uint64_t seed = UINT64_MAX;
    const cli_option options[] = {
        CLI_NEED("scale", &scale, "S", "Standard deviation, Laplace scale, K-norm scale, or exponent. > 0."),
        CLI_NEED("count", &r.count, "N", "How many draws; for knorm, how many coordinates."),
        CLI_OPT("grid-bits", &bits, "B", "Grid of S / 2^B or the next power of two below. 20 unless given."),
        CLI_OPT("format", &format, "NAME", "csv (one draw a line, the default) or f64le (raw doubles)."),
        CLI_OPT("noise-seed", &seed, "S", "Reproducible draws, for tests: not private."),
        {0},
    };
    const char *kind[1] = {NULL};
    size_t kinds = 1;
    CLI_PARSE_OR_RETURN(options, kind, &kinds);
    tacet_error err = {0};
    if (tacet_sampler_init(&r.sampler, kinds > 0 ? kind[0] : "", scale, bits, &err) != TACET_OK) {
        return cli_usage(self, "%s", err.message);
    }
    if (format != NULL && strcmp(format, "csv") != 0 && strcmp(format, "f64le") != 0) {
        return cli_usage(self, "--format must be csv or f64le");
    }
    r.format = format != NULL && strcmp(format, "f64le") == 0 ? FORMAT_F64LE : FORMAT_CSV;
    if (cli_json_wanted()) {
        if (format != NULL) {
            return cli_usage(self, "--json is a format of its own; leave --format away");
        }
        r.format = FORMAT_JSON;
    }
    if (r.format == FORMAT_F64LE && isatty(STDOUT_FILENO)) {
        return cli_usage(self, "raw doubles are not for a terminal; send them to a file or a program");
    }
    if (r.format == FORMAT_JSON && r.count > JSON_MOST) {
        return cli_usage(self, "--json holds at most %d draws; csv and f64le have no limit", JSON_MOST);
    }
    if (r.sampler.one_vector && (r.count == 0 || r.count > TACET_SAMPLER_VECTOR_MOST)) {
        return cli_usage(self, "knorm noise has 1 to 2^20 coordinates");
    }
    return run(&r, seed, self);
}
