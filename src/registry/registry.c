/* SPDX-License-Identifier: Apache-2.0 */
/* registry.c - one budget for one set of people, whatever their file is called.
 * Ring: trusted. A file for each table and ledger: the table's sketch (sketch.h), the ledger's identity (the hash of
 * its first record, which has a random number in it) and place, and the words that name the release. A lock makes
 * checking and entering one step. The key of the hashes is made once, for this machine and user. Cost: one pass over
 * the table; 16 kB a table released before, and 8 kB a column of it. */
#include "registry/registry.h"

#include "core/codec.h"
#include "core/fail.h"
#include "core/memory.h"
#include "dp/open/ledger_view.h"
#include "io/file/state.h"
#include "registry/sketch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const double SAME = 0.5; /* of the rows: as many make two tables one */
static const char NAME[] = "tacet table", ORDER[] = "tacet order";
enum { ANEW = 1 }; /* its ledger was begun in spite of an earlier one, for a reason that was given */
enum { VERSION = 1, NAME_BYTES = 16, RECORD_MOST = 1 << 20 };

/* What is known of a release that was made. */
typedef struct earlier {
    unsigned char ledger_id[TACET_HASH_BYTES];
    char ledger[TACET__PATH];
    char what[TACET__PATH];
    char ticket[TACET_TICKET_MOST + 1];
    uint64_t day;   /* days since 1970 */
    uint64_t marks; /* what is below */
} earlier;

typedef struct registry {
    char folder[TACET__PATH], tables[TACET__PATH], anchors[TACET__PATH], orders[TACET__PATH];
    unsigned char key[TACET__SKETCH_KEY];
    int lock;
} registry;

tacet_status tacet__registry_folder(char out[TACET__PATH], tacet_error *err) {
    TACET_OR_RETURN(tacet__state_path(out, "", err));
    if (!tacet__folders_make(out)) {
        return tacet__fail(err, errno == EACCES || errno == EROFS ? TACET_DENIED : TACET_IO,
                           "%.120s: the registry of released tables cannot be kept here: %s; name a folder in "
                           "TACET_STATE",
                           out, strerror(errno));
    }
    return TACET_OK;
}

/* The next table that was entered, passing over ".", ".." and what a crash left half written; as tacet__folder_next. */
static const char *next_table(DIR *folder, int *wrong) {
    const char *name = tacet__folder_next(folder, wrong);
    while (name != NULL && strlen(name) != (size_t)2 * NAME_BYTES) {
        name = tacet__folder_next(folder, wrong);
    }
    return name;
}

/* Whether a table was entered, or may have been. */
static bool has_tables(const registry *r) {
    int wrong = 0;
    DIR *folder = opendir(r->tables);
    const bool found = folder == NULL || next_table(folder, &wrong) != NULL || wrong != 0;
    if (folder != NULL) {
        (void)closedir(folder);
    }
    return found;
}

