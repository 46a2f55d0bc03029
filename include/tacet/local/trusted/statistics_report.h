/* SPDX-License-Identifier: Apache-2.0 */
/* statistics_report.h - what a device of a local study of decision sets sends: the number of one direction.
 *
 * The arm that was played and its reward go in; out comes a report with pure eps, once per ticket, remembered and
 * charged as in tacet/local/trusted/device.h. A card (tacet/local/shared/card.h) that a hostile server made up costs
 * the study its learning, and the device nothing: eps holds whatever the directions and the features are. Proof:
 * src/dp/mechanisms/sphere.md. Ring: trusted. */
#ifndef TACET_LOCAL_TRUSTED_STATISTICS_REPORT_H
#define TACET_LOCAL_TRUSTED_STATISTICS_REPORT_H

#include <tacet/local/shared/card.h>
#include <tacet/local/trusted/device.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The report of round `round` (the index of its suggestion) under `ticket`. ldp is the device's own randomiser
 * (sphere): CONFLICT, and nothing is drawn, where the card asks for another eps or range. x: as many coordinates as
 * the card has, clipped to its box; the reward is clipped to its range. Otherwise errors as tacet_device_report. */
TACET_API TACET_MUST_CHECK tacet_status tacet_statistics_report(const tacet_statistics_card *card, const tacet_ldp *ldp,
                                                                const tacet_device_store *store,
                                                                tacet_device_answer *out, const char *ticket,
                                                                uint64_t round, const double *x, double reward,
                                                                tacet_error *err);

#ifdef __cplusplus
}
#endif
#endif
