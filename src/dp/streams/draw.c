/* SPDX-License-Identifier: Apache-2.0 */
/* draw.c - the noise of a stream's steps, and the estimates made of what was released.
 * Ring: gate. Source: see stream.c. Nothing is drawn before the mark of its step is in the ledger (mark.c), so that no
 * draw is ever made that may not leave: a run that dies, for whatever reason, has drawn nothing that another run under
 * the same ticket does not draw again, the same. Proof: src/dp/streams/README.md, section 5. Cost: that of the steps
 * that nobody has read yet. */
#include "dp/streams/internal.h"

#include "core/fail.h"
#include "core/memory.h"
#include "dp/bound_internal.h"
#include "dp/noise/sampler.h"
#include "gp/linalg.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

tacet_status tacet__stream_reserve(tacet_stream *stream, size_t steps, tacet_error *err) {
    if (steps <= stream->room) {
        return TACET_OK;
    }
    size_t numbers = 0;
    const size_t room = steps > 2 * stream->room ? steps : 2 * stream->room;
    double *parts = tacet__size_mul(&numbers, room, stream->dim) ? TACET__ZALLOC(double, numbers) : NULL;
    unsigned char *keys = TACET__ZALLOC(unsigned char, room *TACET__STREAM_KEY_BYTES);
    if (parts == NULL || keys == NULL) {
        free(parts);
        free(keys);
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu steps that wait", steps);
    }
    if (stream->room > 0) {
        const size_t old = stream->room * stream->dim * sizeof *parts, keyed = stream->room * TACET__STREAM_KEY_BYTES;
        memcpy(parts, stream->parts, old);
        memcpy(keys, stream->keys, keyed);
        sodium_memzero(stream->parts, old);
        sodium_memzero(stream->keys, keyed);
    }
    free(stream->parts);
    free(stream->keys);
    stream->parts = parts;
    stream->keys = keys;
    stream->room = room;
    return TACET_OK;
}

tacet_status tacet__stream_out_segment(tacet_stream *stream, const tacet__factor *factor, tacet_error *err) {
    tacet__stream_out *out = &stream->out;
    double sensitivity = 0.0, sigma = 0.0, *noisy = NULL, *coefficients = NULL;
    int grid = 0;
    size_t slots = 0;
    tacet_status s = tacet__stream_calibrate(stream, factor, &sensitivity, &sigma, &grid, err);
    if (s == TACET_OK) {
        s = tacet__stream_memory(stream, factor, &slots, &noisy, &coefficients, err);
    }
    if (s != TACET_OK) {
        return s;
    }
    free(out->noisy);
    free(out->coefficients);
    out->factor = *factor;
    out->sigma = sigma;
    out->grid_exponent = grid;
    out->slots = slots;
    out->noisy = noisy;
    out->coefficients = coefficients;
    out->taken = 0;
    memset(out->sum, 0, stream->dim * sizeof *out->sum);
    memset(out->estimate, 0, stream->dim * sizeof *out->estimate);
    return TACET_OK;
}

/* The estimate (B y)_t from what was released, y_t last. Post-processing: nothing private is read here. */
static void estimate(tacet__stream_out *s, size_t dim, size_t t) {
    const double *y = s->released;
    if (s->factor.kind == TACET_FACTORIZATION_TREE) {
        size_t lowest = 0;
        while (((t >> lowest) & 1) == 0) {
            lowest++;
        }
        memcpy(s->noisy + lowest * dim, y, dim * sizeof *y);
        memset(s->estimate, 0, dim * sizeof *y);
        for (size_t level = lowest; (t >> level) > 0; level++) {
            if (((t >> level) & 1) != 0) {
                tacet__axpy(s->estimate, 1.0, s->noisy + level * dim, dim);
            }
        }
    } else if (s->factor.kind == TACET_FACTORIZATION_TOEPLITZ) {
        memcpy(s->noisy + (t - 1) * dim, y, dim * sizeof *y);
        tacet__gemv(false, dim, t, 1.0, s->noisy, dim, s->coefficients + (s->factor.most - t), 0.0, s->estimate);
    } else {
        tacet__axpy(s->sum, 1.0, y, dim);
        for (size_t b = 0; b < s->factor.buffers; b++) {
            double *buffer = s->noisy + b * dim;
            const double omega = s->factor.omega_inv[b], theta = s->factor.theta_inv[b];
            for (size_t i = 0; i < dim; i++) {
                s->sum[i] += omega * buffer[i];
                buffer[i] = theta * buffer[i] + y[i];
            }
        }
        memcpy(s->estimate, s->sum, dim * sizeof *y);
    }
}

/* All of the segment's steps were drawn: its last estimate becomes part of the offset, and the next one begins. */
static tacet_status follow(tacet_stream *stream, tacet_error *err) {
    tacet__stream_out *out = &stream->out;
    const double variance = out->sigma * out->sigma * tacet__factor_error_sq(&out->factor, out->taken);
    const size_t next = out->segment + 1;
    memcpy(out->released, out->estimate, stream->dim * sizeof *out->released);
    const tacet_status s =
        tacet__stream_out_segment(stream, next == stream->segment ? &stream->factor : &stream->full[next], err);
    if (s == TACET_OK) {
        tacet__axpy(out->offset, 1.0, out->released, stream->dim);
        out->offset_var += variance;
        out->segment = next;
    }
    return s;
}

/* y of the step that waits longest: what is on the grid, and an exact draw of its own key. */
static tacet_status draw_step(tacet_stream *stream, size_t which, tacet_error *err) {
    tacet__stream_out *out = &stream->out;
    const double *part = stream->parts + which * stream->dim;
    tacet_status s = TACET_OK;
    if (out->taken == out->factor.most) {
        s = follow(stream, err);
    }
    if (s != TACET_OK) {
        return s;
    }
    tacet__noise_rekey(stream->noise, stream->keys + which * TACET__STREAM_KEY_BYTES);
    s = tacet__draw_gaussian(stream->noise, out->released, stream->dim, out->sigma, out->grid_exponent, err);
    if (s != TACET_OK) {
        return s;
    }
    for (size_t i = 0; i < stream->dim; i++) {
        out->released[i] += part[i];
    }
    out->taken++;
    estimate(out, stream->dim, out->taken);
    return TACET_OK;
}

tacet_status tacet__stream_draw(tacet_stream *stream, tacet_error *err) {
    tacet_status s = TACET_OK;
    size_t drawn = 0;
    while (drawn < stream->waiting && s == TACET_OK) {
        s = draw_step(stream, drawn, err);
        drawn += s == TACET_OK;
    }
    const size_t left = stream->waiting - drawn;
    memmove(stream->parts, stream->parts + drawn * stream->dim, left * stream->dim * sizeof *stream->parts);
    memmove(stream->keys, stream->keys + drawn * TACET__STREAM_KEY_BYTES, left * TACET__STREAM_KEY_BYTES);
    sodium_memzero(stream->parts + left * stream->dim, (stream->room - left) * stream->dim * sizeof *stream->parts);
    sodium_memzero(stream->keys + left * TACET__STREAM_KEY_BYTES, (stream->room - left) * TACET__STREAM_KEY_BYTES);
    stream->waiting = left;
    return s;
}
