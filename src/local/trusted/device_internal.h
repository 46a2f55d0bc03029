/* SPDX-License-Identifier: Apache-2.0 */
/* device_internal.h - a device with a given key for new tickets, for audits and tests. Ring: trusted. */
#pragma once

#include <tacet/local/trusted/service.h>
#include <tacet/local/trusted/statistics_report.h>

/* What tacet_device_report does, without the object; `fresh` is the key of a ticket that is new. */
tacet_status tacet__device_answer(const unsigned char fresh[TACET_MINT_BYTES], const tacet_ldp *ldp,
                                  const tacet_device_store *store, tacet_device_answer *out, const char *ticket,
                                  double reward, tacet_error *err);
/* The same for a choice among cells (tacet_randomize_among); the reward only tells whether it was clipped. fresh NULL:
 * a key of its own. */
tacet_status tacet__device_answer_among(const unsigned char *fresh, const tacet_ldp *ldp,
                                        const tacet_device_store *store, tacet_device_answer *out, const char *ticket,
                                        double reward, const uint32_t *order, tacet_error *err);
/* What tacet_statistics_report does, with a given key, or NULL. */
tacet_status tacet__statistics_answer(const unsigned char *fresh, const tacet_statistics_card *card,
                                      const tacet_ldp *ldp, const tacet_device_store *store, tacet_device_answer *out,
                                      const char *ticket, uint64_t round, const double *x, double reward,
                                      tacet_error *err);

/* Refuses (CONFLICT) unless the study asks for reports of exactly this randomiser: a server that asks for more does not
 * get it, and one that expects other noise would learn nonsense. DENIED, NOT_FOUND, IO: what the server said. */
tacet_status tacet_device_service_agree(tacet_device_service *s, const tacet_ldp *ldp, tacet_error *err);
/* The round of a ticket: the index of its suggestion. */
tacet_status tacet_device_service_round(tacet_device_service *s, uint64_t *out, const char *ticket, tacet_error *err);
/* Sends a report until it is acknowledged. The same bits for a ticket may be sent any number of times. */
tacet_status tacet_device_service_observe(tacet_device_service *s, const char *ticket, double report, tacet_error *err);
