/* SPDX-License-Identifier: Apache-2.0 */
/* test_plain.c - a program that was built without esbuild says so, and where to ask instead. */
#include "support/test.h"

#include "pages/assets.h"

#include <string.h>

static tacet__response get(const char *path, bool *served) {
    const tacet__request request = {.method = "GET", .path = path};
    tacet__response response = {.file = -1};
    *served = tacet__assets_serve(&request, &response, "board", "Ask below /v1/.");
    return response;
}

TEST(without_esbuild_the_front_page_names_the_api) {
    bool served = false;
    assert_null(tacet__assets[0].name);
    tacet__response page = get("/", &served);
    assert_true(served);
    assert_int_equal(page.status, 200);
    assert_string_equal(page.content_type, "text/html; charset=utf-8");
    page.body[page.body_size] = '\0';
    assert_non_null(strstr(page.body, "built without its pages"));
    assert_non_null(strstr(page.body, "Ask below /v1/."));
    assert_null(strstr(page.body, "<script"));
    free(page.body);
    page = get("/app.js", &served);
    assert_true(served);
    assert_int_equal(page.status, 404);
    free(page.body);
    (void)get("/v1/studies", &served);
    assert_false(served);
}
