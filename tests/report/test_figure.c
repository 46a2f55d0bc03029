/* SPDX-License-Identifier: Apache-2.0 */
/* test_figure.c - figures: what is in them is what the data say, in the columns' own units; and they are drawn.
 * Ring: open. Deterministic. */
#include "report/figure.h"
#include "support/test.h"

#include <tacet/report/report.h>

static json_t *figure(const char *kind, const char *data) {
    char *text = NULL;
    tacet_error err = {0};
    if (tacet_figure(&text, kind, data, &err) != TACET_OK) {
        fail_msg("%s: %s", kind, err.message);
    }
    json_t *made = json_loads(text, 0, NULL);
    free(text);
    assert_non_null(made);
    return made;
}

static const json_t *series(const json_t *figure_, size_t i) {
    return json_array_get(json_object_get(figure_, "series"), i);
}

static double at(const json_t *one, const char *field, size_t i) {
    return json_number_value(json_array_get(json_object_get(one, field), i));
}

static const char *word(const json_t *one, const char *field) {
    return json_string_value(json_object_get(one, field));
}

static char *drawing(const json_t *figure_, int width) {
    char *svg = NULL;
    size_t length = 0;
    assert_ok(tacet__figure_svg(&svg, &length, figure_, width, TACET__CHART_FETCHED, NULL));
    assert_int_equal(strlen(svg), length);
    return svg;
}

#define COLUMNS                                                                                                        \
    "\"columns\":[{\"name\":\"rate\",\"kind\":\"log\",\"bounds\":[1e-4,1]},{\"name\":\"layers\",\"kind\":\"integer\"," \
    "\"bounds\":[1,8]},{\"name\":\"kind\",\"kind\":\"category\",\"levels\":[\"sgd\",\"a<b>\"]},"                       \
    "{\"name\":\"since\",\"kind\":\"date\",\"bounds\":[\"2023-01-01\",\"2024-12-31\"]}]"

TEST(test_values_their_best_and_chance) {
    json_t *f = figure("progress", "{\"values\":[3,null,1,2],\"minimize\":true,\"chance\":{\"likely\":1.5,"
                                   "\"likely_percent\":95}}");
    const double best[] = {3, 3, 1, 1};
    for (size_t i = 0; i < 4; i++) {
        assert_close(at(series(f, 0), "y", i), best[i], 0);
    }
    assert_string_equal(word(series(f, 2), "style"), "level");
    assert_close(at(series(f, 2), "y", 0), 1.5, 0);
    assert_non_null(strstr(word(json_object_get(f, "y"), "label"), "less is better"));
    assert_non_null(strstr(word(f, "note"), "95"));
    json_decref(f);
}

TEST(test_a_slice_in_the_column_s_own_units) {
    json_t *f =
        figure("posterior", "{" COLUMNS ",\"x\":0,\"points\":[{\"at\":[0.1,2,1,19400],\"mean\":0.25,\"sd\":0.1},"
                            "{\"at\":[0.001,2,1,19400],\"mean\":0.5,\"sd\":0.125}]}");
    const json_t *one = series(f, 0);
    assert_close(at(one, "x", 0), 0.001, 0); /* in their order */
    assert_close(at(one, "lower", 0), 0.375, 1e-12);
    assert_close(at(one, "upper", 1), 0.35, 1e-12);
    assert_string_equal(word(json_object_get(f, "x"), "scale"), "log");
    assert_string_equal(json_string_value(json_array_get(json_object_get(one, "words"), 0)),
                        "rate 0.001: 0.5 \xc2\xb1 0.12");
    char *svg = drawing(f, 760);
    const char *const POWERS[] = {">0.0001<", ">0.001<", ">0.01<", ">0.1<", ">1<"};
    for (size_t i = 0; i < 5; i++) {
        assert_non_null(strstr(svg, POWERS[i]));
    }
    assert_non_null(strstr(svg, "rate, log scale"));
    assert_non_null(strstr(svg, "mean: 2 values from 0.25 to 0.5. ")); /* for who does not see it */
    free(svg);
    json_decref(f);
}

TEST(test_levels_and_dates_by_their_names) {
    json_t *f = figure("posterior", "{" COLUMNS ",\"x\":3,\"by\":2,\"points\":[{\"at\":[0.1,2,1,19400],\"mean\":0.25,"
                                    "\"sd\":0.1},{\"at\":[0.1,2,0,19500],\"mean\":0.5,\"sd\":0.1}]}");
    assert_int_equal(json_array_size(json_object_get(f, "series")), 2); /* a line for each level */
    assert_string_equal(word(series(f, 1), "name"), "a<b>");
    assert_close(at(series(f, 1), "x", 0), 19400, 0);
    char *svg = drawing(f, 760);
    assert_non_null(strstr(svg, ">2023-04<"));
    assert_non_null(strstr(svg, ">2024-10<"));
    assert_non_null(strstr(svg, "since 2023-02-12, kind a&lt;b&gt;: 0.25"));
    assert_null(strstr(svg, "<b>"));
    free(svg);
    json_decref(f);
    f = figure("posterior", "{" COLUMNS ",\"x\":2,\"points\":[{\"at\":[0.1,2,1,19400],\"mean\":0.25,\"sd\":0.1},"
                            "{\"at\":[0.1,2,0,19400],\"mean\":0.5,\"sd\":0.1}]}");
    assert_string_equal(word(series(f, 0), "style"), "points"); /* levels are no line */
    svg = drawing(f, 360);
    assert_non_null(strstr(svg, ">sgd<"));
    free(svg);
    json_decref(f);
}

