/* SPDX-License-Identifier: Apache-2.0 */
/* curate_ledger.c - which ledger a release is charged to.
 * Ring: trusted. Releases of one table add up, so they must share a ledger without anybody thinking of it: unless one
 * is named, it lies beside the table (DATA.ledger.db), whatever folder the release goes to, and the folder gets a
 * symbolic link to it. Where one is named, a link to it is left beside the table, for those who name none. A link holds
 * a path and nothing of the data; the ledger itself, which has the measured values, is not in the folder that is handed
 * out. A copy of the table elsewhere has another path, and is known by its rows (src/registry). */
#include "outsourced/trusted/curate_place.h"

#include "core/fail.h"
#include "registry/default_ledger.h"
#include "io/db/db.h"
#include "registry/registry.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static tacet_status copy(char out[TACET__PATH], const char *path, const char *ending, tacet_error *err) {
    const int n = snprintf(out, TACET__PATH, "%s%s", path, ending);
    return n >= 0 && n < TACET__PATH ? TACET_OK : tacet__fail(err, TACET_INVALID, "the ledger's path is too long");
}

static const char ENDING[] = ".ledger.db";
enum { MANIFEST_MOST = 1 << 20 };

static bool same_file(const char *a, const char *b) {
    struct stat first;
    struct stat second;
    return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

/* Beside the first of the files. */
static tacet_status beside_first(char out[TACET__PATH], const char *data, tacet_error *err) {
    char **files = NULL;
    size_t count = 0;
    tacet_status status = tacet__file_names(&files, &count, data, err);
    TACET_THEN(status, tacet__path_beside(out, files[0], ENDING, err));
    tacet__file_names_free(files, count);
    return status;
}

/* The table as the registry looks at it: all columns of files; of what is in memory, those that are released. */
static tacet__rows rows_of(const tacet_curate_settings *s, const tacet__source *source,
                           const char *names[TACET_MANIFEST_COLUMNS]) {
    if (s->records == NULL) {
        return (tacet__rows){.files = source->file_count, .open = tacet__source_csv, .user = source};
    }
    for (size_t i = 0; i < s->space->count; i++) {
        names[i] = s->space->columns[i].name;
    }
    return (tacet__rows){.numbers = s->records,
                         .width = s->space->count,
                         .count = s->record_count,
                         .names = names,
                         .columns = s->space->count,
                         .space = s->space};
}

tacet_status tacet__curate_ledger_path(tacet__curate_place *place, const tacet_curate_settings *s, tacet_error *err) {
    struct stat st;
    tacet_status status = tacet__path(place->link, s->folder, "ledger.db", err);
    if (status != TACET_OK || s->ledger != NULL) {
        return status != TACET_OK ? status : copy(place->ledger, s->ledger, "", err);
    }
    if (s->records != NULL) {
        const char *names[TACET_MANIFEST_COLUMNS];
        const tacet__rows rows = rows_of(s, NULL, names);
        status = tacet__registry_ledger(place->ledger, &rows, err);
    } else {
        status = beside_first(place->ledger, s->data, err);
    }
    if (status != TACET_OK || lstat(place->link, &st) != 0) {
        return status;
    }
    if (S_ISREG(st.st_mode)) {
        /* named by an earlier release into this folder; but what this table has spent elsewhere is not to be left out
         */
        return access(place->ledger, F_OK) != 0 || same_file(place->link, place->ledger)
                   ? copy(place->ledger, place->link, "", err)
                   : tacet__fail(err, TACET_CONFLICT, "%s is another ledger than the table's own, %s; name one",
                                 place->link, place->ledger);
    }
    return stat(place->link, &st) != 0 || same_file(place->link, place->ledger)
               ? TACET_OK
               : tacet__fail(err, TACET_CONFLICT,
                             "%s is the ledger of another table; choose another folder, or name a ledger", place->link);
}

bool tacet__curate_counts(const tacet_curate_settings *s) {
    return !s->seeded && tacet_curate_law(s->mechanism) != NULL;
}

/* What was released into the folder before must be in the ledger. A manifest that cannot be read is not taken for none.
 */
static tacet_status check_manifest(const tacet__curate_place *place, tacet_error *err) {
    char *text = NULL;
    size_t length = 0;
    tacet_manifest before;
    tacet_error why = {0};
    tacet_status status = tacet__file_read(&text, &length, place->manifest, MANIFEST_MOST, &why);
    if (status == TACET_NOT_FOUND) {
        return TACET_OK;
    }
    tacet_manifest_init(&before);
    TACET_THEN(status, tacet_manifest_decode(&before, text, length, &why));
    if (status != TACET_OK) {
        (void)tacet__fail(err, status,
                          "%.80s is there and cannot be read (%.80s): move it away, or say why in --new-budget",
                          place->manifest, why.message);
    } else if (before.is_private &&
               tacet__registry_entry(place->ledger, before.entry, before.entry_hash, NULL) != TACET_OK) {
        status = tacet__fail(err, TACET_BUDGET,
                             "%.80s names entry %llu (%.8s…), which the ledger %.80s does not have: name its ledger "
                             "with --ledger, or say why in --new-budget",
                             place->manifest, (unsigned long long)before.entry, before.entry_hash, place->ledger);
    }
    tacet_manifest_clear(&before);
    free(text);
    return status;
}

tacet_status tacet__curate_ledger_open(tacet_ledger **out, tacet__curate_place *place, const tacet_curate_settings *s,
                                       const tacet__source *source, const tacet_ledger_settings *ledger,
                                       tacet_error *err) {
    char what[TACET__PATH];
    if (!tacet__curate_counts(s)) {
        return tacet_ledger_open(out, place->ledger, ledger, err);
    }
    TACET_OR_RETURN(s->new_budget == NULL ? check_manifest(place, err) : TACET_OK);
    if (s->engine != NULL) {
        return tacet__registry_reopen(out, place->ledger, ledger, err);
    }
    char *folder = realpath(s->folder, NULL);
    (void)snprintf(what, sizeof what, "%s", folder != NULL ? folder : s->folder);
    free(folder);
    const char *names[TACET_MANIFEST_COLUMNS];
    const tacet__registry_release release = {.rows = rows_of(s, source, names),
                                             .few = s->few,
                                             .order = &place->order,
                                             .ledger = place->ledger,
                                             .what = what,
                                             .ticket = place->ticket,
                                             .new_budget = s->new_budget};
    return tacet__registry_open(out, &release, ledger, err);
}

/* The way from a folder to a file, both absolute and without links. */
static tacet_status relative(char out[TACET__PATH], const char *folder, const char *file, tacet_error *err) {
    size_t common = 0;
    for (size_t i = 0;; i++) {
        const bool folder_part = folder[i] == '/' || folder[i] == '\0';
        if (folder_part && file[i] == '/') {
            common = i;
        }
        if (folder[i] == '\0' || folder[i] != file[i]) {
            break;
        }
    }
    size_t at = 0;
    for (const char *up = folder + common; *up != '\0'; up++) {
        if (up[0] == '/' && up[1] != '\0' && at + 3 < TACET__PATH) {
            memcpy(out + at, "../", 3);
            at += 3;
        }
    }
    const int n = snprintf(out + at, TACET__PATH - at, "%s", file + common + 1);
    return n >= 0 && (size_t)n < TACET__PATH - at ? TACET_OK
                                                  : tacet__fail(err, TACET_INVALID, "the ledger's path is too long");
}

tacet_status tacet__curate_ledger_link(const tacet__curate_place *place, const tacet_curate_settings *s,
                                       tacet_error *err) {
    struct stat st;
    char path[TACET__PATH];
    if (tacet__curate_counts(s) && s->data != NULL && s->table == NULL &&
        beside_first(path, s->data, NULL) == TACET_OK) {
        tacet__link_beside(path, place->ledger);
    }
    if (tacet__db_is_url(place->ledger)) {
        return TACET_OK; /* nothing to link to */
    }
    const bool there = lstat(place->link, &st) == 0;
    if (there && (!S_ISLNK(st.st_mode) || same_file(place->link, place->ledger))) {
        return TACET_OK; /* the ledger itself, or leading to it, or one that is not ours to replace */
    }
    char *folder = realpath(s->folder, NULL);
    char *file = realpath(place->ledger, NULL);
    tacet_status status =
        folder == NULL || file == NULL
            ? tacet__fail(err, errno == ENOMEM ? TACET_NO_MEMORY : TACET_IO, "%s: cannot be found again", place->ledger)
            : relative(path, folder, file, err);
    if (status == TACET_OK && ((there && unlink(place->link) != 0) || symlink(path, place->link) != 0)) {
        status = tacet__fail(err, TACET_IO, "%s: cannot be linked: %s", place->link, strerror(errno));
    }
    free(folder);
    free(file);
    return status;
}

void tacet__curate_leave(const tacet__curate_place *place, const char *folder) {
    struct stat st;
    if (!place->made) {
        return;
    }
    if (lstat(place->link, &st) == 0 && S_ISLNK(st.st_mode)) {
        (void)unlink(place->link); /* the next release makes it again */
    }
    (void)rmdir(folder);
}

tacet_status tacet__curate_refused(const tacet_curate_settings *s, tacet_ledger *book, tacet_status status,
                                   const tacet_error *why, tacet_error *err) {
    if (status == TACET_CONFLICT) {
        return tacet__fail(err, status,
                           "the ledger has another release under the ticket '%.40s'; another --ticket makes, and "
                           "charges, another one (%.120s)",
                           s->ticket, why->message);
    }
    if (status != TACET_BUDGET) {
        return tacet__fail(err, status, "%s", why->message);
    }
    tacet_ledger_totals totals;
    const tacet_law *law = tacet_curate_law(s->mechanism);
    const bool curves = law != NULL && law->density == TACET_DENSITY_EUCLIDEAN &&
                        tacet_ledger_total(book, &totals, NULL) == TACET_OK &&
                        totals.accounting == TACET_ACCOUNTING_GAUSSIAN;
    return tacet__fail(
        err, status, "the budget of this table, fixed by its first release, does not allow it: %.80s%s", why->message,
        curves ? " (its ledger adds up Gaussian curves; as one, a pure eps costs several times itself)" : "");
}

tacet_status tacet_curate_ledger(char *out, size_t size, const tacet_curate_settings *settings, tacet_error *err) {
    tacet__curate_place place = {.held = -1};
    if ((settings->data == NULL && (settings->records == NULL || settings->space == NULL)) ||
        settings->folder == NULL) {
        return tacet__fail(err, TACET_INVALID, "a table and a folder are needed");
    }
    TACET_OR_RETURN(tacet__curate_ledger_path(&place, settings, err));
    return snprintf(out, size, "%s", place.ledger) < (int)size
               ? TACET_OK
               : tacet__fail(err, TACET_INVALID, "no room for the ledger's path");
}

bool tacet_curate_url_has_password(const char *url) {
    return tacet__db_url_has_password(url);
}