static tacet_status read_key(registry *r, tacet_error *err) {
    char path[TACET__PATH], beside[TACET__PATH];
    tacet_status status = tacet__path(path, r->folder, "key", err);
    TACET_THEN(status, tacet__path(beside, r->folder, "key.new", err));
    if (status != TACET_OK) {
        return status;
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    const bool missing = fd < 0 && errno == ENOENT;
    if (missing && has_tables(r)) { /* under another key none of them would be known again */
        return tacet__fail(err, TACET_CORRUPT, "%.150s: the registry's key is gone: put it back", path);
    }
    if (missing) { /* the lock is held: nobody else makes it meanwhile */
        fd = open(beside, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR);
        randombytes_buf(r->key, sizeof r->key);
        /* Whole or not at all: whoever is killed meanwhile leaves no key that cannot be read. */
        const bool written = fd >= 0 && write(fd, r->key, sizeof r->key) == (ssize_t)sizeof r->key && fsync(fd) == 0 &&
                             rename(beside, path) == 0;
        if (fd >= 0 && !written) {
            (void)unlink(beside);
        }
        status = written ? tacet__folder_sync(r->folder, err)
                         : tacet__fail(err, TACET_IO, "%.150s: cannot be written: %s", path, strerror(errno));
    } else if (fd < 0 || read(fd, r->key, sizeof r->key) != (ssize_t)sizeof r->key) {
        status = tacet__fail(err, TACET_CORRUPT, "%.150s: the registry's key cannot be read", path);
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    return status;
}

static void close_registry(registry *r) {
    if (r->lock >= 0) {
        (void)close(r->lock);
    }
    sodium_memzero(r->key, sizeof r->key);
}

static tacet_status open_registry(registry *r, tacet_error *err) {
    char path[TACET__PATH];
    r->lock = -1;
    tacet_status status =
        sodium_init() < 0 ? tacet__fail(err, TACET_IO, "the operating system gives no entropy") : TACET_OK;
    TACET_THEN(status, tacet__registry_folder(r->folder, err));
    TACET_THEN(status, tacet__path(r->tables, r->folder, "tables", err));
    TACET_THEN(status, tacet__path(r->anchors, r->folder, "anchors", err));
    TACET_THEN(status, tacet__path(r->orders, r->folder, "orders", err));
    TACET_THEN(status, tacet__path(path, r->folder, "lock", err));
    TACET_THEN(status, tacet__folder_make(NULL, r->tables, err));
    TACET_THEN(status, tacet__folder_make(NULL, r->anchors, err));
    TACET_THEN(status, tacet__folder_make(NULL, r->orders, err));
    if (status != TACET_OK) {
        return status;
    }
    r->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (r->lock < 0 || flock(r->lock, LOCK_EX) != 0) {
        return tacet__fail(err, TACET_IO, "%.150s: cannot be locked: %s", path, strerror(errno));
    }
    return read_key(r, err);
}

/* The hash of the first record of a ledger. NOT_FOUND: there is none. */
typedef struct seeking {
    uint64_t seq;
    unsigned char hash[TACET_HASH_BYTES];
    bool found;
} seeking;

static tacet_status visit(void *user, const tacet__ledger_row *row, tacet_error *err) {
    seeking *s = user;
    (void)err;
    if (row->record->seq != s->seq) {
        return TACET_OK;
    }
    memcpy(s->hash, row->hash, sizeof s->hash);
    s->found = true;
    return TACET_STATE; /* enough */
}

static tacet_status hash_of(unsigned char out[TACET_HASH_BYTES], const char *ledger, uint64_t seq, tacet_error *err) {
    tacet__ledger_view *view = NULL;
    tacet_error why = {0};
    seeking s = {.seq = seq};
    tacet_status status = tacet__ledger_view_open(&view, ledger, &why);
    if (status == TACET_OK) {
        status = tacet__ledger_each(view, visit, &s, &why);
        status = s.found ? TACET_OK : status == TACET_OK ? TACET_NOT_FOUND : status;
    }
    tacet__ledger_view_close(view);
    memcpy(out, s.hash, sizeof s.hash);
    return status == TACET_OK ? status : tacet__fail(err, status, "%s", why.message);
}

tacet_status tacet__registry_entry(const char *ledger, uint64_t seq, const char *hash, tacet_error *err) {
    unsigned char found[TACET_HASH_BYTES];
    char hex[2 * TACET_HASH_BYTES + 1];
    TACET_OR_RETURN(hash_of(found, ledger, seq, err));
    (void)sodium_bin2hex(hex, sizeof hex, found, sizeof found);
    return strcmp(hex, hash) == 0 ? TACET_OK : tacet__fail(err, TACET_NOT_FOUND, "the ledger has another entry there");
}

static void read_text(tacet__reader *r, char *out, size_t size) {
    const unsigned char *bytes = NULL;
    const size_t length = tacet__read_bytes(r, &bytes);
    if (r->failed || length >= size) {
        r->failed = true;
        return;
    }
    memcpy(out, bytes, length);
    out[length] = '\0';
}

static void read_hash(tacet__reader *r, unsigned char out[TACET_HASH_BYTES]) {
    const unsigned char *bytes = NULL;
    if (tacet__read_bytes(r, &bytes) != TACET_HASH_BYTES || r->failed) {
        r->failed = true;
        return;
    }
    memcpy(out, bytes, TACET_HASH_BYTES);
}

static tacet_status read_earlier(earlier *e, tacet__sketch *sketch, const char *path, tacet_error *err) {
    char *bytes = NULL;
    size_t length = 0;
    tacet__reader r;
    tacet_status status = tacet__file_read(&bytes, &length, path, RECORD_MOST, err);
    TACET_THEN(status, tacet__read_begin(&r, bytes, length, NAME, VERSION, err));
    if (status == TACET_OK) {
        tacet__sketch_read(&r, sketch);
        read_hash(&r, e->ledger_id);
        read_text(&r, e->ledger, sizeof e->ledger);
        read_text(&r, e->what, sizeof e->what);
        read_text(&r, e->ticket, sizeof e->ticket);
        e->day = tacet__read_u64(&r);
        e->marks = tacet__read_u64(&r);
        status = tacet__read_end(&r, err);
    }
    free(bytes);
    return status;
}

static tacet_status refuse(const earlier *e, double shared, tacet_error *err) {
    char day[16] = "";
    struct tm tm;
    const time_t when = (time_t)(e->day * 86400);
    if (gmtime_r(&when, &tm) != NULL) {
        (void)strftime(day, sizeof day, "%Y-%m-%d", &tm);
    }
    return tacet__fail(err, TACET_BUDGET,
                       "%.0f %% of these rows were released before (%.50s, ticket '%.24s', %s) and are charged to "
                       "%.60s%s: name it with --ledger, or say why in --new-budget",
                       100 * shared, e->what, e->ticket, day, e->ledger,
                       strstr(e->ledger, "://") != NULL || access(e->ledger, F_OK) == 0 ? "" : ", which is gone");
}

/* All releases that were entered: what is known of them, and their tables. */
typedef struct past {
    earlier *releases;
    tacet__shared *tables;
    size_t count, room, table_room;
} past;

static void drop_past(past *p) {
    for (size_t i = 0; i < p->count; i++) {
        tacet__sketch_clear(&p->tables[i].sketch);
    }
    free(p->releases);
    free(p->tables);
}

static tacet_status read_past(past *p, const registry *r, tacet_error *err) {
    char path[TACET__PATH];
    tacet_status status = TACET_OK;
    const char *name = NULL;
    int wrong = 0;
    DIR *folder = opendir(r->tables);
    if (folder == NULL) {
        return tacet__fail(err, TACET_IO, "the registry cannot be read: %s", strerror(errno));
    }
    while (status == TACET_OK && (name = next_table(folder, &wrong)) != NULL) {
        if (!tacet__grow((void **)&p->releases, &p->room, p->count + 1, sizeof *p->releases) ||
            !tacet__grow((void **)&p->tables, &p->table_room, p->count + 1, sizeof *p->tables)) {
            status = tacet__fail(err, TACET_NO_MEMORY, "the registry cannot be read");
            break;
        }
        p->tables[p->count] = (tacet__shared){.share = 0};
        status = tacet__path(path, r->tables, name, err);
        TACET_THEN(status, read_earlier(&p->releases[p->count], &p->tables[p->count].sketch, path, err));
        p->count++;
    }
    if (status == TACET_OK && wrong != 0) {
        status = tacet__fail(err, TACET_IO, "the registry cannot be read: %s", strerror(wrong));
    }
    (void)closedir(folder);
    return status;
}

/* Every earlier release of this table must be charged to the same ledger, unless one of the two ledgers was begun anew
 * for these rows and this one has paid for them before. */
static tacet_status check_past(const past *p, const char *ledger, tacet_error *err) {
    unsigned char id[TACET_HASH_BYTES] = {0};
    const bool there = hash_of(id, ledger, 0, NULL) == TACET_OK;
    tacet_error refusal = {0};
    bool refused = false;  /* by a ledger */
    bool declared = false; /* by one that was begun anew */
    bool paid = false;     /* this one, for these rows */
    bool anew = false;     /* and it was begun anew */
    for (size_t i = 0; i < p->count; i++) {
        const earlier *e = &p->releases[i];
        if (!(p->tables[i].share >= SAME)) {
            continue;
        }
        if (there && memcmp(id, e->ledger_id, sizeof id) == 0) {
            paid = true;
            anew = anew || (e->marks & ANEW) != 0;
        } else {
            (void)refuse(e, p->tables[i].share, &refusal); /* the first one's words stay */
            *((e->marks & ANEW) != 0 ? &declared : &refused) = true;
        }
    }
    return (refused && !anew) || (declared && !paid) ? tacet__fail(err, TACET_BUDGET, "%s", refusal.message) : TACET_OK;
}

static void write_text(tacet__writer *w, const char *text) {
    tacet__write_bytes(w, text, strlen(text));
}

/* Written beside its place, synced, moved there. */
static tacet_status write_record(const char *folder, const char *path, const tacet_blob *blob, tacet_error *err) {
    char part[TACET__PATH];
    TACET_OR_RETURN(tacet__path(part, folder, "part", err));
    const int fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR);
    FILE *file = fd >= 0 ? fdopen(fd, "wb") : NULL;
    if (file == NULL) {
        if (fd >= 0) {
            (void)close(fd);
        }
        return tacet__fail(err, TACET_IO, "%.150s: cannot be written: %s", part, strerror(errno));
    }
    const bool written = fwrite(blob->data, 1, blob->size, file) == blob->size;
    tacet_status status = tacet__file_finish(file, part, err);
    if (status == TACET_OK && !written) {
        status = tacet__fail(err, TACET_IO, "%.150s: cannot be written", part);
    }
    return status != TACET_OK ? status : tacet__file_publish(part, path, folder, err);
}

static tacet_status enter(const registry *r, const tacet__sketch *sketch, const tacet__registry_release *release,
                          const unsigned char id[TACET_HASH_BYTES], tacet_error *err) {
    unsigned char both[2 * TACET_HASH_BYTES];
    unsigned char short_name[NAME_BYTES];
    char name[2 * NAME_BYTES + 1];
    char path[TACET__PATH];
    tacet_blob blob;
    tacet__writer w;
    char *real = realpath(release->ledger, NULL);
    memcpy(both, sketch->identity, TACET_HASH_BYTES);
    memcpy(both + TACET_HASH_BYTES, id, TACET_HASH_BYTES);
    (void)crypto_generichash(short_name, sizeof short_name, both, sizeof both, r->key, sizeof r->key);
    (void)sodium_bin2hex(name, sizeof name, short_name, sizeof short_name);
    tacet_blob_init(&blob);
    tacet__write_begin(&w, &blob, NAME, VERSION);
    tacet__sketch_write(&w, sketch);
    tacet__write_bytes(&w, id, TACET_HASH_BYTES);
    write_text(&w, real != NULL ? real : release->ledger);
    write_text(&w, release->what);
    write_text(&w, release->ticket);
    tacet__write_u64(&w, (uint64_t)time(NULL) / 86400);
    tacet__write_u64(&w, release->new_budget != NULL ? ANEW : 0);
    tacet_status status = tacet__write_end(&w, err);
    TACET_THEN(status, tacet__path(path, r->tables, name, err));
    if (status == TACET_OK && (release->new_budget != NULL || access(path, F_OK) != 0)) { /* the first one stays */
        status = write_record(r->tables, path, &blob, err);
    }
    tacet_blob_clear(&blob);
    free(real);
    return status;
}

/* The anchor belongs to the ledger, wherever it lies: it is named by its first record. So a new one is made first. */
static tacet_status open_anchored(tacet_ledger **out, const registry *r, unsigned char id[TACET_HASH_BYTES],
                                  const char *ledger, const tacet_ledger_settings *settings, tacet_error *err) {
    char name[2 * NAME_BYTES + 1];
    char anchor[TACET__PATH];
    tacet_ledger_settings own = *settings;
    tacet_status status = TACET_OK;
    if (hash_of(id, ledger, 0, NULL) != TACET_OK) {
        status = tacet_ledger_open(out, ledger, settings, err);
        tacet_ledger_close(*out);
        *out = NULL;
    }
    TACET_THEN(status, hash_of(id, ledger, 0, err));
    (void)sodium_bin2hex(name, sizeof name, id, NAME_BYTES);
    TACET_THEN(status, tacet__path(anchor, r->anchors, name, err));
    own.anchor = anchor;
    return status != TACET_OK ? status : tacet_ledger_open(out, ledger, &own, err);
}

tacet_status tacet__registry_reopen(tacet_ledger **out, const char *ledger, const tacet_ledger_settings *settings,
                                    tacet_error *err) {
    registry r;
    unsigned char id[TACET_HASH_BYTES];
    *out = NULL;
    tacet_status status = open_registry(&r, err);
    TACET_THEN(status, open_anchored(out, &r, id, ledger, settings, err));
    close_registry(&r);
    return status;
}

tacet_status tacet__registry_open(tacet_ledger **out, const tacet__registry_release *release,
                                  const tacet_ledger_settings *settings, tacet_error *err) {
    registry r;
    past before = {.count = 0};
    tacet__sketch sketch = {.rows = 0};
    bool few = false;
    unsigned char id[TACET_HASH_BYTES];
    *out = NULL;
    tacet_status status = open_registry(&r, err);
    if (release->new_budget == NULL) {
        TACET_THEN(status, read_past(&before, &r, err));
    }
    TACET_THEN(status, tacet__sketch_table(&sketch, &few, before.tables, before.count, &release->rows, r.key, err));
    TACET_THEN(status, check_past(&before, release->ledger, err));
    TACET_THEN(status, open_anchored(out, &r, id, release->ledger, settings, err));
    TACET_THEN(status, enter(&r, &sketch, release, id, err));
    if (status != TACET_OK) {
        tacet_ledger_close(*out);
        *out = NULL;
    }
    if (status == TACET_OK && release->few != NULL) {
        *release->few = few;
    }
    if (status == TACET_OK && release->order != NULL) {
        release->order->columns = sketch.columns;
        memcpy(release->order->names, sketch.names, sketch.columns * sizeof *sketch.names);
        memcpy(release->order->sums, sketch.sums, sizeof sketch.sums);
    }
    tacet__sketch_clear(&sketch);
    drop_past(&before);
    close_registry(&r);
    return status;
}

tacet_status tacet__registry_ledger(char out[TACET__PATH], const tacet__rows *rows, tacet_error *err) {
    static const char LEDGERS[] = "ledgers", SUFFIX[] = ".db";
    registry r;
    tacet__sketch sketch = {.rows = 0};
    bool few = false;
    char folder[TACET__PATH];
    char name[2 * NAME_BYTES + sizeof SUFFIX];
    tacet_status status = open_registry(&r, err);
    TACET_THEN(status, tacet__path(folder, r.folder, LEDGERS, err));
    TACET_THEN(status, tacet__folder_make(NULL, folder, err));
    TACET_THEN(status, tacet__sketch_table(&sketch, &few, NULL, 0, rows, r.key, err));
    if (status == TACET_OK) {
        (void)sodium_bin2hex(name, sizeof name, sketch.identity, NAME_BYTES);
        memcpy(name + 2 * (size_t)NAME_BYTES, SUFFIX, sizeof SUFFIX);
        status = tacet__path(out, folder, name, err);
    }
    tacet__sketch_clear(&sketch);
    close_registry(&r);
    return status;
}

/* One release, one file: a table may be released in several orders under one ledger. */
static tacet_status open_order(registry *r, char path[TACET__PATH], const char *entry_hash, tacet_error *err) {
    char name[2 * NAME_BYTES + 1];
    (void)snprintf(name, sizeof name, "%s", entry_hash);
    const tacet_status status = open_registry(r, err);
    return status != TACET_OK ? status : tacet__path(path, r->orders, name, err);
}

tacet_status tacet__registry_keep_order(const tacet__order *order, const char *entry_hash, tacet_error *err) {
    registry r;
    char path[TACET__PATH];
    tacet_blob blob;
    tacet__writer w;
    tacet_status status = open_order(&r, path, entry_hash, err);
    tacet_blob_init(&blob);
    tacet__write_begin(&w, &blob, ORDER, VERSION);
    tacet__write_size(&w, order->columns);
    tacet__write_u64s(&w, order->names, order->columns);
    tacet__write_u64s(&w, order->sums, order->columns);
    TACET_THEN(status, tacet__write_end(&w, err));
    TACET_THEN(status, write_record(r.orders, path, &blob, err));
    tacet_blob_clear(&blob);
    close_registry(&r);
    return status;
}

tacet_status tacet__registry_compare(tacet__comparison **out, const char *entry_hash, const tacet_csv *csv,
                                     tacet_error *err) {
    registry r;
    char path[TACET__PATH];
    char *bytes = NULL;
    size_t length = 0;
    tacet__reader reader;
    tacet__order order = {.columns = 0};
    *out = NULL;
    tacet_status status = open_order(&r, path, entry_hash, err);
    TACET_THEN(status, tacet__file_read(&bytes, &length, path, RECORD_MOST, err));
    TACET_THEN(status, tacet__read_begin(&reader, bytes, length, ORDER, VERSION, err));
    if (status == TACET_OK) {
        order.columns = tacet__read_size(&reader, TACET__SKETCH_COLUMNS);
        tacet__read_u64s(&reader, order.names, order.columns);
        tacet__read_u64s(&reader, order.sums, order.columns);
        status = tacet__read_end(&reader, err);
    }
    TACET_THEN(status, tacet__compare_open(out, &order, csv, r.key, err));
    free(bytes);
    close_registry(&r);
    return status;
}
