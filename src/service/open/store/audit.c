/* SPDX-License-Identifier: Apache-2.0 */
/* audit.c - who did what to the store: one line for each administrative act, before it is done, one for how it ended.
 * Ring: open. Lines are numbered without a gap and chained by a hash, as the log of a study is: one that was changed,
 * dropped or put between others is found by whoever reads them. A cut at the end is not, unless the last hash was noted
 * elsewhere ('tacet store audit' prints it). No line has a value or a secret. Cost: one transaction a line. */
#include "service/open/store/internal.h"

#include "core/fail.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static void chain_line(unsigned char hash[TACET__AUDIT_HASH], const tacet__audit *line) {
    crypto_generichash_state state;
    char number[48];
    const int length =
        snprintf(number, sizeof number, "%llu %llu", (unsigned long long)line->number, (unsigned long long)line->time);
    (void)crypto_generichash_init(&state, NULL, 0, TACET__AUDIT_HASH);
    (void)crypto_generichash_update(&state, hash, TACET__AUDIT_HASH);
    (void)crypto_generichash_update(&state, (const unsigned char *)number, (size_t)length + 1);
    (void)crypto_generichash_update(&state, (const unsigned char *)line->who, strlen(line->who) + 1);
    (void)crypto_generichash_update(&state, (const unsigned char *)line->what, strlen(line->what) + 1);
    (void)crypto_generichash_final(&state, hash, TACET__AUDIT_HASH);
}

static tacet_status take_line(tacet__query *query, tacet__audit *out, tacet_error *err) {
    size_t size = 0;
    const unsigned char *hash = tacet__query_bytes(query, 4, &size);
    out->number = (uint64_t)tacet__query_int(query, 0);
    out->time = (uint64_t)tacet__query_int(query, 1);
    if (size != sizeof out->hash) {
        return tacet__fail(err, TACET_CORRUPT, "line %llu of the audit trail has no hash",
                           (unsigned long long)out->number);
    }
    memcpy(out->hash, hash, sizeof out->hash);
    tacet__take_text(out->who, sizeof out->who, query, 2);
    tacet__take_text(out->what, sizeof out->what, query, 3);
    return TACET_OK;
}

/* Inside the transaction that writes: nobody else adds a line meanwhile. */
static tacet_status append_line(tacet__half *open, tacet__audit *line, tacet_error *err) {
    tacet__query *last = open->queries[TACET__Q_AUDIT_LAST];
    tacet__query *add = open->queries[TACET__Q_AUDIT_ADD];
    tacet__audit before = {0};
    bool row = false;
    tacet_status status = tacet__query_step(last, &row, err);
    status = status == TACET_OK && row ? take_line(last, &before, err) : status;
    tacet__query_reset(last);
    if (status != TACET_OK) {
        return status;
    }
    line->number = before.number + 1;
    line->time = (uint64_t)time(NULL);
    memcpy(line->hash, before.hash, sizeof line->hash);
    chain_line(line->hash, line);
    tacet__query_bind_int(add, 1, (int64_t)line->number);
    tacet__query_bind_int(add, 2, (int64_t)line->time);
    tacet__query_bind_text(add, 3, line->who, strlen(line->who));
    tacet__query_bind_text(add, 4, line->what, strlen(line->what));
    tacet__query_bind_bytes(add, 5, line->hash, sizeof line->hash);
    return tacet__query_run(add, err);
}

tacet_status tacet__studies_audit(tacet__studies *studies, uint64_t *number, const char *who, const char *what,
                                  tacet_error *err) {
    tacet__half *open = &studies->open;
    tacet__audit line = {0};
    if (studies->writing != NULL || studies->gathering) {
        return tacet__fail(err, TACET_STATE, "a transaction is open");
    }
    (void)snprintf(line.who, sizeof line.who, "%s", who);
    (void)snprintf(line.what, sizeof line.what, "%s", what);
    TACET_OR_RETURN(tacet__half_begin(open, false, err));
    tacet_status status = tacet__half_end(open, append_line(open, &line, err), err);
    if (status == TACET_OK && number != NULL) {
        *number = line.number;
    }
    return status;
}

tacet_status tacet__studies_audited(tacet__studies *studies, tacet__audit_fn *fn, void *user, tacet_error *err) {
    tacet__query *query = studies->open.queries[TACET__Q_AUDIT_READ];
    unsigned char hash[TACET__AUDIT_HASH] = {0};
    uint64_t number = 0;
    bool row = false;
    tacet_status status = tacet__query_step(query, &row, err);
    while (status == TACET_OK && row) {
        tacet__audit line = {0};
        status = take_line(query, &line, err);
        chain_line(hash, &line);
        if (status == TACET_OK && (line.number != ++number || memcmp(hash, line.hash, sizeof hash) != 0)) {
            status = tacet__fail(err, TACET_CORRUPT, "the audit trail does not hold together at line %llu",
                                 (unsigned long long)number);
        }
        TACET_THEN(status, fn(&line, user, err));
        TACET_THEN(status, tacet__query_step(query, &row, err));
    }
    tacet__query_reset(query);
    return status;
}
