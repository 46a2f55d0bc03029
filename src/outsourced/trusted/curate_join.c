/* SPDX-License-Identifier: Apache-2.0 */
/* curate_join.c - parts of one release: their tickets and sketches, and the whole made of them.
 * Ring: trusted. In: parts that were committed, and the ledger. Out: release.csv and manifest.json, which say no more
 * than the parts do. Source: none; README.md, "Parts". Cost: two passes over the parts' text; 33 kB a part. */
#include "outsourced/trusted/curate_job.h"

#include "core/codec.h"
#include "core/fail.h"
#include "core/memory.h"
#include "dp/ledger/seal.h"
#include "dp/open/entry.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tacet/dp/open/release.h>
#include <tacet/outsourced/trusted/join.h>
#include <unistd.h>

static const char SKETCH[] = "tacet part";
static const double SHARED_MOST = 0.1; /* of the rows of two parts, as in the registry */
enum { SKETCH_VERSION = 1, SKETCH_BYTES = 1 << 17, MANIFEST_BYTES = 1 << 20, TEXT = 1 << 16 };

typedef struct part {
    char text[TACET__PATH]; /* the path of part.csv */
    tacet_manifest manifest;
    tacet__sketch sketch;
    unsigned char key_id[TACET_HASH_BYTES]; /* stands for the key of the sketch */
    tacet_receipt receipt;
} part;

tacet_status tacet__part_ticket(char out[TACET_TICKET_MOST + 1], const char *ticket, size_t number, size_t parts,
                                tacet_error *err) {
    const int n = parts == 0 ? snprintf(out, TACET_TICKET_MOST + 1, "%s", ticket)
                             : snprintf(out, TACET_TICKET_MOST + 1, "%s part %zu of %zu", ticket, number, parts);
    return n >= 0 && n <= TACET_TICKET_MOST ? TACET_OK : tacet__fail(err, TACET_INVALID, "the ticket is too long");
}

/* --- sketches ----------------------------------------------------------------------------------------------------- */

/* All machines that have the ledger's key file have this key; its hash tells whether two have the same. */
static tacet_status sketch_key(unsigned char key[TACET__SKETCH_KEY], unsigned char id[TACET_HASH_BYTES],
                               const char *ledger, tacet_error *err) {
    const tacet_status status = tacet__seal_derive(key, ledger, "parts  1", err);
    if (status == TACET_OK) {
        (void)crypto_generichash(id, TACET_HASH_BYTES, (const unsigned char *)SKETCH, sizeof SKETCH, key,
                                 TACET__SKETCH_KEY);
    }
    return status;
}

tacet_status tacet__curate_part_sketch(const tacet__curate *job, tacet_error *err) {
    unsigned char key[TACET__SKETCH_KEY];
    unsigned char id[TACET_HASH_BYTES];
    char path[TACET__PATH];
    tacet__sketch sketch = {.rows = NULL};
    tacet__writer w;
    tacet_blob blob;
    FILE *file = NULL;
    tacet_blob_init(&blob);
    tacet_status status = tacet__path(path, job->settings->folder, "part.sketch", err);
    status = status != TACET_OK ? status : sketch_key(key, id, job->ledger, err);
    if (status == TACET_OK && job->source.numbers) {
        const tacet__rows rows = tacet__source_rows(&job->source);
        status = tacet__sketch_rows(&sketch, &rows, 0, key, err);
    } else if (status == TACET_OK) {
        status =
            tacet__sketch_files(&sketch, (const char *const *)job->source.files, job->source.file_count, 0, key, err);
    }
    if (status == TACET_OK) {
        tacet__write_begin(&w, &blob, SKETCH, SKETCH_VERSION);
        tacet__write_bytes(&w, id, sizeof id);
        tacet__sketch_write(&w, &sketch);
        status = tacet__write_end(&w, err);
    }
    if (status == TACET_OK) {
        const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR); /* hashes of rows */
        file = fd >= 0 ? fdopen(fd, "wb") : NULL;
        const bool written = file != NULL && fwrite(blob.data, 1, blob.size, file) == blob.size;
        status = file != NULL ? tacet__file_finish(file, path, err) : TACET_OK;
        if (status == TACET_OK && !written) {
            status = tacet__fail(err, TACET_IO, "%.150s: cannot be written: %s", path, strerror(errno));
        }
    }
    sodium_memzero(key, sizeof key);
    tacet__sketch_clear(&sketch);
    tacet_blob_clear(&blob);
    return status;
}

