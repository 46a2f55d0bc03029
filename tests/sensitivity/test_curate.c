/* SPDX-License-Identifier: Apache-2.0 */
/* test_curate.c - how far a record moves in a release of a table: columns of every kind, by every mechanism that ships,
 * in one table and each by itself. Two records that the space's own distance puts one unit apart move the numbers that
 * go into the noise by at most what was charged, and change one level at the most, never both at full price; and the
 * search comes near it. The distance is the space's, the movement the release's: neither is computed from the other. */
#include "sensitivity/recorder.h"
#include "support/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tacet/core/simrng.h>
#include "outsourced/trusted/curate_price.h"
#include <tacet/outsourced/trusted/desk.h>
#include "space/internal.h"

enum { ROWS = 40, COLUMNS_MOST = 6, PAIRS = 60 };

static void release(const tacet_space *space, const double *rows, tacet_curate_mechanism mechanism, recording *into,
                    const recording *replay) {
    tacet_curate_settings s;
    tacet_manifest manifest;
    const char *folder = test_mkdir();
    char ledger[300];
    (void)snprintf(ledger, sizeof ledger, "%s/l.db", folder);
    tacet_curate_defaults(&s);
    s.space = space;
    s.records = rows;
    s.record_count = ROWS;
    s.folder = folder;
    s.ledger = ledger;
    s.mechanism = mechanism;
    s.eps = 1;
    s.delta = mechanism == TACET_CURATE_LAPLACE ? 0 : 1e-6;
    s.to_whom = "test";
    s.ticket = "t";
    s.seeded = true;
    s.threads = 1;
    recorder_begin(into, replay);
    assert_ok(tacet_curate_run(&manifest, &s, NULL));
    recorder_end();
    tacet_manifest_clear(&manifest);
    test_rmdir(folder);
}

static double any_value(const tacet_space_column *c, tacet_simrng *rng) {
    const double u = tacet_simrng_uniform(rng), v = tacet_simrng_uniform(rng);
    if (c->kind == TACET_SPACE_CATEGORY) {
        return floor(v * (double)c->level_count);
    }
    const double within = c->kind == TACET_SPACE_LOG ? c->lo * pow(c->hi / c->lo, v) : c->lo + v * (c->hi - c->lo);
    const double x = u < 0.15 ? c->lo : u < 0.3 ? c->hi : within;
    return c->kind == TACET_SPACE_INTEGER || c->kind == TACET_SPACE_DATE ? round(x) : x;
}

/* Another record at most one unit from `row`: one level changes, or numbers move towards a random record as far as the
 * distance allows. */
static void neighbour(const tacet_space *space, double *out, const double *row, tacet_simrng *rng) {
    double aim[COLUMNS_MOST];
    const bool of_levels = tacet_simrng_uniform(rng) < 0.3;
    memcpy(out, row, space->count * sizeof *out);
    for (size_t j = 0; j < space->count; j++) {
        aim[j] = any_value(&space->columns[j], rng);
    }
    if (of_levels) {
        const size_t j = (size_t)(tacet_simrng_uniform(rng) * (double)space->count);
        if (space->columns[j].kind == TACET_SPACE_CATEGORY) {
            out[j] = aim[j];
        }
        return;
    }
    double low = 0, high = 1;
    for (size_t step = 0; step < 60; step++) {
        const double t = step == 0 ? 1 : 0.5 * (low + high);
        double at[COLUMNS_MOST];
        for (size_t j = 0; j < space->count; j++) {
            const tacet_space_column *c = &space->columns[j];
            at[j] = c->kind == TACET_SPACE_CATEGORY ? row[j]
                    : c->kind == TACET_SPACE_LOG    ? row[j] * pow(aim[j] / row[j], t)
                                                    : row[j] + t * (aim[j] - row[j]);
            at[j] =
                c->kind == TACET_SPACE_INTEGER || c->kind == TACET_SPACE_DATE ? trunc(at[j] - row[j]) + row[j] : at[j];
        }
        if (tacet_space_distance(space, row, at) <= 1) {
            memcpy(out, at, space->count * sizeof *out);
            low = t;
        } else {
            high = t;
        }
    }
}

static void check(const char *name, const char *text, tacet_curate_mechanism mechanism, double near) {
    tacet_space space;
    tacet_simrng rng;
    movement m = {0};
    recording first, second;
    double rows[ROWS * COLUMNS_MOST], kept[COLUMNS_MOST];
    tacet_space_init(&space);
    assert_ok(tacet_space_decode(&space, text, strlen(text), NULL));
    assert_true(space.count <= COLUMNS_MOST);
    tacet_simrng_init(&rng, 17, (uint64_t)mechanism);
    for (size_t i = 0; i < ROWS * space.count; i++) {
        rows[i] = any_value(&space.columns[i % space.count], &rng);
    }
    for (size_t i = 0; i < PAIRS; i++) {
        double *row = rows + (size_t)(tacet_simrng_uniform(&rng) * ROWS) * space.count;
        if (i % 10 == 0) {
            if (i > 0) {
                recording_clear(&first);
            }
            release(&space, rows, mechanism, &first, NULL);
        }
        memcpy(kept, row, space.count * sizeof *kept);
        neighbour(&space, row, kept, &rng);
        release(&space, rows, mechanism, &second, &first);
        movement_add(&m, &first, &second);
        recording_clear(&second);
        memcpy(row, kept, space.count * sizeof *kept);
    }
    recording_clear(&first);
    tacet_space_clear(&space);
    print_message("%s by %s: eps %.4f of 1, %g draws\n", name, tacet_curate_name(mechanism), m.eps, m.moved);
    assert_true(m.eps <= 1 + 1e-9 && m.eps >= near);
}

