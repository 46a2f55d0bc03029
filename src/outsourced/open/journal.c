/* SPDX-License-Identifier: Apache-2.0 */
/* journal.c - an append-only file of JSON lines, synced line by line.
 * Ring: open. */
#include "outsourced/open/journal.h"

#include "core/fail.h"
#include "core/memory.h"
#include "io/file/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_BYTES = 1 << 28 };

static const char *const HOW[] = {"random", "model"};
static const char FORMAT[] = "tacet-journal-1";

static tacet_status append(tacet__journal *j, json_t *object, tacet_error *err) {
    if (j->fd < 0) {
        json_decref(object);
        return TACET_OK;
    }
    char *text = object != NULL ? json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(17) | JSON_SORT_KEYS) : NULL;
    json_decref(object);
    if (text == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory writing the journal");
    }
    size_t length = strlen(text);
    text[length++] = '\n'; /* in place of the closing NUL: a line is complete or it is not */
    size_t sent = 0;
    while (sent < length) {
        const ssize_t n = write(j->fd, text + sent, length - sent);
        if (n < 0 && errno != EINTR) {
            break;
        }
        sent += n > 0 ? (size_t)n : 0;
    }
    free(text);
    if (sent < length || fsync(j->fd) != 0) {
        return tacet__fail(err, TACET_IO, "the journal cannot be written: %s", strerror(errno));
    }
    return TACET_OK;
}

static tacet__journal_query *find(const tacet__journal *j, const char *ticket) {
    for (size_t i = j->count; i > 0; i--) {
        if (strcmp(j->queries[i - 1].ticket, ticket) == 0) {
            return &j->queries[i - 1];
        }
    }
    return NULL;
}

static tacet_status add(tacet__journal *j, const char *ticket, size_t row, tacet__asked how, tacet_error *err) {
    if (!tacet__grow((void **)&j->queries, &j->capacity, j->count + 1, sizeof *j->queries)) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for the journal");
    }
    tacet__journal_query *q = &j->queries[j->count++];
    *q = (tacet__journal_query){.row = row, .how = how};
    (void)snprintf(q->ticket, sizeof q->ticket, "%s", ticket);
    return TACET_OK;
}

static tacet_status replay_line(tacet__journal *j, json_t *line, const json_t *settings, size_t number,
                                tacet_error *err) {
    const char *text = NULL;
    const char *word = NULL;
    const char *format = NULL;
    json_t *stored = NULL;
    json_int_t row = 0;
    double value = 0;
    if (number == 1) {
        if (json_unpack(line, "{s{ss ss so}}", "start", "format", &format, "run", &text, "settings", &stored) != 0 ||
            strlen(text) >= sizeof j->run) {
            return tacet__fail(err, TACET_CORRUPT, "the journal does not begin with a run");
        }
        if (strcmp(format, FORMAT) != 0) {
            return tacet__fail(err, TACET_CORRUPT, "the journal is of the format %.40s; this version reads %s", format,
                               FORMAT);
        }
        if (!json_equal(stored, settings)) {
            return tacet__fail(err, TACET_CONFLICT,
                               "the state folder belongs to a run with other settings or another release; use another "
                               "folder, or the same settings");
        }
        memcpy(j->run, text, strlen(text) + 1);
        return TACET_OK;
    }
    if (json_unpack(line, "{s{ss sI ss}}", "ask", "ticket", &text, "row", &row, "how", &word) == 0 && row >= 0 &&
        strlen(text) < TACET__JOURNAL_TICKET && find(j, text) == NULL) {
        for (int how = TACET__ASKED_RANDOM; how <= TACET__ASKED_MODEL; how++) {
            if (strcmp(word, HOW[how]) == 0) {
                return add(j, text, (size_t)row, (tacet__asked)how, err);
            }
        }
    }
    if (json_unpack(line, "{s{ss}}", "failed", "ticket", &text) == 0) {
        tacet__journal_query *q = find(j, text);
        if (q != NULL && !q->answered && !q->failed) {
            q->failed = true;
            return TACET_OK;
        }
    }
    if (json_unpack(line, "{s{ss sF}}", "value", "ticket", &text, "value", &value) == 0) {
        tacet__journal_query *q = find(j, text);
        if (q != NULL && !q->answered && !q->failed && isfinite(value)) {
            q->answered = true;
            q->value = value;
            return TACET_OK;
        }
    }
    return tacet__fail(err, TACET_CORRUPT, "line %zu of the journal makes no sense", number);
}

