/* SPDX-License-Identifier: Apache-2.0 */
/* rows.c - a prediction for every row of a file: what was read, the action, its predicted reward. Ring: programs
 * (open). */
#include "predict/rows.h"

#include <stdio.h>
#include <string.h>
#include <tacet/io/csv.h>

enum { CONTEXTS_MOST = 256 };

static void print_cell(const char *text) {
    if (strpbrk(text, ",\"\n\r") == NULL) {
        printf("%s,", text);
        return;
    }
    putchar('"');
    for (; *text != '\0'; text++) {
        printf(*text == '"' ? "\"\"" : "%c", *text);
    }
    printf("\",");
}

static void print_header(const predicting *p, const tacet_csv *csv) {
    for (size_t c = 0; c < tacet_csv_columns(csv); c++) {
        print_cell(tacet_csv_name(csv, c));
    }
    for (size_t a = 0; a < p->action_count; a++) {
        size_t taken = 0;
        char name[TACET_SPACE_NAME + 8];
        const bool there = tacet_csv_find(csv, &taken, p->actions[a].name, NULL) == TACET_OK;
        (void)snprintf(name, sizeof name, "%s%s", there ? "best " : "", p->actions[a].name);
        print_cell(name);
    }
    printf("predicted\n");
}

/* One row, predicted; the inputs stand in the output. */
static tacet_status put_row(const predicting *p, const tacet_csv *csv, const size_t *columns, json_t *list,
                            tacet_error *err) {
    double context[CONTEXTS_MOST] = {0};
    for (size_t i = 0; i < p->context_count; i++) {
        const char *field = tacet_csv_field(csv, columns[i], NULL);
        if (tacet_space_cell(&p->contexts[i], &context[i], NULL, field, strlen(field), err) != TACET_OK) {
            return TACET_PARSE;
        }
    }
    json_t *found = p->predict(p->model, context, p->all, err);
    json_t *inputs = json_object();
    for (size_t c = 0; c < tacet_csv_columns(csv); c++) {
        (void)json_object_set_new(inputs, tacet_csv_name(csv, c), json_string(tacet_csv_field(csv, c, NULL)));
    }
    for (size_t i = 0; i < json_array_size(found); i++) {
        json_t *one = json_array_get(found, i);
        if (cli_json_wanted()) {
            (void)json_object_set(one, "inputs", inputs);
            (void)json_array_append(list, one);
            continue;
        }
        for (size_t c = 0; c < tacet_csv_columns(csv); c++) {
            print_cell(tacet_csv_field(csv, c, NULL));
        }
        cli_fill(one, json_object_get(one, "_action") != NULL ? "{*_action|{.:.10g},}{mean:.10g}\n"
                                                              : "{*action|{.},}{mean:.10g}\n");
    }
    json_decref(inputs);
    json_decref(found);
    return found != NULL ? TACET_OK : err->status;
}

int predict_rows(const predicting *p, const char *path, json_t *result, const cli_command *self) {
    tacet_csv *csv = NULL;
    tacet_error err = {0};
    size_t columns[CONTEXTS_MOST];
    bool found = true;
    json_t *list = json_array();
    tacet_status status = tacet_csv_open_file(&csv, path, NULL, &err);
    for (size_t i = 0; i < p->context_count && i < CONTEXTS_MOST && status == TACET_OK; i++) {
        status = tacet_csv_find(csv, &columns[i], p->contexts[i].name, &err);
        if (status != TACET_OK) {
            char words[512];
            tacet_error_clear(&err);
            (void)tacet_error_set(&err, status, "%.80s has no column '%.60s'; the model expects %.80s", path,
                                  p->contexts[i].name, cli_space_expects(words, p->contexts, p->context_count));
        }
    }
    if (status == TACET_OK && !cli_json_wanted()) {
        print_header(p, csv);
    }
    for (size_t row = 1; status == TACET_OK && (status = tacet_csv_next(csv, &found, &err)) == TACET_OK && found;
         row++) {
        tacet_error why = {0};
        status = put_row(p, csv, columns, list, &why);
        if (status != TACET_OK) {
            (void)tacet_error_set(&err, status, "%.80s: row %zu: %.120s", path, row, why.message);
        }
    }
    tacet_csv_close(csv);
    cli_add(result, "predictions", J(list));
    if (status != TACET_OK) {
        json_decref(result);
        err.status = status;
        return cli_fail(self, &err);
    }
    return cli_tell(result, NULL);
}
