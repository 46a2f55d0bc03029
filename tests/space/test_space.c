/* SPDX-License-Identifier: Apache-2.0 */
/* test_space.c - spaces: bad ones are refused by name, files and options say the same, coordinates keep their promises.
 */
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/core/simrng.h>
#include "space/internal.h"

static const char MIXED[] =
    "{\"columns\":["
    "{\"name\":\"age\",\"kind\":\"real\",\"bounds\":[17,90],\"unit\":5},"
    "{\"name\":\"income\",\"kind\":\"log\",\"bounds\":[1000,6000000],\"unit\":\"10 %\"},"
    "{\"name\":\"visits\",\"kind\":\"integer\",\"bounds\":[0,12],\"unit\":2,\"missing\":{\"value\":1,\"flag\":true}},"
    "{\"name\":\"sex\",\"kind\":\"category\",\"levels\":[\"Male\",\"Female\"]},"
    "{\"name\":\"race\",\"levels\":[\"A\",\"B\",\"C\"],\"others\":\"rest\",\"missing\":\"unknown\"},"
    "{\"name\":\"seen\",\"kind\":\"date\",\"bounds\":[\"2021-01\",\"2021-12-31\"],\"unit\":\"2 "
    "weeks\",\"missing\":\"2021-06\"}"
    "]}";

static void read_space(tacet_space *space, const char *text) {
    tacet_error err = {0};
    if (tacet_space_decode(space, text, strlen(text), &err) != TACET_OK) {
        fail_msg("%s", err.message);
    }
}

/* Refused, with a message that names the column and has `word` in it. */
static void refuse(const char *text, const char *column, const char *word) {
    tacet_space space;
    tacet_error err = {0};
    assert_int_equal(tacet_space_decode(&space, text, strlen(text), &err), TACET_PARSE);
    assert_int_equal(space.count, 0);
    assert_null(space.columns);
    if (strstr(err.message, column) == NULL || strstr(err.message, word) == NULL) {
        fail_msg("'%s' does not name '%s' and '%s'", err.message, column, word);
    }
}

static void bad_spaces_are_refused_by_name(void **state) {
    refuse("{\"columns\":[{\"name\":\"sex\",\"levels\":[\"M\",\"F\",\"M\"]}]}", "'sex'", "twice");
    refuse("{\"columns\":[{\"name\":\"age\",\"bounds\":[90,17]}]}", "'age'", "the lower below the upper");
    refuse("{\"columns\":[{\"name\":\"age\",\"bounds\":[17,17]}]}", "'age'", "the lower below the upper");
    refuse("{\"columns\":[{\"name\":\"age\",\"bounds\":[17,90],\"unit\":0}]}", "'age'", "unit");
    refuse("{\"columns\":[{\"name\":\"age\",\"bounds\":[17,90],\"unit\":-1}]}", "'age'", "unit");
    refuse("{\"columns\":[{\"name\":\"w\",\"kind\":\"log\",\"bounds\":[0,5]}]}", "'w'", "above 0");
    refuse("{\"columns\":[{\"name\":\"w\",\"kind\":\"log\",\"bounds\":[-1,5]}]}", "'w'", "above 0");
    refuse("{\"columns\":[{\"name\":\"w\",\"kind\":\"log\",\"bounds\":[1,5],\"unit\":1}]}", "'w'", "factor");
    refuse("{\"columns\":[{\"name\":\"n\",\"kind\":\"integer\",\"bounds\":[0.5,5]}]}", "'n'", "whole");
    refuse("{\"columns\":[{\"name\":\"a\",\"bounds\":[0,5]},{\"name\":\"a\",\"bounds\":[0,5]}]}", "'a'", "twice");
    refuse("{\"columns\":[{\"name\":\"a\",\"bounds\":[0,5],\"missing\":7}]}", "'a'", "outside");
    refuse("{\"columns\":[{\"name\":\"a\",\"bounds\":[0,5],\"levels\":[\"x\",\"y\"]}]}", "'a'", "bounds");
    refuse("{\"columns\":[{\"name\":\"a\",\"levels\":[\"x\"]}]}", "'a'", "2 to");
    refuse("{\"columns\":[{\"name\":\"a\",\"kind\":\"ordinal\",\"bounds\":[0,1]}]}", "'a'", "kind");
    refuse("{\"columns\":[{\"name\":\"a\",\"bouds\":[0,1]}]}", "a", "bouds");
    refuse("{\"columns\":[{\"name\":\"d\",\"kind\":\"date\",\"bounds\":[\"2021-13\",\"2022\"]}]}", "'d'", "dates");
    refuse("{\"columns\":[{\"name\":\"d\",\"kind\":\"date\",\"bounds\":[\"2021-02-29\",\"2022\"]}]}", "'d'", "dates");
    refuse("{\"columns\":[]}", "columns", "empty");
    refuse("{\"columns\":[{\"name\":\"\",\"bounds\":[0,1]}]}", "column 1", "name");
    refuse("[]", "space", "object");
}

