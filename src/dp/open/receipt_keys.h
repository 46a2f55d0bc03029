/* SPDX-License-Identifier: Apache-2.0 */
/* receipt_keys.h - a first pair of keys, for whoever keeps it elsewhere than in a folder. Ring: shared. */
#pragma once

#include <tacet/dp/open/receipt.h>

/* A new pair, as text: `secret` (JSON with the key in hex; keep it) and `public_text`, a ring of one key. All texts
 * here are from malloc. IO: no entropy. NO_MEMORY. */
tacet_status tacet_receipt_keys(char **secret, char **public_text, tacet_error *err);