#define COLUMN(kind, rest) "{\"columns\":[{\"name\":\"x\",\"kind\":\"" kind "\"," rest "}]}"

TEST(test_each_kind_of_column_moves_by_a_unit) {
    static const struct {
        const char *name, *space;
        double near;
    } KINDS[] = {
        {"real", COLUMN("real", "\"bounds\":[-3,7],\"unit\":2"), 0.99},
        {"two of real",
         "{\"columns\":[{\"name\":\"x\",\"kind\":\"real\",\"bounds\":[0,1],\"unit\":0.5},"
         "{\"name\":\"y\",\"kind\":\"real\",\"bounds\":[-3,7],\"unit\":2}]}",
         0.99},
        {"log", COLUMN("log", "\"bounds\":[0.001,10],\"unit\":1.5"), 0.99},
        {"integer", COLUMN("integer", "\"bounds\":[0,30],\"unit\":4"), 0.99},
        {"date", COLUMN("date", "\"bounds\":[\"2020-01-01\",\"2021-12-31\"],\"unit\":14"), 0.99},
        {"category", COLUMN("category", "\"levels\":[\"a\",\"b\",\"c\"]"), 0.99},
    };
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++) {
        check(KINDS[i].name, KINDS[i].space, TACET_CURATE_LAPLACE, KINDS[i].near);
    }
}

TEST(test_a_table_of_all_kinds_moves_by_a_unit_by_every_mechanism) {
    static const char ALL[] =
        "{\"columns\":[{\"name\":\"r\",\"kind\":\"real\",\"bounds\":[-3,7],\"unit\":2},"
        "{\"name\":\"l\",\"kind\":\"log\",\"bounds\":[0.001,10],\"unit\":1.5},"
        "{\"name\":\"i\",\"kind\":\"integer\",\"bounds\":[0,30],\"unit\":4},"
        "{\"name\":\"d\",\"kind\":\"date\",\"bounds\":[\"2020-01-01\",\"2021-12-31\"],\"unit\":14},"
        "{\"name\":\"c\",\"kind\":\"category\",\"levels\":[\"a\",\"b\",\"c\"]},"
        "{\"name\":\"e\",\"kind\":\"category\",\"levels\":[\"u\",\"v\"]}]}";
    static const tacet_curate_mechanism SHIPPED[] = {TACET_CURATE_GAUSSIAN, TACET_CURATE_LAPLACE, TACET_CURATE_L2};
    for (size_t i = 0; i < sizeof SHIPPED / sizeof *SHIPPED; i++) {
        check("all kinds", ALL, SHIPPED[i], 0.9);
    }
}

/* --- measured values --------------------------------------------------------------------------------------------- */

static tacet_status measured(void *user, double *value, size_t row, tacet_error *err) {
    (void)row;
    *value = *(const double *)user;
    return isfinite(*value) ? TACET_OK : tacet_error_set(err, TACET_UNSUPPORTED, "no value");
}

/* A measured value leaves through its clip and its randomiser: whatever is measured, nothing included, reaches the draw
 * within the public range, once, at the price of eps-output. */
TEST(test_a_measured_value_leaves_within_its_range) {
    static const double VALUES[] = {2, 6, 1e300, -1e300, NAN, 3.5};
    static const char SPACE[] = COLUMN("real", "\"bounds\":[-3,7],\"unit\":2");
    movement m = {0};
    tacet_space space;
    tacet_space_init(&space);
    assert_ok(tacet_space_decode(&space, SPACE, strlen(SPACE), NULL));
    for (size_t i = 0; i < 36; i++) {
        recording runs[2];
        for (size_t k = 0; k < 2; k++) {
            const char *folder = test_mkdir();
            char ledger[300];
            double rows[ROWS], value = VALUES[k == 0 ? i % 6 : i / 6];
            tacet_curate_settings s;
            tacet_manifest manifest;
            tacet_desk_settings at;
            tacet_desk *desk = NULL;
            tacet_desk_reply reply;
            for (size_t j = 0; j < ROWS; j++) {
                rows[j] = (double)(j % 10) - 3;
            }
            (void)snprintf(ledger, sizeof ledger, "%s/ledger.db", folder);
            tacet_curate_defaults(&s);
            s.space = &space;
            s.records = rows;
            s.record_count = ROWS;
            s.folder = folder;
            s.ledger = ledger;
            s.mechanism = TACET_CURATE_LAPLACE;
            s.eps = 1;
            s.delta = 0;
            s.to_whom = "test";
            s.ticket = "t";
            s.queries = 1;
            s.outputs_private = true;
            assert_ok(tacet_ldp_init(&s.outputs, TACET_LDP_HYBRID, 2, 2, 6, NULL));
            assert_ok(tacet_curate_run(&manifest, &s, NULL));
            tacet_manifest_clear(&manifest);
            tacet_desk_defaults(&at);
            at.folder = folder;
            at.ledger = ledger;
            at.measure = measured;
            at.user = &value;
            at.patience = 60;
            recorder_begin(&runs[k], k == 0 ? NULL : &runs[0]);
            assert_ok(tacet_desk_open(&desk, &at, NULL));
            assert_ok(tacet_desk_ask(desk, &reply, "q", 3, NULL));
            recorder_end();
            assert_true(reply.answered && !reply.failed);
            tacet_desk_close(desk);
            test_rmdir(folder);
        }
        movement_add(&m, &runs[0], &runs[1]);
        recording_clear(&runs[0]);
        recording_clear(&runs[1]);
    }
    tacet_space_clear(&space);
    assert_true(m.draws == 1 && m.moved == 1 && m.eps == 2);
}
