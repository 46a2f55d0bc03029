/* SPDX-License-Identifier: Apache-2.0 */
/* test_curate_parts.c - a release whose parts are drawn elsewhere has the bits of one that was drawn in one piece; a
 * part that is drawn twice is the same; records that changed, parts that do not come, and another version draw nothing.
 */
#include "support/test.h"

#include <stdlib.h>
#include <string.h>
#include <tacet/core/simrng.h>
#include "dp/mechanism.h"
#include <tacet/outsourced/trusted/curate.h>
#include <unistd.h>

enum { ROWS = 700, D = 3 };
static double rows[ROWS * D];

typedef struct engine {
    const tacet_curate_settings *settings;
    size_t parts, changed, away; /* from 1 on: this part has another record when it is drawn; does not come */
    bool other_version;
    size_t draws;
} engine;

static tacet_curate_settings part_of(const engine *e, size_t k) {
    tacet_curate_settings own = *e->settings;
    const size_t begin = ROWS * k / e->parts, end = k == 1 ? begin : ROWS * (k + 1) / e->parts;
    const size_t from = k == 2 ? ROWS / e->parts : begin; /* the second part is empty, the third has its records */
    own.engine = NULL;
    own.records = rows + from * D;
    own.record_count = end - from;
    return own;
}

static tacet_status check(void *user, size_t k, const tacet_curate_part *part, size_t *count, unsigned char tag[16],
                          tacet_error *err) {
    const engine *e = user;
    const tacet_curate_settings own = part_of(e, k);
    return tacet_curate_part_run(&own, part, count, tag, NULL, err);
}

static tacet_status draw(void *user, size_t k, const tacet_curate_part *part, tacet_blob *lines, tacet_error *err) {
    engine *e = user;
    tacet_curate_settings own = part_of(e, k);
    tacet_curate_part asked = *part;
    unsigned char tag[16];
    size_t count = 0;
    tacet_blob again;
    if (e->away == k + 1) {
        return tacet_error_set(err, TACET_TIMEOUT, "away");
    }
    const double kept = own.records[0];
    rows[(size_t)(own.records - rows)] += e->changed == k + 1 ? 0.25 : 0;
    asked.scale *= e->other_version ? 2 : 1;
    tacet_blob_init(&again);
    tacet_status status = tacet_curate_part_run(&own, &asked, &count, tag, lines, err);
    if (status == TACET_OK) { /* run again, by another worker: the same bytes */
        assert_ok(tacet_curate_part_run(&own, &asked, &count, tag, &again, NULL));
        assert_true(again.size == lines->size && memcmp(again.data, lines->data, again.size) == 0);
        e->draws++;
    }
    tacet_blob_clear(&again);
    rows[(size_t)(own.records - rows)] = kept;
    return status;
}

static char *contents(const char *folder, const char *name, size_t *size) {
    OWN_TEXT char *path = test_text("%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return NULL;
    }
    char *text = calloc(1, 1 << 20);
    *size = fread(text, 1, (1 << 20) - 1, file);
    (void)fclose(file);
    return text;
}

static tacet_space make_space(void) {
    const tacet_space_options options = {
        .inputs = "age,dose,kind", .bounds = "age=0:90,dose=0:10", .levels = "kind=a|b|c", .unit = "age=5,dose=1"};
    tacet_space space;
    tacet_simrng rng = test_rng(8, 0);
    assert_ok(tacet_space_short(&space, &options, NULL));
    for (size_t i = 0; i < ROWS; i++) {
        rows[i * D] = 90 * tacet_simrng_uniform(&rng);
        rows[i * D + 1] = 10 * tacet_simrng_uniform(&rng);
        rows[i * D + 2] = (double)tacet_simrng_below(&rng, 3);
    }
    return space;
}

static tacet_status run(const tacet_space *space, engine *e, const char *folder, bool seeded, const char *ledger) {
    tacet_curate_settings s;
    tacet_manifest manifest;
    tacet_curate_defaults(&s);
    const tacet_curate_engine of = {.parts = e->parts, .check = check, .draw = draw, .user = e};
    s.space = space;
    s.eps = 2;
    s.delta = 0;
    s.mechanism = TACET_CURATE_LAPLACE;
    s.folder = folder;
    s.ledger = ledger;
    s.seeded = seeded;
    s.noise_seed = 5;
    if (e->parts > 0) {
        s.engine = &of;
    } else {
        s.records = rows;
        s.record_count = ROWS;
    }
    e->settings = &s;
    const tacet_status status = tacet_curate_run(&manifest, &s, NULL);
    if (status == TACET_OK) {
        tacet_manifest_clear(&manifest);
    }
    return status;
}

/* With seeded noise the whole release can be compared, byte by byte. */
TEST(parts_have_the_bits_of_one_piece) {
    static const size_t cuts[] = {0, 1, 2, 7};
    OWN_SPACE tacet_space space = make_space();
    OWN_FOLDER const char *top = test_mkdir();
    OWN_TEXT char *whole = NULL;
    size_t whole_size = 0;
    for (size_t i = 0; i < 4; i++) {
        size_t size = 0;
        engine e = {.parts = cuts[i]};
        OWN_TEXT char *folder = test_text("%s/%zu", top, i);
        OWN_TEXT char *ledger = test_text("%s/%zu.db", top, i);
        if (cuts[i] == 2) {
            e.parts = 3; /* of which the second is empty */
        }
        assert_ok(run(&space, &e, folder, true, ledger));
        char *text = contents(folder, "release.csv", &size);
        assert_non_null(text);
        if (i == 0) {
            whole = text;
            whole_size = size;
            continue;
        }
        assert_int_equal(size, whole_size);
        assert_memory_equal(text, whole, size);
        assert_int_equal(e.draws, e.parts - (e.parts > 1 ? 1 : 0));
        free(text);
    }
}

TEST(what_changed_or_does_not_come_is_not_released) {
    OWN_SPACE tacet_space space = make_space();
    OWN_FOLDER const char *top = test_mkdir();
    size_t size = 0;
    engine changed = {.parts = 7, .changed = 4}, away = {.parts = 7, .away = 5},
           old = {.parts = 7, .other_version = true}, good = {.parts = 7};
    OWN_TEXT char *folder = test_text("%s/release", top);
    OWN_TEXT char *ledger = test_text("%s/ledger.db", top);
    assert_status(run(&space, &changed, folder, false, NULL), TACET_INVALID); /* no ledger */
    assert_int_equal(access(folder, F_OK), -1);
    assert_status(run(&space, &changed, folder, false, ledger), TACET_CONFLICT);
    assert_status(run(&space, &old, folder, false, ledger), TACET_CONFLICT);
    assert_status(run(&space, &away, folder, false, ledger), TACET_TIMEOUT);
    assert_null(contents(folder, "release.csv", &size));
    assert_ok(run(&space, &good, folder, false, ledger)); /* the same charge, and the noise that it was charged for */
    free(contents(folder, "release.csv", &size));
    assert_true(size > ROWS);
    assert_status(run(&space, &good, folder, false, ledger), TACET_CONFLICT); /* drawn once */
}
