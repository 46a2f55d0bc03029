/* SPDX-License-Identifier: Apache-2.0 */
/* shipped_reports.c - the desk's answers and the device's reports, each with its ledger, as they ship.
 * Ring: audit. Neighbours: a measured value, or a reward, at one end of its range or at the other; every row is a
 * ticket of its own. The law is that of a value in the middle, where all randomisers are symmetric. Cost: two durable
 * ledger records a ticket, 0.2 ms on a memory disk. */
#include "local/shared/ldp.h"
#include "audit/shipped_way.h"

#include "core/fail.h"

#include <math.h>
#include <stdlib.h>
#include <tacet/local/trusted/service.h>
#include <tacet/outsourced/trusted/curate.h>
#include <tacet/outsourced/trusted/desk.h>

enum { TICKET = 32 };
static const double VALUE[] = {0, 1, 0.5}; /* by world; the range is [0, 1] */

static tacet_status choose(tacet__shipment *s, const char *mechanism, tacet_error *err) {
    tacet_ldp_kind kind = TACET_LDP_HYBRID;
    const tacet_status status = tacet_ldp_parse(&kind, mechanism, err);
    s->pure = true;
    return status != TACET_OK ? status : tacet_ldp_init(&s->ldp, kind, s->settings->eps, 0, 1, err);
}

/* Of a report of the middle. A cell k of the window, which lies in the middle, has likelihood num, another den. */
static double piecewise_variance(const tacet_ldp *ldp) {
    const uint32_t start = (ldp->cells - ldp->window) / 2;
    double sum = 0;
    double total = 0;
    for (uint32_t k = 0; k < ldp->cells; k++) {
        const double weight = (double)(k - start < ldp->window ? ldp->ratio_num : ldp->ratio_den);
        const double x = tacet_ldp_cell(ldp, k) - VALUE[TACET__WORLD_LAW];
        sum += weight * x * x;
        total += weight;
    }
    return sum / total;
}

static double variance_of(const tacet_ldp *ldp) {
    const double share = ldexp(ldp->piecewise_share, -32);
    return ldp->kind == TACET_LDP_HYBRID ? share * piecewise_variance(ldp) + (1 - share) * ldp->duchi * ldp->duchi
                                         : tacet_ldp_variance(ldp);
}

/* --- the desk ---------------------------------------------------------------------------------------------------- */

static tacet_status write_table(const tacet__shipment *s, tacet_error *err) {
    FILE *file = fopen(s->data, "we");
    bool good = file != NULL && fprintf(file, "c,y\n") > 0;
    for (size_t i = 0; i < s->questions && good; i++) {
        good = fprintf(file, "%zu,%g\n", i, VALUE[s->worlds[i]]) > 0;
    }
    good = file != NULL && fclose(file) == 0 && good;
    return good ? TACET_OK : tacet__fail(err, TACET_IO, "%.150s: cannot be written", s->data);
}

static tacet_status release_folder(char out[TACET__PATH], const tacet__shipment *s, tacet_error *err) {
    return tacet__path(out, s->folder, "release", err);
}

static tacet_status prepare_desk(tacet__shipment *s, tacet_error *err) {
    tacet_curate_settings c;
    tacet_manifest made = {0};
    char folder[TACET__PATH];
    tacet_space_column column = {.name = "c", .hi = (double)s->questions, .unit = 1, .others = TACET_SPACE_NONE};
    const tacet_space space = {&column, 1};
    tacet_curate_defaults(&c);
    tacet_status status = release_folder(folder, s, err);
    TACET_THEN(status, write_table(s, err));
    if (status == TACET_OK) {
        c.data = s->data;
        c.folder = folder;
        c.ledger = s->ledger;
        c.space = &space;
        c.mechanism = TACET_CURATE_LAPLACE;
        c.eps = s->settings->eps;
        c.delta = 0;
        c.outputs_private = true;
        c.outputs = s->ldp;
        c.queries = s->questions;
        c.ticket = "table";
        status = tacet_curate_run(&made, &c, err);
        tacet_manifest_clear(&made);
    }
    return status;
}