static tacet_status read_sketch(part *p, const char *folder, tacet_error *err) {
    char path[TACET__PATH];
    char *bytes = NULL;
    size_t length = 0;
    tacet__reader r;
    const unsigned char *id = NULL;
    p->sketch.rows = TACET__ZALLOC(uint64_t, TACET__SKETCH_MOST);
    if (p->sketch.rows == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a sketch");
    }
    tacet_status status = tacet__path(path, folder, "part.sketch", err);
    status = status != TACET_OK ? status : tacet__file_read(&bytes, &length, path, SKETCH_BYTES, err);
    status = status != TACET_OK ? status : tacet__read_begin(&r, bytes, length, SKETCH, SKETCH_VERSION, err);
    if (status == TACET_OK) {
        const size_t size = tacet__read_bytes(&r, &id);
        if (!r.failed && size == sizeof p->key_id) {
            memcpy(p->key_id, id, sizeof p->key_id);
        }
        r.failed = r.failed || size != sizeof p->key_id;
        tacet__sketch_read(&r, &p->sketch);
        status = tacet__read_end(&r, err);
    }
    free(bytes);
    return status;
}

/* Parts are charged as if no record were in two of them. Whether that is so is seen here, before any of it is let go.
 */
static tacet_status check_shared(const part *parts, size_t count, const tacet_join_settings *s, bool *shares,
                                 tacet_error *err) {
    *shares = false;
    for (size_t i = 0; i < count; i++) {
        if (memcmp(parts[0].key_id, parts[i].key_id, sizeof parts[i].key_id) != 0) {
            return tacet__fail(err, TACET_DENIED,
                               "parts 1 and %zu were made with different key files, so that it cannot be seen whether "
                               "they share records: give all machines the same (TACET_KEY_FILE)",
                               i + 1);
        }
        for (size_t j = 0; j < i; j++) {
            const double share = tacet__sketch_shared(&parts[i].sketch, &parts[j].sketch);
            *shares = *shares || share > SHARED_MOST;
            if (share > SHARED_MOST && s->shared == NULL) {
                return tacet__fail(err, TACET_BUDGET,
                                   "parts %zu and %zu have %.0f %% of their rows in common, and are charged as if they "
                                   "had none: the release is not let go. If they are of different people all the same, "
                                   "say why in --shared",
                                   j + 1, i + 1, 100 * share);
            }
        }
    }
    return TACET_OK;
}

/* --- reading the parts -------------------------------------------------------------------------------------------- */

static void drop_parts(part *parts, size_t count) {
    for (size_t i = 0; i < count && parts != NULL; i++) {
        tacet_manifest_clear(&parts[i].manifest);
        tacet__sketch_clear(&parts[i].sketch);
    }
    free(parts);
}

static tacet_status read_manifest(tacet_manifest *out, const char *folder, tacet_error *err) {
    char path[TACET__PATH];
    char *text = NULL;
    size_t length = 0;
    tacet_error why = {0};
    tacet_manifest_init(out);
    tacet_status status = tacet__path(path, folder, "part.json", err);
    status = status != TACET_OK ? status : tacet__file_read(&text, &length, path, MANIFEST_BYTES, err);
    if (status == TACET_OK) {
        status = tacet_manifest_decode(out, text, length, &why);
        if (status == TACET_OK && out->parts == 0) {
            status = tacet__fail(&why, TACET_PARSE, "it is of no part");
        }
        if (status != TACET_OK) {
            (void)tacet__fail(err, status, "%.150s: %s", path, why.message);
        }
    }
    free(text);
    if (status != TACET_OK) {
        tacet_manifest_clear(out);
    }
    return status;
}