/* Reads what is there; cuts off an incomplete last line. */
static tacet_status replay(tacet__journal *j, const json_t *settings, size_t *lines, tacet_error *err) {
    struct stat st;
    *lines = 0;
    if (fstat(j->fd, &st) != 0 || st.st_size > MOST_BYTES) {
        return tacet__fail(err, TACET_IO, "the journal cannot be read");
    }
    const size_t size = (size_t)st.st_size;
    char *text = malloc(size + 1);
    if (text == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for the journal");
    }
    const ssize_t got = pread(j->fd, text, size, 0);
    tacet_status status = got == (ssize_t)size ? TACET_OK : tacet__fail(err, TACET_IO, "the journal cannot be read");
    size_t at = 0;
    while (status == TACET_OK && at < size) {
        const char *end = memchr(text + at, '\n', size - at);
        if (end == NULL) {
            break;
        }
        json_t *line = json_loadb(text + at, (size_t)(end - text) - at, 0, NULL);
        ++*lines;
        status = json_is_object(line) ? replay_line(j, line, settings, *lines, err)
                                      : tacet__fail(err, TACET_CORRUPT, "line %zu of the journal is no JSON", *lines);
        json_decref(line);
        at = (size_t)(end - text) + 1;
    }
    free(text);
    if (status == TACET_OK && (ftruncate(j->fd, (off_t)at) != 0 || lseek(j->fd, 0, SEEK_END) < 0)) {
        status = tacet__fail(err, TACET_IO, "the journal cannot be written");
    }
    return status;
}

static void name_run(tacet__journal *j) {
    unsigned char raw[8];
    randombytes_buf(raw, sizeof raw);
    (void)sodium_bin2hex(j->run, sizeof j->run, raw, sizeof raw);
}

tacet_status tacet__journal_none(tacet__journal *out, tacet_error *err) {
    *out = (tacet__journal){.fd = -1};
    if (sodium_init() < 0) {
        return tacet__fail(err, TACET_IO, "no randomness to name the run with");
    }
    name_run(out);
    return TACET_OK;
}

static tacet_status begin(tacet__journal *j, const json_t *settings, tacet_error *err) {
    name_run(j);
    return append(j, json_pack("{s{ss ss sO}}", "start", "format", FORMAT, "run", j->run, "settings", settings), err);
}

tacet_status tacet__journal_open(tacet__journal *out, const char *folder, const json_t *settings, tacet_error *err) {
    char path[TACET__PATH];
    size_t lines = 0;
    *out = (tacet__journal){.fd = -1};
    TACET_OR_RETURN(tacet__path(path, folder, "journal.jsonl", err));
    if (mkdir(folder, 0700) != 0 && errno != EEXIST) {
        return tacet__fail(err, TACET_IO, "%s cannot be made: %s", folder, strerror(errno));
    }
    out->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_APPEND, 0600);
    if (out->fd < 0) {
        return tacet__fail(err, TACET_IO, "%s cannot be opened: %s", path, strerror(errno));
    }
    tacet_status status = flock(out->fd, LOCK_EX | LOCK_NB) == 0
                              ? TACET_OK
                              : tacet__fail(err, TACET_BUSY, "another run uses the state folder %s", folder);
    TACET_THEN(status, replay(out, settings, &lines, err));
    if (status == TACET_OK && lines == 0) {
        status = begin(out, settings, err);
        TACET_THEN(status, tacet__folder_sync(folder, err)); /* the name must survive a crash as the lines do */
    }
    if (status != TACET_OK) {
        tacet__journal_close(out);
    }
    return status;
}

void tacet__journal_close(tacet__journal *j) {
    if (j->fd >= 0) {
        (void)close(j->fd);
    }
    free(j->queries);
    *j = (tacet__journal){.fd = -1};
}

tacet_status tacet__journal_ask(tacet__journal *j, size_t row, tacet__asked how, tacet_error *err) {
    char ticket[TACET__JOURNAL_TICKET];
    (void)snprintf(ticket, sizeof ticket, "%s-%zu", j->run, j->count + 1);
    tacet_status status =
        append(j, json_pack("{s{ss sI ss}}", "ask", "ticket", ticket, "row", (json_int_t)row, "how", HOW[how]), err);
    return status != TACET_OK ? status : add(j, ticket, row, how, err);
}

tacet_status tacet__journal_value(tacet__journal *j, size_t index, double value, tacet_error *err) {
    tacet__journal_query *q = &j->queries[index];
    const tacet_status status = append(j, json_pack("{s{ss sf}}", "value", "ticket", q->ticket, "value", value), err);
    if (status == TACET_OK) {
        q->answered = true;
        q->value = value;
    }
    return status;
}

tacet_status tacet__journal_failed(tacet__journal *j, size_t index, tacet_error *err) {
    tacet__journal_query *q = &j->queries[index];
    const tacet_status status = append(j, json_pack("{s{ss}}", "failed", "ticket", q->ticket), err);
    q->failed = q->failed || status == TACET_OK;
    return status;
}