TEST(test_two_columns_are_cells_and_what_may_be_best_is_marked) {
    json_t *f =
        figure("posterior", "{" COLUMNS ",\"x\":0,\"by\":1,\"points\":[{\"at\":[0.1,2,1,0],\"mean\":0.25,\"sd\":0.1},"
                            "{\"at\":[0.1,3,1,0],\"mean\":0.5,\"sd\":0.1},{\"at\":[1,3,1,0],\"mean\":0.45,\"sd\":0.1},"
                            "{\"at\":[1,2,1,0],\"mean\":null,\"sd\":null}]}");
    assert_string_equal(word(series(f, 0), "style"), "cells");
    assert_string_equal(word(series(f, 0), "name"), "mean, from 0.25 (faint) to 0.5 (full)");
    assert_int_equal(json_array_size(json_object_get(series(f, 1), "x")), 2);
    char *svg = drawing(f, 760);
    assert_non_null(strstr(svg, "opacity=\"1.000\""));
    assert_non_null(strstr(svg, "rate 0.1, layers 3: 0.5 \xc2\xb1 0.1"));
    free(svg);
    json_decref(f);
}

TEST(test_contours_cross_where_the_level_lies_and_errors_are_a_map_of_their_own) {
    /* mean = x + 2 y on a grid of 3 x 3, so every contour is a straight line. */
    char data[2000] = "{\"columns\":[{\"name\":\"a\",\"kind\":\"real\",\"bounds\":[0,2]},{\"name\":\"b\",\"kind\":"
                      "\"real\",\"bounds\":[0,2]}],\"x\":0,\"by\":1,\"points\":[";
    for (int i = 0; i < 9; i++) {
        (void)snprintf(data + strlen(data), sizeof data - strlen(data), "%s{\"at\":[%d,%d],\"mean\":%d,\"sd\":0.%d}",
                       i > 0 ? "," : "", i % 3, i / 3, i % 3 + 2 * (i / 3), i + 1);
    }
    (void)snprintf(data + strlen(data), sizeof data - strlen(data), "]}");
    json_t *f = figure("posterior", data);
    const json_t *lines = series(f, 1);
    const json_t *x = json_object_get(lines, "x"), *y = json_object_get(lines, "y");
    assert_string_equal(word(lines, "style"), "contour");
    assert_string_equal(word(lines, "name"), "contours at 2, 4");
    size_t met = 0;
    for (size_t i = 0; i < json_array_size(x); i++) {
        if (json_is_number(json_array_get(x, i))) {
            const double level = at(lines, "x", i) + 2 * at(lines, "y", i);
            assert_true(fabs(level - 2) < 1e-12 || fabs(level - 4) < 1e-12);
            met++;
        } else {
            assert_true(json_is_null(json_array_get(y, i)));
        }
    }
    assert_true(met >= 8); /* two squares each at the least, two ends a square */
    json_decref(f);
    f = figure("uncertainty", data);
    assert_string_equal(word(series(f, 0), "name"), "error, from 0.1 (faint) to 0.9 (full)");
    assert_close(at(series(f, 0), "z", 0), 0.1, 0);
    json_decref(f);
}

TEST(test_the_arm_ahead_is_compared_with_each_other) {
    json_t *f =
        figure("comparison",
               "{\"test\":{\"confidence\":0.95,\"pairs\":[{\"arm\":\"b\",\"over\":\"a\",\"difference\":0.1,"
               "\"lower\":-0.1,\"upper\":0.3},{\"arm\":\"c\",\"over\":\"a\",\"difference\":0.4,\"lower\":0.25,"
               "\"upper\":0.5},{\"arm\":\"c\",\"over\":\"b\",\"difference\":0.3,\"lower\":0.2,\"upper\":0.45}]}}");
    assert_string_equal(word(json_object_get(f, "y"), "label"), "c earns more by");
    assert_int_equal(json_array_size(json_object_get(series(f, 0), "y")), 2);
    assert_close(at(series(f, 0), "lower", 1), 0.2, 0);
    assert_string_equal(json_string_value(json_array_get(json_object_get(series(f, 0), "words"), 1)),
                        "c over b: 0.3, from 0.2 to 0.45");
    assert_close(at(series(f, 1), "y", 0), 0, 0);
    json_decref(f);
    f = figure("arms", "{\"test\":{\"confidence\":0.95,\"arms\":[{\"arm\":\"a\",\"mean\":0.1,\"lower\":0.05,"
                       "\"upper\":0.2},{\"arm\":\"b\",\"mean\":0.3,\"lower\":0.2,\"upper\":0.45}]}}");
    assert_string_equal(json_string_value(json_array_get(json_object_get(json_object_get(f, "x"), "levels"), 1)), "b");
    assert_close(at(series(f, 0), "y", 1), 0.3, 0);
    assert_close(at(series(f, 0), "lower", 1), 0.2, 0);
    assert_close(at(series(f, 0), "upper", 0), 0.2, 0);
    assert_non_null(strstr(word(f, "note"), "95 %"));
    json_decref(f);
}

