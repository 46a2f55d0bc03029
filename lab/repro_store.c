/* SPDX-License-Identifier: Apache-2.0 */
/* repro_store.c - results of finished cells, kept so that an interrupted run goes on.
 * Ring: programs. A result is found by every setting of its cell and by the build of the program that made it.
 * Cost: one line of JSON a cell, written and synced when the cell is done. */
#include "repro.h"

#include "core/fail.h"
#include "core/memory.h"

#include "trials.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct repro_store {
    json_t *results; /* by key */
    int file;        /* -1: none */
    bool torn;       /* the file's last line has no end */
};

const char *repro_build(void) {
    static char text[17];
    if (text[0] == '\0') {
        unsigned char bytes[1 << 14];
        unsigned char hash[crypto_generichash_BYTES_MIN] = {0};
        crypto_generichash_state state;
        FILE *self = fopen("/proc/self/exe", "rbe");
        size_t got = 0;
        (void)crypto_generichash_init(&state, NULL, 0, sizeof hash);
        while (self != NULL && (got = fread(bytes, 1, sizeof bytes, self)) > 0) {
            (void)crypto_generichash_update(&state, bytes, got);
        }
        if (self != NULL) {
            (void)fclose(self);
        }
        (void)crypto_generichash_final(&state, hash, sizeof hash);
        (void)sodium_bin2hex(text, sizeof text, hash, 8);
    }
    return text;
}

static void read_lines(repro_store *store, FILE *file) {
    char *line = NULL;
    size_t room = 0;
    ssize_t length = 0;
    while ((length = getline(&line, &room, file)) > 0) {
        store->torn = line[length - 1] != '\n';
        json_t *result = store->torn ? NULL : json_loads(line, 0, NULL);
        const char *key = json_string_value(json_object_get(result, "key"));
        if (key != NULL && json_is_array(json_object_get(result, "values"))) {
            (void)json_object_set(store->results, key, result);
        }
        json_decref(result);
    }
    free(line);
}

tacet_status repro_store_open(repro_store **out, const char *folder, tacet_error *err) {
    repro_store *store = TACET__ZALLOC(repro_store, 1);
    *out = NULL;
    if (store == NULL || (store->results = json_object()) == NULL) {
        free(store);
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for results");
    }
    store->file = -1;
    if (folder != NULL) {
        char path[4096];
        (void)snprintf(path, sizeof path, "%.4000s/results.jsonl", folder);
        if (mkdir(folder, S_IRWXU | S_IRWXG | S_IRWXO) != 0 && errno != EEXIST) {
            const tacet_status status = tacet__fail(err, TACET_IO, "%.160s: %s", folder, strerror(errno));
            repro_store_close(store);
            return status;
        }
        FILE *file = fopen(path, "rbe");
        if (file != NULL) {
            read_lines(store, file);
            (void)fclose(file);
        }
        store->file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
        if (store->file < 0) {
            const tacet_status status = tacet__fail(err, TACET_IO, "%.160s: %s", path, strerror(errno));
            repro_store_close(store);
            return status;
        }
    }
    *out = store;
    return TACET_OK;
}

void repro_store_close(repro_store *store) {
    if (store != NULL) {
        json_decref(store->results);
        if (store->file >= 0) {
            (void)close(store->file);
        }
        free(store);
    }
}

bool repro_store_find(const repro_store *store, repro_cell *cell) {
    const json_t *result = json_object_get(store->results, cell->key);
    const json_t *values = json_object_get(result, "values");
    const char *build = json_string_value(json_object_get(result, "build"));
    const size_t count = json_array_size(values);
    const bool ours = build != NULL && strcmp(build, repro_build()) == 0 && count == cell->request.trials;
    double *value = ours ? TACET__ZALLOC(double, count) : NULL;
    if (value == NULL) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        value[i] = json_number_value(json_array_get(values, i));
    }
    cell->outcome = (lab_outcome){count, value, json_incref(json_object_get(result, "detail"))};
    lab_mean_se(&cell->mean, &cell->se, value, count);
    cell->seconds = json_number_value(json_object_get(result, "seconds"));
    cell->done = cell->kept = true;
    return true;
}

static bool write_all(int file, const char *text, size_t length) {
    while (length > 0) {
        const ssize_t put = write(file, text, length);
        if (put < 0 && errno != EINTR) {
            return false;
        }
        text += put > 0 ? put : 0;
        length -= put > 0 ? (size_t)put : 0;
    }
    return true;
}

tacet_status repro_store_keep(repro_store *store, const repro_cell *cell, tacet_error *err) {
    json_t *values = json_array();
    for (size_t i = 0; i < cell->outcome.trials; i++) {
        (void)json_array_append_new(values, cli_real(cell->outcome.value[i]));
    }
    json_t *result = json_pack("{ss ss so so}", "key", cell->key, "build", repro_build(), "seconds",
                               cli_real(cell->seconds), "values", values);
    if (result != NULL && cell->outcome.detail != NULL) {
        (void)json_object_set(result, "detail", cell->outcome.detail);
    }
    char *line = result != NULL ? json_dumps(result, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    tacet_status status = TACET_OK;
    if (line == NULL || json_object_set(store->results, cell->key, result) != 0) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory for a result");
    } else if (store->file >= 0) {
        const bool ok = (!store->torn || write_all(store->file, "\n", 1)) &&
                        write_all(store->file, line, strlen(line)) && write_all(store->file, "\n", 1) &&
                        fsync(store->file) == 0;
        store->torn = false;
        status = ok ? TACET_OK : tacet__fail(err, TACET_IO, "keeping a result failed: %s", strerror(errno));
    }
    free(line);
    json_decref(result);
    return status;
}