static tacet_status ask_desk(tacet__shipment *s, tacet_error *err) {
    tacet_desk_settings d;
    tacet_desk *desk = NULL;
    char folder[TACET__PATH];
    char ticket[TICKET];
    tacet_desk_defaults(&d);
    tacet_status status = release_folder(folder, s, err);
    d.folder = folder;
    d.data = s->data;
    d.values = "y";
    TACET_THEN(status, tacet_desk_open(&desk, &d, err));
    for (size_t i = 0; i < s->questions && status == TACET_OK; i++) {
        tacet_desk_reply reply;
        (void)snprintf(ticket, sizeof ticket, "t%zu", i);
        status = tacet_desk_ask(desk, &reply, ticket, i, err);
        if (status == TACET_OK && !reply.answered) {
            status = tacet__fail(err, TACET_STATE, "the desk did not answer");
        }
        s->values[i] = status == TACET_OK ? reply.value : 0;
    }
    tacet_desk_close(desk);
    s->variance = variance_of(&s->ldp);
    return status;
}

/* --- the device -------------------------------------------------------------------------------------------------- */

static tacet_status open_memory(const tacet__shipment *s, tacet_ledger **out, bool create, tacet_error *err) {
    tacet_ledger_settings l;
    tacet_ledger_settings_defaults(&l);
    l.accounting = TACET_ACCOUNTING_BASIC;
    l.eps = s->settings->eps * (double)s->questions;
    l.delta = 0;
    l.create = create;
    return tacet_ledger_open(out, s->ledger, &l, err);
}

static tacet_status prepare_device(tacet__shipment *s, tacet_error *err) {
    tacet_ledger *ledger = NULL;
    const tacet_status status = open_memory(s, &ledger, true, err);
    tacet_ledger_close(ledger);
    return status;
}

static tacet_status ask_device(tacet__shipment *s, tacet_error *err) {
    tacet_ledger *ledger = NULL;
    tacet_device *device = NULL;
    tacet_device_ledger memory;
    tacet_device_store store;
    char ticket[TICKET];
    tacet_status status = open_memory(s, &ledger, false, err);
    tacet_device_ledger_init(&memory, &store, ledger, "an auditor");
    TACET_THEN(status, tacet_device_open(&device, &s->ldp, &store, err));
    for (size_t i = 0; i < s->questions && status == TACET_OK; i++) {
        tacet_device_answer answer;
        (void)snprintf(ticket, sizeof ticket, "t%zu", i);
        status = tacet_device_report(device, &answer, ticket, VALUE[s->worlds[i]], err);
        s->values[i] = status == TACET_OK ? answer.report : 0;
    }
    tacet_device_close(device);
    tacet_ledger_close(ledger);
    s->variance = variance_of(&s->ldp);
    return status;
}

enum { TOGETHER = 4000 /* the desk looks tickets up one by one */, REPORTS = 100000, INTERRUPTED = 2000 };

const tacet__way tacet__way_desk = {
    .name = "desk",
    .summary =
        "measured values through the curator's desk, private outputs; bound on eps, and tests of the noise's law",
    .mechanism = "hybrid",
    .most = TOGETHER,
    .law_numbers = 1,
    .middle = 0.5,
    .rows = REPORTS,
    .runs = INTERRUPTED,
    .choose = choose,
    .prepare = prepare_desk,
    .ask = ask_desk,
};
const tacet__way tacet__way_device = {
    .name = "device",
    .summary = "rewards through tacet device report; bound on eps, and tests of the noise's law",
    .mechanism = "hybrid",
    .most = TOGETHER,
    .law_numbers = 1,
    .middle = 0.5,
    .rows = REPORTS,
    .runs = INTERRUPTED,
    .choose = choose,
    .prepare = prepare_device,
    .ask = ask_device,
};