static void a_draft_is_refused_until_it_is_filled_in(void **state) {
    const char *const names[] = {"age", "sex"};
    char *text = NULL;
    assert_int_equal(tacet_space_draft(&text, names, 2, NULL), TACET_OK);
    refuse(text, "'age'", "fill them in");
    free(text);
}

static void what_is_written_reads_back_as_the_same(void **state) {
    tacet_space a, b;
    char *first = NULL;
    char *second = NULL;
    read_space(&a, MIXED);
    assert_int_equal(tacet_space_encode(&a, &first, NULL), TACET_OK);
    read_space(&b, first);
    assert_int_equal(tacet_space_encode(&b, &second, NULL), TACET_OK);
    assert_string_equal(first, second);
    assert_int_equal(b.columns[4].level_count, 5);
    assert_int_equal(b.columns[4].others, 3);
    assert_true(b.columns[4].stand_in == 4);
    assert_true(fabs(b.columns[1].unit - 1.1) < 1e-15);
    assert_true(b.columns[5].unit == 14);
    free(first);
    free(second);
    tacet_space_clear(&a);
    tacet_space_clear(&b);
}

static void columns_are_picked_in_the_order_of_their_names(void **state) {
    const char *const actions[] = {"sex", "age"};
    const char *const nobody[] = {"height"};
    tacet_space all, some;
    read_space(&all, MIXED);
    tacet_space_init(&some);
    assert_ok(tacet_space_pick(&some, &all, actions, 2, NULL));
    assert_status(tacet_space_pick(&some, &all, nobody, 1, NULL), TACET_NOT_FOUND);
    assert_status(tacet_space_pick(&some, &all, actions, 1, NULL), TACET_INVALID); /* it has that one */
    assert_ok(tacet_space_pick(&some, &all, NULL, 0, NULL));                       /* all the others */
    assert_int_equal(some.count, all.count);
    assert_string_equal(some.columns[0].name, "sex");
    assert_string_equal(some.columns[1].name, "age");
    assert_string_equal(some.columns[2].name, "income");
    tacet_space_clear(&all);
    tacet_space_clear(&some);
}

static void options_say_the_same_as_a_file(void **state) {
    const tacet_space_options options = {
        .inputs = "age,sex", .bounds = "age=17:90", .levels = "sex=Male|Female", .unit = "age=5"};
    tacet_space file, line;
    tacet_error err = {0};
    char *first = NULL;
    char *second = NULL;
    read_space(&file, "{\"columns\":[{\"name\":\"age\",\"kind\":\"real\",\"bounds\":[17,90],\"unit\":5},"
                      "{\"name\":\"sex\",\"kind\":\"category\",\"levels\":[\"Male\",\"Female\"]}]}");
    if (tacet_space_short(&line, &options, &err) != TACET_OK) {
        fail_msg("%s", err.message);
    }
    assert_int_equal(tacet_space_encode(&file, &first, NULL), TACET_OK);
    assert_int_equal(tacet_space_encode(&line, &second, NULL), TACET_OK);
    assert_string_equal(first, second);
    free(first);
    free(second);
    tacet_space_clear(&file);
    tacet_space_clear(&line);
}

