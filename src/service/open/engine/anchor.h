/* SPDX-License-Identifier: Apache-2.0 */
/* anchor.h - how far each study had come, noted outside its store. Ring: open.
 *
 * A store that was put back as a whole holds together: only somebody who remembers what it had answered can tell. Each
 * server remembers in a folder of its own, a small file a study (dp/open/ledger_anchor.h): the newest event, and its
 * hash. A study that has fewer events than that, or another one in its place, is not served (CORRUPT). 'tacet store
 * restore' gives the study a new salt, and with it a new file: whoever puts a store back knowingly goes on.
 * A file that is missing is made anew; it is not synced, so it may lag behind the store, and never leads. */
#pragma once

#include "service/open/store/store.h"

/* Compares the study with its file, which stays open in *anchor (-1: none is kept). The study is read again, because
 * another process of this user may have gone on with both since it was. CORRUPT. */
tacet_status tacet__study_anchor_open(int *anchor, tacet__studies *store, tacet__study *study,
                                      const tacet__studies_settings *settings, tacet_error *err);
/* What was committed. Nothing where no file is kept. */
tacet_status tacet__study_anchor_note(int anchor, const tacet__study *study, tacet_error *err);
