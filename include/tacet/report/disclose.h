/* SPDX-License-Identifier: Apache-2.0 */
/* disclose.h - what a privacy officer is asked: an entry for a public registry of deployments, and a label for people.
 *
 * Both are made from what is public: the manifest of a release, a released model, the status of a study or the result
 * of tuning, the totals of the ledger, and facts that only people know (who, why, where). What nobody said is written
 * as "not stated", never guessed. Words follow NIST SP 800-226. */
#ifndef TACET_REPORT_DISCLOSE_H
#define TACET_REPORT_DISCLOSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tacet/core/status.h>
#include <tacet/outsourced/shared/manifest.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tacet_disclosure {
    const tacet_manifest *manifest; /* of a release; or */
    const char *model;              /* the file that 'tacet learn' wrote; or */
    const char *study; /* the status of a study, as the service and 'tacet study status --json' tell it; or */
    const char *tuned; /* what 'tacet tune --json' printed */
    bool has_ledger;   /* then: what it adds up to, and its budget */
    const char *accounting;
    double spent_eps, spent_delta, budget_eps, budget_delta;
    uint64_t entries, uncovered;
    const char *facts; /* JSON object of texts: field of the registry -> what people say of it; NULL: none */
    const char *date;  /* of the disclosure, "2026-11-16" */
} tacet_disclosure;

/* Fills in what a ledger adds up to, after verifying it; errors as of tacet_ledger_verify. CORRUPT, too: releases that
 * a model names are not in it. */
TACET_API tacet_status tacet_disclose_ledger(tacet_disclosure *d, const char *path, tacet_error *err);
/* YAML, an entry by the registry's own schema. From malloc. INVALID: facts that are no object of texts, or name no
 * field that people fill in; what has no guarantee, such as a study that states none; what is no model of a log. */
TACET_API tacet_status tacet_disclose_registry(char **out, const tacet_disclosure *d, tacet_error *err);
/* One page: plain text, or HTML that stands by itself. From malloc. */
TACET_API tacet_status tacet_disclose_label(char **out, const tacet_disclosure *d, bool html, tacet_error *err);

#ifdef __cplusplus
}
#endif
#endif
