/* SPDX-License-Identifier: Apache-2.0 */
/* state.h - what an object has to remember, as a list of named arrays: one function names them, to write and to read.
 *
 * A policy gives one function that visits its numbers in order; what the length of an array follows from is visited
 * before it. Written, each is its name, its length and its values, within the head and the hash of core/codec.h. Read,
 * names and lengths must be the same, and every number one that can be: the first that is not stops the reading, and
 * the object gets back what it had. Ring: pure. Cost: a pass over the bytes. */
#pragma once

#include "core/codec.h"

typedef struct tacet__state {
    tacet__writer *to;   /* NULL: reading */
    tacet__reader *from; /* NULL: writing */
    const char *wrong;   /* the first array that could not be read */
    tacet_status status; /* why making what follows from the arrays failed, unless they hold what cannot be */
    tacet_error *err;    /* with the words for it */
} tacet__state;

typedef void (*tacet__state_visit)(void *self, tacet__state *s);

/* Whether numbers are being read, and all were good so far: then what follows from them is made here. */
bool tacet__state_taking(const tacet__state *s);
void tacet__state_fail(tacet__state *s, const char *name); /* the array holds what cannot be */
void tacet__state_require(tacet__state *s, const char *name, bool possible);
/* What making something from the arrays gave: INVALID and CORRUPT mean that they hold what cannot be. */
void tacet__state_check(tacet__state *s, const char *name, tacet_status status);

/* What must be the same on both sides: which problem this is. */
void tacet__state_same(tacet__state *s, const char *name, const void *bytes, size_t size);
void tacet__state_size(tacet__state *s, const char *name, size_t *value, size_t most);
void tacet__state_u64(tacet__state *s, const char *name, uint64_t *value, uint64_t most);
void tacet__state_bool(tacet__state *s, const char *name, bool *value);
void tacet__state_f64(tacet__state *s, const char *name, double *value, double least, double most); /* not NaN */
void tacet__state_f64s(tacet__state *s, const char *name, double *values, size_t count);            /* finite */
void tacet__state_any_f64s(tacet__state *s, const char *name, double *values, size_t count);        /* NaN, too */
/* rows x columns of a matrix with leading dimension ld. Finite. */
void tacet__state_matrix(tacet__state *s, const char *name, double *matrix, size_t ld, size_t rows, size_t columns);
/* The lower triangle of a symmetric matrix without gaps; reading makes both. Finite. */
void tacet__state_symmetric(tacet__state *s, const char *name, double *matrix, size_t order);
void tacet__state_u64s(tacet__state *s, const char *name, uint64_t *values, size_t count, uint64_t most);
void tacet__state_sizes(tacet__state *s, const char *name, size_t *values, size_t count, size_t most);
void tacet__state_u32s(tacet__state *s, const char *name, uint32_t *values, size_t count, uint32_t most);
/* Only those that are not 0, with their places; reading makes all others 0. */
void tacet__state_few_u32s(tacet__state *s, const char *name, uint32_t *values, size_t count, uint32_t most);
void tacet__state_bools(tacet__state *s, const char *name, bool *values, size_t count);
void tacet__state_bytes(tacet__state *s, const char *name, unsigned char *bytes, size_t count);
/* Bytes of a length of their own: reading fills the blob, at most `most`. */
void tacet__state_blob(tacet__state *s, const char *name, tacet_blob *blob, size_t most);

/* Bytes into an empty blob. NO_MEMORY. */
tacet_status tacet__state_save(tacet_blob *out, const char *name, tacet__state_visit visit, const void *self,
                               tacet_error *err);
/* CORRUPT: damaged, or of another problem. All or nothing: the object keeps what it has when this fails. */
tacet_status tacet__state_load(const void *bytes, size_t size, const char *name, tacet__state_visit visit, void *self,
                               tacet_error *err);
/* A blob that a state begins with, for those who make the object from it. Points into the bytes. */
tacet_status tacet__state_first(const unsigned char **out, size_t *length, const void *bytes, size_t size,
                                const char *name, const char *first, tacet_error *err);
