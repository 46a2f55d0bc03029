/* SPDX-License-Identifier: Apache-2.0 */
/* study_fixture.h - studies of a program in this process, over a store in a folder of the test's own. */
#pragma once

#include "support/test.h"

#include <jansson.h>
#include <math.h>
#include <tacet/service/trusted/store.h>
#include <tacet/service/trusted/study.h>

#define OWN_STUDY __attribute__((cleanup(test_own_study)))
TEST_OWNS(study, tacet_study *, tacet_study_close)

static char folder[256], store[300];

static int setup(void **state) {
    (void)snprintf(folder, sizeof folder, "%s", test_mkdir());
    (void)snprintf(store, sizeof store, "%s/studies", folder);
    return 0;
}

static int teardown(void **state) {
    test_rmdir(folder);
    return 0;
}

/* Creates it, or finds it created, and opens it. */
static tacet_study *open_study(const char *definition) {
    tacet_study *study = NULL;
    tacet_error err = {0};
    char *name = NULL;
    assert_done(tacet_study_create(&name, store, definition, strlen(definition), &err));
    assert_done(tacet_study_open(&study, store, name, &err));
    free(name);
    return study;
}

/* A text of JSON, which is freed. */
static json_t *loaded(char *text) {
    json_t *value = json_loads(text, 0, NULL);
    assert_non_null(value);
    free(text);
    return value;
}

static json_t *text_of(tacet_study *study, tacet_study_text_kind kind) {
    char *text = NULL;
    assert_ok(tacet_study_text(study, &text, kind, NULL));
    return loaded(text);
}
