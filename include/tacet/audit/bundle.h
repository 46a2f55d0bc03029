/* SPDX-License-Identifier: Apache-2.0 */
/* bundle.h - all audits at once, as a folder to hand over: audit.html, one page for people, and audit.json. */
#ifndef TACET_AUDIT_BUNDLE_H
#define TACET_AUDIT_BUNDLE_H

#include <tacet/audit/audit.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Runs every target with these settings (progress has the target's name for its user pointer). *unexpected counts the
 * verdicts that are not as they should be: a claim violated, or a control missed. `date` is printed as it is. Errors of
 * tacet_audit_run; DENIED, IO of the folder. */
TACET_API tacet_status tacet_audit_bundle(size_t *unexpected, const char *folder, const tacet_audit_claim *claim,
                                          const tacet_audit_settings *settings, const char *date, tacet_error *err);

#ifdef __cplusplus
}
#endif
#endif
