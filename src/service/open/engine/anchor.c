/* SPDX-License-Identifier: Apache-2.0 */
/* anchor.c - a file a study that remembers its newest event. Ring: open.
 * Cost: one write of 86 bytes a batch, without a sync; one event read again when a study is loaded. */
#include "service/open/engine/anchor.h"

#include "core/fail.h"
#include "dp/open/ledger_anchor.h"
#include "io/file/state.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { TAG_BYTES = 8 };

/* name-tag: the tag is of the definition, the secret and every time the study was put back knowingly. */
static void file_name(char out[TACET__STUDY_NAME_MOST + 2 * TAG_BYTES + 2], const tacet__study *study) {
    crypto_generichash_state state;
    unsigned char tag[crypto_generichash_BYTES_MIN];
    char hex[2 * TAG_BYTES + 1];
    (void)crypto_generichash_init(&state, study->secret, sizeof study->secret, sizeof tag);
    (void)crypto_generichash_update(&state, study->definition.data, study->definition.size);
    for (size_t i = 0; i < study->salt_count; i++) {
        (void)crypto_generichash_update(&state, study->salts[i].bytes, TACET__SALT_BYTES);
    }
    (void)crypto_generichash_final(&state, tag, sizeof tag);
    (void)sodium_bin2hex(hex, sizeof hex, tag, TAG_BYTES);
    (void)sprintf(out, "%s-%s", study->name, hex);
}

typedef struct remembered {
    uint64_t seq;
    unsigned char hash[TACET_HASH_BYTES];
    bool same;
} remembered;

static tacet_status compare(const tacet__event *event, void *user, tacet_error *err) {
    remembered *r = user;
    (void)err;
    r->same = event->seq == r->seq && memcmp(event->hash, r->hash, sizeof event->hash) == 0;
    return TACET_STATE; /* one is enough */
}

static tacet_status check(remembered *r, tacet__studies *store, const tacet__study *study, tacet_error *err) {
    tacet_error inner = {0};
    if (r->seq > study->head) {
        return tacet__fail(err, TACET_CORRUPT,
                           "the store was put back: it has %llu events of study '%s', this server saw %llu; 'tacet "
                           "store restore' says how to go on",
                           (unsigned long long)study->head, study->name, (unsigned long long)r->seq);
    }
    const tacet_status status = tacet__studies_read(store, study, r->seq, compare, r, &inner);
    if (status != TACET_STATE) {
        return tacet__fail(err, status == TACET_OK ? TACET_CORRUPT : status, "%s", inner.message);
    }
    return r->same
               ? TACET_OK
               : tacet__fail(err, TACET_CORRUPT,
                             "the store was put back: event %llu of study '%s' is another one than this server saw; "
                             "'tacet store restore' says how to go on",
                             (unsigned long long)r->seq, study->name);
}

tacet_status tacet__study_anchor_open(int *anchor, tacet__studies *store, tacet__study *study,
                                      const tacet__studies_settings *settings, tacet_error *err) {
    char folder[TACET__PATH], path[TACET__PATH], name[TACET__STUDY_NAME_MOST + 2 * TAG_BYTES + 2];
    remembered r = {0};
    tacet_status status = TACET_OK;
    *anchor = -1;
    if (!settings->anchored) {
        return TACET_OK;
    }
    if (settings->anchors != NULL) {
        status = (size_t)snprintf(folder, sizeof folder, "%s", settings->anchors) < sizeof folder
                     ? TACET_OK
                     : tacet__fail(err, TACET_INVALID, "the path of the anchors is too long");
    } else {
        status = tacet__state_path(folder, "studies", err);
    }
    if (status == TACET_OK && !tacet__folders_make(folder)) {
        status =
            tacet__fail(err, TACET_IO, "how far studies came cannot be noted in %.200s: %s", folder, strerror(errno));
    }
    file_name(name, study);
    TACET_THEN(status, tacet__path(path, folder, name, err));
    TACET_THEN(status, tacet__anchor_open(anchor, &r.seq, r.hash, path, err));
    if (status == TACET_OK && r.seq > 0) {
        char name_of[TACET__STUDY_NAME_MOST + 1];
        memcpy(name_of, study->name, sizeof name_of);
        status = tacet__studies_get(store, study, name_of, err);
        TACET_THEN(status, check(&r, store, study, err));
    }
    if (status != TACET_OK && *anchor >= 0) {
        (void)close(*anchor);
        *anchor = -1;
    }
    return status;
}

tacet_status tacet__study_anchor_note(int anchor, const tacet__study *study, tacet_error *err) {
    unsigned char hash[TACET_HASH_BYTES] = {0};
    memcpy(hash, study->hash, sizeof study->hash);
    return anchor < 0 || study->head == 0 ? TACET_OK : tacet__anchor_write(anchor, study->head, hash, err);
}