static void refuse_short(tacet_space_options options, const char *word) {
    tacet_space space;
    tacet_error err = {0};
    assert_int_equal(tacet_space_short(&space, &options, &err), TACET_INVALID);
    assert_int_equal(space.count, 0);
    if (strstr(err.message, word) == NULL) {
        fail_msg("'%s' does not say '%s'", err.message, word);
    }
}

static void bad_options_are_refused_by_name(void **state) {
    refuse_short((tacet_space_options){.levels = "sex=M|F|M"}, "twice");
    refuse_short((tacet_space_options){.levels = "sex=M||F"}, "empty");
    refuse_short((tacet_space_options){.levels = "sex=M"}, "2 to");
    refuse_short((tacet_space_options){.bounds = "age=90:17"}, "'age'");
    refuse_short((tacet_space_options){.bounds = "age=17"}, "age=17");
    refuse_short((tacet_space_options){.bounds = "17:90"}, "17:90");
    refuse_short((tacet_space_options){.bounds = "age=17:90", .unit = "age=0"}, "age=0");
    refuse_short((tacet_space_options){.bounds = "age=17:90", .unit = "bmi=1"}, "bmi=1");
    refuse_short((tacet_space_options){.bounds = "age=17:90", .levels = "age=a|b"}, "second time");
    refuse_short((tacet_space_options){.inputs = "age,sex", .bounds = "age=17:90"}, "'sex'");
    refuse_short((tacet_space_options){.inputs = "age", .bounds = "age=17:90,bmi=1:2"}, "bmi=1:2");
    refuse_short((tacet_space_options){.bounds = "age=17:90,,b=1:2"}, "empty");
    refuse_short((tacet_space_options){0}, "no column");
}

static void bounds_without_names_follow_the_order_of_inputs(void **state) {
    tacet_space space;
    const tacet_space_options options = {.inputs = "a,b", .bounds = "1:2,3:4"};
    assert_int_equal(tacet_space_short(&space, &options, NULL), TACET_OK);
    assert_string_equal(space.columns[1].name, "b");
    assert_true(space.columns[1].lo == 3 && space.columns[1].hi == 4);
    tacet_space_clear(&space);
}

static double cell(const tacet_space *space, size_t column, const char *text, tacet_status expected) {
    double value = 0;
    tacet_error err = {0};
    assert_int_equal(tacet_space_cell(&space->columns[column], &value, NULL, text, strlen(text), &err), expected);
    if (expected != TACET_OK) {
        assert_non_null(strstr(err.message, space->columns[column].name));
    }
    return value;
}

static void cells_are_read_as_their_column_says(void **state) {
    tacet_space space;
    tacet_error err = {0};
    char text[TACET_SPACE_NAME];
    double value = 0;
    read_space(&space, MIXED);
    assert_true(cell(&space, 0, " 42.5 ", TACET_OK) == 42.5);
    cell(&space, 0, "", TACET_PARSE);
    cell(&space, 0, "abc", TACET_PARSE);
    cell(&space, 2, "1.5", TACET_PARSE);
    assert_true(isnan(cell(&space, 2, "", TACET_OK)));
    assert_true(isnan(cell(&space, 2, "NA", TACET_OK)));
    assert_true(cell(&space, 3, " Female ", TACET_OK) == 1);
    cell(&space, 3, "Femal", TACET_PARSE);
    cell(&space, 3, "", TACET_PARSE);
    assert_true(cell(&space, 4, "Z", TACET_OK) == 3);
    assert_true(cell(&space, 4, "?", TACET_OK) == 4);
    assert_true(cell(&space, 5, "2021-03-31", TACET_OK) == 18717);
    assert_true(cell(&space, 5, "2021-03-31T10:00:00Z", TACET_OK) == 18717);
    assert_true(cell(&space, 5, "2021-03", TACET_OK) == 18687);
    cell(&space, 5, "2021-3-1", TACET_PARSE);
    cell(&space, 5, "2021-03-32", TACET_PARSE);
    tacet_space_text(&space.columns[5], text, 18717);
    assert_string_equal(text, "2021-03-31");
    tacet_space_text(&space.columns[0], text, 0.1);
    assert_string_equal(text, "0.1");
    tacet_space_text(&space.columns[4], text, 3);
    assert_string_equal(text, "rest");
    /* the value is never in the message */
    assert_int_equal(tacet_space_cell(&space.columns[3], &value, NULL, "secret", 6, &err), TACET_PARSE);
    assert_null(strstr(err.message, "secret"));
    tacet_space_clear(&space);
}

