/* SPDX-License-Identifier: Apache-2.0 */
/* central.h - what the central policies of the service share: noise, ledger, receipts as JSON. Ring: trusted. */
#pragma once

#include "service/open/study/policies.h"

#include "dp/ledger/minted.h"

#include <tacet/contextual/open/model.h>
#include <tacet/dp/ledger.h>
#include "dp/mechanism.h"
#include <tacet/dp/noise.h>

typedef struct central {
    tacet_noise *noise; /* of a trial; NULL: private */
    tacet_ledger *ledger;
} central;

/* The study's ledger, with the definition's budget. path NULL: a trial, without a ledger (tacet__policy_kind). */
tacet_status tacet__central_open(central *c, const tacet__definition *def, const char *path, bool create,
                                 tacet_error *err);
void tacet__central_close(central *c);
/* The same for a kind whose `self` is a `central` and no more; freed by tacet__central_free. */
tacet_status tacet__central_start(tacet__learner *out, const tacet__definition *def, const char *path, bool create,
                                  tacet_error *err);
void tacet__central_free(void *self);
/* Of a store in PostgreSQL: the key file of its ledgers is there, or could be made (tacet__policy_kind). In a folder
 * each ledger has its key beside it. */
tacet_status tacet__central_able(unsigned char mark[TACET__KEY_MARK], const char *store, tacet_error *err);
/* One ticket a study; the texts are static. */
tacet_ask tacet__central_ask(const central *c, const char *what, const char *covered_fields);
/* A release of a study: {"kind": "model", "model": …}, the model as its file has it, in the terms of the study's
 * columns where it has a space. */
tacet_status tacet__central_model_json(json_t **out, const tacet_contextual_model *model, const tacet__definition *def,
                                       tacet_error *err);
/* What every kind with a ledger has (tacet__policy_kind): its `self` begins with a `central`. */
tacet_status tacet__central_take(const tacet__learner *learner, tacet_error *err);
void tacet__central_recall(const tacet__learner *learner, bool recalling);
tacet_status tacet__central_spent(const tacet__learner *learner, const tacet__definition *def, json_t **out,
                                  tacet_error *err);
#define TACET__KIND_WITH_LEDGER                                                                                        \
    .trust = TACET_TRUST_CENTRAL, .able = tacet__central_able, .take = tacet__central_take,                            \
    .recall = tacet__central_recall, .spent = tacet__central_spent
