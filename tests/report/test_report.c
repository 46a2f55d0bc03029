/* SPDX-License-Identifier: Apache-2.0 */
/* test_report.c - the report: escaping, axes, charts, results by their fields, bad input, failed allocations.
 * Ring: open. Deterministic. */
#include "report/text.h"
#include "support/test.h"

#include <tacet/report/report.h>

static tacet_report *fresh(void) {
    tacet_report *r = NULL;
    assert_ok(tacet_report_create(&r, NULL));
    return r;
}

__attribute__((noinline)) static char *page(tacet_report *r) {
    char *html = NULL;
    size_t length = 0;
    assert_ok(tacet_report_html(r, &html, &length, NULL));
    assert_int_equal(strlen(html), length);
    return html;
}

static size_t occurrences(const char *text, const char *what) {
    size_t count = 0;
    for (const char *at = strstr(text, what); at != NULL; at = strstr(at + strlen(what), what)) {
        count++;
    }
    return count;
}

static void add(tacet_report *r, const char *json) {
    tacet_error err = {0};
    const tacet_status status = tacet_report_add(r, "f.json", json, strlen(json), &err);
    if (status != TACET_OK) {
        fail_msg("%s", err.message);
    }
}

#define DOCUMENT(sections) "{\"format\":\"tacet-report-1\",\"title\":\"T\",\"sections\":[" sections "]}"
#define CHART(series)                                                                                                  \
    DOCUMENT("{\"kind\":\"chart\",\"title\":\"C\",\"x\":{\"label\":\"query\"},\"y\":{\"label\":\"regret\","            \
             "\"unit\":\"points\"},\"series\":[" series "]}")

TEST(test_escape) {
    tacet__text t = {0};
    tacet__text_escape(&t, "a<b>&\"'\x01\n\xef\xbf\xbf\xc3\xa9\x7f");
    assert_string_equal(t.at, "a&lt;b&gt;&amp;&quot;&#39;\xef\xbf\xbd\n\xef\xbf\xbd\xc3\xa9\xef\xbf\xbd");
    assert_false(t.failed);
    free(t.at);
}

/* Whatever is written into any text of a document, no element and no attribute comes of it. */
TEST(test_nothing_gets_through) {
#define EVIL "</title><script>alert(1)</script>\\\" onload=\\\"x"
    tacet_report *r = fresh();
    add(r, "{\"format\":\"tacet-report-1\",\"title\":\"" EVIL "\",\"subtitle\":\"" EVIL
           "\",\"sections\":[{\"kind\":\"text\",\"title\":\"" EVIL "\",\"text\":\"" EVIL "\",\"note\":\"" EVIL
           "\"},{\"kind\":\"table\",\"columns\":[\"" EVIL "\"],\"rows\":[[\"" EVIL
           "\"]]},{\"kind\":\"facts\",\"items\":[{\"label\":\"" EVIL "\",\"value\":\"" EVIL "\",\"note\":\"" EVIL
           "\"}]},{\"kind\":\"bars\",\"items\":[{\"label\":\"" EVIL "\",\"value\":1,\"of\":2,\"note\":\"" EVIL
           "\"}]},{\"kind\":\"parties\",\"parties\":[{\"name\":\"" EVIL "\",\"saw\":[\"" EVIL
           "\"],\"did_not_see\":[\"" EVIL "\"]}]},{\"kind\":\"chart\",\"title\":\"" EVIL "\",\"x\":{\"label\":\"" EVIL
           "\",\"unit\":\"" EVIL "\"},\"y\":{\"label\":\"" EVIL "\"},\"series\":[{\"name\":\"" EVIL "\",\"y\":[1]}]},"
           "{\"kind\":\"ledger\",\"ledger\":{\"budget_eps\":1,\"head\":\"" EVIL "\",\"list\":[{\"what\":\"" EVIL
           "\",\"ticket\":\"" EVIL "\",\"seq\":\"" EVIL "\"}]}}]}");
    char *html = page(r);
    assert_int_equal(occurrences(html, "<script"), 0);
    assert_int_equal(occurrences(html, "onload=\""), 0);
    assert_int_equal(occurrences(html, "</title>"), 1); /* the page's own */
    assert_true(occurrences(html, "&lt;script&gt;") >= 20);
    assert_int_equal(occurrences(html, "http://") + occurrences(html, "https://"), 0);
    free(html);
    tacet_report_free(r);
}

