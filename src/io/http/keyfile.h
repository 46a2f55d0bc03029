/* SPDX-License-Identifier: Apache-2.0 */
/* keyfile.h - a server's certificate and key from their files. Ring: io; knows no data. */
#pragma once

#include <tacet/io/http/log.h>
#include "io/http/pki.h"

enum { TACET__CERTIFICATE_DAYS = 30 }; /* one that ends sooner is warned of */

/* FOLDER/NAME.pem and FOLDER/NAME.key. NOT_FOUND, IO. DENIED: they may not be read, or everybody may read the key.
 * *expires (may be NULL): seconds since 1970. Says in the log when the certificate has ended or will soon. */
tacet_status tacet__keyfile_read(tacet__pem *out, int64_t *expires, const char *folder, const char *name,
                                 tacet_log *log, tacet_error *err);
