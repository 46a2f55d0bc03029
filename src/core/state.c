/* SPDX-License-Identifier: Apache-2.0 */
/* state.c - an object's named arrays as bytes, and back. Ring: pure. */
#include "core/state.h"

#include "core/fail.h"
#include "core/memory.h"

#include <math.h>
#include <sodium.h>
#include <string.h>

enum { STATE_VERSION = 1 };

bool tacet__state_taking(const tacet__state *s) {
    return s->from != NULL && !s->from->failed;
}

void tacet__state_fail(tacet__state *s, const char *name) {
    if (s->from != NULL) {
        s->wrong = s->wrong != NULL ? s->wrong : name;
        s->from->failed = true;
    }
}

void tacet__state_require(tacet__state *s, const char *name, bool possible) {
    if (!possible) {
        tacet__state_fail(s, name);
    }
}

void tacet__state_check(tacet__state *s, const char *name, tacet_status status) {
    if (status == TACET_INVALID || status == TACET_CORRUPT) {
        tacet__state_fail(s, name);
    } else if (status != TACET_OK) {
        s->status = s->status != TACET_OK ? s->status : status;
        *(s->from != NULL ? &s->from->failed : &s->to->failed) = true;
    }
}

/* Name and length of an array. False: not to be read. */
static bool begin_array(tacet__state *s, const char *name, size_t count) {
    if (s->to != NULL) {
        tacet__write_bytes(s->to, name, strlen(name));
        tacet__write_size(s->to, count);
        return true;
    }
    const unsigned char *bytes = NULL;
    const size_t length = tacet__read_bytes(s->from, &bytes);
    const bool same = length == strlen(name) && !s->from->failed && memcmp(bytes, name, length) == 0 &&
                      tacet__read_u64(s->from) == count;
    tacet__state_require(s, name, same);
    return tacet__state_taking(s);
}

/* After the values of an array were read. */
static void end_array(tacet__state *s, const char *name) {
    if (s->from != NULL && s->from->failed) {
        tacet__state_fail(s, name); /* too few of them */
    }
}

void tacet__state_same(tacet__state *s, const char *name, const void *bytes, size_t size) {
    if (!begin_array(s, name, size)) {
        return;
    }
    if (s->to != NULL) {
        tacet__write_bytes(s->to, bytes, size);
    } else {
        const unsigned char *there = NULL;
        const size_t length = tacet__read_bytes(s->from, &there);
        tacet__state_require(s, name, length == size && !s->from->failed && memcmp(there, bytes, size) == 0);
    }
}

void tacet__state_u64s(tacet__state *s, const char *name, uint64_t *values, size_t count, uint64_t most) {
    if (!begin_array(s, name, count)) {
        return;
    }
    if (s->to != NULL) {
        tacet__write_u64s(s->to, values, count);
        return;
    }
    tacet__read_u64s(s->from, values, count);
    for (size_t i = 0; i < count && !s->from->failed; i++) {
        tacet__state_require(s, name, values[i] <= most);
    }
    end_array(s, name);
}

void tacet__state_u64(tacet__state *s, const char *name, uint64_t *value, uint64_t most) {
    tacet__state_u64s(s, name, value, 1, most);
}

void tacet__state_sizes(tacet__state *s, const char *name, size_t *values, size_t count, size_t most) {
    if (!begin_array(s, name, count)) {
        return;
    }
    for (size_t i = 0; i < count && (s->to != NULL || !s->from->failed); i++) {
        if (s->to != NULL) {
            tacet__write_size(s->to, values[i]);
        } else {
            values[i] = tacet__read_size(s->from, most);
        }
    }
    end_array(s, name);
}

void tacet__state_size(tacet__state *s, const char *name, size_t *value, size_t most) {
    tacet__state_sizes(s, name, value, 1, most);
}

void tacet__state_any_f64s(tacet__state *s, const char *name, double *values, size_t count) {
    if (!begin_array(s, name, count)) {
        return;
    }
    if (s->to != NULL) {
        tacet__write_f64s(s->to, values, count);
        return;
    }
    tacet__read_f64s(s->from, values, count);
    end_array(s, name);
}