static void check_scale(double lo, double hi, bool log) {
    tacet__scale s;
    tacet__scale_make(&s, lo, hi, log, 5);
    assert_true(s.lo < s.hi);
    assert_true(s.lo <= lo + 1e-6 * fabs(lo) && s.hi >= hi - 1e-6 * fabs(hi));
    assert_true(s.count >= 2 && s.count <= TACET__TICKS);
    for (size_t i = 0; i < s.count; i++) {
        assert_true(s.ticks[i] >= s.lo - 1e-6 * fabs(s.lo) && s.ticks[i] <= s.hi + 1e-6 * fabs(s.hi));
        assert_true(i == 0 || s.ticks[i] > s.ticks[i - 1]);
    }
    assert_close(tacet__scale_at(&s, s.lo), 0, 1e-12);
    assert_close(tacet__scale_at(&s, s.hi), 1, 1e-12);
}

TEST(test_scales) {
    static const double RANGES[][2] = {{0, 1},         {0, 40},          {-3, 7},          {1e-7, 3e-7},
                                       {5, 5},         {0, 0},           {-1e9, 1e9},      {0.02, 0.0201},
                                       {1e200, 3e200}, {123456, 123457}, {-1e-300, 1e-300}};
    for (size_t i = 0; i < sizeof RANGES / sizeof *RANGES; i++) {
        check_scale(RANGES[i][0], RANGES[i][1], false);
    }
    static const double LOGS[][2] = {{1e-3, 1}, {0.5, 0.7}, {1, 1}, {1e-12, 1e12}, {2, 300}, {2, 2}, {5, 10}, {3, 4}};
    for (size_t i = 0; i < sizeof LOGS / sizeof *LOGS; i++) {
        check_scale(LOGS[i][0], LOGS[i][1], true);
    }
    tacet__scale s;
    tacet__scale_make(&s, 0, 40, false, 5);
    assert_int_equal(s.count, 5); /* 0, 10, 20, 30, 40 */
    assert_close(s.ticks[3], 30, 0);
    assert_int_equal(s.decimals, 0);
    tacet__scale_make(&s, 0.5, 3, true, 5);
    assert_int_equal(s.count, 4); /* 0.5, 1, 2, 5 */
    assert_close(s.ticks[0], 0.5, 1e-12);
    assert_close(s.ticks[3], 5, 1e-12);
    /* Values that were chosen are the ticks, unless their labels would touch. */
    const double eps[] = {0.5, 1, 2, 4, 8};
    assert_true(tacet__scale_values(&s, eps, 5, true, 9));
    assert_close(s.lo, 0.5, 0);
    assert_close(s.hi, 8, 0);
    assert_int_equal(s.count, 5);
    assert_close(s.ticks[3], 4, 0);
    assert_close(tacet__scale_at(&s, 2), 0.5, 1e-12);
    const tacet__scale before = s;
    const double close[] = {1, 1.01, 100};
    const double zero[] = {0, 1};
    assert_false(tacet__scale_values(&s, close, 3, true, 9));
    assert_false(tacet__scale_values(&s, zero, 2, true, 9));
    assert_false(tacet__scale_values(&s, eps, 1, true, 9));
    assert_false(tacet__scale_values(&s, eps, 5, true, 4));
    assert_memory_equal(&s, &before, sizeof s);
    tacet__scale_make(&s, 6, 10, true, 5); /* too short for 1, 2, 5: whole numbers, still spaced as logarithms */
    assert_int_equal(s.count, 5);
    assert_close(s.ticks[1], 7, 1e-12);
    assert_close(tacet__scale_at(&s, sqrt(60)), 0.5, 1e-12);
    tacet__scale_axis(&s, &(tacet__axis){.whole = true}, 1, 3, 5); /* rounds 1, 2, 3, never 1.0 */
    assert_int_equal(s.count, 3);
    assert_string_equal(s.texts[0], "1");
    tacet__scale_make(&s, 0.01, 1, true, 5);
    assert_close(tacet__scale_at(&s, 0.1), 0.5, 1e-12);
    assert_close(tacet__scale_at(&s, -1), 0, 0);
}

