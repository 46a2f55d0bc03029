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

static void a_value_becomes_json_by_its_type(void **state) {
    (void)state;
    const uint32_t small = 7;
    json_t *object = cli_object("real nan count small sign yes word none list", J(0.5), J((double)NAN), J(SIZE_MAX / 4),
                                J(small), J(-3), J((bool)true), J("text"), J((const char *)NULL), J(json_array()));
    char *text = json_dumps(object, JSON_COMPACT);
    assert_string_equal(text, "{\"real\":0.5,\"nan\":null,\"count\":4611686018427387903,\"small\":7,\"sign\":-3,"
                              "\"yes\":true,\"word\":\"text\",\"none\":null,\"list\":[]}");
    free(text);
    json_decref(object);
}

static void a_field_is_printed_as_its_spec_says(void **state) {
    (void)state;
    json_t *object = cli_object("name count x none in", J("dose"), J((size_t)12), J(2.0 / 3), J((double)INFINITY),
                                J(cli_object("eps", J(1.00001))));
    fill(object, "[{name}|{name:-6}|{name:6}|{count:4}|{count:-4}|{x}|{x:.3g}|{x:.2f}]");
    assert_string_equal(out, "[dose|dose  |  dose|  12|12  |0.666667|0.667|0.67]");
    fill(object, "{x:^3} {x:_3} {in.eps:^4} {none}{missing}{none:.6g}.");
    assert_string_equal(out, "0.667 0.666 1.001 inf.");
    json_decref(object);
}

static void more_fields_follow_those_there_are(void **state) {
    (void)state;
    json_t *object = cli_object("a", J(1));
    cli_add(object, "b c", J(2), J("x"));
    char *text = json_dumps(object, JSON_COMPACT);
    assert_string_equal(text, "{\"a\":1,\"b\":2,\"c\":\"x\"}");
    free(text);
    json_decref(object);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_becomes_json_by_its_type),
        cmocka_unit_test(a_field_is_printed_as_its_spec_says),
        cmocka_unit_test(more_fields_follow_those_there_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
