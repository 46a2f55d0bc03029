/* mechanism_run.c - the fixed order: reserve durably, draw, commit durably, hand out. Single vectors and tables.
 * Ring: gate. In: tacet_bounded. Out: tacet_release. Source: none; src/dp/ledger/README.md has why the order matters.
 * Cost: two durable writes per answer, whatever its size; a table's rows stream through with no memory of them. */
#include "dp/mechanisms/mechanism_internal.h"

#include "core/fail.h"
#include "core/memory.h"
#include "dp/bound_internal.h"
#include "dp/mint.h"

#include <sodium.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

void tacet__gate_charge(const tacet_ask *ask, tacet_charge *charge, bool is_private) {
    charge->what = ask->what;
    charge->to_whom = ask->to_whom;
    charge->covered_fields = ask->covered_fields;
    charge->uncovered_fields = ask->uncovered_fields;
    charge->covered_records = ask->covered_records;
    charge->group = ask->group;
    charge->part = ask->part;
    charge->seeded = !is_private;
}

tacet_status tacet__gate_reserve(const tacet_ask *ask, tacet_charge *charge, tacet_receipt *receipt, tacet_entry *entry,
                                 tacet_release **answered, tacet_error *err) {
    memset(entry, 0, sizeof *entry);
    *answered = NULL;
    receipt->is_private = tacet_noise_is_private(ask->noise);
    receipt->in_ledger = ask->ledger != NULL;
    if (ask->ledger == NULL) {
        return receipt->is_private
                   ? tacet__fail(err, TACET_INVALID, "a private release needs a ledger; only seeded noise does without")
                   : TACET_OK;
    }
    tacet__gate_charge(ask, charge, receipt->is_private);
    tacet_blob memo;
    tacet_blob_init(&memo);
    tacet_status s = tacet_ledger_reserve(ask->ledger, entry, &memo, ask->ticket, charge, err);
    if (s == TACET_OK) {
        receipt->entry = entry->seq;
        memcpy(receipt->entry_hash, entry->hash, sizeof receipt->entry_hash);
        if (entry->answered) {
            s = tacet_release_decode(answered, memo.data, memo.size, err);
        }
    }
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

tacet_status tacet_mechanism_run(const tacet_mechanism *m, tacet_release **out, const tacet_ask *ask,
                                 const tacet_bounded *value, tacet_error *err) {
    char parameters[TACET__PARAMETERS_BYTES];
    tacet_charge charge;
    tacet_receipt receipt;
    tacet_entry entry;
    tacet_release *release = NULL;
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
    tacet_status s = tacet__gate_reserve(ask, &charge, &receipt, &entry, out, err);
    if (s != TACET_OK || *out != NULL) {
        goto done;
    }
    s = tacet__mechanism_draw(m, ask->noise, values, value, err);
    if (s == TACET_OK) {
        s = tacet__release_mint(&release, &receipt, values, count, err);
    }
    if (s == TACET_OK) {
        s = tacet__gate_commit(ask, &entry, release, err);
    }
    if (s == TACET_OK) {
        *out = release;
        release = NULL;
    }
done:
    tacet_release_free(release);
    sodium_memzero(values, count * sizeof *values);
    free(values);
    return s;
}

struct tacet_table {
    crypto_generichash_state hash; /* of all bytes given so far; 64-byte aligned */
    const tacet_mechanism *mechanism;
    tacet_ask ask;
    tacet_entry entry;
    tacet_receipt receipt;
    size_t rows;
    atomic_size_t drawn;
    atomic_bool failed;
    bool closed;
};

tacet_status tacet_table_open(tacet_table **out, tacet_release **answered, const tacet_mechanism *m,
                              const tacet_ask *ask, size_t rows, tacet_error *err) {
    char parameters[TACET__PARAMETERS_BYTES];
    tacet_charge charge;
    *out = NULL;
    *answered = NULL;
    if (tacet__mechanism_chooses(m) || rows == 0) {
        return tacet__fail(err, TACET_INVALID, "a table needs rows, and a mechanism that adds noise to them");
    }
    tacet_table *table = TACET__ALIGNED(tacet_table, 1);
    if (table == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a table");
    }
    memset(table, 0, sizeof *table);
    table->mechanism = m;
    table->ask = *ask;
    table->rows = rows;
    (void)crypto_generichash_init(&table->hash, NULL, 0, TACET_HASH_BYTES);
    tacet__mechanism_charge(m, &charge, parameters, sizeof parameters, rows, ask->records);
    tacet__mechanism_receipt(m, &table->receipt, rows);
    const tacet_status s = tacet__gate_reserve(ask, &charge, &table->receipt, &table->entry, answered, err);
    if (s != TACET_OK || *answered != NULL) {
        tacet_table_free(table);
        return s;
    }
    *out = table;
    return TACET_OK;
}

/* Counted before they are drawn, so that threads never draw more than there are between them. */
static tacet_status claim(tacet_table *table, size_t rows, tacet_error *err) {
    if (atomic_load(&table->failed) || !(rows <= table->rows)) {
        return tacet__fail(err, TACET_STATE, "no more rows: the table is full, or failed before");
    }
    if (!(atomic_fetch_add(&table->drawn, rows) <= table->rows - rows)) {
        atomic_fetch_sub(&table->drawn, rows);
        return tacet__fail(err, TACET_STATE, "no more rows: the table is full");
    }
    return TACET_OK;
}

tacet_status tacet_table_row(tacet_table *table, double *values, const tacet_bounded *row, tacet_error *err) {
    if (row->bound != table->mechanism->bound) {
        return tacet__fail(err, TACET_INVALID, "the vector was clipped to another bound than the mechanism's");
    }
    tacet_status s = claim(table, 1, err);
    if (s == TACET_OK) {
        s = tacet__mechanism_draw(table->mechanism, table->ask.noise, values, row, err);
        if (s != TACET_OK) {
            atomic_store(&table->failed, true);
        }
    }
    return s;
}

tacet_status tacet_table_rows(tacet_table *table, tacet_noise *noise, double *values, const tacet_raw *raw, size_t rows,
                              tacet_error *err) {
    const tacet_mechanism *m = table->mechanism;
    if (m->bound->kind != TACET__BOUND_BOX) {
        return tacet__fail(err, TACET_INVALID, "many rows at once are for boxes");
    }
    const size_t width = m->bound->raw_count + m->level_count;
    if (!(rows <= raw->count / width)) {
        return tacet__fail(err, TACET_INVALID, "%zu rows of %zu numbers, but %zu raw numbers", rows, width, raw->count);
    }
    if (tacet_noise_is_private(noise) != table->receipt.is_private) {
        return tacet__fail(err, TACET_INVALID,
                           "the noise of some rows is seeded, that of the table is not, or the reverse");
    }
    tacet_status s = claim(table, rows, err);
    if (s == TACET_OK) {
        s = tacet__mechanism_draw_box(m, noise, values, raw->values, rows, err);
        if (s != TACET_OK) {
            atomic_store(&table->failed, true);
        }
    }
    return s;
}

void tacet_table_give(tacet_table *table, const void *bytes, size_t size) {
    (void)crypto_generichash_update(&table->hash, bytes, size);
}

tacet_status tacet_table_close(tacet_table *table, tacet_release **out, tacet_error *err) {
    *out = NULL;
    const size_t drawn = atomic_load(&table->drawn);
    if (atomic_load(&table->failed) || drawn != table->rows) {
        return tacet__fail(err, TACET_STATE, "the table has %zu of its %zu rows, or one of them failed", drawn,
                           table->rows);
    }
    if (!table->closed) {
        (void)crypto_generichash_final(&table->hash, table->receipt.content_hash, TACET_HASH_BYTES);
        table->closed = true;
    }
    tacet_release *release = NULL;
    tacet_status s = tacet__release_mint(&release, &table->receipt, NULL, 0, err);
    if (s == TACET_OK) {
        s = tacet__gate_commit(&table->ask, &table->entry, release, err);
    }
    if (s != TACET_OK) {
        tacet_release_free(release);
        return s;
    }
    *out = release;
    return TACET_OK;
}

void tacet_table_free(tacet_table *table) {
    free(table);
}
