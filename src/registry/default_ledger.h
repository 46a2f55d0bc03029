/* SPDX-License-Identifier: Apache-2.0 */
/* default_ledger.h - the ledger of a file of records, when none is named: one, beside it. Ring: trusted. */
#pragma once

#include "io/file/folder.h"

/* The path of the data with the ending added. Links are followed first, so that every name of the file leads to the
 * same ledger. INVALID: too long. */
tacet_status tacet__path_beside(char out[TACET__PATH], const char *data, const char *ending, tacet_error *err);
/* A ticket as part of a file's name, whatever characters it has. */
enum { TACET__TICKET_NAME = 32 };
void tacet__ticket_name(char out[TACET__TICKET_NAME + 1], const char *ticket);
/* A ledger that was named, elsewhere: leaves a link to it at `beside` unless something is there, so that whoever names
 * none next time is charged to the same. Where the folder cannot be written there is no link, and no error. */
void tacet__link_beside(const char *beside, const char *ledger);
