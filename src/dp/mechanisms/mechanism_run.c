/* SPDX-License-Identifier: Apache-2.0 */
/* mechanism_run.c - the fixed order: reserve durably, with the key of the noise; draw; commit durably; hand out.
 * Ring: gate. In: tacet_bounded. Out: tacet_release. Source: none; src/dp/ledger/README.md has why the order matters.
 * Cost: two durable writes per answer, whatever its size. */
#include "dp/mechanisms/mechanism_internal.h"

#include "core/fail.h"
#include "core/memory.h"
#include "dp/bound_internal.h"
#include "dp/ledger/minted.h"
#include "dp/mint.h"
#include "dp/open/charge_rows.h"
#include "dp/noise/mint.h"
#include "dp/noise/noise_state.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

/* The texts of a charge from ask, and whether it is seeded. */
static void fill_charge(const tacet_ask *ask, tacet_charge *charge, bool is_private) {
    charge->what = ask->what;
    charge->to_whom = ask->to_whom;
    charge->covered_fields = ask->covered_fields;
    charge->uncovered_fields = ask->uncovered_fields;
    charge->covered_records = ask->covered_records;
    charge->group = ask->group;
    charge->part = ask->part;
    charge->seeded = !is_private;
}

bool tacet_ask_is_private(const tacet_ask *ask) {
    return ask->noise == NULL;
}

tacet_status tacet_ask_check(const tacet_ask *ask, tacet_error *err) {
    if (ask->noise == NULL) {
        return ask->ledger != NULL ? TACET_OK
                                   : tacet__fail(err, TACET_INVALID,
                                                 "a private release needs a ledger; only seeded noise does without");
    }
    return ask->noise->source == TACET__NOISE_SEEDED
               ? TACET_OK
               : tacet__fail(err, TACET_INVALID, "no release can be made with this noise: it is of no reservation");
}

/* The mint of a question: as asked for, else fresh; bound where the data are known. */
static tacet_status new_mint(tacet_mint *mint, const tacet_ask *ask, const unsigned char *data, tacet_error *err) {
    tacet_status s = TACET_OK;
    if (ask->mint != NULL) {
        memcpy(mint->key, ask->mint->key, sizeof mint->key);
        memset(mint->digest, 0, sizeof mint->digest); /* bound below, to this question's data */
    } else {
        s = tacet__mint_fresh(mint, err);
    }
    return s == TACET_OK ? tacet__mint_bind(mint, data, err) : s;
}

tacet_status tacet__gate_reserve(const tacet_ask *ask, tacet_charge *charge, tacet_receipt *receipt, tacet_entry *entry,
                                 const unsigned char data[TACET_MINT_BYTES], unsigned char key[TACET_MINT_BYTES],
                                 tacet_release **answered, tacet_error *err) {
    tacet_mint mint = {{0}, {0}};
    /* The order: is the question one; a key, bound to the data; the entry, durable with both; only then noise. */
    memset(entry, 0, sizeof *entry);
    *answered = NULL;
    receipt->is_private = tacet_ask_is_private(ask);
    receipt->in_ledger = ask->ledger != NULL;
    tacet_status s = tacet_ask_check(ask, err);
    if (s == TACET_OK && receipt->is_private) {
        s = new_mint(&mint, ask, data, err);
    }
    if (s != TACET_OK || ask->ledger == NULL) {
        return s;
    }
    fill_charge(ask, charge, receipt->is_private);
    tacet_blob memo;
    tacet_blob_init(&memo);
    s = tacet__ledger_reserve(ask->ledger, entry, &memo, receipt->is_private ? &mint : NULL, ask->ticket, charge, 0,
                              err);
    if (s == TACET_OK) {
        receipt->entry = entry->seq;
        memcpy(receipt->entry_hash, entry->hash, sizeof receipt->entry_hash);
        if (entry->answered) {
            s = tacet_release_decode(answered, memo.data, memo.size, err);
        } else if (receipt->is_private && ask->mint != NULL &&
                   sodium_memcmp(mint.key, ask->mint->key, sizeof mint.key) != 0) {
            s = tacet__fail(err, TACET_BUSY, "another process began this question meanwhile: try again");
        } else if (receipt->is_private) {
            s = tacet__mint_bind(&mint, data, err); /* compares: what was stored may be of an earlier run */
            tacet__mint_noise(&mint, key);
        }
    }
    tacet__mint_clear(&mint);
    tacet_blob_clear(&memo);
    return s;
}

tacet_status tacet__gate_commit(const tacet_ask *ask, const tacet_entry *entry, const tacet_release *release,
                                tacet_error *err) {
    if (ask->ledger == NULL) {
        return TACET_OK;
    }
    unsigned char hash[TACET_HASH_BYTES];
    tacet_blob answer;
    tacet_blob_init(&answer);
    tacet_status s = tacet_release_encode(release, &answer, err);
    if (s == TACET_OK) {
        (void)crypto_generichash(hash, sizeof hash, answer.data, answer.size, NULL, 0);
        s = tacet_ledger_commit(ask->ledger, entry, answer.data, answer.size, hash, err);
    }
    tacet_blob_clear(&answer);
    return s;
}

enum { FIRST_WORDS = 512 };

tacet_status tacet_mechanism_run(const tacet_mechanism *m, tacet_release **out, const tacet_ask *ask,
                                 const tacet_bounded *value, tacet_error *err) {
    char parameters[TACET__PARAMETERS_BYTES];
    tacet_charge charge;
    tacet_receipt receipt;
    tacet_entry entry;
    tacet_release *release = NULL;
    tacet_noise minted;
    unsigned char data[TACET_MINT_BYTES], key[TACET_MINT_BYTES] = {0};
    double *values = NULL;
    *out = NULL;
    if (value->bound != m->bound) {
        return tacet__fail(err, TACET_INVALID, "the vector was clipped to another bound than the mechanism's");
    }
    const size_t count = tacet__mechanism_chooses(m) ? 1 : m->bound->count;
    /* Before the reservation: running out of memory here wastes no budget. */
    values = TACET__ZALLOC(double, count);
    if (values == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu numbers", count);
    }
    tacet__mechanism_charge(m, &charge, parameters, sizeof parameters, 1, ask->records);
    tacet__mechanism_receipt(m, &receipt, 1);
    tacet__mechanism_digest(m, data, value);
    tacet_status s = tacet__charge_rows(&charge, ask->rows_each, false, err);
    TACET_THEN(s, tacet__gate_reserve(ask, &charge, &receipt, &entry, data, key, out, err));
    if (s != TACET_OK || *out != NULL) {
        goto done;
    }
    if (receipt.is_private) {
        tacet__noise_at(&minted, key, 0, 0, FIRST_WORDS);
    }
    s = tacet__mechanism_draw(m, receipt.is_private ? &minted : ask->noise, values, value, err);
    TACET_THEN(s, tacet__release_mint(&release, &receipt, values, count, err));
    TACET_THEN(s, tacet__gate_commit(ask, &entry, release, err));
    if (s == TACET_OK) {
        *out = release;
        release = NULL;
    }
done:
    tacet_release_free(release);
    tacet__noise_clear(&minted);
    sodium_memzero(key, sizeof key);
    sodium_memzero(values, count * sizeof *values);
    free(values);
    return s;
}
