/* SPDX-License-Identifier: Apache-2.0 */
/* test_tell.c - results of the programs: objects by the types of their values, and texts filled in from them. */
#include "support/test.h"

#include "common/cli.h"

#include <fcntl.h>
#include <unistd.h>

/* What cli_fill prints, in `out`. */
static char out[1024];

static void fill(const json_t *object, const char *text) {
    FILE *file = tmpfile();
    assert_non_null(file);
    (void)fflush(stdout);
    const int saved = dup(STDOUT_FILENO);
    (void)dup2(fileno(file), STDOUT_FILENO);
    cli_fill(object, text);
    (void)fflush(stdout);
    (void)dup2(saved, STDOUT_FILENO);
    (void)close(saved);
    rewind(file);
    out[fread(out, 1, sizeof out - 1, file)] = '\0';
    (void)fclose(file);
}

TEST(a_value_becomes_json_by_its_type) {
    const uint32_t small = 7;
    json_t *object =
        cli_object("real nan count small sign yes word none list", J(0.5), J((double)NAN), J(SIZE_MAX / 4), J(small),
                   J((long long)-3), JB(3 > 2), J("text"), J((const char *)NULL), J(json_array()));
    char *text = json_dumps(object, JSON_COMPACT);
    assert_string_equal(text, "{\"real\":0.5,\"nan\":null,\"count\":4611686018427387903,\"small\":7,\"sign\":-3,"
                              "\"yes\":true,\"word\":\"text\",\"none\":null,\"list\":[]}");
    free(text);
    json_decref(object);
}

TEST(a_field_is_printed_as_its_spec_says) {
    json_t *object = cli_object("name count x none in", J("dose"), J((size_t)12), J(2.0 / 3), J((double)INFINITY),
                                J(cli_object("eps", J(1.00001))));
    fill(object, "[{name}|{name:-6}|{name:6}|{count:4}|{count:-4}|{x}|{x:.3g}|{x:.2f}]");
    assert_string_equal(out, "[dose|dose  |  dose|  12|12  |0.666667|0.667|0.67]");
    fill(object, "{x:^3} {x:_3} {in.eps:^4} {none}{missing}{none:.6g}.");
    assert_string_equal(out, "0.667 0.666 1.001 inf.");
    json_decref(object);
}

TEST(more_fields_follow_those_there_are) {
    json_t *object = cli_object("a", J((size_t)1));
    cli_add(object, "b c", J((size_t)2), J("x"));
    char *text = json_dumps(object, JSON_COMPACT);
    assert_string_equal(text, "{\"a\":1,\"b\":2,\"c\":\"x\"}");
    free(text);
    json_decref(object);
}

TEST(a_text_depends_on_what_fields_say) {
    json_t *object = cli_object("yes no zero word none list state in", JB(1), JB(false), J((size_t)0), J("w"),
                                J((const char *)NULL), J(json_array()), J("archived"), J(cli_object("x", J(0.5))));
    fill(object, "{?yes|a}{?no|b}{?zero|c}{?word|d}{?none|e}{?list|f}{?missing|g}{?in.x|h}{?in|i}");
    assert_string_equal(out, "adhi");
    fill(object, "{!yes|a}{!no|b}{!zero|c}{!word|d}{!none|e}{!list|f}{!missing|g}");
    assert_string_equal(out, "bcefg");
    fill(object, "{?state=archived|gone}{!state=archived|here}{?state=open|x}{?yes|{?no|1}{!no|2 {word}}}.");
    assert_string_equal(out, "gone2 w.");
    json_decref(object);
}

TEST(a_list_is_told_one_by_one) {
    static const double VALUES[] = {0.5, 2};
    static const size_t ROWS[] = {3, 4};
    json_t *pairs = json_array();
    (void)json_array_append_new(pairs, cli_object("a inner", J((size_t)1), JL(VALUES, 2)));
    (void)json_array_append_new(pairs, cli_object("a inner", J((size_t)2), JL(ROWS, 2)));
    json_t *object = cli_object("unit pairs named none", J("m"), J(pairs), J(cli_object("p q", J("x"), J(1.5))),
                                JL((const double *)NULL, 0));
    fill(object, "{*pairs:, |{a} {unit}: {*inner:/|{.}}}");
    assert_string_equal(out, "1 m: 0.5/2, 2 m: 3/4");
    fill(object, "{*named|[{@}={.:.3g}]}{*none|x}{*missing|x}{?none|y}");
    assert_string_equal(out, "[p=x][q=1.5]");
    json_decref(object);
}

TEST(cells_and_times_have_their_places) {
    json_t *object = cli_object("long short real time none", J("grüße aus dem Turm"), J("ß"), J(2.0 / 3),
                                J((size_t)86400 + 3661), J((double)NAN));
    fill(object, "[{long:=6}|{short:=3}|{real:=8}|{none:=3}|{time:%Y-%m-%dT%H:%M:%SZ}]");
    assert_string_equal(out, "[grüße…|ß  |0.6667  |-  |1970-01-02T01:01:01Z]");
    json_decref(object);
}

TEST(what_only_the_text_has_is_not_in_the_object) {
    json_t *object = cli_object("a b? c? _d", J((size_t)1), J((double)NAN), J(2.5), J("secret"));
    char *text = json_dumps(object, JSON_COMPACT);
    assert_string_equal(text, "{\"a\":1,\"c\":2.5,\"_d\":\"secret\"}");
    free(text);
    json_decref(object);
}