/* Puts a folder's part into its place. */
static tacet_status read_part(part *parts, size_t count, const char *folder, tacet_error *err) {
    tacet_manifest m;
    tacet_status status = read_manifest(&m, folder, err);
    if (status != TACET_OK) {
        return status;
    }
    part *p = &parts[m.part - 1 < count ? m.part - 1 : 0];
    if (m.parts != count) {
        status = m.parts < count
                     ? tacet__fail(err, TACET_CONFLICT, "%.100s: part %zu of %zu, but %zu folders are named", folder,
                                   m.part, m.parts, count)
                     : tacet__fail(err, TACET_NOT_FOUND,
                                   "a part is missing: %.100s is part %zu of %zu, and %zu are named; the "
                                   "release is not let go",
                                   folder, m.part, m.parts, count);
    } else if (p->manifest.parts > 0) {
        status = tacet__fail(err, TACET_CONFLICT, "%.100s: part %zu is there twice", folder, m.part);
    } else {
        p->manifest = m;
        tacet_manifest_init(&m);
        status = tacet__path(p->text, folder, "part.csv", err);
        status = status != TACET_OK ? status : read_sketch(p, folder, err);
    }
    tacet_manifest_clear(&m);
    return status;
}

/* What parts of one release have in common: everything but number, rows and entry. */
static tacet_status common_text(char **out, const tacet_manifest *m, tacet_error *err) {
    tacet_manifest same = *m;
    same.part = same.parts = 0;
    same.rows = 1;
    same.entry = 0;
    memset(same.entry_hash, '0', sizeof same.entry_hash - 1);
    return tacet_manifest_encode(&same, out, err);
}

static tacet_status check_settings(const part *parts, size_t count, tacet_error *err) {
    char *first = NULL;
    tacet_status status = common_text(&first, &parts[0].manifest, err);
    for (size_t i = 1; i < count && status == TACET_OK; i++) {
        char *text = NULL;
        status = common_text(&text, &parts[i].manifest, err);
        if (status == TACET_OK && strcmp(first, text) != 0) {
            status = tacet__fail(err, TACET_CONFLICT, "part %zu was made with other settings than part 1", i + 1);
        }
        free(text);
    }
    free(first);
    return status;
}

/* --- against the ledger ------------------------------------------------------------------------------------------- */

static tacet_status look_up(part *p, tacet_ledger *book, const char *ticket, tacet_error *err) {
    const tacet_manifest *m = &p->manifest;
    char name[TACET_TICKET_MOST + 1];
    char hash[TACET_MANIFEST_HASH];
    tacet_entry entry;
    tacet_blob memo;
    tacet_release *answer = NULL;
    tacet_error why = {0};
    tacet_blob_init(&memo);
    tacet_status status = tacet__part_ticket(name, ticket, m->part, m->parts, err);
    status = status != TACET_OK ? status : tacet_ledger_lookup(book, &entry, &memo, name, &why);
    if (status == TACET_NOT_FOUND || (status == TACET_OK && !entry.answered)) {
        status = tacet__fail(err, TACET_NOT_FOUND,
                             "part %zu of %zu is not committed in the ledger under '%.60s': the release is not let go",
                             m->part, m->parts, ticket);
    } else if (status == TACET_OK) {
        tacet__hash_hex(hash, entry.hash);
        status =
            entry.seq == m->entry && strcmp(hash, m->entry_hash) == 0
                ? tacet_release_decode(&answer, memo.data, memo.size, err)
                : tacet__fail(err, TACET_CONFLICT, "part %zu names another entry than the ledger has for it", m->part);
    } else if (err != NULL && why.message[0] != '\0') {
        *err = why;
    }
    if (status == TACET_OK) {
        p->receipt = *tacet_release_receipt(answer);
    }
    tacet_release_free(answer);
    tacet_blob_clear(&memo);
    return status;
}

