/* SPDX-License-Identifier: Apache-2.0 */
/* care.c - checking a store, and copying it while it is used.
 * Ring: open. Cost: one pass over the log and the ledger; a copy is one pass over each file. */
#include "service/open/store/care.h"

#include "core/fail.h"
#include "dp/open/ledger_view.h"
#include "io/file/folder.h"
#include "service/open/store/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUSY_MS = 10000 };

typedef struct recount {
    uint64_t events, suggested, observed, released;
} recount;

static tacet_status count_event(const tacet__event *event, void *user, tacet_error *err) {
    recount *count = user;
    (void)err;
    count->events++;
    count->suggested += event->kind == TACET__EVENT_SUGGEST;
    count->observed += event->kind == TACET__EVENT_OBSERVE;
    count->released += event->kind == TACET__EVENT_RELEASE;
    return TACET_OK;
}

/* Counts that stand beside the log must be those of the log: by them a person's rounds are capped. */
static tacet_status check_counts(tacet__half *half, const tacet__study *study, const recount *count, tacet_error *err) {
    bool row = false;
    if (study->suggested != count->suggested || study->observed != count->observed ||
        study->released != count->released) {
        return tacet__fail(err, TACET_CORRUPT, "study %s: its counts are not those of its log", study->name);
    }
    tacet__query *query = half->queries[TACET__Q_HOLDER_WRONG];
    tacet__query_bind_int(query, 1, tacet__place(study->number, 0));
    tacet__query_bind_int(query, 2, tacet__place(study->number + 1, 0));
    tacet_status status = tacet__query_step(query, &row, err);
    if (status == TACET_OK && row && tacet__query_int(query, 0) > 0) {
        status =
            tacet__fail(err, TACET_CORRUPT, "study %s: the rounds of %lld tokens or persons are not those of its log",
                        study->name, (long long)tacet__query_int(query, 0));
    }
    tacet__query_reset(query);
    return status;
}

static tacet_status check_ledger(tacet__studies *studies, tacet__study_report *out, const tacet__study *study,
                                 tacet_error *err) {
    tacet__ledger_view *view = NULL;
    tacet__ledger_report report;
    tacet_error detail = {TACET_OK, ""};
    tacet_blob path;
    tacet_blob_init(&path);
    tacet_status status = tacet__studies_ledger(studies, &path, study->name, &detail);
    TACET_THEN(status, tacet__ledger_view_open(&view, (const char *)path.data, &detail));
    TACET_THEN(status, tacet__ledger_verify(view, &report, NULL, &detail));
    tacet__ledger_view_close(view);
    tacet_blob_clear(&path);
    if (status == TACET_OK) {
        out->ledger_records = report.records;
        out->ledger_entries = report.entries;
    }
    if (status == TACET_NOT_FOUND && study->head == 0) { /* added, not yet charged */
        return TACET_OK;
    }
    if (status == TACET_NOT_FOUND) {
        return tacet__fail(err, TACET_CORRUPT, "study %s has events, and no ledger", study->name);
    }
    return status == TACET_OK ? TACET_OK : tacet__fail(err, status, "study %s: %s", study->name, detail.message);
}

tacet_status tacet__studies_check(tacet__studies *studies, tacet__study_report *out, const char *name,
                                  tacet_error *err) {
    tacet__study study;
    tacet__study shown;
    memset(out, 0, sizeof *out);
    tacet__study_init(&study);
    tacet_status status = tacet__studies_get(studies, &study, name, err);
    if (status == TACET_OK) { /* compares the two stores */
        status = tacet__studies_begin(studies, &study, err);
        tacet__studies_rollback(studies);
    }
    recount count = {0};
    TACET_THEN(status, tacet__studies_read(studies, &study, 1, count_event, &count, err));
    if (status == TACET_OK && count.events == study.head) { /* otherwise a server has gone on meanwhile */
        status = check_counts(tacet__log_half(studies, &study), &study, &count, err);
    }
    out->events = count.events;
    out->shown = out->events;
    if (status == TACET_OK && study.model == TACET__STUDY_CENTRAL) {
        status = tacet__read_head(&studies->open, &shown, study.open_number, false, err);
        out->shown = status == TACET_OK ? tacet__shown_seq(&study, &shown) : 0;
        TACET_THEN(status, check_ledger(studies, out, &study, err));
    }
    tacet__study_clear(&study);
    return status;
}

static tacet_status sync_path(const char *path, int flags, tacet_error *err) {
    const int fd = open(path, flags | O_CLOEXEC);
    const bool synced = fd >= 0 && fsync(fd) == 0;
    const int number = errno;
    if (fd >= 0) {
        (void)close(fd);
    }
    return synced ? TACET_OK : tacet__fail(err, TACET_IO, "cannot sync %s: %s", path, strerror(number));
}

