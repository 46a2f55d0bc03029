/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_outsourced.c - tacet audit outsourced: whoever knows a few records of a release tries to read all the others.
 * Ring: audit. Run by the curator, who has the truth to compare with; prints distances, never records. */
#include "commands.h"

#include <tacet/core/status.h>

#include <tacet/audit/rebuild.h>
#include <tacet/core/simrng.h>
#include <tacet/io/csvfile.h>
#include <tacet/io/file.h>
#include <tacet/outsourced/shared/manifest.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MANIFEST_BYTES = 1 << 20, PATH_MOST = 4096 };

typedef struct material {
    tacet_manifest manifest;
    tacet_csv_table records; /* columns x n, scaled as the release was */
    tacet_csv_table release; /* dims x n */
    size_t *known;
} material;

static void drop(material *m) {
    tacet_manifest_clear(&m->manifest);
    tacet_csv_table_clear(&m->records);
    tacet_csv_table_clear(&m->release);
    free(m->known);
}

static tacet_status load_manifest(material *m, const char *folder, tacet_error *err) {
    char *text = NULL;
    size_t length = 0;
    tacet_status status = tacet_file_read_in(&text, &length, folder, "manifest.json", MANIFEST_BYTES, err);
    status = status != TACET_OK ? status : tacet_manifest_decode(&m->manifest, text, length, err);
    free(text);
    return status;
}

static tacet_status load_release(material *m, const char *folder, tacet_error *err) {
    char path[PATH_MOST];
    char names[TACET_MANIFEST_COLUMNS][8];
    const char *pointers[TACET_MANIFEST_COLUMNS];
    if (m->manifest.dims > TACET_MANIFEST_COLUMNS) {
        return tacet_error_set(err, TACET_UNSUPPORTED, "a release of more than %d coordinates", TACET_MANIFEST_COLUMNS);
    }
    for (size_t i = 0; i < m->manifest.dims; i++) {
        (void)snprintf(names[i], sizeof names[i], "z%u", (unsigned)(i + 1) % 100000U);
        pointers[i] = names[i];
    }
    const tacet_csv_wanted wanted = {.columns = pointers, .d = m->manifest.dims};
    if (snprintf(path, sizeof path, "%s/release.csv", folder) >= PATH_MOST) {
        return tacet_error_set(err, TACET_INVALID, "the name of the folder is too long");
    }
    return tacet_csv_load_file(&m->release, path, &wanted, err);
}

static tacet_status load_records(material *m, const char *data, tacet_error *err) {
    const char *pointers[TACET_MANIFEST_COLUMNS];
    const size_t d = m->manifest.column_count;
    for (size_t i = 0; i < d; i++) {
        pointers[i] = m->manifest.columns[i].name;
    }
    const tacet_csv_wanted wanted = {.columns = pointers, .d = d};
    const tacet_status status = tacet_csv_load_file(&m->records, data, &wanted, err);
    if (status != TACET_OK) {
        return status;
    }
    if (m->records.n != m->release.n) {
        return tacet_error_set(err, TACET_PARSE, "%s has %zu records, the release has %zu", data, m->records.n,
                               m->release.n);
    }
    for (size_t j = 0; j < m->records.n; j++) {
        for (size_t i = 0; i < d; i++) {
            const tacet_manifest_column *c = &m->manifest.columns[i];
            double *x = &m->records.values[j * d + i];
            *x = *x < c->lo ? c->lo : *x > c->hi ? c->hi : *x;
            *x = (*x - (c->lo / 2 + c->hi / 2)) / c->unit;
        }
    }
    return TACET_OK;
}

/* K different rows at random: a first part of a shuffle. */
static tacet_status choose(material *m, size_t count, uint64_t seed, tacet_error *err) {
    tacet_simrng rng;
    const size_t n = m->records.n;
    if (count == 0 || count >= n) {
        return tacet_error_set(err, TACET_INVALID, "--known: between 1 and %zu records", n - 1);
    }
    m->known = calloc(n, sizeof *m->known);
    if (m->known == NULL) {
        return tacet_error_set(err, TACET_NO_MEMORY, "out of memory for %zu rows", n);
    }
    for (size_t i = 0; i < n; i++) {
        m->known[i] = i;
    }
    tacet_simrng_init(&rng, seed, 0);
    for (size_t i = 0; i < count; i++) {
        const size_t k = i + tacet_simrng_below(&rng, n - i);
        const size_t row = m->known[k];
        m->known[k] = m->known[i];
        m->known[i] = row;
    }
    return TACET_OK;
}

static void show(const material *m, const tacet_rebuild *r, size_t known) {
    printf("%s release of %zu records; the attacker knows %zu of them\n", m->manifest.mechanism, m->records.n, known);
    printf("  typical error of the rebuilt records   %.3g (in units of the protected distance)\n", r->rms);
    printf("  the same for a blind guess             %.3g\n", r->blind);
    printf("  records read exactly                   %.1f %%\n", 100 * r->recovered);
    printf("  the attack %s\n", r->succeeded ? "SUCCEEDED: every record can be read" : "failed");
}

int cmd_outsourced(int argc, char **argv, const cli_command *self) {
    const char *folder = NULL;
    const char *data = NULL;
    size_t known = 0;
    uint64_t seed = 1;
    material m = {0};
    tacet_rebuild result;
    tacet_error err = {0};
    const cli_option options[] = {
        CLI_NEED("release", &folder, "DIR", "the folder 'tacet curate' wrote"),
        CLI_NEED("data", &data, "FILE", "the records it was made from: the attacker's knowledge, and the truth"),
        CLI_NEED("known", &known, "K", "how many records the attacker knows"),
        CLI_OPT("seed", &seed, "S", "which ones (default 1)"),
        {0},
    };
    int code = 0;
    CLI_PARSE_OR_RETURN(options, NULL, NULL);
    tacet_status status = load_manifest(&m, folder, &err);
    status = status != TACET_OK ? status : load_release(&m, folder, &err);
    status = status != TACET_OK ? status : load_records(&m, data, &err);
    status = status != TACET_OK ? status : choose(&m, known, seed, &err);
    status = status != TACET_OK ? status
                                : tacet_rebuild_records(&result, NULL, m.release.values, m.manifest.dims,
                                                        m.manifest.dims, m.records.values, m.manifest.column_count,
                                                        m.manifest.column_count, m.records.n, m.known, known, &err);
    if (status != TACET_OK) {
        code = status == TACET_INVALID ? cli_usage(self, "%s", err.message) : cli_fail(self, &err);
        drop(&m);
        return code;
    }
    if (!cli_json_wanted()) {
        show(&m, &result, known);
    }
    cli_json_print(json_pack("{ss sb sI sI sb sf so so so}", "mechanism", m.manifest.mechanism, "private",
                             (int)m.manifest.is_private, "rows", (json_int_t)m.records.n, "known", (json_int_t)known,
                             "succeeded", (int)result.succeeded, "recovered", result.recovered, "rms",
                             cli_real(result.rms), "blind", cli_real(result.blind), "largest",
                             cli_real(result.largest)));
    /* Expected: a release that claims privacy withstands it, the published mechanism does not. */
    code = result.succeeded && m.manifest.is_private ? CLI_EXIT_FAILED : CLI_EXIT_OK;
    drop(&m);
    return code;
}
