/* SPDX-License-Identifier: Apache-2.0 */
/* test_file.c - small files, whole: what is read is what was written, and who may read it. */
#include "support/test.h"

#include <sys/stat.h>
#include <tacet/io/file.h>

TEST(a_text_comes_back_whole) {
    char path[340], *text = NULL;
    const char *folder = test_mkdir();
    size_t length = 7;
    struct stat st;
    (void)snprintf(path, sizeof path, "%s/a", folder);
    assert_int_equal(tacet_file_read(&text, &length, path, 100, NULL), TACET_NOT_FOUND);
    assert_null(text);
    assert_int_equal(length, 0);
    assert_ok(tacet_file_write(path, "an older and longer text", false, NULL));
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0644);
    assert_ok(tacet_file_write(path, "secret", true, NULL));
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_ok(tacet_file_read_in(&text, &length, folder, "a", 6, NULL));
    assert_string_equal(text, "secret");
    assert_int_equal(length, 6);
    free(text);
    assert_int_equal(tacet_file_read(&text, NULL, path, 5, NULL), TACET_PARSE);
    assert_null(text);
    assert_int_equal(tacet_file_write("/nowhere/at/all", "x", false, NULL), TACET_IO);
}