/* Where the points of a picture are, re-derived from its axes: y = 0 at the bottom, the top tick at the top. */
TEST(test_chart_geometry) {
    tacet_report *r = fresh();
    add(r, CHART("{\"name\":\"n\",\"x\":[0,5,10],\"y\":[0,50,100]}"));
    char *svg = NULL;
    size_t length = 0;
    assert_int_equal(tacet_report_charts(r), 1);
    assert_ok(tacet_report_svg(r, 0, &svg, &length, NULL));
    double x[3], y[3];
    const char *line = strstr(svg, "class=\"line s");
    assert_non_null(line);
    assert_int_equal(
        sscanf(strstr(line, "d=\""), "d=\"M%lf %lfL%lf %lfL%lf %lf", &x[0], &y[0], &x[1], &y[1], &x[2], &y[2]), 6);
    assert_close(x[1], (x[0] + x[2]) / 2, 0.11);
    assert_close(y[1], (y[0] + y[2]) / 2, 0.11);
    assert_true(x[2] - x[0] > 600 && y[0] - y[2] > 200);
    assert_non_null(strstr(svg, "regret (points)"));
    assert_non_null(strstr(svg, "xmlns="));
    free(svg);
    assert_status(tacet_report_svg(r, 1, &svg, &length, NULL), TACET_INVALID);
    assert_null(svg);
    tacet_report_free(r);
}

TEST(test_gaps_bands_log) {
    tacet_report *r = fresh();
    add(r, DOCUMENT("{\"kind\":\"chart\",\"x\":{\"label\":\"eps\",\"scale\":\"log\"},\"y\":{\"label\":\"r\",\"scale\":"
                    "\"log\"},\"series\":[{\"name\":\"a\",\"x\":[1,2,3,4],\"y\":[1,null,0,10],\"lower\":[0.5,1,null,9],"
                    "\"upper\":[2,2,2,11]},{\"name\":\"b\",\"style\":\"step\",\"y\":[1,2,1e300]},{\"name\":\"c\","
                    "\"style\":\"points\",\"y\":[]}]}"));
    char *html = page(r);
    assert_non_null(strstr(html, "log scale"));
    assert_int_equal(occurrences(html, "class=\"band fill s"),
                     2); /* two sizes; the second run of the band is one point */
    assert_null(strstr(html, "nan"));
    assert_null(strstr(html, "inf\""));
    free(html);
    tacet_report_free(r);
}

TEST(test_results) {
    tacet_report *r = fresh();
    add(r, "{\"model\":\"outsourced\",\"mechanism\":\"gaussian\",\"eps\":3,\"trials\":2,\"seed\":1,\"simple_regret\":"
           "{\"mean\":0.25,\"se\":0.125},\"regret_by_query\":[1,0.5,0.25],\"regret_by_query_se\":[0.1,0.1,0.125]}");
    add(r, "{\"model\":\"outsourced\",\"mechanism\":\"random\",\"eps\":3,\"trials\":2,\"seed\":1,\"simple_regret\":"
           "{\"mean\":0.75,\"se\":null},\"regret_by_query\":[1,0.9,0.75],\"regret_by_query_se\":[0.1,null,0.1]}");
    add(r,
        "{\"simulation\":\"central\",\"algorithm\":\"a\",\"trials\":1,\"rounds\":100,\"regret_by_tenth\":[1,2,3,4,5,6,"
        "7,8,9,10],\"regret\":{\"mean\":10}}");
    add(r, "{\"rows\":[3,1,2],\"values\":[2,7.5,1],\"best_row\":1,\"best_value\":7.5,\"release\":{\"private\":true,"
           "\"eps\":3,\"delta\":1e-5,\"claim\":\"of one unit, and of any change\"}}");
    add(r, "{\"budget_eps\":3,\"budget_delta\":1e-5,\"eps\":1.5,\"entries\":1,\"list\":[{\"seq\":1,\"what\":\"w\","
           "\"claim\":\"uncovered\"}],\"head\":\"ab\"}");
    add(r,
        "{\"budget_eps\":3.0000001,\"budget_delta\":1.234561e-5,\"eps\":2.0000001,\"entries\":1,\"list\":[{\"seq\":1,"
        "\"what\":\"w\",\"claim\":\"pure\",\"eps\":1.0000001,\"delta\":1.0000001e-6}],\"head\":\"ab\"}");
    add(r, "{\"budget_eps\":3,\"budget_delta\":1e-5,\"eps\":null,\"entries\":0,\"list\":[],\"head\":\"ab\"}");
    add(r, "{\"rows\":[3,1,2],\"values\":[2,7.5,1],\"best_row\":1,\"best_value\":7.5,\"release\":{\"private\":true,"
           "\"eps\":3.0000001,\"delta\":1.0000001e-5}}");
    add(r, "{\"target\":\"laplace\",\"verdict\":\"consistent\",\"eps_lower\":0.96,\"claimed_eps\":1}");
    add(r, "{\"mechanism\":\"published\",\"succeeded\":true,\"recovered\":1.0,\"rms\":1e-14,\"blind\":8}");
    add(r, "{\"something\":\"else\",\"deep\":{\"a\":1}}");
    assert_int_equal(tacet_report_charts(r), 4); /* the two simulations share one */
    char *html = page(r);
    assert_non_null(strstr(html, "outsourced gaussian, eps 3</text>"));
    assert_non_null(strstr(html, "outsourced random</text>"));
    assert_non_null(strstr(html, "<td class=\"num\" data-column=\"standard error\">0.125</td>"));
    assert_int_equal(occurrences(html, "class=\"band fill s"),
                     2); /* two sizes of one: the other lacks a standard error */
    assert_non_null(strstr(html, "<b class=\"\">7.5</b>"));
    assert_non_null(strstr(html, "1.5 of 3, at delta = 1e-05"));
    assert_non_null(strstr(html, "2.00002 of 3.00003, at delta = 1.23457e-05")); /* never less than it is */
    assert_non_null(strstr(html, "data-column=\"eps\">1.00001</td>"));
    assert_non_null(strstr(html, "data-column=\"delta\">1.00001e-06</td>"));
    assert_non_null(strstr(html, "inf of 3, at delta = 1e-05")); /* nothing can be said */
    assert_non_null(strstr(html, ">eps 3, delta 1e-05<"));
    assert_non_null(strstr(html, "of one unit, and of any change"));
    assert_non_null(strstr(html, ">eps 3.00003, delta 1.00001e-05<"));
    assert_non_null(strstr(html, "width:50.00%"));
    assert_non_null(strstr(html, "<td class=\"bad\" data-column=\"protection\">uncovered</td>"));
    assert_non_null(strstr(html, ">consistent</td>"));
    assert_non_null(strstr(html, ">else</td>"));
    free(html);
    /* Four columns become blocks on a telephone, two stay a table; a number and its error are not parted. */
    const char *tables =
        "{\"format\":\"tacet-report-1\",\"sections\":[{\"kind\":\"table\",\"columns\":[\"a<\",\"b\",\"c\",\"d\"],"
        "\"rows\":[[\"1 \xc2\xb1 2\",1,2,3]]},{\"kind\":\"table\",\"columns\":[\"a\",\"b\"],\"rows\":[[1,2]]}]}";
    tacet_report *two = fresh();
    add(two, tables);
    html = page(two);
    assert_int_equal(occurrences(html, "<table class=\"stack\">"), 1);
    assert_int_equal(occurrences(html, "<table>"), 1);
    assert_non_null(strstr(html, "<td data-column=\"a&lt;\">1\xc2\xa0\xc2\xb1\xc2\xa0"
                                 "2</td>"));
    free(html);
    tacet_report_free(two);
    tacet_report_free(r);
}

