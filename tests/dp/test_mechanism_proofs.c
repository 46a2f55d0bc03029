/* SPDX-License-Identifier: Apache-2.0 */
/* test_mechanism_proofs.c - every mechanism has its proof, every proof its assumptions, every assumption a check that
 * exists. Skipped where the sources are not at hand. */
#include "support/test.h"

#include "dp/mechanisms/table.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *root;

static char *text_of(const char *name) {
    char path[512];
    struct stat st;
    (void)snprintf(path, sizeof path, "%s/src/%s", root, name);
    if (stat(path, &st) != 0) {
        return NULL;
    }
    FILE *file = fopen(path, "r");
    char *text = calloc((size_t)st.st_size + 1, 1);
    assert_int_equal(fread(text, 1, (size_t)st.st_size, file), (size_t)st.st_size);
    (void)fclose(file);
    return text;
}

/* "room.stem" is tests/room/test_stem.c, "e2e.stem" and "boundary.stem" a script. */
static bool is_test(const char *name) {
    char path[512];
    const char *dot = strchr(name, '.');
    if (dot == NULL) {
        return false;
    }
    (void)snprintf(path, sizeof path, "%s/tests/%.*s/test_%s.c", root, (int)(dot - name), name, dot + 1);
    if (access(path, F_OK) == 0) {
        return true;
    }
    (void)snprintf(path, sizeof path, "%s/tests/%.*s/%s.sh", root, (int)(dot - name), name, dot + 1);
    return access(path, F_OK) == 0;
}

/* The number of assumptions with a check. -1: no proof, no list, or one without a check. */
static int assumptions(const char *proof) {
    char *text = text_of(proof);
    int count = 0;
    char *list = text != NULL && strstr(text, "*Proof.*") != NULL ? strstr(text, "## Assumptions") : NULL;
    char *row = list != NULL ? strstr(list, "\n| --- ") : NULL;
    row = row != NULL ? strchr(row + 1, '\n') : NULL;
    if (row == NULL) {
        free(text);
        return -1;
    }
    while (count >= 0 && row != NULL && row[1] == '|') {
        char *end = strchr(row + 1, '\n');
        char name[128] = "";
        if (end != NULL) {
            *end = '\0';
        }
        const char *check = strstr(row + 1, "| test: ");
        const bool held = check != NULL && sscanf(check, "| test: %127[^ |]", name) == 1 && is_test(name);
        if (!held) {
            print_message("%s: nothing holds this: %s\n", proof, row + 1);
        }
        count = held ? count + 1 : -1;
        row = end;
    }
    free(text);
    return count;
}

static void every_mechanism_has_a_proof_and_checks(void **state) {
    const tacet__kind *kind = NULL;
    for (size_t i = 0; (kind = tacet__kind_at(i)) != NULL; i++) {
        if (assumptions(kind->proof) < 3) {
            fail_msg("%s: no proof, or an assumption without a check", kind->law->name);
        }
    }
    /* what is in no table: levels, reports */
    assert_true(assumptions("dp/mechanisms/levels.md") >= 3);
    assert_true(assumptions("dp/mechanisms/randomizers.md") >= 3);
}

static void what_is_missing_is_noticed(void **state) {
    assert_int_equal(assumptions("dp/mechanisms/none.md"), -1);
    assert_int_equal(assumptions("dp/mechanisms/gaussian.c"), -1);
    assert_false(is_test("dp.no_such_test") || is_test("dp"));
    assert_true(is_test("dp.bound") && is_test("boundary.mint"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_mechanism_has_a_proof_and_checks),
        cmocka_unit_test(what_is_missing_is_noticed),
    };
    root = getenv("TACET_SOURCE");
    return root == NULL ? 77 : cmocka_run_group_tests(tests, NULL, NULL);
}
