/* SPDX-License-Identifier: Apache-2.0 */
/* release.c - releases as objects and as bytes.
 * Ring: shared. Cost: one pass over the values; a release is one allocation. */
#include <tacet/dp/open/release.h>

#include "core/codec.h"
#include "core/fail.h"
#include "core/memory.h"
#include "dp/open/release_mint.h"

#include <stdlib.h>
#include <string.h>

static const char NAME[] = "release";
enum { VERSION = 1, GRID_BIAS = 1 << 20 /* makes an exponent a whole number above 0 */ };

struct tacet_release {
    tacet_receipt receipt;
    size_t count;
    double values[];
};

static tacet_status allocate(tacet_release **out, size_t count, tacet_error *err) {
    size_t bytes = 0;
    *out = NULL;
    if (tacet__size_mul(&bytes, count, sizeof(double)) && tacet__size_add(&bytes, bytes, sizeof(tacet_release))) {
        *out = tacet__zalloc(1, bytes);
    }
    if (*out == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a release of %zu numbers", count);
    }
    (*out)->count = count;
    return TACET_OK;
}

tacet_status tacet__release_mint(tacet_release **out, const tacet_receipt *receipt, const double *values, size_t count,
                                 tacet_error *err) {
    const tacet_status s = allocate(out, count, err);
    if (s == TACET_OK) {
        (*out)->receipt = *receipt;
        if (count > 0) {
            memcpy((*out)->values, values, count * sizeof *values);
        }
    }
    return s;
}

void tacet_release_free(tacet_release *release) {
    free(release);
}

size_t tacet_release_count(const tacet_release *release) {
    return release->count;
}

const double *tacet_release_values(const tacet_release *release) {
    return release->values;
}

const tacet_receipt *tacet_release_receipt(const tacet_release *release) {
    return &release->receipt;
}

tacet_status tacet_release_encode(const tacet_release *release, tacet_blob *out, tacet_error *err) {
    const tacet_receipt *r = &release->receipt;
    tacet__writer w;
    tacet__write_begin(&w, out, NAME, VERSION);
    tacet__write_bytes(&w, r->mechanism, strlen(r->mechanism));
    tacet__write_u64(&w, (r->is_private ? 1U : 0U) | (r->in_ledger ? 2U : 0U));
    const double numbers[] = {r->eps, r->delta, r->mu, r->sensitivity, r->scale, r->error_sd};
    tacet__write_f64s(&w, numbers, sizeof numbers / sizeof *numbers);
    const uint64_t whole[] = {(uint64_t)(r->grid_exponent + GRID_BIAS), r->rows, r->count, r->step, r->entry};
    tacet__write_u64s(&w, whole, sizeof whole / sizeof *whole);
    tacet__write_bytes(&w, r->entry_hash, sizeof r->entry_hash);
    tacet__write_bytes(&w, r->content_hash, sizeof r->content_hash);
    tacet__write_size(&w, release->count);
    tacet__write_f64s(&w, release->values, release->count);
    return tacet__write_end(&w, err);
}

static bool read_within(tacet__reader *reader, void *to, size_t least, size_t most, size_t *length) {
    const unsigned char *bytes = NULL;
    *length = tacet__read_bytes(reader, &bytes);
    if (reader->failed || *length < least || *length > most) {
        return false;
    }
    memcpy(to, bytes, *length);
    return true;
}

tacet_status tacet_release_decode(tacet_release **out, const void *bytes, size_t size, tacet_error *err) {
    tacet__reader reader;
    tacet_receipt r;
    double numbers[6];
    uint64_t whole[5];
    size_t length = 0;
    *out = NULL;
    memset(&r, 0, sizeof r);
    tacet_status s = tacet__read_begin(&reader, bytes, size, NAME, VERSION, err);
    if (s != TACET_OK) {
        return s;
    }
    bool good = read_within(&reader, r.mechanism, 1, sizeof r.mechanism - 1, &length);
    good = good && memchr(r.mechanism, 0, length) == NULL;
    const uint64_t flags = tacet__read_u64(&reader);
    tacet__read_f64s(&reader, numbers, sizeof numbers / sizeof *numbers);
    tacet__read_u64s(&reader, whole, sizeof whole / sizeof *whole);
    good = good && read_within(&reader, r.entry_hash, sizeof r.entry_hash, sizeof r.entry_hash, &length);
    good = good && read_within(&reader, r.content_hash, sizeof r.content_hash, sizeof r.content_hash, &length);
    /* At most what the bytes can hold: nobody's number decides how much is allocated. */
    const size_t count = tacet__read_size(&reader, size / sizeof(double));
    if (!good || reader.failed || flags > 3 || whole[0] > 2 * (uint64_t)GRID_BIAS) {
        return tacet__fail(err, TACET_CORRUPT, "the receipt of a release is damaged");
    }
    r.is_private = (flags & 1) != 0;
    r.in_ledger = (flags & 2) != 0;
    r.eps = numbers[0];
    r.delta = numbers[1];
    r.mu = numbers[2];
    r.sensitivity = numbers[3];
    r.scale = numbers[4];
    r.error_sd = numbers[5];
    r.grid_exponent = (int)whole[0] - GRID_BIAS;
    r.rows = whole[1];
    r.count = whole[2];
    r.step = whole[3];
    r.entry = whole[4];
    tacet_release *release = NULL;
    s = allocate(&release, count, err);
    if (s != TACET_OK) {
        return s;
    }
    release->receipt = r;
    tacet__read_f64s(&reader, release->values, count);
    s = tacet__read_end(&reader, err);
    if (s != TACET_OK) {
        tacet_release_free(release);
        return s;
    }
    *out = release;
    return TACET_OK;
}
