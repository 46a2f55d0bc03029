/* SPDX-License-Identifier: Apache-2.0 */
/* shipped_way.h - the ways by which answers about data leave, each run as it ships: its own files, ledger and registry
 * in a folder of its own. Ring: audit. shipped_run.c runs them, whole or interrupted and repeated; shipped_reports.c
 * has the desk and the device, shipped_models.c the learning, shipped_studies.c the studies. */
#pragma once

#include "audit/temporary_folder.h"

#include <tacet/audit/audit.h>
#include <tacet/dp/open/release.h>

enum { TACET__WORLD_LAW = 2 }; /* neither of the neighbours: where the law of the noise is symmetric */

typedef struct tacet__way tacet__way;

/* What is asked, and what came out. */
typedef struct tacet__shipment {
    const tacet_audit_shipped_settings *settings;
    const tacet__way *way;
    tacet_ldp ldp;                               /* desk, device */
    bool pure;                                   /* the mechanism has delta 0, whatever was asked for */
    char folder[TACET__PATH], kept[TACET__PATH]; /* at work in; its copy */
    char data[TACET__PATH], ledger[TACET__PATH]; /* in the folder */
    const unsigned char *worlds;                 /* of each question */
    size_t questions;                            /* 1 to way->most */
    double *values;                              /* questions x numbers */
    size_t numbers;                              /* of an answer */
    double variance;                             /* of a number, as claimed */
} tacet__shipment;

struct tacet__way {
    const char *name, *summary;
    const char *mechanism; /* unless another is named */
    size_t most;           /* questions in one folder */
    size_t law_numbers;    /* of an answer, when the law is tested; 1: answers are put side by side */
    double middle;         /* what is subtracted from an answer of TACET__WORLD_LAW; NaN: the mean of all of them */
    size_t rows, runs;     /* by default: answers for the law and the bound; interrupted ones */
    const char *ticket;    /* whose answer is looked at, where others are entered beside it; NULL: any */
    bool in_deviations;    /* an answer's noise has a scale of its own: it is divided by it */
    double (*fold)(const double *values); /* for the bound: a number of a release that has several; NULL: it has one */
    /* The mechanism by its name. INVALID. */
    tacet_status (*choose)(tacet__shipment *s, const char *mechanism, tacet_error *err);
    /* All there is before the questions are asked. The folder is empty. */
    tacet_status (*prepare)(tacet__shipment *s, tacet_error *err);
    /* Asks all of them; again, in the same folder, it asks the same. */
    tacet_status (*ask)(tacet__shipment *s, tacet_error *err);
};

extern const tacet__way tacet__way_desk, tacet__way_device, tacet__way_study, tacet__way_contexts, tacet__way_table,
    tacet__way_arms;

/* The numbers of a release, or for the bound one of them, and their variance. CORRUPT: of another size. */
tacet_status tacet__shipment_take(tacet__shipment *s, const tacet_release *release, tacet_error *err);
/* Of that which the ledger stores as the answer to a ticket. */
tacet_status tacet__shipment_stored(tacet__shipment *s, const char *ticket, tacet_error *err);
/* Bound and law of s->way into out. */
tacet_status tacet__way_audit(tacet__shipment *s, tacet_audit_shipped_result *out, tacet_error *err);

/* Shared with shipped.c. */
void tacet__shipped_tell(const tacet_audit_shipped_settings *settings, double fraction);
/* A world for each question, by fair coins of the operating system. From malloc; NULL: no memory. */
unsigned char *tacet__shipped_coins(size_t count);
void tacet__shipped_spoil(const tacet_audit_shipped_settings *settings, double *noise, size_t rows, size_t columns);
void tacet__shipped_complain(tacet_audit_shipped_result *out, const char *reason);
tacet_status tacet__shipped_judge(const tacet_audit_shipped_settings *settings, tacet_audit_shipped_result *out,
                                  double *statistics, const unsigned char *worlds, size_t count, tacet_error *err);