void tacet__state_f64s(tacet__state *s, const char *name, double *values, size_t count) {
    tacet__state_any_f64s(s, name, values, count);
    for (size_t i = 0; i < count && tacet__state_taking(s); i++) {
        tacet__state_require(s, name, isfinite(values[i]));
    }
}

void tacet__state_f64(tacet__state *s, const char *name, double *value, double least, double most) {
    tacet__state_any_f64s(s, name, value, 1);
    tacet__state_require(s, name, *value >= least && *value <= most);
}

void tacet__state_matrix(tacet__state *s, const char *name, double *matrix, size_t ld, size_t rows, size_t columns) {
    if (!begin_array(s, name, rows * columns)) {
        return;
    }
    for (size_t j = 0; j < columns; j++) {
        if (s->to != NULL) {
            tacet__write_f64s(s->to, matrix + j * ld, rows);
            continue;
        }
        tacet__read_f64s(s->from, matrix + j * ld, rows);
        for (size_t i = 0; i < rows && !s->from->failed; i++) {
            tacet__state_require(s, name, isfinite(matrix[j * ld + i]));
        }
    }
    end_array(s, name);
}

void tacet__state_symmetric(tacet__state *s, const char *name, double *matrix, size_t order) {
    if (!begin_array(s, name, order)) {
        return;
    }
    for (size_t j = 0; j < order; j++) {
        if (s->to != NULL) {
            tacet__write_f64s(s->to, matrix + j * order + j, order - j);
            continue;
        }
        tacet__read_f64s(s->from, matrix + j * order + j, order - j);
        for (size_t i = j; i < order && !s->from->failed; i++) {
            tacet__state_require(s, name, isfinite(matrix[j * order + i]));
            matrix[i * order + j] = matrix[j * order + i];
        }
    }
    end_array(s, name);
}

void tacet__state_u32s(tacet__state *s, const char *name, uint32_t *values, size_t count, uint32_t most) {
    if (!begin_array(s, name, count)) {
        return;
    }
    if (s->to != NULL) {
        tacet__write_u32s(s->to, values, count);
        return;
    }
    tacet__read_u32s(s->from, values, count);
    for (size_t i = 0; i < count && !s->from->failed; i++) {
        tacet__state_require(s, name, values[i] <= most);
    }
    end_array(s, name);
}

void tacet__state_few_u32s(tacet__state *s, const char *name, uint32_t *values, size_t count, uint32_t most) {
    size_t few = 0;
    for (size_t i = 0; s->to != NULL && i < count; i++) {
        few += values[i] != 0 ? 1 : 0;
    }
    tacet__state_size(s, name, &few, count);
    if (s->to != NULL) {
        for (size_t i = 0; i < count; i++) {
            if (values[i] != 0) {
                tacet__write_size(s->to, i);
                tacet__write_u64(s->to, values[i]);
            }
        }
        return;
    }
    if (tacet__state_taking(s) && count > 0) {
        memset(values, 0, count * sizeof *values);
    }
    for (size_t i = 0, least = 0; i < few && tacet__state_taking(s); i++) { /* in ascending order */
        const size_t at = tacet__read_size(s->from, count - 1);
        const uint32_t value = (uint32_t)tacet__read_size(s->from, most);
        tacet__state_require(s, name, at >= least && value != 0);
        if (tacet__state_taking(s)) {
            values[at] = value;
            least = at + 1;
        }
    }
}

void tacet__state_bytes(tacet__state *s, const char *name, unsigned char *bytes, size_t count) {
    if (!begin_array(s, name, count)) {
        return;
    }
    if (s->to != NULL) {
        tacet__write_bytes(s->to, bytes, count);
        return;
    }
    const unsigned char *there = NULL;
    const size_t length = tacet__read_bytes(s->from, &there);
    tacet__state_require(s, name, length == count && !s->from->failed);
    if (tacet__state_taking(s) && count > 0) {
        memcpy(bytes, there, count);
    }
}

