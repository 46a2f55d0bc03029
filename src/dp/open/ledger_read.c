/* SPDX-License-Identifier: Apache-2.0 */
/* ledger_read.c - ledgers as text, for the commands and for programs that read them: verified, then shown.
 * Ring: shared. Cost: one pass over the ledger to verify it, one to list it. */
#include <tacet/dp/open/ledger_read.h>

#include "core/fail.h"
#include "core/json_text.h"
#include "dp/open/ledger_json.h"

#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tacet_status as_text(char **out, json_t *object, tacet_error *err) {
    *out = tacet__json_dump(object, JSON_COMPACT | JSON_REAL_PRECISION(17)); /* NULL of NULL */
    json_decref(object);
    return *out != NULL ? TACET_OK : tacet__fail(err, TACET_NO_MEMORY, "out of memory for a ledger's text");
}

tacet_status tacet_ledger_read(char **out, const char *path, tacet_error *err) {
    tacet__ledger_view *view = NULL;
    tacet__ledger_report report;
    json_t *object = NULL;
    *out = NULL;
    tacet_status status = tacet__ledger_load(&view, &report, path, NULL, err);
    TACET_THEN(status, tacet__ledger_show(&object, view, &report, err));
    TACET_THEN(status, as_text(out, object, err));
    tacet__ledger_view_close(view);
    return status;
}

/* "records head" as the writer left it: the head it saw, and how many records there were. */
static bool read_anchor(unsigned char head[TACET_HASH_BYTES], uint64_t *records, const char *path) {
    char line[128] = "";
    FILE *file = fopen(path, "re");
    char *end = NULL;
    const bool read = file != NULL && fgets(line, sizeof line, file) != NULL;
    if (file != NULL) {
        (void)fclose(file);
    }
    line[strcspn(line, "\n")] = '\0';
    *records = read ? strtoull(line, &end, 10) : 0;
    return *records > 0 && *end == ' ' && tacet__hash_parse(head, end + 1);
}

tacet_status tacet_ledger_verify(char **out, const char *path, const char *head, const char *anchor, tacet_error *err) {
    unsigned char noted[TACET_HASH_BYTES];
    uint64_t anchored = 0;
    tacet__ledger_report report;
    tacet__ledger_view *view = NULL;
    const bool given = head != NULL || anchor != NULL;
    *out = NULL;
    if (head != NULL && anchor != NULL) {
        return tacet__fail(err, TACET_INVALID, "give a head or an anchor, not both");
    }
    if (head != NULL && !tacet__hash_parse(noted, head)) {
        return tacet__fail(err, TACET_INVALID, "a head is 64 hex digits");
    }
    if (anchor != NULL && !read_anchor(noted, &anchored, anchor)) {
        return tacet__fail(err, TACET_CORRUPT, "the anchor %s is missing or damaged", anchor);
    }
    tacet_status status = tacet__ledger_load(&view, &report, path, given ? noted : NULL, err);
    tacet__ledger_view_close(view);
    if (status == TACET_OK && anchor != NULL && report.head_at + 1 != anchored) {
        status = tacet__fail(err, TACET_CORRUPT, "the anchor names another number of records than its head has");
    }
    if (status != TACET_OK) {
        return status;
    }
    json_t *object = tacet__ledger_report_json(&report);
    if (report.head_was_given &&
        json_object_set_new(object, "head_at", json_integer((json_int_t)report.head_at)) != 0) {
        json_decref(object);
        object = NULL;
    }
    return as_text(out, object, err);
}

typedef struct exporting {
    tacet_status (*line)(void *user, const char *text, tacet_error *err);
    void *user;
} exporting;

static tacet_status export_row(void *user, const tacet__ledger_row *row, tacet_error *err) {
    const exporting *e = user;
    char *text = NULL;
    char *hex = malloc(2 * row->body_size + 1);
    json_t *object = hex != NULL ? tacet__ledger_row_json(row) : NULL;
    if (object != NULL &&
        json_object_set_new(object, "body",
                            json_string(sodium_bin2hex(hex, 2 * row->body_size + 1, row->body, row->body_size))) != 0) {
        json_decref(object);
        object = NULL;
    }
    free(hex);
    tacet_status status = as_text(&text, object, err);
    TACET_THEN(status, e->line(e->user, text, err));
    free(text);
    return status;
}

tacet_status tacet_ledger_export(const char *path, tacet_status (*line)(void *user, const char *text, tacet_error *err),
                                 void *user, tacet_error *err) {
    tacet__ledger_view *view = NULL;
    tacet__ledger_report report;
    exporting e = {.line = line, .user = user};
    tacet_status status = tacet__ledger_load(&view, &report, path, NULL, err);
    TACET_THEN(status, tacet__ledger_each(view, export_row, &e, err));
    tacet__ledger_view_close(view);
    return status;
}