static void every_day_reads_back_as_itself(void **state) {
    tacet_space_column column;
    tacet_space_column_init(&column);
    column.kind = TACET_SPACE_DATE;
    for (long day = -719162; day < 2932896; day += 97) { /* 0001-01-01 to 9999 */
        char text[TACET_SPACE_NAME];
        double again = 0;
        tacet_space_text(&column, text, (double)day);
        assert_true(tacet_space_day(&again, text, strlen(text)));
        assert_true(again == (double)day);
    }
}

static void draw(tacet_simrng *rng, const tacet_space *space, double *record) {
    for (size_t i = 0; i < space->count; i++) {
        const tacet_space_column *c = &space->columns[i];
        const double u = tacet_simrng_uniform(rng);
        if (c->kind == TACET_SPACE_CATEGORY) {
            record[i] = floor(u * (double)c->level_count);
        } else if (c->missing == TACET_SPACE_FLAG && tacet_simrng_uniform(rng) < 0.3) {
            record[i] = NAN;
        } else {
            record[i] = c->kind == TACET_SPACE_LOG ? c->lo * pow(c->hi / c->lo, u) : c->lo + u * (c->hi - c->lo);
            record[i] = c->kind == TACET_SPACE_INTEGER || c->kind == TACET_SPACE_DATE ? floor(record[i]) : record[i];
        }
    }
}

static void coordinates_are_no_further_apart_than_the_metric_says(void **state) {
    tacet_space space;
    tacet_simrng rng;
    double a[6], b[6], x[10], y[10], low[10], high[10];
    double closest = 0;
    read_space(&space, MIXED);
    assert_int_equal(tacet_space_dims(&space), 1 + 1 + 2 + 1 + 4 + 1);
    assert_int_equal(tacet_space_categories(&space), 3);
    tacet_space_box(&space, low, high);
    tacet_simrng_init(&rng, 1, 0);
    for (int trial = 0; trial < 20000; trial++) {
        draw(&rng, &space, a);
        memcpy(b, a, sizeof b);
        double fresh[6];
        draw(&rng, &space, fresh);
        for (size_t i = 0; i < 6; i++) { /* some columns change */
            b[i] = tacet_simrng_uniform(&rng) < 0.3 ? fresh[i] : b[i];
        }
        tacet_space_embed(&space, x, a);
        tacet_space_embed(&space, y, b);
        double euclid = 0;
        for (size_t i = 0; i < 10; i++) {
            euclid = hypot(euclid, x[i] - y[i]);
            assert_true(x[i] >= low[i] - 1e-12 && x[i] <= high[i] + 1e-12);
        }
        const double stated = tacet_space_distance(&space, a, b);
        assert_true(euclid <= stated * (1 + 1e-12) + 1e-12);
        closest = stated > 0 ? fmax(closest, euclid / stated) : closest;
        double back[6];
        tacet_space_invert(&space, back, x);
        for (size_t i = 0; i < 6; i++) {
            assert_true(isnan(a[i]) ? isnan(back[i]) : fabs(back[i] - a[i]) <= 1e-9 * fabs(a[i]));
        }
    }
    assert_true(closest > 1 - 1e-9); /* and the bound is reached */
    tacet_space_clear(&space);
}