static tacet_status check_ledger(part *parts, size_t count, const tacet_join_settings *s, tacet_error *err) {
    tacet_ledger *book = NULL;
    tacet_ledger_settings settings;
    tacet_ledger_settings_defaults(&settings);
    settings.create = false;
    settings.use_stored = true;
    tacet_status status = tacet_ledger_open(&book, s->ledger, &settings, err);
    for (size_t i = 0; i < count && status == TACET_OK; i++) {
        status = look_up(&parts[i], book, s->ticket, err);
    }
    tacet_ledger_close(book);
    return status;
}

/* --- the whole ---------------------------------------------------------------------------------------------------- */

/* The part's lines with their rows counted from `first`, and a hash of them as they were. */
static tacet_status append_part(FILE *to, const part *p, size_t first, bool header, tacet_error *err) {
    crypto_generichash_state hash;
    unsigned char found[TACET_HASH_BYTES];
    char *line = NULL;
    size_t room = 0;
    ssize_t got = 0;
    size_t rows = 0;
    bool good = true;
    FILE *from = fopen(p->text, "rbe");
    if (from == NULL) {
        return tacet__fail(err, errno == ENOENT ? TACET_NOT_FOUND : TACET_IO, "%.150s: cannot be read: %s", p->text,
                           strerror(errno));
    }
    (void)crypto_generichash_init(&hash, NULL, 0, sizeof found);
    for (size_t n = 0; good && (got = getline(&line, &room, from)) > 0; n++) {
        (void)crypto_generichash_update(&hash, (const unsigned char *)line, (size_t)got);
        if (n == 0) {
            good = !header || fwrite(line, 1, (size_t)got, to) == (size_t)got;
            continue;
        }
        const char *comma = memchr(line, ',', (size_t)got);
        const char *rest = comma != NULL ? comma : line;
        good = fprintf(to, "%zu", first + rows) > 0 &&
               fwrite(rest, 1, (size_t)(line + got - rest), to) == (size_t)(line + got - rest);
        rows++;
    }
    (void)crypto_generichash_final(&hash, found, sizeof found);
    const bool read = !ferror(from);
    (void)fclose(from);
    free(line);
    if (!good || !read) {
        return tacet__fail(err, TACET_IO, "%.150s: cannot be %s", p->text, read ? "joined: the disk is full" : "read");
    }
    return memcmp(found, p->receipt.content_hash, sizeof found) == 0 && rows == p->manifest.rows
               ? TACET_OK
               : tacet__fail(err, TACET_CORRUPT, "%.150s: not the text that the ledger committed for part %zu", p->text,
                             p->manifest.part);
}

static tacet_status write_release(const char *path, const part *parts, size_t count, tacet_error *err) {
    FILE *file = fopen(path, "wbe");
    if (file == NULL) {
        return tacet__fail(err, TACET_IO, "%.150s: cannot be written: %s", path, strerror(errno));
    }
    (void)setvbuf(file, NULL, _IOFBF, TEXT);
    tacet_status status = TACET_OK;
    size_t first = 0;
    for (size_t i = 0; i < count && status == TACET_OK; i++) {
        status = append_part(file, &parts[i], first, i == 0, err);
        first += parts[i].manifest.rows;
    }
    const tacet_status finished = tacet__file_finish(file, path, status == TACET_OK ? err : NULL);
    return status != TACET_OK ? status : finished;
}

