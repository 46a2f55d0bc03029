/* SPDX-License-Identifier: Apache-2.0 */
/* persons.c - the first rows of each person.
 * Ring: io. Source: none; src/dp/persons.md has why the first ones, and what they cost. A table of open places, doubled
 * when two thirds are taken. Cost: one keyed hash (SipHash-2-4) a row, 16 to 48 bytes a person. */
#include "io/csv/internal.h"
#include "io/csv/persons.h"

#include "core/fail.h"
#include "core/memory.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_PLACES = 1024 };

typedef struct place {
    uint64_t hash;
    uint64_t rows; /* 0: nobody */
} place;

struct tacet__persons {
    unsigned char key[crypto_shorthash_KEYBYTES];
    size_t most;
    place *places;
    size_t room, taken; /* room is a power of two */
};

tacet_status tacet__persons_open(tacet__persons **out, size_t most, tacet_error *err) {
    *out = NULL;
    if (most == 0 || most > TACET__PERSON_ROWS_MOST) {
        return tacet__fail(err, TACET_INVALID, "rows per person: from 1 to %d", (int)TACET__PERSON_ROWS_MOST);
    }
    if (sodium_init() < 0) {
        return tacet__fail(err, TACET_IO, "the operating system gives no entropy");
    }
    tacet__persons *p = TACET__ZALLOC(tacet__persons, 1);
    place *places = TACET__ZALLOC(place, FIRST_PLACES);
    if (p == NULL || places == NULL) {
        free(p);
        free(places);
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for persons");
    }
    *p = (tacet__persons){.most = most, .places = places, .room = FIRST_PLACES};
    randombytes_buf(p->key, sizeof p->key);
    *out = p;
    return TACET_OK;
}

void tacet__persons_close(tacet__persons *p) {
    if (p == NULL) {
        return;
    }
    sodium_memzero(p->places, p->room * sizeof *p->places);
    free(p->places);
    sodium_memzero(p, sizeof *p);
    free(p);
}

uint64_t tacet__persons_hash(const tacet__persons *p, const void *identifier, size_t length) {
    unsigned char bytes[crypto_shorthash_BYTES];
    uint64_t hash = 0;
    (void)crypto_shorthash(bytes, identifier, length, p->key);
    memcpy(&hash, bytes, sizeof hash);
    return hash;
}

tacet_status tacet__persons_cell(const tacet__persons *p, uint64_t *hash, const tacet_csv *csv, size_t column,
                                 tacet_error *err) {
    size_t length = 0;
    const char *text = tacet_csv_field(csv, column, &length);
    while (length > 0 && (text[0] == ' ' || text[0] == '\t')) {
        text++;
        length--;
    }
    while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\t')) {
        length--;
    }
    if (length == 0) {
        return tacet__fail(err, TACET_PARSE, "%s: line %llu, column '%.60s': empty, but every row belongs to a person",
                           tacet_csv_input(csv), (unsigned long long)tacet_csv_line(csv), tacet_csv_name(csv, column));
    }
    *hash = tacet__persons_hash(p, text, length);
    return TACET_OK;
}

/* The place of a person, or the free one where they would be. */
static place *find_place(place *places, size_t room, uint64_t hash) {
    size_t at = (size_t)hash & (room - 1);
    while (places[at].rows > 0 && places[at].hash != hash) {
        at = (at + 1) & (room - 1);
    }
    return &places[at];
}

static bool make_room(tacet__persons *p) {
    size_t room = 0;
    place *more = tacet__size_mul(&room, p->room, 2) ? TACET__ZALLOC(place, room) : NULL;
    if (more == NULL) {
        return false;
    }
    for (size_t i = 0; i < p->room; i++) {
        if (p->places[i].rows > 0) {
            *find_place(more, room, p->places[i].hash) = p->places[i];
        }
    }
    sodium_memzero(p->places, p->room * sizeof *p->places);
    free(p->places);
    p->places = more;
    p->room = room;
    return true;
}

tacet_status tacet__persons_keep(tacet__persons *p, bool *keep, uint64_t hash, tacet_error *err) {
    if (p->taken >= p->room / 3 * 2 && !make_room(p)) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu persons", p->taken);
    }
    place *here = find_place(p->places, p->room, hash);
    *keep = here->rows < p->most;
    p->taken += here->rows == 0;
    here->hash = hash;
    here->rows += *keep;
    return TACET_OK;
}

tacet_status tacet__persons_next(tacet__persons *p, tacet_csv *csv, size_t column, bool *found, tacet_error *err) {
    for (;;) {
        uint64_t hash = 0;
        bool keep = true;
        tacet_status status = tacet_csv_next(csv, found, err);
        if (status != TACET_OK || !*found || p == NULL) {
            return status;
        }
        status = tacet__persons_cell(p, &hash, csv, column, err);
        TACET_THEN(status, tacet__persons_keep(p, &keep, hash, err));
        if (status != TACET_OK || keep) {
            return status;
        }
    }
}