static void a_change_of_level_is_distance_1_and_a_unit_is_distance_1(void **state) {
    tacet_space space;
    read_space(&space, MIXED);
    const double a[6] = {40, 50000, 3, 0, 1, 18700};
    double b[6] = {40, 50000, 3, 0, 2, 18700};
    assert_true(tacet_space_distance(&space, a, b) == 1);
    const double c[6] = {45, 50000, 3, 0, 1, 18700};
    assert_true(fabs(tacet_space_distance(&space, a, c) - 1) < 1e-12);
    const double d[6] = {40, 55000, 3, 0, 1, 18700};
    assert_true(fabs(tacet_space_distance(&space, a, d) - 1) < 1e-9);
    const double e[6] = {40, 50000, NAN, 0, 1, 18700}; /* the flag, and two steps of one unit to the stand-in */
    assert_true(fabs(tacet_space_distance(&space, a, e) - 2) < 1e-12);
    const double f[6] = {45, 55000, 3, 1, 2, 18700};
    assert_true(fabs(tacet_space_distance(&space, a, f) - (2 + sqrt(2))) < 1e-9);
    tacet_space_clear(&space);
}

static void vertices_of_a_simplex_are_1_apart(void **state) {
    for (size_t k = 2; k < 40; k++) {
        double a[40], b[40], sum[40] = {0};
        for (size_t i = 0; i < k; i++) {
            tacet_space_vertex(a, i, k);
            for (size_t j = 0; j < i; j++) {
                tacet_space_vertex(b, j, k);
                double distance = 0;
                for (size_t c = 0; c + 1 < k; c++) {
                    distance = hypot(distance, a[c] - b[c]);
                }
                assert_true(fabs(distance - 1) < 1e-12);
            }
            for (size_t c = 0; c + 1 < k; c++) {
                sum[c] += a[c];
            }
        }
        for (size_t c = 0; c + 1 < k; c++) {
            assert_true(fabs(sum[c]) < 1e-12);
        }
    }
}

static void embedding_is_a_total_function(void **state) {
    tacet_space space;
    const double odd[][6] = {{NAN, NAN, NAN, NAN, NAN, NAN},
                             {-INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY},
                             {INFINITY, INFINITY, INFINITY, INFINITY, INFINITY, INFINITY},
                             {1e300, 0, -1, 1.5, 99, 1e9}};
    read_space(&space, MIXED);
    for (size_t t = 0; t < sizeof odd / sizeof *odd; t++) {
        double x[10], back[6];
        tacet_space_embed(&space, x, odd[t]);
        for (size_t i = 0; i < 10; i++) {
            assert_true(isfinite(x[i]));
        }
        tacet_space_invert(&space, back, x);
        for (size_t i = 0; i < 6; i++) {
            assert_true(tacet_space_holds(&space.columns[i], back[i]));
        }
    }
    tacet_space_clear(&space);
}

static void candidates_cover_levels_and_numbers(void **state) {
    tacet_space space;
    double records[3 * 600];
    size_t found = 0;
    size_t of_level[3] = {0};
    size_t low = 0;
    read_space(&space, "{\"columns\":[{\"name\":\"rate\",\"kind\":\"log\",\"bounds\":[1e-5,1]},"
                       "{\"name\":\"layers\",\"kind\":\"integer\",\"bounds\":[1,8]},"
                       "{\"name\":\"way\",\"levels\":[\"sgd\",\"adam\",\"lion\"]}]}");
    assert_int_equal(tacet_space_spread(&space, records, &found, 600, NULL), TACET_OK);
    assert_int_equal(found, 600);
    for (size_t i = 0; i < found; i++) {
        for (size_t c = 0; c < 3; c++) {
            assert_true(tacet_space_holds(&space.columns[c], records[3 * i + c]));
        }
        of_level[(size_t)records[3 * i + 2]]++;
        low += records[3 * i] < sqrt(1e-5) ? 1 : 0; /* half of the range on its own scale */
        for (size_t j = 0; j < i; j++) {
            assert_memory_not_equal(records + 3 * i, records + 3 * j, 3 * sizeof(double));
        }
    }
    assert_true(of_level[0] == 200 && of_level[1] == 200 && of_level[2] == 200);
    assert_true(low > 280 && low < 320);
    tacet_space_clear(&space);
    read_space(&space, "{\"columns\":[{\"name\":\"a\",\"kind\":\"integer\",\"bounds\":[1,3]},"
                       "{\"name\":\"b\",\"levels\":[\"x\",\"y\"]}]}");
    assert_int_equal(tacet_space_spread(&space, records, &found, 600, NULL), TACET_OK);
    assert_int_equal(found, 6); /* all there are */
    tacet_space_clear(&space);
}