/* Regret against eps appears with the second eps, sorted by it, whatever the order of the files. */
TEST(test_privacy_utility) {
#define RUN(eps, mean)                                                                                                 \
    "{\"model\":\"m\",\"eps\":" eps ",\"trials\":9,\"seed\":1,\"error\":{\"mean\":" mean ",\"se\":0.01}}"
    tacet_report *r = fresh();
    add(r, RUN("10", "1"));
    assert_int_equal(tacet_report_charts(r), 0);
    add(r, RUN("10", "1"));
    assert_int_equal(tacet_report_charts(r), 0);
    add(r, RUN("0.1", "9"));
    add(r, RUN("1", "5"));
    assert_int_equal(tacet_report_charts(r), 1);
    char *svg = NULL;
    size_t length = 0;
    assert_ok(tacet_report_svg(r, 0, &svg, &length, NULL));
    double x[4], y[4];
    assert_int_equal(sscanf(strstr(strstr(svg, "class=\"line s"), "d=\""), "d=\"M%lf %lfL%lf %lfL%lf %lfL%lf %lf",
                            &x[0], &y[0], &x[1], &y[1], &x[2], &y[2], &x[3], &y[3]),
                     8);
    assert_close(x[1], (x[0] + x[2]) / 2, 0.11); /* 0.1, 1, 10: equal steps on a log axis */
    assert_close(x[3], x[2], 0.01);
    assert_close(y[1], (y[0] + y[2]) / 2, 0.11); /* 9, 5, 1 */
    assert_true(y[0] < y[1] && y[1] < y[2]);
    free(svg);
    /* Another problem has a chart of its own; random play is a level there, from edge to edge. */
    const char *random = "{\"model\":\"n\",\"mechanism\":\"random\",\"eps\":1,\"trials\":9,\"seed\":1,"
                         "\"error\":{\"mean\":3,\"se\":0.01}}";
    add(r, random);
    assert_int_equal(tacet_report_charts(r), 1);
#define OTHER(eps, mean)                                                                                               \
    "{\"model\":\"n\",\"eps\":" eps ",\"trials\":9,\"seed\":1,\"error\":{\"mean\":" mean ",\"se\":0.01}}"
    add(r, OTHER("2", "2"));
    add(r, OTHER("5", "1"));
    assert_int_equal(tacet_report_charts(r), 2);
    assert_ok(tacet_report_svg(r, 1, &svg, &length, NULL));
    double left = 0, level = 0, right = 0;
    const char *at = strstr(svg, "class=\"line s"); /* the first series is drawn last */
    at = strstr(at + 1, "class=\"line s");
    assert_non_null(at);
    assert_int_equal(sscanf(strstr(at, "d=\""), "d=\"M%lf %lfH%lf", &left, &level, &right), 3);
    assert_true(right > left + 500);
    free(svg);
    tacet_report_free(r);
}

