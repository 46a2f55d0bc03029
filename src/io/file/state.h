/* SPDX-License-Identifier: Apache-2.0 */
/* state.h - the folder in which a user's programs remember things between runs. Ring: io. */
#pragma once

#include "io/file/folder.h"

/* $TACET_STATE, $XDG_STATE_HOME/tacet, or ~/.local/state/tacet, and `leaf` in it ("": the folder itself). Nothing is
 * made. INVALID: too long, or none of these is set. */
tacet_status tacet__state_path(char out[TACET__PATH], const char *leaf, tacet_error *err);
/* Makes a folder and those above it, for this user alone. False: errno says why. */
bool tacet__folders_make(const char *folder);
