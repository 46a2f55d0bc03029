/* SPDX-License-Identifier: Apache-2.0 */
/* verify.c - what the stores say, against what the clients were told. The log is read through the store's own chain of
 * hashes; then a policy made anew from the definition (and, for the central study, from the state it had before its
 * first round) goes through the whole log: it must suggest what was suggested, and arrive, bit for bit, at the state
 * the servers saved last. The noise of the central policy is in that state, so equal bytes mean that it was drawn once.
 */
#include "soak.h"

#include "service/open/study/round.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/dp/ledger.h>

typedef struct entry {
    bool suggestion, observed;
    uint64_t index;
    double value;
    char key[SOAK_KEY];
} entry;

typedef struct walk {
    soak_verdict *verdict;
    entry *entries; /* by seq, from 0 */
    uint64_t head;
    tacet__learner learner;
    tacet__definition def;
    tacet_blob snapshot;
    uint64_t snapshot_seq;
    bool compared;
} walk;

static void replay(walk *w, const tacet__event *e, tacet_error *err) {
    if (e->kind == TACET__EVENT_SUGGEST) {
        tacet__round round;
        tacet_suggestion s = {0};
        soak_must(tacet__round_decode(&round, e->body, e->body_size, err), err, "a round of the log");
        const tacet_status status =
            tacet_policy_suggest(w->learner.policy, &s, round.numbers != NULL ? &round.round : NULL, err);
        soak_must(status, err, "replaying a suggestion");
        w->verdict->unequal += s.index != e->index || s.ticket != e->number;
        tacet__round_clear(&round);
    } else if (e->kind == TACET__EVENT_OBSERVE) {
        soak_must(tacet_policy_observe(w->learner.policy, e->number, tacet__definition_towards(&w->def, e->value), err),
                  err, "replaying an observation");
    }
}

static tacet_status see(const tacet__event *e, void *user, tacet_error *err) {
    walk *w = user;
    if (e->seq > w->head) {
        soak_die("an event beyond the head");
    }
    entry *x = &w->entries[e->seq];
    if (e->kind == TACET__EVENT_SUGGEST) {
        x->suggestion = true;
        x->index = e->index;
        /* Whose key it is stands before a slash. */
        const char *key = e->key != NULL ? memchr(e->key, '/', e->key_size) : NULL;
        const size_t before = key != NULL ? (size_t)(++key - (const char *)e->key) : 0;
        (void)snprintf(x->key, sizeof x->key, "%.*s", (int)(e->key_size - before), key != NULL ? key : "");
        w->verdict->suggestions++;
    } else if (e->kind == TACET__EVENT_OBSERVE) {
        entry *of = &w->entries[e->of];
        w->verdict->twice += of->observed;
        w->verdict->lost += !of->suggestion; /* an observation of nothing */
        of->observed = true;
        of->value = e->value;
        w->verdict->observations++;
    }
    replay(w, e, err);
    if (e->seq == w->snapshot_seq) {
        tacet_blob now;
        tacet_blob_init(&now);
        soak_must(tacet_policy_save(w->learner.policy, &now, err), err, "saving the replayed policy");
        w->verdict->unequal += now.size != w->snapshot.size || memcmp(now.data, w->snapshot.data, now.size) != 0;
        w->compared = true;
        tacet_blob_clear(&now);
    }
    return TACET_OK;
}