void tacet__state_bools(tacet__state *s, const char *name, bool *values, size_t count) {
    tacet__state_bytes(s, name, (unsigned char *)values, count);
    for (size_t i = 0; i < count && tacet__state_taking(s); i++) {
        const unsigned char byte = ((const unsigned char *)values)[i];
        if (byte > 1) {
            memset(values, 0, count); /* no other bytes are a bool */
            tacet__state_fail(s, name);
        }
    }
}

void tacet__state_bool(tacet__state *s, const char *name, bool *value) {
    tacet__state_bools(s, name, value, 1);
}

void tacet__state_blob(tacet__state *s, const char *name, tacet_blob *blob, size_t most) {
    size_t length = s->to != NULL ? blob->size : 0;
    tacet__state_size(s, name, &length, most);
    if (s->to != NULL) {
        tacet__write_bytes(s->to, blob->data, blob->size);
        return;
    }
    const unsigned char *bytes = NULL;
    const size_t there = tacet__read_bytes(s->from, &bytes);
    tacet__state_require(s, name, there == length && !s->from->failed);
    if (tacet__state_taking(s)) {
        tacet_blob_clear(blob);
        tacet__state_check(s, name, length > 0 ? tacet_blob_append(blob, bytes, length, s->err) : TACET_OK);
    }
}

tacet_status tacet__state_save(tacet_blob *out, const char *name, tacet__state_visit visit, const void *self,
                               tacet_error *err) {
    tacet__writer w;
    tacet__state s = {.to = &w, .err = err};
    tacet__write_begin(&w, out, name, STATE_VERSION);
    visit((void *)(size_t)self, &s); /* which is only read */
    const tacet_status status = tacet__write_end(&w, err);
    return s.status != TACET_OK ? s.status : status;
}

static tacet_status read_state(const void *bytes, size_t size, const char *name, tacet__state_visit visit, void *self,
                               bool *touched, tacet_error *err) {
    tacet__reader r;
    tacet__state s = {.from = &r, .err = err};
    *touched = false;
    const tacet_status status = tacet__read_begin(&r, bytes, size, name, STATE_VERSION, err);
    if (status != TACET_OK) {
        return status;
    }
    *touched = true;
    visit(self, &s);
    if (s.status != TACET_OK) {
        return s.status;
    }
    return s.wrong != NULL
               ? tacet__fail(err, TACET_CORRUPT, "saved state of %s is damaged or of another problem: see its '%s'",
                             name, s.wrong)
               : tacet__read_end(&r, err);
}

tacet_status tacet__state_load(const void *bytes, size_t size, const char *name, tacet__state_visit visit, void *self,
                               tacet_error *err) {
    tacet_blob before;
    bool touched = false;
    tacet_blob_init(&before);
    tacet_status status = tacet__state_save(&before, name, visit, self, err);
    TACET_THEN(status, read_state(bytes, size, name, visit, self, &touched, err));
    if (status != TACET_OK && touched) {
        /* What this object wrote a moment ago, it can read. */
        (void)read_state(before.data, before.size, name, visit, self, &touched, NULL);
    }
    tacet_blob_clear(&before); /* which wipes it */
    return status;
}

tacet_status tacet__state_first(const unsigned char **out, size_t *length, const void *bytes, size_t size,
                                const char *name, const char *first, tacet_error *err) {
    tacet__reader r;
    tacet__state s = {.from = &r};
    *out = NULL;
    *length = 0;
    TACET_OR_RETURN(tacet__read_begin(&r, bytes, size, name, STATE_VERSION, err));
    size_t said = 0;
    tacet__state_size(&s, first, &said, SIZE_MAX);
    *length = tacet__read_bytes(&r, out);
    return r.failed || *length != said ? tacet__fail(err, TACET_CORRUPT, "saved state of %s is damaged", name)
                                       : TACET_OK;
}
