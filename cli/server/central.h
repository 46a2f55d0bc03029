/* central.h - what the central policies of the service share: noise, ledger, receipts as JSON. Ring: trusted. */
#ifndef TACET_CLI_SERVER_CENTRAL_H
#define TACET_CLI_SERVER_CENTRAL_H

#include "service/policies.h"

#include <tacet/gate/ledger.h>
#include <tacet/gate/mechanism.h>
#include <tacet/gate/noise.h>

typedef struct central {
    tacet_noise *noise;
    tacet_ledger *ledger;
} central;

/* The study's ledger, with the definition's budget: Gaussian accounting, or basic where delta is 0. path NULL: a trial,
 * without a ledger (tacet__policy_kind). */
tacet_status central_open(central *c, const tacet__definition *def, const char *path, bool create, tacet_error *err);
void central_close(central *c);
/* One ticket a study; the texts are static. */
tacet_ask central_ask(const central *c, const char *what, const char *covered_fields);
tacet_status central_spent(const central *c, json_t **out, tacet_error *err);

#endif