/* One file, as it is at one instant. */
static tacet_status copy_file(const char *from, const char *to, const char *name, tacet_error *err) {
    char source[TACET__PATH];
    char target[TACET__PATH];
    char sql[2 * TACET__PATH + 32] = "VACUUM INTO '";
    size_t used = strlen(sql);
    tacet__db *db = NULL;
    const tacet__db_settings settings = {.busy_ms = BUSY_MS};
    tacet_status status = tacet__path(source, from, name, err);
    TACET_THEN(status, tacet__path(target, to, name, err));
    if (status != TACET_OK) {
        return status;
    }
    for (const char *c = target; *c != '\0'; c++) {
        if (*c == '\'') {
            sql[used++] = '\'';
        }
        sql[used++] = *c;
    }
    memcpy(sql + used, "'", 2);
    status = tacet__db_open(&db, source, &settings, err);
    TACET_THEN(status, tacet__db_exec(db, sql, err));
    tacet__db_close(db);
    if (status == TACET_OK && chmod(target, S_IRUSR | S_IWUSR) != 0) {
        status = tacet__fail(err, tacet__db_errno(errno), "cannot protect %s: %s", target, strerror(errno));
    }
    return status == TACET_OK ? sync_path(target, O_RDWR, err) : status;
}

static bool is_ledger(const char *name) {
    const size_t length = strlen(name);
    return strncmp(name, "ledger-", 7) == 0 && length > 10 && strcmp(name + length - 3, ".db") == 0;
}

static bool is_key(const char *name) {
    const size_t length = strlen(name);
    return strncmp(name, "ledger-", 7) == 0 && length > 14 && strcmp(name + length - 7, ".db.key") == 0;
}

/* The key that open reservations of a ledger are sealed under: without it a copy could not go on. */
static tacet_status copy_key(const char *from, const char *to, const char *name, tacet_error *err) {
    char source[TACET__PATH];
    char target[TACET__PATH];
    char bytes[256];
    tacet_status status = tacet__path(source, from, name, err);
    TACET_THEN(status, tacet__path(target, to, name, err));
    if (status != TACET_OK) {
        return status;
    }
    const int in = open(source, O_RDONLY | O_CLOEXEC);
    const int out = in >= 0 ? open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR) : -1;
    const ssize_t size = out >= 0 ? read(in, bytes, sizeof bytes) : -1;
    const bool copied = size > 0 && write(out, bytes, (size_t)size) == size && fsync(out) == 0;
    const int number = errno;
    sodium_memzero(bytes, sizeof bytes);
    if (in >= 0) {
        (void)close(in);
    }
    if (out >= 0) {
        (void)close(out);
    }
    return copied ? TACET_OK
                  : tacet__fail(err, tacet__db_errno(number), "cannot copy %s: %s", source, strerror(number));
}

static tacet_status copy_ledgers(const char *store, const char *folder, tacet_error *err) {
    tacet_status status = TACET_OK;
    DIR *entries = opendir(store);
    if (entries == NULL) {
        return tacet__fail(err, tacet__db_errno(errno), "cannot read %s: %s", store, strerror(errno));
    }
    int wrong = 0;
    const char *name = NULL;
    while (status == TACET_OK && (name = tacet__folder_next(entries, &wrong)) != NULL) {
        status = is_ledger(name) ? copy_file(store, folder, name, err)
                 : is_key(name)  ? copy_key(store, folder, name, err)
                                 : TACET_OK;
    }
    if (status == TACET_OK && wrong != 0) { /* a ledger that was not seen would be missing */
        status = tacet__fail(err, tacet__db_errno(wrong), "cannot read %s: %s", store, strerror(wrong));
    }
    (void)closedir(entries);
    return status;
}

/* The trusted store and the ledgers must be of one instant: a ledger that knows of a release which the log does not
 * lead to makes a study unusable, one that knows of less makes it unsafe. Who writes to a ledger holds the lock of the
 * log. */
static tacet_status copy_trusted(const char *store, const char *folder, tacet_error *err) {
    char path[TACET__PATH];
    tacet__db *lock = NULL;
    const tacet__db_settings settings = {.busy_ms = BUSY_MS};
    tacet_status status = tacet__path(path, store, "trusted.db", err);
    TACET_THEN(status, tacet__db_open(&lock, path, &settings, err));
    TACET_THEN(status, tacet__db_begin(lock, true, err));
    TACET_THEN(status, copy_file(store, folder, "trusted.db", err));
    TACET_THEN(status, copy_ledgers(store, folder, err));
    if (lock != NULL) {
        tacet__db_rollback(lock);
    }
    tacet__db_close(lock);
    return status;
}

tacet_status tacet__studies_backup(const char *store, const char *folder, tacet_error *err) {
    if (tacet__db_is_url(store)) {
        return tacet__fail(err, TACET_UNSUPPORTED, "a PostgreSQL store is copied by pg_dump (docs/deployment.md)");
    }
    if (mkdir(folder, S_IRWXU) != 0) {
        return tacet__fail(err, errno == EEXIST ? TACET_CONFLICT : tacet__db_errno(errno), "cannot create %s: %s",
                           folder, strerror(errno));
    }
    tacet_status status = copy_file(store, folder, "open.db", err);
    TACET_THEN(status, copy_trusted(store, folder, err));
    return status == TACET_OK ? sync_path(folder, O_RDONLY | O_DIRECTORY, err) : status;
}