/* The manifest of part 1, with the rows and the parts of all; its entry is the last that was charged. */
static tacet_status whole_manifest(tacet_manifest *out, part *parts, size_t count, const char *shared,
                                   tacet_error *err) {
    tacet_manifest_piece *pieces = TACET__ZALLOC(tacet_manifest_piece, count);
    if (pieces == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu parts", count);
    }
    *out = parts[0].manifest;
    tacet_manifest_init(&parts[0].manifest); /* what it owned is the whole's now */
    out->part = out->parts = 0;
    out->pieces = pieces;
    out->piece_count = count;
    (void)snprintf(out->shared_rows, sizeof out->shared_rows, "%s", shared);
    for (size_t i = 0; i < count; i++) {
        const tacet_manifest *m = i == 0 ? out : &parts[i].manifest;
        pieces[i].rows = i == 0 ? out->rows : m->rows;
        pieces[i].entry = parts[i].receipt.entry;
        tacet__hash_hex(pieces[i].entry_hash, parts[i].receipt.entry_hash);
        tacet__hash_hex(pieces[i].content_hash, parts[i].receipt.content_hash);
    }
    for (size_t i = 1; i < count; i++) {
        out->rows += pieces[i].rows;
        if (pieces[i].entry > out->entry) {
            out->entry = pieces[i].entry;
            memcpy(out->entry_hash, pieces[i].entry_hash, sizeof out->entry_hash);
        }
    }
    return TACET_OK;
}

static tacet_status let_go(tacet_manifest *manifest, part *parts, size_t count, const tacet_join_settings *s,
                           bool shares, tacet_error *err) {
    char unfinished[TACET__PATH], release[TACET__PATH], path[TACET__PATH];
    bool made = false;
    char *text = NULL;
    tacet_status status = tacet__folder_make(&made, s->folder, err);
    status = status != TACET_OK ? status : tacet__path(release, s->folder, "release.csv", err);
    status = status != TACET_OK ? status : tacet__path(unfinished, s->folder, "release.csv.unfinished", err);
    status = status != TACET_OK ? status : tacet__path(path, s->folder, "manifest.json", err);
    status = status != TACET_OK ? status : write_release(unfinished, parts, count, err);
    status = status != TACET_OK ? status : whole_manifest(manifest, parts, count, shares ? s->shared : "", err);
    status = status != TACET_OK ? status : tacet_manifest_encode(manifest, &text, err);
    status = status != TACET_OK ? status : tacet__file_write(path, s->folder, text, S_IRUSR | S_IWUSR, err);
    status = status != TACET_OK ? status : tacet__file_publish(unfinished, release, s->folder, err);
    if (status != TACET_OK) {
        (void)unlink(unfinished);
        if (made) {
            (void)rmdir(s->folder);
        }
    }
    free(text);
    return status;
}

tacet_status tacet_curate_join(tacet_manifest *manifest, const tacet_join_settings *s, tacet_error *err) {
    tacet_manifest_init(manifest);
    if (s->count == 0 || s->ledger == NULL || s->ticket == NULL || s->folder == NULL ||
        (s->shared != NULL && (s->shared[0] == '\0' || strlen(s->shared) >= TACET_MANIFEST_REASON))) {
        return tacet__fail(err, TACET_INVALID,
                           "folders of parts, a ledger, a ticket and a folder are needed; a reason "
                           "has 1 to %d bytes",
                           TACET_MANIFEST_REASON - 1);
    }
    part *parts = TACET__ZALLOC(part, s->count);
    bool shares = false;
    tacet_status status =
        parts != NULL ? TACET_OK : tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu parts", s->count);
    for (size_t i = 0; i < s->count && status == TACET_OK; i++) {
        status = read_part(parts, s->count, s->folders[i], err);
    }
    status = status != TACET_OK ? status : check_settings(parts, s->count, err);
    status = status != TACET_OK ? status : check_ledger(parts, s->count, s, err);
    status = status != TACET_OK ? status : check_shared(parts, s->count, s, &shares, err);
    status = status != TACET_OK ? status : let_go(manifest, parts, s->count, s, shares, err);
    drop_parts(parts, s->count);
    if (status != TACET_OK) {
        tacet_manifest_clear(manifest);
    }
    return status;
}