TEST(test_bad_input) {
    static const char *const BAD[] = {
        "",
        "[]",
        "{",
        "{\"a\":1,\"a\":2}",
        "\xff",
        "{\"format\":\"tacet-report-1\"}",
        DOCUMENT("7"),
        DOCUMENT("{\"kind\":\"movie\"}"),
        DOCUMENT("{\"kind\":\"text\"}"),
        DOCUMENT("{\"kind\":\"text\",\"text\":\"x\",\"tone\":\"loud\"}"),
        DOCUMENT("{\"kind\":\"table\",\"columns\":[\"a\"],\"rows\":[[1,2]]}"),
        DOCUMENT("{\"kind\":\"table\",\"columns\":[\"a\"],\"rows\":[[{}]]}"),
        DOCUMENT("{\"kind\":\"table\",\"columns\":[1],\"rows\":[]}"),
        DOCUMENT("{\"kind\":\"bars\",\"items\":[{\"label\":\"a\",\"value\":1,\"of\":0}]}"),
        DOCUMENT("{\"kind\":\"chart\",\"x\":{\"label\":\"a\"},\"y\":{\"label\":\"b\"},"
                 "\"series\":[{\"name\":\"c\",\"style\":\"level\",\"y\":[1,2]}]}"),
        DOCUMENT("{\"kind\":\"facts\",\"items\":[{\"label\":\"a\"}]}"),
        DOCUMENT("{\"kind\":\"parties\",\"parties\":[{\"name\":\"a\",\"saw\":[1]}]}"),
        DOCUMENT("{\"kind\":\"ledger\",\"ledger\":{}}"),
        CHART("{\"name\":\"a\"}"),
        CHART("{\"y\":[1]}"),
        CHART("{\"name\":\"a\",\"y\":[\"1\"]}"),
        CHART("{\"name\":\"a\",\"y\":[1,2],\"x\":[1]}"),
        CHART("{\"name\":\"a\",\"y\":[1],\"lower\":[1]}"),
        CHART("{\"name\":\"a\",\"y\":[1],\"style\":\"pie\"}"),
    };
    tacet_report *r = fresh();
    char *html = NULL;
    size_t length = 0;
    assert_status(tacet_report_html(r, &html, &length, NULL), TACET_STATE);
    assert_null(html);
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        tacet_error err = {0};
        if (tacet_report_add(r, "f.json", BAD[i], strlen(BAD[i]), &err) != TACET_PARSE) {
            fail_msg("accepted: %s", BAD[i]);
        }
        assert_non_null(strstr(err.message, "f.json"));
    }
    /* Nothing of all that is left. */
    assert_status(tacet_report_html(r, &html, &length, NULL), TACET_STATE);
    tacet_report_free(r);
    tacet_report_free(NULL);
}

TEST(test_allocation) {
    const char *json = CHART("{\"name\":\"a\",\"y\":[1,2],\"lower\":[0,1],\"upper\":[2,3]}");
    for (long n = 1;; n++) {
        tacet_report *r = NULL;
        char *html = NULL;
        size_t length = 0;
        fail_alloc_after(n);
        tacet_status status = tacet_report_create(&r, NULL);
        TACET_THEN(status, tacet_report_add(r, "f", json, strlen(json), NULL));
        TACET_THEN(status, tacet_report_html(r, &html, &length, NULL));
        const int hit = fail_alloc_hit();
        fail_alloc_after(0);
        assert_int_equal(status, hit ? TACET_NO_MEMORY : TACET_OK);
        assert_true((html == NULL) == (hit != 0));
        free(html);
        tacet_report_free(r);
        if (!hit) {
            assert_true(n > 5);
            break;
        }
    }
}