TEST(test_rounds_winners_and_budgets) {
    json_t *f = figure("tried", "{" COLUMNS ",\"x\":3,\"rounds\":[{\"number\":1,\"point\":{\"since\":\"2023-01-02\"}},"
                                "{\"number\":3,\"point\":{\"since\":\"2024-01-01\"}}]}");
    assert_close(at(series(f, 0), "y", 1) - at(series(f, 0), "y", 0), 364, 0);
    assert_close(at(series(f, 0), "x", 1), 3, 0);
    json_decref(f);
    f = figure("winners",
               "{\"space\":{" COLUMNS "},\"winners\":[{\"setting\":{\"rate\":0.01,\"layers\":8,\"kind\":\"a<b>\","
               "\"since\":\"2023-01-01\"}}]}");
    const double places[] = {0.5, 1, 1, 0};
    for (size_t i = 0; i < 4; i++) {
        assert_close(at(series(f, i), "y", 0), places[i], 1e-12);
    }
    json_decref(f);
    /* Two of one group cost what the dearer costs; what is not covered costs nothing and is shown. */
    f = figure("budget", "{\"unit\":\"eps\",\"accounting\":\"basic\",\"cap\":4,\"budget_eps\":4,\"list\":["
                         "{\"time\":86400,\"claim\":\"pure\",\"eps\":1,\"group\":null,\"what\":\"w\"},"
                         "{\"time\":86410,\"claim\":\"pure\",\"eps\":2,\"group\":\"g\",\"what\":\"w\"},"
                         "{\"time\":86420,\"claim\":\"pure\",\"eps\":1,\"group\":\"g\",\"what\":\"w\"},"
                         "{\"time\":86430,\"claim\":\"uncovered\",\"eps\":null,\"group\":null,\"what\":\"q\"}]}");
    const double spent[] = {0, 1, 3, 3, 3};
    for (size_t i = 0; i < 5; i++) {
        assert_close(at(series(f, 0), "y", i), spent[i], 1e-12);
    }
    assert_int_equal(json_array_size(json_object_get(f, "series")), 3);
    char *svg = drawing(f, 760);
    assert_non_null(strstr(svg, ">00:00:30<"));
    free(svg);
    json_decref(f);
    f = figure("utility", "{\"points\":[{\"eps\":1,\"mean\":0.5,\"se\":0.1},{\"eps\":4,\"mean\":0.2,\"se\":0.1}],"
                          "\"random\":{\"mean\":0.6,\"se\":0.05},\"nonprivate\":{\"mean\":0.1,\"se\":0.01}}");
    assert_close(at(series(f, 0), "upper", 0), 0.7, 1e-12);
    assert_close(at(series(f, 2), "lower", 0), 0.08, 1e-12);
    json_decref(f);
    f = figure("choice", "{\"records\":1000,\"evaluations\":100,\"range\":[0,1]}");
    assert_close(at(series(f, 0), "y", 20), 2 / 1000.0 * log(100), 1e-12); /* eps 1 */
    json_decref(f);
}

TEST(test_what_cannot_be_drawn_is_refused) {
    static const char *const BAD[][2] = {
        {"pie", "{}"},
        {"progress", "{\"values\":[]}"},
        {"progress", "7"},
        {"progress", "{"},
        {"posterior", "{" COLUMNS ",\"x\":9,\"points\":[]}"},
        {"posterior", "{" COLUMNS ",\"x\":0,\"points\":[{\"at\":[],\"mean\":1}]}"},
        {"posterior", "{\"columns\":[{\"name\":\"a\",\"kind\":\"shape\"}],\"x\":0,\"points\":[]}"},
        {"winners", "{\"space\":{" COLUMNS "},\"winners\":[{\"setting\":{\"rate\":\"x\"}}]}"},
        {"budget", "{\"list\":[]}"},
        {"choice", "{\"records\":0}"},
        {"comparison", "{\"test\":{\"pairs\":[]}}"},
        {"arms", "{\"test\":{\"arms\":[{\"arm\":\"a\",\"mean\":null}]}}"},
        {"variants", "{\"released\":[1]}"},
        {"regret", "{\"runs\":[]}"},
        {"utility", "{\"runs\":[{\"name\":\"one\",\"points\":[{\"eps\":1,\"mean\":0.5,\"se\":0.1}]}]}"},
        {"uncertainty", "{" COLUMNS ",\"x\":0,\"points\":[]}"},
    };
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        char *text = NULL;
        if (tacet_figure(&text, BAD[i][0], BAD[i][1], NULL) != TACET_INVALID) {
            fail_msg("drawn: %s", BAD[i][1]);
        }
        assert_null(text);
    }
}
