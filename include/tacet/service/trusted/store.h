/* SPDX-License-Identifier: Apache-2.0 */
/* store.h - looking after a store of studies: what is in it, who may ask, whether it holds together, copies.
 *
 * What `tacet study status|show|archive|snapshot|expire|token` and `tacet store` do, beside running servers or without
 * them. Texts are JSON from malloc, as the commands print with --json; never a decision set, a reward or a state.
 * Statuses everywhere: NOT_FOUND, BUSY, IO, DENIED, CORRUPT, NO_MEMORY; UNSUPPORTED: a schema of another version.
 */
#ifndef TACET_SERVICE_TRUSTED_STORE_H
#define TACET_SERVICE_TRUSTED_STORE_H

#include <stdbool.h>
#include <stdint.h>
#include <tacet/service/open/server.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Makes what is missing: of PostgreSQL, by a role that may, schemas, roles and rights. Repeating it is harmless. */
TACET_API tacet_status tacet_store_init(const tacet_store_place *place, tacet_error *err);

/* {"studies": [{name, trust, state, created, suggested, observed, released}, …]} */
TACET_API tacet_status tacet_store_list(char **out, const tacet_store_place *place, tacet_error *err);
/* The same of one study, its definition, and what each token "held" of it. */
TACET_API tacet_status tacet_store_show(char **out, const tacet_store_place *place, const char *study,
                                        tacet_error *err);
/* Nothing is asked or answered from then on. Again is OK. */
TACET_API tacet_status tacet_store_archive(const tacet_store_place *place, const char *study, tacet_error *err);
/* Saves what a study (NULL: each of them) has learnt, so that a start replays nothing: {"studies": [{name, events,
 * replayed}, …]} */
TACET_API tacet_status tacet_store_snapshot(char **out, const tacet_store_place *place, const char *study,
                                            tacet_error *err);
/* Ends open tickets that are at least `seconds` old: of the token with this number, or of all (0). NOT_FOUND: no such
 * study or token. */
TACET_API tacet_status tacet_store_expire(uint64_t *expired, const tacet_store_place *place, const char *study,
                                          uint64_t seconds, uint64_t token, tacet_error *err);

enum { TACET_TOKEN_TEXT = 47 };

typedef struct tacet_token_request {
    const char *role;                /* "device", "analyst" or "owner"; INVALID otherwise */
    const char *study;               /* NULL: all of them */
    const char *label;               /* says later whose it is; NULL: "" */
    double days;                     /* how long it is good, at most 36500; 0: until it is withdrawn */
    uint64_t open_most, rounds_most; /* its quotas; 0: none of its own */
} tacet_token_request;

/* The text is told once and stored as a hash. Wipe it. */
TACET_API tacet_status tacet_store_token(char text[TACET_TOKEN_TEXT], const tacet_store_place *place,
                                         const tacet_token_request *request, tacet_error *err);
/* Another text for token `number`; the old one is good for `grace` seconds still, at most a year. `days` as above. */
TACET_API tacet_status tacet_store_token_renew(char text[TACET_TOKEN_TEXT], const tacet_store_place *place,
                                               uint64_t number, double days, uint64_t grace, tacet_error *err);
/* Servers notice within 5 seconds. */
TACET_API tacet_status tacet_store_token_drop(const tacet_store_place *place, uint64_t number, tacet_error *err);
/* {"tokens": [{id, role, study, label, created, expires, open_most, rounds_most}, …]}, also those that have expired. */
TACET_API tacet_status tacet_store_tokens(char **out, const tacet_store_place *place, tacet_error *err);

/* The audit trail: {"lines": [{number, time, who, what, hash}, …]}, one line before each administrative act. CORRUPT:
 * it does not hold together. */
TACET_API tacet_status tacet_store_audit(char **out, const tacet_store_place *place, tacet_error *err);
/* Reads everything, compares the halves, verifies the ledgers, and loads each study as a server would: {"studies":
 * [{name, events, shown, ledger_records, ledger_entries}, …]}. CORRUPT names the first thing that is wrong. */
TACET_API tacet_status tacet_store_check(char **out, const tacet_store_place *place, tacet_error *err);
/* Makes a store that was put back to an older state safe to go on with; no server may run: {"studies": [{name,
 * state}, …]}. Central studies that answered are archived, unless nothing was answered after the copy (`whole`). */
TACET_API tacet_status tacet_store_restore(char **out, const tacet_store_place *place, bool whole, tacet_error *err);
/* Copies a store in a folder into a folder that is made for it, while servers run. NOT_FOUND: no store. CONFLICT: the
 * folder exists. UNSUPPORTED: a URL (pg_dump does it). */
TACET_API tacet_status tacet_store_backup(const char *store, const char *folder, tacet_error *err);

#ifdef __cplusplus
}
#endif
#endif
