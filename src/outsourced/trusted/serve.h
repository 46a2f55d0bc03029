/* SPDX-License-Identifier: Apache-2.0 */
/* serve.h - what the program `tacet curator serve` has beyond tacet/outsourced/trusted/serve.h: a log, and another
 * certificate while it runs. Ring: trusted. */
#ifndef TACET_SRC_OUTSOURCED_TRUSTED_SERVE_H
#define TACET_SRC_OUTSOURCED_TRUSTED_SERVE_H

#include "io/http/log.h"

#include <tacet/outsourced/trusted/serve.h>

/* The log (may be NULL) must outlive the service. */
tacet_status tacet__curator_start(tacet_curator **out, const tacet_curator_settings *settings, tacet__log *log,
                                  tacet_error *err);
/* Reads the certificate of the keys' folder again, for connections that come from now on. */
tacet_status tacet__curator_reload(tacet_curator *curator, tacet_error *err);

/* Where its ledger is. */
const char *tacet__curator_ledger(const tacet_curator *curator);

#endif