#define NAMED(kind) {#kind, TACET_SPACE_##kind},
static const struct {
    const char *name;
    tacet_space_kind kind;
} KINDS[] = {TACET_SPACE_KINDS(NAMED)};

/* A kind that says nothing of itself would be taken for another one. */
static void the_entry_of_every_kind_is_whole(void **state) {
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++) {
        const tacet_space_column column = {.kind = KINDS[i].kind};
        const tacet_space_traits *kind = tacet_space_traits_of(&column);
        const bool words = kind->name != NULL && kind->days != NULL && kind->what != NULL;
        const bool numbers = kind->levels || (kind->read != NULL && kind->bounds != NULL && kind->rounding != NULL);
        if (!words || !numbers || kind->print == NULL || kind->check == NULL || !(kind->lengthscale > 0) ||
            (kind->stretch == NULL) != (kind->shrink == NULL)) {
            fail_msg("src/space/kinds.c: the entry of %s lacks a field", KINDS[i].name);
        }
    }
}

static void an_unknown_kind_is_an_error_everywhere(void **state) {
    tacet_space space, copy;
    double record = 20, x = 0, out = 0;
    char text[TACET_SPACE_NAME];
    read_space(&space, "{\"columns\":[{\"name\":\"age\",\"bounds\":[17,90],\"unit\":5}]}");
    space.columns[0].kind = (tacet_space_kind)(sizeof KINDS / sizeof *KINDS);
    assert_int_equal(tacet_space_copy(&copy, &space, NULL), TACET_INVALID);
    assert_int_equal(tacet_space_cell(&space.columns[0], &out, NULL, "20", 2, NULL), TACET_PARSE);
    tacet_space_embed(&space, &x, &record);
    assert_true(isnan(x));
    out = 30;
    assert_true(isnan(tacet_space_distance(&space, &record, &out)));
    assert_true(isnan(tacet_space_width(&space.columns[0])));
    tacet_space_text(&space.columns[0], text, 20);
    assert_string_equal(text, "");
    tacet_space_clear(&space);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_spaces_are_refused_by_name),
        cmocka_unit_test(a_draft_is_refused_until_it_is_filled_in),
        cmocka_unit_test(what_is_written_reads_back_as_the_same),
        cmocka_unit_test(columns_are_picked_in_the_order_of_their_names),
        cmocka_unit_test(options_say_the_same_as_a_file),
        cmocka_unit_test(bad_options_are_refused_by_name),
        cmocka_unit_test(bounds_without_names_follow_the_order_of_inputs),
        cmocka_unit_test(cells_are_read_as_their_column_says),
        cmocka_unit_test(every_day_reads_back_as_itself),
        cmocka_unit_test(coordinates_are_no_further_apart_than_the_metric_says),
        cmocka_unit_test(a_change_of_level_is_distance_1_and_a_unit_is_distance_1),
        cmocka_unit_test(vertices_of_a_simplex_are_1_apart),
        cmocka_unit_test(embedding_is_a_total_function),
        cmocka_unit_test(candidates_cover_levels_and_numbers),
        cmocka_unit_test(the_entry_of_every_kind_is_whole),
        cmocka_unit_test(an_unknown_kind_is_an_error_everywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