static int by_key(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static size_t repeated_keys(const walk *w) {
    const char **keys = calloc(w->head + 1, sizeof *keys);
    size_t count = 0;
    size_t repeated = 0;
    if (keys == NULL) {
        soak_die("out of memory");
    }
    for (uint64_t seq = 1; seq <= w->head; seq++) {
        if (w->entries[seq].suggestion) {
            keys[count++] = w->entries[seq].key;
        }
    }
    qsort(keys, count, sizeof *keys, by_key);
    for (size_t i = 1; i < count; i++) {
        repeated += strcmp(keys[i], keys[i - 1]) == 0;
    }
    free(keys);
    return repeated;
}

/* Every acknowledged pair is there as it was acknowledged. */
static void match(const walk *w, const soak_journal *j, const unsigned char *secret) {
    for (size_t i = 0; i < j->count; i++) {
        const soak_pair *p = &j->pairs[i];
        uint64_t seq = 0;
        if (!p->suggested) {
            continue;
        }
        if (!tacet__ticket_read(&seq, p->ticket, secret) || seq > w->head) {
            w->verdict->lost++;
            continue;
        }
        const entry *x = &w->entries[seq];
        const bool there = x->suggestion && x->index == p->index && strcmp(x->key, p->key) == 0;
        const bool value = !x->observed || memcmp(&x->value, &p->value, sizeof p->value) == 0;
        w->verdict->lost += !there || !value || (p->observed && !x->observed);
    }
}

static void read_ledger(const char *path, soak_verdict *out) {
    tacet_error err = {0};
    tacet_ledger *ledger = NULL;
    tacet_ledger_totals totals;
    tacet_ledger_settings settings;
    tacet_ledger_settings_defaults(&settings);
    settings.use_stored = true;
    settings.create = false;
    soak_must(tacet_ledger_open(&ledger, path, &settings, &err), &err, "the ledger");
    soak_must(tacet_ledger_total(ledger, &totals, &err), &err, "the ledger's totals");
    out->charges = totals.entries;
    for (tacet_status status = TACET_OK; status == TACET_OK; out->batches += status == TACET_OK) {
        char ticket[32];
        tacet_entry of;
        tacet_blob memo;
        tacet_blob_init(&memo);
        (void)snprintf(ticket, sizeof ticket, "study/%zu", out->batches + 1);
        status = tacet_ledger_lookup(ledger, &of, &memo, ticket, NULL);
        tacet_blob_clear(&memo);
    }
    out->spent_eps = totals.eps;
    out->budget_eps = totals.budget_eps;
    tacet_ledger_close(ledger);
}

static void verify_study(soak *s, size_t which, tacet__studies *store, soak_verdict *out) {
    tacet_error err = {0};
    tacet__study study;
    walk w = {.verdict = out};
    tacet_blob ledger;
    tacet__study_init(&study);
    tacet_blob_init(&w.snapshot);
    tacet_blob_init(&ledger);
    soak_must(tacet__studies_get(store, &study, soak_study_names[which], &err), &err, "the study");
    soak_must(tacet__definition_decode(&w.def, (const char *)study.definition.data, study.definition.size, &err), &err,
              "its definition");
    const tacet__policy_kind *kind = tacet__policy_find(soak_kinds, &w.def);
    const bool central = which == 1;
    if (central) {
        soak_must(tacet__studies_ledger(store, &ledger, soak_study_names[which], &err), &err, "the ledger's place");
        read_ledger((const char *)ledger.data, out);
    }
    soak_must(kind->create(&w.learner, &w.def, central ? (const char *)ledger.data : NULL,
                           central ? s->first_state.data : NULL, central ? s->first_state.size : 0, &err),
              &err, "a policy to replay with");
    const tacet_status status = tacet__studies_get_snapshot(store, &study, &w.snapshot, &w.snapshot_seq, &err);
    if (status != TACET_NOT_FOUND) {
        soak_must(status, &err, "the newest snapshot");
    }
    w.head = study.head;
    w.entries = calloc(w.head + 1, sizeof *w.entries);
    if (w.entries == NULL) {
        soak_die("out of memory");
    }
    soak_must(tacet__studies_read(store, &study, 1, see, &w, &err), &err, "the log");
    if (status == TACET_OK && w.snapshot_seq > 0 && !w.compared) {
        soak_die("the newest snapshot is of no event");
    }
    out->twice += repeated_keys(&w);
    for (size_t i = 0; i < SOAK_CLIENTS; i++) {
        match(&w, &s->journals[which][i], study.secret);
    }
    free(w.entries);
    tacet__learner_free(kind, &w.learner);
    tacet__definition_clear(&w.def);
    tacet_blob_clear(&w.snapshot);
    tacet_blob_clear(&ledger);
    tacet__study_clear(&study);
}

void soak_verify(soak *s, soak_verdict *out) {
    const tacet__engine_settings settings = soak_engine_settings(s);
    tacet_error err = {0};
    tacet__studies *store = NULL;
    *out = (soak_verdict){0};
    soak_must(tacet__studies_open(&store, &settings.store, &err), &err, "the store");
    for (size_t i = 0; i < SOAK_STUDIES; i++) {
        verify_study(s, i, store, out);
    }
    tacet__studies_close(store);
}
